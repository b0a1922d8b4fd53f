//! The scores of cross-validation: the class `Tally`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use l0star_record::cv::{self, Axis, Hopeless, Penalty, Scored, Undecided};
use l0star_report::{Face, outlook};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::refuse;

/// The score, status and number of features of a search. If it was stopped and unlikely to finish, also the
/// seconds of its proof and a ridge that would help. None without a score.
type Cell = Option<(f64, &'static str, usize, Option<(f64, f64)>)>;

/// The outcomes of all searches so far. Each is for a size on the rows outside a fold,
/// with one ridge and one price.
#[pyclass(frozen, module = "l0star._core")]
pub struct Tally {
    pub sizes: Vec<usize>,
    pub penalties: Vec<Penalty>,
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
    /// Creates a tally without scores; sizes ascend.
    #[new]
    fn new(sizes: Vec<usize>, ridges: Vec<f64>, l0_penalties: Vec<f64>, folds: usize) -> Self {
        let penalties = Penalty::grid(&ridges, &l0_penalties);
        let scores = cv::Tally::new(&sizes, &penalties, folds);
        Self {
            sizes,
            penalties,
            folds,
            scores: Arc::new(Mutex::new(scores)),
        }
    }

    /// Returns every ridge with every price, the highest price first.
    #[getter]
    fn penalties(&self) -> Vec<(f64, f64)> {
        let penalties = self.penalties.iter();
        penalties.map(|own| (own.ridge, own.l0)).collect()
    }

    /// Enters the outcome of a search: a penalty, a size and a fold by number, and a cell in
    /// the form of `candidates`.
    #[expect(clippy::too_many_arguments)]
    fn enter(
        &self,
        penalty: usize,
        size: usize,
        fold: usize,
        score: f64,
        status: &str,
        features: usize,
        hopeless: Option<(f64, f64)>,
    ) -> PyResult<()> {
        let scored = Scored {
            score,
            status: status.parse().map_err(refuse)?,
            features,
            hopeless: hopeless.map(|(seconds, ridge)| Hopeless { seconds, ridge }),
        };
        self.lock().enter(penalty, size, fold, scored);
        Ok(())
    }

    /// Returns the outcome of the search of each candidate (k varies fastest) and each fold.
    fn candidates(&self) -> Vec<Vec<Cell>> {
        let cell = |fold: &Option<Scored>| {
            fold.map(|own| {
                let hopeless = own.hopeless.map(|own| (own.seconds, own.ridge));
                (own.score, own.status.as_str(), own.features, hopeless)
            })
        };
        let tally = self.lock();
        let candidates = tally.candidates.iter();
        candidates
            .map(|candidate| candidate.folds.iter().map(cell).collect())
            .collect()
    }

    /// Returns the number of searches without a score.
    #[getter]
    fn n_missing(&self) -> usize {
        self.lock().missing().0
    }

    /// Whether there is only one size, so that models become larger along the prices.
    #[getter]
    fn is_along_prices(&self) -> bool {
        self.lock().axis() == Axis::Prices
    }

    /// Returns the numbers of the candidates whose step is complete: the smallest sizes (or the highest prices)
    /// up to the first one with a missing search.
    #[getter]
    fn complete(&self) -> Vec<usize> {
        let tally = self.lock();
        let complete = tally.complete();
        let all = 0..tally.candidates.len();
        all.filter(|at| tally.step(*at) < complete).collect()
    }

    /// Describes the searches that were stopped and unlikely to finish; None if there are none.
    fn hopeless(&self) -> Option<String> {
        outlook::of_folds(&self.lock(), Face::Python)
    }

    /// Returns the number of the chosen candidate, where a higher score is better. If there is none, returns
    /// None and whether the score was still rising.
    fn choose(&self, rule: &str) -> PyResult<(Option<usize>, bool)> {
        let rule = rule.parse().map_err(PyValueError::new_err)?;
        Ok(match cv::choose(&self.lock(), true, rule) {
            Ok(choice) => (Some(choice.chosen), false),
            Err(Undecided::Rising) => (None, true),
            Err(Undecided::NoSize) => (None, false),
        })
    }
}
