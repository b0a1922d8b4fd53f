//! The request of a face for constraints on features, and its possible errors.

use l0star_data::DataError;

use crate::names::Feature;

/// Features whose coefficients may not be negative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nonnegative {
    /// All features.
    All,
    /// Some features, or none.
    These(Vec<Feature>),
}

impl Default for Nonnegative {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

/// The bounds of a coefficient, on the scale of the data; `None` means unbounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// The feature.
    pub feature: Feature,
    /// Lower bound.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
}

/// Columns that are chosen together and count as one feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    /// Name of the group, which other constraints may use; an unnamed group takes the name of its first column.
    pub name: Option<String>,
    /// Its columns.
    pub columns: Vec<Feature>,
}

/// The factor of a feature's ridge.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeFactor {
    /// The feature.
    pub feature: Feature,
    /// Its factor.
    pub factor: f64,
}

/// The factor of a feature's price.
#[derive(Debug, Clone, PartialEq)]
pub struct L0Factor {
    /// The feature.
    pub feature: Feature,
    /// Its factor.
    pub factor: f64,
}

/// A feature that requires others in the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requires {
    /// The feature.
    pub feature: Feature,
    /// The features in every model that has this one.
    pub needs: Vec<Feature>,
}

/// Constraints on the features that a face requests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Features in every model, counted in k.
    pub include: Vec<Feature>,
    /// Features in every model, not counted in k.
    pub include_free: Vec<Feature>,
    /// Features in no model.
    pub exclude: Vec<Feature>,
    /// Features whose coefficients may not be negative.
    pub nonnegative: Nonnegative,
    /// Bounds of coefficients.
    pub bounds: Vec<Bounds>,
    /// Columns that count as one feature.
    pub groups: Vec<Together>,
    /// Factors of the ridge.
    pub ridge_factors: Vec<RidgeFactor>,
    /// Price that the objective pays for every feature of a model, ≥ 0.
    pub l0_penalty: f64,
    /// Factors of that price.
    pub l0_factors: Vec<L0Factor>,
    /// Upper limit on the absolute value of coefficients, which is assumed and not proved.
    pub assume_max_coefficient: Option<f64>,
    /// Whether a product or square requires its factors.
    pub heredity: bool,
    /// Features that require other features in the model.
    pub requires: Vec<Requires>,
}

/// The reason why a request is invalid.
#[derive(Debug)]
pub enum RuleError {
    /// A word that is not a feature.
    Unknown(DataError),
    /// A group has the name of a feature, a text column or another group.
    TakenName(String),
    /// Heredity is requested, but there are no products.
    NoProducts,
}

impl From<DataError> for RuleError {
    fn from(error: DataError) -> Self {
        Self::Unknown(error)
    }
}

/// A contradiction in a request. The engine accepts the first two, so each face
/// decides whether they are errors.
#[derive(Debug, PartialEq, Eq)]
pub enum Clash<'a> {
    /// A feature is included both as counted and as not counted.
    CountedAndFree(&'a str),
    /// A feature has two ridge factors.
    TwoFactors(&'a str),
    /// A feature has two price factors.
    TwoL0Factors(&'a str),
    /// A column is in two groups, or twice in one.
    TwoGroups {
        /// The column.
        column: &'a str,
        /// The first group.
        first: &'a str,
        /// The second group.
        second: &'a str,
    },
}
