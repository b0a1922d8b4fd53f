//! P(0), the objective of the best model without selectable features.
//!
//! Tolerances are relative to it, so it has to be close to the minimum. Always-in columns can be so nearly collinear,
//! or the weights of rows so different, that doubles do not find the minimum. Newton's method then continues in
//! double-double arithmetic. Where the loss couples rows, all columns have a ridge, and the value found in doubles is
//! used.

use std::ops::Add;

use super::Restricted;
use crate::linalg::double::{self, Double};
use crate::linalg::rounding::Doubled;
use crate::problem::Problem;

/// Objective of a perfect fit after rounding, as a share of that without a model: squares of a few units in the last
/// place.
const PERFECT: f64 = 1e-28;
/// Relative distance to its certificate within which an evaluation is good enough.
const CLOSE: f64 = 1e-9;
const MAX_STEPS: usize = 100;
const MAX_HALVINGS: usize = 60;

impl Problem {
    /// Returns P(0), the objective of the best model without selectable features: always-in columns and the intercept
    /// are fitted.
    ///
    /// Tolerances are relative to it where the objective itself is far smaller. It is an evaluation, not a bound.
    ///
    /// Where the empty model fits the response up to rounding, the objective without any coefficient replaces it. For a
    /// loss with a log link the replacement is at least the mean of what rows weigh, which is that of the counts: a
    /// loss with relative errors of about 1 has that size.
    pub fn empty_objective(&self) -> f64 {
        let empty = self.empty_value();
        let whole = if self.loss.has_log_link() {
            self.null_value.max(self.usual_curvature)
        } else {
            self.null_value
        };
        if empty <= PERFECT * whole {
            return whole;
        }
        empty
    }

    /// Returns P(0), however small it is.
    pub(crate) fn empty_value(&self) -> f64 {
        *self.empty_value.get_or_init(|| {
            let mut restricted = Restricted::new(self);
            let plain = restricted.fit(&[]).objective;
            let precise = restricted.precise_objective();
            let value = if precise.is_finite() { precise } else { plain };
            if restricted.columns.is_empty() || self.joint().is_some() {
                return value;
            }
            let x: Vec<f64> = restricted.x.clone();
            let columns = restricted.columns.clone();
            if value - restricted.certify().value() <= CLOSE * value {
                value
            } else {
                value.min(descend(self, &columns, &x) + self.cost(&[]))
            }
        })
    }
}

/// Returns the least P that Newton's method meets on some columns, from x. Steps that leave the bounds of coefficients,
/// or do not decrease P, are shortened.
fn descend(problem: &Problem, columns: &[usize], x: &[f64]) -> f64 {
    let rows = problem.rows();
    let written_out = |j: &usize| {
        let (mut high, mut low) = (vec![0.0; rows], vec![0.0; rows]);
        problem
            .design
            .add_doubled(&[(*j, 1.0)], &mut high, &mut low);
        let parts = high.into_iter().zip(low);
        parts.map(|(high, low)| Double::new(high, low)).collect()
    };
    let entries: Vec<Vec<Double>> = columns.iter().map(written_out).collect();
    let ridge: Vec<f64> = columns.iter().map(|j| problem.ridge[*j]).collect();
    let is_inside = |x: &[Double]| {
        columns.iter().zip(x).all(|(j, x)| {
            let (lower, upper) = problem.range(*j);
            (lower..=upper).contains(&x.high)
        })
    };
    let mut x: Vec<Double> = x.iter().copied().map(Double::from).collect();
    let mut point = Evaluation::at(problem, &entries, &ridge, &x);
    for _ in 0..MAX_STEPS {
        let step = point.step(&entries, &ridge, &x);
        let before = point.value;
        let mut share = 1.0;
        for _ in 0..MAX_HALVINGS {
            let moved = x.iter().zip(&step);
            let moved: Vec<Double> = moved.map(|(x, d)| *x - Double::from(share) * *d).collect();
            if is_inside(&moved) {
                let other = Evaluation::at(problem, &entries, &ridge, &moved);
                if other.value < point.value {
                    (x, point) = (moved, other);
                    break;
                }
            }
            share *= 0.5;
        }
        if point.value >= before * (1.0 - CLOSE) {
            break;
        }
    }
    point.value
}

/// P at x, with the slopes and curvatures of the loss there, weighted by the rows.
struct Evaluation {
    value: f64,
    slope: Vec<Double>,
    curvature: Vec<Double>,
}

impl Evaluation {
    fn at(problem: &Problem, entries: &[Vec<Double>], ridge: &[f64], x: &[Double]) -> Self {
        let loss = &*problem.loss;
        let (mut slopes, mut curvatures) = (Vec::new(), Vec::new());
        let mut value = Doubled::default();
        for (i, (p, b)) in problem.p.iter().zip(&problem.b).enumerate() {
            let offset = problem.offset.get(i).copied().unwrap_or(0.0);
            let products = entries.iter().zip(x).map(|(column, x)| column[i] * *x);
            let z = products.fold(Double::from(offset), Add::add);
            value.add_product(*p, loss.value_near(z.high, z.low, *b));
            let curvature = loss.curvature(z.high, *b);
            let slope = Double::new(loss.slope(z.high, *b), curvature * z.low);
            // A straight piece of the loss has a slope but no curvature, so that a step could lead anywhere.
            let curvature = if curvature > 0.0 || slope.high == 0.0 {
                curvature
            } else {
                problem.usual_curvature
            };
            slopes.push(slope * Double::from(*p));
            curvatures.push(Double::from(curvature) * Double::from(*p));
        }
        for (ridge, x) in ridge.iter().zip(x) {
            value.add((Double::from(0.5 * ridge) * *x * *x).high);
        }
        Self {
            value: value.value(),
            slope: slopes,
            curvature: curvatures,
        }
    }

    /// Returns the step to the minimum of the quadratic with these slopes and curvatures. With their square roots in W
    /// and t, it is the x with the least `|Wx - t|`.
    fn step(&self, entries: &[Vec<Double>], ridge: &[f64], x: &[Double]) -> Vec<Double> {
        let roots: Vec<Double> = self.curvature.iter().map(|w| w.sqrt()).collect();
        let roots_of_ridge: Vec<Double> = ridge.iter().map(|l| Double::from(*l).sqrt()).collect();
        let slopes = roots.iter().zip(&self.slope);
        let slopes = slopes.map(|(root, slope)| {
            if root.high > 0.0 {
                *slope / *root
            } else {
                Double::default()
            }
        });
        let ridges = roots_of_ridge.iter().zip(x).map(|(root, x)| *root * *x);
        let t: Vec<Double> = slopes.chain(ridges).collect();
        let column = |c: usize| -> Vec<Double> {
            let rows = entries[c].iter().zip(&roots).map(|(a, w)| *a * *w);
            let own = |other: usize| {
                if other == c {
                    roots_of_ridge[c]
                } else {
                    Double::default()
                }
            };
            rows.chain((0..x.len()).map(own)).collect()
        };
        double::least_squares((0..x.len()).map(column).collect(), t)
    }
}
