//! Sentences of `l0star-report`: the Python package says what the command says.

use l0star_record::fields::Assumption;
use l0star_report::{Face, Proof, proof, text};
use pyo3::prelude::*;

/// What is proved of a result, in one line.
#[pyfunction]
#[pyo3(signature = (status, k, objective, lower_bound, method, l0_penalty=0.0, assumption=None))]
pub fn headline(
    status: &str,
    k: usize,
    objective: f64,
    lower_bound: Option<f64>,
    method: &str,
    l0_penalty: f64,
    assumption: Option<(f64, bool)>,
) -> String {
    let assumption = assumption.map(|(max_coefficient, standardized)| Assumption {
        max_coefficient,
        standardized,
    });
    let proof = Proof::new(status, k, objective, lower_bound, method);
    proof.given(l0_penalty, assumption).headline()
}

/// What to do to prove more; None where all is proved that the method can prove.
#[pyfunction]
pub fn advice(status: &str) -> Option<String> {
    proof::advice(status.parse().ok()?, Face::Python)
}

/// The gap as a number and as a share of the objective; None without a bound.
#[pyfunction]
pub fn gap(objective: f64, lower_bound: Option<f64>) -> Option<String> {
    Proof::new("", 0, objective, lower_bound, "").gap()
}

/// What keeps the bounds of a cost apart; None where the cost is proved up to rounding.
#[pyfunction]
pub fn cost_note(status: &str, bounds: (f64, f64), objective: f64) -> Option<&'static str> {
    proof::cost_note(status, bounds, objective)
}

/// A share in percent, without the sign.
#[pyfunction]
pub fn percent(share: f64) -> String {
    text::percent(share)
}

/// A noun with its number: `1 node`, `2 nodes`.
#[pyfunction]
pub fn counted(count: usize, noun: &str) -> String {
    l0star_data::counted(count, noun)
}
