//! Cholesky factorisation of small dense matrices.
//!
//! Supports have a few columns, where a plain loop over contiguous rows beats a library. `faer` takes over at size
//! `BLOCKED`.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, Par};

use super::kernels::{axpy, dot, widest};

/// Size from which `faer` factorises.
const BLOCKED: usize = 24;
/// Size from which a factorisation takes long enough that it must be possible to stop it …
const LONG: usize = 1024;
/// … which is checked after every panel of this many columns.
const PANEL: usize = 128;

/// `M = R Rᵀ`, R lower triangular, stored by rows in a full square.
#[derive(Debug, Clone, Default)]
pub struct Cholesky {
    size: usize,
    rows: Vec<f64>,
}

impl Cholesky {
    /// Creates an empty factor, which can be filled repeatedly.
    pub fn new() -> Self {
        Self::default()
    }

    /// Resets the factor and returns the square into which the caller writes the lower triangle (row-major) before
    /// [`Cholesky::factor`].
    pub fn start(&mut self, size: usize) -> &mut [f64] {
        self.size = size;
        self.rows.clear();
        self.rows.resize(size * size, 0.0);
        &mut self.rows
    }

    /// Fills the square of [`Cholesky::start`] with a whole matrix and returns it.
    pub fn load(&mut self, size: usize, square: &[f64]) -> &mut [f64] {
        debug_assert_eq!(square.len(), size * size);
        self.size = size;
        self.rows.clear();
        self.rows.extend_from_slice(square);
        &mut self.rows
    }

    /// R by rows, after [`Cholesky::factor`]; entries above the diagonal are not part of it.
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// Factorises in place; returns false if the matrix is not positive definite in floating point.
    pub fn factor(&mut self) -> bool {
        if self.size >= BLOCKED {
            return self.factor_blocked();
        }
        let d = self.size;
        for i in 0..d {
            let (above, rest) = self.rows.split_at_mut(i * d);
            let row = &mut rest[..d];
            for j in 0..i {
                let other = &above[j * d..j * d + d];
                let s = row[j] - short_dot(&row[..j], &other[..j]);
                row[j] = s / other[j];
            }
            let pivot = row[i] - short_dot(&row[..i], &row[..i]);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            row[i] = pivot.sqrt();
        }
        true
    }

    /// Variant of [`Cholesky::factor`] that gives up and returns false once `stop` returns true.
    pub fn factor_unless(&mut self, stop: &dyn Fn() -> bool) -> bool {
        if self.size < LONG {
            return self.factor();
        }
        mirror_up(&mut self.rows, self.size);
        let done = self.factor_columns_unless(stop);
        mirror_down(&mut self.rows, self.size);
        done
    }

    /// Whether [`Cholesky::factor_unless`] succeeds; the factor must not be used afterwards.
    pub fn succeeds_unless(&mut self, stop: &dyn Fn() -> bool) -> bool {
        if self.size < BLOCKED {
            return self.factor();
        }
        mirror_up(&mut self.rows, self.size);
        self.factor_columns_unless(stop)
    }

    fn factor_blocked(&mut self) -> bool {
        // faer is two to three times as fast on columns: the factor is computed above the diagonal and copied back.
        mirror_up(&mut self.rows, self.size);
        let done = self.factor_columns_unless(&|| false);
        mirror_down(&mut self.rows, self.size);
        done
    }

    /// Factorises the upper triangle, which is the lower triangle in column-major order.
    fn factor_columns_unless(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let d = self.size;
        let mut rest = MatMut::from_column_major_slice_mut(&mut self.rows, d, d);
        if d < LONG {
            return factor_in_place(rest) && self.has_finite_pivots();
        }
        // Right-looking: factorise a panel, then subtract its contribution from the rest.
        while rest.nrows() > 0 {
            if stop() {
                return false;
            }
            let width = PANEL.min(rest.nrows());
            let (mut corner, _, mut below, mut next) = rest.split_at_mut(width, width);
            if !factor_in_place(corner.rb_mut()) {
                return false;
            }
            solve_lower_triangular_in_place(corner.rb(), below.rb_mut().transpose_mut(), Par::Seq);
            matmul(
                next.rb_mut(),
                BlockStructure::TriangularLower,
                Accum::Add,
                below.rb(),
                BlockStructure::Rectangular,
                below.rb().transpose(),
                BlockStructure::Rectangular,
                -1.0,
                Par::Seq,
            );
            rest = next;
        }
        self.has_finite_pivots()
    }

    fn has_finite_pivots(&self) -> bool {
        (0..self.size).all(|i| self.rows[i * self.size + i].is_finite())
    }

    /// `v ← R⁻¹ v`.
    pub fn solve_lower(&self, v: &mut [f64]) {
        self.solve_lower_from(v, 0);
    }

    /// `v ← R⁻¹ v` for a v that is zero before `first`.
    pub fn solve_lower_from(&self, v: &mut [f64], first: usize) {
        let d = self.size;
        for i in first..d {
            let row = &self.rows[i * d..i * d + d];
            v[i] = (v[i] - short_dot(&row[first..i], &v[first..i])) / row[i];
        }
    }

    /// `v ← R⁻ᵀ v`.
    pub fn solve_upper(&self, v: &mut [f64]) {
        let d = self.size;
        for i in (0..d).rev() {
            let row = &self.rows[i * d..i * d + d];
            let value = v[i] / row[i];
            v[i] = value;
            let (head, _) = v.split_at_mut(i);
            if i < 16 {
                for (v, r) in head.iter_mut().zip(row) {
                    *v -= value * r;
                }
            } else {
                axpy(-value, &row[..i], head);
            }
        }
    }

    /// `M⁻¹`, as a full square.
    pub fn inverse(&self) -> Vec<f64> {
        let d = self.size;
        let mut inverse = vec![0.0; d * d];
        for (i, row) in inverse.chunks_exact_mut(d.max(1)).enumerate() {
            row[i] = 1.0;
            self.solve_lower_from(row, i);
            self.solve_upper(row);
        }
        inverse
    }

    /// `v ← M⁻¹ v`.
    pub fn solve(&self, v: &mut [f64]) {
        self.solve_lower(v);
        self.solve_upper(v);
    }

    /// `B ← M⁻¹ B` for a B with this many columns, stored by rows: the substitutions of [`Cholesky::solve`] for all
    /// columns at once.
    pub fn solve_rows(&self, b: &mut [f64], columns: usize) {
        let d = self.size;
        // The instruction set is dispatched once for the whole computation, because rows are short.
        widest(
            #[inline(always)]
            || {
                for i in 0..d {
                    let row = &self.rows[i * d..i * d + d];
                    let (above, rest) = b.split_at_mut(i * columns);
                    let own = &mut rest[..columns];
                    for (r, other) in row.iter().zip(above.chunks_exact(columns.max(1))) {
                        own.iter_mut().zip(other).for_each(|(b, o)| *b -= r * o);
                    }
                    own.iter_mut().for_each(|b| *b /= row[i]);
                }
                for i in (0..d).rev() {
                    let row = &self.rows[i * d..i * d + d];
                    let (above, rest) = b.split_at_mut(i * columns);
                    let own = &mut rest[..columns];
                    own.iter_mut().for_each(|b| *b /= row[i]);
                    for (r, other) in row.iter().zip(above.chunks_exact_mut(columns.max(1))) {
                        other.iter_mut().zip(&*own).for_each(|(o, b)| *o -= r * b);
                    }
                }
            },
        );
    }
}

/// Copies the lower triangle of a square to the upper one.
pub(crate) fn mirror_up(rows: &mut [f64], d: usize) {
    mirror(rows, d, |(r, c)| (c, r));
}

/// Copies the upper triangle of a square to the lower one.
fn mirror_down(rows: &mut [f64], d: usize) {
    mirror(rows, d, |at| at);
}

/// Copies tiles across the diagonal. `from` maps a place above the diagonal to the place to copy from.
fn mirror(rows: &mut [f64], d: usize, from: impl Fn((usize, usize)) -> (usize, usize)) {
    const TILE: usize = 8;
    let whole = d - d % TILE;
    let mut tile = [[0.0; TILE]; TILE];
    for top in (0..whole).step_by(TILE) {
        for left in (top + TILE..whole).step_by(TILE) {
            let (r, c) = from((top, left));
            for (i, line) in tile.iter_mut().enumerate() {
                line.copy_from_slice(&rows[(r + i) * d + c..][..TILE]);
            }
            for i in 0..TILE {
                let out = &mut rows[(c + i) * d + r..][..TILE];
                out.iter_mut().zip(&tile).for_each(|(o, line)| *o = line[i]);
            }
        }
    }
    // The entries next to the diagonal, and the rest of the last columns.
    for r in 0..d {
        let end = (r - r % TILE + TILE).min(d);
        for c in (r + 1..end).chain(end.max(whole)..d) {
            let (r, c) = from((r, c));
            rows[c * d + r] = rows[r * d + c];
        }
    }
}

fn factor_in_place(view: MatMut<f64>) -> bool {
    let scratch = cholesky_in_place_scratch::<f64>(view.nrows(), Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let regular = LltRegularization::default();
    cholesky_in_place(view, regular, Par::Seq, stack, Default::default()).is_ok()
}

/// Dot product without SIMD dispatch for short slices, where dispatch costs more than the loop.
#[inline]
fn short_dot(a: &[f64], b: &[f64]) -> f64 {
    if a.len() < 24 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    } else {
        dot(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_at_small_and_blocked_sizes() {
        for d in [1, 2, 5, 23, 24, 30, 95, 96, 150, LONG + PANEL / 2] {
            let entry = |i: usize, j: usize| {
                ((i * 31 + j * 17) % 13) as f64 / 13.0 + ((j * 31 + i * 17) % 13) as f64 / 13.0
            };
            let full = |i: usize, j: usize| entry(i, j) + if i == j { 2.0 * d as f64 } else { 0.0 };
            let mut factor = Cholesky::new();
            let rows = factor.start(d);
            for i in 0..d {
                for j in 0..=i {
                    rows[i * d + j] = full(i, j);
                }
            }
            assert!(factor.factor_unless(&|| false));
            let x: Vec<f64> = (0..d).map(|i| i as f64 - 3.0).collect();
            let mut v: Vec<f64> = (0..d)
                .map(|i| (0..d).map(|j| full(i, j) * x[j]).sum())
                .collect();
            // The right-hand sides v and 2v, side by side.
            let mut both: Vec<f64> = v.iter().flat_map(|v| [*v, 2.0 * v]).collect();
            factor.solve(&mut v);
            factor.solve_rows(&mut both, 2);
            let close = |v: f64, x: f64| (v - x).abs() < 1e-12 * d as f64;
            for ((v, x), both) in v.iter().zip(&x).zip(both.as_chunks::<2>().0) {
                assert!(close(*v, *x), "size {d}: {v} against {x}");
                let [once, twice] = *both;
                assert!(
                    close(once, *x) && close(0.5 * twice, *x),
                    "size {d}: {both:?}"
                );
            }
        }
    }

    #[test]
    fn a_long_factorisation_can_be_stopped() {
        let mut factor = Cholesky::new();
        let rows = factor.start(LONG);
        (0..LONG).for_each(|i| rows[i * LONG + i] = 1.0);
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        assert!(!factor.factor_unless(&stop));
        assert_eq!(asked.get(), 4);
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        for d in [2, 100, LONG + 1] {
            // The entry that makes it indefinite is below the diagonal, the only part that counts.
            for (last, beside) in [(-1.0, 0.0), (1.0, 2.0)] {
                let mut factor = Cholesky::new();
                let fill = |factor: &mut Cholesky| {
                    let rows = factor.start(d);
                    (0..d).for_each(|i| rows[i * d + i] = 1.0);
                    rows[d * d - 1] = last;
                    rows[d * d - 2] = beside;
                };
                fill(&mut factor);
                assert!(!factor.factor_unless(&|| false));
                fill(&mut factor);
                assert!(!factor.succeeds_unless(&|| false));
            }
        }
    }

    #[test]
    fn triangles_are_copied_across() {
        for d in [1, 7, 8, 9, 16, 37] {
            let entry = |i: usize| (i * i % 91) as f64;
            let rows: Vec<f64> = (0..d * d).map(entry).collect();
            let (mut up, mut down) = (rows.clone(), rows.clone());
            mirror_up(&mut up, d);
            mirror_down(&mut down, d);
            for (r, c) in (0..d * d).map(|at| (at / d, at % d)) {
                let (low, high) = (r.max(c), r.min(c));
                assert_eq!(up[r * d + c], rows[low * d + high]);
                assert_eq!(down[r * d + c], rows[high * d + low]);
            }
        }
    }
}
