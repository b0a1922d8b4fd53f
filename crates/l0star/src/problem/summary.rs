//! How far a problem from moments can be from that of the rows, in units of the objective.

use super::Problem;
use super::moments::Summary;
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::linalg::psd;
use crate::linalg::rounding::gamma;

/// Curvatures of more columns are not looked at: the ridge alone bounds their coefficients.
const MOST_COLUMNS: usize = 2000;

impl Problem {
    /// The rows of positive weight that the problem is about: those of the data, also where only their moments are known.
    pub fn observations(&self) -> u64 {
        let summary = self.summary.as_ref();
        let own = (self.rows() / self.outputs()) as u64;
        summary.map_or(own, |summary| summary.rows)
    }

    /// Whether the problem was made from moments, so that its rows are none of the data.
    pub fn is_from_moments(&self) -> bool {
        self.summary.is_some()
    }

    /// The standard deviation of the response over the rows, by weight.
    pub fn response_deviation(&self) -> f64 {
        match &self.summary {
            Some(summary) => summary.response_deviation,
            None => {
                let mean = kernels::dot(&self.p, &self.b);
                let rows = self.b.iter().zip(&self.p);
                let variance: f64 = rows.map(|(b, p)| p * (b - mean).powi(2)).sum();
                variance.sqrt()
            }
        }
    }

    /// How far the least objective of a set of features can be from that of the rows whose moments were given, if either is at
    /// most this value; bounds that are reported are lowered by it. 0 for a problem from rows.
    ///
    /// `½ e Z²` with `Z = ω_b + √N min((ω_b + √2v)/√t, √(2v/t₀))`: docs/numerics.md, section 18.
    pub fn moment_error(&self, value: f64) -> f64 {
        let Some(summary) = &self.summary else {
            return 0.0;
        };
        let mut sizes: Vec<usize> = match &self.structure {
            None => vec![1; self.selectable.len()],
            Some(structure) => {
                let leaders = self.selectable.iter();
                leaders.map(|j| structure.members[*j].len()).collect()
            }
        };
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let chosen: usize = sizes.iter().take(self.support_size()).sum();
        let always = self.penalised.len() + self.unpenalised.columns().len();
        let count = (chosen + always) as f64;
        // No set is worse than no coefficient at all.
        let most = 0.5 * summary.response_size.powi(2);
        let value = value.clamp(0.0, most);
        let curved = (summary.response_size + (2.0 * value).sqrt()) / summary.share.sqrt();
        let ridged = (2.0 * value / summary.ridge_share).sqrt();
        // A NaN, of 0 by 0, says nothing.
        let reach = summary.response_size + count.sqrt() * curved.min(ridged);
        0.5 * summary.error * reach * reach * (1.0 + 1e-3)
    }

    /// A bound of the problem as one of the rows whose moments were given.
    pub(crate) fn of_rows(&self, bound: f64) -> f64 {
        match self.moment_error(bound) {
            0.0 => bound,
            // Nothing is below 0: neither losses nor ridges nor prices are.
            error => (bound - error).next_down().max(bound.min(0.0)),
        }
    }

    /// The largest t and t₀ that are known with `H ⪰ t diag(ω²)` and `Λ ⪰ t₀ diag(ω²)`, H the Hessian of P over all columns that
    /// can be in a model and Λ its ridge; 0 where none is proved.
    pub(super) fn curvature_shares(&self, summary: &Summary) -> (f64, f64) {
        let own = self.ridged().into_iter();
        let free = self.unpenalised.columns().iter().copied();
        let columns = own.chain(free).filter(|j| *j < self.columns());
        // A column without size has no error either.
        let columns: Vec<(usize, f64)> = columns
            .map(|j| (j, summary.sizes[j] / self.scale(j)))
            .filter(|(_, size)| *size > 0.0)
            .collect();
        let ridges: Vec<f64> = columns
            .iter()
            .map(|(j, size)| self.ridge[*j] / size / size)
            .collect();
        let floor = ridges.iter().copied().fold(f64::INFINITY, f64::min) * (1.0 - 1e-6);
        let d = columns.len();
        if d == 0 {
            return (1.0, 1.0);
        }
        if d > MOST_COLUMNS {
            return (floor, floor);
        }
        let numbers: Vec<usize> = columns.iter().map(|(j, _)| *j).collect();
        let mut curvature = vec![0.0; d * d];
        let mut column = vec![0.0; self.rows()];
        for (c, (j, size)) in columns.iter().enumerate() {
            self.design.column_into(*j, &mut column);
            let values = column.iter_mut().zip(&self.p);
            values.for_each(|(v, p)| *v *= p / size);
            let row = &mut curvature[c * d..(c + 1) * d];
            self.design.dots(&numbers, &column, row);
            row.iter_mut()
                .zip(&columns)
                .for_each(|(v, (_, size))| *v /= size);
            row[c] += ridges[c];
        }
        // Both triangles are the same but for rounding; the proof looks at one of them.
        for c in 0..d {
            for r in 0..c {
                curvature[r * d + c] = curvature[c * d + r];
            }
        }
        let limits = Limits::none();
        let (none, one) = (vec![0.0; d], vec![1.0; d]);
        let most = psd::largest_share(&curvature, &none, &one, &limits);
        // An entry is within this of that of the rows; its trace is at least nearly d.
        let error = 2.0 * (gamma(self.rows() + 16) + summary.error);
        let mut factor = Cholesky::new();
        for share in [0.9, 0.5, 0.1] {
            let t = share * most;
            if t <= floor {
                break;
            }
            let mut rest = curvature.clone();
            (0..d).for_each(|i| rest[i * d + i] -= t);
            let trace: f64 = (0..d).map(|i| rest[i * d + i].abs()).sum();
            let share = error * d as f64 / trace.max(f64::MIN_POSITIVE);
            if psd::proved(&rest, d, share, &mut factor, &limits) {
                return (t, floor);
            }
        }
        (floor, floor)
    }
}
