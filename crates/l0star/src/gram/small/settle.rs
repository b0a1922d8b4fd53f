//! Whole problems with a small budget, settled before there is a search.

use super::entries::Entries;
use super::pairs::settle_pairs;
use super::{LARGEST, MOST, Space, Verdict, Watch, enumerate};
use crate::bound::Certified;
use crate::gram::root::MAX_COLUMNS;
use crate::heuristic;
use crate::linalg::rounding::U;
use crate::primal;
use crate::search::{Context, Phase};

/// With larger ridges, as shares of the curvatures, columns of wide data are screened sooner than triples are enumerated.
const LARGE_RIDGE: f64 = 0.5;

/// Whether a search is about the best model alone, of a problem without structure, and may look at a node.
pub(super) fn is_about_the_best(context: &Context) -> bool {
    context.ideas.enumeration
        && context.problem.structure.is_none()
        && context.decision().is_none()
        && context.survey().is_none()
        && !context.wants_list()
        && context.limits.reached_between(0, 0).is_none()
}

/// Whether all models of a problem in Gram form may be enumerated.
fn applies(context: &Context) -> bool {
    let problem = context.problem;
    context.ideas.gram
        && problem.loss.is_quadratic()
        && (1..=LARGEST).contains(&problem.support_size())
        && is_about_the_best(context)
}

/// What is proved of the sets that are not handed out: the cut, and a few roundings more, so that the gap of the result, as a share of
/// the objective, is not above the one that was asked for either.
pub(super) fn target(context: &Context) -> f64 {
    context.cut() + 8.0 * U * context.reference().abs()
}

/// Bytes of the correlations of so many columns, which triples are told from.
pub(super) fn square_bytes(columns: usize) -> u64 {
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
    let free: Vec<usize> = (0..selectable).collect();
    let inside: Vec<usize> = (selectable..columns.len()).collect();
    let space = Space {
        entries,
        inside: &inside,
        free: &free,
        m: context.problem.support_size(),
    };
    context.counters.calls += 1;
    let threads = context.threads;
    let is_settled = close(space, columns, &[], f64::INFINITY, MOST, threads, context);
    context.counters.nodes += u64::from(is_settled);
    is_settled
}

/// Enumerates the models of a space whose columns of the data are `columns`, with the features `chosen` among those that are in;
/// true when nothing of it is left, and all evidence is in the context. Nothing above `ceiling` is claimed.
pub(super) fn close(
    space: Space,
    columns: &[usize],
    chosen: &[usize],
    ceiling: f64,
    most: usize,
    threads: usize,
    context: &mut Context,
) -> bool {
    let mark = context.mark();
    let limits = context.limits.clone();
    let target = target(context);
    let mut watch = Fits {
        columns,
        chosen,
        context,
    };
    let verdict = enumerate(space, target, most, &limits, threads, &mut watch);
    match verdict {
        Verdict::Proved(proof) => {
            context.discard(Certified::enumerated(&proof).at_most(ceiling));
            true
        }
        Verdict::Stopped | Verdict::Open => {
            context.rewind(mark);
            false
        }
    }
}

/// Fits what an enumeration hands out.
struct Fits<'c, 'p> {
    columns: &'c [usize],
    chosen: &'c [usize],
    context: &'c mut Context<'p>,
}

impl Watch for Fits<'_, '_> {
    fn hit(&mut self, set: &[usize]) -> f64 {
        let features = self.chosen.iter().chain(set);
        let mut support: Vec<usize> = features.map(|i| self.columns[*i]).collect();
        support.sort_unstable();
        self.context.counters.calls += 1;
        self.context.try_support(&support);
        let evidence = self.context.certify_last().or(Certified::TRIVIAL);
        self.context.discard(evidence);
        target(self.context)
    }

    fn progress(&mut self, share: f64) {
        self.context.announce_enumeration(share);
    }
}

/// Enumerates all models of a problem before anything else is prepared, where that is thought to be sooner done than a search;
/// true when nothing is left to be searched.
pub(crate) fn settle_first(context: &mut Context) -> bool {
    settle_wide(context) || settle_pairs(context)
}

/// [`settle`] for a wide problem, from its columns, if that is thought to be sooner done than screening them.
fn settle_wide(context: &mut Context) -> bool {
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
    primal::first(context);
    context.enter(Phase::Root);
    settle(&entries, &columns, problem.selectable.len(), context)
}
