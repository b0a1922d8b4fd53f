//! Chooses the tree and the relaxation of the default method for a problem.

use std::sync::Arc;

use crate::bound::Certified;
use crate::gram::relaxation::GramRelaxation;
use crate::heuristic;
use crate::prepare::enumeration;
use crate::prepare::shared::SharedWork;
use crate::prepare::start::{self, BoxedStart, Prepared};
use crate::primal;
use crate::problem::Structure;
use crate::relaxation::Relaxation;
use crate::relaxation::boxed::BoxedRows;
use crate::relaxation::pdal::{self, Pdal};
use crate::relaxation::rows::NewtonRows;
use crate::relaxation::structured::{Rows, Structured};
use crate::search::binary::{BinaryNode, BinaryTree};
use crate::search::checkpoint::State;
use crate::search::{Context, Expansion, Phase, Restrict, Search, Tree, models};
use crate::settings::Status;
use crate::tuning::frames::MAX_COLUMNS;

/// Receiver of a prepared search of the default method, with any tree.
pub(crate) trait Driver<'p> {
    type Outcome;

    /// Runs a prepared search.
    fn drive<T: Restrict>(self, search: Search<'p, T>) -> Self::Outcome;

    /// Resumes a prepared search with the nodes of an earlier run, in their order.
    fn go_on<T: Restrict>(self, context: Context<'p>, tree: T, nodes: Vec<T::Node>) -> Self::Outcome
    where
        Self: Sized,
    {
        self.drive(Search::resumed(context, tree, nodes))
    }

    /// Whether no open node of `state` has to be expanded, given this value to beat.
    fn is_over(&self, state: &State, cut: f64) -> bool {
        state.open.iter().all(|node| node.bound >= cut)
    }

    /// Concludes a run that ended before there were nodes, or whose nodes in `state` were all finished.
    fn ended(
        self,
        context: Context<'p>,
        state: State,
        stopped: Option<Status>,
        bound: Certified,
    ) -> Self::Outcome;
}

/// Prepares the search of a problem in the form that suits it.
pub(crate) fn best_first<'p, D: Driver<'p>>(
    mut context: Context<'p>,
    resumed: Option<State>,
    shared: &mut SharedWork,
    driver: D,
) -> D::Outcome {
    let problem = context.problem;
    context.model_searches = Some(primal::for_problem);
    context.optima = shared.optima();
    // If there were no nodes yet, the run resumes only with the incumbent and the prepared data.
    let started = resumed.filter(|state| state.started);
    let cut = context.incumbents.cut();
    if let Some(state) = &started
        && driver.is_over(state, cut)
    {
        let bound = state.lower_bound();
        context.prepared = Default::default();
        return driver.ended(context, started.unwrap_or_default(), None, bound);
    }
    if started.is_none() && enumeration::settle_first(&mut context) {
        return enumerated(context, driver);
    }
    let alive = started.as_ref().map(State::alive);
    // Sets that were given as starts need not be good ones.
    let given = started.is_none() && context.incumbents.first().is_some();
    if let Some(prepared) = Prepared::new(problem, &mut context, alive.as_deref(), shared) {
        if prepared.first.is_none() && started.is_none() {
            return enumerated(context, driver);
        }
        let is_plain = context.incumbents.decision().is_none() && !context.incumbents.wants_list();
        if let Some(boxed) = prepared.relaxation.boxed().filter(|_| is_plain) {
            let boxed = boxed.on_threads(context.threads);
            return binary(context, boxed, started, driver);
        }
        if prepared.relaxation.explicit.is_some()
            && let Some(boxed) = boxed_rows(&context)
        {
            return binary(context, boxed, started, driver);
        }
        return begin(context, gram_tree(prepared), started, driver);
    }
    match start::boxed(&mut context, alive.as_deref(), shared) {
        Some(BoxedStart::Settled) => return enumerated(context, driver),
        Some(BoxedStart::Search(boxed)) => {
            let boxed = boxed.on_threads(context.threads);
            return binary(context, boxed, started, driver);
        }
        None => {}
    }
    // For a decision, the best known model is given, and heuristics do not follow decisions.
    if context.incumbents.first().is_none() || (given && context.incumbents.decision().is_none()) {
        heuristic::first_incumbent(&mut context);
    }
    models::first(&mut context);
    heuristic::fill_list(&mut context);
    if let Some(status) = context.limits.reached() {
        // A limit is reached, so nothing more is prepared.
        let bound = context.lower_bound(Some(Certified::TRIVIAL));
        return driver.ended(context, started.unwrap_or_default(), Some(status), bound);
    }
    // With heredity alone the tree does all the work.
    let tree_only = |structure: &Structure| structure.is_plain() && !problem.loss.is_quadratic();
    if problem
        .structure
        .as_ref()
        .is_some_and(|structure| !tree_only(structure))
    {
        context.enter(Phase::Root);
        let start = context.incumbents.first().map(|incumbent| incumbent.fit.x);
        let start = start.unwrap_or_default();
        if let Some(backend) = start::structured(&mut context, shared) {
            let relaxation = Structured::new(backend, context.mechanisms, &start);
            return binary(context, relaxation, started, driver);
        }
        let rows = Rows::new(problem, context.mechanisms, &context.limits);
        let relaxation = Structured::new(rows, context.mechanisms, &start);
        return binary(context, relaxation, started, driver);
    }
    // A quadratic problem without a Gram form has many columns, and more of them are active at the root than a Newton
    // system should have.
    if problem.loss.is_quadratic() && problem.selectable.len() > MAX_COLUMNS {
        if let Some(relaxation) = shared.working(&context).cloned() {
            return binary(context, relaxation, started, driver);
        }
        let relaxation = Pdal::within(problem, pdal::FINE, &context.limits);
        return binary(context, relaxation, started, driver);
    }
    if let Some(boxed) = boxed_rows(&context) {
        return binary(context, boxed, started, driver);
    }
    let mut relaxation = NewtonRows::within(problem, context.mechanisms, &context.limits);
    if let Some(incumbent) = context.incumbents.first() {
        relaxation.start_at(&incumbent.fit.x);
    }
    binary(context, relaxation, started, driver)
}

/// The relaxation with boxes in matrix form, where the search for the best model is expected to be faster with it.
fn boxed_rows(context: &Context) -> Option<BoxedRows> {
    let (problem, mechanisms) = (context.problem, context.mechanisms);
    let is_plain = context.incumbents.decision().is_none() && !context.incumbents.wants_list();
    let is_wanted = is_plain && BoxedRows::is_wanted(problem, mechanisms, &context.limits);
    is_wanted.then(|| {
        let known = context.incumbents.first().map(|known| known.fit.x);
        BoxedRows::new(problem, &known.unwrap_or_default())
    })
}

/// The tree in Gram form.
fn gram_tree(prepared: Prepared<'_>) -> BinaryTree<GramRelaxation<'_>> {
    let Prepared { relaxation, first } = prepared;
    let first = first.map(|first| {
        let start = Arc::new(relaxation.start());
        BinaryNode::new(first.low, &first.inside, &first.free, Some(&start))
    });
    BinaryTree::new(relaxation).begin_with(first)
}

/// Whether the root of the default method alone proves the incumbent within the allowed gap. Evidence is kept only if
/// it does, and nothing is counted: this is part of the caller's own call.
pub(super) fn closes_root(context: &mut Context) -> bool {
    let (mark, counters) = (context.evidence.mark(), context.counters);
    let problem = context.problem;
    let prepared = Prepared::new(problem, context, None, &mut SharedWork::single());
    let closed = prepared.is_some_and(|prepared| {
        let is_empty = prepared.first.is_none();
        let mut tree = gram_tree(prepared);
        let (mut root, mut children) = (Vec::new(), Vec::new());
        if !is_empty {
            tree.root(context, &mut root);
        }
        let mut closes = |node| tree.expand(node, context, &mut children) == Expansion::Split;
        root.iter().all(&mut closes) && children.is_empty()
    });
    context.counters = counters;
    context.prepared = Default::default();
    if !closed {
        context.evidence.rewind(mark);
        context.reporter.set_features_left(problem.selectable.len());
    }
    closed
}

/// Concludes a run whose models were all enumerated: no search is needed.
fn enumerated<'p, D: Driver<'p>>(mut context: Context<'p>, driver: D) -> D::Outcome {
    let bound = context.lower_bound(None);
    context.prepared = Default::default();
    let mut over = State::default();
    over.started = true;
    driver.ended(context, over, None, bound)
}

fn binary<'p, R: Relaxation + Clone + Send + Sync, D: Driver<'p>>(
    context: Context<'p>,
    relaxation: R,
    started: Option<State>,
    driver: D,
) -> D::Outcome {
    begin(context, BinaryTree::new(relaxation), started, driver)
}

/// Hands a search to its driver: a new search, or one with the nodes of an earlier run.
fn begin<'p, R: Relaxation + Clone + Send + Sync, D: Driver<'p>>(
    context: Context<'p>,
    tree: BinaryTree<R>,
    started: Option<State>,
    driver: D,
) -> D::Outcome {
    match started {
        None => driver.drive(Search::new(context, tree)),
        Some(state) => {
            let nodes = tree.restore(context.problem, &state);
            driver.go_on(context, tree, nodes)
        }
    }
}
