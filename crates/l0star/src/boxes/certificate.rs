//! What a point proves of one side of a feature, for whatever boxes the other features have.
//!
//! A point costs passes of coordinate descent; putting smaller boxes into what it proved costs one sum. So certificates are kept, and
//! boxes go through all of them again whenever some have shrunk.

use super::point::DescentPoint;
use super::{ProvedBox, Quadratic, Side};
use crate::linalg::rounding::U;
use crate::linalg::select::top_sum;

/// At least what rounding to single precision, and the few operations before and after it, change a slope by, relatively.
const ROUNDED: f64 = 1.0 / (1u64 << 21) as f64;
/// At least the smallest numbers of single precision.
const TINY: f64 = 1e-40;

/// The ends of a box times the size of its column, rounded outwards: what slopes in units of sizes are multiplied by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ends {
    low: f64,
    high: f64,
}

impl Ends {
    pub(super) fn new(known: ProvedBox, size: f64) -> Self {
        let outwards = size * (1.0 + 4.0 * U);
        Self {
            low: known.low * outwards,
            high: known.high * outwards,
        }
    }
}

/// For every x of the node with `P(x) ≤ ceiling`, with slopes `v_i = q_i w_i Ω`,
///
/// ```text
/// least · s x_j ≤ base + Σ_{i≠j} v_i x_i.
/// ```
#[derive(Debug, Clone, Default)]
pub(super) struct Certificate {
    /// q, in single precision: `|v_i/(w_i Ω) - q_i| ≤ ROUNDED |q_i| + error`.
    slopes: Vec<f32>,
    error: f64,
    /// Ω.
    unit: f64,
    base: f64,
    /// The size of what `base` is the difference of.
    size: f64,
    least: f64,
}

impl Certificate {
    /// That of a point; false where it proves nothing. `radius` is at least `√(2 ceiling)`.
    pub(super) fn set(
        &mut self,
        quadratic: &Quadratic,
        (j, side): (usize, Side),
        point: &DescentPoint,
        radius: f64,
    ) -> bool {
        let (error, omega) = point.error(quadratic);
        let own = -side.sign() * point.v[j];
        self.least = (own - error * quadratic.sizes[j]) * (1.0 - 4.0 * U);
        if self.least.is_nan() || self.least <= 0.0 {
            return false;
        }
        let (mut linear, mut product) = (0.0, 0.0);
        for ((x, c), v) in point.x.iter().zip(&quadratic.c).zip(&point.v) {
            linear += c * x;
            product += v * x;
        }
        let against_b = 2.0 * quadratic.c0 - linear;
        let square = (against_b - product).max(0.0) + 4.0 * error * omega;
        let reached = radius * square.sqrt() * (1.0 + 4.0 * U);
        self.base = reached - against_b + 4.0 * error * omega;
        self.size = against_b.abs() + reached;
        self.unit = omega;
        self.error = error / omega * (1.0 + 4.0 * U) + TINY;
        let slopes = point.v.iter().zip(&quadratic.sizes);
        self.slopes.clear();
        self.slopes
            .extend(slopes.map(|(v, size)| (v / (size * omega)) as f32));
        true
    }

    /// For some of the columns, where the others are zero.
    pub(super) fn restricted(&self, kept: &[usize]) -> Self {
        let slopes = if self.is_known() {
            kept.iter().map(|i| self.slopes[*i]).collect()
        } else {
            Vec::new()
        };
        Self { slopes, ..*self }
    }

    /// Whether there is one.
    pub(super) fn is_known(&self) -> bool {
        !self.slopes.is_empty()
    }

    /// The end of the side with these boxes, and whether no model lacks the feature; `None` where it proves nothing. All of it is
    /// rounded outwards.
    pub(super) fn end(
        &self,
        j: usize,
        ends: &[Ends],
        budget: usize,
        scratch: &mut Vec<f64>,
    ) -> Option<(f64, bool)> {
        let mut others = |count: usize| {
            let each = self.slopes.iter().zip(ends).enumerate();
            let each = each.map(|(i, (slope, ends))| {
                let slope = f64::from(*slope);
                let end = if slope > 0.0 { ends.high } else { ends.low };
                let reach = if ends.high > -ends.low {
                    ends.high
                } else {
                    -ends.low
                };
                if i == j {
                    0.0
                } else {
                    slope * end * (1.0 + ROUNDED) + self.error * reach
                }
            });
            self.unit * top_sum(each, count, scratch)
        };
        let rounding = |others: f64| 4.0 * (budget + 8) as f64 * U * (self.size + others);
        let sum = others(budget - 1);
        let most = self.base + sum + rounding(sum);
        if most.is_nan() {
            return None;
        }
        if most > 0.0 {
            return Some((most / self.least * (1.0 + 8.0 * U), false));
        }
        // With j at zero, one more of the others may be there.
        let sum = others(budget);
        Some((0.0, self.base + sum + rounding(sum) < 0.0))
    }
}
