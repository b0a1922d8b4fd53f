//! What is to be explained by what: the options about data that `fit` and `cv` share, and the [`Task`] that
//! they and the file make.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use l0star::loss::{self, Loss, ResponseKind};
use l0star::problem::Builder;
use l0star::{Design, Problem};

use l0star_data::{
    Fingerprint, Indicator, RawColumn, RawTable, Table, factors, indicators, interactions,
    no_such_column,
};
use l0star_record::Rules;
use l0star_record::fields::{Group, Product};
use l0star_record::names::Known;
use l0star_record::outcome::Outcome;
use l0star_report::page::Rows;
use l0star_report::text::clip;
use l0star_report::{Face, warnings};

use crate::columns::{self, ColumnArgs};
use crate::design::{self, Named};
use crate::failure::Failure;
use crate::input::InputArgs;
use crate::numbers::{count, positive};
use crate::rules::RuleArgs;

const FILL: &str = "fill them in; --impute mean does it for features, --drop-missing drops the rows, --drop the columns";

/// The data as typed.
#[derive(Debug, Clone, clap::Args)]
pub struct TaskArgs {
    /// Data file, or - for standard input
    pub data: PathBuf,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub columns: ColumnArgs,

    /// Column to predict; with logistic and squared-hinge any two labels
    #[arg(long, value_name = "COLUMN")]
    pub target: String,

    /// How to measure the distance to the target
    #[arg(long, value_name = "LOSS", default_value = "quadratic",
          value_parser = PossibleValuesParser::new(loss::NAMES))]
    pub loss: String,

    /// Where the Huber loss turns from quadratic to linear, in units of the target; auto: 1.345 times a robust scale of
    /// the residuals of a first robust fit
    #[arg(long, value_name = "D", default_value = "auto", allow_hyphen_values = true,
          value_parser = HuberDelta::parse)]
    pub huber_delta: HuberDelta,

    /// Fit no intercept
    #[arg(long)]
    pub no_intercept: bool,

    /// Apply the ridge to the columns as they are; by default it acts on standardised columns, so that units do not
    /// matter. Coefficients are always those of the data
    #[arg(long)]
    pub no_standardize: bool,

    /// The default, spelt out
    #[arg(long, hide = true, conflicts_with = "no_standardize")]
    pub standardize: bool,

    /// Add the product of every pair of features (a:b) and their squares (a^2)
    #[arg(long)]
    pub interactions: bool,

    /// Features to leave out by name, products such as a:b too, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub exclude: Vec<String>,

    /// Column of sample weights, zero or more
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,

    /// Column to add to every prediction
    #[arg(long, value_name = "COLUMN")]
    pub offset: Option<String>,

    /// Fill missing values of features in with the mean of their column, in text with a level of their own; the model keeps
    /// it for predictions
    #[arg(long, value_name = "HOW")]
    pub impute: Option<Impute>,

    /// Drop rows with a missing value in a column that is used
    #[arg(long)]
    pub drop_missing: bool,

    /// Texts that fewer rows have are put together as one level (other) of their column
    #[arg(long, value_name = "N", default_value_t = 5, allow_hyphen_values = true, value_parser = count)]
    pub rare: usize,

    #[command(flatten)]
    pub rules: RuleArgs,
}

/// Where the Huber loss turns linear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HuberDelta {
    /// Chosen from the data.
    Auto,
    /// As given.
    Value(f64),
}

impl HuberDelta {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => positive(text)
                .map(Self::Value)
                .map_err(|reason| format!("{reason}, or auto")),
        }
    }

    /// The number that was given.
    fn value(self) -> Option<f64> {
        match self {
            Self::Auto => None,
            Self::Value(delta) => Some(delta),
        }
    }
}

/// What stands in for a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Impute {
    // The mean of the column; said by the option, as help for a single value would stretch all of it.
    Mean,
}

impl TaskArgs {
    /// The columns that are no features, with what they are.
    fn roles(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let target = ("--target", self.target.as_str());
        let weights = self.weights.as_deref().map(|name| ("--weights", name));
        let offset = self.offset.as_deref().map(|name| ("--offset", name));
        [Some(target), weights, offset].into_iter().flatten()
    }

    fn check_roles(&self) -> Result<(), Failure> {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for (role, name) in self.roles() {
            if let Some((other, _)) = seen.iter().find(|(_, taken)| *taken == name) {
                return Err(Failure::Usage(format!(
                    "column '{name}' is both {other} and {role}; name two different columns"
                )));
            }
            seen.push((role, name));
        }
        Ok(())
    }

    fn excluded(&self) -> HashSet<&str> {
        let names = self.exclude.iter().map(|name| name.trim());
        names.filter(|name| !name.is_empty()).collect()
    }
}

/// Data that can be fitted to, in the engine's form.
#[derive(Debug)]
pub struct Task {
    /// The file, for messages.
    pub file: PathBuf,
    pub loss: Arc<dyn Loss>,
    pub intercept: bool,
    pub standardize: bool,
    pub names: Vec<String>,
    /// The features as they are in the file.
    pub design: Design,
    pub response: Vec<f64>,
    pub weights: Option<Vec<f64>>,
    pub offset: Option<Vec<f64>>,
    /// The target, for messages.
    pub target: String,
    /// The labels that −1 and +1 stand for, for a loss on labels.
    pub labels: Option<[String; 2]>,
    /// The columns whose products are features; empty without any.
    factors: Vec<String>,
    /// The levels of the columns of text among the features.
    indicators: Vec<Indicator>,
    /// What is asked of the features.
    pub rules: Rules,
    /// What stands in for missing values, by column.
    pub imputed: Vec<(String, f64)>,
    pub rows_dropped: usize,
}

impl Task {
    /// Reads the file and checks all that can be checked without k and the ridge.
    pub fn read(args: &TaskArgs) -> Result<Self, Failure> {
        let loss = loss::by_name(&args.loss, args.huber_delta.value().unwrap_or(1.0))?;
        args.check_roles()?;
        let raw = args.input.load(&args.data)?;
        let file = raw.file().to_path_buf();
        Self::of(args, loss, raw).map_err(|failure| failure.in_file(&file))
    }

    fn of(args: &TaskArgs, loss: Arc<dyn Loss>, mut raw: RawTable) -> Result<Self, Failure> {
        for (_, name) in args.roles() {
            raw.column(name)?;
        }
        let mut base = base_columns(args, &raw)?;
        let (imputed, rows_dropped) = settle_missing(args, &mut raw, &base)?;
        let (indicators, texts) = match args.interactions {
            true => (Vec::new(), Vec::new()),
            false => encode_texts(args, &mut raw, &mut base)?,
        };

        let weights = args.weights.as_deref().map(|name| raw.number(name));
        let weights = weights.transpose()?;
        if let (Some(name), Some(weights)) = (&args.weights, &weights) {
            check_weights(&raw, name, weights)?;
        }
        let offset = args.offset.as_deref().map(|name| raw.number(name));
        let offset = offset.transpose()?;
        let (response, labels) = match loss.response() {
            ResponseKind::Label => {
                let (signs, labels) = raw.labels(&args.target)?;
                (signs, Some(labels))
            }
            ResponseKind::Real => {
                check_numbers(&raw, &args.target, loss.name())?;
                let response = raw.number(&args.target)?;
                if offset.is_none() {
                    check_varies(&raw, &args.target, &response, weights.as_deref())?;
                }
                (response, None)
            }
        };
        let file = raw.file().to_path_buf();
        let factors = if args.interactions {
            base.clone()
        } else {
            Vec::new()
        };
        let (names, design) = features(args, raw, &base)?;
        let known = Known {
            names: &names,
            texts: &texts,
            factors: &factors,
        };
        let rules = args.rules.resolve(&known)?;
        let mut task = Self {
            file,
            loss,
            intercept: !args.no_intercept,
            standardize: !args.no_standardize,
            names,
            design,
            response,
            weights,
            offset,
            target: args.target.clone(),
            labels,
            factors,
            indicators,
            rules,
            imputed,
            rows_dropped,
        };
        if args.huber_delta == HuberDelta::Auto {
            let builder = task.builder(task.weights.as_deref());
            let loss = l0star::loss_for(&builder, &args.loss, None);
            task.loss = loss.map_err(|error| task.explain(error))?;
        }
        Ok(task)
    }

    /// The problem on the rows of positive weight.
    pub fn problem(
        &self,
        k: usize,
        ridge: f64,
        weights: Option<&[f64]>,
    ) -> Result<Problem, Failure> {
        let built = self.builder(weights).ridge(ridge).k(k).build();
        built.map_err(|error| self.explain(error))
    }

    /// All of the problem but k and the ridge.
    fn builder(&self, weights: Option<&[f64]>) -> Builder {
        let mut builder = Problem::builder(self.design.clone(), self.response.clone())
            .names(self.names.clone())
            .loss(Arc::clone(&self.loss))
            .intercept(self.intercept)
            .standardize(self.standardize);
        if let Some(weights) = weights {
            builder = builder.weights(weights.to_vec());
        }
        if let Some(offset) = &self.offset {
            builder = builder.offset(offset.clone());
        }
        self.rules.apply(builder)
    }

    /// `intercept + Ax + o` for every row, weight or not.
    pub fn scores(&self, coefficients: &[f64], intercept: f64) -> Vec<f64> {
        let mut scores = match &self.offset {
            Some(offset) => offset.clone(),
            None => vec![0.0; self.response.len()],
        };
        scores.iter_mut().for_each(|score| *score += intercept);
        let x = coefficients.iter().copied().enumerate();
        self.design
            .add_columns(x.filter(|(_, value)| *value != 0.0), &mut scores);
        scores
    }

    /// Rows with their scores, for a page.
    pub fn scored<'a>(&'a self, scores: &'a [f64]) -> Rows<'a> {
        Rows {
            scores,
            response: &self.response,
            weights: self.weights.as_deref(),
        }
    }

    /// The hash of the numbers: target, weights, offset, features.
    pub fn fingerprint(&self) -> String {
        let mut fingerprint = Fingerprint::new(self.response.len());
        fingerprint.vector(&self.response);
        for vector in [&self.weights, &self.offset] {
            fingerprint.vector(vector.as_deref().unwrap_or_default());
        }
        for j in 0..self.names.len() {
            fingerprint.column(self.design.entries(j));
        }
        fingerprint.finish()
    }

    /// Which of some features are products of which columns.
    pub fn products(&self, names: &[String]) -> Vec<Product> {
        let product = |name: &String| {
            let factors = factors(&self.factors, name)?;
            Some(Product {
                name: name.clone(),
                factors: factors.map(String::clone),
            })
        };
        match self.factors.is_empty() {
            true => Vec::new(),
            false => names.iter().filter_map(product).collect(),
        }
    }

    /// The levels of the columns of text that some features stand for.
    pub fn indicators(&self, names: &[String]) -> Vec<Indicator> {
        let of = |indicator: &&Indicator| names.contains(&indicator.name);
        let used = self.indicators.iter().filter(of);
        let used: HashSet<&str> = used.map(|indicator| indicator.column.as_str()).collect();
        let is_used = |indicator: &&Indicator| used.contains(indicator.column.as_str());
        self.indicators.iter().filter(is_used).cloned().collect()
    }

    /// How many features there are to choose from; a group is one.
    pub fn features(&self) -> usize {
        self.rules.feature_count()
    }

    /// The rows that count.
    pub fn rows(&self) -> usize {
        let weights = self.weights.as_ref();
        weights.map_or(self.response.len(), |weights| {
            weights.iter().filter(|weight| **weight > 0.0).count()
        })
    }

    /// What a solution of a problem with these data belongs to.
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
            positive_label: labels.map(|[_, positive]| positive.as_str()),
            warnings,
        }
    }

    /// What the user should know of the data before they believe a model with k features.
    pub fn warnings(&self, k: usize) -> Vec<String> {
        let data = warnings::Data {
            design: &self.design,
            names: &self.names,
            weights: self.weights.as_deref(),
            features: self.features(),
            intercept: self.intercept,
            standardize: self.standardize,
        };
        warnings::warnings(&data, k, Face::Command)
    }

    /// The engine knows neither the file nor the labels: say them.
    fn explain(&self, error: l0star::Error) -> Failure {
        let file = self.file.display();
        match (error, &self.labels) {
            (l0star::Error::OneClass { label, .. }, Some(labels)) => Failure::BadData(format!(
                "{file}: column '{}' has the label '{}' in every row of positive weight; a classifier needs both labels",
                self.target,
                labels[usize::from(label > 0.0)]
            )),
            (
                error @ (l0star::Error::Empty { .. }
                | l0star::Error::Overflow { .. }
                | l0star::Error::Dependent { .. }),
                _,
            ) => Failure::BadData(format!("{file}: {error}")),
            (error, _) => error.into(),
        }
    }
}

fn check_weights(raw: &RawTable, column: &str, weights: &[f64]) -> Result<(), Failure> {
    let Some(row) = weights.iter().position(|weight| *weight < 0.0) else {
        return Ok(());
    };
    let place = raw.place(raw.position(column)?, row);
    Err(Failure::BadData(format!(
        "{place}: weight {} is negative; weights must be zero or more",
        weights[row]
    )))
}

/// Refuses a target of two labels, for which there are losses of their own.
fn check_numbers(raw: &RawTable, column: &str, loss: &str) -> Result<(), Failure> {
    if !is_text(raw, column) || raw.column(column)?.is_boolean() {
        return Ok(());
    }
    match raw.labels(column) {
        // A number among the labels is a column of numbers with a mistake, which is told in its place.
        Ok((_, labels)) if labels.iter().all(|label| label.parse::<f64>().is_err()) => {
            let [one, other] = labels.each_ref().map(|label| clip(label, 32));
            Err(Failure::BadData(format!(
                "{}: the target '{column}' has two labels, '{one}' and '{other}', and the loss '{loss}' needs numbers; use --loss logistic",
                raw.file().display()
            )))
        }
        _ => Ok(()),
    }
}

/// Without an offset there is nothing to explain in a target that is the same everywhere.
fn check_varies(
    raw: &RawTable,
    column: &str,
    target: &[f64],
    weights: Option<&[f64]>,
) -> Result<(), Failure> {
    let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
    let mut values = (0..target.len())
        .filter(|row| counts(*row))
        .map(|row| target[row]);
    // No row of positive weight is an error of its own, with a better message.
    let Some(first) = values.next() else {
        return Ok(());
    };
    if values.any(|value| value != first) {
        return Ok(());
    }
    Err(Failure::BadData(format!(
        "{}: the target '{column}' is {first} in every row, so there is nothing to explain; choose a column that varies",
        raw.file().display()
    )))
}

/// The columns of the file that are features, or whose products are.
fn base_columns(args: &TaskArgs, raw: &RawTable) -> Result<Vec<String>, Failure> {
    let excluded = args.excluded();
    let roles: Vec<(&str, &str)> = args.roles().collect();
    let mut candidates = columns::candidates(&args.columns, raw, &roles)?;
    if candidates.is_empty() {
        return Err(Failure::BadData(format!(
            "{}: there is no column besides '{}', so there are no features; add some",
            raw.file().display(),
            args.target
        )));
    }
    if args.interactions {
        // A column of text has no products: excluded by its name, it is gone before the expansion.
        candidates.retain(|name| !(excluded.contains(name) && is_text(raw, name)));
    } else {
        for name in &excluded {
            // A level of a column of text; whether there is one shows when the levels are known.
            let is_level = |(at, _)| is_text(raw, &name[..at]);
            if !name.match_indices('=').any(is_level) {
                raw.column(name)?;
            }
        }
        candidates.retain(|name| !excluded.contains(name));
    }
    some_left(candidates.into_iter().map(str::to_owned).collect())
}

fn is_text(raw: &RawTable, name: &str) -> bool {
    matches!(raw.column(name), Ok(RawColumn::Text { .. }))
}

/// The columns that are neither numbers nor truths.
fn text_columns(raw: &RawTable) -> HashSet<String> {
    let columns = raw.names().iter().zip(raw.columns());
    columns
        .filter(|(_, column)| matches!(column, RawColumn::Text { .. }) && !column.is_boolean())
        .map(|(name, _)| name.clone())
        .collect()
}

/// Puts the indicators of their levels in the place of columns of text: the levels, and the features of each column.
fn encode_texts(
    args: &TaskArgs,
    raw: &mut RawTable,
    base: &mut Vec<String>,
) -> Result<(Vec<Indicator>, Vec<Group>), Failure> {
    let excluded = args.excluded();
    let (mut all, mut texts, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let to_encode = text_columns(raw);
    for column in std::mem::take(base) {
        if !to_encode.contains(&column) {
            names.push(column);
            continue;
        }
        let levels = raw.levels(&column, args.rare)?;
        let is_kept = |feature: &&Indicator| !excluded.contains(feature.name.as_str());
        let features = indicators::features(&levels).iter().filter(is_kept);
        let features: Vec<&Indicator> = features.collect();
        raw.add_indicators(&column, &levels.iter().collect::<Vec<_>>(), &features)?;
        let columns: Vec<String> = features.iter().map(|own| own.name.clone()).collect();
        names.extend_from_slice(&columns);
        if !columns.is_empty() {
            texts.push(Group {
                name: column,
                columns,
            });
        }
        all.extend(levels);
    }
    for name in excluded {
        if raw.column(name).is_err() && !all.iter().any(|level| level.name == name) {
            return Err(no_such_column(name, &names).into());
        }
    }
    *base = some_left(names)?;
    Ok((all, texts))
}

/// Fills in, drops or refuses missing values: what was filled in, and how many rows were dropped.
fn settle_missing(
    args: &TaskArgs,
    raw: &mut RawTable,
    features: &[String],
) -> Result<(Vec<(String, f64)>, usize), Failure> {
    let mut imputed = Vec::new();
    if args.impute == Some(Impute::Mean) {
        for (name, _) in raw.missing_in(features)? {
            if let Some(mean) = raw.impute_mean(&name)? {
                imputed.push((name, mean));
            }
        }
    }
    // Text that is refused as text says more than a gap in it, and a gap can be a level.
    let is_settled = args.interactions || args.impute.is_some();
    let texts = match is_settled {
        true => text_columns(raw),
        false => HashSet::new(),
    };
    let features = features.iter().map(String::as_str);
    let used: Vec<String> = features
        .filter(|name| !texts.contains(*name))
        .chain(args.roles().map(|(_, name)| name))
        .map(str::to_owned)
        .collect();
    if args.drop_missing {
        let dropped = raw.drop_missing(&used)?;
        return Ok((imputed, dropped));
    }
    raw.refuse_missing(&used, FILL)?;
    Ok((imputed, 0))
}

/// The features, expanded if asked for, less the excluded ones.
fn features(args: &TaskArgs, raw: RawTable, base: &[String]) -> Result<Named, Failure> {
    if !args.interactions {
        return design::of_file(raw, base);
    }
    let excluded = args.excluded();
    let expanded = interactions(&raw.numeric(base)?)?;
    for name in &excluded {
        if expanded.find(name).is_none() && raw.column(name).is_err() {
            expanded.clone().take_column(name)?;
        }
    }
    if excluded.is_empty() {
        return design::of_table(expanded);
    }
    let (names, rows, values) = expanded.into_parts();
    let kept: Vec<usize> = (0..names.len())
        .filter(|j| !excluded.contains(names[*j].as_str()))
        .collect();
    let kept = some_left(kept)?;
    let values = kept
        .iter()
        .flat_map(|j| &values[j * rows..(j + 1) * rows])
        .copied()
        .collect();
    let names = kept.iter().map(|j| names[*j].clone()).collect();
    design::of_table(Table::new(names, rows, values)?)
}

fn some_left<T>(features: Vec<T>) -> Result<Vec<T>, Failure> {
    if features.is_empty() {
        return Err(Failure::Usage(
            "--exclude leaves no features; exclude fewer columns".into(),
        ));
    }
    Ok(features)
}
