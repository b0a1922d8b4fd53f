//! [`Stability`]: a summary of the best models of the resamples.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::drawn::Drawn;
use super::resample::Resampling;
use crate::inference::LEVEL;

/// Upper limits on the features of the grid, and on the lists of models and pairs; nobody reads longer ones.
const MOST_TOGETHER: usize = 25;
const MOST_MODELS: usize = 50;
const MOST_PAIRS: usize = 30;
/// Smallest share of resamples for a feature in pairs; rarer features say little.
const OFTEN: f64 = 0.05;
/// Correlation at or below which one feature tends to replace the other.
const OPPOSED: f64 = -0.2;

/// Stability of the choice of features over resamples of the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// The status: `complete`, or what ended it before all resamples were done (`time_limit`, `interrupted`).
    pub status: String,
    /// How rows were drawn.
    pub resampling: Resampling,
    /// Seed of the draws.
    pub seed: u64,
    /// Number of resamples requested.
    pub asked: usize,
    /// Number of resamples done.
    pub resamples: usize,
    /// Number of resamples whose model is proved to be the best.
    pub proved: usize,
    /// Number of nodes of all searches.
    pub nodes: u64,
    /// Seconds of all searches.
    pub seconds: f64,
    /// The level of the intervals of coefficients.
    pub level: f64,
    /// Frequency of each feature, the most frequent first; features that were never chosen are omitted.
    pub features: Vec<Inclusion>,
    /// Coefficients of each column of these features.
    pub coefficients: Vec<Spread>,
    /// Pairs of features that replace each other: models with one tend to lack the other. The
    /// clearest pair comes first.
    pub pairs: Vec<Pair>,
    /// How often the most frequent features were chosen together.
    pub together: Together,
    /// The models that won, the most frequent first.
    pub models: Vec<Winner>,
    /// Number of distinct models that won.
    pub distinct: usize,
}

/// Frequency of a feature over the resamples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inclusion {
    /// The feature; for a group, its name.
    pub feature: String,
    /// Share of resamples that chose it.
    pub frequency: f64,
    /// Whether the best model of all rows has it.
    pub chosen: bool,
}

/// The coefficients of a column over all resamples, 0 where it was not chosen: their
/// spread includes the choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The column.
    pub feature: String,
    /// The response or class of the coefficient, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Share of resamples in which it is above 0.
    pub positive: f64,
    /// Share of resamples in which it is below 0.
    pub negative: f64,
    /// Median of the coefficients.
    pub median: f64,
    /// Lower end of the percentile interval.
    pub lower: f64,
    /// Upper end of the percentile interval.
    pub upper: f64,
}

/// Two features that replace each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The features.
    pub features: [String; 2],
    /// Share of resamples that chose both.
    pub both: f64,
    /// Share of resamples that chose exactly one of them.
    pub one: f64,
    /// Correlation of the two choices, which is negative.
    pub correlation: f64,
}

/// How often features were chosen together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// The features, the most frequent first.
    pub features: Vec<String>,
    /// Share of resamples that chose a feature (the row) and another (the column).
    pub shares: Vec<Vec<f64>>,
}

/// A model that won at least one resample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Winner {
    /// Its features, in the order of the columns.
    pub features: Vec<String>,
    /// Number of resamples that it won.
    pub count: usize,
    /// Share of resamples that it won.
    pub share: f64,
    /// Whether it is the best model of all rows.
    pub chosen: bool,
}

/// The input of a summary.
pub struct Resampled<'a> {
    /// The best models of the resamples.
    pub drawn: &'a [Drawn],
    /// The names of the columns.
    pub names: &'a [String],
    /// The names of several responses or classes; empty for a single output.
    pub outputs: &'a [String],
    /// Returns the name of the feature that a column belongs to.
    pub feature: &'a dyn Fn(usize) -> String,
    /// The columns of the best model of all rows.
    pub chosen: &'a [usize],
    /// How rows were drawn.
    pub resampling: Resampling,
    /// Seed of the draws.
    pub seed: u64,
    /// Number of resamples requested.
    pub asked: usize,
    /// The status: `complete`, or what ended the run early.
    pub status: &'static str,
    /// Seconds of all searches.
    pub seconds: f64,
}

impl Resampled<'_> {
    /// Returns the data column of a position among the coefficients.
    fn column(&self, place: usize) -> usize {
        place % self.names.len().max(1)
    }
}

impl Stability {
    /// Summarises the models of the resamples.
    pub fn of(all: &Resampled) -> Self {
        let drawn = all.drawn;
        let count = drawn.len();
        let share = |of: usize| of as f64 / count.max(1) as f64;
        let columns = drawn.iter().flat_map(|own| &own.coefficients);
        let columns = columns.map(|(j, _)| *j).chain(all.chosen.iter().copied());
        let columns: BTreeSet<usize> = columns.collect();
        let names: BTreeMap<usize, String> = columns
            .iter()
            .map(|j| (*j, (all.feature)(all.column(*j))))
            .collect();
        // Returns the features of some columns, each once.
        let features = |columns: &mut dyn Iterator<Item = usize>| {
            let mut found: Vec<&str> = Vec::new();
            for j in columns {
                let name = names[&j].as_str();
                if !found.contains(&name) {
                    found.push(name);
                }
            }
            found
        };
        let models: Vec<Vec<&str>> = drawn
            .iter()
            .map(|own| features(&mut own.coefficients.iter().map(|(j, _)| *j)))
            .collect();
        let chosen = features(&mut all.chosen.iter().copied());

        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in models.iter().flatten() {
            *counts.entry(*name).or_default() += 1;
        }
        // Equal counts keep the order of the columns.
        let order = features(&mut columns.into_iter()).into_iter();
        let mut ranked: Vec<(&str, usize)> = order
            .filter_map(|name| Some((name, *counts.get(name)?)))
            .collect();
        ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));

        Self {
            status: all.status.to_owned(),
            resampling: all.resampling,
            seed: all.seed,
            asked: all.asked,
            resamples: count,
            proved: drawn.iter().filter(|own| own.proved).count(),
            nodes: drawn.iter().map(|own| own.nodes).sum(),
            seconds: all.seconds,
            level: LEVEL,
            features: ranked
                .iter()
                .map(|(name, count)| Inclusion {
                    feature: (*name).to_owned(),
                    frequency: share(*count),
                    chosen: chosen.contains(name),
                })
                .collect(),
            coefficients: spreads(all, &names, &ranked),
            pairs: pairs(&models, &ranked),
            together: together(&models, &ranked),
            distinct: models.iter().collect::<BTreeSet<_>>().len(),
            models: winners(&models, &chosen),
        }
    }
}

/// Returns the spread of the coefficients of every column of the features, in the order of the features.
fn spreads(
    all: &Resampled,
    features: &BTreeMap<usize, String>,
    ranked: &[(&str, usize)],
) -> Vec<Spread> {
    let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (j, x) in all.drawn.iter().flat_map(|own| &own.coefficients) {
        values.entry(*j).or_default().push(*x);
    }
    let count = all.drawn.len();
    let spread = |(j, values): (&usize, &Vec<f64>)| {
        let mut sorted = values.clone();
        sorted.resize(count, 0.0);
        sorted.sort_by(f64::total_cmp);
        let share = |is: fn(&f64) -> bool| {
            sorted.iter().filter(|x| is(x)).count() as f64 / count.max(1) as f64
        };
        Spread {
            feature: all.names[all.column(*j)].clone(),
            output: all.outputs.get(j / all.names.len().max(1)).cloned(),
            positive: share(|x| *x > 0.0),
            negative: share(|x| *x < 0.0),
            median: quantile(&sorted, 0.5),
            lower: quantile(&sorted, 0.5 * (1.0 - LEVEL)),
            upper: quantile(&sorted, 0.5 * (1.0 + LEVEL)),
        }
    };
    let rank = |j: &usize| ranked.iter().position(|(own, _)| *own == features[j]);
    let mut columns: Vec<(&usize, &Vec<f64>)> = values.iter().collect();
    columns.sort_by_key(|(j, _)| (rank(j), all.column(**j), **j));
    columns.into_iter().map(spread).collect()
}

/// Returns a quantile of sorted numbers, interpolated linearly.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let at = share * last as f64;
    let low = (at.floor() as usize).min(last);
    let high = (low + 1).min(last);
    sorted[low] + (at - low as f64) * (sorted[high] - sorted[low])
}

/// Returns the number of models that have both features.
fn shared(models: &[Vec<&str>], a: &str, b: &str) -> usize {
    let has_both = |model: &&Vec<&str>| model.contains(&a) && model.contains(&b);
    models.iter().filter(has_both).count()
}

fn pairs(models: &[Vec<&str>], ranked: &[(&str, usize)]) -> Vec<Pair> {
    let count = models.len() as f64;
    let often = ranked
        .iter()
        .filter(|(_, times)| *times as f64 >= OFTEN * count);
    let often: Vec<(&str, f64)> = often
        .map(|(name, times)| (*name, *times as f64 / count))
        .collect();
    let mut found = Vec::new();
    for (i, (a, share_a)) in often.iter().enumerate() {
        for (b, share_b) in &often[i + 1..] {
            let both = shared(models, a, b) as f64 / count;
            let spread = (share_a * (1.0 - share_a) * share_b * (1.0 - share_b)).sqrt();
            let correlation = (both - share_a * share_b) / spread;
            // A feature that is in all models is in no pair, because its spread is 0.
            if correlation.is_finite() && correlation <= OPPOSED {
                found.push(Pair {
                    features: [(*a).to_owned(), (*b).to_owned()],
                    both,
                    one: share_a + share_b - 2.0 * both,
                    correlation,
                });
            }
        }
    }
    found.sort_by(|one, other| one.correlation.total_cmp(&other.correlation));
    found.truncate(MOST_PAIRS);
    found
}

fn together(models: &[Vec<&str>], ranked: &[(&str, usize)]) -> Together {
    let names: Vec<&str> = ranked
        .iter()
        .map(|(name, _)| *name)
        .take(MOST_TOGETHER)
        .collect();
    let count = models.len().max(1) as f64;
    let row = |a: &&str| {
        let share = |b: &&str| shared(models, a, b) as f64 / count;
        names.iter().map(share).collect()
    };
    Together {
        shares: names.iter().map(row).collect(),
        features: names.iter().map(|name| (*name).to_owned()).collect(),
    }
}

fn winners(models: &[Vec<&str>], chosen: &[&str]) -> Vec<Winner> {
    let mut counts: BTreeMap<&Vec<&str>, usize> = BTreeMap::new();
    for model in models {
        *counts.entry(model).or_default() += 1;
    }
    let mut ranked: Vec<(&Vec<&str>, usize)> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let winner = |(model, count): (&Vec<&str>, usize)| Winner {
        features: model.iter().map(|name| (*name).to_owned()).collect(),
        count,
        share: count as f64 / models.len() as f64,
        chosen: model[..] == *chosen,
    };
    ranked.into_iter().take(MOST_MODELS).map(winner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(at: usize, coefficients: &[(usize, f64)]) -> Drawn {
        Drawn {
            at,
            coefficients: coefficients.to_vec(),
            proved: at != 2,
            nodes: 3,
        }
    }

    #[test]
    fn frequencies_pairs_models_and_intervals() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let feature = |j: usize| names[j].clone();
        let all = [
            drawn(0, &[(0, 1.0), (1, 2.0)]),
            drawn(1, &[(0, 3.0), (2, -1.0)]),
            drawn(2, &[(0, 2.0), (1, 4.0)]),
            drawn(3, &[(0, 5.0), (2, -2.0)]),
        ];
        let found = Stability::of(&Resampled {
            drawn: &all,
            names: &names,
            outputs: &[],
            feature: &feature,
            chosen: &[0, 2],
            resampling: Resampling::Bootstrap,
            seed: 1,
            asked: 5,
            status: "time_limit",
            seconds: 0.5,
        });
        let shares: Vec<(&str, f64, bool)> = found
            .features
            .iter()
            .map(|own| (own.feature.as_str(), own.frequency, own.chosen))
            .collect();
        assert_eq!(
            shares,
            [("a", 1.0, true), ("b", 0.5, false), ("c", 0.5, true)]
        );
        assert_eq!((found.resamples, found.proved, found.nodes), (4, 3, 12));
        assert_eq!(found.pairs.len(), 1);
        let pair = &found.pairs[0];
        assert_eq!((pair.both, pair.one), (0.0, 1.0));
        assert!((pair.correlation + 1.0).abs() < 1e-12);
        assert_eq!(found.together.shares[0], [1.0, 0.5, 0.5]);
        assert_eq!((found.distinct, found.models[0].count), (2, 2));
        assert!(found.models.iter().any(|model| model.chosen));
        // 0, 0, 2, 4: the spread includes the choice.
        let b = &found.coefficients[1];
        assert_eq!((b.median, b.positive, b.negative), (1.0, 0.5, 0.0));
        assert!((b.upper - 3.85).abs() < 1e-12 && b.lower == 0.0, "{b:?}");
    }

    #[test]
    fn with_several_responses_a_feature_has_a_spread_for_each() {
        let names = ["a", "b"].map(str::to_owned);
        let outputs = ["y", "z"].map(str::to_owned);
        let feature = |j: usize| names[j].clone();
        let all = [
            drawn(0, &[(1, 1.0), (3, -4.0)]),
            drawn(1, &[(0, 9.0), (1, 3.0), (2, 5.0), (3, -6.0)]),
        ];
        let found = Stability::of(&Resampled {
            drawn: &all,
            names: &names,
            outputs: &outputs,
            feature: &feature,
            chosen: &[1],
            resampling: Resampling::Half,
            seed: 1,
            asked: 2,
            status: "complete",
            seconds: 0.5,
        });
        let shares: Vec<(&str, f64, bool)> = found
            .features
            .iter()
            .map(|own| (own.feature.as_str(), own.frequency, own.chosen))
            .collect();
        assert_eq!(shares, [("b", 1.0, true), ("a", 0.5, false)]);
        let spreads: Vec<(&str, &str, f64)> = found
            .coefficients
            .iter()
            .map(|own| (&own.feature[..], own.output.as_deref().unwrap(), own.median))
            .collect();
        assert_eq!(
            spreads,
            [
                ("b", "y", 2.0),
                ("b", "z", -5.0),
                ("a", "y", 4.5),
                ("a", "z", 2.5)
            ]
        );
        assert_eq!(found.distinct, 2);
    }

    #[test]
    fn nothing_done_is_nothing_said() {
        let names = ["a".to_owned()];
        let found = Stability::of(&Resampled {
            drawn: &[],
            names: &names,
            outputs: &[],
            feature: &|_| String::new(),
            chosen: &[],
            resampling: Resampling::Half,
            seed: 1,
            asked: 5,
            status: "interrupted",
            seconds: 0.0,
        });
        assert!(found.features.is_empty() && found.models.is_empty());
        assert_eq!(found.resamples, 0);
    }
}
