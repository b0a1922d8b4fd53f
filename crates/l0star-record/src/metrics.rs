//! Measures of how well a model predicts some rows, as users of regressions and classifiers expect them.

use l0star::loss::{Loss, ResponseKind};
use l0star::{Problem, Solution};
use serde::{Deserialize, Serialize};

use crate::cv::Score;
use crate::{several, survival};

/// Predictions of a model for some rows, with the observed responses.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Scores of the rows, `intercept + Ax + o`.
    pub scores: &'a [f64],
    /// The target, or -1 and 1 for labels.
    pub response: &'a [f64],
    /// Weights of the rows; a row without weight does not count.
    pub weights: Option<&'a [f64]>,
    /// Offset that is added to every prediction, including that of a model without features.
    pub offset: Option<&'a [f64]>,
    /// Facts about times; empty for responses that are not times.
    pub times: Times<'a>,
}

/// Rows with several scores, one for each response.
#[derive(Debug, Clone, Copy)]
pub struct SeveralRows<'a> {
    /// Predictions of each response.
    pub scores: &'a [Vec<f64>],
    /// Observed values of each response.
    pub responses: &'a [Vec<f64>],
    /// Weights; entries after those of the rows are ignored.
    pub weights: &'a [f64],
    /// Offset of each response; empty if there are none.
    pub offsets: &'a [Vec<f64>],
}

/// Facts about rows whose responses are times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times<'a> {
    /// Whether each time is that of an event.
    pub events: &'a [bool],
    /// Times after which rows are observed; empty if all rows are observed from the beginning.
    pub entry: &'a [f64],
    /// Stratum of each row, by number; empty if there is only one.
    pub strata: &'a [u32],
    /// Names of the strata, by number.
    pub strata_names: &'a [String],
}

/// Weighted measures of how well a model predicts some rows. A measure that does not apply to the
/// loss or the rows is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Number of rows of positive weight.
    pub rows: usize,
    /// Coefficient of determination: 1 is perfect, 0 as good as the mean of these rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r2: Option<f64>,
    /// Root of the mean squared error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// Mean absolute error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mae: Option<f64>,
    /// Area under the ROC curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// Share of labels that are predicted correctly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Mean negative logarithm of the probability of the true label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
    /// Mean squared difference between the probability and the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brier: Option<f64>,
    /// Mean deviance: twice the mean loss, for a loss with a log link; for times, the partial deviance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviance: Option<f64>,
    /// Share of comparable pairs of times whose order is predicted correctly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concordance: Option<f64>,
    /// For a loss that is a likelihood: one minus the ratio of the loss to that of the best constant on these
    /// rows, added to the offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviance_explained: Option<f64>,
    /// Measures of each response, if there are several; the coefficient of determination above is their mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<OfResponse>,
}

/// Measures of one of several responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OfResponse {
    /// The response.
    pub name: String,
    /// Its measures.
    #[serde(flatten)]
    pub metrics: Metrics,
}

/// Quality of a model, on the rows that it was fitted to and on held-out rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Measures on the fitted rows.
    pub training: Metrics,
    /// Measures on rows that were not used in the fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout: Option<HeldOut>,
}

/// Quality of a model on held-out rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Share of the rows that was requested.
    pub share: f64,
    /// Seed of the draw.
    pub seed: u64,
    /// The measures.
    #[serde(flatten)]
    pub metrics: Metrics,
}

impl Metrics {
    /// Measures a solution on the rows that it was fitted to.
    pub fn of_solution(problem: &Problem, solution: &Solution, responses: &[String]) -> Self {
        if problem.is_from_moments() {
            return Self::of_moments(problem, solution);
        }
        if problem.outputs() > 1 {
            let scores = several::scores(problem, solution);
            let rows = several::rows(problem);
            if problem.loss().classes().is_some() {
                let classes = several::classes(&rows);
                let has_offsets = problem.offset().is_some();
                return Self::of_classes(&scores, &classes, problem.shares(), has_offsets);
            }
            let rows = SeveralRows {
                scores: &scores,
                responses: &rows,
                weights: problem.shares(),
                offsets: &several::offsets(problem),
            };
            return Self::of_several(problem.loss(), responses, &rows);
        }
        let scores = survival::scores(problem, &solution.coefficients, solution.intercept);
        if problem.loss().has_hazards() {
            let x = solution.coefficients.iter().copied().enumerate();
            let x: Vec<(usize, f64)> = x.filter(|(_, value)| *value != 0.0).collect();
            let (own, null) = (problem.mean_loss(&x), problem.mean_loss(&[]));
            return Self::of_times(problem.rows(), own, null, problem.concordance(&scores));
        }
        let rows = Rows {
            scores: &scores,
            response: problem.response(),
            weights: Some(problem.shares()),
            offset: problem.offset(),
            times: Times::default(),
        };
        Self::of(problem.loss(), &rows)
    }

    /// Measures the predictions of several responses, each separately.
    pub fn of_several(loss: &dyn Loss, names: &[String], rows: &SeveralRows) -> Self {
        let each = names.iter().zip(rows.scores).zip(rows.responses);
        let each = each.enumerate();
        let each = each.map(|(output, ((name, scores), response))| OfResponse {
            name: name.clone(),
            metrics: Self::of(
                loss,
                &Rows {
                    scores,
                    response,
                    weights: rows.weights.get(..response.len()),
                    offset: rows.offsets.get(output).map(Vec::as_slice),
                    times: Times::default(),
                },
            ),
        });
        let responses: Vec<OfResponse> = each.collect();
        let all: Option<Vec<f64>> = responses.iter().map(|own| own.metrics.r2).collect();
        let all = all.filter(|all| !all.is_empty());
        Self {
            rows: responses.first().map_or(0, |own| own.metrics.rows),
            r2: all.map(|all| all.iter().sum::<f64>() / all.len() as f64),
            responses,
            ..Self::default()
        }
    }

    /// Measures the scores of classes; entries of `weights` after those of the rows are ignored. With
    /// offsets, the deviance explained is omitted, because a model of the class shares alone is not
    /// the model without features.
    pub fn of_classes(
        scores: &[Vec<f64>],
        classes: &[usize],
        weights: &[f64],
        has_offsets: bool,
    ) -> Self {
        let (mut total, mut right, mut loss) = (0.0, 0.0, 0.0);
        let mut shares = vec![0.0; scores.len()];
        let mut rows = 0;
        for (row, (class, weight)) in classes.iter().zip(weights).enumerate() {
            if *weight > 0.0 {
                let own: Vec<f64> = scores.iter().map(|scores| scores[row]).collect();
                rows += 1;
                total += weight;
                shares[*class] += weight;
                right += weight * f64::from(several::best(&own) == *class);
                loss += weight * several::log_loss(&own, *class);
            }
        }
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        let null = shares.iter().filter(|share| **share > 0.0);
        let null: f64 = null.map(|share| -share * libm::log(share / total)).sum();
        Self {
            rows,
            accuracy: finite(right / total),
            log_loss: finite(loss / total),
            deviance_explained: (null > 0.0 && !has_offsets)
                .then(|| 1.0 - loss / null)
                .and_then(finite),
            ..Self::default()
        }
    }

    /// Creates metrics from the loss of times, the loss without features, and the concordance.
    fn of_times(rows: usize, own: f64, null: f64, concordance: Option<f64>) -> Self {
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        Self {
            rows,
            deviance: finite(2.0 * own),
            concordance,
            deviance_explained: (null > 0.0).then(|| 1.0 - own / null).and_then(finite),
            ..Self::default()
        }
    }

    /// Measures that follow from moments; absolute errors do not.
    fn of_moments(problem: &Problem, solution: &Solution) -> Self {
        let coefficients = solution.coefficients.iter().copied().enumerate();
        let mut x: Vec<(usize, f64)> = coefficients.filter(|(_, x)| *x != 0.0).collect();
        x.extend(
            problem
                .has_intercept()
                .then(|| (problem.columns(), solution.intercept)),
        );
        let square = 2.0 * problem.mean_loss(&x);
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        let r2 = finite(1.0 - square / problem.response_deviation().powi(2));
        Self {
            rows: usize::try_from(problem.observations()).unwrap_or(usize::MAX),
            r2,
            rmse: finite(square.sqrt()),
            deviance_explained: r2,
            ..Self::default()
        }
    }

    /// Measures predictions that were made for this loss.
    pub fn of(loss: &dyn Loss, rows: &Rows) -> Self {
        let Rows {
            scores: z,
            response: b,
            ..
        } = *rows;
        let ones;
        let w = match rows.weights {
            Some(weights) => weights,
            None => {
                ones = vec![1.0; b.len()];
                &ones
            }
        };
        // JSON has no infinity, and a square may overflow.
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        let score = |score: Score| finite(score.of(loss, z, b, w));
        let mut metrics = Self {
            rows: w.iter().filter(|w| **w > 0.0).count(),
            ..Self::default()
        };
        if metrics.rows == 0 {
            return metrics;
        }
        match loss.response() {
            ResponseKind::Real => {
                metrics.r2 = score(Score::R2);
                metrics.rmse = score(Score::Mse).map(f64::sqrt);
                metrics.mae = score(Score::Mae);
            }
            ResponseKind::Label => {
                metrics.auc = finite(auc(z, b, w));
                metrics.accuracy = score(Score::Accuracy);
                if loss.has_log_odds() {
                    metrics.log_loss = score(Score::LogLoss);
                    metrics.brier = finite(brier(z, b, w));
                }
            }
            ResponseKind::Count | ResponseKind::Positive => {
                metrics.rmse = score(Score::Mse).map(f64::sqrt);
                metrics.mae = score(Score::Mae);
                metrics.deviance = score(Score::Deviance);
            }
            ResponseKind::Class => {}
            ResponseKind::Time => {
                let Some((joint, z)) = survival::bound(loss, z, b, w) else {
                    return metrics;
                };
                let zeros = vec![0.0; b.len()];
                let offset = survival::bound(loss, rows.offset.unwrap_or(&zeros), b, w);
                let null = offset.map_or(f64::NAN, |(joint, offset)| joint.total(&offset));
                let (own, concordance) = (joint.total(&z), joint.concordance(&z));
                return Self::of_times(metrics.rows, own, null, concordance);
            }
        }
        if loss.is_likelihood() {
            metrics.deviance_explained = explained(loss, rows, w).and_then(finite);
        }
        metrics
    }
}

/// Computes `1 / (1 + exp(-z))`.
///
/// The exponential is computed in software, because that of the platform may differ in the last bit.
pub fn probability(score: f64) -> f64 {
    if score >= 0.0 {
        1.0 / (1.0 + libm::exp(-score))
    } else {
        let odds = libm::exp(score);
        odds / (1.0 + odds)
    }
}

/// Computes `exp(z)`, in software for the same reason.
pub fn expectation(score: f64) -> f64 {
    libm::exp(score)
}

fn brier(z: &[f64], b: &[f64], w: &[f64]) -> f64 {
    let miss = |z: f64, b: f64| probability(z) - f64::from(b > 0.0);
    weighted_mean(z, b, w, |z, b| miss(z, b) * miss(z, b))
}

fn weighted_mean(z: &[f64], b: &[f64], w: &[f64], of: impl Fn(f64, f64) -> f64) -> f64 {
    let rows = z.iter().zip(b).zip(w).filter(|(_, w)| **w > 0.0);
    let (sum, total) = rows.fold((0.0, 0.0), |(sum, total), ((z, b), w)| {
        (sum + w * of(*z, *b), total + w)
    });
    sum / total
}

/// Returns the share of pairs of a positive and a negative row that the scores order correctly, with ties
/// counted half; NaN if there are no pairs.
pub fn auc(z: &[f64], b: &[f64], w: &[f64]) -> f64 {
    let mut rows: Vec<usize> = (0..z.len()).filter(|row| w[*row] > 0.0).collect();
    rows.sort_by(|a, b| z[*b].total_cmp(&z[*a]));
    let (mut positives, mut negatives, mut pairs) = (0.0, 0.0, 0.0);
    for tied in rows.chunk_by(|a, b| z[*a] == z[*b]) {
        let of = |positive: bool| -> f64 {
            let rows = tied.iter().filter(|row| (b[**row] > 0.0) == positive);
            rows.map(|row| w[*row]).sum()
        };
        let (new_positives, new_negatives) = (of(true), of(false));
        pairs += new_negatives * (positives + 0.5 * new_positives);
        positives += new_positives;
        negatives += new_negatives;
    }
    pairs / (positives * negatives)
}

/// Computes `1 - L(z) / L(c + o)`, where c is the best constant; `None` if a constant makes no
/// error or would be infinite.
fn explained(loss: &dyn Loss, rows: &Rows, w: &[f64]) -> Option<f64> {
    let zeros;
    let offset = match rows.offset {
        Some(offset) => offset,
        None => {
            zeros = vec![0.0; w.len()];
            &zeros
        }
    };
    let b = rows.response;
    let constant = best_constant(loss, offset, b, w)?;
    let null = weighted_mean(offset, b, w, |o, b| loss.value(o + constant, b));
    let own = weighted_mean(rows.scores, b, w, |z, b| loss.value(z, b));
    (null > 0.0).then(|| 1.0 - own / null)
}

/// Finds the constant that, added to the offset, has the least loss, by Newton's method between bounds.
fn best_constant(loss: &dyn Loss, offset: &[f64], b: &[f64], w: &[f64]) -> Option<f64> {
    if loss.has_log_link() {
        return loss.best_constant(w, b, offset);
    }
    let (mut low, mut high) = bracket(loss, offset, b, w)?;
    let close = 1e-9 * (high - low);
    let slope = |at: f64| weighted_mean(offset, b, w, |o, b| loss.slope(o + at, b));
    let curvature = |at: f64| weighted_mean(offset, b, w, |o, b| loss.curvature(o + at, b));
    let mut at = 0.5 * low + 0.5 * high;
    // Bisection alone would need 30 steps.
    for _ in 0..100 {
        let now = slope(at);
        if now > 0.0 {
            high = at;
        } else {
            low = at;
        }
        let newton = at - now / curvature(at);
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * low + 0.5 * high
        };
        let step = (next - at).abs();
        at = next;
        if step <= close {
            break;
        }
    }
    Some(at)
}

/// Returns two numbers between which the best constant lies.
fn bracket(loss: &dyn Loss, offset: &[f64], b: &[f64], w: &[f64]) -> Option<(f64, f64)> {
    let rows = || (0..b.len()).filter(|row| w[*row] > 0.0);
    match loss.response() {
        ResponseKind::Real => {
            let ends = rows().map(|row| b[row] - offset[row]);
            let bounds = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| {
                (low.min(end), high.max(end))
            });
            Some(bounds)
        }
        ResponseKind::Label => {
            let has = |sign: f64| rows().any(|row| b[row] == sign);
            if !(has(-1.0) && has(1.0)) {
                return None;
            }
            let slope = |at: f64| weighted_mean(offset, b, w, |o, b| loss.slope(o + at, b));
            let mut width = 1.0;
            while width < 1e300 && (slope(-width) > 0.0 || slope(width) < 0.0) {
                width *= 2.0;
            }
            Some((-width, width))
        }
        // These have a closed formula.
        ResponseKind::Count | ResponseKind::Positive => None,
        // These have no best constant.
        ResponseKind::Time | ResponseKind::Class => None,
    }
}

#[cfg(test)]
mod tests;
