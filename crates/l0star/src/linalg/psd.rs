//! Proofs that a matrix is positive semidefinite, and how far its diagonal can be reduced before it is not.

use super::cholesky::Cholesky;
use super::kernels;
use super::rounding::{U, gamma};
use crate::limits::Limits;

/// Whether `G ⪰ 0` is proved for every symmetric G within `share · tr Ĝ` of the floating-point Ĝ (in the spectral
/// norm): the floating-point Cholesky factorisation of `Ĝ - εI` completes, with
/// `ε ≥ (γ_{d+1}/(1 - γ_{d+1}) + share) tr Ĝ + 2u max Ĝ_ii`.
pub(crate) fn proved(
    g: &[f64],
    d: usize,
    share: f64,
    factor: &mut Cholesky,
    limits: &Limits,
) -> bool {
    let diagonal = (0..d).map(|i| g[i * d + i]);
    let trace: f64 = diagonal.clone().map(f64::abs).sum();
    let largest = diagonal.fold(0.0, f64::max);
    // Three more than in the textbook: a factorisation may multiply by reciprocals of its pivots.
    let own = gamma(d + 4);
    let relative = own / (1.0 - own) + share;
    let epsilon = (relative * trace + 4.0 * U * (largest + 1.0)) * (1.0 + 1e-6);
    let rows = factor.load(d, g);
    (0..d).for_each(|i| rows[i * d + i] -= epsilon);
    factor.succeeds_unless(&|| limits.stop())
}

/// Estimates the largest t with `H ⪰ diag(base + t·room)` from above: the reciprocal of the largest eigenvalue of
/// `R½ (H - diag base)⁻¹ R½`, with R the room, by Lanczos iteration.
///
/// A small part of the base is left in, so that a singular matrix can still be factorised; t is then too small by as
/// little. This is not a proof: see [`proved`].
pub(crate) fn largest_share(h: &[f64], base: &[f64], room: &[f64], limits: &Limits) -> f64 {
    let d = room.len();
    let mut factor = Cholesky::new();
    let rows = factor.load(d, h);
    for i in 0..d {
        rows[i * d + i] -= base[i] * (1.0 - 1e-3);
    }
    if !factor.factor_unless(&|| limits.stop()) {
        return 0.0;
    }
    let root: Vec<f64> = room.iter().map(|room| room.sqrt()).collect();
    let mut v: Vec<f64> = (0..d).map(|i| 1.0 + 0.1 * ((i * 37) % 11) as f64).collect();
    let length = kernels::norm(&v);
    v.iter_mut().for_each(|v| *v /= length);
    let (mut before, mut w) = (vec![0.0; d], vec![0.0; d]);
    // `(diagonal, below it)` of the tridiagonal matrix that represents the operator in the space seen so far.
    let mut small: Vec<(f64, f64)> = Vec::new();
    let mut value: f64 = 0.0;
    for _ in 0..40 {
        if limits.stop() {
            return 0.0;
        }
        let entries = w.iter_mut().zip(&v).zip(&root);
        entries.for_each(|((w, v), r)| *w = v * r);
        factor.solve(&mut w);
        w.iter_mut().zip(&root).for_each(|(w, r)| *w *= r);
        let along = kernels::dot(&v, &w);
        kernels::axpy(-along, &v, &mut w);
        if let Some((_, beside)) = small.last() {
            kernels::axpy(-beside, &before, &mut w);
        }
        let beside = kernels::norm(&w);
        if !(along.is_finite() && beside.is_finite()) {
            return 0.0;
        }
        small.push((along, beside));
        let next = largest_of_tridiagonal(&small);
        let done = next - value <= 2e-3 * next || beside <= 1e-12 * next;
        value = next;
        if done {
            break;
        }
        w.iter_mut().for_each(|w| *w /= beside);
        std::mem::swap(&mut before, &mut v);
        std::mem::swap(&mut v, &mut w);
    }
    if value > 0.0 {
        (1.0 / value).min(1.0)
    } else {
        0.0
    }
}

/// Largest eigenvalue of a symmetric tridiagonal matrix, given as `(diagonal, below it)`, to about 1e-6 of its size:
/// the smallest bound that a Sturm sequence allows.
fn largest_of_tridiagonal(entries: &[(f64, f64)]) -> f64 {
    let beside = |i: usize| if i == 0 { 0.0 } else { entries[i - 1].1.abs() };
    let last = entries.len() - 1;
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (i, (along, next)) in entries.iter().enumerate() {
        let next = if i == last { 0.0 } else { next.abs() };
        low = low.max(*along);
        high = high.max(along + beside(i) + next);
    }
    // Whether t - T is positive definite.
    let is_above = |t: f64| {
        let mut pivot = 1.0;
        entries.iter().enumerate().all(|(i, (along, _))| {
            pivot = t - along - beside(i).powi(2) / pivot;
            pivot > 0.0
        })
    };
    for _ in 0..100 {
        if high - low <= 1e-6 * high.abs() {
            break;
        }
        let middle = 0.5 * (low + high);
        if is_above(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Estimates a diagonal μ ≥ 0 with `H - diag(base + μ) ⪰ 0` by coordinate ascent on
/// `Σ w_i μ_i + τ log det(H - diag(base + μ))` from `start`, with τ halved after every sweep. This is not a proof: see
/// [`proved`].
///
/// With `V = (H - diag(base + μ))⁻¹` the exact maximum along coordinate i is `μ_i + 1/V_ii - τ/w_i`, and V changes by a
/// matrix of rank one.
pub(crate) fn spread_lift(
    h: &[f64],
    base: &[f64],
    start: &[f64],
    weights: &[f64],
    sweeps: usize,
) -> Option<Vec<f64>> {
    let d = start.len();
    let mut mu = start.to_vec();
    let mut v = {
        let mut factor = Cholesky::new();
        let rows = factor.load(d, h);
        for i in 0..d {
            rows[i * d + i] -= base[i] + mu[i];
        }
        if !factor.factor() {
            return None;
        }
        factor.inverse()
    };
    // The weights and the steps are in proportion: the mean of w_i V_ii⁻¹ sets the scale of τ.
    let mut tau = 0.3 * (0..d).map(|i| weights[i] / v[i * d + i]).sum::<f64>() / d as f64;
    let mut column = vec![0.0; d];
    for _ in 0..sweeps {
        for i in 0..d {
            let pivot = v[i * d + i];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            let step = (1.0 / pivot - tau / weights[i]).clamp(-mu[i], 0.98 / pivot);
            if step.abs() <= 1e-3 / pivot {
                continue;
            }
            mu[i] += step;
            let factor = step / (1.0 - step * pivot);
            // The lower triangle of V is enough.
            column[..=i].copy_from_slice(&v[i * d..i * d + i + 1]);
            for r in i + 1..d {
                column[r] = v[r * d + i];
            }
            for (r, row) in v.chunks_exact_mut(d).enumerate() {
                kernels::axpy(factor * column[r], &column[..=r], &mut row[..=r]);
            }
        }
        tau *= 0.5;
    }
    Some(mu)
}

/// Weights for [`spread_lift`], with a share of their mean added to each, so that a lift also serves nodes other than
/// the one it is made at. Columns without a weight come last and get that share alone.
pub(crate) fn widen(weights: &[f64], size: usize) -> Vec<f64> {
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    let floor = (0.3 * mean).max(1e-300);
    let mut wide: Vec<f64> = weights.iter().map(|w| w + floor).collect();
    wide.resize(size, floor);
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `BBᵀ + diag(base)` with some columns alike or zero.
    fn square(d: usize, alike: bool) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let entry = |i: usize, k: usize| match (alike, i) {
            (true, 0) => 0.0,
            (true, 1) => ((3 * 7 + k * 13) as f64).sin(),
            _ => ((i * 7 + k * 13 + i * k) as f64).sin(),
        };
        let base: Vec<f64> = (0..d).map(|i| 0.1 + 0.01 * i as f64).collect();
        let mut h = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..d {
                h[i * d + j] = (0..2 * d).map(|k| entry(i, k) * entry(j, k)).sum();
            }
        }
        let room = (0..d).map(|i| h[i * d + i]).collect();
        (0..d).for_each(|i| h[i * d + i] += base[i]);
        (h, base, room)
    }

    #[test]
    fn the_largest_share_is_just_above_what_can_be_proved() {
        let limits = Limits::none();
        for d in [1, 2, 5, 30, 60] {
            for alike in [false, true] {
                let (h, base, room) = square(d, alike);
                let share = largest_share(&h, &base, &room, &limits);
                let holds = |share: f64| {
                    let mut left = h.clone();
                    for i in 0..d {
                        left[i * d + i] -= base[i] * (1.0 - 1e-6) + share * room[i];
                    }
                    proved(&left, d, 0.0, &mut Cholesky::new(), &limits)
                };
                assert!(holds(0.9 * share), "{d} columns: {share}");
                // If the matrix is singular, the small part of the base is all there is.
                assert!(share <= 1.0 && (alike || d == 1 || !holds(1.02 * share + 0.01)));
            }
        }
    }
}
