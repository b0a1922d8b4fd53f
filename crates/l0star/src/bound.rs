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
//! and all else is the same. Where features have prices `c_g`, the objective is `P(x) + Σ c_g [g is in]`: the atom of a free
//! feature is `(q_g - c_g)₊`, and the prices of what is in are added. The float α *is* the dual point, so D only has to be
//! evaluated downwards. `docs/numerics.md` derives the margins.

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
/// Only this module makes one from data; everything that closes a node or fixes a feature takes one.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Certified(f64);

impl Certified {
    /// Losses and ridges are non-negative, so 0 is a bound of every node.
    pub const TRIVIAL: Self = Self(0.0);

    /// The bound.
    pub fn value(self) -> f64 {
        self.0
    }

    /// The larger of two bounds of the same node.
    pub fn tighter(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// Nothing above `ceiling` is claimed any more.
    pub(crate) fn at_most(self, ceiling: f64) -> Self {
        Self(self.0.min(ceiling))
    }

    /// A bound of `P(x) + cost` from one of P(x): for a cost that was added up from so many terms, each at least 0.
    pub(crate) fn plus(self, cost: f64, terms: usize) -> Self {
        if cost == 0.0 {
            return self;
        }
        let sum = self.0 + cost * (1.0 - gamma(terms + 2));
        Self::new(sum - 2.0 * U * sum.abs())
    }

    /// The smaller of bounds of two nodes bounds both.
    pub fn weaker(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }

    /// A bound evaluated in a [frame](crate::gram), with the proved bound of all its errors, both about x with `P(x) < ceiling`:
    /// the others are at least that, so that nothing above it is claimed, and no error is taken off the ceiling itself.
    pub(crate) fn from_frame(value: f64, ceiling: f64, error: f64) -> Self {
        let proved = Self::new(value - error - 4.0 * U * (value.abs() + error) - TINY);
        // A few roundings are left to whatever was compared with the ceiling on the way.
        let most = ceiling - 4.0 * U * ceiling.abs();
        if most.is_finite() {
            proved.at_most(most)
        } else {
            proved
        }
    }

    /// The target that an enumeration proved of every set that it did not hand out.
    pub(crate) fn enumerated(proof: &impl Enumeration) -> Self {
        Self::new(proof.target())
    }

    /// A bound that was certified by an earlier run of the same search, whose checkpoint was found whole.
    pub(crate) fn restored(value: f64) -> Self {
        Self::new(value)
    }

    /// The bound that a search of this run came to.
    pub(crate) fn of(found: &Solution) -> Self {
        found.lower_bound.map_or(Self::TRIVIAL, Self::new)
    }

    /// NaN and infinities (overflow on the way) say nothing. Negative numbers are kept: an ascent wants to see them.
    fn new(value: f64) -> Self {
        Self(if value.is_finite() {
            value
        } else {
            f64::NEG_INFINITY
        })
    }
}

/// A proof that looked at every set of features; only the code that enumerates makes one.
pub(crate) trait Enumeration {
    /// At most P(x) for every x of the sets that were not handed out to be certified by themselves.
    fn target(&self) -> f64;
}

/// What a bound has to know of a node.
#[derive(Debug, Clone, Copy)]
pub struct Subproblem<'a> {
    /// What may be non-zero whatever the budget: penalised always-in columns and the features of S.
    pub included: &'a [usize],
    /// Selectable features that are undecided.
    pub free: &'a [usize],
    /// How many of `free` may be non-zero.
    pub budget: usize,
}

impl Subproblem<'_> {
    /// Every feature that can be non-zero, unpenalised ones aside.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.included.iter().chain(self.free).copied()
    }

    /// The features of S.
    pub(crate) fn inside(&self, problem: &Problem) -> &[usize] {
        let always = problem.penalised.len();
        self.included.get(always..).unwrap_or(&[])
    }

    /// From a bound of what is left when the prices of the features that are in are not counted to one of the objective.
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
