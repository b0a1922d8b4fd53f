//! Standardised columns: between the coefficients that the engine works with and those of the data.
//!
//! The engine's problem has the columns `a_j / s_j` and the coefficients `s_j x_j`, x those of the data: its predictions
//! are those of the data, its ridge is one on `s_j x_j`. Everything inside the engine is about its own coefficients; models
//! are translated where they come in and go out, by what is here.

use super::{Design, Problem};

/// What standardising keeps of the data.
#[derive(Debug, Clone)]
pub(crate) struct Standard {
    /// The columns as they were given, the intercept's behind them.
    data: Design,
    /// What each is divided by.
    scales: Vec<f64>,
    /// Bounds as they were asked for, of the coefficients of the data.
    bounds: Vec<(f64, f64)>,
}

impl Standard {
    pub(super) fn new(data: Design, scales: Vec<f64>, bounds: Vec<(f64, f64)>) -> Self {
        Self {
            data,
            scales,
            bounds,
        }
    }
}

impl Problem {
    /// What each data column is divided by for the fit, with [`Builder::standardize`](super::Builder::standardize).
    pub fn scales(&self) -> Option<&[f64]> {
        let standard = self.standard.as_ref();
        standard.map(|standard| &standard.scales[..self.columns()])
    }

    /// The design matrix of the data (the intercept's column of ones included): what the coefficients of a solution belong
    /// to.
    pub fn design(&self) -> &Design {
        let standard = self.standard.as_ref();
        standard.map_or(&self.design, |standard| &standard.data)
    }

    /// Between which numbers the coefficient of a column may lie, on the data's own scale.
    pub fn bounds(&self, column: usize) -> (f64, f64) {
        let standard = self.standard.as_ref();
        standard.map_or_else(|| self.range(column), |standard| standard.bounds[column])
    }

    /// A coefficient of the engine as one of the data.
    pub(crate) fn outward(&self, column: usize, x: f64) -> f64 {
        let Some(standard) = &self.standard else {
            return x;
        };
        // A division rounds, and a bound is a promise to the last bit.
        let (lower, upper) = standard.bounds[column];
        (x / standard.scales[column]).clamp(lower, upper)
    }

    /// A coefficient of the data as one of the engine.
    pub(crate) fn inward(&self, column: usize, x: f64) -> f64 {
        let standard = self.standard.as_ref();
        standard.map_or(x, |standard| x * standard.scales[column])
    }
}
