//! Nodes of the Gram tree in which at most three features can still be chosen.

use super::entries::Entries;
use super::settle::{close, square_bytes};
use super::{FEW, LARGEST, Space};
use crate::gram::root::Root;
use crate::primal::is_hard;
use crate::search::Context;

/// With so many free features the triples of a node take about as long as its relaxation.
const MANY: usize = 1000;
/// Nodes that a tree has to have expanded before those of a problem that looks easy are enumerated.
const EASY: u64 = 200;

/// Enumerates the models of a node, if that is thought to be sooner done than its search; true when nothing of it is left, and
/// all evidence is in the context. False at a limit, too.
///
/// `inside`: the columns of the root that are in, the always-in ones among them. `expanded`: nodes of the tree so far. Nothing
/// above `ceiling` is claimed.
pub(crate) fn close_node(
    root: &Root,
    inside: &[usize],
    free: &[usize],
    m: usize,
    expanded: u64,
    ceiling: f64,
    context: &mut Context,
) -> bool {
    if !(1..=LARGEST).contains(&m)
        || m >= free.len()
        || !context.ideas.enumeration
        || context.wants_list()
        || context.survey().is_some()
    {
        return false;
    }
    let is_hard = is_hard(context.problem);
    let is_short = m < LARGEST || free.len() <= MANY;
    let is_worthwhile = is_hard || (expanded > EASY && is_short);
    if !is_worthwhile || (m == LARGEST && context.limits.is_too_much(square_bytes(free.len()))) {
        return false;
    }
    let entries = Entries::of_root(root);
    let chosen: Vec<usize> = inside
        .iter()
        .copied()
        .filter(|i| *i < root.selectable)
        .collect();
    let space = Space {
        entries: &entries,
        inside,
        free,
        m,
    };
    context.counters.calls += 1;
    close(space, &root.columns, &chosen, ceiling, FEW, 1, context)
}
