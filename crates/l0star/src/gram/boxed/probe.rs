//! What is proved of given nodes, for tests of the engine.

use std::sync::Arc;

use super::Boxed;
use crate::bound::Subproblem;
use crate::gram::root::Root;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::relaxation::{Exit, Relaxation, Task};

/// What was proved of the models of a node with an objective up to a ceiling.
#[derive(Debug, Clone)]
pub struct Probed {
    /// The ceiling.
    pub ceiling: f64,
    /// A feature, and the interval of its coefficient.
    pub boxes: Vec<(usize, f64, f64)>,
    /// Features that all of these models have.
    pub needed: Vec<usize>,
    /// A bound of all models of the node.
    pub bound: f64,
    /// A feature, whether models without it are meant (else those with it), and a bound of these.
    pub others: Vec<(usize, bool, f64)>,
}

/// Solves nodes with boxes, each below the one before it, as a search does whose best model has the objective `reference`. A node is
/// the features that are in and those that are free, in order. `None` where the Gram form does not apply.
pub fn probe(
    problem: &Problem,
    nodes: &[(Vec<usize>, Vec<usize>)],
    reference: f64,
) -> Option<Vec<Probed>> {
    let limits = Limits::none();
    let is_known = problem.structure.is_none() || problem.is_boxed_by_columns();
    if !problem.loss.is_quadratic() || !is_known {
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
