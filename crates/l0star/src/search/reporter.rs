//! [`Reporter`]: the events of a run, and who listens to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::event::{Event, News, Observer, Phase};
use crate::problem::lowered_by;

/// How long a run is silent when nothing happens, in seconds.
pub(super) const TICK: f64 = 0.1;

/// What an event says besides its news and what the reporter knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    pub seconds: f64,
    /// A bound of the whole problem, from before there were nodes.
    pub whole: f64,
    /// What is proved of the models of a list by themselves.
    pub listed: f64,
    pub objective: f64,
    pub empty_objective: f64,
    /// What bounds are lowered by when they are told ([`Problem::moment_error`](crate::Problem::moment_error)).
    pub error: f64,
}

/// What an observer was told last.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    open: usize,
    nodes: u64,
    bound: f64,
}

/// Sends events to an observer, if there is one.
pub(crate) struct Reporter<'p> {
    observer: Option<Observer<'p>>,
    phase: Option<Phase>,
    told: Told,
    /// When silence has to be broken.
    next_tick: f64,
    /// Selectable features that are undecided for the whole problem, as all threads see it.
    features_left: Arc<AtomicUsize>,
}

impl<'p> Reporter<'p> {
    /// Nobody listens yet.
    pub(super) fn new(features_left: Arc<AtomicUsize>) -> Self {
        Self {
            observer: None,
            phase: None,
            told: Told::default(),
            next_tick: 0.0,
            features_left,
        }
    }

    /// Sends events there from now on.
    pub(super) fn observe(&mut self, observer: Observer<'p>) {
        self.observer = Some(observer);
    }

    /// Whether anybody listens.
    pub(super) fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Whether somebody listens who has not heard anything for a while.
    pub(super) fn is_silent(&self, seconds: f64) -> bool {
        self.is_observed() && seconds >= self.next_tick
    }

    /// Notes that a phase begins; false when it is the one at hand.
    pub(super) fn enter(&mut self, phase: Phase) -> bool {
        self.phase.replace(phase) != Some(phase)
    }

    /// So many selectable features are undecided for the whole problem.
    pub(crate) fn set_features_left(&self, count: usize) {
        self.features_left.store(count, Ordering::Relaxed);
    }

    /// How many selectable features are undecided for the whole problem.
    pub(super) fn features_left(&self) -> usize {
        self.features_left.load(Ordering::Relaxed)
    }

    /// What another thread needs for a reporter of its own.
    pub(super) fn shared(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.features_left)
    }

    /// Goes on counting where an earlier run stopped.
    pub(super) fn resume(&mut self, nodes: u64, features_left: usize) {
        self.told.nodes = nodes;
        self.set_features_left(features_left);
    }

    /// Notes how far the search has come; true when its bound rose.
    pub(super) fn note(&mut self, open: usize, nodes: u64, bound: f64) -> bool {
        (self.told.open, self.told.nodes) = (open, nodes);
        let rose = bound > self.told.bound;
        self.told.bound = self.told.bound.max(bound);
        rose
    }

    /// Sends an event.
    pub(super) fn tell(&mut self, news: News, standing: &Standing) {
        let features_left = self.features_left();
        let Some(observer) = &mut self.observer else {
            return;
        };
        self.next_tick = standing.seconds + TICK;
        let lower_bound = self.told.bound.max(standing.whole);
        observer(&Event {
            news,
            phase: self.phase.unwrap_or(Phase::Heuristic),
            seconds: standing.seconds,
            nodes: self.told.nodes,
            open: self.told.open,
            // The bound of a list's search is about what is not in the list.
            lower_bound: lowered_by(lower_bound.min(standing.listed), standing.error),
            objective: standing.objective,
            empty_objective: standing.empty_objective,
            features_left,
        });
    }
}
