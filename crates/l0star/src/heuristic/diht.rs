use super::EPSILON;
use crate::bound::Certified;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::relaxation::sga::Sga;
use crate::relaxation::{Relaxation, Task};

/// Dual iterative hard thresholding (Liu et al. 2017): supergradient ascent on D, with the support of the k largest
/// `|a_jᵀβ|`. It is the ascent of the paper's Algorithm 5 at the root, with one step per iteration.
#[derive(Debug)]
pub struct Diht<'p> {
    problem: &'p Problem,
    sga: Sga,
    bound: Certified,
    step: f64,
    limits: Limits,
    done: bool,
}

impl<'p> Diht<'p> {
    /// Starts from β = 0 with step 1.
    pub fn new(problem: &'p Problem) -> Self {
        Self::within(problem, &Limits::none())
    }

    /// Like [`Diht::new`]; a limit ends an iteration early.
    pub(crate) fn within(problem: &'p Problem, limits: &Limits) -> Self {
        let mut sga = Sga::new(problem, EPSILON);
        let root = Task::whole(problem, &problem.selectable, f64::INFINITY, limits);
        sga.prepare(problem, &root, None);
        let bound = sga.restart(problem, &root.node);
        Self {
            problem,
            sga,
            bound,
            step: 1.0,
            limits: limits.clone(),
            done: false,
        }
    }
}

impl Iterator for Diht<'_> {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        if self.done {
            return None;
        }
        let (problem, before) = (self.problem, self.bound);
        let (step, limits) = (&mut self.step, &self.limits);
        let Task { node, .. } = Task::whole(problem, &problem.selectable, f64::INFINITY, limits);
        match self.sga.ascend(problem, &node, before, step, limits) {
            Some(bound) => {
                self.bound = bound;
                let gain = bound.value() - before.value();
                self.done = gain <= EPSILON * problem.null_value;
            }
            None => self.done = true,
        }
        self.sga.primal(problem, &node);
        Some(self.sga.candidate(problem, &node))
    }
}
