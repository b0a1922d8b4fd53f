//! The arguments as typed. Each value is in its range; whether they fit the data shows in `ready`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::checkpoint::CheckpointArgs;
use crate::cv::CvArgs;
use crate::explain::ExplainArgs;
use crate::input::FORMATS;
use crate::inspect::InspectArgs;
use crate::manual::{CompletionsArgs, ManArgs};
use crate::path::PathArgs;
use crate::predict::PredictArgs;
use crate::reproduce::ReproduceArgs;
use crate::search::SearchArgs;
use crate::task::TaskArgs;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  l0star fit data/diabetes.csv --target target -k 5
  l0star fit patients.csv --target died --loss logistic -k 8 --time-limit 1m --json
  l0star cv patients.csv --target died --loss logistic -k 8 --out model.json
  l0star predict model.json new-patients.csv
  l0star inspect patients.csv --target died
  l0star generate huber -d 200 --seed 7 --out huber.csv

Exit codes: 0 solved to the requested gap (or a heuristic finished), 2 wrong usage,
3 bad data, 4 stopped at a limit (that of double precision included), 130 interrupted
(4 and 130 write the best model found).";

const FIT_EXAMPLES: &str = "\
Examples:
  l0star fit data/diabetes.csv --target target -k 5
  l0star fit data/diabetes.csv --target target -k 5 --interactions --json
  l0star fit houses.parquet --target price -k 4 --loss huber --huber-delta 2 --drop id,city
  l0star fit genes.csv.gz --target c1 -k 6 --no-header --features 'c*' --drop 2,5-9
  zcat rcv1.svm.gz | l0star fit - --target b --loss logistic -k 10
  l0star fit patients.csv --target died --loss logistic -k 8 --weights n --out model.json --report model.html
  l0star fit data/diabetes.csv --target target -k 5 --within 1%
  l0star fit data/diabetes.csv --target target -k 5 --prices --include age --nonnegative bmi,bp
  l0star fit large.npy --target x1000 -k 20 --time-limit 8h --checkpoint large.ckpt
  l0star fit large.npy --target x1000 -k 20 --resume large.ckpt";

const GENERATE_EXAMPLES: &str = "\
Examples:
  l0star generate huber -d 200 --seed 7 --out huber.csv
  l0star generate ar -d 1000 -k 10 -n 2000 --rho 0.9 --out ar.parquet
  l0star generate diabetes --out diabetes65.csv";

/// Finds the provably best sparse model: at most k features, and a certificate that none are better.
#[derive(Debug, Parser)]
#[command(name = "l0star", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fit the best model with at most k features to a data file
    #[command(after_help = format!("{FIT_EXAMPLES}\n\n{FORMATS}"))]
    Fit(Box<FitArgs>),
    /// Choose k and the ridge by cross-validation
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::cv::EXAMPLES))]
    Cv(Box<CvArgs>),
    /// Apply a model to other data
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::predict::EXAMPLES))]
    Predict(PredictArgs),
    /// Say what was proved of a model, and how
    #[command(after_help = crate::explain::EXAMPLES)]
    Explain(ExplainArgs),
    /// Find the best model of every size up to k, with AIC, BIC and EBIC
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::path::EXAMPLES))]
    Path(Box<PathArgs>),
    /// Write an instance of the paper's families, or one of its two real data sets
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate(GenerateArgs),
    /// Show what a data file holds: rows, types, gaps, scales, copies
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::inspect::EXAMPLES))]
    Inspect(InspectArgs),
    /// Print completions for a shell
    #[command(after_help = crate::manual::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print a manual page
    #[command(after_help = crate::manual::MAN_EXAMPLES)]
    Man(ManArgs),
    /// Run the paper's experiments again: results, figures, and a page of what holds
    #[command(after_help = crate::reproduce::EXAMPLES)]
    Reproduce(ReproduceArgs),
}

#[derive(Debug, clap::Args)]
pub struct FitArgs {
    #[command(flatten)]
    pub task: TaskArgs,

    /// At most this many features
    #[arg(short, value_name = "K", allow_hyphen_values = true, value_parser = count, display_order = 2)]
    pub k: usize,

    /// Weight of the ridge, R/2 times the sum of the squared coefficients
    #[arg(long, value_name = "R", default_value_t = 1e-3, allow_hyphen_values = true,
          value_parser = positive)]
    pub ridge: f64,

    /// Show the M best models, not only the best: sets of at most k features, each with its own optimum
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = one_or_more)]
    pub top: Option<NonZeroUsize>,

    /// Show all models whose objective is at most this much above the best: 1% or 0.01; --top limits their number [default: 1000]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = units::share)]
    pub within: Option<f64>,

    /// Also show what each choice costs: how much worse the best model is without each chosen feature, and with each other
    /// one; --time-limit is for the fit and all prices together, the other limits for each search
    #[arg(long)]
    pub prices: bool,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub kept: CheckpointArgs,

    /// Print one JSON object instead of the table
    #[arg(long)]
    pub json: bool,

    /// Write the model to this file, for predict and explain
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write the result as an HTML page: charts, what is proved and how
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Print no table and no live line
    #[arg(long)]
    pub quiet: bool,

    /// Print a line on standard error for every event of the search; a rising bound at most once a second
    #[arg(long)]
    pub log: bool,
}

#[derive(Debug, clap::Args)]
pub struct GenerateArgs {
    /// Which instance
    pub family: Family,

    /// Number of features [default: 100]
    #[arg(short, value_name = "D", allow_hyphen_values = true, value_parser = count)]
    pub d: Option<usize>,

    /// Size of the true support [default: d/10]
    #[arg(short, value_name = "K", allow_hyphen_values = true, value_parser = count)]
    pub k: Option<usize>,

    /// Number of rows [default: 10 k ln d]
    #[arg(short, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub n: Option<usize>,

    /// ar: correlation of neighbouring features [default: 0.5]
    #[arg(long, value_name = "RHO", allow_hyphen_values = true)]
    pub rho: Option<f64>,

    /// ar: signal-to-noise ratio [default: 5]
    #[arg(long, value_name = "SNR", allow_hyphen_values = true)]
    pub snr: Option<f64>,

    /// The same seed gives the same bytes
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 1,
        allow_hyphen_values = true
    )]
    pub seed: u64,

    /// File to write: .csv, .tsv (.gz, .zst), .npy, .npz, .parquet, .arrow or .libsvm
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,

    /// Print nothing
    #[arg(long)]
    pub quiet: bool,
}

/// What `generate` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// Regression with outliers, the paper's
    Huber,
    /// Labels from ill-conditioned features, the paper's
    Logistic,
    /// Regression on features whose neighbours correlate
    Ar,
    /// Diabetes data, expanded to 65 features
    Diabetes,
    /// Boston house prices, expanded to 103 features
    Boston,
}

pub fn count(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "it must be a whole number, zero or more".into())
}

pub fn node_count(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "it must be a whole number, zero or more".into())
}

pub fn one_or_more(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "it must be a whole number, one or more".into())
}

pub fn share(text: &str) -> Result<f64, String> {
    in_range(text, |value| (0.0..1.0).contains(&value))
        .ok_or_else(|| "it must be a number, zero or more and less than 1".into())
}

pub fn positive(text: &str) -> Result<f64, String> {
    in_range(text, |value| value > 0.0)
        .ok_or_else(|| "it must be a finite number greater than 0".into())
}

pub fn non_negative(text: &str) -> Result<f64, String> {
    in_range(text, |value| value >= 0.0)
        .ok_or_else(|| "it must be a finite number, zero or more".into())
}

fn in_range(text: &str, allowed: impl FnOnce(f64) -> bool) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (value.is_finite() && allowed(value)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn defaults_are_those_of_the_library() {
        let args = Args::parse_from(["l0star", "fit", "data.csv", "--target", "y", "-k", "3"]);
        let Command::Fit(args) = args.command else {
            panic!("not a fit");
        };
        let settings = l0star::Settings::default();
        assert_eq!(args.search.method, settings.method);
        assert_eq!(args.search.relaxation, settings.relaxation);
        assert_eq!(args.search.gap, settings.gap);
        assert_eq!(args.search.relative_gap, settings.relative_gap);
        assert_eq!(args.ridge, 1e-3);
    }
}
