//! [`Incumbents`]: the best models so far, shared by all threads of a search, and the value that a bound has to reach.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::checkpoint::State;
use super::decision_models::DecisionModels;
use super::event::Source;
use super::pool::{Entry, Incumbent, Pool};
use crate::bound::Certified;
use crate::problem::{Decision, Problem};
use crate::restricted::Fit;
use crate::settings::{Settings, scale_of};

/// With `gap = 0`, relative accuracy to which a result is proved (see
/// [`Status::Optimal`](crate::settings::Status::Optimal)) …
pub(crate) const PROMISE: f64 = 1e-9;
/// … and the slightly tighter accuracy of the search, so that rounding in the last comparison cannot break the
/// promise.
pub(crate) const WORKING: f64 = 0.9e-9;

/// The best models of a search: one, or the requested list. Clones share them.
#[derive(Debug, Clone)]
pub struct Incumbents(Arc<Shared>);

/// State that all threads of a search share.
#[derive(Debug)]
struct Shared {
    /// The bits of the best objective, and of the objective that a model has to beat. They are the same when one model
    /// is wanted.
    best: AtomicU64,
    reference: AtomicU64,
    /// Whether a list of models is wanted.
    many: bool,
    gaps: Gaps,
    empty_objective: f64,
    pool: Mutex<Pool>,
    /// The decision that every model has to follow.
    decision: Option<Decision>,
    /// Receiver of all fitted models, for the searches of other decisions.
    others: Option<Arc<DecisionModels>>,
}

/// The errors that a result may have.
#[derive(Debug, Clone, Copy)]
struct Gaps {
    absolute: f64,
    relative: f64,
}

impl Incumbents {
    /// Incumbents without a model.
    pub(super) fn new(
        problem: &Problem,
        settings: &Settings,
        decision: Option<Decision>,
        others: Option<Arc<DecisionModels>>,
    ) -> Self {
        Self(Arc::new(Shared {
            best: AtomicU64::new(f64::INFINITY.to_bits()),
            reference: AtomicU64::new(f64::INFINITY.to_bits()),
            many: settings.wants_list(),
            gaps: Gaps {
                absolute: settings.gap,
                relative: settings.relative_gap,
            },
            empty_objective: problem.empty_objective(),
            pool: Mutex::new(Pool::new(problem, settings)),
            decision,
            others,
        }))
    }

    pub(super) fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The best model so far, whichever thread found it.
    pub fn first(&self) -> Option<Incumbent> {
        let pool = self.pool();
        pool.entries.first().map(|entry| entry.model.clone())
    }

    /// The objective of the best model; +∞ when there is none.
    #[inline]
    pub fn best(&self) -> f64 {
        f64::from_bits(self.0.best.load(Ordering::Relaxed))
    }

    /// The objective that a model has to beat to be of use: the best one, that of the last model in a full list, or
    /// the threshold of `within`. Certificates are wanted for models below it.
    #[inline]
    pub fn reference(&self) -> f64 {
        f64::from_bits(self.0.reference.load(Ordering::Relaxed))
    }

    /// The bound at which a node is discarded. It is rounded up, so that `objective - lower_bound` of the result, as
    /// computed, does not exceed the allowed error.
    #[inline]
    pub fn cut(&self) -> f64 {
        (self.reference() - self.allowed()).next_up()
    }

    /// The decision that every model of this search has to follow.
    pub(crate) fn decision(&self) -> Option<Decision> {
        self.0.decision
    }

    /// Whether a list of models is wanted. Then a set is finished only when all its subsets are, too.
    pub fn wants_list(&self) -> bool {
        self.0.many
    }

    /// Whether the list is long enough for [`Incumbents::reference`] to be finite.
    pub(crate) fn has_reference(&self) -> bool {
        self.reference().is_finite()
    }

    /// Number of models that are kept.
    pub(crate) fn capacity(&self) -> usize {
        self.pool().capacity()
    }

    /// The difference below which two objectives count as equal.
    pub fn tie(&self) -> f64 {
        let reference = self.reference();
        if reference.is_finite() {
            WORKING * self.scale_of(reference)
        } else {
            0.0
        }
    }

    /// The scale that the error of an objective is relative to.
    pub(crate) fn scale_of(&self, objective: f64) -> f64 {
        scale_of(objective, self.0.empty_objective)
    }

    /// The absolute error that the result may have.
    pub fn allowed(&self) -> f64 {
        let Gaps { absolute, relative } = self.0.gaps;
        if relative == 0.0 {
            return absolute.max(self.tie());
        }
        let scale = self.scale_of(self.reference());
        absolute.max(relative * scale).max(self.tie())
    }

    /// Whether a support is in the list; without a list, whether it is the best one.
    pub(super) fn contains(&self, support: &[usize]) -> bool {
        if self.0.many {
            self.pool().contains(support)
        } else {
            self.first().is_some_and(|known| known.support == support)
        }
    }

    /// Shares a fitted model with the searches of other decisions.
    pub(super) fn share(&self, support: &[usize], objective: f64) {
        if let Some(others) = &self.0.others {
            others.enter(support, objective);
        }
    }

    /// Keeps a model that is good enough; returns true when it is the best. Models with equal objectives are ordered
    /// by support.
    pub(super) fn offer(&self, support: &[usize], fit: Fit, source: Source) -> bool {
        let decision = self.0.decision;
        if decision.is_some_and(|decision| !decision.allows(support)) {
            return false;
        }
        let mut pool = self.pool();
        let support = support.to_vec();
        let better = pool.offer(Incumbent {
            support,
            fit,
            source,
        });
        self.0.best.store(pool.best().to_bits(), Ordering::Relaxed);
        let reference = pool.reference().to_bits();
        self.0.reference.store(reference, Ordering::Relaxed);
        better
    }

    /// Takes over the models of a checkpoint and their evidence.
    pub(super) fn resume(&self, state: &State) {
        for Entry { model, evidence } in state.models() {
            self.offer(&model.support, model.fit, model.source);
            if let Some(evidence) = evidence {
                self.pool().record_bound(&model.support, evidence);
            }
        }
        self.pool().evicted = state.evicted();
    }

    /// Records the evidence of models that were dropped from another list of the same search.
    pub(super) fn evict(&self, evidence: Option<Certified>) {
        let mut pool = self.pool();
        let known = pool.evicted.into_iter().chain(evidence);
        pool.evicted = known.reduce(Certified::weaker);
    }

    /// The bound proved for the models of a list individually: +∞ without a list or without evidence.
    pub(super) fn proved(&self) -> f64 {
        if !self.0.many {
            return f64::INFINITY;
        }
        let listed = self.pool().evidence();
        listed.map_or(f64::INFINITY, Certified::value)
    }

    /// A bound of everything not in the list (of the optimum, without a list), given a bound of the sets without
    /// evidence of their own; `None` when nothing is known.
    pub(super) fn bound_of_others(&self, bound: Option<Certified>) -> Option<Certified> {
        if !self.0.many {
            return bound;
        }
        let pool = self.pool();
        let known = bound.into_iter().chain(pool.unshown());
        // No other set is left, so any bound holds.
        known.reduce(Certified::weaker).or(pool.evidence())
    }
}
