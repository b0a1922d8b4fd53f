//! The design matrix and its few verbs.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::linalg::kernels;

/// A design matrix `A`, dense, column after column. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Design {
    rows: usize,
    columns: usize,
    values: Arc<Vec<f64>>,
}

impl Design {
    /// From the columns laid end to end (`rows × columns` values); entries must be finite.
    pub fn dense(rows: usize, columns: usize, values: Vec<f64>) -> Result<Self> {
        if rows == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        let expected = rows.saturating_mul(columns);
        if values.len() != expected {
            return Err(Error::Shape {
                what: format!("a design matrix of {rows} rows and {columns} columns"),
                expected,
                found: values.len(),
            });
        }
        Ok(Self {
            rows,
            columns,
            values: Arc::new(values),
        })
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

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Column `j`.
    #[inline]
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.rows..(j + 1) * self.rows]
    }

    /// All columns, end to end.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The first entry that is not finite: (row, column, value).
    pub(crate) fn find_not_finite(&self) -> Option<(usize, usize, f64)> {
        let at = self.values.iter().position(|v| !v.is_finite())?;
        Some((at % self.rows, at / self.rows, self.values[at]))
    }

    /// One more column at the end.
    pub(crate) fn with_column(mut self, column: &[f64]) -> Self {
        Arc::make_mut(&mut self.values).extend_from_slice(column);
        self.columns += 1;
        self
    }

    /// The rows that `keep` marks.
    pub(crate) fn keep_rows(&self, keep: &[bool]) -> Self {
        let values: Vec<f64> = self
            .values
            .chunks_exact(self.rows)
            .flat_map(|column| {
                column
                    .iter()
                    .zip(keep)
                    .filter_map(|(v, keep)| keep.then_some(*v))
            })
            .collect();
        Self {
            rows: keep.iter().filter(|keep| **keep).count(),
            columns: self.columns,
            values: Arc::new(values),
        }
    }

    /// `z += s a_j`.
    #[inline]
    pub fn add_column(&self, j: usize, s: f64, z: &mut [f64]) {
        kernels::axpy(s, self.column(j), z);
    }

    /// `a_jᵀ v`.
    #[inline]
    pub fn dot(&self, j: usize, v: &[f64]) -> f64 {
        kernels::dot(self.column(j), v)
    }

    /// `out_i = a_{columns_i}ᵀ v`.
    pub fn dots(&self, columns: &[usize], v: &[f64], out: &mut [f64]) {
        self.each_dot(columns, v, |at, _, dot| out[at] = dot);
    }

    /// `out_j = a_jᵀ v` for each `j` of `columns`, in a vector over all columns.
    pub fn dots_scattered(&self, columns: &[usize], v: &[f64], out: &mut [f64]) {
        self.each_dot(columns, v, |_, j, dot| out[j] = dot);
    }

    fn each_dot(&self, columns: &[usize], v: &[f64], mut put: impl FnMut(usize, usize, f64)) {
        let (fours, rest) = columns.as_chunks::<4>();
        for (i, four) in fours.iter().enumerate() {
            let dots = kernels::dot4(four.map(|j| self.column(j)), v);
            for l in 0..4 {
                put(4 * i + l, four[l], dots[l]);
            }
        }
        for (i, j) in rest.iter().enumerate() {
            put(4 * fours.len() + i, *j, self.dot(*j, v));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_and_column_order_agree() {
        let by_rows = Design::from_rows(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let by_columns = Design::dense(2, 3, vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]).unwrap();
        for j in 0..3 {
            assert_eq!(by_rows.column(j), by_columns.column(j));
        }
    }

    #[test]
    fn dots_cover_every_column_once() {
        let design = Design::dense(3, 7, (0..21).map(f64::from).collect()).unwrap();
        let v = [1.0, -1.0, 2.0];
        let columns = [6, 0, 2, 5, 3, 1];
        let mut out = [0.0; 6];
        design.dots(&columns, &v, &mut out);
        let mut scattered = [f64::NAN; 7];
        design.dots_scattered(&columns, &v, &mut scattered);
        for (j, out) in columns.iter().zip(out) {
            assert_eq!(out, design.dot(*j, &v));
            assert_eq!(scattered[*j], out);
        }
        assert!(scattered[4].is_nan());
    }

    #[test]
    fn a_wrong_size_is_an_error() {
        assert!(matches!(
            Design::dense(2, 2, vec![0.0; 3]),
            Err(Error::Shape {
                expected: 4,
                found: 3,
                ..
            })
        ));
        assert!(matches!(
            Design::dense(0, 2, vec![]),
            Err(Error::Empty { what: "rows" })
        ));
    }
}
