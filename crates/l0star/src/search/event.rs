//! What a run tells whoever listens to it.

use crate::settings::relative;

/// What a run is doing.
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
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Heuristic => "heuristic",
            Self::Root => "root",
            Self::Search => "search",
        }
    }
}

/// Where a model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// It was given: by the caller, a smaller size of a path, or a checkpoint.
    Given,
    /// Greedy steps, and swaps.
    #[default]
    Greedy,
    /// The local search for models, before the proof or beside it.
    LocalSearch,
    /// The relaxation of a node, or a node in which one set was left.
    Search,
}

impl Source {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Greedy => "greedy",
            Self::LocalSearch => "local-search",
            Self::Search => "search",
        }
    }
}

/// What an [`Event`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News<'a> {
    /// Another phase begins.
    Phase,
    /// A better model was found.
    Incumbent {
        /// Its columns, those of whole groups and of included features too, as in [`Solution::support`](crate::Solution::support).
        support: &'a [usize],
        /// Where it comes from.
        source: Source,
    },
    /// The lower bound rose.
    Bound,
    /// Models with few features are looked at one by one.
    Enumeration {
        /// How much of that is done.
        percent: u8,
    },
    /// Time has passed.
    Tick,
}

/// Something that happened, and where the run stood then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event<'a> {
    /// What happened.
    pub news: News<'a>,
    /// What the run is doing.
    pub phase: Phase,
    /// Seconds since the start.
    pub seconds: f64,
    /// Nodes looked at.
    pub nodes: u64,
    /// Open nodes.
    pub open: usize,
    /// The best certified bound so far, 0 when there is none.
    pub lower_bound: f64,
    /// The objective of the best model so far, +∞ when there is none.
    pub objective: f64,
    /// The objective of the best model without selectable features.
    pub empty_objective: f64,
    /// Selectable features that are not yet decided for the whole problem.
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

    /// Nodes looked at a second, on average.
    pub fn nodes_per_second(&self) -> f64 {
        self.nodes as f64 / self.seconds.max(1e-9)
    }
}

/// A listener to events. It is called on the thread that solves, whatever the number of threads that search.
pub type Observer<'p> = Box<dyn FnMut(&Event) + 'p>;
