//! Standard errors and intervals of the coefficients of a model for its given features, and
//! the refit without the ridge.

use l0star::{Problem, Solution, Undetermined};
use serde::{Deserialize, Serialize};

/// Coverage of the intervals if the features had not been chosen from the data.
pub const LEVEL: f64 = 0.95;
/// The quantile of the normal distribution for this level.
const NORMAL: f64 = 1.959_963_984_540_054;
/// Name of the intercept.
pub const INTERCEPT: &str = "(intercept)";

/// Standard errors and intervals of coefficients, for given features.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inference {
    /// Level of the intervals.
    pub level: f64,
    /// Degrees of freedom of Student's t distribution; absent for the normal distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees_of_freedom: Option<usize>,
    /// One estimate per coefficient, the intercept last; several responses or classes follow one another.
    pub coefficients: Vec<Estimate>,
    /// The reason why there are no estimates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Precision of one coefficient, on the scale of the data; unknown for a coefficient at a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The feature, or [`INTERCEPT`].
    pub feature: String,
    /// The response or class, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// The lower end of its interval.
    pub lower: Option<f64>,
    /// The upper end of its interval.
    pub upper: Option<f64>,
}

impl Inference {
    /// Computes the inference for a solution whose coefficients are with or without the ridge. `outputs`: names
    /// of several responses or classes.
    pub fn of(problem: &Problem, solution: &Solution, outputs: &[String], is_refit: bool) -> Self {
        let errors = match l0star::standard_errors(problem, solution, !is_refit) {
            Ok(errors) => errors,
            Err(reason) => {
                return Self {
                    level: LEVEL,
                    missing: Some(why(reason).to_owned()),
                    ..Self::default()
                };
            }
        };
        let quantile = match errors.freedom {
            Some(freedom) => student(freedom as f64),
            None => NORMAL,
        };
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        let estimate = |feature: &str, output: usize, value: f64, error: Option<f64>| {
            let error = error.and_then(finite);
            let end = |sign: f64| error.and_then(|error| finite(value + sign * quantile * error));
            Estimate {
                feature: feature.to_owned(),
                output: outputs.get(output).cloned(),
                standard_error: error,
                lower: end(-1.0),
                upper: end(1.0),
            }
        };
        let mut coefficients = Vec::new();
        let mut intercepts = solution.intercepts().zip(&errors.intercepts);
        for output in 0..problem.outputs() {
            let own = errors.columns.iter().zip(&errors.errors);
            let own = own.filter(|(j, _)| *j / problem.features() == output);
            coefficients.extend(own.map(|(j, error)| {
                let value = solution.coefficients[*j];
                estimate(&problem.names()[*j], output, value, *error)
            }));
            let intercept = intercepts.next();
            let intercept =
                intercept.map(|(value, error)| estimate(INTERCEPT, output, value, Some(*error)));
            coefficients.extend(intercept);
        }
        Self {
            level: LEVEL,
            degrees_of_freedom: errors.freedom,
            coefficients,
            missing: None,
        }
    }

    /// Returns the estimate of one coefficient; `output` names one of several responses.
    pub fn get(&self, feature: &str, output: Option<&str>) -> Option<&Estimate> {
        let mut own = self.coefficients.iter();
        own.find(|own| own.feature == feature && own.output.as_deref() == output)
    }
}

/// Replaces the coefficients of a solution by those without the ridge, or returns why there are none. Objective
/// and bound remain those of the solved problem.
pub fn refit(problem: &Problem, solution: &Solution) -> Result<Solution, &'static str> {
    let (coefficients, mut intercepts) = l0star::refit(problem, solution).map_err(why)?;
    let more_intercepts = intercepts.split_off(1);
    Ok(Solution {
        coefficients,
        intercept: intercepts[0],
        more_intercepts,
        ..solution.clone()
    })
}

/// Returns the message for coefficients that keep their ridge.
pub fn kept_ridge(reason: &str) -> String {
    format!("the model is not fitted again without the ridge: {reason}")
}

fn why(reason: Undetermined) -> &'static str {
    match reason {
        Undetermined::Dependent => "the chosen features depend on each other",
        Undetermined::Separated => {
            "the chosen features tell the labels apart without an error, so that coefficients would grow without end"
        }
        Undetermined::Endless => {
            "some coefficients would grow without end, as that of an indicator whose rows all have a count of 0, or no event"
        }
        Undetermined::FewRows => "there are no more rows than coefficients",
        Undetermined::NoLikelihood => "the loss is not a likelihood",
    }
}

/// Computes the 0.975 quantile of Student's t distribution.
fn student(freedom: f64) -> f64 {
    let above = |t: f64| 0.5 * incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + t * t));
    let target = 0.5 * (1.0 - LEVEL);
    let (mut low, mut high) = (0.0, 2.0);
    while above(high) > target {
        high *= 2.0;
    }
    // Bisection to about the last bit.
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if above(middle) > target {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Computes the regularised incomplete beta function I_x(a, b) by Lentz's continued fraction (DLMF 8.17.22).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast on this side; the other side is its mirror image.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let log_front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
        + a * libm::log(x)
        + b * libm::log1p(-x);
    let keep = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / keep(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / keep(1.0 + even * d);
        c = keep(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / keep(1.0 + odd * d);
        c = keep(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    libm::exp(log_front) * fraction / a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // R: qt(0.975, c(1, 2, 5, 10, 30, 436, 1e6)).
        for (freedom, expected) in [
            (1.0, 12.706_204_736_174_7),
            (2.0, 4.302_652_729_749_46),
            (5.0, 2.570_581_835_636_31),
            (10.0, 2.228_138_851_964_94),
            (30.0, 2.042_272_456_301_24),
            (1e6, 1.959_966_356_753_4),
        ] {
            let found = student(freedom);
            assert!((found - expected).abs() < 1e-8, "{freedom}: {found}");
        }
    }
}
