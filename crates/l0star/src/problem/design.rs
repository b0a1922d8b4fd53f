//! The design matrix: how its entries are stored and seen. What is done with them is in `verbs`.
//!
//! Entries are stored dense or sparse, or by somebody else, and never changed: centring and scaling are a *view* that the verbs apply on the
//! way. The problem is about the real numbers `(r_ij - c_j) s_j`, r the stored floats; what rounding does to them is in
//! `docs/numerics.md`, section 1.

use std::ops::Range;
use std::sync::Arc;

use super::csc::Csc;
use super::shared::{Full, Shared, SharedColumns};
use crate::error::{Error, Result};
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;

/// A design matrix `A`, dense or sparse, perhaps seen centred and scaled. Cheap to clone: the entries are shared.
#[derive(Debug, Clone)]
pub struct Design {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) entries: Entries,
    pub(super) view: Option<Arc<View>>,
    /// Set where the matrix is that of a row of scores: `I ⊗ A` for the A that is stored.
    pub(super) stack: Option<Stack>,
}

/// `I ⊗ A`, never written out: block r has the rows of response r, and in these the columns of A. First come the features of each
/// response in turn, then the column of ones of each response that has one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stack {
    /// Rows of A …
    rows: usize,
    /// … and its columns, one of ones behind them not counted.
    features: usize,
    /// How many responses there are.
    count: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Entries {
    /// Column after column.
    Dense(Arc<Vec<f64>>),
    Sparse(Arc<Csc>),
    Shared(Arc<Shared>),
}

/// Column j is `(r_j - centre_j) scale_j`.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) centre: Vec<f64>,
    pub(super) scale: Vec<f64>,
}

/// The stored entries of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stored<'a> {
    Dense(Full<'a>),
    /// Row indices in order, and values.
    Sparse(&'a [u32], &'a [f64]),
}

impl<'a> Stored<'a> {
    /// The values, whatever rows they are in.
    pub(crate) fn values(self) -> Full<'a> {
        match self {
            Self::Dense(values) => values,
            Self::Sparse(_, values) => Full::of(values),
        }
    }
}

impl Design {
    /// From the columns laid end to end (`rows × columns` values); entries must be finite.
    pub fn dense(rows: usize, columns: usize, values: Vec<f64>) -> Result<Self> {
        let expected = rows.saturating_mul(columns);
        if rows > 0 && values.len() != expected {
            return Err(Error::Shape {
                what: format!("a design matrix of {rows} rows and {columns} columns"),
                expected,
                found: values.len(),
            });
        }
        Self::new(rows, columns, Entries::Dense(Arc::new(values)))
    }

    /// From rows laid end to end (C order).
    pub fn from_rows(rows: usize, columns: usize, values: &[f64]) -> Result<Self> {
        if values.len() != rows.saturating_mul(columns) {
            return Self::dense(rows, columns, values.to_vec());
        }
        let mut by_column = Vec::with_capacity(values.len());
        for j in 0..columns {
            by_column.extend((0..rows).map(|i| values[i * columns + j]));
        }
        Self::dense(rows, columns, by_column)
    }

    /// From compressed sparse columns (CSC): column j has the values `values[indptr[j]..indptr[j + 1]]` in the rows
    /// `indices[indptr[j]..indptr[j + 1]]`, which increase and are counted from 0. Values must be finite.
    ///
    /// The matrix is never made dense: a pass over it costs time in proportion to the values stored.
    ///
    /// ```
    /// use l0star::Design;
    ///
    /// // 1 0
    /// // 0 0
    /// // 2 3
    /// let design = Design::sparse(3, 2, vec![0, 2, 3], vec![0, 2, 2], vec![1.0, 2.0, 3.0])?;
    /// assert_eq!(design.dot(0, &[1.0, 10.0, 100.0]), 201.0);
    /// assert!(Design::sparse(3, 1, vec![0, 2], vec![2, 0], vec![1.0, 2.0]).is_err());
    /// # Ok::<(), l0star::Error>(())
    /// ```
    pub fn sparse(
        rows: usize,
        columns: usize,
        indptr: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self> {
        let entries = Csc::new(rows, columns, indptr, indices, values)?;
        Self::new(rows, columns, Entries::Sparse(Arc::new(entries)))
    }

    /// From some columns of an owner, in the order of `columns`, each of so many rows: entries are read where they are, and
    /// must be finite.
    ///
    /// Nothing is copied, whatever is done with the matrix later: centring and scaling are a view, and rows without weight are
    /// passed over.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use l0star::Design;
    /// use l0star::problem::{Numbers, SharedColumns};
    ///
    /// #[derive(Debug)]
    /// struct Halves(Vec<Vec<f32>>);
    ///
    /// impl SharedColumns for Halves {
    ///     fn column(&self, index: usize) -> Numbers<'_> {
    ///         Numbers::Single(&self.0[index])
    ///     }
    /// }
    ///
    /// let owner = Arc::new(Halves(vec![vec![1.0, 0.0, 2.0], vec![0.5, 0.0, 3.0]]));
    /// let design = Design::shared(3, &[1, 0], owner)?;
    /// assert_eq!(design.dot(0, &[1.0, 10.0, 100.0]), 300.5);
    /// # Ok::<(), l0star::Error>(())
    /// ```
    pub fn shared(rows: usize, columns: &[usize], owner: Arc<dyn SharedColumns>) -> Result<Self> {
        let entries = Shared::new(rows, columns, owner)?;
        Self::new(rows, columns.len(), Entries::Shared(Arc::new(entries)))
    }

    fn new(rows: usize, columns: usize, entries: Entries) -> Result<Self> {
        if rows == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        Ok(Self {
            rows,
            columns,
            entries,
            view: None,
            stack: None,
        })
    }

    /// `I ⊗ A` for this A, whose last column is one of ones where `intercepts > 0`: the first so many responses have it.
    pub(super) fn stacked(self, count: usize, intercepts: usize) -> Self {
        let features = self.columns - usize::from(intercepts > 0);
        Self {
            rows: self.rows * count,
            columns: features * count + intercepts,
            stack: Some(Stack {
                rows: self.rows,
                features,
                count,
            }),
            ..self
        }
    }

    /// The index of a column in what is stored, and the rows that it is in.
    #[inline]
    pub(crate) fn place(&self, j: usize) -> (usize, Range<usize>) {
        let Some(stack) = &self.stack else {
            return (j, 0..self.rows);
        };
        let own = stack.features * stack.count;
        let (column, block) = if j < own {
            (j % stack.features, j / stack.features)
        } else {
            (stack.features, j - own)
        };
        let start = block * stack.rows;
        (column, start..start + stack.rows)
    }

    /// Whether columns are in some of the rows only ([`Design::place`]).
    #[inline]
    pub(crate) fn is_stacked(&self) -> bool {
        self.stack.is_some()
    }

    /// Rows of what is stored.
    #[inline]
    fn height(&self) -> usize {
        self.stack.map_or(self.rows, |stack| stack.rows)
    }

    /// The matrix with the columns `(r_j - centre_j) scale_j`, r_j the stored ones; an earlier view is replaced.
    ///
    /// Nothing is copied, and sparse columns stay sparse.
    pub fn with_view(self, centre: Vec<f64>, scale: Vec<f64>) -> Result<Self> {
        for (what, numbers) in [("centres", &centre), ("scales", &scale)] {
            if numbers.len() != self.columns {
                return Err(Error::Shape {
                    what: format!("the list of {what}"),
                    expected: self.columns,
                    found: numbers.len(),
                });
            }
            if let Some(j) = numbers.iter().position(|v| !v.is_finite()) {
                return Err(Error::NotFinite {
                    row: j + 1,
                    column: what.to_owned(),
                    value: numbers[j],
                });
            }
        }
        let view = Some(Arc::new(View { centre, scale }));
        Ok(Self { view, ..self })
    }

    /// The matrix whose columns are the stored ones less other centres, in the scale that is seen here, divided by these
    /// numbers. Sparse columns that get another centre are written out, less it: all their entries are stored.
    pub(super) fn moved(&self, mut centre: Vec<f64>, divisors: &[f64]) -> Result<Self> {
        let mut moved = self.clone();
        if let Entries::Sparse(entries) = &mut moved.entries {
            for (j, centre) in centre.iter_mut().enumerate() {
                if *centre != self.view(j).0 {
                    let values = Arc::make_mut(entries).column_mut(j);
                    values.iter_mut().for_each(|v| *v -= *centre);
                    *centre = 0.0;
                }
            }
        }
        let scale = divisors.iter().enumerate();
        let scale: Vec<f64> = scale.map(|(j, by)| self.view(j).1 / by).collect();
        let is_plain = centre.iter().all(|c| *c == 0.0) && scale.iter().all(|s| *s == 1.0);
        if is_plain {
            moved.view = None;
            return Ok(moved);
        }
        moved.with_view(centre, scale)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether only some entries are stored.
    pub fn is_sparse(&self) -> bool {
        matches!(self.entries, Entries::Sparse(_))
    }

    /// How many entries are stored here: all of a dense matrix, the non-zero ones of a sparse one, none of a shared one but those of
    /// columns that were added.
    pub fn entry_count(&self) -> usize {
        if let Entries::Shared(columns) = &self.entries {
            return columns.own_count();
        }
        let count = |j| self.stored(j).values().len();
        (0..self.columns).map(count).sum()
    }

    /// The stored values of all columns, end to end, if they are the matrix: dense, and without a view.
    #[inline]
    pub(crate) fn plain(&self) -> Option<&[f64]> {
        match (&self.entries, &self.view) {
            (Entries::Dense(values), None) if self.stack.is_none() => Some(values),
            _ => None,
        }
    }

    /// Whether the columns are seen centred or scaled.
    pub(crate) fn has_view(&self) -> bool {
        self.view.is_some()
    }

    /// What is stored of column `j`: the entries of the rows of [`Design::place`].
    #[inline]
    pub(crate) fn stored(&self, j: usize) -> Stored<'_> {
        let j = self.place(j).0;
        match &self.entries {
            Entries::Dense(values) => Stored::Dense(Full::of(self.slice(values, j))),
            Entries::Shared(columns) => Stored::Dense(columns.column(j)),
            Entries::Sparse(entries) => {
                let (rows, values) = entries.column(j);
                Stored::Sparse(rows, values)
            }
        }
    }

    /// Centre and scale of column `j`.
    #[inline]
    pub(crate) fn view(&self, j: usize) -> (f64, f64) {
        let (view, j) = (self.view.as_ref(), self.place(j).0);
        view.map_or((0.0, 1.0), |view| (view.centre[j], view.scale[j]))
    }

    #[inline]
    pub(super) fn slice<'a>(&self, values: &'a [f64], j: usize) -> &'a [f64] {
        let height = self.height();
        &values[j * height..(j + 1) * height]
    }

    /// The first stored value that is like this: (row, column, value).
    pub(crate) fn find_entry(&self, is: impl Fn(f64) -> bool) -> Option<(usize, usize, f64)> {
        match &self.entries {
            Entries::Dense(values) => {
                let at = values.iter().position(|v| is(*v))?;
                Some((at % self.rows, at / self.rows, values[at]))
            }
            Entries::Sparse(entries) => entries.find(is),
            Entries::Shared(_) => (0..self.columns).find_map(|j| {
                let mut column = self.entries(j);
                let (row, value) = column.find(|(_, value)| is(*value))?;
                Some((row, j, value))
            }),
        }
    }

    /// One more column at the end, seen as it is.
    pub(crate) fn with_column(mut self, column: &[f64]) -> Self {
        match &mut self.entries {
            Entries::Dense(values) => Arc::make_mut(values).extend_from_slice(column),
            Entries::Sparse(entries) => Arc::make_mut(entries).push(column),
            Entries::Shared(columns) => Arc::make_mut(columns).push(column),
        }
        if let Some(view) = &mut self.view {
            let view = Arc::make_mut(view);
            view.centre.push(0.0);
            view.scale.push(1.0);
        }
        self.columns += 1;
        self
    }

    /// The rows that `keep` marks.
    pub(crate) fn keep_rows(&self, keep: &[bool]) -> Self {
        let entries = match &self.entries {
            Entries::Dense(values) => {
                let kept = values.chunks_exact(self.rows).flat_map(|column| {
                    let marked = column.iter().zip(keep);
                    marked.filter_map(|(v, keep)| keep.then_some(*v))
                });
                Entries::Dense(Arc::new(kept.collect()))
            }
            Entries::Sparse(entries) => Entries::Sparse(Arc::new(entries.keep_rows(keep))),
            Entries::Shared(columns) => Entries::Shared(Arc::new(columns.keep_rows(keep))),
        };
        Self {
            rows: keep.iter().filter(|keep| **keep).count(),
            columns: self.columns,
            entries,
            view: self.view.clone(),
            stack: None,
        }
    }

    /// Upper bounds of `|a_j|₂`, and of the size that the rounding of [`Design::dot`] is relative to; neither underflow
    /// nor rounding can bring them below.
    ///
    /// The second is the first where the stored column is the column. A view's dot rounds up to four times more, hence
    /// the factor 2; and `r_jᵀv - c_j Σv` of a sparse column rounds relative to both of its parts.
    pub(crate) fn norm_above(&self, j: usize) -> (f64, f64) {
        let n = self.height();
        let (centre, scale) = self.view(j);
        let wider = 1.0 + 2.0 * gamma(n + 8);
        // From the sum of squares, or where that underflows from the largest entry, zeros not stored included.
        let length = |squares: f64, values: Full, centre: f64| {
            if squares > 1e-250 {
                return squares.sqrt() * wider;
            }
            let zeros = if values.len() < n { centre.abs() } else { 0.0 };
            let sizes = values.iter().map(|v| (v - centre).abs());
            sizes.fold(zeros, f64::max) * (n as f64).sqrt() * wider
        };
        let values = self.stored(j).values();
        let stored = |values: Full| {
            let squares = values.sum(|_, values| kernels::dot(values, values));
            length(squares, values, 0.0)
        };
        if self.view.is_none() {
            let norm = stored(values);
            return (norm, norm);
        }
        let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
        let zeros = (n - values.len()) as f64 * centre * centre;
        let norm = length(squares + zeros, values, centre);
        let size = if self.is_sparse() {
            stored(values) + centre.abs() * (n as f64).sqrt()
        } else {
            norm
        };
        let scale = scale.abs() * wider;
        (norm * scale, 2.0 * size * scale)
    }
}

#[cfg(test)]
mod tests;
