//! What comes back, as classes of properties.

use l0star::path::Criteria;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::problem::Scales;

fn indices<'py>(py: Python<'py>, columns: &[usize]) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, columns.iter().map(|j| *j as i64))
}

/// The best model found, what is proved of it, and how the search went.
#[pyclass(frozen, module = "l0star._core")]
pub struct Solution {
    pub k: usize,
    /// As the engine gave it, for the engine.
    pub engine: l0star::Solution,
    /// As users see it.
    shown: l0star::Solution,
    criteria: Option<Criteria>,
    trace: Vec<[f64; 4]>,
}

/// Objective, coefficients, intercept, support.
type Model<'py> = (
    f64,
    Bound<'py, PyArray1<f64>>,
    f64,
    Bound<'py, PyArray1<i64>>,
);

#[pymethods]
impl Solution {
    #[getter]
    fn k(&self) -> usize {
        self.k
    }

    #[getter]
    fn status(&self) -> &'static str {
        self.shown.status.as_str()
    }

    #[getter]
    fn objective(&self) -> f64 {
        self.shown.objective
    }

    #[getter]
    fn lower_bound(&self) -> Option<f64> {
        self.shown.lower_bound
    }

    #[getter]
    fn support<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        indices(py, &self.shown.support)
    }

    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.shown.coefficients)
    }

    #[getter]
    fn intercept(&self) -> f64 {
        self.shown.intercept
    }

    /// The best models, best first.
    #[getter]
    fn solutions<'py>(&self, py: Python<'py>) -> Vec<Model<'py>> {
        let model = |model: &l0star::Model| {
            (
                model.objective,
                PyArray1::from_slice(py, &model.coefficients),
                model.intercept,
                indices(py, &model.support),
            )
        };
        self.shown.solutions.iter().map(model).collect()
    }

    #[getter]
    fn rest_bound(&self) -> Option<f64> {
        self.shown.rest_bound
    }

    #[getter]
    fn truncated(&self) -> bool {
        self.shown.truncated
    }

    /// AIC, BIC, EBIC, for a loss that is a likelihood.
    #[getter]
    fn criteria(&self) -> Option<(f64, f64, f64)> {
        self.criteria
            .map(|found| (found.aic, found.bic, found.ebic))
    }

    #[getter]
    fn solver_calls(&self) -> u64 {
        self.shown.solver_calls
    }

    #[getter]
    fn nodes(&self) -> u64 {
        self.shown.nodes
    }

    #[getter]
    fn peak_open_nodes(&self) -> u64 {
        self.shown.peak_open_nodes
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.shown.seconds
    }

    /// Rows of (seconds, objective, lower bound, nodes), NaN where there is none yet.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let rows: Vec<Vec<f64>> = self.trace.iter().map(|row| row.to_vec()).collect();
        PyArray2::from_vec2(py, &rows).unwrap_or_else(|_| PyArray2::zeros(py, [0, 4], false))
    }
}

impl Solution {
    /// A solution of the engine, with the points of its search; the end becomes the last one.
    pub fn new(
        k: usize,
        solution: l0star::Solution,
        criteria: Option<Criteria>,
        mut trace: Vec<[f64; 4]>,
    ) -> Self {
        let last = trace.last().map_or(0.0, |point| point[0]);
        trace.push([
            solution.seconds.max(last),
            solution.objective,
            solution.lower_bound.unwrap_or(f64::NAN),
            solution.nodes as f64,
        ]);
        Self {
            k,
            shown: solution.clone(),
            engine: solution,
            criteria,
            trace,
        }
    }

    /// From the engine's columns to the data's.
    pub fn restore(&mut self, scales: &Scales) {
        let shown = &mut self.shown;
        scales.restore(&mut shown.coefficients, &mut shown.support);
        for model in &mut shown.solutions {
            scales.restore(&mut model.coefficients, &mut model.support);
        }
    }
}

/// What it costs to decide otherwise about one feature.
#[pyclass(frozen, module = "l0star._core")]
pub struct Price(pub l0star::Price);

#[pymethods]
impl Price {
    #[getter]
    fn columns(&self) -> Vec<usize> {
        self.0.columns.clone()
    }

    #[getter]
    fn chosen(&self) -> bool {
        self.0.chosen
    }

    #[getter]
    fn cost(&self) -> f64 {
        self.0.cost
    }

    #[getter]
    fn cost_bounds(&self) -> (f64, f64) {
        self.0.cost_bounds
    }

    #[getter]
    fn objective(&self) -> f64 {
        self.0.objective
    }

    #[getter]
    fn lower_bound(&self) -> f64 {
        self.0.lower_bound
    }

    #[getter]
    fn status(&self) -> &'static str {
        self.0.status.as_str()
    }

    #[getter]
    fn support(&self) -> Vec<usize> {
        self.0.support.clone()
    }
}
