//! What every search keeps: the incumbent, what was discarded and why that was allowed, counters, limits, events.

mod kept;
mod solution;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::checkpoint::Prepared;
use super::counters::Counters;
use super::event::{Event, News, Observer, Phase, Source};
use super::ledger::Ledger;
use super::optima::{Optima, Optimum};
use super::pool::{Entry, Incumbent, Pool};
use super::saver::Save;
use crate::bound::Certified;
use crate::limits::Limits;
use crate::problem::{Decision, Problem};
use crate::restricted::{Fit, Restricted};
use crate::settings::{Ideas, Settings, scale_of};

/// With `gap = 0` a result is proved to this relative accuracy (see [`Status::Optimal`](crate::settings::Status::Optimal)) …
pub(crate) const PROMISE: f64 = 1e-9;
/// … and the search works to a little less, so that rounding in the last comparison cannot break the promise.
pub(crate) const WORKING: f64 = 0.9e-9;

/// Models this close to the incumbent (relatively) are compared in doubled precision.
const CLOSE: f64 = 1e-5;

/// How long a run is silent when nothing happens.
pub(super) const TICK: f64 = 0.1;

/// What the threads of a search share at once.
#[derive(Debug)]
struct Shared {
    /// The bits of the best objective, and of what a model has to beat to be of use: with one model wanted the same.
    best: AtomicU64,
    reference: AtomicU64,
    /// Whether a list of models is wanted.
    many: bool,
    pool: Mutex<Pool>,
    features_left: AtomicUsize,
    purpose: Purpose,
}

/// What a search is one of several for.
#[derive(Debug, Default)]
pub(crate) struct Purpose {
    /// What every model has to follow.
    pub decision: Option<Decision>,
    /// Where the models that it fits are entered, for the others.
    pub ledger: Option<Arc<Ledger>>,
}

impl Shared {
    fn best(&self) -> f64 {
        f64::from_bits(self.best.load(Ordering::Relaxed))
    }

    fn reference(&self) -> f64 {
        f64::from_bits(self.reference.load(Ordering::Relaxed))
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a model that is good enough, of equal ones those whose support comes first; true when it is the best.
    fn offer(&self, support: &[usize], fit: Fit, source: Source) -> bool {
        let decision = self.purpose.decision;
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
        self.publish(&pool);
        better
    }

    fn publish(&self, pool: &Pool) {
        self.best.store(pool.best().to_bits(), Ordering::Relaxed);
        let reference = pool.reference().to_bits();
        self.reference.store(reference, Ordering::Relaxed);
    }
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
    /// The absolute error allowed, and the relative one.
    gaps: (f64, f64),
    restricted: Restricted<'p>,
    shared: Arc<Shared>,
    /// A bound of the whole problem, from before there were nodes.
    base: Certified,
    /// The smallest bound that was ever used to discard anything.
    floor: Option<Certified>,
    phase: Option<Phase>,
    announced: Announced,
    next_tick: f64,
    observer: Option<Observer<'p>>,
    saver: Option<Box<dyn Save + 'p>>,
    /// How far the work has come that is done before there are nodes.
    pub(crate) prepared: Prepared,
    /// Resumed with nodes: what is prepared is for them.
    has_nodes: bool,
    /// The search for models beside that for bounds, and what makes it.
    pub(crate) models: Option<Box<dyn ModelSearch<'p> + 'p>>,
    pub(crate) model_searches: Option<ModelSearches>,
    /// What it shares with the searches for models of other sizes, or of other decisions.
    pub(crate) optima: Option<Arc<Optima>>,
    /// Where the models that are tried come from.
    pub(crate) source: Source,
}

/// A search for good models that can be gone on with.
pub(crate) trait ModelSearch<'p>: Send {
    /// Goes on for this many multiplications, until this many starts have found nothing better, or to a limit. What it finds is
    /// offered to the context.
    fn work(&mut self, multiplications: u64, patience: u64, context: &mut Context<'p>);

    /// Starts from these features soon: as many of them as there is room for, and others if there is more.
    fn suggest(&mut self, features: &[usize]);

    /// The best of the local optima since the last call.
    fn fresh(&mut self) -> Vec<Optimum>;
}

/// Makes the search for models of a problem; `None` where there is nothing to choose from.
pub(crate) type ModelSearches =
    for<'p> fn(&mut Context<'p>) -> Option<Box<dyn ModelSearch<'p> + 'p>>;

/// What an observer was told last.
#[derive(Debug, Clone, Copy, Default)]
struct Announced {
    open: usize,
    nodes: u64,
    bound: f64,
}

/// What another thread needs for a [`Context`] of its own in the same run.
#[derive(Debug, Clone)]
pub(super) struct Seed<'p> {
    problem: &'p Problem,
    limits: Limits,
    ideas: Ideas,
    threads: usize,
    gaps: (f64, f64),
    shared: Arc<Shared>,
    model_searches: Option<ModelSearches>,
    optima: Option<Arc<Optima>>,
}

impl<'p> Seed<'p> {
    /// With its own counters and its own record of what it discards, without an observer.
    pub(super) fn context(&self) -> Context<'p> {
        Context {
            problem: self.problem,
            limits: self.limits.clone(),
            ideas: self.ideas,
            threads: self.threads,
            counters: Counters::default(),
            gaps: self.gaps,
            restricted: Restricted::new(self.problem).within(&self.limits),
            shared: Arc::clone(&self.shared),
            base: Certified::TRIVIAL,
            floor: None,
            phase: None,
            announced: Announced::default(),
            next_tick: 0.0,
            observer: None,
            saver: None,
            prepared: Prepared::default(),
            has_nodes: false,
            models: None,
            model_searches: self.model_searches,
            optima: self.optima.clone(),
            source: Source::Search,
        }
    }
}

impl<'p> Context<'p> {
    /// The clock of the limits starts now.
    pub fn new(problem: &'p Problem, settings: &Settings) -> Self {
        Self::for_purpose(problem, settings, Purpose::default())
    }

    /// The same for one of several searches.
    pub(crate) fn for_purpose(problem: &'p Problem, settings: &Settings, purpose: Purpose) -> Self {
        let seed = Seed {
            problem,
            limits: Limits::new(settings),
            ideas: settings.ideas,
            threads: settings.thread_count(),
            gaps: (settings.gap, settings.relative_gap),
            model_searches: None,
            optima: None,
            shared: Arc::new(Shared {
                best: AtomicU64::new(f64::INFINITY.to_bits()),
                reference: AtomicU64::new(f64::INFINITY.to_bits()),
                many: settings.wants_list(),
                pool: Mutex::new(Pool::new(problem, settings)),
                features_left: AtomicUsize::new(problem.selectable.len()),
                purpose,
            }),
        };
        seed.context()
    }

    pub(super) fn seed(&self) -> Seed<'p> {
        Seed {
            problem: self.problem,
            limits: self.limits.clone(),
            ideas: self.ideas,
            threads: self.threads,
            gaps: self.gaps,
            shared: Arc::clone(&self.shared),
            model_searches: self.model_searches,
            optima: self.optima.clone(),
        }
    }

    /// Sends events to a listener.
    pub fn observe(&mut self, observer: Observer<'p>) {
        self.observer = Some(observer);
    }

    /// The best model so far, whichever thread found it.
    pub fn incumbent(&self) -> Option<Incumbent> {
        let pool = self.shared.pool();
        pool.entries.first().map(|entry| entry.model.clone())
    }

    /// Its objective, +∞ when there is none.
    #[inline]
    pub fn best(&self) -> f64 {
        self.shared.best()
    }

    /// What a model has to beat to be of use: the best objective, or that of the last one in a full list, or the threshold
    /// of `within`. Certificates are wanted for models below it.
    #[inline]
    pub fn reference(&self) -> f64 {
        self.shared.reference()
    }

    /// Whatever has at least this bound is discarded. It is rounded up, so that `objective - lower_bound` of the result,
    /// as computed, is not above what is allowed.
    #[inline]
    pub fn cut(&self) -> f64 {
        (self.reference() - self.allowed()).next_up()
    }

    /// What every model of this search has to follow.
    pub(crate) fn decision(&self) -> Option<Decision> {
        self.shared.purpose.decision
    }

    /// Whether a search for models is to be made. With groups, bounds or heredity it knows nothing of decisions.
    pub(crate) fn looks_for_models(&self) -> bool {
        let is_free = self.decision().is_none() || self.problem.structure.is_none();
        self.ideas.primal && self.models.is_none() && is_free
    }

    /// Whether a list of models is wanted: then a set is done with only when all its subsets are, too.
    pub fn wants_list(&self) -> bool {
        self.shared.many
    }

    /// Whether the list is long enough for [`Context::reference`] to be finite.
    pub(crate) fn has_reference(&self) -> bool {
        self.reference().is_finite()
    }

    /// How many models are kept.
    pub(crate) fn list_capacity(&self) -> usize {
        self.shared.pool().capacity()
    }

    /// Two objectives closer than this count as equal.
    pub fn tie(&self) -> f64 {
        let reference = self.reference();
        if reference.is_finite() {
            WORKING * self.scale_of(reference)
        } else {
            0.0
        }
    }

    /// What the error of an objective is relative to.
    pub(crate) fn scale_of(&self, objective: f64) -> f64 {
        scale_of(objective, self.problem.empty_objective())
    }

    /// The absolute error that the result may have.
    pub fn allowed(&self) -> f64 {
        let (gap, share) = self.gaps;
        if share == 0.0 {
            return gap.max(self.tie());
        }
        let scale = self.scale_of(self.reference());
        gap.max(share * scale).max(self.tie())
    }

    /// Fits a support (at most k selectable features) and makes it the incumbent when it is better.
    pub fn try_support(&mut self, support: &[usize]) -> f64 {
        let fit = self.restricted.fit(support);
        self.judge(support, fit)
    }

    /// The same, fitted from a model that is thought to be close.
    pub(crate) fn try_support_from(&mut self, support: &[usize], start: &[(usize, f64)]) -> f64 {
        let fit = self.restricted.fit_from(support, start);
        self.judge(support, fit)
    }

    fn judge(&mut self, support: &[usize], mut fit: Fit) -> f64 {
        debug_assert!(support.is_sorted_by(|a, b| a < b), "{support:?}");
        let best = self.reference();
        if fit.objective < best + CLOSE * best.abs() || best.is_infinite() {
            let precise = self.restricted.precise_objective();
            if precise.is_finite() {
                fit.objective = precise;
            }
        }
        let objective = fit.objective;
        if let Some(ledger) = &self.shared.purpose.ledger {
            ledger.note(support, objective);
        }
        if objective <= best && self.shared.offer(support, fit, self.source) {
            self.announce_incumbent(support, self.source);
        }
        objective
    }

    /// Tells the observer of the columns of a new incumbent, given by its features.
    pub(super) fn announce_incumbent(&mut self, features: &[usize], source: Source) {
        let support = &solution::shown(self.problem, features);
        self.announce(News::Incumbent { support, source });
    }

    /// The same for a support that a relaxation proposes: one that is known already is not fitted again, and one that
    /// is seen not to be good enough not to its end.
    pub(crate) fn propose(&mut self, support: &[usize]) {
        let known = || match self.shared.many {
            true => self.shared.pool().contains(support),
            false => self
                .incumbent()
                .is_some_and(|known| known.support == support),
        };
        if !known() {
            let best = self.reference();
            let cut = best + CLOSE * best.abs();
            let fit = self.restricted.fit_unless_above(support, cut);
            self.judge(support, fit);
        }
    }

    /// The support tried last is done with, for this reason. Its subsets are not.
    pub(crate) fn settle(&mut self, support: &[usize], evidence: Certified) {
        if !self.shared.pool().settle(support, evidence) {
            self.discard(evidence);
        }
    }

    /// Another phase begins.
    pub(crate) fn enter(&mut self, phase: Phase) {
        self.source = match phase {
            Phase::Heuristic => Source::Greedy,
            Phase::Root | Phase::Search => Source::Search,
        };
        if self.phase != Some(phase) {
            self.phase = Some(phase);
            self.announce(News::Phase);
        }
    }

    /// So many selectable features are undecided for the whole problem.
    pub(crate) fn set_features_left(&self, count: usize) {
        self.shared.features_left.store(count, Ordering::Relaxed);
    }

    /// Tells the observer, if there is one.
    pub(super) fn announce(&mut self, news: News) {
        let Some(observer) = &mut self.observer else {
            return;
        };
        let seconds = self.limits.seconds();
        self.next_tick = seconds + TICK;
        let Announced { open, nodes, bound } = self.announced;
        let mut lower_bound = bound.max(self.base.value());
        if self.shared.many {
            // The bound of a list's search is about what is not in the list.
            let listed = self.shared.pool().evidence();
            lower_bound = lower_bound.min(listed.map_or(f64::INFINITY, Certified::value));
        }
        observer(&Event {
            news,
            phase: self.phase.unwrap_or(Phase::Heuristic),
            seconds,
            nodes,
            open,
            lower_bound,
            objective: self.shared.best(),
            empty_objective: self.problem.empty_objective(),
            features_left: self.shared.features_left.load(Ordering::Relaxed),
        });
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

    /// A bound of everything that is not discarded so far: kept for a run that ends before there are nodes.
    pub(crate) fn raise(&mut self, low: Certified) {
        self.base = self.lower_bound(Some(low));
    }

    /// What was discarded since the last call, for another context.
    pub(crate) fn take_floor(&mut self) -> Option<Certified> {
        self.floor.take()
    }

    /// What has been discarded so far, to be given back to [`Context::rewind`].
    pub(crate) fn mark(&self) -> Option<Certified> {
        self.floor
    }

    /// Forgets what was discarded since `mark`: its search space is open again.
    pub(crate) fn rewind(&mut self, mark: Option<Certified>) {
        self.floor = mark;
    }

    /// A certified bound of the optimum, given the smallest bound of what is still open; with a list, of all that is not in
    /// it.
    pub fn lower_bound(&self, open: Option<Certified>) -> Certified {
        let mut bounds = self.floor.into_iter().chain(open).reduce(Certified::and);
        if self.shared.many {
            let pool = self.shared.pool();
            let known = bounds.into_iter().chain(pool.unshown());
            // Nothing else is left: then anything holds.
            bounds = known.reduce(Certified::and).or(pool.evidence());
        }
        bounds.unwrap_or(Certified::TRIVIAL).or(self.base)
    }

    /// Whether there is an observer.
    pub(super) fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Tells of the progress of an enumeration, now and then.
    pub(crate) fn announce_enumeration(&mut self, share: f64) {
        if self.observer.is_some() && self.limits.seconds() >= self.next_tick {
            let percent = (100.0 * share) as u8;
            self.announce(News::Enumeration { percent });
        }
    }

    /// Tells of a bound that rose, and otherwise that time has passed.
    pub(super) fn announce_progress(&mut self, open: usize, nodes: u64, bound: Option<Certified>) {
        self.announced.open = open;
        self.announced.nodes = nodes;
        let bound = bound.map_or(0.0, Certified::value);
        if bound > self.announced.bound {
            self.announced.bound = bound;
            self.announce(News::Bound);
        } else if self.limits.seconds() >= self.next_tick {
            self.announce(News::Tick);
        }
    }
}
