//! The options about data, as typed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use l0star::loss::{self, Loss};
use l0star_data::{RawTable, Selection};

use super::survival::SurvivalArgs;
use crate::columns::ColumnArgs;
use crate::failure::Failure;
use crate::input::InputArgs;
use crate::numbers::{count, positive};
use crate::reading::ReadingArgs;
use crate::rules::RuleArgs;
use crate::units;

/// The data options as typed.
#[derive(Debug, Clone, clap::Args)]
pub struct TaskArgs {
    /// Data file, or - for standard input
    pub data: PathBuf,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub columns: ColumnArgs,

    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Column to predict, or several separated by commas (quadratic loss), which share their features; with logistic and squared-hinge any two labels, with poisson counts, with gamma numbers above 0, with cox
    /// times, with multinomial any labels. Not needed for a file of
    /// moments
    #[arg(
        long,
        value_name = "COLUMN",
        default_value = "",
        hide_default_value = true
    )]
    pub target: String,

    /// The columns that the target names, where there are several; known when the file is
    #[arg(skip)]
    pub targets: Vec<String>,

    /// How to measure the distance to the target
    #[arg(long, value_name = "LOSS", default_value = "quadratic",
          value_parser = PossibleValuesParser::new([loss::NAMES, loss::JOINT_NAMES, loss::CLASS_NAMES].concat()))]
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

    /// Add the product of every pair of features (a:b) and their squares (a^2): of these columns, written as for --features,
    /// or of all
    #[arg(long, value_name = "COLUMNS", num_args = 0..=1, value_parser = Factors::parse, default_missing_value = "")]
    pub interactions: Option<Factors>,

    /// Features to leave out by name, including products such as a:b, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub exclude: Vec<String>,

    /// Column of sample weights, zero or more
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,

    /// Column to add to every prediction; with poisson and gamma to its logarithm: there it is the logarithm of the exposure. With
    /// several targets, or classes, a column for each of them: o1,o2,o3
    #[arg(long, value_name = "COLUMNS")]
    pub offset: Option<String>,

    /// The columns that the offset names, where there are several; known when the file is
    #[arg(skip)]
    pub offsets: Vec<String>,

    #[command(flatten)]
    pub survival: SurvivalArgs,

    /// Fill in missing values: numbers with the mean of their column, text with a level of its own. The model stores these
    /// for predictions
    #[arg(long, value_name = "HOW")]
    pub impute: Option<Impute>,

    /// Drop rows with a missing value in a column that is used
    #[arg(long)]
    pub drop_missing: bool,

    /// Merge categories that fewer than N rows have into one level, (other)
    #[arg(long, value_name = "N", default_value_t = 5, allow_hyphen_values = true, value_parser = count)]
    pub rare: usize,

    /// Fit the chosen features once more without the ridge: the coefficients are those, objective and bound stay about the
    /// choice
    #[arg(long)]
    pub refit: bool,

    /// Hold this share of the rows out (20% or 0.2; of each label, of events and of censored times): nothing is learnt from them, and the result says how
    /// good the model is on them
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = units::part)]
    pub holdout: Option<f64>,

    /// Seed of everything that is drawn, such as held-out rows: the same seed gives the same result
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 1,
        allow_hyphen_values = true
    )]
    pub seed: u64,

    /// Take this for the available memory
    #[arg(long, value_name = "SIZE", hide = true, value_parser = units::size)]
    pub available_memory: Option<u64>,

    #[command(flatten)]
    pub rules: RuleArgs,
}

/// The columns whose products become features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Factors {
    /// All features.
    All,
    /// The selected features.
    Chosen(Selection),
}

impl Factors {
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "" => Ok(Self::All),
            _ => Selection::parse(text).map(Self::Chosen),
        }
    }
}

/// The residual at which the Huber loss turns linear.
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

    /// Returns the given number, `None` for `auto`.
    pub(super) fn value(self) -> Option<f64> {
        match self {
            Self::Auto => None,
            Self::Value(delta) => Some(delta),
        }
    }
}

/// The replacement for missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Impute {
    // The mean of the column. The help of the option says so: help on a single value would change its layout.
    Mean,
}

impl TaskArgs {
    /// Returns the arguments of a file and how to read it, with all else at its default.
    pub fn of_file(
        data: &Path,
        input: &InputArgs,
        columns: &ColumnArgs,
        reading: &ReadingArgs,
    ) -> Self {
        Self {
            data: data.to_path_buf(),
            input: input.clone(),
            columns: columns.clone(),
            reading: reading.clone(),
            target: String::new(),
            targets: Vec::new(),
            loss: "quadratic".into(),
            huber_delta: HuberDelta::Auto,
            no_intercept: false,
            no_standardize: false,
            standardize: false,
            interactions: None,
            exclude: Vec::new(),
            weights: None,
            offset: None,
            offsets: Vec::new(),
            survival: SurvivalArgs::default(),
            impute: None,
            drop_missing: false,
            rare: 5,
            refit: false,
            holdout: None,
            seed: 1,
            available_memory: None,
            rules: RuleArgs::default(),
        }
    }

    /// Returns the columns that are not features, each with its role.
    pub(super) fn roles(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let several = self.targets.iter().map(|name| ("--target", name.as_str()));
        let one =
            Some(self.target.as_str()).filter(|name| !name.is_empty() && self.targets.is_empty());
        let one = one.map(|name| ("--target", name)).into_iter();
        let weights = self.weights.as_deref().map(|name| ("--weights", name));
        let offset = self.offset.as_deref().filter(|_| self.offsets.is_empty());
        let offset = offset
            .into_iter()
            .chain(self.offsets.iter().map(String::as_str));
        // One column may be the offset of several responses.
        let mut known = HashSet::new();
        let offset = offset.filter(move |name| known.insert(*name));
        let offset = offset.map(|name| ("--offset", name));
        let own = one.chain(several).chain(weights).chain(offset);
        own.chain(self.survival.roles())
    }

    /// Splits the target and the offset into column names, unless the file has a column with the whole name.
    pub(super) fn with_targets(&self, raw: &RawTable) -> Result<Self, Failure> {
        let mut args = self.clone();
        let is_list = |name: &String| name.contains(',') && raw.position(name).is_err();
        if let Some(offset) = self.offset.as_ref().filter(|name| is_list(name)) {
            let names = offset.split(',').map(|name| name.trim().to_owned());
            args.offsets = names.filter(|name| !name.is_empty()).collect();
            args.check_roles()?;
        }
        if self.target.contains(',') && raw.position(&self.target).is_err() {
            let names = self.target.split(',').map(|name| name.trim().to_owned());
            args.targets = names.filter(|name| !name.is_empty()).collect();
            if let [one] = &args.targets[..] {
                args.target = one.clone();
                args.targets.clear();
            }
            args.check_roles()?;
        }
        Ok(args)
    }

    /// Requires a target; only a file of moments or a column store may know it.
    pub(super) fn check_target(&self) -> Result<(), Failure> {
        if !self.target.is_empty() {
            return Ok(());
        }
        Err(Failure::Usage(
            "--target is missing: name the column to predict (l0star inspect lists the columns)"
                .into(),
        ))
    }

    pub(super) fn check_roles(&self) -> Result<(), Failure> {
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

    /// Returns the offset columns: none, one, or one for each response or class.
    pub fn offset_names(&self) -> Vec<&str> {
        match &self.offsets[..] {
            [] => self.offset.as_deref().into_iter().collect(),
            several => several.iter().map(String::as_str).collect(),
        }
    }

    /// Refuses options that do not go with several targets.
    pub(super) fn check_several(&self, loss: &dyn Loss) -> Result<(), Failure> {
        if !loss.is_quadratic() {
            return Err(Failure::Usage(format!(
                "--target names {} columns, and the loss '{}' fits one; name one, or use --loss quadratic",
                self.targets.len(),
                loss.name()
            )));
        }
        Ok(())
    }

    pub(super) fn excluded(&self) -> HashSet<&str> {
        let names = self.exclude.iter().map(|name| name.trim());
        names.filter(|name| !name.is_empty()).collect()
    }
}
