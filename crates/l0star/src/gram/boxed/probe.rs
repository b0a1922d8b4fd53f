//! Proofs about given nodes, for tests of the engine.

use std::sync::Arc;

use super::Boxed;
use crate::bound::Subproblem;
use crate::boxes::Probed;
use crate::gram::root::Root;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::relaxation::boxed::BoxedRows;
use crate::relaxation::probe::{self, Probe};
use crate::settings::{Mechanisms, Use};

/// Solves nodes with boxes, each below the one before it, as a search does whose best model has the objective
/// `reference`.
///
/// A node is given by its included and its free features, in order. Returns `None` where there are no boxes.
pub fn probe(
    problem: &Problem,
    nodes: &[(Vec<usize>, Vec<usize>)],
    reference: f64,
) -> Option<Vec<Probed>> {
    let limits = Limits::none();
    if !problem.loss.is_quadratic() {
        let always = Mechanisms {
            boxes: Use::Always,
            ..Mechanisms::default()
        };
        let mut relaxation =
            BoxedRows::is_wanted(problem, always, &limits).then(|| BoxedRows::new(problem, &[]))?;
        return probe::probe(&mut relaxation, problem, nodes, reference);
    }
    if problem.structure.is_some() && !problem.is_boxed_by_columns() {
        return None;
    }
    let root = Root::new(problem, &problem.selectable, &limits, 1, &mut ())?;
    let mut relaxation = Boxed::new(problem, &Arc::new(root));
    probe::probe(&mut relaxation, problem, nodes, reference)
}

impl Probe for Boxed {
    fn probed(&self, _: &Subproblem) -> Option<Probed> {
        let current = self.current.as_ref()?;
        let gone = current.gone.iter().map(|j| (*j, 0.0, 0.0));
        let known = current.columns.iter().zip(current.boxes.boxes());
        let known = known.map(|(j, known)| (*j, known.bounds().0, known.bounds().1));
        let needed = current.columns.iter().enumerate();
        let needed = needed.filter(|(i, _)| current.boxes.is_needed(*i));
        Some(Probed {
            ceiling: current.boxes.ceiling(),
            boxes: known.chain(gone).collect(),
            needed: needed.map(|(_, j)| *j).collect(),
            ..Probed::default()
        })
    }
}
