//! The data side of a problem: the [`Task`] made from a file and the options about data.

mod args;
mod checks;
mod features;
mod holdout;
mod large;
mod making;
mod of_moments;
mod of_store;
mod pieces;
mod read;
mod roles;
mod stored;
mod stream;
mod summed;
mod survival;

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use l0star::loss::Loss;
use l0star::problem::{Builder, Moments};
use l0star::{Design, Problem, Solution};
use l0star_data::{Fingerprint, Indicator, Reading, factors};
use l0star_record::cv::Penalty;
use l0star_record::fields::Product;
use l0star_record::inference;
use l0star_record::metrics::Rows;
use l0star_record::outcome::Outcome;
use l0star_record::several;
use l0star_record::survival::kinds as survival_kinds;
use l0star_record::{Rules, StoreFile};
use l0star_report::{Face, warnings};

pub use args::{Factors, HuberDelta, Impute, TaskArgs};
pub use holdout::HeldOut;
pub use making::MakingArgs;
pub use stored::store;
pub use summed::sum;
pub use survival::Followed;

use crate::failure::Failure;

/// Data ready for a fit, in the engine's form.
#[derive(Debug)]
pub struct Task {
    /// The path of the file, for messages.
    pub file: PathBuf,
    pub loss: Arc<dyn Loss>,
    pub intercept: bool,
    pub standardize: bool,
    /// Whether models are refitted without the ridge.
    refit: bool,
    pub names: Vec<String>,
    /// The features with the values of the file.
    pub design: Design,
    pub response: Vec<f64>,
    /// The names of the columns to predict, if there are several; `others` holds the values of all but the first.
    pub responses: Vec<String>,
    pub others: Vec<Vec<f64>>,
    /// The classes that the response values number, for a loss with several classes.
    pub classes: Vec<String>,
    /// Moments in place of design and response, which are then empty.
    pub moments: Option<Moments>,
    /// The moments of each fold of the rows, if they were summed for cross-validation.
    pub folds: Vec<Moments>,
    /// The column store that holds the features, if they are not in memory.
    store: Option<StoreFile>,
    pub weights: Option<Vec<f64>>,
    /// The name of the column of weights, for the record.
    pub weight_column: Option<String>,
    /// Offsets: none, or one vector for each response or class.
    pub offsets: Vec<Vec<f64>>,
    /// The names of the offset columns, for the record.
    pub offset_columns: Vec<String>,
    /// The name of the target, for messages.
    pub target: String,
    /// The labels that −1 and +1 stand for, for a loss on labels.
    pub labels: Option<[String; 2]>,
    /// Events, strata and entry times, for a loss on survival times.
    pub survival: Option<Followed>,
    /// The columns whose products are features; empty without interactions.
    factors: Vec<String>,
    /// The indicators of the categories of text columns among the features.
    indicators: Vec<Indicator>,
    /// The constraints on features.
    pub rules: Rules,
    /// The values that replace missing ones, by column.
    pub imputed: Vec<(String, f64)>,
    pub rows_dropped: usize,
    /// Rows that are held out from the fit.
    pub held_out: Option<HeldOut>,
    /// How the columns of the file were read.
    pub reading: Reading,
    /// Decisions of the reader that the user should know.
    notes: Vec<String>,
}

impl Task {
    /// Builds the problem on the rows of positive weight.
    pub fn problem(
        &self,
        k: usize,
        ridge: f64,
        weights: Option<&[f64]>,
    ) -> Result<Problem, Failure> {
        let l0 = self.rules.l0_penalty();
        self.problem_at(k, Penalty { ridge, l0 }, weights)
    }

    /// Builds the problem with a price per feature that replaces that of the rules.
    pub fn problem_at(
        &self,
        k: usize,
        penalty: Penalty,
        weights: Option<&[f64]>,
    ) -> Result<Problem, Failure> {
        self.built(self.builder(weights), k, penalty)
    }

    /// Builds the problem on the rows outside a fold whose moments were summed.
    pub fn problem_without(
        &self,
        fold: usize,
        k: usize,
        penalty: Penalty,
    ) -> Result<Problem, Failure> {
        let others = self.folds.iter().enumerate().filter(|(at, _)| *at != fold);
        let mut moments: Option<Moments> = None;
        for (_, other) in others {
            match &mut moments {
                None => moments = Some(other.clone()),
                Some(all) => all.merge(other)?,
            }
        }
        self.built(self.builder_of(moments.as_ref(), None), k, penalty)
    }

    fn built(&self, builder: Builder, k: usize, penalty: Penalty) -> Result<Problem, Failure> {
        let built = builder.ridge(penalty.ridge).l0_penalty(penalty.l0).k(k);
        built.build().map_err(|error| self.explain(error))
    }

    /// Returns a builder of the problem, with everything but k and the ridge.
    fn builder(&self, weights: Option<&[f64]>) -> Builder {
        self.builder_of(self.moments.as_ref(), weights)
    }

    fn builder_of(&self, moments: Option<&Moments>, weights: Option<&[f64]>) -> Builder {
        let builder = match moments {
            Some(moments) => Problem::from_moments(moments.clone()),
            None => Problem::builder(self.design.clone(), self.response.clone())
                .more_responses(self.others.clone()),
        };
        let mut builder = builder
            .names(self.names.clone())
            .loss(Arc::clone(&self.loss))
            .intercept(self.intercept)
            .standardize(self.standardize);
        if let Some(weights) = weights {
            builder = builder.weights(weights.to_vec());
        }
        if !self.offsets.is_empty() {
            builder = builder.offsets(self.offsets.clone());
        }
        self.rules.apply(builder)
    }

    /// Returns `intercept + Ax + o` of one response for every row, whatever its weight.
    pub fn scores(&self, coefficients: &[f64], intercept: f64) -> Vec<f64> {
        let mut scores = match self.offsets.first() {
            Some(offset) => offset.clone(),
            None => vec![0.0; self.response.len()],
        };
        if self.moments.is_some() || self.has_several() {
            return scores;
        }
        scores.iter_mut().for_each(|score| *score += intercept);
        let x = coefficients.iter().copied().enumerate();
        self.design
            .add_columns(x.filter(|(_, value)| *value != 0.0), &mut scores);
        scores
    }

    /// Returns a solution as it is reported, whether it was refitted without the ridge, and if that failed, why.
    pub fn reported(
        &self,
        problem: &Problem,
        solution: &Solution,
    ) -> (Solution, bool, Option<String>) {
        if !self.refit {
            return (solution.clone(), false, None);
        }
        match inference::refit(problem, solution) {
            Ok(refit) => (refit, true, None),
            Err(reason) => (solution.clone(), false, Some(inference::kept_ridge(reason))),
        }
    }

    /// Returns the number of columns, and roughly how many numbers a search keeps for them.
    pub fn extent(&self) -> (usize, usize) {
        let columns = self.design.columns();
        match &self.moments {
            // With columns in a file, a search holds only per-row values: scores, weights and responses.
            None if self.store.is_some() => (columns, 4 * self.response.len()),
            None => (columns, self.design.entry_count()),
            // The surrogate has about as many rows as columns.
            Some(_) => (columns, 2 * (columns + 1) * (columns + 1)),
        }
    }

    /// Fails if the file of the features has changed since it was opened.
    pub fn check_unchanged(&self) -> Result<(), Failure> {
        let store = self.store.as_ref();
        Ok(store.map_or(Ok(()), |file| file.store().check_unchanged())?)
    }

    /// Fails if only moments are known, for operations that need the rows.
    pub fn needs_rows(&self, what: &str) -> Result<(), Failure> {
        match &self.moments {
            None => Ok(()),
            Some(_) => Err(Failure::Usage(format!(
                "{}: these are moments, and {what} needs the rows; give it the data themselves",
                self.file.display()
            ))),
        }
    }

    /// Returns the names of the responses or classes if there are several; empty for one.
    pub fn outputs(&self) -> &[String] {
        if self.classes.is_empty() {
            &self.responses
        } else {
            &self.classes
        }
    }

    /// Whether a row has several scores.
    pub fn has_several(&self) -> bool {
        !self.outputs().is_empty()
    }

    /// Returns the scores of each response or class for every row, whatever its weight.
    pub fn scores_each(&self, solution: &Solution) -> Vec<Vec<f64>> {
        several::on_rows(&self.design, solution, &self.offsets)
    }

    /// Returns the responses, one or several; classes are given by number.
    pub fn all_responses(&self) -> Vec<Vec<f64>> {
        let own = std::iter::once(&self.response).chain(&self.others);
        own.cloned().collect()
    }

    /// Returns the label or class with this number, as the file spells it.
    pub fn label(&self, number: f64) -> &str {
        let label = match &self.labels {
            Some(labels) => labels.get(usize::from(number > 0.0)),
            None => self.classes.get(number as usize),
        };
        label.map_or("", String::as_str)
    }

    /// Returns the rows with their scores; `None` if only moments are known, or there are several responses.
    pub fn scored<'a>(&'a self, scores: &'a [f64]) -> Option<Rows<'a>> {
        let has_one = self.moments.is_none() && !self.has_several();
        has_one.then_some(Rows {
            scores,
            response: &self.response,
            weights: self.weights.as_deref(),
            offset: self.offsets.first().map(Vec::as_slice),
            times: self
                .survival
                .as_ref()
                .map(Followed::times)
                .unwrap_or_default(),
        })
    }

    /// Returns which times are those of events; empty for other responses.
    fn events(&self) -> &[bool] {
        self.survival.as_ref().map_or(&[], |own| &own.events)
    }

    /// Returns the values that stratify the rows (labels, classes, or events and censored times), so that each part has
    /// its share of all kinds.
    pub fn kinds(&self) -> (Cow<'_, [f64]>, bool) {
        let has_labels = self.labels.is_some() || !self.classes.is_empty();
        survival_kinds(&self.response, self.events(), has_labels)
    }

    /// Returns a hash of the numbers: target, weights, offset, features.
    pub fn fingerprint(&self) -> String {
        if let Some(moments) = &self.moments {
            let mut fingerprint = Fingerprint::new(self.rows());
            fingerprint.vector(&moments.means());
            for i in 0..=self.names.len() {
                let products = (0..=i).map(|j| moments.product(i, j));
                fingerprint.vector(&products.collect::<Vec<f64>>());
            }
            return fingerprint.finish();
        }
        let mut fingerprint = Fingerprint::new(self.response.len());
        fingerprint.vector(&self.response);
        self.others
            .iter()
            .for_each(|other| fingerprint.vector(other));
        fingerprint.vector(self.weights.as_deref().unwrap_or_default());
        fingerprint.vector(&self.offsets.concat());
        if let Some(survival) = &self.survival {
            fingerprint.vector(&survival.numbers());
        }
        for j in 0..self.names.len() {
            fingerprint.column(self.design.entries(j));
        }
        fingerprint.finish()
    }

    /// Returns the features among `names` that are products, with their factors.
    pub fn products(&self, names: &[String]) -> Vec<Product> {
        let product = |name: &String| {
            let factors = factors(&self.factors, name)?;
            Some(Product {
                name: name.clone(),
                factors: factors.map(String::clone),
            })
        };
        if self.factors.is_empty() {
            Vec::new()
        } else {
            names.iter().filter_map(product).collect()
        }
    }

    /// Returns the indicators of the text columns that `names` use.
    pub fn indicators(&self, names: &[String]) -> Vec<Indicator> {
        let of = |indicator: &&Indicator| names.contains(&indicator.name);
        let used = self.indicators.iter().filter(of);
        let used: HashSet<&str> = used.map(|indicator| indicator.column.as_str()).collect();
        let is_used = |indicator: &&Indicator| used.contains(indicator.column.as_str());
        self.indicators.iter().filter(is_used).cloned().collect()
    }

    /// Returns the number of features to choose from; a group counts as one.
    pub fn features(&self) -> usize {
        self.rules.feature_count()
    }

    /// Returns the number of rows that count.
    pub fn rows(&self) -> usize {
        if let Some(moments) = &self.moments {
            return usize::try_from(moments.rows()).unwrap_or(usize::MAX);
        }
        let weights = self.weights.as_ref();
        weights.map_or(self.response.len(), |weights| {
            weights.iter().filter(|weight| **weight > 0.0).count()
        })
    }

    /// Returns the context that turns a solution of a problem with these data into a result.
    pub fn outcome<'a>(
        &'a self,
        problem: &'a Problem,
        ridge: f64,
        warnings: &'a [String],
    ) -> Outcome<'a> {
        let labels = self.labels.as_ref();
        Outcome {
            problem,
            rules: &self.rules,
            k: problem.k(),
            ridge,
            lists: false,
            free_in_support: false,
            is_refit: false,
            responses: &self.responses,
            classes: &self.classes,
            positive_label: labels.map(|[_, positive]| positive.as_str()),
            warnings,
        }
    }

    /// Returns warnings about the data for a model with k features.
    pub fn warnings(&self, k: usize) -> Vec<String> {
        let data = warnings::Data {
            design: &self.design,
            names: &self.names,
            weights: self.weights.as_deref(),
            features: self.features(),
            intercept: self.intercept,
            standardize: self.standardize,
        };
        let mut warnings = self.notes.clone();
        if self.moments.is_some() {
            let counts = warnings::counts(k, self.features(), self.rows(), self.intercept);
            warnings.extend(counts);
            return warnings;
        }
        warnings.extend(warnings::warnings(&data, k, Face::Command));
        warnings
    }

    /// Returns the name in the file of a column that the engine calls by its role.
    fn in_file(&self, column: String) -> String {
        match column.as_str() {
            "response" if !self.names.contains(&column) => self.target.clone(),
            _ => column,
        }
    }

    /// Adds the file and the labels to an error of the engine, which knows neither.
    fn explain(&self, error: l0star::Error) -> Failure {
        let file = self.file.display();
        match (error, &self.labels) {
            (l0star::Error::OneClass { label, .. }, Some(labels)) => Failure::BadData(format!(
                "{file}: column '{}' has the label '{}' in every row of positive weight; a classifier needs both labels",
                self.target,
                labels[usize::from(label > 0.0)]
            )),
            (l0star::Error::EmptyClass { class }, _) => Failure::BadData(format!(
                "{file}: no row of positive weight has the class '{}' of column '{}'; leave its rows out",
                self.classes.get(class).map_or("", String::as_str),
                self.target
            )),
            (l0star::Error::TooLarge { row, column, value }, _) => {
                let column = self.in_file(column);
                let error = l0star::Error::TooLarge { row, column, value };
                Failure::BadData(format!("{file}: {error}"))
            }
            (l0star::Error::TooSmall { largest }, _) => Failure::BadData(format!(
                "{file}: no number of the target '{}' (less its offset) is larger than {largest:e}: its square leaves the range of double precision; multiply the target, and the offset, by a large number",
                self.target
            )),
            (
                error @ (l0star::Error::Empty { .. }
                | l0star::Error::Overflow { .. }
                | l0star::Error::SmallColumn { .. }
                | l0star::Error::SmallResponse { .. }
                | l0star::Error::NoCounts { .. }
                | l0star::Error::NoEvents
                | l0star::Error::LateEntry { .. }
                | l0star::Error::FarResponse { .. }
                | l0star::Error::Dependent { .. }),
                _,
            ) => Failure::BadData(format!("{file}: {error}")),
            (error, _) => error.into(),
        }
    }
}
