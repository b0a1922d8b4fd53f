//! What a point proves of one side of a feature, for whatever boxes the other features have.
//!
//! A point costs passes of coordinate descent; putting smaller boxes into what it proved costs one sum. So certificates are kept, and
//! boxes go through all of them again whenever some have shrunk.

use super::budget::Budget;
use super::point::DescentPoint;
use super::{ProvedBox, Quadratic, Side};
use crate::linalg::rounding::U;

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

/// For every x of the node with `|ρ(x)| ≤ r`, with slopes `v_i = q_i w_i Ω`,
///
/// ```text
/// least · s x_j ≤ length · r - against + slack + Σ_{i≠j} v_i x_i.
/// ```
///
/// Nothing in it depends on what r or the boxes are.
#[derive(Debug, Clone, Default)]
pub(super) struct Certificate {
    /// q, in single precision: `|v_i/(w_i Ω) - q_i| ≤ ROUNDED |q_i| + error`.
    slopes: Vec<f32>,
    error: f64,
    /// Ω.
    unit: f64,
    length: f64,
    against: f64,
    slack: f64,
    least: f64,
}

impl Certificate {
    /// That of a point; false where it proves nothing.
    pub(super) fn set(
        &mut self,
        quadratic: &Quadratic,
        (j, side): (usize, Side),
        point: &DescentPoint,
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
        self.length = square.sqrt() * (1.0 + U);
        self.against = against_b;
        self.slack = 4.0 * error * omega;
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

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.slopes.capacity() * size_of::<f32>()
    }

    /// Whether there is one.
    pub(super) fn is_known(&self) -> bool {
        !self.slopes.is_empty()
    }

    /// What it proves with these boxes; `None` where that is nothing. All of it is rounded outwards.
    pub(super) fn end(
        &self,
        j: usize,
        ends: &[Ends],
        budget: &Budget,
        scratch: &mut Vec<f64>,
    ) -> Option<Proved> {
        // The most that the right side can be, and the number of features there; `own`: how many of these j is.
        let mut most = |own: usize| {
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
            // In units of Ω, so that all numbers are of one kind.
            let worst = budget.worst(self.length / self.unit, own, each, scratch);
            let (reached, others) = (self.unit * worst.reached, self.unit * worst.others);
            let size = self.against.abs() + reached + others;
            let rounding = 4.0 * (budget.most() + 8) as f64 * U * size;
            let most = reached - self.against + self.slack + others + rounding;
            (most, worst.features)
        };
        let (right, features) = most(1);
        if right.is_nan() {
            return None;
        }
        if right > 0.0 {
            return Some(Proved {
                end: right / self.least * (1.0 + 8.0 * U),
                is_needed: false,
                features,
            });
        }
        // With j at zero, one more of the others may be there.
        Some(Proved {
            end: 0.0,
            is_needed: most(0).0 < 0.0,
            features,
        })
    }
}

/// What a certificate proves of a side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Proved {
    pub end: f64,
    /// No model lacks the feature.
    pub is_needed: bool,
    /// How many features the models have that come nearest to this end.
    pub features: usize,
}
