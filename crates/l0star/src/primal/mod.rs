//! The primal side: local search for good models, independent of the bounds.
//!
//! A start is greedy, with one of the best few features chosen at random at each step; or random features; or a
//! crossover: the union of two good models, cut down to k again. From each start, the best exchange of one feature
//! among all columns is made until none helps ([`crate::gram::local`]). This is the whole search for the quadratic
//! loss. For other losses, starts are made in a model of P at the empty support. Exchanges are then chosen in models
//! at each support on the way, and fitted ([`crate::gram::quadratic`]). A pool keeps the best models found ([`pool`]).
//! With groups, bounds or heredity, starts are randomised greedy steps or crossovers too, and all models are fitted
//! ([`structured`]). Random numbers are the same in every run, and work is counted, not timed: a run on one thread can
//! be repeated.

mod pool;
mod structured;
#[cfg(test)]
mod tests;

use pool::{Pool, Suggestions};
use structured::Structured;

use crate::gram::form::Form;
use crate::gram::local::{Local, Pinned};
use crate::gram::quadratic::Quadratic;
use crate::problem::Problem;
use crate::search::Context;
use crate::search::context::ModelSearch;
use crate::search::optima::Optimum;
use crate::tuning::models::{
    FITTED_EXCHANGES, GREEDY_CHOICES, LEAST_CROSSED, LOCAL_MODELS, ONE_BY_CHANCE_OF, ONE_FRESH_OF,
    UNION_SPARE,
};

/// The share of c0 that an exchange has to gain …
const WORTHWHILE: f64 = 1e-11;
/// … and the share of P that a refit has to gain.
const BETTER: f64 = 1e-10;
/// Limit on the exchanges of one descent: far more than any has needed.
const MOST_SWAPS: usize = 1000;

/// Makes a search for models of any problem. `None` where there is nothing to choose from.
pub(crate) fn for_problem<'p>(context: &mut Context<'p>) -> Option<Box<dyn ModelSearch<'p> + 'p>> {
    let problem = context.problem;
    if problem.structure.is_some() {
        Some(Box::new(Structured::new(problem)))
    } else if problem.loss.is_quadratic() {
        let of_problem = Quadratic::of_problem(problem);
        let pinned = pinned(context, &of_problem);
        quadratic(problem, of_problem, pinned)
    } else {
        Some(Box::new(Exchanges::of_loss(context)?))
    }
}

/// Makes a search for models of a quadratic problem, with or without a pinned index. `None` where there is nothing to
/// choose from.
pub(crate) fn quadratic<'p>(
    problem: &'p Problem,
    quadratic: Quadratic<'p>,
    pinned: Pinned,
) -> Option<Box<dyn ModelSearch<'p> + 'p>> {
    Some(Box::new(Exchanges::new(problem, quadratic, pinned)?))
}

/// Starts and exchanges, and the pool of the models that they have found.
pub(crate) struct Exchanges<'p> {
    problem: &'p Problem,
    /// The objective, or a model of it at the empty support.
    quadratic: Quadratic<'p>,
    is_model: bool,
    k: usize,
    /// The index that the decision of the search fixes, and whether it is in.
    pinned: Pinned,
    /// Only the columns that are always in or pinned.
    base: Local,
    local: Local,
    /// The best local optima, by chosen indices.
    pool: Pool,
    suggestions: Suggestions,
    random: Random,
    starts: u64,
    /// Limit on the multiplications, and those made with data that have been dropped.
    allowed: u64,
    before: u64,
}

impl<'p> Exchanges<'p> {
    /// Makes a search; `None` where there is nothing to choose from.
    fn new(problem: &'p Problem, mut quadratic: Quadratic<'p>, pinned: Pinned) -> Option<Self> {
        let k = problem.support_size();
        if k == 0 || quadratic.selectable <= k {
            return None;
        }
        let base = Local::pinned(&mut quadratic, pinned);
        Some(Self {
            problem,
            local: base.clone(),
            base,
            quadratic,
            is_model: false,
            k,
            pinned,
            pool: Pool::default(),
            suggestions: Suggestions::default(),
            random: Random::new(),
            starts: 0,
            allowed: 0,
            before: 0,
        })
    }

    /// Makes a search for any loss.
    fn of_loss(context: &mut Context<'p>) -> Option<Self> {
        let quadratic = model(context, &[]);
        let pinned = pinned(context, &quadratic);
        let primal = Self::new(context.problem, quadratic, pinned)?;
        Some(Self {
            is_model: true,
            ..primal
        })
    }

    fn spent(&self) -> u64 {
        self.before + self.quadratic.work + self.local.work
    }

    /// Starts from the best model so far.
    fn known(&mut self, context: &Context) {
        let known = context.incumbents.first().map(|known| known.support);
        self.from(&known.unwrap_or_default());
    }

    /// Starts from these features, cut down to k or filled up.
    fn from(&mut self, features: &[usize]) {
        let columns = &self.quadratic.columns[..self.quadratic.selectable];
        let places = features
            .iter()
            .filter_map(|j| columns.binary_search(j).ok());
        let mut places: Vec<usize> = places.collect();
        match self.pinned {
            Some((i, true)) if !places.contains(&i) => places.push(i),
            Some((i, false)) => places.retain(|j| *j != i),
            _ => {}
        }
        if places.len() > self.k {
            places = self.cut_down(&places);
        }
        self.begin_with(&places);
    }

    /// Starts from these indices, filled up to k.
    fn begin_with(&mut self, places: &[usize]) {
        self.local.reset_to(&self.base);
        for j in places {
            self.local.add(*j, &mut self.quadratic);
        }
        self.fill(1);
    }

    /// Starts from nothing.
    fn greedy(&mut self, choices: usize) {
        self.local.reset_to(&self.base);
        self.fill(choices);
    }

    /// Starts from random features: greedy starts alone reach the same optima again and again.
    fn scatter(&mut self) {
        self.local.reset_to(&self.base);
        for _ in 0..2 * self.k {
            if self.local.size() < self.k {
                let j = self.random.below(self.quadratic.selectable);
                self.local.add(j, &mut self.quadratic);
            }
        }
        self.fill(GREEDY_CHOICES);
    }

    /// Adds features up to k, each chosen from the best few.
    fn fill(&mut self, choices: usize) {
        while self.local.size() < self.k {
            let gains = (0..self.quadratic.selectable)
                .filter_map(|j| Some((self.local.gain_of(j, &self.quadratic)?, j)));
            let best = largest(gains, choices);
            self.local.work += 2 * self.quadratic.selectable as u64;
            if best.is_empty() {
                return;
            }
            let (_, j) = best[self.random.below(best.len())];
            self.local.add(j, &mut self.quadratic);
        }
    }

    /// Starts from the union of two models of the pool with some random features, cut down to k.
    fn cross(&mut self) {
        let (a, b) = self.pool.pair(&mut self.random);
        let mut union = [a, b].concat();
        union.sort_unstable();
        union.dedup();
        while union.len() < (self.k + UNION_SPARE).min(self.quadratic.selectable) {
            let j = self.random.below(self.quadratic.selectable);
            if !union.contains(&j) {
                union.push(j);
            }
        }
        let kept = self.cut_down(&union);
        self.begin_with(&kept);
    }

    /// Removes indices down to k: the one that costs least each time, or now and then a random one. Only the products
    /// of these indices are used.
    fn cut_down(&mut self, union: &[usize]) -> Vec<usize> {
        let quadratic = &mut self.quadratic;
        let always = quadratic.selectable..quadratic.size();
        let places: Vec<usize> = union.iter().copied().chain(always).collect();
        let h = quadratic.square(&places);
        let c: Vec<f64> = places.iter().map(|i| quadratic.c[*i]).collect();
        let mut small = Quadratic::of_form(Form {
            h: &h,
            c: &c,
            c0: quadratic.c0,
            selectable: union.len(),
        });
        let own = |i| union.iter().position(|j| *j == i);
        let pinned = self.pinned.and_then(|(i, inside)| Some((own(i)?, inside)));
        let mut local = Local::pinned(&mut small, pinned);
        for i in 0..union.len() {
            local.add(i, &mut small);
        }
        while local.size() > self.k {
            let places = local.places();
            let first = places.start;
            let p = match self.random.below(ONE_BY_CHANCE_OF) {
                0 => first + self.random.below(places.len()),
                _ => {
                    let cost = |p: &usize| local.cost(*p);
                    let least = places.min_by(|a, b| cost(a).total_cmp(&cost(b)));
                    least.unwrap_or(first)
                }
            };
            local.remove(p);
        }
        self.before += local.work;
        local.chosen().iter().map(|i| union[*i]).collect()
    }

    /// The chosen indices, in order.
    fn chosen(&self) -> Vec<usize> {
        let mut chosen = self.local.chosen().to_vec();
        chosen.sort_unstable();
        chosen
    }

    /// The columns of chosen indices.
    fn support(&self, chosen: &[usize]) -> Vec<usize> {
        chosen.iter().map(|i| self.quadratic.columns[*i]).collect()
    }

    /// Makes the best exchange until none helps, and offers the model if it is good enough.
    fn descend(&mut self, context: &mut Context) -> (Vec<usize>, f64) {
        let least = WORTHWHILE * 2.0 * self.quadratic.c0;
        for _ in 0..MOST_SWAPS {
            let swap = self.local.best_swap(&self.quadratic, least);
            let Some((p, j)) = swap.filter(|_| !context.limits.stop()) else {
                break;
            };
            self.local.remove(p);
            self.local.add(j, &mut self.quadratic);
        }
        let chosen = self.chosen();
        let value = self.quadratic.c0 - 0.5 * self.local.gain;
        if value < context.incumbents.reference() {
            context.counters.calls += 1;
            context.propose(&self.support(&chosen));
        }
        (chosen, value)
    }

    /// Fits the start. Then takes the best of a few exchanges that are promising in the model of P at each fit, while
    /// refits improve.
    fn refine(&mut self, context: &mut Context<'p>) -> (Vec<usize>, f64) {
        let mut chosen = self.chosen();
        let mut value = context.try_support(&self.support(&chosen));
        for _ in 0..LOCAL_MODELS {
            if context.limits.stop() {
                break;
            }
            let mut quadratic = model(context, &self.support(&chosen));
            let mut local = Local::pinned(&mut quadratic, self.pinned);
            for i in &chosen {
                local.add(*i, &mut quadratic);
            }
            if local.size() < chosen.len() {
                // The columns are linearly dependent, up to rounding, so exchanges cannot be compared.
                break;
            }
            let least = BETTER * value;
            let mut swaps: Vec<(f64, usize, usize)> = local
                .places()
                .filter_map(|p| {
                    let (gain, j) = local.best_for(p, &quadratic, least)?;
                    Some((gain, local.at(p), j))
                })
                .collect();
            swaps.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            swaps.truncate(FITTED_EXCHANGES);
            self.before += quadratic.work + local.work;
            let mut best: Option<(f64, Vec<usize>)> = None;
            for (_, out, new) in swaps {
                let mut next: Vec<usize> = chosen.iter().copied().filter(|i| *i != out).collect();
                next.push(new);
                next.sort_unstable();
                let at = context.try_support(&self.support(&next));
                self.before += (self.problem.rows() * self.k * self.k) as u64;
                if best.as_ref().is_none_or(|(least, _)| at < *least) {
                    best = Some((at, next));
                }
            }
            match best {
                Some((at, next)) if at < value - BETTER * value.abs() => {
                    (value, chosen) = (at, next);
                }
                _ => break,
            }
        }
        (chosen, value)
    }
}

impl<'p> ModelSearch<'p> for Exchanges<'p> {
    fn work(&mut self, multiplications: u64, patience: u64, context: &mut Context<'p>) {
        self.allowed = self.allowed.saturating_add(multiplications);
        let (mut best, mut last) = (context.incumbents.best(), self.starts);
        while self.spent() < self.allowed && !context.limits.stop() {
            if context.incumbents.best() < best {
                (best, last) = (context.incumbents.best(), self.starts);
            } else if self.starts - last >= patience {
                // The remaining allowance is not saved up.
                self.allowed = self.spent();
                return;
            }
            match self.starts {
                0 => self.known(context),
                1 => self.greedy(1),
                // Suggestions get at most every other start, because nodes can suggest one set after the other.
                odd if odd % 2 == 1 && !self.suggestions.is_empty() => {
                    let features = self.suggestions.next().unwrap_or_default();
                    self.from(&features);
                }
                _ if self.k < LEAST_CROSSED => self.greedy(GREEDY_CHOICES),
                _ if self.pool.is_ready() && self.random.below(ONE_FRESH_OF) > 0 => self.cross(),
                _ if self.random.below(2) == 0 => self.greedy(GREEDY_CHOICES),
                _ => self.scatter(),
            }
            self.starts += 1;
            let (chosen, value) = if self.is_model {
                self.refine(context)
            } else {
                self.descend(context)
            };
            if !context.limits.stop() {
                self.pool.keep(chosen, value);
            }
        }
    }

    fn suggest(&mut self, features: &[usize]) {
        self.suggestions.add(features);
    }

    fn fresh(&mut self) -> Vec<Optimum> {
        let fresh = self.pool.fresh().into_iter();
        fresh
            .map(|(value, chosen)| (value, self.support(&chosen)))
            .collect()
    }
}

/// The index that the decision of the search fixes.
fn pinned(context: &Context, quadratic: &Quadratic) -> Pinned {
    let decision = context.incumbents.decision()?;
    let columns = &quadratic.columns[..quadratic.selectable];
    let index = columns.binary_search(&decision.feature).ok()?;
    Some((index, decision.inside))
}

/// The model of P at the minimiser of a support.
fn model<'p>(context: &mut Context<'p>, support: &[usize]) -> Quadratic<'p> {
    let problem = context.problem;
    let fit = context.restricted().fit(support);
    Quadratic::model_at(problem, &fit, context.restricted().beta())
}

/// The largest of the given numbers with their indices, the largest first.
fn largest(numbers: impl Iterator<Item = (f64, usize)>, count: usize) -> Vec<(f64, usize)> {
    let mut numbers: Vec<(f64, usize)> = numbers.collect();
    let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if numbers.len() > count {
        numbers.select_nth_unstable_by(count - 1, order);
        numbers.truncate(count);
    }
    numbers.sort_unstable_by(order);
    numbers
}

/// Pseudorandom numbers, the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number in `0..count`.
    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }
}
