//! [`Joint`]: a loss that couples rows, bound to the rows of a problem.
//!
//! The bound of a node needs no conjugate in closed form. For any smooth convex L, any predictions z̄ and `β = ∇L(z̄)`,
//!
//! ```text
//! P(x) ≥ L(z̄) - βᵀ(z̄ - o) - Σ_S q_j - top_m(q_F),     q_j = (a_jᵀβ)²/2λ_j
//! ```
//!
//! A loss therefore only has to provide its value, its gradient and its curvature, and to evaluate the first two terms
//! with downward rounding.

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

    /// Writes `β ≈ ∇L(z)` to `beta` and bounds its dual value; `offset` may be empty.
    fn dual(&self, z: &[f64], offset: &[f64], beta: &mut [f64]) -> DualValue;

    /// Typical curvature relative to the weights of the rows, finite and > 0: for steps and scores.
    fn usual_curvature(&self) -> f64;

    /// Largest growth of L, as a share of itself, when no prediction moves by more than `step`; rounded up.
    fn growth(&self, step: f64) -> f64;

    /// Number of observations in the likelihood, if this is not the number of rows.
    fn observations(&self) -> Option<f64> {
        None
    }

    /// Share of comparable pairs of rows that the predictions order correctly, with ties counted half: the row whose
    /// event comes first should have the larger prediction. `None` if rows are not compared, or no pair is comparable.
    fn concordance(&self, _z: &[f64]) -> Option<f64> {
        None
    }

    /// The cumulative hazard of a row with the prediction 0, at each event time of each stratum, for predictions z.
    fn baseline(&self, _z: &[f64]) -> Vec<HazardStep> {
        Vec::new()
    }

    /// Everything that defines L apart from responses and weights, which checkpoints compare.
    fn fingerprint(&self) -> Vec<f64>;
}

/// `∇²L(z) = diag(h) - BᵀB`, with h the [`Joint::curvatures`].
pub trait Hessian {
    /// Number of rows of B.
    fn rank(&self) -> usize;

    /// `out = Bt`.
    fn project(&self, t: &[f64], out: &mut [f64]);

    /// `t ← t - Bᵀy`.
    fn subtract(&self, y: &[f64], t: &mut [f64]);
}

/// Value of a dual point before the atoms of features are subtracted.
///
/// There is a real vector β' within `distance` of the floats β, in the Euclidean norm, with
/// `β'ᵀo - L*(β') ≥ value - slack`.
#[derive(Debug, Clone, Copy)]
pub struct DualValue {
    /// `L(z) - βᵀ(z - o)`, as computed.
    pub value: f64,
    /// Limit on what rounding can have added to the value.
    pub slack: f64,
    /// Distance of β from a dual point with this value.
    pub distance: f64,
}

/// Step of the cumulative baseline hazard at an event time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HazardStep {
    /// The stratum, as given; 0 if there is only one.
    pub stratum: u32,
    /// The time.
    pub time: f64,
    /// The sum of all hazards of the stratum up to this time.
    pub hazard: f64,
}

/// Implements the functions of a single row for a loss that has none: they return NaN or infinities, so that nothing
/// can be proved from them by mistake.
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
