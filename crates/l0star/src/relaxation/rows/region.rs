//! Intervals that contain the predictions of every better model, one for each row.
//!
//! Let x0 be a point with the bound D. A better x (`P(x) < P_ref`) has a total slack of less than `γ = P_ref - D`. The
//! slack of the rows grows with the distance from z0 to z like `Σ p_i c_i (z_i - z0_i)²`, and that of the ridges
//! ([`Slack`]) is at least `Σ g_j (x_j - x0_j)²`. The c_i hold within radii ρ_i. As `z - z0 = A(x - x0)`,
//!
//! ```text
//! |z_i - z0_i| ≤ r_i = √γ √ℓ_i,   ℓ_i = a_iᵀ(Aᵀ diag(pc) A + diag(g))⁻¹ a_i.
//! ```
//!
//! If `r_i < ρ_i` in every row, no better x has a row outside. The slack is convex: between x0 and such an x there
//! would be a point with every row within ρ, one of them at its end, and a slack of at most γ. How the ρ were found
//! does not matter. `docs/numerics.md`, section 9, has the proof with all its errors.

use std::borrow::Cow;

use super::leverage::Leverage;
use super::slack::Slack;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::tuning::rows::GUESS;

/// Maximum number of attempts to find radii that hold.
const MAX_ROUNDS: usize = 5;

/// An interval for each row, and the least curvature of the loss on it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Region {
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    /// A lower bound of l'' on the interval.
    pub curvature: Vec<f64>,
    /// Square root of the gap for which the region was made.
    reach: f64,
}

/// The point at which a region is centred, and the slack of its rows.
#[derive(Debug, Clone)]
pub(crate) struct Centre<'a> {
    /// Prediction of each row at the point, up to `errors`.
    z: Cow<'a, [f64]>,
    errors: Vec<f64>,
    /// Rows without information: those without curvature, and those where the slope belongs to another prediction.
    idle: Vec<bool>,
    /// Upper bound on the slack of the rows at the point itself.
    eta: f64,
    /// Set where the rows are those of the problem lifted in this region.
    lifted: Option<&'a Region>,
}

impl<'a> Centre<'a> {
    /// Returns the centre for the problem itself, with the slack of Fenchel–Young for the slopes α. These belong to the
    /// predictions z up to `error` and the rounding of α.
    pub(crate) fn plain(problem: &Problem, alpha: &[f64], z: &[f64], error: f64) -> Self {
        let (n, loss) = (problem.rows(), &problem.loss);
        let mut centre = Self {
            z: Cow::Owned(vec![0.0; n]),
            errors: vec![0.0; n],
            idle: vec![false; n],
            eta: 0.0,
            lifted: None,
        };
        let tangent = centre.z.to_mut();
        for i in 0..n {
            let b = problem.b[i];
            let touch = loss.conjugate_slope(alpha[i], b);
            let size = loss.span() + touch.abs() + loss.anchor(b).1.abs();
            let error = (touch - z[i]).abs() + error + 1e-14 * size;
            tangent[i] = touch;
            centre.idle[i] = error > 1e-3 * size || loss.secant(touch, b, 2.0 * error) <= 0.0;
            if !centre.idle[i] {
                centre.errors[i] = error;
                let most = loss.most_curvature(touch - error, touch + error, b);
                centre.eta += problem.p[i] * 0.5 * most * error * error;
            }
        }
        centre
    }

    /// Returns the centre for the problem that is lifted in `region`, with the slack of its linearisation at a point of
    /// predictions z, up to `error`.
    pub(crate) fn lifted(z: &'a [f64], error: f64, region: &'a Region) -> Self {
        Self {
            z: Cow::Borrowed(z),
            errors: vec![error; z.len()],
            idle: vec![false; z.len()],
            eta: 0.0,
            lifted: Some(region),
        }
    }

    /// Returns a lower bound of the slack of row i, in units of the squared distance from the point. It holds within
    /// `radius` or, where the second value is true, everywhere.
    fn secant(&self, problem: &Problem, i: usize, radius: f64) -> (f64, bool) {
        let (z, b, loss) = (self.z[i], problem.b[i], &problem.loss);
        match self.lifted {
            _ if self.idle[i] => (0.0, true),
            None => (loss.secant(z, b, radius), false),
            Some(region) => {
                // l̃'' ≥ ω everywhere; where the point is in the interval, l̃ equals l all the way to a better model.
                let (least, error) = (0.5 * region.curvature[i], self.errors[i]);
                let is_inside = region.low[i] + error <= z && z <= region.high[i] - error;
                let near = if is_inside {
                    loss.secant_near(z, b, radius, error)
                } else {
                    0.0
                };
                if near > least {
                    (near, false)
                } else {
                    (least, true)
                }
            }
        }
    }
}

impl Region {
    /// Finds a region. `columns` is everything that can be non-zero, in the order of `slack`; `before` is a region of
    /// more models. Returns `None` where no radii hold, or rounding defeats the proof.
    pub(crate) fn find(
        problem: &Problem,
        columns: &[usize],
        centre: &Centre,
        slack: &Slack,
        before: Option<&Self>,
        limits: &Limits,
    ) -> Option<Self> {
        let n = problem.rows();
        let gap = slack.gap;
        if !(gap > 0.0 && gap.is_finite()) || centre.eta > 0.01 * gap {
            return None;
        }
        let reach = (gap.sqrt() + centre.eta.sqrt()) * (1.0 + 1e-9);
        let mut leverage = Leverage::new(problem, columns, slack)?;
        // Starts from the curvature at the centre and looks for the least radii that hold, slightly widened. Those of a
        // wider region, scaled in proportion to the gap that remains, mostly hold at once.
        let mut radii: Vec<f64> = centre.errors.iter().map(|e| 2.0 * e).collect();
        if let Some(wide) = before {
            let share = (GUESS * reach / wide.reach).min(1.0);
            let ends = wide.low.iter().zip(&wide.high);
            for (radius, (low, high)) in radii.iter_mut().zip(ends) {
                let half = 0.5 * (high - low);
                if half.is_finite() {
                    *radius = radius.max(share * half);
                }
            }
        }
        let mut weights = vec![0.0; n];
        let mut anywhere = vec![false; n];
        for round in 0..MAX_ROUNDS {
            if limits.reached().is_some() {
                return None;
            }
            for i in 0..n {
                let (secant, holds) = centre.secant(problem, i, radii[i]);
                weights[i] = problem.p[i] * secant;
                anywhere[i] = holds;
            }
            let needs = leverage.bound(&weights)?;
            let mut holds = true;
            for i in 0..n {
                if centre.idle[i] {
                    continue;
                }
                let need = (reach * needs[i] + centre.errors[i]) * (1.0 + 1e-9);
                holds &= anywhere[i] || need < radii[i];
                needs[i] = need;
                if !need.is_finite() {
                    return None;
                }
            }
            if holds {
                let found = Self::from_radii(problem, centre, needs, reach);
                return Some(match before {
                    Some(wide) => found.within(wide, problem),
                    None => found,
                });
            }
            let margin = if round == 0 { 0.3 } else { 0.1 };
            let span = problem.loss.span();
            for (radius, need) in radii.iter_mut().zip(needs.iter()) {
                *radius = need * (1.0 + margin * (3.0 * need / span).min(1.0)) + 1e-9 * need;
            }
        }
        None
    }

    fn from_radii(problem: &Problem, centre: &Centre, radii: &[f64], reach: f64) -> Self {
        let n = problem.rows();
        let mut region = Self {
            low: vec![f64::NEG_INFINITY; n],
            high: vec![f64::INFINITY; n],
            curvature: vec![0.0; n],
            reach,
        };
        for i in (0..n).filter(|i| !centre.idle[*i]) {
            let (z, b) = (centre.z[i], problem.b[i]);
            let radius = radii[i] + 1e-15 * z.abs();
            (region.low[i], region.high[i]) = (z - radius, z + radius);
            let (low, high) = (region.low[i], region.high[i]);
            region.curvature[i] = problem.loss.least_curvature(low, high, b);
        }
        region
    }

    /// Returns the intersection of two regions, each of which contains every better model.
    fn within(mut self, other: &Self, problem: &Problem) -> Self {
        for i in 0..self.low.len() {
            let low = self.low[i].max(other.low[i]);
            let high = self.high[i].min(other.high[i]);
            // Disjoint intervals would mean that there is no better model; the bound of the node will show that anyway.
            if low <= high && (low, high) != (self.low[i], self.high[i]) {
                (self.low[i], self.high[i]) = (low, high);
                let least = problem.loss.least_curvature(low, high, problem.b[i]);
                self.curvature[i] = least.max(self.curvature[i]);
            }
        }
        self
    }
}
