//! Proved boxes: intervals that contain every coefficient of any model better than a reference.
//!
//! Where the Gram matrix is singular and the ridge small, nothing can be lifted and the perspective bound is weak.
//! Bounds on the coefficients repair that, and they need not be guessed. A node in Gram form is
//!
//! ```text
//! P(x) = c0 - cᵀx + ½ xᵀHx = ½|ρ(x)|²,   ρ(x) = b - Ax   (the ridge as rows of A),   at most m non-zeros
//! ```
//!
//! For any point y, `ρ = ρ(y)`, `v = Aᵀρ = c - Hy`, and any x with `P(x) ≤ ceiling`, Cauchy–Schwarz on `ρᵀρ(x)` says
//!
//! ```text
//! -v_j x_j ≤ -ρᵀb + Σ_{i≠j} v_i x_i + |ρ| √(2 ceiling)
//! ```
//!
//! Besides x_j, at most m - 1 of the x_i are non-zero, and each lies in its box. The sum is therefore at most that of
//! the m - 1 largest `max over l_i ≤ x ≤ r_i of v_i x`. Where features have a price, n of them leave less of the
//! ceiling for P, and the right side is the largest over all n ([`budget`]). On the side s of j, where `s v_j < 0`,
//! this bounds `s x_j`.
//!
//! Everything is expressed in H, c and c0, so the argument holds in a condensed node as well as at the root, and any y
//! will do. [`side`] finds good points by coordinate descent, and [`first`] cheap ones to begin with. [`sweep`] cycles
//! over the features while boxes shrink. [`ascent`] maximises the bound of the node itself with atoms that know the
//! boxes. `docs/numerics.md`, section 16, derives the margins. [`rows`] proves boxes from the slopes of rows, for
//! losses that have no Gram form.

pub(crate) mod ascent;
mod budget;
mod certificate;
mod crew;
pub(crate) mod few;
mod first;
mod point;
mod quadratic;
pub(crate) mod rows;
mod side;
pub(crate) mod sweep;

pub(crate) use budget::Choice;
pub(crate) use crew::Crew;
pub(crate) use quadratic::Quadratic;
pub(crate) use sweep::Boxes;

use crate::tuning::boxes::{NODE_ROUNDS, ROOT_ROUNDS};

/// An interval `l ≤ 0 ≤ r` of a coefficient.
///
/// Every model of a node with `P(x) ≤ ceiling` and a non-zero `x_j` has `x_j` in it. Only this module makes such
/// intervals, and none is ever widened. Bounds that are part of the problem hold for all of its models; they are
/// applied once, at the root ([`Boxes::within`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ProvedBox {
    low: f64,
    high: f64,
}

impl ProvedBox {
    /// Returns the box that the ridge alone proves: `½ λ x² ≤ P(x) ≤ ceiling`.
    fn by_ridge(ridge: f64, ceiling: f64) -> Self {
        // The added constant covers a quotient that underflows.
        let end = (2.0 * ceiling / ridge).sqrt() * (1.0 + 1e-12) + 1e-150;
        // Not `f64::min`, which would turn a NaN into a proof.
        let end = if end < f64::MAX { end } else { f64::MAX };
        Self {
            low: -end,
            high: end,
        }
    }

    /// Returns the part of the box within bounds that every model of the problem satisfies (one of them is 0).
    fn within(self, (low, high): (f64, f64)) -> Self {
        // A NaN is ignored.
        Self {
            low: if low > self.low {
                low.min(0.0)
            } else {
                self.low
            },
            high: if high < self.high {
                high.max(0.0)
            } else {
                self.high
            },
        }
    }

    /// Returns the ends of the interval.
    pub(crate) fn bounds(self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Whether no model with this feature remains.
    pub(crate) fn is_zero(self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }

    /// Returns the largest absolute value in the interval.
    pub(crate) fn reach(self) -> f64 {
        self.high.max(-self.low)
    }

    /// Returns the end on one side, as a distance from zero.
    fn end(self, side: Side) -> f64 {
        match side {
            Side::Up => self.high,
            Side::Down => -self.low,
        }
    }

    /// Moves an end inwards.
    fn shrink(&mut self, side: Side, end: f64) {
        debug_assert!(end >= 0.0 && end <= self.end(side));
        match side {
            Side::Up => self.high = end,
            Side::Down => self.low = -end,
        }
    }
}

/// What was proved about the models of a node with an objective up to a ceiling.
#[derive(Debug, Clone, Default)]
pub struct Probed {
    /// Ceiling on the objective.
    pub ceiling: f64,
    /// Features with the intervals of their coefficients.
    pub boxes: Vec<(usize, f64, f64)>,
    /// Features that all of these models have.
    pub needed: Vec<usize>,
    /// Lower bound of all models of the node.
    pub bound: f64,
    /// A feature, whether the bound is for models without it (otherwise for those with it), and that bound.
    pub others: Vec<(usize, bool, f64)>,
}

/// A side of a coefficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Up,
    Down,
}

impl Side {
    fn sign(self) -> f64 {
        match self {
            Self::Up => 1.0,
            Self::Down => -1.0,
        }
    }
}

const SIDES: [Side; 2] = [Side::Up, Side::Down];

/// Returns the mean share of its reach that a box kept, over boxes whose reach `before` was not zero.
fn mean_share(before: &[f64], now: impl Iterator<Item = f64>) -> f64 {
    let pairs = before.iter().zip(now).filter(|(before, _)| **before > 0.0);
    let shares = pairs.map(|(before, now)| now / before);
    let (sum, count) = shares.fold((0.0, 0), |(sum, count), share| (sum + share, count + 1));
    if count == 0 {
        1.0
    } else {
        sum / f64::from(count)
    }
}

/// Limits on the rounds over the features of a node.
pub(crate) struct Rounds {
    /// Maximum number of rounds.
    pub(crate) most: usize,
    /// A round that leaves at least this share of the boxes is the last.
    pub(crate) enough: f64,
}

impl Rounds {
    /// Returns the limits for the first node that has boxes, or for a node below it.
    pub(crate) fn of(is_first: bool) -> Self {
        let (most, enough) = if is_first { ROOT_ROUNDS } else { NODE_ROUNDS };
        Self { most, enough }
    }
}

#[cfg(test)]
mod tests;
