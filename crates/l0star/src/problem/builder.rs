//! Unchecked inputs in, a valid [`Problem`] or a precise error out.

mod build;
mod from_moments;
mod range;
mod responses;
mod roles;
mod stacked;

use std::sync::Arc;

use super::Design;
use super::moments::Moments;
use crate::loss::{Loss, Quadratic};

/// Collects the parts of a problem; [`Builder::build`] checks them all.
///
/// | part | default |
/// |---|---|
/// | `k` | 1; with an `l0_penalty` all features |
/// | `loss` | quadratic |
/// | `ridge` | 1e-3 |
/// | `weights` | 1 for every row |
/// | `offset`, `offsets` | 0 |
/// | `intercept` | off |
/// | `standardize` | on |
/// | `include`, `include_free`, `exclude` | no column |
/// | `ridge_factor` | 1 for every column |
/// | `groups` | every column is a feature of its own |
/// | `bounds`, `nonnegative` | −∞ to ∞ for every coefficient |
/// | `requires` | no feature needs another |
/// | `l0_penalty` | 0 |
/// | `l0_factor` | 1 for every feature |
/// | `assume_max_coefficient` | none |
#[derive(Debug, Clone)]
pub struct Builder {
    design: Design,
    response: Vec<f64>,
    /// Further responses, which share the features of the first.
    others: Vec<Vec<f64>>,
    /// In the place of both.
    moments: Option<Moments>,
    names: Option<Vec<String>>,
    loss: Arc<dyn Loss>,
    ridge: f64,
    k: Option<usize>,
    weights: Option<Vec<f64>>,
    /// None, or one for each score of a row.
    offsets: Vec<Vec<f64>>,
    intercept: bool,
    standardize: bool,
    /// With their own ridge, or with the one that they would have anyway.
    always_in: Vec<(usize, Option<f64>)>,
    included: Vec<usize>,
    excluded: Vec<usize>,
    factors: Vec<(usize, f64)>,
    groups: Vec<Vec<usize>>,
    bounds: Vec<(usize, f64, f64)>,
    required: Vec<(usize, Vec<usize>)>,
    l0_penalty: f64,
    l0_factors: Vec<(usize, f64)>,
    assumed: Option<f64>,
}

impl Builder {
    pub(super) fn new(design: Design, response: Vec<f64>) -> Self {
        Self {
            design,
            response,
            others: Vec::new(),
            moments: None,
            names: None,
            loss: Arc::new(Quadratic),
            ridge: 1e-3,
            k: None,
            weights: None,
            offsets: Vec::new(),
            intercept: false,
            standardize: true,
            always_in: Vec::new(),
            included: Vec::new(),
            excluded: Vec::new(),
            factors: Vec::new(),
            groups: Vec::new(),
            bounds: Vec::new(),
            required: Vec::new(),
            l0_penalty: 0.0,
            l0_factors: Vec::new(),
            assumed: None,
        }
    }

    /// Further responses of the same rows (quadratic loss): a feature is in the model of all responses or of none, with a coefficient
    /// for each.
    ///
    /// Minimised is the sum over responses of loss and ridge. Where columns are standardised, so are responses: that of each is
    /// divided by its variance, and models do not depend on units.
    ///
    /// ```
    /// use l0star::{Design, Problem, Settings, solve};
    ///
    /// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
    /// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9])
    ///     .more_responses(vec![vec![-10.0, -21.0, -29.0, -41.0]])
    ///     .intercept(true)
    ///     .k(1)
    ///     .build()?;
    /// let found = solve(&problem, &Settings::default())?;
    /// // Two features, two responses: the second feature is in, for both.
    /// assert_eq!(found.support, [1]);
    /// assert_eq!(found.coefficients.len(), 4);
    /// assert!((found.coefficients[1] - 0.97).abs() < 0.01);
    /// assert!((found.coefficients[2 + 1] + 10.1).abs() < 0.1);
    /// assert_eq!(found.intercepts().count(), 2);
    /// # Ok::<(), l0star::Error>(())
    /// ```
    pub fn more_responses(mut self, responses: Vec<Vec<f64>>) -> Self {
        self.others.extend(responses);
        self
    }

    /// Names of the columns, for messages.
    pub fn names(mut self, names: Vec<String>) -> Self {
        self.names = Some(names);
        self
    }

    /// The loss.
    pub fn loss(mut self, loss: Arc<dyn Loss>) -> Self {
        self.loss = loss;
        self
    }

    /// λ of the selectable features, > 0.
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = ridge;
        self
    }

    /// At most this many selectable features; more than there are means all of them.
    pub fn k(mut self, k: usize) -> Self {
        self.k = Some(k);
        self
    }

    /// Sample weights ≥ 0; rows of weight zero are dropped.
    pub fn weights(mut self, weights: Vec<f64>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// An offset added to every prediction.
    pub fn offset(self, offset: Vec<f64>) -> Self {
        self.offsets(vec![offset])
    }

    /// An offset for each response, or for the score of each class, in their order.
    ///
    /// Of classes only differences between their offsets count. With standardised columns the unit of a response is the standard
    /// deviation of what its offset leaves of it: the model is that of the responses less their offsets.
    pub fn offsets(mut self, offsets: Vec<Vec<f64>>) -> Self {
        self.offsets = offsets;
        self
    }

    /// Whether to fit an unpenalised intercept.
    pub fn intercept(mut self, on: bool) -> Self {
        self.intercept = on;
        self
    }

    /// Whether the ridge acts on standardised columns (on by default): every column is divided by its (weighted) standard
    /// deviation for the fit, constants excepted. Columns are not centred for it, so that sparse ones stay sparse; the
    /// intercept takes care of means.
    ///
    /// The penalty is then `½ Σ λ_j (s_j x_j)²`, with `s_j` the standard deviations ([`Problem::scales`](crate::Problem::scales)): a ridge of 0.001
    /// shrinks coefficients by about a thousandth, whatever the units of the columns. Objectives and bounds are those of
    /// this problem. Everything else refers to the data as given: bounds on coefficients, coefficients and intercepts.
    /// Switched off, the penalty is the paper's, `½ Σ λ_j x_j²`.
    ///
    /// ```
    /// use l0star::{Design, Problem, Settings, solve};
    ///
    /// let kilometres = vec![1.0, 2.0, 3.0, 5.0];
    /// let metres = kilometres.iter().map(|v| 1000.0 * v).collect();
    /// let fit = |column: Vec<f64>| {
    ///     let builder = Problem::builder(Design::dense(4, 1, column)?, vec![1.1, 1.9, 3.2, 4.9]);
    ///     let problem = builder.ridge(0.1).intercept(true).build()?;
    ///     solve(&problem, &Settings::default())
    /// };
    /// let (a, b) = (fit(kilometres)?, fit(metres)?);
    /// // The unit does not matter.
    /// assert!((a.objective - b.objective).abs() < 1e-12);
    /// assert!((a.coefficients[0] - 1000.0 * b.coefficients[0]).abs() < 1e-12);
    /// # Ok::<(), l0star::Error>(())
    /// ```
    pub fn standardize(mut self, on: bool) -> Self {
        self.standardize = on;
        self
    }

    /// Keeps a column (with the group it is in) in every model; k counts it.
    pub fn include(mut self, column: usize) -> Self {
        self.included.push(column);
        self
    }

    /// Keeps a column in every model, outside the budget k, with the ridge that it would have anyway.
    pub fn include_free(mut self, column: usize) -> Self {
        self.always_in.push((column, None));
        self
    }

    /// Multiplies the ridge of a column by a factor > 0: large ones shrink its coefficient more.
    pub fn ridge_factor(mut self, column: usize, factor: f64) -> Self {
        self.factors.push((column, factor));
        self
    }

    /// Makes sets of columns, disjoint ones, features of their own: k counts a group as one.
    pub fn groups(mut self, groups: Vec<Vec<usize>>) -> Self {
        self.groups.extend(groups);
        self
    }

    /// Keeps the coefficient of a column between two numbers, `lower <= 0 <= upper`; infinities are no bounds.
    pub fn bounds(mut self, column: usize, lower: f64, upper: f64) -> Self {
        self.bounds.push((column, lower, upper));
        self
    }

    /// Keeps the coefficients of columns at 0 or above.
    pub fn nonnegative(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        let columns = columns.into_iter().map(|j| (j, 0.0, f64::INFINITY));
        self.bounds.extend(columns);
        self
    }

    /// Lets a feature be in a model only if all its parents are (strong heredity). Columns stand for the groups they are in.
    /// What requires an excluded column is excluded, what an included one requires is included.
    pub fn requires(mut self, child: usize, parents: &[usize]) -> Self {
        self.required.push((child, parents.to_vec()));
        self
    }

    /// Adds a price ≥ 0 to the objective for every feature of the model, in units of the objective; k may then be left out.
    ///
    /// Included features pay like any other, columns that are in for free pay nothing, and a group pays once.
    ///
    /// ```
    /// use l0star::{Design, Problem, Settings, solve};
    ///
    /// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
    /// let builder = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).ridge(1e-4);
    /// let problem = builder.l0_penalty(0.1).build()?;
    /// let solution = solve(&problem, &Settings::default())?;
    /// // The first column explains less than it costs.
    /// assert_eq!(solution.support, [1]);
    /// # Ok::<(), l0star::Error>(())
    /// ```
    pub fn l0_penalty(mut self, penalty: f64) -> Self {
        self.l0_penalty = penalty;
        self
    }

    /// Multiplies the price of the feature that a column belongs to by a factor ≥ 0: large ones are for what costs more to
    /// measure.
    pub fn l0_factor(mut self, column: usize, factor: f64) -> Self {
        self.l0_factors.push((column, factor));
        self
    }

    /// Assumes that no coefficient of a feature is larger than this in absolute value: what is found and proved is then about
    /// such models alone. Where columns are standardised it is about their coefficients, those per standard deviation, so that
    /// units do not matter; else about the columns as given.
    ///
    /// It is a bound like those of [`Builder::bounds`], for all features that k counts, and makes hard problems far easier. But
    /// it is a guess: [`Problem::assumed_max_coefficient`](crate::Problem::assumed_max_coefficient) says so to every face.
    pub fn assume_max_coefficient(mut self, most: f64) -> Self {
        self.assumed = Some(most);
        self
    }

    /// Keeps a column in every model, outside the budget k, with its own ridge ≥ 0.
    pub fn always_in(mut self, column: usize, ridge: f64) -> Self {
        self.always_in.push((column, Some(ridge)));
        self
    }

    /// Keeps a column out of every model.
    pub fn exclude(mut self, column: usize) -> Self {
        self.excluded.push(column);
        self
    }
}
