//! Options of `moments` and `convert`: how features are made from rows that are streamed.

use std::path::Path;

use super::{Factors, Impute, TaskArgs};
use crate::columns::ColumnArgs;
use crate::input::InputArgs;
use crate::numbers::count;
use crate::output;
use crate::reading::ReadingArgs;

/// The options for making features, as typed.
#[derive(Debug, clap::Args)]
pub struct MakingArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    columns: ColumnArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Add the product of every pair of features (a:b) and their squares (a^2): of these columns, written as for --features,
    /// or of all; all rows are then read twice
    #[arg(long, value_name = "COLUMNS", num_args = 0..=1, value_parser = Factors::parse, default_missing_value = "")]
    interactions: Option<Factors>,

    /// Fill in missing values: numbers with the mean of their column, text with a level of its own; all rows are then read
    /// twice
    #[arg(long, value_name = "HOW")]
    impute: Option<Impute>,

    /// Drop rows with a missing value in a column that is used
    #[arg(long)]
    drop_missing: bool,

    /// Merge categories that fewer than N rows have into one level, (other)
    #[arg(long, value_name = "N", default_value_t = 5, allow_hyphen_values = true, value_parser = count)]
    rare: usize,

    /// Print one JSON object instead of a sentence
    #[arg(long)]
    pub json: bool,

    /// Print nothing, and no progress
    #[arg(long)]
    pub quiet: bool,
}

impl MakingArgs {
    /// Returns the options as the task of `fit`.
    pub fn task(&self, data: &Path, target: Option<&str>) -> TaskArgs {
        TaskArgs {
            target: target.unwrap_or_default().to_owned(),
            interactions: self.interactions.clone(),
            impute: self.impute,
            drop_missing: self.drop_missing,
            rare: self.rare,
            ..TaskArgs::of_file(data, &self.input, &self.columns, &self.reading)
        }
    }

    /// Prints notes as warnings, unless the output is JSON or quiet.
    pub fn tell(&self, lines: &[String]) {
        if !self.quiet && !self.json {
            output::warn(lines);
        }
    }
}
