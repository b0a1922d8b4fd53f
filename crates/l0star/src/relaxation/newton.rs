//! Piecewise Newton for the perspective relaxation of a node, over any smooth convex model.
//!
//! All ridges are 1 (columns are scaled). For any point y, `u = -∇f(y)`, `q_i = u_i²/2`:
//!
//! ```text
//! P(x) ≥ D(y) = f(y) + uᵀy - Σ_S q_i - top_m(q_F)      for every x of the node,
//! max_y D = min_x R(x),   R(x) = f(x) + ½|x_S|² + Ω_m(x_F),
//! Ω_m(v) = ½ Σ_J v_i² + (Σ_E |v_i|)²/2κ,   κ = m - |J|.
//! ```
//!
//! On a piece (J, E, signs σ) the regulariser is a quadratic, so that a Newton step is one linear system; a prox step
//! proposes the next piece. A [`Model`] provides f, its rounding, and the certificate of a bound. Where features have
//! prices, `q_i - c_i` replaces `q_i`, and another regulariser replaces Ω ([`priced`]).

mod piece;
pub(super) mod priced;

use super::model::{Goal, Model, Sets};
use super::topk::Prox;
use crate::bound::Certified;
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::select::top_sum;
pub(crate) use priced::whole_from;
use priced::{Level, Pieces, shared_norm};

const MAX_ROUNDS: usize = 200;
/// Factor on the length of a first-order step that led upwards, where no bound of the curvature is known.
const SHORTER: f64 = 0.25;

/// The solver, with its buffers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Newton {
    /// The iterate over the columns, and where it may be non-zero.
    pub x: Vec<f64>,
    support: Vec<usize>,
    u: Vec<f64>,
    /// u at the iterate of the best bound.
    pub best_u: Vec<f64>,
    /// The best D, before its errors are subtracted.
    pub bound: f64,
    certified: Option<Certified>,
    best_primal: f64,
    best_x: Vec<f64>,
    /// The iterate of the best bound.
    bound_x: Vec<f64>,
    factor: Cholesky,
    prox: Prox,
    scratch: Vec<f64>,
    sorted: Vec<f64>,
    set: Vec<usize>,
    signs: Vec<f64>,
    solution: Vec<f64>,
    target: Vec<f64>,
    direction: Vec<(usize, f64)>,
    marks: Vec<bool>,
    crossings: Vec<f64>,
    before: Vec<f64>,
    momentum: Vec<f64>,
    entering: Vec<(f64, usize, f64)>,
}

/// R of an evaluation.
#[derive(Debug, Clone, Copy)]
struct Value {
    primal: f64,
}

impl Newton {
    /// Maximises the bound of a node from the point in `x`. The bound is valid whenever the method stops.
    pub(crate) fn solve(
        &mut self,
        model: &mut dyn Model,
        sets: &Sets,
        goal: &Goal,
        limits: &Limits,
    ) -> Certified {
        self.start(model, sets);
        let mut value = self.evaluate(model, sets);
        if self.support.len() < sets.model_size() && !sets.is_priced() {
            value = self.first_order(model, sets, value, 4, limits);
        }
        let longest = 1.0 / model.mean_curvature().max(1e-300);
        let shortest = |model: &dyn Model| 1e-3 / model.largest_curvature();
        let mut t = longest;
        let mut failures = 0;
        for _ in 0..MAX_ROUNDS {
            if self.done(model, sets, goal) || limits.stop() || failures > 60 {
                break;
            }
            let step = if self.piece(model, sets, t, limits) {
                self.search(model, sets, value)
            } else {
                None
            };
            match step {
                Some((a, next)) => {
                    // A step that gains no more than rounding suggests that later steps will not either.
                    if next.primal >= value.primal {
                        failures += 1;
                    }
                    value = next;
                    if a < 0.3 {
                        t = (0.3 * t).max(shortest(model));
                    } else if a == 1.0 {
                        t = (2.0 * t).min(longest);
                    }
                }
                None => {
                    failures += 1;
                    t = (0.1 * t).max(shortest(model));
                    let steps = 5 + 2 * failures.min(20);
                    value = self.first_order(model, sets, value, steps, limits);
                }
            }
        }
        self.certify(model, sets)
    }

    /// Makes the iterate of the best bound, without the columns that are not in `sets`, the
    /// current one, and evaluates it again.
    pub(crate) fn return_to_bound(&mut self, model: &mut dyn Model, sets: &Sets) -> Certified {
        self.x.fill(0.0);
        for j in sets.columns() {
            self.x[j] = self.bound_x[j];
        }
        self.start(model, sets);
        self.evaluate(model, sets);
        self.certify(model, sets)
    }

    /// Returns the least R found.
    pub(crate) fn primal(&self) -> f64 {
        self.best_primal
    }

    /// Returns R - D of the best points.
    pub(crate) fn open_gap(&self) -> f64 {
        self.best_primal - self.bound
    }

    fn certify(&mut self, model: &mut dyn Model, sets: &Sets) -> Certified {
        match self.certified {
            Some(certified) => certified,
            None => {
                let certified = model.certify(sets);
                self.certified = Some(certified);
                certified
            }
        }
    }

    fn done(&mut self, model: &mut dyn Model, sets: &Sets, goal: &Goal) -> bool {
        if self.bound >= goal.cut && self.certify(model, sets).value() >= goal.cut {
            return true;
        }
        let tolerance = if self.is_model(sets) {
            goal.tight
        } else {
            match goal.share {
                None => goal.tolerance,
                Some((share, reference)) => {
                    let left = share * (reference - self.bound);
                    left.min(goal.tolerance).max(goal.tight)
                }
            }
        };
        self.open_gap() <= tolerance
    }

    /// Whether the iterate is a model, in which no feature has a fractional share.
    fn is_model(&self, sets: &Sets) -> bool {
        if sets.is_priced() {
            return priced::is_whole(sets, &self.x);
        }
        let non_zero = self.support.iter().filter(|j| self.x[**j] != 0.0).count();
        non_zero <= sets.model_size()
    }

    fn start(&mut self, model: &dyn Model, sets: &Sets) {
        let d = model.size();
        self.x.resize(d, 0.0);
        self.u.resize(d, 0.0);
        self.best_u.resize(d, 0.0);
        self.best_x.resize(d, 0.0);
        self.bound_x.resize(d, 0.0);
        self.marks.clear();
        self.marks.resize(d, false);
        self.bound = f64::NEG_INFINITY;
        self.best_primal = f64::INFINITY;
        self.certified = None;
        self.collect(sets);
    }

    fn collect(&mut self, sets: &Sets) {
        let x = &self.x;
        self.support.clear();
        self.support.extend(sets.columns().filter(|j| x[*j] != 0.0));
    }

    /// Evaluates u, D and R at x.
    fn evaluate(&mut self, model: &mut dyn Model, sets: &Sets) -> Value {
        let (smooth, base) = model.evaluate(&self.x, &self.support, sets, &mut self.u);
        let u = &self.u;
        let inside: f64 = sets.inside.iter().map(|j| u[*j] * u[*j]).sum();
        let squares = sets.free.iter().map(|j| u[*j] * u[*j]);
        let top = top_sum(squares, sets.budget, &mut self.scratch);
        let atoms = if sets.is_priced() {
            0.5 * inside + priced::atoms(sets, u, &mut self.scratch)
        } else {
            0.5 * (inside + top)
        };
        let dual = base - atoms;
        if dual > self.bound {
            self.bound = dual;
            self.certified = None;
            self.best_u.copy_from_slice(u);
            self.bound_x.copy_from_slice(&self.x);
            model.keep(&self.x, &self.support, u, sets, dual, top);
        }
        let primal = smooth + self.regular(sets);
        if primal < self.best_primal {
            self.best_primal = primal;
            self.best_x.copy_from_slice(&self.x);
        }
        Value { primal }
    }

    /// Returns `½|x_S|² + Ω_m(x_F)` at x.
    fn regular(&mut self, sets: &Sets) -> f64 {
        let x = &self.x;
        let inside: f64 = sets.inside.iter().map(|j| x[*j] * x[*j]).sum();
        let sizes = sets.free.iter().map(|j| (*j, x[*j].abs()));
        0.5 * inside + shared_norm(sets, sizes, &mut self.sorted)
    }

    /// Returns `½|x_S|² + Ω_m(x_F)` at `x + a d`, where d is the direction. The direction starts with the unpenalised
    /// columns and those of S, and contains every free column that is not zero at x.
    fn regular_along(&mut self, sets: &Sets, a: f64) -> f64 {
        let x = &self.x;
        let at = |(j, d): &(usize, f64)| x[*j] + a * d;
        let unpenalised = sets.unpenalised.len();
        let (inside, free) = self.direction[unpenalised..].split_at(sets.inside.len());
        let inside: f64 = inside.iter().map(|step| at(step).powi(2)).sum();
        let sizes = free.iter().map(|step| (step.0, at(step).abs()));
        0.5 * inside + shared_norm(sets, sizes, &mut self.sorted)
    }

    /// Takes the best of a few step lengths towards `solution`, by the true R; `None` when none helps.
    fn search(&mut self, model: &mut dyn Model, sets: &Sets, value: Value) -> Option<(f64, Value)> {
        self.direction.clear();
        for (j, x) in self.set.iter().zip(&self.solution) {
            self.direction.push((*j, x - self.x[*j]));
        }
        // `marks` is true on the set, for the length of this loop.
        let marks = &mut self.marks;
        self.set.iter().for_each(|j| marks[*j] = true);
        for j in &self.support {
            if !marks[*j] {
                self.direction.push((*j, -self.x[*j]));
            }
        }
        self.set.iter().for_each(|j| marks[*j] = false);
        model.set_direction(&self.u, &self.direction);
        let mut r = |newton: &mut Self, a: f64| model.along(a) + newton.regular_along(sets, a);
        let mut best = (1.0, r(self, 1.0));
        let crosses = |(j, d): &&(usize, f64)| {
            let x = self.x[*j];
            x != 0.0 && x * (x + d) < 0.0
        };
        let mut crossings = std::mem::take(&mut self.crossings);
        crossings.clear();
        let steps = self.direction.iter().filter(crosses);
        crossings.extend(steps.map(|(j, d)| -self.x[*j] / d));
        crossings.sort_unstable_by(f64::total_cmp);
        let stride = crossings.len().div_ceil(11).max(1);
        let whole = crossings.is_empty() && best.1 <= value.primal;
        if !whole {
            let steps = crossings.iter().copied().step_by(stride);
            for a in steps.chain([0.5, 0.2, 0.05, 0.01]) {
                let at = r(self, a);
                if at < best.1 || best.1.is_nan() {
                    best = (a, at);
                }
            }
        }
        self.crossings = crossings;
        let (a, primal) = best;
        if primal.is_nan() || primal > value.primal + 1e-15 * value.primal.abs() {
            return None;
        }
        if a == 1.0 {
            // Exactly the solution, not x + (solution - x).
            self.support.iter().for_each(|j| self.x[*j] = 0.0);
            for (j, x) in self.set.iter().zip(&self.solution) {
                self.x[*j] = *x;
            }
        } else {
            for (j, d) in &self.direction {
                let before = self.x[*j];
                let after = before + a * d;
                // The step may end where this coordinate crosses zero; a remainder from rounding is dropped.
                let crossed = before != 0.0 && after.abs() <= 1e-14 * before.abs();
                self.x[*j] = if crossed { 0.0 } else { after };
            }
        }
        self.collect(sets);
        Some((a, self.evaluate(model, sets)))
    }

    /// Takes a few accelerated proximal-gradient steps, restarted when R rises.
    fn first_order(
        &mut self,
        model: &mut dyn Model,
        sets: &Sets,
        value: Value,
        steps: usize,
        limits: &Limits,
    ) -> Value {
        let mut t = 1.0 / model.largest_curvature();
        let mut value = value;
        let mut weight: f64 = 1.0;
        self.momentum.clone_from(&self.x);
        for step in 0..steps {
            let last = step + 1 == steps || limits.stop();
            self.before.clone_from(&self.x);
            self.target.clear();
            let (x, u) = (&self.x, &self.u);
            self.target
                .extend(sets.free.iter().map(|j| x[*j] + t * u[*j]));
            let pieces = Pieces::new(sets, &self.target, t, &mut self.prox);
            for j in &sets.unpenalised {
                self.x[*j] += t * self.u[*j];
            }
            for j in &sets.inside {
                self.x[*j] = (self.x[*j] + t * self.u[*j]) / (1.0 + t);
            }
            for (j, v) in sets.free.iter().zip(&self.target) {
                self.x[*j] = pieces.of(sets, *j).apply(*v, t);
            }
            let next = 0.5 * (1.0 + (1.0 + 4.0 * weight * weight).sqrt());
            let factor = if last { 0.0 } else { (weight - 1.0) / next };
            // `momentum` holds the previous prox point; x moves on from the new one.
            for j in sets.columns() {
                let plain = self.x[j];
                self.x[j] = plain + factor * (plain - self.momentum[j]);
                self.momentum[j] = plain;
            }
            self.collect(sets);
            let after = self.evaluate(model, sets);
            if after.primal > value.primal {
                weight = 1.0;
                if last || model.is_steep() {
                    t *= SHORTER;
                    self.momentum.clone_from(&self.before);
                    std::mem::swap(&mut self.x, &mut self.before);
                    self.collect(sets);
                    let back = self.evaluate(model, sets);
                    if last {
                        return back;
                    }
                    continue;
                }
            } else {
                weight = next;
            }
            value = after;
            if last {
                break;
            }
        }
        value
    }

    /// Returns how much a unit of lift of each free column adds to the relaxed objective at x:
    /// `½x²(1/z - 1)`, not 0 on E only.
    pub(crate) fn gains(&mut self, sets: &Sets) -> Vec<f64> {
        let x = &self.x;
        let level = Level::new(sets, x, &mut self.sorted);
        let gain = |j: &usize| {
            let x = x[*j].abs();
            0.5 * x * (level.of(sets, *j) - x).max(0.0)
        };
        sets.free.iter().map(gain).collect()
    }

    /// Puts the iterate of the best R back into x.
    pub(crate) fn restore_best(&mut self, sets: &Sets) {
        if self.best_primal.is_finite() {
            self.x.copy_from_slice(&self.best_x);
        }
        self.collect(sets);
    }
}
