//! Solves whole problems with a small budget by enumeration, before there is a search.

use crate::gram::small::{
    Data, Entries, LARGEST, LARGEST_BY_HUBS, Space, are_fours_few, enumerate, enumerate_curved,
    square_bytes,
};
use crate::heuristic;
use crate::search::handout::{close, target};
use crate::search::{Context, Phase, models};
use crate::tuning::enumeration::{
    LARGE_RIDGE, LARGE_RIDGE_OF_CURVED, LARGE_RIDGE_OF_MANY, MANY_COLUMNS, MOST, MOST_TRIPLES,
    SECONDS_OF_A_TRIPLE,
};
use crate::tuning::frames::MAX_COLUMNS;

/// Whether a search is for the best model alone, of a problem without structure, and may expand a node.
///
/// Bounds of single columns do no harm: what is proved of a set without them holds within them. Where they bind, more
/// sets are left to fit, and the enumeration is abandoned if these are too many.
fn is_about_the_best(context: &Context) -> bool {
    let problem = context.problem;
    let is_plain = problem.structure.is_none()
        || problem.loss.is_quadratic() && problem.is_boxed_by_columns() && !problem.is_priced();
    context.mechanisms.enumeration
        && is_plain
        && context.incumbents.decision().is_none()
        && !context.incumbents.wants_list()
        && context.limits.reached_between(0, 0).is_none()
}

/// Whether all models of a problem in Gram form may be enumerated.
pub(super) fn applies(context: &Context) -> bool {
    let problem = context.problem;
    context.mechanisms.gram
        && problem.loss.is_quadratic()
        && (1..=LARGEST_BY_HUBS).contains(&problem.support_size())
        && is_about_the_best(context)
}

/// Whether the sets of four of so many features are expected to be enumerated sooner than searched.
fn are_fours_worthwhile(features: usize, context: &Context) -> bool {
    context.problem.has_weak_bounds() && are_fours_few(features, context.threads, &context.limits)
}

/// Enumerates all models of a problem; returns true when nothing is left to search, and all evidence is in the
/// context.
///
/// `columns` are those of the entries: `selectable` selectable ones, then the always-in ones. The other features have
/// been ruled out. The context has an incumbent.
pub(crate) fn settle(
    entries: &Entries,
    columns: &[usize],
    selectable: usize,
    context: &mut Context,
) -> bool {
    if !applies(context) || context.incumbents.first().is_none() {
        return false;
    }
    let k = context.problem.support_size();
    if k >= LARGEST && context.limits.is_too_much(square_bytes(selectable))
        || k > LARGEST && !are_fours_worthwhile(selectable, context)
    {
        return false;
    }
    let free: Vec<usize> = (0..selectable).collect();
    let inside: Vec<usize> = (selectable..columns.len()).collect();
    let space = Space {
        entries,
        inside: &inside,
        free: &free,
        m: k,
    };
    context.counters.calls += 1;
    let threads = context.threads;
    let limits = context.limits.clone();
    let is_settled = close(
        context,
        f64::INFINITY,
        |set| set.iter().map(|i| columns[*i]).collect(),
        |target, watch| enumerate(space, target, MOST, &limits, threads, watch).proof(),
    );
    context.counters.nodes += u64::from(is_settled);
    is_settled
}

/// Like [`settle`], for a problem that may have bounds. Unless it has been searched for models already, that is done if
/// a first attempt leaves too many sets: within bounds, the search takes longer than most enumerations.
pub(super) fn settle_within(
    entries: &Entries,
    columns: &[usize],
    selectable: usize,
    has_models: bool,
    context: &mut Context,
) -> bool {
    if settle(entries, columns, selectable, context) {
        return true;
    }
    if has_models {
        return false;
    }
    context.enter(Phase::Heuristic);
    models::first(context);
    context.enter(Phase::Root);
    settle(entries, columns, selectable, context)
}

/// Enumerates all models of a problem before anything else is prepared, where that is expected to be faster than a
/// search. Returns true when nothing is left to search.
pub(crate) fn settle_first(context: &mut Context) -> bool {
    settle_wide(context) || settle_curved(context)
}

/// Like [`settle`] for a wide problem, from its columns, if that is expected to be faster than screening them.
fn settle_wide(context: &mut Context) -> bool {
    let problem = context.problem;
    let count = problem.selectable.len() + problem.penalised.len();
    if !applies(context) || count <= MAX_COLUMNS || problem.rows() >= count {
        return false;
    }
    if problem.support_size() == LARGEST && problem.ridge_share() >= LARGE_RIDGE
        || problem.support_size() > LARGEST
            && !are_fours_worthwhile(problem.selectable.len(), context)
    {
        return false;
    }
    let columns = [&problem.selectable[..], &problem.penalised].concat();
    let Some(entries) = Entries::of_columns(problem, &columns) else {
        return false;
    };
    if context.incumbents.first().is_none() {
        heuristic::first_incumbent(context);
    }
    let has_models = !problem.is_boxed();
    if has_models {
        models::first(context);
    }
    context.enter(Phase::Root);
    let selectable = problem.selectable.len();
    settle_within(&entries, &columns, selectable, has_models, context)
}

/// Enumerates all models of up to three features, for a loss other than the quadratic and a problem with weak bounds.
/// Returns true when nothing is left to search, and all evidence is in the context.
fn settle_curved(context: &mut Context) -> bool {
    let problem = context.problem;
    let m = problem.support_size();
    if problem.loss.is_quadratic()
        || problem.joint().is_some()
        || !is_about_the_best(context)
        || !(1..=LARGEST).contains(&m)
        || !is_curved_worthwhile(context)
    {
        return false;
    }
    let Some(mut data) = Data::new(problem, m) else {
        return false;
    };
    if context.limits.is_too_much(data.bytes()) {
        return false;
    }
    if context.incumbents.first().is_none() {
        heuristic::first_incumbent(context);
    }
    models::first(context);
    context.enter(Phase::Root);
    // The box of the intercept holds for models no worse than the null model.
    let target = target(context);
    if target.is_nan() || target > problem.null_value {
        return false;
    }
    context.counters.calls += 1;
    let (limits, threads) = (context.limits.clone(), context.threads);
    let is_settled = close(
        context,
        f64::INFINITY,
        <[usize]>::to_vec,
        |target, watch| enumerate_curved(&mut data, m, target, &limits, threads, watch).proof(),
    );
    context.counters.nodes += u64::from(is_settled);
    is_settled
}

/// Whether enumerating all models is expected to be faster than a search.
fn is_curved_worthwhile(context: &Context) -> bool {
    let problem = context.problem;
    let d = problem.selectable.len();
    let large = if d > MANY_COLUMNS {
        LARGE_RIDGE_OF_MANY
    } else {
        LARGE_RIDGE_OF_CURVED
    };
    let triples = (d as f64).powi(3) / 6.0;
    let seconds = triples * SECONDS_OF_A_TRIPLE / context.threads as f64;
    let is_soon = problem.support_size() < LARGEST
        || triples <= MOST_TRIPLES
            && (context.limits.time_left()).is_none_or(|left| left.as_secs_f64() > seconds);
    problem.has_weak_bounds() && problem.ridge_share() < large && is_soon
}
