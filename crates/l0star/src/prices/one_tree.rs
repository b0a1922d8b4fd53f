//! The prices of all features that were not chosen in one tree.
//!
//! A node serves every decision that it has models for and that is not proved there. One dual point of the node bounds all of
//! them: `D + q_(m) - q_i` with feature i in. The node is split as long as several are open in it; what is left when only a
//! few are goes to searches of their own, each from the nodes in which it is still open.

use super::book::Part;
use super::together::Pricing;
use crate::bound::Certified;
use crate::search::checkpoint::{Draft, SharedTree, State};
use crate::search::context::{Counters, WORKING};
use crate::search::{Context, Expansion, Node, Restrict, Search, Tree};
use crate::settings::{Solution, Status, scale_of};
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
    /// What an earlier run has left.
    begun: SharedTree,
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

/// A tree in the making.
struct Growth<N> {
    /// The nodes that are open for several decisions, and for which; the last is taken first.
    shared: Vec<(N, Vec<Bounded>)>,
    /// The nodes that are left to searches of their own …
    left: Vec<N>,
    /// … and what there is for each decision.
    rests: Vec<Rest>,
    /// Nodes that were looked at, and the calls of earlier runs.
    looked: u64,
    calls: u64,
}

impl<N> Growth<N> {
    fn new(decisions: usize) -> Self {
        let mut rests: Vec<Rest> = Vec::new();
        rests.resize_with(decisions, Rest::default);
        Self {
            shared: Vec::new(),
            left: Vec::new(),
            rests,
            looked: 0,
            calls: 0,
        }
    }

    fn discard(&mut self, decisions: &[usize], evidence: Option<Certified>) {
        if let Some(evidence) = evidence {
            let decisions = decisions.iter();
            decisions.for_each(|at| self.rests[*at].discard(evidence));
        }
    }

    /// With the node at hand, for as long as `work` takes.
    fn with(&mut self, hand: (N, Vec<Bounded>), work: impl FnOnce(&Self)) -> (N, Vec<Bounded>) {
        self.shared.push(hand);
        work(self);
        self.shared.swap_remove(self.shared.len() - 1)
    }

    fn hand_over(&mut self, node: N, open: &[Bounded]) {
        if open.is_empty() {
            return;
        }
        for (at, bound) in open {
            self.rests[*at].nodes.push((self.left.len(), *bound));
        }
        self.left.push(node);
    }

    /// For a checkpoint, between two nodes.
    fn save<T: Tree<Node = N>>(&self, tree: &T, context: &Context) -> SharedTree {
        let mut draft = Draft::new(context.saved(State::default()));
        let mut open: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.left.len()];
        for (at, rest) in self.rests.iter().enumerate() {
            for (place, bound) in &rest.nodes {
                open[*place].push((at as u32, bound.value()));
            }
        }
        let shared = self.shared.iter();
        for node in self.left.iter().chain(shared.map(|(node, _)| node)) {
            tree.save(context.problem, node, &mut draft);
        }
        for (_, bounded) in &self.shared {
            let bounded = bounded.iter();
            open.push(
                bounded
                    .map(|(at, bound)| (*at as u32, bound.value()))
                    .collect(),
            );
        }
        draft.state.started = true;
        draft.state.nodes = self.looked;
        draft.state.prepared.beside_nodes(open.len());
        let floors = self.rests.iter();
        SharedTree {
            polished: 0,
            state: draft.finish(),
            left: self.left.len() as u32,
            open,
            floors: floors
                .map(|rest| rest.floor.map(Certified::value))
                .collect(),
            looked: self.looked,
            calls: self.calls + context.counters.calls,
        }
    }
}

/// What comes of it.
pub(super) struct Together {
    /// One a decision.
    pub solutions: Vec<Solution>,
    /// Nodes that were looked at, and calls, for all of them.
    pub looked: u64,
    pub calls: u64,
}

impl<'a, 'p> OneTree<'a, 'p> {
    pub(super) fn new(
        pricing: &'a Pricing<'p>,
        others: &'a [usize],
        base: Certified,
        begun: SharedTree,
    ) -> Self {
        Self {
            pricing,
            others,
            base,
            begun,
            fewest: (others.len() / SHARE).clamp(2, FEWEST),
        }
    }

    /// Whether a bound proves the best known model of a decision.
    fn proves(&self, at: usize, bound: Certified) -> bool {
        let settings = self.pricing.settings;
        let known = self.pricing.ledger.best(at).0;
        let size = scale_of(known, self.pricing.problem.empty_objective());
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

    /// Improves the best known models by swaps, where these are cheap.
    fn polish<T: Restrict>(&self, tree: &mut T, context: &mut Context<'p>) {
        let pricing = self.pricing;
        let done = self.begun.polished as usize;
        for (i, at) in self.others.iter().enumerate().skip(done) {
            let known = pricing.ledger.best(*at).1;
            tree.polish(&known, pricing.decisions[*at], context);
            if let Some(book) = pricing.book.as_ref().filter(|book| book.is_due()) {
                book.set_polished(i + 1);
                book.write();
            }
        }
    }

    /// Nothing is split yet.
    fn first_node<T: Restrict>(&self, tree: &mut T, context: &mut Context<'p>) -> Growth<T::Node> {
        let mut growth = Growth::new(self.pricing.decisions.len());
        let mut nodes = Vec::new();
        tree.root(context, &mut nodes);
        // What was discarded on the way to the root.
        growth.discard(self.others, context.take_floor());
        let all: Vec<Bounded> = self.others.iter().map(|at| (*at, self.base)).collect();
        growth
            .shared
            .extend(nodes.into_iter().map(|node| (node, all.clone())));
        growth
    }

    /// Where an earlier run stopped. What it has searched for by itself since is no longer in it.
    fn resumed<N: Node>(&mut self, context: &mut Context<'p>, nodes: Vec<N>) -> Growth<N> {
        let begun = std::mem::take(&mut self.begun);
        let mut growth = Growth::new(self.pricing.decisions.len());
        (growth.looked, growth.calls) = (begun.looked, begun.calls);
        context.counters = Counters::default();
        for (rest, floor) in growth.rests.iter_mut().zip(&begun.floors) {
            rest.floor = floor.map(Certified::restored);
        }
        growth.discard(self.others, context.take_floor());
        let left = begun.left as usize;
        for (place, (node, open)) in nodes.into_iter().zip(begun.open).enumerate() {
            let open = open.into_iter();
            let open = open.map(|(at, bound)| (at as usize, Certified::restored(bound)));
            let open: Vec<Bounded> = open
                .filter(|(at, _)| self.others.binary_search(at).is_ok())
                .collect();
            match place < left {
                true => growth.hand_over(node, &open),
                false => growth.shared.push((node, open)),
            }
        }
        growth
    }

    /// Splits nodes as long as each of them is open for several decisions.
    fn grow<T: Restrict>(
        &self,
        tree: &mut T,
        context: &mut Context<'p>,
        growth: &mut Growth<T::Node>,
    ) {
        let (problem, decisions) = (context.problem, self.pricing.decisions);
        let book = self.pricing.book.as_ref().filter(|book| book.is_kept());
        let most = MOST_NODES * self.others.len() as u64;
        let mut is_stopped = false;
        // Depth first: few nodes are open at a time.
        loop {
            let limit = context.limits.reached_between(growth.looked, 0).is_some();
            if let Some(book) = book
                && !is_stopped
                && (limit || book.is_due())
            {
                // From there another run goes on; what comes after the limit is for this one.
                book.set_tree(growth.save(tree, context));
                is_stopped = limit;
                if !limit {
                    book.write();
                }
            }
            let Some((mut node, mut open)) = growth.shared.pop() else {
                break;
            };
            open.retain(|(at, _)| tree.follows(problem, &node, decisions[*at]));
            let low = node.low();
            open.iter_mut()
                .for_each(|(_, bound)| *bound = bound.or(low));
            self.still_open(&mut open, &mut growth.rests);
            let stopped = limit || growth.looked >= most;
            if open.len() < self.fewest || stopped {
                growth.hand_over(node, &open);
                continue;
            }
            let is_lone = growth.left.is_empty() && growth.shared.is_empty();
            if let Some(book) = book.filter(|_| is_lone) {
                // While it is expanded it is kept with where its relaxation stands.
                (node, open) = growth.with((node, open), |growth| {
                    book.set_tree(growth.save(tree, context));
                });
                context.set_lone(Some((None, Counters::default())));
            }
            growth.looked += 1;
            let known = open.iter().map(|(at, _)| self.pricing.ledger.best(*at).0);
            context.begin_survey(known.fold(0.0, f64::max), low);
            let mut children = Vec::new();
            let expansion = tree.expand(&node, context, &mut children);
            let floor = context.take_floor();
            for (at, bound) in &mut open {
                floor
                    .into_iter()
                    .for_each(|floor| growth.rests[*at].discard(floor));
                if let Some(survey) = context.survey() {
                    *bound = bound.or(survey.bound(decisions[*at].feature));
                }
            }
            if let Expansion::Stopped(_, low) = expansion {
                node.raise(low);
                if let Some(book) = book.filter(|_| !is_stopped) {
                    (node, open) = growth.with((node, open), |growth| {
                        book.set_tree(growth.save(tree, context));
                    });
                    is_stopped = true;
                }
                context.set_lone(None);
                growth.hand_over(node, &open);
                continue;
            }
            context.set_lone(None);
            let mut children = children.into_iter();
            let Some(itself) = children.next() else {
                // Discarded as a whole: that is in the floor.
                continue;
            };
            self.still_open(&mut open, &mut growth.rests);
            if open.len() < self.fewest || children.len() == 0 {
                growth.hand_over(itself, &open);
                continue;
            }
            growth
                .shared
                .extend(children.map(|node| (node, open.clone())));
        }
        if let Some(book) = book.filter(|_| !is_stopped) {
            book.set_tree(growth.save(tree, context));
        }
    }
}

impl<'p> OneTree<'_, 'p> {
    /// From the root, or from the nodes of an earlier run, to the solutions.
    fn go<T: Restrict>(
        mut self,
        mut context: Context<'p>,
        mut tree: T,
        nodes: Option<Vec<T::Node>>,
    ) -> Together {
        let pricing = self.pricing;
        let mut growth = match nodes {
            Some(nodes) => self.resumed(&mut context, nodes),
            None => {
                self.polish(&mut tree, &mut context);
                self.first_node(&mut tree, &mut context)
            }
        };
        self.grow(&mut tree, &mut context, &mut growth);
        let Growth {
            left,
            rests,
            looked,
            calls,
            ..
        } = growth;
        let calls = calls + context.counters.calls;
        let solutions = pricing.each(self.others, |at, threads| {
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
            pricing.keep(&mut own, Part::Alone(at));
            let found = run(Search::resumed(own, tree.another(), nodes), &settings);
            pricing.note(at, &found);
            found
        });
        Together {
            solutions,
            looked,
            calls,
        }
    }
}

impl<'p> Driver<'p> for OneTree<'_, 'p> {
    type Outcome = Together;

    fn drive<T: Restrict>(self, search: Search<'p, T>) -> Together {
        let (context, tree) = search.into_parts();
        self.go(context, tree, None)
    }

    fn go_on<T: Restrict>(self, context: Context<'p>, tree: T, nodes: Vec<T::Node>) -> Together {
        self.go(context, tree, Some(nodes))
    }

    fn is_over(&self, _: &State, _: f64) -> bool {
        // Each decision has evidence of its own.
        false
    }

    fn ended(
        self,
        mut context: Context<'p>,
        state: State,
        stopped: Option<Status>,
        bound: Certified,
    ) -> Together {
        if !state.started {
            context.save(context.saved(state));
        }
        let (settings, bound) = (self.pricing.settings, self.base.or(bound));
        let solutions = self.others.iter().map(|at| {
            let mut own = self.pricing.decided(*at, settings);
            let bound = self.begun.bound(*at).map_or(bound, |own| bound.or(own));
            own.solution(settings, stopped, Some(bound))
        });
        Together {
            solutions: solutions.collect(),
            looked: self.begun.looked,
            calls: self.begun.calls,
        }
    }
}
