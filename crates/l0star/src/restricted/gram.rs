//! Gram columns that supports of one problem share.

use crate::limits::Limits;
use crate::problem::Problem;

/// Above this many columns Gram columns are not kept: entries are computed for each support.
const MAX_CACHED_COLUMNS: usize = 4096;
/// So many supports are fitted without Gram columns.
const FEW_SUPPORTS: usize = 8;

/// `G = Aᵀ diag(p) A`, by columns, each computed when a support first needs it; for the first few supports it is not worth
/// its while.
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

    /// Computes the columns that are missing; false when there are too many columns to keep any, or few supports.
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

    /// The entries (i, j) for each j of `columns`; column i is loaded.
    pub(super) fn copy_row(&self, i: usize, columns: &[usize], out: &mut [f64]) {
        if let Some(row) = &self.columns[i] {
            for (out, j) in out.iter_mut().zip(columns) {
                *out = row[*j];
            }
        }
    }
}
