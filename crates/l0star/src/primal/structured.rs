//! Starts for problems with groups, bounds, prices or heredity, whose models are compared by fitting them.

use super::Random;
use super::pool::{Pool, Suggestions};
use crate::heuristic::greedy::{self, extensions};
use crate::problem::{Problem, Structure};
use crate::search::Context;
use crate::search::context::ModelSearch;
use crate::search::optima::Optimum;
use crate::tuning::models::{STRUCTURED_CHOICES, STRUCTURED_EXCHANGES, STRUCTURED_ROUNDS};

/// A search by randomised starts and crossovers.
pub(crate) struct Structured {
    curvature: Vec<f64>,
    pool: Pool,
    suggestions: Suggestions,
    random: Random,
    starts: u64,
    /// Limit on the multiplications, and their approximate number so far.
    allowed: u64,
    spent: u64,
}

impl Structured {
    pub(super) fn new(problem: &Problem) -> Self {
        Self {
            curvature: greedy::curvatures(problem),
            pool: Pool::default(),
            suggestions: Suggestions::default(),
            random: Random::new(),
            starts: 0,
            allowed: 0,
            spent: 0,
        }
    }

    /// Starts with randomised greedy steps.
    fn greedy(&mut self, structure: &Structure, context: &mut Context) -> Vec<usize> {
        let limits = context.limits.clone();
        let mut support = Vec::new();
        while !limits.stop() {
            let mut larger = self.larger(structure, &support, STRUCTURED_CHOICES, context);
            if larger.is_empty() {
                break;
            }
            support = larger.swap_remove(self.random.below(larger.len()));
        }
        support
    }

    /// Starts from the union of two models of the pool: first the features that they share, then others while there is
    /// room.
    fn cross(&mut self, structure: &Structure, room: usize) -> Vec<usize> {
        let (a, b) = self.pool.pair(&mut self.random);
        let (shared, mut rest): (Vec<usize>, Vec<usize>) = a.iter().partition(|j| b.contains(j));
        rest.extend(b.iter().filter(|j| !a.contains(j)));
        for at in (1..rest.len()).rev() {
            rest.swap(at, self.random.below(at + 1));
        }
        structure.close(&[], shared.into_iter().chain(rest), |_| true, room)
    }

    /// Makes exchanges while they help; returns the support and its objective.
    fn descend(
        &mut self,
        mut support: Vec<usize>,
        structure: &Structure,
        context: &mut Context,
    ) -> (Vec<usize>, f64) {
        let limits = context.limits.clone();
        let mut value = context.try_support(&support);
        for _ in 0..STRUCTURED_ROUNDS {
            let mut improved = false;
            for j in support.clone() {
                if limits.stop() {
                    return (support, value);
                }
                let mut next = support.clone();
                next.retain(|i| *i != j && !structure.ancestors[*i].contains(&j));
                if next.len() == support.len() {
                    continue;
                }
                // Where features have prices, a set is filled up only while that improves it.
                let mut least = if structure.priced {
                    context.try_support(&next)
                } else {
                    f64::INFINITY
                };
                loop {
                    let larger = self.larger(structure, &next, STRUCTURED_EXCHANGES, context);
                    let others = larger.into_iter().filter(|set| *set != support).collect();
                    match greedy::best_of(context, others) {
                        Some((set, at)) if at < least && !limits.stop() => {
                            next = set;
                            if structure.priced {
                                least = at;
                            }
                        }
                        _ => break,
                    }
                }
                let at = context.try_support(&next);
                if at < value - super::BETTER * value.abs() {
                    (support, value, improved) = (next, at, true);
                }
            }
            if !improved {
                break;
            }
        }
        (support, value)
    }

    /// The most promising sets with one more feature.
    fn larger(
        &mut self,
        structure: &Structure,
        support: &[usize],
        count: usize,
        context: &mut Context,
    ) -> Vec<Vec<usize>> {
        let problem = context.problem;
        self.spent += (problem.rows() * problem.columns()) as u64;
        let k = problem.support_size();
        extensions(context, structure, &self.curvature, support, k, count)
    }
}

impl<'p> ModelSearch<'p> for Structured {
    fn work(&mut self, multiplications: u64, patience: u64, context: &mut Context<'p>) {
        let Some(structure) = &context.problem.structure else {
            return;
        };
        self.allowed = self.allowed.saturating_add(multiplications);
        let (mut best, mut last) = (context.incumbents.best(), self.starts);
        while self.spent < self.allowed && !context.limits.stop() {
            if context.incumbents.best() < best {
                (best, last) = (context.incumbents.best(), self.starts);
            } else if self.starts - last >= patience {
                self.allowed = self.spent;
                return;
            }
            self.starts += 1;
            let before = context.restricted().work();
            let k = context.problem.support_size();
            let suggested = match self.starts % 2 {
                0 => self.suggestions.next(),
                _ => None,
            };
            let support = match suggested {
                Some(set) => structure.close(&[], set.into_iter(), |_| true, k),
                None if self.pool.is_ready() && self.random.below(2) == 0 => {
                    self.cross(structure, k)
                }
                None => self.greedy(structure, context),
            };
            let (support, value) = self.descend(support, structure, context);
            self.spent += context.restricted().work() - before;
            if !context.limits.stop() {
                self.pool.keep(support, value);
            }
        }
    }

    fn suggest(&mut self, features: &[usize]) {
        self.suggestions.add(features);
    }

    fn fresh(&mut self) -> Vec<Optimum> {
        self.pool.fresh()
    }
}
