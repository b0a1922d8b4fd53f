//! A first incumbent for problems with groups, bounds, prices and heredity: greedy steps, then swaps, all by refitting.

use crate::bound::box_atom;
use crate::problem::{Problem, Structure};
use crate::search::Context;
use crate::search::checkpoint::{Greedy, Heuristic, narrow, wide};

/// Features that are tried at each step, by their estimated gain.
const TRIES: usize = 4;
/// Rounds of swaps.
const MAX_ROUNDS: usize = 20;

/// Leaves the best support that it finds in the context. What a checkpoint brought is gone on from.
pub(super) fn run(context: &mut Context) {
    let problem = context.problem;
    let Some(structure) = &problem.structure else {
        return;
    };
    let k = problem.support_size();
    let limits = context.limits.clone();
    context.counters.calls += 1;
    let mut stage = match &context.prepared.heuristic {
        Some(Heuristic::Greedy(stage)) => stage.clone(),
        _ => Greedy::default(),
    };
    let mut support = wide(&stage.support);
    let mut value = context.try_support(&support);
    let curvature = curvatures(problem);
    while stage.rounds == 0 {
        let larger = extensions(context, structure, &curvature, &support, k, TRIES);
        let best = best_of(context, larger);
        match best {
            Some((next, at)) if at < value && !limits.stop() => (support, value) = (next, at),
            _ => break,
        }
        keep(context, &mut stage, &support);
    }
    loop {
        if stage.left.is_empty() {
            let is_last = stage.rounds as usize >= MAX_ROUNDS;
            if is_last || (stage.rounds > 0 && !stage.improved) {
                return;
            }
            stage.rounds += 1;
            stage.improved = false;
            stage.left = narrow(&support);
        }
        let Some(j) = stage.left.first().map(|j| *j as usize) else {
            return;
        };
        if limits.stop() {
            return;
        }
        let mut smaller = support.clone();
        smaller.retain(|i| *i != j && !structure.ancestors[*i].contains(&j));
        if smaller.len() < support.len() {
            // What was dropped is filled up again, greedily; where features have prices, as long as that pays.
            let mut at = f64::INFINITY;
            if structure.priced {
                at = context.try_support(&smaller);
            }
            while smaller.len() < k && !limits.stop() {
                let larger = extensions(context, structure, &curvature, &smaller, k, TRIES);
                let larger = larger.into_iter().filter(|set| *set != support);
                match best_of(context, larger.collect()) {
                    Some((next, value)) if value < at => {
                        smaller = next;
                        if structure.priced {
                            at = value;
                        }
                    }
                    _ => break,
                }
            }
            let at = context.try_support(&smaller);
            if at < value - 1e-12 * value.abs() {
                (support, value) = (smaller, at);
                stage.improved = true;
            }
        }
        stage.left.remove(0);
        keep(context, &mut stage, &support);
    }
}

/// Notes how far it has come.
fn keep(context: &mut Context, stage: &mut Greedy, support: &[usize]) {
    if context.saves() {
        stage.support = narrow(support);
        context.keep_heuristic(|| Heuristic::Greedy(stage.clone()));
    }
}

/// `λ_j + s Σ p a_ij²` of each column that can be chosen.
pub(crate) fn curvatures(problem: &Problem) -> Vec<f64> {
    let mut curvature = vec![0.0; problem.design.columns()];
    let mut weighted = vec![0.0; problem.rows()];
    for j in problem.ridged() {
        problem.design.weigh_column(j, &problem.p, &mut weighted);
        let square = problem.design.dot(j, &weighted);
        curvature[j] = problem.ridge[j] + problem.loss.smoothness() * square;
    }
    curvature
}

/// The most promising sets with one feature more, and what it needs.
pub(crate) fn extensions(
    context: &mut Context,
    structure: &Structure,
    curvature: &[f64],
    support: &[usize],
    k: usize,
    count: usize,
) -> Vec<Vec<usize>> {
    let problem = context.problem;
    if support.len() >= k {
        return Vec::new();
    }
    context.restricted().fit(support);
    let beta = context.restricted().beta().to_vec();
    let gain = |leader: usize| -> f64 {
        let members = structure.members[leader].iter();
        let atom = |j: &usize| {
            let slope = -problem.design.dot(*j, &beta);
            box_atom(slope, curvature[*j], structure.bounds[*j])
        };
        members.map(atom).sum()
    };
    let others = problem.selectable.iter().filter(|j| !support.contains(j));
    let mut scored: Vec<(f64, Vec<usize>)> = others
        .filter_map(|j| {
            let set = structure.close(support, [*j].into_iter(), |_| true, k);
            let new = set.iter().filter(|i| !support.contains(i));
            let sum: f64 = new.map(|i| gain(*i) - structure.costs[*i]).sum();
            let size = set.len() - support.len();
            (size > 0 && sum > 0.0).then(|| (sum / size as f64, set))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.truncate(count);
    scored.into_iter().map(|(_, set)| set).collect()
}

/// The best of some sets, by fitting them.
pub(crate) fn best_of(context: &mut Context, sets: Vec<Vec<usize>>) -> Option<(Vec<usize>, f64)> {
    let mut best: Option<(Vec<usize>, f64)> = None;
    for set in sets {
        let value = context.try_support(&set);
        if best.as_ref().is_none_or(|(_, least)| value < *least) {
            best = Some((set, value));
        }
    }
    best
}
