//! `P(x) = c0 - cᵀx + ½ xᵀHx` for the whole problem, `H = G + diag(λ)`, with the intercept eliminated by centring.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Par};

use crate::limits::Limits;
use crate::linalg::kernels;
use crate::linalg::rounding::{gamma, two_sum};
use crate::problem::Problem;

/// Above this many columns the Gram matrix is not formed.
pub(crate) const MAX_COLUMNS: usize = 3000;
/// Multiplications after which the product looks at the limits.
const PANEL_WORK: usize = 1 << 29;

/// The quadratic of a problem over its penalised and selectable columns.
#[derive(Debug)]
pub(crate) struct Root {
    /// Column of the data at each index: selectable ones first, then the always-in ones.
    pub columns: Vec<usize>,
    /// How many of them are selectable.
    pub selectable: usize,
    /// Row-major, symmetric.
    pub h: Vec<f64>,
    pub c: Vec<f64>,
    pub c0: f64,
    pub ridge: Vec<f64>,
    /// Roundings in an entry, and the c0 that they are relative to.
    rounding: (usize, f64),
    /// The diagonal entries that roundings are relative to.
    diagonal: Vec<f64>,
    /// What centring in floating point left of the means: of the response, of each column.
    means: (f64, Vec<f64>),
}

impl Root {
    /// `None` where the Gram form does not apply (too many columns, or unpenalised columns other than the intercept),
    /// and at a limit.
    ///
    /// `selectable`: the features that are not yet out.
    pub(crate) fn new(problem: &Problem, selectable: &[usize], limits: &Limits) -> Option<Self> {
        let unpenalised = problem.unpenalised.columns().len();
        if unpenalised > usize::from(problem.has_intercept) {
            return None;
        }
        let mut columns = selectable.to_vec();
        columns.extend_from_slice(&problem.penalised);
        let (n, d) = (problem.rows(), columns.len());
        if d == 0 || d > MAX_COLUMNS {
            return None;
        }
        let p = &problem.p;
        let total: f64 = p.iter().sum();
        // Any shift is exact mathematics, since the intercept absorbs it; the float mean is a good one.
        let shift = |v: &[f64]| -> f64 {
            if problem.has_intercept {
                kernels::dot(p, v) / total
            } else {
                0.0
            }
        };
        let mut column_means = vec![0.0; d];
        let mut centred = Vec::new();
        let in_order = !problem.has_intercept && columns.iter().copied().eq(0..d);
        if !in_order {
            centred.reserve_exact(n * d);
            for (j, left) in columns.iter().zip(&mut column_means) {
                if limits.stop() {
                    return None;
                }
                let column = problem.design.column(*j);
                let mean = shift(column);
                let start = centred.len();
                centred.extend(column.iter().map(|a| a - mean));
                if problem.has_intercept {
                    *left = kernels::dot(p, &centred[start..]).abs() * (1.0 + 1e-6);
                }
            }
        }
        // Without an intercept the data themselves are used, no copy.
        let centred: &[f64] = if in_order {
            &problem.design.values()[..n * d]
        } else {
            &centred
        };
        let mut b: Vec<f64> = problem.b.clone();
        let mut low = vec![0.0; n];
        if !problem.offset.is_empty() {
            for ((b, o), low) in b.iter_mut().zip(&problem.offset).zip(&mut low) {
                (*b, *low) = two_sum(*b, -o);
            }
        }
        let mean = shift(&b);
        for (b, low) in b.iter_mut().zip(&low) {
            *b = (*b - mean) + low;
        }
        let response_mean = if problem.has_intercept {
            kernels::dot(p, &b).abs()
        } else {
            0.0
        };

        let mut weighted = Vec::with_capacity(n * d);
        for column in centred.chunks_exact(n) {
            if limits.stop() {
                return None;
            }
            weighted.extend(column.iter().zip(p).map(|(a, p)| a * p));
        }
        let mut h = vec![0.0; d * d];
        let left = faer::MatRef::from_row_major_slice(&weighted, d, n);
        let right = faer::MatRef::from_column_major_slice(centred, n, d);
        let mut rest = faer::MatMut::from_column_major_slice_mut(&mut h, d, d);
        // The lower triangle, some columns at a time: a triangle on top, a rectangle below it.
        let mut at = 0;
        while at < d {
            if limits.stop() {
                return None;
            }
            let width = (PANEL_WORK / (n * (d - at))).max(8).min(d - at);
            let (top, _, below, next) = rest.split_at_mut(width, width);
            let columns = right.subcols(at, width);
            let parts = [
                (top, BlockStructure::TriangularLower, at, width),
                (
                    below,
                    BlockStructure::Rectangular,
                    at + width,
                    d - at - width,
                ),
            ];
            for (part, structure, first, count) in parts {
                matmul(
                    part,
                    structure,
                    Accum::Replace,
                    left.subrows(first, count),
                    BlockStructure::Rectangular,
                    columns,
                    BlockStructure::Rectangular,
                    1.0,
                    Par::Seq,
                );
            }
            rest = next;
            at += width;
        }
        let ridge: Vec<f64> = columns.iter().map(|j| problem.ridge[*j]).collect();
        for i in 0..d {
            // Column-major lower triangle: entry (r, i), r ≥ i, is at i d + r; mirror it.
            for r in i + 1..d {
                h[r * d + i] = h[i * d + r];
            }
            h[i * d + i] += ridge[i];
        }
        let c: Vec<f64> = weighted
            .chunks_exact(n)
            .map(|column| kernels::dot(column, &b))
            .collect();
        let c0 = 0.5 * kernels::weighted_dot(p, &b, &b);
        let diagonal: Vec<f64> = (0..d).map(|i| h[i * d + i]).collect();
        let fine = c0.is_finite() && h.iter().chain(&c).all(|v| v.is_finite());
        fine.then_some(Self {
            columns,
            selectable: selectable.len(),
            h,
            c,
            c0,
            ridge,
            rounding: (n, c0),
            diagonal,
            means: (response_mean * (1.0 + 1e-6), column_means),
        })
    }

    /// The same without some rows (only where there is no intercept): their share is taken off again. `None` at a limit.
    ///
    /// The entries of the whole bound the terms that are added and taken off, so its sizes stay the measure of rounding.
    pub(crate) fn without_rows(
        &self,
        problem: &Problem,
        rows: &[usize],
        limits: &Limits,
    ) -> Option<Self> {
        let d = self.size();
        let (mut h, mut c, mut c0) = (self.h.clone(), self.c.clone(), self.c0);
        let mut row = vec![0.0; d];
        for i in rows {
            if limits.stop() {
                return None;
            }
            let p = problem.p[*i];
            let b = problem.b[*i] - problem.offset.get(*i).copied().unwrap_or(0.0);
            for (a, j) in row.iter_mut().zip(&self.columns) {
                *a = problem.design.column(*j)[*i];
            }
            for (a, h) in row.iter().zip(h.chunks_exact_mut(d)) {
                kernels::axpy(-p * a, &row, h);
            }
            kernels::axpy(-p * b, &row, &mut c);
            c0 -= 0.5 * p * b * b;
        }
        let (roundings, whole) = self.rounding;
        Some(Self {
            columns: self.columns.clone(),
            h,
            c,
            c0: c0.max(0.0),
            ridge: self.ridge.clone(),
            rounding: (roundings + 3 * rows.len() + 3, whole),
            diagonal: self.diagonal.clone(),
            means: self.means.clone(),
            ..*self
        })
    }

    pub(crate) fn size(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        let d = self.size();
        &self.h[i * d..(i + 1) * d]
    }

    /// Roundings in an entry.
    pub(crate) fn roundings(&self) -> usize {
        self.rounding.0
    }

    /// `Y ≥ √(xᵀHx)` for every x with `P(x) ≤ reference`.
    pub(crate) fn reach(&self, reference: f64) -> f64 {
        let (_, c0) = self.rounding;
        ((2.0 * c0).sqrt() + (2.0 * reference).sqrt()) * (1.0 + 1e-3)
    }

    /// A bound of `|P(x) - P̂(x)|` over all x with at most `k` non-zeros and `P(x) ≤ reference`, where P̂ has the
    /// float H, c, c0. `squares`: any s² with `H ⪰ diag(s²)` proved of the float H; the ridge where it is larger.
    ///
    /// Each entry is a sum over n rows of rounded products of columns centred with a relative error u:
    /// `|ΔH_ij| ≤ γ √(H_ii H_jj)`, `|Δc_i| ≤ γ √(2 c0 H_ii)`, `|Δc0| ≤ γ c0`, and `Σ √H_ii |x_i| ≤ √(κk) Y` with
    /// `κ = max H_ii/s_i²`. The true H is at least `diag(s²)/2` when `γ Σ H_ii/s_i² ≤ ½`; else the ridge is what is sure.
    /// Leaving the rest of the intercept at 0 after centring costs the square of what is left of the means.
    pub(crate) fn error(&self, k: usize, squares: Option<&[f64]>, reference: f64) -> f64 {
        let (roundings, diagonal, c0) = (self.rounding.0, &self.diagonal, self.rounding.1);
        let noise = gamma(roundings + 14);
        let ratio = |square: &dyn Fn(usize) -> f64| -> (f64, f64, f64) {
            let (mut most, mut sum, mut mean) = (0.0_f64, 0.0, 0.0_f64);
            for (i, h) in diagonal.iter().enumerate() {
                most = most.max(h / square(i));
                sum += h / square(i);
                mean = mean.max(self.means.1[i] / square(i).sqrt());
            }
            (most, sum, mean)
        };
        let plain = ratio(&|i| self.ridge[i]);
        let (steepest, mean) = match squares {
            Some(squares) => {
                let (most, sum, mean) = ratio(&|i| squares[i]);
                if noise * sum <= 0.5 {
                    (2.0 * most, 1.5 * mean)
                } else {
                    (plain.0, plain.2)
                }
            }
            None => (plain.0, plain.2),
        };
        let y = self.reach(reference);
        let spread = (steepest.min(plain.0) * k as f64).sqrt() * y;
        let sum = (2.0 * c0).sqrt() + spread;
        let left = self.means.0 + mean * (k as f64).sqrt() * y;
        noise * sum * sum + left * left
    }
}
