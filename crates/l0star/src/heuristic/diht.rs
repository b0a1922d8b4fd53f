use super::EPSILON;
use crate::bound::Subproblem;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::relaxation::sga::Sga;
use crate::relaxation::{Relaxation, Task, largest};
use crate::settings::Settings;

/// Dual iterative hard thresholding (Liu et al. 2017): supergradient ascent on D, the support from the k largest
/// `|a_jᵀβ|`. The paper's Algorithm 5 at the root is the same ascent; a step is one call of it.
#[derive(Debug)]
pub struct Diht {
    supports: std::vec::IntoIter<Vec<usize>>,
}

impl Diht {
    /// Runs the ascent; the supports are those of its iterates, repetitions left out.
    pub fn new(problem: &Problem) -> Self {
        let limits = Limits::new(&Settings::default());
        let task = Task {
            node: Subproblem {
                included: &problem.penalised,
                free: &problem.selectable,
                budget: problem.support_size(),
            },
            cut: f64::INFINITY,
            scale: problem.null_value,
            low: 0.0,
            limits: &limits,
        };
        let mut sga = Sga::new(problem, EPSILON);
        sga.prepare(problem, &task.node, None);
        let mut supports: Vec<Vec<usize>> = Vec::new();
        let mut push = |support: Vec<usize>| {
            if supports.last() != Some(&support) {
                supports.push(support);
            }
        };
        let k = problem.support_size();
        sga.run(problem, &task, &mut |x| {
            let selectable = x
                .iter()
                .filter(|(j, _)| problem.selectable.binary_search(j).is_ok());
            push(largest(selectable.map(|(j, x)| (*j, x.abs())), k));
            true
        });
        push(sga.candidate(problem, k));
        Self {
            supports: supports.into_iter(),
        }
    }
}

impl Iterator for Diht {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        self.supports.next()
    }
}
