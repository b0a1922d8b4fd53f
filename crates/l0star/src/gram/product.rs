//! `Aᵀ diag(p) A` and `Aᵀ diag(p) b` over columns that are shifted and scaled on the way.
//!
//! The matrix is cut into bands of rows, which are computed apart: by one thread or many, with a look at the limits in
//! between. An entry is always the same sum in the same order, so the result does not depend on the number of threads.
//! Bands that are done can be kept ([`Keep`]), and need not be made again.
//!
//! | way | when | a band costs |
//! |---|---|---|
//! | [`Tiles`] | dense, or sparse with many entries | O(n · band · columns), on blocks of columns end to end |
//! | [`Merge`] | sparse | the products that are not zero, then the shifts by rank-one terms |

mod probe;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use faer::linalg::matmul as rectangular;
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, MatMut, MatRef, Par};

use self::probe::Probe;
use crate::gram::triangle::{Triangle, TriangleRow};
use crate::limits::Limits;
use crate::linalg::cholesky::mirror_up;
use crate::linalg::kernels;
use crate::problem::{Design, Stored};

/// Columns of a block: few enough that threads find work, enough that packing and writing blocks out costs little beside
/// multiplying them …
const BLOCK: usize = 192;
/// … a matrix of so many is one block …
const SMALL: usize = 320;
/// … and with many rows a block is smaller, so that a limit is noticed after so many multiplications.
const UNNOTICED: f64 = 2e9;
const LEAST_BLOCK: usize = 64;
/// Rows that are written out at a time.
const PART: usize = 2048;
/// A product of two sparse entries costs about as much as this many of dense blocks.
const SPARSE_PRICE: f64 = 16.0;
/// Rows that were kept are those of the matrix when they agree with the columns to this: far more than rounding, far less
/// than anything else.
const AGREEMENT: f64 = 1e-7;

/// Who is told of the bands of a matrix, and brings those of an earlier run.
pub(crate) trait Keep {
    /// The rows that are known already of the matrix of these columns.
    fn known(&mut self, columns: &[usize]) -> Option<Triangle>;

    /// These bands are done, those that were known included.
    fn done(&mut self, bands: &[Band]);
}

/// Nobody.
impl Keep for () {
    fn known(&mut self, _: &[usize]) -> Option<Triangle> {
        None
    }

    fn done(&mut self, _: &[Band]) {}
}

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

/// What the columns add up to.
#[derive(Debug)]
pub(crate) struct Products {
    /// `Aᵀ diag(p) A`, symmetric.
    pub gram: Vec<f64>,
    /// `Aᵀ diag(p) b`.
    pub c: Vec<f64>,
    /// `|pᵀa_j|`.
    pub means: Vec<f64>,
    /// The diagonal that the rounding of entries is relative to: `|Δ_ij| ≤ γ √(size_i size_j)`.
    pub sizes: Vec<f64>,
}

/// A band of rows of the result.
pub(crate) struct Band<'a> {
    first: usize,
    gram: &'a mut [f64],
    c: &'a mut [f64],
    means: &'a mut [f64],
    sizes: &'a mut [f64],
}

impl Band<'_> {
    /// Adds its rows.
    pub(crate) fn add_to(&self, triangle: &mut Triangle) {
        let d = self.gram.len() / self.c.len();
        for (local, row) in self.gram.chunks_exact(d).enumerate() {
            let index = self.first + local;
            triangle.add(index, || TriangleRow {
                gram: row[..=index].to_vec(),
                c: self.c[local],
                mean: self.means[local],
                size: self.sizes[local],
            });
        }
    }

    /// Takes its rows over from those that are known; false when one is not.
    fn take_from(&mut self, known: &Triangle) -> bool {
        let rows = (0..self.c.len()).map(|local| known.row(self.first + local));
        let Some(rows) = rows.collect::<Option<Vec<_>>>() else {
            return false;
        };
        let d = self.gram.len() / self.c.len();
        for (local, row) in rows.into_iter().enumerate() {
            self.gram[local * d..][..row.gram.len()].copy_from_slice(&row.gram);
            self.c[local] = row.c;
            self.means[local] = row.mean;
            self.sizes[local] = row.size;
        }
        true
    }
}

/// A way to compute a band; false when a limit was reached in between.
trait Way: Sync {
    fn run(&self, band: &mut Band, limits: &Limits) -> bool;
}

impl Columns<'_> {
    /// `None` when a limit is reached before the end.
    pub(crate) fn products(
        &self,
        limits: &Limits,
        threads: usize,
        keep: &mut dyn Keep,
    ) -> Option<Products> {
        let known = keep.known(self.columns);
        let known = known.filter(|known| self.agrees(known));
        if self.is_thin() {
            self.compute(&Merge::new(self), limits, threads, known.as_ref(), keep)
        } else {
            self.compute(&Tiles { of: self }, limits, threads, known.as_ref(), keep)
        }
    }

    /// `Aᵀ diag(p) B` for the columns B of another list of the same data, one row for each column of A; `None` at a limit, and for
    /// sparse columns.
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

    /// All columns end to end, as they are multiplied.
    pub(crate) fn written_out(&self) -> Vec<f64> {
        let mut values = Vec::new();
        let rows = 0..self.design.rows();
        let all = self.block(0, self.columns.len(), &rows, &mut values);
        all.to_vec()
    }

    /// Whether rows that were kept are those of this matrix, as far as can be seen in one direction r:
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

    /// Whether sparse products are fewer, by their price, than dense ones.
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

    /// Shift and scale of the column at an index.
    fn shift(&self, index: usize) -> (f64, f64) {
        self.shifts.get(index).copied().unwrap_or((0.0, 1.0))
    }

    /// Some rows of `count` columns from `first` on, end to end: as they are stored, if that is possible, else written out.
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

    /// All columns end to end, if they are stored like that.
    fn stored(&self) -> Option<&[f64]> {
        let (n, d) = (self.design.rows(), self.columns.len());
        let in_order = || self.columns.iter().copied().eq(0..d);
        let values = self.design.plain().filter(|_| self.shifts.is_empty())?;
        in_order().then(|| &values[..n * d])
    }

    /// The rows in parts that are multiplied one after the other: all at once where nothing has to be written out.
    fn parts(&self, is_stored: bool) -> impl Iterator<Item = Range<usize>> + use<> {
        let n = self.design.rows();
        let count = if is_stored { 1 } else { n.div_ceil(PART) };
        let size = n.div_ceil(count.max(1)).max(1);
        (0..n)
            .step_by(size)
            .map(move |start| start..(start + size).min(n))
    }

    /// Columns of a band: all alike. They do not depend on the number of threads.
    fn band(&self) -> usize {
        let d = self.columns.len();
        let most = if d <= SMALL { SMALL } else { BLOCK };
        let noticed = (UNNOTICED / self.design.rows() as f64).sqrt() as usize;
        d.div_ceil(d.div_ceil(noticed.clamp(LEAST_BLOCK, most)))
    }

    fn compute(
        &self,
        way: &impl Way,
        limits: &Limits,
        threads: usize,
        known: Option<&Triangle>,
        keep: &mut dyn Keep,
    ) -> Option<Products> {
        let d = self.columns.len();
        let mut products = Products {
            gram: vec![0.0; d * d],
            c: vec![0.0; d],
            means: vec![0.0; d],
            sizes: vec![0.0; d],
        };
        let width = self.band();
        let bands = products.gram.chunks_mut(width * d);
        let bands = bands.zip(products.c.chunks_mut(width));
        let bands = bands.zip(products.means.chunks_mut(width));
        let bands = bands.zip(products.sizes.chunks_mut(width));
        let bands = bands
            .enumerate()
            .map(|(i, (((gram, c), means), sizes))| Band {
                first: i * width,
                gram,
                c,
                means,
                sizes,
            });
        // The last bands are the longest: they come first, so that no thread is left with one at the end.
        let mut bands: Vec<Band> = bands.collect();
        bands.reverse();
        let stopped = AtomicBool::new(false);
        let run = |band: &mut Band| {
            let done = !stopped.load(Ordering::Relaxed) && way.run(band, limits);
            if !done {
                stopped.store(true, Ordering::Relaxed);
            }
            done
        };
        let mut finished = Vec::with_capacity(bands.len());
        if let Some(known) = known {
            let (taken, left): (Vec<_>, Vec<_>) = bands
                .into_iter()
                .map(|mut band| (band.take_from(known), band))
                .partition(|(taken, _)| *taken);
            let without = |bands: Vec<(bool, _)>| bands.into_iter().map(|(_, band)| band);
            finished.extend(without(taken));
            bands = without(left).collect();
        }
        if bands.is_empty() {
            keep.done(&finished);
        }
        let threads = threads.min(bands.len());
        let pool =
            (threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
        match pool {
            // This thread hears of what the others have done.
            Some(Ok(pool)) => pool.in_place_scope(|scope| {
                let (sender, receiver) = mpsc::channel();
                for mut band in bands {
                    let (sender, run) = (sender.clone(), &run);
                    scope.spawn(move |_| {
                        if run(&mut band) {
                            // Whoever has gone does not want to hear it.
                            let _ = sender.send(band);
                        }
                    });
                }
                drop(sender);
                for band in receiver {
                    finished.push(band);
                    keep.done(&finished);
                }
            }),
            // Without threads to be had it is done without.
            _ => {
                for mut band in bands {
                    if run(&mut band) {
                        finished.push(band);
                        keep.done(&finished);
                    }
                }
            }
        }
        drop(finished);
        if stopped.into_inner() {
            return None;
        }
        mirror_up(&mut products.gram, d);
        Some(products)
    }
}

/// Columns times weights, but for a factor: weights that are all alike wait until the end, so that no copy is needed.
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

/// Dense products of blocks of columns, which are written out part by part where they are not stored like that.
struct Tiles<'a> {
    of: &'a Columns<'a>,
}

impl Way for Tiles<'_> {
    fn run(&self, band: &mut Band, limits: &Limits) -> bool {
        let of = self.of;
        let (d, width) = (of.columns.len(), of.band());
        let (first, count) = (band.first, band.c.len());
        let (mut own, mut other, mut weighted) = (Vec::new(), Vec::new(), Vec::new());
        for rows in of.parts(of.stored().is_some()) {
            let length = rows.len();
            let own = of.block(first, count, &rows, &mut own);
            let (right, weight) = weigh(own, of.p, &rows, &mut weighted);
            for (c, column) in band.c.iter_mut().zip(right.chunks_exact(length)) {
                *c += weight * kernels::dot(column, &of.b[rows.clone()]);
            }
            if !of.shifts.is_empty() {
                for (mean, column) in band.means.iter_mut().zip(own.chunks_exact(length)) {
                    *mean += kernels::dot(&of.p[rows.clone()], column);
                }
            }
            let right = MatRef::from_column_major_slice(right, length, count);
            // Row by row in the band is column by column of its transpose.
            let mut multiply = |start: usize, left: &[f64], structure: BlockStructure| {
                let size = left.len() / length;
                let tile = &mut band.gram[start..];
                matmul(
                    MatMut::from_column_major_slice_with_stride_mut(tile, size, count, d),
                    structure,
                    Accum::Add,
                    MatRef::from_row_major_slice(left, size, length),
                    BlockStructure::Rectangular,
                    right,
                    BlockStructure::Rectangular,
                    weight,
                    Par::Seq,
                );
            };
            if limits.reached().is_some() {
                return false;
            }
            multiply(first, own, BlockStructure::TriangularUpper);
            for start in (0..first).step_by(width) {
                if limits.reached().is_some() {
                    return false;
                }
                let left = of.block(start, width, &rows, &mut other);
                multiply(start, left, BlockStructure::Rectangular);
            }
        }
        for (i, size) in band.sizes.iter_mut().enumerate() {
            *size = band.gram[i * d + first + i];
        }
        band.means.iter_mut().for_each(|mean| *mean = mean.abs());
        true
    }
}

/// Products of stored entries alone. With `g_j = pᵀr_j`, `P = Σp` and the shifts m,
///
/// ```text
/// Σ p (r_i - m_i)(r_j - m_j) = Σ p r_i r_j - m_i g_j - m_j (g_i - P m_i)
/// ```
///
/// whose rounding is relative to `(|r_i|_p + |m_i|√P)(|r_j|_p + |m_j|√P)`: for the mean of a column most of whose entries are
/// zero that is hardly more than what is left of it.
struct Merge<'a> {
    of: &'a Columns<'a>,
    /// Where each row starts, and the index and value of each entry, in the order of the columns.
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
    /// g.
    sums: Vec<f64>,
    total: f64,
    /// `p ∘ b`, and its sum.
    weighted: Vec<f64>,
    response: f64,
}

impl<'a> Merge<'a> {
    fn new(of: &'a Columns<'a>) -> Self {
        let n = of.design.rows();
        let mut starts = vec![0; n + 1];
        let columns = || of.columns.iter().map(|j| of.design.stored(*j)).enumerate();
        for (_, column) in columns() {
            if let Stored::Sparse(rows, _) = column {
                rows.iter().for_each(|i| starts[*i as usize + 1] += 1);
            }
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); starts[n]];
        let mut sums = vec![0.0; of.columns.len()];
        for (index, column) in columns() {
            if let Stored::Sparse(rows, values) = column {
                sums[index] = kernels::dot_sparse(rows, values, of.p);
                for (i, value) in rows.iter().zip(values) {
                    let at = &mut next[*i as usize];
                    entries[*at] = (index as u32, *value);
                    *at += 1;
                }
            }
        }
        let weighted: Vec<f64> = of.p.iter().zip(of.b).map(|(p, b)| p * b).collect();
        Self {
            of,
            starts,
            entries,
            sums,
            total: kernels::sum(of.p),
            response: kernels::sum(&weighted),
            weighted,
        }
    }
}

impl Way for Merge<'_> {
    fn run(&self, band: &mut Band, limits: &Limits) -> bool {
        let Columns {
            design, columns, p, ..
        } = *self.of;
        let d = columns.len();
        for (local, row) in band.gram.chunks_exact_mut(d).enumerate() {
            if limits.reached().is_some() {
                return false;
            }
            let i = band.first + local;
            let Stored::Sparse(rows, values) = design.stored(columns[i]) else {
                return false;
            };
            let row = &mut row[..=i];
            for (at, value) in rows.iter().zip(values) {
                let at = *at as usize;
                let weighted = p[at] * value;
                for (j, other) in &self.entries[self.starts[at]..self.starts[at + 1]] {
                    let Some(out) = row.get_mut(*j as usize) else {
                        break;
                    };
                    *out += weighted * other;
                }
            }
            let (shift, scale) = self.of.shift(i);
            let product = kernels::dot_sparse(rows, values, &self.weighted);
            band.c[local] = (product - shift * self.response) * scale;
            let length = row[i].sqrt() + shift.abs() * self.total.sqrt();
            band.sizes[local] = (length * scale).powi(2);
            if self.of.shifts.is_empty() {
                continue;
            }
            let left = self.sums[i] - shift * self.total;
            band.means[local] = (left * scale).abs();
            for (j, out) in row.iter_mut().enumerate() {
                let (other, other_scale) = self.of.shift(j);
                let centred = *out - shift * self.sums[j] - other * left;
                *out = centred * (scale * other_scale);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
