//! The node bound, certified against rounding.
//!
//! A node is (S in, F free, the rest out) with budget m. For any slopes α in the domain of the conjugate, with
//! `β_i = p_i α_i`, `v_j = a_jᵀβ` and `q_j = v_j²/2λ_j`, every x of the node has
//!
//! ```text
//! P(x) ≥ D(β) = βᵀo - L*(β) - Σ_S q_j - (sum of the m largest q_j over F)
//! ```
//!
//! (Fenchel–Young row by row; equation (4) of the paper). With bounds on the coefficients and with groups an atom is
//!
//! ```text
//! q_g = Σ_{j in g} h_j(-v_j),   h_j(u) = max over l_j ≤ x ≤ u_j of ux - λ_j x²/2
//! ```
//!
//! and everything else is unchanged. Where features have prices `c_g`, the objective is `P(x) + Σ c_g [g is in]`: the
//! atom of a free feature is `(q_g - c_g)₊`, and the prices of the features that are in are added. The floating-point
//! α *is* the dual point, so D only has to be evaluated with downward rounding. `docs/numerics.md` derives the margins.

mod children;
mod dual;
mod leaf;

pub use children::{Children, OtherSide};
pub(crate) use dual::{DualPoint, box_atom};
pub(crate) use leaf::{joint_leaf_bound, leaf_bound};

use crate::linalg::rounding::{U, gamma};
use crate::problem::Problem;
use crate::settings::Solution;

/// Covers underflow in the few thousand products that a bound adds up.
const TINY: f64 = 1e-290;

/// A number proved to be at most P(x) for every x of some node that is better than the null model.
///
/// Only this module creates one from data. Whatever closes a node or fixes a feature requires one.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Certified(f64);

impl Certified {
    /// The bound 0, which holds for every node because losses and ridges are non-negative.
    pub const TRIVIAL: Self = Self(0.0);

    /// Returns the value of the bound.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Returns the larger of two bounds of the same node.
    pub fn tighter(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// Lowers the bound to at most `ceiling`.
    pub(crate) fn at_most(self, ceiling: f64) -> Self {
        Self(self.0.min(ceiling))
    }

    /// Returns a bound of `P(x) + cost` from a bound of P(x), for a cost that is a sum of this many terms, each at least 0.
    pub(crate) fn plus(self, cost: f64, terms: usize) -> Self {
        if cost == 0.0 {
            return self;
        }
        let sum = self.0 + cost * (1.0 - gamma(terms + 2));
        Self::new(sum - 2.0 * U * sum.abs())
    }

    /// Returns the smaller of the bounds of two nodes, which bounds both.
    pub fn weaker(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }

    /// Returns a bound evaluated in a [frame](crate::gram), given a proved bound of all its errors.
    ///
    /// Both hold for x with `P(x) < ceiling`. The value of every other x is at least the ceiling, so the bound is
    /// capped there, and no error is subtracted from the ceiling itself.
    pub(crate) fn from_frame(value: f64, ceiling: f64, error: f64) -> Self {
        let proved = Self::new(value - error - 4.0 * U * (value.abs() + error) - TINY);
        // This leaves room for a few roundings in earlier comparisons with the ceiling.
        let most = ceiling - 4.0 * U * ceiling.abs();
        if most.is_finite() {
            proved.at_most(most)
        } else {
            proved
        }
    }

    /// Returns the target that an enumeration proved for every set that it did not hand out.
    pub(crate) fn enumerated(proof: &impl Enumeration) -> Self {
        Self::new(proof.target())
    }

    /// Restores a bound that an earlier run of the same search certified, from an intact checkpoint.
    pub(crate) fn restored(value: f64) -> Self {
        Self::new(value)
    }

    /// Returns the lower bound that a search of this run proved.
    pub(crate) fn of(found: &Solution) -> Self {
        found.lower_bound.map_or(Self::TRIVIAL, Self::new)
    }

    /// Creates a bound. NaN and infinities (from overflow) become -∞, which proves nothing. Negative numbers are kept,
    /// because an ascent needs them.
    fn new(value: f64) -> Self {
        Self(if value.is_finite() {
            value
        } else {
            f64::NEG_INFINITY
        })
    }
}

/// A proof that considered every set of features; only the enumeration code creates one.
pub(crate) trait Enumeration {
    /// Returns a value that is at most P(x) for every x of the sets that were not handed out to be certified separately.
    fn target(&self) -> f64;
}

/// The part of a node that determines its bound.
#[derive(Debug, Clone, Copy)]
pub struct Subproblem<'a> {
    /// Columns that may be non-zero whatever the budget: penalised always-in columns and the features of S.
    pub included: &'a [usize],
    /// Selectable features that are undecided.
    pub free: &'a [usize],
    /// Number of features of `free` that may be non-zero.
    pub budget: usize,
}

impl Subproblem<'_> {
    /// Every feature that can be non-zero, except unpenalised ones.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.included.iter().chain(self.free).copied()
    }

    /// The features of S.
    pub(crate) fn inside(&self, problem: &Problem) -> &[usize] {
        let always = problem.penalised.len();
        self.included.get(always..).unwrap_or(&[])
    }

    /// Adds the prices of the features that are in to a bound that does not count them.
    pub(crate) fn with_cost(&self, problem: &Problem, bound: Certified) -> Certified {
        let inside = self.inside(problem);
        bound.plus(problem.cost(inside), inside.len() + problem.included.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_claims_its_value_less_its_error_and_never_more_than_its_ceiling() {
        let claim = |value, ceiling, error| Certified::from_frame(value, ceiling, error).value();
        let close = |claim: f64, most: f64| claim < most && claim > most * (1.0 - 1e-14);
        assert!(close(claim(3.0, f64::INFINITY, 0.5), 2.5));
        assert!(close(claim(3.0, 2.75, 0.5), 2.5));
        assert!(close(claim(3.0, 2.0, 0.5), 2.0));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for ceiling in [1.0, f64::INFINITY] {
                assert_eq!(claim(value, ceiling, 0.1), f64::NEG_INFINITY);
                assert_eq!(claim(1.0, ceiling, value.abs()), f64::NEG_INFINITY);
            }
        }
    }
}
