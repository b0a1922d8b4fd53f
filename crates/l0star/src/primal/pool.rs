//! The best local optima so far, for crossovers.

use super::Random;

/// Models that are kept; crossovers begin with so many of them.
const MOST: usize = 64;
const LEAST: usize = 6;
/// All of them are given up after so many starts without anything better.
const STALE: u32 = 4000;

/// Values and features of models, each of them once.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pool {
    models: Vec<(f64, Vec<usize>)>,
    stale: u32,
}

impl Pool {
    pub(super) fn len(&self) -> usize {
        self.models.len()
    }

    /// Whether there are enough models for crossovers.
    pub(super) fn is_ready(&self) -> bool {
        self.len() >= LEAST
    }

    /// Keeps a local optimum when it is among the best.
    pub(super) fn keep(&mut self, features: Vec<usize>, value: f64) {
        self.stale += 1;
        if self.stale > STALE {
            self.models.clear();
            self.stale = 0;
        }
        if self.models.iter().any(|(_, known)| *known == features) {
            return;
        }
        if self.models.len() < MOST {
            self.models.push((value, features));
            return;
        }
        let order = |a: &usize, b: &usize| self.models[*a].0.total_cmp(&self.models[*b].0);
        let worst = (0..self.models.len()).max_by(order).unwrap_or(0);
        if value < self.models[worst].0 {
            self.models[worst] = (value, features);
        }
    }

    /// Two models, chosen at random.
    pub(super) fn pair(&self, random: &mut Random) -> (&[usize], &[usize]) {
        let a = random.below(self.len());
        let mut b = random.below(self.len() - 1);
        b += usize::from(b >= a);
        (&self.models[a].1, &self.models[b].1)
    }
}
