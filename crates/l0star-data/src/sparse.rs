//! [`SparseTable`]: named columns that store only non-zero cells.

use crate::error::DataError;
use crate::table::{Table, check_names};

/// A table in compressed sparse columns, valid by construction. The entries of column `j` are
/// `indptr[j]..indptr[j + 1]`; their rows ascend, and their values are finite and non-zero.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseTable {
    names: Vec<String>,
    rows: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl SparseTable {
    /// Creates a table from the arrays of the format; fails if they do not fit together.
    pub fn new(
        names: Vec<String>,
        rows: usize,
        indptr: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<SparseTable, DataError> {
        check_names(None, &names)?;
        let shape = |what: &str| Err(DataError::Shape { what: what.into() });
        if rows == 0 || names.is_empty() {
            return shape("a sparse table without rows or columns");
        }
        if indptr.len() != names.len() + 1
            || indptr.first() != Some(&0)
            || indptr.last() != Some(&values.len())
            || indices.len() != values.len()
            || indptr.windows(2).any(|pair| pair[0] > pair[1])
        {
            return shape("the pointers of a sparse table do not fit its entries");
        }
        for pair in indptr.windows(2) {
            let column = &indices[pair[0]..pair[1]];
            if column.windows(2).any(|pair| pair[0] >= pair[1])
                || column.last().is_some_and(|row| *row as usize >= rows)
            {
                return shape("the rows of a sparse column must ascend and exist");
            }
        }
        if values
            .iter()
            .any(|value| !value.is_finite() || *value == 0.0)
        {
            return shape("a sparse table stores a value that is zero or not finite");
        }
        Ok(SparseTable {
            names,
            rows,
            indptr,
            indices,
            values,
        })
    }

    /// Returns the names of the columns, left to right.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.names.len()
    }

    /// Returns the number of stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Returns the rows and values of column `j`, counted from 0.
    ///
    /// # Panics
    /// If `j` is not below [`SparseTable::columns`], like any slice.
    pub fn column(&self, j: usize) -> (&[u32], &[f64]) {
        let range = self.indptr[j]..self.indptr[j + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Returns names, rows, column pointers, row indices and values.
    pub fn into_parts(self) -> (Vec<String>, usize, Vec<usize>, Vec<u32>, Vec<f64>) {
        (
            self.names,
            self.rows,
            self.indptr,
            self.indices,
            self.values,
        )
    }

    /// Returns the table with its zeros stored, which takes `8 * rows * columns` bytes.
    pub fn to_dense(&self) -> Result<Table, DataError> {
        let mut values = vec![0.0; self.rows * self.columns()];
        for (j, dense) in values.chunks_exact_mut(self.rows).enumerate() {
            let (rows, entries) = self.column(j);
            for (row, value) in rows.iter().zip(entries) {
                dense[*row as usize] = *value;
            }
        }
        Table::new(self.names.clone(), self.rows, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(indptr: &[usize], indices: &[u32], values: &[f64]) -> Result<SparseTable, DataError> {
        let names = vec!["a".to_string(), "b".to_string()];
        SparseTable::new(names, 3, indptr.to_vec(), indices.to_vec(), values.to_vec())
    }

    #[test]
    fn zeros_come_back() {
        let sparse = table(&[0, 2, 2], &[0, 2], &[1.5, -1.0]).unwrap();
        assert_eq!(sparse.column(0), (&[0, 2][..], &[1.5, -1.0][..]));
        assert_eq!(sparse.column(1), (&[][..], &[][..]));
        let dense = sparse.to_dense().unwrap();
        assert_eq!(dense.values(), [1.5, 0.0, -1.0, 0.0, 0.0, 0.0]);
        assert_eq!(dense.names(), ["a", "b"]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        assert!(table(&[0, 2], &[0, 2], &[1.5, -1.0]).is_err());
        assert!(table(&[0, 2, 3], &[0, 2], &[1.5, -1.0]).is_err());
        assert!(table(&[0, 2, 2], &[2, 0], &[1.5, -1.0]).is_err());
        assert!(table(&[0, 2, 2], &[0, 3], &[1.5, -1.0]).is_err());
        assert!(table(&[0, 2, 2], &[0, 0], &[1.5, -1.0]).is_err());
        assert!(table(&[0, 2, 2], &[0, 1], &[1.5, 0.0]).is_err());
        assert!(table(&[0, 2, 2], &[0, 1], &[1.5, f64::NAN]).is_err());
        assert!(table(&[0, 2, 1], &[0], &[1.5]).is_err());
    }
}
