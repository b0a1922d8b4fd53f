//! Compressed sparse columns: only the stored entries cost anything.

use crate::error::{Error, Result};

/// The entries of a sparse matrix, column after column, each sorted by row.
#[derive(Debug, Clone)]
pub(super) struct Csc {
    /// Where each column starts, and where the last one ends.
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Csc {
    /// Checks that the arrays describe a matrix of this shape; values are not looked at.
    pub(super) fn new(
        rows: usize,
        columns: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self> {
        if u32::try_from(rows).is_err() {
            return Err(Error::Setting {
                name: "the number of rows of a sparse design matrix",
                value: rows.to_string(),
                range: "row indices have 32 bits, so at most 4294967295 rows fit",
            });
        }
        let lengths = [
            ("indptr", columns.saturating_add(1), starts.len()),
            ("the array of row indices", values.len(), indices.len()),
        ];
        for (what, expected, found) in lengths {
            if found != expected {
                return Err(Error::Shape {
                    what: format!("{what} of a sparse design matrix of {columns} columns"),
                    expected,
                    found,
                });
            }
        }
        let ranges = || starts.windows(2).map(|ends| (ends[0], ends[1])).enumerate();
        for (column, (from, to)) in ranges() {
            let first = column > 0 || from == 0;
            let last = column + 1 < columns || to == values.len();
            if !first || !last || from > to || to > values.len() {
                return Err(Error::ColumnStarts {
                    column: column + 1,
                    from,
                    to,
                    stored: values.len(),
                });
            }
        }
        for (column, (from, to)) in ranges() {
            let mut least = 0;
            for (row, value) in indices[from..to].iter().zip(&values[from..to]) {
                let row = *row as usize;
                if row < least || row >= rows {
                    return Err(Error::RowIndex {
                        row,
                        column: column + 1,
                        value: *value,
                        least,
                        rows,
                    });
                }
                least = row + 1;
            }
        }
        Ok(Self {
            starts,
            rows: indices,
            values,
        })
    }

    /// Row indices and values of column `j`.
    #[inline]
    pub(super) fn column(&self, j: usize) -> (&[u32], &[f64]) {
        let range = self.starts[j]..self.starts[j + 1];
        (&self.rows[range.clone()], &self.values[range])
    }

    /// The values of column `j`, to be changed.
    pub(super) fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.values[self.starts[j]..self.starts[j + 1]]
    }

    /// The first value that is like this: (row, column, value).
    pub(super) fn find(&self, is: impl Fn(f64) -> bool) -> Option<(usize, usize, f64)> {
        let at = self.values.iter().position(|v| is(*v))?;
        let column = self.starts.partition_point(|start| *start <= at) - 1;
        Some((self.rows[at] as usize, column, self.values[at]))
    }

    /// One more column at the end, all of it stored.
    pub(super) fn push(&mut self, column: &[f64]) {
        self.rows.extend((0..).take(column.len()));
        self.values.extend_from_slice(column);
        self.starts.push(self.values.len());
    }

    /// The rows that `keep` marks.
    pub(super) fn keep_rows(&self, keep: &[bool]) -> Self {
        let mut left = 0;
        let place: Vec<u32> = keep
            .iter()
            .map(|keep| {
                let at = left;
                left += u32::from(*keep);
                at
            })
            .collect();
        let mut kept = Self {
            starts: Vec::with_capacity(self.starts.len()),
            rows: Vec::new(),
            values: Vec::new(),
        };
        kept.starts.push(0);
        for j in 0..self.starts.len() - 1 {
            let (rows, values) = self.column(j);
            for (row, value) in rows.iter().zip(values) {
                if keep[*row as usize] {
                    kept.rows.push(place[*row as usize]);
                    kept.values.push(*value);
                }
            }
            kept.starts.push(kept.values.len());
        }
        kept
    }
}
