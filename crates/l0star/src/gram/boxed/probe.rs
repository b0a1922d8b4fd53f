//! What is proved of given nodes, for tests of the engine.

use std::sync::Arc;

use super::Boxed;
use crate::bound::Subproblem;
use crate::boxes::Probed;
use crate::gram::root::Root;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::relaxation::{Exit, Relaxation, Task, boxed};

/// Solves nodes with boxes, each below the one before it, as a search does whose best model has the objective `reference`. A node is
/// the features that are in and those that are free, in order. `None` where there are no boxes.
pub fn probe(
    problem: &Problem,
    nodes: &[(Vec<usize>, Vec<usize>)],
    reference: f64,
) -> Option<Vec<Probed>> {
    let limits = Limits::none();
    if !problem.loss.is_quadratic() {
        return boxed::probe(problem, nodes, reference);
    }
    if problem.structure.is_some() && !problem.is_boxed_by_columns() {
        return None;
    }
    let root = Root::new(problem, &problem.selectable, &limits, 1, &mut ())?;
    let mut relaxation = Boxed::new(problem, &Arc::new(root));
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
        let Some(current) = &relaxation.current else {
            break;
        };
        let gone = current.gone.iter().map(|j| (*j, 0.0, 0.0));
        let known = current.columns.iter().zip(current.boxes.boxes());
        let known = known.map(|(j, known)| (*j, known.bounds().0, known.bounds().1));
        let needed = current.columns.iter().enumerate();
        let needed = needed.filter(|(i, _)| current.boxes.is_needed(*i));
        let mut probed = Probed {
            ceiling: current.boxes.ceiling(),
            boxes: known.chain(gone).collect(),
            needed: needed.map(|(_, j)| *j).collect(),
            bound: bound.value(),
            others: Vec::new(),
        };
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
