//! Price factors with a limit on the size, with duplicate columns, with groups, and where pairs and triples are
//! enumerated. The results equal the enumeration of all sets, whose objectives and prices are computed here.

use std::num::NonZeroUsize;

use crate::cases::cases;
use crate::common::Random;
use crate::copies::{Data, draw};
use l0star::problem::Builder;
use l0star::{Design, Problem, Settings, Status, penalty_path, prices, solve};
use proptest::prelude::*;

/// Data with prices and groups.
#[derive(Debug)]
struct Case {
    data: Data,
    k: usize,
    penalty: f64,
    /// Factors by column; those of a group are equal.
    factors: Vec<f64>,
    groups: Vec<Vec<usize>>,
}

impl Case {
    fn new(random: &mut Random, data: Data, k: usize, is_grouped: bool) -> Self {
        let d = data.columns.len();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        if is_grouped {
            groups = vec![Vec::new(); 1 + random.below(d)];
            for j in 0..d {
                let at = random.below(groups.len());
                groups[at].push(j);
            }
            groups.retain(|group| !group.is_empty());
        }
        let mut factors: Vec<f64> = (0..d)
            .map(|_| [0.0, 0.5, 1.0, 1.0, 2.0][random.below(5)])
            .collect();
        for group in &groups {
            for j in group {
                factors[*j] = factors[group[0]];
            }
        }
        let size: f64 = data.response.iter().map(|b| b * b).sum();
        Self {
            penalty: size / data.response.len() as f64 * 10f64.powf(-4.0 * random.uniform()),
            data,
            k,
            factors,
            groups,
        }
    }

    fn builder(&self) -> Builder {
        let data = &self.data;
        let (rows, d) = (data.response.len(), data.columns.len());
        let design = Design::dense(rows, d, data.columns.concat()).unwrap();
        let mut builder = Problem::builder(design, data.response.clone())
            .k(self.k)
            .ridge(data.ridge)
            .intercept(data.intercept)
            .standardize(data.standardize)
            .groups(self.groups.clone());
        for (j, factor) in self.factors.iter().enumerate() {
            let is_first = self.groups.iter().all(|group| !group[1..].contains(&j));
            if is_first {
                builder = builder.l0_factor(j, *factor);
            }
        }
        builder
    }

    /// The first columns of the features of a set; `None` if it contains only a part of a group.
    fn features(&self, set: &[usize]) -> Option<Vec<usize>> {
        let mut features = set.to_vec();
        for group in &self.groups {
            let own = group.iter().filter(|j| set.contains(j)).count();
            if own > 0 && own < group.len() {
                return None;
            }
            features.retain(|j| !group[1..].contains(j));
        }
        Some(features)
    }

    fn cost(&self, features: &[usize]) -> f64 {
        let factors: f64 = features.iter().map(|j| self.factors[*j]).sum();
        self.penalty * factors
    }

    /// Every choice of features with its objective, the best first.
    fn truth(&self) -> Vec<(f64, Vec<usize>)> {
        let sets = self.data.sets(match &self.groups[..] {
            [] => self.k,
            _ => self.data.columns.len(),
        });
        let mut all: Vec<(f64, Vec<usize>)> = sets
            .into_iter()
            .filter_map(|(value, set)| {
                let features = self.features(&set)?;
                (features.len() <= self.k).then(|| (value + self.cost(&features), set))
            })
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    fn check(&self, problem: &Problem, threads: usize, top: usize) -> Result<(), TestCaseError> {
        let truth = self.truth();
        let optimum = truth[0].0;
        // The rounding of the enumeration here, with a ridge that may be small.
        let room = 1e-9 * optimum + 1e-11 * problem.empty_objective();
        let settings = Settings {
            threads: NonZeroUsize::new(threads),
            top: NonZeroUsize::new(top),
            ..Settings::default()
        };
        let found = solve(problem, &settings).unwrap();
        prop_assert_eq!(found.status, Status::Optimal, "{:?}", self);
        prop_assert!(
            (found.objective - optimum).abs() <= room,
            "{self:?}: {} with {:?}, not {optimum} with {:?}",
            found.objective,
            found.support,
            truth[0].1
        );
        let bound = found.lower_bound.unwrap();
        prop_assert!(bound <= optimum + room, "{self:?}: {bound} above {optimum}");
        prop_assert!(
            self.features(&found.support)
                .is_some_and(|own| own.len() <= self.k),
            "{self:?}: {:?}",
            found.support
        );
        for (model, (value, _)) in found.solutions.iter().zip(&truth) {
            prop_assert!(
                (model.objective - value).abs() <= room,
                "{self:?}: {}, not the next best, {value}",
                model.objective
            );
        }
        prop_assert_eq!(found.solutions.len(), top.min(truth.len()), "{:?}", self);
        Ok(())
    }
}

proptest! {
    #![proptest_config(cases(300, 91))]

    #[test]
    fn copies_of_other_prices_are_other_features(
        seed in any::<u64>(), is_grouped in any::<bool>(), threads in 1usize..3, top in 1usize..6,
    ) {
        let (data, k) = draw(seed);
        let case = Case::new(&mut Random::new(seed ^ 91), data, k, is_grouped);
        let priced = case.builder().l0_penalty(case.penalty).build().unwrap();
        case.check(&priced, threads, top)?;
        // The price may also be set later: copies are detected while there is none.
        let later = case.builder().build().unwrap();
        case.check(&later.with_l0_penalty(case.penalty).unwrap(), threads, 1)?;
    }

    #[test]
    fn what_copies_of_other_prices_cost(seed in any::<u64>(), is_grouped in any::<bool>()) {
        let (data, k) = draw(seed);
        let case = Case::new(&mut Random::new(seed ^ 92), data, k, is_grouped);
        let problem = case.builder().l0_penalty(case.penalty).build().unwrap();
        let truth = case.truth();
        let room = 1e-9 * truth[0].0 + 1e-11 * problem.empty_objective();
        let solution = solve(&problem, &Settings::default()).unwrap();
        for price in prices(&problem, &Settings::default(), &solution, None).unwrap() {
            let mut others = truth.iter().filter(|(_, set)| set.contains(&price.feature) != price.chosen);
            let Some((best, _)) = others.next() else {
                prop_assert!(price.objective == f64::INFINITY, "{case:?}: {price:?}");
                continue;
            };
            prop_assert!((price.objective - best).abs() <= room, "{case:?}: {price:?}, not {best}");
        }
    }
}

proptest! {
    #![proptest_config(cases(60, 93))]

    /// Few features out of many: pairs and triples are enumerated.
    #[test]
    fn few_features_of_many_with_factors(
        seed in any::<u64>(), k in 1usize..4, d in 10usize..17, n in 8usize..40, threads in 1usize..3, top in 1usize..4,
    ) {
        let mut random = Random::new(seed);
        let mut columns: Vec<Vec<f64>> = (0..d)
            .map(|_| (0..n).map(|_| random.normal()).collect())
            .collect();
        columns[d - 1] = columns[0].iter().map(|v| -2.0 * v).collect();
        let response = (0..n)
            .map(|i| columns[0][i] - columns[1][i] + 0.5 * columns[2][i] + random.normal())
            .collect();
        let data = Data {
            ridge: 10f64.powf(-3.0 * random.uniform()),
            standardize: true,
            intercept: true,
            columns,
            response,
        };
        let case = Case::new(&mut random, data, k, false);
        case.check(&case.builder().l0_penalty(case.penalty).build().unwrap(), threads, top)?;
        // Without a price: enumeration of the plain problem, and the path over all prices with the limit.
        let plain = Case { penalty: 0.0, ..case };
        let problem = plain.builder().build().unwrap();
        plain.check(&problem, threads, top)?;
        let sets = plain.data.sets(k);
        for piece in penalty_path(&problem, &Settings::default()).unwrap() {
            prop_assert_eq!(piece.status, Status::Optimal);
            let to = if piece.to.is_finite() { piece.to } else { 2.0 * piece.from + 1.0 };
            for price in [piece.from, 0.5 * (piece.from + to), to] {
                let values = sets.iter().map(|(value, set)| {
                    value + price * set.iter().map(|j| plain.factors[*j]).sum::<f64>()
                });
                let least = values.fold(f64::INFINITY, f64::min);
                let own = piece.objective + price * piece.weight;
                let room = 1e-8 * least + 1e-10 * problem.empty_objective();
                prop_assert!((own - least).abs() <= room, "{own} at {price}, not {least}: {plain:?}");
            }
        }
    }
}
