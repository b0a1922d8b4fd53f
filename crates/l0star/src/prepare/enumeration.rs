//! Whole problems with a small budget, settled before there is a search.

use crate::bound::Certified;
use crate::gram::root::MAX_COLUMNS;
use crate::gram::small::{Entries, LARGEST, Verdict, enumerate};
use crate::heuristic;
use crate::search::{Context, Phase, models};

/// With larger ridges, as shares of the curvatures, columns of wide data are screened sooner than triples are enumerated.
const LARGE_RIDGE: f64 = 0.5;

/// Whether a search is about the best model alone, of a quadratic problem with few features and without structure, and may look
/// at a node.
fn applies(context: &Context) -> bool {
    let problem = context.problem;
    let is_plain = problem.loss.is_quadratic() && problem.structure.is_none();
    let is_single = context.decision().is_none();
    context.ideas.gram
        && context.ideas.enumeration
        && is_plain
        && is_single
        && !context.wants_list()
        && (1..=LARGEST).contains(&problem.support_size())
        && context.limits.reached_between(0, 0).is_none()
}

/// Bytes of the correlations of so many columns, which triples are told from.
fn square_bytes(columns: usize) -> u64 {
    4 * (columns as u64).pow(2)
}

/// Enumerates all models of a problem; true when nothing is left to be searched, and all evidence is in the context.
///
/// `columns` are those of the entries: so many `selectable` ones, then the always-in ones. The features that are not among them
/// have been ruled out. The context has an incumbent.
pub(crate) fn settle(
    entries: &Entries,
    columns: &[usize],
    selectable: usize,
    context: &mut Context,
) -> bool {
    if !applies(context) || context.incumbent().is_none() {
        return false;
    }
    if context.problem.support_size() == LARGEST
        && context.limits.is_too_much(square_bytes(selectable))
    {
        return false;
    }
    let mark = context.mark();
    let free: Vec<usize> = (0..selectable).collect();
    let inside: Vec<usize> = (selectable..columns.len()).collect();
    let (limits, threads) = (context.limits.clone(), context.threads);
    let (m, target) = (context.problem.support_size(), context.cut());
    context.counters.calls += 1;
    let verdict = enumerate(
        entries,
        &inside,
        &free,
        m,
        target,
        &limits,
        threads,
        &mut |set| {
            let mut support: Vec<usize> = set.iter().map(|i| columns[*i]).collect();
            support.sort_unstable();
            context.counters.calls += 1;
            context.try_support(&support);
            let evidence = context.certify_last().or(Certified::TRIVIAL);
            context.discard(evidence);
            context.cut()
        },
    );
    match verdict {
        Verdict::Proved(proof) => {
            context.discard(Certified::enumerated(&proof));
            context.counters.nodes += 1;
            true
        }
        Verdict::Stopped | Verdict::Open => {
            context.rewind(mark);
            false
        }
    }
}

/// The same for a wide problem, from its columns, if that is thought to be sooner done than screening them.
pub(crate) fn settle_wide(context: &mut Context) -> bool {
    let problem = context.problem;
    let count = problem.selectable.len() + problem.penalised.len();
    if !applies(context) || count <= MAX_COLUMNS || problem.rows() >= count {
        return false;
    }
    if problem.support_size() == LARGEST && problem.ridge_share() >= LARGE_RIDGE {
        return false;
    }
    let columns = [&problem.selectable[..], &problem.penalised].concat();
    let Some(entries) = Entries::of_columns(problem, &columns) else {
        return false;
    };
    if context.incumbent().is_none() {
        heuristic::first_incumbent(context);
    }
    models::first(context);
    context.enter(Phase::Root);
    settle(&entries, &columns, problem.selectable.len(), context)
}
