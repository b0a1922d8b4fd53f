//! Nodes with many features are solved over a working set, and the other features are checked afterwards.
//!
//! The relaxation over the set is at least that over all features, and as large where no other atom is among the largest.
//! Certificates are always those of the whole node.

use std::ops::Range;

use super::{Blocks, Proximal, Smooth};
use crate::bound::Certified;
use crate::limits::Limits;
use crate::relaxation::model::Goal;
use crate::tuning::working::{BATCH, CLOSE};

/// Limit on the rounds of a node; two or three are usual.
const MOST_ROUNDS: usize = 30;

/// The smooth part seen from a working set, about which nothing is certified.
struct OverSet<'a>(&'a mut dyn Smooth);

impl Smooth for OverSet<'_> {
    fn evaluate(&mut self, x: &[f64], node: &Blocks, u: &mut [f64]) -> (f64, f64) {
        self.0.evaluate(x, node, u)
    }

    fn keep(&mut self, _x: &[f64], _u: &[f64], _node: &Blocks, _dual: f64) {}

    fn certify(&mut self, _node: &Blocks) -> Certified {
        Certified::TRIVIAL
    }
}

/// Maximises the bound of a node like [`Proximal::solve`].
pub(super) fn solve(
    proximal: &mut Proximal,
    smooth: &mut dyn Smooth,
    node: &Blocks,
    goal: &Goal,
    limits: &Limits,
) -> Certified {
    let mut u = vec![0.0; node.curvature.len()];
    proximal.x.resize(u.len(), 0.0);
    let dual = look(smooth, node, &proximal.x, &mut u, &mut proximal.scratch);
    proximal.best_u.clone_from(&u);
    proximal.bound_x.clone_from(&proximal.x);
    proximal.shares.clear();
    if dual >= goal.cut {
        let certified = smooth.certify(node);
        if certified.value() >= goal.cut {
            return certified;
        }
    }
    let is_used = |group: &Range<usize>| {
        let mut columns = node.free[group.clone()].iter();
        columns.any(|j| proximal.x[*j] != 0.0)
    };
    let mut is_in: Vec<bool> = node.groups.iter().map(is_used).collect();
    extend(&mut is_in, node, &u);
    for _ in 0..MOST_ROUNDS {
        proximal.solve(&mut OverSet(smooth), &subset(node, &is_in), goal, limits);
        spread(&mut proximal.shares, &is_in);
        let over_set = proximal.bound;
        let x = &proximal.bound_x;
        let dual = look(smooth, node, x, &mut u, &mut proximal.scratch);
        proximal.best_u.copy_from_slice(&u);
        let is_enough = dual >= goal.cut || over_set - dual <= goal.tolerance;
        if is_enough || limits.stop() || extend(&mut is_in, node, &u) == 0 {
            break;
        }
    }
    smooth.certify(node)
}

/// Evaluates a point over the whole node, and keeps it to be certified. Returns its D.
fn look(
    smooth: &mut dyn Smooth,
    node: &Blocks,
    x: &[f64],
    u: &mut [f64],
    scratch: &mut Vec<f64>,
) -> f64 {
    let (_, base) = smooth.evaluate(x, node, u);
    let dual = base - node.atoms(u, scratch);
    smooth.keep(x, u, node, dual);
    dual
}

/// Adds the features whose atoms are among the largest or close to them. Returns how many were added.
fn extend(is_in: &mut [bool], node: &Blocks, u: &[f64]) -> usize {
    let atom = |g: usize| node.atom(&node.groups[g], u) - node.costs.get(g).unwrap_or(&0.0);
    let mut atoms: Vec<(f64, usize)> = (0..is_in.len()).map(|g| (atom(g), g)).collect();
    atoms.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let least = atoms
        .get(node.budget.saturating_sub(1))
        .map_or(0.0, |(atom, _)| CLOSE * atom.max(0.0));
    let close = atoms.iter().take_while(|(atom, _)| *atom > least);
    let mut added = 0;
    for (_, g) in close {
        if added < BATCH && !std::mem::replace(&mut is_in[*g], true) {
            added += 1;
        }
    }
    added
}

/// Returns the node without the features that are not in the set.
fn subset<'a>(node: &Blocks<'a>, is_in: &[bool]) -> Blocks<'a> {
    let (mut free, mut groups, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    for (g, group) in node.groups.iter().enumerate().filter(|(g, _)| is_in[*g]) {
        let first = free.len();
        free.extend_from_slice(&node.free[group.clone()]);
        groups.push(first..free.len());
        costs.extend(node.costs.get(g));
    }
    Blocks {
        inside: node.inside.clone(),
        free,
        groups,
        costs,
        ..*node
    }
}

/// Converts the shares of the features in the set to those of all features.
fn spread(shares: &mut Vec<f64>, is_in: &[bool]) {
    if shares.is_empty() {
        return;
    }
    let mut own = std::mem::take(shares).into_iter();
    let mut share = |is_in: &bool| if *is_in { own.next() } else { None };
    shares.extend(is_in.iter().map(|is_in| share(is_in).unwrap_or(0.0)));
}
