//! Sentences of `l0star-report`, so that the Python package and the command say the same.

use l0star_record::Model;
use l0star_record::fields::{Assumption, OfMoments};
use l0star_record::metrics;
use l0star_report::{Face, Proof, effects, proof, quality, stability, text};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns what is proved about a result, in one line.
#[pyfunction]
#[pyo3(signature = (status, k, objective, lower_bound, method, l0_penalty=0.0, assumption=None, moments=None))]
#[expect(clippy::too_many_arguments)]
pub fn headline(
    status: &str,
    k: usize,
    objective: f64,
    lower_bound: Option<f64>,
    method: &str,
    l0_penalty: f64,
    assumption: Option<(f64, bool)>,
    moments: Option<(u64, f64)>,
) -> String {
    let moments = moments.map(|(rows, bound_lowered_by)| OfMoments {
        rows,
        bound_lowered_by,
    });
    let assumption = assumption.map(|(max_coefficient, standardized)| Assumption {
        max_coefficient,
        standardized,
    });
    let proof = Proof::new(status, k, objective, lower_bound, method);
    let proof = proof.given(l0_penalty, assumption);
    proof.of_moments(moments).headline()
}

/// Returns advice on how to prove more; None if the method has proved all that it can.
#[pyfunction]
pub fn advice(status: &str) -> Option<String> {
    proof::advice(status.parse().ok()?, Face::Python)
}

/// Formats the gap as a number and as a share of the objective; None without a bound.
#[pyfunction]
pub fn gap(objective: f64, lower_bound: Option<f64>) -> Option<String> {
    Proof::new("", 0, objective, lower_bound, "").gap()
}

/// Returns the reason why the bounds of a cost differ; None if the cost is proved up to rounding.
#[pyfunction]
pub fn cost_note(status: &str, bounds: (f64, f64), objective: f64) -> Option<&'static str> {
    proof::cost_note(status, bounds, objective)
}

/// Describes the measures of a model, given as JSON. For the fitted rows and the held-out rows, returns a
/// label, the measures in one line, and a description of the rows.
#[pyfunction]
pub fn measures(metrics: &str) -> PyResult<Vec<[String; 3]>> {
    let metrics = serde_json::from_str(metrics);
    let metrics = metrics.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(quality::lines(&metrics))
}

/// Returns the expected responses for scores of a loss with a log link, with the same bits as the command.
#[pyfunction]
pub fn expectations<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'py, f64>,
) -> Bound<'py, PyArray1<f64>> {
    let scores = scores.as_array();
    let values: Vec<f64> = scores
        .iter()
        .map(|score| metrics::expectation(*score))
        .collect();
    PyArray1::from_vec(py, values)
}

/// Describes the search effort in one line.
#[pyfunction]
pub fn small_print(nodes: u64, peak: u64, calls: u64, seconds: f64, method: &str) -> String {
    quality::small_print(nodes, peak, calls, seconds, method)
}

/// Explains what standard errors and a refit without the ridge mean; the model is given as
/// the JSON of a model file.
#[pyfunction]
pub fn effect_notes(model: &str) -> PyResult<Vec<String>> {
    let model = Model::parse("model".as_ref(), model.as_bytes());
    let model = model.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(effects::notes(&model, Face::Python))
}

/// Describes the resamples, given as the JSON of their summary: a headline, and sentences.
#[pyfunction]
pub fn stability_words(summary: &str) -> PyResult<(String, Vec<String>)> {
    let own = serde_json::from_str(summary);
    let own = own.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((stability::headline(&own), stability::paragraphs(&own)))
}

/// Formats a share in percent, without the percent sign.
#[pyfunction]
pub fn percent(share: f64) -> String {
    text::percent(share)
}

/// Returns a noun with its count: `1 node`, `2 nodes`.
#[pyfunction]
pub fn counted(count: usize, noun: &str) -> String {
    l0star_data::counted(count, noun)
}
