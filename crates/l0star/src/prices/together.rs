//! Solves all prices with the data of one search.
//!
//! - One Gram matrix, one lifted frame.
//! - Every model that any search fits is shared with every decision that it follows ([`DecisionModels`]).
//! - A model with another feature than the k chosen ones lacks one of these. So the bounds of omitting each of them
//!   bound the price of every other feature, and are computed first.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::archive::{self, PriceArchive, PriceStage};
use crate::bound::Certified;
use crate::error::Result;
use crate::heuristic;
use crate::prepare::shared::SharedWork;
use crate::problem::{Decision, Problem};
use crate::search::checkpoint::{State, wide};
use crate::search::decision_models::DecisionModels;
use crate::search::{Context, Restrict, Search};
use crate::settings::{Settings, Solution, Status};
use crate::solve::{Driver, best_first, run, twins};

/// The best model of each decision, with its proof; `None` for a feature that no model can have.
pub(super) fn solve<'p>(asked: Asked<'p>) -> Result<Vec<Option<Solution>>> {
    let Asked {
        problem,
        settings,
        chosen,
        decisions,
        ..
    } = asked;
    let pricing = Pricing {
        problem,
        settings,
        chosen,
        decisions,
        known_models: asked.known_models,
        archive: asked.archive,
        enough: asked.enough,
        start: Instant::now(),
        left: AtomicUsize::new(decisions.len()),
    };
    pricing.find_models()?;
    let numbers = 0..decisions.len();
    let (others, without): (Vec<usize>, Vec<usize>) = numbers
        .filter(|at| pricing.is_possible(*at))
        .partition(|at| decisions[*at].inside);
    let mut found = pricing.settled();
    let mut shared = SharedWork::default();
    let mut rest = without.clone();
    rest.retain(|at| found[*at].is_none());
    // The first search prepares the shared data; one that already has nodes would not.
    let has_nodes = |at: &usize| pricing.begun(*at).is_some_and(|begun| begun.started);
    if let Some(first) = rest.iter().position(|at| !has_nodes(at)) {
        let at = rest.remove(first);
        found[at] = Some(pricing.alone(at, &mut shared, settings.threads));
    }
    let more = pricing.each(&rest, |at, threads| {
        pricing.alone(at, &mut shared.clone(), threads)
    });
    for (at, solution) in rest.iter().zip(more) {
        found[*at] = Some(solution);
    }
    // A model with another feature does not have room for all of these.
    let mut base = Certified::TRIVIAL;
    if without.len() >= problem.support_size() {
        let bounds = without.iter().filter_map(|at| found[*at].as_ref());
        let bounds = bounds.map(Certified::of);
        base = bounds.reduce(Certified::weaker).unwrap_or(base);
    }
    let mut rest = others;
    rest.retain(|at| found[*at].is_none());
    for at in &rest {
        found[*at] = pricing.is_settled(*at, base);
    }
    rest.retain(|at| found[*at].is_none());
    let more = pricing.each(&rest, |at, threads| {
        pricing.alone(at, &mut shared.clone(), threads)
    });
    for (at, solution) in rest.iter().zip(more) {
        found[*at] = Some(solution);
    }
    pricing.close();
    for (at, found) in found.iter_mut().enumerate() {
        if let Some(found) = found.as_mut().filter(|found| found.status.falls_short()) {
            pricing.look_again(at, found);
        }
    }
    Ok(found)
}

/// Decisions about one problem.
pub(super) struct Asked<'p> {
    pub problem: &'p Problem,
    pub settings: &'p Settings,
    /// The features of the best model, no more than the problem allows.
    pub chosen: &'p [usize],
    pub decisions: &'p [Decision],
    /// The known models for the same decisions.
    pub known_models: Arc<DecisionModels>,
    pub archive: Option<PriceArchive<'p>>,
    /// For each decision, the bound at which its search may end; so may one that has a model below it.
    pub enough: Option<&'p [f64]>,
}

/// Data that the searches share.
pub(super) struct Pricing<'p> {
    pub(super) problem: &'p Problem,
    pub(super) settings: &'p Settings,
    chosen: &'p [usize],
    pub(super) decisions: &'p [Decision],
    pub(super) known_models: Arc<DecisionModels>,
    /// Set where checkpoints are wanted, or there is one to resume from.
    pub(super) archive: Option<PriceArchive<'p>>,
    enough: Option<&'p [f64]>,
    start: Instant,
    /// Number of searches that have not begun.
    left: AtomicUsize,
}

impl<'p> Pricing<'p> {
    /// The results that an earlier run has proved; the models are fitted again.
    fn settled(&self) -> Vec<Option<Solution>> {
        let known = self.archive.as_ref().map(|archive| archive.known());
        let done = |at: usize| {
            let done = known.as_ref()?.done[at].as_ref()?;
            let (support, bound) = done.proof();
            let mut context = self.context(&self.unlimited(), Some(at));
            context.try_support(&support);
            self.left.fetch_sub(1, Ordering::Relaxed);
            Some(Solution {
                solver_calls: done.calls,
                nodes: done.nodes,
                peak_open_nodes: done.peak_open,
                seconds: done.seconds,
                ..context.solution(self.settings, None, Some(bound))
            })
        };
        (0..self.decisions.len()).map(done).collect()
    }

    /// The settings without limits, to fit models that were found before.
    fn unlimited(&self) -> Settings {
        Settings {
            time_limit: None,
            search_time_limit: None,
            interrupt: None,
            ..self.settings.clone()
        }
    }

    /// The state of a decision's search that an earlier run has begun.
    fn begun(&self, at: usize) -> Option<State> {
        let known = self.archive.as_ref()?.known();
        known.begun[at].clone()
    }

    /// Hands out the last checkpoint.
    fn close(&self) {
        if let Some(archive) = &self.archive {
            archive.write();
        }
    }

    /// Records that a search has ended: its result is kept if it was not stopped early.
    pub(super) fn note(&self, at: usize, found: &Solution) {
        if let Some(archive) = self.archive.as_ref().filter(|archive| archive.is_kept()) {
            if !found.status.stopped_early() {
                archive.finish(at, self.problem, found);
            }
            archive.write_if_due();
        }
    }

    /// Sends the states of a search to the archive.
    pub(super) fn keep(&self, context: &mut Context<'p>, stretch: PriceStage) {
        if let Some(archive) = &self.archive {
            context.prepared.gram = archive.gram();
            context.save_to(archive.slot(stretch));
        }
    }

    /// Whether any model follows a decision.
    fn is_possible(&self, at: usize) -> bool {
        let Decision { feature, inside } = self.decisions[at];
        let structure = self.problem.structure.as_ref();
        let needs = structure.map_or(0, |structure| structure.ancestors[feature].len());
        !inside || needs < self.problem.support_size()
    }

    /// The settings of the next search, with its share of the remaining time. `threads`: `None` where searches run
    /// side by side.
    pub(super) fn next_settings(&self, threads: Option<NonZeroUsize>) -> Settings {
        let settings = self.within_time(true, threads);
        self.left.fetch_sub(1, Ordering::Relaxed);
        settings
    }

    /// The settings with the remaining time: all of it, or the share of the next search.
    fn within_time(&self, share: bool, threads: Option<NonZeroUsize>) -> Settings {
        let side_by_side = match threads {
            None => self.settings.thread_count(),
            Some(_) => 1,
        };
        let left = self.left.load(Ordering::Relaxed).max(1);
        let part = if share {
            (side_by_side as f64 / left as f64).min(1.0)
        } else {
            1.0
        };
        let time = |limit: Duration| {
            let left = limit.saturating_sub(self.start.elapsed());
            left.mul_f64(part)
        };
        Settings {
            time_limit: self.settings.time_limit.map(time),
            threads,
            ..self.settings.clone()
        }
    }

    /// The context of a search for the decision of this number, or for all decisions.
    fn context(&self, settings: &Settings, at: Option<usize>) -> Context<'p> {
        let decision = at.map(|at| self.decisions[at]);
        let others = Some(Arc::clone(&self.known_models));
        Context::for_decision(self.problem, settings, decision, others)
    }

    /// The context of the search for one decision, with the best known model.
    pub(super) fn decided(&self, at: usize, settings: &Settings) -> Context<'p> {
        let mut context = self.context(settings, Some(at));
        context.counters.calls += 1;
        context.try_support(&self.known_models.best(at).1);
        context
    }

    /// Finds a model for every decision.
    fn find_models(&self) -> Result<()> {
        let problem = self.problem;
        let settings = self.within_time(false, None);
        let mut context = self.context(&settings, None);
        context.try_support(self.chosen);
        let known = self.archive.as_ref().map(|archive| archive.known());
        if let Some(known) = &known {
            let mut context = self.context(&self.unlimited(), None);
            for support in known.models.iter().flatten() {
                context.try_support(&wide(support));
            }
        }
        let tried = known.as_ref().map_or(0, |known| known.tried as usize);
        let structure = problem.structure.as_deref();
        let mut dear: Vec<(f64, usize)> = Vec::with_capacity(self.chosen.len());
        for (i, j) in self.chosen.iter().enumerate() {
            let mut smaller = self.chosen.to_vec();
            smaller.retain(|i| i != j && structure.is_none_or(|s| !s.ancestors[*i].contains(j)));
            dear.push((context.try_support(&smaller), *j));
            let asked = self.decisions.iter().any(|decision| decision.feature == *j);
            let in_gram_form = structure.is_none() && problem.loss.is_quadratic();
            // In Gram form, swaps give better models at less cost.
            if asked && !in_gram_form && i >= tried {
                let other = problem.without(*j)?;
                let others = Some(Arc::clone(&self.known_models));
                let mut context = Context::for_decision(&other, &settings, None, others);
                context.try_support(&smaller);
                if let (Some(known), true) = (&known, i == tried) {
                    context.prepared.heuristic = archive::heuristic(known, &other);
                }
                let archive = self.archive.as_ref();
                context.save_to(archive.and_then(|archive| archive.slot(PriceStage::Heuristic)));
                heuristic::first_incumbent(&mut context);
                if let Some(archive) = archive.filter(|_| !context.limits.stop()) {
                    archive.set_tried(i + 1);
                }
            }
        }
        // The features worth least make room first.
        dear.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let room = problem.support_size();
        for (at, decision) in self.decisions.iter().enumerate() {
            if !decision.inside || !self.is_possible(at) {
                continue;
            }
            let wanted = [decision.feature].into_iter();
            let others = dear.iter().map(|(_, j)| *j);
            let wanted = wanted.chain(others.filter(|j| *j != decision.feature));
            let mut support = match structure {
                Some(structure) => structure.close(&[], wanted, |_| true, room),
                None => wanted.take(room).collect(),
            };
            support.sort_unstable();
            context.try_support(&support);
        }
        Ok(())
    }

    /// Searches for one decision.
    fn alone(&self, at: usize, shared: &mut SharedWork, threads: Option<NonZeroUsize>) -> Solution {
        let mut settings = self.next_settings(threads);
        let mut observer = None;
        if let Some(enough) = self.enough {
            let (own, watch) = twins::ending(&settings, enough[at]);
            (settings, observer) = (own, Some(watch));
        }
        let mut context = self.decided(at, &settings);
        if let Some(observer) = observer {
            context.observe(observer);
        }
        let decision = self.decisions[at];
        let begun = self.begun(at);
        if let Some(begun) = &begun {
            context.resume(begun);
        }
        self.keep(&mut context, PriceStage::Alone(at));
        let settings = &settings;
        let driver = Alone { settings, decision };
        let found = best_first(context, begun, shared, driver);
        self.note(at, &found);
        found
    }

    /// The best known model of a decision, if a bound that holds for it proves it.
    fn is_settled(&self, at: usize, bound: Certified) -> Option<Solution> {
        let settings = self.unlimited();
        let mut context = self.decided(at, &settings);
        let needed = self
            .enough
            .map_or_else(|| context.incumbents.cut(), |own| own[at]);
        if bound.value() < needed {
            return None;
        }
        context.evidence.rule_out(bound);
        let found = context.solution(&settings, None, Some(bound));
        self.left.fetch_sub(1, Ordering::Relaxed);
        self.note(at, &found);
        Some(found)
    }

    /// Results for all numbers: side by side if there are enough of them, otherwise one after the other with all
    /// threads.
    pub(super) fn each(
        &self,
        numbers: &[usize],
        work: impl Fn(usize, Option<NonZeroUsize>) -> Solution + Sync,
    ) -> Vec<Solution> {
        let threads = self.settings.thread_count();
        if threads == 1 || numbers.len() < threads {
            let threads = self.settings.threads;
            return numbers.iter().map(|at| work(*at, threads)).collect();
        }
        let next = AtomicUsize::new(0);
        let solved = Mutex::new(Vec::with_capacity(numbers.len()));
        let take = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(at) = numbers.get(place) else {
                    return;
                };
                let solution = work(*at, None);
                let mut solved = solved.lock().unwrap_or_else(PoisonError::into_inner);
                solved.push((place, solution));
            }
        };
        thread::scope(|scope| {
            for worker in 1..threads {
                // If the system provides fewer threads, fewer are used.
                let _ = thread::Builder::new()
                    .name(format!("l0star-price-{worker}"))
                    .spawn_scoped(scope, take);
            }
            take();
        });
        let mut solved = solved.into_inner().unwrap_or_else(PoisonError::into_inner);
        solved.sort_by_key(|(place, _)| *place);
        solved.into_iter().map(|(_, solution)| solution).collect()
    }

    /// Replaces the model of a stopped search if another search has found a better one since.
    fn look_again(&self, at: usize, found: &mut Solution) {
        if self.known_models.best(at).0 >= found.objective {
            return;
        }
        let mut context = self.decided(at, self.settings);
        let bound = Certified::of(found);
        let better = context.solution(self.settings, Some(found.status), Some(bound));
        if better.objective < found.objective {
            *found = Solution {
                solver_calls: found.solver_calls + 1,
                nodes: found.nodes,
                peak_open_nodes: found.peak_open_nodes,
                seconds: found.seconds,
                ..better
            };
        }
    }
}

/// Runs one search from the root.
struct Alone<'s> {
    settings: &'s Settings,
    decision: Decision,
}

impl<'p> Driver<'p> for Alone<'_> {
    type Outcome = Solution;

    fn drive<T: Restrict>(self, search: Search<'p, T>) -> Solution {
        let (mut context, mut tree) = search.into_parts();
        let mut nodes = Vec::new();
        tree.root(&mut context, &mut nodes);
        let problem = context.problem;
        let nodes = nodes.iter();
        let left = nodes.filter_map(|node| tree.restrict(problem, node, self.decision));
        let left = left.collect();
        run(Search::resumed(context, tree, left), self.settings)
    }

    fn go_on<T: Restrict>(self, context: Context<'p>, tree: T, nodes: Vec<T::Node>) -> Solution {
        run(Search::resumed(context, tree, nodes), self.settings)
    }

    fn ended(
        self,
        mut context: Context<'p>,
        state: State,
        stopped: Option<Status>,
        bound: Certified,
    ) -> Solution {
        context.save(context.saved(state));
        context.solution(self.settings, stopped, Some(bound))
    }
}
