//! The moments of a few rows, nearly without rounding.
//!
//! Entries `t = √w (a - c)`, c near the mean of the block, are divided by a power of two that leaves them at most 1, and split:
//! `t = h + l`, h a multiple of 2⁻²¹ and `|l| ≤ 2⁻²²`. Products of two h are multiples of 2⁻⁴², and 1024 of them add up to at
//! most 2¹⁰: these sums are exact in any order. The other products are 2⁻²² times smaller, and so is their rounding.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, MatMut, MatRef, Par};

use super::{Moments, ROUNDING, place};
use crate::linalg::double::Double;
use crate::linalg::kernels;
use crate::linalg::rounding::{two_product, two_sum};

/// Rows of a block.
pub(super) const BLOCK: usize = 1024;

/// Added and taken off again, it rounds to multiples of 2⁻²¹: its last place.
const SPLITTER: f64 = 1.5 * (1u64 << 31) as f64;

/// Larger entries are refused: differences and sums of them must be finite.
const LARGEST: f64 = 1e300;

/// The rows of a block, column by column as they come.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The places of the rows of positive weight, and their weights; empty where all weights are 1.
    kept: Vec<(usize, f64)>,
    /// How many rows were given, and how many count.
    given: usize,
    count: usize,
    weight: Double,
    /// Entries of the columns, those of weightless rows left out.
    values: Vec<f64>,
    /// The first entry that cannot be taken: column, row, value.
    fault: Option<(usize, usize, f64)>,
    columns: usize,
    column: Vec<f64>,
}

impl Rows {
    /// Starts a block of so many rows.
    pub(super) fn start(&mut self, weights: Option<&[f64]>, rows: usize) {
        self.kept.clear();
        self.values.clear();
        (self.columns, self.fault) = (0, None);
        (self.given, self.count) = (rows, rows);
        self.weight = Double::from(rows as f64);
        let Some(weights) = weights else { return };
        if weights.iter().all(|w| *w == 1.0) {
            return;
        }
        let kept = weights.iter().copied().enumerate();
        self.kept.extend(kept.filter(|(_, w)| *w > 0.0));
        self.count = self.kept.len();
        let sum = |sum: Double, (_, w): &(usize, f64)| sum + Double::from(*w);
        self.weight = self.kept.iter().fold(Double::default(), sum);
    }

    /// The next column.
    pub(super) fn dense(&mut self, values: &[f64]) {
        if self.fault.is_none() {
            let is_bad = |v: &f64| v.is_nan() || v.abs() > LARGEST;
            let at = values.iter().position(is_bad);
            self.fault = at.map(|row| (self.columns, row, values[row]));
        }
        self.columns += 1;
        if self.is_weighted() {
            self.values
                .extend(self.kept.iter().map(|(row, _)| values[*row]));
        } else {
            self.values.extend_from_slice(values);
        }
    }

    /// The next column, of which some entries are stored; `first`: the number of the first row of the block.
    pub(super) fn sparse(&mut self, rows: &[u32], values: &[f64], first: usize) {
        let mut column = std::mem::take(&mut self.column);
        column.clear();
        column.resize(self.given, 0.0);
        for (row, value) in rows.iter().zip(values) {
            column[*row as usize - first] = *value;
        }
        self.dense(&column);
        self.column = column;
    }

    fn is_weighted(&self) -> bool {
        !self.kept.is_empty() || self.count < self.given
    }

    /// The moments of the block, without names; `None` if no row counts. An error names column, row and value.
    pub(super) fn sums(&mut self) -> Result<Option<Moments>, (usize, usize, f64)> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let (n, columns) = (self.count, self.columns);
        if n == 0 {
            return Ok(None);
        }
        let roots: Vec<f64> = self.kept.iter().map(|(_, w)| w.sqrt()).collect();
        let (mut means, mut exponents) = (Vec::with_capacity(columns), Vec::with_capacity(columns));
        // `Σ w (a - c)` in the units of the column.
        let mut left = Vec::with_capacity(columns);
        for (j, column) in self.values.chunks_exact_mut(n).enumerate() {
            let centre = centre(column, &self.kept, self.weight.high);
            let (mut sum, mut low) = (0.0, 0.0);
            let mut largest: f64 = 0.0;
            if self.kept.is_empty() {
                for value in column.iter_mut() {
                    let (way, rest) = two_sum(*value, -centre);
                    let (next, error) = two_sum(sum, way);
                    sum = next;
                    low += error + rest;
                    largest = largest.max(way.abs());
                    *value = way;
                }
            } else {
                for ((value, (_, w)), root) in column.iter_mut().zip(&self.kept).zip(&roots) {
                    let (way, rest) = two_sum(*value, -centre);
                    let (product, more) = two_product(way, *w);
                    let (next, error) = two_sum(sum, product);
                    sum = next;
                    low += error + more + rest * w;
                    *value = way * root;
                    largest = largest.max(value.abs());
                }
            }
            if !(largest <= LARGEST && sum.is_finite()) {
                return Err((j, 0, centre));
            }
            let unit = exponent(largest);
            let sum = Double::new(sum, low);
            means.push(Double::from(centre) + sum / self.weight);
            left.push(sum.times_power(-unit));
            exponents.push(unit);
            let factor = 2f64.powi(-unit);
            column.iter_mut().for_each(|v| *v *= factor);
        }
        let mut products = Vec::with_capacity(place(columns, 0));
        let (exact, rest) = products_of(&self.values, n);
        for i in 0..columns {
            let own = left[i] / self.weight;
            for (j, its) in left[..=i].iter().enumerate() {
                let at = j * columns + i;
                let product = Double::new(exact[at], rest[at]);
                products.push(product - own * *its);
            }
        }
        let size = |column: &[f64]| kernels::dot(column, column) * (1.0 + 1e-6);
        Ok(Some(Moments {
            names: Vec::new(),
            rows: n as u64,
            weight: self.weight,
            means,
            exponents,
            products,
            sizes: self.values.chunks_exact(n).map(size).collect(),
            error: ROUNDING,
            depth: 1,
        }))
    }
}

/// A float near the mean.
fn centre(column: &[f64], kept: &[(usize, f64)], weight: f64) -> f64 {
    let about: f64 = if kept.is_empty() {
        column.iter().map(|v| v / weight).sum()
    } else {
        let pairs = column.iter().zip(kept);
        pairs.map(|(v, (_, w))| v * (w / weight)).sum()
    };
    if about.is_finite() { about } else { column[0] }
}

/// The least q with `|v| ≤ 2^q`, nearly; within the exponents of floats.
pub(super) fn exponent(v: f64) -> i32 {
    if v <= 0.0 || !v.is_finite() {
        return -1000;
    }
    let guess = v.log2().ceil() as i32;
    let guess = guess.clamp(-1000, 1000);
    // A logarithm rounds.
    if v > 2f64.powi(guess) {
        guess + 1
    } else {
        guess
    }
}

/// `TᵀT` for columns of entries of at most 1 (n ≤ [`BLOCK`]), as an exact part and a small rest; the lower triangles of two
/// squares by columns.
///
/// The sum of both is within `1/16 u` of the true product, relative to the norms of the columns.
pub(super) fn products_of(t: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    debug_assert!(n <= BLOCK);
    let columns = t.len() / n;
    let high: Vec<f64> = t.iter().map(|t| (t + SPLITTER) - SPLITTER).collect();
    let low: Vec<f64> = t.iter().zip(&high).map(|(t, h)| t - h).collect();
    let (mut exact, mut rest) = (vec![0.0; columns * columns], vec![0.0; columns * columns]);
    let multiply = |to: &mut [f64], way: Accum, left: &[f64], right: &[f64]| {
        matmul(
            MatMut::from_column_major_slice_mut(to, columns, columns),
            BlockStructure::TriangularLower,
            way,
            MatRef::from_row_major_slice(left, columns, n),
            BlockStructure::Rectangular,
            MatRef::from_column_major_slice(right, n, columns),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
    };
    multiply(&mut exact, Accum::Replace, &high, &high);
    multiply(&mut rest, Accum::Replace, &high, &low);
    multiply(&mut rest, Accum::Add, &low, t);
    (exact, rest)
}
