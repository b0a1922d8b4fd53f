//! The rows of a Gram matrix that have been computed ([`Triangle`]).

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// The lower triangle of a Gram matrix over some columns, as far as it has been computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Triangle {
    columns: Vec<u32>,
    /// One row per column; `None` where it is still to be computed.
    rows: Vec<Option<TriangleRow>>,
    /// Seconds that the rows took to compute.
    pub seconds: f64,
}

/// A row of a Gram matrix up to its diagonal, with the other products of its column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TriangleRow {
    pub gram: Vec<f64>,
    pub c: f64,
    pub mean: f64,
    pub size: f64,
}

impl Triangle {
    /// Creates a triangle without any rows.
    pub(crate) fn new(columns: &[usize]) -> Self {
        Self {
            columns: columns.iter().map(|j| *j as u32).collect(),
            rows: vec![None; columns.len()],
            seconds: 0.0,
        }
    }

    /// Returns the row of the column at an index, if it has been computed.
    pub(crate) fn row(&self, index: usize) -> Option<&TriangleRow> {
        self.rows.get(index)?.as_ref()
    }

    /// Adds a row, unless it is already there.
    pub(crate) fn add(&mut self, index: usize, row: impl FnOnce() -> TriangleRow) {
        self.rows[index].get_or_insert_with(row);
    }

    /// Returns the number of rows that have been computed.
    pub(crate) fn count(&self) -> usize {
        self.rows.iter().flatten().count()
    }

    /// Whether the triangle has at least the columns and the rows of another one.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let (columns, others) = (self.columns.len(), other.columns.len());
        columns > others || (columns == others && self.count() >= other.count())
    }

    /// Returns the rows cut down to `columns`, which come in the same order; `None` where that
    /// is not so, or no row remains.
    pub(crate) fn over(&self, columns: &[usize]) -> Option<Self> {
        let mut next = 0;
        let mut places = Vec::with_capacity(columns.len());
        for j in columns {
            let found = self.columns[next..].iter().position(|i| *i as usize == *j);
            places.push(next + found?);
            next += found? + 1;
        }
        let cut = |row: &TriangleRow, count: usize| TriangleRow {
            gram: places[..count].iter().map(|at| row.gram[*at]).collect(),
            ..*row
        };
        let rows = places.iter().enumerate();
        let rows: Vec<Option<TriangleRow>> = rows
            .map(|(i, at)| self.row(*at).map(|row| cut(row, i + 1)))
            .collect();
        rows.iter().any(Option::is_some).then(|| Self {
            columns: columns.iter().map(|j| *j as u32).collect(),
            rows,
            seconds: self.seconds,
        })
    }

    /// Whether the triangle could belong to this problem. Its numbers are checked when the matrix is computed.
    pub(crate) fn fits(&self, problem: &Problem) -> bool {
        let is_column = |j: &u32| (*j as usize) < problem.design.columns();
        let is_row = |(i, row): (usize, &Option<TriangleRow>)| {
            row.as_ref().is_none_or(|row| {
                let beside = [row.c, row.mean, row.size];
                let numbers = row.gram.iter().chain(&beside);
                row.gram.len() == i + 1
                    && numbers.copied().all(f64::is_finite)
                    && row.mean >= 0.0
                    && row.size >= 0.0
            })
        };
        self.columns.len() == self.rows.len()
            && self.columns.iter().all(is_column)
            && self.rows.iter().enumerate().all(is_row)
            && (0.0..1e15).contains(&self.seconds)
    }
}
