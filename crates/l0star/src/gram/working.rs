//! The relaxation of a node on the few columns that matter to it, for wide quadratic problems
//! and for a first look at others.
//!
//! A relaxation has far fewer active columns than the problem has columns. It is therefore solved by Newton's
//! method in the Gram form of a *working set* of columns. One product `Aᵀβ` with its dual point gives the rest:
//! the bound, which holds for all columns whichever set β was found with, and the columns that the set lacks,
//! those whose atom would be among the m largest. They are added and the node is solved again. When none is
//! lacking, β is optimal for all columns.

use std::sync::Arc;

use super::condensed::Spread;
use super::frame::{Frame, FrameModel};
use super::root::Root;
use super::swaps;
use crate::bound::{Certified, Children, DualPoint, Subproblem};
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::problem::Problem;
use crate::relaxation::model::{Goal, Sets};
use crate::relaxation::newton::Newton;
use crate::relaxation::{
    Exit, Relaxation, ShortModel, Task, branching, largest, largest_one, lengthen, shorten,
};
use crate::tuning::frames::MAX_COLUMNS;
use crate::tuning::working::{CLOSE, EXPECTED_GAP, NODE_TOLERANCE};

/// Maximum number of rounds at one node.
const MAX_ROUNDS: usize = 40;

/// The relaxation of a quadratic problem by working sets.
#[derive(Debug, Clone)]
pub struct Working {
    batch: usize,
    /// The working set in unscaled and in scaled form; the columns of the latter are some of
    /// the former, in the same order.
    root: Arc<Root>,
    frame: Arc<Frame>,
    /// Place of each column of the data in the set.
    place: Vec<Option<u32>>,
    newton: Newton,
    sets: Sets,
    /// The relaxed model.
    x: Vec<(usize, f64)>,
    point: DualPoint,
    /// The m-th largest atom of the set at the node solved last.
    least: f64,
    z: Vec<f64>,
    scratch: Vec<f64>,
    /// Bound of the dual point.
    low: Certified,
    /// Maximum number of rounds at one node.
    rounds: usize,
}

impl Working {
    /// Creates the relaxation for a quadratic problem with no groups, bounds or heredity, and no unpenalised column but
    /// an intercept; `None` for others. `batch` is usually [`BATCH`].
    pub fn new(problem: &Problem, batch: usize) -> Option<Self> {
        Self::within(problem, batch, &[], &Limits::none())
    }

    /// Does the work of [`Working::new`] with a known model in the set; `None` at a limit, too.
    pub(crate) fn within(
        problem: &Problem,
        batch: usize,
        known: &[usize],
        limits: &Limits,
    ) -> Option<Self> {
        let possible = problem.loss.is_quadratic() && problem.structure.is_none();
        possible.then(|| Self::of_form(problem, batch, known, limits))?
    }

    /// Creates the relaxation of the quadratic of any problem without groups, bounds and heredity.
    ///
    /// It finds only a point, and the bound of a point holds for the loss that the problem has.
    pub(crate) fn of_form(
        problem: &Problem,
        batch: usize,
        known: &[usize],
        limits: &Limits,
    ) -> Option<Self> {
        let mut point = DualPoint::new(problem);
        let mut z = vec![0.0; problem.rows()];
        slopes_at(problem, &[], &mut z, &mut point);
        let node = Subproblem {
            included: &[],
            free: &problem.selectable,
            budget: problem.support_size(),
        };
        point.dots(problem, &node);
        let atoms = node.free.iter().map(|j| (*j, atom(problem, &point, *j)));
        let mut columns = largest(atoms, batch.max(node.budget));
        columns.extend_from_slice(known);
        columns.sort_unstable();
        columns.dedup();
        let (root, frame) = gram(problem, &columns, limits)?;
        let mut working = Self {
            batch,
            root,
            frame,
            place: Vec::new(),
            newton: Newton::default(),
            sets: Sets::default(),
            x: Vec::new(),
            point,
            least: 0.0,
            z,
            scratch: Vec::new(),
            low: Certified::TRIVIAL,
            rounds: MAX_ROUNDS,
        };
        working.find_places(problem);
        Some(working)
    }

    /// Sets the maximum number of rounds at a node.
    pub(crate) fn rounds(self, rounds: usize) -> Self {
        Self { rounds, ..self }
    }

    /// Returns the best model of the quadratic that greedy steps and swaps find in the set, from the
    /// relaxed model if there is one.
    ///
    /// The result is its features, with the objective that the quadratic gives it. The next relaxation starts there.
    pub(crate) fn choose(&mut self, k: usize, swaps: bool, limits: &Limits) -> (Vec<usize>, f64) {
        let (form, mut factor) = (self.root.form(), Cholesky::new());
        let sizes = self.x.iter().map(|(j, x)| (*j, x.abs()));
        let known: Vec<usize> = largest(sizes, k)
            .iter()
            .filter_map(|j| self.place(*j))
            .filter(|at| *at < form.selectable)
            .collect();
        let mut chosen = swaps::greedy(form, &known, k, None, limits);
        if swaps {
            swaps::improve(form, &mut chosen, 10 * k + 20, None, limits);
        }
        chosen.sort_unstable();
        let (model, value) = swaps::fit(form, &chosen, &mut factor);
        self.x = model.map(|(at, x)| (self.root.columns[at], x)).collect();
        let features = chosen.iter().map(|at| self.root.columns[*at]);
        (features.collect(), value)
    }

    /// Whether a bound without a lift could rule anything out, with a model of this objective.
    ///
    /// Solved on the set alone, R is above every bound of all columns, and no feature raises that by more than the
    /// least of the m largest atoms. Few bounds get that far.
    pub(crate) fn is_promising(&mut self, task: &Task, objective: f64) -> bool {
        self.relax(&task.node, &goal(task), task.limits);
        let u = &self.newton.best_u;
        let mut atoms: Vec<f64> = self
            .sets
            .free
            .iter()
            .map(|at| 0.5 * u[*at].powi(2))
            .collect();
        let last = task.node.budget.min(atoms.len());
        if last == 0 {
            return false;
        }
        let (_, least, _) = atoms.select_nth_unstable_by(last - 1, |a, b| b.total_cmp(a));
        objective - self.newton.primal() < EXPECTED_GAP * *least
    }

    /// Returns the slopes of the last bound, that bound, and the quadratic of the set.
    pub(crate) fn into_parts(self) -> (Vec<f64>, Certified, Arc<Root>) {
        (self.point.alpha, self.low, self.root)
    }

    /// Returns the relaxed model, or the one that was chosen last.
    pub(crate) fn model(&self) -> &[(usize, f64)] {
        &self.x
    }

    fn find_places(&mut self, problem: &Problem) {
        self.place.clear();
        self.place.resize(problem.design.columns(), None);
        for (at, j) in self.root.columns.iter().enumerate() {
            self.place[*j] = Some(at as u32);
        }
    }

    fn place(&self, j: usize) -> Option<usize> {
        self.place[j].map(|at| at as usize)
    }

    /// Adds columns to the set, and drops those that are neither active nor close to it. Returns false when there are
    /// too many, and at a limit; then nothing has changed.
    fn take_in(&mut self, problem: &Problem, more: &[usize], limits: &Limits) -> bool {
        let set = &self.root.columns[..self.root.selectable];
        let close = |j: &&usize| atom(problem, &self.point, **j) >= CLOSE * self.least;
        let mut columns: Vec<usize> = set.iter().filter(close).chain(more).copied().collect();
        let active = self.x.iter().map(|(j, _)| *j);
        columns.extend(active.filter(|j| problem.selectable.binary_search(j).is_ok()));
        columns.sort_unstable();
        columns.dedup();
        if columns.len() + problem.penalised.len() > MAX_COLUMNS {
            return false;
        }
        let root = self.root.extended(problem, &columns, limits);
        let Some((root, frame)) = root.and_then(|root| framed(problem, root, limits)) else {
            return false;
        };
        (self.root, self.frame) = (root, frame);
        self.find_places(problem);
        true
    }

    /// Solves a node on the working set, which has its included columns, from x.
    fn relax(&mut self, node: &Subproblem, goal: &Goal, limits: &Limits) {
        let places = |columns: &[usize]| -> Vec<usize> {
            columns.iter().filter_map(|j| self.place(*j)).collect()
        };
        self.sets = Sets {
            unpenalised: Vec::new(),
            inside: places(node.included),
            free: places(node.free),
            budget: node.budget,
            costs: Vec::new(),
        };
        let (sets, scale) = (&self.sets, &self.frame.scale);
        self.newton.x.clear();
        self.newton.x.resize(self.frame.size(), 0.0);
        let mut open = vec![false; self.frame.size()];
        let columns = || sets.inside.iter().chain(&sets.free);
        columns().for_each(|at| open[*at] = true);
        for (j, x) in &self.x {
            if let Some(at) = self.place(*j).filter(|at| open[*at]) {
                self.newton.x[at] = x * scale[at];
            }
        }
        let mut model = FrameModel::new(Arc::clone(&self.frame), f64::INFINITY);
        self.newton.solve(&mut model, sets, goal, limits);
        self.newton.restore_best(sets);
        let x = &self.newton.x;
        let active = columns().filter(|at| x[**at] != 0.0);
        self.x = active
            .map(|at| (self.root.columns[*at], x[*at] / scale[*at]))
            .collect();
    }

    /// Computes the dual point of x, and returns the bound that it gives a node.
    fn bound(&mut self, problem: &Problem, node: &Subproblem) -> Certified {
        slopes_at(problem, &self.x, &mut self.z, &mut self.point);
        self.point.dots(problem, node);
        self.low = self.point.bound(problem, node, &mut self.scratch);
        self.low
    }

    /// Returns the free columns outside the set whose atoms are larger than the m-th largest inside, the largest of
    /// them.
    fn lacking(&mut self, problem: &Problem, node: &Subproblem) -> Vec<usize> {
        let point = &self.point;
        let inside = node.free.iter().filter(|j| self.place[**j].is_some());
        let sizes = &mut self.scratch;
        sizes.clear();
        sizes.extend(inside.map(|j| atom(problem, point, *j)));
        let least = if sizes.len() < node.budget {
            0.0
        } else {
            *sizes
                .select_nth_unstable_by(node.budget - 1, |a, b| b.total_cmp(a))
                .1
        };
        self.least = least;
        let outside = node.free.iter().filter(|j| self.place[**j].is_none());
        let atoms = outside.map(|j| (*j, atom(problem, point, *j)));
        let count = self.batch.max(self.root.selectable / 2);
        largest(atoms.filter(|(_, size)| *size > least), count)
    }
}

impl Relaxation for Working {
    type Start = ShortModel;

    fn prepare(&mut self, _: &Problem, _: &Task, start: Option<&ShortModel>) {
        if let Some(start) = start {
            self.x = lengthen(start).collect();
        }
    }

    fn initial_bound(&mut self, problem: &Problem, node: &Subproblem) -> Certified {
        self.bound(problem, node)
    }

    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        let (node, limits) = (&task.node, task.limits);
        let mut best = Certified::TRIVIAL;
        self.least = 0.0;
        let mut needed: Vec<usize> = node.included.to_vec();
        needed.retain(|j| self.place[*j].is_none());
        if !needed.is_empty() && !self.take_in(problem, &needed, limits) {
            let stopped = limits.stop();
            let exit = if stopped {
                Exit::Stopped
            } else {
                Exit::Converged
            };
            return (self.bound(problem, node), exit);
        }
        for round in 1..=self.rounds {
            self.relax(node, &goal(task), limits);
            let bound = self.bound(problem, node);
            best = best.tighter(bound);
            if best.value() > task.cut {
                return (best, Exit::Quit);
            }
            if limits.stop() {
                return (best, Exit::Stopped);
            }
            let lacking = self.lacking(problem, node);
            // New columns have to be solved for, because the places of all columns change.
            if round == self.rounds
                || lacking.is_empty()
                || !self.take_in(problem, &lacking, limits)
            {
                break;
            }
        }
        (best, Exit::Converged)
    }

    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize> {
        let free = self
            .x
            .iter()
            .filter(|(j, _)| node.free.binary_search(j).is_ok());
        let mut support = largest(free.map(|(j, x)| (*j, x.abs())), node.budget);
        support.extend_from_slice(&node.included[problem.penalised.len()..]);
        support.sort_unstable();
        support
    }

    fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        self.point.children(problem, node)
    }

    fn branch(&mut self, problem: &Problem, node: &Subproblem, gap: f64, limits: &Limits) -> usize {
        let places = |columns: &[usize]| -> Vec<usize> {
            columns.iter().filter_map(|j| self.place(*j)).collect()
        };
        let sets = Sets {
            unpenalised: Vec::new(),
            inside: places(node.included),
            free: places(node.free),
            budget: node.budget,
            costs: Vec::new(),
        };
        if sets.free.is_empty() {
            // None of the remaining free columns was ever in the set.
            return largest_one(node.free, |j| atom(problem, &self.point, j));
        }
        let mut model = FrameModel::new(Arc::clone(&self.frame), f64::INFINITY);
        let (x, u) = (&self.newton.x, &self.newton.best_u);
        let at = branching::choose(&mut model, &sets, x, u, gap, limits);
        self.root.columns[at]
    }

    fn start(&self) -> ShortModel {
        shorten(self.x.iter().copied())
    }

    fn restored(&self, x: Vec<(usize, f64)>) -> Option<ShortModel> {
        Some(shorten(x.into_iter()))
    }
}

/// Returns how accurately a node is solved.
fn goal(task: &Task) -> Goal {
    let tolerance = NODE_TOLERANCE * (task.scale - task.proved).max(1e-9 * task.scale);
    Goal {
        cut: f64::INFINITY,
        tolerance: 0.1 * tolerance,
        share: None,
        tight: 1e-12 * task.scale,
    }
}

/// Computes the Gram matrix of a working set (followed by the always-in columns), and its columns scaled to ridge 1.
fn gram(problem: &Problem, columns: &[usize], limits: &Limits) -> Option<(Arc<Root>, Arc<Frame>)> {
    framed(
        problem,
        Root::new(problem, columns, limits, 1, &mut ())?,
        limits,
    )
}

fn framed(problem: &Problem, root: Root, limits: &Limits) -> Option<(Arc<Root>, Arc<Frame>)> {
    let all: Vec<u32> = (0..root.size()).map(|at| at as u32).collect();
    let k = problem.support_size();
    let frame = Frame::new(&root, &[], &all, k, 1.0, &Spread::Unproved, limits)?;
    Some((Arc::new(root), Arc::new(frame)))
}

/// Returns a multiple of the atom of a column; an estimate.
fn atom(problem: &Problem, point: &DualPoint, j: usize) -> f64 {
    point.v[j] * (point.v[j] / problem.ridge[j])
}

/// Computes the dual point of the slopes at x, to which a fitting intercept is added.
pub(crate) fn slopes_at(
    problem: &Problem,
    x: &[(usize, f64)],
    z: &mut [f64],
    point: &mut DualPoint,
) {
    problem.predict_into(x, z);
    if problem.has_intercept {
        // The relaxation works in centred columns; the intercept that belongs to it is the mean residual.
        let residuals = problem.p.iter().zip(&problem.b).zip(&*z);
        let sum: f64 = residuals.map(|((p, b), z)| p * (b - z)).sum();
        let mean = sum / problem.p.iter().sum::<f64>();
        z.iter_mut().for_each(|z| *z += mean);
    }
    problem.loss.slopes(z, &problem.b, &mut point.alpha);
    point.update(problem);
}
