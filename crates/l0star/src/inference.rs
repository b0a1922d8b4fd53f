//! Inference for a model whose features are taken as given: the fit without the ridge, and standard errors.
//!
//! With `A` the columns of the model, `p` the weights as shares, `h` the curvatures of the loss at the model and `Λ` the ridge,
//!
//! ```text
//! G = Aᵀ diag(p h) A        V = (G + Λ)⁻¹ M (G + Λ)⁻¹ / n
//! ```
//!
//! is the covariance of the coefficients. `M = σ² G` for the quadratic loss (σ² from the residuals) and the gamma loss
//! (σ² from the relative residuals, and h its expectation 1). `M = G` for the logistic, Poisson, Cox and multinomial
//! losses; for the last two, G is the Hessian that couples rows. For Huber's loss, M is the mean of `ψ² a aᵀ` (a
//! sandwich). Weights are relative: only their ratios matter. Without a ridge these are the standard errors of every
//! textbook.
//!
//! Several responses share their columns and nothing else, so each has the standard errors that it would have by
//! itself. Of classes only differences matter, so G is 0 in the direction in which all coefficients of a feature
//! change alike. Coefficients that add up to 0 have no component in that direction. Anything may therefore be added to
//! G there, and `κ 11ᵀ` makes it regular.

use crate::linalg::cholesky::{Cholesky, mirror_up};
use crate::linalg::kernels;
use crate::loss::ResponseKind;
use crate::problem::Problem;
use crate::restricted::Restricted;
use crate::settings::Solution;

/// A column whose pivot is below this share of its diagonal counts as a combination of others.
const DEPENDENT: f64 = 1e-11;
/// Ridge that stands in for none until the bounds that a model meets are known, as a share of the squares of a column.
const TINY: f64 = 1e-10;
/// Predictions that change by no more than this share count as unchanged.
const CLOSE: f64 = 1e-9;
const MAX_ITERATIONS: usize = 60;

/// Reason why a model has no coefficients without the ridge, or no standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undetermined {
    /// The columns are linearly dependent: many coefficients give the same predictions.
    Dependent,
    /// The labels can be separated without error, so that coefficients grow without limit.
    Separated,
    /// Some coefficients grow without limit, such as that of an indicator whose rows all have a count of 0.
    Endless,
    /// There are no more rows than coefficients.
    FewRows,
    /// The loss is not a likelihood, nor a robust stand-in for one.
    NoLikelihood,
}

/// Standard errors of the coefficients of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Errors {
    /// The columns of the model, in order; with several responses or classes, those of each of them.
    pub columns: Vec<usize>,
    /// Standard errors of these columns, on the data's own scale; `None` for a coefficient at one of its bounds.
    pub errors: Vec<Option<f64>>,
    /// Standard error of the intercept of each response or class; empty if there are no intercepts.
    pub intercepts: Vec<f64>,
    /// Degrees of freedom of Student's distribution; `None` for the normal one. With several responses, those of the
    /// response with most coefficients off their bounds.
    pub freedom: Option<usize>,
}

/// Refits the model of a solution without the ridge. Returns its coefficients, numbered like the solution's, and the
/// intercept of each response or class.
///
/// Bounds on coefficients are respected. The objective and bound of the solution remain those of the problem with its
/// ridge.
pub fn refit(problem: &Problem, solution: &Solution) -> Result<(Vec<f64>, Vec<f64>), Undetermined> {
    let mut local = Local::new(problem, solution);
    if problem.is_boxed() {
        local.meet_bounds(&solution.support);
    }
    let mut z = local.predictions();
    let mut value = local.loss(&z);
    for _ in 0..MAX_ITERATIONS {
        let step = local.newton_step(&z).ok_or_else(|| local.flat())?;
        let mut dz = vec![0.0; z.len()];
        let moved = local.free.iter().zip(&step);
        let moved = moved.map(|(at, d)| (local.columns[*at], -d));
        problem.design.add_columns(moved, &mut dz);
        let size = z.iter().fold(1.0f64, |most, z| most.max(z.abs()));
        let change = dz.iter().fold(0.0f64, |most, d| most.max(d.abs()));
        if change <= CLOSE * size * 1e-3 {
            return Ok(local.outward());
        }
        let mut length = 1.0;
        loop {
            let next: Vec<f64> = z.iter().zip(&dz).map(|(z, d)| z + length * d).collect();
            let found = local.loss(&next);
            // Near the minimum the loss does not show a step that is still worth taking.
            if found <= value || change * length <= CLOSE * size {
                (z, value) = (next, found);
                break;
            }
            length *= 0.5;
        }
        for (at, d) in local.free.clone().into_iter().zip(&step) {
            local.x[at] -= length * d;
        }
        if !local.is_within_bounds() {
            // The active bounds were found with next to no ridge; the rest is rounding.
            for (at, d) in local.free.clone().into_iter().zip(&step) {
                local.x[at] += length * d;
            }
            return Ok(local.outward());
        }
        if change <= CLOSE * size {
            return Ok(local.outward());
        }
    }
    Err(match problem.loss.response() {
        ResponseKind::Label | ResponseKind::Class => Undetermined::Separated,
        ResponseKind::Count | ResponseKind::Time => Undetermined::Endless,
        ResponseKind::Real | ResponseKind::Positive => Undetermined::Dependent,
    })
}

/// Returns the standard errors of the coefficients of a solution, its features taken as given.
///
/// `has_ridge` says whether the coefficients are those with the ridge, or those of [`refit`].
pub fn standard_errors(
    problem: &Problem,
    solution: &Solution,
    has_ridge: bool,
) -> Result<Errors, Undetermined> {
    let loss = &*problem.loss;
    if !loss.is_likelihood() {
        return Err(Undetermined::NoLikelihood);
    }
    let local = Local::new(problem, solution);
    let (n, count) = (problem.observations() as usize, local.free.len());
    let blocks: Vec<usize> = local
        .free
        .iter()
        .map(|at| problem.block(local.columns[*at]))
        .collect();
    // The largest number of coefficients of any response.
    let most = (0..problem.outputs())
        .map(|r| blocks.iter().filter(|own| **own == r).count())
        .max()
        .unwrap_or(0);
    if n <= most {
        return Err(Undetermined::FewRows);
    }
    let z = local.predictions();
    let mut curved = match loss.response() {
        // The expected curvatures are 1.
        ResponseKind::Positive => local.gram(&problem.p),
        _ => local.curved(&z),
    };
    let is_information = loss.is_quadratic() || loss.has_log_odds() || loss.has_log_link();
    let spread = if is_information || problem.joint().is_some() {
        curved.clone()
    } else {
        let squares = z.iter().zip(&problem.b).zip(&problem.p);
        let n = n as f64;
        // Σ p² ψ² a aᵀ, as a mean over rows, with the usual correction for small samples.
        let squares = squares.map(|((z, b), p)| n * (p * loss.slope(*z, *b)).powi(2));
        let squares: Vec<f64> = squares.collect();
        let mut spread = local.gram(&squares);
        let correction = n / (n - most as f64);
        spread.iter_mut().for_each(|entry| *entry *= correction);
        spread
    };
    if has_ridge {
        for (c, at) in local.free.iter().enumerate() {
            curved[c * count + c] += problem.ridge[local.columns[*at]];
        }
    }
    local.fill_gauge(&mut curved);
    let inverse = invert(curved, count).ok_or_else(|| local.flat())?;
    let product = multiply(&multiply(&inverse, &spread, count), &inverse, count);
    let has_dispersion = loss.is_quadratic() || loss.response() == ResponseKind::Positive;
    let rows = problem.rows() / problem.outputs();
    // 1/n, or σ²/n with the σ² of each response.
    let scale = |output: usize| {
        if !has_dispersion {
            return 1.0 / n as f64;
        }
        // Residuals of the quadratic loss, relative ones of the gamma loss.
        let own = output * rows..(output + 1) * rows;
        let residual = |i: usize| loss.slope(z[i], problem.b[i]);
        let squares = own.map(|i| problem.p[i] * residual(i).powi(2));
        squares.sum::<f64>() / (n - most) as f64
    };
    let scales: Vec<f64> = (0..problem.outputs()).map(scale).collect();
    let error = |output: usize, row: &[f64]| {
        let mut sum = 0.0;
        for r in 0..count {
            sum += row[r] * kernels::dot(&product[r * count..(r + 1) * count], row);
        }
        (sum.max(0.0) * scales[output]).sqrt()
    };
    let jacobian = local.jacobian();
    let own = local.columns.iter().zip(&jacobian);
    let (columns, errors) = own
        .filter(|(j, _)| **j < problem.columns())
        .map(|(j, row)| (*j, row.as_deref().map(|row| error(problem.block(*j), row))))
        .unzip();
    let intercepts = local.intercepts().into_iter().enumerate();
    let intercepts = intercepts.map(|(output, row)| error(output, &row));
    Ok(Errors {
        columns,
        errors,
        intercepts: intercepts.collect(),
        freedom: match loss.response() {
            ResponseKind::Real | ResponseKind::Positive => Some(n - most),
            _ => None,
        },
    })
}

/// A model in the engine's internal coefficients.
struct Local<'p> {
    problem: &'p Problem,
    /// Columns of the model in order, followed by those of the intercepts.
    columns: Vec<usize>,
    x: Vec<f64>,
    /// Positions in `columns` of the coefficients that are not at a bound.
    free: Vec<usize>,
}

impl<'p> Local<'p> {
    fn new(problem: &'p Problem, solution: &Solution) -> Self {
        let outputs = 0..problem.outputs();
        let copies = |r: usize| {
            solution
                .support
                .iter()
                .map(move |j| r * problem.features() + j)
        };
        let mut columns: Vec<usize> = outputs.flat_map(copies).collect();
        columns.extend_from_slice(&problem.penalised);
        columns.extend_from_slice(problem.unpenalised.columns());
        columns.sort_unstable();
        columns.dedup();
        let own = |j: &usize| Some((*j, *solution.coefficients.get(*j)?));
        let mut data: Vec<(usize, f64)> = columns.iter().filter_map(own).collect();
        let held = |(j, x): &(usize, f64)| {
            let (low, high) = problem.bounds(*j);
            x <= &low || x >= &high
        };
        // Columns that are not coefficients are intercepts.
        let free = (0..columns.len()).filter(|at| !data.get(*at).is_some_and(held));
        let free = free.collect();
        if problem.has_intercept {
            let intercepts = solution.intercepts().enumerate();
            data.extend(intercepts.map(|(r, x)| (problem.columns() + r, x)));
        }
        let inner = problem.inward(&data);
        let value = |j: &usize| {
            let found = inner.iter().find(|(own, _)| own == j);
            found.map_or(0.0, |(_, x)| *x)
        };
        Self {
            problem,
            x: columns.iter().map(value).collect(),
            columns,
            free,
        }
    }

    /// Finds the bounds that the model meets with next to no ridge.
    fn meet_bounds(&mut self, support: &[usize]) {
        let mut problem = self.problem.clone();
        let rows = problem.rows() as f64;
        for j in &self.columns {
            if problem.ridge[*j] > 0.0 {
                problem.ridge[*j] = TINY * problem.norms[*j].powi(2) / rows;
            }
        }
        let leaders = problem.selectable.iter().copied();
        let leaders: Vec<usize> = leaders.filter(|j| support.contains(j)).collect();
        let fit = Restricted::new(&problem).fit(&leaders);
        for (at, j) in self.columns.iter().enumerate() {
            let found = fit.x.iter().find(|(own, _)| own == j);
            self.x[at] = found.map_or(0.0, |(_, x)| *x);
        }
        let is_free = |at: &usize| {
            let (low, high) = problem.range(self.columns[*at]);
            self.x[*at] > low && self.x[*at] < high
        };
        self.free = (0..self.columns.len()).filter(is_free).collect();
    }

    fn is_within_bounds(&self) -> bool {
        let mut all = self.columns.iter().zip(&self.x);
        all.all(|(j, x)| {
            let (low, high) = self.problem.range(*j);
            (low..=high).contains(x)
        })
    }

    fn predictions(&self) -> Vec<f64> {
        let x = self.columns.iter().copied().zip(self.x.iter().copied());
        let x: Vec<(usize, f64)> = x.collect();
        let mut z = vec![0.0; self.problem.rows()];
        self.problem.predict_into(&x, &mut z);
        z
    }

    fn loss(&self, z: &[f64]) -> f64 {
        self.problem.loss_of(z)
    }

    /// `Aᵀ ∇²L(z) A` over the free columns, as a full square matrix.
    fn curved(&self, z: &[f64]) -> Vec<f64> {
        let mut curvatures = vec![0.0; z.len()];
        self.problem.curvatures_of(z, &mut curvatures);
        let mut gram = self.gram(&curvatures);
        let columns: Vec<usize> = self.free.iter().map(|at| self.columns[*at]).collect();
        self.problem.couple_gram(&columns, z, &mut gram);
        mirror_up(&mut gram, columns.len());
        gram
    }

    /// `Aᵀ diag(w) A` over the free columns, as a full square matrix.
    fn gram(&self, w: &[f64]) -> Vec<f64> {
        let columns: Vec<usize> = self.free.iter().map(|at| self.columns[*at]).collect();
        let count = columns.len();
        let mut gram = vec![0.0; count * count];
        let mut column = vec![0.0; w.len()];
        for (c, j) in columns.iter().enumerate() {
            self.problem.design.column_into(*j, &mut column);
            column.iter_mut().zip(w).for_each(|(a, w)| *a *= w);
            let row = &mut gram[c * count..(c + 1) * count];
            self.problem.design.dots(&columns, &column, row);
        }
        gram
    }

    /// Returns `H⁻¹ g` over the free columns, without the ridge.
    fn newton_step(&self, z: &[f64]) -> Option<Vec<f64>> {
        let (mut alpha, mut beta) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        self.problem.slopes_of(z, &mut alpha, &mut beta);
        let columns: Vec<usize> = self.free.iter().map(|at| self.columns[*at]).collect();
        let mut gradient = vec![0.0; columns.len()];
        self.problem.design.dots(&columns, &beta, &mut gradient);
        let mut hessian = self.curved(z);
        self.fill_gauge(&mut hessian);
        factor(hessian, columns.len())?.solve(&mut gradient);
        Some(gradient)
    }

    /// Adds `κ 11ᵀ` to the block of each feature if the loss has classes: κ gives this direction the mean curvature of
    /// the feature's coefficients.
    fn fill_gauge(&self, square: &mut [f64]) {
        let Some(classes) = self.problem.loss.classes() else {
            return;
        };
        let size = self.free.len();
        let feature = |place: usize| {
            let column = self.columns[self.free[place]];
            (column < self.problem.columns()).then(|| self.problem.origin(column).0)
        };
        for r in 0..size {
            let Some(own) = feature(r) else { continue };
            let alike: Vec<usize> = (0..size).filter(|c| feature(*c) == Some(own)).collect();
            // Once per feature, from its first coefficient.
            if alike[0] != r {
                continue;
            }
            let trace: f64 = alike.iter().map(|c| square[c * size + c]).sum();
            let kappa = trace / (classes * classes) as f64;
            for row in &alike {
                alike.iter().for_each(|c| square[row * size + c] += kappa);
            }
        }
    }

    /// Reason why a Hessian is singular: the columns are dependent, or rows have no curvature left.
    fn flat(&self) -> Undetermined {
        let is_class = self.problem.loss.classes().is_some();
        if is_class && factor(self.gram(&self.problem.p), self.free.len()).is_some() {
            Undetermined::Separated
        } else {
            Undetermined::Dependent
        }
    }

    /// Returns the coefficients and intercepts on the scale of the data.
    fn outward(&self) -> (Vec<f64>, Vec<f64>) {
        let x = self.columns.iter().copied().zip(self.x.iter().copied());
        let x: Vec<(usize, f64)> = x.collect();
        self.problem.outward(&x)
    }

    /// Derivatives of each coefficient of the data by the engine's free ones; `None` for a coefficient that is not free.
    fn jacobian(&self) -> Vec<Option<Vec<f64>>> {
        let problem = self.problem;
        let place = |at: usize| self.free.iter().position(|free| *free == at);
        let row = |(at, j): (usize, &usize)| {
            let mut row = vec![0.0; self.free.len()];
            row[place(at)?] = 1.0 / problem.scale(*j);
            Some(row)
        };
        self.columns.iter().enumerate().map(row).collect()
    }

    /// Derivatives of the intercept of each response or class by the free coefficients.
    fn intercepts(&self) -> Vec<Vec<f64>> {
        let problem = self.problem;
        if !problem.has_intercept {
            return Vec::new();
        }
        let row = |output: usize| -> Vec<f64> {
            let entry = |free: &usize| {
                let j = self.columns[*free];
                if problem.block(j) != output {
                    0.0
                } else if j < problem.columns() {
                    -problem.moved(problem.origin(j).0) / problem.scale(j)
                } else {
                    1.0 / problem.scale(j)
                }
            };
            self.free.iter().map(entry).collect()
        };
        let mut rows: Vec<Vec<f64>> = (0..problem.outputs()).map(row).collect();
        if problem.loss.classes().is_some() {
            // The intercepts of classes are centred.
            for place in 0..self.free.len() {
                let sum: f64 = rows.iter().map(|row| row[place]).sum();
                let mean = sum / rows.len() as f64;
                rows.iter_mut().for_each(|row| row[place] -= mean);
            }
        }
        rows
    }
}

/// Factorises a square matrix; returns `None` if its columns are dependent.
fn factor(square: Vec<f64>, size: usize) -> Option<Cholesky> {
    let mut factor = Cholesky::new();
    factor.start(size).copy_from_slice(&square);
    if !factor.factor() {
        return None;
    }
    let is_new = |i: usize| {
        let (pivot, diagonal) = (factor.rows()[i * size + i], square[i * size + i]);
        pivot * pivot > DEPENDENT * diagonal
    };
    (0..size).all(is_new).then_some(factor)
}

fn invert(square: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    Some(factor(square, size)?.inverse())
}

/// Product of two square matrices, the second of them symmetric.
fn multiply(one: &[f64], other: &[f64], size: usize) -> Vec<f64> {
    let mut product = vec![0.0; size * size];
    for r in 0..size {
        for c in 0..size {
            let (row, column) = (&one[r * size..][..size], &other[c * size..][..size]);
            product[r * size + c] = kernels::dot(row, column);
        }
    }
    product
}

#[cfg(test)]
mod tests;
