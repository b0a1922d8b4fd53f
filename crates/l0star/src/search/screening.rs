//! Wide problems: features that no better model can use are dropped before anything of size d² is formed.
//!
//! A first-order ascent at the root costs O(nd) a step, and every dual point bounds, for each feature, all models that
//! use it. Those at or above the incumbent are out for good.

use super::{Context, Phase};
use crate::bound::Subproblem;
use crate::heuristic::{fill_list, first_incumbent};
use crate::relaxation::pdal::{self, Pdal};
use crate::relaxation::{Exit, Relaxation, Task};

/// Rounds of ascent and screening.
const MAX_ROUNDS: usize = 12;

/// The selectable features that are left, once at most `enough` are or nothing more can be dropped.
///
/// Everything dropped is recorded in the context. An incumbent is found first.
pub(crate) fn screen(context: &mut Context, enough: usize) -> Vec<usize> {
    let problem = context.problem;
    let budget = problem.support_size();
    let mut free = problem.selectable.clone();
    first_incumbent(context);
    fill_list(context);
    let mut epsilon = 1e-3;
    let limits = context.limits.clone();
    context.enter(Phase::Root);
    let mut relaxation = Pdal::within(problem, epsilon, &limits);
    let mut warm = None;
    for _ in 0..MAX_ROUNDS {
        if free.len() <= enough.max(budget + 1) || budget == 0 || limits.stop() {
            break;
        }
        let task = Task {
            node: Subproblem {
                included: &problem.penalised,
                free: &free,
                budget,
            },
            cut: f64::INFINITY,
            scale: context.reference().min(problem.null_value),
            low: 0.0,
            limits: &limits,
        };
        relaxation.prepare(problem, &task.node, warm.as_ref());
        context.counters.calls += 1;
        let (bound, exit) = relaxation.solve(problem, &task);
        context.raise(bound);
        if exit == Exit::Stopped {
            break;
        }
        let support = relaxation.candidate(problem, budget);
        context.propose(&support);
        let cut = context.cut();
        let bounds = relaxation.children(problem, &task.node);
        let mut out = vec![false; problem.design.columns()];
        for (j, inside, bound) in &bounds.other_side {
            if !inside && bound.value() >= cut {
                context.discard(*bound);
                out[*j] = true;
            }
        }
        warm = Some(relaxation.warm_start());
        let before = free.len();
        free.retain(|j| !out[*j]);
        context.set_features_left(free.len());
        if free.len() * 10 > before * 9 {
            // Little was gained: only a sharper bound can do more.
            if epsilon <= pdal::FINE {
                break;
            }
            epsilon *= 0.1;
            relaxation.set_epsilon(epsilon);
        }
    }
    free
}
