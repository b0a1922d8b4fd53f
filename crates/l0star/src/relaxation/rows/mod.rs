//! Newton's method for the relaxation in matrix form: any loss, any scale of columns.
//!
//! Coordinates are `x̃_j = √λ_j x_j`, so that every ridge is 1; unpenalised columns keep their own. The
//! bound is that of the slopes at the best point, in the dual form of [`crate::bound`], so that it does
//! not depend on Newton's rounding.
//!
//! Where the loss is curved wherever a better model can be, the ridge is lifted (`lift`). The model is then
//! `Σ p l̃ - ½ Σ μ x²` with `x̃_j = √(λ_j + μ_j) x_j`. Its bound is that of the linearisation at the best point, less
//! the proved bound of its rounding.

mod leverage;
pub(crate) mod lift;
pub(super) mod model;
mod products;
pub(super) mod region;
pub(super) mod slack;

use std::sync::Arc;

use super::model::{Goal, Sets};
use super::newton::Newton;
use super::{
    Exit, Relaxation, ShortModel, Start, Task, branching, largest_model, lengthen, shorten,
};
use crate::bound::{Certified, Children, Subproblem};
use crate::limits::Limits;
use crate::problem::Problem;
use crate::settings::Mechanisms;
use crate::tuning::rows::{
    DECAY, LARGEST_LIFT, LEAST_GROWTH, NARROWER, NODE_TOLERANCE, RELIFT, TOLERANCE_FLOOR,
};
use lift::Lift;
use model::{RowModel, Work};
use region::{Centre, Region};
use slack::{ColumnState, Slack};

/// The relaxation of nodes by Newton's method on the rows.
#[derive(Debug, Clone)]
pub struct NewtonRows {
    newton: Newton,
    work: Work,
    /// Model at which nodes without a start begin.
    first: Vec<(usize, f64)>,
    mechanisms: Mechanisms,
}

impl NewtonRows {
    /// Creates the relaxation for one problem.
    pub fn new(problem: &Problem, mechanisms: Mechanisms) -> Self {
        Self::within(problem, mechanisms, &Limits::none())
    }

    /// Does the work of [`NewtonRows::new`] within limits; if one ends the preparation early, the steps are not the
    /// best.
    pub(crate) fn within(problem: &Problem, mechanisms: Mechanisms, limits: &Limits) -> Self {
        Self {
            newton: Newton::default(),
            work: Work::new(problem, limits),
            first: Vec::new(),
            mechanisms,
        }
    }

    /// Sets the model (column, coefficient) at which nodes without a warm start begin.
    pub fn start_at(&mut self, model: &[(usize, f64)]) {
        self.first = model.to_vec();
    }

    /// Returns the sets of a node. With a lift, unpenalised columns have a ridge like the included ones.
    fn sets(&self, problem: &Problem, node: &Subproblem) -> Sets {
        let unpenalised = problem.unpenalised.columns();
        let mut inside = node.included.to_vec();
        let lifted = self.work.lift.is_some();
        if lifted {
            inside.extend_from_slice(unpenalised);
        }
        Sets {
            unpenalised: if lifted {
                Vec::new()
            } else {
                unpenalised.to_vec()
            },
            inside,
            free: node.free.to_vec(),
            budget: node.budget,
            costs: Vec::new(),
        }
    }

    /// Switches to another lift (or none) and carries the iterate over, zero outside the node.
    fn change(&mut self, problem: &Problem, node: &Subproblem, lift: Option<Arc<Lift>>) {
        let unpenalised = problem.unpenalised.columns().iter().copied();
        let alive: Vec<usize> = node.columns().chain(unpenalised).collect();
        let x: Vec<f64> = alive
            .iter()
            .map(|j| self.newton.x[*j] / self.work.scale[*j])
            .collect();
        self.work.change(problem, lift);
        self.newton.x.fill(0.0);
        for (j, x) in alive.iter().zip(x) {
            self.newton.x[*j] = x * self.work.scale[*j];
        }
    }

    /// Returns what a unit of μ adds to the bound of a node that was solved, for each of its free columns.
    fn weights(&mut self, problem: &Problem, node: &Subproblem) -> Vec<f64> {
        let sets = self.sets(problem, node);
        let mut weights = self.newton.gains(&sets);
        for (weight, j) in weights.iter_mut().zip(node.free) {
            *weight /= self.work.scale[*j] * self.work.scale[*j];
        }
        weights
    }

    /// Lifts the ridge of a node that was solved; returns false where nothing can be proved.
    fn lift(&mut self, problem: &Problem, task: &Task, weights: Vec<f64>, width: f64) -> bool {
        let before = self.work.lift.clone();
        let x = self.newton.x.clone();
        let region = self.region(problem, task, before.as_deref());
        self.newton.x = x;
        let weights = if self.mechanisms.spreading {
            weights
        } else {
            Vec::new()
        };
        let lift = region.and_then(|region| {
            let (scale, limits) = (task.reference, task.limits);
            Lift::new(problem, &task.node, region, &weights, scale, width, limits)
        });
        let Some(lift) = lift else {
            return false;
        };
        self.change(problem, &task.node, Some(Arc::new(lift)));
        true
    }

    /// Finds the region of the better models of a node, around the point of its best bound.
    fn region(&mut self, problem: &Problem, task: &Task, before: Option<&Lift>) -> Option<Region> {
        let node = &task.node;
        let sets = self.sets(problem, node);
        let mut model = RowModel {
            problem,
            work: &mut self.work,
            limits: task.limits,
        };
        let bound = self.newton.return_to_bound(&mut model, &sets);
        let gap = task.reference - bound.value();
        let (x, u, work) = (&self.newton.x, &self.newton.best_u, &self.work);
        let place = |(j, feature): (usize, Option<usize>)| {
            let scale = work.scale[j];
            // Without a lift, the bound is that of the repaired slopes, and unpenalised columns have no ridge.
            let (u, error, scale) = match before {
                Some(_) => (u[j], work.frame.slope, scale),
                None if problem.ridge[j] > 0.0 => {
                    let (v, error) = work.point.slope(problem, j);
                    (-v / scale, error / scale, scale)
                }
                None => (0.0, 0.0, 0.0),
            };
            ColumnState {
                x: x[j],
                u,
                error,
                bounds: (f64::NEG_INFINITY, f64::INFINITY),
                scale,
                mu: work.mu[j],
                feature,
                cost: 0.0,
            }
        };
        let unpenalised = problem.unpenalised.columns().iter();
        let decided = node.included.iter().map(|j| (*j, None));
        let free = node.free.iter().enumerate().map(|(i, j)| (*j, Some(i)));
        let columns = decided.chain(free).chain(unpenalised.map(|j| (*j, None)));
        let (columns, places): (Vec<usize>, Vec<ColumnState>) =
            columns.map(|column| (column.0, place(column))).unzip();
        let slack = Slack::new(gap, &places, node.budget, self.mechanisms.slack);
        let centre = match before {
            None => Centre::plain(problem, &work.point.alpha, &work.kept_z, work.kept_error),
            Some(lift) => Centre::lifted(&work.kept_z, work.kept_error, &lift.region),
        };
        let before = before.map(|lift| &lift.region);
        Region::find(problem, &columns, &centre, &slack, before, task.limits)
    }

    /// Moves to a point, zero outside the node: (column, coefficient).
    fn go_to(&mut self, problem: &Problem, node: &Subproblem, start: &[(usize, f64)]) {
        let x = &mut self.newton.x;
        x.clear();
        x.resize(problem.design.columns(), 0.0);
        for (j, value) in start {
            x[*j] = value * self.work.scale[*j];
        }
        // Columns that are out stay zero.
        let alive: Vec<usize> = node
            .columns()
            .chain(problem.unpenalised.columns().iter().copied())
            .collect();
        let kept: Vec<f64> = alive.iter().map(|j| x[*j]).collect();
        x.fill(0.0);
        for (j, value) in alive.iter().zip(kept) {
            x[*j] = value;
        }
    }
}

/// The relaxed point of a node, and the lifted problem that it solves.
#[derive(Debug, Clone, Default)]
pub struct RowsStart {
    x: ShortModel,
    lift: Option<Arc<Lift>>,
}

impl Start for RowsStart {
    fn model(&self) -> Vec<(usize, f64)> {
        lengthen(&self.x).collect()
    }

    fn bytes(&self) -> usize {
        // A lift is charged to the node that created it.
        let own = self
            .lift
            .as_ref()
            .filter(|lift| Arc::strong_count(lift) <= 2);
        size_of::<Self>() + size_of_val(&*self.x) + own.map_or(0, |lift| lift.bytes())
    }
}

/// Whether a node with this many columns can be lifted, or lifted again after `before`, for
/// models better than `reference`.
pub(super) fn is_liftable(
    problem: &Problem,
    columns: usize,
    reference: f64,
    before: Option<&Lift>,
    mechanisms: Mechanisms,
) -> bool {
    let rows = problem.rows();
    let is_small = columns < rows && columns * rows <= LARGEST_LIFT;
    // A lifted problem does not cover models that are worse than the reference it was made for.
    let again = before.is_none_or(|lift| mechanisms.reframing && lift.ceiling >= reference);
    is_small && problem.loss.can_lift() && mechanisms.lifting && again
}

/// Returns the expected distance of the predictions of a better model from those z of the relaxed
/// point, if a lift looks worthwhile.
///
/// The distance is the root mean square over the rows (`Σ p l'' ℓ = d` for the leverages ℓ of d columns). `worth` is
/// what the current lift adds to the bound, to first order.
pub(super) fn promising_width(
    problem: &Problem,
    z: &[f64],
    columns: usize,
    gap: f64,
    before: Option<&Lift>,
    worth: f64,
) -> Option<f64> {
    let rows = problem.p.iter().zip(z).zip(&problem.b);
    let curvature: f64 = rows
        .map(|((p, z), b)| p * problem.loss.curvature(*z, *b))
        .sum();
    let width = (2.0 * gap * columns as f64 / curvature).sqrt();
    let span = problem.loss.span();
    let promises = match before {
        None => width <= span,
        Some(lift) => {
            let fewer = (lift.ridges.len() as f64 / columns as f64).sqrt();
            let growth = (DECAY * (lift.width - width) / span).exp() * fewer - 1.0;
            let pays = growth >= LEAST_GROWTH && worth * growth >= RELIFT * gap;
            width <= NARROWER * lift.width || (width <= lift.width && pays)
        }
    };
    promises.then_some(width)
}

impl Relaxation for NewtonRows {
    type Start = RowsStart;

    fn prepare(&mut self, problem: &Problem, task: &Task, start: Option<&RowsStart>) {
        let lift = start.and_then(|start| start.lift.clone());
        self.work.change(problem, lift);
        let point = start.map_or_else(|| self.first.clone(), RowsStart::model);
        self.go_to(problem, &task.node, &point);
    }

    fn initial_bound(&mut self, problem: &Problem, node: &Subproblem) -> Certified {
        let work = &mut self.work;
        work.point.dots(problem, node);
        work.point.bound(problem, node, &mut work.scratch)
    }

    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        let tolerance =
            (NODE_TOLERANCE * (task.scale - task.proved)).max(TOLERANCE_FLOOR * task.scale);
        let goal = Goal {
            cut: task.cut,
            tolerance,
            share: Some((NODE_TOLERANCE, task.scale)),
            tight: tolerance.min(0.3e-9 * task.scale),
        };
        let sets = self.sets(problem, &task.node);
        let mut model = RowModel {
            problem,
            work: &mut self.work,
            limits: task.limits,
        };
        let bound = self.newton.solve(&mut model, &sets, &goal, task.limits);
        self.newton.restore_best(&sets);
        (bound, Exit::of(bound, task))
    }

    /// Lifts the ridge of the rest of a node that was solved, when that looks worthwhile.
    fn tighten(&mut self, problem: &Problem, task: &Task) -> bool {
        let node = &task.node;
        let alive = node.included.len() + node.free.len() + problem.unpenalised.columns().len();
        let before = self.work.lift.clone();
        if !is_liftable(
            problem,
            alive,
            task.reference,
            before.as_deref(),
            self.mechanisms,
        ) {
            return false;
        }
        let weights = self.weights(problem, node);
        let each = weights.iter().zip(node.free);
        let worth = each.map(|(weight, j)| weight * self.work.mu[*j]).sum();
        let gap = task.reference - task.proved;
        let z = &self.work.kept_z;
        match promising_width(problem, z, alive, gap, before.as_deref(), worth) {
            Some(width) => self.lift(problem, task, weights, width),
            None => false,
        }
    }

    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize> {
        largest_model(problem, node, |j| self.newton.x[j].abs())
    }

    fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        let Some(lift) = &self.work.lift else {
            return self.work.point.children(problem, node);
        };
        let (u, frame) = (&self.newton.best_u, &self.work.frame);
        let atoms = node.free.iter().map(|j| (0.5 * u[*j] * u[*j], *j));
        let error = frame.error + frame.selection;
        Children::from_atoms(atoms, node.budget, |rise| {
            Certified::from_frame(frame.dual + rise, lift.ceiling, error)
        })
    }

    fn branch(&mut self, problem: &Problem, node: &Subproblem, gap: f64, limits: &Limits) -> usize {
        let sets = self.sets(problem, node);
        let mut model = RowModel {
            problem,
            work: &mut self.work,
            limits,
        };
        let (x, u) = (&self.newton.x, &self.newton.best_u);
        if !self.mechanisms.gains {
            return branching::steepest(&sets, x, u);
        }
        branching::choose(&mut model, &sets, x, u, gap, limits)
    }

    fn start(&self) -> RowsStart {
        let scale = &self.work.scale;
        let x = self.newton.x.iter().enumerate();
        let x = x.filter(|(_, x)| **x != 0.0);
        RowsStart {
            x: shorten(x.map(|(j, x)| (j, x / scale[j]))),
            lift: self.work.lift.clone(),
        }
    }

    fn restored(&self, x: Vec<(usize, f64)>) -> Option<RowsStart> {
        let x = shorten(x.into_iter());
        Some(RowsStart { x, lift: None })
    }
}

#[cfg(test)]
pub(super) mod tests;
