//! The bound of a few columns from a model of them and a step: a dual point whose conjugates are bounded by parabolas.
//!
//! At a model x with predictions z and slopes `α = l'(z)` let w be the curvatures of [`Loss::parabola`](crate::loss::Loss::parabola),
//! and `Δ = Ad` a step that stays within their reach. Then α + wΔ is a dual point, and with `v = Aᵀp(α + wΔ)`
//!
//! ```text
//! P ≥ Σ p l(z) - xᵀv - ½ Σ p w Δ² - Σ v_j²/2λ_j - B|v_0|
//! ```
//!
//! for every model of these columns, with the intercept in its box B as usual. No logarithm has to be computed. Where
//! the products `Aᵀpα` and `K = Aᵀ diag(pw) A` are known, no row has to be examined except for the reach.

use crate::linalg::rounding::gamma;

/// Maximum number of columns of a model, always-in ones and the intercept included.
pub(super) const MOST: usize = 8;

/// Properties of a column.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Column {
    /// 0 for the intercept …
    pub(super) ridge: f64,
    /// … and its box, 0 for the others.
    pub(super) limit: f64,
    /// `√(Σ p a²)`, rounded up.
    pub(super) norm: f64,
    /// `max |a|`.
    pub(super) largest: f64,
}

/// A model of q columns, and their products that a bound needs; columns beyond q are zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Products {
    pub(super) q: usize,
    pub(super) columns: [Column; MOST],
    pub(super) x: [f64; MOST],
    /// `Aᵀpα`.
    pub(super) v: [f64; MOST],
    /// `Aᵀ diag(pw) A`.
    pub(super) k: [[f64; MOST]; MOST],
    pub(super) sizes: Sizes,
}

/// The sizes that the rounding of a bound is relative to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sizes {
    /// `Σ p l(z)`, and what its rounding is relative to beyond itself.
    pub(super) loss: f64,
    pub(super) noise: f64,
    /// `√(Σ p α²)`, rounded up.
    pub(super) slopes: f64,
    /// The root of the largest w, rounded up.
    pub(super) steepest: f64,
    /// `√(Σ p o²)` of the offsets, rounded up; one more where slopes belong to predictions only up to rounding.
    pub(super) offsets: f64,
}

/// Products without any columns, to be filled in.
impl Default for Products {
    fn default() -> Self {
        Self {
            q: 0,
            columns: [Column::default(); MOST],
            x: [0.0; MOST],
            v: [0.0; MOST],
            k: [[0.0; MOST]; MOST],
            sizes: Sizes::default(),
        }
    }
}

impl Products {
    /// Returns the bound of a step that is within reach, rounded down, for n rows; NaN after an overflow.
    #[inline]
    pub(super) fn bound(&self, d: &[f64; MOST], omega: f64) -> f64 {
        let q = self.q;
        let way: f64 = (0..q).map(|a| d[a].abs() * self.k[a][a].sqrt()).sum();
        let sizes = &self.sizes;
        let total = sizes.slopes + sizes.steepest * way;
        let (mut value, mut size) = (sizes.loss, sizes.loss + sizes.noise);
        let mut reach = sizes.offsets;
        for a in 0..q {
            let product: f64 = (0..q).map(|b| self.k[a][b] * d[b]).sum();
            let (v, column) = (self.v[a] + product, &self.columns[a]);
            let error = omega * column.norm * total;
            let above = v.abs() + error;
            let atom = if column.ridge > 0.0 {
                above * (above / (2.0 * column.ridge))
            } else {
                column.limit * above
            };
            let half = 0.5 * product * d[a];
            value -= self.x[a] * v + half + atom;
            size += (self.x[a] * v).abs() + half.abs() + atom;
            reach += column.norm * self.x[a].abs();
        }
        // The first term is for the predictions and for v, the second for the products, the last for the sums.
        let noise = omega * (2.0 * total * reach + 2.0 * way * way + size);
        value - noise
    }

    /// Returns the step to the minimum of the model with curvatures K and the ridges; `None`
    /// where the factorisation fails.
    pub(super) fn step(&self) -> Option<[f64; MOST]> {
        let mut gradient = [0.0; MOST];
        for (a, out) in gradient.iter_mut().enumerate().take(self.q) {
            *out = self.v[a] + self.columns[a].ridge * self.x[a];
        }
        let ridges = self.columns.map(|column| column.ridge);
        solve(&self.k, &ridges, &gradient, self.q).map(|step| step.map(|d| -d))
    }
}

/// Returns the relative error of rounding with n rows: entries, weights, slopes and n additions,
/// with a factor of two to spare.
pub(super) fn omega(rows: usize) -> f64 {
    gamma(2 * rows + 120)
}

/// Computes `(K + diag(λ))⁻¹ g` for the first q columns; `None` where a pivot is not positive.
pub(super) fn solve(
    k: &[[f64; MOST]; MOST],
    ridges: &[f64; MOST],
    g: &[f64; MOST],
    q: usize,
) -> Option<[f64; MOST]> {
    let mut l = [[0.0; MOST]; MOST];
    let mut y = [0.0; MOST];
    for a in 0..q {
        for b in 0..=a {
            let known: f64 = (0..b).map(|c| l[a][c] * l[b][c]).sum();
            let ridge = if a == b { ridges[a] } else { 0.0 };
            let left = k[a][b] + ridge - known;
            if a > b {
                l[a][b] = left / l[b][b];
            } else if left > 0.0 {
                l[a][a] = left.sqrt();
            } else {
                return None;
            }
        }
        let known: f64 = (0..a).map(|c| l[a][c] * y[c]).sum();
        y[a] = (g[a] - known) / l[a][a];
    }
    for a in (0..q).rev() {
        let known: f64 = (a + 1..q).map(|c| l[c][a] * y[c]).sum();
        y[a] = (y[a] - known) / l[a][a];
    }
    Some(y)
}
