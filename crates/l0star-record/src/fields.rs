//! The fields of a result as scripts read them, and of what a [model file](crate::Model) holds beside.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::inference::Inference;
use crate::metrics::Quality;
use crate::stability::Stability;

/// Numbers by name, in order; in JSON an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByName(pub Vec<(String, f64)>);

impl ByName {
    /// The number of a name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| *value)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Pairs as an object, in their order.
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

/// The entries of an object, in their order.
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
    /// One.
    One(f64),
    /// One for each response or class, in their order.
    Several(Vec<f64>),
}

impl Default for Numbers {
    fn default() -> Self {
        Self::One(0.0)
    }
}

impl Numbers {
    /// From one number or more.
    pub fn new(numbers: Vec<f64>) -> Self {
        match numbers[..] {
            [one] => Self::One(one),
            _ => Self::Several(numbers),
        }
    }

    /// All of them.
    pub fn all(&self) -> &[f64] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(all) => all,
        }
    }

    /// The first: the only one, unless there are several responses or classes.
    pub fn first(&self) -> f64 {
        self.all().first().copied().unwrap_or(0.0)
    }
}

/// Coefficients by name, in order; in JSON an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coefficients(pub Vec<(String, Numbers)>);

impl Coefficients {
    /// The numbers of a name.
    pub fn of(&self, name: &str) -> Option<&Numbers> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value)
    }

    /// The first number of a name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.of(name).map(Numbers::first)
    }

    /// Whether there is none.
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

/// A result as scripts read it; the fields and their order are a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// What is known of the result: `optimal`, `gap_reached`, `precision`, a limit, `interrupted`, `heuristic`.
    pub status: String,
    /// The value of the objective.
    pub objective: f64,
    /// What no model can be below; nothing for a heuristic.
    pub lower_bound: Option<f64>,
    /// `objective - lower_bound`.
    pub gap: Option<f64>,
    /// The gap divided by the objective, as solvers of mixed-integer programs define it.
    pub relative_gap: Option<f64>,
    /// At most this many features.
    pub k: usize,
    /// The loss.
    pub loss: String,
    /// Where Huber's loss becomes linear, of that loss.
    #[serde(default)]
    pub huber_delta: Option<f64>,
    /// The weight of the ridge.
    pub ridge: f64,
    /// The price of a feature, 0 when there is none; the objective and its bound have it.
    #[serde(default)]
    pub l0_penalty: f64,
    /// With a price: the objective without what the features cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective_without_penalty: Option<f64>,
    /// What the proof rests on beside the data, where something was assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumption: Option<Assumption>,
    /// Where the fit is to the moments of rows: what objective and bound are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moments: Option<OfMoments>,
    /// The columns that are predicted, where there are several: in this order coefficients are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<String>,
    /// The classes, of a loss with several: in this order coefficients are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// The intercept, 0 when there is none; of several responses or classes a list.
    pub intercept: Numbers,
    /// The features that were chosen, in the order of the columns.
    pub support: Vec<String>,
    /// Their coefficients, on the scale of the data; of several responses or classes a list each.
    pub coefficients: Coefficients,
    /// Coefficient times standard deviation of the column on the rows that were fitted, by weight: how much the prediction
    /// changes with one deviation. Empty in files of versions that did not write it.
    #[serde(default)]
    pub per_sd: Coefficients,
    /// What a unit of each column multiplies the odds of the positive label by, of a loss with log-odds.
    #[serde(default, skip_serializing_if = "ByName::is_empty")]
    pub odds_ratios: ByName,
    /// What a unit of each column multiplies the expected response by, of a loss with a log link.
    #[serde(default, skip_serializing_if = "ByName::is_empty")]
    pub rate_ratios: ByName,
    /// What a unit of each column multiplies the hazard by, of a loss with hazards.
    #[serde(default, skip_serializing_if = "ByName::is_empty")]
    pub hazard_ratios: ByName,
    /// Whether the coefficients are those of a second fit without the ridge. Objective and bound are about the first.
    #[serde(default, skip_serializing_if = "is_false")]
    pub refit: bool,
    /// What the coefficients are worth, the features taken as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inference: Option<Inference>,
    /// Of chosen features: others that could stand for them, with the same objective.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub twins: BTreeMap<String, Vec<String>>,
    /// How good the model is; nothing in files of versions that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Quality>,
    /// How stable the choice of features is, when that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<Stability>,
    /// Relaxations and restricted problems solved.
    pub solver_calls: u64,
    /// Nodes of the search tree looked at.
    pub nodes: u64,
    /// The most nodes that were open at one time.
    pub peak_open_nodes: u64,
    /// How long it took.
    pub seconds: f64,
    /// What found the model: `given`, `greedy`, `local-search` or `search`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// Seconds from the start of the search until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_after: Option<f64>,
    /// How the model was searched for.
    pub method: String,
    /// What the user should know of the data or the options.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The label that counts as positive, for a loss on labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive_label: Option<String>,
    /// What was asked of the features beyond "at most k".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Constraints>,
    /// What each choice costs, when that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Vec<Priced>>,
    /// The list of models, when one was asked for.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub list: Option<List>,
}

/// What was assumed and not proved: bounds, gaps and `optimal` are about models that satisfy it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assumption {
    /// No coefficient is larger in absolute value: of the standardised columns, or of the columns as given.
    pub max_coefficient: f64,
    /// Whether coefficients are those per standard deviation of their columns.
    pub standardized: bool,
}

/// The models of a list, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct List {
    /// The models.
    pub solutions: Vec<Listed>,
    /// A lower bound of every model that is not listed; nothing when there is no other.
    pub rest_bound: Option<f64>,
    /// Whether there was no room for all that was asked for.
    pub truncated: bool,
}

/// One model of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// The value of the objective.
    pub objective: f64,
    /// The intercept, 0 when there is none.
    pub intercept: Numbers,
    /// Its features, in the order of the columns.
    pub support: Vec<String>,
    /// Their coefficients.
    pub coefficients: Coefficients,
}

/// What was asked of the features beyond "at most k". Names are those of features, of groups or of columns of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Constraints {
    /// In every model and counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// In every model and not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include_free: Vec<String>,
    /// Whether no coefficient may be negative.
    #[serde(skip_serializing_if = "is_false")]
    pub all_nonnegative: bool,
    /// Whose coefficients may not be negative.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nonnegative: Vec<String>,
    /// Between which numbers coefficients must lie, on the scale of the data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bounded>,
    /// Columns that are in or out together and count as one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// What the ridge is multiplied by.
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub ridge_factors: ByName,
    /// What the price of a feature is multiplied by.
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub l0_factors: ByName,
    /// Whether a product or square needs its factors.
    #[serde(skip_serializing_if = "is_false")]
    pub heredity: bool,
    /// Other features that need some to be in with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Requirement>,
}

/// What a feature cannot be without.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// The feature.
    pub feature: String,
    /// All of these are in every model that has it.
    pub needs: Vec<String>,
}

impl Fitted {
    /// What coefficients are listed for, where that is more than one thing: the responses, or the classes.
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
    /// How many features some columns are: those of a group are one together.
    pub fn count(&self, columns: &[String]) -> usize {
        let group = |name: &String| self.groups.iter().position(|g| g.columns.contains(name));
        let mut seen = vec![false; self.groups.len()];
        let is_new =
            |name: &&String| group(name).is_none_or(|at| !std::mem::replace(&mut seen[at], true));
        columns.iter().filter(is_new).count()
    }
}

/// The bounds of a coefficient; nothing is no bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounded {
    /// The feature.
    pub feature: String,
    /// At least this.
    pub lower: Option<f64>,
    /// At most this.
    pub upper: Option<f64>,
}

/// The moments that a fit is to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfMoments {
    /// The rows of positive weight that they are of.
    pub rows: u64,
    /// What the bound is lowered by, so that it holds for these rows: rounding, and the stated error of the moments.
    pub bound_lowered_by: f64,
}

/// Columns that are one feature together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
}

/// What it costs to decide otherwise about one feature. Costs and bounds are nothing where no model can have the feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Priced {
    /// The feature; a group by its name.
    pub feature: String,
    /// Whether the model has it: then this is the cost of doing without it, else that of having it.
    pub chosen: bool,
    /// How much the objective rises.
    pub cost: Option<f64>,
    /// The rise is at least this.
    pub cost_lower: Option<f64>,
    /// The rise is at most this.
    pub cost_upper: Option<f64>,
    /// The least objective found with the other decision.
    pub objective: Option<f64>,
    /// What no model with the other decision can be below.
    pub lower_bound: Option<f64>,
    /// What is known of it.
    pub status: String,
    /// The columns of the best model with the other decision.
    pub support: Vec<String>,
}

/// How the result was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Absolute error allowed.
    pub gap: f64,
    /// Error allowed as a share of the objective.
    pub relative_gap: f64,
    /// How many models were wanted.
    pub top: Option<usize>,
    /// Models up to this share above the best were wanted.
    pub within: Option<f64>,
    /// The limit of time of the whole run, in seconds.
    pub time_limit: Option<f64>,
    /// The limit of time of each search, in seconds.
    pub search_time_limit: Option<f64>,
    /// The limit of nodes.
    pub node_limit: Option<u64>,
    /// The limit of memory, in bytes.
    pub memory_limit: Option<u64>,
    /// How many threads searched.
    pub threads: usize,
}

/// What the data were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataStamp {
    /// The file, as it was named.
    pub file: String,
    /// Rows that were used.
    pub rows: usize,
    /// Columns that could be chosen.
    pub columns: usize,
    /// Rows that were dropped since a value was missing.
    pub rows_dropped: usize,
    /// [`Fingerprint`](l0star_data::Fingerprint) of the numbers that were used.
    pub hash: String,
}

/// A product of two columns of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// The name of the feature.
    pub name: String,
    /// The columns; the same one twice for a square.
    pub factors: [String; 2],
}
