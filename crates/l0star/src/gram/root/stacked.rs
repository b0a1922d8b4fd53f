//! The quadratic of several responses: `H = diag(w) ⊗ G`, G the products of the features, computed once.

use super::{Columns, Root, less_offset};
use crate::limits::Limits;
use crate::linalg::kernels;
use crate::problem::{Design, Problem, Scores, Stored};

/// Number of roundings of an entry in addition to those of the products of the first response: the ratio of two weights
/// of responses, the product with it, and those of the weights of rows themselves.
const MORE_ROUNDINGS: usize = 8;
/// Factor on the remainders of the means.
///
/// Leaving an intercept at 0 costs at most the square of the remainders of the means where the weights of the rows of
/// its response add up to 1/2 or more; they add up to nearly that at least.
const WIDER: f64 = 1.01;

impl Root {
    /// Does the work of [`Root::compute`] for several responses; `None` at a limit.
    pub(super) fn stacked(
        problem: &Problem,
        columns: Vec<usize>,
        selectable: usize,
        limits: &Limits,
        threads: usize,
    ) -> Option<Self> {
        let scores = problem.scores()?;
        let base = Base::new(problem, scores, &columns);
        let d = columns.len();
        let (features, size) = (&base.features, base.features.len());
        // Means are those of the shifted columns.
        let products = Columns {
            design: &scores.base,
            columns: features,
            shifts: base.shifts.clone(),
            p: base.p,
            b: &base.responses[0],
        };
        let products = products.products(limits, threads, &mut ())?;
        let c = base.slopes(limits)?;
        let ridge: Vec<f64> = columns.iter().map(|j| problem.ridge[*j]).collect();
        let (mut h, mut diagonal) = (vec![0.0; d * d], Vec::with_capacity(d));
        let places: Vec<(usize, usize)> = columns.iter().map(|j| base.place(scores, *j)).collect();
        for (i, (feature, block)) in places.iter().enumerate() {
            let ratio = base.ratios[*block];
            let row = &products.gram[feature * size..(feature + 1) * size];
            for (entry, (other, other_block)) in h[i * d..(i + 1) * d].iter_mut().zip(&places) {
                if block == other_block {
                    *entry = row[*other] * ratio;
                }
            }
            h[i * d + i] += ridge[i];
            let size = products.sizes[*feature] * ratio + ridge[i];
            diagonal.push(h[i * d + i].max(size * (1.0 + 1e-6)));
        }
        let means = places.iter().map(|(feature, block)| {
            if problem.has_intercept {
                products.means[*feature] * base.ratios[*block] * WIDER
            } else {
                0.0
            }
        });
        let column_means: Vec<f64> = means.collect();
        let c: Vec<f64> = places
            .iter()
            .map(|(feature, block)| c[*block][*feature])
            .collect();
        let n = base.p.len();
        let (mut c0, mut response_mean) = (0.0, 0.0);
        for (b, p) in base.responses.iter().zip(problem.p.chunks_exact(n)) {
            c0 += 0.5 * kernels::weighted_dot(p, b, b);
            if problem.has_intercept {
                response_mean += kernels::dot(p, b).abs();
            }
        }
        let fine = c0.is_finite() && h.iter().chain(&c).chain(&diagonal).all(|v| v.is_finite());
        fine.then_some(Self {
            columns,
            selectable,
            h,
            c,
            c0,
            ridge,
            // c0 adds up one sum of n products for each response.
            roundings: n + MORE_ROUNDINGS + scores.count,
            whole_c0: c0,
            diagonal,
            response_mean: response_mean * WIDER,
            column_means,
        })
    }
}

/// The data of one response, and what turns them into those of the other responses.
struct Base<'a> {
    design: &'a Design,
    /// Columns of the data that occur.
    features: Vec<usize>,
    /// Index of each column of the data among these.
    indices: Vec<usize>,
    shifts: Vec<(f64, f64)>,
    /// Weights of the rows of the first response …
    p: &'a [f64],
    /// … and those of each response, as a multiple of them.
    ratios: Vec<f64>,
    /// Responses less their offsets, centred where there is an intercept.
    responses: Vec<Vec<f64>>,
    weights: &'a [f64],
}

impl<'a> Base<'a> {
    fn new(problem: &'a Problem, scores: &'a Scores, columns: &[usize]) -> Self {
        let (design, n) = (&scores.base, scores.base.rows());
        let mut indices = vec![usize::MAX; scores.features];
        let mut features = Vec::new();
        for j in columns {
            let own = j % scores.features;
            if indices[own] == usize::MAX {
                indices[own] = features.len();
                features.push(own);
            }
        }
        let p = &problem.p[..n];
        let total = kernels::sum(p);
        let shift = |j: &usize| -> (f64, f64) {
            let (centre, scale) = design.view(*j);
            match design.stored(*j) {
                _ if !problem.has_intercept => (centre, scale),
                Stored::Dense(values) => (
                    values.sum(|rows, values| kernels::dot(&p[rows], values)) / total,
                    scale,
                ),
                Stored::Sparse(rows, values) => {
                    (kernels::dot_sparse(rows, values, p) / total, scale)
                }
            }
        };
        let blocks = problem.p.chunks_exact(n);
        let offsets = problem.offset.chunks_exact(n);
        let offsets = offsets.chain(std::iter::repeat(&[][..]));
        let responses = problem.b.chunks_exact(n).zip(blocks.clone()).zip(offsets);
        let responses =
            responses.map(|((b, p), offset)| less_offset(b, offset, p, problem.has_intercept));
        Self {
            design,
            shifts: features.iter().map(shift).collect(),
            features,
            indices,
            p,
            ratios: blocks.map(|own| own[0] / p[0]).collect(),
            responses: responses.collect(),
            weights: &problem.p,
        }
    }

    /// Returns the index of the feature, and the response, of a column.
    fn place(&self, scores: &Scores, column: usize) -> (usize, usize) {
        (self.indices[column % scores.features], scores.block(column))
    }

    /// Returns `Aᵀ diag(p) b` of each response; `None` at a limit.
    fn slopes(&self, limits: &Limits) -> Option<Vec<Vec<f64>>> {
        let n = self.p.len();
        let weighted = self.responses.iter().zip(self.weights.chunks_exact(n));
        let weighted: Vec<Vec<f64>> = weighted
            .map(|(b, p)| b.iter().zip(p).map(|(b, p)| b * p).collect())
            .collect();
        let mut slopes = vec![Vec::with_capacity(self.features.len()); weighted.len()];
        let mut column = vec![0.0; n];
        for (j, (shift, scale)) in self.features.iter().zip(&self.shifts) {
            if limits.stop() {
                return None;
            }
            self.design.fill(*j, *shift, *scale, &mut column);
            for (slopes, weighted) in slopes.iter_mut().zip(&weighted) {
                slopes.push(kernels::dot(&column, weighted));
            }
        }
        Some(slopes)
    }
}
