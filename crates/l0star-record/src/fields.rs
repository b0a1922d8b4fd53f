//! The fields of a result as scripts read them, and the further fields of a [model file](crate::Model).

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::inference::Inference;
use crate::metrics::Quality;
use crate::stability::Stability;

/// Numbers by name, in order; an object in JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByName(pub Vec<(String, f64)>);

impl ByName {
    /// Returns the number of a name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| *value)
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Serialises pairs as an object, in their order.
macro_rules! object_of {
    ($map:ident) => {
        impl Serialize for $map {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
            }
        }

        impl<'de> Deserialize<'de> for $map {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$map, D::Error> {
                pairs(deserializer).map($map)
            }
        }
    };
}

object_of!(ByName);
object_of!(Coefficients);

/// Reads the entries of an object, in their order.
fn pairs<'de, V: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(String, V)>, D::Error> {
    struct Pairs<V>(PhantomData<V>);
    impl<'de, V: Deserialize<'de>> Visitor<'de> for Pairs<V> {
        type Value = Vec<(String, V)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of numbers")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
            }
            Ok(pairs)
        }
    }
    deserializer.deserialize_map(Pairs(PhantomData))
}

/// One number, or one for each response or class; in JSON a number or a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Numbers {
    /// A single number.
    One(f64),
    /// One number for each response or class, in their order.
    Several(Vec<f64>),
}

impl Default for Numbers {
    fn default() -> Self {
        Self::One(0.0)
    }
}

impl Numbers {
    /// Creates [`Numbers`] from one number or more.
    pub fn new(numbers: Vec<f64>) -> Self {
        match numbers[..] {
            [one] => Self::One(one),
            _ => Self::Several(numbers),
        }
    }

    /// Returns all numbers.
    pub fn all(&self) -> &[f64] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(all) => all,
        }
    }

    /// Returns the first number, which is the only one unless there are several responses or classes.
    pub fn first(&self) -> f64 {
        self.all().first().copied().unwrap_or(0.0)
    }
}

/// Coefficients by name, in order; an object in JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coefficients(pub Vec<(String, Numbers)>);

impl Coefficients {
    /// Returns the numbers of a name.
    pub fn of(&self, name: &str) -> Option<&Numbers> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value)
    }

    /// Returns the first number of a name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.of(name).map(Numbers::first)
    }

    /// Whether there are no coefficients.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Vec<(String, f64)>> for Coefficients {
    fn from(pairs: Vec<(String, f64)>) -> Self {
        let pairs = pairs.into_iter();
        Self(
            pairs
                .map(|(name, value)| (name, Numbers::One(value)))
                .collect(),
        )
    }
}

/// A result as scripts read it; its fields and their order are a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// Status of the result: `optimal`, `gap_reached`, `precision`, a limit, `interrupted`, `heuristic`.
    pub status: String,
    /// Value of the objective.
    pub objective: f64,
    /// Certified lower bound on the objective of every model; `None` for a heuristic.
    pub lower_bound: Option<f64>,
    /// The difference `objective - lower_bound`.
    pub gap: Option<f64>,
    /// The gap divided by the objective, as in mixed-integer solvers.
    pub relative_gap: Option<f64>,
    /// Upper limit on the number of features.
    pub k: usize,
    /// Name of the loss.
    pub loss: String,
    /// For Huber's loss: where it becomes linear.
    #[serde(default)]
    pub huber_delta: Option<f64>,
    /// Weight of the ridge.
    pub ridge: f64,
    /// Price of a feature, 0 without one; objective and bound include it.
    #[serde(default)]
    pub l0_penalty: f64,
    /// With a price: the objective without the cost of the features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective_without_penalty: Option<f64>,
    /// The assumption that the proof rests on, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumption: Option<Assumption>,
    /// For a fit to the moments of rows: what objective and bound are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moments: Option<OfMoments>,
    /// The predicted columns, if there are several; coefficients are listed in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<String>,
    /// The classes, for a loss with several; coefficients are listed in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// The intercept, 0 without one; a list for several responses or classes.
    pub intercept: Numbers,
    /// The chosen features, in the order of the columns.
    pub support: Vec<String>,
    /// Their coefficients, on the scale of the data; a list for each with several responses or classes.
    pub coefficients: Coefficients,
    /// Coefficient times the weighted standard deviation of its column on the fitted rows: the change of the
    /// prediction per standard deviation. Empty in files of older versions.
    #[serde(default)]
    pub per_sd: Coefficients,
    /// Factor of the odds of the positive label per unit of each column, for a loss with log-odds.
    #[serde(default, skip_serializing_if = "ByName::is_empty")]
    pub odds_ratios: ByName,
    /// Factor of the expected response per unit of each column, for a loss with a log link.
    #[serde(default, skip_serializing_if = "ByName::is_empty")]
    pub rate_ratios: ByName,
    /// Factor of the hazard per unit of each column, for a loss with hazards.
    #[serde(default, skip_serializing_if = "ByName::is_empty")]
    pub hazard_ratios: ByName,
    /// Whether the coefficients are those of a refit without the ridge. Objective and bound belong
    /// to the fit with the ridge.
    #[serde(default, skip_serializing_if = "is_false")]
    pub refit: bool,
    /// Standard errors and intervals of the coefficients, for the given features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inference: Option<Inference>,
    /// For chosen features: others that could replace them with the same objective.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub twins: BTreeMap<String, Vec<String>>,
    /// Quality of the model; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Quality>,
    /// Stability of the choice of features, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<Stability>,
    /// Number of relaxations and restricted problems solved.
    pub solver_calls: u64,
    /// Number of search tree nodes examined.
    pub nodes: u64,
    /// Largest number of nodes that were open at the same time.
    pub peak_open_nodes: u64,
    /// Running time in seconds.
    pub seconds: f64,
    /// Where the model comes from: `given`, `greedy`, `local-search` or `search`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// Seconds from the start of the search until the model was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_after: Option<f64>,
    /// Search method.
    pub method: String,
    /// Warnings about the data or the options.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The label that counts as positive, for a loss on labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive_label: Option<String>,
    /// Constraints on the features beyond "at most k".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Constraints>,
    /// Cost of deciding otherwise about each feature, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Vec<Priced>>,
    /// The list of models, if one was requested.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub list: Option<List>,
}

/// An assumption that is not proved: bounds, gaps and `optimal` apply to models that satisfy it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assumption {
    /// Upper limit on the absolute value of every coefficient, for the standardised
    /// columns or the columns as given.
    pub max_coefficient: f64,
    /// Whether coefficients are per standard deviation of their columns.
    pub standardized: bool,
}

/// The models of a list, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct List {
    /// The models.
    pub solutions: Vec<Listed>,
    /// A lower bound on every model that is not listed; `None` if there is no other.
    pub rest_bound: Option<f64>,
    /// Whether more models qualified than the list had room for.
    pub truncated: bool,
}

/// One model of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Value of the objective.
    pub objective: f64,
    /// The intercept, 0 without one.
    pub intercept: Numbers,
    /// Its features, in the order of the columns.
    pub support: Vec<String>,
    /// Their coefficients.
    pub coefficients: Coefficients,
}

/// Constraints on the features beyond "at most k". Names are those of features, groups or text columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Constraints {
    /// Features that are in every model and count towards k.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Features that are in every model and do not count towards k.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include_free: Vec<String>,
    /// Whether all coefficients must be nonnegative.
    #[serde(skip_serializing_if = "is_false")]
    pub all_nonnegative: bool,
    /// Features whose coefficients must be nonnegative.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nonnegative: Vec<String>,
    /// Bounds of coefficients, on the scale of the data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bounded>,
    /// Columns that are chosen together and count as one feature.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// Factors of the ridge.
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub ridge_factors: ByName,
    /// Factors of the price of a feature.
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub l0_factors: ByName,
    /// Whether a product or square requires its factors.
    #[serde(skip_serializing_if = "is_false")]
    pub heredity: bool,
    /// Features that require other features in the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Requirement>,
}

/// A feature with the features that it requires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// The feature.
    pub feature: String,
    /// The features in every model that has this one.
    pub needs: Vec<String>,
}

impl Fitted {
    /// Returns the names of several responses or classes; empty for a single output.
    pub fn outputs(&self) -> &[String] {
        match &self.responses[..] {
            [] => &self.classes,
            responses => responses,
        }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Constraints {
    /// Counts the features that some columns form; the columns of a group count once.
    pub fn count(&self, columns: &[String]) -> usize {
        let group = |name: &String| self.groups.iter().position(|g| g.columns.contains(name));
        let mut seen = vec![false; self.groups.len()];
        let is_new =
            |name: &&String| group(name).is_none_or(|at| !std::mem::replace(&mut seen[at], true));
        columns.iter().filter(is_new).count()
    }
}

/// The bounds of a coefficient; `None` means unbounded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounded {
    /// The feature.
    pub feature: String,
    /// Lower bound.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
}

/// The moments that a model was fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfMoments {
    /// Number of rows of positive weight that the moments summarise.
    pub rows: u64,
    /// Amount subtracted from the bound, so that it holds for these rows: rounding, and the
    /// stated error of the moments.
    pub bound_lowered_by: f64,
}

/// Columns that form one feature together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
}

/// The cost of deciding otherwise about one feature. Costs and bounds are `None` if no
/// model allows that decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Priced {
    /// The feature; for a group, its name.
    pub feature: String,
    /// Whether the model has the feature. If so, this is the cost of excluding it;
    /// otherwise, that of including it.
    pub chosen: bool,
    /// Increase of the objective.
    pub cost: Option<f64>,
    /// Lower bound on the increase.
    pub cost_lower: Option<f64>,
    /// Upper bound on the increase.
    pub cost_upper: Option<f64>,
    /// Smallest objective found with the other decision.
    pub objective: Option<f64>,
    /// Lower bound on every model with the other decision.
    pub lower_bound: Option<f64>,
    /// Status of the search with the other decision.
    pub status: String,
    /// The columns of the best model with the other decision.
    pub support: Vec<String>,
}

/// The settings of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Allowed absolute gap.
    pub gap: f64,
    /// Allowed gap as a share of the objective.
    pub relative_gap: f64,
    /// Number of models requested.
    pub top: Option<usize>,
    /// Requested range of models, as a share above the best.
    pub within: Option<f64>,
    /// Time limit of the whole run, in seconds.
    pub time_limit: Option<f64>,
    /// Time limit of each search, in seconds.
    pub search_time_limit: Option<f64>,
    /// Limit on nodes.
    pub node_limit: Option<u64>,
    /// Limit on memory, in bytes.
    pub memory_limit: Option<u64>,
    /// Number of threads.
    pub threads: usize,
}

/// The data of a fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataStamp {
    /// The file, as the user named it.
    pub file: String,
    /// Number of rows used.
    pub rows: usize,
    /// Number of columns that could be chosen.
    pub columns: usize,
    /// Number of rows dropped because a value was missing.
    pub rows_dropped: usize,
    /// [`Fingerprint`](l0star_data::Fingerprint) of the numbers used.
    pub hash: String,
}

/// A product of two columns of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// Name of the feature.
    pub name: String,
    /// The two columns; the same one twice for a square.
    pub factors: [String; 2],
}
