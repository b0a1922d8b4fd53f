//! Bands of sparse products ([`Merge`]).

use super::Columns;
use super::bands::{Band, Way};
use crate::limits::Limits;
use crate::linalg::kernels;
use crate::problem::Stored;

/// Products of the stored entries alone, corrected for the shifts.
///
/// With `g_j = pᵀr_j`, `P = Σp` and the shifts m,
///
/// ```text
/// Σ p (r_i - m_i)(r_j - m_j) = Σ p r_i r_j - m_i g_j - m_j (g_i - P m_i)
/// ```
///
/// whose rounding is relative to `(|r_i|_p + |m_i|√P)(|r_j|_p + |m_j|√P)`. For the mean of a column most of whose
/// entries are zero, that is hardly more than the remainder after the shift.
pub(super) struct Merge<'a> {
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
    pub(super) fn new(of: &'a Columns<'a>) -> Self {
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
