//! The primal–dual algorithm with line search (Algorithm 3 of the paper; Malitsky and Pock 2018).
//!
//! It maximises `D(β) = -L*(β) - g(Aᵀβ)` as the saddle point `min_β max_y L*(β) + ⟨Aᵀβ, y⟩ - g*(y)`. The code keeps
//! `x = -y`, the primal iterate. Unpenalised columns U never enter x. They restrict β to `Uᵀβ = 0`, which the β-step
//! enforces by a few Newton steps on their multipliers. Convergence is therefore that of the problem without them.

use super::topk::Prox;
use super::{Exit, Relaxation, Start, Task, largest, largest_one};
use crate::bound::{Certified, Children, DualPoint, Subproblem};
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::problem::Problem;

/// The paper's ε: an ascent ends when D rises by at most this share of P_min.
pub const EPSILON: f64 = 1e-5;
/// The ε of the default method on wide data, where another node costs more than the last digits of a bound.
pub(crate) const FINE: f64 = 1e-6;

/// A guard against endless loops; the bound is valid wherever the iteration stops.
const MAX_ITERATIONS: usize = 20_000;
/// Largest ρ that a node inherits.
///
/// ρ grows in every iteration. Inherited without a limit, it makes the dual steps of deep nodes so short that the
/// stopping rule is met far from the maximum, and the search takes more solver calls.
const MAX_INHERITED_RHO: f64 = 1e4;
/// Share of ε up to which `D(βᵗ) ≥ D_max` is read: near the maximum, D moves by rounding alone.
const LEVEL: f64 = 1e-3;
/// Share of `1/‖A‖₂` below which a step `√ρ τ` is accepted without the test of the line search.
///
/// `√ρ τ ≤ 1/‖A‖₂` passes the test whatever the step is, and half of it does so with the available estimate of
/// the norm. Near a fixed point the test itself would compare rounding errors: τ would shrink to nothing, and
/// every descendant would inherit it.
const SAFE: f64 = 0.5;
/// Maximum number of halvings of τ in one line search.
const MAX_HALVINGS: usize = 60;

/// The primal–dual method: Algorithm 3 of the paper.
#[derive(Debug, Clone)]
pub struct Pdal {
    /// The paper's ε.
    epsilon: f64,
    /// `1/‖A‖₂`.
    first_step: f64,
    /// γ: L is 1/γ-smooth.
    gamma: f64,
    start: Iterate,
    current: Iterate,
    multipliers: Vec<f64>,
    work: Work,
}

/// A point of the iteration.
#[derive(Debug, Clone, Default)]
struct Iterate {
    point: DualPoint,
    /// Primal iterate over all columns.
    x: Vec<f64>,
    /// Columns where x may be non-zero.
    support: Vec<usize>,
    /// `Ax + o`.
    z: Vec<f64>,
    tau: f64,
    rho: f64,
}

impl Iterate {
    fn copy_from(&mut self, other: &Self) {
        self.point.copy_from(&other.point);
        self.x.clone_from(&other.x);
        self.support.clone_from(&other.support);
        self.z.clone_from(&other.z);
        self.tau = other.tau;
        self.rho = other.rho;
    }
}

#[derive(Debug, Clone, Default)]
struct Work {
    scratch: Vec<f64>,
    w: Vec<f64>,
    v_before: Vec<f64>,
    target: Vec<f64>,
    support: Vec<usize>,
    values: Vec<f64>,
    z: Vec<f64>,
    change: Vec<f64>,
    prox: Prox,
}

/// The last point of the ascent of a node.
#[derive(Debug, Clone)]
pub struct PdalStart {
    alpha: Vec<f64>,
    x: Vec<(usize, f64)>,
    tau: f64,
    rho: f64,
}

impl Start for PdalStart {
    fn model(&self) -> Vec<(usize, f64)> {
        self.x.clone()
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.alpha.capacity() * 8
            + self.x.capacity() * size_of::<(usize, f64)>()
    }
}

impl Pdal {
    /// Creates the method for one problem; `epsilon` is the paper's ε, usually [`EPSILON`].
    pub fn new(problem: &Problem, epsilon: f64) -> Self {
        Self::within(problem, epsilon, &Limits::none())
    }

    /// Does the work of [`Pdal::new`] within limits; if one ends the preparation early, the first step is not the best.
    pub(crate) fn within(problem: &Problem, epsilon: f64, limits: &Limits) -> Self {
        let columns = problem.ridged();
        let heaviest = problem.p.iter().copied().fold(0.0, f64::max);
        let mut start = Iterate {
            point: DualPoint::new(problem),
            x: vec![0.0; problem.design.columns()],
            z: vec![0.0; problem.rows()],
            ..Iterate::default()
        };
        problem.predict_into(&[], &mut start.z);
        Self {
            epsilon,
            first_step: 1.0 / problem.spectral_norm(&columns, limits),
            gamma: 1.0 / (heaviest * problem.loss.smoothness()),
            start,
            current: Iterate::default(),
            multipliers: vec![0.0; problem.unpenalised.columns().len()],
            work: Work::default(),
        }
    }

    /// Computes `β ← prox_{τL*}(β + τ(Ax + o))`, restricted to `Uᵀβ = 0`, and then everything that depends on β.
    fn dual_step(&mut self, problem: &Problem, node: &Subproblem) {
        let current = &mut self.current;
        let tau = current.tau;
        let w = &mut self.work.w;
        w.clear();
        w.extend(
            current
                .point
                .beta
                .iter()
                .zip(&current.z)
                .map(|(beta, z)| beta + tau * z),
        );
        let alpha = &mut current.point.alpha;
        constrained_prox(problem, w, tau, &mut self.multipliers, alpha);
        self.work.v_before.clone_from(&current.point.v);
        current.point.update(problem);
        current.point.dots(problem, node);
    }

    /// Tries one step of the line search: `x ← prox(x - σ Aᵀ(β + θ(β - β_before)))` into `work`. Returns true
    /// when the step is short enough.
    fn primal_try(
        &mut self,
        problem: &Problem,
        node: &Subproblem,
        theta: f64,
        tau: f64,
        rho: f64,
    ) -> bool {
        let (current, work) = (&self.current, &mut self.work);
        let sigma = rho * tau;
        let step = |j: usize| {
            let v = current.point.v[j];
            current.x[j] - sigma * (v + theta * (v - work.v_before[j]))
        };
        work.support.clear();
        work.values.clear();
        for j in node.included {
            work.support.push(*j);
            work.values
                .push(step(*j) / (1.0 + problem.ridge[*j] * sigma));
        }
        work.target.clear();
        work.target.extend(node.free.iter().map(|j| step(*j)));
        if let Some(first) = node.free.first() {
            let lambda_sigma = problem.ridge[*first] * sigma;
            let target = work.target.iter().copied();
            let piece = work.prox.run(target, node.budget, lambda_sigma);
            for (j, target) in node.free.iter().zip(&work.target) {
                let x = piece.apply(*target, lambda_sigma);
                if x != 0.0 {
                    work.support.push(*j);
                    work.values.push(x);
                }
            }
        }
        if problem.offset.is_empty() {
            work.z.clear();
            work.z.resize(problem.rows(), 0.0);
        } else {
            work.z.clone_from(&problem.offset);
        }
        let x = work.support.iter().zip(&work.values);
        let x = x.map(|(j, x)| (*j, *x));
        problem.design.add_columns(x, &mut work.z);
        // ‖x - x_before‖ over both supports: x_before² everywhere, then corrected where x is non-zero.
        let mut moved: f64 = current.support.iter().map(|j| current.x[*j].powi(2)).sum();
        for (j, x) in work.support.iter().zip(&work.values) {
            let before = current.x[*j];
            moved += (x - before).powi(2) - before * before;
        }
        let moved = moved.max(0.0).sqrt();
        work.change.clear();
        work.change
            .extend(work.z.iter().zip(&current.z).map(|(new, old)| new - old));
        problem.unpenalised.project(&mut work.change);
        let step = rho.sqrt() * tau;
        step <= SAFE * self.first_step || step * kernels::norm(&work.change) <= moved
    }

    fn accept(&mut self, tau: f64, rho: f64) {
        let (current, work) = (&mut self.current, &mut self.work);
        for j in &current.support {
            current.x[*j] = 0.0;
        }
        std::mem::swap(&mut current.support, &mut work.support);
        for (j, x) in current.support.iter().zip(&work.values) {
            current.x[*j] = *x;
        }
        std::mem::swap(&mut current.z, &mut work.z);
        current.tau = tau;
        current.rho = rho;
    }
}

impl Pdal {
    /// Maximises the bound of a node from the starting point, by Algorithm 3.
    fn climb(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        let node = &task.node;
        let mut best = self.initial_bound(problem, node);
        self.current.copy_from(&self.start);
        if best.value() > task.cut {
            return (best, Exit::Quit);
        }
        let mut before = best;
        let mut theta = 1.0;
        for iteration in 0..MAX_ITERATIONS {
            if task.limits.stop() {
                return (best, Exit::Stopped);
            }
            self.dual_step(problem, node);
            let scratch = &mut self.work.scratch;
            let bound = self.current.point.bound(problem, node, scratch);
            best = best.tighter(bound);
            if bound.value() > task.cut {
                return (best, Exit::Quit);
            }
            let (tau_before, rho_before) = (self.current.tau, self.current.rho);
            let rho = rho_before * (1.0 + self.gamma * tau_before);
            let mut tau = tau_before * (rho_before / rho * (1.0 + theta)).sqrt();
            let mut accepted = false;
            for _ in 0..MAX_HALVINGS {
                if task.limits.stop() {
                    return (best, Exit::Stopped);
                }
                theta = tau / tau_before;
                if self.primal_try(problem, node, theta, tau, rho) {
                    accepted = true;
                    break;
                }
                tau *= 0.5;
            }
            if !accepted {
                // Steps are below the floating-point floor: nothing more can be gained.
                return (best, Exit::Converged);
            }
            self.accept(tau, rho);
            let gain = bound.value() - before.value();
            before = bound;
            // After a warm start the first β hardly moves: it is made with the parent's y,
            // which does not know this node.
            if iteration == 0 {
                continue;
            }
            if gain <= self.epsilon * task.scale
                && best.value() - bound.value() <= LEVEL * self.epsilon * task.scale
            {
                return (best, Exit::Converged);
            }
        }
        (best, Exit::Converged)
    }
}

impl Relaxation for Pdal {
    type Start = PdalStart;

    fn prepare(&mut self, problem: &Problem, task: &Task, warm: Option<&PdalStart>) {
        let start = &mut self.start;
        start.x.fill(0.0);
        start.support.clear();
        match warm {
            Some(warm) => {
                start.point.alpha.clone_from(&warm.alpha);
                for (j, x) in &warm.x {
                    start.x[*j] = *x;
                    start.support.push(*j);
                }
                (start.tau, start.rho) = (warm.tau, warm.rho);
                if start.rho > MAX_INHERITED_RHO {
                    // τ²ρ, which the line search found to be right for A, is kept.
                    start.tau *= (start.rho / MAX_INHERITED_RHO).sqrt();
                    start.rho = MAX_INHERITED_RHO;
                }
                problem.predict_into(&warm.x, &mut start.z);
            }
            None => {
                start.point.alpha.fill(0.0);
                problem.loss.clip(&mut start.point.alpha, &problem.b);
                (start.tau, start.rho) = (self.first_step, 1.0);
                problem.predict_into(&[], &mut start.z);
            }
        }
        start.point.update(problem);
        start.point.dots(problem, &task.node);
    }

    fn initial_bound(&mut self, problem: &Problem, node: &Subproblem) -> Certified {
        let scratch = &mut self.work.scratch;
        self.start.point.bound(problem, node, scratch)
    }

    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        self.climb(problem, task)
    }

    fn sharpen(&mut self) -> bool {
        let can = self.epsilon > FINE;
        if can {
            self.epsilon *= 0.1;
        }
        can
    }

    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize> {
        // The k largest of all, as in the paper: features of S may be dropped.
        let always = problem.penalised.len();
        let selectable = node.included[always..].iter().chain(node.free);
        let k = node.included.len() - always + node.budget;
        largest(selectable.map(|j| (*j, self.current.x[*j].abs())), k)
    }

    fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        self.current.point.children(problem, node)
    }

    /// Returns the feature with the largest share of the budget: leaving it out costs most, and forcing it in closes
    /// fast.
    fn branch(&mut self, _: &Problem, node: &Subproblem, _gap: f64, _: &Limits) -> usize {
        largest_one(node.free, |j| self.current.x[j].abs())
    }

    fn start(&self) -> PdalStart {
        let current = &self.current;
        let x = current.support.iter().map(|j| (*j, current.x[*j]));
        PdalStart {
            alpha: current.point.alpha.clone(),
            x: x.collect(),
            tau: current.tau,
            rho: current.rho,
        }
    }
}

/// Computes `p ∘ α = prox_{τL*}(w - Us)` with the multipliers s of the unpenalised columns such that `Uᵀ(p ∘ α) = 0`.
///
/// `F(s) = Uᵀβ(s)` is monotone with derivative `-Uᵀ diag(c) U`, `c = h/(τ + h)`, where h is the weighted curvature.
/// Newton's method finds its root.
fn constrained_prox(
    problem: &Problem,
    w: &mut [f64],
    tau: f64,
    multipliers: &mut [f64],
    alpha: &mut [f64],
) {
    let (loss, p, b) = (&problem.loss, &problem.p, &problem.b);
    let columns = problem.unpenalised.columns();
    for (j, s) in columns.iter().zip(&*multipliers) {
        problem.design.add_column(*j, -s, w);
    }
    loss.prox_conjugate_rows(w, p, b, tau, alpha);
    if columns.is_empty() {
        return;
    }
    let size = columns.len();
    let mut beta = vec![0.0; alpha.len()];
    let mut slack = vec![0.0; alpha.len()];
    let mut factor = Cholesky::new();
    for _ in 0..25 {
        problem.weigh(alpha, &mut beta);
        let mut force: Vec<f64> = columns
            .iter()
            .map(|j| problem.design.dot(*j, &beta))
            .collect();
        let scale: f64 = beta.iter().map(|beta| beta.abs()).sum();
        let widest = columns
            .iter()
            .map(|j| problem.norms[*j])
            .fold(0.0, f64::max);
        if force.iter().all(|f| f.abs() <= 1e-13 * scale * widest) {
            return;
        }
        for (i, slack) in slack.iter_mut().enumerate() {
            let (low, high) = loss.domain(b[i]);
            let inner = alpha[i] > low && alpha[i] < high;
            let curvature = if inner {
                loss.curvature(loss.conjugate_slope(alpha[i], b[i]), b[i])
            } else {
                0.0
            };
            // A trace of curvature everywhere keeps the system solvable when every row is at its end.
            let h = p[i] * curvature.max(1e-3 * loss.smoothness());
            *slack = h / (tau + h);
        }
        let rows = factor.start(size);
        for (r, i) in columns.iter().enumerate() {
            problem.design.weigh_column(*i, &slack, &mut beta);
            let out = &mut rows[r * size..r * size + r + 1];
            problem.design.dots(&columns[..=r], &beta, out);
        }
        if !factor.factor() {
            return;
        }
        factor.solve(&mut force);
        for ((j, s), step) in columns.iter().zip(&mut *multipliers).zip(force) {
            *s += step;
            problem.design.add_column(*j, -step, w);
        }
        loss.prox_conjugate_rows(w, p, b, tau, alpha);
    }
}
