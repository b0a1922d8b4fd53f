//! A point that coordinate descent moves, with its slopes.

use super::Quadratic;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;

/// A point x, with `v = c - Hx` updated along with it.
///
/// Slopes are never recomputed; the rounding errors of all updates are counted instead. After N updates the error of an
/// entry is at most `γ_{N+3} w_i Ω`, where `Ω = w0 + Σ w_l |Δx_l|` over all updates.
#[derive(Debug, Clone, Default)]
pub(super) struct DescentPoint {
    pub x: Vec<f64>,
    pub v: Vec<f64>,
    variation: f64,
    steps: usize,
}

impl DescentPoint {
    /// Resets the point to x = 0.
    pub(super) fn reset(&mut self, quadratic: &Quadratic) {
        self.x.clear();
        self.x.resize(quadratic.size(), 0.0);
        self.v.clear();
        self.v.extend_from_slice(&quadratic.c);
        self.variation = quadratic.response;
        self.steps = 0;
    }

    /// Resets the point to x = 0 without c: `v = -Hx` from here on, for a direction.
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

    /// Returns `e` with `|v̂_i - v_i| ≤ e w_i`, where v are the slopes of the true problem, and Ω.
    ///
    /// The sums `cᵀx` and `xᵀv` of d such terms err by at most `e Ω` each.
    pub(super) fn error(&self, quadratic: &Quadratic) -> (f64, f64) {
        // The sum for Ω is itself rounded. `ascent` updates the diagonal entry twice per step, so each step counts as
        // two.
        let omega = self.variation * (1.0 + gamma(self.steps + 4));
        let rounding = gamma(2 * self.steps + quadratic.size() + 16);
        ((quadratic.share + rounding) * omega, omega)
    }
}
