//! The best local optima so far, for crossovers, and the sets that others suggest as starts.

use std::collections::VecDeque;

use super::Random;
use crate::tuning::models::{
    HANDED_OUT, POOL, POOL_STALE, POOL_TO_CROSS, SUGGESTIONS_REMEMBERED, SUGGESTIONS_WAITING,
};

/// Objectives and features of distinct models.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pool {
    models: Vec<(f64, Vec<usize>)>,
    /// The best few models kept since the last call of [`Pool::fresh`].
    fresh: Vec<(f64, Vec<usize>)>,
    stale: u32,
}

impl Pool {
    pub(super) fn len(&self) -> usize {
        self.models.len()
    }

    /// Whether there are enough models for crossovers.
    pub(super) fn is_ready(&self) -> bool {
        self.len() >= POOL_TO_CROSS
    }

    /// Keeps a local optimum when it is among the best.
    pub(super) fn keep(&mut self, features: Vec<usize>, value: f64) {
        self.stale += 1;
        if self.stale > POOL_STALE {
            self.models.clear();
            self.stale = 0;
        }
        if self.models.iter().any(|(_, known)| *known == features) {
            return;
        }
        keep_best(&mut self.fresh, HANDED_OUT, value, &features);
        keep_best(&mut self.models, POOL, value, &features);
    }

    /// Takes the best models kept since the last call.
    pub(super) fn fresh(&mut self) -> Vec<(f64, Vec<usize>)> {
        std::mem::take(&mut self.fresh)
    }

    /// Two distinct models, chosen at random.
    pub(super) fn pair(&self, random: &mut Random) -> (&[usize], &[usize]) {
        let a = random.below(self.len());
        let mut b = random.below(self.len() - 1);
        b += usize::from(b >= a);
        (&self.models[a].1, &self.models[b].1)
    }
}

/// Adds a model to a list. In a full list, it replaces the worst model if it is better.
fn keep_best(models: &mut Vec<(f64, Vec<usize>)>, most: usize, value: f64, features: &[usize]) {
    if models.len() < most {
        models.push((value, features.to_vec()));
        return;
    }
    let order = |a: &usize, b: &usize| models[*a].0.total_cmp(&models[*b].0);
    let worst = (0..models.len()).max_by(order).unwrap_or(0);
    if value < models[worst].0 {
        models[worst] = (value, features.to_vec());
    }
}

/// Distinct sets of features to start from.
#[derive(Debug, Default)]
pub(super) struct Suggestions {
    waiting: VecDeque<Vec<usize>>,
    /// The last suggestions, waiting or not.
    known: VecDeque<Vec<usize>>,
}

impl Suggestions {
    pub(super) fn add(&mut self, features: &[usize]) {
        let is_known = |known: &Vec<usize>| known[..] == *features;
        if features.is_empty() || self.known.iter().rev().any(is_known) {
            return;
        }
        for (list, most) in [
            (&mut self.waiting, SUGGESTIONS_WAITING),
            (&mut self.known, SUGGESTIONS_REMEMBERED),
        ] {
            if list.len() >= most {
                list.pop_front();
            }
            list.push_back(features.to_vec());
        }
    }

    pub(super) fn next(&mut self) -> Option<Vec<usize>> {
        self.waiting.pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_is_taken_up_once() {
        let mut suggestions = Suggestions::default();
        for i in [1, 2, 1, 3, 2] {
            suggestions.add(&[i, 9]);
        }
        suggestions.add(&[]);
        for i in 1..=3 {
            assert_eq!(suggestions.next(), Some(vec![i, 9]));
        }
        suggestions.add(&[2, 9]);
        assert!(suggestions.is_empty());
        // The oldest make room.
        (0..40).for_each(|i| suggestions.add(&[i]));
        assert_eq!(suggestions.next(), Some(vec![8]));
    }

    #[test]
    fn what_was_handed_out_is_not_fresh_again() {
        let mut pool = Pool::default();
        (0..20).for_each(|i| pool.keep(vec![i], 20.0 - i as f64));
        let mut fresh = pool.fresh();
        fresh.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!((fresh.len(), &fresh[0]), (16, &(1.0, vec![19])));
        pool.keep(vec![3], 17.0);
        assert!(pool.fresh().is_empty());
    }
}
