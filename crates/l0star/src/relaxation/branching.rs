//! The choice of the feature to split on: the one whose two children are estimated to gain most.
//!
//! On the piece (S, J, E) at the relaxed optimum, `M = G_WW + I_{S∪J} + (1/κ)σσᵀ`, `K = M⁻¹`, `e = σ` on E:
//!
//! ```text
//! out = x_i² / 2K_ii,      in = ½ϱ (gᵀx)² / (1 + ϱ gᵀKg),   g = e - κσ_i e_i,   ϱ = 1/κ(κ-1)
//! score = (min(out/gap, 1) + 0.05)(min(in/gap, 1) + 0.05)
//! ```
//!
//! Where features have prices and the budget does not bind, `M = G_WW + I_{S∪J}` and, with `θ = √2c`, `in = ½(θ - |x_i|)²/(1 + K_ii)`.
//!
//! These are estimates only: no node is pruned by them.

use super::model::{Model, Sets};
use super::newton::priced::Level;
use super::topk::support_norm;
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::tuning::tree::NO_GAIN;

/// Returns the free feature to split on.
///
/// `gap` is what remains to be closed; x and u are those of the relaxed optimum. At a limit, a cheap choice is made.
pub(crate) fn choose(
    model: &mut dyn Model,
    sets: &Sets,
    x: &[f64],
    u: &[f64],
    gap: f64,
    limits: &Limits,
) -> usize {
    let mut active: Vec<(f64, usize)> = sets
        .free
        .iter()
        .filter(|j| x[**j] != 0.0)
        .map(|j| (x[*j].abs(), *j))
        .collect();
    active.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    if sets.is_priced() {
        let level = Level::new(sets, x, &mut Vec::new());
        if !level.is_shared() {
            let (whole, shared): (Vec<_>, Vec<_>) = active
                .iter()
                .partition(|(size, j)| *size >= level.of(sets, *j));
            let best = by_gain(model, sets, &whole, &shared, x, Some(&level), gap, limits);
            return best.unwrap_or_else(|| steepest(sets, x, u));
        }
    }
    let mut sizes: Vec<f64> = active.iter().map(|(size, _)| *size).collect();
    let (_, whole) = support_norm(&mut sizes, sets.budget);
    let shared = &active[whole.min(active.len())..];
    let kappa = sets.budget.saturating_sub(whole);
    if shared.len() >= 2
        && kappa > 0
        && let Some(best) = by_gain(model, sets, &active[..whole], shared, x, None, gap, limits)
    {
        return best;
    }
    // Nothing is shared.
    steepest(sets, x, u)
}

/// Returns the free feature of largest coefficient, or of steepest slope where there is none.
pub(crate) fn steepest(sets: &Sets, x: &[f64], u: &[f64]) -> usize {
    let size = |j: usize| (x[j].abs(), u[j].abs());
    let order = |i: &&usize, j: &&usize| {
        let (a, b) = (size(**i), size(**j));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    sets.free.iter().max_by(order).copied().unwrap_or(0)
}

/// Returns the shared feature with the best estimated gain. `priced` gives θ, where shared
/// features have prices of their own.
#[expect(clippy::too_many_arguments)]
fn by_gain(
    model: &mut dyn Model,
    sets: &Sets,
    whole: &[(f64, usize)],
    shared: &[(f64, usize)],
    x: &[f64],
    priced: Option<&Level>,
    gap: f64,
    limits: &Limits,
) -> Option<usize> {
    let mut set = sets.unpenalised.clone();
    let unpenalised = set.len();
    set.extend_from_slice(&sets.inside);
    set.extend(whole.iter().map(|(_, j)| *j));
    let first = set.len();
    set.extend(shared.iter().map(|(_, j)| *j));
    let size = set.len();
    let kappa = sets.budget.saturating_sub(whole.len()) as f64;
    let mut factor = Cholesky::new();
    let rows = factor.start(size);
    model.hessian(&set, rows);
    for (r, i) in set.iter().enumerate() {
        if r >= first && priced.is_none() {
            for (c, j) in set[..=r].iter().enumerate().skip(first) {
                rows[r * size + c] += x[*i].signum() * x[*j].signum() / kappa;
            }
        }
        let diagonal = &mut rows[r * size + r];
        *diagonal += if (unpenalised..first).contains(&r) {
            1.0
        } else {
            1e-13 * (1.0 + *diagonal)
        };
    }
    if !factor.factor_unless(&|| limits.stop()) {
        return None;
    }
    let mut e: Vec<f64> = vec![0.0; size];
    for at in first..size {
        e[at] = x[set[at]].signum();
    }
    let mut ke = e.clone();
    factor.solve(&mut ke);
    let eke: f64 = e.iter().zip(&ke).map(|(e, k)| e * k).sum();
    let total: f64 = shared.iter().map(|(size, _)| size).sum();
    let mut best: Option<(f64, usize)> = None;
    let mut unit = vec![0.0; size];
    for at in first..size {
        if at % 64 == 0 && limits.stop() {
            return None;
        }
        let j = set[at];
        unit.fill(0.0);
        unit[at] = 1.0;
        factor.solve_lower_from(&mut unit, at);
        let k: f64 = unit[at..].iter().map(|v| v * v).sum();
        let out = x[j] * x[j] / (2.0 * k);
        let gx = total - kappa * x[j].abs();
        let gkg = eke - 2.0 * kappa * x[j].signum() * ke[at] + kappa * kappa * k;
        let inside = if let Some(level) = priced {
            0.5 * (level.of(sets, j) - x[j].abs()).powi(2) / (1.0 + k)
        } else if kappa >= 2.0 {
            let rho = 1.0 / (kappa * (kappa - 1.0));
            0.5 * rho * gx * gx / (1.0 + rho * gkg)
        } else {
            gx * gx / (2.0 * gkg)
        };
        let share = |gain: f64| (gain / gap).min(1.0);
        let score = (share(out) + NO_GAIN) * (share(inside) + NO_GAIN);
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, j));
        }
    }
    best.map(|(_, j)| j)
}
