//! The problem of a node with its ridge lifted by the curvature that the loss has wherever a better model can be.
//!
//! In a [`Region`] row i has curvature at least `ω_i`. Outside its interval l is continued by its second-order Taylor
//! polynomial at the nearer end. The result l̃ is convex, `l̃'' ≥ ω_i` everywhere, and no better model sees the
//! difference. If `Aᵀ diag(pω) A - diag(μ) ⪰ 0` then
//!
//! ```text
//! P̃(x) = [ Σ p_i l̃(a_iᵀx + o_i) - ½ Σ μ_j x_j² ] + ½ Σ (λ_j + μ_j) x_j²
//! ```
//!
//! has a convex bracket, and its perspective bound with the ridge λ + μ is tighter than that with λ. Included columns
//! give half their ridge to the bracket (μ = -λ/2), which costs nothing; unpenalised columns get a ridge this way.

use super::leverage::Columns;
use super::region::Region;
use crate::bound::Subproblem;
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::psd;
use crate::linalg::rounding::gamma;
use crate::problem::Problem;
use crate::tuning::rows::{SPREAD_ROWS, SWEEPS};

/// A region, and the ridges that it allows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lift {
    pub region: Region,
    /// (column, μ) for every column that can be non-zero.
    pub ridges: Vec<(u32, f64)>,
    /// Expected width of the intervals.
    pub width: f64,
    /// Bounds are claimed only up to this: the incumbent for which the region was made.
    pub ceiling: f64,
}

impl Lift {
    pub(crate) fn bytes(&self) -> usize {
        self.region.low.len() * 24 + self.ridges.len() * 16
    }

    /// Computes the largest lift that a Cholesky certificate proves.
    ///
    /// The lift is spread over the free columns according to `weights`, what a unit of μ adds to the bound of the node.
    /// Without weights, or where the ascent would cost too much, it is spread evenly.
    pub(crate) fn new(
        problem: &Problem,
        node: &Subproblem,
        region: Region,
        weights: &[f64],
        ceiling: f64,
        width: f64,
        limits: &Limits,
    ) -> Option<Self> {
        let n = problem.rows();
        let included = node.included.len();
        let unpenalised = problem.unpenalised.columns();
        let columns: Vec<usize> = node
            .included
            .iter()
            .chain(node.free)
            .chain(unpenalised)
            .copied()
            .collect();
        let d = columns.len();
        let curved: Vec<f64> = problem
            .p
            .iter()
            .zip(&region.curvature)
            .map(|(p, curvature)| p * curvature)
            .collect();
        let mut gram = vec![0.0; d * d];
        let list = columns.iter().map(|j| (*j, 1.0)).collect();
        Columns::new(&problem.design, list).gram(&curved, &mut gram);
        // Half the ridge of the included columns goes to the bracket.
        for (i, j) in node.included.iter().enumerate() {
            gram[i * d + i] += 0.5 * problem.ridge[*j];
        }
        let (schur, room) = eliminate(&gram, d, included)?;
        let most = psd::largest_share(&schur, &vec![0.0; room.len()], &room, limits);
        let none = vec![0.0; room.len()];
        let start: Vec<f64> = room.iter().map(|room| 0.9 * most * room).collect();
        let spread = match weights {
            [] => None,
            // Where there are nearly as many columns as rows, the ascent would cost more than all the rest.
            _ if SPREAD_ROWS * d > n => None,
            _ => {
                let weights = psd::widen(weights, room.len());
                psd::spread_lift(&schur, &none, &start, &weights, SWEEPS)
            }
        };
        let lifts = spread.unwrap_or_else(|| room.iter().map(|room| most * room).collect());
        if most <= 0.0 {
            return None;
        }
        let ridges: Vec<f64> = columns.iter().map(|j| problem.ridge[*j]).collect();
        let mut factor = Cholesky::new();
        for part in [0.995, 0.97, 0.9, 0.7] {
            let lift = |i: usize| match i.checked_sub(included) {
                None => -0.5 * ridges[i],
                // A trace of the ridge stays in the bracket, as the margin of the certificate.
                Some(f) => part * lifts[f] - 1e-6 * ridges[i],
            };
            // In coordinates with a unit diagonal, so that the certificate does not depend on the columns' units.
            let mut scaled = gram.clone();
            for i in included..d {
                scaled[i * d + i] -= lift(i);
            }
            let scales: Vec<f64> = (0..d)
                .map(|i| scaled[i * d + i].max(1e-300).sqrt())
                .collect();
            for (i, row) in scaled.chunks_exact_mut(d).enumerate() {
                for (j, entry) in row[..=i].iter_mut().enumerate() {
                    *entry /= scales[i] * scales[j];
                }
            }
            // Rounding in the products is proportional to the diagonal before μ was subtracted.
            let grown: f64 = (0..d)
                .map(|i| (gram[i * d + i] + lift(i).abs()) / (scales[i] * scales[i]))
                .sum();
            let share = gamma(n + 16) * (grown / d as f64) * 1.01;
            if !psd::proved(&scaled, d, share, &mut factor, limits) {
                continue;
            }
            // Unpenalised columns need a ridge of their own.
            if (d - unpenalised.len()..d).any(|i| lift(i) <= 0.0) {
                return None;
            }
            return Some(Self {
                region,
                ridges: columns
                    .iter()
                    .enumerate()
                    .map(|(i, j)| (*j as u32, lift(i)))
                    .collect(),
                width,
                ceiling,
            });
        }
        None
    }
}

/// Returns the Schur complement of the leading `count` columns (full square), and its diagonal.
fn eliminate(gram: &[f64], d: usize, count: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let left = d - count;
    let mut factor = Cholesky::new();
    let rows = factor.start(count);
    for r in 0..count {
        rows[r * count..r * count + r + 1].copy_from_slice(&gram[r * d..r * d + r + 1]);
    }
    if count > 0 && !factor.factor() {
        return None;
    }
    // R⁻¹ G_SF, a row for each column of F.
    let mut half = vec![0.0; left * count];
    for (f, row) in half.chunks_exact_mut(count.max(1)).enumerate().take(left) {
        row.copy_from_slice(&gram[(count + f) * d..(count + f) * d + count]);
        factor.solve_lower(row);
    }
    let mut schur = vec![0.0; left * left];
    for r in 0..left {
        for c in 0..=r {
            let mut entry = gram[(count + r) * d + count + c];
            for k in 0..count {
                entry -= half[r * count + k] * half[c * count + k];
            }
            schur[r * left + c] = entry;
            schur[c * left + r] = entry;
        }
    }
    let room = (0..left).map(|i| schur[i * left + i].max(0.0)).collect();
    Some((schur, room))
}
