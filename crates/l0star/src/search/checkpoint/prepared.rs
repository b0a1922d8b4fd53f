//! [`Prepared`]: how far a search had come before there were nodes.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::relaxation::WarmStart;

/// A screening of wide data in progress: the features that are left, and where its ascent stands.
///
/// That the others are out is proved by the evidence that is kept with it. The point proves nothing by itself: every bound
/// made from it is certified anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Prepared {
    free: Vec<u32>,
    alpha: Vec<f64>,
    x: Vec<(u32, f64)>,
    steps: (f64, f64),
    pub epsilon: f64,
}

impl Prepared {
    pub(crate) fn new(free: &[usize], warm: WarmStart, epsilon: f64) -> Self {
        let x = warm.x.iter().map(|(j, x)| (*j as u32, *x));
        let mut x: Vec<(u32, f64)> = x.collect();
        x.sort_unstable_by_key(|(j, _)| *j);
        Self {
            free: free.iter().map(|j| *j as u32).collect(),
            x,
            alpha: warm.alpha,
            steps: warm.steps,
            epsilon,
        }
    }

    /// The features that are left, in order.
    pub(crate) fn free(&self) -> Vec<usize> {
        self.free.iter().map(|j| *j as usize).collect()
    }

    /// Where the ascent goes on.
    pub(crate) fn warm_start(&self, problem: &Problem) -> WarmStart {
        let mut alpha = self.alpha.clone();
        problem.loss.clip(&mut alpha, &problem.b);
        WarmStart {
            alpha,
            x: self.x.iter().map(|(j, x)| (*j as usize, *x)).collect(),
            steps: self.steps,
            ..WarmStart::default()
        }
    }

    /// Whether it could be of this problem.
    pub(super) fn fits(&self, problem: &Problem) -> bool {
        let is_free = |j: &u32| problem.selectable.binary_search(&(*j as usize)).is_ok();
        let is_column = |j: u32| (j as usize) < problem.design.columns();
        let is_step = |step: f64| step.is_finite() && step > 0.0;
        self.free.is_sorted_by(|a, b| a < b)
            && self.free.iter().all(is_free)
            && self.alpha.len() == problem.rows()
            && self.alpha.iter().all(|slope| slope.is_finite())
            && self.x.is_sorted_by(|a, b| a.0 < b.0)
            && self.x.iter().all(|(j, x)| is_column(*j) && x.is_finite())
            && is_step(self.steps.0)
            && is_step(self.steps.1)
            && is_step(self.epsilon)
    }
}
