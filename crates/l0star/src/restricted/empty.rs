//! P(0), the objective of the best model without selectable features.
//!
//! Tolerances are relative to it, so it has to be close to the minimum. Always-in columns can be so nearly collinear that
//! doubles do not find that: Newton's method goes on in double-double arithmetic then.

use std::ops::Add;

use super::Restricted;
use crate::linalg::double::{self, Double};
use crate::linalg::rounding::Doubled;
use crate::problem::Problem;

/// What rounding leaves of the objective of a perfect fit, as a share of that without a model: squares of a few units in the
/// last place.
const PERFECT: f64 = 1e-28;
/// An evaluation whose certificate is this close, relatively, is good enough.
const CLOSE: f64 = 1e-9;
const MAX_STEPS: usize = 50;

impl Problem {
    /// P(0): the objective of the best model without selectable features, always-in columns and the intercept fitted.
    ///
    /// Tolerances are relative to it where the objective itself is far smaller. It is an evaluation, not a bound. Where the
    /// empty model fits the response up to rounding, the objective without any coefficient takes its place.
    pub fn empty_objective(&self) -> f64 {
        let empty = self.empty_value();
        if empty <= PERFECT * self.null_value {
            return self.null_value;
        }
        empty
    }

    /// P(0), whatever is left of it.
    pub(crate) fn empty_value(&self) -> f64 {
        *self.empty_value.get_or_init(|| {
            let mut restricted = Restricted::new(self);
            let plain = restricted.fit(&[]).objective;
            let precise = restricted.precise_objective();
            let value = if precise.is_finite() { precise } else { plain };
            // A single column is not collinear.
            if restricted.columns.len() < 2 || self.is_boxed() {
                return value;
            }
            let x: Vec<f64> = restricted.x.clone();
            let columns = restricted.columns.clone();
            match value - restricted.certify().value() <= CLOSE * value {
                true => value,
                false => value.min(descend(self, &columns, &x)),
            }
        })
    }
}

/// The least P that Newton's method meets on some columns, from x.
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
    let ridge = |c: usize| Double::from(problem.ridge[columns[c]]);
    let mut x: Vec<Double> = x.iter().copied().map(Double::from).collect();
    let mut best = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        let mut point = Point::at(problem, &entries, &x);
        for (c, x) in x.iter().enumerate() {
            point.value.add((ridge(c) * *x * *x).high / 2.0);
        }
        let value = point.value.value();
        if value.is_nan() || value >= best * (1.0 - CLOSE) {
            return best.min(value);
        }
        best = value;
        let dot = |a: &[Double], b: &[Double]| {
            let pairs = a.iter().zip(b);
            pairs.fold(Double::default(), |sum, (a, b)| sum + *a * *b)
        };
        let mut step = Vec::with_capacity(columns.len());
        let mut hessian = Vec::with_capacity(columns.len());
        for (r, column) in entries.iter().enumerate() {
            let weights = column.iter().zip(&point.curvature);
            let weighted: Vec<Double> = weights.map(|(a, w)| *a * *w).collect();
            let mut row: Vec<Double> = entries[..=r].iter().map(|a| dot(&weighted, a)).collect();
            row[r] = row[r] + ridge(r);
            hessian.push(row);
            step.push(dot(column, &point.slope) + ridge(r) * x[r]);
        }
        if !double::solve(&mut hessian, &mut step) {
            return best;
        }
        x.iter_mut().zip(step).for_each(|(x, d)| *x = *x - d);
    }
    best
}

/// The loss at some predictions, weighted by the rows.
struct Point {
    value: Doubled,
    slope: Vec<Double>,
    curvature: Vec<Double>,
}

impl Point {
    fn at(problem: &Problem, entries: &[Vec<Double>], x: &[Double]) -> Self {
        let loss = &*problem.loss;
        let rows = problem.rows();
        let mut point = Self {
            value: Doubled::default(),
            slope: Vec::with_capacity(rows),
            curvature: Vec::with_capacity(rows),
        };
        for i in 0..rows {
            let (p, b) = (problem.p[i], problem.b[i]);
            let offset = problem.offset.get(i).copied().unwrap_or(0.0);
            let products = entries.iter().zip(x).map(|(column, x)| column[i] * *x);
            let z = products.fold(Double::from(offset), Add::add);
            point
                .value
                .add_product(p, loss.value_near(z.high, z.low, b));
            let curvature = loss.curvature(z.high, b);
            let slope = Double::new(loss.slope(z.high, b), curvature * z.low);
            point.slope.push(slope * Double::from(p));
            point
                .curvature
                .push(Double::from(curvature) * Double::from(p));
        }
        point
    }
}
