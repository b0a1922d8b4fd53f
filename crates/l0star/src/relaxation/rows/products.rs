//! Weighted products of columns, kept from one Newton system to the next.
//!
//! Where the curvature of a loss is constant on pieces (Huber, the squared hinge), most rows keep their weight in the
//! next system, at another point or in another node. Only the rows that changed are multiplied again. The rounding
//! affects nothing but the length of a step.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, MatMut, MatRef, Par};

use crate::problem::Design;
use crate::tuning::rows::{LEAST_PRODUCTS, MOST_CHANGES, SINGLE_PRODUCT};

/// Number of rows that are multiplied together; their entries stay in the cache.
const BLOCK: usize = 256;
/// The products are made again when less than this share of a diagonal entry remains: the rounding of
/// what was subtracted would show.
const LEFT: f64 = 1e-8;
/// Place of a column that is not among those kept.
const NONE: u32 = u32::MAX;

/// Products of some columns with each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Products {
    /// The columns, and the place of each column of the design among them.
    columns: Vec<usize>,
    places: Vec<u32>,
    /// The lower triangle of `Aᵀ diag(weights) A`, by rows; without columns, only the weights of the last system are
    /// kept.
    gram: Vec<f64>,
    weights: Vec<f64>,
    /// Largest value so far of each diagonal entry.
    peaks: Vec<f64>,
    /// Number of rows that changed since the products were made.
    spent: usize,
    changed: Vec<usize>,
    buffer: Vec<f64>,
    weighted: Vec<f64>,
}

impl Products {
    /// Computes the lower triangle, by rows, of `A_Wᵀ diag(w) A_W`, `w ≥ 0`. The result is
    /// unfinished if `stop` returns true.
    pub(super) fn gram(
        &mut self,
        design: &Design,
        set: &[usize],
        w: &[f64],
        out: &mut [f64],
        stop: &dyn Fn() -> bool,
    ) {
        let n = w.len();
        let is_small = design.is_sparse() || set.len() < LEAST_PRODUCTS;
        if is_small || !self.find_changes(w) {
            if !is_small {
                self.forget();
                self.weights.clear();
                self.weights.extend_from_slice(w);
            }
            design.weighted_gram(set, w, &mut self.buffer, out, stop);
            return;
        }
        self.places.resize(design.columns(), NONE);
        let missing: Vec<usize> = set
            .iter()
            .copied()
            .filter(|j| self.places[*j] == NONE)
            .collect();
        let size = self.columns.len() + missing.len();
        let update = self.changed.len() * size * size + SINGLE_PRODUCT * missing.len() * n * size;
        let heavy = w.iter().filter(|w| **w != 0.0).count();
        let is_worn = self.spent + self.changed.len() > MOST_CHANGES * n;
        if self.columns.is_empty() || is_worn || update > heavy * set.len() * set.len() {
            self.begin(set, w);
        } else {
            self.extend(design, &missing);
        }
        let mut finished = self.update(design, w, stop);
        if finished && self.is_cancelled() {
            self.begin(set, w);
            finished = self.update(design, w, stop);
        }
        if !finished {
            self.forget();
            return;
        }
        let (size, m) = (self.columns.len(), set.len());
        for (r, i) in set.iter().enumerate() {
            let i = self.places[*i] as usize;
            for (out, j) in out[r * m..].iter_mut().zip(&set[..=r]) {
                let j = self.places[*j] as usize;
                *out = self.gram[i.max(j) * size + i.min(j)];
            }
        }
    }

    /// Finds the rows whose weights have changed; returns false where these are most, or there was no last time.
    fn find_changes(&mut self, w: &[f64]) -> bool {
        self.changed.clear();
        if self.weights.len() != w.len() {
            return false;
        }
        let rows = self.weights.iter().zip(w).enumerate();
        let changed = rows.filter(|(_, (old, new))| old != new);
        self.changed.extend(changed.map(|(i, _)| i));
        2 * self.changed.len() <= w.len()
    }

    fn forget(&mut self) {
        for j in self.columns.drain(..) {
            self.places[j] = NONE;
        }
        self.gram.clear();
        self.peaks.clear();
    }

    /// Starts again with other columns, and with all rows to be added.
    fn begin(&mut self, set: &[usize], w: &[f64]) {
        self.forget();
        self.columns.extend_from_slice(set);
        for (place, j) in set.iter().enumerate() {
            self.places[*j] = place as u32;
        }
        self.gram.resize(set.len() * set.len(), 0.0);
        self.peaks.resize(set.len(), 0.0);
        self.weights.fill(0.0);
        self.spent = 0;
        self.changed.clear();
        let heavy = w.iter().enumerate().filter(|(_, w)| **w != 0.0);
        self.changed.extend(heavy.map(|(i, _)| i));
    }

    /// Adds columns, with the weights that the others have.
    fn extend(&mut self, design: &Design, missing: &[usize]) {
        if missing.is_empty() {
            return;
        }
        let (old, size) = (self.columns.len(), self.columns.len() + missing.len());
        self.columns.extend_from_slice(missing);
        let mut gram = vec![0.0; size * size];
        for r in 0..old {
            gram[r * size..r * size + r + 1].copy_from_slice(&self.gram[r * old..r * old + r + 1]);
        }
        self.weighted.resize(self.weights.len(), 0.0);
        for (r, j) in missing.iter().enumerate() {
            let r = old + r;
            self.places[*j] = r as u32;
            design.weigh_column(*j, &self.weights, &mut self.weighted);
            let row = &mut gram[r * size..r * size + r + 1];
            design.dots(&self.columns[..=r], &self.weighted, row);
            self.peaks.push(row[r]);
        }
        self.gram = gram;
    }

    /// Moves the changed rows from their old weight to the new one; returns false when it was stopped.
    fn update(&mut self, design: &Design, w: &[f64], stop: &dyn Fn() -> bool) -> bool {
        let size = self.columns.len();
        self.spent += self.changed.len();
        for rows in self.changed.chunks(BLOCK) {
            if stop() {
                return false;
            }
            let count = rows.len();
            self.buffer.clear();
            for j in &self.columns {
                design.append_entries(*j, rows, &mut self.buffer);
            }
            self.weighted.clear();
            for column in self.buffer.chunks_exact(count) {
                let entries = column.iter().zip(rows);
                self.weighted
                    .extend(entries.map(|(a, i)| a * (w[*i] - self.weights[*i])));
            }
            matmul(
                MatMut::from_row_major_slice_mut(&mut self.gram, size, size),
                BlockStructure::TriangularLower,
                Accum::Add,
                MatRef::from_row_major_slice(&self.weighted, size, count),
                BlockStructure::Rectangular,
                MatRef::from_column_major_slice(&self.buffer, count, size),
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        }
        self.weights.copy_from_slice(w);
        true
    }

    /// Whether so much was subtracted that rounding shows.
    fn is_cancelled(&mut self) -> bool {
        let size = self.columns.len();
        let mut cancelled = false;
        for (i, peak) in self.peaks.iter_mut().enumerate() {
            let now = self.gram[i * size + i];
            *peak = peak.max(now);
            cancelled |= now < LEFT * *peak;
        }
        cancelled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kept products are as accurate as newly made ones, whatever changes from one system to the next.
    #[test]
    fn kept_products_are_those_of_all_rows() {
        let (rows, columns) = (2 * BLOCK + 37, 3 * LEAST_PRODUCTS);
        let entry = |at: usize| ((at * 37 % 101) as f64 - 50.0) * 0.1 + (at as f64).sin();
        let mut entries: Vec<f64> = (0..rows * columns).map(entry).collect();
        // A row that counts for more than all others together.
        (0..columns).for_each(|j| entries[j * rows + 5] *= 1e6);
        let plain = Design::dense(rows, columns, entries).unwrap();
        let centres = (0..columns).map(|j| j as f64 * 0.1).collect();
        let scales = (0..columns).map(|j| 1.0 + j as f64).collect();
        let viewed = plain.clone().with_view(centres, scales).unwrap();
        for design in [&plain, &viewed] {
            let mut products = Products::default();
            let (mut kept, mut anew) = (0, 0);
            for step in 0..120 {
                // Sets lose and gain a few columns, and now and then are replaced; weights have two
                // values, and some rows change in turn.
                let is_in = |j: usize| match step % 20 {
                    0 => j < LEAST_PRODUCTS,
                    _ => !(j + step / 2).is_multiple_of(11),
                };
                let set: Vec<usize> = (0..columns).rev().filter(|j| is_in(*j)).collect();
                let count = set.len();
                let is_light = |i: usize| (i * 13 + step / 3) % 9 < 3 || (i == 5 && step % 4 != 0);
                let weight = |i: usize| if is_light(i) { 0.0 } else { 0.5 };
                let w: Vec<f64> = (0..rows).map(weight).collect();
                let mut found = vec![0.0; count * count];
                let spent = products.spent;
                products.gram(design, &set, &w, &mut found, &|| false);
                if products.spent > spent {
                    kept += 1
                } else {
                    anew += 1
                }
                let mut truth = vec![0.0; count * count];
                design.weighted_gram(&set, &w, &mut Vec::new(), &mut truth, &|| false);
                for r in 0..count {
                    for c in 0..=r {
                        let size = (truth[r * count + r] * truth[c * count + c]).sqrt();
                        let error = (found[r * count + c] - truth[r * count + c]).abs();
                        assert!(error <= 1e-7 * size, "step {step}: {error} of {size}");
                    }
                }
            }
            assert!(kept > 20 && anew > 10, "{kept} kept, {anew} anew");
        }
    }
}
