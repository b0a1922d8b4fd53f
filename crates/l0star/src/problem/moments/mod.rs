//! [`Moments`]: all that the quadratic loss needs of rows, however many there are.
//!
//! Rows are taken in blocks. A block is centred at its own mean, its products are summed with next to no rounding (`block`), and
//! two sets of moments are merged by the update of Chan, Golub and LeVeque,
//!
//! ```text
//! M = M₁ + M₂ + (w₁ w₂ / w) δ δᵀ,   δ = mean₂ - mean₁,
//! ```
//!
//! in double-double arithmetic: means far from zero cost no digits. How far the sums can be from those of real numbers is
//! derived in `docs/numerics.md`, section 18.

mod block;
mod bytes;
mod given;
mod surrogate;

use std::ops::Range;

use rayon::prelude::*;

use super::shapes::{check_length, check_vector};
use super::{Design, Stored};
use crate::error::{Error, Result};
use crate::linalg::double::Double;
use crate::linalg::rounding::U;
use block::{BLOCK, Rows};
pub(crate) use surrogate::Summary;
pub(super) use surrogate::Surrogate;

/// Rows that one thread takes at a time.
const PART: usize = 4 * BLOCK;

/// The rounding of sums that are made here, as a share of the sizes they are relative to.
const ROUNDING: f64 = 8.0 * U;

/// What an error of a mean is multiplied by before it is added to a size: its share [`ROUNDING`] is then larger than it.
const MEAN: f64 = 8.0 * U;

/// The sums over rows that the quadratic loss needs: weights, means, and products of all pairs of columns, the response among
/// them. Any number of them can be merged, in any order.
///
/// ```
/// use l0star::problem::Moments;
/// use l0star::{Design, Problem, Settings, solve};
///
/// let mut moments = Moments::new(vec!["a".into(), "b".into()])?;
/// // Rows come in batches of any size.
/// let batch = Design::dense(2, 2, vec![1.0, 0.0, 1.0, 2.0])?;
/// moments.add(&batch, &[1.1, 1.9], None)?;
/// let batch = Design::dense(3, 2, vec![1.0, 0.0, 1.0, 3.0, 4.0, 5.0])?;
/// moments.add(&batch, &[3.2, 3.9, 5.0], None)?;
/// let problem = Problem::from_moments(moments).intercept(true).k(1).build()?;
/// assert_eq!(solve(&problem, &Settings::default())?.support, [1]);
/// # Ok::<(), l0star::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Of the features.
    names: Vec<String>,
    /// Rows of positive weight.
    rows: u64,
    weight: Double,
    /// One for each feature, and that of the response behind them; so are all lists here.
    means: Vec<Double>,
    /// Products are kept in units of `2^(q_i + q_j)`: no square leaves the range of floats.
    exponents: Vec<i32>,
    /// `Σ w (a_i - ā_i)(a_j - ā_j)`, the lower triangle row by row.
    products: Vec<Double>,
    /// Sums of squares that the errors of products are relative to, in units of `2^(2q)`.
    sizes: Vec<f64>,
    /// The products are within `error √(size_i size_j)` of those of the rows.
    error: f64,
    /// How often means were merged on the way to these, at most.
    depth: u64,
}

impl Moments {
    /// Moments of no rows, of features with these names.
    pub fn new(names: Vec<String>) -> Result<Self> {
        if names.is_empty() {
            return Err(Error::Empty { what: "columns" });
        }
        Ok(Self::of_none(names))
    }

    fn of_none(names: Vec<String>) -> Self {
        let columns = names.len() + 1;
        Self {
            names,
            rows: 0,
            weight: Double::default(),
            means: vec![Double::default(); columns],
            exponents: vec![0; columns],
            products: vec![Double::default(); columns * (columns + 1) / 2],
            sizes: vec![0.0; columns],
            error: ROUNDING,
            depth: 0,
        }
    }

    /// Adds rows: features, responses, and weights ≥ 0 (1 for every row where there are none). Rows of weight zero are left out.
    ///
    /// The parts of the rows are taken by all threads of the pool; the result does not depend on how many there are.
    pub fn add(
        &mut self,
        design: &Design,
        response: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<()> {
        let (rows, columns) = (design.rows(), design.columns());
        check_length("a row of the design matrix", columns, self.names.len())?;
        check_length("the response", response.len(), rows)?;
        if design.has_view() {
            return Err(Error::Moments {
                reason: "moments are taken of columns as they are stored: give a design matrix without a view"
                    .to_owned(),
            });
        }
        if let Some(weights) = weights {
            check_vector("weights", weights, rows)?;
            if let Some(row) = weights.iter().position(|w| *w < 0.0) {
                return Err(Error::NegativeWeight {
                    row: row + 1,
                    value: weights[row],
                });
            }
        }
        let starts: Vec<usize> = (0..rows).step_by(PART).collect();
        let part = |start: &usize| {
            let rows = *start..(*start + PART).min(rows);
            self.part(design, response, weights, rows)
        };
        let parts: Vec<Result<Self>> = starts.par_iter().map(part).collect();
        // Nothing is added unless all can be.
        let parts: Vec<Self> = parts.into_iter().collect::<Result<_>>()?;
        let mut sum = self.clone();
        for part in &parts {
            sum.merge(part)?;
        }
        *self = sum;
        Ok(())
    }

    /// The moments of some of the rows.
    fn part(
        &self,
        design: &Design,
        response: &[f64],
        weights: Option<&[f64]>,
        rows: Range<usize>,
    ) -> Result<Self> {
        let mut sum = Self::of_none(self.names.clone());
        let (mut room, mut column) = (Rows::default(), Vec::new());
        for start in rows.clone().step_by(BLOCK) {
            let rows = start..(start + BLOCK).min(rows.end);
            room.start(weights.map(|weights| &weights[rows.clone()]), rows.len());
            for j in 0..self.names.len() {
                match design.stored(j) {
                    Stored::Dense(values) => match values.plain() {
                        Some(values) => room.dense(&values[rows.clone()]),
                        None => {
                            column.clear();
                            values.append(rows.clone(), |v| v, &mut column);
                            room.dense(&column);
                        }
                    },
                    Stored::Sparse(indices, values) => {
                        let first = indices.partition_point(|row| (*row as usize) < rows.start);
                        let last = indices.partition_point(|row| (*row as usize) < rows.end);
                        room.sparse(&indices[first..last], &values[first..last], rows.start);
                    }
                }
            }
            room.dense(&response[rows.clone()]);
            let block = room.sums().map_err(|(column, row, value)| {
                let (row, column) = (rows.start + row + 1, self.name(column).to_owned());
                if value.is_finite() {
                    Error::TooLarge { row, column, value }
                } else {
                    Error::NotFinite { row, column, value }
                }
            })?;
            if let Some(block) = block {
                sum.take(Self {
                    names: Vec::new(),
                    ..block
                })?;
            }
        }
        Ok(sum)
    }

    /// Adds other moments of the same columns: those of all rows together.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.names != other.names {
            return Err(Error::Moments {
                reason: different(&self.names, &other.names),
            });
        }
        self.take(other.clone())
    }

    fn take(&mut self, other: Self) -> Result<()> {
        if other.rows == 0 {
            return Ok(());
        }
        if self.rows == 0 {
            let names = std::mem::take(&mut self.names);
            *self = Self { names, ..other };
            return Ok(());
        }
        let weight = self.weight + other.weight;
        if !weight.high.is_finite() {
            return Err(Error::Overflow {
                what: "the sum of the weights",
            });
        }
        let mut other = other;
        let share = other.weight / weight;
        let factor = self.weight * share;
        let depth = self.depth.max(other.depth) + 1;
        let deviation =
            |of: &Self, i: usize| scaled((of.sizes[i] / of.weight.high).sqrt(), of.exponents[i]);
        let mut steps = Vec::with_capacity(self.means.len());
        for i in 0..self.means.len() {
            let (own, its) = (self.means[i], other.means[i]);
            let step = its - own;
            // With what the means may be wrong by, enlarged: docs/numerics.md, section 18.
            let means = (own.high.abs() + its.high.abs()) * MEAN * depth as f64;
            let spread = 1e-9 * (deviation(self, i) + deviation(&other, i));
            let size = step.high.abs() + means + spread;
            if !size.is_finite() {
                return Err(Error::Overflow {
                    what: "the difference of two means",
                });
            }
            steps.push((step, size));
        }
        let mut way = Vec::with_capacity(steps.len());
        for (i, (step, size)) in steps.into_iter().enumerate() {
            let units = self.exponents[i].max(other.exponents[i]);
            let unit = units.max(block::exponent(size));
            self.rescale(i, unit);
            other.rescale(i, unit);
            let size = scaled(size, -unit);
            self.sizes[i] += other.sizes[i] + factor.high * size * size * (1.0 + 1e-3);
            self.means[i] = self.means[i] + step * share;
            way.push(step.times_power(-unit));
        }
        for i in 0..way.len() {
            let row = factor * way[i];
            let start = place(i, 0);
            let own = self.products[start..=start + i].iter_mut();
            let pairs = own.zip(&other.products[start..=start + i]).zip(&way);
            pairs.for_each(|((own, its), delta)| *own = *own + *its + row * *delta);
        }
        self.rows += other.rows;
        self.weight = weight;
        self.error = self.error.max(other.error);
        self.depth = depth;
        Ok(())
    }

    /// Puts the products of a column into larger units.
    fn rescale(&mut self, i: usize, exponent: i32) {
        let by = self.exponents[i] - exponent;
        if by == 0 {
            return;
        }
        self.exponents[i] = exponent;
        self.sizes[i] = scaled(scaled(self.sizes[i], by), by);
        for j in 0..self.means.len() {
            let at = place(i.max(j), i.min(j));
            self.products[at] = self.products[at].times_power(by);
        }
        let at = place(i, i);
        self.products[at] = self.products[at].times_power(by);
    }

    /// The moments of some of the features, by their places in order.
    pub fn select(&self, features: &[usize]) -> Result<Self> {
        let count = self.names.len();
        if let Some(column) = features.iter().find(|j| **j >= count) {
            return Err(Error::NoSuchColumn {
                column: *column,
                columns: count,
            });
        }
        let mut some = Self::new(features.iter().map(|j| self.names[*j].clone()).collect())?;
        let places: Vec<usize> = features.iter().copied().chain([count]).collect();
        for (i, own) in places.iter().enumerate() {
            some.means[i] = self.means[*own];
            some.exponents[i] = self.exponents[*own];
            some.sizes[i] = self.sizes[*own];
            for (j, other) in places[..=i].iter().enumerate() {
                let at = place(*own.max(other), *own.min(other));
                some.products[place(i, j)] = self.products[at];
            }
        }
        (some.rows, some.weight) = (self.rows, self.weight);
        (some.error, some.depth) = (self.error, self.depth);
        Ok(some)
    }

    /// Rows of positive weight.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The sum of their weights.
    pub fn weight(&self) -> f64 {
        self.weight.high
    }

    /// The names of the features.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The mean of each feature, that of the response behind them.
    pub fn means(&self) -> Vec<f64> {
        self.means.iter().map(|mean| mean.high).collect()
    }

    /// The standard deviation of each feature, that of the response behind them.
    pub fn deviations(&self) -> Vec<f64> {
        (0..self.means.len()).map(|i| self.deviation(i)).collect()
    }

    /// `Σ w (a_i - ā_i)(a_j - ā_j)`; the response is the last column. Infinite where it leaves the range of floats.
    pub fn product(&self, i: usize, j: usize) -> f64 {
        let product = self.products[place(i.max(j), i.min(j))].high;
        scaled(scaled(product, self.exponents[i]), self.exponents[j])
    }

    /// How far products can be from those of the rows, as a share of the root of the squares of their columns.
    pub fn error(&self) -> f64 {
        self.error
    }

    fn deviation(&self, i: usize) -> f64 {
        let square = self.products[place(i, i)].high / self.weight.high;
        scaled(square.max(0.0).sqrt(), self.exponents[i])
    }

    fn name(&self, i: usize) -> &str {
        self.names.get(i).map_or("response", String::as_str)
    }
}

/// Where the product of the columns i ≥ j is kept.
fn place(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// `v 2^by`, for exponents beyond those of floats too.
fn scaled(v: f64, by: i32) -> f64 {
    let half = by / 2;
    v * 2f64.powi(half) * 2f64.powi(by - half)
}

/// Where two lists of columns differ.
fn different(own: &[String], other: &[String]) -> String {
    let pair = own.iter().zip(other).find(|(own, other)| own != other);
    match pair {
        Some((own, other)) => {
            format!("moments of different columns cannot be merged: '{own}' here, '{other}' there")
        }
        None => format!(
            "moments of different columns cannot be merged: {} features here, {} there",
            own.len(),
            other.len()
        ),
    }
}

#[cfg(test)]
mod tests;
