//! Unchecked inputs in, a valid [`Problem`] or a precise error out.

mod from_moments;
mod range;
mod responses;
mod roles;
mod stacked;

use std::sync::Arc;

use super::moments::Moments;
use super::shapes::check_length;
use super::twins::{Columns, Twins};
use super::{Design, Problem, Standard, Unpenalised};
use crate::error::{Error, Result};
use crate::loss::{Loss, Quadratic, ResponseKind, Rows};
use roles::Roles;
use stacked::Parts;

/// Collects the parts of a problem; [`Builder::build`] checks them all.
///
/// | part | default |
/// |---|---|
/// | `k` | 1; with an `l0_penalty` all features |
/// | `loss` | quadratic |
/// | `ridge` | 1e-3 |
/// | `weights` | 1 for every row |
/// | `offset` | 0 |
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
    offset: Option<Vec<f64>>,
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
            offset: None,
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
    pub fn offset(mut self, offset: Vec<f64>) -> Self {
        self.offset = Some(offset);
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
    /// The penalty is then `½ Σ λ_j (s_j x_j)²`, with `s_j` the standard deviations ([`Problem::scales`]): a ridge of 0.001
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
    /// it is a guess: [`Problem::assumed_max_coefficient`] tells whoever shows the result.
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

    /// Checks everything.
    pub fn build(mut self) -> Result<Problem> {
        let summary = self.take_moments()?;
        let (rows, columns) = (self.design.rows(), self.design.columns());
        if columns == 0 {
            return Err(Error::Empty { what: "columns" });
        }
        let mut names = match &self.names {
            Some(names) => {
                check_length("the list of column names", names.len(), columns)?;
                names.clone()
            }
            None => (1..=columns).map(|j| format!("x{j}")).collect(),
        };
        range::check_rows("response", &self.response, rows)?;
        for response in &self.others {
            range::check_rows("response", response, rows)?;
        }
        self.check_outputs()?;
        range::check_entries(&self.design, &names)?;
        if let Some(offset) = &self.offset {
            range::check_rows("offset", offset, rows)?;
        }
        let p = self.shares(rows)?;
        let (mut ridge, mut roles) = self.roles(&names)?;

        let keep: Vec<bool> = p.iter().map(|p| *p > 0.0).collect();
        let kept = |v: &[f64]| -> Vec<f64> {
            v.iter()
                .zip(&keep)
                .filter_map(|(v, keep)| keep.then_some(*v))
                .collect()
        };
        let mut b = kept(&self.response);
        responses::check(&*self.loss, &self.response, &keep, self.intercept)?;
        let offset = self.offset.as_deref().map(kept).unwrap_or_default();
        let p = kept(&p);
        if self.intercept && self.loss.is_relative() {
            return Err(Error::Intercept {
                loss: self.loss.name(),
            });
        }
        let joint = self.loss.bind(&Rows {
            all: &self.response,
            keep: &keep,
            kept: &b,
            p: &p,
        })?;
        let is_whole = keep.iter().all(|keep| *keep);
        let mut design = if is_whole {
            self.design.clone()
        } else {
            self.design.keep_rows(&keep)
        };

        if self.intercept {
            design = design.with_column(&vec![1.0; b.len()]);
            ridge.push(0.0);
            names.push("(intercept)".to_owned());
            roles.free.push(columns);
            roles.structure.add_column();
            roles.l0_factors.push(0.0);
        }
        let (bounds, standardize) = (&mut roles.structure.bounds, self.standardize);
        let standard = Standard::new(
            &design,
            &p,
            self.intercept,
            self.loss.is_relative(),
            standardize,
            bounds,
            summary.as_ref(),
        )?;
        let standard = standard.map(|(standard, own)| {
            design = own;
            Arc::new(standard)
        });
        self.assume(&mut roles)?;

        let (norms, sizes): (Vec<f64>, Vec<f64>) =
            (0..design.columns()).map(|j| design.norm_above(j)).unzip();
        let mut parts = Parts {
            design,
            p,
            ridge,
            names,
            roles,
            norms,
            sizes,
        };
        let mut scores = None;
        let (data, own_names) = (parts.design.clone(), parts.names.clone());
        let (own_sizes, own_ridge) = (parts.sizes.clone(), parts.ridge.clone());
        if self.outputs() > 1 {
            let responses = match self.loss.classes() {
                Some(classes) => stacked::indicators(&b, classes),
                None => {
                    let others = self.others.iter().map(|other| kept(other));
                    [b].into_iter().chain(others).collect()
                }
            };
            let (stacked, layout) = self.stack(&mut parts, &responses)?;
            b = stacked;
            scores = Some(Arc::new(layout));
        }
        let Parts {
            design,
            p,
            ridge,
            names,
            roles:
                Roles {
                    selectable,
                    penalised,
                    free,
                    included,
                    structure,
                    l0_factors,
                },
            norms,
            sizes,
        } = parts;
        let square = match self.loss.response() {
            ResponseKind::Real | ResponseKind::Label => range::mean_square(&p, &b, &offset)?,
            ResponseKind::Count => range::mean_square(&p, &b, &[])?,
            // Slopes are shares of the responses, whatever their unit, or of the weights.
            ResponseKind::Positive | ResponseKind::Time | ResponseKind::Class => 1.0,
        };
        range::check_columns(&data, &own_sizes, &own_ridge, square, &own_names, &keep)?;
        let first_intercept = if self.intercept && scores.is_none() {
            self.loss.best_constant(&p, &b, &offset).unwrap_or(0.0)
        } else {
            0.0
        };
        let origin: Vec<f64> = if offset.is_empty() {
            vec![first_intercept; b.len()]
        } else {
            offset.iter().map(|o| o + first_intercept).collect()
        };
        let null_value = match &joint {
            None => self.loss.total(&p, &origin, &b),
            Some(joint) => joint.total(&origin),
        };
        if !null_value.is_finite() {
            return Err(Error::Overflow {
                what: "the objective of the null model",
            });
        }
        let lightest = p.iter().copied().fold(f64::INFINITY, f64::min);
        if self.loss.has_log_link() && null_value > range::LARGEST_DEVIANCE * lightest {
            return Err(Error::FarResponse {
                loss: self.loss.name(),
            });
        }
        let usual_curvature = match &joint {
            None => self.loss.usual_curvature(&p, &b),
            Some(joint) => joint.usual_curvature(),
        };
        let compared = Columns {
            design: &design,
            p: &p,
            ridge: &ridge,
            bounds: &structure.bounds,
            costs: &structure.costs,
            norms: &norms,
            loss: &*self.loss,
            joint: joint.as_deref(),
            usual_curvature,
            null_value,
            centred: self.intercept || self.loss.is_relative(),
        };
        let twins = match &scores {
            None => Twins::find(&compared, &selectable, &structure),
            Some(_) => Twins::default(),
        };
        let features = selectable.len() + included.len();
        let k = self
            .k
            .unwrap_or(if structure.priced { features } else { 1 });
        let mut problem = Problem {
            design,
            standard,
            scores,
            loss: self.loss,
            joint,
            b,
            p,
            offset,
            ridge,
            names,
            selectable,
            penalised,
            included,
            structure: structure.is_needed().then(|| Arc::new(structure)),
            l0_factors: l0_factors.into(),
            twins: Arc::new(twins),
            unpenalised: Unpenalised::default(),
            norms,
            sizes,
            k,
            assumed: self.assumed,
            has_intercept: self.intercept,
            null_value,
            first_intercept,
            usual_curvature,
            empty_value: Arc::default(),
            summary: None,
        };
        problem.check_included()?;
        problem.unpenalised = Unpenalised::new(&problem, free)?;
        if let Some(mut summary) = summary {
            (summary.share, summary.ridge_share) = problem.curvature_shares(&summary);
            problem.summary = Some(Arc::new(summary));
        }
        Ok(problem)
    }

    /// Narrows the bounds of all features to what is assumed of coefficients.
    fn assume(&self, roles: &mut Roles) -> Result<()> {
        let Some(most) = self.assumed else {
            return Ok(());
        };
        if !(most > 0.0 && most.is_finite()) {
            return Err(Error::Setting {
                name: "assume_max_coefficient",
                value: most.to_string(),
                range: "it must be a finite number > 0",
            });
        }
        let features = roles
            .selectable
            .iter()
            .chain(roles.included.iter().flatten());
        roles.structure.assume(most, features);
        Ok(())
    }

    /// `p_i = w_i / Σw`.
    fn shares(&self, rows: usize) -> Result<Vec<f64>> {
        let Some(weights) = &self.weights else {
            return Ok(vec![1.0 / rows as f64; rows]);
        };
        let largest = range::check_weights(weights, rows)?;
        let scaled: Vec<f64> = weights.iter().map(|w| w / largest).collect();
        let total: f64 = scaled.iter().sum();
        Ok(scaled.iter().map(|w| w / total).collect())
    }
}
