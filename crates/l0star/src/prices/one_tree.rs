//! The prices of all features that were not chosen in one tree.
//!
//! A node serves every decision that it has models for and that is not proved there. One dual point of the node bounds all of
//! them: `D + q_(m) - q_i` with feature i in. The node is split as long as several are open in it; what is left when only a
//! few are goes to searches of their own, each from the nodes in which it is still open.

use super::together::Pricing;
use crate::bound::Certified;
use crate::search::checkpoint::State;
use crate::search::context::WORKING;
use crate::search::{Context, Expansion, Node, Restrict, Search};
use crate::settings::{Solution, Status};
use crate::solve::{Driver, run};

/// A node in which fewer decisions than this are open is no longer shared …
const FEWEST: usize = 8;
/// … nor, where there are few decisions, one with less than this share of them.
const SHARE: usize = 4;
/// The tree has at most so many nodes for each decision.
const MOST_NODES: u64 = 30;

/// One search for all decisions as long as it serves several, then one for each that it does not settle.
pub(super) struct OneTree<'a, 'p> {
    pricing: &'a Pricing<'p>,
    /// The numbers of the decisions.
    others: &'a [usize],
    /// What is proved of all of them already.
    base: Certified,
    /// A node with fewer open decisions is not split.
    fewest: usize,
}

/// A decision by its number, and a bound of the models of a node that follow it.
type Bounded = (usize, Certified);

/// What the common tree leaves to one decision.
#[derive(Debug, Default)]
struct Rest {
    /// Nodes by their place in the list of all that are left, with the bound of the decision there.
    nodes: Vec<(usize, Certified)>,
    /// The evidence of what was discarded.
    floor: Option<Certified>,
}

impl Rest {
    fn discard(&mut self, evidence: Certified) {
        self.floor = Some(self.floor.map_or(evidence, |floor| floor.and(evidence)));
    }
}

impl<'a, 'p> OneTree<'a, 'p> {
    pub(super) fn new(pricing: &'a Pricing<'p>, others: &'a [usize], base: Certified) -> Self {
        Self {
            pricing,
            others,
            base,
            fewest: (others.len() / SHARE).clamp(2, FEWEST),
        }
    }

    /// Whether a bound proves the best known model of a decision.
    fn proves(&self, at: usize, bound: Certified) -> bool {
        let settings = self.pricing.settings;
        let known = self.pricing.ledger.best(at).0;
        let size = known.max(1e-12);
        let allowed = settings.gap.max(settings.relative_gap * size);
        bound.value() >= known - allowed.max(WORKING * size)
    }

    /// Of some decisions those that are open: the others are done with, for the reason given by their bounds.
    fn still_open(&self, open: &mut Vec<Bounded>, rests: &mut [Rest]) {
        open.retain(|(at, bound)| {
            let done = self.proves(*at, *bound);
            if done {
                rests[*at].discard(*bound);
            }
            !done
        });
    }

    /// Splits nodes as long as each of them is open for several decisions. Returns the nodes that are left, and how many were
    /// looked at.
    fn grow<T: Restrict>(
        &self,
        tree: &mut T,
        context: &mut Context<'p>,
        rests: &mut [Rest],
    ) -> (Vec<T::Node>, u64) {
        let (problem, decisions) = (context.problem, self.pricing.decisions);
        let mut nodes = Vec::new();
        tree.root(context, &mut nodes);
        // What was discarded on the way to the root.
        if let Some(floor) = context.take_floor() {
            let others = self.others.iter();
            others.for_each(|at| rests[*at].discard(floor));
        }
        let all: Vec<Bounded> = self.others.iter().map(|at| (*at, self.base)).collect();
        let mut shared: Vec<(T::Node, Vec<Bounded>)> =
            nodes.into_iter().map(|node| (node, all.clone())).collect();
        let mut left: Vec<T::Node> = Vec::new();
        let mut hand_over = |node: T::Node, open: &[Bounded], rests: &mut [Rest]| {
            if open.is_empty() {
                return;
            }
            for (at, bound) in open {
                rests[*at].nodes.push((left.len(), *bound));
            }
            left.push(node);
        };
        let most = MOST_NODES * self.others.len() as u64;
        let mut looked = 0;
        // Depth first: few nodes are open at a time.
        while let Some((mut node, mut open)) = shared.pop() {
            open.retain(|(at, _)| tree.follows(problem, &node, decisions[*at]));
            let low = node.low();
            open.iter_mut()
                .for_each(|(_, bound)| *bound = bound.or(low));
            self.still_open(&mut open, rests);
            let stopped = context.limits.reached_between(looked, 0).is_some() || looked >= most;
            if open.len() < self.fewest || stopped {
                hand_over(node, &open, rests);
                continue;
            }
            looked += 1;
            let known = open.iter().map(|(at, _)| self.pricing.ledger.best(*at).0);
            context.begin_survey(known.fold(0.0, f64::max), low);
            let mut children = Vec::new();
            let expansion = tree.expand(&node, context, &mut children);
            let floor = context.take_floor();
            for (at, bound) in &mut open {
                floor
                    .into_iter()
                    .for_each(|floor| rests[*at].discard(floor));
                if let Some(survey) = context.survey() {
                    *bound = bound.or(survey.bound(decisions[*at].feature));
                }
            }
            if let Expansion::Stopped(_, low) = expansion {
                node.raise(low);
                hand_over(node, &open, rests);
                continue;
            }
            let mut children = children.into_iter();
            let Some(itself) = children.next() else {
                // Discarded as a whole: that is in the floor.
                continue;
            };
            self.still_open(&mut open, rests);
            if open.len() < self.fewest || children.len() == 0 {
                hand_over(itself, &open, rests);
                continue;
            }
            shared.extend(children.map(|node| (node, open.clone())));
        }
        (left, looked)
    }
}

impl<'p> Driver<'p> for OneTree<'_, 'p> {
    type Outcome = Vec<Solution>;

    fn drive<T: Restrict>(self, search: Search<'p, T>) -> Vec<Solution> {
        let (mut context, mut tree) = search.into_parts();
        let pricing = self.pricing;
        for at in self.others {
            let known = pricing.ledger.best(*at).1;
            tree.polish(&known, pricing.decisions[*at], &mut context);
        }
        let mut rests: Vec<Rest> = Vec::new();
        rests.resize_with(pricing.decisions.len(), Rest::default);
        let (left, looked) = self.grow(&mut tree, &mut context, &mut rests);
        let calls = context.counters.calls;
        let mut solutions = pricing.each(self.others, |at, threads| {
            let settings = pricing.next_settings(threads);
            let mut own = pricing.decided(at, &settings);
            own.raise(self.base);
            let (problem, decision) = (pricing.problem, pricing.decisions[at]);
            if let Some(floor) = rests[at].floor {
                own.discard(floor);
            }
            let lows = rests[at].nodes.iter().map(|(place, bound)| {
                let low = left[*place].low();
                bound.or(low)
            });
            if let (Some(low), Some(status)) = (lows.reduce(Certified::and), own.limits.reached()) {
                // No node would be looked at: what is known of them is all there is.
                let bound = own.lower_bound(Some(low));
                return own.solution(&settings, Some(status), Some(bound));
            }
            let nodes = rests[at].nodes.iter().filter_map(|(place, bound)| {
                let mut node = tree.restrict(problem, &left[*place], decision)?;
                node.raise(*bound);
                Some(node)
            });
            let nodes = nodes.collect();
            run(Search::resumed(own, tree.another(), nodes), &settings)
        });
        if let Some(first) = solutions.first_mut() {
            first.nodes += looked;
            first.solver_calls += calls;
        }
        solutions
    }

    fn ended(
        self,
        _: Context<'p>,
        _: State,
        stopped: Option<Status>,
        bound: Certified,
    ) -> Vec<Solution> {
        let (settings, bound) = (self.pricing.settings, self.base.or(bound));
        let solutions = self.others.iter().map(|at| {
            let mut own = self.pricing.decided(*at, settings);
            own.solution(settings, stopped, Some(bound))
        });
        solutions.collect()
    }
}
