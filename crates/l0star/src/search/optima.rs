//! [`Optima`]: the local optima that searches on the same columns share.

use crate::tuning::models::{OPTIMA_PER_SIZE, OPTIMA_TO_START_FROM};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The objective of a model and its features, in order.
pub(crate) type Optimum = (f64, Vec<usize>);

/// The best local optima of each size, from searches for other sizes of a path or for other decisions as well.
#[derive(Debug, Default)]
pub(crate) struct Optima {
    sizes: Mutex<BTreeMap<usize, Vec<Optimum>>>,
}

impl Optima {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Vec<Optimum>>> {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the optima that are among the best of their sizes.
    pub(crate) fn keep(&self, found: Vec<Optimum>) {
        let mut sizes = self.lock();
        for (value, features) in found {
            let kept = sizes.entry(features.len()).or_default();
            let order = |old: &Optimum| old.0.total_cmp(&value).then_with(|| old.1.cmp(&features));
            let at = kept.partition_point(|old| order(old).is_lt());
            let is_known = kept.iter().any(|(_, known)| *known == features);
            if at < OPTIMA_PER_SIZE && !is_known && value.is_finite() {
                kept.insert(at, (value, features));
                kept.truncate(OPTIMA_PER_SIZE);
            }
        }
    }

    /// Starts for models of size k: the nearest sizes first, smaller sizes before larger ones, and the best of each
    /// size first.
    pub(crate) fn near(&self, k: usize) -> Vec<Vec<usize>> {
        let sizes = self.lock();
        let mut order: Vec<usize> = sizes.keys().copied().collect();
        order.sort_by_key(|size| (size.abs_diff(k), *size));
        let models = order.iter().flat_map(|size| &sizes[size]);
        let features = models.map(|(_, features)| features.clone());
        features.take(OPTIMA_TO_START_FROM).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_each_size_are_kept_once() {
        let optima = Optima::default();
        optima.keep((0..40).rev().map(|i| (i as f64, vec![i, 50])).collect());
        optima.keep(vec![
            (3.0, vec![3, 50]),
            (0.5, vec![7]),
            (f64::NAN, vec![1, 2]),
        ]);
        optima.keep(vec![(9.0, vec![1, 2, 3]), (8.0, vec![1, 2, 4])]);
        let pairs: Vec<Vec<usize>> = (0..16).map(|i| vec![i, 50]).collect();
        let near = optima.near(2);
        assert_eq!(near[..16], pairs);
        assert_eq!(near[16..], [vec![7], vec![1, 2, 4], vec![1, 2, 3]]);
        assert_eq!(optima.near(9)[0], [1, 2, 4]);
    }
}
