//! Newton's method for the relaxation in matrix form: any loss, any scale of columns.
//!
//! Coordinates are `x̃_j = √λ_j x_j`, so that every ridge is 1; unpenalised columns keep their own. The bound is that of
//! the slopes at the best point, in the dual form of [`crate::bound`]: nothing about it depends on Newton's rounding.

use super::newton::{Goal, Model, Newton, Sets};
use super::{Exit, Relaxation, Task, WarmStart, branching, largest};
use crate::bound::{Certified, Children, DualPoint, Subproblem};
use crate::limits::Limits;
use crate::linalg::kernels;
use crate::problem::Problem;

/// A node is solved to this share of its gap to the incumbent …
const NODE_TOLERANCE: f64 = 1e-2;
/// … and never beyond this share of the incumbent.
const FLOOR: f64 = 1e-12;

/// f(x̃) = L(Ax + o) of a problem, for [`Newton`].
struct RowModel<'a> {
    problem: &'a Problem,
    work: &'a mut Work,
    limits: &'a Limits,
}

/// Buffers of the model, and the dual point to be certified.
#[derive(Debug, Clone, Default)]
struct Work {
    /// √λ_j, 1 for unpenalised columns.
    scale: Vec<f64>,
    z: Vec<f64>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    curvature: Vec<f64>,
    dz: Vec<f64>,
    moved: Vec<f64>,
    kept: Vec<f64>,
    point: DualPoint,
    scratch: Vec<f64>,
    /// `max p s ‖A‖²` in scaled coordinates, its mean diagonal.
    lipschitz: f64,
    mean: f64,
    smooth: f64,
}

impl Work {
    fn new(problem: &Problem, limits: &Limits) -> Self {
        let n = problem.rows();
        let columns = problem.ridged();
        let scale: Vec<f64> = problem
            .ridge
            .iter()
            .map(|ridge| if *ridge > 0.0 { ridge.sqrt() } else { 1.0 })
            .collect();
        let least = columns
            .iter()
            .map(|j| problem.ridge[*j])
            .fold(f64::INFINITY, f64::min);
        let heaviest = problem.p.iter().copied().fold(0.0, f64::max);
        let unit = heaviest * problem.loss.smoothness();
        let bare: f64 = problem
            .unpenalised
            .columns()
            .iter()
            .map(|j| problem.norms[*j].powi(2))
            .sum();
        // The projected norm leaves out what unpenalised columns share with the others: a factor of 2 covers it.
        let norm = problem.spectral_norm(&columns, limits).powi(2) / least;
        let sum: f64 = columns
            .iter()
            .map(|j| problem.norms[*j].powi(2) / problem.ridge[*j])
            .sum();
        let mean = problem.p.iter().sum::<f64>() / n as f64 * problem.loss.smoothness();
        Self {
            scale,
            z: vec![0.0; n],
            alpha: vec![0.0; n],
            beta: vec![0.0; n],
            curvature: vec![0.0; n],
            dz: vec![0.0; n],
            moved: vec![0.0; n],
            kept: vec![0.0; n],
            point: DualPoint::new(problem),
            scratch: Vec::new(),
            lipschitz: (2.0 * (norm + bare) * unit).max(1e-300),
            mean: mean * sum / columns.len().max(1) as f64,
            smooth: 0.0,
        }
    }
}

impl Model for RowModel<'_> {
    fn size(&self) -> usize {
        self.problem.design.columns()
    }

    fn evaluate(&mut self, x: &[f64], support: &[usize], sets: &Sets, u: &mut [f64]) -> (f64, f64) {
        let (problem, work) = (self.problem, &mut *self.work);
        let (design, loss) = (&problem.design, &problem.loss);
        problem.predict_into(&[], &mut work.z);
        for j in support {
            design.add_column(*j, x[*j] / work.scale[*j], &mut work.z);
        }
        work.smooth = loss.total(&problem.p, &work.z, &problem.b);
        loss.slopes(&work.z, &problem.b, &mut work.alpha);
        problem.weigh(&work.alpha, &mut work.beta);
        for columns in [&sets.unpenalised, &sets.inside, &sets.free] {
            design.dots_scattered(columns, &work.beta, u);
            for j in columns {
                u[*j] /= -work.scale[*j];
            }
        }
        let pull: f64 = support.iter().map(|j| u[*j] * x[*j]).sum();
        (work.smooth, work.smooth + pull)
    }

    fn hessian(&mut self, set: &[usize], rows: &mut [f64]) {
        let (problem, work) = (self.problem, &mut *self.work);
        let size = set.len();
        problem
            .loss
            .weighted_curvatures(&problem.p, &work.z, &problem.b, &mut work.curvature);
        for (r, i) in set.iter().enumerate() {
            if self.limits.stop() {
                // Newton looks at the limits before it goes on from the step that this spoils.
                return;
            }
            let column = problem.design.column(*i);
            for ((weighted, a), h) in work.moved.iter_mut().zip(column).zip(&work.curvature) {
                *weighted = a * h / work.scale[*i];
            }
            let out = &mut rows[r * size..r * size + r + 1];
            problem.design.dots(&set[..=r], &work.moved, out);
            for (out, j) in out.iter_mut().zip(set) {
                *out /= work.scale[*j];
            }
        }
    }

    /// `u + Bx` with `Bx = A_Wᵀ diag(p l'')(z - o)`; [`Model::hessian`] has left the curvatures.
    fn right_side(&self, u: &[f64], set: &[usize], out: &mut Vec<f64>) {
        let (problem, work) = (self.problem, &*self.work);
        let mut pull = work.z.clone();
        if !problem.offset.is_empty() {
            kernels::axpy(-1.0, &problem.offset, &mut pull);
        }
        pull.iter_mut()
            .zip(&work.curvature)
            .for_each(|(z, h)| *z *= h);
        out.resize(set.len(), 0.0);
        problem.design.dots(set, &pull, out);
        for (out, j) in out.iter_mut().zip(set) {
            *out = *out / work.scale[*j] + u[*j];
        }
    }

    fn aim(&mut self, _u: &[f64], direction: &[(usize, f64)]) {
        let (problem, work) = (self.problem, &mut *self.work);
        work.dz.fill(0.0);
        for (j, d) in direction {
            problem
                .design
                .add_column(*j, d / work.scale[*j], &mut work.dz);
        }
    }

    fn along(&mut self, a: f64) -> f64 {
        let (problem, work) = (self.problem, &mut *self.work);
        work.moved.copy_from_slice(&work.z);
        kernels::axpy(a, &work.dz, &mut work.moved);
        problem.loss.total(&problem.p, &work.moved, &problem.b)
    }

    fn keep(&mut self, _x: &[f64], _support: &[usize], _u: &[f64], _sets: &Sets, _: f64, _: f64) {
        self.work.kept.copy_from_slice(&self.work.alpha);
    }

    fn certify(&mut self, sets: &Sets) -> Certified {
        let (problem, work) = (self.problem, &mut *self.work);
        let node = Subproblem {
            included: &sets.inside,
            free: &sets.free,
            budget: sets.budget,
        };
        work.point.alpha.copy_from_slice(&work.kept);
        work.point.update(problem);
        work.point.dots(problem, &node);
        work.point.bound(problem, &node, &mut work.scratch)
    }

    fn curvatures(&self) -> (f64, f64) {
        (self.work.mean, self.work.lipschitz)
    }
}

/// The relaxation of nodes by Newton's method on the rows.
#[derive(Debug, Clone)]
pub struct NewtonRows {
    newton: Newton,
    work: Work,
    start: Vec<(usize, f64)>,
}

impl NewtonRows {
    /// For one problem.
    pub fn new(problem: &Problem) -> Self {
        Self::within(problem, &Limits::none())
    }

    /// The same; a limit ends the preparation early, and then the steps are not the best.
    pub(crate) fn within(problem: &Problem, limits: &Limits) -> Self {
        Self {
            newton: Newton::default(),
            work: Work::new(problem, limits),
            start: Vec::new(),
        }
    }

    /// A model (column, coefficient) that nodes without a warm start begin at.
    pub fn start_at(&mut self, model: &[(usize, f64)]) {
        self.start = model.to_vec();
    }

    fn sets(problem: &Problem, node: &Subproblem) -> Sets {
        Sets {
            unpenalised: problem.unpenalised.columns().to_vec(),
            inside: node.included.to_vec(),
            free: node.free.to_vec(),
            budget: node.budget,
        }
    }
}

impl Relaxation for NewtonRows {
    fn prepare(&mut self, problem: &Problem, node: &Subproblem, warm: Option<&WarmStart>) {
        let x = &mut self.newton.x;
        x.clear();
        x.resize(problem.design.columns(), 0.0);
        let start = warm.map_or(&self.start, |warm| &warm.x);
        for (j, value) in start {
            x[*j] = value * self.work.scale[*j];
        }
        // What is out stays out.
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

    fn initial_bound(&mut self, problem: &Problem, node: &Subproblem) -> Certified {
        let work = &mut self.work;
        work.point.dots(problem, node);
        work.point.bound(problem, node, &mut work.scratch)
    }

    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        let sets = Self::sets(problem, &task.node);
        let tolerance = (NODE_TOLERANCE * (task.scale - task.low)).max(FLOOR * task.scale);
        let goal = Goal {
            cut: task.cut,
            tolerance,
            tight: tolerance.min(0.3e-9 * task.scale),
        };
        let mut model = RowModel {
            problem,
            work: &mut self.work,
            limits: task.limits,
        };
        let bound = self.newton.solve(&mut model, &sets, &goal, task.limits);
        self.newton.restore_best(&sets);
        let exit = if bound.value() > task.cut {
            Exit::Quit
        } else if task.limits.stop() {
            Exit::Stopped
        } else {
            Exit::Converged
        };
        (bound, exit)
    }

    fn candidate(&self, problem: &Problem, k: usize) -> Vec<usize> {
        let x = &self.newton.x;
        largest(problem.selectable.iter().map(|j| (*j, x[*j].abs())), k)
    }

    fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        self.work.point.children(problem, node)
    }

    fn branch(&mut self, problem: &Problem, node: &Subproblem, gap: f64) -> usize {
        let sets = Self::sets(problem, node);
        let mut model = RowModel {
            problem,
            work: &mut self.work,
            limits: &Limits::none(),
        };
        let (x, u) = (&self.newton.x, &self.newton.best_u);
        branching::choose(&mut model, &sets, x, u, gap, &Limits::none())
    }

    fn warm_start(&self) -> WarmStart {
        let x = self.newton.x.iter().enumerate();
        let scale = &self.work.scale;
        let x = x.filter(|(_, x)| **x != 0.0);
        WarmStart {
            alpha: Vec::new(),
            x: x.map(|(j, x)| (j, x / scale[j])).collect(),
            steps: (0.0, 0.0),
        }
    }

    fn restored(&self, x: Vec<(usize, f64)>) -> Option<WarmStart> {
        Some(WarmStart {
            x,
            ..WarmStart::default()
        })
    }
}
