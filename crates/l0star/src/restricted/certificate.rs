//! The certificate of the support fitted last, and its objective in doubled precision.

use super::Restricted;
use crate::bound::{Certified, joint_leaf_bound, leaf_bound};

/// Relative distance to the objective within which a certificate needs no more precision.
const PRECISE: f64 = 1e-11;

impl Restricted<'_> {
    /// Returns a certified lower bound of P plus prices over the support fitted last. Its subsets may cost less.
    ///
    /// The slopes at the float x give the bound. Where the fit is so close that they are mostly rounding (`z - b` far
    /// smaller than `b`), a Newton step from x gives better ones. It is taken in doubled precision and never rounded
    /// into x.
    pub fn certify(&mut self) -> Certified {
        let problem = self.problem;
        let penalised = self.columns.len() - problem.unpenalised.columns().len();
        let mut bound = self.bound(penalised, false);
        for _ in 0..2 {
            if penalised == 0 || self.objective - bound.value() <= PRECISE * self.objective {
                break;
            }
            self.refine_slopes();
            bound = bound.tighter(self.bound(penalised, true));
        }
        bound.plus(self.cost, self.priced)
    }

    /// Returns the bound at the current slopes, or at the predictions where the loss couples rows. `has_rests`: see
    /// [`leaf_bound`].
    fn bound(&mut self, penalised: usize, has_rests: bool) -> Certified {
        let (problem, included) = (self.problem, &self.columns[..penalised]);
        if let Some(joint) = problem.joint() {
            return joint_leaf_bound(problem, joint, &self.z, included);
        }
        problem.unpenalised.repair(problem, &mut self.alpha);
        leaf_bound(problem, &self.alpha, included, has_rests)
    }

    /// Returns the objective of the model fitted last, with predictions and sums in doubled precision.
    pub fn precise_objective(&self) -> f64 {
        self.precise_objective_at(self.cost)
    }

    /// Returns [`Restricted::precise_objective`] for a model whose features cost this much.
    pub(crate) fn precise_objective_at(&self, cost: f64) -> f64 {
        let x: Vec<(usize, f64)> = self.model().collect();
        self.problem.precise_value(&x, cost)
    }

    /// Computes `α = l'(z) + l''(z) (z_low - (A H⁻¹ g)_i)` with z and g in doubled precision. Where the loss couples
    /// rows, z itself takes the step.
    fn refine_slopes(&mut self) {
        let (problem, loss) = (self.problem, &*self.problem.loss);
        let x: Vec<(usize, f64)> = self.model().collect();
        let predictions = problem.precise_predictions(&x);
        if let Some(joint) = problem.joint() {
            for (i, (high, _)) in predictions.enumerate() {
                self.z[i] = high;
            }
            joint.gradient(&self.z, &mut self.beta);
        } else {
            for (i, (high, low)) in predictions.enumerate() {
                self.z[i] = high;
                self.curvature[i] = loss.curvature(high, problem.b[i]);
                self.alpha[i] = loss.slope(high, problem.b[i]) + self.curvature[i] * low;
            }
            problem.weigh(&self.alpha, &mut self.beta);
        }
        for (c, j) in self.columns.iter().enumerate() {
            let mut g = problem.design.doubled_dot(*j, &self.beta);
            g.add_product(problem.ridge[*j], self.x[c]);
            self.direction[c] = g.value();
        }
        if problem.is_boxed() {
            self.keep_to_face();
        } else {
            self.factor.solve(&mut self.direction);
        }
        self.dz.fill(0.0);
        let back = self.columns.iter().zip(&self.direction);
        let back = back.map(|(j, d)| (*j, -d));
        problem.design.add_columns(back, &mut self.dz);
        if problem.joint().is_some() {
            self.z.iter_mut().zip(&self.dz).for_each(|(z, d)| *z += d);
            return;
        }
        for i in 0..problem.rows() {
            self.alpha[i] += self.curvature[i] * self.dz[i];
        }
        loss.clip(&mut self.alpha, &problem.b);
    }
}
