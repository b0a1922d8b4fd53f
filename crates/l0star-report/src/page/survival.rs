//! Survival curves of rows with low, middle and high scores (Kaplan and Meier).

use l0star_record::metrics::Rows;
use serde::Serialize;

/// A curve of more steps looks the same.
const MOST_STEPS: usize = 400;
const NAMES: [&str; 3] = ["lowest third", "middle third", "highest third"];

#[derive(Debug, PartialEq, Serialize)]
pub struct Curves {
    /// By risk, the lowest first.
    groups: Vec<Group>,
}

/// Rows of similar scores.
#[derive(Debug, PartialEq, Serialize)]
struct Group {
    name: &'static str,
    rows: usize,
    events: usize,
    /// (time, share without an event from then on), by weight.
    steps: Vec<(f64, f64)>,
}

/// The curves of the thirds of the rows; rows of one score stay together.
pub fn curves(data: &Rows) -> Curves {
    let weight = |row: usize| data.weights.map_or(1.0, |weights| weights[row]);
    let mut rows: Vec<usize> = (0..data.response.len())
        .filter(|row| weight(*row) > 0.0)
        .collect();
    rows.sort_by(|a, b| data.scores[*a].total_cmp(&data.scores[*b]));
    let mut thirds: [Vec<usize>; 3] = Default::default();
    let (count, mut before) = (rows.len(), 0);
    for tied in rows.chunk_by(|a, b| data.scores[*a] == data.scores[*b]) {
        // By the middle of those tied.
        let at = 3 * (2 * before + tied.len()) / (2 * count).max(1);
        thirds[at.min(2)].extend_from_slice(tied);
        before += tied.len();
    }
    let groups = thirds
        .iter()
        .zip(NAMES)
        .filter(|(rows, _)| !rows.is_empty());
    let groups = groups.map(|(rows, name)| Group {
        name,
        rows: rows.len(),
        events: rows.iter().filter(|row| data.events[**row]).count(),
        steps: kaplan_meier(data, rows, &weight),
    });
    Curves {
        groups: groups.collect(),
    }
}

fn kaplan_meier(data: &Rows, rows: &[usize], weight: &dyn Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let time = |row: &usize| data.response[*row];
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let mut entries: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| {
            let entry = data.entry.get(*row).copied();
            (entry.unwrap_or(f64::NEG_INFINITY), weight(*row))
        })
        .collect();
    entries.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut at_risk, mut entered, mut share) = (0.0, 0, 1.0);
    let first = data.entry.iter().copied().fold(0.0, f64::min);
    let mut steps = vec![(first, 1.0)];
    for tied in sorted.chunk_by(|a, b| time(a) == time(b)) {
        let now = time(&tied[0]);
        while entered < entries.len() && entries[entered].0 < now {
            at_risk += entries[entered].1;
            entered += 1;
        }
        let events = tied.iter().filter(|row| data.events[**row]);
        let lost: f64 = events.map(|row| weight(*row)).sum();
        if lost > 0.0 && at_risk > 0.0 {
            share *= (1.0 - lost / at_risk).max(0.0);
            steps.push((now, share));
        }
        at_risk -= tied.iter().map(|row| weight(*row)).sum::<f64>();
    }
    let stride = steps.len().div_ceil(MOST_STEPS).max(1);
    let mut steps: Vec<(f64, f64)> = steps.into_iter().step_by(stride).collect();
    steps.push((sorted.last().map_or(0.0, time), share));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_falls_by_the_share_of_those_at_risk() {
        let (times, events) = ([1.0, 2.0, 2.0, 3.0], [true, true, false, true]);
        let rows = Rows {
            scores: &[0.0; 4],
            response: &times,
            weights: None,
            offset: None,
            events: &events,
            entry: &[],
        };
        let Curves { groups } = curves(&rows);
        assert_eq!(groups.len(), 1);
        assert_eq!((groups[0].rows, groups[0].events), (4, 3));
        let expected = [(0.0, 1.0), (1.0, 0.75), (2.0, 0.5), (3.0, 0.0), (3.0, 0.0)];
        assert_eq!(groups[0].steps, expected);
        // The first row is not at risk before it is there.
        let late = Rows {
            entry: &[0.5, 1.5, 0.0, 0.0],
            ..rows
        };
        let steps = &curves(&late).groups[0].steps;
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
            events: &[true; 6],
            entry: &[],
        };
        let sizes: Vec<usize> = curves(&rows).groups.iter().map(|own| own.rows).collect();
        assert_eq!(sizes, [2, 1, 2]);
    }
}
