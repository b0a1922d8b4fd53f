//! The products `Aᵀ diag(p) A` and `Aᵀ diag(p) b` over columns that are shifted and scaled in the process.
//!
//! The matrix is cut into bands of rows, which are computed separately, on one thread or many, with a check of the
//! limits in between. An entry is always the same sum in the same order, so the result does not depend on the number of
//! threads. A [`BandDriver`] steps through the bands; those that were kept need not be computed again.
//!
//! | way | when | a band costs |
//! |---|---|---|
//! | [`Tiles`] | dense, or sparse with many entries | O(n · band · columns), on blocks of columns stored end to end |
//! | [`Merge`] | sparse | the non-zero products, then the shifts by rank-one terms |

mod bands;
mod merge;
mod probe;
mod tiles;

use std::ops::Range;

use faer::linalg::matmul as rectangular;
use faer::{Accum, MatMut, MatRef, Par};

pub(crate) use self::bands::{BandDriver, Bands};
use self::merge::Merge;
use self::probe::Probe;
use self::tiles::Tiles;
use crate::gram::triangle::Triangle;
use crate::limits::Limits;
use crate::linalg::kernels;
use crate::problem::{Design, Stored};

/// Number of columns of a block. They are few enough that threads find work, and enough that packing and writing blocks
/// out costs little compared with multiplying them …
const BLOCK: usize = 192;
/// … a matrix of up to this many columns is one block …
const SMALL: usize = 320;
/// … and with many rows a block is smaller, so that a limit is noticed after this many multiplications.
const UNNOTICED: f64 = 2e9;
const LEAST_BLOCK: usize = 64;
/// Number of rows that are written out at a time.
const PART: usize = 2048;
/// Cost of a product of two sparse entries, in products of dense blocks.
const SPARSE_PRICE: f64 = 16.0;
/// Relative agreement with the columns at which kept rows count as those of the matrix: far more than
/// rounding, far less than anything else.
const AGREEMENT: f64 = 1e-7;

/// Columns `(r_j - shift_j) scale_j` of the stored entries of a design, and the weights and the response of its rows.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    pub design: &'a Design,
    pub columns: &'a [usize],
    /// Empty when every column is used as it is stored.
    pub shifts: Vec<(f64, f64)>,
    pub p: &'a [f64],
    pub b: &'a [f64],
}

/// The products of the columns.
#[derive(Debug)]
pub(crate) struct Products {
    /// `Aᵀ diag(p) A`, symmetric.
    pub gram: Vec<f64>,
    /// `Aᵀ diag(p) b`.
    pub c: Vec<f64>,
    /// `|pᵀa_j|`.
    pub means: Vec<f64>,
    /// Diagonal that the rounding of entries is relative to: `|Δ_ij| ≤ γ √(size_i size_j)`.
    pub sizes: Vec<f64>,
}

impl Columns<'_> {
    /// Computes the products; `None` when a limit is reached before the end.
    pub(crate) fn products(
        &self,
        limits: &Limits,
        threads: usize,
        driver: &mut dyn BandDriver,
    ) -> Option<Products> {
        let known = driver.known(self.columns);
        let known = known.filter(|known| self.agrees(known));
        let known = known.as_ref();
        if self.is_thin() {
            bands::compute(self, &Merge::new(self), limits, threads, known, driver)
        } else {
            bands::compute(self, &Tiles { of: self }, limits, threads, known, driver)
        }
    }

    /// Computes `Aᵀ diag(p) B` for the columns B of another list of the same data, one row for each column of A.
    /// Returns `None` at a limit, and for sparse columns.
    pub(crate) fn cross(&self, other: &Self, limits: &Limits) -> Option<Vec<f64>> {
        if self.design.is_sparse() {
            return None;
        }
        let (count, size) = (self.columns.len(), other.columns.len());
        let mut products = vec![0.0; count * size];
        let (mut left, mut right, mut weighted) = (Vec::new(), Vec::new(), Vec::new());
        for rows in self.parts(false) {
            if limits.reached().is_some() {
                return None;
            }
            let length = rows.len();
            let own = self.block(0, count, &rows, &mut left);
            let (own, weight) = weigh(own, self.p, &rows, &mut weighted);
            rectangular::matmul(
                MatMut::from_column_major_slice_mut(&mut products, size, count),
                Accum::Add,
                MatRef::from_row_major_slice(other.block(0, size, &rows, &mut right), size, length),
                MatRef::from_column_major_slice(own, length, count),
                weight,
                Par::Seq,
            );
        }
        Some(products)
    }

    /// Returns all columns end to end, as they are multiplied.
    pub(crate) fn written_out(&self) -> Vec<f64> {
        let mut values = Vec::new();
        let rows = 0..self.design.rows();
        let all = self.block(0, self.columns.len(), &rows, &mut values);
        all.to_vec()
    }

    /// Whether kept rows are those of this matrix, as far as one direction r shows:
    /// `Σ_{j ≤ i} G_ij r_j = a_iᵀ diag(p) Σ_{j ≤ i} r_j a_j`.
    fn agrees(&self, known: &Triangle) -> bool {
        let mut probe = Probe::new(self);
        let mut direction = Vec::with_capacity(self.columns.len());
        let mut length = 0.0;
        let response = kernels::weighted_dot(self.p, self.b, self.b);
        for i in 0..self.columns.len() {
            let weight = 0.5 + ((i * 7919) % 101) as f64 / 101.0;
            length += weight;
            let seen = probe.add(i, weight);
            direction.push(seen.step);
            let Some(row) = known.row(i) else {
                continue;
            };
            let size = row.size.max(seen.square);
            let product = kernels::dot(&row.gram, &direction);
            let close = |a: f64, b: f64, scale: f64| (a - b).abs() <= AGREEMENT * scale;
            if !close(product, seen.product, length * size.sqrt())
                || !close(row.c, seen.slope, (size * response).sqrt())
                || row.size < row.gram[i] * (1.0 - AGREEMENT)
            {
                return false;
            }
        }
        true
    }

    /// Whether sparse products cost less than dense ones.
    fn is_thin(&self) -> bool {
        if !self.design.is_sparse() {
            return false;
        }
        let mut counts = vec![0_u32; self.design.rows()];
        for j in self.columns {
            if let Stored::Sparse(rows, _) = self.design.stored(*j) {
                rows.iter().for_each(|i| counts[*i as usize] += 1);
            }
        }
        let products: f64 = counts.iter().map(|count| f64::from(*count).powi(2)).sum();
        let d = self.columns.len() as f64;
        SPARSE_PRICE * products <= self.design.rows() as f64 * d * d
    }

    /// Returns shift and scale of the column at an index.
    fn shift(&self, index: usize) -> (f64, f64) {
        self.shifts.get(index).copied().unwrap_or((0.0, 1.0))
    }

    /// Returns some rows of `count` columns from `first` on, end to end: as they are stored
    /// where possible, else written out.
    fn block<'b>(
        &'b self,
        first: usize,
        count: usize,
        rows: &Range<usize>,
        buffer: &'b mut Vec<f64>,
    ) -> &'b [f64] {
        let n = self.design.rows();
        if let Some(stored) = self.stored().filter(|_| rows.len() == n) {
            return &stored[first * n..(first + count) * n];
        }
        buffer.clear();
        buffer.reserve_exact(count * rows.len());
        for index in first..first + count {
            let column = self.columns[index];
            let shift = self.shift(index);
            self.design.append_rows(column, rows.clone(), shift, buffer);
        }
        buffer
    }

    /// Returns all columns end to end, if they are stored like that.
    fn stored(&self) -> Option<&[f64]> {
        let (n, d) = (self.design.rows(), self.columns.len());
        let in_order = || self.columns.iter().copied().eq(0..d);
        let values = self.design.plain().filter(|_| self.shifts.is_empty())?;
        in_order().then(|| &values[..n * d])
    }

    /// Returns the rows in parts that are multiplied one after the other, or all at once where
    /// nothing has to be written out.
    fn parts(&self, is_stored: bool) -> impl Iterator<Item = Range<usize>> + use<> {
        let n = self.design.rows();
        let count = if is_stored { 1 } else { n.div_ceil(PART) };
        let size = n.div_ceil(count.max(1)).max(1);
        (0..n)
            .step_by(size)
            .map(move |start| start..(start + size).min(n))
    }

    /// Returns the number of columns of a band, which is the same for all bands and does not
    /// depend on the number of threads.
    fn band(&self) -> usize {
        let d = self.columns.len();
        let most = if d <= SMALL { SMALL } else { BLOCK };
        let noticed = (UNNOTICED / self.design.rows() as f64).sqrt() as usize;
        d.div_ceil(d.div_ceil(noticed.clamp(LEAST_BLOCK, most)))
    }
}

/// Multiplies columns by weights, and returns the factor that is left. Equal weights are applied at the
/// end, so that no copy is needed.
fn weigh<'b>(
    columns: &'b [f64],
    p: &[f64],
    rows: &Range<usize>,
    copy: &'b mut Vec<f64>,
) -> (&'b [f64], f64) {
    if let Some(weight) = p.first().filter(|first| p.iter().all(|p| p == *first)) {
        return (columns, *weight);
    }
    copy.clear();
    copy.reserve_exact(columns.len());
    for column in columns.chunks_exact(rows.len()) {
        copy.extend(column.iter().zip(&p[rows.clone()]).map(|(a, p)| a * p));
    }
    (copy, 1.0)
}

#[cfg(test)]
mod tests;
