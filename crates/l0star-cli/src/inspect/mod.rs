//! `l0star inspect`: shows what a data file holds, before anything is fitted to it.

mod advice;
mod listing;

use std::path::PathBuf;
use std::process::ExitCode;

use l0star_data::summary::{ColumnSummary, Summary};
use l0star_data::{RawTable, Trouble};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, SOLVED};
use crate::input::InputArgs;
use crate::output;
use crate::screen::Screen;

pub const EXAMPLES: &str = "\
Examples:
  l0star inspect data/diabetes.csv
  l0star inspect patients.csv.gz --target died --json
  zcat rcv1.svm.gz | l0star inspect -";

#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    /// Data file, or - for standard input
    pub data: PathBuf,

    #[command(flatten)]
    pub input: InputArgs,

    /// Column to predict: its labels are counted, and it is not listed as a feature
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,

    /// List every column, however many there are
    #[arg(long)]
    pub all: bool,

    /// Print one JSON object instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Reads the file and prints its summary.
pub fn run(args: &InspectArgs) -> Result<ExitCode, Failure> {
    let table = args.input.load(&args.data, false)?;
    let target = args.target.as_deref().map(|name| table.position(name));
    let target = target.transpose()?;
    let summary = Summary::of(&table);
    let view = View {
        table: &table,
        summary: &summary,
        troubles: advice::troubles(&table, target)?,
        target,
        all: args.all,
    };
    if args.json {
        output::print_json(&view.report())?;
    } else {
        output::print(&view.render(&Screen::of_stdout()))?;
    }
    Ok(ExitCode::from(SOLVED))
}

/// The JSON output of `inspect`.
#[derive(Serialize)]
struct Report<'a> {
    file: String,
    format: &'static str,
    rows: usize,
    columns: usize,
    bytes: usize,
    has_names: bool,
    target: Option<&'a str>,
    labels: Option<Map<String, Value>>,
    warnings: Vec<String>,
    /// The command that fits a model to the file, with an option for every problem.
    fit: String,
    variables: Vec<Variable<'a>>,
}

#[derive(Serialize)]
struct Variable<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    missing: usize,
    infinite: usize,
    constant: bool,
    duplicate_of: Option<&'a str>,
    looks_like: Option<&'static str>,
    levels: Option<usize>,
    min: Option<f64>,
    mean: Option<f64>,
    max: Option<f64>,
    sd: Option<f64>,
    labels: Option<Map<String, Value>>,
}

struct View<'a> {
    table: &'a RawTable,
    summary: &'a Summary,
    troubles: Vec<Trouble>,
    target: Option<usize>,
    all: bool,
}

impl View<'_> {
    fn report(&self) -> Report<'_> {
        let labels = |column: &ColumnSummary| {
            let labels = column.labels.as_ref()?;
            let counts = labels.iter();
            Some(
                counts
                    .map(|(label, count)| (label.clone(), Value::from(*count)))
                    .collect(),
            )
        };
        let variable = |(j, column): (usize, &ColumnSummary)| Variable {
            name: self.name(j),
            kind: column.kind.as_str(),
            missing: column.missing,
            infinite: column.infinite,
            constant: column.is_constant,
            duplicate_of: column.duplicate_of.map(|j| self.name(j)),
            looks_like: self
                .looks_like(self.name(j))
                .map(|own| own.problem.as_str()),
            levels: column.levels,
            min: column.scale.map(|scale| scale.min),
            mean: column.scale.map(|scale| scale.mean),
            max: column.scale.map(|scale| scale.max),
            sd: column.scale.map(|scale| scale.sd),
            labels: labels(column),
        };
        Report {
            file: self.table.file().display().to_string(),
            format: self.table.format().as_str(),
            rows: self.table.rows(),
            columns: self.summary.columns.len(),
            bytes: self.table.bytes(),
            has_names: self.table.has_names(),
            target: self.target.map(|j| self.name(j)),
            labels: self.target.and_then(|j| labels(&self.summary.columns[j])),
            warnings: self.warnings(),
            fit: self.fit(),
            variables: self
                .summary
                .columns
                .iter()
                .enumerate()
                .map(variable)
                .collect(),
        }
    }

    /// Returns what is suspicious about the values of a column, gaps and constants aside.
    fn looks_like(&self, name: &str) -> Option<&Trouble> {
        let mut own = self.troubles.iter().filter(|own| own.column == name);
        own.find(|own| advice::is_told(&own.problem))
    }

    fn name(&self, j: usize) -> &str {
        &self.table.names()[j]
    }
}
