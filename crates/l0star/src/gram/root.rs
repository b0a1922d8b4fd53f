//! The quadratic `P(x) = c0 - cᵀx + ½ xᵀHx` of the whole problem, `H = G + diag(λ)`, with the
//! intercept eliminated by centring.

mod stacked;

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, MatMut, MatRef, Par};

use super::form::Form;
use super::product::{BandDriver, Columns};
use crate::limits::Limits;
use crate::linalg::cholesky::mirror_up;
use crate::linalg::kernels;
use crate::linalg::rounding::{gamma, two_sum};
use crate::problem::{Problem, Stored};
use crate::tuning::frames::MAX_COLUMNS;

/// Number of rows that are subtracted between two checks of the limits.
const ROWS_AT_ONCE: usize = 64;

/// The quadratic of a problem over its penalised and selectable columns.
#[derive(Debug)]
pub(crate) struct Root {
    /// Column of the data at each index: selectable ones first, then the always-in ones.
    pub columns: Vec<usize>,
    /// Number of selectable columns.
    pub selectable: usize,
    /// Row-major, symmetric.
    pub h: Vec<f64>,
    pub c: Vec<f64>,
    pub c0: f64,
    pub ridge: Vec<f64>,
    /// Number of roundings in an entry.
    roundings: usize,
    /// The c0 that roundings are relative to.
    whole_c0: f64,
    /// The diagonal entries that roundings are relative to.
    diagonal: Vec<f64>,
    /// Remainder of the mean of the response after centring in floating point.
    response_mean: f64,
    /// Remainder of the mean of each column after centring.
    column_means: Vec<f64>,
}

impl Root {
    /// Computes the quadratic of a problem. Returns `None` where the Gram form does not apply (too many columns, or
    /// unpenalised columns other than the intercept), and when a limit is reached first.
    ///
    /// `selectable` is the features that are not yet out; `driver` steps through the bands of the matrix.
    pub(crate) fn new(
        problem: &Problem,
        selectable: &[usize],
        limits: &Limits,
        threads: usize,
        driver: &mut dyn BandDriver,
    ) -> Option<Self> {
        let unpenalised = problem.unpenalised.columns().len();
        let intercepts = problem.scores().map_or(1, |scores| scores.intercepts);
        if unpenalised > intercepts * usize::from(problem.has_intercept) {
            return None;
        }
        let mut columns = selectable.to_vec();
        columns.extend_from_slice(&problem.penalised);
        Self::compute(problem, columns, selectable.len(), limits, threads, driver)
    }

    /// Computes the quadratic over `columns`: first `selectable` that can be chosen, then the always-in ones.
    fn compute(
        problem: &Problem,
        columns: Vec<usize>,
        selectable: usize,
        limits: &Limits,
        threads: usize,
        driver: &mut dyn BandDriver,
    ) -> Option<Self> {
        let (n, d) = (problem.rows(), columns.len());
        if d == 0 || d > MAX_COLUMNS {
            return None;
        }
        if problem.scores().is_some() {
            return Self::stacked(problem, columns, selectable, limits, threads);
        }
        let (p, b) = (&problem.p, response(problem));
        #[cfg(test)]
        testing::MADE.with(|made| made.set(made.get() + 1));
        let products = shown(problem, &columns, &b).products(limits, threads, driver)?;
        let (response_mean, column_means) = if problem.has_intercept {
            let means = products.means.iter().map(|mean| mean * (1.0 + 1e-6));
            (kernels::dot(p, &b).abs(), means.collect())
        } else {
            (0.0, vec![0.0; d])
        };
        let ridge: Vec<f64> = columns.iter().map(|j| problem.ridge[*j]).collect();
        let mut h = products.gram;
        let mut diagonal = Vec::with_capacity(d);
        for (i, (size, ridge)) in products.sizes.iter().zip(&ridge).enumerate() {
            let entry = &mut h[i * d + i];
            *entry += ridge;
            let wider = if *size + ridge == *entry {
                1.0
            } else {
                1.0 + 1e-6
            };
            diagonal.push(entry.max((size + ridge) * wider));
        }
        let c = products.c;
        let c0 = 0.5 * kernels::weighted_dot(p, &b, &b);
        let fine = c0.is_finite() && h.iter().chain(&c).chain(&diagonal).all(|v| v.is_finite());
        fine.then_some(Self {
            columns,
            selectable,
            h,
            c,
            c0,
            ridge,
            roundings: n,
            whole_c0: c0,
            diagonal,
            response_mean: response_mean * (1.0 + 1e-6),
            column_means,
        })
    }

    /// Returns the quadratic over more columns; for dense data, the known products are reused.
    /// Returns `None` at a limit, too.
    pub(crate) fn extended(
        &self,
        problem: &Problem,
        selectable: &[usize],
        limits: &Limits,
    ) -> Option<Self> {
        let mut places = vec![None; problem.design.columns()];
        for (at, j) in self.columns.iter().enumerate() {
            places[*j] = Some(at);
        }
        let mut columns = selectable.to_vec();
        columns.extend_from_slice(&problem.penalised);
        if columns.len() > MAX_COLUMNS {
            return None;
        }
        let is_new = |j: &usize| places[*j].is_none();
        let fresh: Vec<usize> = columns.iter().copied().filter(is_new).collect();
        if fresh.is_empty() || problem.design.is_sparse() {
            return Self::compute(problem, columns, selectable.len(), limits, 1, &mut ());
        }
        let b = response(problem);
        let others = shown(problem, &self.columns, &b);
        let cross = shown(problem, &fresh, &b).cross(&others, limits)?;
        let count = fresh.len();
        let fresh = Self::compute(problem, fresh, count, limits, 1, &mut ())?;
        if !cross.iter().all(|v| v.is_finite()) {
            return None;
        }
        // Place of each column in this quadratic, or in the fresh one.
        let mut next = 0..count;
        let place = |j: &usize| places[*j].ok_or_else(|| next.next().unwrap_or_default());
        let places: Vec<Result<usize, usize>> = columns.iter().map(place).collect();
        let size = self.size();
        let mut h = Vec::with_capacity(columns.len() * columns.len());
        for i in &places {
            h.extend(places.iter().map(|j| match (*i, *j) {
                (Ok(i), Ok(j)) => self.h[i * size + j],
                (Err(i), Err(j)) => fresh.h[i * count + j],
                (Ok(old), Err(new)) | (Err(new), Ok(old)) => cross[new * size + old],
            }));
        }
        let gather = |old: &[f64], new: &[f64]| -> Vec<f64> {
            let at = |place: &Result<usize, usize>| match *place {
                Ok(at) => old[at],
                Err(at) => new[at],
            };
            places.iter().map(at).collect()
        };
        Some(Self {
            selectable: selectable.len(),
            h,
            c: gather(&self.c, &fresh.c),
            ridge: gather(&self.ridge, &fresh.ridge),
            diagonal: gather(&self.diagonal, &fresh.diagonal),
            column_means: gather(&self.column_means, &fresh.column_means),
            columns,
            ..*self
        })
    }

    /// Returns the quadratic without some rows, by subtracting their share; only where there is no
    /// intercept. `None` at a limit.
    ///
    /// The entries of the whole bound the terms that are added and subtracted, so its sizes
    /// stay the measure of rounding.
    pub(crate) fn without_rows(
        &self,
        problem: &Problem,
        rows: &[usize],
        limits: &Limits,
    ) -> Option<Self> {
        let d = self.size();
        let (mut h, mut c, mut c0) = (self.h.clone(), self.c.clone(), self.c0);
        // Some rows at a time: the entries row by row, without and with their weights.
        let (mut plain, mut weighted) = (Vec::new(), Vec::new());
        for rows in rows.chunks(ROWS_AT_ONCE) {
            if limits.stop() {
                return None;
            }
            plain.clear();
            weighted.clear();
            for i in rows {
                let p = problem.p[*i];
                let b = problem.b[*i] - problem.offset.get(*i).copied().unwrap_or(0.0);
                let start = plain.len();
                plain.extend(self.columns.iter().map(|j| problem.design.entry(*i, *j)));
                let row = &plain[start..];
                weighted.extend(row.iter().map(|a| p * a));
                kernels::axpy(-p * b, row, &mut c);
                c0 -= 0.5 * p * b * b;
            }
            // Row by row below the diagonal is column by column above it.
            matmul(
                MatMut::from_column_major_slice_mut(&mut h, d, d),
                BlockStructure::TriangularUpper,
                Accum::Add,
                MatRef::from_column_major_slice(&plain, d, rows.len()),
                BlockStructure::Rectangular,
                MatRef::from_row_major_slice(&weighted, rows.len(), d),
                BlockStructure::Rectangular,
                -1.0,
                Par::Seq,
            );
        }
        mirror_up(&mut h, d);
        // Three roundings per row. An entry of a view brings two of its own, and a product has two entries.
        let each = if problem.design.has_view() { 7 } else { 3 };
        Some(Self {
            columns: self.columns.clone(),
            h,
            c,
            c0: c0.max(0.0),
            ridge: self.ridge.clone(),
            roundings: self.roundings + each * rows.len() + 3,
            diagonal: self.diagonal.clone(),
            column_means: self.column_means.clone(),
            ..*self
        })
    }

    /// Returns the index of a selectable column.
    pub(crate) fn index(&self, column: usize) -> Option<usize> {
        let selectable = &self.columns[..self.selectable];
        selectable.binary_search(&column).ok()
    }

    pub(crate) fn size(&self) -> usize {
        self.columns.len()
    }

    /// Returns the quadratic alone.
    pub(crate) fn form(&self) -> Form<'_> {
        Form {
            h: &self.h,
            c: &self.c,
            c0: self.c0,
            selectable: self.selectable,
        }
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        let d = self.size();
        &self.h[i * d..(i + 1) * d]
    }

    /// Returns the diagonal entry that roundings are relative to: `|ΔH_ij| ≤ γ √(size_i size_j)`, at least H_ii.
    pub(crate) fn rounding_size(&self, i: usize) -> f64 {
        self.diagonal[i]
    }

    /// Number of roundings in an entry.
    pub(crate) fn roundings(&self) -> usize {
        self.roundings
    }

    /// Returns the distance of the floats from the problem, the remainder of the intercept included: see [`share`].
    pub(crate) fn share(&self) -> f64 {
        let means = (self.response_mean, &self.column_means[..]);
        share(self.roundings, self.whole_c0, &self.diagonal, Some(means))
    }

    /// Returns `Y ≥ √(xᵀHx)` for every x with `P(x) ≤ reference`.
    pub(crate) fn reach(&self, reference: f64) -> f64 {
        ((2.0 * self.whole_c0).sqrt() + (2.0 * reference).sqrt()) * (1.0 + 1e-3)
    }

    /// Returns a bound on `|P(x) - P̂(x)|` over all x with at most `k` non-zeros and `P(x) ≤ reference`.
    /// P̂ has the float H, c, c0. `squares` is any s² with `H ⪰ diag(s²)` proved of the float H;
    /// the ridge where it is larger.
    ///
    /// Each entry is a sum over n rows of rounded products of centred columns. With the rounding sizes `D_i ≥ H_ii`:
    /// `|ΔH_ij| ≤ γ √(D_i D_j)`, `|Δc_i| ≤ γ √(2 c0 D_i)`, `|Δc0| ≤ γ c0`, and `Σ √D_i |x_i| ≤ √(κk) Y` with
    /// `κ = max D_i/s_i²`. The true H is at least `diag(s²)/2` when `γ Σ D_i/s_i² ≤ ½`; otherwise only the ridge is
    /// certain. Leaving the rest of the intercept at 0 after centring costs the square of the remainders of the means.
    pub(crate) fn error(&self, k: usize, squares: Option<&[f64]>, reference: f64) -> f64 {
        let (diagonal, c0) = (&self.diagonal, self.whole_c0);
        let noise = gamma(self.roundings + 14);
        let ratio = |square: &dyn Fn(usize) -> f64| -> (f64, f64, f64) {
            let (mut most, mut sum, mut mean) = (0.0_f64, 0.0, 0.0_f64);
            for (i, h) in diagonal.iter().enumerate() {
                most = most.max(h / square(i));
                sum += h / square(i);
                mean = mean.max(self.column_means[i] / square(i).sqrt());
            }
            (most, sum, mean)
        };
        let plain = ratio(&|i| self.ridge[i]);
        let (steepest, mean) = match squares {
            Some(squares) => {
                let (most, sum, mean) = ratio(&|i| squares[i]);
                if noise * sum <= 0.5 {
                    (2.0 * most, 1.5 * mean)
                } else {
                    (plain.0, plain.2)
                }
            }
            None => (plain.0, plain.2),
        };
        let y = self.reach(reference);
        let spread = (steepest.min(plain.0) * k as f64).sqrt() * y;
        let sum = (2.0 * c0).sqrt() + spread;
        let left = self.response_mean + mean * (k as f64).sqrt() * y;
        noise * sum * sum + left * left
    }
}

/// Returns the η of section 14 of `docs/numerics.md`: with the rounding sizes D, and the intercept at its best,
///
/// ```text
/// |ΔH_ij| ≤ η √(D_i D_j),   |Δc_i| ≤ η √(2 c0 D_i),   |Δc0| ≤ η c0
/// ```
///
/// `means` is the remainders of the means of the response and of the columns after centring, if there is an intercept.
pub(super) fn share(roundings: usize, c0: f64, sizes: &[f64], means: Option<(f64, &[f64])>) -> f64 {
    let noise = gamma(roundings + 14);
    let left = means.map_or(0.0, |(response, columns)| {
        let columns = columns.iter().zip(sizes);
        let columns = columns.map(|(mean, size)| mean / size.sqrt());
        // Not `f64::max`, which would drop a NaN.
        columns.fold(response / (2.0 * c0).sqrt(), |most, left| {
            if left <= most { most } else { left }
        })
    });
    let left = left * (1.0 + 1e-6) + noise;
    (noise + left * left) * (1.0 + 1e-3)
}

/// Returns the response less the offset, centred where there is an intercept.
pub(super) fn response(problem: &Problem) -> Vec<f64> {
    let is_centred = problem.has_intercept;
    less_offset(&problem.b, &problem.offset, &problem.p, is_centred)
}

/// Returns a response less its offset, which may be empty; centred on request.
fn less_offset(b: &[f64], offset: &[f64], p: &[f64], is_centred: bool) -> Vec<f64> {
    let mut b = b.to_vec();
    let mut low = vec![0.0; b.len()];
    for ((b, o), low) in b.iter_mut().zip(offset).zip(&mut low) {
        (*b, *low) = two_sum(*b, -o);
    }
    let middle = if is_centred {
        kernels::dot(p, &b) / p.iter().sum::<f64>()
    } else {
        0.0
    };
    for (b, low) in b.iter_mut().zip(&low) {
        *b = (*b - middle) + low;
    }
    b
}

/// Returns the columns of the quadratic: those that the design shows, centred where there is an intercept.
pub(super) fn shown<'a>(problem: &'a Problem, columns: &'a [usize], b: &'a [f64]) -> Columns<'a> {
    let (p, design) = (&problem.p, &problem.design);
    let total: f64 = p.iter().sum();
    // Any shift is exact in mathematics, since the intercept absorbs it; the float mean is a good one.
    let shift = |j: &usize| -> (f64, f64) {
        let (centre, scale) = design.view(*j);
        match design.stored(*j) {
            _ if !problem.has_intercept => (centre, scale),
            Stored::Dense(values) => {
                let sum = values.sum(|rows, values| kernels::dot(&p[rows], values));
                (sum / total, scale)
            }
            Stored::Sparse(rows, values) => (kernels::dot_sparse(rows, values, p) / total, scale),
        }
    };
    let moved = problem.has_intercept || design.has_view();
    let shifts = columns.iter().map(shift);
    Columns {
        design,
        columns,
        shifts: if moved { shifts.collect() } else { Vec::new() },
        p,
        b,
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::cell::Cell;

    thread_local! {
        /// Number of Gram matrices that this thread has started to compute.
        pub(crate) static MADE: Cell<usize> = const { Cell::new(0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Design;

    /// An extended quadratic equals the one computed at once, but for rounding.
    #[test]
    fn extended_or_made_at_once() {
        let (n, d) = (37, 20);
        let wave = |at: usize| ((at * at % 97) as f64 * 0.7).sin() + 0.3;
        let values: Vec<f64> = (0..n * d).map(wave).collect();
        let response: Vec<f64> = (0..n).map(|i| wave(3 * i + 1)).collect();
        let selectable: Vec<usize> = (0..d).filter(|j| j % 7 != 2).collect();
        for (intercept, standardize, weighted) in [
            (false, false, false),
            (true, false, true),
            (true, true, false),
        ] {
            let design = Design::dense(n, d, values.clone()).unwrap();
            let mut builder = Problem::builder(design, response.clone())
                .standardize(false)
                .k(3)
                .ridge(0.1);
            builder = builder.intercept(intercept).standardize(standardize);
            if weighted {
                builder = builder.weights((0..n).map(|i| 1.0 + (i % 3) as f64).collect());
            }
            let problem = builder.always_in(2, 0.2).build().unwrap();
            let limits = Limits::none();
            let whole = Root::new(&problem, &selectable, &limits, 1, &mut ()).unwrap();
            let part: Vec<usize> = selectable.iter().copied().filter(|j| j % 3 == 0).collect();
            let part = Root::new(&problem, &part, &limits, 1, &mut ()).unwrap();
            let extended = part.extended(&problem, &selectable, &limits).unwrap();
            assert_eq!(extended.columns, whole.columns);
            assert_eq!(extended.selectable, whole.selectable);
            assert_eq!(extended.c0, whole.c0);
            assert_eq!(extended.ridge, whole.ridge);
            let room = gamma(2 * n + 20);
            for (i, row) in extended.h.chunks_exact(whole.size()).enumerate() {
                for (j, entry) in row.iter().enumerate() {
                    let size = (whole.rounding_size(i) * whole.rounding_size(j)).sqrt();
                    assert!((entry - whole.row(i)[j]).abs() <= room * size, "{i} {j}");
                    assert_eq!(*entry, extended.row(j)[i]);
                }
                let size = (2.0 * whole.c0 * whole.rounding_size(i)).sqrt();
                assert!((extended.c[i] - whole.c[i]).abs() <= room * size);
                let size = extended.rounding_size(i) / whole.rounding_size(i);
                assert!((size - 1.0).abs() <= 1e-9);
            }
        }
    }
}
