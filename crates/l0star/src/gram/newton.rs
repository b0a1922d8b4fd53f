//! The relaxation of a node in a frame: piecewise Newton, with certified bounds from every iterate.
//!
//! All ridges are 1. For any point y of the frame, `u = c - Gy`, `q_i = u_i²/2`:
//!
//! ```text
//! P(x) ≥ D(y) = c0 - ½ yᵀ(c - u) - Σ_S q_i - top_m(q_F)      for every x of the node,
//! max_y D = min_x R(x),   R(x) = f(x) + ½|x_S|² + Ω_m(x_F),
//! Ω_m(v) = ½ Σ_J v_i² + (Σ_E |v_i|)²/2κ,   κ = m - |J|.
//! ```
//!
//! On a piece (J, E, signs σ) R is a quadratic, minimised by one linear system; a prox step proposes the next piece.

use super::frame::Frame;
use crate::bound::Certified;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::kernels;
use crate::linalg::rounding::gamma;
use crate::relaxation::topk::{Prox, top_sum};
use crate::search::limits::Limits;

const MAX_ROUNDS: usize = 200;

/// What decides when a node is solved well enough.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal {
    /// A bound at or above this closes the node.
    pub cut: f64,
    /// R - D at which the node is solved.
    pub tolerance: f64,
    /// The same when the relaxed point is a model itself: then only rounding should be left.
    pub tight: f64,
    /// A bound is never claimed above this.
    pub ceiling: f64,
}

/// Which columns of the frame are in S, in F.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sets {
    pub inside: Vec<usize>,
    pub free: Vec<usize>,
    pub budget: usize,
}

/// The solver, with its buffers.
#[derive(Debug, Default)]
pub(crate) struct Newton {
    /// The iterate over the columns of the frame, and where it may be non-zero.
    pub x: Vec<f64>,
    support: Vec<usize>,
    u: Vec<f64>,
    /// u at the iterate of the best bound.
    pub best_u: Vec<f64>,
    /// The best certified bound, and the error terms of its point.
    pub bound: f64,
    best_error: f64,
    best_step_error: f64,
    best_primal: f64,
    best_x: Vec<f64>,
    /// Evaluations of u.
    pub evaluations: u64,
    factor: Cholesky,
    prox: Prox,
    scratch: Vec<f64>,
    sorted: Vec<f64>,
    set: Vec<usize>,
    signs: Vec<f64>,
    solution: Vec<f64>,
    target: Vec<f64>,
    direction: Vec<(usize, f64)>,
    momentum: Vec<f64>,
}

/// The numbers of one evaluation.
#[derive(Debug, Clone, Copy)]
struct Value {
    smooth: f64,
    primal: f64,
}

impl Newton {
    /// Maximises the bound of a node from the point in `x`. The bound is valid however it ends.
    pub(crate) fn solve(&mut self, frame: &Frame, sets: &Sets, goal: &Goal, limits: &Limits) {
        self.start(frame, sets);
        let mut value = self.evaluate(frame, sets);
        if self.support.len() < sets.inside.len() + sets.budget {
            value = self.first_order(frame, sets, value, 4);
        }
        let mean: f64 =
            (0..frame.size()).map(|i| frame.row(i)[i]).sum::<f64>() / frame.size() as f64;
        let longest = 1.0 / mean.max(1e-300);
        let mut t = longest;
        let mut failures = 0;
        for _ in 0..MAX_ROUNDS {
            if self.done(frame, sets, goal) || limits.reached().is_some() {
                return;
            }
            let step = if self.piece(frame, sets, t) {
                self.search(frame, sets, value)
            } else {
                None
            };
            match step {
                Some((a, next)) => {
                    // A step that gains nothing more than rounding will not gain anything later.
                    if next.primal >= value.primal && a > 0.0 {
                        failures += 1;
                    }
                    value = next;
                    if a < 0.3 {
                        t = (0.3 * t).max(1e-3 / frame.lipschitz);
                    } else if a == 1.0 {
                        t = (2.0 * t).min(longest);
                    }
                }
                None => {
                    failures += 1;
                    t = (0.1 * t).max(1e-3 / frame.lipschitz);
                    value = self.first_order(frame, sets, value, 5 + 2 * failures.min(20));
                }
            }
            if failures > 60 {
                return;
            }
        }
    }

    /// D of the best point, lowered by every error: of its own evaluation and of the frame.
    pub(crate) fn certified(&self, frame: &Frame, goal: &Goal) -> Certified {
        Certified::from_frame(self.bound.min(goal.ceiling), self.best_error + frame.error)
    }

    /// What lowers the bound of a child: its selection of atoms may differ from that of D.
    pub(crate) fn child_error(&self, frame: &Frame) -> f64 {
        self.best_error + self.best_step_error + frame.error
    }

    /// R - D of the best points.
    pub(crate) fn open_gap(&self) -> f64 {
        self.best_primal - self.bound
    }

    fn done(&self, frame: &Frame, sets: &Sets, goal: &Goal) -> bool {
        if self.bound - self.best_error - frame.error >= goal.cut {
            return true;
        }
        let non_zero = self.support.iter().filter(|j| self.x[**j] != 0.0).count();
        let model = non_zero <= sets.inside.len() + sets.budget;
        let tolerance = if model { goal.tight } else { goal.tolerance };
        self.open_gap() <= tolerance
    }

    fn start(&mut self, frame: &Frame, sets: &Sets) {
        let d = frame.size();
        self.x.resize(d, 0.0);
        self.u.resize(d, 0.0);
        self.best_u.resize(d, 0.0);
        self.best_x.resize(d, 0.0);
        self.bound = f64::NEG_INFINITY;
        self.best_primal = f64::INFINITY;
        self.best_error = 0.0;
        self.best_step_error = 0.0;
        self.collect(sets);
    }

    fn collect(&mut self, sets: &Sets) {
        let x = &self.x;
        self.support.clear();
        let columns = sets.inside.iter().chain(&sets.free);
        self.support.extend(columns.filter(|j| x[**j] != 0.0));
    }

    /// u, D with its error, R at x.
    fn evaluate(&mut self, frame: &Frame, sets: &Sets) -> Value {
        self.evaluations += 1;
        self.u.copy_from_slice(&frame.c);
        let (mut length, mut product, mut absolute) = (0.0, 0.0, 0.0);
        for j in &self.support {
            kernels::axpy(-self.x[*j], frame.row(*j), &mut self.u);
        }
        for j in &self.support {
            let (x, pull) = (self.x[*j], frame.c[*j] - self.u[*j]);
            length += x.abs();
            product += x * pull;
            absolute += (x * pull).abs();
        }
        let base = frame.c0 - 0.5 * product;
        let u = &self.u;
        let (mut inside, mut slopes) = (0.0, 0.0);
        for j in &sets.inside {
            inside += u[*j] * u[*j];
            slopes += u[*j].abs();
        }
        let squares = sets.free.iter().map(|j| u[*j] * u[*j]);
        let top = top_sum(squares, sets.budget, &mut self.scratch);
        let dual = base - 0.5 * (inside + top);
        if dual > self.bound {
            // Section 10 of the notes: U₁ ≤ Σ_S|u| + √(m top), U₂ = Σ_S u² + top.
            let terms = sets.inside.len() + sets.budget;
            let step = gamma(self.support.len() + 2) * (frame.sizes.0 + frame.sizes.1 * length);
            let first = slopes + (sets.budget as f64 * top).sqrt();
            let error = step * (0.5 * length + first)
                + terms as f64 * step * step
                + gamma(self.support.len() + terms + 8)
                    * (frame.c0.abs() + 0.5 * absolute + 0.5 * (inside + top));
            self.bound = dual;
            self.best_error = error * (1.0 + 1e-6);
            let steepest = frame.sizes.0 + frame.sizes.1 * length;
            self.best_step_error = 2.0 * (step * steepest + step * step) * (1.0 + 1e-6);
            self.best_u.copy_from_slice(u);
        }
        let pull: f64 = self.support.iter().map(|j| u[*j] * self.x[*j]).sum();
        let smooth = base - pull;
        let primal = smooth + self.regular(sets, |x, j| x[j]);
        if primal < self.best_primal {
            self.best_primal = primal;
            self.best_x.copy_from_slice(&self.x);
        }
        Value { smooth, primal }
    }

    /// `½|x_S|² + Ω_m(x_F)` of `at(x, j)`.
    fn regular(&mut self, sets: &Sets, at: impl Fn(&[f64], usize) -> f64) -> f64 {
        let x = &self.x;
        let inside: f64 = sets.inside.iter().map(|j| at(x, *j).powi(2)).sum();
        self.sorted.clear();
        for j in &sets.free {
            let v = at(x, *j);
            if v != 0.0 {
                self.sorted.push(v.abs());
            }
        }
        0.5 * inside + support_norm(&mut self.sorted, sets.budget).0
    }

    /// The piece that a prox step of length t proposes: W = S ∪ J ∪ E into `set`, and the minimiser on it into
    /// `solution`. False when the system cannot be solved.
    fn piece(&mut self, frame: &Frame, sets: &Sets, t: f64) -> bool {
        let m = sets.budget;
        self.target.clear();
        let (x, u) = (&self.x, &self.u);
        self.target
            .extend(sets.free.iter().map(|j| x[*j] + t * u[*j]));
        let piece = self.prox.run(self.target.iter().copied(), m, t);
        self.set.clone_from(&sets.inside);
        self.signs.clear();
        self.signs.resize(sets.inside.len(), 0.0);
        let mut whole = 0;
        for (j, v) in sets.free.iter().zip(&self.target) {
            if v.abs() >= piece.full && *v != 0.0 && whole < m {
                self.set.push(*j);
                self.signs.push(0.0);
                whole += 1;
            }
        }
        let kappa = m - whole;
        if kappa > 0 {
            let mut entering: Vec<(f64, usize, f64)> = Vec::new();
            for (j, v) in sets.free.iter().zip(&self.target) {
                if v.abs() < piece.full && v.abs() > piece.threshold {
                    if x[*j] != 0.0 {
                        self.set.push(*j);
                        self.signs.push(v.signum());
                    } else {
                        entering.push((v.abs(), *j, v.signum()));
                    }
                }
            }
            let most = (m + 1).max(6);
            if entering.len() > most {
                entering.select_nth_unstable_by(most - 1, |a, b| b.0.total_cmp(&a.0));
                entering.truncate(most);
            }
            for (_, j, sign) in entering {
                self.set.push(j);
                self.signs.push(sign);
            }
        }
        for _ in 0..4 {
            if !self.solve_piece(frame, kappa) {
                return false;
            }
            // An entering variable must move the way its gradient points.
            let before = self.set.len();
            let mut keep = 0;
            for at in 0..before {
                let (j, sign) = (self.set[at], self.signs[at]);
                let wrong = sign != 0.0 && self.x[j] == 0.0 && self.solution[at] * sign < 0.0;
                if !wrong {
                    self.set[keep] = j;
                    self.signs[keep] = sign;
                    self.solution[keep] = self.solution[at];
                    keep += 1;
                }
            }
            self.set.truncate(keep);
            self.signs.truncate(keep);
            self.solution.truncate(keep);
            if keep == before {
                return true;
            }
        }
        true
    }

    /// `[G_WW + I_{S∪J} + (1/κ)σσᵀ_E] x = c_W`.
    fn solve_piece(&mut self, frame: &Frame, kappa: usize) -> bool {
        let size = self.set.len();
        let rows = self.factor.start(size);
        let share = if kappa > 0 { 1.0 / kappa as f64 } else { 0.0 };
        for (r, i) in self.set.iter().enumerate() {
            let g = frame.row(*i);
            let sign = self.signs[r];
            for (c, j) in self.set[..=r].iter().enumerate() {
                rows[r * size + c] = g[*j] + share * sign * self.signs[c];
            }
            // Collinear columns of E leave the system singular without a trace of ridge.
            rows[r * size + r] += if sign == 0.0 {
                1.0
            } else {
                1e-13 * (1.0 + g[*i])
            };
        }
        if !self.factor.factor() {
            return false;
        }
        self.solution.clear();
        self.solution.extend(self.set.iter().map(|j| frame.c[*j]));
        self.factor.solve(&mut self.solution);
        self.solution.iter().all(|x| x.is_finite())
    }

    /// The best of a few step lengths towards `solution`, by the true R; `None` when none helps.
    fn search(&mut self, frame: &Frame, sets: &Sets, value: Value) -> Option<(f64, Value)> {
        self.direction.clear();
        for (j, x) in self.set.iter().zip(&self.solution) {
            self.direction.push((*j, x - self.x[*j]));
        }
        for j in &self.support {
            if !self.set.contains(j) {
                self.direction.push((*j, -self.x[*j]));
            }
        }
        let mut slope = 0.0;
        let mut curve = 0.0;
        for (i, d) in &self.direction {
            slope -= self.u[*i] * d;
            let row = frame.row(*i);
            let inner: f64 = self.direction.iter().map(|(j, e)| row[*j] * e).sum();
            curve += d * inner;
        }
        let before = self.x.clone();
        let mut along = vec![0.0; frame.size()];
        self.direction.iter().for_each(|(j, d)| along[*j] = *d);
        let r = |newton: &mut Self, a: f64| {
            let regular = newton.regular(sets, |x, j| x[j] + a * along[j]);
            value.smooth + a * slope + 0.5 * a * a * curve + regular
        };
        let whole = r(self, 1.0);
        let mut best = (1.0, whole);
        let mut crossings: Vec<f64> = self
            .direction
            .iter()
            .filter(|(j, d)| self.x[*j] != 0.0 && self.x[*j] * (self.x[*j] + d) < 0.0)
            .map(|(j, d)| -self.x[*j] / d)
            .collect();
        if !crossings.is_empty() || whole > value.primal {
            crossings.sort_unstable_by(f64::total_cmp);
            let stride = crossings.len().div_ceil(11).max(1);
            let tries = crossings.iter().step_by(stride).copied();
            for a in tries.chain([0.5, 0.2, 0.05, 0.01]) {
                let at = r(self, a);
                if at < best.1 {
                    best = (a, at);
                }
            }
        }
        if best.1 > value.primal + 1e-15 * value.primal.abs() {
            return None;
        }
        let a = best.0;
        for (j, d) in &self.direction {
            self.x[*j] = if a == 1.0 {
                before[*j] + d
            } else {
                before[*j] + a * d
            };
        }
        if a == 1.0 {
            // Exactly the solution, not x + (solution - x).
            for j in &self.support {
                self.x[*j] = 0.0;
            }
            for (j, x) in self.set.iter().zip(&self.solution) {
                self.x[*j] = *x;
            }
        } else {
            for j in self.direction.iter().map(|(j, _)| *j) {
                let crossed = before[j] != 0.0 && self.x[j].abs() <= 1e-14 * before[j].abs();
                if crossed {
                    self.x[j] = 0.0;
                }
            }
        }
        self.collect(sets);
        Some((a, self.evaluate(frame, sets)))
    }

    /// A few accelerated proximal-gradient steps, restarted when R rises.
    fn first_order(&mut self, frame: &Frame, sets: &Sets, value: Value, steps: usize) -> Value {
        let t = 1.0 / frame.lipschitz;
        let mut value = value;
        let mut weight: f64 = 1.0;
        self.momentum.clone_from(&self.x);
        for step in 0..steps {
            // `momentum` holds the point before; x the point at which u was evaluated.
            let before = self.x.clone();
            self.target.clear();
            let (x, u) = (&self.x, &self.u);
            self.target
                .extend(sets.free.iter().map(|j| x[*j] + t * u[*j]));
            let piece = self.prox.run(self.target.iter().copied(), sets.budget, t);
            for j in &sets.inside {
                self.x[*j] = (self.x[*j] + t * self.u[*j]) / (1.0 + t);
            }
            for (j, v) in sets.free.iter().zip(&self.target) {
                self.x[*j] = piece.apply(*v, t);
            }
            let next = 0.5 * (1.0 + (1.0 + 4.0 * weight * weight).sqrt());
            let factor = (weight - 1.0) / next;
            let plain = self.x.clone();
            if step + 1 < steps && factor > 0.0 {
                for j in sets.inside.iter().chain(&sets.free) {
                    self.x[*j] += factor * (plain[*j] - self.momentum[*j]);
                }
            }
            self.momentum = plain;
            self.collect(sets);
            let after = self.evaluate(frame, sets);
            if after.primal > value.primal {
                weight = 1.0;
                if step + 1 == steps {
                    self.x = before;
                    self.collect(sets);
                    value = self.evaluate(frame, sets);
                    break;
                }
            } else {
                weight = next;
            }
            value = after;
        }
        value
    }

    /// Puts the iterate of the best R back into x.
    pub(crate) fn restore_best(&mut self, sets: &Sets) {
        if self.best_primal.is_finite() {
            self.x.copy_from_slice(&self.best_x);
        }
        self.collect(sets);
    }
}

/// `(Ω_m(v), |J|)` for the absolute values of the non-zero entries of v, which are sorted on the way.
pub(crate) fn support_norm(sizes: &mut [f64], m: usize) -> (f64, usize) {
    if sizes.len() <= m {
        return (0.5 * sizes.iter().map(|v| v * v).sum::<f64>(), sizes.len());
    }
    if m == 0 {
        return (f64::INFINITY, 0);
    }
    sizes.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut rest: f64 = sizes.iter().sum();
    let mut whole = 0;
    let mut squares = 0.0;
    while whole + 1 < m && sizes[whole] * ((m - whole) as f64) > rest {
        squares += sizes[whole] * sizes[whole];
        rest -= sizes[whole];
        whole += 1;
    }
    (
        0.5 * squares + rest * rest / (2.0 * (m - whole) as f64),
        whole,
    )
}
