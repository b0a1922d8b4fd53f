//! Huber's δ from the data: 1.345 times a robust scale of the residuals of a first robust fit.
//!
//! A δ in units of the response is only as good as a guess of the noise. 1.345 standard deviations of normal noise keep 95 %
//! of the efficiency of least squares (Huber), and the median absolute deviation measures that scale whatever a minority of
//! the rows does. The first fit has a few features, chosen greedily, so that signal does not pass for noise. It depends on
//! the data alone, not on k, the ridge or `standardize`: fits of all sizes share one δ.

use std::sync::Arc;

use crate::error::Result;
use crate::heuristic;
use crate::loss::{self, Huber, Loss, Quadratic};
use crate::problem::{Builder, Problem};
use crate::restricted::Restricted;
use crate::search::Context;
use crate::settings::{Mechanisms, Settings};

/// Point at which Huber's loss turns linear, in standard deviations of the noise.
const TUNING: f64 = 1.345;
/// The median absolute deviation of a standard normal variable …
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;
/// … and its mean absolute deviation.
const NORMAL_MEAN: f64 = 0.797_884_560_802_865_4;
/// The first fit has at most this many features, and at most one for every ten rows.
const MOST_FEATURES: usize = 10;
const ROWS_PER_FEATURE: usize = 10;
/// Lower limit on δ, as a share of its value without features: data without noise leave residuals that say nothing.
const LEAST_SHARE: f64 = 1e-4;

/// Returns the loss of this name for the data of a builder. Without a given δ, Huber's loss uses [`huber_delta`].
///
/// ```
/// use l0star::{Design, Problem};
///
/// let design = Design::dense(5, 1, vec![1.0, 2.0, 3.0, 4.0, 5.0])?;
/// let builder = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9, 25.0]).intercept(true);
/// let loss = l0star::loss_for(&builder, "huber", None)?;
/// assert!(loss.huber_delta().is_some_and(|delta| delta < 5.0));
/// let problem = builder.loss(loss).k(1).build()?;
/// # Ok::<(), l0star::Error>(())
/// ```
pub fn loss_for(builder: &Builder, name: &str, delta: Option<f64>) -> Result<Arc<dyn Loss>> {
    let given = loss::by_name(name, delta.unwrap_or(1.0))?;
    if delta.is_none() && given.huber_delta().is_some() {
        return loss::by_name(name, huber_delta(builder)?);
    }
    Ok(given)
}

/// Huber's δ from the data: 1.345 times a robust scale (the median absolute deviation) of the residuals of a first
/// robust fit.
///
/// Multiplying the response (and the offset) by a number multiplies the result by it. Everything else that the builder
/// was given counts, weights and constraints included, except its loss, k, ridge, price and `standardize`.
pub fn huber_delta(builder: &Builder) -> Result<f64> {
    let builder = builder.clone().standardize(true).ridge(1e-3);
    let builder = builder.l0_penalty(0.0);
    // Any k will do: the number of rows that count is only known below.
    let null = builder
        .clone()
        .loss(Arc::new(Quadratic))
        .k(usize::MAX)
        .build()?;
    let origin = null.offset.iter().copied().chain(std::iter::repeat(0.0));
    let residuals: Vec<f64> = null.b.iter().zip(origin).map(|(b, o)| b - o).collect();
    let Some(widest) = scale(&residuals, &null.p) else {
        // The response is 0 in every row: whatever δ is, the best model is 0.
        return Ok(1.0);
    };
    let few = (null.rows() / ROWS_PER_FEATURE).clamp(1, MOST_FEATURES);
    let k = null.included().len() + few;
    let least = LEAST_SHARE * widest;
    let mut delta = TUNING * widest;
    let mut support = None;
    for _ in 0..2 {
        let loss = Arc::new(Huber::new(delta)?);
        let problem = builder.clone().loss(loss).k(k).build()?;
        // Both rounds use the features chosen with the first, wider δ.
        let features = support.get_or_insert_with(|| greedy(&problem));
        let fit = Restricted::new(&problem).fit(features);
        let mut predictions = vec![0.0; problem.rows()];
        problem.predict_into(&fit.x, &mut predictions);
        let residuals = problem.b.iter().zip(&predictions).map(|(b, z)| b - z);
        let found = scale(&residuals.collect::<Vec<_>>(), &problem.p).unwrap_or(0.0);
        delta = TUNING * found.max(least);
    }
    Ok(delta)
}

/// Returns the features that greedy steps choose.
fn greedy(problem: &Problem) -> Vec<usize> {
    let mechanisms = Mechanisms {
        swaps: false,
        ..Mechanisms::default()
    };
    let settings = Settings {
        mechanisms,
        ..Settings::default()
    };
    let mut context = Context::new(problem, &settings);
    heuristic::first_incumbent(&mut context);
    context
        .incumbents
        .first()
        .map_or_else(Vec::new, |known| known.support)
}

/// Estimates the standard deviation of normal noise from the weighted median absolute deviation of the values.
///
/// Where that is 0, because more than half of the weight agrees, the mean absolute deviation is used; where that is 0
/// too, the mean absolute value.
fn scale(values: &[f64], weights: &[f64]) -> Option<f64> {
    let centre = median(values, weights);
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    let total: f64 = weights.iter().sum();
    let mean = |sizes: &mut dyn Iterator<Item = f64>| {
        sizes.zip(weights).map(|(size, w)| size * w).sum::<f64>() / total / NORMAL_MEAN
    };
    let found = [
        median(&deviations, weights) / NORMAL_MEDIAN,
        mean(&mut deviations.iter().copied()),
        mean(&mut values.iter().map(|v| v.abs())),
    ];
    found.into_iter().find(|scale| *scale > 0.0)
}

/// Weighted median; where half of the weight lies exactly between two values, their mean.
fn median(values: &[f64], weights: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|i, j| values[*i].total_cmp(&values[*j]));
    let half = 0.5 * weights.iter().sum::<f64>();
    let mut below = 0.0;
    for (at, i) in order.iter().enumerate() {
        below += weights[*i];
        // Equal weights add up to half of their sum only up to rounding.
        if (below - half).abs() <= 1e-12 * half
            && let Some(next) = order.get(at + 1)
        {
            return 0.5 * values[*i] + 0.5 * values[*next];
        }
        if below > half {
            return values[*i];
        }
    }
    order.last().map_or(0.0, |i| values[*i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_those_of_the_weights() {
        assert_eq!(median(&[3.0, 1.0, 2.0], &[1.0; 3]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 8.0], &[0.25; 4]), 3.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 8.0], &[0.1, 0.1, 0.1, 0.7]), 8.0);
        let tenths = vec![0.1; 10];
        let values: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(median(&values, &tenths), 4.5);
    }

    #[test]
    fn a_scale_is_found_wherever_there_is_one() {
        let normal = [
            -1.5,
            -0.674_489_750_196_081_7,
            0.0,
            0.674_489_750_196_081_7,
            9.0,
        ];
        assert_eq!(scale(&normal, &[0.2; 5]), Some(1.0));
        // More than half of the values agree.
        assert!(scale(&[1.0, 1.0, 1.0, 5.0], &[0.25; 4]).is_some_and(|found| found > 0.0));
        // All of them do, and are not 0.
        assert!(scale(&[2.0; 3], &[1.0; 3]).is_some_and(|found| found > 0.0));
        assert_eq!(scale(&[0.0; 3], &[1.0; 3]), None);
    }
}
