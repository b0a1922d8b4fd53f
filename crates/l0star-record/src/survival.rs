//! Models of hazards: the columns of their fit, the baseline hazard, and survival probabilities.

use std::borrow::Cow;
use std::sync::Arc;

use l0star::Problem;
use l0star::loss::{Joint, Loss, Rows};
use serde::{Deserialize, Serialize};

/// The data that a model of hazards needs in addition to its coefficients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Survival {
    /// The column that marks which times are those of events.
    pub event: String,
    /// The value of that column that marks an event; absent if it is 1 or true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_value: Option<String>,
    /// How tied events were counted: `efron` or `breslow`.
    pub ties: String,
    /// The column of strata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strata: Option<String>,
    /// The column of entry times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// Number of events.
    pub events: usize,
    /// The weighted mean score of the rows; hazard ratios compare rows with it.
    pub centre: f64,
    /// The baseline of each stratum, for a row whose score is the mean.
    pub baseline: Vec<Baseline>,
}

/// The cumulative hazard of a row whose score is the mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The stratum; absent if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stratum: Option<String>,
    /// The times of its events.
    pub times: Vec<f64>,
    /// The cumulative hazard from each of these times on.
    pub hazard: Vec<f64>,
}

impl Survival {
    /// Adds the centre and the baseline hazards that follow from the coefficients. `strata`: the names
    /// of the strata, by number.
    pub fn with_baseline(self, problem: &Problem, coefficients: &[f64], strata: &[String]) -> Self {
        let mut scores = scores(problem, coefficients, 0.0);
        let weights = problem.shares();
        let total: f64 = weights.iter().sum();
        let sum: f64 = scores.iter().zip(weights).map(|(z, p)| z * p).sum();
        let centre = sum / total;
        scores.iter_mut().for_each(|z| *z -= centre);
        let steps = problem.baseline_hazard(&scores);
        let baseline = steps
            .chunk_by(|a, b| a.stratum == b.stratum)
            .map(|steps| Baseline {
                stratum: strata.get(steps[0].stratum as usize).cloned(),
                times: steps.iter().map(|step| step.time).collect(),
                hazard: steps.iter().map(|step| step.hazard).collect(),
            });
        Self {
            centre,
            baseline: baseline.collect(),
            ..self
        }
    }

    /// Returns the hazard of a row with this score relative to that of a row with the mean score.
    pub fn ratio(&self, score: f64) -> f64 {
        libm::exp(score - self.centre)
    }

    /// Returns the probability that a row with this score has no event up to a time;
    /// `None` for an unknown stratum.
    pub fn probability(&self, stratum: Option<&str>, score: f64, time: f64) -> Option<f64> {
        let of = |own: &&Baseline| own.stratum.as_deref() == stratum;
        let baseline = self.baseline.iter().find(of)?;
        let at = baseline.times.partition_point(|own| *own <= time);
        let hazard = at.checked_sub(1).map_or(0.0, |at| baseline.hazard[at]);
        // A hazard of zero stays zero, whatever its factor.
        Some(if hazard == 0.0 {
            1.0
        } else {
            libm::exp(-hazard * self.ratio(score))
        })
    }
}

/// Computes `intercept + Ax + o` on the rows of a problem.
pub fn scores(problem: &Problem, coefficients: &[f64], intercept: f64) -> Vec<f64> {
    let mut scores = match problem.offset() {
        Some(offset) => offset.to_vec(),
        None => vec![0.0; problem.rows()],
    };
    scores.iter_mut().for_each(|score| *score += intercept);
    let x = coefficients.iter().copied().enumerate();
    let x = x.filter(|(_, value)| *value != 0.0);
    problem.design().add_columns(x, &mut scores);
    scores
}

/// Binds a loss that couples rows to the rows of positive weight, and returns it with their scores; `None` for
/// any other loss, or if these rows cannot be compared.
pub fn bound(
    loss: &dyn Loss,
    z: &[f64],
    b: &[f64],
    weights: &[f64],
) -> Option<(Arc<dyn Joint>, Vec<f64>)> {
    let keep: Vec<bool> = weights.iter().map(|w| *w > 0.0).collect();
    let kept = |values: &[f64]| -> Vec<f64> {
        let rows = values.iter().zip(&keep);
        rows.filter_map(|(value, keep)| keep.then_some(*value))
            .collect()
    };
    let total: f64 = weights.iter().sum();
    let mut p = kept(weights);
    p.iter_mut().for_each(|p| *p /= total);
    let rows = Rows {
        all: b,
        keep: &keep,
        kept: &kept(b),
        p: &p,
    };
    let joint = loss.bind(&rows).ok().flatten()?;
    Some((joint, kept(z)))
}

/// Returns the values by which rows are dealt so that each part has its share of both kinds: labels, or events
/// (1) and other times (-1) if there are at least two of each.
pub fn kinds<'a>(response: &'a [f64], events: &[bool], has_labels: bool) -> (Cow<'a, [f64]>, bool) {
    let count = |kind: bool| events.iter().filter(|event| **event == kind).count();
    if count(true) < 2 || count(false) < 2 {
        return (Cow::Borrowed(response), has_labels);
    }
    let marks = events.iter().map(|event| if *event { 1.0 } else { -1.0 });
    (Cow::Owned(marks.collect()), true)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use l0star::loss::Cox;
    use l0star::{Design, Settings, solve};

    use super::*;

    #[test]
    fn survival_without_an_effect_is_that_of_the_baseline() {
        let times = vec![1.0, 2.0, 3.0, 4.0];
        let cox = Cox::new(vec![true, true, false, true]).strata(vec![1, 1, 1, 0]);
        let design = Design::dense(4, 1, vec![0.0; 4]).unwrap();
        let problem = Problem::builder(design, times).loss(Arc::new(cox));
        let problem = problem.k(0).build().unwrap();
        let solution = solve(&problem, &Settings::default()).unwrap();
        let strata = ["b".to_owned(), "a".to_owned()];
        let survival = Survival::default().with_baseline(&problem, &solution.coefficients, &strata);
        let at = |stratum, time| survival.probability(Some(stratum), 0.0, time);
        assert_eq!(at("a", 0.5), Some(1.0));
        // 1/3 and 1/2: the Nelson–Aalen estimator.
        let close = |found: Option<f64>, expected: f64| {
            assert!((found.unwrap() - expected).abs() < 1e-15, "{found:?}");
        };
        close(at("a", 1.0), (-1.0f64 / 3.0).exp());
        close(at("a", 99.0), (-5.0f64 / 6.0).exp());
        close(at("b", 4.0), (-1.0f64).exp());
        assert_eq!(at("c", 1.0), None);
        assert_eq!(survival.ratio(survival.centre), 1.0);
    }

    #[test]
    fn kinds_are_events_where_there_are_enough() {
        let times = [3.0, 1.0, 2.0, 5.0];
        let (marks, both) = kinds(&times, &[true, false, false, true], false);
        assert_eq!((&marks[..], both), (&[1.0, -1.0, -1.0, 1.0][..], true));
        let (own, both) = kinds(&times, &[true; 4], false);
        assert_eq!((&own[..], both), (&times[..], false));
    }
}
