//! The smooth part of a node's problem, over which Newton's method is written ([`Model`]), with
//! the goal and the sets of a node.

use crate::bound::Certified;

/// A smooth convex f in coordinates of ridge 1, with the certificate of its bounds.
pub(crate) trait Model {
    /// Returns the number of columns, decided or not.
    fn size(&self) -> usize;

    /// Returns `(f(x), f(x) + uᵀx)` and sets `u = -∇f(x)` on the columns of the node; x vanishes outside `support`.
    fn evaluate(&mut self, x: &[f64], support: &[usize], sets: &Sets, u: &mut [f64]) -> (f64, f64);

    /// Computes the lower triangle of `∇²f` on `set` at the point evaluated last, by rows.
    fn hessian(&mut self, set: &[usize], rows: &mut [f64]);

    /// Computes `u + ∇²f x` on `set`, for the point evaluated last.
    fn right_side(&mut self, u: &[f64], set: &[usize], out: &mut Vec<f64>);

    /// Sets a direction from the point evaluated last, for [`Model::along`].
    fn set_direction(&mut self, u: &[f64], direction: &[(usize, f64)]);

    /// Returns `f(x + a d)` along the direction d.
    fn along(&mut self, a: f64) -> f64;

    /// Keeps the point evaluated last as the one to be certified; `dual` is its D, and `top` the sum of its m largest
    /// u².
    fn keep(&mut self, x: &[f64], support: &[usize], u: &[f64], sets: &Sets, dual: f64, top: f64);

    /// Returns the certified bound of the point kept last.
    fn certify(&mut self, sets: &Sets) -> Certified;

    /// Returns the approximate mean of the diagonal of `∇²f`; used for step lengths only.
    fn mean_curvature(&self) -> f64;

    /// Returns the approximate largest eigenvalue of `∇²f`; used for step lengths only, and
    /// only where Newton steps fail.
    fn largest_curvature(&self) -> f64;

    /// Whether the largest curvature is that of the point evaluated last alone: steps may be too long for it.
    fn is_steep(&self) -> bool {
        false
    }
}

/// Criteria that decide when a node is solved well enough.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal {
    /// A bound at or above this closes the node.
    pub cut: f64,
    /// R - D at which the node is solved …
    pub tolerance: f64,
    /// … or, if that is less, a share (the first) of what D lacks of a reference (the second).
    pub share: Option<(f64, f64)>,
    /// The tolerance where the relaxed point is a model itself: then only rounding should be left.
    pub tight: f64,
}

/// Which columns are in S, in F, and which have no ridge at all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sets {
    pub unpenalised: Vec<usize>,
    pub inside: Vec<usize>,
    pub free: Vec<usize>,
    pub budget: usize,
    /// Price of each column; empty where there are no prices. Free columns have the same price where there are
    /// more of them than the budget.
    pub costs: Vec<f64>,
}

impl Sets {
    /// Whether features have prices.
    pub(super) fn is_priced(&self) -> bool {
        !self.costs.is_empty()
    }

    /// Returns every column that can be non-zero.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let decided = self.unpenalised.iter().chain(&self.inside);
        decided.chain(&self.free).copied()
    }

    /// Returns the number of columns that a model of this node may have.
    pub(super) fn model_size(&self) -> usize {
        self.unpenalised.len() + self.inside.len() + self.budget
    }
}
