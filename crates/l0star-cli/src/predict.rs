//! `l0star predict`: applies a model to other data.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use l0star_data::frame::Values;
use l0star_data::{Format, Frame, RawTable, save_frame};
use l0star_record::Model;
use l0star_record::model::Unseen;
use l0star_record::several;
use l0star_record::survival::Survival;

use crate::failure::{Failure, SOLVED};
use crate::input::InputArgs;
use crate::output;

pub const EXAMPLES: &str = "\
Examples:
  l0star fit data/diabetes.csv --target target -k 5 --out model.json
  l0star predict model.json data/diabetes.csv
  l0star predict model.json new.parquet --out predictions.parquet
  l0star predict model.json data/diabetes.csv --residuals --out residuals.csv
  l0star predict cox.json patients.csv --horizon 365

Columns: prediction; with several responses one for each, such as y1_prediction, and with the multinomial loss also the probability
of each class, such as probability_a (with the Poisson and gamma losses the expected response); for labels also score (the linear predictor) and, with the logistic loss,
probability (of the positive label); with --residuals also target and residual. With the Cox loss: score (the linear predictor),
hazard_ratio (beside a row with the mean score of the data that were fitted) and, with --horizon, survival.";

#[derive(Debug, clap::Args)]
pub struct PredictArgs {
    /// Model that fit --out wrote
    pub model: PathBuf,

    /// Data file, or - for standard input; columns are found by their names
    pub data: PathBuf,

    #[command(flatten)]
    pub input: InputArgs,

    /// Output file: .csv, .tsv (.gz, .zst), .parquet or .arrow; - is standard output, as CSV
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,

    /// Also write the target and the residual
    #[arg(long)]
    pub residuals: bool,

    /// With the Cox loss: also write the probability that there is no event up to this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub horizon: Option<f64>,

    /// Put an apostrophe before labels that a spreadsheet would run as a formula (=, +, -, @); not for Parquet or Arrow
    #[arg(long)]
    pub safe_csv: bool,
}

/// Reads the model and the data, and writes one row of predictions per row of data.
pub fn run(args: &PredictArgs) -> Result<ExitCode, Failure> {
    let to_stdout = args.out == Path::new("-");
    if !to_stdout {
        output::check_writable(&args.out)?;
        output::check_distinct("--out", &args.out, "the data", &args.data)?;
        output::check_distinct("--out", &args.out, "the model", &args.model)?;
    }
    if args.safe_csv && !to_stdout && !is_delimited(&args.out) {
        return Err(Failure::Usage(format!(
            "--safe-csv is for CSV and TSV files, which spreadsheets open, and '{}' is none; drop one of them",
            args.out.display()
        )));
    }
    let model = Model::load(&args.model)?;
    check_options(args, &model)?;
    let mut table = args
        .input
        .load_for(&args.data, model.reading.decimal_comma)?;
    output::warn(table.notes());
    // The model itself reads its features from the table.
    model.reading.only(&model.targets()).apply(&mut table)?;
    let mut frame = match &model.survival {
        Some(survival) => hazards(&model, survival, &table, args.horizon)?,
        None if !model.fitted.classes.is_empty() => classes(&model, &table, args.residuals)?,
        None if !model.fitted.responses.is_empty() => responses(&model, &table, args.residuals)?,
        None => predictions(&model, &table, args.residuals)?,
    };
    if args.safe_csv {
        frame = frame.without_formulas();
    }
    if to_stdout {
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = frame.write_text(&mut text, ',');
        output::print_bytes(&text)?;
    } else {
        save_frame(&args.out, &frame)?;
    }
    Ok(ExitCode::from(SOLVED))
}

/// Refuses options that do not apply to the model.
fn check_options(args: &PredictArgs, model: &Model) -> Result<(), Failure> {
    if model.survival.is_some() && args.residuals {
        return Err(Failure::Usage(format!(
            "--residuals are those of a predicted number, and the loss '{}' predicts hazards; drop it, or use --horizon TIME for survival probabilities",
            model.fitted.loss
        )));
    }
    match args.horizon {
        Some(_) if model.survival.is_none() => Err(Failure::Usage(format!(
            "--horizon is a time of a survival curve, and a model with the loss '{}' has none; drop it, or fit with --loss cox",
            model.fitted.loss
        ))),
        Some(horizon) if !(horizon >= 0.0 && horizon.is_finite()) => Err(Failure::Usage(format!(
            "--horizon {horizon} is no time; give a number >= 0"
        ))),
        _ => Ok(()),
    }
}

/// Returns scores, hazard ratios and, given a time, the probability of no event up to it.
fn hazards(
    model: &Model,
    survival: &Survival,
    table: &RawTable,
    horizon: Option<f64>,
) -> Result<Frame<'static>, Failure> {
    let (scores, unseen) = model.predict_seen(table)?;
    warn_of(&unseen);
    let numbers = |values: Vec<f64>| Values::Numbers(Cow::Owned(values));
    let mut frame = Frame::new(scores.len());
    let ratios = scores.iter().map(|score| survival.ratio(*score)).collect();
    if let Some(time) = horizon {
        let strata = survival
            .strata
            .as_deref()
            .map(|name| table.categories(name));
        let strata = strata.transpose()?;
        let mut chances = Vec::with_capacity(scores.len());
        for (row, score) in scores.iter().enumerate() {
            let stratum = strata.as_ref();
            let stratum = stratum.map(|(codes, names)| names[codes[row] as usize].as_str());
            let Some(chance) = survival.probability(stratum, *score, time) else {
                let column = survival.strata.as_deref().unwrap_or_default();
                let place = table.place(table.position(column)?, row);
                return Err(Failure::BadData(format!(
                    "{place}: the model has no survival curve for the stratum '{}'; leave the row out, or fit with rows of it",
                    stratum.unwrap_or_default()
                )));
            };
            chances.push(chance);
        }
        frame.push("survival", numbers(chances));
    }
    frame.push("hazard_ratio", numbers(ratios));
    frame.push("score", numbers(scores));
    Ok(frame)
}

fn warn_of(unseen: &Unseen) {
    let warnings = unseen.iter().map(|(column, rows)| {
        let have = if *rows == 1 { "row has" } else { "rows have" };
        format!("{rows} {have} a text in '{column}' that the model has never seen: counted as none of its levels")
    });
    output::warn(&warnings.collect::<Vec<_>>());
}

/// Whether the name is that of delimited text. Other formats keep text apart from formulas.
fn is_delimited(path: &Path) -> bool {
    Format::of_name(path) == Some(Format::Csv)
}

/// Returns the most probable of several classes and the probability of each.
fn classes(model: &Model, table: &RawTable, residuals: bool) -> Result<Frame<'static>, Failure> {
    if residuals {
        return Err(Failure::Usage(
            "--residuals are those of a number or of two labels, and the model has several classes; drop it".into(),
        ));
    }
    let (all, unseen) = model.predict_each(table)?;
    warn_of(&unseen);
    let names = &model.fitted.classes;
    let row = |row: usize| -> Vec<f64> { all.iter().map(|scores| scores[row]).collect() };
    let rows: Vec<Vec<f64>> = (0..table.rows()).map(row).collect();
    let best = rows.iter().map(|scores| several::best(scores));
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    let best = match numbers.filter(|all| all.iter().all(|number| number.is_finite())) {
        Some(numbers) => Values::Numbers(best.map(|class| numbers[class]).collect()),
        None => Values::Texts(best.map(|class| names[class].clone()).collect()),
    };
    let chances: Vec<Vec<f64>> = rows.iter().map(|own| several::probabilities(own)).collect();
    let mut frame = Frame::new(table.rows());
    frame.push("prediction", best);
    for (class, name) in names.iter().enumerate() {
        let own = chances.iter().map(|chances| chances[class]).collect();
        frame.push(
            format!("probability_{name}"),
            Values::Numbers(Cow::Owned(own)),
        );
    }
    Ok(frame)
}

/// Returns one column per response, named after it.
fn responses(model: &Model, table: &RawTable, residuals: bool) -> Result<Frame<'static>, Failure> {
    let (all, unseen) = model.predict_each(table)?;
    warn_of(&unseen);
    let mut frame = Frame::new(table.rows());
    for (name, predicted) in model.fitted.responses.iter().zip(all) {
        if residuals {
            let target = table.number(name)?;
            let residual = target.iter().zip(&predicted).map(|(b, z)| b - z).collect();
            frame.push(
                format!("{name}_target"),
                Values::Numbers(Cow::Owned(target)),
            );
            frame.push(
                format!("{name}_residual"),
                Values::Numbers(Cow::Owned(residual)),
            );
        }
        frame.push(
            format!("{name}_prediction"),
            Values::Numbers(Cow::Owned(predicted)),
        );
    }
    Ok(frame)
}

fn predictions(
    model: &Model,
    table: &RawTable,
    residuals: bool,
) -> Result<Frame<'static>, Failure> {
    let (scores, unseen) = model.predict_seen(table)?;
    warn_of(&unseen);
    let mut frame = Frame::new(scores.len());
    let numbers = |values: Vec<f64>| Values::Numbers(Cow::Owned(values));
    let probabilities: Option<Vec<f64>> = scores
        .iter()
        .map(|score| model.probability(*score))
        .collect();
    if let Some(labels) = model.label(&scores) {
        frame.push("prediction", labels);
        if let Some(probabilities) = &probabilities {
            frame.push("probability", numbers(probabilities.clone()));
        }
        frame.push("score", numbers(scores.clone()));
    } else {
        frame.push("prediction", numbers(model.expectations(&scores)));
    }
    if !residuals {
        return Ok(frame);
    }
    match (&model.labels, probabilities) {
        (None, _) => {
            let target = table.number(&model.target)?;
            let expected = model.expectations(&scores);
            let residual = target.iter().zip(&expected).map(|(b, z)| b - z).collect();
            frame.push("target", numbers(target));
            frame.push("residual", numbers(residual));
        }
        (Some(labels), Some(probabilities)) => {
            let found = table.labelled(&model.target, labels)?;
            let residual = found.iter().zip(probabilities);
            let residual = residual.map(|(b, p)| f64::from(*b) - p).collect();
            let shown = found.iter().map(|b| if *b { 1.0 } else { -1.0 });
            let shown: Vec<f64> = shown.collect();
            frame.push("target", model.label(&shown).expect("the model has labels"));
            frame.push("residual", numbers(residual));
        }
        (Some(_), None) => {
            return Err(Failure::Usage(format!(
                "--residuals are those of a probability, and the loss '{}' has none; drop --residuals, or fit with --loss logistic",
                model.fitted.loss
            )));
        }
    }
    Ok(frame)
}
