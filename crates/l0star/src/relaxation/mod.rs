//! What a node is worth: a certified lower bound, a candidate support, a warm start for its children.

pub(crate) mod branching;
pub(crate) mod newton;
pub mod pdal;
pub mod rows;
pub mod sga;
pub(crate) mod structured;
pub(crate) mod topk;
pub mod working;

use std::sync::Arc;

use crate::bound::{Certified, Children, Subproblem};
use crate::gram::boxed::Held;
use crate::gram::structured::Lifted;
use crate::limits::Limits;
use crate::linalg::short::Short;
use crate::problem::Problem;
use rows::lift::Lift;

/// What a relaxation is asked to do at a node.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The node.
    pub node: Subproblem<'a>,
    /// Leave as soon as the bound is above this (the paper's force-quit); +∞ to go on to convergence.
    pub cut: f64,
    /// The scale of the stopping rule, the paper's P_min.
    pub scale: f64,
    /// The bound that the node came with.
    pub low: f64,
    /// Checked in every iteration.
    pub limits: &'a Limits,
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

/// What a child inherits: enough to go on from where its parent stopped.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WarmStart {
    /// Slopes, one a row.
    pub alpha: Vec<f64>,
    /// Non-zeros of the primal iterate.
    pub x: Vec<(usize, f64)>,
    /// Step sizes: PDAL's (τ, ρ), SGA's (η, unused).
    pub steps: (f64, f64),
    /// The same rounded, instead of `x`, where that is enough.
    pub(crate) rounded: Box<[(u32, Short)]>,
    /// The lifted problem that x solves: in matrix form, or the frame of a problem with groups or bounds.
    pub(crate) lift: Option<Arc<Lift>>,
    pub(crate) frame: Option<Arc<Lifted>>,
    /// The boxes that were proved.
    pub(crate) boxes: Option<Arc<Held>>,
    /// From a checkpoint: where its node stood once its problem was made tighter.
    pub(crate) tighter: Vec<(usize, f64)>,
}

impl WarmStart {
    /// The primal iterate, rounded or not.
    pub(crate) fn model(&self) -> Vec<(usize, f64)> {
        let rounded = self.rounded.iter();
        let rounded = rounded.map(|(j, x)| (*j as usize, x.value()));
        self.x.iter().copied().chain(rounded).collect()
    }

    /// Whether x solves a problem that was made tighter.
    pub(crate) fn is_tight(&self) -> bool {
        self.lift.is_some() || self.frame.is_some()
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let lift = self
            .lift
            .as_ref()
            .map_or(0, |lift| match Arc::strong_count(lift) {
                // It is charged to the node that brought it.
                0..=2 => lift.bytes(),
                _ => 0,
            });
        let frame = self.frame.as_ref().map_or(0, |frame| {
            let shared = Arc::strong_count(frame) > 2;
            if shared { 0 } else { frame.bytes() }
        });
        let boxes = self.boxes.as_ref().map_or(0, |boxes| boxes.bytes());
        frame
            + boxes
            + self.alpha.capacity() * 8
            + (self.x.capacity() + self.tighter.capacity()) * size_of::<(usize, f64)>()
            + size_of_val(&*self.rounded)
            + lift
    }
}

/// Sees the points of a relaxation while it is at work, each as a start to go on from, and changes nothing.
pub type Watch<'a> = dyn FnMut(&dyn Fn() -> WarmStart) + 'a;

/// A method that maximises the dual bound of nodes, one after the other.
pub trait Relaxation {
    /// Loads a starting point for the nodes to come (`None`: a cold start). `node` covers all of them: a parent.
    fn prepare(&mut self, problem: &Problem, node: &Subproblem, warm: Option<&WarmStart>);

    /// The bound that the starting point gives a node; no iteration is made.
    fn initial_bound(&mut self, problem: &Problem, node: &Subproblem) -> Certified;

    /// Maximises the bound of one node from the starting point.
    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit);

    /// The same while someone watches.
    fn solve_watched(
        &mut self,
        problem: &Problem,
        task: &Task,
        _watch: &mut Watch,
    ) -> (Certified, Exit) {
        self.solve(problem, task)
    }

    /// Makes the problem of a node that was solved tighter, if it can: then the node is to be solved again, from where it
    /// stands. `task.node` is what fixing has left of it, `task.scale` the incumbent.
    fn tighten(&mut self, _problem: &Problem, _task: &Task) -> bool {
        false
    }

    /// Goes to a point (column, coefficient) that such a problem was left at by an earlier run.
    fn go_to(&mut self, _problem: &Problem, _node: &Subproblem, _x: &[(usize, f64)]) {}

    /// The k free or included selectable columns that the last [`Relaxation::solve`] holds for the best.
    fn candidate(&self, problem: &Problem, k: usize) -> Vec<usize>;

    /// The bounds of all children of the node solved last.
    fn children(&self, problem: &Problem, node: &Subproblem) -> Children;

    /// The free feature to split the node solved last on; `gap` is what is left to close there.
    fn branch(&mut self, problem: &Problem, node: &Subproblem, gap: f64) -> usize;

    /// What the children of the node solved last should start from.
    fn warm_start(&self) -> WarmStart;

    /// A warm start of which only the primal iterate is known; `None` where that is not enough to start from.
    fn restored(&self, _x: Vec<(usize, f64)>) -> Option<WarmStart> {
        None
    }
}

/// A relaxation that can be watched while it is at work, and written down.
pub(crate) trait Ascent: Relaxation {
    /// [`Relaxation::solve`]; `watch` sees the iterates with the best bound so far, and changes nothing.
    fn climb(
        &mut self,
        problem: &Problem,
        task: &Task,
        watch: &mut dyn FnMut(&Self, Certified),
    ) -> (Certified, Exit);

    /// All that is needed to go on from here.
    fn state(&self) -> WarmStart;

    /// How exactly it is solved.
    fn epsilon(&self) -> f64;

    /// Solves more exactly from here on; false when it cannot.
    fn sharpen(&mut self) -> bool;
}

/// A start from an iterate in scaled coordinates; `column` says which column each of them stands for.
pub(crate) fn start_at(x: &[f64], scale: &[f64], column: impl Fn(usize) -> usize) -> WarmStart {
    let active = x
        .iter()
        .zip(scale)
        .enumerate()
        .filter(|(_, (x, _))| **x != 0.0);
    WarmStart {
        x: active
            .map(|(j, (x, scale))| (column(j), x / scale))
            .collect(),
        ..WarmStart::default()
    }
}

/// The column of largest score; the first of them in a tie.
pub(crate) fn largest_one(columns: &[usize], score: impl Fn(usize) -> f64) -> usize {
    let order = |i: &usize, j: &usize| score(*i).total_cmp(&score(*j)).then(j.cmp(i));
    columns.iter().copied().max_by(order).unwrap_or(0)
}

/// The `k` columns of largest score, zero scores left out, in column order.
pub(crate) fn largest(columns: impl Iterator<Item = (usize, f64)>, k: usize) -> Vec<usize> {
    let mut scored: Vec<(usize, f64)> = columns.filter(|(_, score)| *score > 0.0).collect();
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
