//! Nodes in which at most two more features may enter: enumeration of all choices.

use super::budget::Choice;
use super::{ProvedBox, Quadratic};
use crate::bound::Certified;
use crate::linalg::rounding::U;
use crate::linalg::select::top_sum;

/// Returns the best choice of at most two columns, and a bound over all choices, prices included.
///
/// For x in the boxes, the quadratic in floats is within `½ η (w0 + Σ w_i |x_i|)²` of P. Its minimum over a choice is
/// `c0 - ½ c_i²/H_ii` for one column, and with `Δ = H_ii H_jj - H_ij²`
///
/// ```text
/// c0 - ½ (c_i² H_jj - 2 c_i c_j H_ij + c_j² H_ii) / Δ
/// ```
///
/// for two. The numerator is rounded up and Δ down; where Δ is then not positive, nothing is claimed.
pub(crate) fn enumerate(
    quadratic: &Quadratic,
    boxes: &[ProvedBox],
    choice: Choice,
    ceiling: f64,
) -> (Vec<usize>, Certified) {
    let Choice {
        most: budget,
        price,
    } = choice;
    debug_assert!(budget <= 2);
    let d = quadratic.size();
    let c = &quadratic.c;
    let diagonal: Vec<f64> = (0..d).map(|i| quadratic.row(i)[i]).collect();
    // Twice the gain, net of prices.
    let mut best = (0.0, Vec::new());
    let columns = if budget > 0 { d } else { 0 };
    for i in 0..columns {
        let gain = c[i] * (c[i] / diagonal[i]) - 2.0 * price;
        if gain > best.0 || gain.is_nan() {
            best = (gain, vec![i]);
        }
        if budget < 2 {
            continue;
        }
        let (own, own_c) = (diagonal[i], c[i]);
        let square = own_c * own_c;
        let others = quadratic.row(i)[..i].iter().zip(&c[..i]).zip(&diagonal);
        for (j, ((h, c), diagonal)) in others.enumerate() {
            let cross = 2.0 * own_c * c * h;
            let (first, second) = (square * diagonal, c * c * own);
            let size = own * diagonal;
            let above = first + second - cross + 16.0 * U * (first + second + cross.abs());
            let below = size - h * h - 16.0 * U * size;
            let is_better = above > (best.0 + 4.0 * price) * below;
            if is_better || above.is_nan() {
                let gain = if below > 0.0 {
                    above / below - 4.0 * price
                } else {
                    f64::INFINITY
                };
                best = (gain, vec![j, i]);
            }
        }
    }
    let (gain, mut chosen) = best;
    chosen.sort_unstable();
    let reaches = boxes.iter().zip(&quadratic.sizes);
    let reaches = reaches.map(|(known, size)| known.reach() * size);
    let spread = quadratic.response + top_sum(reaches, budget, &mut Vec::new());
    let error =
        0.5 * quadratic.share * spread * spread + 8.0 * U * (quadratic.c0 + gain + 8.0 * price);
    let value = quadratic.c0 - 0.5 * gain;
    let bound = Certified::from_frame(value, ceiling, error * (1.0 + 1e-6));
    (chosen, bound)
}
