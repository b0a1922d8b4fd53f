//! The columns of a problem written out, in their own order.

use super::bound::{Column, MOST, omega};
use crate::linalg::kernels;
use crate::problem::Problem;

/// Maximum number of values that are written out in addition to the data, twice.
const MOST_VALUES: usize = 1 << 24;

/// Columns with the data that bounds need: the selectable ones, then those that are always in.
pub(crate) struct Data<'p> {
    pub(super) problem: &'p Problem,
    /// Columns end to end …
    pub(super) values: Vec<f64>,
    /// … and the squares of the selectable ones.
    pub(super) squares: Vec<f64>,
    pub(super) columns: Vec<Column>,
    /// The feature at each place.
    pub(super) features: Vec<usize>,
    /// Places of the always-in columns.
    pub(super) fixed: Vec<usize>,
    pub(super) offsets: f64,
    pub(super) omega: f64,
    /// Whether the curvature of the loss has no bound.
    pub(super) is_steep: bool,
}

impl<'p> Data<'p> {
    /// Returns the number of bytes of the columns and their squares.
    pub(crate) fn bytes(&self) -> u64 {
        16 * self.values.len() as u64
    }

    /// Prepares the columns for sets of at most m features. Returns `None` for problems that are too large, have too
    /// many columns that are always in, or unpenalised ones other than the intercept.
    pub(crate) fn new(problem: &'p Problem, m: usize) -> Option<Self> {
        let (n, d) = (problem.rows(), problem.selectable.len());
        let unpenalised = problem.unpenalised.columns();
        let fixed = problem.penalised.len() + unpenalised.len();
        if unpenalised.len() > usize::from(problem.has_intercept)
            || fixed + m > MOST
            || n * d > MOST_VALUES
        {
            return None;
        }
        let all = || {
            let fixed = problem.penalised.iter().chain(unpenalised);
            problem.selectable.iter().chain(fixed).copied()
        };
        let mut values = vec![0.0; n * (d + fixed)];
        let mut columns = Vec::with_capacity(d + fixed);
        for (column, j) in values.chunks_exact_mut(n).zip(all()) {
            problem.design.column_into(j, column);
            let largest = column.iter().fold(0.0f64, |most, a| most.max(a.abs()));
            columns.push(Column {
                ridge: problem.ridge[j],
                limit: 0.0,
                norm: 1.01 * kernels::weighted_dot(&problem.p, column, column).sqrt(),
                largest: largest * (1.0 + 1e-12),
            });
        }
        if let (Some(last), Some(limit)) = (columns.last_mut(), problem.unpenalised.limit()) {
            (last.ridge, last.limit) = (0.0, limit);
        }
        let o = &problem.offset;
        let offsets = if o.is_empty() {
            0.0
        } else {
            1.01 * kernels::weighted_dot(&problem.p, o, o).sqrt()
        };
        let fine = columns.iter().all(|c| c.norm.is_finite()) && offsets.is_finite();
        fine.then(|| Self {
            squares: values[..n * d].iter().map(|a| a * a).collect(),
            values,
            columns,
            features: problem.selectable.clone(),
            fixed: (d..d + fixed).collect(),
            offsets: offsets + f64::from(u8::from(problem.is_steep())),
            omega: omega(n),
            is_steep: problem.is_steep(),
            problem,
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.problem.rows()
    }

    pub(super) fn column(&self, place: usize) -> &[f64] {
        let n = self.rows();
        &self.values[place * n..(place + 1) * n]
    }

    /// Puts the selectable columns in another order.
    pub(super) fn reorder(&mut self, order: &[usize]) {
        let n = self.rows();
        let (mut values, mut squares) = (Vec::new(), Vec::new());
        for i in order {
            values.extend_from_slice(&self.values[i * n..(i + 1) * n]);
            squares.extend_from_slice(&self.squares[i * n..(i + 1) * n]);
        }
        self.values[..values.len()].copy_from_slice(&values);
        self.squares = squares;
        let columns: Vec<Column> = order.iter().map(|i| self.columns[*i]).collect();
        self.columns[..order.len()].copy_from_slice(&columns);
        self.features = order.iter().map(|i| self.features[*i]).collect();
    }
}
