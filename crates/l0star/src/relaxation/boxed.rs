//! Nodes with proved boxes in matrix form. Boxes are shrunk again in every node, and the bound uses the ridge as it is.
//!
//! This is for losses that add up over rows, where there are more columns than rows and the ridge is small.
//! Nothing can be lifted there, and without boxes the bound is weak. Huber's loss uses them by default. Under
//! the logistic loss boxes shrink slowly, as predictions may be arbitrarily large on the right side: 200 × 500
//! with k = 5 did better without.

use std::sync::Arc;

use super::probe::Probe;
use super::{
    Exit, Relaxation, ShortModel, Start, Task, largest_model, largest_one, lengthen, shorten,
};
use crate::bound::{Certified, Children, Subproblem};
use crate::boxes::rows::{Columns, Room, RowAscent, RowBoxes, RowNode};
use crate::boxes::{Probed, Rounds};
use crate::limits::Limits;
use crate::linalg::rounding::U;
use crate::problem::Problem;
use crate::settings::{Mechanisms, Use};
use crate::tuning::boxes::{AGAIN, MOST_ROW_WORK, SMALL_RIDGE};

/// The last point of the ascent of a node, and the boxes that were proved there.
#[derive(Debug)]
pub(crate) struct BoxedRowsStart {
    x: ShortModel,
    boxes: Option<Arc<RowBoxes>>,
}

impl Start for BoxedRowsStart {
    fn model(&self) -> Vec<(usize, f64)> {
        lengthen(&self.x).collect()
    }

    fn bytes(&self) -> usize {
        let boxes = self.boxes.as_ref().map_or(0, |boxes| boxes.bytes());
        size_of::<Self>() + size_of_val(&*self.x) + boxes
    }
}

/// The relaxation of nodes with proved boxes, for a loss that adds up over rows.
#[derive(Debug, Clone)]
pub(crate) struct BoxedRows {
    columns: Arc<Columns>,
    /// Model at which nodes without a start begin.
    first: Vec<(usize, f64)>,
    /// Boxes of the parent node, or of this node once it has been solved.
    boxes: Option<Arc<RowBoxes>>,
    /// Number of included and of free features when the node was solved last.
    counts: (usize, usize),
    ascent: RowAscent,
    room: Room,
}

impl BoxedRows {
    /// Creates the relaxation; `first` is a model at which nodes without a start begin: (column, coefficient).
    pub(crate) fn new(problem: &Problem, first: &[(usize, f64)]) -> Self {
        Self {
            columns: Arc::new(Columns::new(problem)),
            first: first.to_vec(),
            boxes: None,
            counts: (0, 0),
            ascent: RowAscent::default(),
            room: Room::default(),
        }
    }

    /// Whether a search for the best model should use this relaxation rather than one without boxes.
    ///
    /// By default that is so under Huber's loss, if there are at least as many columns as rows, and the ridge is small
    /// compared with the curvature of most of them.
    pub(crate) fn is_wanted(problem: &Problem, mechanisms: Mechanisms, limits: &Limits) -> bool {
        let is_sum = problem.joint().is_none() && !problem.is_steep();
        let applies = is_sum && !problem.loss.is_quadratic() && problem.structure.is_none();
        if !applies || !mechanisms.fixing {
            return false;
        }
        match mechanisms.boxes {
            Use::Never => false,
            Use::Always => true,
            Use::Auto => {
                let (rows, columns) = (problem.rows(), problem.selectable.len());
                let entries = rows as u64 * problem.design.columns() as u64;
                problem.loss.quadratic_within().is_some()
                    && columns >= rows
                    && entries * columns as u64 <= MOST_ROW_WORK
                    && !limits.is_short(8 * entries)
                    && is_ridge_small(problem)
            }
        }
    }

    fn at<'a>(
        &'a self,
        problem: &'a Problem,
        node: Subproblem<'a>,
        limits: &'a Limits,
    ) -> RowNode<'a> {
        RowNode {
            problem,
            columns: &self.columns,
            node,
            limits,
        }
    }

    /// Enters a node, and returns its boxes.
    fn enter(&mut self, problem: &Problem, task: &Task) -> RowBoxes {
        let spare = (0.01 * (task.reference - task.cut)).max(16.0 * U * task.cut.abs());
        // Bounds with unpenalised columns do not cover models that are worse than the null model.
        let ceiling = (task.cut + spare).min(problem.null_value);
        match self.boxes.take() {
            Some(known) => {
                let mut boxes = Arc::unwrap_or_clone(known);
                boxes.lower(ceiling);
                boxes
            }
            None => RowBoxes::new(problem, ceiling),
        }
    }
}

/// Whether the ridge is small compared with the curvature in most columns.
fn is_ridge_small(problem: &Problem) -> bool {
    let curvature = problem.usual_curvature / problem.rows() as f64;
    let is_small = |j: &&usize| {
        let norm = problem.norms[**j];
        problem.ridge[**j] < SMALL_RIDGE * curvature * norm * norm
    };
    2 * problem.selectable.iter().filter(is_small).count() > problem.selectable.len()
}

impl Relaxation for BoxedRows {
    type Start = BoxedRowsStart;

    fn prepare(&mut self, problem: &Problem, task: &Task, start: Option<&BoxedRowsStart>) {
        self.room.begin(problem, task.limits);
        self.boxes = start.and_then(|start| start.boxes.clone());
        self.ascent.x = start.map_or_else(|| self.first.clone(), BoxedRowsStart::model);
    }

    fn initial_bound(&mut self, _problem: &Problem, _node: &Subproblem) -> Certified {
        Certified::TRIVIAL
    }

    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        let is_first = self.boxes.is_none();
        let Rounds { most, enough } = Rounds::of(is_first);
        let mut boxes = self.enter(problem, task);
        let (mut ascent, mut room) = (
            std::mem::take(&mut self.ascent),
            std::mem::take(&mut self.room),
        );
        let at = self.at(problem, task.node, task.limits);
        let mut best = Certified::TRIVIAL;
        let mut share = 0.0;
        for round in 0..=most {
            best = best.tighter(ascent.maximise(&at, &boxes, task.cut, &mut room));
            if best.value() >= task.cut || round == most || share > enough {
                break;
            }
            match boxes.round(&at, &mut room) {
                Some(left) => share = left,
                None => break,
            }
        }
        let free = task.node.free.iter().filter(|j| !boxes.is_zero(**j));
        self.counts = (task.node.included.len(), free.count());
        self.boxes = Some(Arc::new(boxes));
        (self.ascent, self.room) = (ascent, room);
        (best, Exit::of(best, task))
    }

    /// A node is solved again after fixing if a feature came in, or many were ruled out.
    fn tighten(&mut self, _problem: &Problem, task: &Task) -> bool {
        let (included, free) = self.counts;
        let node = &task.node;
        node.included.len() > included || node.free.len() as f64 <= AGAIN * free as f64
    }

    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize> {
        largest_model(problem, node, |j| self.ascent.shares[j])
    }

    fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        match &self.boxes {
            Some(boxes) => {
                let limits = Limits::none();
                self.ascent
                    .children(&self.at(problem, *node, &limits), boxes)
            }
            None => Children {
                low: Certified::TRIVIAL,
                other_sides: Vec::new(),
            },
        }
    }

    fn branch(&mut self, _: &Problem, node: &Subproblem, _gap: f64, _: &Limits) -> usize {
        let score = |j: usize| {
            let z = self.ascent.shares[j];
            z * (1.0 - z) + 0.5 * z
        };
        largest_one(node.free, score)
    }

    fn start(&self) -> BoxedRowsStart {
        let boxes = self.boxes.as_ref();
        BoxedRowsStart {
            x: shorten(self.ascent.x.iter().copied()),
            boxes: boxes.map(|boxes| Arc::new(boxes.for_children())),
        }
    }

    fn restored(&self, x: Vec<(usize, f64)>) -> Option<BoxedRowsStart> {
        let x = shorten(x.into_iter());
        Some(BoxedRowsStart { x, boxes: None })
    }
}

impl Probe for BoxedRows {
    fn probed(&self, node: &Subproblem) -> Option<Probed> {
        let boxes = self.boxes.as_ref()?;
        let interval = |j: usize| (j, boxes.bounds(j).0, boxes.bounds(j).1);
        Some(Probed {
            ceiling: boxes.ceiling(),
            boxes: node.columns().map(interval).collect(),
            ..Probed::default()
        })
    }
}
