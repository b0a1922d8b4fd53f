//! Where the predictions of every better model lie: an interval for each row.
//!
//! From one dual point α with bound D, a model x has `P(x) ≥ D + Σ p_i B_i(x)`, `B_i` the slack of Fenchel–Young in row
//! i: what `l` lies above its tangent of slope α_i, which touches it at `z̃_i`. So a better x (`P(x) < P_ref`) has
//! `Σ p_i B_i(x) < γ = P_ref - D`. With radii ρ and `c_i = secant(z̃_i, ρ_i)`, as long as `|z_i - z̃_i| ≤ ρ_i` in all rows,
//! `Σ p_i c_i (z_i - z̃_i)² ≤ γ`, and since `z - z0 = A(x - x0)` (z0, x0 the point of α, `z̃ = z0` up to e),
//!
//! ```text
//! |z_i - z̃_i| ≤ r_i = (√γ + √η) √ℓ_i + e_i,   ℓ_i = a_iᵀ(Aᵀ diag(p c) A)⁻¹ a_i,   η = Σ p_i s e_i²/2,  c ≤ s/2.
//! ```
//!
//! If `r_i < ρ_i` in every row, no better x has a row outside `z̃_i ± r_i`: the slack is convex, so on the way from x0 to
//! such an x there would be a point with every row within ρ, one of them at its end, and a slack of at most γ. How the ρ
//! were found does not matter.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;
use crate::problem::Problem;

/// Tries to find radii that hold.
const MAX_ROUNDS: usize = 5;
/// The Gram matrix must keep this share of its mean diagonal as least eigenvalue.
const LEAST: f64 = 1e-6;

/// An interval for each row, and the least curvature of the loss on it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Region {
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    /// A lower bound of l'' on the interval.
    pub curvature: Vec<f64>,
}

/// The point that a region is centred at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Centre<'a> {
    /// The slopes of the dual point whose bound is D.
    pub alpha: &'a [f64],
    /// `Ax0 + o` in floating point, and how far rounding can have moved its entries.
    pub z: &'a [f64],
    pub error: f64,
    /// `P_ref - D`, rounded up.
    pub gap: f64,
    /// A region of more models, which will be wider: its radii are tried first.
    pub before: Option<&'a Region>,
}

impl Region {
    /// `columns`: everything that can be non-zero. `None` where no radii hold, or rounding defeats the proof.
    pub(crate) fn find(
        problem: &Problem,
        columns: &[usize],
        centre: &Centre,
        limits: &Limits,
    ) -> Option<Self> {
        let (n, loss) = (problem.rows(), &problem.loss);
        let gap = centre.gap;
        if !(gap > 0.0 && gap.is_finite()) {
            return None;
        }
        let mut tangent = vec![0.0; n];
        let mut errors = vec![0.0; n];
        // Rows that tell nothing: no curvature, or not where the point is.
        let mut idle = vec![false; n];
        let mut eta = 0.0;
        for i in 0..n {
            let b = problem.b[i];
            let touch = loss.conjugate_slope(centre.alpha[i], b);
            let size = 1.0 + touch.abs() + b.abs();
            let error = (touch - centre.z[i]).abs() + centre.error + 1e-14 * size;
            tangent[i] = touch;
            idle[i] = error > 1e-3 * size || loss.secant(touch, b, 2.0 * error) <= 0.0;
            if !idle[i] {
                errors[i] = error;
                eta += problem.p[i] * 0.5 * loss.smoothness() * error * error;
            }
        }
        if eta > 0.01 * gap {
            return None;
        }
        let reach = (gap.sqrt() + eta.sqrt()) * (1.0 + 1e-9);
        let mut leverage = Leverage::new(problem, columns)?;
        // From the curvature at the centre upwards: the least radii that hold, a little widened. Those of a wider region mostly
        // hold at once.
        let mut radii: Vec<f64> = match centre.before {
            None => errors.iter().map(|e| 2.0 * e).collect(),
            Some(wide) => {
                let ends = wide.low.iter().zip(&wide.high);
                let half = ends.map(|(low, high)| 0.5 * (high - low));
                half.zip(&errors)
                    .map(|(half, e)| {
                        if half.is_finite() {
                            half.max(2.0 * e)
                        } else {
                            2.0 * e
                        }
                    })
                    .collect()
            }
        };
        let mut weights = vec![0.0; n];
        for round in 0..MAX_ROUNDS {
            if limits.reached().is_some() {
                return None;
            }
            for i in 0..n {
                weights[i] = if idle[i] {
                    0.0
                } else {
                    problem.p[i] * loss.secant(tangent[i], problem.b[i], radii[i])
                };
            }
            let needs = leverage.bound(&weights)?;
            let mut holds = true;
            for i in 0..n {
                if idle[i] {
                    continue;
                }
                let need = (reach * needs[i] + errors[i]) * (1.0 + 1e-9);
                holds &= need < radii[i];
                needs[i] = need;
                if !need.is_finite() {
                    return None;
                }
            }
            if holds {
                let found = Self::from_radii(problem, &tangent, needs, &idle);
                return Some(match centre.before {
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

    fn from_radii(problem: &Problem, tangent: &[f64], radii: &[f64], idle: &[bool]) -> Self {
        let n = tangent.len();
        let (mut low, mut high) = (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n]);
        let mut curvature = vec![0.0; n];
        for i in 0..n {
            if idle[i] {
                continue;
            }
            let radius = radii[i] + 1e-15 * tangent[i].abs();
            low[i] = tangent[i] - radius;
            high[i] = tangent[i] + radius;
            curvature[i] = problem.loss.least_curvature(low[i], high[i], problem.b[i]);
        }
        Self {
            low,
            high,
            curvature,
        }
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

/// Upper bounds of `√(a_iᵀ(Aᵀ diag(w) A)⁻¹ a_i)`, proved.
///
/// With columns scaled, R the float factor of `M̂ - τI`, `τ ≥ (γ_{n+12} + 2γ_{d+4}) tr`, satisfies `RRᵀ ⪯ M`, hence
/// `ℓ_i ≤ |R⁻¹a_i|²`. A second factorisation with κ = 1e-6 of the mean diagonal more proves `RRᵀ ⪰ κ/2`: the rounding of
/// the substitution, `|R⁻¹||δR| ≤ √(2/κ) γ_{d+4} √tr`, is far below the 1e-6 that is added.
struct Leverage {
    rows: usize,
    columns: usize,
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
    fn new(problem: &Problem, columns: &[usize]) -> Option<Self> {
        let rows = problem.rows();
        let heaviest = problem.p.iter().copied().fold(0.0, f64::max);
        let mut design = Vec::with_capacity(rows * columns.len());
        let mut count = 0;
        for j in columns {
            let norm = problem.norms[*j] * heaviest.sqrt();
            if norm == 0.0 {
                continue;
            }
            // A power of two: the scaled columns are exact.
            let scale = (-norm.log2().round()).clamp(-1000.0, 1000.0).exp2();
            let (centre, unit) = problem.design.view(*j);
            problem.design.append(*j, centre, unit * scale, &mut design);
            count += 1;
        }
        if count == 0 || count >= rows {
            return None;
        }
        Some(Self {
            rows,
            columns: count,
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
        let trace: f64 = (0..d).map(|i| self.gram[i * d + i]).sum();
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
