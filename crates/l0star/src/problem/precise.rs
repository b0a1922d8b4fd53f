//! Predictions and objectives in doubled precision: where a column or the response is far from zero compared with what is
//! left of it, plain floats lose as many digits.

use super::Problem;
use crate::linalg::rounding::{Doubled, U, two_sum};

/// P of a model is at most its `objective` times this factor (`docs/numerics.md`, section 11) …
const ABOVE: f64 = 1.0 + 32.0 * U;
/// … and what a residual under a loss with a log link can be off by adds to it.
const RESIDUAL: f64 = 1e-28;

impl Problem {
    /// An upper bound of P of a model with this `objective`, for the rows that moments stand for, too.
    pub(crate) fn value_above(&self, objective: f64) -> f64 {
        let of_residuals = if self.loss.has_log_link() {
            let mass = 1.01 * self.usual_curvature;
            RESIDUAL * ((2.0 * mass * objective).sqrt() + RESIDUAL * mass)
        } else {
            0.0
        };
        (objective + self.moment_error(objective) + of_residuals) * ABOVE
    }

    /// `P(x)` for coefficients of the engine, with predictions and sums in doubled precision, plus a price.
    pub(crate) fn precise_value(&self, x: &[(usize, f64)], price: f64) -> f64 {
        let mut total = Doubled::default();
        let predictions = self.precise_predictions(x);
        if let Some(joint) = self.joint() {
            let (high, low): (Vec<f64>, Vec<f64>) = predictions.unzip();
            total.add(joint.total_near(&high, &low));
        } else {
            for (i, (high, low)) in predictions.enumerate() {
                total.add_product(self.p[i], self.loss.value_near(high, low, self.b[i]));
            }
        }
        for (j, x) in x {
            total.add_product(0.5 * self.ridge[*j] * x, *x);
        }
        total.add(price);
        total.value()
    }

    /// `Ax + o`, each row as two doubles, high and low.
    pub(crate) fn precise_predictions(
        &self,
        x: &[(usize, f64)],
    ) -> impl Iterator<Item = (f64, f64)> + use<> {
        let (mut high, mut low) = (vec![0.0; self.rows()], vec![0.0; self.rows()]);
        if !self.offset.is_empty() {
            high.copy_from_slice(&self.offset);
        }
        self.design.add_doubled(x, &mut high, &mut low);
        high.into_iter()
            .zip(low)
            .map(|(high, low)| two_sum(high, low))
    }
}
