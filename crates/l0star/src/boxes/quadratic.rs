//! The quadratic of a node, with the errors of its numbers.

use std::borrow::Cow;

/// `P(x) = c0 - cᵀx + ½ xᵀHx` in floats, with bounds on the distance to the node of the true problem.
///
/// With the sizes `w` of the columns, `w0` of the response, and `η` (`share`):
///
/// ```text
/// |H_ij| ≤ w_i w_j,   |c_i| ≤ w_i w0,   2 c0 ≤ w0²,   |ΔH_ij| ≤ η w_i w_j,   |Δc_i| ≤ η w_i w0,   |Δc0| ≤ ½ η w0².
/// ```
///
/// The true numbers belong to `½|ρ|²` with the ridges λ among the rows. Hence
/// `H - diag(λ) ⪰ 0`, and P is nowhere negative.
#[derive(Debug, Clone)]
pub(crate) struct Quadratic<'a> {
    /// Row-major, symmetric.
    pub h: Cow<'a, [f64]>,
    pub c: Vec<f64>,
    pub c0: f64,
    pub ridge: Vec<f64>,
    pub sizes: Vec<f64>,
    /// `w0`.
    pub response: f64,
    pub share: f64,
}

impl Quadratic<'_> {
    /// Returns the number of columns.
    pub(crate) fn size(&self) -> usize {
        self.c.len()
    }

    pub(super) fn row(&self, i: usize) -> &[f64] {
        let d = self.size();
        &self.h[i * d..(i + 1) * d]
    }

    /// Returns the quadratic of some of the columns; the others are zero.
    pub(crate) fn restricted(&self, kept: &[usize]) -> Quadratic<'static> {
        let mut h = Vec::with_capacity(kept.len() * kept.len());
        for i in kept {
            let row = self.row(*i);
            h.extend(kept.iter().map(|j| row[*j]));
        }
        let pick = |values: &[f64]| kept.iter().map(|i| values[*i]).collect();
        Quadratic {
            h: Cow::Owned(h),
            c: pick(&self.c),
            c0: self.c0,
            ridge: pick(&self.ridge),
            sizes: pick(&self.sizes),
            response: self.response,
            share: self.share,
        }
    }
}
