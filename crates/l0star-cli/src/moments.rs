//! `l0star moments`: sums what the quadratic loss needs in one pass over any number of rows.

use std::path::PathBuf;
use std::process::ExitCode;

use l0star_data::{counted, plural};
use l0star_record::MomentFile;
use serde::Serialize;

use crate::failure::Failure;
use crate::output;
use crate::task::{self, MakingArgs, TaskArgs};

pub const EXAMPLES: &str = "\
Examples:
  l0star moments data/diabetes.csv --target target --out diabetes.l0m
  l0star moments year-*.parquet --target price --out prices.l0m
  l0star moments --merge north.l0m south.l0m --out all.l0m
  l0star fit prices.l0m -k 10";

/// The arguments of `moments` as typed.
#[derive(Debug, clap::Args)]
pub struct MomentsArgs {
    /// Data files with the same columns; with --merge files of moments
    #[arg(required = true)]
    data: Vec<PathBuf>,

    /// Merge files of moments instead of summing rows
    #[arg(long, conflicts_with_all = ["target", "interactions", "exclude", "weights", "impute", "drop_missing", "rare"])]
    merge: bool,

    /// Write the moments to this file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Column to predict
    #[arg(long, value_name = "COLUMN", required_unless_present = "merge")]
    target: Option<String>,

    /// Features to leave out by name, including products such as a:b, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    exclude: Vec<String>,

    /// Column of sample weights, zero or more
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,

    #[command(flatten)]
    making: MakingArgs,
}

/// The printed summary.
#[derive(Serialize)]
struct Shown<'a> {
    out: String,
    target: &'a str,
    rows: u64,
    weight: f64,
    rows_dropped: usize,
    features: &'a [String],
    files: &'a [String],
    /// Relative error bound of the products against those of the rows.
    error: f64,
}

pub fn run(args: &MomentsArgs) -> Result<ExitCode, Failure> {
    for file in &args.data {
        output::check_files(&Some(args.out.clone()), &None, file)?;
    }
    let made = if args.merge {
        merged(&args.data)?
    } else {
        let tell = |lines: &[String]| args.making.tell(lines);
        task::sum(&task(args), &args.data, args.making.quiet, &tell)?
    };
    made.save(&args.out)?;
    let MomentFile { moments, about } = &made;
    if args.making.json {
        output::print_json(&Shown {
            out: args.out.display().to_string(),
            target: &about.target,
            rows: moments.rows(),
            weight: moments.weight(),
            rows_dropped: about.rows_dropped,
            features: moments.names(),
            files: &about.files,
            error: moments.error(),
        })?;
    } else if !args.making.quiet {
        let rows = plural(usize::try_from(moments.rows()).unwrap_or(usize::MAX), "row");
        let dropped = output::dropped(about.rows_dropped);
        output::print(&format!(
            "moments of {} {rows} and {} for '{}'{dropped}: {}\n",
            moments.rows(),
            counted(moments.names().len(), "feature"),
            about.target,
            args.out.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads several files of moments and merges them.
fn merged(files: &[PathBuf]) -> Result<MomentFile, Failure> {
    let mut all: Option<MomentFile> = None;
    for file in files {
        if !MomentFile::is_at(file) && file.is_file() {
            return Err(Failure::BadData(format!(
                "{}: this is no file of moments; make one of it with l0star moments, without --merge",
                file.display()
            )));
        }
        let own = MomentFile::load(file)?;
        match &mut all {
            None => all = Some(own),
            Some(all) => all.merge(&own).map_err(|reason| {
                Failure::BadData(format!(
                    "{} cannot be merged with {}: {reason}",
                    file.display(),
                    files[0].display()
                ))
            })?,
        }
    }
    all.ok_or_else(|| Failure::Usage("give at least one file of moments".into()))
}

/// Returns the options as the task of `fit`.
fn task(args: &MomentsArgs) -> TaskArgs {
    TaskArgs {
        exclude: args.exclude.clone(),
        weights: args.weights.clone(),
        ..args.making.task(&args.data[0], args.target.as_deref())
    }
}
