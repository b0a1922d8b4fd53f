//! What the user asks for ([`Settings`]) and what comes back ([`Solution`]).

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::tuning::prepare::SHORT_PRODUCT;
use crate::tuning::working::MANY_FEATURES;

/// Defines an enum whose variants are words, which are the same in Rust, on the command line, in JSON and in Python.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal, $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)?) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word that names a variant, in the order of the documentation.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Returns the word for this value.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = Error;
            fn from_str(word: &str) -> Result<Self> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(Error::Unknown { what: $what, value: word.to_owned(), allowed: Self::WORDS.join(", ") }),
                }
            }
        }
    };
}

words! {
    /// How the support is searched for.
    Method, "method",
    /// The default: exact, with certified bounds.
    BestFirst = "best-first",
    /// The paper's best-first search unchanged: ordered tree, PDAL or SGA.
    Paper = "paper",
    /// Orthogonal matching pursuit (inexact).
    Omp = "omp",
    /// Iterative hard thresholding (inexact).
    Iht = "iht",
    /// Hard thresholding pursuit (inexact).
    Htp = "htp",
    /// Dual iterative hard thresholding (inexact).
    Diht = "diht",
    /// Brute force over every support; refused above a million.
    Exhaustive = "exhaustive",
}

words! {
    /// How `method=paper` maximises the dual bound of a node.
    RelaxationKind, "relaxation",
    /// Primal–dual algorithm with line search (Algorithm 3).
    Pdal = "pdal",
    /// Supergradient ascent (Algorithm 5).
    Sga = "sga",
}

words! {
    /// What a [`Solution`] is known to be.
    Status, "status",
    /// `objective - lower_bound <= 1e-9 * max(objective, 1e-12 * P(0))`, where P(0) is the objective of the empty
    /// model ([`Solution::empty_objective`]).
    Optimal = "optimal",
    /// `objective - lower_bound` is within the allowed error: `gap`, or `relative_gap` times the objective.
    GapReached = "gap_reached",
    /// The search is complete, but double precision cannot prove the accuracy that was asked for. The bound is valid.
    Precision = "precision",
    /// The time limit was reached; the bound is valid.
    TimeLimit = "time_limit",
    /// The node limit was reached; the bound is valid.
    NodeLimit = "node_limit",
    /// The memory limit was reached; the bound is valid.
    MemoryLimit = "memory_limit",
    /// The search was interrupted from outside; the bound is valid.
    Interrupted = "interrupted",
    /// An inexact method finished; nothing is proved.
    Heuristic = "heuristic",
}

impl Status {
    /// Whether a limit or an interruption ended the search, so that a longer run could prove more.
    pub fn stopped_early(self) -> bool {
        matches!(
            self,
            Self::TimeLimit | Self::NodeLimit | Self::MemoryLimit | Self::Interrupted
        )
    }

    /// Whether an exact search proved less than was asked for: it was stopped early, or double precision did not suffice.
    pub fn falls_short(self) -> bool {
        self == Self::Precision || self.stopped_early()
    }
}

/// When a mechanism is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Not at all.
    Never,
    /// Where it looks worthwhile.
    Auto,
    /// Wherever it applies.
    Always,
}

/// The mechanisms of `best-first`, each of which can be switched off to measure its effect
/// (`cargo xtask bench ablation`). By default all are on; no result depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mechanisms {
    /// Whether to work in Gram form where it applies, rather than in matrix form.
    pub gram: bool,
    /// Size of a Gram matrix, in multiplications, from which columns that one dual point rules out are dropped before
    /// it is formed.
    pub screen_from: u64,
    /// Number of features from which nodes with groups, bounds or prices are solved over working sets.
    pub working_from: usize,
    /// Enumeration of small budgets: quadratic problems with at most four features, other problems with at most three,
    /// and nodes of quadratic problems with at most three left to choose.
    pub enumeration: bool,
    /// Lifting: a larger ridge where the curvature of the loss allows it.
    pub lifting: bool,
    /// Lifts spread over the columns by what each gains; otherwise evenly.
    pub spreading: bool,
    /// A new, smaller frame with a larger lift once columns have been dropped.
    pub reframing: bool,
    /// Coefficients bounded by proved boxes: in Gram form for quadratic problems, on the rows for other losses.
    pub boxes: Use,
    /// Slack of the ridges, as well as of the rows, in the bound on how far a better model can be from the relaxed one.
    pub slack: bool,
    /// Features fixed by the bound of their other side.
    pub fixing: bool,
    /// Splitting on the feature of largest estimated gain; otherwise on that of largest coefficient.
    pub gains: bool,
    /// Swaps after the greedy first incumbent.
    pub swaps: bool,
    /// A separate search for better models: before the proof where that will take long, and alongside it.
    pub primal: bool,
}

impl Default for Mechanisms {
    fn default() -> Self {
        Self {
            gram: true,
            screen_from: SHORT_PRODUCT,
            working_from: MANY_FEATURES,
            enumeration: true,
            lifting: true,
            spreading: true,
            reframing: true,
            boxes: Use::Auto,
            slack: true,
            fixing: true,
            gains: true,
            swaps: true,
            primal: true,
        }
    }
}

/// Largest length of a list that only `within` limits.
const DEFAULT_LIST: usize = 1000;

/// Settings of a run: how to solve a problem.
///
/// | field | default | meaning | range |
/// |---|---|---|---|
/// | `method` | `best-first` | see [`Method`] | |
/// | `gap` | 0 | absolute error allowed (the paper's Δ) | ≥ 0 |
/// | `relative_gap` | 0 | allowed error as a share of the objective; the larger of the two counts | 0 ≤ r < 1 |
/// | `top` | 1 | number of models wanted, best first; see below | ≥ 1 |
/// | `within` | none | all models up to `1 + within` times the best objective, at most `top` of them (default 1000) | ≥ 0 |
/// | `relaxation` | `pdal` | for `paper` | |
/// | `warm_start` | true | for `paper`: inherit the parent's dual point | |
/// | `pruning` | true | for `paper`: drop nodes above the incumbent, and leave their relaxation at once | |
/// | `time_limit` | none | wall-clock time of the whole run: of a search, of a path, of all prices | |
/// | `search_time_limit` | none | wall-clock time of each search of a path, or of prices | |
/// | `node_limit` | none | nodes taken from the frontier | |
/// | `memory_limit` | none | bytes of open nodes and their frames; from half of it on, `best-first` searches depth first | |
/// | `threads` | 1 | threads that search, for `best-first`; see below | ≥ 1, at most four per core are started |
/// | `mechanisms` | all | mechanisms of `best-first`, for the ablation | |
/// | `solo` | 0 | how long one thread searches before the others join | |
/// | `interrupt` | none | a flag that stops the search when any thread sets it to true | |
///
/// **Threads.** With one thread a search is repeatable bit for bit. With any number of threads the status and the
/// objective (to the accuracy that `status` states) are the same, but the nodes and the order in which they are
/// expanded are not. Of models with exactly the same objective, the one whose support comes first in lexicographic
/// order is kept, whichever thread finds it. A model that ties but is never evaluated, since a tie cannot improve the
/// result, is not compared.
///
/// **Lists.** With `top` or `within` ([`Method::BestFirst`], [`Method::Exhaustive`], no gap) [`Solution::solutions`]
/// has the best models with at most k features, best first. A model is a *set* of at most k selectable features with
/// its own optimal coefficients. Subsets of a good set are therefore in the list with their own optimal values, and
/// two sets are two models even if one only adds a feature whose coefficient is 0. Models are ordered by their
/// objectives as computed in doubled precision, equal ones by their sets. `top` is exact up to ties: a model that is
/// not in the list is better than the last one by at most a relative 1e-9. `within` never leaves a model out: the list
/// has every model up to the threshold, and those above it by less than a relative 1e-9 (`within = 0`: all optima).
/// Both are relative to the objective or, where that is smaller, to 1e-12 of the empty model's.
#[derive(Debug, Clone)]
pub struct Settings {
    /// See [`Method`].
    pub method: Method,
    /// Absolute error allowed, Δ ≥ 0.
    pub gap: f64,
    /// Error allowed as a share of the objective, 0 ≤ r < 1.
    pub relative_gap: f64,
    /// Number of models wanted; `None` is one, or at most 1000 with `within`.
    pub top: Option<NonZeroUsize>,
    /// All models whose objective is at most `1 + within` times the best are wanted.
    pub within: Option<f64>,
    /// Dual ascent that `method=paper` uses.
    pub relaxation: RelaxationKind,
    /// Warm start by inheritance (`method=paper`).
    pub warm_start: bool,
    /// Pruning by force-quit (`method=paper`).
    pub pruning: bool,
    /// Wall-clock limit of the whole run.
    pub time_limit: Option<Duration>,
    /// Wall-clock limit of each search, where a run has several.
    pub search_time_limit: Option<Duration>,
    /// Limit on nodes taken from the frontier.
    pub node_limit: Option<u64>,
    /// Limit on the bytes of open nodes and their frames.
    pub memory_limit: Option<u64>,
    /// Mechanisms of `best-first`.
    pub mechanisms: Mechanisms,
    /// Threads that search (`method=best-first`); `None` is one.
    pub threads: Option<NonZeroUsize>,
    /// How long one thread searches before the others join: a run that finishes earlier is repeatable.
    pub solo: Duration,
    /// A flag that stops the search when it becomes true.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: Method::BestFirst,
            gap: 0.0,
            relative_gap: 0.0,
            top: None,
            within: None,
            relaxation: RelaxationKind::Pdal,
            warm_start: true,
            pruning: true,
            time_limit: None,
            search_time_limit: None,
            node_limit: None,
            memory_limit: None,
            mechanisms: Mechanisms::default(),
            threads: None,
            solo: Duration::ZERO,
            interrupt: None,
        }
    }
}

impl Settings {
    /// Default settings for a method.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            ..Self::default()
        }
    }

    /// Returns an error for settings that no method accepts.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, value: f64, range| {
            let value = value.to_string();
            Err(Error::Setting { name, value, range })
        };
        if !(self.gap >= 0.0 && self.gap.is_finite()) {
            let range = "it is an absolute error, a finite number >= 0";
            return refuse("gap", self.gap, range);
        }
        if !(0.0..1.0).contains(&self.relative_gap) {
            let range = "it is a share of the objective, a number >= 0 and < 1";
            return refuse("relative_gap", self.relative_gap, range);
        }
        if let Some(within) = self.within
            && !(within >= 0.0 && within.is_finite())
        {
            let range = "it is a share of the best objective, a finite number >= 0";
            return refuse("within", within, range);
        }
        if !self.wants_list() {
            return Ok(());
        }
        if !matches!(self.method, Method::BestFirst | Method::Exhaustive) {
            return Err(Error::Setting {
                name: "method",
                value: self.method.to_string(),
                range: "a list of models (top, within) needs the method best-first or exhaustive",
            });
        }
        if self.gap.max(self.relative_gap) > 0.0 {
            let range = "a list of models (top, within) is exact and takes no gap; leave it 0";
            return refuse("gap", self.gap.max(self.relative_gap), range);
        }
        Ok(())
    }

    /// Whether more than the best model is wanted.
    pub(crate) fn wants_list(&self) -> bool {
        self.within.is_some() || self.list_length() > 1
    }

    /// Largest number of models wanted.
    pub(crate) fn list_length(&self) -> usize {
        match (self.top, self.within) {
            (Some(top), _) => top.get(),
            (None, Some(_)) => DEFAULT_LIST,
            (None, None) => 1,
        }
    }

    /// Error allowed in a result with this objective.
    pub(crate) fn asked_gap(&self, objective: f64) -> f64 {
        self.gap.max(self.relative_gap * objective)
    }

    /// Number of threads that search: as many as requested, up to [`Settings::most_threads`].
    pub fn thread_count(&self) -> usize {
        let asked = self.threads.map_or(1, NonZeroUsize::get);
        asked.min(Self::most_threads().get())
    }

    /// Limit on the number of threads: four per core, because more only cost memory.
    pub fn most_threads() -> NonZeroUsize {
        // Asking the system takes longer than a small search.
        static MOST: OnceLock<NonZeroUsize> = OnceLock::new();
        *MOST.get_or_init(|| {
            let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
            cores.saturating_mul(NonZeroUsize::MIN.saturating_add(3))
        })
    }
}

/// Scale that the error of an objective is relative to: the objective itself, but at least 1e-12 of the empty model's,
/// below which the rounding of the data hides it. No absolute number decides, so the unit of the response does not matter.
pub(crate) fn scale_of(objective: f64, empty_objective: f64) -> f64 {
    // The last is for a response that is all zeros: no other objective is this small.
    objective.max(1e-12 * empty_objective).max(1e-280)
}

/// Returns an absolute gap as a share of the scale that errors are relative to.
pub(crate) fn relative(gap: f64, objective: f64, empty_objective: f64) -> f64 {
    gap / scale_of(objective, empty_objective)
}

/// One model of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// P(x), the minimum for its set of features.
    pub objective: f64,
    /// Columns of its set of features in ascending order, with whole groups and included features. A coefficient may
    /// happen to be 0.
    pub support: Vec<usize>,
    /// One coefficient per data column (always-in columns included), on the data's own scale. With several responses
    /// or classes: those of the first, then those of the second, and so on.
    pub coefficients: Vec<f64>,
    /// The intercept, 0 when off; with several responses or classes, that of the first.
    pub intercept: f64,
    /// The intercepts of all other responses or classes, in order.
    #[serde(default)]
    pub more_intercepts: Vec<f64>,
}

/// The best model found and what is proved of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// What is known of the result; for a list, whether it is the list that was asked for.
    pub status: Status,
    /// P(x) of the model.
    pub objective: f64,
    /// A certified lower bound of the optimum; `None` for an inexact method.
    pub lower_bound: Option<f64>,
    /// P(0): the objective of the best model without selectable features, which is the best constant where there is an
    /// intercept and nothing else is always in. If that model fits up to rounding, the objective without any
    /// coefficient is used instead.
    pub empty_objective: f64,
    /// Columns of the features that the model uses, in ascending order: those with a non-zero coefficient, their whole
    /// groups, the features that they require, and the included features.
    pub support: Vec<usize>,
    /// One coefficient per data column (always-in columns included), on the data's own scale. With several responses
    /// or classes: those of the first, then those of the second, and so on.
    pub coefficients: Vec<f64>,
    /// The intercept, 0 when off; with several responses or classes, that of the first.
    pub intercept: f64,
    /// The intercepts of all other responses or classes, in order.
    #[serde(default)]
    pub more_intercepts: Vec<f64>,
    /// The best models, best first: the model above and, with `top` or `within`, others.
    pub solutions: Vec<Model>,
    /// With `top` or `within`: a certified lower bound of every model that is not in `solutions`; `None` when there is
    /// no other model.
    pub rest_bound: Option<f64>,
    /// With `within`: whether more models are within the threshold than `top` has room for. Those listed are the best
    /// of them.
    pub truncated: bool,
    /// Relaxations and restricted problems solved; the paper's count for `method=paper`.
    pub solver_calls: u64,
    /// Nodes taken from the frontier.
    pub nodes: u64,
    /// Largest number of open nodes at any time.
    pub peak_open_nodes: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// The method used.
    pub method: Method,
}

impl Model {
    /// The intercepts of all responses or classes.
    pub fn intercepts(&self) -> impl Iterator<Item = f64> + '_ {
        std::iter::once(self.intercept).chain(self.more_intercepts.iter().copied())
    }
}

impl Solution {
    /// The intercepts of all responses or classes.
    pub fn intercepts(&self) -> impl Iterator<Item = f64> + '_ {
        std::iter::once(self.intercept).chain(self.more_intercepts.iter().copied())
    }

    /// `objective - lower_bound`, never negative; `None` for an inexact method.
    pub fn gap(&self) -> Option<f64> {
        self.lower_bound
            .map(|bound| (self.objective - bound).max(0.0))
    }

    /// The gap divided by `max(objective, 1e-12 * empty_objective)`, as solvers of mixed-integer programs define it:
    /// the share of the objective that is not proved, not how far above the optimum the model can be.
    pub fn relative_gap(&self) -> Option<f64> {
        let gap = self.gap()?;
        Some(relative(gap, self.objective, self.empty_objective))
    }
}
