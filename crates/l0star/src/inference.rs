//! What the coefficients of a model are worth, its features taken as given: the fit without the ridge, and standard errors.
//!
//! With `A` the columns of the model, `p` the weights as shares, `h` the curvatures of the loss at the model and `Λ` the ridge,
//!
//! ```text
//! G = Aᵀ diag(p h) A        V = (G + Λ)⁻¹ M (G + Λ)⁻¹ / n
//! ```
//!
//! is the covariance of the coefficients. `M = σ² G` for the quadratic loss (σ² from the residuals) and the gamma one (σ² from the
//! relative residuals, and h its expectation 1), `M = G` for the logistic, the Poisson and the Cox loss (whose G is the Hessian that
//! couples rows), and for Huber's the mean of
//! `ψ² a aᵀ` (a sandwich). Weights are relative: only their ratios matter. Without a ridge these are
//! the standard errors of every textbook.

use crate::linalg::cholesky::{Cholesky, mirror_up};
use crate::linalg::kernels;
use crate::loss::ResponseKind;
use crate::problem::Problem;
use crate::restricted::Restricted;
use crate::settings::Solution;

/// A pivot below this share of its diagonal: the column is a combination of others, as far as one can tell.
const DEPENDENT: f64 = 1e-11;
/// What stands in for no ridge until the bounds that a model meets are known, as a share of the squares of a column.
const TINY: f64 = 1e-10;
/// Predictions that change by no more than this are the same.
const CLOSE: f64 = 1e-9;
const MAX_ITERATIONS: usize = 60;

/// Why a model has no coefficients without the ridge, or no standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undetermined {
    /// The columns depend on each other: many coefficients give the same predictions.
    Dependent,
    /// The labels can be told apart without an error, so that coefficients grow without end.
    Separated,
    /// Some coefficients grow without end, as that of an indicator whose rows all have a count of 0.
    Endless,
    /// There are no more rows than coefficients.
    FewRows,
    /// The loss is not a likelihood, nor a robust stand-in for one.
    NoLikelihood,
    /// There are several responses or classes, for which this is not there.
    Several,
}

/// Standard errors of the coefficients of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Errors {
    /// The columns of the model, in order.
    pub columns: Vec<usize>,
    /// Their standard errors, on the data's own scale; none for a coefficient at one of its bounds.
    pub errors: Vec<Option<f64>>,
    /// That of the intercept, if there is one.
    pub intercept: Option<f64>,
    /// Degrees of freedom of Student's distribution; none for the normal one.
    pub freedom: Option<usize>,
}

/// The model of a solution fitted again without the ridge: its coefficients, one for each data column, and the intercept.
///
/// Bounds of coefficients hold. Objective and bound of the solution stay those of the problem with its ridge.
pub fn refit(problem: &Problem, solution: &Solution) -> Result<(Vec<f64>, f64), Undetermined> {
    if problem.outputs() > 1 {
        return Err(Undetermined::Several);
    }
    let mut local = Local::new(problem, solution);
    if problem.is_boxed() {
        local.meet_bounds(&solution.support);
    }
    let mut z = local.predictions();
    let mut value = local.loss(&z);
    for _ in 0..MAX_ITERATIONS {
        let step = local.newton_step(&z).ok_or(Undetermined::Dependent)?;
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
            // The bounds that are met were found with next to no ridge; what is left is rounding.
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

/// The standard errors of the coefficients of a solution, its features taken as given.
///
/// `has_ridge` says whether the coefficients are those with the ridge, or those of [`refit`].
pub fn standard_errors(
    problem: &Problem,
    solution: &Solution,
    has_ridge: bool,
) -> Result<Errors, Undetermined> {
    let loss = &*problem.loss;
    if problem.outputs() > 1 {
        return Err(Undetermined::Several);
    }
    if !loss.is_likelihood() {
        return Err(Undetermined::NoLikelihood);
    }
    let local = Local::new(problem, solution);
    let (n, count) = (problem.observations() as usize, local.free.len());
    if n <= count {
        return Err(Undetermined::FewRows);
    }
    let z = local.predictions();
    let mut curved = match loss.response() {
        // The expectations of the curvatures.
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
        let correction = n / (n - count as f64);
        spread.iter_mut().for_each(|entry| *entry *= correction);
        spread
    };
    if has_ridge {
        for (c, at) in local.free.iter().enumerate() {
            curved[c * count + c] += problem.ridge[local.columns[*at]];
        }
    }
    let inverse = invert(curved, count).ok_or(Undetermined::Dependent)?;
    let product = multiply(&multiply(&inverse, &spread, count), &inverse, count);
    let has_dispersion = loss.is_quadratic() || loss.response() == ResponseKind::Positive;
    let dispersion = if has_dispersion {
        // Residuals of the quadratic loss, relative ones of the gamma loss.
        let residuals = z.iter().zip(&problem.b).map(|(z, b)| loss.slope(*z, *b));
        let squares: f64 = residuals.zip(&problem.p).map(|(r, p)| p * r * r).sum();
        squares * n as f64 / (n - count) as f64
    } else {
        1.0
    };
    let scale = dispersion / n as f64;
    let jacobian = local.jacobian();
    let error = |row: &[f64]| {
        let mut sum = 0.0;
        for r in 0..count {
            sum += row[r] * kernels::dot(&product[r * count..(r + 1) * count], row);
        }
        (sum.max(0.0) * scale).sqrt()
    };
    let own = local.columns.iter().zip(&jacobian);
    let mut found: Vec<(usize, Option<f64>)> = own
        .filter(|(j, _)| **j < problem.columns())
        .map(|(j, row)| (*j, row.as_deref().map(error)))
        .collect();
    found.sort_by_key(|(j, _)| *j);
    let (columns, errors) = found.into_iter().unzip();
    let intercept = local.columns.iter().position(|j| *j == problem.columns());
    let intercept = intercept.and_then(|at| jacobian[at].as_deref().map(error));
    Ok(Errors {
        columns,
        errors,
        intercept,
        freedom: match loss.response() {
            ResponseKind::Real | ResponseKind::Positive => Some(n - count),
            _ => None,
        },
    })
}

/// A model in the engine's own coefficients.
struct Local<'p> {
    problem: &'p Problem,
    /// Its columns, the intercept's among them.
    columns: Vec<usize>,
    x: Vec<f64>,
    /// The places of those that are at none of their bounds.
    free: Vec<usize>,
}

impl<'p> Local<'p> {
    fn new(problem: &'p Problem, solution: &Solution) -> Self {
        let mut columns = solution.support.clone();
        columns.extend_from_slice(&problem.penalised);
        columns.extend_from_slice(problem.unpenalised.columns());
        columns.sort_unstable();
        columns.dedup();
        let own = |j: &usize| match solution.coefficients.get(*j) {
            Some(coefficient) => (*j, *coefficient),
            None => (*j, solution.intercept),
        };
        let data: Vec<(usize, f64)> = columns.iter().map(own).collect();
        let held = |(j, x): (usize, f64)| {
            let (low, high) = if j < problem.columns() {
                problem.bounds(j)
            } else {
                (f64::NEG_INFINITY, f64::INFINITY)
            };
            x <= low || x >= high
        };
        let free = (0..columns.len()).filter(|at| !held(data[*at]));
        let free = free.collect();
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

    /// `Aᵀ ∇²L(z) A` over the free columns, a full square.
    fn curved(&self, z: &[f64]) -> Vec<f64> {
        let mut curvatures = vec![0.0; z.len()];
        self.problem.curvatures_of(z, &mut curvatures);
        let mut gram = self.gram(&curvatures);
        let columns: Vec<usize> = self.free.iter().map(|at| self.columns[*at]).collect();
        self.problem.couple_gram(&columns, z, &mut gram);
        mirror_up(&mut gram, columns.len());
        gram
    }

    /// `Aᵀ diag(w) A` over the free columns, a full square.
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

    /// `H⁻¹ g` over the free columns, without the ridge.
    fn newton_step(&self, z: &[f64]) -> Option<Vec<f64>> {
        let (mut alpha, mut beta) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        self.problem.slopes_of(z, &mut alpha, &mut beta);
        let columns: Vec<usize> = self.free.iter().map(|at| self.columns[*at]).collect();
        let mut gradient = vec![0.0; columns.len()];
        self.problem.design.dots(&columns, &beta, &mut gradient);
        let hessian = self.curved(z);
        factor(hessian, columns.len())?.solve(&mut gradient);
        Some(gradient)
    }

    /// The coefficients of the data.
    fn outward(&self) -> (Vec<f64>, f64) {
        let x = self.columns.iter().copied().zip(self.x.iter().copied());
        let x: Vec<(usize, f64)> = x.collect();
        let (coefficients, intercepts) = self.problem.outward(&x);
        (coefficients, intercepts[0])
    }

    /// How each coefficient of the data depends on the free ones of the engine; none for one that is not free.
    fn jacobian(&self) -> Vec<Option<Vec<f64>>> {
        let problem = self.problem;
        let place = |at: usize| self.free.iter().position(|free| *free == at);
        let row = |(at, j): (usize, &usize)| {
            let mut row = vec![0.0; self.free.len()];
            row[place(at)?] = 1.0 / problem.scale(*j);
            if *j < problem.columns() {
                return Some(row);
            }
            for (place, free) in self.free.iter().enumerate() {
                let column = self.columns[*free];
                if column < problem.columns() {
                    row[place] = -problem.moved(column) / problem.scale(column);
                }
            }
            Some(row)
        };
        self.columns.iter().enumerate().map(row).collect()
    }
}

/// Factorises a square; nothing where its columns depend on each other.
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

/// The product of two squares, the second of them symmetric.
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
