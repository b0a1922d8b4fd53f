//! Always-in columns without a ridge: the intercept, and what the user forces in for free.
//!
//! In the dual such a column `a_0` is the constraint `a_0ᵀβ = 0`; off it the bound is −∞. No float β satisfies it
//! exactly, so the bound pays for the residue `u = a_0ᵀβ` with a *box atom*: if `|x_0| ≤ B` for every x that is no
//! worse than the null model, then `min over |x_0| ≤ B of u x_0 = -B|u|`, and `D(β) - B|u|` is a valid bound for all of
//! them. [`Unpenalised::repair`] makes `u` about one unit in the last place, and B is computed here once.

use std::ops::Range;

use super::Problem;
use crate::error::{Error, Result};
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::linalg::rounding::{Doubled, U, gamma};
use crate::loss::{DualValue, ResponseKind};

/// Boxes hold for every x with `P(x) ≤ P(0)(1 + MARGIN)`: a little room, so that ties with the null model are covered.
const MARGIN: f64 = 1e-6;

/// Boxes are widened by this against the rounding of their own computation.
const WIDEN: f64 = 1.0 + 1e-4;

/// The unpenalised columns of a problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unpenalised {
    columns: Vec<usize>,
    /// `B_j ≥ |x_j|` for every x worth having.
    boxes: Vec<f64>,
    /// An orthonormal basis of their span.
    basis: Vec<Vec<f64>>,
    /// Factor of `Uᵀ diag(p) U`.
    gram: Cholesky,
    /// The rows of each column where these are the intercepts and nothing else: disjoint sets of ones; else empty.
    ones: Vec<Range<usize>>,
}

impl Unpenalised {
    pub(super) fn new(problem: &Problem, columns: Vec<usize>) -> Result<Self> {
        if columns.is_empty() {
            return Ok(Self::default());
        }
        let loss = &*problem.loss;
        let intercepts = problem.scores().map_or(1, |scores| scores.intercepts);
        let only_ones = problem.has_intercept && columns.len() == intercepts;
        let ones: Vec<Range<usize>> = columns
            .iter()
            .filter(|_| only_ones)
            .map(|j| problem.design.place(*j).1)
            .collect();
        if loss.response() != ResponseKind::Real && !only_ones {
            return Err(Error::Unpenalised {
                column: problem.names[columns[0]].clone(),
                loss: loss.name(),
            });
        }
        let dependent = || Error::Dependent {
            columns: columns
                .iter()
                .map(|j| format!("'{}'", problem.names[*j]))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let dense: Vec<Vec<f64>> = columns.iter().map(|j| written_out(problem, *j)).collect();
        let basis = orthonormal(&dense).ok_or_else(dependent)?;
        let (gram, least) = weighted_gram(&problem.p, &dense).ok_or_else(dependent)?;
        let reference = problem.null_value * (1.0 + MARGIN) + 1e-280;
        let boxes = if loss.response() == ResponseKind::Class {
            let classes = 0..problem.outputs();
            let reaches: Vec<f64> = classes
                .map(|c| class_reach(problem, c, reference))
                .collect();
            // The last class has no intercept: those of the others are what they have more.
            let last = reaches[reaches.len() - 1];
            let own = reaches.iter().take(columns.len());
            own.map(|reach| reach.max(last) * WIDEN).collect()
        } else if only_ones {
            let each = ones
                .iter()
                .map(|rows| intercept_box(problem, rows, reference));
            each.collect()
        } else {
            // Uᵀ diag(p) U ⪰ σ² I, so Σ p|Ux| ≥ Σ p (Ux)²/max|Ux| ≥ σ²|x|²/(max row norm · |x|).
            let row_norm = (0..problem.rows())
                .map(|i| {
                    let squares = dense.iter().map(|column| column[i].powi(2));
                    squares.sum::<f64>().sqrt()
                })
                .fold(0.0, f64::max);
            vec![mean_prediction(problem, reference) * row_norm / least * WIDEN; columns.len()]
        };
        if boxes.iter().any(|b| !b.is_finite()) {
            return Err(Error::Overflow {
                what: "the bound of an unpenalised coefficient",
            });
        }
        Ok(Self {
            columns,
            boxes,
            basis,
            gram,
            ones,
        })
    }

    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The box of the intercept, where that is all there is.
    pub(crate) fn limit(&self) -> Option<f64> {
        (self.ones.len() == 1).then(|| self.boxes[0])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The sum over `columns` of the squared length of their parts in the span of the unpenalised ones.
    pub(crate) fn squares_inside(&self, problem: &Problem, columns: &[usize]) -> f64 {
        let mut dots = vec![0.0; columns.len()];
        let mut squares = 0.0;
        for q in &self.basis {
            problem.design.dots(columns, q, &mut dots);
            squares += kernels::dot(&dots, &dots);
        }
        squares
    }

    /// `v ← (Uᵀ diag(p) U)⁻¹ v`.
    pub(crate) fn solve(&self, v: &mut [f64]) {
        self.gram.solve(v);
    }

    /// `z ← z` less its part in the span of the columns.
    pub(crate) fn project(&self, z: &mut [f64]) {
        for q in &self.basis {
            let part = kernels::dot(q, z);
            kernels::axpy(-part, q, z);
        }
    }

    /// Moves the slopes α, which lie in the loss's domain, to ones that also satisfy `Uᵀβ = 0` up to rounding.
    pub(crate) fn repair(&self, problem: &Problem, alpha: &mut [f64]) {
        if self.is_empty() {
            return;
        }
        match problem.loss.response() {
            ResponseKind::Real => self.shift_into_subspace(problem, alpha),
            // The domain has 0 in it, and may end there.
            _ => balance_signs(&problem.p, alpha),
        }
        for rows in &self.ones {
            touch_up(problem, rows, alpha);
        }
    }

    /// What the residue costs: `Σ_j B_j |u_j|`, rounded up.
    pub(crate) fn residue_cost(&self, problem: &Problem, alpha: &[f64]) -> f64 {
        let mut cost = 0.0;
        for (rows, size) in self.ones.iter().zip(&self.boxes) {
            let mut sum = Doubled::default();
            for i in rows.clone() {
                sum.add_product(problem.p[i], alpha[i]);
            }
            cost += size * (sum.value().abs() + sum.error());
        }
        if self.ones.is_empty() && !self.is_empty() {
            let mut beta = vec![0.0; alpha.len()];
            problem.weigh(alpha, &mut beta);
            let length = kernels::norm(&beta) * (1.0 + gamma(alpha.len() + 4));
            for (j, size) in self.columns.iter().zip(&self.boxes) {
                let sum = problem.design.doubled_dot(*j, &beta);
                let rounding = 2.0 * U * problem.norms[*j] * length;
                cost += size * (sum.value().abs() + sum.error() + rounding);
            }
        }
        cost * (1.0 + gamma(8 + self.columns.len()))
    }

    /// What the residue costs at a dual point of a loss that couples rows, rounded up.
    pub(crate) fn joint_cost(&self, problem: &Problem, beta: &[f64], dual: &DualValue) -> f64 {
        let mut cost = 0.0;
        for (j, size) in self.columns.iter().zip(&self.boxes) {
            let sum = problem.design.doubled_dot(*j, beta);
            let rounding = 1.01 * problem.norms[*j] * dual.distance;
            cost += size * (sum.value().abs() + sum.error() + rounding);
        }
        cost * (1.0 + gamma(8 + self.columns.len()))
    }

    /// `α ← α - Uc` with `Uᵀ diag(p)(α - Uc) = 0`, then shrunk into the domain (a scaling keeps the equation).
    fn shift_into_subspace(&self, problem: &Problem, alpha: &mut [f64]) {
        let mut beta = vec![0.0; alpha.len()];
        for _ in 0..2 {
            problem.weigh(alpha, &mut beta);
            let mut c: Vec<f64> = self
                .columns
                .iter()
                .map(|j| problem.design.dot(*j, &beta))
                .collect();
            self.gram.solve(&mut c);
            for (j, c) in self.columns.iter().zip(c) {
                problem.design.add_column(*j, -c, alpha);
            }
        }
        let excess = alpha
            .iter()
            .zip(&problem.b)
            .map(|(alpha, b)| alpha.abs() / problem.loss.domain(*b).1)
            .fold(1.0, f64::max);
        if excess > 1.0 {
            alpha.iter_mut().for_each(|alpha| *alpha /= excess);
            problem.loss.clip(alpha, &problem.b);
        }
    }
}

/// Scales the heavier of the positive and the negative part of β down to the other: `1ᵀβ = 0`, and since every slope
/// only moves towards zero, the domain is kept.
fn balance_signs(p: &[f64], alpha: &mut [f64]) {
    let (mut positive, mut negative) = (0.0, 0.0);
    for (p, alpha) in p.iter().zip(&*alpha) {
        let beta = p * alpha;
        if beta > 0.0 {
            positive += beta;
        } else {
            negative -= beta;
        }
    }
    let least = f64::min(positive, negative);
    for alpha in alpha {
        let part = if *alpha > 0.0 { positive } else { negative };
        if part > 0.0 {
            *alpha *= least / part;
        }
    }
}

/// The rounding residue of `1ᵀβ` is taken up by rows whose slopes are small: their last places are fine enough.
fn touch_up(problem: &Problem, rows: &Range<usize>, alpha: &mut [f64]) {
    let mut last = f64::INFINITY;
    for _ in 0..3 {
        let mut sum = Doubled::default();
        for i in rows.clone() {
            sum.add_product(problem.p[i], alpha[i]);
        }
        let residue = sum.value();
        if residue == 0.0 || residue.abs() >= last {
            return;
        }
        last = residue.abs();
        let mut best: Option<(usize, f64)> = None;
        for i in rows.clone() {
            let (p, a, b) = (problem.p[i], alpha[i], problem.b[i]);
            let moved = a - residue / p;
            let (low, high) = problem.loss.domain(b);
            let coarse = p * a.abs().max(moved.abs());
            if moved > low && moved < high && best.is_none_or(|(_, least)| coarse < least) {
                best = Some((i, coarse));
            }
        }
        let Some((i, _)) = best else { return };
        alpha[i] -= residue / problem.p[i];
    }
}

/// A column as a vector; there are few unpenalised ones.
fn written_out(problem: &Problem, j: usize) -> Vec<f64> {
    let mut column = vec![0.0; problem.rows()];
    problem.design.column_into(j, &mut column);
    column
}

/// Gram–Schmidt, twice for good measure; `None` when the columns are dependent.
fn orthonormal(columns: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
    for column in columns {
        let mut v = column.clone();
        let before = kernels::norm(&v);
        for _ in 0..2 {
            for q in &basis {
                let part = kernels::dot(q, &v);
                kernels::axpy(-part, q, &mut v);
            }
        }
        let length = kernels::norm(&v);
        if !(length > 1e-9 * before && length.is_finite()) {
            return None;
        }
        v.iter_mut().for_each(|v| *v /= length);
        basis.push(v);
    }
    Some(basis)
}

/// The factor of `G = Uᵀ diag(p) U` and a proved lower bound of its least eigenvalue; `None` when that is not positive.
fn weighted_gram(p: &[f64], columns: &[Vec<f64>]) -> Option<(Cholesky, f64)> {
    let size = columns.len();
    let mut entries = vec![0.0; size * size];
    for (r, a) in columns.iter().enumerate() {
        for (c, b) in columns.iter().enumerate().take(r + 1) {
            entries[r * size + c] = kernels::weighted_dot(p, a, b);
        }
    }
    let trace: f64 = (0..size).map(|i| entries[i * size + i]).sum();
    let factor_less = |shift: f64| -> Option<Cholesky> {
        let mut factor = Cholesky::new();
        let rows = factor.load(size, &entries);
        (0..size).for_each(|i| rows[i * size + i] -= shift);
        factor.factor().then_some(factor)
    };
    let gram = factor_less(0.0)?;
    // A Cholesky that succeeds on G - (μ + margin) I proves G ⪰ μ I; the margin covers the rounding of both.
    let margin = 4.0 * (gamma(size + 2) + gamma(p.len() + 7)) * trace;
    let mut least = trace;
    while least > 1e-10 * trace {
        if factor_less(least + margin).is_some() {
            return Some((gram, least));
        }
        least *= 0.5;
    }
    None
}

/// `Σ p_i |z_i - o_i - (Ax)_i|` over the unpenalised part of any x with `P(x) ≤ reference`, real responses:
/// Jensen on `|r|` bounds the residuals, the ridge bounds the rest of x.
fn mean_prediction(problem: &Problem, reference: f64) -> f64 {
    let p_total: f64 = problem.p.iter().sum();
    let mut total = p_total * problem.loss.reach(reference / p_total);
    for (i, (p, b)) in problem.p.iter().zip(&problem.b).enumerate() {
        total += p * (b.abs() + problem.offset.get(i).map_or(0.0, |o| o.abs()));
    }
    let absolute = |j: usize| problem.design.absolute_sum(j, &problem.p, p_total);
    total + penalised_reach(problem, reference, absolute)
}

/// `|ā| r` with `r = √(2 reference / λ_min)` and ā built from at most k selectable features and the always-in ones.
fn penalised_reach(problem: &Problem, reference: f64, mean: impl Fn(usize) -> f64) -> f64 {
    let mut squares: Vec<f64> = problem
        .selectable
        .iter()
        .map(|leader| {
            let columns = problem.members(*leader);
            let squares = columns.iter().map(|j| mean(*j).powi(2) / problem.ridge[*j]);
            squares.sum()
        })
        .collect();
    squares.sort_unstable_by(|a, b| b.total_cmp(a));
    squares.truncate(problem.support_size());
    let always: f64 = problem
        .penalised
        .iter()
        .map(|j| mean(*j).powi(2) / problem.ridge[*j])
        .sum();
    // Σ λ x² ≤ 2 reference, so |Σ ā_j x_j| ≤ √(Σ ā_j²/λ_j) √(2 reference).
    (squares.iter().sum::<f64>() + always).sqrt() * (2.0 * reference).sqrt()
}

/// How much more than the intercept of this class that of another can be, in any x with `P(x) ≤ reference`.
///
/// The loss of a row of class c is at least `z_c' - z_c`. On average over the rows of c that is the difference of the intercepts, of
/// the offsets and of `āᵀ(x_c' - x_c)`, whose ridges are at most `2 reference`; and the mean loss of these rows is at most `reference`
/// over their share.
fn class_reach(problem: &Problem, class: usize, reference: f64) -> f64 {
    let n = problem.rows() / problem.outputs();
    let is_own = &problem.b[class * n..(class + 1) * n];
    // The columns of the first class are those of the data.
    let mut weights = vec![0.0; problem.rows()];
    let own = weights.iter_mut().zip(is_own).zip(&problem.p);
    own.for_each(|((weight, is_own), p)| *weight = is_own * p);
    let share: f64 = weights.iter().sum();
    let column = |j: usize| {
        let sum = problem.design.dot(j, &weights).abs();
        let absolute = problem.design.absolute_sum(j, &weights, share);
        (sum + gamma(problem.rows() + 8) * absolute) / share
    };
    let reach = penalised_reach(problem, reference, column);
    let own_offset = |c: usize, i: usize| problem.offset.get(c * n + i).copied().unwrap_or(0.0);
    let apart = (0..problem.outputs()).map(|c| {
        let own = &weights[class * n..(class + 1) * n];
        let rows = own.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        let (mut sum, mut absolute) = (0.0, 0.0);
        for (i, weight) in rows {
            let difference = weight * (own_offset(class, i) - own_offset(c, i));
            sum += difference;
            absolute += difference.abs();
        }
        (sum.abs() + gamma(n + 8) * absolute) / share
    });
    let apart = apart.fold(0.0, f64::max);
    reference / share + apart + std::f64::consts::SQRT_2 * reach
}

/// A bound of the intercept of these rows, of any x with `P(x) ≤ reference`.
///
/// Real responses: `|mean residual| ≤ reach`, so `|x_0| ≤ reach + |b̄ - ō| + |ā| r`. Labels: the mean margin of each
/// class is at least `-reach(reference/π)`, which bounds x_0 from below (class 1) and from above (class −1). Other responses: as
/// real ones, with rows weighted by the masses and the centres for the responses ([`crate::loss::Loss::anchor`]).
fn intercept_box(problem: &Problem, rows: &Range<usize>, reference: f64) -> f64 {
    let classes: &[Option<f64>] = match problem.loss.response() {
        ResponseKind::Label => &[Some(-1.0), Some(1.0)],
        _ => &[None],
    };
    let anchors: Vec<(f64, f64)> = problem.b.iter().map(|b| problem.loss.anchor(*b)).collect();
    let mass = |i: usize| problem.p[i] * anchors[i].0;
    let mut size: f64 = 0.0;
    for class in classes {
        let member = |i: usize| class.is_none_or(|label| problem.b[i] == label);
        let share: f64 = rows.clone().filter(|i| member(*i)).map(mass).sum();
        let mean = |value: &dyn Fn(usize) -> f64| -> f64 {
            let rows = rows.clone().filter(|i| member(*i));
            rows.map(|i| mass(i) * value(i)).sum::<f64>().abs() / share
        };
        let offset = mean(&|i| problem.offset.get(i).copied().unwrap_or(0.0));
        let response = if class.is_none() {
            mean(&|i| anchors[i].1)
        } else {
            0.0
        };
        // A mean that cancels to zero still carries the rounding of its terms.
        let slack =
            |value: &dyn Fn(usize) -> f64| gamma(problem.rows() + 4) * mean(&|i| value(i).abs());
        let weights: Vec<f64> = (0..problem.rows())
            .map(|i| {
                if rows.contains(&i) && member(i) {
                    mass(i)
                } else {
                    0.0
                }
            })
            .collect();
        let column = |j: usize| {
            let sum = problem.design.dot(j, &weights).abs();
            let absolute = problem.design.absolute_sum(j, &weights, share);
            (sum + gamma(problem.rows() + 8) * absolute) / share
        };
        let reach = problem.loss.reach(reference / share);
        let bound = reach
            + offset
            + slack(&|i| problem.offset.get(i).copied().unwrap_or(0.0))
            + response
            + slack(&|i| anchors[i].1)
            + penalised_reach(problem, reference, column);
        size = size.max(bound);
    }
    size * WIDEN
}
