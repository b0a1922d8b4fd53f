//! The first boxes: those of the ridge are too wide to spend a separate point on every side.
//!
//! For any direction g, `a = Ag` and `h = Hg`, every x with `P(x) ≤ ceiling` has
//!
//! ```text
//! h_j x_j = aᵀAx - Σ_{i≠j} h_i x_i,   |aᵀAx - cᵀg| = |aᵀρ(x)| ≤ |a| √(2 ceiling)
//! ```
//!
//! A lasso of column j on the others makes `h_i` small compared with `h_j`. Unlike a point of [`side`](super::side), a
//! direction serves both sides. It can be applied again whenever other boxes have shrunk, at the cost of one sum.

use super::budget::Budget;
use super::point::DescentPoint;
use super::side::{Room, Sides};
use super::{ProvedBox, Quadratic, Side};
use crate::linalg::rounding::U;
use crate::tuning::boxes::{LASSO_PASSES, LASSO_ROUNDS, LASSO_SHARE, LEAST_LASSO, MOST_LASSO};

/// A direction for one feature.
#[derive(Debug)]
pub(super) struct Direction {
    /// `-h`, with its error as a share of the sizes of the columns.
    v: Vec<f64>,
    error: f64,
    /// `cᵀg`.
    along: f64,
    /// Bound on the error of `along`.
    along_error: f64,
    /// Upper bound on `|a|`.
    length: f64,
}

impl Direction {
    /// Computes a direction by a lasso of column j on the others, and returns it with the weight of the lasso. The
    /// point stays in `room`, for later points to start from.
    pub(super) fn new(sides: &Sides, j: usize, room: &mut Room) -> (Self, f64) {
        let quadratic = sides.quadratic;
        let end = sides.boxes[j].reach();
        let others = sides.budget.most().saturating_sub(1).max(1) as f64;
        let share = (LASSO_SHARE / others).clamp(LEAST_LASSO, MOST_LASSO);
        let weight = share * quadratic.row(j)[j] * end * end;
        room.begin(quadratic, DescentPoint::reset_to_direction);
        room.point.go(quadratic, j, end);
        for _ in 0..LASSO_ROUNDS {
            sides.descend(j, weight, LASSO_PASSES, room);
        }
        let point = &room.point;
        let (error, omega) = point.error(quadratic);
        let (mut linear, mut product) = (0.0, 0.0);
        for ((x, c), v) in point.x.iter().zip(&quadratic.c).zip(&point.v) {
            linear += c * x;
            product -= v * x;
        }
        let square = f64::max(product, 0.0) + 4.0 * error * omega;
        let direction = Self {
            v: point.v.clone(),
            error,
            along: linear,
            along_error: 2.0 * error * quadratic.response,
            length: square.sqrt() * (1.0 + 4.0 * U),
        };
        (direction, weight)
    }

    /// Returns the end that the direction proves for a side, where it improves on the known one.
    pub(super) fn end(
        &self,
        quadratic: &Quadratic,
        boxes: &[ProvedBox],
        (j, side): (usize, Side),
        budget: &Budget,
        scratch: &mut Vec<f64>,
    ) -> Option<f64> {
        let sign = side.sign();
        let least = (-self.v[j] - self.error * quadratic.sizes[j]) * (1.0 - 4.0 * U);
        if least.is_nan() || least <= 0.0 {
            return None;
        }
        let each = self.v.iter().zip(boxes).zip(&quadratic.sizes).enumerate();
        let support = each.map(|(i, ((v, known), size))| {
            let v = sign * v;
            let end = if v > 0.0 { known.high } else { known.low };
            let most = v * end + self.error * size * known.reach();
            if i == j { 0.0 } else { most }
        });
        let worst = budget.worst(self.length, 1, support, scratch);
        let (reached, others) = (worst.reached, worst.others);
        let (along, error) = (self.along, self.along_error);
        let roundings = 4.0 * (budget.most() + 8) as f64 * U;
        let margin = error + roundings * (along.abs() + reached + others);
        let most = sign * along + reached + others + margin;
        let end = (most / least * (1.0 + 8.0 * U)).max(0.0);
        // A NaN is never less. (`max` above turns one into zero only where `most` is NaN, which is checked first.)
        (!most.is_nan() && end < boxes[j].end(side)).then_some(end)
    }
}
