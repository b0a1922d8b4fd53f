//! Charts of how well a model fits the rows: residuals, or ROC and calibration.

use l0star_record::Model;
use l0star_record::metrics::Rows;
use serde::Serialize;

/// Upper limits on the points of the charts; more would show nothing new.
const MOST_POINTS: usize = 1500;
const MOST_CURVE: usize = 300;
const BARS: usize = 30;
const BINS: usize = 10;

#[derive(Debug, Serialize)]
pub struct Residuals {
    /// A sample of (row, target, prediction), evenly from all rows, up to `MOST_POINTS`.
    points: Vec<(usize, f64, f64)>,
    bins: Vec<Bar>,
}

/// The rows whose values are in an interval.
#[derive(Debug, PartialEq, Serialize)]
struct Bar {
    from: f64,
    to: f64,
    count: usize,
}

#[derive(Debug, Serialize)]
pub struct Labels {
    /// Points (share of false positives, share of true positives, score threshold).
    roc: Vec<(f64, f64, Option<f64>)>,
    calibration: Option<Vec<Bin>>,
}

/// Rows of similar predicted probability.
#[derive(Debug, Serialize)]
struct Bin {
    predicted: f64,
    observed: f64,
    rows: usize,
}

/// Returns the rows of positive weight.
fn counted(rows: &Rows) -> Vec<usize> {
    let counts = |row: &usize| rows.weights.is_none_or(|weights| weights[*row] > 0.0);
    (0..rows.response.len()).filter(counts).collect()
}

pub fn residuals(data: &Rows) -> Residuals {
    let Rows {
        scores, response, ..
    } = *data;
    let rows = counted(data);
    let residuals: Vec<f64> = rows
        .iter()
        .map(|&row| response[row] - scores[row])
        .collect();
    let step = rows.len().div_ceil(MOST_POINTS).max(1);
    let shown = rows.iter().step_by(step);
    Residuals {
        points: shown
            .map(|&row| (row + 1, response[row], scores[row]))
            .collect(),
        bins: histogram(&residuals),
    }
}

fn histogram(values: &[f64]) -> Vec<Bar> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if low < high {
        (low, high)
    } else {
        (low - 0.5, low + 0.5)
    };
    let width = (high - low) / BARS as f64;
    let mut bars: Vec<Bar> = (0..BARS)
        .map(|i| Bar {
            from: low + i as f64 * width,
            to: low + (i + 1) as f64 * width,
            count: 0,
        })
        .collect();
    for value in values {
        let at = ((value - low) / width) as usize;
        bars[at.min(BARS - 1)].count += 1;
    }
    bars
}

pub fn labels(data: &Rows, model: &Model) -> Labels {
    let Rows {
        scores,
        response,
        weights,
        ..
    } = *data;
    let mut rows = counted(data);
    rows.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let roc = curve(rows.iter().map(|&row| {
        let is_positive = response[row] > 0.0;
        (scores[row], is_positive, weight(row))
    }));
    let calibrated = model.probability(0.0).is_some();
    let calibration = calibrated.then(|| {
        let size = rows.len().div_ceil(BINS).max(1);
        let bin = |rows: &[usize]| {
            let total: f64 = rows.iter().map(|&row| weight(row)).sum();
            let mean = |of: &dyn Fn(usize) -> f64| {
                rows.iter().map(|&row| weight(row) * of(row)).sum::<f64>() / total
            };
            Bin {
                predicted: mean(&|row| model.probability(scores[row]).unwrap_or(0.0)),
                observed: mean(&|row| f64::from(response[row] > 0.0)),
                rows: rows.len(),
            }
        };
        rows.chunks(size).map(bin).collect()
    });
    Labels { roc, calibration }
}

type Roc = Vec<(f64, f64, Option<f64>)>;

/// Computes the ROC curve of (score, positive, weight), given in descending order of the scores. Rows with
/// equal scores form one step.
fn curve(rows: impl Iterator<Item = (f64, bool, f64)> + Clone) -> Roc {
    let total = |positive: bool| -> f64 {
        let of = rows.clone().filter(|(_, is, _)| *is == positive);
        of.map(|(_, _, weight)| weight).sum()
    };
    let (negatives, positives) = (total(false), total(true));
    let mut roc: Roc = vec![(0.0, 0.0, None)];
    let (mut x, mut y) = (0.0, 0.0);
    let mut rows = rows.peekable();
    while let Some((score, is_positive, weight)) = rows.next() {
        if is_positive {
            y += weight / positives
        } else {
            x += weight / negatives
        }
        if rows.peek().is_some_and(|(next, _, _)| *next == score) {
            continue;
        }
        roc.push((x, y, Some(score)));
    }
    let step = roc.len().div_ceil(MOST_CURVE).max(1);
    let last = roc.len() - 1;
    let kept = roc.into_iter().enumerate();
    let kept = kept.filter(|(at, _)| at % step == 0 || *at == last);
    kept.map(|(_, point)| point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_ends_in_the_corners_and_has_one_step_for_equal_scores() {
        let rows = [
            (3.0, true, 1.0),
            (2.0, false, 1.0),
            (1.0, true, 1.0),
            (1.0, false, 1.0),
            (0.0, false, 2.0),
        ];
        let roc = curve(rows.iter().copied());
        assert_eq!(roc.first(), Some(&(0.0, 0.0, None)));
        let last = roc.last().unwrap();
        assert!((last.0 - 1.0).abs() < 1e-15 && (last.1 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn every_value_is_in_a_bar() {
        let bars = histogram(&[-1.0, 0.0, 0.5, 2.0, 2.0]);
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<usize>(), 5);
        assert_eq!(bars[BARS - 1].count, 2);
        assert_eq!(
            histogram(&[3.0, 3.0])
                .iter()
                .map(|b| b.count)
                .sum::<usize>(),
            2
        );
    }
}
