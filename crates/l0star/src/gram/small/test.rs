//! The test whether a set of features can be better than a target, by the sign of a small matrix ([`Test`]).

use super::entries::{Buffers, Entries};
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;

/// Bound on the rounding of a correlation, and of the determinant of three, with a factor of two to spare.
const NEAR: f64 = 2e-14;
/// Error above which entries are of no use.
const COARSE: f64 = 1e-3;

/// A target, with the matrix whose parts are positive semidefinite where the target is not beaten.
///
/// With `τ ≤ 2(c0 - target)`, min P over the columns U is at least the target if `M_UU ⪰ 0`, `M = H - ccᵀ/τ`. The
/// floats differ from M by at most `e √(D_i D_j)` per entry, for which `|U| e D_i` is subtracted from the diagonal. The
/// included columns are eliminated. C is the rest of M for the free columns, kept as its diagonal and as the products
/// that are subtracted from H. The margins are derived in section 14 of `docs/numerics.md`.
pub(super) struct Test<'e> {
    pub(super) entries: &'e Entries<'e>,
    pub(super) free: &'e [usize],
    /// `C_ij = H_ij - Σ arm_i arm_j` off the diagonal: `c/√τ`, then a row of the factor for each included column.
    arms: Vec<Vec<f64>>,
    /// `1/√C_ii`.
    scale: Vec<f64>,
    /// Features with `C_ii ≤ 0`, by their places.
    pub(super) weak: Vec<usize>,
}

impl<'e> Test<'e> {
    /// Creates the test of sets of at most `m` free features.
    /// Returns `None` where it does not reach the target: at or above the empty model, beaten by the included
    /// columns, or too close to either.
    pub(super) fn new(
        entries: &'e Entries,
        inside: &[usize],
        free: &'e [usize],
        m: usize,
        target: f64,
    ) -> Option<Self> {
        let (c0, share, s) = (entries.c0, entries.share, inside.len());
        let tau = 2.0 * (c0 - target - 2.0 * share * c0);
        // Written so that a NaN is rejected.
        if !(tau > 0.0 && target >= 0.0) {
            return None;
        }
        let kappa = 2.0 * c0 / tau;
        let own = gamma(2 * s + 16) * (1.0 + kappa);
        let error = 1.01 * (share * (1.0 + 2.01 * kappa) + own);
        if error.is_nan() || error > COARSE {
            return None;
        }
        let lowered = (s + m) as f64 * error * (1.0 + 1e-3);
        let all: Vec<usize> = inside.iter().chain(free).copied().collect();
        let root = tau.sqrt();
        let mut arms = vec![all.iter().map(|i| entries.c[*i] / root).collect::<Vec<_>>()];
        let mut diagonal: Vec<f64> = all
            .iter()
            .zip(&arms[0])
            .map(|(i, arm)| (entries.diagonal[*i] - lowered * entries.sizes[*i]) - arm * arm)
            .collect();
        let (mut buffers, mut row) = (Buffers::default(), Vec::new());
        for (k, i) in inside.iter().enumerate() {
            let pivot = diagonal[k];
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            entries.block(&[*i], &all, &mut buffers, &mut row);
            arms.iter()
                .for_each(|arm| kernels::axpy(-arm[k], arm, &mut row));
            let root = pivot.sqrt();
            row.iter_mut().for_each(|v| *v /= root);
            // Columns that were eliminated before are not touched again.
            row[..=k].fill(0.0);
            let entries = diagonal.iter_mut().zip(&row);
            entries.for_each(|(diagonal, l)| *diagonal -= l * l);
            arms.push(row.clone());
        }
        arms.iter_mut().for_each(|arm| drop(arm.drain(..s)));
        let diagonal = &diagonal[s..];
        let scale: Vec<f64> = diagonal.iter().map(|v| 1.0 / v.sqrt()).collect();
        let is_weak = |i: &usize| !(diagonal[*i] > 0.0 && scale[*i].is_finite());
        Some(Self {
            entries,
            free,
            weak: (0..free.len()).filter(is_weak).collect(),
            arms,
            scale,
        })
    }

    /// Turns entries of H into correlations `C_ij/√(C_ii C_jj)`, for one row and the columns from `first` on.
    pub(super) fn normalise(&self, i: usize, first: usize, row: &mut [f64]) {
        let places = first..first + row.len();
        for arm in &self.arms {
            kernels::axpy(-arm[i], &arm[places.clone()], row);
        }
        let own = self.scale[i];
        for (v, scale) in row.iter_mut().zip(&self.scale[places]) {
            *v *= own * scale;
        }
    }

    /// Returns the correlation of two features.
    fn correlation(&self, i: usize, j: usize) -> f64 {
        let entry = self.entries.at(self.free[i], self.free[j]);
        let products = self.arms.iter().map(|arm| arm[i] * arm[j]);
        let entry = products.fold(entry, |entry, product| entry - product);
        entry * (self.scale[i] * self.scale[j])
    }

    /// Whether a correlation proves the pair.
    #[inline]
    pub(super) fn is_apart(correlation: f64) -> bool {
        correlation.abs() <= 1.0 - NEAR
    }

    /// Whether a set, given by places, is proved to be no better than the target; so are its subsets then.
    pub(super) fn proves(&self, set: &[usize]) -> bool {
        if set.iter().any(|i| self.weak.binary_search(i).is_ok()) {
            return false;
        }
        match *set {
            [] | [_] => true,
            [i, j] => Self::is_apart(self.correlation(i, j)),
            [i, j, l] => {
                let pairs = [(i, j), (i, l), (j, l)].map(|(i, j)| self.correlation(i, j));
                pairs.into_iter().all(Self::is_apart) && determinant(pairs) >= NEAR
            }
            _ => false,
        }
    }
}

/// Returns the determinant of three columns of length 1 with these correlations: `(1 - a²)(1 - b²) - (c - ab)²`.
pub(super) fn determinant([a, b, c]: [f64; 3]) -> f64 {
    let rest = c - a * b;
    (1.0 - a * a) * (1.0 - b * b) - rest * rest
}
