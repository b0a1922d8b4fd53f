//! `l0star moments`: what the quadratic loss needs of rows, summed in one stream, however many there are.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use l0star::problem::Moments;
use l0star_data::{DataError, RawTable, Wanted, counted, plural};
use l0star_record::MomentFile;
use serde::Serialize;

use crate::columns::ColumnArgs;
use crate::failure::Failure;
use crate::input::InputArgs;
use crate::numbers::count;
use crate::output;
use crate::reading::ReadingArgs;
use crate::rules::RuleArgs;
use crate::task::{Factors, HuberDelta, Impute, Recipe, Survey, TaskArgs};

pub const EXAMPLES: &str = "\
Examples:
  l0star moments data/diabetes.csv --target target --out diabetes.l0m
  l0star moments year-*.parquet --target price --out prices.l0m
  l0star moments --merge north.l0m south.l0m --out all.l0m
  l0star fit prices.l0m -k 10";

/// Pieces of a file that wait to be summed.
const WAITING: usize = 2;

/// The arguments as typed.
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

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    columns: ColumnArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Column to predict
    #[arg(long, value_name = "COLUMN", required_unless_present = "merge")]
    target: Option<String>,

    /// Add the product of every pair of features (a:b) and their squares (a^2): of these columns, written as for --features,
    /// or of all; all rows are then read twice
    #[arg(long, value_name = "COLUMNS", num_args = 0..=1, value_parser = Factors::parse, default_missing_value = "")]
    interactions: Option<Factors>,

    /// Features to leave out by name, including products such as a:b, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    exclude: Vec<String>,

    /// Column of sample weights, zero or more
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,

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
    json: bool,

    /// Print nothing, and no progress
    #[arg(long)]
    quiet: bool,
}

/// What is printed.
#[derive(Serialize)]
struct Shown<'a> {
    out: String,
    target: &'a str,
    rows: u64,
    weight: f64,
    rows_dropped: usize,
    features: &'a [String],
    files: &'a [String],
    /// How far products can be from those of the rows, relatively.
    error: f64,
}

pub fn run(args: &MomentsArgs) -> Result<ExitCode, Failure> {
    for file in &args.data {
        output::check_files(&Some(args.out.clone()), &None, file)?;
    }
    let made = if args.merge {
        merged(&args.data)?
    } else {
        summed(args)?
    };
    made.save(&args.out)?;
    let MomentFile { moments, about } = &made;
    if args.json {
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
    } else if !args.quiet {
        let rows = plural(usize::try_from(moments.rows()).unwrap_or(usize::MAX), "row");
        let dropped = match about.rows_dropped {
            0 => String::new(),
            dropped => format!(", {} dropped for missing values", counted(dropped, "row")),
        };
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

/// The moments of several files together.
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

/// The moments of the rows of all files.
fn summed(args: &MomentsArgs) -> Result<MomentFile, Failure> {
    let task = task(args);
    let mut first = None;
    let mut keep = |piece: RawTable| {
        first = Some(piece);
        Ok(false)
    };
    let input = &args.input;
    input.stream(&args.data[0], &Wanted::default(), true, &mut keep)?;
    let Some(first) = first else {
        return Err(Failure::BadData(format!(
            "{}: there are no rows",
            args.data[0].display()
        )));
    };
    let mut recipe = Recipe::new(&task, first).map_err(|failure| failure.in_file(&args.data[0]))?;
    schemas(args, &recipe)?;
    if !args.quiet && !args.json {
        output::warn(&recipe.notes);
        if let Some(reason) = recipe.needs_survey() {
            output::warn(&[format!("all rows are read twice: {reason}")]);
        }
    }
    if recipe.needs_survey().is_some() {
        let mut survey = Survey::default();
        each_piece(args, &recipe, |piece| recipe.survey(&mut survey, piece))?;
        recipe.settle(&survey)?;
    }
    let mut moments = Moments::new(recipe.names().to_vec())?;
    let mut dropped = 0;
    each_piece(args, &recipe, |piece| {
        let file = piece.file().to_path_buf();
        let (batch, gone) = recipe.apply(piece)?;
        dropped += gone;
        if let Some(batch) = batch {
            let added = moments.add(&batch.design, &batch.response, batch.weights.as_deref());
            added.map_err(|error| Failure::BadData(format!("{}: {error}", file.display())))?;
        }
        Ok(())
    })?;
    if moments.rows() == 0 {
        return Err(Failure::BadData(format!(
            "{}: no row is left: all have missing values, or no weight; drop the columns that miss the most",
            args.data[0].display()
        )));
    }
    let files = args.data.iter().map(|file| file.display().to_string());
    Ok(MomentFile {
        about: recipe.about(files.collect(), dropped),
        moments,
    })
}

/// Refuses files with other columns than the first, before the long part.
fn schemas(args: &MomentsArgs, recipe: &Recipe) -> Result<(), Failure> {
    let first = args.data[0].display().to_string();
    for file in &args.data[1..] {
        let mut check = |piece: RawTable| recipe.check_schema(&first, &piece).map(|()| false);
        args.input
            .stream(file, &Wanted::default(), true, &mut check)?;
    }
    Ok(())
}

/// Reads all files, and takes their pieces on a thread of its own while the next are read.
fn each_piece(
    args: &MomentsArgs,
    recipe: &Recipe,
    mut take: impl FnMut(RawTable) -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    let (used, texts) = (&recipe.used, &recipe.texts);
    let wanted = Wanted {
        columns: Some(used),
        texts,
    };
    let (sender, receiver) = mpsc::sync_channel::<RawTable>(WAITING);
    thread::scope(|scope| {
        let taker = scope.spawn(move || {
            // Dropped with the first failure, so that the reader stops.
            let receiver = receiver;
            while let Ok(piece) = receiver.recv() {
                let file = piece.file().to_path_buf();
                take(piece).map_err(|failure| failure.in_file(&file))?;
            }
            Ok(())
        });
        let read = |file: &Path| -> Result<bool, DataError> {
            let mut goes_on = true;
            let mut send = |piece: RawTable| {
                goes_on = sender.send(piece).is_ok();
                Ok(goes_on)
            };
            args.input.stream(file, &wanted, args.quiet, &mut send)?;
            Ok(goes_on)
        };
        let mut outcome = Ok(());
        for file in &args.data {
            match read(file) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    outcome = Err(error.into());
                    break;
                }
            }
        }
        drop(sender);
        let taken = taker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        taken.and(outcome)
    })
}

/// The options as `fit` takes them.
fn task(args: &MomentsArgs) -> TaskArgs {
    TaskArgs {
        data: args.data[0].clone(),
        input: args.input.clone(),
        columns: args.columns.clone(),
        reading: args.reading.clone(),
        target: args.target.clone().unwrap_or_default(),
        loss: "quadratic".into(),
        huber_delta: HuberDelta::Auto,
        no_intercept: false,
        no_standardize: false,
        standardize: false,
        interactions: args.interactions.clone(),
        exclude: args.exclude.clone(),
        weights: args.weights.clone(),
        offset: None,
        survival: Default::default(),
        impute: args.impute,
        drop_missing: args.drop_missing,
        rare: args.rare,
        refit: false,
        holdout: None,
        seed: 1,
        rules: RuleArgs::default(),
    }
}
