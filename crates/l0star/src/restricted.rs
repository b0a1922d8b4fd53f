//! The restricted minimiser: `argmin P(x)` over a given support, to the floating-point floor.
//!
//! It uses Newton's method with an exact line search. For the quadratic loss the Hessian is constant: one Cholesky
//! factorisation gives the minimum, and a second solve with the same factor polishes away its rounding. Where
//! coefficients have bounds, a step is the minimum of the same quadratic within them (`boxed`).

mod boxed;
mod certificate;
mod empty;
mod gram;

use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::problem::Problem;

use self::gram::Gram;

/// Predicted decrease and duality gap, relative to P, at which the minimum is reached.
const TOLERANCE: f64 = 1e-17;
/// Predicted decrease, relative to P, that is too small to show in the evaluation of P.
const POLISH: f64 = 1e-13;
const MAX_ITERATIONS: usize = 200;
/// A fit is abandoned when even this many times the predicted decrease of a step would not be enough.
const HOPE: f64 = 4.0;

/// A model on a support.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// (column, coefficient), always-in and unpenalised columns included. Coefficients are on the engine's scale: where
    /// columns are standardised, they belong to the standardised ones.
    pub x: Vec<(usize, f64)>,
    /// P(x) plus the prices of the support.
    pub objective: f64,
}

/// Fits supports of one problem, one after the other, and caches what they share.
#[derive(Debug)]
pub struct Restricted<'p> {
    problem: &'p Problem,
    gram: Gram,
    columns: Vec<usize>,
    x: Vec<f64>,
    z: Vec<f64>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    curvature: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    dz: Vec<f64>,
    buffer: Vec<f64>,
    factor: Cholesky,
    /// Used only where coefficients have bounds: the bounds, the Hessian, and the point that a whole step leads to.
    bounds: Vec<(f64, f64)>,
    hessian: Vec<f64>,
    target: Vec<f64>,
    limits: Limits,
    /// P of the last fit, without prices.
    objective: f64,
    /// Total price of the support fitted last.
    cost: f64,
    /// Number of prices in that total.
    priced: usize,
    /// Approximate number of multiplications of all fits.
    work: u64,
}

impl<'p> Restricted<'p> {
    /// Creates a minimiser for one problem.
    pub fn new(problem: &'p Problem) -> Self {
        let n = problem.rows();
        Self {
            problem,
            gram: Gram::new(problem),
            columns: Vec::new(),
            x: Vec::new(),
            z: vec![0.0; n],
            alpha: vec![0.0; n],
            beta: vec![0.0; n],
            curvature: vec![0.0; n],
            gradient: Vec::new(),
            direction: Vec::new(),
            dz: vec![0.0; n],
            buffer: Vec::new(),
            factor: Cholesky::new(),
            bounds: Vec::new(),
            hessian: Vec::new(),
            target: Vec::new(),
            limits: Limits::none(),
            objective: f64::INFINITY,
            cost: 0.0,
            priced: 0,
            work: 0,
        }
    }

    /// Approximate number of multiplications of all fits.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// Sets limits; once one is reached, nothing is computed that would only serve later fits.
    pub(crate) fn within(self, limits: &Limits) -> Self {
        Self {
            limits: limits.clone(),
            ..self
        }
    }

    /// Returns the minimum of P over x that vanish outside the features of `support` and the always-in columns.
    pub fn fit(&mut self, support: &[usize]) -> Fit {
        self.fit_unless_above(support, f64::INFINITY)
    }

    /// Runs [`Restricted::fit`] from a model (column, coefficient) that is thought to be close. The model is ignored
    /// where coefficients have bounds.
    pub(crate) fn fit_from(&mut self, support: &[usize], start: &[(usize, f64)]) -> Fit {
        self.begin(support);
        for (j, x) in start.iter().filter(|_| !self.problem.is_boxed()) {
            if let Some(at) = self.columns.iter().position(|column| column == j) {
                self.x[at] = *x;
            }
        }
        self.descend(f64::INFINITY)
    }

    /// Runs [`Restricted::fit`], but gives up when the minimum appears to be above `cut`.
    pub(crate) fn fit_unless_above(&mut self, support: &[usize], cut: f64) -> Fit {
        self.begin(support);
        self.descend(cut - self.cost)
    }

    /// Sets up the columns of a support and the starting point.
    fn begin(&mut self, support: &[usize]) {
        let problem = self.problem;
        self.columns.clear();
        self.columns.extend_from_slice(&problem.penalised);
        problem.expand_into(support, &mut self.columns);
        self.cost = problem.cost(support);
        self.priced = support.len() + problem.included.len();
        self.columns
            .extend_from_slice(problem.unpenalised.columns());
        let size = self.columns.len();
        if problem.is_boxed() {
            let bounds = self.columns.iter().map(|j| problem.range(*j));
            self.bounds.clear();
            self.bounds.extend(bounds);
        }
        self.x.clear();
        self.x.resize(size, 0.0);
        if let (Some(x), true) = (self.x.last_mut(), problem.first_intercept != 0.0) {
            // In that case the intercept is the only column without a ridge.
            *x = problem.first_intercept;
        }
        self.direction.resize(size, 0.0);
        self.gradient.resize(size, 0.0);
    }

    /// Runs Newton's method from x.
    fn descend(&mut self, cut: f64) -> Fit {
        let problem = self.problem;
        let (size, boxed) = (self.columns.len(), problem.is_boxed());
        let quadratic = problem.loss.is_quadratic();
        let mut value = self.evaluate();
        let mut factored = false;
        let mut gap = self.duality_gap();
        let mut kept = Vec::new();
        for iteration in 0..MAX_ITERATIONS {
            if size == 0 {
                break;
            }
            let floor = TOLERANCE * value.abs();
            // No step can decrease P by more than the gap.
            if factored && gap <= floor && problem.unpenalised.columns().is_empty() {
                break;
            }
            if !(quadratic && factored) {
                self.factor_hessian(quadratic);
                factored = true;
            }
            let decrease = if boxed {
                self.bounded_direction()
            } else {
                self.direction.clone_from(&self.gradient);
                self.factor.solve(&mut self.direction);
                0.5 * kernels::dot(&self.direction, &self.gradient)
            };
            // The first steps are long, so that their predictions say little.
            let hopeless = iteration > 1 && value - HOPE * decrease > cut;
            if !decrease.is_finite() || hopeless {
                break;
            }
            // The decrease is measured in the curvature, the gap in the ridge: both have to reach their floor.
            if decrease <= floor && gap <= floor && self.free_gradient() == 0.0 || decrease == 0.0 {
                break;
            }
            // Below the rounding of P itself, a step is judged by the gap alone.
            let polish = decrease <= POLISH * value.abs();
            let (before, gap_before, free_before) = (value, gap, self.free_gradient());
            let step = if quadratic || polish {
                1.0
            } else {
                self.line_search(before, decrease)
            };
            kept.clone_from(&self.x);
            if boxed && step >= 1.0 {
                // Copied exactly, so that bounds are met and not missed by rounding.
                self.x.clone_from(&self.target);
            } else {
                self.x
                    .iter_mut()
                    .zip(&self.direction)
                    .for_each(|(x, d)| *x -= step * d);
            }
            value = self.evaluate();
            gap = self.duality_gap();
            // Unpenalised columns have no share in the gap; for them the gradient itself has to fall.
            let closer = gap < 0.9 * gap_before
                || (gap <= gap_before && self.free_gradient() <= 0.5 * free_before);
            let better = if polish {
                closer
            } else {
                value < before || (value == before && closer)
            };
            if !better {
                std::mem::swap(&mut self.x, &mut kept);
                value = self.evaluate();
                break;
            }
        }
        self.objective = value;
        Fit {
            x: self.model().collect(),
            objective: value + self.cost,
        }
    }

    /// Returns the model fitted last: (column, coefficient).
    fn model(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.columns.iter().copied().zip(self.x.iter().copied())
    }

    /// Returns `∇L` at the model fitted last: `-a_jᵀβ` for a column outside it is the gradient entry.
    pub(crate) fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// Computes z, α, β and the gradient at x; returns P(x).
    fn evaluate(&mut self) -> f64 {
        let problem = self.problem;
        self.work += 2 * (problem.rows() * self.columns.len()) as u64;
        if problem.offset.is_empty() {
            self.z.fill(0.0);
        } else {
            self.z.copy_from_slice(&problem.offset);
        }
        let x = self.columns.iter().copied().zip(self.x.iter().copied());
        problem.design.add_columns(x, &mut self.z);
        problem.slopes_of(&self.z, &mut self.alpha, &mut self.beta);
        problem
            .design
            .dots(&self.columns, &self.beta, &mut self.gradient);
        let mut penalty = 0.0;
        for ((g, x), j) in self.gradient.iter_mut().zip(&self.x).zip(&self.columns) {
            *g += problem.ridge[*j] * x;
            penalty += 0.5 * problem.ridge[*j] * x * x;
        }
        problem.loss_of(&self.z) + penalty
    }

    /// Returns `P(x) - D(β) = Σ g_j²/2λ_j` over the penalised columns, for β the slopes at x.
    fn duality_gap(&self) -> f64 {
        let penalised = self.columns.len() - self.problem.unpenalised.columns().len();
        if self.problem.is_boxed() {
            return self.bounded_gap(penalised);
        }
        self.gradient[..penalised]
            .iter()
            .zip(&self.columns)
            .map(|(g, j)| 0.5 * g * g / self.problem.ridge[*j])
            .sum()
    }

    /// Returns the largest gradient entry of an unpenalised column.
    fn free_gradient(&self) -> f64 {
        let penalised = self.columns.len() - self.problem.unpenalised.columns().len();
        let free = &self.gradient[penalised..];
        kernels::largest(free)
    }

    /// Factorises `H = A_Wᵀ ∇²L A_W + diag(λ)`.
    ///
    /// Where rounding makes it indefinite (collinear columns with a tiny ridge), the diagonal grows until it is
    /// definite. The steps become shorter, but the fixed point stays the minimum.
    fn factor_hessian(&mut self, quadratic: bool) {
        let problem = self.problem;
        let size = self.columns.len();
        let cached = quadratic && self.gram.load(problem, &self.columns, &self.limits);
        let of_entry = if cached { size / 3 } else { problem.rows() };
        self.work += (size * (size + 1) / 2 * of_entry) as u64;
        if !quadratic {
            problem.curvatures_of(&self.z, &mut self.curvature);
        }
        let weights = if quadratic {
            &problem.p
        } else {
            &self.curvature
        };
        let mut extra = 0.0;
        loop {
            let rows = self.factor.start(size);
            if !cached {
                let (columns, buffer) = (&self.columns, &mut self.buffer);
                problem
                    .design
                    .weighted_gram(columns, weights, buffer, rows, &|| false);
                problem.couple_gram(columns, &self.z, rows);
            }
            for (r, i) in self.columns.iter().enumerate() {
                if cached {
                    let out = &mut rows[r * size..r * size + r + 1];
                    self.gram.copy_row(*i, &self.columns[..=r], out);
                }
                let diagonal = &mut rows[r * size + r];
                // A column whose rows are all in the linear part (or an unpenalised one there) has no curvature left.
                let floor = 1e-14 * problem.usual_curvature * problem.norms[*i].powi(2)
                    / problem.rows() as f64;
                *diagonal = (*diagonal + problem.ridge[*i]).max(floor).max(1e-300);
                *diagonal *= 1.0 + extra;
            }
            if problem.is_boxed() {
                self.hessian.clear();
                self.hessian.extend_from_slice(rows);
            }
            if self.factor.factor() || extra > 1.0 {
                return;
            }
            extra = if extra == 0.0 { 1e-14 } else { extra * 10.0 };
        }
    }

    /// Returns a step length along `-direction`: 1 where that decreases P enough, else one where the derivative
    /// vanishes.
    fn line_search(&mut self, before: f64, decrease: f64) -> f64 {
        let problem = self.problem;
        self.dz.fill(0.0);
        let back = self.columns.iter().zip(&self.direction);
        let back = back.map(|(j, d)| (*j, -d));
        problem.design.add_columns(back, &mut self.dz);
        let (mut linear, mut curve) = (0.0, 0.0);
        for ((j, x), d) in self.columns.iter().zip(&self.x).zip(&self.direction) {
            linear -= problem.ridge[*j] * x * d;
            curve += problem.ridge[*j] * d * d;
        }
        let slope = |a: f64| problem.slope_along(&self.z, &self.dz, a) + linear + a * curve;
        let value_at_one = {
            let z: Vec<f64> = self.z.iter().zip(&self.dz).map(|(z, d)| z + d).collect();
            let penalty: f64 = self
                .columns
                .iter()
                .zip(self.x.iter().zip(&self.direction))
                .map(|(j, (x, d))| 0.5 * problem.ridge[*j] * (x - d) * (x - d))
                .sum();
            problem.loss_of(&z) + penalty
        };
        // The model predicts a decrease of `decrease`; half of it is a good step. Down an exponential, however, such
        // steps are far too short: one unit of the predictions each.
        if value_at_one <= before - decrease
            && !(problem.is_steep() && slope(1.0) < -0.5 * decrease)
        {
            return 1.0;
        }
        // The derivative increases along the line and is negative at 0: bracket its root, then bisect a few times with
        // the secant. An inexact root is enough.
        let (mut low, mut high) = (0.0, 1.0);
        let (mut slope_low, mut slope_high) = (-2.0 * decrease, slope(1.0));
        while slope_high < 0.0 && high < 1e10 {
            (low, slope_low) = (high, slope_high);
            high *= 4.0;
            slope_high = slope(high);
        }
        for round in 0..200 {
            // A NaN, where numbers leave the range of floats, does not count as rising.
            let is_rising = slope_high > slope_low;
            if !is_rising || high - low <= 1e-16 * high {
                break;
            }
            let secant = low - slope_low * (high - low) / (slope_high - slope_low);
            let middle = if round % 3 == 2 || secant.is_nan() {
                0.5 * (low + high)
            } else {
                secant.clamp(low, high)
            };
            let at = slope(middle);
            if at.is_nan() {
                break;
            }
            if at.abs() <= 1e-3 * decrease {
                return middle;
            }
            if at < 0.0 {
                (low, slope_low) = (middle, at);
            } else {
                (high, slope_high) = (middle, at);
            }
        }
        // Both ends are next to the root; take the one with the smaller derivative.
        if slope_high.abs() <= slope_low.abs() {
            high
        } else {
            low
        }
    }
}
