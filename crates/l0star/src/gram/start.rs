//! From a problem to the first node: the Gram matrix, a first incumbent, the frame of all columns.

use std::sync::Arc;

use super::frame::{Frame, Spread};
use super::kept::Kept;
use super::root::{MAX_COLUMNS, Root};
use super::small::{self, Entries};
use super::swaps::{self, Pinned};
use super::tree::{GramNode, GramTree};
use crate::bound::Certified;
use crate::heuristic;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::short::Short;
use crate::primal::{self, Primal, Quadratic, SMALL_RIDGE};
use crate::problem::Problem;
use crate::relaxation::working::{self, Working};
use crate::search::bits::Bits;
use crate::search::checkpoint::{Heuristic, Triangle, wide};
use crate::search::screening::Brief;
use crate::search::{Context, Expansion, Incumbent, Phase, Tree, screening};

/// A Gram matrix of so many multiplications takes long …
const LONG_PRODUCT: f64 = 1e10;
/// … and one of more than this is made in bands, by all threads, rather than from the part that is there …
const MIDDLING_PRODUCT: f64 = 1e9;
/// … which has to have one in so many of the columns, at least.
const LEAST_PART: usize = 4;

/// What runs on problems that differ in k alone, or on one problem for several decisions, have in common: made by the first,
/// used by the others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Common {
    /// The quadratic over all columns.
    root: Option<Arc<Root>>,
    /// The frame of all columns: one that only finds points, and the one of the search.
    unproved: Option<Arc<Frame>>,
    proved: Option<Arc<Frame>>,
    /// Of wide problems: the columns that matter so far.
    working: Option<Working>,
    /// The rows of the quadratic as they are kept, if making them took long.
    pub kept: Option<Arc<Triangle>>,
    /// Whether there is one run alone, which need not be about all columns.
    is_single: bool,
    /// With twins: what their searches of the leaders have in common, and those of models that use a class twice.
    twins: Option<Box<[Common; 2]>>,
}

impl Common {
    /// For one run that has nothing in common with others.
    pub(crate) fn single() -> Self {
        Self {
            is_single: true,
            ..Self::default()
        }
    }

    /// What runs on other columns of the same problems have in common: on the leaders of twins, and on those that bound
    /// models that use a class twice.
    pub(crate) fn of_twins(&mut self) -> &mut [Self; 2] {
        let is_single = self.is_single;
        let new = || Self {
            is_single,
            ..Self::default()
        };
        self.twins.get_or_insert_with(|| Box::new([new(), new()]))
    }

    /// The relaxation of a wide problem by working sets, where it applies.
    pub(crate) fn working(&mut self, context: &Context) -> Option<&mut Working> {
        if self.working.is_none() {
            let known = context.incumbent().map(|known| known.support);
            let (known, limits) = (known.unwrap_or_default(), &context.limits);
            self.working = Working::within(context.problem, working::BATCH, &known, limits);
        }
        self.working.as_mut()
    }

    /// The quadratic over all columns of a problem: the one that is known, or a new one, with the part that is there already.
    pub(super) fn root(
        &mut self,
        selectable: &[usize],
        part: Option<&Root>,
        context: &mut Context,
    ) -> Option<Arc<Root>> {
        let (problem, limits) = (context.problem, context.limits.clone());
        if self.root.is_none()
            && let Some(part) = part
            && part.size() * LEAST_PART >= selectable.len()
            && product(problem, selectable.len()) <= MIDDLING_PRODUCT
        {
            self.root = part.extended(problem, selectable, &limits).map(Arc::new);
        }
        if self.root.is_none() {
            let threads = context.threads;
            let mut kept = Kept::new(context);
            let root = Root::new(problem, selectable, &limits, threads, &mut kept);
            kept.finish(root.is_some());
            self.kept.clone_from(&context.prepared.gram);
            self.root = Some(Arc::new(root?));
        }
        self.root.clone()
    }
}

impl<'p> GramTree<'p> {
    /// Finds a first incumbent and builds the root frame, unless all models were enumerated and nothing is left. `None` where the
    /// Gram form does not apply, and at a limit.
    ///
    /// `alive`: the features that a resumed search has left; it has its incumbent.
    pub(crate) fn prepare(
        problem: &'p Problem,
        context: &mut Context<'p>,
        alive: Option<&[usize]>,
        common: &mut Common,
    ) -> Option<Self> {
        let huber = problem.loss.quadratic_within().is_some();
        let possible = problem.loss.is_quadratic() || huber;
        if !possible || problem.support_size() == 0 || problem.structure.is_some() {
            return None;
        }
        let limits = context.limits.clone();
        if limits.stop() || !context.ideas.gram {
            return None;
        }
        let k = problem.support_size();
        let wide = problem.selectable.len() + problem.penalised.len() > MAX_COLUMNS;
        let screened: Vec<usize>;
        let mut brief = None;
        let selectable = match alive {
            Some(alive) => alive,
            None if wide => {
                screened = screen(context, common);
                &screened
            }
            None if common.is_single && is_worth_screening(context) => {
                (screened, brief) = screen_briefly(context);
                &screened
            }
            None => &problem.selectable,
        };
        if selectable.len() < k || limits.stop() {
            return None;
        }
        let work = product(problem, selectable.len());
        if context.incumbent().is_none() && work > LONG_PRODUCT {
            // A model to return in case that a limit comes before the Gram matrix is there.
            heuristic::first_incumbent(context);
        }
        if alive.is_none() && work > LONG_PRODUCT {
            // What came before it is safe from here on.
            context.save_preparation();
        }
        context.enter(Phase::Root);
        let is_whole = alive.is_none() && selectable.len() == problem.selectable.len();
        let mut unshared = Common::default();
        let common = if is_whole { common } else { &mut unshared };
        let part = brief.as_ref().map(|brief| &*brief.root);
        let root = common.root(selectable, part, context)?;
        let point = brief.as_ref().and_then(|brief| brief.point.as_ref());
        context.enter(Phase::Heuristic);
        let mut tree = Self::bare(problem, context.ideas, Arc::clone(&root));
        let pinned = tree.pinned(context);
        let chosen = match context.incumbent() {
            Some(incumbent) if alive.is_some() => {
                let known = incumbent.support.iter();
                known
                    .filter_map(|j| selectable.binary_search(j).ok())
                    .collect()
            }
            known => first_support(
                &root,
                k,
                known.as_ref().map(|known| &known.support[..]),
                point.is_some(),
                pinned,
                context,
            ),
        };
        let is_known = |known: Incumbent| chosen.iter().map(|i| root.columns[*i]).eq(known.support);
        if (alive.is_none() || context.incumbent().is_none())
            && !context.incumbent().is_some_and(is_known)
        {
            tree.offer(&chosen, context);
        }
        if !huber && context.looks_for_models() {
            context.primal = Primal::quadratic(problem, Quadratic::whole(&root));
            if alive.is_none() {
                primal::first(context);
            }
        }
        if alive.is_none() {
            context.enter(Phase::Root);
            let entries = Entries::of_root(&root);
            if small::settle(&entries, &root.columns, root.selectable, context) {
                return Some(tree);
            }
        }
        heuristic::fill_list(context);
        if context.wants_list() && !context.has_reference() {
            return None;
        }
        context.enter(Phase::Root);
        let mark = context.mark();
        // Nodes of a checkpoint, and surveys of all features, are about the frame of all columns.
        let fixing = alive.is_none() && context.survey().is_none();
        let certified = !huber || tree.certify_rows(&chosen, fixing, point, context, common);
        if certified && tree.first.is_none() {
            tree.first = tree.root_node(&chosen, &Spread::Evenly, context, common);
        }
        if !certified || tree.first.is_none() {
            // Without a node for the rest, what was ruled out is no bound of everything.
            context.rewind(mark);
            return None;
        }
        Some(tree)
    }

    /// Whether there is no node, since all models were enumerated.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Whether the root alone proves the incumbent within the allowed gap. Nothing is left behind unless it does, and
    /// nothing is counted: it is part of the caller's own call.
    pub(crate) fn closes_root(context: &mut Context<'p>) -> bool {
        let mark = context.mark();
        let counters = context.counters;
        let problem = context.problem;
        let mut children = Vec::new();
        let closed =
            Self::prepare(problem, context, None, &mut Common::single()).is_some_and(|mut tree| {
                // Without a node there is nothing left.
                tree.first.take().is_none_or(|node| {
                    tree.expand(&node, context, &mut children) == Expansion::Split
                        && children.is_empty()
                })
            });
        context.counters = counters;
        context.prepared = Default::default();
        if !closed {
            context.rewind(mark);
            context.set_features_left(problem.selectable.len());
        }
        closed
    }

    /// The node that contains every support, or every one that follows the decision that the search is about.
    pub(super) fn root_node(
        &mut self,
        chosen: &[usize],
        spread: &Spread,
        context: &Context,
        common: &mut Common,
    ) -> Option<GramNode> {
        let (best, limits) = (context.reference(), &context.limits);
        let root = self.frame_root();
        let spread = match spread {
            Spread::Evenly => self.spread(),
            spread => spread,
        };
        let mut unshared = None;
        let known = match spread {
            _ if self.mixed.is_some() => &mut unshared,
            Spread::Unproved => &mut common.unproved,
            _ => &mut common.proved,
        };
        let k = self.problem.support_size();
        let inside: Vec<u32> = (root.selectable..root.size()).map(|i| i as u32).collect();
        let columns: Vec<u32> = (0..root.selectable).map(|i| i as u32).collect();
        let mut frame = match known {
            Some(known) => known.with_budget(root, k, best),
            None => {
                let frame = Frame::new(root, &inside, &columns, k, best, spread, limits)?;
                *known = Some(Arc::new(frame.with_budget(root, k, best)));
                frame
            }
        };
        // H ⪰ diag(s²) is proved for the whole problem when nothing was condensed; else the ridge is what is sure.
        let squares: Vec<f64> = frame.scale.iter().map(|s| s * s * (1.0 - 1e-9)).collect();
        let proved = inside.is_empty().then_some(&squares[..]);
        let error = root.error(k + inside.len(), proved, best);
        frame.error += error;
        self.root_error = error;
        let warm = self.warm_from(chosen, &frame);
        let (mut inside, mut outside) = (Bits::new(frame.size()), Bits::new(frame.size()));
        match self.pinned(context) {
            Some((i, true)) => inside.insert(i),
            Some((i, false)) => outside.insert(i),
            None => {}
        }
        Some(GramNode::new(
            Certified::TRIVIAL,
            &frame.share(&self.frames),
            inside,
            outside,
            &warm.into(),
            0,
        ))
    }

    /// The model of a support as a starting point of a frame.
    fn warm_from(&mut self, chosen: &[usize], frame: &Frame) -> Vec<(u32, Short)> {
        let size = chosen.len();
        let rows = self.factor.start(size);
        for (r, i) in chosen.iter().enumerate() {
            for (c, j) in chosen[..=r].iter().enumerate() {
                rows[r * size + c] = self.root.row(*i)[*j];
            }
        }
        if !self.factor.factor() {
            return Vec::new();
        }
        let mut x: Vec<f64> = chosen.iter().map(|i| self.root.c[*i]).collect();
        self.factor.solve(&mut x);
        let x = chosen.iter().zip(x);
        x.map(|(i, x)| (*i as u32, Short::new(x * frame.scale[*i])))
            .collect()
    }
}

/// Multiplications of a Gram matrix.
fn product(problem: &Problem, columns: usize) -> f64 {
    problem.rows() as f64 * (columns as f64).powi(2)
}

/// Whether the Gram matrix takes long enough for a look at what could be left of it, in a search that is about the best model
/// alone, and ridges are large enough to rule anything out without a lift.
fn is_worth_screening(context: &Context) -> bool {
    let problem = context.problem;
    let columns = problem.selectable.len();
    let is_plain = context.decision().is_none() && context.survey().is_none();
    product(problem, columns) >= context.ideas.screen_from as f64
        && columns > 2 * problem.support_size()
        && problem.ridge_share() >= SMALL_RIDGE
        && is_plain
        && !context.wants_list()
}

/// The features that a look at a few columns leaves, and what else it says, unless an earlier run had it.
fn screen_briefly(context: &mut Context) -> (Vec<usize>, Option<Brief>) {
    let known = context.prepared.screening.as_ref();
    if let Some(known) = known.filter(|known| known.done) {
        return (known.free(), None);
    }
    let brief = screening::briefly(context);
    let point = brief.as_ref().and_then(|brief| brief.point.as_ref());
    let free = point.map_or(&context.problem.selectable, |point| &point.free);
    (free.clone(), brief)
}

/// The features that are left of a wide problem.
fn screen(context: &mut Context, common: &mut Common) -> Vec<usize> {
    let enough = MAX_COLUMNS / 2;
    if let Some(known) = context
        .prepared
        .screening
        .as_ref()
        .filter(|known| known.done)
    {
        return known.free();
    }
    screening::begin(context);
    match common.working(context) {
        Some(working) => screening::screen(context, enough, working),
        None => screening::by_ascent(context, enough),
    }
}

/// A first model by root indices: greedy, from nothing or from a model that is known, whichever gets further, unless that is known
/// to be good; then swaps. What a checkpoint brought is gone on from.
fn first_support(
    root: &Root,
    k: usize,
    known: Option<&[usize]>,
    is_good: bool,
    pinned: Pinned,
    context: &mut Context,
) -> Vec<usize> {
    let limits = context.limits.clone();
    let columns = &root.columns[..root.selectable];
    let indices = |support: &[usize]| -> Vec<usize> {
        let known = support.iter().filter_map(|j| columns.binary_search(j).ok());
        known.collect()
    };
    let begun = match &context.prepared.heuristic {
        Some(Heuristic::Swaps(support)) => indices(&wide(support)),
        _ => Vec::new(),
    };
    let swaps = context.ideas.swaps;
    let mut keep = |chosen: &[usize]| {
        context.keep_heuristic(|| {
            let mut support: Vec<u32> = chosen.iter().map(|i| columns[*i] as u32).collect();
            support.sort_unstable();
            Heuristic::Swaps(support)
        });
    };
    let mut chosen = match (known, is_good) {
        (Some(known), true) => indices(known),
        _ => begun,
    };
    chosen = swaps::greedy(root.form(), &chosen, k, pinned, &limits, &mut keep);
    if let Some(known) = known.filter(|_| !is_good) {
        let other = swaps::greedy(
            root.form(),
            &indices(known),
            k,
            pinned,
            &limits,
            &mut |_| {},
        );
        let mut factor = Cholesky::new();
        let mut value = |chosen: &[usize]| swaps::value(root.form(), chosen, &mut factor);
        if value(&other) < value(&chosen) {
            chosen = other;
        }
    }
    if swaps {
        let most = 10 * k + 20;
        swaps::improve(root.form(), &mut chosen, most, pinned, &limits, &mut keep);
    }
    chosen
}
