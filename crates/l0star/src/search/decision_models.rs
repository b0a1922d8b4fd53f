//! [`DecisionModels`]: the models that searches for several decisions share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::problem::Decision;

/// The best model found so far for each of several decisions, by any search.
#[derive(Debug)]
pub(crate) struct DecisionModels {
    known: Mutex<Vec<Known>>,
}

#[derive(Debug, Clone)]
struct Known {
    decision: Decision,
    objective: f64,
    support: Vec<usize>,
}

impl DecisionModels {
    /// Decisions without a known model.
    pub(crate) fn new(decisions: impl Iterator<Item = Decision>) -> Self {
        let known = decisions.map(|decision| Known {
            decision,
            objective: f64::INFINITY,
            support: Vec::new(),
        });
        Self {
            known: Mutex::new(known.collect()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a fitted model for every decision that it follows.
    pub(crate) fn enter(&self, support: &[usize], objective: f64) {
        for known in self.lock().iter_mut() {
            if objective < known.objective && known.decision.allows(support) {
                known.objective = objective;
                known.support = support.to_vec();
            }
        }
    }

    /// The support of the best model for each decision, where one is known.
    pub(crate) fn supports(&self) -> Vec<Option<Vec<u32>>> {
        let known = self.lock();
        let support = |known: &Known| {
            let is_known = known.objective.is_finite();
            is_known.then(|| known.support.iter().map(|j| *j as u32).collect())
        };
        known.iter().map(support).collect()
    }

    /// The objective and the support of the best model for the decision with this number.
    pub(crate) fn best(&self, at: usize) -> (f64, Vec<usize>) {
        let known = &self.lock()[at];
        (known.objective, known.support.clone())
    }
}
