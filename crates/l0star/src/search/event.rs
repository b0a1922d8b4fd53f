//! The events that a run sends to its observer.

use crate::settings::relative;

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Looking for a first model.
    Heuristic,
    /// The Gram matrix, screening, and the relaxation of the root.
    Root,
    /// Splitting nodes.
    Search,
}

impl Phase {
    /// Name of the phase.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Heuristic => "heuristic",
            Self::Root => "root",
            Self::Search => "search",
        }
    }
}

/// Source of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// Given by the caller, a smaller size of a path, or a checkpoint.
    Given,
    /// Greedy steps and swaps.
    #[default]
    Greedy,
    /// The local search for models, before the proof or alongside it.
    LocalSearch,
    /// The relaxation of a node, or a node in which one set remained.
    Search,
}

impl Source {
    /// Name of the source.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Greedy => "greedy",
            Self::LocalSearch => "local-search",
            Self::Search => "search",
        }
    }
}

/// Reason for an [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News<'a> {
    /// A new phase begins.
    Phase,
    /// A better model was found.
    Incumbent {
        /// Columns of the model, including those of whole groups and of included features, as in
        /// [`Solution::support`](crate::Solution::support).
        support: &'a [usize],
        /// Where the model comes from.
        source: Source,
    },
    /// The lower bound rose.
    Bound,
    /// Models with few features are enumerated.
    Enumeration {
        /// Percentage of the enumeration that is done.
        percent: u8,
    },
    /// Time has passed.
    Tick,
}

/// Something that happened, and the state of the run at that time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event<'a> {
    /// The reason for the event.
    pub news: News<'a>,
    /// The current phase.
    pub phase: Phase,
    /// Seconds since the start.
    pub seconds: f64,
    /// Number of nodes expanded.
    pub nodes: u64,
    /// Number of open nodes.
    pub open: usize,
    /// The best certified bound so far; 0 when there is none.
    pub lower_bound: f64,
    /// The objective of the best model so far; +∞ when there is none.
    pub objective: f64,
    /// The objective of the best model without selectable features.
    pub empty_objective: f64,
    /// Number of selectable features that are undecided for the whole problem.
    pub features_left: usize,
}

impl Event<'_> {
    /// The gap divided by `max(objective, 1e-12 * empty_objective)`; +∞ without a model.
    pub fn relative_gap(&self) -> f64 {
        let gap = (self.objective - self.lower_bound).max(0.0);
        if gap.is_finite() {
            relative(gap, self.objective, self.empty_objective)
        } else {
            f64::INFINITY
        }
    }

    /// Nodes expanded per second, on average.
    pub fn nodes_per_second(&self) -> f64 {
        self.nodes as f64 / self.seconds.max(1e-9)
    }
}

/// A listener to events. It is called on the thread that solves, however many threads search.
pub type Observer<'p> = Box<dyn FnMut(&Event) + 'p>;
