//! What the ridges leave to a better model.
//!
//! With ridges 1 (x̃), slopes u at the point y and the m-th largest `|u_i| = θ` over F, a model x of a node that uses `T ⊂ F`
//! has, beyond D and the slack of the rows,
//!
//! ```text
//! ½ Σ_{S∪T} (x̃_i - u_i)² + ½ (top_m(u_F²) - Σ_T u_i²) ≥ Σ_S ½ (x̃_i - u_i)² + Σ_F cost_i(x̃_i),
//! cost_i(0) = ½ (u_i² - θ²)₊,   cost_i(x̃) = ½ (x̃ - u_i)² + ½ (θ² - u_i²)₊  for x̃ ≠ 0,
//! ```
//!
//! and `cost_i(x̃) ≥ ½ν (x̃ - ỹ_i)² - κ` whenever `νỹ² ≤ (u² - θ²)₊ + 2κ` and `ν(u - ỹ)² ≤ (1 - ν)((θ² - u²)₊ + 2κ)`. A column
//! that is clearly in or clearly out of the relaxed support thus adds nearly a whole ridge to what holds a better model
//! near y; one that is shared adds nothing. The κ are added to the gap.

use crate::linalg::rounding::{U, gamma};

/// What the κ may be in all, as a share of the gap.
const SHARE: f64 = 1e-3;
/// ν stays below 1.
const MOST: f64 = 0.999;

/// A column of a node at a point; in coordinates of ridge 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub x: f64,
    /// The slope, and a bound of its error.
    pub u: f64,
    pub error: f64,
    /// `√(λ + μ)`; 0 for a column without a ridge.
    pub scale: f64,
    /// What the lift takes from the slack of the rows.
    pub mu: f64,
    pub is_free: bool,
}

/// The gap to what is better, and what the ridges add to the slack.
#[derive(Debug, Clone)]
pub(crate) struct Slack {
    /// `P_ref - D`, rounded up, with all that the ridges cost.
    pub gap: f64,
    /// For every column g, `Σ g (x - y)²` of which the slack has at least, and the size of what g was made of.
    pub ridges: Vec<(f64, f64)>,
}

impl Slack {
    /// Of the rows alone.
    pub(crate) fn of_rows(gap: f64, columns: usize) -> Self {
        Self {
            gap: gap * (1.0 + 1e-9),
            ridges: vec![(0.0, 0.0); columns],
        }
    }

    /// For a node of this budget; without `curbs` the ridges are asked for nothing.
    pub(crate) fn new(gap: f64, places: &[Place], budget: usize, curbs: bool) -> Self {
        let mut sizes: Vec<f64> = places
            .iter()
            .filter(|place| place.is_free)
            .map(|place| place.u.abs())
            .collect();
        let count = sizes.len();
        let theta = match budget {
            0 => f64::INFINITY,
            m if m > count => 0.0,
            m => *sizes.select_nth_unstable_by(m - 1, |a, b| b.total_cmp(a)).1,
        };
        let curbs = curbs && theta.is_finite() && gap > 0.0;
        let most = SHARE * gap / places.len() as f64;
        let mut slack = Self::of_rows(gap, 0);
        let mut blurred: f64 = 0.0;
        for place in places {
            // Rounding of the squares below, and of the scale, is far within this.
            let error = place.error + 16.0 * U * (place.u.abs() + theta);
            let nu = match curbs && place.scale > 0.0 {
                true => place.curb(error, theta, most, &mut slack.gap),
                false => 0.0,
            };
            let square = place.scale * place.scale;
            let (held, taken) = (0.5 * nu * square, 0.5 * place.mu);
            slack.ridges.push((held - taken, held + taken.abs()));
            if place.is_free {
                blurred = blurred.max(error);
            }
        }
        if curbs {
            // θ is the m-th largest of the slopes as they were computed.
            slack.gap += count as f64 * blurred * (theta + blurred);
        }
        slack.gap *= 1.0 + 1e-9;
        slack
    }
}

impl Place {
    /// ν, a little less than could be claimed; its κ goes to `gap`.
    fn curb(&self, error: f64, theta: f64, most: f64, gap: &mut f64) -> f64 {
        let (x, u) = (self.x, self.u);
        let (nearest, furthest) = ((u.abs() - error).max(0.0), u.abs() + error);
        let (mut above, mut below) = (f64::INFINITY, 0.0);
        if self.is_free {
            above = (nearest * nearest - theta * theta).max(0.0);
            below = (theta * theta - furthest * furthest).max(0.0);
        }
        let way = ((u - x).abs() + error).powi(2);
        let room = below + 2.0 * most;
        let stays = if x == 0.0 {
            1.0
        } else {
            (above + 2.0 * most) / (x * x)
        };
        let nu = stays.min(room / (room + way)).min(MOST);
        if !(nu > 0.0) {
            return 0.0;
        }
        let out = nu * x * x - above;
        let inside = way * nu / (1.0 - nu) - below;
        let rounding = gamma(32) * (u * u + x * x + theta * theta);
        *gap += 0.5 * out.max(inside).max(0.0) + rounding;
        nu * (1.0 - 1e-9)
    }
}
