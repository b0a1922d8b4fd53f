//! Newton's method where features have prices.
//!
//! With a price c on a share z of a feature, and a multiplier τ of the budget that is 0 where the shares fit into it:
//!
//! ```text
//! min over 0 ≤ z ≤ 1 of ½x²/z + (c + τ)z  =  θ|x|  up to θ = √(2(c + τ)),  ½x² + c + τ  beyond,      z = min(|x|/θ, 1)
//! ```
//!
//! J is therefore where |x| ≥ θ, and on E the regulariser is linear. Where the budget binds, all prices are equal, and
//! so are the θ. Σ z is then the budget whatever τ is, and the regulariser is that of the budget alone plus `m c`.

use crate::linalg::select::top_sum;
use crate::relaxation::model::Sets;
use crate::relaxation::topk::{Piece, Prox, support_norm};

/// Returns θ of a feature with a price.
pub(crate) fn whole_from(cost: f64) -> f64 {
    (2.0 * cost).sqrt()
}

/// Returns the sum of the m largest `(½u² - c)₊` over F.
pub(super) fn atoms(sets: &Sets, u: &[f64], scratch: &mut Vec<f64>) -> f64 {
    let atom = |j: &usize| {
        let atom = 0.5 * u[*j] * u[*j] - sets.costs[*j];
        // Not `f64::max`, which would drop a NaN.
        if atom < 0.0 { 0.0 } else { atom }
    };
    top_sum(sets.free.iter().map(atom), sets.budget, scratch)
}

/// Whether every free feature has a share of 0 or 1 at x.
pub(super) fn is_whole(sets: &Sets, x: &[f64]) -> bool {
    let is_whole = |j: &usize| x[*j] == 0.0 || x[*j].abs() >= whole_from(sets.costs[*j]);
    sets.free.iter().all(is_whole)
}

/// Returns the regulariser of F at the absolute values of some free columns, with all others zero.
pub(super) fn shared_norm(
    sets: &Sets,
    sizes: impl Iterator<Item = (usize, f64)>,
    sorted: &mut Vec<f64>,
) -> f64 {
    sorted.clear();
    let sizes = sizes.filter(|(_, size)| *size > 0.0);
    if !sets.is_priced() {
        sorted.extend(sizes.map(|(_, size)| size));
        return support_norm(sorted, sets.budget).0;
    }
    let (mut sum, mut used, mut price) = (0.0, 0.0, 0.0);
    for (j, size) in sizes {
        let cost = sets.costs[j];
        let theta = whole_from(cost);
        sorted.push(size);
        if size < theta {
            sum += theta * size;
            used += size / theta;
        } else {
            sum += 0.5 * size * size + cost;
            used += 1.0;
        }
        price = cost;
    }
    if used <= sets.budget as f64 {
        return sum;
    }
    support_norm(sorted, sets.budget).0 + sets.budget as f64 * price
}

/// θ at a point.
pub(crate) struct Level {
    /// One value for all columns; present where the budget binds.
    shared: Option<f64>,
}

impl Level {
    pub(crate) fn new(sets: &Sets, x: &[f64], sorted: &mut Vec<f64>) -> Self {
        if sets.is_priced() {
            let share = |j: &usize| match x[*j].abs() {
                0.0 => 0.0,
                size => (size / whole_from(sets.costs[*j])).min(1.0),
            };
            let used: f64 = sets.free.iter().map(share).sum();
            if used <= sets.budget as f64 {
                return Self { shared: None };
            }
        }
        sorted.clear();
        let sizes = sets.free.iter().map(|j| x[*j].abs());
        sorted.extend(sizes.filter(|x| *x > 0.0));
        let (_, whole) = support_norm(sorted, sets.budget);
        let shared: f64 = sorted.iter().skip(whole).sum();
        let kappa = sets.budget.saturating_sub(whole).max(1);
        Self {
            shared: Some(shared / kappa as f64),
        }
    }

    /// Whether the budget binds.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Returns θ of a column.
    pub(crate) fn of(&self, sets: &Sets, j: usize) -> f64 {
        self.shared.unwrap_or_else(|| whole_from(sets.costs[j]))
    }
}

/// The pieces of a prox step of length t.
pub(super) struct Pieces {
    /// One value for all columns; present where the budget binds.
    shared: Option<Piece>,
    t: f64,
}

impl Pieces {
    /// Computes the pieces; `target` is where the step of each free column leads without the regulariser.
    pub(super) fn new(sets: &Sets, target: &[f64], t: f64, prox: &mut Prox) -> Self {
        if sets.is_priced() {
            let each = sets.free.iter().zip(target);
            let used: f64 = each.map(|(j, v)| share(sets.costs[*j], *v, t)).sum();
            if used <= sets.budget as f64 {
                return Self { shared: None, t };
            }
        }
        let shared = Some(prox.run(target.iter().copied(), sets.budget, t));
        Self { shared, t }
    }

    /// Whether the budget binds.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Returns the piece of a column.
    #[inline]
    pub(super) fn of(&self, sets: &Sets, j: usize) -> Piece {
        self.shared.unwrap_or_else(|| {
            let theta = whole_from(sets.costs[j]);
            Piece {
                full: theta * (1.0 + self.t),
                threshold: theta * self.t,
            }
        })
    }
}

/// Returns the share of a feature after a prox step of length t to v.
fn share(cost: f64, v: f64, t: f64) -> f64 {
    let theta = whole_from(cost);
    match v.abs() {
        0.0 => 0.0,
        size if size >= theta * (1.0 + t) => 1.0,
        size if size > theta * t => size / theta - t,
        _ => 0.0,
    }
}
