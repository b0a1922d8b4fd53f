//! Results, as classes of properties.

use l0star::path::Criteria;
use l0star_record::{inference, outcome};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

fn indices<'py>(py: Python<'py>, columns: &[usize]) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, columns.iter().map(|j| *j as i64))
}

/// The best model found, its proof, and the history of its search.
#[pyclass(frozen, module = "l0star._core")]
pub struct Solution {
    pub k: usize,
    pub found: l0star::Solution,
    /// Whether the coefficients are those of a refit without the ridge.
    pub is_refit: bool,
    /// The reason why the requested refit failed.
    kept_ridge: Option<String>,
    /// Coefficients times the standard deviations of their columns.
    per_sd: Vec<f64>,
    twins: Vec<(usize, Vec<usize>)>,
    criteria: Option<Criteria>,
    history: History,
}

/// History of a search.
#[derive(Clone, Default)]
pub struct History {
    /// Rows of (seconds, objective, lower bound, nodes), with NaN for unknown values.
    pub trace: Vec<[f64; 4]>,
    /// Origin of the last model, and the seconds until it was found.
    pub found: Option<(&'static str, f64)>,
}

/// A model: objective, coefficients, intercepts, support.
type Model<'py> = (
    f64,
    Bound<'py, PyArray1<f64>>,
    Vec<f64>,
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
        self.found.status.as_str()
    }

    #[getter]
    fn objective(&self) -> f64 {
        self.found.objective
    }

    #[getter]
    fn lower_bound(&self) -> Option<f64> {
        self.found.lower_bound
    }

    #[getter]
    fn relative_gap(&self) -> Option<f64> {
        self.found.relative_gap()
    }

    #[getter]
    fn support<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        indices(py, &self.found.support)
    }

    #[getter]
    fn refit(&self) -> bool {
        self.is_refit
    }

    /// Returns the reason why the requested refit without the ridge failed.
    #[getter]
    fn kept_ridge(&self) -> Option<String> {
        self.kept_ridge.clone()
    }

    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.found.coefficients)
    }

    #[getter]
    fn per_sd<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.per_sd)
    }

    /// Returns the columns of the model that others could replace, with these others.
    #[getter]
    fn twins(&self) -> Vec<(usize, Vec<usize>)> {
        self.twins.clone()
    }

    #[getter]
    fn intercept(&self) -> f64 {
        self.found.intercept
    }

    /// Returns the intercepts of all responses.
    #[getter]
    fn intercepts(&self) -> Vec<f64> {
        self.found.intercepts().collect()
    }

    /// Returns the best models, best first.
    #[getter]
    fn solutions<'py>(&self, py: Python<'py>) -> Vec<Model<'py>> {
        let model = |model: &l0star::Model| {
            (
                model.objective,
                PyArray1::from_slice(py, &model.coefficients),
                model.intercepts().collect(),
                indices(py, &model.support),
            )
        };
        self.found.solutions.iter().map(model).collect()
    }

    #[getter]
    fn rest_bound(&self) -> Option<f64> {
        self.found.rest_bound
    }

    #[getter]
    fn truncated(&self) -> bool {
        self.found.truncated
    }

    /// Returns AIC, BIC and EBIC, for a loss that is a likelihood.
    #[getter]
    fn criteria(&self) -> Option<(f64, f64, f64)> {
        self.criteria
            .map(|found| (found.aic, found.bic, found.ebic))
    }

    #[getter]
    fn solver_calls(&self) -> u64 {
        self.found.solver_calls
    }

    #[getter]
    fn nodes(&self) -> u64 {
        self.found.nodes
    }

    #[getter]
    fn peak_open_nodes(&self) -> u64 {
        self.found.peak_open_nodes
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.found.seconds
    }

    /// Returns the origin of the model; a model that needed no search was given.
    #[getter]
    fn found_by(&self) -> &'static str {
        self.history.found.map_or("given", |(source, _)| source)
    }

    #[getter]
    fn found_after(&self) -> f64 {
        self.history.found.map_or(0.0, |(_, seconds)| seconds)
    }

    /// Returns rows of (seconds, objective, lower bound, nodes), with NaN for unknown values.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let rows: Vec<Vec<f64>> = self.history.trace.iter().map(|row| row.to_vec()).collect();
        PyArray2::from_vec2(py, &rows).unwrap_or_else(|_| PyArray2::zeros(py, [0, 4], false))
    }
}

impl Solution {
    /// Wraps a solution of the engine with the points of its search; the end becomes the last point.
    pub fn new(
        k: usize,
        solution: l0star::Solution,
        criteria: Option<Criteria>,
        mut history: History,
    ) -> Self {
        let trace = &mut history.trace;
        let last = trace.last().map_or(0.0, |point| point[0]);
        trace.push([
            solution.seconds.max(last),
            solution.objective,
            solution.lower_bound.unwrap_or(f64::NAN),
            solution.nodes as f64,
        ]);
        Self {
            k,
            is_refit: false,
            kept_ridge: None,
            per_sd: vec![0.0; solution.coefficients.len()],
            found: solution,
            twins: Vec::new(),
            criteria,
            history,
        }
    }

    /// Replaces the coefficients by those of a refit without the ridge.
    pub fn drop_ridge(&mut self, problem: &l0star::Problem) {
        match inference::refit(problem, &self.found) {
            Ok(refit) => (self.found, self.is_refit) = (refit, true),
            Err(reason) => self.kept_ridge = Some(inference::kept_ridge(reason)),
        }
    }

    /// Returns rows of (seconds, objective, lower bound, nodes).
    pub fn rows(&self) -> &[[f64; 4]] {
        &self.history.trace
    }

    /// Adds the free columns, which users count as part of the support.
    pub fn complete(&mut self, free: &[usize]) {
        complete(&mut self.found.support, free);
        for model in &mut self.found.solutions {
            complete(&mut model.support, free);
        }
    }

    /// Adds facts about the model's columns: effects per standard deviation, and twins.
    pub fn describe(&mut self, problem: &l0star::Problem) {
        let columns = &self.found.support;
        for (j, deviation) in columns.iter().zip(problem.deviations(columns)) {
            // The coefficients of this column for every response.
            for at in (*j..self.per_sd.len()).step_by(problem.features()) {
                self.per_sd[at] = self.found.coefficients[at] * deviation;
            }
        }
        self.twins = outcome::twins(problem, columns);
    }
}

/// Adds the columns that k does not count to those that it counts.
pub fn complete(support: &mut Vec<usize>, free: &[usize]) {
    support.extend_from_slice(free);
    support.sort_unstable();
    support.dedup();
}

/// The cost of deciding otherwise about one feature.
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
