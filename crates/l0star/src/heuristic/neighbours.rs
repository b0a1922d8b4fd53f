//! A first list of models: the neighbours of the best model, and their neighbours, until there are enough to prune
//! with.

use std::collections::{HashSet, VecDeque};
use std::vec;

use crate::bound::{DualPoint, Subproblem, box_atom};
use crate::search::stage::{self, Stage};
use crate::search::{Context, Phase, Progress};
use crate::tuning::models::NEIGHBOURS;

/// Tries neighbours until the requested list is full enough to have a reference objective. Does nothing when one model
/// is wanted or when a limit is reached.
pub(crate) fn fill_list(context: &mut Context) {
    if !context.incumbents.wants_list() || context.incumbents.has_reference() {
        return;
    }
    context.enter(Phase::Heuristic);
    let first = context.incumbents.first().map(|model| model.support);
    let first = first.unwrap_or_default();
    context.propose(&first);
    let mut filling = Filling {
        seen: HashSet::from([first.clone()]),
        queue: VecDeque::from([first]),
        next: Vec::new().into_iter(),
    };
    stage::run(&mut filling, context);
}

/// A list in progress; a step tries one model. A resumed run does not fit models of the list again.
struct Filling {
    seen: HashSet<Vec<usize>>,
    /// The models whose neighbours are still to be tried.
    queue: VecDeque<Vec<usize>>,
    /// The neighbours of the last model that are still to be tried.
    next: vec::IntoIter<Vec<usize>>,
}

impl<'p> Stage<'p> for Filling {
    fn step(&mut self, context: &mut Context<'p>) -> Progress {
        if let Some(support) = self.next.next() {
            if context.incumbents.has_reference() {
                return Progress::Done;
            }
            if self.seen.insert(support.clone()) {
                context.counters.calls += 1;
                context.propose(&support);
                self.queue.push_back(support);
            }
        } else {
            let Some(support) = self.queue.pop_front() else {
                return Progress::Done;
            };
            let most = NEIGHBOURS.saturating_mul(context.incumbents.capacity());
            self.next = neighbours(context, &support, most).into_iter();
        }
        Progress::Running
    }
}

/// The supports with one feature removed, added or exchanged that satisfy the constraints, roughly the most promising
/// first. Every support can be reached: sets with a feature removed are always among them, and so are sets with a
/// feature added where there is room.
fn neighbours(context: &mut Context, support: &[usize], most: usize) -> Vec<Vec<usize>> {
    let problem = context.problem;
    let fit = context.restricted().fit(support);
    let mut z = vec![0.0; problem.rows()];
    problem.predict_into(&fit.x, &mut z);
    let mut point = DualPoint::new(problem);
    point.move_to(problem, &z);
    let all = Subproblem {
        included: &[],
        free: &problem.selectable,
        budget: 0,
    };
    point.dots(problem, &all);
    let curvature = |j: usize| problem.ridge[j] + problem.norms[j] * problem.norms[j];
    let by = |score: &dyn Fn(usize) -> f64, columns: &mut Vec<usize>| {
        let mut scored: Vec<(f64, usize)> = columns.iter().map(|j| (score(*j), *j)).collect();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        *columns = scored.into_iter().map(|(_, j)| j).collect();
    };
    // The features of the model, weakest first; the others, strongest pull first.
    let mut inside = support.to_vec();
    let size = |j: usize| {
        let members = problem.members(j);
        let own = fit.x.iter().filter(|(i, _)| members.contains(i));
        own.map(|(i, x)| x * x * curvature(*i)).sum()
    };
    by(&size, &mut inside);
    let others = problem.selectable.iter().copied();
    let mut outside: Vec<usize> = others.filter(|j| !support.contains(j)).collect();
    let pull = |j: usize| {
        let members = problem.members(j);
        let each = members.iter();
        each.map(|i| box_atom(-point.v[*i], curvature(*i), problem.range(*i)))
            .sum::<f64>()
    };
    by(&|j| -pull(j), &mut outside);
    let with = |drop: Option<usize>, add: Option<usize>| {
        let kept = support.iter().copied().filter(|j| Some(*j) != drop);
        let mut next: Vec<usize> = kept.chain(add).collect();
        next.sort_unstable();
        next
    };
    let mut found: Vec<Vec<usize>> = Vec::new();
    if support.len() < problem.support_size() {
        found.extend(outside.iter().map(|j| with(None, Some(*j))));
    }
    found.extend(inside.iter().map(|j| with(Some(*j), None)));
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for r in 0..inside.len() {
        let count = (most / (r + 1)).min(outside.len());
        pairs.extend((0..count).map(|i| (r, i)));
    }
    pairs.sort_by_key(|(r, i)| (r + 1) * (i + 1));
    pairs.truncate(most);
    let swaps = pairs
        .iter()
        .map(|(r, i)| with(Some(inside[*r]), Some(outside[*i])));
    found.extend(swaps);
    if let Some(structure) = &problem.structure {
        found.retain(|set| structure.is_closed(set));
    }
    found
}
