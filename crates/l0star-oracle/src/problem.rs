//! The data of a problem, in exact numbers.

use crate::hazards::Hazards;
use crate::{Dyadic, Exact, Times};

/// The loss of a row's prediction z and response b.
#[derive(Debug, Clone)]
pub enum Loss {
    /// The loss `(z - b)²/2`.
    Quadratic,
    /// Quadratic up to `|z - b| ≤ δ`, linear beyond.
    Huber(f64),
    /// The loss `max(0, 1 - bz)²/2`, b = ±1.
    SquaredHinge,
    /// The loss `log(1 + exp(-bz))`, b = ±1.
    Logistic,
    /// The loss `exp(z) - bz + b log b - b`, b ≥ 0.
    Poisson,
    /// The loss `b exp(-z) + z - log b - 1`, b > 0.
    Gamma,
    /// The negative log partial likelihood of times b, without an intercept.
    Cox(Times),
}

/// One row: its weight p ≥ 0, its response b and its offset o.
#[derive(Debug, Clone)]
pub struct Row {
    /// The weight p.
    pub weight: f64,
    /// The response b.
    pub response: f64,
    /// The offset o.
    pub offset: f64,
}

/// One column. An intercept is a column of ones, without a ridge or bounds.
#[derive(Debug, Clone)]
pub struct Column {
    /// One entry per row; products of floats are also dyadic.
    pub entries: Vec<Dyadic>,
    /// The ridge λ ≥ 0.
    pub ridge: f64,
    /// Lower and upper bound of the coefficient; infinities mean unbounded.
    pub bounds: (f64, f64),
}

/// An enclosure of a number, which is a point for the piecewise quadratic losses.
#[derive(Debug, Clone)]
pub struct Least {
    /// Lower end.
    pub low: Exact,
    /// Upper end.
    pub high: Exact,
}

/// A row in exact numbers. With a loss that couples rows, p is 1, and the loss has the weights.
#[derive(Debug)]
pub(crate) struct ExactRow {
    pub p: Dyadic,
    pub b: Dyadic,
    pub o: Dyadic,
}

/// A column in exact numbers. It is divided by a power of two so that its largest entry is near 1, and its
/// coefficient is multiplied by the same power.
#[derive(Debug)]
pub(crate) struct ExactColumn {
    pub entries: Vec<Dyadic>,
    pub ridge: Dyadic,
    pub low: Option<Dyadic>,
    pub high: Option<Dyadic>,
    pub power: i64,
}

/// A problem in exact numbers.
#[derive(Debug)]
pub struct Problem {
    pub(crate) loss: Loss,
    pub(crate) rows: Vec<ExactRow>,
    pub(crate) hazards: Option<Hazards>,
    pub(crate) columns: Vec<ExactColumn>,
}

impl Problem {
    /// Creates a problem; floats are taken as exact numbers.
    pub fn new(loss: Loss, rows: &[Row], columns: Vec<Column>) -> Self {
        let hazards = match &loss {
            Loss::Cox(times) => {
                let weights: Vec<f64> = rows.iter().map(|row| row.weight).collect();
                let own: Vec<f64> = rows.iter().map(|row| row.response).collect();
                Some(Hazards::new(times, &weights, &own))
            }
            _ => None,
        };
        let weight = |row: &Row| if hazards.is_some() { 1.0 } else { row.weight };
        let row = |row: &Row| ExactRow {
            p: Dyadic::of(weight(row)),
            b: Dyadic::of(row.response),
            o: Dyadic::of(row.offset),
        };
        let column = |column: Column| {
            let sizes = column.entries.iter().filter_map(Dyadic::size);
            let power = sizes.max().unwrap_or(0);
            let bound = |v: f64| v.is_finite().then(|| Dyadic::of(v).shifted(power));
            let entries = column.entries.iter();
            ExactColumn {
                entries: entries.map(|v| v.shifted(-power)).collect(),
                ridge: Dyadic::of(column.ridge).shifted(-2 * power),
                low: bound(column.bounds.0),
                high: bound(column.bounds.1),
                power,
            }
        };
        let rows = rows.iter().map(row).collect();
        Self {
            loss,
            rows,
            hazards,
            columns: columns.into_iter().map(column).collect(),
        }
    }
}
