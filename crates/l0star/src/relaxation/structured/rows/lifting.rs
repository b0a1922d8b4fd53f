//! Lifts of the ridge in matrix form. The region in which they hold is proved around a point.

use std::sync::Arc;

use super::Rows;
use super::nodes::LiftedAt;
use crate::bound::Subproblem;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;
use crate::problem::Problem;
use crate::relaxation::Task;
use crate::relaxation::rows::lift::Lift;
use crate::relaxation::rows::model::RowModel;
use crate::relaxation::rows::region::{Centre, Region};
use crate::relaxation::rows::slack::{ColumnState, Slack};
use crate::relaxation::structured::{Blocks, Smooth};

impl Rows {
    /// Lifts the ridge of the rest of a node; returns false where nothing can be proved.
    pub(super) fn lift(
        &mut self,
        problem: &Problem,
        task: &Task,
        blocks: &Blocks,
        point: &[f64],
        gains: &dyn Fn(usize) -> f64,
        width: f64,
    ) -> bool {
        let region = match self.work.lift.clone() {
            Some(lift) => self.region_of_lifted(problem, task, blocks, point, &lift),
            None => self.region(problem, task, point),
        };
        let included = problem.expanded(task.node.included);
        let free = problem.expanded(task.node.free);
        let weights: Vec<f64> = if self.mechanisms.spreading {
            free.iter().map(|j| gains(*j)).collect()
        } else {
            Vec::new()
        };
        let node = Subproblem {
            included: &included,
            free: &free,
            budget: 0,
        };
        let lift = region.and_then(|region| {
            let (scale, limits) = (task.reference, task.limits);
            Lift::new(problem, &node, region, &weights, scale, width, limits)
        });
        let Some(lift) = lift else {
            return false;
        };
        self.change(problem, Some(Arc::new(lift)));
        true
    }

    /// Finds the region of the better models of a node, around a point of the problem without a lift.
    fn region(&mut self, problem: &Problem, task: &Task, point: &[f64]) -> Option<Region> {
        let unpenalised = problem.unpenalised.columns();
        let scale = &self.shape.scale;
        let x = point.iter().enumerate().filter(|(_, x)| **x != 0.0);
        let mut x: Vec<(usize, f64)> = x.map(|(j, x)| (j, x / scale[j])).collect();
        problem.predict_into(&x, &mut self.z);
        self.settle(problem);
        x.extend(
            unpenalised
                .iter()
                .copied()
                .zip(self.unpenalised.iter().copied()),
        );
        problem.predict_into(&x, &mut self.z);
        self.point.move_to(problem, &self.z);
        self.point.dots(problem, &task.node);
        let bound = self.point.bound(problem, &task.node, &mut self.scratch);
        let bound = task.node.with_cost(problem, bound).value();
        let offset = kernels::largest(&problem.offset);
        let size: f64 = x.iter().map(|(j, x)| problem.sizes[*j] * x.abs()).sum();
        let error = gamma(x.len() + 6) * (size + offset);
        let centre = Centre::plain(problem, &self.point.alpha, &self.z, error);
        let slope = |j: usize| {
            let (v, error) = self.point.slope(problem, j);
            (-v / self.shape.scale[j], error / self.shape.scale[j])
        };
        let (columns, slack) = self.slack(problem, task, point, task.reference - bound, &slope);
        Region::find(problem, &columns, &centre, &slack, None, task.limits)
    }

    /// Finds the region around a point of the lifted problem.
    fn region_of_lifted(
        &mut self,
        problem: &Problem,
        task: &Task,
        blocks: &Blocks,
        point: &[f64],
        lift: &Lift,
    ) -> Option<Region> {
        let mut u = vec![0.0; point.len()];
        let model = RowModel {
            problem,
            work: &mut self.work,
            limits: task.limits,
        };
        let mut lifted = LiftedAt { model };
        let (_, base) = lifted.evaluate(point, blocks, &mut u);
        let dual = base - blocks.atoms(&u, &mut self.scratch);
        lifted.keep(point, &u, blocks, dual);
        let bound = lifted.certify(blocks);
        let bound = task.node.with_cost(problem, bound).value();
        let work = &self.work;
        let slope = |j: usize| (u[j], work.frame.slope);
        let (columns, slack) = self.slack(problem, task, point, task.reference - bound, &slope);
        let centre = Centre::lifted(&work.kept_z, work.kept_error, &lift.region);
        let before = Some(&lift.region);
        Region::find(problem, &columns, &centre, &slack, before, task.limits)
    }

    /// Returns every column that can be non-zero, and the slack around `point`, where the
    /// slopes are `slope` up to an error.
    fn slack(
        &self,
        problem: &Problem,
        task: &Task,
        point: &[f64],
        gap: f64,
        slope: &dyn Fn(usize) -> (f64, f64),
    ) -> (Vec<usize>, Slack) {
        let place = |j: usize, feature: Option<usize>| {
            let has_ridge = problem.ridge[j] > 0.0 || self.work.lift.is_some();
            let (u, error) = if has_ridge { slope(j) } else { (0.0, 0.0) };
            let place = ColumnState {
                x: point[j],
                u,
                error,
                bounds: self.shape.bounds[j],
                scale: if has_ridge { self.shape.scale[j] } else { 0.0 },
                mu: self.work.mu[j],
                feature,
                cost: 0.0,
            };
            (j, place)
        };
        let (node, unpenalised) = (&task.node, problem.unpenalised.columns());
        let included = problem.expanded(node.included);
        let mut all: Vec<(usize, ColumnState)> = included.iter().map(|j| place(*j, None)).collect();
        for (i, leader) in node.free.iter().enumerate() {
            let cost = problem.structure.as_ref().map_or(0.0, |s| s.costs[*leader]);
            for (at, j) in problem.members(*leader).iter().enumerate() {
                let (j, mut own) = place(*j, Some(i));
                // A feature pays its price once.
                own.cost = if at == 0 { cost } else { 0.0 };
                all.push((j, own));
            }
        }
        all.extend(unpenalised.iter().map(|j| place(*j, None)));
        let (columns, places): (Vec<usize>, Vec<ColumnState>) = all.into_iter().unzip();
        let slack = Slack::new(gap, &places, node.budget, self.mechanisms.slack);
        (columns, slack)
    }
}
