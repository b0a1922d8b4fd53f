//! The scores of cross-validation: the class `Tally`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use l0star_record::cv::{self, Scored, Undecided};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::refuse;

/// A score and what is known of its model; None where there is none.
type Cell = Option<(f64, &'static str)>;

/// What came of every search so far: a size on the rows outside a fold, with one ridge.
#[pyclass(frozen, module = "l0star._core")]
pub struct Tally {
    pub sizes: Vec<usize>,
    pub ridges: usize,
    pub folds: usize,
    pub scores: Arc<Mutex<cv::Tally>>,
}

impl Tally {
    fn lock(&self) -> MutexGuard<'_, cv::Tally> {
        self.scores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Tally {
    /// No scores yet; sizes ascend.
    #[new]
    fn new(sizes: Vec<usize>, ridges: Vec<f64>, folds: usize) -> Self {
        let scores = cv::Tally::new(&sizes, &ridges, folds);
        Self {
            sizes,
            ridges: ridges.len(),
            folds,
            scores: Arc::new(Mutex::new(scores)),
        }
    }

    /// Enters the score of a search, all by their numbers, and what is known of its model.
    fn enter(
        &self,
        ridge: usize,
        size: usize,
        fold: usize,
        score: f64,
        status: &str,
    ) -> PyResult<()> {
        let status = status.parse().map_err(refuse)?;
        self.lock()
            .enter(ridge, size, fold, Scored { score, status });
        Ok(())
    }

    /// For each candidate, k running fastest, and each fold: the score and the status.
    fn candidates(&self) -> Vec<Vec<Cell>> {
        let cell = |fold: &Option<Scored>| fold.map(|own| (own.score, own.status.as_str()));
        let tally = self.lock();
        let candidates = tally.candidates.iter();
        candidates
            .map(|candidate| candidate.folds.iter().map(cell).collect())
            .collect()
    }

    /// How many searches have no score.
    #[getter]
    fn n_missing(&self) -> usize {
        self.lock().missing().0
    }

    /// The smallest sizes, as far as all ridges have all of their folds.
    #[getter]
    fn complete(&self) -> Vec<usize> {
        self.lock().complete()
    }

    /// The number of the candidate that is chosen, the more the better; None and whether the score was still rising
    /// where there is none.
    fn choose(&self, rule: &str) -> PyResult<(Option<usize>, bool)> {
        let rule = rule.parse().map_err(PyValueError::new_err)?;
        Ok(match cv::choose(&self.lock(), true, rule) {
            Ok(choice) => (Some(choice.chosen), false),
            Err(Undecided::Rising) => (None, true),
            Err(Undecided::NoSize) => (None, false),
        })
    }
}
