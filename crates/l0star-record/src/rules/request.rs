//! What is asked about features, in names, and what can be wrong with it.

use l0star_data::DataError;

use crate::names::Feature;

/// Whose coefficients may not be negative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nonnegative {
    /// Those of all features.
    All,
    /// Those of some features, or of none.
    These(Vec<Feature>),
}

impl Default for Nonnegative {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

/// Between which numbers a coefficient must lie, on the scale of the data; nothing is no bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Whose.
    pub feature: Feature,
    /// At least this.
    pub lower: Option<f64>,
    /// At most this.
    pub upper: Option<f64>,
}

/// Columns that are in or out together and count as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    /// A name of its own, which other constraints may use; without one a group goes by its first column.
    pub name: Option<String>,
    /// Its columns.
    pub columns: Vec<Feature>,
}

/// What the ridge of a feature is multiplied by.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeFactor {
    /// Whose.
    pub feature: Feature,
    /// By this.
    pub factor: f64,
}

/// What the price of a feature is multiplied by.
#[derive(Debug, Clone, PartialEq)]
pub struct L0Factor {
    /// Whose.
    pub feature: Feature,
    /// By this.
    pub factor: f64,
}

/// A feature that is in a model only together with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requires {
    /// The feature.
    pub feature: Feature,
    /// All of these are in every model that has it.
    pub needs: Vec<Feature>,
}

/// What a face asks of the features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// In every model, counted in k.
    pub include: Vec<Feature>,
    /// In every model, not counted in k.
    pub include_free: Vec<Feature>,
    /// In no model.
    pub exclude: Vec<Feature>,
    /// No negative coefficients.
    pub nonnegative: Nonnegative,
    /// Bounds of coefficients.
    pub bounds: Vec<Bounds>,
    /// Columns that count as one.
    pub groups: Vec<Together>,
    /// Factors of the ridge.
    pub ridge_factors: Vec<RidgeFactor>,
    /// What the objective pays for every feature of a model, ≥ 0.
    pub l0_penalty: f64,
    /// Factors of that price.
    pub l0_factors: Vec<L0Factor>,
    /// No coefficient is larger than this: assumed, not proved.
    pub assume_max_coefficient: Option<f64>,
    /// Whether a product or square needs its factors.
    pub heredity: bool,
    /// Other features that need some to be in with them.
    pub requires: Vec<Requires>,
}

/// Why a request means nothing.
#[derive(Debug)]
pub enum RuleError {
    /// A word is no feature.
    Unknown(DataError),
    /// A group has the name of a feature, a column of text or another group.
    TakenName(String),
    /// Heredity is asked for, and there are no products.
    NoProducts,
}

impl From<DataError> for RuleError {
    fn from(error: DataError) -> Self {
        Self::Unknown(error)
    }
}

/// Something that is said twice, and differently. The engine takes the first two, so a face decides whether they are faults.
#[derive(Debug, PartialEq, Eq)]
pub enum Clash<'a> {
    /// A feature is included, counted and not counted.
    CountedAndFree(&'a str),
    /// A feature has two factors of the ridge.
    TwoFactors(&'a str),
    /// A feature has two factors of its price.
    TwoL0Factors(&'a str),
    /// A column is in two groups, or twice in one.
    TwoGroups {
        /// The column.
        column: &'a str,
        /// One group.
        first: &'a str,
        /// The other.
        second: &'a str,
    },
}
