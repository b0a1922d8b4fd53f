//! [`Surrogate`]: a few rows with given moments, so that everything else works from rows as ever.
//!
//! A factor `RᵀR` of the second moments has at most as many rows as there are columns. With an intercept each row is there twice,
//! with both signs: the means of such columns are 0 exactly, and the data's own are put back when a model is reported. What
//! rounding has left between the moments of these rows and the given ones is *computed*, and is part of the error that lowers every
//! bound (`docs/numerics.md`, section 18).

use rayon::prelude::*;

use super::block::{BLOCK, exponent, products_of};
use super::{Moments, place, scaled};
use crate::error::{Error, Result};
use crate::linalg::double::Double;
use crate::linalg::kernels;
use crate::linalg::rounding::U;
use crate::problem::{ColumnStats, Design};

/// What is left of a pivot that depends on others, relatively; what is dropped is part of the error.
const DEPENDENT: f64 = 1e-27;
/// Moments that no rows come closer to than this are those of no data.
const IMPOSSIBLE: f64 = 1e-6;
/// Deviations of so many units in the last place of the mean are those of a constant.
const LAST_PLACES: f64 = 16.0;
/// From so many columns on all threads factorise.
const LARGE: usize = 128;

/// Rows with the moments that were given, and what else is known of them.
#[derive(Debug)]
pub(in crate::problem) struct Surrogate {
    pub design: Design,
    pub response: Vec<f64>,
    pub summary: Summary,
}

/// What a problem from moments knows of the rows that they are of.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    /// Rows of positive weight.
    pub rows: u64,
    /// Means of the features and the response.
    pub means: Vec<Double>,
    /// Means and deviations of the features.
    pub stats: Vec<ColumnStats>,
    /// The second moments of the surrogate are within `error ω_i ω_j` of those of the rows.
    pub error: f64,
    /// ω of the features, in the units of the data.
    pub sizes: Vec<f64>,
    /// ω of the response.
    pub response_size: f64,
    pub response_deviation: f64,
    /// t with `H ⪰ t diag(ω²)`, H the Hessian of P over the columns of a problem.
    pub share: f64,
}

impl Surrogate {
    /// `centred`: there is an intercept.
    pub fn new(moments: &Moments, centred: bool) -> Result<Self> {
        if moments.rows == 0 {
            return Err(Error::Empty {
                what: "rows of positive weight",
            });
        }
        let scaled_moments = Scaled::new(moments, centred);
        let factor = scaled_moments.factor();
        let times = if centred { 2 } else { 1 };
        let rows = times * factor.len().max(1);
        // The weight that the problem gives to each row.
        let p = 1.0 / rows as f64;
        let stretch = (Double::from(1.0) / (Double::from(p) * Double::from(times as f64))).sqrt();
        let columns = moments.means.len();
        // Column by column.
        let mut half = vec![0.0; columns * (rows / times)];
        for (k, row) in factor.iter().enumerate() {
            for (j, v) in row.iter().enumerate() {
                half[j * (rows / times) + k] = (*v * stretch).high;
            }
        }
        let own = scaled_moments.distance(&half, rows / times, p * times as f64);
        if own.is_nan() || own > IMPOSSIBLE {
            return Err(Error::Moments {
                reason: "these moments are not those of any data: their matrix of products is not positive semidefinite; \
                         check how they were summed"
                    .to_owned(),
            });
        }
        let mut values = Vec::with_capacity(rows * columns);
        for (column, unit) in half.chunks_exact(rows / times).zip(&scaled_moments.units) {
            values.extend(column.iter().map(|v| scaled(*v, *unit)));
            if centred {
                values.extend(column.iter().map(|v| -scaled(*v, *unit)));
            }
        }
        let response = values.split_off(rows * (columns - 1));
        let size = |j: usize| scaled(scaled_moments.sizes[j], scaled_moments.units[j]);
        let summary = Summary {
            rows: moments.rows,
            means: moments.means.clone(),
            stats: (0..columns - 1).map(|j| moments.stats(j)).collect(),
            error: (moments.error + own) * (1.0 + 1e-6),
            sizes: (0..columns - 1).map(size).collect(),
            response_size: size(columns - 1),
            response_deviation: moments.deviation(columns - 1),
            share: 0.0,
        };
        Ok(Self {
            design: Design::dense(rows, columns - 1, values)?,
            response,
            summary,
        })
    }
}

impl Moments {
    /// Mean and deviation of a feature.
    fn stats(&self, j: usize) -> ColumnStats {
        let (mean, sd) = (self.means[j].high, self.deviation(j));
        ColumnStats {
            mean,
            sd,
            is_constant: sd <= LAST_PLACES * mean.abs() * f64::EPSILON,
        }
    }
}

/// Second moments per unit of weight, in units in which every column has a size of about 1.
struct Scaled {
    units: Vec<i32>,
    /// The lower triangle row by row.
    entries: Vec<Double>,
    /// What the errors of entries are relative to.
    sizes: Vec<f64>,
}

impl Scaled {
    /// Those about the means, or about 0.
    fn new(moments: &Moments, centred: bool) -> Self {
        let columns = moments.means.len();
        let weight = moments.weight;
        let mean = |j: usize| {
            if centred {
                Double::default()
            } else {
                moments.means[j]
            }
        };
        let unit = |j: usize| {
            let deviation = (moments.sizes[j] / weight.high).sqrt();
            exponent(scaled(deviation, moments.exponents[j]).max(mean(j).high.abs()))
        };
        let units: Vec<i32> = (0..columns).map(unit).collect();
        let by = |j: usize| moments.exponents[j] - units[j];
        let means: Vec<Double> = (0..columns)
            .map(|j| mean(j).times_power(-units[j]))
            .collect();
        let mut entries = Vec::with_capacity(moments.products.len());
        for i in 0..columns {
            for j in 0..=i {
                let own = moments.products[place(i, j)] / weight;
                let own = own.times_power(by(i)).times_power(by(j));
                entries.push(own + means[i] * means[j]);
            }
        }
        let size = |j: usize| {
            let square = scaled(scaled(moments.sizes[j], by(j)), by(j)) / weight.high;
            (square + means[j].high.powi(2)).sqrt() * (1.0 + 1e-6)
        };
        Self {
            sizes: (0..columns).map(size).collect(),
            entries,
            units,
        }
    }

    /// The rows of R with `RᵀR` close to the entries: Cholesky's, with the largest pivot first, in double-double arithmetic.
    fn factor(&self) -> Vec<Vec<Double>> {
        let columns = self.units.len();
        let mut entries = self.entries.clone();
        let mut left: Vec<usize> = (0..columns).collect();
        let mut factor = Vec::new();
        while let Some((at, pivot)) = left
            .iter()
            .map(|j| entries[place(*j, *j)])
            .enumerate()
            .max_by(|(_, a), (_, b)| a.high.total_cmp(&b.high))
        {
            if pivot.high.is_nan() || pivot.high <= DEPENDENT {
                break;
            }
            let chosen = left.remove(at);
            let root = pivot.sqrt();
            let mut row = vec![Double::default(); columns];
            row[chosen] = root;
            for j in &left {
                row[*j] = entries[place(chosen.max(*j), chosen.min(*j))] / root;
            }
            // What each row of the triangle loses.
            let update = |i: usize, entries: &mut [Double]| {
                kernels::widest(|| {
                    let before = left.iter().take_while(|j| **j <= i);
                    before.for_each(|j| entries[*j] = entries[*j] - row[i] * row[*j]);
                });
            };
            let mut rows = Vec::with_capacity(left.len());
            let mut rest = &mut entries[..];
            let mut start = 0;
            for i in &left {
                let (_, own) = rest.split_at_mut(place(*i, 0) - start);
                let (own, behind) = own.split_at_mut(i + 1);
                rows.push((*i, own));
                (rest, start) = (behind, place(i + 1, 0));
            }
            if left.len() >= LARGE {
                rows.into_par_iter().for_each(|(i, row)| update(i, row));
            } else {
                rows.into_iter().for_each(|(i, row)| update(i, row));
            }
            factor.push(row);
        }
        factor
    }

    /// How far `p SᵀS` is from the entries at most, relative to the sizes; S is given by its columns.
    fn distance(&self, s: &[f64], rows: usize, p: f64) -> f64 {
        let columns = self.units.len();
        let largest = s.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        let unit = exponent(largest).max(-500);
        let factor = 2f64.powi(-unit);
        let mut sums = vec![Double::default(); columns * columns];
        for start in (0..rows).step_by(BLOCK) {
            let end = (start + BLOCK).min(rows);
            let part = s.chunks_exact(rows).flat_map(|column| &column[start..end]);
            let part: Vec<f64> = part.map(|v| v * factor).collect();
            let (exact, rest) = products_of(&part, end - start);
            let pairs = sums.iter_mut().zip(exact.iter().zip(&rest));
            pairs.for_each(|(sum, (exact, rest))| *sum = *sum + Double::new(*exact, *rest));
        }
        let p = Double::from(p).times_power(2 * unit);
        let mut most: f64 = 0.0;
        for i in 0..columns {
            for j in 0..=i {
                let own = sums[j * columns + i] * p;
                let distance = (own - self.entries[place(i, j)]).high.abs();
                if distance > 0.0 {
                    most = most.max(distance / (self.sizes[i] * self.sizes[j]));
                }
            }
        }
        // The products themselves, relative to the norms of the columns, and all that is done to them here.
        most * (1.0 + 1e-6) + U / 8.0
    }
}
