//! The number of features that a model may still add, and how far from the response each number can be.

use crate::linalg::rounding::U;
use crate::linalg::select::top_sum;

/// Number of features that a model may still add, and the price of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Choice {
    pub most: usize,
    pub price: f64,
}

impl Choice {
    /// Limits the number of features to what a model can afford whose P plus prices is at most `ceiling`.
    pub(crate) fn within(self, ceiling: f64) -> Self {
        let affordable = |count: &usize| {
            let left = self.left_of(ceiling, *count);
            // A NaN ceiling rules nothing out.
            left >= 0.0 || left.is_nan()
        };
        if self.price <= 0.0 {
            return self;
        }
        let counts = (0..=self.most).take_while(affordable).count();
        Self {
            most: counts.saturating_sub(1),
            ..self
        }
    }

    /// Returns what `count` features leave of a ceiling for P, rounded up.
    fn left_of(self, ceiling: f64, count: usize) -> f64 {
        let paid = count as f64 * self.price;
        ceiling - paid + 4.0 * U * (ceiling + paid)
    }
}

/// A [`Choice`] within a ceiling: n features leave `P(x) ≤ ceiling - n c`, so that `|ρ(x)| ≤ r_n = √(2 (ceiling - n c))`.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    /// `r_n`, rounded up, for n = 0, 1, …; a single value where features have no price.
    radii: Vec<f64>,
    most: usize,
}

impl Budget {
    pub(super) fn new(choice: Choice, ceiling: f64) -> Self {
        let choice = choice.within(ceiling);
        let radius = |left: f64| {
            // A NaN stays NaN.
            let left = if left < 0.0 { 0.0 } else { left };
            (2.0 * left).sqrt() * (1.0 + 4.0 * U)
        };
        let radii = if choice.price > 0.0 {
            let left = |count| choice.left_of(ceiling, count);
            (0..=choice.most).map(|count| radius(left(count))).collect()
        } else {
            vec![radius(ceiling)]
        };
        Self {
            radii,
            most: choice.most,
        }
    }

    /// Returns the maximum number of features.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Returns the largest radius.
    pub(super) fn radius(&self) -> f64 {
        self.radii[0]
    }

    /// Returns an upper bound on P for a model with at least one feature.
    pub(super) fn ceiling_of_one(&self) -> f64 {
        let radius = self.radii.get(1).unwrap_or(&self.radii[0]);
        0.5 * radius * radius * (1.0 + 4.0 * U)
    }

    /// Maximises, over all n ≥ `own`, the sum of `r_n l` and the `n - own` largest of some numbers ≥ 0.
    ///
    /// Returns both parts of the sum for that n, and n itself. A NaN among the numbers makes the sum NaN.
    pub(super) fn worst(
        &self,
        length: f64,
        own: usize,
        numbers: impl ExactSizeIterator<Item = f64>,
        scratch: &mut Vec<f64>,
    ) -> Worst {
        let count = self.most.saturating_sub(own);
        if let [radius] = self.radii[..] {
            return Worst {
                reached: radius * length * (1.0 + 4.0 * U),
                others: top_sum(numbers, count, scratch),
                features: self.most,
            };
        }
        largest_first(numbers, count, scratch);
        let mut worst = Worst {
            reached: f64::NEG_INFINITY,
            others: 0.0,
            features: own,
        };
        let mut others = 0.0;
        for (at, radius) in self.radii.iter().skip(own).enumerate() {
            if at > 0 {
                others += scratch.get(at - 1).copied().unwrap_or(0.0);
            }
            let reached = radius * length * (1.0 + 4.0 * U);
            let is_worse = reached + others > worst.reached + worst.others;
            if is_worse || others.is_nan() || reached.is_nan() {
                worst = Worst {
                    reached,
                    others,
                    features: own + at,
                };
            }
        }
        worst
    }
}

/// Result of [`Budget::worst`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Worst {
    pub reached: f64,
    pub others: f64,
    pub features: usize,
}

/// Collects the `count` largest of some numbers, largest first; NaNs count as the largest.
fn largest_first(
    numbers: impl ExactSizeIterator<Item = f64>,
    count: usize,
    scratch: &mut Vec<f64>,
) {
    scratch.clear();
    if count == 0 {
        return;
    }
    // NaNs of either sign become positive.
    scratch.extend(numbers.map(|v| if v.is_nan() { f64::NAN } else { v }));
    let order = |a: &f64, b: &f64| b.total_cmp(a);
    if count < scratch.len() {
        scratch.select_nth_unstable_by(count - 1, order);
        scratch.truncate(count);
    }
    scratch.sort_unstable_by(order);
}
