//! The slack that the ridges leave to a better model.
//!
//! In coordinates of ridge 1 let u be the slopes at the point y, `h_g = Σ h_j(u_j)` the atoms of features (½u² for a column
//! without bounds), x̂ their maximisers (u, moved into the bounds), and Θ the m-th largest atom over F. A model x of a
//! node that uses `T ⊂ F` has, beyond D and the slack of the rows, at least
//!
//! ```text
//! ½ Σ_{S∪T} (x_j - x̂_j)² + top_m(h_F) - Σ_T h_g = Σ_S ½ (x_j - x̂_j)² + Σ_F cost_g(x_g),
//! cost_g = (h_g - Θ)₊ where x_g = 0,   ½ |x_g - x̂_g|² + (Θ - h_g)₊ elsewhere,
//! ```
//!
//! and `cost_g ≥ ½ν |x_g - y_g|² - κ` whenever `½ν|y_g|² ≤ (h_g - Θ)₊ + κ` and
//! `½ν|x̂_g - y_g|² ≤ (1 - ν)((Θ - h_g)₊ + κ)`. A feature that is clearly in or clearly out of the relaxed support thus
//! adds nearly its whole ridge to the terms that hold a better model near y; a shared feature adds nothing. The κ are
//! added to the gap. With prices, `h_g - c_g` replaces `h_g`, and Θ is at least 0; the identity is the same, as `top_m`
//! is that of the positive parts.

use crate::bound::box_atom;
use crate::linalg::rounding::{U, gamma};
use crate::tuning::rows::SLACK_SHARE;

/// ν stays below 1.
const MOST: f64 = 0.999;

/// A column of a node at a point, in coordinates of ridge 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnState {
    pub x: f64,
    /// The slope, and a bound on its error.
    pub u: f64,
    pub error: f64,
    pub bounds: (f64, f64),
    /// `√(λ + μ)`; 0 for a column without a ridge.
    pub scale: f64,
    /// What the lift takes from the slack of the rows.
    pub mu: f64,
    /// Index of the free feature that the column belongs to. The columns of a feature are adjacent, and
    /// features are numbered in order.
    pub feature: Option<usize>,
    /// Price of the free feature, at the first of its columns.
    pub cost: f64,
}

/// The gap to better models, and what the ridges add to the slack.
#[derive(Debug, Clone)]
pub(crate) struct Slack {
    /// `P_ref - D`, rounded up, plus all that the ridges cost.
    pub gap: f64,
    /// For every column its g, where the slack is at least `Σ g (x - y)²`, and the size of the terms of g.
    pub ridges: Vec<(f64, f64)>,
}

impl Slack {
    /// Computes the slack for a node of this budget; without `with_ridges` the ridges hold nothing.
    pub(crate) fn new(gap: f64, places: &[ColumnState], budget: usize, with_ridges: bool) -> Self {
        let features = places.chunk_by(|a, b| a.feature.is_some() && a.feature == b.feature);
        let features: Vec<Feature> = features.map(Feature::new).collect();
        let free = features.iter().filter(|feature| feature.is_free);
        let mut atoms: Vec<f64> = free.clone().map(|feature| feature.atom).collect();
        let least = match budget {
            0 => f64::INFINITY,
            m if m > atoms.len() => 0.0,
            m => (*atoms.select_nth_unstable_by(m - 1, |a, b| b.total_cmp(a)).1).max(0.0),
        };
        let with_ridges = with_ridges && least.is_finite() && gap > 0.0;
        let most = SLACK_SHARE * gap / places.len() as f64;
        let mut slack = Self {
            gap,
            ridges: Vec::with_capacity(places.len()),
        };
        if with_ridges {
            // Θ is that of the computed atoms.
            slack.gap += free.map(|feature| feature.error(least)).sum::<f64>();
        }
        for feature in &features {
            let nu = if with_ridges {
                feature.ridge_slack(least, most * feature.places.len() as f64, &mut slack.gap)
            } else {
                0.0
            };
            for place in feature.places {
                let held = 0.5 * nu * place.scale * place.scale;
                let taken = 0.5 * place.mu;
                slack.ridges.push((held - taken, held + taken.abs()));
            }
        }
        slack.gap *= 1.0 + 1e-9;
        slack
    }
}

/// The columns of a feature, which are in or out together.
struct Feature<'a> {
    places: &'a [ColumnState],
    is_free: bool,
    /// The atom, net of the price; it may be below 0.
    atom: f64,
    cost: f64,
    /// `Σ u²`, and `Σ ε (|u| + ε)` (`moved`), by which an atom moves at most.
    squares: f64,
    moved: f64,
}

impl<'a> Feature<'a> {
    fn new(places: &'a [ColumnState]) -> Self {
        let (mut atom, mut squares, mut moved) = (0.0, 0.0, 0.0);
        let cost = places[0].cost;
        for place in places {
            atom += box_atom(place.u, 1.0, place.bounds);
            squares += place.u * place.u;
            moved += place.error * (place.u.abs() + place.error);
        }
        Self {
            places,
            is_free: places[0].feature.is_some(),
            atom: atom - cost,
            cost,
            squares,
            moved,
        }
    }

    /// Returns how far the atom can be from its computed value, with the rounding of a comparison with another.
    fn error(&self, other: f64) -> f64 {
        1.01 * self.moved + gamma(self.places.len() + 32) * (self.squares + self.cost + other)
    }

    /// Returns ν, slightly less than could be claimed for κ up to `most`; the κ that it needs is added to `gap`.
    fn ridge_slack(&self, least: f64, most: f64, gap: &mut f64) -> f64 {
        if self.places.iter().any(|place| place.scale == 0.0) {
            return 0.0;
        }
        let (mut length, mut way) = (0.0, 0.0);
        for ColumnState {
            x,
            u,
            error,
            bounds,
            ..
        } in self.places
        {
            let best = u.max(bounds.0).min(bounds.1);
            let error = error + 16.0 * U * (u.abs() + x.abs());
            length += x * x;
            way += ((best - x).abs() + error).powi(2);
        }
        let error = self.error(least);
        let (above, below) = if self.is_free {
            (
                (self.atom - least - error).max(0.0),
                (least - self.atom - error).max(0.0),
            )
        } else {
            (f64::INFINITY, 0.0)
        };
        let room = 2.0 * (below + most);
        let stays = if length > 0.0 {
            2.0 * (above + most) / length
        } else {
            1.0
        };
        let nu = stays.min(room / (room + way)).min(MOST);
        if nu.is_nan() || nu <= 0.0 {
            return 0.0;
        }
        let out = 0.5 * nu * length - above;
        let inside = 0.5 * way * nu / (1.0 - nu) - below;
        let size = self.squares + self.cost + length + least;
        let rounding = gamma(self.places.len() + 64) * size;
        *gap += out.max(inside).max(0.0) + rounding;
        nu * (1.0 - 1e-9)
    }
}
