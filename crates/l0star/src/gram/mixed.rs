//! Huber's loss at the root: rows that are proved quadratic are in a lifted Gram matrix, the others stay explicit.
//!
//! ```text
//! f(x) = c0 - cᵀx + ½ xᵀGx + Σ_{i∈U} p_i h(a_iᵀx + o_i - b_i)
//! ```
//!
//! exceeds the true P only where a row of the Gram part leaves ±δ, which no improving x does. The rows of U are
//! linearised one by one, which leaves room in the bound: `P(x) ≥ D + p_i ½(δ - |α_i|)²` for every x whose residual i
//! is beyond δ. If that is at least the incumbent, row i is quadratic too.

use std::sync::Arc;

use super::frame::{Frame, FrameModel};
use crate::bound::Certified;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;
use crate::problem::Problem;
use crate::relaxation::model::{Model, Sets};

/// A frame over the certified rows, together with the other rows.
pub(crate) struct MixedModel<'p> {
    problem: &'p Problem,
    gram: FrameModel,
    frame: Arc<Frame>,
    /// The rows that stay explicit.
    pub rows: Vec<usize>,
    /// Scaled entries of these rows, column after column of the frame.
    entries: Vec<f64>,
    /// `max_j |ã_ij|` and `|b_i| + |o_i|` of each.
    sizes: Vec<(f64, f64)>,
    p: Vec<f64>,
    b: Vec<f64>,
    offset: Vec<f64>,
    z: Vec<f64>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    curvature: Vec<f64>,
    dz: Vec<f64>,
    moved: Vec<f64>,
    own: Vec<f64>,
    smooth: f64,
    terms: MixedTerms,
    /// Bounds are claimed only up to this.
    ceiling: f64,
}

#[derive(Debug, Default)]
struct MixedTerms {
    dual: f64,
    error: f64,
    /// Bound on what another selection of atoms adds to the error.
    selection: f64,
    /// |α_i| of the explicit rows, rounded up.
    slopes: Vec<f64>,
}

impl<'p> MixedModel<'p> {
    pub(crate) fn new(
        problem: &'p Problem,
        columns: &[usize],
        frame: Arc<Frame>,
        rows: Vec<usize>,
        ceiling: f64,
    ) -> Self {
        let mut entries = Vec::with_capacity(rows.len() * frame.size());
        for (j, scale) in frame.columns.iter().zip(&frame.scale) {
            let j = columns[*j as usize];
            entries.extend(rows.iter().map(|i| problem.design.entry(*i, j) / scale));
        }
        let count = rows.len();
        let pick = |v: &[f64]| -> Vec<f64> {
            rows.iter()
                .map(|i| v.get(*i).copied().unwrap_or(0.0))
                .collect()
        };
        let (b, offset) = (pick(&problem.b), pick(&problem.offset));
        let sizes = (0..count)
            .map(|r| {
                let row = entries.iter().skip(r).step_by(count);
                let largest = row.fold(0.0, |m: f64, a| m.max(a.abs()));
                (largest, b[r].abs() + offset[r].abs())
            })
            .collect();
        Self {
            problem,
            gram: FrameModel::new(Arc::clone(&frame), f64::INFINITY),
            entries,
            sizes,
            p: pick(&problem.p),
            b,
            offset,
            z: vec![0.0; count],
            alpha: vec![0.0; count],
            beta: vec![0.0; count],
            curvature: vec![0.0; count],
            dz: vec![0.0; count],
            moved: vec![0.0; count],
            own: Vec::new(),
            smooth: 0.0,
            terms: MixedTerms::default(),
            ceiling,
            frame,
            rows,
        }
    }

    /// Returns the explicit rows that the point kept proves to be quadratic for every x with `P(x) < reference`.
    pub(crate) fn certified_rows(&mut self, sets: &Sets, reference: f64) -> Vec<usize> {
        let bound = self.certify(sets).value();
        if self.terms.slopes.len() != self.rows.len() {
            // No point was ever terms: every D overflowed.
            return Vec::new();
        }
        let rows = self.rows.iter().enumerate();
        let proved = rows.filter(|(r, _)| {
            let room = (self.problem.loss.domain(self.b[*r]).1 - self.terms.slopes[*r]).max(0.0);
            bound + 0.5 * self.p[*r] * room * room * (1.0 - 1e-12) >= reference
        });
        proved.map(|(_, i)| *i).collect()
    }

    /// Returns the bound of a child whose D is higher than that of the point kept by `rise`.
    pub(crate) fn child(&self, rise: f64) -> Certified {
        let error = self.gram.kept_error() + self.gram.selection_error() + self.terms.error;
        let error = (error + self.terms.selection) * (1.0 + 1e-3);
        Certified::from_frame(self.terms.dual + rise, self.ceiling, error)
    }

    /// Returns an upper bound on what the explicit rows add to the trace of the Hessian.
    fn trace(&self) -> f64 {
        let count = self.rows.len();
        let columns = self.entries.chunks_exact(count.max(1));
        columns
            .map(|column| kernels::weighted_dot(&self.p, column, column))
            .sum()
    }

    fn column(&self, j: usize) -> &[f64] {
        let count = self.rows.len();
        &self.entries[j * count..(j + 1) * count]
    }
}

impl Model for MixedModel<'_> {
    fn size(&self) -> usize {
        self.frame.size()
    }

    fn evaluate(&mut self, x: &[f64], support: &[usize], sets: &Sets, u: &mut [f64]) -> (f64, f64) {
        let (smooth, base) = self.gram.evaluate(x, support, sets, u);
        let count = self.rows.len();
        let mut z = std::mem::take(&mut self.z);
        z.copy_from_slice(&self.offset);
        for j in support {
            kernels::axpy(x[*j], self.column(*j), &mut z);
        }
        self.z = z;
        let loss = &self.problem.loss;
        let value = loss.total(&self.p, &self.z, &self.b);
        loss.slopes(&self.z, &self.b, &mut self.alpha);
        for ((beta, alpha), p) in self.beta.iter_mut().zip(&self.alpha).zip(&self.p) {
            *beta = alpha * p;
        }
        let mut pull = 0.0;
        for (j, u) in u.iter_mut().enumerate() {
            let part = kernels::dot(&self.entries[j * count..(j + 1) * count], &self.beta);
            *u -= part;
            pull -= x[j] * part;
        }
        self.smooth = smooth + value;
        (self.smooth, base + value + pull)
    }

    fn hessian(&mut self, set: &[usize], rows: &mut [f64]) {
        self.gram.hessian(set, rows);
        let loss = &self.problem.loss;
        loss.weighted_curvatures(&self.p, &self.z, &self.b, &mut self.curvature);
        let size = set.len();
        for (r, i) in set.iter().enumerate() {
            for (c, j) in set[..=r].iter().enumerate() {
                rows[r * size + c] +=
                    kernels::weighted_dot(&self.curvature, self.column(*i), self.column(*j));
            }
        }
    }

    /// Computes `c - Ãᵀβ + Ãᵀ diag(p h'')(z - o)` on the set.
    fn right_side(&mut self, u: &[f64], set: &[usize], out: &mut Vec<f64>) {
        self.gram.right_side(u, set, out);
        for r in 0..self.rows.len() {
            self.moved[r] = self.curvature[r] * (self.z[r] - self.offset[r]) - self.beta[r];
        }
        for (out, j) in out.iter_mut().zip(set) {
            *out += kernels::dot(self.column(*j), &self.moved);
        }
    }

    fn set_direction(&mut self, u: &[f64], direction: &[(usize, f64)]) {
        // The Gram part needs its own gradient: u without what the rows subtracted.
        let mut own = std::mem::take(&mut self.own);
        own.clear();
        own.extend_from_slice(u);
        let mut dz = std::mem::take(&mut self.dz);
        dz.fill(0.0);
        for (j, d) in direction {
            own[*j] += kernels::dot(self.column(*j), &self.beta);
            kernels::axpy(*d, self.column(*j), &mut dz);
        }
        self.dz = dz;
        self.gram.set_direction(&own, direction);
        self.own = own;
    }

    fn along(&mut self, a: f64) -> f64 {
        self.moved.copy_from_slice(&self.z);
        kernels::axpy(a, &self.dz, &mut self.moved);
        self.gram.along(a) + self.problem.loss.total(&self.p, &self.moved, &self.b)
    }

    /// Keeps the point evaluated last, and bounds the error of the Gram part and of the rows.
    ///
    /// With `|ẑ_i - z_i| ≤ e_i`, the values move by `p(|α|e + e²/2)` and every u_j by `Σ p max|ã_i| (e + γ|α|)`;
    /// both enter D with `|x|₁ + U₁`.
    fn keep(&mut self, x: &[f64], support: &[usize], u: &[f64], sets: &Sets, dual: f64, top: f64) {
        self.gram.keep(x, support, u, sets, dual, top);
        let length: f64 = support.iter().map(|j| x[*j].abs()).sum();
        let count = self.rows.len();
        let (per_entry, per_row) = (gamma(support.len() + 6), gamma(count + 8));
        let steepest = kernels::largest(u);
        // `slope` bounds the error of every u_j; subtracting the rows' part from u rounds once more.
        let (mut value, mut slope, mut pulls) = (0.0, gamma(3) * steepest, 0.0);
        self.terms.slopes.clear();
        for r in 0..count {
            let (largest, constant) = self.sizes[r];
            let e = per_entry * (largest * length + constant);
            let alpha = self.alpha[r].abs();
            self.terms.slopes.push(alpha + e);
            let residual = (self.z[r] - self.b[r]).abs();
            value += self.p[r] * (alpha * e + e * e + per_row * alpha * residual);
            slope += self.p[r] * largest * (e + per_row * alpha);
            pulls += self.p[r] * largest * alpha;
        }
        slope *= 1.0 + gamma(count + 8);
        let terms = (sets.inside.len() + sets.budget) as f64;
        let inside: f64 = sets.inside.iter().map(|j| u[*j].abs()).sum();
        let first = inside + (sets.budget as f64 * top).sqrt();
        let pull: f64 = support.iter().map(|j| (u[*j] * x[*j]).abs()).sum();
        let sizes = self.smooth.abs() + dual.abs() + pull + length * pulls;
        self.terms.dual = dual;
        self.terms.selection = 2.0 * slope * (steepest + slope);
        // The Gram part's own error counts its ε once with ε²; the sum of both errors needs the cross term too.
        let gram = self.gram.slope_error();
        self.terms.error = (value
            + slope * (length + first)
            + terms * slope * (slope + 2.0 * gram)
            + gamma(support.len() + 16) * sizes)
            * (1.0 + 1e-3);
    }

    fn certify(&mut self, _sets: &Sets) -> Certified {
        let error = (self.gram.kept_error() + self.terms.error) * (1.0 + 1e-3);
        Certified::from_frame(self.terms.dual, self.ceiling, error)
    }

    fn mean_curvature(&self) -> f64 {
        self.gram.mean_curvature() + self.trace() / self.frame.size() as f64
    }

    fn largest_curvature(&self) -> f64 {
        self.gram.largest_curvature() + self.trace()
    }
}
