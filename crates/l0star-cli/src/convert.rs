//! `l0star convert`: the columns of files as a column store, which fits map into memory.

use std::path::PathBuf;
use std::process::ExitCode;

use l0star_data::counted;
use l0star_data::store::Precision;
use serde::Serialize;

use crate::columns::ColumnArgs;
use crate::failure::Failure;
use crate::input::InputArgs;
use crate::numbers::count;
use crate::output;
use crate::reading::ReadingArgs;
use crate::task::{self, Factors, Impute, TaskArgs};

pub const EXAMPLES: &str = "\
Examples:
  l0star convert claims.parquet claims.l0d --f32
  l0star convert year-*.csv years.l0d --target died --impute mean
  l0star fit claims.l0d --target cost --loss gamma -k 10";

/// The arguments as typed.
#[derive(Debug, clap::Args)]
pub struct ConvertArgs {
    /// Data files with the same columns, then the column store to write (.l0d)
    #[arg(required = true, num_args = 2.., value_names = ["DATA", "OUT"])]
    files: Vec<PathBuf>,

    /// Store numbers in single precision: half the size, seven digits
    #[arg(long)]
    f32: bool,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    columns: ColumnArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Column to predict: it may have two labels, and fits need not name it
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// Add the product of every pair of features (a:b) and their squares (a^2): of these columns, written as for --features,
    /// or of all
    #[arg(long, value_name = "COLUMNS", num_args = 0..=1, value_parser = Factors::parse, default_missing_value = "")]
    interactions: Option<Factors>,

    /// Fill in missing values: numbers with the mean of their column, text with a level of its own
    #[arg(long, value_name = "HOW")]
    impute: Option<Impute>,

    /// Drop rows with a missing value
    #[arg(long)]
    drop_missing: bool,

    /// Merge categories that fewer than N rows have into one level, (other)
    #[arg(long, value_name = "N", default_value_t = 5, allow_hyphen_values = true, value_parser = count)]
    rare: usize,

    /// Print one JSON object instead of a sentence
    #[arg(long)]
    json: bool,

    /// Print nothing, and no progress
    #[arg(long)]
    quiet: bool,
}

/// What is printed.
#[derive(Serialize)]
struct Shown<'a> {
    out: String,
    rows: usize,
    rows_dropped: usize,
    columns: &'a [String],
    target: Option<&'a str>,
    precision: &'static str,
    files: &'a [String],
}

pub fn run(args: &ConvertArgs) -> Result<ExitCode, Failure> {
    let Some((out, data)) = args.files.split_last().filter(|(_, data)| !data.is_empty()) else {
        return Err(Failure::Usage(
            "give at least one data file, then the file to write".into(),
        ));
    };
    if out.extension().is_none_or(|extension| extension != "l0d") {
        return Err(Failure::Usage(format!(
            "{}: the file to write comes last, and its name ends in .l0d",
            out.display()
        )));
    }
    for file in data {
        output::check_files(&Some(out.clone()), &None, file)?;
    }
    let tell = |lines: &[String]| {
        if !args.quiet && !args.json {
            output::warn(lines);
        }
    };
    let precision = if args.f32 {
        Precision::Single
    } else {
        Precision::Double
    };
    let made = task::store(
        &task(args, &data[0]),
        data,
        out,
        precision,
        args.quiet,
        &tell,
    )?;
    let dropped = made.about.rows_dropped;
    if args.json {
        output::print_json(&Shown {
            out: out.display().to_string(),
            rows: made.rows,
            rows_dropped: dropped,
            columns: &made.names,
            target: args.target.as_deref(),
            precision: if args.f32 { "f32" } else { "f64" },
            files: &made.about.files,
        })?;
    } else if !args.quiet {
        let dropped = output::dropped(dropped);
        output::print(&format!(
            "{} of {}{dropped}: {}\n",
            counted(made.names.len(), "column"),
            counted(made.rows, "row"),
            out.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The options as `fit` takes them.
fn task(args: &ConvertArgs, first: &std::path::Path) -> TaskArgs {
    TaskArgs {
        target: args.target.clone().unwrap_or_default(),
        interactions: args.interactions.clone(),
        impute: args.impute,
        drop_missing: args.drop_missing,
        rare: args.rare,
        ..TaskArgs::of_file(
            first.to_path_buf(),
            &args.input,
            &args.columns,
            &args.reading,
        )
    }
}
