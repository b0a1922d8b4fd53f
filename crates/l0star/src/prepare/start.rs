//! From a problem to the first node: the Gram matrix, a first incumbent, the frame of all columns.

use std::borrow::Cow;
use std::sync::Arc;

use super::enumeration;
use super::first_model::first_support;
use super::screening::{self, Brief};
use super::shared::{SharedWork, product};
use crate::bound::{Certified, Subproblem};
use crate::gram::boxed::Boxed;
use crate::gram::condensed::Spread;
use crate::gram::frame::Frame;
use crate::gram::local::Pinned;
use crate::gram::quadratic::Quadratic;
use crate::gram::relaxation::GramRelaxation;
use crate::gram::root::Root;
use crate::gram::slot::FrameSlot;
use crate::gram::small::Entries;
use crate::gram::structured::GramBackend;
use crate::gram::swaps;
use crate::heuristic;
use crate::linalg::cholesky::Cholesky;
use crate::primal;
use crate::problem::Problem;
use crate::search::models;
use crate::search::{Context, Incumbent, Phase};
use crate::settings::Use;
use crate::tuning::frames::MAX_COLUMNS;
use crate::tuning::prepare::LONG_PRODUCT;
use crate::tuning::prepare::SMALL_RIDGE;

/// Number of consecutive sizes without an improvement after which no larger size is tried.
const SIZES_IN_VAIN: usize = 3;
/// Bounds count as binding when they raise a model's objective by this share.
const BINDING: f64 = 1e-6;

/// The Gram form of a problem with groups, bounds or heredity. `None` where it does not apply, and at a limit. The
/// context has an incumbent.
pub(crate) fn structured(context: &mut Context, shared: &mut SharedWork) -> Option<GramBackend> {
    let problem = context.problem;
    let (mechanisms, reference) = (context.mechanisms, context.incumbents.reference());
    if !problem.loss.is_quadratic() || !mechanisms.gram || !reference.is_finite() {
        return None;
    }
    let selectable = problem.expanded(&problem.selectable);
    let root = shared.root(&selectable, None, context)?;
    GramBackend::new(problem, root, mechanisms, reference, &context.limits)
}

/// What becomes of a problem with bounds in which the bounds are boxes from the beginning.
pub(crate) enum BoxedStart {
    /// All models were enumerated, and nothing is left.
    Settled,
    /// A search with this relaxation.
    Search(Box<Boxed>),
}

/// The relaxation of a problem with bounds in which the bounds are boxes from the beginning, and a first incumbent. It
/// is used where a search for the best model is expected to be faster with it than with [`structured`]. `None`
/// otherwise, at a limit, and where the incumbent is at a bound, because nodes with boxes ignore the bounds of the
/// features that are in.
pub(crate) fn boxed(
    context: &mut Context,
    alive: Option<&[usize]>,
    shared: &mut SharedWork,
) -> Option<BoxedStart> {
    let (problem, mechanisms) = (context.problem, context.mechanisms);
    let selectable = alive.unwrap_or(&problem.selectable);
    let is_about_the_best =
        context.incumbents.decision().is_none() && !context.incumbents.wants_list();
    let is_flat = mechanisms.boxes == Use::Always || selectable.len() >= problem.rows();
    let is_wanted = mechanisms.gram && mechanisms.fixing && mechanisms.boxes != Use::Never;
    let is_known = problem.is_boxed_by_columns() && problem.loss.is_quadratic();
    let suits = is_known && is_about_the_best && is_flat && is_wanted;
    if !suits
        || selectable.len() < problem.support_size()
        || problem.support_size() == 0
        || selectable.len() + problem.penalised.len() > MAX_COLUMNS
        || context.limits.stop()
    {
        return None;
    }
    context.enter(Phase::Root);
    let mut unshared = SharedWork::default();
    let is_shared = shared.is_about(problem, alive, selectable);
    let shared = if is_shared { shared } else { &mut unshared };
    let root = shared.root(selectable, None, context)?;
    let (is_new, suits) = (alive.is_none(), Boxed::suits(problem, &root, mechanisms));
    if !(suits || is_new && enumeration::applies(context)) {
        return None;
    }
    if is_new {
        context.enter(Phase::Heuristic);
        let are_loose = first_within_bounds(&root, context);
        context.enter(Phase::Root);
        let entries = Entries::of_root(&root);
        let is_settled = enumeration::settle_within(
            &entries,
            &root.columns,
            root.selectable,
            are_loose,
            context,
        );
        if is_settled {
            return Some(BoxedStart::Settled);
        }
    }
    if !suits {
        return None;
    }
    let incumbent = context.incumbents.first()?;
    let can_shrink = Boxed::can_shrink(problem, context.incumbents.reference());
    if problem.is_at_bound(&incumbent.fit.x) || !can_shrink {
        return None;
    }
    let boxed = Boxed::within_bounds(problem, &root, mechanisms);
    Some(BoxedStart::Search(Box::new(boxed)))
}

/// Finds a first model of a problem with bounds. Unless these bind, it also makes the search for others, that of the
/// problem without bounds. Returns whether that is done, or not needed.
fn first_within_bounds(root: &Arc<Root>, context: &mut Context) -> bool {
    let problem = context.problem;
    if problem.is_priced() {
        first_of_sizes(root, context);
        return true;
    }
    let known = context.incumbents.first().map(|known| known.support);
    let k = problem.support_size();
    let chosen = first_support(root, k, known.as_deref(), false, None, context);
    let mut support: Vec<usize> = chosen.iter().map(|i| root.columns[*i]).collect();
    support.sort_unstable();
    context.counters.calls += 1;
    let within = context.try_support(&support);
    let without = swaps::value(root.form(), &chosen, &mut Cholesky::new());
    let are_loose = within <= without + BINDING * without.abs();
    if are_loose && context.looks_for_models() {
        let models = primal::quadratic(problem, Quadratic::whole(root), None);
        models::adopt(context, models);
    }
    are_loose
}

/// Finds a first model where prices of features decide how many there are: greedy steps and swaps for one size after
/// the other, while larger sizes improve the model.
fn first_of_sizes(root: &Root, context: &mut Context) {
    let problem = context.problem;
    let mut chosen = Vec::new();
    let mut best = context.try_support(&[]);
    let mut in_vain = 0;
    for k in 1..=problem.support_size() {
        chosen = swaps::greedy(root.form(), &chosen, k, None, &context.limits);
        swaps::improve(root.form(), &mut chosen, 10 * k + 20, None, &context.limits);
        if chosen.len() < k || context.limits.stop() {
            break;
        }
        let mut support: Vec<usize> = chosen.iter().map(|i| root.columns[*i]).collect();
        support.sort_unstable();
        context.counters.calls += 1;
        let value = context.try_support(&support);
        in_vain = if value < best { 0 } else { in_vain + 1 };
        best = best.min(value);
        if in_vain == SIZES_IN_VAIN {
            break;
        }
    }
}

/// A relaxation in Gram form, and the first node of its search.
pub(crate) struct Prepared<'p> {
    pub relaxation: GramRelaxation<'p>,
    /// `None` where all models were enumerated and nothing is left.
    pub first: Option<First>,
}

/// The first node of a search; the relaxation is at its starting point.
#[derive(Debug, Clone)]
pub(crate) struct First {
    pub low: Certified,
    /// The features that are in, and those that are undecided, in order.
    pub inside: Vec<usize>,
    pub free: Vec<usize>,
}

impl<'p> Prepared<'p> {
    /// Finds a first incumbent and builds the root frame, unless all models were enumerated and nothing is left.
    /// `None` where the Gram form does not apply, and at a limit.
    ///
    /// `alive`: the remaining features of a resumed search, which has its incumbent.
    pub(crate) fn new(
        problem: &'p Problem,
        context: &mut Context<'p>,
        alive: Option<&[usize]>,
        shared: &mut SharedWork,
    ) -> Option<Self> {
        let huber = problem.loss.quadratic_within().is_some() && !problem.is_priced();
        let possible = problem.loss.is_quadratic() || huber;
        if !possible || problem.support_size() == 0 || !problem.has_plain_features() {
            return None;
        }
        if context.limits.stop() || !context.mechanisms.gram {
            return None;
        }
        let wide = problem.selectable.len() + problem.penalised.len() > MAX_COLUMNS;
        if wide && problem.is_priced() {
            return None;
        }
        let (selectable, brief) = remaining(problem, alive, wide, context, shared);
        if selectable.len() < problem.support_size() || context.limits.stop() {
            return None;
        }
        let work = product(problem, selectable.len());
        if context.incumbents.first().is_none() && work > LONG_PRODUCT {
            // This provides a model to return if a limit is reached before the Gram matrix is made.
            heuristic::first_incumbent(context);
        }
        context.enter(Phase::Root);
        let is_shared = shared.is_about(problem, alive, &selectable);
        let mut unshared = SharedWork::default();
        let shared = if is_shared { shared } else { &mut unshared };
        let part = brief.as_ref().map(|brief| &*brief.root);
        let root = shared.root(&selectable, part, context)?;
        let point = brief.as_ref().and_then(|brief| brief.point.as_ref());
        context.enter(Phase::Heuristic);
        let mut relaxation = GramRelaxation::new(problem, context.mechanisms, Arc::clone(&root));
        let pinned = relaxation.pinned(context.incumbents.decision());
        let is_new = alive.is_none();
        let chosen = first_model(&root, is_new, point.is_some(), pinned, context);
        if !huber && !problem.is_priced() && context.looks_for_models() {
            let models = primal::quadratic(problem, Quadratic::whole(&root), pinned);
            models::adopt(context, models);
            if is_new {
                models::first(context);
            }
        }
        if is_new {
            context.enter(Phase::Root);
            let entries = Entries::of_root(&root);
            if enumeration::settle(&entries, &root.columns, root.selectable, context) {
                let first = None;
                return Some(Self { relaxation, first });
            }
        }
        heuristic::fill_list(context);
        if context.incumbents.wants_list() && !context.incumbents.has_reference() {
            return None;
        }
        context.enter(Phase::Root);
        relaxation.most = problem.most_features(context.incumbents.reference());
        let mark = context.evidence.mark();
        let rows = if huber {
            // The nodes of a checkpoint refer to the frame of all columns.
            let fixing = is_new;
            relaxation.certify_rows(&chosen, fixing, point, context, shared)
        } else {
            Some(None)
        };
        let first = rows.and_then(|first| match first {
            Some(first) => Some(first),
            None => relaxation.first_node(&chosen, &Spread::Evenly, context, shared),
        });
        if first.is_none() {
            // Without a node for the rest, the evidence does not bound the whole problem.
            context.evidence.rewind(mark);
            return None;
        }
        Some(Self { relaxation, first })
    }
}

/// The features that a search is about: those of a resumed search, or those that screening leaves, with what a short
/// screening learned.
fn remaining<'a>(
    problem: &'a Problem,
    alive: Option<&'a [usize]>,
    wide: bool,
    context: &mut Context,
    shared: &mut SharedWork,
) -> (Cow<'a, [usize]>, Option<Brief>) {
    if let Some(alive) = alive {
        return (Cow::Borrowed(alive), None);
    }
    if wide {
        return (Cow::Owned(screen(context, shared)), None);
    }
    if shared.is_single && is_worth_screening(context) {
        let (screened, brief) = screen_briefly(context);
        return (Cow::Owned(screened), brief);
    }
    (Cow::Borrowed(&problem.selectable), None)
}

/// Chooses a first support, by its places in the root, and tries it unless it belongs to the incumbent. In a resumed
/// search it is that of the incumbent. `has_point`: whether screening left a point.
fn first_model(
    root: &Arc<Root>,
    is_new: bool,
    has_point: bool,
    pinned: Pinned,
    context: &mut Context,
) -> Vec<usize> {
    let problem = context.problem;
    let chosen = match context.incumbents.first() {
        Some(incumbent) if !is_new => {
            let selectable = &root.columns[..root.selectable];
            let known = incumbent.support.iter();
            known
                .filter_map(|j| selectable.binary_search(j).ok())
                .collect()
        }
        _ if problem.is_priced() => priced_support(root, context),
        known => {
            let known = known.as_ref().map(|known| &known.support[..]);
            let k = problem.support_size();
            first_support(root, k, known, has_point, pinned, context)
        }
    };
    let is_known = |known: Incumbent| chosen.iter().map(|i| root.columns[*i]).eq(known.support);
    let incumbent = context.incumbents.first();
    if (is_new || incumbent.is_none()) && !incumbent.is_some_and(is_known) {
        let mut support: Vec<usize> = chosen.iter().map(|i| root.columns[*i]).collect();
        support.sort_unstable();
        context.counters.calls += 1;
        context.try_support(&support);
    }
    chosen
}

impl GramRelaxation<'_> {
    /// The node that contains every support, or every support that follows the decision of the search.
    pub(super) fn first_node(
        &mut self,
        chosen: &[usize],
        spread: &Spread,
        context: &Context,
        shared: &mut SharedWork,
    ) -> Option<First> {
        let (best, limits) = (context.incumbents.reference(), &context.limits);
        let root = self.frame_root();
        let spread = match spread {
            Spread::Evenly => self.spread(),
            spread => spread,
        };
        let mut unshared = None;
        let known = match spread {
            _ if self.explicit.is_some() => &mut unshared,
            Spread::Unproved => &mut shared.unproved,
            _ => &mut shared.proved,
        };
        let k = self.most;
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
        // When nothing was condensed, H ⪰ diag(s²) is proved for the whole problem; otherwise only the ridge is
        // certain.
        let squares: Vec<f64> = frame.scale.iter().map(|s| s * s * (1.0 - 1e-9)).collect();
        let proved = inside.is_empty().then_some(&squares[..]);
        let error = root.error(k + inside.len(), proved, best);
        frame.error += error;
        self.root_error = error;
        let frame = frame.share(&self.frames);
        let slot = Arc::new(FrameSlot::built(&self.root, &frame));
        self.whole = Some(Arc::clone(&slot));
        self.enter(&slot, frame);
        let selectable = &self.root.columns[..self.root.selectable];
        let mut first = First {
            low: Certified::TRIVIAL,
            inside: Vec::new(),
            free: selectable.to_vec(),
        };
        if let Some((i, inside)) = self.pinned(context.incumbents.decision()) {
            let feature = first.free.remove(i);
            first.inside.extend(inside.then_some(feature));
        }
        let model = self.fit(chosen);
        let k = self.problem.support_size();
        self.go_to(&first.node(k), model.iter().copied());
        Some(first)
    }

    /// The best model of the quadratic with these columns, by root index: (column, coefficient).
    fn fit(&mut self, chosen: &[usize]) -> Vec<(usize, f64)> {
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
        let columns = chosen.iter().map(|i| self.root.columns[*i]);
        columns.zip(x).collect()
    }
}

impl First {
    /// The node, for a problem with this budget. Always-in columns are condensed.
    pub(super) fn node(&self, k: usize) -> Subproblem<'_> {
        Subproblem {
            included: &self.inside,
            free: &self.free,
            budget: k - self.inside.len(),
        }
    }
}

/// Finds a first model of a problem with prices, by root indices; its size is not given.
fn priced_support(root: &Root, context: &mut Context) -> Vec<usize> {
    // Heuristics do not follow decisions.
    if context.incumbents.decision().is_none() || context.incumbents.first().is_none() {
        heuristic::first_incumbent(context);
    }
    models::first(context);
    let known = context.incumbents.first().map(|known| known.support);
    let columns = &root.columns[..root.selectable];
    let known = known.unwrap_or_default().into_iter();
    known
        .filter_map(|j| columns.binary_search(&j).ok())
        .collect()
}

/// Whether a brief screening is worthwhile: the Gram matrix takes long enough, the search is for the best model alone,
/// and ridges are large enough to rule features out without a lift.
fn is_worth_screening(context: &Context) -> bool {
    let problem = context.problem;
    let columns = problem.selectable.len();
    let is_plain = context.incumbents.decision().is_none();
    product(problem, columns) >= context.mechanisms.screen_from as f64
        && columns > 2 * problem.support_size()
        && problem.ridge_share() >= SMALL_RIDGE
        && is_plain
        && !problem.is_priced()
        && !context.incumbents.wants_list()
}

/// The features that a brief screening leaves and its result; from a checkpoint, only the features.
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

/// The features that screening leaves of a wide problem.
fn screen(context: &mut Context, shared: &mut SharedWork) -> Vec<usize> {
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
    match shared.working(context) {
        Some(working) => screening::screen(context, enough, working),
        None => screening::by_ascent(context, enough),
    }
}
