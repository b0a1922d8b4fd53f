//! Facts about times until an event, and how well scores order the times.

use std::sync::Arc;

use l0star::loss::{Cox, Loss};
use l0star_record::cv::Score;
use l0star_record::metrics::Times;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::error::refuse;

/// Facts about the rows of a loss of times.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Followed {
    event: Vec<bool>,
    ties: String,
    strata: Option<Vec<u32>>,
    entry: Option<Vec<f64>>,
}

impl Followed {
    pub(crate) fn loss(&self) -> PyResult<Arc<dyn Loss>> {
        let cox = Cox::new(self.event.clone()).ties(self.ties.parse().map_err(refuse)?);
        let strata = self.strata.clone().unwrap_or_default();
        let entry = self.entry.clone().unwrap_or_default();
        Ok(Arc::new(cox.strata(strata).entry(entry)))
    }
}

impl Followed {
    /// Returns the times for metrics and reports; `names` are those of the strata.
    pub(crate) fn times<'a>(&'a self, names: &'a [String]) -> Times<'a> {
        Times {
            events: &self.event,
            entry: self.entry.as_deref().unwrap_or_default(),
            strata: self.strata.as_deref().unwrap_or_default(),
            strata_names: names,
        }
    }
}

/// Returns the share of comparable pairs of times that the scores order correctly; NaN if there are none.
#[pyfunction]
#[pyo3(signature = (scores, times, weights, followed))]
pub fn concordance(
    scores: PyReadonlyArray1<f64>,
    times: PyReadonlyArray1<f64>,
    weights: Option<PyReadonlyArray1<f64>>,
    followed: Followed,
) -> PyResult<f64> {
    let vector = |array: PyReadonlyArray1<f64>| array.as_array().to_vec();
    let (scores, times) = (vector(scores), vector(times));
    let weights = weights.map_or_else(|| vec![1.0; times.len()], vector);
    let loss = followed.loss()?;
    Ok(Score::Concordance.of(&*loss, &scores, &times, &weights))
}
