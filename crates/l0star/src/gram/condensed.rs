//! A quadratic from which the included columns are eliminated ([`Condensed`]), and its lift.

use std::borrow::Cow;

use super::root::Root;
use crate::limits::Limits;
use crate::linalg::cholesky::{Cholesky, mirror_up};
use crate::linalg::kernels;
use crate::linalg::psd;
use crate::linalg::rounding::gamma;
use crate::tuning::frames::{SPREAD, SWEEPS};

/// Number of rows from which columns are eliminated between two checks of the limits.
const TOGETHER: usize = 64;

/// How the lift of a frame is spread over its columns.
pub(crate) enum Spread {
    /// No lift and no proof, for a frame that only finds points. Its own bounds are void (its error is infinite).
    Unproved,
    /// No lift.
    None,
    /// In proportion to the diagonal.
    Evenly,
    /// By what a unit of lift of each column is worth (frames of up to `SPREAD` columns).
    ByGain(Vec<f64>),
    /// With these scales, which the same frame had in an earlier run; evenly where they cannot be proved.
    Known(Vec<f64>),
}

/// H', c', c0' in floating point, with the terms of their rounding errors.
///
/// The computed Z solves `(M + Δ)Z = H_SF` with `|Δ| ≤ γ_{3s+1} |R||Rᵀ|`, whose entries are at most `√(M_kk M_ll)`. With
/// `ζ_i = Σ_k √M_kk |Z_ki|`, `w_i = √H_ii + ζ_i` and `τ = Σ_k √M_kk |t_k|`, all errors (of the solves, and of the
/// products and differences) are within `γ_{3s+6}` of `w_i w_j` for H', `w_i(√2c0 + τ)` for c', `(√2c0 + τ)²` for c0'.
pub(super) struct Condensed<'r> {
    pub h: Cow<'r, [f64]>,
    pub c: Vec<f64>,
    pub c0: f64,
    /// `w_i`.
    pub weights: Vec<f64>,
    pub tau: f64,
}

impl<'r> Condensed<'r> {
    pub(super) fn new(
        root: &'r Root,
        inside: &[u32],
        columns: &[u32],
        limits: &Limits,
    ) -> Option<Self> {
        let (s, d) = (inside.len(), columns.len());
        let size = |k: &u32| root.rounding_size(*k as usize);
        if s == 0 && d == root.size() && columns.iter().copied().eq(0..d as u32) {
            let weights = columns.iter().map(|i| size(i).sqrt() * (1.0 + 1e-9));
            return Some(Self {
                h: Cow::Borrowed(&root.h),
                c: root.c.clone(),
                c0: root.c0,
                weights: weights.collect(),
                tau: 0.0,
            });
        }
        let mut factor = Cholesky::new();
        let rows = factor.start(s);
        for (r, i) in inside.iter().enumerate() {
            let row = root.row(*i as usize);
            for (c, j) in inside[..=r].iter().enumerate() {
                rows[r * s + c] = row[*j as usize];
            }
        }
        if s > 0 && !factor.factor() {
            return None;
        }
        // The proof needs φ = γ tr(M)/λ_min(M) ≤ 1, and the ridge is a lower bound of λ_min(M).
        let trace: f64 = inside.iter().map(size).sum();
        let least = inside
            .iter()
            .map(|k| root.ridge[*k as usize])
            .fold(f64::INFINITY, f64::min);
        if gamma(3 * s + root.roundings() + 14) * trace > 0.5 * least {
            return None;
        }
        let lengths: Vec<f64> = inside.iter().map(|k| size(k).sqrt()).collect();
        let mut t: Vec<f64> = inside.iter().map(|k| root.c[*k as usize]).collect();
        let c_inside = t.clone();
        if s > 0 {
            factor.solve(&mut t);
        }
        let c0 = root.c0 - 0.5 * kernels::dot(&c_inside, &t);
        let weigh = |z: &[f64]| -> f64 { z.iter().zip(&lengths).map(|(z, l)| z.abs() * l).sum() };
        let tau = weigh(&t);

        // H_SF, then Z, with contiguous rows, as sums of rows follow.
        let mut cross = Vec::with_capacity(s * d);
        for k in inside {
            let row = root.row(*k as usize);
            cross.extend(columns.iter().map(|j| row[*j as usize]));
        }
        let mut z = cross.clone();
        factor.solve_rows(&mut z, d);
        let mut weights: Vec<f64> = columns.iter().map(|i| size(i).sqrt()).collect();
        let mut c: Vec<f64> = columns.iter().map(|i| root.c[*i as usize]).collect();
        for (k, z) in z.chunks_exact(d.max(1)).enumerate() {
            let entries = weights.iter_mut().zip(z);
            entries.for_each(|(weight, z)| *weight += lengths[k] * z.abs());
            kernels::axpy(-c_inside[k], z, &mut c);
        }
        weights.iter_mut().for_each(|weight| *weight *= 1.0 + 1e-9);
        let mut h = Vec::with_capacity(d * d);
        for (r, i) in columns.iter().enumerate() {
            let row = root.row(*i as usize);
            h.extend(columns.iter().map(|j| row[*j as usize]));
            if r % TOGETHER == TOGETHER - 1 || r + 1 == d {
                if limits.stop() {
                    return None;
                }
                let first = r - r % TOGETHER;
                eliminate(&mut h[first * d..], first, &z, &cross, d);
            }
        }
        // The copied entries are symmetric, but condensing works only below the diagonal.
        if s > 0 {
            mirror_up(&mut h, d);
        }
        Some(Self {
            h: Cow::Owned(h),
            c,
            c0,
            weights,
            tau: tau * (1.0 + 1e-9),
        })
    }

    /// Returns `(G̃, s)` with G̃ proved positive semidefinite, and t as large as a few attempts allow.
    pub(super) fn lift(
        &self,
        ridge: &[f64],
        lift: &Spread,
        limits: &Limits,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let d = self.c.len();
        let mut factor = Cholesky::new();
        let mut g = Vec::with_capacity(d * d);
        if let Spread::Known(scale) = lift {
            self.scaled(scale, &mut g);
            if psd::proved(&g, d, 0.0, &mut factor, limits) {
                return Some((g, scale.clone()));
            }
        }
        // What each diagonal entry has above its ridge: the lift is proportional to it.
        let room: Vec<f64> = (0..d)
            .map(|i| (self.h[i * d + i] - ridge[i]).max(0.0))
            .collect();
        let most = match lift {
            Spread::Unproved | Spread::None => 0.0,
            _ => psd::largest_share(&self.h, ridge, &room, limits),
        };
        let mut lifts: Vec<f64> = room.iter().map(|room| most * room).collect();
        let worth = lifts.iter().zip(ridge).any(|(lift, l)| *lift > 0.01 * l);
        if let Spread::ByGain(gains) = lift
            && worth
            && d <= SPREAD
        {
            let start: Vec<f64> = lifts.iter().map(|lift| 0.9 * lift).collect();
            let gains = psd::widen(gains, d);
            lifts = psd::spread_lift(&self.h, ridge, &start, &gains, SWEEPS).unwrap_or(lifts);
        }
        let mut tries: Vec<f64> = Vec::new();
        if worth {
            // The estimate is from above, the further the more columns there are.
            let first = (d <= SPREAD).then_some(0.995);
            tries.extend(first.into_iter().chain([0.97, 0.9, 0.7]));
        }
        // H - diag(λ) is positive semidefinite in exact arithmetic; a slightly smaller ridge leaves room for rounding.
        tries.extend([1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2].map(|loss: f64| -loss));
        for share in tries {
            if limits.stop() {
                return None;
            }
            let square = |i: usize| {
                if share > 0.0 {
                    // A column of zeros has nothing but its ridge, a trace of which is the margin of the certificate.
                    ridge[i] * (1.0 - 1e-6) + share * lifts[i]
                } else {
                    ridge[i] * (1.0 + share)
                }
            };
            let scale: Vec<f64> = (0..d).map(|i| square(i).sqrt()).collect();
            self.scaled(&scale, &mut g);
            let is_enough = matches!(lift, Spread::Unproved);
            if is_enough || psd::proved(&g, d, 0.0, &mut factor, limits) {
                return Some((g, scale));
            }
        }
        None
    }

    /// Computes G̃ for these scales.
    fn scaled(&self, scale: &[f64], g: &mut Vec<f64>) {
        let d = scale.len();
        let reciprocals: Vec<f64> = scale.iter().map(|s| 1.0 / s).collect();
        g.clear();
        for (i, row) in self.h.chunks_exact(d.max(1)).enumerate() {
            let own = reciprocals[i];
            g.extend(row.iter().zip(&reciprocals).map(|(h, r)| h * (own * r)));
            g[i * d + i] -= 1.0;
        }
    }
}

/// Subtracts `Zᵀ H_SF` from the last rows of H_FF, from row `first` on, below the diagonal.
fn eliminate(rows: &mut [f64], first: usize, z: &[f64], cross: &[f64], d: usize) {
    // The instruction set is chosen once for all rows, as they are short.
    kernels::widest(
        #[inline(always)]
        || {
            for (r, out) in (first..).zip(rows.chunks_exact_mut(d)) {
                for (z, other) in z.chunks_exact(d).zip(cross.chunks_exact(d)) {
                    let entries = out[..=r].iter_mut().zip(other);
                    entries.for_each(|(out, other)| *out -= z[r] * other);
                }
            }
        },
    );
}
