//! A first incumbent for problems with groups, bounds, prices and heredity: greedy steps, then swaps, all by refitting.

use crate::bound::box_atom;
use crate::problem::{Problem, Structure};
use crate::search::checkpoint::{Greedy, Heuristic, narrow, wide};
use crate::search::stage::{self, Stage};
use crate::search::{Context, Progress};
use crate::tuning::models::{GREEDY_ROUNDS, GREEDY_TRIES};

/// Finds a good support and offers it to the context. Resumes from a checkpoint's progress, if there is any.
pub(super) fn run(context: &mut Context) {
    let problem = context.problem;
    let Some(structure) = problem.structure.as_deref() else {
        return;
    };
    context.counters.calls += 1;
    let stage = match &context.prepared.heuristic {
        Some(Heuristic::Greedy(stage)) => stage.clone(),
        _ => Greedy::default(),
    };
    let support = wide(&stage.support);
    let mut steps = Steps {
        structure,
        curvature: curvatures(problem),
        value: context.try_support(&support),
        support,
        stage,
    };
    stage::run(&mut steps, context);
}

/// Greedy steps, then rounds of swaps. A step adds a feature, or removes and replaces one.
struct Steps<'p> {
    structure: &'p Structure,
    curvature: Vec<f64>,
    support: Vec<usize>,
    value: f64,
    stage: Greedy,
}

impl<'p> Stage<'p> for Steps<'p> {
    fn step(&mut self, context: &mut Context<'p>) -> Progress {
        if self.stage.left.is_empty() {
            if self.stage.rounds == 0 && self.grow(context) {
                self.keep(context);
                return Progress::Running;
            }
            let is_last = self.stage.rounds as usize >= GREEDY_ROUNDS;
            if is_last || (self.stage.rounds > 0 && !self.stage.improved) {
                return Progress::Done;
            }
            self.stage.rounds += 1;
            self.stage.improved = false;
            self.stage.left = narrow(&self.support);
        }
        if self.stage.left.is_empty() {
            return Progress::Done;
        }
        let j = self.stage.left.remove(0) as usize;
        self.replace(j, context);
        self.keep(context);
        Progress::Running
    }
}

impl Steps<'_> {
    /// The most promising sets with one more feature than this one.
    fn larger(&self, context: &mut Context, support: &[usize]) -> Vec<Vec<usize>> {
        let k = context.problem.support_size();
        extensions(
            context,
            self.structure,
            &self.curvature,
            support,
            k,
            GREEDY_TRIES,
        )
    }

    /// Adds the best feature; returns false when none helps.
    fn grow(&mut self, context: &mut Context) -> bool {
        let larger = self.larger(context, &self.support);
        match best_of(context, larger) {
            Some((next, at)) if at < self.value => {
                (self.support, self.value) = (next, at);
                true
            }
            _ => false,
        }
    }

    /// Removes a feature and those that require it, then fills the set up greedily, if the result is better.
    fn replace(&mut self, j: usize, context: &mut Context) {
        let (k, limits) = (context.problem.support_size(), context.limits.clone());
        let mut smaller = self.support.clone();
        smaller.retain(|i| *i != j && !self.structure.ancestors[*i].contains(&j));
        if smaller.len() == self.support.len() {
            return;
        }
        // Where features have prices, a set is filled up only while that improves it.
        let is_priced = self.structure.priced;
        let mut at = if is_priced {
            context.try_support(&smaller)
        } else {
            f64::INFINITY
        };
        while smaller.len() < k && !limits.stop() {
            let larger = self.larger(context, &smaller).into_iter();
            let larger = larger.filter(|set| *set != self.support);
            match best_of(context, larger.collect()) {
                Some((next, value)) if value < at => {
                    smaller = next;
                    if is_priced {
                        at = value;
                    }
                }
                _ => break,
            }
        }
        let at = context.try_support(&smaller);
        if at < self.value - 1e-12 * self.value.abs() {
            (self.support, self.value) = (smaller, at);
            self.stage.improved = true;
        }
    }

    /// Saves the progress in the context.
    fn keep(&mut self, context: &mut Context) {
        if context.saves() {
            self.stage.support = narrow(&self.support);
            context.keep_heuristic(|| Heuristic::Greedy(self.stage.clone()));
        }
    }
}

/// `λ_j + s Σ p a_ij²` of each column that can be chosen.
pub(crate) fn curvatures(problem: &Problem) -> Vec<f64> {
    let mut curvature = vec![0.0; problem.design.columns()];
    let mut weighted = vec![0.0; problem.rows()];
    for j in problem.ridged() {
        problem.design.weigh_column(j, &problem.p, &mut weighted);
        let square = problem.design.dot(j, &weighted);
        curvature[j] = problem.ridge[j] + problem.usual_curvature * square;
    }
    curvature
}

/// The most promising sets with one more feature and those that it requires.
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

/// The best of the given sets, by fitting them.
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
