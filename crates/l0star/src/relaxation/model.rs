//! [`Model`]: the smooth part of a node's problem, which Newton's method is written over; what is asked of a node, and its sets.

use crate::bound::Certified;

/// A smooth convex f in coordinates of ridge 1, and the certificate of its bounds.
pub(crate) trait Model {
    /// Columns, decided or not.
    fn size(&self) -> usize;

    /// `(f(x), f(x) + uᵀx)` and `u = -∇f(x)` on the columns of the node; x vanishes outside `support`.
    fn evaluate(&mut self, x: &[f64], support: &[usize], sets: &Sets, u: &mut [f64]) -> (f64, f64);

    /// The lower triangle of `∇²f` on `set` at the point evaluated last, by rows.
    fn hessian(&mut self, set: &[usize], rows: &mut [f64]);

    /// `u + ∇²f x` on `set`, for the point evaluated last.
    fn right_side(&mut self, u: &[f64], set: &[usize], out: &mut Vec<f64>);

    /// Looks along a direction from the point evaluated last.
    fn set_direction(&mut self, u: &[f64], direction: &[(usize, f64)]);

    /// `f(x + a d)` along it.
    fn along(&mut self, a: f64) -> f64;

    /// Keeps the point evaluated last as the one to be certified; `dual` is its D, `top` the sum of its m largest u².
    fn keep(&mut self, x: &[f64], support: &[usize], u: &[f64], sets: &Sets, dual: f64, top: f64);

    /// The certified bound of the point kept last.
    fn certify(&mut self, sets: &Sets) -> Certified;

    /// The mean of the diagonal of `∇²f`, roughly: step lengths only.
    fn mean_curvature(&self) -> f64;

    /// The largest eigenvalue of `∇²f`, roughly: step lengths only, and asked for only where Newton steps fail.
    fn largest_curvature(&self) -> f64;

    /// Whether that is only the largest one at the point evaluated last: steps may be too long for it.
    fn is_steep(&self) -> bool {
        false
    }
}

/// What decides when a node is solved well enough.
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
    /// What each column costs, by column; empty where nothing does. Free columns cost the same where there are more of them than
    /// the budget.
    pub costs: Vec<f64>,
}

impl Sets {
    /// Whether features have prices.
    pub(super) fn is_priced(&self) -> bool {
        !self.costs.is_empty()
    }

    /// Every column that can be non-zero.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let decided = self.unpenalised.iter().chain(&self.inside);
        decided.chain(&self.free).copied()
    }

    /// How many columns a model of this node may have.
    pub(super) fn model_size(&self) -> usize {
        self.unpenalised.len() + self.inside.len() + self.budget
    }
}
