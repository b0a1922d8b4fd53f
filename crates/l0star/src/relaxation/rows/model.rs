//! The model of a node for Newton's method, plain or lifted, and the certificate of its bounds.

use std::sync::Arc;

use super::lift::Lift;
use super::products::Products;
use crate::bound::{Certified, DualPoint, Subproblem};
use crate::limits::Limits;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;
use crate::problem::Problem;
use crate::relaxation::model::{Model, Sets};

/// The model f(x̃) = L(Ax + o) of a problem, for [`Newton`].
pub(in crate::relaxation) struct RowModel<'a> {
    pub problem: &'a Problem,
    pub work: &'a mut Work,
    pub limits: &'a Limits,
}

/// Buffers of the model, and the dual point to be certified.
#[derive(Debug, Clone, Default)]
pub(in crate::relaxation) struct Work {
    /// Scale of each column: √λ_j, 1 for unpenalised columns; with a lift √(λ_j + μ_j) for its columns.
    pub scale: Vec<f64>,
    /// The lift, and μ_j for its columns (else 0).
    pub lift: Option<Arc<Lift>>,
    pub mu: Vec<f64>,
    /// μ_j x_j at the point evaluated last.
    pulled: Vec<f64>,
    /// `½ Σ μ (x + a d)²` along a line, by powers of a.
    line: [f64; 3],
    z: Vec<f64>,
    /// z, clamped to the region.
    clamped: Vec<f64>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    curvature: Vec<f64>,
    dz: Vec<f64>,
    products: Products,
    moved: Vec<f64>,
    kept: Vec<f64>,
    pub kept_z: Vec<f64>,
    /// Bound on the rounding errors of the entries of `kept_z`.
    pub kept_error: f64,
    pub frame: LiftTerms,
    pub point: DualPoint,
    pub scratch: Vec<f64>,
    /// `max p s ‖A‖²` in scaled coordinates, and its mean diagonal. Without a bound s of the
    /// curvature, the first is `‖A‖²`.
    lipschitz: f64,
    mean: f64,
    smooth: f64,
}

/// Terms of the certificate of a lifted point.
#[derive(Debug, Clone, Default)]
pub(in crate::relaxation) struct LiftTerms {
    pub dual: f64,
    /// Bounds on the error of D, and on what another selection of atoms can add to it.
    pub error: f64,
    pub selection: f64,
    /// Bound on the error of u.
    pub slope: f64,
    /// `max_j N_j/s_j`, `|p|₂`.
    steepest: f64,
    weights: f64,
    /// Sizes of the terms added up at the point evaluated last: `Σ p |value terms|` and `|p slope terms|₂`.
    values: f64,
    slopes: f64,
    /// Rounding of slopes that is not proportional to them.
    noise: f64,
}

/// Returns `(½Σ p s e², |p s|₂ e)` for predictions within e of their computed values, s the largest curvatures there.
fn moved_by(problem: &Problem, z: &[f64], e: f64, weights: f64) -> (f64, f64) {
    let smoothness = problem.loss.smoothness();
    if smoothness < f64::INFINITY {
        return (0.5 * smoothness * e * e, smoothness * e * weights);
    }
    let (mut sum, mut squares) = (0.0, 0.0);
    for ((p, z), b) in problem.p.iter().zip(z).zip(&problem.b) {
        let bent = p * problem.loss.most_curvature(z - e, z + e, *b);
        sum += bent;
        squares += bent * bent;
    }
    (0.5 * sum * e * e, squares.sqrt() * e)
}

impl Work {
    pub(in crate::relaxation) fn new(problem: &Problem, limits: &Limits) -> Self {
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
        let unit = if problem.is_steep() {
            1.0
        } else {
            heaviest * problem.loss.smoothness()
        };
        let unpenalised: f64 = problem
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
        let mean = problem.p.iter().sum::<f64>() / n as f64 * problem.usual_curvature;
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
            products: Products::default(),
            moved: vec![0.0; n],
            kept: vec![0.0; n],
            kept_z: vec![0.0; n],
            kept_error: 0.0,
            frame: LiftTerms::default(),
            point: DualPoint::new(problem),
            scratch: Vec::new(),
            lipschitz: (2.0 * (norm + unpenalised) * unit).max(1e-300),
            mean: mean * sum / columns.len().max(1) as f64,
            smooth: 0.0,
        }
    }

    /// Switches to another lift, or to none. The caller has to rescale x̃.
    pub(in crate::relaxation) fn change(&mut self, problem: &Problem, lift: Option<Arc<Lift>>) {
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

    /// Returns `Σ p l̃(z)` of a lifted problem, and stores z clamped to the region in `clamped`.
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
        let is_steep = problem.is_steep();
        if is_steep && !moved {
            let (values, slopes) = loss.noises(p, &self.clamped, b);
            self.frame.values += values;
            self.frame.noise = slopes;
        }
        if outside {
            for (i, (end, z)) in self.clamped.iter().zip(z).enumerate() {
                let way = z - end;
                if way != 0.0 {
                    let slope = loss.slope(*end, b[i]) * way;
                    let curve = 0.5 * loss.curvature(*end, b[i]) * way * way;
                    total += p[i] * (slope + curve);
                    self.frame.values += p[i] * (slope.abs() + curve);
                    if is_steep {
                        self.frame.values += p[i] * loss.curvature(*end, b[i]) * way.abs();
                    }
                }
            }
        }
        total
    }

    /// Computes the slopes of l̃ at the last point of [`Work::extended`].
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
        self.frame.slopes = kernels::norm(&self.beta) + grown + self.frame.noise;
    }
}

impl RowModel<'_> {
    /// Returns the largest `p l''` at the point evaluated last.
    fn sharpest(&self) -> f64 {
        let (problem, work) = (self.problem, &*self.work);
        let z = match work.lift {
            None => &work.z,
            Some(_) => &work.clamped,
        };
        let mut bends = vec![0.0; z.len()];
        problem.curvatures_of(z, &mut bends);
        bends.into_iter().fold(1e-300, f64::max)
    }
}

impl Model for RowModel<'_> {
    fn size(&self) -> usize {
        self.problem.design.columns()
    }

    fn evaluate(&mut self, x: &[f64], support: &[usize], sets: &Sets, u: &mut [f64]) -> (f64, f64) {
        let (problem, work) = (self.problem, &mut *self.work);
        let design = &problem.design;
        problem.predict_into(&[], &mut work.z);
        let scaled = support.iter().map(|j| (*j, x[*j] / work.scale[*j]));
        design.add_columns(scaled, &mut work.z);
        let lift = work.lift.clone();
        match &lift {
            None => {
                work.smooth = problem.loss_of(&work.z);
                problem.slopes_of(&work.z, &mut work.alpha, &mut work.beta);
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
        problem.curvatures_of(z, &mut work.curvature);
        // Newton checks the limits before it continues from a step that they spoiled.
        let stop = || self.limits.stop();
        let (design, curvature) = (&problem.design, &work.curvature);
        work.products.gram(design, set, curvature, rows, &stop);
        problem.couple_gram(set, z, rows);
        for (r, i) in set.iter().enumerate() {
            let out = &mut rows[r * size..r * size + r + 1];
            for (out, j) in out.iter_mut().zip(set) {
                *out /= work.scale[*i] * work.scale[*j];
            }
            out[r] -= work.mu[*i] / (work.scale[*i] * work.scale[*i]);
        }
    }

    /// Computes `u + Bx` with `Bx = A_Wᵀ ∇²L (z - o) - μx`, from the curvatures that [`Model::hessian`] has left.
    fn right_side(&mut self, u: &[f64], set: &[usize], out: &mut Vec<f64>) {
        let (problem, work) = (self.problem, &mut *self.work);
        let pull = &mut work.moved;
        pull.copy_from_slice(&work.z);
        if !problem.offset.is_empty() {
            kernels::axpy(-1.0, &problem.offset, pull);
        }
        let away = problem.joint().map(|_| pull.clone());
        pull.iter_mut()
            .zip(&work.curvature)
            .for_each(|(z, h)| *z *= h);
        if let Some(away) = away {
            problem.couple_product(&work.z, &away, pull);
        }
        out.resize(set.len(), 0.0);
        problem.design.dots(set, pull, out);
        for (out, j) in out.iter_mut().zip(set) {
            *out = (*out - work.pulled[*j]) / work.scale[*j] + u[*j];
        }
    }

    fn set_direction(&mut self, _u: &[f64], direction: &[(usize, f64)]) {
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
            None => problem.loss_of(&work.moved),
            Some(lift) => {
                let [constant, linear, square] = work.line;
                work.extended(problem, &lift, true) - (constant + a * linear + a * a * square)
            }
        }
    }

    /// Keeps the point evaluated last and, with a lift, bounds the error of D.
    ///
    /// With `|ẑ_i - z_i| ≤ e`, values move by `Σ p|l̃'|e + s e²/2`, every `u_j` by `|a_j|(γ|β| + s e |p|)/s_j`, and
    /// both enter D with `|x̃|₁ + U₁`. The rest is the rounding of the sums.
    fn keep(&mut self, x: &[f64], support: &[usize], u: &[f64], sets: &Sets, dual: f64, top: f64) {
        let (problem, work) = (self.problem, &mut *self.work);
        work.kept.copy_from_slice(&work.alpha);
        work.kept_z.copy_from_slice(&work.z);
        let (n, p) = (problem.rows(), support.len());
        let largest = kernels::largest(&problem.offset);
        let sizes = support
            .iter()
            .map(|j| problem.sizes[*j] * (x[*j] / work.scale[*j]).abs());
        let e = gamma(p + 6) * (sizes.sum::<f64>() + largest);
        work.kept_error = e;
        if work.lift.is_none() {
            return;
        }
        let (curved, turned) = moved_by(problem, &work.clamped, e, work.frame.weights);
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
        let value =
            slopes * e + curved + gamma(n + 24) * frame.values + gamma(p + 8) * 0.5 * lifted;
        let rows = gamma(n + 24) * frame.slopes + turned;
        let slope = frame.steepest * rows + gamma(8) * most + gamma(4) * steepest;
        let inside: f64 = sets.inside.iter().map(|j| u[*j].abs()).sum();
        let squares: f64 = sets.inside.iter().map(|j| u[*j] * u[*j]).sum();
        let terms = sets.inside.len() + sets.budget;
        let first = inside + (sets.budget as f64 * top).sqrt();
        let sums = work.smooth.abs() + lifted + pull + dual.abs() + 0.5 * (squares + top);
        frame.dual = dual;
        frame.slope = slope;
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
        work.point.return_to(problem, &work.kept, &work.kept_z);
        work.point.dots(problem, &node);
        work.point.bound(problem, &node, &mut work.scratch)
    }

    fn mean_curvature(&self) -> f64 {
        self.work.mean
    }

    fn largest_curvature(&self) -> f64 {
        if self.problem.is_steep() {
            self.work.lipschitz * self.sharpest()
        } else {
            self.work.lipschitz
        }
    }

    fn is_steep(&self) -> bool {
        self.problem.is_steep()
    }
}
