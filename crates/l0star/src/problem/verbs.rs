//! What is done with a design matrix: products with vectors, plain and in doubled precision, and single columns.

use std::ops::Range;

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, MatMut, MatRef, Par};

use super::design::{Design, Entries, Stored};
use crate::linalg::kernels;
use crate::linalg::rounding::{Doubled, two_product, two_sum};

/// Products of fewer columns are made one by one.
const BLOCKED: usize = 12;
/// Rows that are multiplied together: their entries stay in the cache.
const BLOCK: usize = 256;

impl Design {
    /// `z += s a_j`.
    #[inline]
    pub fn add_column(&self, j: usize, s: f64, z: &mut [f64]) {
        if let Some(values) = self.plain() {
            return kernels::axpy(s, self.slice(values, j), z);
        }
        self.add_columns([(j, s)], z);
    }

    /// `z += Σ s_j a_j`, in one go: the centres of sparse columns are added up before they meet the rows.
    #[inline]
    pub fn add_columns(&self, x: impl IntoIterator<Item = (usize, f64)>, z: &mut [f64]) {
        if let Some(values) = self.plain() {
            for (j, s) in x {
                kernels::axpy(s, self.slice(values, j), z);
            }
            return;
        }
        let mut shift = 0.0;
        for (j, s) in x {
            let (centre, scale) = self.view(j);
            let s = s * scale;
            let z = &mut z[self.place(j).1];
            match self.stored(j) {
                Stored::Dense(values) => values.each(0..values.len(), |rows, values| {
                    if centre == 0.0 {
                        kernels::axpy(s, values, &mut z[rows]);
                    } else {
                        kernels::axpy_shifted(s, values, centre, &mut z[rows]);
                    }
                }),
                Stored::Sparse(rows, values) => {
                    kernels::axpy_sparse(s, rows, values, z);
                    if centre != 0.0 && self.is_stacked() {
                        z.iter_mut().for_each(|z| *z -= s * centre);
                    } else if centre != 0.0 {
                        shift -= s * centre;
                    }
                }
            }
        }
        if shift != 0.0 {
            z.iter_mut().for_each(|z| *z += shift);
        }
    }

    /// `z += Σ s_j a_j` in doubled precision.
    pub(crate) fn add_doubled(&self, x: &[(usize, f64)], high: &mut [f64], low: &mut [f64]) {
        for (j, s) in x {
            let (centre, scale) = self.view(*j);
            let rows = self.place(*j).1;
            let (high, low) = (&mut high[rows.clone()], &mut low[rows]);
            let (product, rest) = two_product(*s, scale);
            for s in [product, rest].into_iter().filter(|s| *s != 0.0) {
                match self.stored(*j) {
                    Stored::Dense(values) => values.each(0..values.len(), |rows, values| {
                        let (high, low) = (&mut high[rows.clone()], &mut low[rows]);
                        kernels::axpy_doubled(s, values, high, low);
                    }),
                    Stored::Sparse(rows, values) => {
                        kernels::axpy_sparse_doubled(s, rows, values, high, low);
                    }
                }
                if centre != 0.0 {
                    let (shift, more) = two_product(-centre, s);
                    for (high, low) in high.iter_mut().zip(&mut *low) {
                        let (sum, error) = two_sum(*high, shift);
                        *high = sum;
                        *low += error + more;
                    }
                }
            }
        }
    }

    /// `a_jᵀ v`.
    #[inline]
    pub fn dot(&self, j: usize, v: &[f64]) -> f64 {
        match self.plain() {
            Some(values) => kernels::dot(self.slice(values, j), v),
            None => self.viewed_dot(j, v, self.sum_for_centres(v)),
        }
    }

    /// `out_i = a_{columns_i}ᵀ v`.
    pub fn dots(&self, columns: &[usize], v: &[f64], out: &mut [f64]) {
        self.each_dot(columns, v, |at, _, dot| out[at] = dot);
    }

    /// `out_j = a_jᵀ v` for each `j` of `columns`, in a vector over all columns.
    pub fn dots_scattered(&self, columns: &[usize], v: &[f64], out: &mut [f64]) {
        self.each_dot(columns, v, |_, j, dot| out[j] = dot);
    }

    #[inline]
    fn each_dot(&self, columns: &[usize], v: &[f64], mut put: impl FnMut(usize, usize, f64)) {
        if let (Entries::Sparse(entries), None, None) = (&self.entries, &self.view, self.stack) {
            for (i, j) in columns.iter().enumerate() {
                let (rows, values) = entries.column(*j);
                put(i, *j, kernels::dot_sparse(rows, values, v));
            }
            return;
        }
        let Some(values) = self.plain() else {
            let sum = self.sum_for_centres(v);
            for (i, j) in columns.iter().enumerate() {
                put(i, *j, self.viewed_dot(*j, v, sum));
            }
            return;
        };
        let (fours, rest) = columns.as_chunks::<4>();
        for (i, four) in fours.iter().enumerate() {
            let dots = kernels::dot4(four.map(|j| self.slice(values, j)), v);
            for l in 0..4 {
                put(4 * i + l, four[l], dots[l]);
            }
        }
        for (i, j) in rest.iter().enumerate() {
            let dot = kernels::dot(self.slice(values, *j), v);
            put(4 * fours.len() + i, *j, dot);
        }
    }

    /// Σv where sparse columns have centres, else 0; columns of a stack add up their own rows.
    fn sum_for_centres(&self, v: &[f64]) -> f64 {
        if self.is_sparse() && self.view.is_some() && !self.is_stacked() {
            kernels::sum(v)
        } else {
            0.0
        }
    }

    /// `s (r_jᵀv - c Σv)`; a dense column is centred entry by entry, which rounds less.
    fn viewed_dot(&self, j: usize, v: &[f64], sum: f64) -> f64 {
        let (centre, scale) = self.view(j);
        let v = &v[self.place(j).1];
        let dot = match self.stored(j) {
            Stored::Dense(values) if centre == 0.0 => {
                values.sum(|rows, values| kernels::dot(values, &v[rows]))
            }
            Stored::Dense(values) => {
                values.sum(|rows, values| kernels::dot_shifted(values, centre, &v[rows]))
            }
            Stored::Sparse(rows, values) => {
                let dot = kernels::dot_sparse(rows, values, v);
                if centre == 0.0 {
                    dot
                } else if self.is_stacked() {
                    dot - centre * kernels::sum(v)
                } else {
                    dot - centre * sum
                }
            }
        };
        scale * dot
    }

    /// `a_jᵀ v` in doubled precision, with a bound of its error.
    pub(crate) fn doubled_dot(&self, j: usize, v: &[f64]) -> Doubled {
        let mut dot = Doubled::default();
        let v = &v[self.place(j).1];
        match self.stored(j) {
            Stored::Dense(values) => {
                let pairs = values.iter().zip(v);
                pairs.for_each(|(a, v)| dot.add_product(a, *v));
            }
            Stored::Sparse(rows, values) => {
                let pairs = rows.iter().zip(values);
                pairs.for_each(|(i, a)| dot.add_product(*a, v[*i as usize]));
            }
        }
        let (centre, scale) = self.view(j);
        if centre != 0.0 {
            v.iter().for_each(|v| dot.add_product(-centre, *v));
        }
        if scale != 1.0 {
            dot.scale(scale);
        }
        dot
    }

    /// An upper bound of `Σ w_i |a_ij|` up to rounding, for weights `w ≥ 0` of the sum `total`.
    pub(crate) fn absolute_sum(&self, j: usize, w: &[f64], total: f64) -> f64 {
        let (centre, scale) = self.view(j);
        let w = &w[self.place(j).1];
        let sum = match self.stored(j) {
            Stored::Dense(values) => {
                let pairs = values.iter().zip(w);
                pairs.map(|(a, w)| w * (a - centre).abs()).sum::<f64>()
            }
            Stored::Sparse(rows, values) => {
                let pairs = rows.iter().zip(values);
                let stored: f64 = pairs.map(|(i, a)| w[*i as usize] * a.abs()).sum();
                stored + centre.abs() * total
            }
        };
        sum * scale.abs()
    }

    /// The entry in row `i` of column `j`, rounded at most twice.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        let (centre, scale) = self.view(j);
        let block = self.place(j).1;
        if !block.contains(&i) {
            return 0.0;
        }
        let i = i - block.start;
        let stored = match self.stored(j) {
            Stored::Dense(values) => values.value(i),
            Stored::Sparse(rows, values) => {
                let at = rows.partition_point(|row| (*row as usize) < i);
                let found = rows.get(at).is_some_and(|row| *row as usize == i);
                if found { values[at] } else { 0.0 }
            }
        };
        (stored - centre) * scale
    }

    /// Rows and values of the stored entries of column `j`, a view aside; rows in order, without those that are not
    /// stored, which are 0.
    pub fn entries(&self, j: usize) -> impl Iterator<Item = (usize, f64)> {
        let stored = self.stored(j);
        let rows = match stored {
            Stored::Dense(_) => None,
            Stored::Sparse(rows, _) => Some(rows),
        };
        let start = self.place(j).1.start;
        let place = move |at: usize| start + rows.map_or(at, |rows| rows[at] as usize);
        let numbered = stored.values().iter().enumerate();
        numbered.map(move |(at, value)| (place(at), value))
    }

    /// Writes column `j` out, each entry rounded at most twice.
    pub fn column_into(&self, j: usize, out: &mut [f64]) {
        let (centre, scale) = self.view(j);
        let rows = self.place(j).1;
        if self.is_stacked() {
            out.fill(0.0);
        }
        self.fill(j, centre, scale, &mut out[rows]);
    }

    /// `out_i = (r_ij - shift) scale` of the *stored* column, over its own rows.
    pub(crate) fn fill(&self, j: usize, shift: f64, scale: f64, out: &mut [f64]) {
        match self.stored(j) {
            Stored::Dense(values) => values.each(0..values.len(), |rows, values| {
                let pairs = out[rows].iter_mut().zip(values);
                if scale == 1.0 {
                    pairs.for_each(|(out, a)| *out = a - shift);
                } else {
                    pairs.for_each(|(out, a)| *out = (a - shift) * scale);
                }
            }),
            Stored::Sparse(rows, values) => {
                out.fill((0.0 - shift) * scale);
                for (i, a) in rows.iter().zip(values) {
                    out[*i as usize] = (a - shift) * scale;
                }
            }
        }
    }

    /// [`Design::fill`] for some rows, behind what `out` has: entries are rounded twice.
    pub(crate) fn append_rows(
        &self,
        j: usize,
        rows: Range<usize>,
        (shift, scale): (f64, f64),
        out: &mut Vec<f64>,
    ) {
        match self.stored(j) {
            Stored::Dense(values) => values.append(rows, |a| (a - shift) * scale, out),
            Stored::Sparse(places, values) => {
                let start = out.len();
                out.resize(start + rows.len(), (0.0 - shift) * scale);
                let place = |row: usize| places.partition_point(|i| (*i as usize) < row);
                for at in place(rows.start)..place(rows.end) {
                    let row = places[at] as usize - rows.start;
                    out[start + row] = (values[at] - shift) * scale;
                }
            }
        }
    }

    /// The entries of a column in some rows, centred and scaled.
    pub(crate) fn append_entries(&self, j: usize, rows: &[usize], out: &mut Vec<f64>) {
        let (centre, scale) = self.view(j);
        match self.stored(j) {
            Stored::Dense(values) if !self.is_stacked() => {
                out.extend(rows.iter().map(|i| (values.value(*i) - centre) * scale));
            }
            _ => out.extend(rows.iter().map(|i| self.entry(*i, j))),
        }
    }

    /// `out_i = w_i a_ij`.
    pub(crate) fn weigh_column(&self, j: usize, w: &[f64], out: &mut [f64]) {
        let rows = self.place(j).1;
        if self.is_stacked() {
            out.fill(0.0);
        }
        let (w, out) = (&w[rows.clone()], &mut out[rows]);
        match (self.plain(), self.stored(j)) {
            (Some(values), _) => {
                let column = self.slice(values, j).iter().zip(w);
                let pairs = out.iter_mut().zip(column);
                pairs.for_each(|(out, (a, w))| *out = a * w);
            }
            (None, Stored::Sparse(rows, values)) if self.view(j).0 == 0.0 => {
                let scale = self.view(j).1;
                out.fill(0.0);
                for (i, a) in rows.iter().zip(values) {
                    out[*i as usize] = a * scale * w[*i as usize];
                }
            }
            _ => {
                let (centre, scale) = self.view(j);
                self.fill(j, centre, scale, out);
                out.iter_mut().zip(w).for_each(|(out, w)| *out *= w);
            }
        }
    }

    /// The lower triangle, by rows, of `A_Wᵀ diag(w) A_W`, for `w ≥ 0` and where only the length of a step hangs on its
    /// rounding. Left unfinished when `stop` says so.
    pub(crate) fn weighted_gram(
        &self,
        columns: &[usize],
        w: &[f64],
        buffer: &mut Vec<f64>,
        rows: &mut [f64],
        stop: &dyn Fn() -> bool,
    ) {
        let size = columns.len();
        if self.is_sparse() || size < BLOCKED || self.is_stacked() {
            buffer.resize(self.rows.max(buffer.len()), 0.0);
            let weighted = &mut buffer[..self.rows];
            for (r, j) in columns.iter().enumerate() {
                if stop() {
                    return;
                }
                self.weigh_column(*j, w, weighted);
                let out = &mut rows[r * size..r * size + r + 1];
                if !self.is_stacked() {
                    self.dots(&columns[..=r], weighted, out);
                    continue;
                }
                // Columns of different responses have no row in common.
                let block = self.place(*j).1;
                for (out, i) in out.iter_mut().zip(columns) {
                    let is_near = self.place(*i).1 == block;
                    *out = if is_near { self.dot(*i, weighted) } else { 0.0 };
                }
            }
            return;
        }
        let mut accum = Accum::Replace;
        for (block, w) in w.chunks(BLOCK).enumerate() {
            if stop() {
                return;
            }
            let (first, count) = (block * BLOCK, w.len());
            buffer.clear();
            buffer.extend(w.iter().map(|w| w.sqrt()));
            for j in columns {
                let (centre, scale) = self.view(*j);
                if let Stored::Dense(values) = self.stored(*j) {
                    let start = buffer.len();
                    values.append(first..first + count, |a| a, buffer);
                    let (roots, column) = buffer.split_at_mut(start);
                    let pairs = column.iter_mut().zip(&roots[..count]);
                    pairs.for_each(|(a, root)| *a = (*a - centre) * (scale * root));
                }
            }
            let entries = &buffer[count..];
            matmul(
                MatMut::from_row_major_slice_mut(rows, size, size),
                BlockStructure::TriangularLower,
                accum,
                MatRef::from_row_major_slice(entries, size, count),
                BlockStructure::Rectangular,
                MatRef::from_column_major_slice(entries, count, size),
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
            accum = Accum::Add;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More rows than a block, weights of every size and 0.
    #[test]
    fn weighted_products_are_those_of_single_columns() {
        let (rows, columns) = (2 * BLOCK + 37, BLOCKED + 9);
        let entry = |at: usize| ((at * 37 % 101) as f64 - 50.0) * 0.1 + (at as f64).sin();
        let values: Vec<f64> = (0..rows * columns).map(entry).collect();
        let plain = Design::dense(rows, columns, values).unwrap();
        let centres = (0..columns).map(|j| 0.3 * j as f64).collect();
        let scales = (0..columns).map(|j| 0.5 + 0.1 * j as f64).collect();
        let viewed = plain.clone().with_view(centres, scales).unwrap();
        let w: Vec<f64> = (0..rows).map(|i| (i % 7) as f64 * 0.25).collect();
        for design in [&plain, &viewed] {
            for size in [1, BLOCKED - 1, BLOCKED, columns] {
                let set: Vec<usize> = (0..size).map(|i| (i * 5) % columns).collect();
                let (mut buffer, mut gram) = (Vec::new(), vec![f64::NAN; size * size]);
                design.weighted_gram(&set, &w, &mut buffer, &mut gram, &|| false);
                let mut weighted = vec![0.0; rows];
                for (r, i) in set.iter().enumerate() {
                    design.weigh_column(*i, &w, &mut weighted);
                    for (c, j) in set[..=r].iter().enumerate() {
                        let (own, truth) = (gram[r * size + c], design.dot(*j, &weighted));
                        let most = 1e-9 * (1.0 + truth.abs());
                        assert!((own - truth).abs() <= most, "{size}: {own} {truth}");
                    }
                }
            }
        }
    }
}
