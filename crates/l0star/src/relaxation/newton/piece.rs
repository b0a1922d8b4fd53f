//! The pieces of Newton's method: the whole columns, the shared columns, and the minimiser there.

use super::Newton;
use super::priced::{Pieces, whole_from};
use crate::limits::Limits;
use crate::relaxation::model::{Model, Sets};

impl Newton {
    /// Finds the piece that a prox step of length t proposes: W = S ∪ J ∪ E in `set`, and the minimiser on it in
    /// `solution`. Returns false when the system cannot be solved.
    pub(super) fn piece(
        &mut self,
        model: &mut dyn Model,
        sets: &Sets,
        t: f64,
        limits: &Limits,
    ) -> bool {
        let m = sets.budget;
        self.target.clear();
        let (x, u) = (&self.x, &self.u);
        self.target
            .extend(sets.free.iter().map(|j| x[*j] + t * u[*j]));
        let pieces = Pieces::new(sets, &self.target, t, &mut self.prox);
        // With prices of their own, features do not share the budget.
        let most = if pieces.is_shared() { m } else { usize::MAX };
        self.set.clone_from(&sets.unpenalised);
        self.set.extend_from_slice(&sets.inside);
        self.signs.clear();
        self.signs.resize(self.set.len(), 0.0);
        let mut whole = 0;
        for (j, v) in sets.free.iter().zip(&self.target) {
            if v.abs() >= pieces.of(sets, *j).full && *v != 0.0 && whole < most {
                self.set.push(*j);
                self.signs.push(0.0);
                whole += 1;
            }
        }
        let kappa = pieces.is_shared().then(|| m - whole);
        if kappa != Some(0) {
            let entering = &mut self.entering;
            entering.clear();
            for (j, v) in sets.free.iter().zip(&self.target) {
                let piece = pieces.of(sets, *j);
                if v.abs() < piece.full && v.abs() > piece.threshold {
                    if x[*j] != 0.0 {
                        self.set.push(*j);
                        self.signs.push(v.signum());
                    } else {
                        entering.push((v.abs(), *j, v.signum()));
                    }
                }
            }
            let likely = if pieces.is_shared() { m } else { whole };
            let most = (likely + 1).max(6);
            if entering.len() > most {
                entering.select_nth_unstable_by(most - 1, |a, b| b.0.total_cmp(&a.0));
                entering.truncate(most);
            }
            for (_, j, sign) in &*entering {
                self.set.push(*j);
                self.signs.push(*sign);
            }
        }
        for _ in 0..4 {
            if limits.stop() || !self.solve_piece(model, sets, kappa, limits) {
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

    /// Solves `[B_WW + I_{S∪J} + (1/κ)σσᵀ_E] x⁺ = u_W + B_W,: x`, `B = ∇²f(x)`. The first columns of W,
    /// which are unpenalised, have no ridge. Without κ each column of E has a price, and `θσ` on the
    /// right side replaces `(1/κ)σσᵀ`.
    fn solve_piece(
        &mut self,
        model: &mut dyn Model,
        sets: &Sets,
        kappa: Option<usize>,
        limits: &Limits,
    ) -> bool {
        let unpenalised = sets.unpenalised.len();
        let size = self.set.len();
        let rows = self.factor.start(size);
        model.hessian(&self.set, rows);
        let share = kappa.filter(|kappa| *kappa > 0);
        let share = share.map(|kappa| 1.0 / kappa as f64);
        for r in 0..size {
            let sign = self.signs[r];
            if let Some(share) = share.filter(|_| sign != 0.0) {
                for c in 0..=r {
                    rows[r * size + c] += share * sign * self.signs[c];
                }
            }
            // Collinear columns of E (or an unpenalised one without curvature) need a trace of ridge to be solvable.
            let ridged = sign == 0.0 && r >= unpenalised;
            let diagonal = &mut rows[r * size + r];
            *diagonal += if ridged {
                1.0
            } else {
                1e-13 * (1.0 + *diagonal)
            };
        }
        if !self.factor.factor_unless(&|| limits.stop()) {
            return false;
        }
        self.solution.clear();
        model.right_side(&self.u, &self.set, &mut self.solution);
        if kappa.is_none() {
            let each = self.set.iter().zip(&self.signs);
            for (out, (j, sign)) in self.solution.iter_mut().zip(each) {
                *out -= sign * whole_from(sets.costs[*j]);
            }
        }
        self.factor.solve(&mut self.solution);
        self.solution.iter().all(|x| x.is_finite())
    }
}
