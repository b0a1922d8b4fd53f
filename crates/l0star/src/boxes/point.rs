//! A point that coordinate descent moves, with its slopes.

use super::Quadratic;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;

/// x, and `v = c - Hx` kept up to date with it.
///
/// Slopes are never computed afresh: the rounding of all updates is counted instead. After N of them the error of an entry is at
/// most `γ_{N+3} w_i Ω`, `Ω = w0 + Σ w_l |Δx_l|` over all updates.
#[derive(Debug, Clone, Default)]
pub(super) struct DescentPoint {
    pub x: Vec<f64>,
    pub v: Vec<f64>,
    variation: f64,
    steps: usize,
}

impl DescentPoint {
    /// Goes to x = 0.
    pub(super) fn reset(&mut self, quadratic: &Quadratic) {
        self.x.clear();
        self.x.resize(quadratic.size(), 0.0);
        self.v.clear();
        self.v.extend_from_slice(&quadratic.c);
        self.variation = quadratic.response;
        self.steps = 0;
    }

    /// Goes to x = 0 without c: `v = -Hx` from here on, for a direction.
    pub(super) fn reset_to_direction(&mut self, quadratic: &Quadratic) {
        self.reset(quadratic);
        self.v.fill(0.0);
        self.variation = 0.0;
    }

    /// Changes one coordinate.
    #[inline]
    pub(super) fn go(&mut self, quadratic: &Quadratic, i: usize, x: f64) {
        let change = x - self.x[i];
        if change != 0.0 {
            self.x[i] = x;
            kernels::axpy(-change, quadratic.row(i), &mut self.v);
            self.variation += quadratic.sizes[i] * change.abs();
            self.steps += 1;
        }
    }

    /// `e` with `|v̂_i - v_i| ≤ e w_i`, v the slopes of the true problem, and Ω. Sums of d terms that are made of these
    /// numbers, `cᵀx` and `xᵀv`, err by at most `e Ω` each.
    pub(super) fn error(&self, quadratic: &Quadratic) -> (f64, f64) {
        // Its own sum is rounded, too; two updates of the diagonal (`ascent`) count as two.
        let omega = self.variation * (1.0 + gamma(self.steps + 4));
        let rounding = gamma(2 * self.steps + quadratic.size() + 16);
        ((quadratic.share + rounding) * omega, omega)
    }
}
