//! Relaxations of a node: a certified lower bound, a candidate support, and a warm start for its children.

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

/// A node for a relaxation to solve, with the goals of the solve.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The node.
    pub node: Subproblem<'a>,
    /// The relaxation stops as soon as the bound is above this (the paper's force-quit); +∞ to run to convergence.
    pub cut: f64,
    /// The scale of the stopping rule, the paper's P_min.
    pub scale: f64,
    /// Certificates are wanted for models below this: the incumbent, or the last model of a list.
    pub reference: f64,
    /// The bound inherited by the node.
    pub proved: f64,
    /// The absolute error that the result of the search may have.
    pub allowed: f64,
    /// Whether this is the root of the search: all other nodes start from its point.
    pub is_root: bool,
    /// Checked in every iteration.
    pub limits: &'a Limits,
}

impl<'a> Task<'a> {
    /// Returns the task to relax the root of a problem, with these features free, to convergence
    /// for models below `reference`.
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
    /// Returns the cut for a bound that leaves out the prices of included features, which are paid in any case.
    pub(crate) fn cut_without_cost(&self, problem: &Problem) -> f64 {
        let paid = problem.cost(self.node.inside(problem));
        if paid > 0.0 {
            self.cut - paid + 1e-14 * (self.cut.abs() + paid)
        } else {
            self.cut
        }
    }
}

/// Reason why a relaxation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The stopping rule was met.
    Converged,
    /// The bound passed the cut.
    Quit,
    /// A limit was reached; the bound is still valid.
    Stopped,
}

impl Exit {
    /// Returns the reason why a relaxation with this bound ends.
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
    /// Returns the primal iterate: (column, coefficient).
    fn model(&self) -> Vec<(usize, f64)>;

    /// Returns the address and the shape of the frame in which the node was solved.
    fn frame(&self) -> Option<(usize, &FrameShape)> {
        None
    }

    /// Returns the number of bytes on the heap that are not charged to another node.
    fn bytes(&self) -> usize;
}

/// The columns of a frame and their lifts: all that is needed to build it again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameShape {
    /// Selectable columns that are condensed into the frame.
    pub(crate) inside: Vec<u32>,
    /// Columns of the frame itself.
    pub(crate) columns: Vec<u32>,
    /// Scale of each column; empty where the scales are not known.
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
    /// Index of the frame of the point.
    pub frame: Option<u32>,
}

impl SavedPoint {
    /// Returns the coefficients: (column, value).
    pub(crate) fn model(&self) -> Vec<(usize, f64)> {
        let wide = |(j, x): &(u32, Short)| (*j as usize, x.value());
        self.x.iter().map(wide).collect()
    }
}

/// State of the search when a candidate is judged.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The best objective so far.
    pub best: f64,
    /// The objective that a model has to beat to be useful.
    pub reference: f64,
    /// A feature that is forced into every model, or out of it.
    pub decision: Option<Decision>,
    /// Checked by everything that takes long.
    pub limits: &'a Limits,
}

/// Receives the sets that an enumeration cannot rule out, and its progress.
pub trait Watch {
    /// Fits and certifies a set that is not ruled out, given by its columns in order. Returns the
    /// current target, which can only fall.
    fn hit(&mut self, set: &[usize]) -> f64;

    /// Reports that this share of a pass is done.
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

    /// Loads a starting point for the following nodes (`None`: a cold start). `task.node` is a
    /// parent that covers all of them.
    fn prepare(&mut self, problem: &Problem, task: &Task, start: Option<&Self::Start>);

    /// Returns the bound that the starting point gives a node, without any iteration.
    fn initial_bound(&mut self, problem: &Problem, node: &Subproblem) -> Certified;

    /// Maximises the bound of one node from the starting point.
    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit);

    /// Tightens the problem of a node that was solved, if possible; the node is then to be solved again from its
    /// current point. `task.node` is the node as fixing has left it.
    fn tighten(&mut self, _problem: &Problem, _task: &Task) -> bool {
        false
    }

    /// Makes all later solves more exact; returns false when that is not possible.
    fn sharpen(&mut self) -> bool {
        false
    }

    /// Returns a bound of a node with a single support, where there is one that is cheaper than a fit of that support.
    fn leaf_bound(&mut self, _problem: &Problem, _task: &Task) -> Option<Certified> {
        None
    }

    /// Enumerates every model of a node with a small budget, where that is faster than a search. Returns a bound over
    /// all supports except those passed to `watch`, by their features in order.
    fn enumerate(
        &mut self,
        _problem: &Problem,
        _task: &Task,
        _watch: &mut dyn Watch,
    ) -> Option<Certified> {
        None
    }

    /// Returns the features of the model that the point solved last suggests: the included ones, and the m free ones
    /// with the largest coefficients.
    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize>;

    /// Improves a candidate where that is cheap; returns false if it is clearly not worth a fit.
    fn improve(&mut self, _problem: &Problem, _support: &mut Vec<usize>, _known: &Known) -> bool {
        true
    }

    /// Returns the bounds of all children of the node solved last.
    fn children(&self, problem: &Problem, node: &Subproblem) -> Children;

    /// Returns the free feature on which to split the node solved last; `gap` is what remains to be closed there.
    fn branch(&mut self, problem: &Problem, node: &Subproblem, gap: f64, limits: &Limits) -> usize;

    /// Returns the starting point for the children of the node solved last.
    fn start(&self) -> Self::Start;

    /// Returns a starting point from the primal iterate alone; `None` where that is not enough.
    fn restored(&self, _x: Vec<(usize, f64)>) -> Option<Self::Start> {
        None
    }

    /// Returns the starting points of a checkpoint.
    fn restore(&self, _problem: &Problem, saved: &SavedStarts) -> Vec<Option<Self::Start>> {
        let points = saved.points.iter();
        points.map(|point| self.restored(point.model())).collect()
    }

    /// Returns the approximate number of multiplications that the expansion of a node with this many columns takes.
    fn work(&self, problem: &Problem, columns: usize) -> u64 {
        NODE_PASSES * (problem.rows() * columns) as u64
    }

    /// Returns the number of bytes on the heap that the starts of open nodes share.
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

/// Rounds coefficients to the form in which children receive them.
pub(crate) fn shorten(x: impl Iterator<Item = (usize, f64)> + Clone) -> ShortModel {
    let mut short = Vec::with_capacity(x.clone().count());
    short.extend(x.map(|(j, x)| (j as u32, Short::new(x))));
    short.into()
}

/// Returns coefficients from the form in which children receive them.
pub(crate) fn lengthen(x: &ShortModel) -> impl Iterator<Item = (usize, f64)> {
    x.iter().map(|(j, x)| (*j as usize, x.value()))
}

/// Returns the features of S (selectable ones alone) and the m free ones of largest size, in order.
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

/// Collects what a filter lets through, with memory for all items allocated at the start.
pub(crate) fn gather<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::with_capacity(items.size_hint().1.unwrap_or(0));
    all.extend(items);
    all
}

/// Returns the column of largest score; in a tie, the first of them.
pub(crate) fn largest_one(columns: &[usize], score: impl Fn(usize) -> f64) -> usize {
    let order = |i: &usize, j: &usize| score(*i).total_cmp(&score(*j)).then(j.cmp(i));
    columns.iter().copied().max_by(order).unwrap_or(0)
}

/// Returns the `k` columns of largest score, zero scores left out, in column order.
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
