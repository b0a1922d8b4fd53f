//! What a node is worth: a certified lower bound, a candidate support, a warm start for its children.

pub(crate) mod boxed;
pub(crate) mod branching;
pub(crate) mod model;
pub(crate) mod newton;
pub mod pdal;
pub(crate) mod probe;
pub mod rows;
pub mod sga;
pub(crate) mod structured;
pub(crate) mod topk;

use serde::{Deserialize, Serialize};

use crate::bound::{Certified, Children, Subproblem};
use crate::limits::Limits;
use crate::linalg::short::Short;
use crate::problem::{Decision, Problem};
use crate::tuning::rows::NODE_PASSES;

/// What a relaxation is asked to do at a node.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The node.
    pub node: Subproblem<'a>,
    /// Leave as soon as the bound is above this (the paper's force-quit); +∞ to go on to convergence.
    pub cut: f64,
    /// The scale of the stopping rule, the paper's P_min.
    pub scale: f64,
    /// Certificates are wanted for models below this: the incumbent, or the last model of a list.
    pub reference: f64,
    /// The bound that the node came with.
    pub proved: f64,
    /// The absolute error that the result of the search may have.
    pub allowed: f64,
    /// Whether this is the root of the search: all other nodes start from its point.
    pub is_root: bool,
    /// Checked in every iteration.
    pub limits: &'a Limits,
}

impl<'a> Task<'a> {
    /// The root of a problem of which these features are left, to be relaxed to convergence for models below `reference`.
    pub(crate) fn whole(
        problem: &'a Problem,
        free: &'a [usize],
        reference: f64,
        limits: &'a Limits,
    ) -> Self {
        Self {
            node: Subproblem {
                included: &problem.penalised,
                free,
                budget: problem.support_size(),
            },
            cut: f64::INFINITY,
            scale: reference.min(problem.null_value),
            reference,
            proved: 0.0,
            allowed: 0.0,
            is_root: true,
            limits,
        }
    }
}

impl Task<'_> {
    /// The cut of a bound that does not count the prices of what is in, which are paid whatever is found.
    pub(crate) fn cut_without_cost(&self, problem: &Problem) -> f64 {
        let paid = problem.cost(self.node.inside(problem));
        if paid > 0.0 {
            self.cut - paid + 1e-14 * (self.cut.abs() + paid)
        } else {
            self.cut
        }
    }
}

/// Why a relaxation came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The stopping rule was met.
    Converged,
    /// The bound passed the cut.
    Quit,
    /// A limit was reached; the bound is valid all the same.
    Stopped,
}

impl Exit {
    /// Why a relaxation with this bound comes back.
    pub(crate) fn of(bound: Certified, task: &Task) -> Self {
        if bound.value() >= task.cut {
            Self::Quit
        } else if task.limits.stop() {
            Self::Stopped
        } else {
            Self::Converged
        }
    }
}

/// Coefficients (column, value) rounded to four bytes each.
pub type ShortModel = Box<[(u32, Short)]>;

/// The starting point that a node inherits from its parent.
pub trait Start: Send + Sync {
    /// The primal iterate: (column, coefficient).
    fn model(&self) -> Vec<(usize, f64)>;

    /// The address of the frame that the node was solved in, and its shape.
    fn frame(&self) -> Option<(usize, &FrameShape)> {
        None
    }

    /// Bytes on the heap that no other node is charged for.
    fn bytes(&self) -> usize;
}

/// The columns of a frame, and how far they are lifted: all that is needed to build it again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameShape {
    /// The selectable columns that are condensed in it.
    pub(crate) inside: Vec<u32>,
    /// Its own columns.
    pub(crate) columns: Vec<u32>,
    /// The scale of each column; empty where it is not known.
    pub(crate) scales: Vec<f64>,
}

/// The starting points of the open nodes of a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedStarts {
    pub(crate) points: Vec<SavedPoint>,
    pub(crate) frames: Vec<FrameShape>,
}

/// A starting point as it is saved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedPoint {
    pub x: Vec<(u32, Short)>,
    /// The number of its frame.
    pub frame: Option<u32>,
}

impl SavedPoint {
    /// Its coefficients: (column, value).
    pub(crate) fn model(&self) -> Vec<(usize, f64)> {
        let wide = |(j, x): &(u32, Short)| (*j as usize, x.value());
        self.x.iter().map(wide).collect()
    }
}

/// What is known when a candidate is judged.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The best objective.
    pub best: f64,
    /// The objective that a model has to beat to be of use.
    pub reference: f64,
    /// A feature that has to be in every model, or out of it.
    pub decision: Option<Decision>,
    /// Checked by everything that takes long.
    pub limits: &'a Limits,
}

/// Takes the sets that an enumeration cannot prove, and is told of its progress.
pub trait Watch {
    /// A set that is not proved, by its columns in order: it is fitted and certified. Returns the present target, which can only
    /// fall.
    fn hit(&mut self, set: &[usize]) -> f64;

    /// This share of a pass is done.
    fn progress(&mut self, _share: f64) {}
}

impl<F: FnMut(&[usize]) -> f64> Watch for F {
    fn hit(&mut self, set: &[usize]) -> f64 {
        self(set)
    }
}

/// A method that maximises the dual bound of nodes, one after the other.
pub trait Relaxation {
    /// The starting point that a node hands to its children.
    type Start: Start;

    /// Loads a starting point for the nodes to come (`None`: a cold start). `task.node` covers all of them: a parent.
    fn prepare(&mut self, problem: &Problem, task: &Task, start: Option<&Self::Start>);

    /// The bound that the starting point gives a node; no iteration is made.
    fn initial_bound(&mut self, problem: &Problem, node: &Subproblem) -> Certified;

    /// Maximises the bound of one node from the starting point.
    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit);

    /// Makes the problem of a node that was solved tighter, if it can: then the node is to be solved again, from where it
    /// stands. `task.node` is what fixing has left of it.
    fn tighten(&mut self, _problem: &Problem, _task: &Task) -> bool {
        false
    }

    /// Solves more exactly from here on; false when it cannot.
    fn sharpen(&mut self) -> bool {
        false
    }

    /// A bound of a node in which one support is left, where there is one that is cheaper than the fit of that support.
    fn leaf_bound(&mut self, _problem: &Problem, _task: &Task) -> Option<Certified> {
        None
    }

    /// Looks at every model of a node with a small budget, where that is sooner done than a search. Returns a bound of all
    /// supports but those that are handed out to `watch`, by their features in order.
    fn enumerate(
        &mut self,
        _problem: &Problem,
        _task: &Task,
        _watch: &mut dyn Watch,
    ) -> Option<Certified> {
        None
    }

    /// The features of the model that the point solved last suggests: those that are in, and the m free ones of largest
    /// coefficients.
    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize>;

    /// Improves a candidate where that is cheap; false where it is seen not to be worth a fit.
    fn improve(&mut self, _problem: &Problem, _support: &mut Vec<usize>, _known: &Known) -> bool {
        true
    }

    /// The bounds of all children of the node solved last.
    fn children(&self, problem: &Problem, node: &Subproblem) -> Children;

    /// The free feature to split the node solved last on; `gap` is what is left to close there.
    fn branch(&mut self, problem: &Problem, node: &Subproblem, gap: f64, limits: &Limits) -> usize;

    /// The starting point of the children of the node solved last.
    fn start(&self) -> Self::Start;

    /// A starting point of which only the primal iterate is known; `None` where that is not enough.
    fn restored(&self, _x: Vec<(usize, f64)>) -> Option<Self::Start> {
        None
    }

    /// The starting points of a checkpoint.
    fn restore(&self, _problem: &Problem, saved: &SavedStarts) -> Vec<Option<Self::Start>> {
        let points = saved.points.iter();
        points.map(|point| self.restored(point.model())).collect()
    }

    /// About how many multiplications the expansion of a node with this many columns takes.
    fn work(&self, problem: &Problem, columns: usize) -> u64 {
        NODE_PASSES * (problem.rows() * columns) as u64
    }

    /// Bytes on the heap that the starts of open nodes share.
    fn shared_bytes(&self) -> u64 {
        0
    }
}

impl Start for ShortModel {
    fn model(&self) -> Vec<(usize, f64)> {
        lengthen(self).collect()
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&**self)
    }
}

/// Coefficients as they are handed to children.
pub(crate) fn shorten(x: impl Iterator<Item = (usize, f64)> + Clone) -> ShortModel {
    let mut short = Vec::with_capacity(x.clone().count());
    short.extend(x.map(|(j, x)| (j as u32, Short::new(x))));
    short.into()
}

/// Coefficients as they were handed down.
pub(crate) fn lengthen(x: &ShortModel) -> impl Iterator<Item = (usize, f64)> {
    x.iter().map(|(j, x)| (*j as usize, x.value()))
}

/// The features of S (selectable ones alone) and the m free ones of largest size, in order.
pub(crate) fn largest_model(
    problem: &Problem,
    node: &Subproblem,
    size: impl Fn(usize) -> f64,
) -> Vec<usize> {
    let sizes = node.free.iter().map(|j| (*j, size(*j)));
    let mut support = largest(sizes, node.budget);
    support.extend_from_slice(&node.included[problem.penalised.len()..]);
    support.sort_unstable();
    support
}

/// Collects what a filter lets through, with room for all from the beginning.
pub(crate) fn gather<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::with_capacity(items.size_hint().1.unwrap_or(0));
    all.extend(items);
    all
}

/// The column of largest score; the first of them in a tie.
pub(crate) fn largest_one(columns: &[usize], score: impl Fn(usize) -> f64) -> usize {
    let order = |i: &usize, j: &usize| score(*i).total_cmp(&score(*j)).then(j.cmp(i));
    columns.iter().copied().max_by(order).unwrap_or(0)
}

/// The `k` columns of largest score, zero scores left out, in column order.
pub(crate) fn largest(columns: impl Iterator<Item = (usize, f64)>, k: usize) -> Vec<usize> {
    let mut scored = gather(columns.filter(|(_, score)| *score > 0.0));
    let order = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if scored.len() > k {
        if k == 0 {
            return Vec::new();
        }
        scored.select_nth_unstable_by(k - 1, order);
        scored.truncate(k);
    }
    let mut columns: Vec<usize> = scored.into_iter().map(|(j, _)| j).collect();
    columns.sort_unstable();
    columns
}
