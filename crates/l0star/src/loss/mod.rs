//! Losses: how far a prediction `z` is from a response `b`.
//!
//! `L(z) = Σ p_i l(z_i, b_i)` with weights `p_i`. A loss is a handful of scalar functions; the sums over rows are
//! provided methods, compiled once per loss, so that the call through `dyn Loss` is paid once per vector.
//! `docs/add-a-loss.md` walks through [`SquaredHinge`] as an example.
//!
//! A loss that couples rows, such as [`Cox`], is a function of all of them: [`Loss::bind`] combines it with the rows
//! of a problem into a [`Joint`].

mod cox;
mod exponential;
mod huber;
mod joint;
mod likelihood;
mod logistic;
mod multinomial;
mod quadratic;
mod squared_hinge;

pub use cox::{Cox, Ties};
pub use exponential::{Gamma, Poisson};
pub use huber::Huber;
pub use joint::{DualValue, HazardStep, Hessian, Joint};
pub(crate) use likelihood::gamma_deviance;
pub use logistic::Logistic;
pub use multinomial::Multinomial;
pub use quadratic::Quadratic;
pub use squared_hinge::SquaredHinge;

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::{Error, Result};

/// Kind of responses that a loss takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseKind {
    /// Any finite number; the loss is `h(z - b)` with `h` even and convex.
    Real,
    /// A label −1 or 1; the loss is `h(bz)` with `h` convex and non-increasing.
    Label,
    /// A finite number ≥ 0, whole or not; the prediction is the logarithm of its expectation.
    Count,
    /// A finite number > 0; the prediction is the logarithm of its expectation.
    Positive,
    /// A finite number ≥ 0, the time of an event or of the last observation; the prediction is the logarithm of a hazard.
    Time,
    /// The number of a class, from 0; a row has a score for each class.
    Class,
}

impl ResponseKind {
    /// Whether responses are plain numbers rather than labels or classes.
    pub fn is_numeric(self) -> bool {
        !matches!(self, Self::Label | Self::Class)
    }
}

/// The rows that a loss is bound to.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Responses of all given rows.
    pub all: &'a [f64],
    /// Whether each of these rows has a positive weight.
    pub keep: &'a [bool],
    /// Responses of the rows with a positive weight …
    pub kept: &'a [f64],
    /// … and the weights of these rows, as shares.
    pub p: &'a [f64],
}

/// A convex loss `l(z, b)`, differentiable in `z`.
///
/// The slope `α = l'(z)` is the dual variable of a row. Everything must be free of overflow for finite arguments
/// (a result may be infinite only where the mathematics says so).
pub trait Loss: Debug + Send + Sync {
    /// Name of the loss: `quadratic`, `huber`, …
    fn name(&self) -> &'static str;

    /// Kind of responses of the loss.
    fn response(&self) -> ResponseKind;

    /// Binds a loss that couples rows to all rows of a problem; `None` for a sum over rows. If the loss can be bound,
    /// its functions of single rows are not called.
    fn bind(&self, _rows: &Rows) -> Result<Option<Arc<dyn Joint>>> {
        Ok(None)
    }

    /// Restricts the loss to some of the rows, given by their numbers, if it holds data about rows beyond their
    /// responses; `None` if it serves any rows.
    fn of_rows(&self, _rows: &[usize]) -> Option<Arc<dyn Loss>> {
        None
    }

    /// Number of classes, if a row has a score for each class. Such a loss couples all scores; those of class c are
    /// the c-th part.
    fn classes(&self) -> Option<usize> {
        None
    }

    /// Whether a constant added to all predictions changes nothing, so that no intercept is possible.
    fn is_relative(&self) -> bool {
        false
    }

    /// `l(z, b)`.
    fn value(&self, z: f64, b: f64) -> f64;

    /// `l'(z, b)`, the derivative in `z`; it lies in [`Loss::domain`].
    fn slope(&self, z: f64, b: f64) -> f64;

    /// `l''(z, b)` (any element of the generalised second derivative where it jumps), ≥ 0.
    fn curvature(&self, z: f64, b: f64) -> f64;

    /// The smallest `s` with `l'' ≤ s` everywhere: `l` is `s`-smooth and `l*` is `1/s`-strongly convex. It is infinite
    /// if there is no such bound; [`Loss::usual_curvature`] and [`Loss::most_curvature`] then serve instead.
    fn smoothness(&self) -> f64;

    /// Typical curvature for these rows, finite and > 0: for scores, and for steps, which are checked.
    fn usual_curvature(&self, _p: &[f64], _b: &[f64]) -> f64 {
        self.smoothness()
    }

    /// The largest `l''` on `[low, high]`, rounded up.
    fn most_curvature(&self, _low: f64, _high: f64, _b: f64) -> f64 {
        self.smoothness()
    }

    /// Curvature of a parabola that touches l at z and lies above it everywhere. Only step lengths depend on it.
    fn covering_curvature(&self, _z: f64, _b: f64) -> f64 {
        self.smoothness()
    }

    /// The closed interval of slopes on which the conjugate is finite.
    fn domain(&self, b: f64) -> (f64, f64);

    /// The conjugate `l*(α, b) = sup_z αz - l(z, b)` for `α` in [`Loss::domain`], as a sum of two terms.
    ///
    /// Certified bounds rely on no term being computed more than 8 units in the last place below its exact value. The
    /// terms are returned separately so that a sum over rows can bound its own rounding by the sum of absolute values.
    fn conjugate_terms(&self, alpha: f64, b: f64) -> (f64, f64);

    /// What the second of [`Loss::conjugate_terms`] lost to rounding, if that is known: together they are within
    /// `1e-26 (|α| + |second|)` of the exact term.
    ///
    /// Where slopes are tiny beside responses, second terms are large and cancel in the sum over rows. `None`, the
    /// default, promises nothing more than [`Loss::conjugate_terms`] does.
    fn conjugate_rest(&self, _alpha: f64, _b: f64) -> Option<f64> {
        None
    }

    /// A `z` with `l'(z, b) = α`, the derivative of the conjugate; clipped to a finite value at the ends of the domain.
    fn conjugate_slope(&self, alpha: f64, b: f64) -> f64;

    /// `prox_{t l}(z) = argmin_y t l(y, b) + (y - z)²/2`, `t > 0`.
    fn prox(&self, z: f64, b: f64, t: f64) -> f64;

    /// How far a residual (real responses) or a wrong-side margin (labels) can be when the loss is at most `v`:
    /// `h(r) ≤ v ⇒ |r| ≤ reach(v)`, or `h(bz) ≤ v ⇒ bz ≥ -reach(v)`. An upper bound of it suffices. For other responses
    /// `l ≤ mv ⇒ |z - c| ≤ reach(v)` with `(m, c)` the [`Loss::anchor`].
    ///
    /// It bounds the intercept of every model that is better than the null model.
    fn reach(&self, v: f64) -> f64;

    /// `(m, c)`: how strongly a row determines its prediction, and which prediction is best for it.
    fn anchor(&self, b: f64) -> (f64, f64) {
        (1.0, b)
    }

    /// The constant that minimises the loss when it is added to the offsets, if a formula gives it; `offset` may be empty.
    ///
    /// With an intercept, the model of this constant is the null model, and fits start there.
    fn best_constant(&self, _p: &[f64], _b: &[f64], _offset: &[f64]) -> Option<f64> {
        None
    }

    /// `(v, a)` if the rounding of [`Loss::value`] and [`Loss::slope`] is not relative to their own size: it is at
    /// most 16u of `l + v` and of `|l'| + a`.
    fn noise(&self, _z: f64, _b: f64) -> Option<(f64, f64)> {
        None
    }

    /// Whether [`Loss::least_curvature`] is ever above 0.
    fn can_lift(&self) -> bool {
        false
    }

    /// Smallest `l''` on `[low, high]`, rounded down; 0 carries no information.
    ///
    /// Together with [`Loss::secant`] it determines how far the ridge can be lifted where every better model lies.
    fn least_curvature(&self, _low: f64, _high: f64, _b: f64) -> f64 {
        0.0
    }

    /// A lower bound of `(l(z + t, b) - l(z, b) - l'(z, b) t)/t²` over `0 < |t| ≤ radius`, rounded down.
    fn secant(&self, z: f64, b: f64, radius: f64) -> f64 {
        0.5 * self.least_curvature(z - radius, z + radius, b)
    }

    /// Lower bound of [`Loss::secant`] for every centre within `error` of z.
    fn secant_near(&self, z: f64, b: f64, radius: f64, error: f64) -> f64 {
        let way = radius + error;
        0.5 * self.least_curvature(z - way, z + way, b)
    }

    /// A parabola above the conjugate: `(w, low, high)` with `w ≥ 0`, `low ≤ 0 ≤ high`, such that for the z with `l'(z, b) = α`
    /// and every t from `low` to `high`
    ///
    /// ```text
    /// l*(α + wt, b) ≤ l*(α, b) + z wt + ½ w t²
    /// ```
    ///
    /// with α + wt in the domain. This holds for every slope within a relative 1e-14 of α. `w = 0` carries no information.
    fn parabola(&self, _alpha: f64, _b: f64) -> (f64, f64, f64) {
        (0.0, f64::NEG_INFINITY, f64::INFINITY)
    }

    /// [`Loss::parabola`] of each row, its curvature times p.
    fn parabolas(&self, p: &[f64], alpha: &[f64], b: &[f64], out: &mut [[f64; 3]]) {
        for (((out, p), alpha), b) in out.iter_mut().zip(p).zip(alpha).zip(b) {
            let (w, low, high) = self.parabola(*alpha, *b);
            *out = [p * w, low, high];
        }
    }

    /// Distance from a point beyond which almost none of its curvature is guaranteed: no lift is tried beyond it.
    fn span(&self) -> f64 {
        3.0
    }

    /// δ of Huber's loss, which can be chosen from the data; `None` for other losses.
    fn huber_delta(&self) -> Option<f64> {
        None
    }

    /// Largest residual up to which the loss is `(z - b)²/2`, if it is not quadratic everywhere. Rows that are proved
    /// to stay within it can join a Gram matrix.
    fn quadratic_within(&self) -> Option<f64> {
        None
    }

    /// Whether the loss is a likelihood, or stands in for one, as information criteria require.
    fn is_likelihood(&self) -> bool {
        false
    }

    /// Whether a score is the log-odds of the positive label, so that probabilities can be computed.
    fn has_log_odds(&self) -> bool {
        false
    }

    /// Whether a prediction is the logarithm of the expected response, so that `exp` gives the response.
    fn has_log_link(&self) -> bool {
        false
    }

    /// Whether a prediction is the logarithm of a hazard, so that there are survival curves.
    fn has_hazards(&self) -> bool {
        false
    }

    /// Describes the loss of one row in words, for explanations: "half the squared residual".
    fn formula(&self) -> String {
        format!("the loss '{}'", self.name())
    }

    /// Whether `l` is a quadratic function of `z`, so that a factorisation solves restricted problems exactly.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// `l*(α, b)`, +∞ outside the domain.
    fn conjugate(&self, alpha: f64, b: f64) -> f64 {
        let (low, high) = self.domain(b);
        if !(low..=high).contains(&alpha) {
            return f64::INFINITY;
        }
        let (first, second) = self.conjugate_terms(alpha, b);
        first + second
    }

    /// `prox_{t l*}(v)`, always inside the domain.
    ///
    /// Moreau: `prox_{t l*}(v) = v - t y` with `y = prox_{l/t}(v/t)`. By the optimality of `y` this is `l'(y)`: the
    /// same number without the cancellation.
    fn prox_conjugate(&self, v: f64, b: f64, t: f64) -> f64 {
        self.slope(self.prox(v / t, b, 1.0 / t), b)
    }

    /// `l(high + low, b)` for a prediction in two doubles, `|low|` at most half a unit in the last place of `high`.
    fn value_near(&self, high: f64, low: f64, b: f64) -> f64 {
        let change = self.slope(high, b) + 0.5 * self.curvature(high, b) * low;
        self.value(high, b) + change * low
    }

    /// `Σ p_i l(z_i, b_i)`, with an error of at most `γ_{n+24}` of it and of the [`Loss::noises`].
    fn total(&self, p: &[f64], z: &[f64], b: &[f64]) -> f64 {
        p.iter()
            .zip(z)
            .zip(b)
            .map(|((p, z), b)| p * self.value(*z, *b))
            .sum()
    }

    /// Totals of [`Loss::noise`] over all rows: `Σ p_i v_i` and `√(Σ (p_i a_i)²)`.
    fn noises(&self, p: &[f64], z: &[f64], b: &[f64]) -> (f64, f64) {
        let (mut values, mut squares) = (0.0, 0.0);
        for ((p, z), b) in p.iter().zip(z).zip(b) {
            let Some((value, slope)) = self.noise(*z, *b) else {
                return (0.0, 0.0);
            };
            values += p * value;
            squares += (p * slope) * (p * slope);
        }
        (values, squares.sqrt())
    }

    /// `slopes_i = l'(z_i, b_i)`.
    fn slopes(&self, z: &[f64], b: &[f64], slopes: &mut [f64]) {
        for ((slope, z), b) in slopes.iter_mut().zip(z).zip(b) {
            *slope = self.slope(*z, *b);
        }
    }

    /// `out_i = p_i l''(z_i, b_i)`.
    fn weighted_curvatures(&self, p: &[f64], z: &[f64], b: &[f64], out: &mut [f64]) {
        for (((out, p), z), b) in out.iter_mut().zip(p).zip(z).zip(b) {
            *out = p * self.curvature(*z, *b);
        }
    }

    /// [`Loss::covering_curvature`] of each row, times p.
    fn covering_curvatures(&self, p: &[f64], z: &[f64], b: &[f64], out: &mut [f64]) {
        for (((out, p), z), b) in out.iter_mut().zip(p).zip(z).zip(b) {
            *out = p * self.covering_curvature(*z, *b);
        }
    }

    /// The derivative of `P` along a line: `Σ p_i l'(z_i + a dz_i, b_i) dz_i`.
    fn slope_along(&self, p: &[f64], z: &[f64], dz: &[f64], a: f64, b: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (((p, z), dz), b) in p.iter().zip(z).zip(dz).zip(b) {
            sum += p * self.slope(a.mul_add(*dz, *z), *b) * dz;
        }
        sum
    }

    /// The step of the dual variable in PDAL: `α_i = prox_{t_i l*}(w_i / p_i)` with `t_i = τ / p_i`, that is
    /// `p_i α_i` is the i-th entry of `prox_{τ L*}(w)`.
    fn prox_conjugate_rows(&self, w: &[f64], p: &[f64], b: &[f64], tau: f64, alpha: &mut [f64]) {
        for (((alpha, w), p), b) in alpha.iter_mut().zip(w).zip(p).zip(b) {
            *alpha = self.prox_conjugate(w / p, *b, tau / p);
        }
    }

    /// `(Σ p_i (l*(α_i, b_i) - α_i o_i), Σ p_i |terms|)`: the dual value and the total size of its terms.
    ///
    /// `offset` may be empty (no offset). The result is (+∞, +∞) if a slope is outside its domain.
    fn dual_total(&self, p: &[f64], alpha: &[f64], b: &[f64], offset: &[f64]) -> (f64, f64) {
        let (mut sum, mut size) = (0.0, 0.0);
        for (i, ((p, alpha), b)) in p.iter().zip(alpha).zip(b).enumerate() {
            let (low, high) = self.domain(*b);
            if !(low..=high).contains(alpha) {
                return (f64::INFINITY, f64::INFINITY);
            }
            let (first, second) = self.conjugate_terms(*alpha, *b);
            let shift = offset.get(i).map_or(0.0, |o| alpha * o);
            sum += p * (first + second - shift);
            size += p * (first.abs() + second.abs() + shift.abs());
        }
        (sum, size)
    }

    /// Clips every slope to its domain.
    fn clip(&self, alpha: &mut [f64], b: &[f64]) {
        for (alpha, b) in alpha.iter_mut().zip(b) {
            let (low, high) = self.domain(*b);
            *alpha = alpha.clamp(low, high);
        }
    }
}

/// Names that [`by_name`] accepts for losses that add up over rows.
pub const NAMES: &[&str] = &[
    "quadratic",
    "huber",
    "logistic",
    "poisson",
    "gamma",
    "squared-hinge",
];

/// Names that [`by_name`] accepts for losses that couple rows.
pub const JOINT_NAMES: &[&str] = &[Cox::NAME];

/// Names that [`by_name`] accepts for losses of several classes.
pub const CLASS_NAMES: &[&str] = &[Multinomial::NAME];

/// Returns the loss with this name; `huber_delta` only matters to `huber`.
///
/// A loss of [`JOINT_NAMES`] has no data about rows, and one of [`CLASS_NAMES`] has two classes: they only serve to
/// tell what such a loss can do.
pub fn by_name(name: &str, huber_delta: f64) -> Result<Arc<dyn Loss>> {
    Ok(match name {
        "quadratic" => Arc::new(Quadratic),
        "huber" => Arc::new(Huber::new(huber_delta)?),
        "logistic" => Arc::new(Logistic),
        "poisson" => Arc::new(Poisson::default()),
        "gamma" => Arc::new(Gamma::default()),
        "squared-hinge" => Arc::new(SquaredHinge),
        Cox::NAME => Arc::new(Cox::new(Vec::new())),
        Multinomial::NAME => Arc::new(Multinomial::new(2)),
        _ => {
            return Err(Error::Unknown {
                what: "loss",
                value: name.to_owned(),
                allowed: [NAMES, JOINT_NAMES, CLASS_NAMES].concat().join(", "),
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_the_losses_that_carry_them() {
        for name in [NAMES, JOINT_NAMES, CLASS_NAMES].concat() {
            assert_eq!(by_name(name, 1.0).unwrap().name(), name);
        }
        assert_eq!(Huber::new(2.5).unwrap().delta(), 2.5);
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_names_that_exist() {
        let message = by_name("cubic", 1.0).unwrap_err().to_string();
        assert!(message.contains("loss 'cubic'"), "{message}");
        for name in NAMES {
            assert!(message.contains(name), "{message}");
        }
    }

    #[test]
    fn a_huber_delta_that_is_no_positive_number_is_refused() {
        for delta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let message = by_name("huber", delta).unwrap_err().to_string();
            assert!(message.contains("huber_delta"), "{message}");
            assert!(message.contains(&delta.to_string()), "{message}");
            // The other losses ignore it.
            assert!(by_name("logistic", delta).is_ok());
        }
    }
}
