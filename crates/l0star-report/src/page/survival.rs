//! Survival curves (Kaplan–Meier) of rows with low, middle and high scores, and predicted
//! versus observed survival.

use l0star_record::metrics::Rows;
use l0star_record::survival::Survival;
use serde::Serialize;

/// Upper limit on the steps of a curve; more would look the same.
const MOST_STEPS: usize = 400;
const NAMES: [&str; 3] = ["lowest third", "middle third", "highest third"];

/// Number of groups in which predictions are compared with observations.
const BINS: usize = 10;
/// Minimum number of rows in such a group.
const BIN_ROWS: usize = 10;

#[derive(Debug, PartialEq, Serialize)]
pub struct Curves {
    /// Groups by risk, the lowest first.
    groups: Vec<Group>,
    /// Absent if there are too few rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
}

/// Predicted and observed survival up to a certain time.
#[derive(Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// That time, which is the median of the event times.
    pub horizon: f64,
    bins: Vec<Bin>,
}

/// Rows of similar predictions.
#[derive(Debug, PartialEq, Serialize)]
struct Bin {
    rows: usize,
    /// Weighted mean of the predicted probability of no event.
    predicted: f64,
    /// Share without an event (Kaplan–Meier).
    observed: f64,
}

/// Rows of similar scores.
#[derive(Debug, PartialEq, Serialize)]
struct Group {
    name: &'static str,
    rows: usize,
    events: usize,
    /// Weighted steps (time, share without an event from then on).
    steps: Vec<(f64, f64)>,
}

impl Curves {
    /// Returns the time up to which predictions are compared with observations.
    pub fn horizon(&self) -> Option<f64> {
        self.calibration.as_ref().map(|own| own.horizon)
    }
}

/// Computes the curves of the thirds of the rows, and how well `model` predicts them.
pub fn curves(data: &Rows, model: &Survival) -> Curves {
    let weight = |row: usize| data.weights.map_or(1.0, |weights| weights[row]);
    let rows: Vec<usize> = (0..data.response.len())
        .filter(|row| weight(*row) > 0.0)
        .collect();
    let thirds = parts(rows.clone(), NAMES.len(), |row| data.scores[row]);
    let groups = thirds
        .iter()
        .zip(NAMES)
        .filter(|(rows, _)| !rows.is_empty());
    let groups = groups.map(|(rows, name)| Group {
        name,
        rows: rows.len(),
        events: rows.iter().filter(|row| data.times.events[**row]).count(),
        steps: thinned(kaplan_meier(data, rows, &weight)),
    });
    Curves {
        groups: groups.collect(),
        calibration: calibration(data, model, rows, &weight),
    }
}

/// Splits rows by a value into parts of about equal size; rows with equal values stay together.
fn parts(mut rows: Vec<usize>, count: usize, value: impl Fn(usize) -> f64) -> Vec<Vec<usize>> {
    rows.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    let mut parts = vec![Vec::new(); count];
    let (all, mut before) = (rows.len(), 0);
    for tied in rows.chunk_by(|a, b| value(*a) == value(*b)) {
        // Tied rows are placed by their middle.
        let at = count * (2 * before + tied.len()) / (2 * all).max(1);
        parts[at.min(count - 1)].extend_from_slice(tied);
        before += tied.len();
    }
    parts
}

/// Compares predicted with observed survival. Rows of a stratum without a baseline are omitted.
fn calibration(
    data: &Rows,
    model: &Survival,
    rows: Vec<usize>,
    weight: &dyn Fn(usize) -> f64,
) -> Option<Calibration> {
    let is_event = |row: &&usize| data.times.events[**row];
    let events = rows.iter().filter(is_event);
    let mut times: Vec<f64> = events.map(|row| data.response[*row]).collect();
    times.sort_by(f64::total_cmp);
    let horizon = *times.get(times.len().checked_sub(1)? / 2)?;
    let stratum = |row: usize| {
        let number = data.times.strata.get(row)?;
        data.times.strata_names.get(*number as usize)
    };
    let chance = |row: usize| {
        let stratum = stratum(row).map(String::as_str);
        model.probability(stratum, data.scores[row], horizon)
    };
    let chances: Vec<Option<f64>> = (0..data.response.len()).map(chance).collect();
    let known: Vec<usize> = rows
        .into_iter()
        .filter(|row| chances[*row].is_some())
        .collect();
    let predicted = |row: usize| chances[row].unwrap_or(f64::NAN);
    let count = BINS.min(known.len() / BIN_ROWS);
    if count < 2 {
        return None;
    }
    let bins = parts(known, count, predicted);
    let bins = bins.iter().filter(|rows| !rows.is_empty()).map(|rows| {
        let total: f64 = rows.iter().map(|row| weight(*row)).sum();
        let sum: f64 = rows.iter().map(|row| weight(*row) * predicted(*row)).sum();
        let steps = kaplan_meier(data, rows, weight);
        let before = steps.iter().take_while(|(time, _)| *time <= horizon);
        Bin {
            rows: rows.len(),
            predicted: sum / total,
            observed: before.last().map_or(1.0, |(_, share)| *share),
        }
    });
    Some(Calibration {
        horizon,
        bins: bins.collect(),
    })
}

/// Computes the weighted Kaplan–Meier curve: (time, share without an event from then on).
fn kaplan_meier(data: &Rows, rows: &[usize], weight: &dyn Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let time = |row: &usize| data.response[*row];
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let mut entries: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| {
            let entry = data.times.entry.get(*row).copied();
            (entry.unwrap_or(f64::NEG_INFINITY), weight(*row))
        })
        .collect();
    entries.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut at_risk, mut entered, mut share) = (0.0, 0, 1.0);
    let first = data.times.entry.iter().copied().fold(0.0, f64::min);
    let mut steps = vec![(first, 1.0)];
    for tied in sorted.chunk_by(|a, b| time(a) == time(b)) {
        let now = time(&tied[0]);
        while entered < entries.len() && entries[entered].0 < now {
            at_risk += entries[entered].1;
            entered += 1;
        }
        let events = tied.iter().filter(|row| data.times.events[**row]);
        let lost: f64 = events.map(|row| weight(*row)).sum();
        if lost > 0.0 && at_risk > 0.0 {
            share *= (1.0 - lost / at_risk).max(0.0);
            steps.push((now, share));
        }
        at_risk -= tied.iter().map(|row| weight(*row)).sum::<f64>();
    }
    steps.push((sorted.last().map_or(0.0, time), share));
    steps
}

/// Returns a curve with fewer steps, keeping its end.
fn thinned(steps: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let stride = steps.len().div_ceil(MOST_STEPS).max(1);
    let end = steps.last().copied();
    let mut steps: Vec<(f64, f64)> = steps.into_iter().step_by(stride).collect();
    if steps.last().copied() != end {
        steps.extend(end);
    }
    steps
}

#[cfg(test)]
mod tests {
    use l0star_record::metrics::Times;
    use l0star_record::survival::Baseline;

    use super::*;

    #[test]
    fn a_curve_falls_by_the_share_of_those_at_risk() {
        let (times, events) = ([1.0, 2.0, 2.0, 3.0], [true, true, false, true]);
        let rows = Rows {
            scores: &[0.0; 4],
            response: &times,
            weights: None,
            offset: None,
            times: Times {
                events: &events,
                ..Times::default()
            },
        };
        let Curves {
            groups,
            calibration,
        } = curves(&rows, &Survival::default());
        assert_eq!(calibration, None);
        assert_eq!(groups.len(), 1);
        assert_eq!((groups[0].rows, groups[0].events), (4, 3));
        let expected = [(0.0, 1.0), (1.0, 0.75), (2.0, 0.5), (3.0, 0.0), (3.0, 0.0)];
        assert_eq!(groups[0].steps, expected);
        // The first row is not at risk before its entry.
        let late = Rows {
            times: Times {
                entry: &[0.5, 1.5, 0.0, 0.0],
                ..rows.times
            },
            ..rows
        };
        let steps = &curves(&late, &Survival::default()).groups[0].steps;
        assert!((steps[1].1 - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn thirds_are_by_score() {
        let scores = [5.0, 1.0, 3.0, 4.0, 2.0, 0.0];
        let rows = Rows {
            scores: &scores,
            response: &[1.0; 6],
            weights: Some(&[1.0, 1.0, 1.0, 1.0, 1.0, 0.0]),
            offset: None,
            times: Times {
                events: &[true; 6],
                ..Times::default()
            },
        };
        let Curves { groups, .. } = curves(&rows, &Survival::default());
        let sizes: Vec<usize> = groups.iter().map(|own| own.rows).collect();
        assert_eq!(sizes, [2, 1, 2]);
    }

    /// Uses forty rows in two strata, half of each with a larger hazard, and times that make the shares known.
    #[test]
    fn predictions_stand_beside_what_was_observed() {
        let times: Vec<f64> = (0..40).map(|row| (row / 2 % 10 + 1) as f64).collect();
        let scores: Vec<f64> = (0..40).map(|row| f64::from(row >= 20)).collect();
        let strata: Vec<u32> = (0..40).map(|row| row % 2).collect();
        let names = ["a".to_owned(), "b".to_owned()];
        let baseline = |stratum: &str, hazard: f64| Baseline {
            stratum: Some(stratum.to_owned()),
            times: vec![1.0, 4.0],
            hazard: vec![0.5 * hazard, hazard],
        };
        let model = Survival {
            baseline: vec![baseline("a", 0.2), baseline("b", 0.4)],
            ..Survival::default()
        };
        let rows = Rows {
            scores: &scores,
            response: &times,
            weights: None,
            offset: None,
            times: Times {
                events: &[true; 40],
                strata: &strata,
                strata_names: &names,
                ..Times::default()
            },
        };
        let own = curves(&rows, &model).calibration.unwrap();
        // The median of the event times.
        assert_eq!(own.horizon, 5.0);
        let predicted: Vec<f64> = own.bins.iter().map(|bin| bin.predicted).collect();
        let e = std::f64::consts::E;
        let expected = [-0.4 * e, -0.2 * e, -0.4, -0.2].map(f64::exp);
        assert_eq!(own.bins.len(), 4);
        for (found, expected) in predicted.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{predicted:?}");
        }
        for bin in &own.bins {
            assert_eq!(bin.rows, 10);
            assert!((bin.observed - 0.5).abs() < 1e-12);
        }
    }
}
