//! What a point proves about one side of a feature, for any boxes of the other features.
//!
//! A point costs passes of coordinate descent, but applying its certificate to smaller boxes costs one sum.
//! Certificates are therefore kept, and all of them are applied again whenever some boxes have shrunk.

use super::budget::Budget;
use super::point::DescentPoint;
use super::{ProvedBox, Quadratic, Side};
use crate::linalg::rounding::U;

/// Upper bound on the relative change of a slope by rounding to single precision and the few operations around it.
const ROUNDED: f64 = 1.0 / (1u64 << 21) as f64;
/// Covers the rounding of the smallest numbers of single precision.
const TINY: f64 = 1e-40;

/// Ends of a box times the size of its column, rounded outwards. Slopes in units of sizes are multiplied by them.
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

/// An inequality that bounds one side of a feature.
///
/// For every x of the node with `|ρ(x)| ≤ r`, with slopes `v_i = q_i w_i Ω`,
///
/// ```text
/// least · s x_j ≤ length · r - against + slack + Σ_{i≠j} v_i x_i.
/// ```
///
/// Its numbers depend neither on r nor on the boxes.
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
    /// Sets the certificate to that of a point; returns false where the point proves nothing.
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

    /// Returns the certificate for some of the columns; the others are zero.
    pub(super) fn restricted(&self, kept: &[usize]) -> Self {
        let slopes = if self.is_known() {
            kept.iter().map(|i| self.slopes[*i]).collect()
        } else {
            Vec::new()
        };
        Self { slopes, ..*self }
    }

    /// Returns the size of the certificate in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.slopes.capacity() * size_of::<f32>()
    }

    /// Whether the certificate has been set.
    pub(super) fn is_known(&self) -> bool {
        !self.slopes.is_empty()
    }

    /// Returns what the certificate proves with these boxes, rounded outwards; `None` where that is nothing.
    pub(super) fn end(
        &self,
        j: usize,
        ends: &[Ends],
        budget: &Budget,
        scratch: &mut Vec<f64>,
    ) -> Option<Proved> {
        // The maximum of the right side, and the number of features there; `own` is how many of these j is.
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
            // Divided by Ω, so that all numbers have the same units.
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
        // With j at zero, one more of the other features may be in.
        Some(Proved {
            end: 0.0,
            is_needed: most(0).0 < 0.0,
            features,
        })
    }
}

/// What a certificate proves about a side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Proved {
    pub end: f64,
    /// Whether every model has the feature.
    pub is_needed: bool,
    /// Number of features of the models that come closest to this end.
    pub features: usize,
}
