//! Proofs about given nodes, for tests of the engine.

use super::{Exit, Relaxation, Task};
use crate::bound::Subproblem;
use crate::boxes::Probed;
use crate::limits::Limits;
use crate::problem::Problem;

/// A relaxation whose boxes can be examined.
pub(crate) trait Probe: Relaxation {
    /// Returns the boxes of the node that was solved last, if anything remains of it.
    fn probed(&self, node: &Subproblem) -> Option<Probed>;
}

/// Solves nodes with boxes, each below the one before it, for models better than `reference`, and returns what is
/// proved about them. A node is given by its included and its free features, in order.
pub(crate) fn probe(
    relaxation: &mut impl Probe,
    problem: &Problem,
    nodes: &[(Vec<usize>, Vec<usize>)],
    reference: f64,
) -> Option<Vec<Probed>> {
    let limits = Limits::none();
    let mut start = None;
    let mut all = Vec::new();
    for (at, (inside, free)) in nodes.iter().enumerate() {
        let included = [&problem.penalised[..], inside].concat();
        let budget = problem.support_size().checked_sub(inside.len())?;
        if budget == 0 || free.len() <= budget {
            break;
        }
        let task = Task {
            node: Subproblem {
                included: &included,
                free,
                budget,
            },
            cut: reference,
            scale: reference,
            reference,
            proved: 0.0,
            allowed: 0.0,
            is_root: at == 0,
            limits: &limits,
        };
        relaxation.prepare(problem, &task, start.as_ref());
        let (bound, exit) = relaxation.solve(problem, &task);
        let Some(mut probed) = relaxation.probed(&task.node) else {
            break;
        };
        probed.bound = bound.value();
        if exit == Exit::Converged {
            let children = relaxation.children(problem, &task.node);
            let others = children.other_sides.iter();
            probed.others = others
                .map(|other| (other.feature, other.is_out, other.bound.value()))
                .collect();
        }
        all.push(probed);
        start = Some(relaxation.start());
    }
    Some(all)
}
