//! Gram columns that supports of one problem share.

use crate::limits::Limits;
use crate::problem::Problem;

/// Number of columns above which Gram columns are not kept; entries are then computed for each support.
const MAX_CACHED_COLUMNS: usize = 4096;
/// Number of supports that are fitted before Gram columns are kept.
const FEW_SUPPORTS: usize = 8;

/// `G = Aᵀ diag(p) A`, stored by columns, each computed when a support first needs it. For the first few supports this
/// is not worthwhile.
#[derive(Debug)]
pub(super) struct Gram {
    supports: usize,
    columns: Vec<Option<Box<[f64]>>>,
    all: Vec<usize>,
    weighted: Vec<f64>,
}

impl Gram {
    pub(super) fn new(problem: &Problem) -> Self {
        let count = problem.design.columns();
        let cached = problem.loss.is_quadratic() && count <= MAX_CACHED_COLUMNS;
        Self {
            supports: 0,
            columns: vec![None; if cached { count } else { 0 }],
            all: (0..if cached { count } else { 0 }).collect(),
            weighted: vec![0.0; problem.rows()],
        }
    }

    /// Computes the missing columns; returns false when there are too many columns to keep any, or too few supports so
    /// far.
    pub(super) fn load(&mut self, problem: &Problem, columns: &[usize], limits: &Limits) -> bool {
        self.supports += 1;
        if self.columns.is_empty() || self.supports <= FEW_SUPPORTS {
            return false;
        }
        for j in columns {
            if self.columns[*j].is_none() && !limits.stop() {
                let design = &problem.design;
                design.weigh_column(*j, &problem.p, &mut self.weighted);
                let mut gram = vec![0.0; self.all.len()];
                design.dots(&self.all, &self.weighted, &mut gram);
                self.columns[*j] = Some(gram.into());
            }
        }
        true
    }

    /// Copies the entries (i, j) for each j of `columns`; column i is loaded.
    pub(super) fn copy_row(&self, i: usize, columns: &[usize], out: &mut [f64]) {
        if let Some(row) = &self.columns[i] {
            for (out, j) in out.iter_mut().zip(columns) {
                *out = row[*j];
            }
        }
    }
}
