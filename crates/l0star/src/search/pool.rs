//! [`Pool`]: the best models so far, one or the list that `top` and `within` request.
//!
//! A model of the list is a *set of at most k selectable features*, valued at its own optimum. Two sets are distinct
//! even when they differ only in a feature whose coefficient is 0. Models with equal objectives are ordered by their
//! sets.

use super::count::count_subsets;
use super::event::Source;
use crate::bound::Certified;
use crate::problem::Problem;
use crate::restricted::Fit;
use crate::settings::{Settings, scale_of};

/// Relative tolerance around the threshold of `within`: models this close to it are in the list …
const LISTED: f64 = 1e-9;
/// … and bounds are proved up to this tolerance, so that none of those models is ever dropped.
const PROVED: f64 = 3e-9;

/// The best model so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Incumbent {
    /// Support among the selectable features.
    pub support: Vec<usize>,
    /// Coefficients, in the engine's scale, and objective.
    pub fit: Fit,
    /// Where the model comes from.
    pub source: Source,
}

/// A model, and the evidence of its set.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub model: Incumbent,
    /// The certified bound of the set, once the search has reached it individually. Until then the set belongs to an
    /// open node, or to one that was discarded with its own evidence.
    pub evidence: Option<Certified>,
}

/// The best models, best first.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Number of models that are kept.
    capacity: usize,
    /// Number of models that are shown. With `within` one more is kept, to know whether there are more.
    shown: usize,
    within: Option<f64>,
    empty_objective: f64,
    many: bool,
    /// Whether there is room for all sets.
    takes_all: bool,
    pub entries: Vec<Entry>,
    /// The smallest bound of a set that had its evidence and was dropped from the list.
    pub evicted: Option<Certified>,
}

impl Pool {
    pub(crate) fn new(problem: &Problem, settings: &Settings) -> Self {
        let shown = settings.list_length();
        let many = settings.wants_list();
        let wanted = shown.saturating_add(usize::from(settings.within.is_some()));
        let all = if many { count_subsets(problem) } else { 1 };
        Self {
            capacity: usize::try_from(all).map_or(wanted, |all| wanted.min(all)),
            shown,
            within: settings.within,
            empty_objective: problem.empty_objective(),
            many,
            takes_all: many && wanted as u128 >= all,
            entries: Vec::new(),
            evicted: None,
        }
    }

    /// The best objective, +∞ when there is none.
    pub(crate) fn best(&self) -> f64 {
        let first = self.entries.first();
        first.map_or(f64::INFINITY, |entry| entry.model.fit.objective)
    }

    /// `(1 + within)` times the best objective, and the scale of its tolerance.
    fn threshold(&self) -> Option<(f64, f64)> {
        let value = self.best() * (1.0 + self.within?);
        Some((value, scale_of(value, self.empty_objective)))
    }

    /// The objective above which models are of no use.
    pub(crate) fn reference(&self) -> f64 {
        let last = match self.entries.last() {
            Some(last) if self.is_full() => last.model.fit.objective,
            _ => f64::INFINITY,
        };
        let threshold = self.threshold();
        threshold.map_or(last, |(value, size)| last.min(value + PROVED * size))
    }

    /// Number of models that are kept.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    fn is_full(&self) -> bool {
        self.entries.len() >= self.capacity
    }

    /// The models that are shown, and whether there was no room for others within the threshold.
    pub(crate) fn listed(&self) -> (&[Entry], bool) {
        let high = self.threshold().map(|(value, size)| value + LISTED * size);
        let is_in = |entry: &Entry| high.is_none_or(|high| entry.model.fit.objective <= high);
        let count = self.entries.iter().filter(|entry| is_in(entry)).count();
        let shown = count.min(self.shown);
        (&self.entries[..shown], high.is_some() && count > shown)
    }

    /// The bound that all sets not shown must have for the list to be complete.
    pub(crate) fn promise(&self) -> f64 {
        let (shown, truncated) = self.listed();
        let last = shown.last().map(|entry| entry.model.fit.objective);
        match self.threshold() {
            Some((value, _)) if !truncated => value,
            _ => last.unwrap_or(f64::INFINITY),
        }
    }

    /// Whether every set is shown.
    pub(crate) fn is_everything(&self) -> bool {
        self.takes_all && self.is_full() && self.listed().0.len() == self.entries.len()
    }

    fn find(&self, support: &[usize]) -> Option<usize> {
        let mut entries = self.entries.iter();
        entries.position(|entry| entry.model.support == support)
    }

    pub(crate) fn contains(&self, support: &[usize]) -> bool {
        self.find(support).is_some()
    }

    /// Records the evidence of a set; returns false when the set is not in the list.
    pub(crate) fn record_bound(&mut self, support: &[usize], evidence: Certified) -> bool {
        let found = self.find(support).filter(|_| self.many);
        if let Some(at) = found {
            let old = self.entries[at].evidence;
            self.entries[at].evidence = Some(old.map_or(evidence, |old| old.tighter(evidence)));
        }
        found.is_some()
    }

    /// Keeps a model that is good enough; returns true when it is the best.
    pub(crate) fn offer(&mut self, model: Incumbent) -> bool {
        if model.fit.objective.is_nan() || model.fit.objective == f64::INFINITY {
            return false;
        }
        let best = self.best();
        let mut evidence = None;
        if self.many
            && let Some(at) = self.find(&model.support)
        {
            if self.entries[at].model.fit.objective <= model.fit.objective {
                return false;
            }
            evidence = self.entries.remove(at).evidence;
        }
        let key = |model: &Incumbent| model.fit.objective;
        let order = |old: &Entry| {
            let values = key(&old.model).total_cmp(&key(&model));
            values
                .then_with(|| old.model.support.cmp(&model.support))
                .is_lt()
        };
        let at = self.entries.partition_point(order);
        let better = key(&model) < best;
        self.entries.insert(at, Entry { model, evidence });
        let reference = self.threshold().map(|(value, size)| value + PROVED * size);
        let is_out = |entry: &Entry| reference.is_some_and(|high| key(&entry.model) > high);
        while self.entries.len() > self.capacity || self.entries.last().is_some_and(is_out) {
            let lost = self.entries.pop().and_then(|entry| entry.evidence);
            self.evicted = self
                .evicted
                .into_iter()
                .chain(lost)
                .reduce(Certified::weaker);
        }
        better
    }

    /// A bound of the sets in the list that have evidence; `None` when there are none.
    pub(crate) fn evidence(&self) -> Option<Certified> {
        let proved = self.entries.iter().filter_map(|entry| entry.evidence);
        proved.reduce(Certified::weaker)
    }

    /// A bound of the sets that have evidence and are not shown.
    pub(crate) fn unshown(&self) -> Option<Certified> {
        let rest = &self.entries[self.listed().0.len()..];
        let rest = rest.iter().filter_map(|entry| entry.evidence);
        rest.chain(self.evicted).reduce(Certified::weaker)
    }
}
