//! [`Reporter`]: sends the events of a run to its observer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::event::{Event, News, Observer, Phase};
use crate::problem::Problem;

/// Seconds without an event after which a tick is sent.
pub(super) const TICK: f64 = 0.1;

/// The part of an event that is neither its news nor known to the reporter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing<'a> {
    pub seconds: f64,
    /// A bound of the whole problem, proved before there were nodes.
    pub whole: f64,
    /// The bound proved for the models of a list individually.
    pub listed: f64,
    pub objective: f64,
    pub empty_objective: f64,
    /// The problem, which converts bounds to those of the rows it is about.
    pub problem: &'a Problem,
}

/// The values last noted for the observer.
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
    /// When the next tick is due, in seconds.
    next_tick: f64,
    /// Selectable features that are undecided for the whole problem; shared by all threads.
    features_left: Arc<AtomicUsize>,
}

impl<'p> Reporter<'p> {
    /// A reporter without an observer.
    pub(super) fn new(features_left: Arc<AtomicUsize>) -> Self {
        Self {
            observer: None,
            phase: None,
            told: Told::default(),
            next_tick: 0.0,
            features_left,
        }
    }

    /// Sends all further events to this observer.
    pub(super) fn observe(&mut self, observer: Observer<'p>) {
        self.observer = Some(observer);
    }

    /// Whether there is an observer.
    pub(super) fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Whether there is an observer and a tick is due.
    pub(super) fn is_silent(&self, seconds: f64) -> bool {
        self.is_observed() && seconds >= self.next_tick
    }

    /// Notes that a phase begins; returns false when it is the current one.
    pub(super) fn enter(&mut self, phase: Phase) -> bool {
        self.phase.replace(phase) != Some(phase)
    }

    /// Sets the number of selectable features that are undecided for the whole problem.
    pub(crate) fn set_features_left(&self, count: usize) {
        self.features_left.store(count, Ordering::Relaxed);
    }

    /// Number of selectable features that are undecided for the whole problem.
    pub(super) fn features_left(&self) -> usize {
        self.features_left.load(Ordering::Relaxed)
    }

    /// The counter that the reporter of another thread shares.
    pub(super) fn shared(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.features_left)
    }

    /// Continues the count of an earlier run.
    pub(super) fn resume(&mut self, nodes: u64, features_left: usize) {
        self.told.nodes = nodes;
        self.set_features_left(features_left);
    }

    /// Notes the progress of the search; returns true when its bound rose.
    pub(super) fn note(&mut self, open: usize, nodes: u64, bound: f64) -> bool {
        (self.told.open, self.told.nodes) = (open, nodes);
        let rose = bound > self.told.bound;
        self.told.bound = self.told.bound.max(bound);
        rose
    }

    /// Sends an event.
    pub(super) fn tell(&mut self, news: News, standing: &Standing<'_>) {
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
            // The bound of a list's search covers the models outside the list.
            lower_bound: standing.problem.of_rows(lower_bound.min(standing.listed)),
            objective: standing.objective,
            empty_objective: standing.empty_objective,
            features_left,
        });
    }
}
