//! Where the predictions of every better model lie: an interval for each row.
//!
//! From a point x0 with the bound D, a better x (`P(x) < P_ref`) has slacks of less than `γ = P_ref - D` in all: that of the
//! rows, which grows with the way from z0 to z like `Σ p_i c_i (z_i - z0_i)²`, and that of the ridges ([`Slack`]), at least
//! `Σ g_j (x_j - x0_j)²`. The c_i hold within radii ρ_i. As `z - z0 = A(x - x0)`,
//!
//! ```text
//! |z_i - z0_i| ≤ r_i = √γ √ℓ_i,   ℓ_i = a_iᵀ(Aᵀ diag(pc) A + diag(g))⁻¹ a_i.
//! ```
//!
//! If `r_i < ρ_i` in every row, no better x has a row outside: the slack is convex, so on the way from x0 to such an x there
//! would be a point with every row within ρ, one of them at its end, and a slack of at most γ. How the ρ were found does not
//! matter. `docs/numerics.md`, section 9, has the proof with all its errors.

use std::borrow::Cow;

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

use super::slack::Slack;
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;
use crate::problem::Problem;

/// Tries to find radii that hold.
const MAX_ROUNDS: usize = 5;
/// Radii are first guessed to shrink like the square root of the gap, with this to spare.
const GUESS: f64 = 1.3;
/// The Gram matrix must keep this share of its mean diagonal as least eigenvalue.
const LEAST: f64 = 1e-6;

/// An interval for each row, and the least curvature of the loss on it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Region {
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    /// A lower bound of l'' on the interval.
    pub curvature: Vec<f64>,
    /// The square root of the gap that it was made for.
    reach: f64,
}

/// The point that a region is centred at, and what the slack of its rows is.
#[derive(Debug, Clone)]
pub(crate) struct Centre<'a> {
    /// Row by row where it is, up to an error.
    z: Cow<'a, [f64]>,
    errors: Vec<f64>,
    /// Rows that tell nothing: no curvature, or not where the point is.
    idle: Vec<bool>,
    /// The most that the slack of the rows can be at the point itself.
    eta: f64,
    /// The rows are those of the lifted problem in here.
    lifted: Option<&'a Region>,
}

impl<'a> Centre<'a> {
    /// Of the problem itself, with the slack of Fenchel–Young for the slopes α, which belong to predictions z up to `error`
    /// and the rounding of α.
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
            let size = 1.0 + touch.abs() + b.abs();
            let error = (touch - z[i]).abs() + error + 1e-14 * size;
            tangent[i] = touch;
            centre.idle[i] = error > 1e-3 * size || loss.secant(touch, b, 2.0 * error) <= 0.0;
            if !centre.idle[i] {
                centre.errors[i] = error;
                centre.eta += problem.p[i] * 0.5 * loss.smoothness() * error * error;
            }
        }
        centre
    }

    /// Of the problem that is lifted in `region`, with the slack of its linearisation at a point of predictions z, up to
    /// `error`.
    pub(crate) fn lifted(z: &'a [f64], error: f64, region: &'a Region) -> Self {
        Self {
            z: Cow::Borrowed(z),
            errors: vec![error; z.len()],
            idle: vec![false; z.len()],
            eta: 0.0,
            lifted: Some(region),
        }
    }

    /// A lower bound of the slack of row i, in units of the squared way from the point: within `radius`, or, where the second
    /// is true, anywhere.
    fn secant(&self, problem: &Problem, i: usize, radius: f64) -> (f64, bool) {
        let (z, b, loss) = (self.z[i], problem.b[i], &problem.loss);
        match self.lifted {
            _ if self.idle[i] => (0.0, true),
            None => (loss.secant(z, b, radius), false),
            Some(region) => {
                // l̃'' ≥ ω everywhere; where the point is in the interval, l̃ is l all the way to a better model.
                let (least, error) = (0.5 * region.curvature[i], self.errors[i]);
                let is_inside = region.low[i] + error <= z && z <= region.high[i] - error;
                let near = match is_inside {
                    true => loss.secant_near(z, b, radius, error),
                    false => 0.0,
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
    /// `columns`: everything that can be non-zero, in the order of `slack`. `before`: a region of more models. `None` where no
    /// radii hold, or rounding defeats the proof.
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
        // From the curvature at the centre upwards: the least radii that hold, a little widened. Those of a wider region, in
        // proportion to what is left of its gap, mostly hold at once.
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
            for (radius, need) in radii.iter_mut().zip(needs.iter()) {
                *radius = need * (1.0 + margin * need.min(1.0)) + 1e-9 * need;
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

    /// The part that is in both regions, each of which holds every better model.
    fn within(mut self, other: &Self, problem: &Problem) -> Self {
        for i in 0..self.low.len() {
            let low = self.low[i].max(other.low[i]);
            let high = self.high[i].min(other.high[i]);
            // Disjoint intervals would mean that there is no better model; its bound will say so by itself.
            if low <= high && (low, high) != (self.low[i], self.high[i]) {
                (self.low[i], self.high[i]) = (low, high);
                let least = problem.loss.least_curvature(low, high, problem.b[i]);
                self.curvature[i] = least.max(self.curvature[i]);
            }
        }
        self
    }
}

/// Upper bounds of `√(a_iᵀ(Aᵀ diag(w) A + diag(g))⁻¹ a_i)`, proved.
///
/// With columns scaled, R the float factor of `M̂ - τI`, `τ ≥ (γ_{n+12} + 2γ_{d+4}) tr` (`tr` of what was added up), satisfies `RRᵀ ⪯ M`, hence
/// `ℓ_i ≤ |R⁻¹a_i|²`. A second factorisation with κ = 1e-6 of the mean diagonal more proves `RRᵀ ⪰ κ/2`: the rounding of
/// the substitution, `|R⁻¹||δR| ≤ √(2/κ) γ_{d+4} √tr`, is far below the 1e-6 that is added.
struct Leverage {
    rows: usize,
    columns: usize,
    /// g of the scaled columns, and the sizes of what it was made of.
    ridges: Vec<(f64, f64)>,
    /// The scaled columns, end to end.
    design: Vec<f64>,
    weighted: Vec<f64>,
    solved: Vec<f64>,
    gram: Vec<f64>,
    sizes: Vec<f64>,
    factor: Cholesky,
    spare: Cholesky,
}

impl Leverage {
    fn new(problem: &Problem, columns: &[usize], slack: &Slack) -> Option<Self> {
        let rows = problem.rows();
        let heaviest = problem.p.iter().copied().fold(0.0, f64::max);
        let mut design = Vec::with_capacity(rows * columns.len());
        let mut ridges = Vec::with_capacity(columns.len());
        for (j, (ridge, size)) in columns.iter().zip(&slack.ridges) {
            let norm = problem.norms[*j] * heaviest.sqrt();
            if norm == 0.0 {
                continue;
            }
            // A power of two: the scaled columns are exact.
            let scale = (-norm.log2().round()).clamp(-1000.0, 1000.0).exp2();
            let (centre, unit) = problem.design.view(*j);
            problem.design.append(*j, centre, unit * scale, &mut design);
            ridges.push((ridge * scale * scale, size * scale * scale));
        }
        let count = ridges.len();
        if count == 0 || count >= rows {
            return None;
        }
        Some(Self {
            rows,
            columns: count,
            ridges,
            weighted: vec![0.0; design.len()],
            solved: vec![0.0; design.len()],
            gram: vec![0.0; count * count],
            sizes: vec![0.0; rows],
            factor: Cholesky::new(),
            spare: Cholesky::new(),
            design,
        })
    }

    fn bound(&mut self, weights: &[f64]) -> Option<&mut [f64]> {
        let (n, d) = (self.rows, self.columns);
        for (out, a) in self
            .weighted
            .chunks_exact_mut(n)
            .zip(self.design.chunks_exact(n))
        {
            for ((out, a), w) in out.iter_mut().zip(a).zip(weights) {
                *out = a * w;
            }
        }
        weighted_gram(&self.weighted, &self.design, n, d, &mut self.gram);
        let mut trace = 0.0;
        for (i, (ridge, size)) in self.ridges.iter().enumerate() {
            trace += self.gram[i * d + i] + size;
            self.gram[i * d + i] += ridge;
        }
        let shift = (gamma(n + 12) + 2.0 * gamma(d + 4)) * trace * 1.01;
        let least = LEAST * trace / d as f64;
        for (factor, shift) in [(&mut self.spare, shift + least), (&mut self.factor, shift)] {
            let rows = factor.start(d);
            rows.copy_from_slice(&self.gram);
            (0..d).for_each(|i| rows[i * d + i] -= shift);
            if !factor.factor() {
                return None;
            }
        }
        self.solved.copy_from_slice(&self.design);
        solve_lower_triangular_in_place(
            MatRef::from_row_major_slice(self.factor.rows(), d, d),
            MatMut::from_row_major_slice_mut(&mut self.solved, d, n),
            Par::Seq,
        );
        self.sizes.fill(0.0);
        for row in self.solved.chunks_exact(n) {
            for (size, v) in self.sizes.iter_mut().zip(row) {
                *size += v * v;
            }
        }
        for size in &mut self.sizes {
            *size = size.sqrt() * (1.0 + 1e-6);
        }
        Some(&mut self.sizes)
    }
}

/// The lower triangle, by rows, of `Lᵀ R` for two n×d matrices given column after column.
pub(crate) fn weighted_gram(left: &[f64], right: &[f64], n: usize, d: usize, out: &mut [f64]) {
    if d < 8 {
        for r in 0..d {
            for c in 0..=r {
                out[r * d + c] =
                    kernels::dot(&left[r * n..(r + 1) * n], &right[c * n..(c + 1) * n]);
            }
        }
        return;
    }
    matmul(
        MatMut::from_row_major_slice_mut(out, d, d),
        BlockStructure::TriangularLower,
        Accum::Replace,
        MatRef::from_row_major_slice(left, d, n),
        BlockStructure::Rectangular,
        MatRef::from_column_major_slice(right, n, d),
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}
