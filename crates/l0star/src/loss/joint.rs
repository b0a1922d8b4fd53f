//! [`Joint`]: a loss that couples rows, bound to the rows of a problem.
//!
//! The bound of a node needs no conjugate in closed form. For any smooth convex L, any predictions z̄ and `β = ∇L(z̄)`,
//!
//! ```text
//! P(x) ≥ L(z̄) - βᵀ(z̄ - o) - Σ_S q_j - top_m(q_F),     q_j = (a_jᵀβ)²/2λ_j
//! ```
//!
//! so that a loss has to know its value, its gradient and its curvature, and to evaluate the first two terms downwards.

use std::fmt::Debug;

/// A convex, differentiable, non-negative function L of the predictions of all rows.
pub trait Joint: Debug + Send + Sync {
    /// `L(z)`.
    fn total(&self, z: &[f64]) -> f64;

    /// `L(high + low)` for predictions in two doubles, with sums in doubled precision.
    fn total_near(&self, high: &[f64], low: &[f64]) -> f64;

    /// `β = ∇L(z)`.
    fn gradient(&self, z: &[f64], beta: &mut [f64]);

    /// h with `∇²L(z) ⪯ diag(h)`: the curvature for steps that need a diagonal.
    fn curvatures(&self, z: &[f64], h: &mut [f64]);

    /// The exact Hessian at z.
    fn hessian(&self, z: &[f64]) -> Box<dyn Hessian>;

    /// Puts `β ≈ ∇L(z)` into `beta` and bounds what it is worth; `offset` may be empty.
    fn dual(&self, z: &[f64], offset: &[f64], beta: &mut [f64]) -> DualValue;

    /// A curvature as it is to be expected, relative to the weights of the rows, finite and > 0: for steps and scores.
    fn usual_curvature(&self) -> f64;

    /// By how much L can grow, as a share of itself, when no prediction moves by more than `step`; rounded up.
    fn growth(&self, step: f64) -> f64;

    /// How many observations the likelihood has, where these are not the rows.
    fn observations(&self) -> Option<f64> {
        None
    }

    /// The share of comparable pairs of rows that the predictions have in order, ties counted half: for events the row whose
    /// event is first should have the larger one. `None` where rows are not compared, or none can be.
    fn concordance(&self, _z: &[f64]) -> Option<f64> {
        None
    }

    /// The cumulative hazard of a row with the prediction 0, at each event time of each stratum, for predictions z.
    fn baseline(&self, _z: &[f64]) -> Vec<HazardStep> {
        Vec::new()
    }

    /// Everything that makes L, beside responses and weights: checkpoints compare it.
    fn fingerprint(&self) -> Vec<f64>;
}

/// `∇²L(z) = diag(h) - BᵀB`, with h the [`Joint::curvatures`].
pub trait Hessian {
    /// How many rows B has.
    fn rank(&self) -> usize;

    /// `out = Bt`.
    fn project(&self, t: &[f64], out: &mut [f64]);

    /// `t ← t - Bᵀy`.
    fn subtract(&self, y: &[f64], t: &mut [f64]);
}

/// What a dual point is worth before the atoms of features.
///
/// There is a real vector β' within `distance` of the floats β, in the Euclidean norm, with
/// `β'ᵀo - L*(β') ≥ value - slack`.
#[derive(Debug, Clone, Copy)]
pub struct DualValue {
    /// `L(z) - βᵀ(z - o)`, as it was computed.
    pub value: f64,
    /// What rounding can have added to it.
    pub slack: f64,
    /// How far β is from a dual point with this value.
    pub distance: f64,
}

/// The cumulative baseline hazard from an event time on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HazardStep {
    /// The stratum, as it was given; 0 where there is only one.
    pub stratum: u32,
    /// The time.
    pub time: f64,
    /// The sum of all hazards of the stratum up to this time.
    pub hazard: f64,
}

/// The functions of a single row, for a loss that has none: what is asked of one is no number, so that nothing can be proved from it by
/// mistake.
macro_rules! no_rows {
    () => {
        fn value(&self, _z: f64, _b: f64) -> f64 {
            f64::NAN
        }

        fn slope(&self, _z: f64, _b: f64) -> f64 {
            f64::NAN
        }

        fn curvature(&self, _z: f64, _b: f64) -> f64 {
            f64::NAN
        }

        fn smoothness(&self) -> f64 {
            f64::INFINITY
        }

        fn domain(&self, _b: f64) -> (f64, f64) {
            (f64::NEG_INFINITY, f64::INFINITY)
        }

        fn conjugate_terms(&self, _alpha: f64, _b: f64) -> (f64, f64) {
            (f64::INFINITY, f64::INFINITY)
        }

        fn conjugate_slope(&self, _alpha: f64, _b: f64) -> f64 {
            f64::NAN
        }

        fn prox(&self, _z: f64, _b: f64, _t: f64) -> f64 {
            f64::NAN
        }

        fn reach(&self, _v: f64) -> f64 {
            f64::INFINITY
        }
    };
}

pub(super) use no_rows;
