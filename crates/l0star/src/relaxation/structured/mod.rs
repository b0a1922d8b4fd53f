//! The relaxation of problems with groups, bounds, prices and heredity.
//!
//! [`Structured`] solves nodes with [`Proximal`] over a [`Backend`]: the data in matrix form ([`Rows`]), or a frame in
//! Gram form. Heredity needs no code here, because the tree follows it.

mod prox;
mod proximal;
mod rows;
mod working;

use std::sync::Arc;

use super::model::Goal;
use super::{Exit, Relaxation, ShortModel, Start, Task, lengthen, shorten};
use crate::bound::{Certified, Children, Subproblem};
use crate::limits::Limits;
use crate::problem::Problem;
use crate::settings::Mechanisms;
use crate::tuning::rows::{NODE_TOLERANCE, TOLERANCE_FLOOR};
pub(crate) use proximal::{ATOM, Blocks, Proximal, Smooth};
pub(crate) use rows::Rows;

/// The coordinates of a backend, in which every ridge is 1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shape {
    /// Column of each coordinate.
    pub columns: Vec<usize>,
    /// `x̃ = scale · x`.
    pub scale: Vec<f64>,
    pub bounds: Vec<(f64, f64)>,
    /// Bounds on the curvature of f along each coordinate, up to a common factor; > 0.
    pub curvature: Vec<f64>,
}

impl Shape {
    /// Creates the coordinates that stand for `columns`.
    pub(crate) fn new(
        problem: &Problem,
        columns: impl Iterator<Item = usize>,
        scale: Vec<f64>,
        mut curvature: Vec<f64>,
    ) -> Self {
        let columns: Vec<usize> = columns.collect();
        let bounds = columns.iter().zip(&scale).map(|(j, s)| {
            let (low, high) = problem.range(*j);
            (low * s, high * s)
        });
        let bounds = bounds.collect();
        // With one step for a whole group, its prox depends only on its length.
        let mut places = vec![None; problem.design.columns()];
        for (place, j) in columns.iter().enumerate() {
            places[*j] = Some(place);
        }
        for leader in &problem.selectable {
            let members = problem.members(*leader);
            let group: Vec<usize> = members.iter().filter_map(|j| places[*j]).collect();
            let most = group.iter().map(|i| curvature[*i]).fold(0.0, f64::max);
            group.iter().for_each(|i| curvature[*i] = most);
        }
        // Columns of (nearly) zeros may move far, but not infinitely far.
        let most = curvature.iter().copied().fold(1e-290, f64::max);
        curvature.iter_mut().for_each(|c| *c = c.max(1e-12 * most));
        Self {
            columns,
            scale,
            bounds,
            curvature,
        }
    }
}

/// The source of the smooth part of the problem.
pub(crate) trait Backend: Clone + Send + Sync {
    /// Returns the coordinate of a column; `None` for one that is eliminated.
    fn place(&self, column: usize) -> Option<usize>;

    /// Returns the coordinates.
    fn shape(&self) -> &Arc<Shape>;

    /// Returns the smooth part, for one node.
    fn smooth<'a>(&'a mut self, problem: &'a Problem, node: Subproblem<'a>)
    -> Box<dyn Smooth + 'a>;

    /// The tighter problem of a node: a frame or a lift.
    type Lift: Send + Sync;

    /// Switches to the frame or the lift of a node, or to that of the whole problem.
    fn load(&mut self, problem: &Problem, lift: Option<&Arc<Self::Lift>>);

    /// Returns the current frame or lift, unless it is that of the whole problem.
    fn lift(&self) -> Option<&Arc<Self::Lift>>;

    /// Returns the number of bytes on the heap of a frame or a lift.
    fn bytes(lift: &Self::Lift) -> usize;

    /// Returns the unpenalised columns that are coordinates like the included ones.
    fn unpenalised<'a>(&self, problem: &'a Problem) -> &'a [usize];

    /// Returns good values for the unpenalised columns.
    fn unpenalised_values(&self) -> &[f64];

    /// Tightens the problem of a node, if possible; its coordinates then change. `point` is that of the best bound,
    /// zero outside the node; `gains` is what a unit of lift of a column adds.
    fn tighten(
        &mut self,
        problem: &Problem,
        task: &Task,
        blocks: &Blocks,
        point: &[f64],
        gains: &dyn Fn(usize) -> f64,
    ) -> bool;

    /// Returns what a bound without the prices of included features proves about the objective.
    fn claim(&self, problem: &Problem, node: &Subproblem, bound: Certified) -> Certified {
        node.with_cost(problem, bound)
    }

    /// Returns the bounds of the children of a node, from the point certified last, whose slopes are u.
    fn children(
        &self,
        problem: &Problem,
        node: &Subproblem,
        blocks: &Blocks,
        u: &[f64],
    ) -> Children;
}

/// The relaxation of nodes of a structured problem.
#[derive(Debug, Clone)]
pub(crate) struct Structured<B> {
    backend: B,
    proximal: Proximal,
    /// Number of features from which a node is solved over a working set.
    working_from: usize,
    start: Vec<(usize, f64)>,
    /// The included features, and the free ones, of the node solved last.
    inside: Vec<usize>,
    free: Vec<usize>,
}

impl<B: Backend> Structured<B> {
    /// Creates the relaxation over a backend; `start` is a model at which nodes without a warm start begin.
    pub(crate) fn new(backend: B, mechanisms: Mechanisms, start: &[(usize, f64)]) -> Self {
        Self {
            backend,
            proximal: Proximal::default(),
            working_from: mechanisms.working_from,
            start: start.to_vec(),
            inside: Vec::new(),
            free: Vec::new(),
        }
    }

    fn blocks<'a>(&self, problem: &Problem, node: &Subproblem, shape: &'a Shape) -> Blocks<'a> {
        let place = |j: &usize| self.backend.place(*j);
        let mut inside = problem.expanded(node.included);
        inside.extend_from_slice(self.backend.unpenalised(problem));
        let (mut free, mut groups) = (Vec::new(), Vec::new());
        for leader in node.free {
            let first = free.len();
            free.extend(problem.members(*leader).iter().filter_map(place));
            groups.push(first..free.len());
        }
        let costs = problem
            .prices()
            .map(|prices| node.free.iter().map(|j| prices[*j]).collect());
        Blocks {
            inside: inside.iter().filter_map(place).collect(),
            free,
            groups,
            budget: node.budget,
            costs: costs.unwrap_or_default(),
            bounds: &shape.bounds,
            curvature: &shape.curvature,
        }
    }

    /// Returns the share and the size of each free feature at the relaxed point.
    fn weights(&self, problem: &Problem) -> Vec<(f64, f64)> {
        let x = &self.proximal.x;
        let size = |leader: &usize| {
            let members = problem.members(*leader);
            let places = members.iter().filter_map(|j| self.backend.place(*j));
            places.map(|j| x[j] * x[j]).sum::<f64>()
        };
        let shares = self.proximal.shares.iter().copied();
        let shares = shares.chain(std::iter::repeat(0.0));
        self.free
            .iter()
            .zip(shares)
            .map(|(leader, share)| (share, size(leader)))
            .collect()
    }
}

impl<B: Backend> Structured<B> {
    /// Lets the backend tighten the problem of a node, and carries the iterate over. `tighten` receives the node, the
    /// point of the best bound and what a unit of lift of a column adds.
    fn tighten_by(
        &mut self,
        problem: &Problem,
        task: &Task,
        tighten: impl FnOnce(&mut B, &Blocks, &[f64], &dyn Fn(usize) -> f64) -> bool,
    ) -> bool {
        let mut gains = vec![0.0; problem.design.columns()];
        for (leader, (z, _)) in self.free.iter().zip(self.weights(problem)) {
            for (j, x) in self.model().filter(|_| z > 0.0 && z < 1.0) {
                if problem.members(*leader).contains(&j) {
                    gains[j] = 0.5 * x * x * (1.0 / z - 1.0);
                }
            }
        }
        let mut model: Vec<(usize, f64)> = self.model().collect();
        let shape = Arc::clone(self.backend.shape());
        let blocks = self.blocks(problem, &task.node, &shape);
        let mut point = vec![0.0; shape.scale.len()];
        blocks
            .columns()
            .for_each(|j| point[j] = self.proximal.bound_x[j]);
        let changed = tighten(&mut self.backend, &blocks, &point, &|j| gains[j]);
        if changed {
            let unpenalised = self.backend.unpenalised(problem).iter().copied();
            model.extend(unpenalised.zip(self.backend.unpenalised_values().iter().copied()));
            self.go_to(problem, &task.node, &model);
        }
        changed
    }

    /// Moves to a point, zero outside the node: (column, coefficient).
    fn go_to(&mut self, problem: &Problem, node: &Subproblem, start: &[(usize, f64)]) {
        let shape = Arc::clone(self.backend.shape());
        let blocks = self.blocks(problem, node, &shape);
        let x = &mut self.proximal.x;
        x.clear();
        x.resize(shape.scale.len(), 0.0);
        let mut alive = vec![false; x.len()];
        blocks.columns().for_each(|j| alive[j] = true);
        for (column, value) in start {
            // Columns that are out stay zero.
            if let Some(j) = self.backend.place(*column).filter(|j| alive[*j]) {
                x[j] = value * shape.scale[j];
            }
        }
    }

    /// Returns the iterate: (column, coefficient).
    fn model(&self) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        let shape = self.backend.shape();
        let x = self.proximal.x.iter().enumerate();
        let x = x.filter(|(_, x)| **x != 0.0);
        x.map(|(j, x)| (shape.columns[j], x / shape.scale[j]))
    }
}

/// The relaxed point of a node, and the tighter problem that it solves.
pub(crate) struct StructuredStart<B: Backend> {
    x: ShortModel,
    lift: Option<Arc<B::Lift>>,
}

impl<B: Backend> Start for StructuredStart<B> {
    fn model(&self) -> Vec<(usize, f64)> {
        lengthen(&self.x).collect()
    }

    fn bytes(&self) -> usize {
        // A lift is charged to the node that created it.
        let own = self
            .lift
            .as_ref()
            .filter(|lift| Arc::strong_count(lift) <= 2);
        size_of::<Self>() + size_of_val(&*self.x) + own.map_or(0, |lift| B::bytes(lift))
    }
}

impl<B: Backend> Relaxation for Structured<B> {
    type Start = StructuredStart<B>;

    fn prepare(&mut self, problem: &Problem, task: &Task, start: Option<&StructuredStart<B>>) {
        let lift = start.and_then(|start| start.lift.as_ref());
        self.backend.load(problem, lift);
        let point = start.map_or_else(|| self.start.clone(), StructuredStart::model);
        self.go_to(problem, &task.node, &point);
    }

    fn initial_bound(&mut self, _problem: &Problem, _node: &Subproblem) -> Certified {
        Certified::TRIVIAL
    }

    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        let tolerance =
            (NODE_TOLERANCE * (task.scale - task.proved)).max(TOLERANCE_FLOOR * task.scale);
        let goal = Goal {
            cut: task.cut_without_cost(problem),
            tolerance,
            share: None,
            tight: tolerance,
        };
        let shape = Arc::clone(self.backend.shape());
        let blocks = self.blocks(problem, &task.node, &shape);
        let mut smooth = self.backend.smooth(problem, task.node);
        let (proximal, limits) = (&mut self.proximal, task.limits);
        let bound = if blocks.groups.len() < self.working_from {
            proximal.solve(&mut *smooth, &blocks, &goal, limits)
        } else {
            working::solve(proximal, &mut *smooth, &blocks, &goal, limits)
        };
        drop(smooth);
        let bound = self.backend.claim(problem, &task.node, bound);
        self.inside = task.node.included[problem.penalised.len()..].to_vec();
        self.free = task.node.free.to_vec();
        (bound, Exit::of(bound, task))
    }

    fn tighten(&mut self, problem: &Problem, task: &Task) -> bool {
        self.tighten_by(problem, task, |backend, blocks, point, gains| {
            backend.tighten(problem, task, blocks, point, gains)
        })
    }

    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize> {
        let mut k = node.included.len() - problem.penalised.len() + node.budget;
        let weights = self.weights(problem);
        if problem.is_priced() {
            // As many features as the shares add up to; more would cost more than the relaxed model pays.
            let shares: f64 = weights.iter().map(|(share, _)| *share).sum();
            k = k.min(self.inside.len() + (shares + 0.5) as usize);
        }
        let mut order: Vec<usize> = (0..weights.len())
            .filter(|i| weights[*i].0 > 0.0 && weights[*i].1 > 0.0)
            .collect();
        order.sort_by(|i, j| {
            let (a, b) = (weights[*i], weights[*j]);
            b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
        });
        let wanted = order.iter().map(|i| self.free[*i]);
        let mut set: Vec<usize> = match &problem.structure {
            Some(structure) => {
                let allowed = |j: usize| self.free.contains(&j);
                structure.close(&self.inside, wanted, allowed, k)
            }
            None => self.inside.iter().copied().chain(wanted).take(k).collect(),
        };
        set.sort_unstable();
        set
    }

    fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        let shape = self.backend.shape();
        let blocks = self.blocks(problem, node, shape);
        let u = &self.proximal.best_u;
        self.backend.children(problem, node, &blocks, u)
    }

    /// Returns the free feature whose two children are estimated to gain most.
    ///
    /// With the share z and the multiplier τ of the budget, leaving it out costs about `½ Σ c x²`, and forcing it in
    /// about `τ(1 - z)²`, all else fixed.
    fn branch(&mut self, problem: &Problem, node: &Subproblem, gap: f64, _: &Limits) -> usize {
        let shape = self.backend.shape();
        let blocks = self.blocks(problem, node, shape);
        let (x, u) = (&self.proximal.x, &self.proximal.best_u);
        let mut best = (f64::NEG_INFINITY, node.free[0]);
        for (leader, group) in node.free.iter().zip(&blocks.groups) {
            let found = self.free.iter().position(|j| j == leader);
            let z = found.and_then(|at| self.proximal.shares.get(at).copied());
            let z = z.unwrap_or(0.0);
            let atom = blocks.atom(group, u);
            let columns = blocks.free[group.clone()].iter();
            let out: f64 = columns
                .map(|j| 0.5 * (1.0 + shape.curvature[*j]) * x[*j] * x[*j])
                .sum();
            let inside = atom * (1.0 - z) * (1.0 - z);
            let share = |gain: f64| (gain / gap).min(1.0);
            let score = (share(out) + 0.05) * (share(inside) + 0.2);
            if score > best.0 {
                best = (score, *leader);
            }
        }
        best.1
    }

    fn start(&self) -> StructuredStart<B> {
        StructuredStart {
            x: shorten(self.model()),
            lift: self.backend.lift().cloned(),
        }
    }

    fn restored(&self, x: Vec<(usize, f64)>) -> Option<StructuredStart<B>> {
        let x = shorten(x.into_iter());
        Some(StructuredStart { x, lift: None })
    }
}
