//! How well a model fits: its predictions, and its measures on rows that were held out.

use l0star_record::holdout::{self, HoldoutError};
use l0star_record::metrics::{HeldOut, Metrics, Rows, SeveralRows, Times};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::Problem;
use crate::solution::Solution;
use crate::survival::Followed;

/// Held-out rows: share and seed, then scores, targets, weights and offset, and the facts about times. Scores
/// and offsets have one row for each response or class, targets one for each response.
pub(super) type Held<'py> = (
    f64,
    u64,
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray2<'py, f64>,
    Option<PyReadonlyArray1<'py, f64>>,
    Option<PyReadonlyArray2<'py, f64>>,
    Option<Followed>,
);

impl Problem {
    /// Computes `intercept + Ax + o` for every row, 0 for rows of weight zero.
    pub(super) fn predictions(&self, solution: &Solution) -> Vec<f64> {
        let (design, model) = (self.problem.design(), &solution.found);
        let mut counted = vec![model.intercept; design.rows()];
        let x = model.coefficients.iter().copied().enumerate();
        design.add_columns(x.filter(|(_, value)| *value != 0.0), &mut counted);
        let mut counted = counted.into_iter();
        let rows = self.weights.as_ref().map_or(design.rows(), Vec::len);
        let score = |row: usize| {
            let counts = self
                .weights
                .as_ref()
                .is_none_or(|weights| weights[row] > 0.0);
            let offset = self.offsets.first().map_or(0.0, |offset| offset[row]);
            if counts {
                counted.next().unwrap_or(0.0) + offset
            } else {
                0.0
            }
        };
        (0..rows).map(score).collect()
    }

    /// Measures a model on held-out rows.
    pub(super) fn measure(
        &self,
        (share, seed, scores, response, weights, offset, followed): Held,
    ) -> PyResult<HeldOut> {
        let vector = |array: PyReadonlyArray1<f64>| array.as_array().to_vec();
        let rows = |array: PyReadonlyArray2<f64>| -> Vec<Vec<f64>> {
            let rows = array.as_array();
            rows.rows().into_iter().map(|row| row.to_vec()).collect()
        };
        let (scores, responses) = (rows(scores), rows(response));
        let (weights, offset) = (weights.map(vector), offset.map(rows));
        let offsets = offset.unwrap_or_default();
        if !self.outputs().is_empty() {
            let count = responses.first().map_or(0, Vec::len);
            let weights = weights.unwrap_or_else(|| vec![1.0; count]);
            let metrics = if self.classes.is_empty() {
                let loss = self.problem.loss();
                let rows = SeveralRows {
                    scores: &scores,
                    responses: &responses,
                    weights: &weights,
                    offsets: &offsets,
                };
                Metrics::of_several(loss, &self.responses, &rows)
            } else {
                let classes = responses.iter().flatten().map(|class| *class as usize);
                let classes: Vec<usize> = classes.collect();
                Metrics::of_classes(&scores, &classes, &weights, !offsets.is_empty())
            };
            return Ok(HeldOut {
                share,
                seed,
                metrics,
            });
        }
        let [scores, response] = [scores, responses].map(|rows| rows.concat());
        let rows = Rows {
            scores: &scores,
            response: &response,
            weights: weights.as_deref(),
            offset: offsets.first().map(Vec::as_slice),
            times: Times::default(),
        };
        // A loss of times is bound to specific rows, so the held-out rows need their own.
        let own = followed.map(|followed| followed.loss()).transpose()?;
        Ok(HeldOut {
            share,
            seed,
            metrics: Metrics::of(own.as_deref().unwrap_or(self.problem.loss()), &rows),
        })
    }
}

/// Draws the rows to hold out: a share of the rows of positive weight, for each label (-1
/// and 1) or class (from 0).
#[pyfunction]
pub fn hold_out(
    y: PyReadonlyArray1<f64>,
    weights: Option<PyReadonlyArray1<f64>>,
    has_labels: bool,
    share: f64,
    seed: u64,
) -> PyResult<Vec<bool>> {
    let vector = |array: PyReadonlyArray1<f64>| array.as_array().to_vec();
    let weights = weights.map(vector);
    let held = holdout::draw(&vector(y), weights.as_deref(), has_labels, share, seed);
    held.map_err(|error| {
        PyValueError::new_err(match error {
            HoldoutError::FewRows(rows) => {
                format!("holdout needs at least 2 rows of positive weight; got {rows}.")
            }
            HoldoutError::FewOfLabel { rows, .. } => {
                format!("holdout needs at least 2 rows of each label; one label has {rows}.")
            }
        })
    })
}
