//! Newton's method for the relaxation in matrix form: any loss, any scale of columns.
//!
//! Coordinates are `x̃_j = √λ_j x_j`, so that every ridge is 1; unpenalised columns keep their own. The bound is that of
//! the slopes at the best point, in the dual form of [`crate::bound`]: nothing about it depends on Newton's rounding.
//!
//! Where the loss is curved wherever a better model can be, the ridge is lifted ([`super::lift`]): the model is then
//! `Σ p l̃ - ½ Σ μ x²` with `x̃_j = √(λ_j + μ_j) x_j`, and its bound that of the linearisation at the best point, less the
//! proved bound of its rounding.

use std::sync::Arc;

use super::lift::Lift;
use super::newton::{Goal, Model, Newton, Sets};
use super::region::{Centre, Region};
use super::{Exit, Relaxation, Task, WarmStart, branching, largest};
use crate::bound::{Certified, Children, DualPoint, Subproblem};
use crate::limits::Limits;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;
use crate::problem::Problem;
use crate::settings::Ideas;

/// A node is solved to this share of its gap to the incumbent …
const NODE_TOLERANCE: f64 = 1e-2;
/// … and never beyond this share of the incumbent.
const FLOOR: f64 = 1e-12;
/// A lift is tried when the predictions of better models are expected to lie within this of the relaxed ones …
const WIDEST: f64 = 2.0;
/// … and tried again when they are expected to lie within this share of the last lift's width.
const RELIFT: f64 = 0.7;
/// A lift writes out three times the entries of the columns that are left: at most so many.
const LARGEST: usize = 20_000_000;

/// f(x̃) = L(Ax + o) of a problem, for [`Newton`].
struct RowModel<'a> {
    problem: &'a Problem,
    work: &'a mut Work,
    limits: &'a Limits,
}

/// Buffers of the model, and the dual point to be certified.
#[derive(Debug, Clone, Default)]
struct Work {
    /// √λ_j, 1 for unpenalised columns; with a lift √(λ_j + μ_j) for its columns.
    scale: Vec<f64>,
    /// The lift, and μ_j for its columns (else 0).
    lift: Option<Arc<Lift>>,
    mu: Vec<f64>,
    /// μ_j x_j at the point evaluated last.
    pulled: Vec<f64>,
    /// `½ Σ μ (x + a d)²` along a line, by powers of a.
    line: [f64; 3],
    z: Vec<f64>,
    /// z, moved into the region.
    clamped: Vec<f64>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    curvature: Vec<f64>,
    dz: Vec<f64>,
    moved: Vec<f64>,
    kept: Vec<f64>,
    kept_z: Vec<f64>,
    /// How far rounding can have moved the entries of `kept_z`.
    kept_error: f64,
    frame: Frame,
    point: DualPoint,
    scratch: Vec<f64>,
    /// `max p s ‖A‖²` in scaled coordinates, its mean diagonal.
    lipschitz: f64,
    mean: f64,
    smooth: f64,
}

/// What the certificate of a lifted point needs.
#[derive(Debug, Clone, Default)]
struct Frame {
    dual: f64,
    /// Bounds of the error of D, and of what another selection of atoms can add to it.
    error: f64,
    selection: f64,
    /// `max_j N_j/s_j`, `|p|₂`.
    steepest: f64,
    weights: f64,
    /// At the point evaluated last: the sizes of what was added up, `Σ p |value terms|` and `|p slope terms|₂`.
    values: f64,
    slopes: f64,
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
            mu: vec![0.0; scale.len()],
            pulled: vec![0.0; scale.len()],
            scale,
            lift: None,
            line: [0.0; 3],
            z: vec![0.0; n],
            clamped: vec![0.0; n],
            alpha: vec![0.0; n],
            beta: vec![0.0; n],
            curvature: vec![0.0; n],
            dz: vec![0.0; n],
            moved: vec![0.0; n],
            kept: vec![0.0; n],
            kept_z: vec![0.0; n],
            kept_error: 0.0,
            frame: Frame::default(),
            point: DualPoint::new(problem),
            scratch: Vec::new(),
            lipschitz: (2.0 * (norm + bare) * unit).max(1e-300),
            mean: mean * sum / columns.len().max(1) as f64,
            smooth: 0.0,
        }
    }

    /// Changes over to another lift, or to none. x̃ is the caller's to rescale.
    fn change(&mut self, problem: &Problem, lift: Option<Arc<Lift>>) {
        let base = |j: usize| match problem.ridge[j] {
            ridge if ridge > 0.0 => ridge.sqrt(),
            _ => 1.0,
        };
        for (j, _) in self.lift.take().iter().flat_map(|lift| &lift.ridges) {
            let j = *j as usize;
            (self.scale[j], self.mu[j], self.pulled[j]) = (base(j), 0.0, 0.0);
        }
        if let Some(lift) = &lift {
            let mut steepest: f64 = 0.0;
            for (j, mu) in &lift.ridges {
                let (j, mu) = (*j as usize, *mu);
                (self.scale[j], self.mu[j]) = ((problem.ridge[j] + mu).sqrt(), mu);
                steepest = steepest.max(problem.sizes[j] / self.scale[j]);
            }
            self.frame.steepest = steepest * (1.0 + 1e-12);
            self.frame.weights = kernels::norm(&problem.p) * (1.0 + gamma(problem.rows() + 4));
        }
        self.lift = lift;
    }

    /// `Σ p l̃(z)` of a lifted problem, with z moved into the region in `clamped`.
    fn extended(&mut self, problem: &Problem, lift: &Lift, moved: bool) -> f64 {
        let (loss, p, b) = (&problem.loss, &problem.p, &problem.b);
        let z = if moved { &self.moved } else { &self.z };
        let region = lift.region.low.iter().zip(&lift.region.high);
        let mut outside = false;
        for ((clamped, z), (low, high)) in self.clamped.iter_mut().zip(z).zip(region) {
            *clamped = z.max(*low).min(*high);
            outside |= *clamped != *z;
        }
        let mut total = loss.total(p, &self.clamped, b);
        self.frame.values = total;
        if outside {
            for (i, (end, z)) in self.clamped.iter().zip(z).enumerate() {
                let way = z - end;
                if way != 0.0 {
                    let slope = loss.slope(*end, b[i]) * way;
                    let curve = 0.5 * loss.curvature(*end, b[i]) * way * way;
                    total += p[i] * (slope + curve);
                    self.frame.values += p[i] * (slope.abs() + curve);
                }
            }
        }
        total
    }

    /// Slopes of l̃ at the point that [`Work::extended`] has just seen.
    fn extended_slopes(&mut self, problem: &Problem) {
        let (loss, p, b) = (&problem.loss, &problem.p, &problem.b);
        loss.slopes(&self.clamped, b, &mut self.alpha);
        let mut grown = 0.0;
        for (i, (end, z)) in self.clamped.iter().zip(&self.z).enumerate() {
            if end != z {
                let more = loss.curvature(*end, b[i]) * (z - end);
                grown += p[i] * (self.alpha[i].abs() + more.abs());
                self.alpha[i] += more;
            }
        }
        problem.weigh(&self.alpha, &mut self.beta);
        self.frame.slopes = kernels::norm(&self.beta) + grown;
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
        let scaled = support.iter().map(|j| (*j, x[*j] / work.scale[*j]));
        design.add_columns(scaled, &mut work.z);
        let lift = work.lift.clone();
        match &lift {
            None => {
                work.smooth = loss.total(&problem.p, &work.z, &problem.b);
                loss.slopes(&work.z, &problem.b, &mut work.alpha);
                problem.weigh(&work.alpha, &mut work.beta);
            }
            Some(lift) => {
                work.smooth = work.extended(problem, lift, false);
                work.extended_slopes(problem);
                for (j, _) in &lift.ridges {
                    work.pulled[*j as usize] = 0.0;
                }
                for j in support {
                    let x = x[*j] / work.scale[*j];
                    work.pulled[*j] = work.mu[*j] * x;
                    work.smooth -= 0.5 * work.pulled[*j] * x;
                }
            }
        }
        for columns in [&sets.unpenalised, &sets.inside, &sets.free] {
            design.dots_scattered(columns, &work.beta, u);
            for j in columns {
                u[*j] = (work.pulled[*j] - u[*j]) / work.scale[*j];
            }
        }
        let pull: f64 = support.iter().map(|j| u[*j] * x[*j]).sum();
        (work.smooth, work.smooth + pull)
    }

    fn hessian(&mut self, set: &[usize], rows: &mut [f64]) {
        let (problem, work) = (self.problem, &mut *self.work);
        let size = set.len();
        let z = match work.lift {
            None => &work.z,
            Some(_) => &work.clamped,
        };
        problem
            .loss
            .weighted_curvatures(&problem.p, z, &problem.b, &mut work.curvature);
        for (r, i) in set.iter().enumerate() {
            if self.limits.stop() {
                // Newton looks at the limits before it goes on from the step that this spoils.
                return;
            }
            let weighted = &mut work.moved;
            problem.design.weigh_column(*i, &work.curvature, weighted);
            let out = &mut rows[r * size..r * size + r + 1];
            problem.design.dots(&set[..=r], weighted, out);
            for (out, j) in out.iter_mut().zip(set) {
                *out /= work.scale[*i] * work.scale[*j];
            }
            out[r] -= work.mu[*i] / (work.scale[*i] * work.scale[*i]);
        }
    }

    /// `u + Bx` with `Bx = A_Wᵀ diag(p l'')(z - o) - μx`; [`Model::hessian`] has left the curvatures.
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
            *out = (*out - work.pulled[*j]) / work.scale[*j] + u[*j];
        }
    }

    fn aim(&mut self, _u: &[f64], direction: &[(usize, f64)]) {
        let (problem, work) = (self.problem, &mut *self.work);
        work.dz.fill(0.0);
        if work.lift.is_some() {
            work.line = [0.0; 3];
            for (j, mu) in work.lift.iter().flat_map(|lift| &lift.ridges) {
                let j = *j as usize;
                if work.pulled[j] != 0.0 {
                    work.line[0] += 0.5 * work.pulled[j] * (work.pulled[j] / mu);
                }
            }
            for (j, d) in direction {
                let d = d / work.scale[*j];
                work.line[1] += work.pulled[*j] * d;
                work.line[2] += 0.5 * work.mu[*j] * d * d;
            }
        }
        let scaled = direction.iter().map(|(j, d)| (*j, d / work.scale[*j]));
        problem.design.add_columns(scaled, &mut work.dz);
    }

    fn along(&mut self, a: f64) -> f64 {
        let (problem, work) = (self.problem, &mut *self.work);
        work.moved.copy_from_slice(&work.z);
        kernels::axpy(a, &work.dz, &mut work.moved);
        match work.lift.clone() {
            None => problem.loss.total(&problem.p, &work.moved, &problem.b),
            Some(lift) => {
                let [constant, linear, square] = work.line;
                work.extended(problem, &lift, true) - (constant + a * linear + a * a * square)
            }
        }
    }

    /// Lifted: with `|ẑ_i - z_i| ≤ e`, values move by `Σ p|l̃'|e + s e²/2`, every `u_j` by `|a_j|(γ|β| + s e |p|)/s_j`, and
    /// both enter D with `|x̃|₁ + U₁`; the rest is the rounding of the sums.
    fn keep(&mut self, x: &[f64], support: &[usize], u: &[f64], sets: &Sets, dual: f64, top: f64) {
        let (problem, work) = (self.problem, &mut *self.work);
        work.kept.copy_from_slice(&work.alpha);
        work.kept_z.copy_from_slice(&work.z);
        let (n, p) = (problem.rows(), support.len());
        let largest = problem.offset.iter().fold(0.0, |m: f64, o| m.max(o.abs()));
        let sizes = support
            .iter()
            .map(|j| problem.sizes[*j] * (x[*j] / work.scale[*j]).abs());
        let e = gamma(p + 6) * (sizes.sum::<f64>() + largest);
        work.kept_error = e;
        if work.lift.is_none() {
            return;
        }
        let smoothness = problem.loss.smoothness();
        let slopes: f64 = work.beta.iter().map(|beta| beta.abs()).sum();
        let (mut length, mut pull, mut lifted, mut most) = (0.0, 0.0, 0.0, 0.0_f64);
        for j in support {
            length += x[*j].abs();
            pull += (u[*j] * x[*j]).abs();
            lifted += (work.pulled[*j] * (x[*j] / work.scale[*j])).abs();
            most = most.max(work.pulled[*j].abs() / work.scale[*j]);
        }
        let steepest = sets.inside.iter().chain(&sets.free);
        let steepest = steepest.fold(0.0, |m: f64, j| m.max(u[*j].abs()));
        let frame = &mut work.frame;
        let value = slopes * e
            + 0.5 * smoothness * e * e
            + gamma(n + 24) * frame.values
            + gamma(p + 8) * 0.5 * lifted;
        let rows = gamma(n + 24) * frame.slopes + smoothness * e * frame.weights;
        let slope = frame.steepest * rows + gamma(8) * most + gamma(4) * steepest;
        let inside: f64 = sets.inside.iter().map(|j| u[*j].abs()).sum();
        let squares: f64 = sets.inside.iter().map(|j| u[*j] * u[*j]).sum();
        let terms = sets.inside.len() + sets.budget;
        let first = inside + (sets.budget as f64 * top).sqrt();
        let sums = work.smooth.abs() + lifted + pull + dual.abs() + 0.5 * (squares + top);
        frame.dual = dual;
        frame.selection = 2.0 * slope * (steepest + slope) * (1.0 + 1e-3);
        frame.error = (value
            + slope * (length + first)
            + terms as f64 * slope * slope
            + gamma(p + terms + 16) * sums)
            * (1.0 + 1e-3);
    }

    fn certify(&mut self, sets: &Sets) -> Certified {
        let (problem, work) = (self.problem, &mut *self.work);
        if let Some(lift) = &work.lift {
            return Certified::from_frame(work.frame.dual, lift.ceiling, work.frame.error);
        }
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
    ideas: Ideas,
}

impl NewtonRows {
    /// For one problem.
    pub fn new(problem: &Problem, ideas: Ideas) -> Self {
        Self::within(problem, ideas, &Limits::none())
    }

    /// The same; a limit ends the preparation early, and then the steps are not the best.
    pub(crate) fn within(problem: &Problem, ideas: Ideas, limits: &Limits) -> Self {
        Self {
            newton: Newton::default(),
            work: Work::new(problem, limits),
            start: Vec::new(),
            ideas,
        }
    }

    /// A model (column, coefficient) that nodes without a warm start begin at.
    pub fn start_at(&mut self, model: &[(usize, f64)]) {
        self.start = model.to_vec();
    }

    /// With a lift unpenalised columns have a ridge like any that is in.
    fn sets(&self, problem: &Problem, node: &Subproblem) -> Sets {
        let bare = problem.unpenalised.columns();
        let mut inside = node.included.to_vec();
        let lifted = self.work.lift.is_some();
        if lifted {
            inside.extend_from_slice(bare);
        }
        Sets {
            unpenalised: if lifted { Vec::new() } else { bare.to_vec() },
            inside,
            free: node.free.to_vec(),
            budget: node.budget,
        }
    }

    /// Changes over to another lift (or none) with the iterate carried over, zero outside the node.
    fn change(&mut self, problem: &Problem, node: &Subproblem, lift: Option<Arc<Lift>>) {
        let bare = problem.unpenalised.columns().iter().copied();
        let alive: Vec<usize> = node.columns().chain(bare).collect();
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

    /// How far the predictions of a better model can be from those of the relaxed point, in the root mean square over the
    /// rows: `Σ p l'' ℓ = d` for the leverages ℓ of d columns.
    fn expected_width(&self, problem: &Problem, columns: usize, gap: f64) -> f64 {
        let (p, b) = (&problem.p, &problem.b);
        let rows = p.iter().zip(&self.work.kept_z).zip(b);
        let curvature: f64 = rows
            .map(|((p, z), b)| p * problem.loss.curvature(*z, *b))
            .sum();
        (2.0 * gap * columns as f64 / curvature).sqrt()
    }

    fn run(
        &mut self,
        problem: &Problem,
        node: &Subproblem,
        goal: &Goal,
        limits: &Limits,
    ) -> Certified {
        let sets = self.sets(problem, node);
        let mut model = RowModel {
            problem,
            work: &mut self.work,
            limits,
        };
        let bound = self.newton.solve(&mut model, &sets, goal, limits);
        self.newton.restore_best(&sets);
        bound
    }
}

impl Relaxation for NewtonRows {
    fn prepare(&mut self, problem: &Problem, node: &Subproblem, warm: Option<&WarmStart>) {
        self.work
            .change(problem, warm.and_then(|warm| warm.lift.clone()));
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
        let tolerance = (NODE_TOLERANCE * (task.scale - task.low)).max(FLOOR * task.scale);
        let goal = Goal {
            cut: task.cut,
            tolerance,
            tight: tolerance.min(0.3e-9 * task.scale),
        };
        let bound = self.run(problem, &task.node, &goal, task.limits);
        let exit = if bound.value() > task.cut {
            Exit::Quit
        } else if task.limits.stop() {
            Exit::Stopped
        } else {
            Exit::Converged
        };
        (bound, exit)
    }

    /// Lifts the ridge of what is left of a node that was solved, when that promises to pay.
    fn tighten(&mut self, problem: &Problem, task: &Task) -> bool {
        let node = &task.node;
        let alive = node.included.len() + node.free.len() + problem.unpenalised.columns().len();
        if alive >= problem.rows() || alive * problem.rows() > LARGEST || !problem.loss.can_lift() {
            return false;
        }
        let before = self.work.lift.clone();
        if !self.ideas.lifting || (before.is_some() && !self.ideas.reframing) {
            return false;
        }
        let width = self.expected_width(problem, alive, task.scale - task.low);
        let widest = before.as_ref().map_or(WIDEST, |lift| RELIFT * lift.width);
        if width.is_nan() || width > widest {
            return false;
        }
        if before.is_some() {
            // The region is centred at a point of the problem without a lift.
            self.change(problem, node, None);
            let tolerance = NODE_TOLERANCE * (task.scale - task.low);
            let goal = Goal {
                cut: f64::INFINITY,
                tolerance,
                tight: tolerance,
            };
            self.run(problem, node, &goal, task.limits);
        }
        let sets = self.sets(problem, node);
        let mut weights = self.newton.gains(&sets);
        if !self.ideas.spreading {
            weights.clear();
        }
        for (weight, j) in weights.iter_mut().zip(node.free) {
            *weight /= self.work.scale[*j] * self.work.scale[*j];
        }
        let work = &mut self.work;
        work.point.dots(problem, node);
        let bound = work.point.bound(problem, node, &mut work.scratch).value();
        let columns: Vec<usize> = node
            .columns()
            .chain(problem.unpenalised.columns().iter().copied())
            .collect();
        let centre = Centre {
            alpha: &work.point.alpha,
            z: &work.kept_z,
            error: work.kept_error,
            gap: (task.scale - bound) * (1.0 + 1e-9),
        };
        let region = Region::find(problem, &columns, &centre, task.limits);
        let region = region.map(|region| match &before {
            Some(lift) => region.within(&lift.region, problem),
            None => region,
        });
        let lift = region.and_then(|region| {
            Lift::new(
                problem,
                node,
                region,
                &weights,
                task.scale,
                width,
                task.limits,
            )
        });
        let Some(lift) = lift else {
            self.change(problem, node, before);
            return false;
        };
        self.change(problem, node, Some(Arc::new(lift)));
        true
    }

    fn candidate(&self, problem: &Problem, k: usize) -> Vec<usize> {
        let x = &self.newton.x;
        largest(problem.selectable.iter().map(|j| (*j, x[*j].abs())), k)
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

    fn branch(&mut self, problem: &Problem, node: &Subproblem, gap: f64) -> usize {
        let sets = self.sets(problem, node);
        let mut model = RowModel {
            problem,
            work: &mut self.work,
            limits: &Limits::none(),
        };
        let (x, u) = (&self.newton.x, &self.newton.best_u);
        if !self.ideas.gains {
            return branching::steepest(&sets, x, u);
        }
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
            lift: self.work.lift.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss;
    use crate::problem::Design;
    use crate::restricted::Restricted;
    use crate::settings::Settings;

    /// A small problem with more rows than columns; the draws are the same everywhere.
    fn problem(seed: u64, word: &str) -> Problem {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut uniform = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let (d, n) = (3 + (seed % 5) as usize, 20 + (seed % 41) as usize);
        let mut values = Vec::new();
        for _ in 0..d {
            let scale = 10f64.powf(2.0 * uniform() - 1.0);
            values.extend((0..n).map(|_| scale * (uniform() + uniform() + uniform() - 1.5)));
        }
        let signal: Vec<f64> = (0..n)
            .map(|i| values[i] - values[n + i] + uniform() - 0.5)
            .collect();
        let labels = word != "huber";
        let response = |(i, s): (usize, &f64)| match labels {
            true => f64::from(2 * i8::from(*s > 0.2 * ((i * 7) % 5) as f64) - 1),
            false => *s + if i % 9 == 0 { 4.0 } else { 0.3 },
        };
        let b: Vec<f64> = signal.iter().enumerate().map(response).collect();
        let design = Design::dense(n, d, values).unwrap();
        let mut builder = Problem::builder(design, b)
            .loss(loss::by_name(word, 1.0).unwrap())
            .ridge(10f64.powi(-1 - (seed % 4) as i32))
            .k(1 + (seed % 2) as usize)
            .intercept(seed.is_multiple_of(3));
        if seed % 4 == 1 {
            builder = builder.offset((0..n).map(|i| 0.1 * (i % 3) as f64).collect());
        }
        if seed % 5 == 2 {
            builder = builder.weights((0..n).map(|i| 1.0 + (i % 4) as f64).collect());
        }
        builder.build().unwrap()
    }

    /// A support, its minimum and its coefficients.
    type Model = (Vec<usize>, f64, Vec<(usize, f64)>);

    /// Every support of at most k features.
    fn models(problem: &Problem) -> Vec<Model> {
        let mut restricted = Restricted::new(problem);
        let d = problem.selectable.len();
        let mut found = Vec::new();
        for bits in 0u32..1 << d {
            if bits.count_ones() as usize <= problem.k {
                let support: Vec<usize> = (0..d).filter(|j| bits >> j & 1 == 1).collect();
                let fit = restricted.fit(&support);
                found.push((support, fit.objective, fit.x));
            }
        }
        found
    }

    /// The root of a problem, solved and then lifted for a reference that some models are better than.
    #[test]
    fn better_models_are_in_the_region_and_above_the_lifted_bounds() {
        let mut lifts = 0;
        for seed in 0..400 {
            let word = ["logistic", "huber", "squared-hinge"][seed as usize % 3];
            let problem = problem(seed, word);
            let models = models(&problem);
            let mut values: Vec<f64> = models.iter().map(|(_, value, _)| *value).collect();
            values.sort_unstable_by(f64::total_cmp);
            let optimum = values[0];
            let reference = values[(seed as usize / 3) % values.len().min(6)] * (1.0 + 1e-9);
            let limits = Limits::new(&Settings::default());
            let mut task = Task {
                node: Subproblem {
                    included: &problem.penalised,
                    free: &problem.selectable,
                    budget: problem.support_size(),
                },
                cut: f64::INFINITY,
                scale: reference,
                low: 0.0,
                limits: &limits,
            };
            let mut rows = NewtonRows::new(&problem, Ideas::default());
            rows.prepare(&problem, &task.node, None);
            let (plain, _) = rows.solve(&problem, &task);
            task.low = plain.value().min(reference);
            if !rows.tighten(&problem, &task) {
                continue;
            }
            lifts += 1;
            let region = rows.work.lift.as_ref().unwrap().region.clone();
            for (support, value, x) in models.iter().filter(|(_, value, _)| *value < reference) {
                // The model, and the ways from it to where it is as bad as the reference.
                for way in 0..=2 * x.len() {
                    let mut moved = x.clone();
                    let mut step = 1e6;
                    while way > 0 && step > 1e-9 {
                        let sign = if way % 2 == 0 { step } else { -step };
                        let mut further = moved.clone();
                        further[(way - 1) / 2].1 += sign;
                        if problem.objective(&further) < reference {
                            moved = further;
                        } else {
                            step *= 0.5;
                        }
                    }
                    let mut z = vec![0.0; problem.rows()];
                    problem.predict_into(&moved, &mut z);
                    for (i, z) in z.iter().enumerate() {
                        assert!(
                            (region.low[i]..=region.high[i]).contains(z),
                            "{word} {seed}: row {i} of {support:?} at {value} is at {z}"
                        );
                    }
                }
            }
            let (lifted, _) = rows.solve(&problem, &task);
            let room = 1e-12 * reference;
            assert!(
                lifted.value() <= optimum.min(reference) + room,
                "{word} {seed}"
            );
            let children = rows.children(&problem, &task.node);
            for (j, inside, bound) in &children.other_side {
                // The other side of a feature in `top` is the child without it.
                let side = models.iter().filter(|(s, _, _)| s.contains(j) != *inside);
                let best = side
                    .map(|(_, value, _)| *value)
                    .fold(f64::INFINITY, f64::min);
                assert!(
                    bound.value() <= best.min(reference) + room,
                    "{word} {seed} {j}"
                );
            }
        }
        assert!(lifts > 100, "{lifts} lifts");
    }
}
