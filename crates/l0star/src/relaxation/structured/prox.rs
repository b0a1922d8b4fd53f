//! The prox of the relaxed budget for groups of columns with bounds.
//!
//! In coordinates of ridge 1, with `C` the bounds of the columns of a group,
//!
//! ```text
//! Ω(x) = min over 0 ≤ z ≤ 1, Σz ≤ m of Σ_g ½|x_g|²/z_g,   x_g ∈ z_g C_g
//! ```
//!
//! A prox step of lengths t from v minimises `Σ (x_j - v_j)²/2t_j + Ω(x)`. For given shares z a column takes
//! `x_j = z clamp(v_j/(z + t_j))`. The slope of a group's value in z is `-Σ h_j((v_j - x_j)/t_j)`, with h the atom of a
//! column, and rises with z. Two monotone equations therefore remain. z_g is where that sum equals the multiplier τ of
//! the budget (or an end of [0, 1]), and τ is where the shares add up to m. A group with the price c has the multiplier
//! `τ + c`, and τ is 0 where the budget is not used up.

use std::iter::repeat;
use std::ops::Range;

use crate::bound::box_atom;

/// Maximum number of doublings, from 1/√(the largest float), about 7e-155, to 1e150.
const MOST_DOUBLINGS: usize = 1024;

/// Input of the prox: v, t and the bounds of every free column, group after group.
pub(super) struct Target<'a> {
    pub v: &'a [f64],
    pub t: &'a [f64],
    pub bounds: &'a [(f64, f64)],
    pub groups: &'a [Range<usize>],
    /// Price of a whole share of each group; empty where there are no prices.
    pub costs: &'a [f64],
    pub budget: usize,
}

impl Target<'_> {
    /// Whether no column of a group has bounds, and all have the same step, so that only the length of v counts.
    fn is_plain(&self, group: &Range<usize>) -> bool {
        let first = self.t[group.start];
        let mut columns = group.clone();
        columns.all(|j| self.t[j] == first && self.bounds[j] == (f64::NEG_INFINITY, f64::INFINITY))
    }

    /// Returns the coefficient of a column of a group with the share z.
    pub(super) fn coefficient(&self, j: usize, z: f64) -> f64 {
        let (low, high) = self.bounds[j];
        if z <= 0.0 {
            return 0.0;
        }
        z * (self.v[j] / (z + self.t[j])).max(low).min(high)
    }

    /// Returns `Σ h_j((v_j - x_j)/t_j)` of a group with the share z; it falls as z rises.
    fn pull(&self, group: &Range<usize>, z: f64) -> f64 {
        let atom = |j: usize| {
            let slope = (self.v[j] - self.coefficient(j, z)) / self.t[j];
            box_atom(slope, 1.0, self.bounds[j])
        };
        group.clone().map(atom).sum()
    }

    /// Returns the share at which the pull of a group is τ, given that τ is between the pulls at z = 1 and z = 0.
    /// `length` is |v_g| of a plain group.
    fn share(&self, group: &Range<usize>, length: Option<f64>, tau: f64) -> f64 {
        if let Some(length) = length {
            let share = length / (2.0 * tau).sqrt() - self.t[group.start];
            return share.clamp(0.0, 1.0);
        }
        if group.len() == 1 {
            let j = group.start;
            let (v, t) = (self.v[j].abs(), self.t[j]);
            let (low, high) = self.bounds[j];
            let end = if self.v[j] < 0.0 { -low } else { high };
            let theta = (2.0 * tau).sqrt();
            let share = if theta <= end {
                v / theta - t
            } else {
                (v - t * (tau / end + 0.5 * end)) / end
            };
            return share.clamp(0.0, 1.0);
        }
        // 1/√pull is nearly linear in z.
        let goal = 1.0 / tau.sqrt();
        let excess = |z| 1.0 / self.pull(group, z).sqrt() - goal;
        root(0.0, 1.0, 1e-10 * goal, excess)
    }

    /// Computes the shares of all groups.
    pub(super) fn shares(&self, shares: &mut Vec<f64>) {
        let lengths: Vec<Option<f64>> = self
            .groups
            .iter()
            .map(|group| {
                let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
                self.is_plain(group).then(|| length(&self.v[group.clone()]))
            })
            .collect();
        let ends: Vec<(f64, f64)> = self
            .groups
            .iter()
            .zip(&lengths)
            .map(|(group, length)| match length {
                Some(length) => {
                    let t = self.t[group.start];
                    let (most, least) = (length / t, length / (1.0 + t));
                    (0.5 * most * most, 0.5 * least * least)
                }
                None => (self.pull(group, 0.0), self.pull(group, 1.0)),
            })
            .collect();
        shares.clear();
        let pulled = ends.iter().filter(|(most, _)| *most > 0.0).count();
        if pulled <= self.budget && self.costs.is_empty() {
            shares.extend(
                ends.iter()
                    .map(|(most, _)| f64::from(u8::from(*most > 0.0))),
            );
            return;
        }
        let costs = self.costs.iter().copied().chain(repeat(0.0));
        let fill = |tau: f64, shares: &mut Vec<f64>| -> f64 {
            shares.clear();
            let groups = self.groups.iter().zip(&lengths).zip(costs.clone());
            shares.extend(ends.iter().zip(groups).map(
                |((most, least), ((group, length), cost))| {
                    let tau = tau + cost;
                    if *most <= tau {
                        0.0
                    } else if *least >= tau {
                        1.0
                    } else {
                        self.share(group, *length, tau)
                    }
                },
            ));
            shares.iter().sum()
        };
        if !self.costs.is_empty() && fill(0.0, shares) <= self.budget as f64 {
            return;
        }
        // In ν = 1/√τ the sum is nearly piecewise linear, from 0 at the strongest pull up.
        let pulls = ends.iter().zip(costs.clone());
        let strongest = pulls
            .map(|((most, _), cost)| most - cost)
            .fold(0.0, f64::max);
        // A pull that overflows counts as the largest float, so that ν never starts at 0.
        let start = 1.0 / strongest.min(f64::MAX).sqrt();
        let (mut low, mut high) = (start, 2.0 * start);
        let budget = self.budget as f64;
        for _ in 0..MOST_DOUBLINGS {
            if high >= 1e150 || fill(1.0 / (high * high), shares) >= budget {
                break;
            }
            low = high;
            high *= 2.0;
        }
        let excess = |nu: f64| fill(1.0 / (nu * nu), shares) - budget;
        let nu = root(low, high, 1e-10, excess);
        let sum = fill(1.0 / (nu * nu), shares);
        if sum > budget {
            shares.iter_mut().for_each(|z| *z *= budget / sum);
        }
    }
}

/// Finds where a rising function vanishes, up to `tolerance` in its value: false position (Illinois),
/// with an occasional bisection.
fn root(mut low: f64, mut high: f64, tolerance: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let (mut f_low, mut f_high) = (f(low), f(high));
    if f_low >= 0.0 {
        return low;
    }
    if f_high <= 0.0 {
        return high;
    }
    for round in 0..60 {
        let middle = if round % 4 == 3 || !f_high.is_finite() {
            0.5 * (low + high)
        } else {
            (low - f_low * (high - low) / (f_high - f_low)).clamp(low, high)
        };
        let at = f(middle);
        if at.abs() <= tolerance || high - low <= 1e-14 * high {
            return middle;
        }
        if at < 0.0 {
            (low, f_low) = (middle, at);
            f_high *= 0.5;
        } else {
            (high, f_high) = (middle, at);
            f_low *= 0.5;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The search for shares ends even where pulls overflow, or are so small that their squares underflow.
    #[test]
    fn numbers_at_the_ends_of_the_range_come_to_an_end() {
        for size in [1e98, 1e160, 1e300, 1e-160, 1e-300] {
            let v = [1.0, 0.5, 2.0, 0.1, 1.5].map(|v| v * size);
            let free = (f64::NEG_INFINITY, f64::INFINITY);
            let target = Target {
                v: &v,
                t: &[1e-60; 5],
                bounds: &[free, free, free, (-1.0, 1.0), free],
                groups: &[0..2, 2..3, 3..4, 4..5],
                costs: &[],
                budget: 2,
            };
            let mut shares = Vec::new();
            target.shares(&mut shares);
            assert!(
                shares.iter().all(|z| (0.0..=1.0).contains(z)),
                "{size}: {shares:?}"
            );
        }
    }

    /// Returns half the squared distance in the metric of t, plus Ω for the given shares.
    fn value(target: &Target, x: &[f64], shares: &[f64]) -> f64 {
        let mut value = 0.0;
        for (group, z) in target.groups.iter().zip(shares) {
            for j in group.clone() {
                value += (x[j] - target.v[j]).powi(2) / (2.0 * target.t[j]);
                if x[j] != 0.0 {
                    value += x[j] * x[j] / (2.0 * z);
                }
            }
        }
        value
            + target
                .costs
                .iter()
                .zip(shares)
                .map(|(c, z)| c * z)
                .sum::<f64>()
    }

    proptest! {
        #[test]
        fn no_other_shares_are_better(
            v in proptest::collection::vec(-3.0..3.0f64, 8),
            t in proptest::collection::vec(0.01..3.0f64, 8),
            high in proptest::collection::vec(prop_oneof![Just(f64::INFINITY), Just(0.0), 0.0..2.0f64], 8),
            low in proptest::collection::vec(prop_oneof![Just(f64::INFINITY), Just(0.0), 0.0..2.0f64], 8),
            cuts in proptest::collection::vec(any::<bool>(), 7),
            costs in prop_oneof![Just(Vec::new()), proptest::collection::vec(prop_oneof![Just(0.0), 0.0..2.0f64], 8)],
            budget in 1usize..10,
            other in proptest::collection::vec(0.0..1.0f64, 8),
        ) {
            let mut groups = Vec::new();
            let mut start = 0;
            for end in 1..=8 {
                if end == 8 || cuts[end - 1] {
                    groups.push(start..end);
                    start = end;
                }
            }
            let bounds: Vec<(f64, f64)> = low.iter().zip(&high).map(|(l, h)| (-l, *h)).collect();
            let costs = &costs[..costs.len().min(groups.len())];
            let target = Target { v: &v, t: &t, bounds: &bounds, groups: &groups, costs, budget };
            let mut shares = Vec::new();
            target.shares(&mut shares);
            prop_assert!(shares.iter().sum::<f64>() <= budget as f64 * (1.0 + 1e-12));
            prop_assert!(shares.iter().all(|z| (0.0..=1.0).contains(z)));
            let model = |shares: &[f64]| -> Vec<f64> {
                let each = groups.iter().zip(shares);
                each.flat_map(|(group, z)| group.clone().map(|j| target.coefficient(j, *z))).collect()
            };
            let best = value(&target, &model(&shares), &shares);
            let mut others: Vec<f64> = other[..groups.len()].to_vec();
            let sum: f64 = others.iter().sum();
            others.iter_mut().for_each(|z| *z = (*z * budget as f64 / sum).min(1.0));
            for mix in [1.0, 0.1, 0.01] {
                let moved: Vec<f64> = shares.iter().zip(&others).map(|(z, o)| z + mix * (o - z)).collect();
                let at = value(&target, &model(&moved), &moved);
                prop_assert!(best <= at + 1e-8 * (1.0 + at.abs()), "{best} above {at}");
            }
        }
    }
}
