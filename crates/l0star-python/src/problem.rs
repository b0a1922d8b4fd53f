//! The class `Problem`.

use std::num::NonZeroUsize;

use l0star::loss;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::design;
use crate::run::{Asked, Solution, Stop, guarded, run};

/// An error of the engine as Python's.
pub fn refuse(error: l0star::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Checked data, to be solved for any k.
#[pyclass(frozen, module = "l0star._core")]
pub struct Problem {
    problem: l0star::Problem,
    /// Columns that are in every model, counted in k.
    include: Vec<usize>,
    scale: Option<Vec<f64>>,
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (X, y, *, names, loss, huber_delta, ridge, fit_intercept, include, exclude, weights=None,
                        offset=None, scale=None))]
    #[expect(clippy::too_many_arguments, non_snake_case)]
    fn new(
        py: Python<'_>,
        X: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<f64>,
        names: Vec<String>,
        loss: &str,
        huber_delta: f64,
        ridge: f64,
        fit_intercept: bool,
        include: Vec<usize>,
        exclude: Vec<usize>,
        weights: Option<PyReadonlyArray1<f64>>,
        offset: Option<PyReadonlyArray1<f64>>,
        scale: Option<PyReadonlyArray1<f64>>,
    ) -> PyResult<Self> {
        let vector = |array: PyReadonlyArray1<f64>| array.as_array().to_vec();
        let scale = scale.map(vector);
        let mut design = design::copy(X)?;
        if let Some(scale) = &scale {
            let factors = scale.iter().map(|scale| 1.0 / scale).collect();
            let centres = vec![0.0; scale.len()];
            design = design.with_view(centres, factors).map_err(refuse)?;
        }
        let loss = loss::by_name(loss, huber_delta).map_err(refuse)?;
        let mut builder = l0star::Problem::builder(design, vector(y))
            .names(names)
            .loss(loss)
            .ridge(ridge)
            .intercept(fit_intercept);
        for column in &include {
            builder = builder.always_in(*column, ridge);
        }
        for column in exclude {
            builder = builder.exclude(column);
        }
        if let Some(weights) = weights {
            builder = builder.weights(vector(weights));
        }
        if let Some(offset) = offset {
            builder = builder.offset(vector(offset));
        }
        let problem = py.detach(|| guarded(|| builder.build()))?;
        Ok(Self {
            problem: problem.map_err(refuse)?,
            include,
            scale,
        })
    }

    /// Solves it, and says what exception stopped the search, if one did.
    ///
    /// `callback(kind, seconds, objective, lower_bound, nodes, open_nodes, support)` is called on the calling thread
    /// while the search waits; a true answer stops it.
    #[pyo3(signature = (k, *, method, relaxation, gap, relative_gap, threads, time_limit=None, node_limit=None,
                        memory_limit=None, stop=None, callback=None))]
    #[expect(clippy::too_many_arguments)]
    fn solve(
        &self,
        py: Python<'_>,
        k: usize,
        method: &str,
        relaxation: &str,
        gap: f64,
        relative_gap: f64,
        threads: usize,
        time_limit: Option<f64>,
        node_limit: Option<u64>,
        memory_limit: Option<u64>,
        stop: Option<&Stop>,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<(Solution, Option<PyErr>)> {
        let free = k.checked_sub(self.include.len()).ok_or_else(|| {
            PyValueError::new_err(format!(
                "{} features are included, more than k = {k} allows",
                self.include.len()
            ))
        })?;
        let asked = Asked {
            settings: l0star::Settings {
                method: method.parse().map_err(refuse)?,
                relaxation: relaxation.parse().map_err(refuse)?,
                gap,
                relative_gap,
                threads: NonZeroUsize::new(threads),
                // A limit too long for a duration is no limit.
                time_limit: time_limit
                    .and_then(|limit| std::time::Duration::try_from_secs_f64(limit).ok()),
                node_limit,
                memory_limit,
                interrupt: Some(stop.map(Stop::flag).unwrap_or_default()),
                ..l0star::Settings::default()
            },
            callback,
        };
        let (mut solution, stopped_by) = run(py, &self.problem, free, asked)?;
        solution.include(&self.include);
        if let Some(scale) = &self.scale {
            solution.unscale(scale);
        }
        Ok((solution, stopped_by))
    }
}
