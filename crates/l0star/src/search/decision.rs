//! Searches that share what they know: each is about the models with one feature in, or out.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::bound::Certified;

/// One feature is in every model of a search, or in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The feature, by its first column.
    pub feature: usize,
    pub inside: bool,
}

impl Decision {
    /// Whether a support follows it.
    pub(crate) fn allows(self, support: &[usize]) -> bool {
        support.contains(&self.feature) == self.inside
    }
}

/// The best model found so far for each of several decisions, whichever search found it.
#[derive(Debug)]
pub(crate) struct Ledger {
    known: Mutex<Vec<Known>>,
}

#[derive(Debug, Clone)]
struct Known {
    decision: Decision,
    objective: f64,
    support: Vec<usize>,
}

impl Ledger {
    /// Nothing is known yet.
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

    /// A model was fitted: it is one for every decision that it follows.
    pub(crate) fn note(&self, support: &[usize], objective: f64) {
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

    /// The objective and the support of the best model for the decision of this number.
    pub(crate) fn best(&self, at: usize) -> (f64, Vec<usize>) {
        let known = &self.lock()[at];
        (known.objective, known.support.clone())
    }
}

/// A look at one node for many decisions at once: its dual point bounds what each of them costs there.
///
/// Nothing is decided but what holds for every model up to `reference`, which is at least the best known model of each
/// decision.
#[derive(Debug)]
pub(crate) struct Survey {
    /// Certificates are made for models up to this.
    reference: AtomicU64,
    /// A bound of every model that has a column in it.
    bounds: Mutex<Vec<Certified>>,
}

impl Survey {
    pub(crate) fn new(reference: f64, columns: usize) -> Self {
        Self {
            reference: AtomicU64::new(reference.to_bits()),
            bounds: Mutex::new(vec![Certified::TRIVIAL; columns]),
        }
    }

    pub(crate) fn reference(&self) -> f64 {
        f64::from_bits(self.reference.load(Ordering::Relaxed))
    }

    /// Another node: nothing is known but its own bound.
    pub(super) fn begin(&self, reference: f64, low: Certified) {
        self.reference.store(reference.to_bits(), Ordering::Relaxed);
        self.lock().fill(low);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Certified>> {
        self.bounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A bound of the models with the feature in what is left of the node. What was discarded before had at least `cut`.
    pub(crate) fn note(&self, feature: usize, bound: Certified, cut: f64) {
        let bounds = &mut self.lock()[feature];
        *bounds = bounds.or(bound.at_most(cut));
    }

    /// The same for every feature.
    pub(crate) fn note_all(&self, bound: Certified, cut: f64) {
        for known in self.lock().iter_mut() {
            *known = known.or(bound.at_most(cut));
        }
    }

    /// What is proved of the models with the feature.
    pub(crate) fn bound(&self, feature: usize) -> Certified {
        self.lock()[feature]
    }
}
