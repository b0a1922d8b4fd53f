//! Weighted products of the remaining columns, and the leverages of the rows in them. Both work on a block of rows at a
//! time, so that nothing of the size of the data is written out.

use std::ops::Range;

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

use super::slack::Slack;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;
use crate::problem::{Design, Problem};

/// Number of rows of a block, whose entries stay in the cache.
const BLOCK: usize = 256;
/// Number of columns below which products are made one by one.
const BLOCKED: usize = 8;
/// Share of its mean diagonal that the Gram matrix must keep as least eigenvalue.
const LEAST: f64 = 1e-6;

/// Some columns of a design, each times a power of two.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    design: &'a Design,
    pub list: Vec<(usize, f64)>,
    buffer: Vec<f64>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(design: &'a Design, list: Vec<(usize, f64)>) -> Self {
        Self {
            design,
            list,
            buffer: Vec::new(),
        }
    }

    /// Loads a block of rows, column after column, into `buffer`.
    fn load(&mut self, rows: Range<usize>) {
        self.buffer.clear();
        for (j, unit) in &self.list {
            let (centre, scale) = self.design.view(*j);
            let (shift, buffer) = ((centre, scale * unit), &mut self.buffer);
            self.design.append_rows(*j, rows.clone(), shift, buffer);
        }
    }

    /// Computes the lower triangle, by rows, of `Aᵀ diag(w) A`, `w ≥ 0`: sums over the rows of products of entries that
    /// are rounded four times each (twice in a view, √w, the product with it).
    pub(super) fn gram(&mut self, weights: &[f64], out: &mut [f64]) {
        let d = self.list.len();
        out.fill(0.0);
        let mut roots = [0.0; BLOCK];
        for (block, weights) in weights.chunks(BLOCK).enumerate() {
            let (first, count) = (block * BLOCK, weights.len());
            self.load(first..first + count);
            let roots = &mut roots[..count];
            roots
                .iter_mut()
                .zip(weights)
                .for_each(|(root, weight)| *root = weight.sqrt());
            for column in self.buffer.chunks_exact_mut(count) {
                let pairs = column.iter_mut().zip(&*roots);
                pairs.for_each(|(a, root)| *a *= root);
            }
            let entries = &self.buffer[..];
            if d < BLOCKED {
                let column = |j: usize| &entries[j * count..(j + 1) * count];
                for r in 0..d {
                    for c in 0..=r {
                        out[r * d + c] += kernels::dot(column(r), column(c));
                    }
                }
                continue;
            }
            matmul(
                MatMut::from_row_major_slice_mut(out, d, d),
                BlockStructure::TriangularLower,
                Accum::Add,
                MatRef::from_row_major_slice(entries, d, count),
                BlockStructure::Rectangular,
                MatRef::from_column_major_slice(entries, count, d),
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        }
    }
}

/// Proved upper bounds of `√(a_iᵀ(Aᵀ diag(w) A + diag(g))⁻¹ a_i)`.
///
/// The columns are scaled. The float factor R of `M̂ - τI`, `τ ≥ (γ_{n+12} + 2γ_{d+4}) tr` (`tr` of the terms added
/// up), satisfies `RRᵀ ⪯ M`, hence `ℓ_i ≤ |R⁻¹a_i|²`. A second factorisation with κ = 1e-6 of the mean diagonal
/// more proves `RRᵀ ⪰ κ/2`. The rounding of the substitution, `|R⁻¹||δR| ≤ √(2/κ) γ_{d+4} √tr`, is therefore far
/// below the 1e-6 that is added.
#[derive(Debug)]
pub(super) struct Leverage<'a> {
    columns: Columns<'a>,
    /// g of the scaled columns, and the sizes of its terms.
    ridges: Vec<(f64, f64)>,
    gram: Vec<f64>,
    sizes: Vec<f64>,
    factor: Cholesky,
    spare: Cholesky,
}

impl<'a> Leverage<'a> {
    /// Prepares the bounds for some columns; `None` where there are too many.
    pub(super) fn new(problem: &'a Problem, columns: &[usize], slack: &Slack) -> Option<Self> {
        let rows = problem.rows();
        let heaviest = problem.p.iter().copied().fold(0.0, f64::max);
        let mut list = Vec::with_capacity(columns.len());
        let mut ridges = Vec::with_capacity(columns.len());
        for (j, (ridge, size)) in columns.iter().zip(&slack.ridges) {
            let norm = problem.norms[*j] * heaviest.sqrt();
            if norm == 0.0 {
                continue;
            }
            // A power of two, so that the scaled columns are exact.
            let scale = (-norm.log2().round()).clamp(-1000.0, 1000.0).exp2();
            list.push((*j, scale));
            ridges.push((ridge * scale * scale, size * scale * scale));
        }
        let count = list.len();
        if count == 0 || count >= rows {
            return None;
        }
        Some(Self {
            columns: Columns::new(&problem.design, list),
            ridges,
            gram: vec![0.0; count * count],
            sizes: vec![0.0; rows],
            factor: Cholesky::new(),
            spare: Cholesky::new(),
        })
    }

    pub(super) fn bound(&mut self, weights: &[f64]) -> Option<&mut [f64]> {
        let (n, d) = (weights.len(), self.ridges.len());
        self.columns.gram(weights, &mut self.gram);
        let mut trace = 0.0;
        for (i, (ridge, size)) in self.ridges.iter().enumerate() {
            trace += self.gram[i * d + i] + size;
            self.gram[i * d + i] += ridge;
        }
        let shift = (gamma(n + 12) + 2.0 * gamma(d + 4)) * trace * 1.01;
        let least = LEAST * trace / d as f64;
        for (factor, shift) in [(&mut self.spare, shift + least), (&mut self.factor, shift)] {
            let rows = factor.load(d, &self.gram);
            (0..d).for_each(|i| rows[i * d + i] -= shift);
            if !factor.factor() {
                return None;
            }
        }
        for (block, sizes) in self.sizes.chunks_mut(BLOCK).enumerate() {
            let (first, count) = (block * BLOCK, sizes.len());
            self.columns.load(first..first + count);
            let entries = &mut self.columns.buffer;
            solve_lower_triangular_in_place(
                MatRef::from_row_major_slice(self.factor.rows(), d, d),
                MatMut::from_row_major_slice_mut(entries, d, count),
                Par::Seq,
            );
            sizes.fill(0.0);
            for row in entries.chunks_exact(count) {
                for (size, v) in sizes.iter_mut().zip(row) {
                    *size += v * v;
                }
            }
            for size in sizes {
                *size = size.sqrt() * (1.0 + 1e-6);
            }
        }
        Some(&mut self.sizes)
    }
}
