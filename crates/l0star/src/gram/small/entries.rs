//! The quadratic of a problem entry by entry, whether or not its matrix is in memory ([`Entries`]).

use std::borrow::Cow;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::gram::root::{self, Root};
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::problem::Problem;

/// Maximum number of columns to enumerate: the correlations of more pairs would take more than a gigabyte.
pub(super) const MOST_COLUMNS: usize = 16_384;

/// Maximum number of values that are written out in addition to the data.
const MOST_VALUES: usize = 1 << 26;

/// `P(x) = c0 - cᵀx + ½ xᵀHx` in floats, with bounds on the distance to the problem.
///
/// With the rounding sizes `D_i ≥ H_ii` and the share η: `|ΔH_ij| ≤ η √(D_i D_j)`, `|Δc_i| ≤ η √(2 c0 D_i)`, `|Δc0| ≤ η c0`.
pub(crate) struct Entries<'a> {
    source: Source<'a>,
    pub(super) c: Cow<'a, [f64]>,
    pub(super) c0: f64,
    /// `H_ii`, the ridge included.
    pub(super) diagonal: Vec<f64>,
    /// `D_i`.
    pub(super) sizes: Vec<f64>,
    /// η.
    pub(super) share: f64,
}

/// The source of the entries off the diagonal.
enum Source<'a> {
    /// A matrix, row by row.
    Matrix(&'a [f64]),
    /// Centred columns end to end, and the weights of their rows.
    Columns { values: Vec<f64>, p: &'a [f64] },
}

/// Buffers for blocks of columns.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    left: Vec<f64>,
    right: Vec<f64>,
}

impl<'a> Entries<'a> {
    /// Returns the entries of a quadratic that is in memory, by its own indices.
    pub(crate) fn of_root(root: &'a Root) -> Self {
        let d = root.size();
        Self {
            source: Source::Matrix(&root.h),
            c: Cow::Borrowed(&root.c),
            c0: root.c0,
            diagonal: (0..d).map(|i| root.row(i)[i]).collect(),
            sizes: (0..d).map(|i| root.rounding_size(i)).collect(),
            share: root.share(),
        }
    }

    /// Returns the entries over some columns of dense data, by their places in the list. Returns `None` for sparse
    /// data, for data too large to be written out, and with unpenalised columns other than the intercept.
    pub(crate) fn of_columns(problem: &'a Problem, columns: &[usize]) -> Option<Self> {
        let (n, d) = (problem.rows(), columns.len());
        let unpenalised = problem.unpenalised.columns().len();
        if problem.design.is_sparse()
            || unpenalised > usize::from(problem.has_intercept)
            || d > MOST_COLUMNS
            || n * d > MOST_VALUES
        {
            return None;
        }
        let (p, b) = (&problem.p, root::response(problem));
        let values = root::shown(problem, columns, &b).written_out();
        let c0 = 0.5 * kernels::weighted_dot(p, &b, &b);
        let mut c = Vec::with_capacity(d);
        let mut diagonal = Vec::with_capacity(d);
        let mut means = Vec::with_capacity(d);
        for (column, j) in values.chunks_exact(n).zip(columns) {
            c.push(kernels::weighted_dot(p, column, &b));
            diagonal.push(kernels::weighted_dot(p, column, column) + problem.ridge[*j]);
            means.push(kernels::dot(p, column).abs());
        }
        let response_mean = kernels::dot(p, &b).abs();
        let means = problem.has_intercept.then_some((response_mean, &means[..]));
        let share = root::share(n, c0, &diagonal, means);
        let fine = c0.is_finite() && c.iter().chain(&diagonal).all(|v| v.is_finite());
        fine.then(|| Self {
            source: Source::Columns { values, p },
            c: Cow::Owned(c),
            c0,
            sizes: diagonal.clone(),
            diagonal,
            share,
        })
    }

    /// Returns `H_ij` for i ≠ j.
    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        match &self.source {
            Source::Matrix(h) => h[i * self.diagonal.len() + j],
            Source::Columns { values, p } => {
                let n = p.len();
                let column = |i: usize| &values[i * n..(i + 1) * n];
                kernels::weighted_dot(p, column(i), column(j))
            }
        }
    }

    /// Computes `H_ij` for i in `rows` and j in `columns`, row by row. Entries on the diagonal of H are undefined here.
    pub(super) fn block(
        &self,
        rows: &[usize],
        columns: &[usize],
        buffers: &mut Buffers,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        match &self.source {
            Source::Matrix(h) => {
                let d = self.diagonal.len();
                for i in rows {
                    let row = &h[i * d..(i + 1) * d];
                    out.extend(columns.iter().map(|j| row[*j]));
                }
            }
            Source::Columns { values, p } => {
                let n = p.len();
                let (left, right) = (&mut buffers.left, &mut buffers.right);
                left.clear();
                right.clear();
                for i in rows {
                    let column = &values[i * n..(i + 1) * n];
                    left.extend(column.iter().zip(*p).map(|(a, p)| a * p));
                }
                for j in columns {
                    right.extend_from_slice(&values[j * n..(j + 1) * n]);
                }
                out.resize(rows.len() * columns.len(), 0.0);
                matmul(
                    MatMut::from_column_major_slice_mut(out, columns.len(), rows.len()),
                    Accum::Replace,
                    MatRef::from_row_major_slice(right, columns.len(), n),
                    MatRef::from_column_major_slice(left, n, rows.len()),
                    1.0,
                    Par::Seq,
                );
            }
        }
    }

    /// Estimates the least P over some columns; +∞ where the factorisation fails.
    pub(super) fn value(&self, columns: &[usize], factor: &mut Cholesky) -> f64 {
        let size = columns.len();
        if size == 0 {
            return self.c0;
        }
        let rows = factor.start(size);
        for (r, i) in columns.iter().enumerate() {
            for (s, j) in columns[..r].iter().enumerate() {
                rows[r * size + s] = self.at(*i, *j);
            }
            rows[r * size + r] = self.diagonal[*i];
        }
        if !factor.factor() {
            return f64::INFINITY;
        }
        let c: Vec<f64> = columns.iter().map(|i| self.c[*i]).collect();
        let mut x = c.clone();
        factor.solve(&mut x);
        self.c0 - 0.5 * kernels::dot(&c, &x)
    }
}
