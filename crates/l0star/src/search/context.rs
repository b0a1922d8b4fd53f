//! [`Context`]: the parts of a run that all trees share; a tree receives it with every node.
//!
//! | part | its one job |
//! |---|---|
//! | [`Incumbents`] | the best models, and the value that bounds have to reach; shared by all threads |
//! | [`Evidence`] | what was discarded, and with which bounds |
//! | `Reporter` | events |
//! | [`Limits`] | when to stop |

mod kept;
mod solution;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::checkpoint::Prepared;
use super::cluster::SharedCluster;
use super::counters::Counters;
use super::decision_models::DecisionModels;
use super::event::{News, Observer, Phase, Source};
use super::evidence::Evidence;
use super::incumbents::Incumbents;
use super::optima::{Optima, Optimum};
use super::reporter::{Reporter, Standing};
use super::writer::Save;
use crate::bound::Certified;
use crate::limits::Limits;
use crate::problem::{Decision, Problem};
use crate::restricted::{Fit, Restricted};
use crate::settings::{Mechanisms, Settings};

/// Models this close to the incumbent (relatively) are compared in doubled precision.
const CLOSE: f64 = 1e-5;

/// The state that all trees share.
pub struct Context<'p> {
    /// The problem.
    pub problem: &'p Problem,
    /// The limits of the run.
    pub limits: Limits,
    /// Counts of nodes and solver calls.
    pub counters: Counters,
    /// Which mechanisms are on.
    pub mechanisms: Mechanisms,
    /// The best models so far.
    pub incumbents: Incumbents,
    /// Record of what was discarded.
    pub evidence: Evidence,
    /// Sender of events.
    pub(crate) reporter: Reporter<'p>,
    /// Threads for the work before the search, whose linear algebra is single-threaded.
    pub(crate) threads: usize,
    restricted: Restricted<'p>,
    /// Receiver of checkpoints.
    saver: Option<Box<dyn Save + 'p>>,
    /// Progress of the work that precedes the nodes.
    pub(crate) prepared: Prepared,
    /// Whether the nodes of an earlier run are not in the frontier yet: a checkpoint would lose them.
    awaits_nodes: bool,
    /// The search for models, which runs alongside that for bounds, and the function that makes it.
    pub(crate) models: Option<Box<dyn ModelSearch<'p> + 'p>>,
    pub(crate) model_searches: Option<ModelSearches>,
    /// Local optima shared with the searches for models of other sizes or for other decisions.
    pub(crate) optima: Option<Arc<Optima>>,
    /// Source of the models that are tried at present.
    pub(crate) source: Source,
    /// The processes that explore subtrees, if there are any.
    pub(crate) cluster: Option<SharedCluster>,
}

/// A search for good models that can be continued.
pub(crate) trait ModelSearch<'p>: Send {
    /// Continues for this many multiplications, until this many starts have found nothing better, or to a limit. The
    /// models that it finds are offered to the context.
    fn work(&mut self, multiplications: u64, patience: u64, context: &mut Context<'p>);

    /// Schedules a start from these features, cut to size or completed with others.
    fn suggest(&mut self, features: &[usize]);

    /// The best of the local optima found since the last call.
    fn fresh(&mut self) -> Vec<Optimum>;
}

/// Makes the search for models of a problem; `None` where there is nothing to choose from.
pub(crate) type ModelSearches =
    for<'p> fn(&mut Context<'p>) -> Option<Box<dyn ModelSearch<'p> + 'p>>;

/// The data that another thread needs for its own [`Context`] in the same run.
#[derive(Debug, Clone)]
pub(super) struct Seed<'p> {
    problem: &'p Problem,
    limits: Limits,
    mechanisms: Mechanisms,
    threads: usize,
    incumbents: Incumbents,
    features_left: Arc<AtomicUsize>,
    model_searches: Option<ModelSearches>,
    optima: Option<Arc<Optima>>,
}

impl<'p> Seed<'p> {
    /// A context with its own counters and its own evidence, without an observer.
    pub(super) fn context(&self) -> Context<'p> {
        Context {
            problem: self.problem,
            limits: self.limits.clone(),
            counters: Counters::default(),
            mechanisms: self.mechanisms,
            incumbents: self.incumbents.clone(),
            evidence: Evidence::default(),
            reporter: Reporter::new(Arc::clone(&self.features_left)),
            threads: self.threads,
            restricted: Restricted::new(self.problem).within(&self.limits),
            saver: None,
            prepared: Prepared::default(),
            awaits_nodes: false,
            models: None,
            model_searches: self.model_searches,
            optima: self.optima.clone(),
            source: Source::Search,
            cluster: None,
        }
    }
}

impl<'p> Context<'p> {
    /// A context whose limits start their clock now.
    pub fn new(problem: &'p Problem, settings: &Settings) -> Self {
        Self::for_decision(problem, settings, None, None)
    }

    /// A context for a search for a decision, or for one that shares its models with such searches.
    pub(crate) fn for_decision(
        problem: &'p Problem,
        settings: &Settings,
        decision: Option<Decision>,
        others: Option<Arc<DecisionModels>>,
    ) -> Self {
        let seed = Seed {
            problem,
            limits: Limits::new(settings),
            mechanisms: settings.mechanisms,
            threads: settings.thread_count(),
            incumbents: Incumbents::new(problem, settings, decision, others),
            features_left: Arc::new(AtomicUsize::new(problem.selectable.len())),
            model_searches: None,
            optima: None,
        };
        seed.context()
    }

    pub(super) fn seed(&self) -> Seed<'p> {
        Seed {
            problem: self.problem,
            limits: self.limits.clone(),
            mechanisms: self.mechanisms,
            threads: self.threads,
            incumbents: self.incumbents.clone(),
            features_left: self.reporter.shared(),
            model_searches: self.model_searches,
            optima: self.optima.clone(),
        }
    }

    /// Sends events to this observer.
    pub fn observe(&mut self, observer: Observer<'p>) {
        self.reporter.observe(observer);
    }

    /// Whether to make a search for models. With groups, bounds or heredity, that search cannot follow decisions.
    pub(crate) fn looks_for_models(&self) -> bool {
        let is_free = self.incumbents.decision().is_none() || self.problem.structure.is_none();
        self.mechanisms.primal && self.models.is_none() && is_free
    }

    /// Fits a support (at most k selectable features) and makes it the incumbent when it is better.
    pub fn try_support(&mut self, support: &[usize]) -> f64 {
        let fit = self.restricted.fit(support);
        self.judge(support, fit)
    }

    /// Like [`Context::try_support`], starting from a model that is expected to be close.
    pub(crate) fn try_support_from(&mut self, support: &[usize], start: &[(usize, f64)]) -> f64 {
        let fit = self.restricted.fit_from(support, start);
        self.judge(support, fit)
    }

    fn judge(&mut self, support: &[usize], mut fit: Fit) -> f64 {
        debug_assert!(support.is_sorted_by(|a, b| a < b), "{support:?}");
        let best = self.incumbents.reference();
        if fit.objective < best + CLOSE * best.abs() || best.is_infinite() {
            let precise = self.restricted.precise_objective();
            if precise.is_finite() {
                fit.objective = precise;
            }
        }
        let objective = fit.objective;
        self.incumbents.share(support, objective);
        if let Some(smaller) = self.unused_left_out(support, &fit) {
            // The difference of the costs would not do: where these are large, it loses all digits of P.
            let cost = self.problem.cost(&smaller);
            fit.objective = self.restricted.precise_objective_at(cost);
            let mut dropped = support.to_vec();
            dropped.retain(|j| !smaller.contains(j));
            let dropped = self.problem.expanded(&dropped);
            fit.x.retain(|(j, _)| !dropped.contains(j));
            self.offer(&smaller, fit);
        } else {
            self.offer(support, fit);
        }
        objective
    }

    fn offer(&mut self, support: &[usize], fit: Fit) {
        let is_good = fit.objective <= self.incumbents.reference();
        if is_good && self.incumbents.offer(support, fit, self.source) {
            self.announce_incumbent(support, self.source);
        }
    }

    /// The features of a model that have nonzero coefficients, if features have prices and these are fewer than its
    /// support. A list is of sets, and a set pays for all its features.
    fn unused_left_out(&self, support: &[usize], fit: &Fit) -> Option<Vec<usize>> {
        let structure = self.problem.structure.as_ref().filter(|s| s.priced)?;
        if self.incumbents.wants_list() {
            return None;
        }
        let is_used = |j: &usize| {
            let members = &structure.members[*j];
            let mut own = fit.x.iter().filter(|(i, _)| members.contains(i));
            own.any(|(_, x)| *x != 0.0)
        };
        let wanted = support.iter().copied().filter(is_used);
        let smaller = structure.close(&[], wanted, |_| true, support.len());
        let decision = self.incumbents.decision();
        let follows = decision.is_none_or(|decision| decision.allows(&smaller));
        (smaller.len() < support.len() && follows).then_some(smaller)
    }

    /// Tries a support that a relaxation proposes. A known support is not fitted again, and the fit stops early when
    /// it is seen not to be good enough.
    pub(crate) fn propose(&mut self, support: &[usize]) {
        if !self.incumbents.contains(support) {
            let best = self.incumbents.reference();
            let cut = best + CLOSE * best.abs();
            let fit = self.restricted.fit_unless_above(support, cut);
            self.judge(support, fit);
        }
    }

    /// Records a bound of the support tried last, without its subsets, which stay open.
    pub(crate) fn record_bound(&mut self, support: &[usize], bound: Certified) {
        if !self.incumbents.pool().record_bound(support, bound) {
            self.evidence.rule_out(bound);
        }
    }

    /// The certified bound of the support tried last.
    pub fn certify_last(&mut self) -> Certified {
        self.restricted.certify()
    }

    /// The solver of the restricted problem.
    pub fn restricted(&mut self) -> &mut Restricted<'p> {
        &mut self.restricted
    }

    /// Records a bound of everything not discarded so far, for a run that ends before there are nodes.
    pub(crate) fn raise(&mut self, open: Certified) {
        let bound = self.lower_bound(Some(open));
        self.evidence.raise_whole(bound);
    }

    /// A certified bound of the optimum, given the smallest bound of the open nodes; with a list, a bound of
    /// everything not in the list.
    pub fn lower_bound(&self, open: Option<Certified>) -> Certified {
        let discarded = self.evidence.mark().into_iter();
        let bound = discarded.chain(open).reduce(Certified::weaker);
        let bound = self.incumbents.bound_of_others(bound);
        bound
            .unwrap_or(Certified::TRIVIAL)
            .tighter(self.evidence.whole())
    }

    /// Begins a phase, and announces it if it is new.
    pub(crate) fn enter(&mut self, phase: Phase) {
        self.source = match phase {
            Phase::Heuristic => Source::Greedy,
            Phase::Root | Phase::Search => Source::Search,
        };
        if self.reporter.enter(phase) {
            self.announce(News::Phase);
        }
    }

    fn announce(&mut self, news: News) {
        if self.reporter.is_observed() {
            let standing = Standing {
                seconds: self.limits.seconds(),
                whole: self.evidence.whole().value(),
                listed: self.incumbents.proved(),
                objective: self.incumbents.best(),
                empty_objective: self.problem.empty_objective(),
                problem: self.problem,
            };
            self.reporter.tell(news, &standing);
        }
    }

    /// Tells the observer the columns of a new incumbent, given by its features.
    pub(super) fn announce_incumbent(&mut self, features: &[usize], source: Source) {
        let support = &solution::shown(self.problem, features);
        self.announce(News::Incumbent { support, source });
    }

    /// Reports the progress of an enumeration, if the observer has heard nothing for a while.
    pub(crate) fn announce_enumeration(&mut self, share: f64) {
        if self.reporter.is_silent(self.limits.seconds()) {
            let percent = (100.0 * share) as u8;
            self.announce(News::Enumeration { percent });
        }
    }

    /// Reports a bound that rose; otherwise reports that time has passed.
    pub(super) fn announce_progress(&mut self, open: usize, nodes: u64, bound: Option<Certified>) {
        let bound = bound.map_or(0.0, Certified::value);
        if self.reporter.note(open, nodes, bound) {
            self.announce(News::Bound);
        } else {
            self.announce_tick();
        }
    }

    /// Reports that time has passed, if the observer has heard nothing for a while.
    pub(super) fn announce_tick(&mut self) {
        if self.reporter.is_silent(self.limits.seconds()) {
            self.announce(News::Tick);
        }
    }
}
