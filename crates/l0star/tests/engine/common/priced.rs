//! Random problems with a price for every feature.

use l0star::Problem;
use l0star::internals::Restricted;

use super::ruled::draft_by_rules;
use super::{Random, RuledCase, Rules};

/// Prices of features, as a user states them.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    pub penalty: f64,
    pub factors: Vec<(usize, f64)>,
}

impl Prices {
    /// Draws prices: most that matter for an objective of this size, some that decide everything, and tiny ones. The
    /// columns of a group have one price.
    pub fn draw(random: &mut Random, rules: &Rules, size: f64) -> Self {
        let power = match random.below(8) {
            0 => 2.0,
            1 => -12.0 * random.uniform(),
            _ => -4.0 * random.uniform(),
        };
        let mut prices = Self {
            penalty: size * 10f64.powf(power),
            factors: Vec::new(),
        };
        if random.chance(0.5) {
            for j in 0..rules.d {
                let is_first = rules.feature(j).iter().all(|i| *i >= j);
                if is_first && random.chance(0.6) {
                    let factor = [0.0, 0.5, 1.0, 2.0, 0.1 + 3.0 * random.uniform()];
                    prices.factors.push((j, factor[random.below(5)]));
                }
            }
        }
        prices
    }

    /// The cost of each feature in a set of columns.
    pub fn costs(&self, rules: &Rules, set: &[usize]) -> Vec<f64> {
        let mut costs = Vec::new();
        for j in set.iter().filter(|j| !rules.include_free.contains(j)) {
            let feature = rules.feature(*j);
            if feature.iter().any(|i| i < j && set.contains(i)) {
                continue;
            }
            let own = self.factors.iter().find(|(i, _)| feature.contains(i));
            costs.push(self.penalty * own.map_or(1.0, |(_, factor)| *factor));
        }
        costs
    }

    pub fn cost(&self, rules: &Rules, set: &[usize]) -> f64 {
        self.costs(rules, set).iter().sum()
    }
}

/// A case of rules with prices.
pub struct PricedCase {
    pub case: RuledCase,
    pub prices: Prices,
}

/// A random case. `structured`: with groups, bounds and heredity, too.
pub fn priced_case(seed: u64, loss: &str, structured: bool) -> PricedCase {
    let (mut builder, loose, rules, words) = draft_by_rules(seed, loss, structured);
    let mut random = Random::new(seed ^ 0x94D0_49BB_1331_11EB);
    let prices = Prices::draw(&mut random, &rules, loose.objective(&[]));
    builder = builder.l0_penalty(prices.penalty);
    for (j, factor) in &prices.factors {
        builder = builder.l0_factor(*j, *factor);
    }
    let words = format!("{words}, {prices:?}");
    PricedCase {
        case: RuledCase {
            built: builder.build(),
            loose,
            rules,
            words,
        },
        prices,
    }
}

/// Every set that the rules allow with its least objective, prices included, best first.
pub fn brute_force(drawn: &PricedCase) -> Vec<(f64, Vec<usize>)> {
    brute_force_at(&drawn.case, &drawn.prices)
}

/// Like [`brute_force`], with other prices.
pub fn brute_force_at(case: &RuledCase, prices: &Prices) -> Vec<(f64, Vec<usize>)> {
    let loose: &Problem = &case.loose;
    let mut restricted = Restricted::new(loose);
    let mut all: Vec<(f64, Vec<usize>)> = case
        .rules
        .allowed()
        .into_iter()
        .map(|set| {
            // Column 0 may be always in.
            let is_selectable = |j: &usize| loose.selectable().contains(j);
            let free: Vec<usize> = set.iter().copied().filter(is_selectable).collect();
            restricted.fit(&free);
            let cost = prices.cost(&case.rules, &set);
            (restricted.precise_objective() + cost, set)
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}
