//! The sums with which kept rows of the matrix are compared.

use super::Columns;
use crate::linalg::kernels;
use crate::problem::Stored;

/// The sum `Σ r_j a_j`, column after column, with which a matrix is compared; O(stored entries) per column.
pub(super) struct Probe<'a> {
    of: &'a Columns<'a>,
    column: Vec<f64>,
    /// The sum is `sum + constant`; for dense columns the constant is 0.
    sum: Vec<f64>,
    constant: f64,
    /// `Σp`, `pᵀb`, `pᵀsum`.
    total: f64,
    response: f64,
    mass: f64,
}

/// The products of a column with a [`Probe`].
pub(super) struct Seen {
    /// r_j.
    pub(super) step: f64,
    /// The diagonal entry that roundings are relative to.
    pub(super) square: f64,
    /// `a_jᵀ diag(p) Σ_{i ≤ j} r_i a_i`.
    pub(super) product: f64,
    /// `a_jᵀ diag(p) b`.
    pub(super) slope: f64,
}

impl<'a> Probe<'a> {
    pub(super) fn new(of: &'a Columns<'a>) -> Self {
        let n = of.p.len();
        Self {
            of,
            column: vec![0.0; n],
            sum: vec![0.0; n],
            constant: 0.0,
            total: kernels::sum(of.p),
            response: kernels::dot(of.p, of.b),
            mass: 0.0,
        }
    }

    pub(super) fn add(&mut self, index: usize, weight: f64) -> Seen {
        let Columns { design, p, b, .. } = *self.of;
        let (shift, scale) = self.of.shift(index);
        let step = |square: f64| {
            if square > 0.0 {
                weight / square.sqrt()
            } else {
                0.0
            }
        };
        let j = self.of.columns[index];
        let Stored::Sparse(rows, values) = design.stored(j) else {
            design.fill(j, shift, scale, &mut self.column);
            let square = kernels::weighted_dot(p, &self.column, &self.column);
            let step = step(square);
            kernels::axpy(step, &self.column, &mut self.sum);
            return Seen {
                step,
                square,
                product: kernels::weighted_dot(p, &self.column, &self.sum),
                slope: kernels::weighted_dot(p, &self.column, b),
            };
        };
        let entries = || rows.iter().map(|i| *i as usize).zip(values);
        let squares: f64 = entries().map(|(i, v)| p[i] * v * v).sum();
        let length = squares.sqrt() + shift.abs() * self.total.sqrt();
        let square = (length * scale).powi(2);
        let step = step(square);
        entries().for_each(|(i, v)| self.sum[i] += step * scale * v);
        let own = kernels::dot_sparse(rows, values, p);
        self.constant -= step * scale * shift;
        self.mass += step * scale * own;
        let (mut product, mut slope) = (self.constant * own, 0.0);
        for (i, v) in entries() {
            product += p[i] * v * self.sum[i];
            slope += p[i] * v * b[i];
        }
        product -= shift * (self.mass + self.constant * self.total);
        Seen {
            step,
            square,
            product: product * scale,
            slope: (slope - shift * self.response) * scale,
        }
    }
}
