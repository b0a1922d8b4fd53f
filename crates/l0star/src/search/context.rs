//! What every search keeps: the incumbent, what was discarded and why that was allowed, counters, limits, events.

use std::num::NonZeroUsize;

use crate::bound::Certified;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::restricted::{Fit, Restricted};
use crate::settings::{Ideas, Settings, Solution, Status};

/// With `gap = 0` a result is proved to this relative accuracy (see [`Status::Optimal`]) …
const PROMISE: f64 = 1e-9;
/// … and the search works to a little less, so that rounding in the last comparison cannot break the promise.
const WORKING: f64 = 0.9e-9;

/// Models this close to the incumbent (relatively) are compared in doubled precision.
const CLOSE: f64 = 1e-5;

/// The best model so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Incumbent {
    /// Its support among the selectable features.
    pub support: Vec<usize>,
    /// Its coefficients and objective.
    pub fit: Fit,
}

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// A better model was found.
    Incumbent {
        /// Its objective.
        objective: f64,
        /// Its support.
        support: &'a [usize],
    },
    /// The lower bound rose.
    Bound {
        /// The certified bound.
        lower_bound: f64,
        /// Open nodes.
        open: usize,
        /// Nodes looked at.
        nodes: u64,
    },
}

/// A listener to events.
pub type Observer<'p> = Box<dyn FnMut(&Event) + 'p>;

/// Counters of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Relaxations and restricted problems solved.
    pub calls: u64,
    /// Nodes taken from the frontier.
    pub nodes: u64,
    /// Most nodes open at any time.
    pub peak_open: u64,
}

/// The state that all trees share.
pub struct Context<'p> {
    /// The problem.
    pub problem: &'p Problem,
    /// The limits of the run.
    pub limits: Limits,
    /// What was counted.
    pub counters: Counters,
    /// Which mechanisms are on.
    pub ideas: Ideas,
    /// Threads for the work that comes before the search; inside it linear algebra has one.
    pub(crate) threads: usize,
    /// The absolute error allowed.
    gap: f64,
    restricted: Restricted<'p>,
    incumbent: Option<Incumbent>,
    /// The smallest bound that was ever used to discard anything.
    floor: Option<Certified>,
    announced: f64,
    observer: Option<Observer<'p>>,
}

impl<'p> Context<'p> {
    /// The clock of the limits starts now.
    pub fn new(problem: &'p Problem, settings: &Settings) -> Self {
        Self {
            problem,
            limits: Limits::new(settings),
            counters: Counters::default(),
            ideas: settings.ideas,
            threads: settings.threads.map_or(1, NonZeroUsize::get),
            gap: settings.gap,
            restricted: Restricted::new(problem),
            incumbent: None,
            floor: None,
            announced: 0.0,
            observer: None,
        }
    }

    /// Sends events to a listener.
    pub fn observe(&mut self, observer: Observer<'p>) {
        self.observer = Some(observer);
    }

    /// The best model so far.
    pub fn incumbent(&self) -> Option<&Incumbent> {
        self.incumbent.as_ref()
    }

    /// Its objective, +∞ when there is none.
    pub fn best(&self) -> f64 {
        self.incumbent
            .as_ref()
            .map_or(f64::INFINITY, |incumbent| incumbent.fit.objective)
    }

    /// Two objectives closer than this count as equal.
    pub fn tie(&self) -> f64 {
        let best = self.best();
        if best.is_finite() {
            WORKING * best.max(1e-12)
        } else {
            0.0
        }
    }

    /// The absolute error that the result may have.
    pub fn allowed(&self) -> f64 {
        self.gap.max(self.tie())
    }

    /// Fits a support (at most k selectable columns) and makes it the incumbent when it is better.
    pub fn try_support(&mut self, support: &[usize]) -> f64 {
        let mut fit = self.restricted.fit(support);
        let best = self.best();
        if fit.objective < best + CLOSE * best.abs() || best.is_infinite() {
            let precise = self.restricted.precise_objective();
            if precise.is_finite() {
                fit.objective = precise;
            }
        }
        let objective = fit.objective;
        if objective < best {
            self.incumbent = Some(Incumbent {
                support: support.to_vec(),
                fit,
            });
            if let Some(observer) = &mut self.observer {
                observer(&Event::Incumbent { objective, support });
            }
        }
        objective
    }

    /// The certified bound of the support tried last.
    pub fn certify_last(&mut self) -> Certified {
        self.restricted.certify()
    }

    /// The restricted minimiser.
    pub fn restricted(&mut self) -> &mut Restricted<'p> {
        &mut self.restricted
    }

    /// Records the evidence by which a part of the search space was dropped.
    ///
    /// Every node that is closed and every feature that is fixed comes through here: the reported bound is never above
    /// the smallest evidence.
    pub fn discard(&mut self, evidence: Certified) {
        self.floor = Some(self.floor.map_or(evidence, |floor| floor.and(evidence)));
    }

    /// What has been discarded so far, to be given back to [`Context::rewind`].
    pub(crate) fn mark(&self) -> Option<Certified> {
        self.floor
    }

    /// Forgets what was discarded since `mark`: its search space is open again.
    pub(crate) fn rewind(&mut self, mark: Option<Certified>) {
        self.floor = mark;
    }

    /// A certified bound of the optimum, given the smallest bound of what is still open.
    pub fn lower_bound(&self, open: Option<Certified>) -> Certified {
        match (self.floor, open) {
            (Some(floor), Some(open)) => floor.and(open),
            (Some(bound), None) | (None, Some(bound)) => bound,
            (None, None) => Certified::TRIVIAL,
        }
    }

    pub(super) fn announce_bound(&mut self, bound: Certified, open: usize) {
        let lower_bound = bound.value();
        if lower_bound > self.announced {
            self.announced = lower_bound;
            let nodes = self.counters.nodes;
            if let Some(observer) = &mut self.observer {
                observer(&Event::Bound {
                    lower_bound,
                    open,
                    nodes,
                });
            }
        }
    }

    /// The result. `stopped`: the limit that ended the run; `bound`: what is proved (`None` for an inexact method).
    pub fn solution(
        &mut self,
        settings: &Settings,
        stopped: Option<Status>,
        bound: Option<Certified>,
    ) -> Solution {
        if self.incumbent.is_none() {
            // Stopped before anything was fitted: the null model is always there.
            self.try_support(&[]);
        }
        let problem = self.problem;
        let incumbent = self.incumbent.as_ref();
        let (x, objective) = incumbent.map_or((&[][..], f64::INFINITY), |incumbent| {
            (&incumbent.fit.x[..], incumbent.fit.objective)
        });
        let lower_bound = bound.map(|bound| bound.value().min(objective));
        let mut coefficients = vec![0.0; problem.columns()];
        let mut intercept = 0.0;
        for (j, x) in x {
            if *j < coefficients.len() {
                coefficients[*j] = *x;
            } else {
                intercept = *x;
            }
        }
        let support = problem
            .selectable
            .iter()
            .copied()
            .filter(|j| coefficients[*j] != 0.0)
            .collect();
        let status = match lower_bound {
            None => stopped.unwrap_or(Status::Heuristic),
            Some(bound) if objective - bound <= PROMISE * objective.max(1e-12) => Status::Optimal,
            Some(bound) if objective - bound <= self.gap => Status::GapReached,
            Some(_) => stopped.unwrap_or(Status::GapReached),
        };
        Solution {
            status,
            objective,
            lower_bound,
            support,
            coefficients,
            intercept,
            solver_calls: self.counters.calls,
            nodes: self.counters.nodes,
            peak_open_nodes: self.counters.peak_open,
            seconds: self.limits.seconds(),
            method: settings.method,
        }
    }
}
