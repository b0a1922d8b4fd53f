//! The problem, valid by construction.
//!
//! ```text
//! minimize  P(x) = L(Ax + o) + ½ Σ λ_i x_i²   subject to  at most k of the selectable features are non-zero
//! ```
//!
//! With prices, `P(x) + Σ c_j [feature j is in]` is minimised.

mod builder;
mod csc;
mod decision;
mod design;
mod moments;
mod precise;
mod rows;
mod scores;
mod shapes;
mod shared;
mod standard;
mod stats;
mod structure;
mod summary;
mod twins;
mod unpenalised;
mod verbs;

use std::sync::{Arc, OnceLock};

pub use builder::Builder;
pub use decision::Decision;
pub use design::Design;
pub(crate) use design::Stored;
pub use moments::Moments;
use moments::Summary;
pub(crate) use scores::Scores;
pub(crate) use shared::Full;
pub use shared::{Numbers, SharedColumns};
use standard::Standard;
pub use stats::ColumnStats;
pub(crate) use structure::Structure;
use twins::Twins;
pub(crate) use unpenalised::Unpenalised;

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::linalg::kernels;
use crate::loss::{Joint, Loss};
use crate::tuning::frames::MAX_COLUMNS;
use crate::tuning::prepare::SMALL_RIDGE;

/// A problem that exists is solvable: finite data, shapes that agree, settings in range.
///
/// Columns are numbered as in the data; the intercept, when on, is one more column of ones behind them. Every column
/// is one of *selectable* (counted in k, ridge > 0), *always in* (ridge ≥ 0) or *excluded*. Columns of a group are
/// selectable together: the group is one *feature*, known by its first column.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The columns that the engine works with: the data's, or these standardised or centred.
    pub(crate) design: Design,
    standard: Option<Arc<Standard>>,
    /// Set where a row has several scores.
    scores: Option<Arc<Scores>>,
    pub(crate) loss: Arc<dyn Loss>,
    /// The loss of all rows, where it couples them.
    joint: Option<Arc<dyn Joint>>,
    /// Responses of the rows of positive weight.
    pub(crate) b: Vec<f64>,
    /// Row weights `w_i / Σw`. These floats *are* the weights of the problem.
    pub(crate) p: Vec<f64>,
    /// Offsets; empty when there are none.
    pub(crate) offset: Vec<f64>,
    /// λ of each column.
    pub(crate) ridge: Vec<f64>,
    pub(crate) names: Vec<String>,
    /// The features that can be chosen, by their first columns.
    pub(crate) selectable: Vec<usize>,
    /// Always-in columns with λ > 0.
    pub(crate) penalised: Vec<usize>,
    /// The columns of each always-in feature that k counts, in the order of their first columns.
    pub(crate) included: Vec<Box<[usize]>>,
    /// Groups, bounds and heredity, where there are any.
    pub(crate) structure: Option<Arc<Structure>>,
    /// What the price of each feature is multiplied by, by its first column.
    l0_factors: Arc<[f64]>,
    /// Columns that say the same.
    twins: Arc<Twins>,
    /// Always-in columns with λ = 0, and what makes bounds with them valid.
    pub(crate) unpenalised: Unpenalised,
    /// Upper bounds of the column norms |a_j|₂.
    pub(crate) norms: Vec<f64>,
    /// The sizes that the rounding of `a_jᵀv` is relative to: the norms, or more for a view.
    pub(crate) sizes: Vec<f64>,
    pub(crate) k: usize,
    assumed: Option<f64>,
    pub(crate) has_intercept: bool,
    /// P(0), or P of the best constant where the loss gives it: no better model can be above it, so bounds may assume
    /// `P(x) < null_value`.
    pub(crate) null_value: f64,
    /// The intercept of that model, where fits begin; 0 unless the loss gives the best constant.
    pub(crate) first_intercept: f64,
    /// [`Loss::usual_curvature`] of the rows: that of the loss where it has a bound.
    pub(crate) usual_curvature: f64,
    /// P of the best model without selectable features, once it was asked for. Problems made from this one share it: what tolerances are relative
    /// to stays that of the problem as it was built.
    pub(crate) empty_value: Arc<OnceLock<f64>>,
    /// What is known of the rows where only their moments were given.
    summary: Option<Arc<Summary>>,
}

impl Problem {
    /// Starts a problem from a design matrix and its response.
    pub fn builder(design: Design, response: Vec<f64>) -> Builder {
        Builder::new(design, response)
    }

    /// Starts a problem from the moments of rows: the quadratic loss, without an offset.
    ///
    /// Objectives, bounds and models are those of the rows. Bounds are lowered by what the moments and rounding leave open
    /// ([`Problem::moment_error`]), so that they hold for every data set whose moments are within the stated error of these.
    pub fn from_moments(moments: Moments) -> Builder {
        Builder::from_moments(moments)
    }

    /// Rows of positive weight; of a problem from moments, the few that stand for those of the data, and of one with several
    /// responses or classes one for each of them ([`Problem::observations`]).
    pub fn rows(&self) -> usize {
        self.b.len()
    }

    /// The coefficients of a model, intercepts not counted: one for each column of the data, or for each and each of the
    /// [`Problem::outputs`].
    pub fn columns(&self) -> usize {
        match self.scores() {
            None => self.design.columns() - usize::from(self.has_intercept),
            Some(scores) => scores.features * scores.count,
        }
    }

    /// The sparsity: at most this many selectable features are non-zero.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The problem with another k (the bounds of unpenalised coefficients depend on it).
    pub fn with_k(&self, k: usize) -> Result<Self> {
        Self { k, ..self.clone() }.checked()
    }

    /// The same problem with another price of a feature; the factors of prices stay.
    pub fn with_l0_penalty(&self, penalty: f64) -> Result<Self> {
        if !(penalty >= 0.0 && penalty.is_finite()) {
            return Err(Error::Setting {
                name: "l0_penalty",
                value: penalty.to_string(),
                range: "it must be a finite number >= 0",
            });
        }
        self.empty_value();
        let columns = self.design.columns();
        let structure = self.structure.as_deref().cloned();
        let mut structure = structure.unwrap_or_else(|| Structure::new(columns));
        structure.price(penalty, &self.l0_factors);
        let mut problem = self.clone();
        let factor = |j: &usize| self.l0_factors[*j];
        let mut pairs = self.selectable.windows(2);
        if pairs.any(|pair| factor(&pair[0]) != factor(&pair[1])) {
            // Columns of different prices do not stand for each other.
            problem.twins = Arc::default();
        }
        problem.structure = structure.is_needed().then(|| Arc::new(structure));
        Ok(problem)
    }

    /// The factors of the prices of some features, in all, by the columns of a [`crate::Solution`].
    pub(crate) fn l0_weight(&self, columns: &[usize]) -> f64 {
        let is_feature = |j: &&usize| self.selectable.binary_search(j).is_ok();
        let features = columns.iter().filter(is_feature).copied();
        let included = self.included.iter().map(|columns| columns[0]);
        included.chain(features).map(|j| self.l0_factors[j]).sum()
    }

    /// The least factor > 0 of a price that can be chosen; 1 where nothing has one.
    pub(crate) fn least_l0_factor(&self) -> f64 {
        let factors = self.selectable.iter().map(|j| self.l0_factors[*j]);
        let least = factors.filter(|factor| *factor > 0.0).reduce(f64::min);
        least.unwrap_or(1.0)
    }

    /// With what depends on k and on the roles of the columns made anew.
    fn checked(self) -> Result<Self> {
        let mut problem = self;
        problem.check_included()?;
        let columns = problem.unpenalised.columns().to_vec();
        problem.unpenalised = Unpenalised::new(&problem, columns)?;
        Ok(problem)
    }

    fn check_included(&self) -> Result<()> {
        let (included, k) = (self.included.len(), self.k);
        if included > k {
            return Err(Error::TooManyIncluded { included, k });
        }
        Ok(())
    }

    /// `min(k - included, selectable features)`, the size of the supports that need to be looked at.
    pub fn support_size(&self) -> usize {
        (self.k - self.included.len()).min(self.selectable.len())
    }

    /// Whether bounds will not get far: more features than rows, and ridges that are small beside the curvatures. Such problems
    /// are worth a longer search for models before anything is proved.
    pub(crate) fn has_weak_bounds(&self) -> bool {
        self.observations() < self.selectable.len() as u64
            && self.ridge_share() < SMALL_RIDGE
            && !self.is_wide_within_bounds()
    }

    /// Whether all coefficients of a problem have finite bounds, and it has too many features for a Gram matrix.
    fn is_wide_within_bounds(&self) -> bool {
        let is_bounded = |j: &usize| {
            let (low, high) = self.range(*j);
            low.is_finite() && high.is_finite()
        };
        self.selectable.len() > MAX_COLUMNS
            && self.is_boxed()
            && self.selectable.iter().all(is_bounded)
    }

    /// A ridge, one digit long, with which proofs are far easier than with this one: large enough beside the curvatures for
    /// bounds to get far, and at least ten times as large.
    pub fn stronger_ridge(&self, ridge: f64) -> f64 {
        let factor = (SMALL_RIDGE / self.ridge_share()).max(10.0);
        let wanted = ridge * factor;
        if !wanted.is_finite() || wanted <= 0.0 {
            return 10.0 * ridge;
        }
        let unit = 10f64.powf(wanted.log10().floor());
        (wanted / unit * (1.0 - 1e-9)).ceil() * unit
    }

    /// The ridges of the selectable features as a share of their curvatures, on average.
    pub(crate) fn ridge_share(&self) -> f64 {
        let (mut ridges, mut squares) = (0.0, 0.0);
        for j in &self.selectable {
            ridges += self.ridge[*j];
            squares += self.norms[*j].powi(2);
        }
        let rows = self.rows() / self.outputs();
        let share = ridges * rows as f64 / squares;
        if self.is_steep() {
            share / self.usual_curvature
        } else {
            share
        }
    }

    /// The loss.
    pub fn loss(&self) -> &dyn Loss {
        &*self.loss
    }

    /// Whether the curvature of the loss has no bound.
    pub(crate) fn is_steep(&self) -> bool {
        self.loss.smoothness() == f64::INFINITY
    }

    /// The null model: the intercept where fits begin, if there is one.
    pub(crate) fn null_model(&self) -> Vec<(usize, f64)> {
        if self.has_intercept && self.first_intercept != 0.0 {
            vec![(self.columns(), self.first_intercept)]
        } else {
            Vec::new()
        }
    }

    /// Whether an unpenalised intercept is fitted.
    pub fn has_intercept(&self) -> bool {
        self.has_intercept
    }

    /// Names of the data columns; with several [`Problem::outputs`], for each of them again.
    pub fn names(&self) -> &[String] {
        &self.names[..self.columns()]
    }

    /// The largest coefficient that is assumed ([`Builder::assume_max_coefficient`]): what is proved holds for models within it.
    pub fn assumed_max_coefficient(&self) -> Option<f64> {
        self.assumed
    }

    /// The features that can be chosen, in column order; a group by its first column.
    pub fn selectable(&self) -> &[usize] {
        &self.selectable
    }

    /// The columns of each feature that is in every model and that k counts, in column order.
    pub fn included(&self) -> impl ExactSizeIterator<Item = &[usize]> {
        self.included.iter().map(|columns| &**columns)
    }

    /// The columns of a feature: those of the group that `leader` is the first column of, else the column alone.
    pub fn members(&self, leader: usize) -> Vec<usize> {
        self.expanded(&[leader])
    }

    /// Between which numbers the engine's coefficient of a column may lie.
    pub(crate) fn range(&self, column: usize) -> (f64, f64) {
        let structure = self.structure.as_ref();
        structure.map_or((f64::NEG_INFINITY, f64::INFINITY), |s| s.bounds[column])
    }

    /// Whether any coefficient has a finite bound.
    pub(crate) fn is_boxed(&self) -> bool {
        self.structure.as_ref().is_some_and(|s| s.boxed)
    }

    /// Whether features have prices.
    pub(crate) fn is_priced(&self) -> bool {
        self.structure.as_ref().is_some_and(|s| s.priced)
    }

    /// The price of each column, where features have prices.
    pub(crate) fn prices(&self) -> Option<&[f64]> {
        let structure = self.structure.as_ref().filter(|s| s.priced)?;
        Some(&structure.costs)
    }

    /// Whether all selectable features cost the same, or nothing.
    pub(crate) fn has_one_price(&self) -> bool {
        let mut pairs = self.selectable.windows(2);
        self.prices()
            .is_none_or(|prices| pairs.all(|pair| prices[pair[0]] == prices[pair[1]]))
    }

    /// Whether nothing is asked of features beside "at most k", or at most prices, in a way that a frame's own relaxation knows:
    /// where not all features fit into k they have to cost the same.
    pub(crate) fn has_plain_features(&self) -> bool {
        self.structure.as_ref().is_none_or(|structure| {
            let is_known = self.has_one_price() || self.support_size() == self.selectable.len();
            structure.is_only_priced() && is_known
        })
    }

    /// Whether coefficients have bounds and nothing else is asked of features, which are single columns, but prices.
    pub(crate) fn is_boxed_by_columns(&self) -> bool {
        let structure = self.structure.as_ref();
        structure.is_some_and(|structure| structure.boxed && structure.is_single())
    }

    /// Whether a coefficient of a model is at a bound other than zero.
    pub(crate) fn is_at_bound(&self, x: &[(usize, f64)]) -> bool {
        let is_at = |(j, x): &(usize, f64)| {
            let (low, high) = self.range(*j);
            *x != 0.0 && (*x <= low || *x >= high)
        };
        x.iter().any(is_at)
    }

    /// The most features that a model with an objective of at most `reference` can have.
    pub(crate) fn most_features(&self, reference: f64) -> usize {
        let k = self.support_size();
        let Some(prices) = self.prices() else {
            return k;
        };
        let costs = self.selectable.iter().map(|j| prices[*j]);
        let least = costs.fold(f64::INFINITY, f64::min);
        // With a little more than the rounding of a sum of prices.
        let most = (reference / least) * (1.0 + 1e-6) + 1.0;
        // Not `f64::min`: a quotient of zeros is no number.
        if most < k as f64 { most as usize } else { k }
    }

    /// `Σ c_j` over some selectable features and all included ones: what the objective pays for a model with this set.
    ///
    /// A sum of numbers ≥ 0: its rounding is that of as many additions.
    pub(crate) fn cost(&self, support: &[usize]) -> f64 {
        let Some(structure) = self.structure.as_ref().filter(|s| s.priced) else {
            return 0.0;
        };
        let included = self.included.iter().map(|columns| columns[0]);
        let features = included.chain(support.iter().copied());
        features.map(|j| structure.costs[j]).sum()
    }

    /// What the objective pays for the features that some columns belong to: those of a [`crate::Solution`] or a
    /// [`crate::Model`], included features among them.
    pub fn l0_cost(&self, columns: &[usize]) -> f64 {
        let is_feature = |j: &usize| self.selectable.binary_search(j).is_ok();
        let features: Vec<usize> = columns.iter().copied().filter(is_feature).collect();
        self.cost(&features)
    }

    /// The columns of some features, appended.
    pub(crate) fn expand_into(&self, leaders: &[usize], columns: &mut Vec<usize>) {
        match &self.structure {
            None => columns.extend_from_slice(leaders),
            Some(structure) => {
                let members = leaders.iter().flat_map(|j| &structure.members[*j]);
                columns.extend(members);
            }
        }
    }

    /// The columns of some features.
    pub(crate) fn expanded(&self, leaders: &[usize]) -> Vec<usize> {
        let mut columns = Vec::new();
        self.expand_into(leaders, &mut columns);
        columns
    }

    /// The columns with a ridge that can be non-zero: always-in ones, then selectable ones.
    pub(crate) fn ridged(&self) -> Vec<usize> {
        let mut columns = self.penalised.clone();
        self.expand_into(&self.selectable, &mut columns);
        columns
    }

    /// The problem without a feature (and without those that need it).
    pub(crate) fn without(&self, leader: usize) -> Result<Self> {
        let mut problem = self.clone();
        let out = |j: &usize| {
            let needs = self.structure.as_ref();
            *j == leader || needs.is_some_and(|s| s.ancestors[*j].contains(&leader))
        };
        problem.selectable.retain(|j| !out(j));
        problem.twins = Arc::new(self.twins_without(leader));
        problem.checked()
    }

    /// The problem with a selectable feature (and those that it needs) in every model, counted in k.
    pub(crate) fn with(&self, leader: usize) -> Result<Self> {
        self.empty_value();
        let mut problem = self.clone();
        let needs = self.structure.as_ref();
        let inside =
            |j: &usize| *j == leader || needs.is_some_and(|s| s.ancestors[leader].contains(j));
        let new: Vec<usize> = self.selectable.iter().copied().filter(inside).collect();
        problem.selectable.retain(|j| !inside(j));
        problem.twins = Arc::default();
        self.expand_into(&new, &mut problem.penalised);
        problem.penalised.sort_unstable();
        let columns = new.iter().map(|j| self.members(*j).into());
        problem.included.extend(columns);
        problem.included.sort_unstable();
        if let Some(structure) = &mut problem.structure {
            // From here on its columns are always in, each by itself, and satisfy whatever needs them.
            let structure = Arc::make_mut(structure);
            for j in &new {
                structure.members[*j] = Box::from([*j]);
            }
            for needed in &mut structure.ancestors {
                needed.retain(|j| !new.contains(j));
            }
        }
        problem.checked()
    }

    /// The responses of the rows of positive weight; of several responses see [`Problem::response_of`].
    pub fn response(&self) -> &[f64] {
        &self.b
    }

    /// The weights of these rows, as shares.
    pub fn shares(&self) -> &[f64] {
        &self.p
    }

    /// What is added to the predictions of these rows; nothing without an offset. Of several responses or classes see
    /// [`Problem::offset_of`].
    pub fn offset(&self) -> Option<&[f64]> {
        (!self.offset.is_empty()).then_some(&self.offset[..])
    }

    /// λ of a column: of its standardised coefficient, where columns are standardised.
    pub fn ridge(&self, column: usize) -> f64 {
        self.ridge[column]
    }

    /// `P(x)` for `x` given as (column, coefficient) pairs on the data's own scale, in plain floating point.
    pub fn objective(&self, x: &[(usize, f64)]) -> f64 {
        self.value(&self.inward(x))
    }

    /// `L(Ax + o)`, without the ridge, for coefficients on the data's own scale.
    pub fn mean_loss(&self, x: &[(usize, f64)]) -> f64 {
        self.loss_at(&self.inward(x))
    }

    /// `P(x)` for coefficients of the engine.
    pub(crate) fn value(&self, x: &[(usize, f64)]) -> f64 {
        self.loss_at(x) + self.penalty(x)
    }

    fn loss_at(&self, x: &[(usize, f64)]) -> f64 {
        let mut z = vec![0.0; self.rows()];
        self.predict_into(x, &mut z);
        self.loss_of(&z)
    }

    /// `½ Σ λ_i x_i²`.
    pub(crate) fn penalty(&self, x: &[(usize, f64)]) -> f64 {
        0.5 * x.iter().map(|(j, x)| self.ridge[*j] * x * x).sum::<f64>()
    }

    /// `z = Ax + o`.
    pub(crate) fn predict_into(&self, x: &[(usize, f64)], z: &mut [f64]) {
        if self.offset.is_empty() {
            z.fill(0.0);
        } else {
            z.copy_from_slice(&self.offset);
        }
        self.design.add_columns(x.iter().copied(), z);
    }

    /// `β_i = p_i α_i`.
    pub(crate) fn weigh(&self, alpha: &[f64], beta: &mut [f64]) {
        for ((beta, alpha), p) in beta.iter_mut().zip(alpha).zip(&self.p) {
            *beta = alpha * p;
        }
    }

    /// The largest singular value of the columns given, up to a few percent (power iteration). Steps only, no bound.
    /// A limit ends it early, with a poorer estimate.
    pub(crate) fn spectral_norm(&self, columns: &[usize], limits: &Limits) -> f64 {
        let mut v: Vec<f64> = (0..columns.len())
            .map(|i| 1.0 + 0.01 * ((i * 7919) % 101) as f64)
            .collect();
        let mut z = vec![0.0; self.rows()];
        let mut estimate: f64 = 0.0;
        for _ in 0..30 {
            let length = kernels::norm(&v);
            if !(length > 0.0 && length.is_finite()) {
                break;
            }
            v.iter_mut().for_each(|v| *v /= length);
            z.fill(0.0);
            let x = columns.iter().copied().zip(v.iter().copied());
            self.design.add_columns(x, &mut z);
            self.unpenalised.project(&mut z);
            let norm = kernels::norm(&z);
            let done = (norm - estimate).abs() <= 1e-3 * norm;
            estimate = norm;
            if done || limits.stop() {
                break;
            }
            self.design.dots(columns, &z, &mut v);
            if limits.stop() {
                break;
            }
        }
        if estimate > 0.0 { estimate } else { 1.0 }
    }
}
