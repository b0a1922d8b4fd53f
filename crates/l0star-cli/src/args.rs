//! The arguments as typed. Each value is in its range; whether they fit the data shows in `ready`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use l0star::{Method, RelaxationKind, loss};

use crate::columns::ColumnArgs;
use crate::input::{FORMATS, InputArgs};
use crate::inspect::InspectArgs;
use crate::reproduce::ReproduceArgs;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  l0star fit data/diabetes.csv --target target -k 5
  l0star fit patients.csv --target died --loss logistic -k 8 --time-limit 1m --json
  l0star inspect patients.csv --target died
  l0star generate huber -d 200 --seed 7 --out huber.csv

Exit codes: 0 solved to the requested gap (or a heuristic finished), 2 wrong usage,
3 bad data, 4 stopped at a limit, 130 interrupted (4 and 130 write the best model found).";

const FIT_EXAMPLES: &str = "\
Examples:
  l0star fit data/diabetes.csv --target target -k 5
  l0star fit data/diabetes.csv --target target -k 5 --interactions --json
  l0star fit houses.parquet --target price -k 4 --loss huber --huber-delta 2 --drop id,city
  l0star fit genes.csv.gz --target c1 -k 6 --no-header --features 'c*' --drop 2,5-9
  zcat rcv1.svm.gz | l0star fit - --target b --loss logistic -k 10
  l0star fit patients.csv --target died --loss logistic -k 8 --weights n --out model.json
  l0star fit data/diabetes.csv --target target -k 5 --within 1%
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
    /// Write an instance of the paper's families, or one of its two real data sets
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate(GenerateArgs),
    /// Show what a data file holds: rows, types, gaps, scales, copies
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::inspect::EXAMPLES))]
    Inspect(InspectArgs),
    /// Run the paper's experiments again: results, figures, and a page of what holds
    #[command(after_help = crate::reproduce::EXAMPLES)]
    Reproduce(ReproduceArgs),
}

#[derive(Debug, clap::Args)]
pub struct FitArgs {
    /// Data file, or - for standard input
    pub data: PathBuf,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub columns: ColumnArgs,

    /// Column to predict; with logistic and squared-hinge any two labels
    #[arg(long, value_name = "COLUMN")]
    pub target: String,

    /// At most this many features
    #[arg(short, value_name = "K", allow_hyphen_values = true, value_parser = count)]
    pub k: usize,

    /// How to measure the distance to the target
    #[arg(long, value_name = "LOSS", default_value = "quadratic",
          value_parser = PossibleValuesParser::new(loss::NAMES))]
    pub loss: String,

    /// Where the Huber loss turns from quadratic to linear
    #[arg(long, value_name = "D", default_value_t = 1.0, allow_hyphen_values = true,
          value_parser = positive)]
    pub huber_delta: f64,

    /// Weight of the ridge, R/2 times the sum of the squared coefficients
    #[arg(long, value_name = "R", default_value_t = 1e-3, allow_hyphen_values = true,
          value_parser = positive)]
    pub ridge: f64,

    /// Absolute error allowed in the objective; 0 asks for the optimum
    #[arg(long, value_name = "G", default_value_t = 0.0, allow_hyphen_values = true,
          value_parser = non_negative)]
    pub gap: f64,

    /// The same as a share of the objective; the larger of the two counts
    #[arg(long, value_name = "R", default_value_t = 0.0, allow_hyphen_values = true,
          value_parser = share)]
    pub relative_gap: f64,

    /// Show the M best models, not only the best: sets of at most k features, each with its own optimum
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = one_or_more)]
    pub top: Option<NonZeroUsize>,

    /// Show all models whose objective is above the best by at most this: 1% or 0.01; at most M of --top [default: 1000]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = units::share)]
    pub within: Option<f64>,

    /// Fit no intercept
    #[arg(long)]
    pub no_intercept: bool,

    /// Add the product of every pair of features (a:b) and their squares (a^2)
    #[arg(long)]
    pub interactions: bool,

    /// best-first, paper and exhaustive prove their answer; omp, iht, htp and diht do not
    #[arg(long, value_name = "METHOD", default_value = Method::BestFirst.as_str(),
          value_parser = PossibleValuesParser::new(Method::WORDS).try_map(|word| word.parse::<Method>()))]
    pub method: Method,

    /// How method paper bounds a node
    #[arg(long, value_name = "RELAXATION", default_value = RelaxationKind::Pdal.as_str(),
          value_parser = PossibleValuesParser::new(RelaxationKind::WORDS)
              .try_map(|word| word.parse::<RelaxationKind>()))]
    pub relaxation: RelaxationKind,

    /// Method paper: start the bound of every node from scratch
    #[arg(long)]
    pub no_warm_start: bool,

    /// Method paper: keep nodes that cannot improve the best model
    #[arg(long)]
    pub no_pruning: bool,

    /// Stop after this time: 500ms, 30s, 2m, 1h
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = units::duration)]
    pub time_limit: Option<Duration>,

    /// Stop after this many nodes
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = node_count)]
    pub node_limit: Option<u64>,

    /// Stop when the open nodes take this much memory: 500MB, 4GB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = units::size)]
    pub memory_limit: Option<u64>,

    /// Threads that search [default: one a core]; with 1 a run is repeatable bit for bit
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = one_or_more)]
    pub threads: Option<NonZeroUsize>,

    /// Write the state of the search to this file so often, and when it ends
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// How often to write it: 500ms, 30s, 5m [default: 60s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = units::duration)]
    pub checkpoint_every: Option<Duration>,

    /// Go on from a checkpoint of the same data and settings, and write further ones there
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Features to leave out by name, products such as a:b too, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub exclude: Vec<String>,

    /// Column of sample weights, zero or more
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,

    /// Column to add to every prediction
    #[arg(long, value_name = "COLUMN")]
    pub offset: Option<String>,

    /// Print one JSON object instead of the table
    #[arg(long)]
    pub json: bool,

    /// Also write the JSON object to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Print no table and no live line
    #[arg(long)]
    pub quiet: bool,

    /// Print a line for every event of the search on standard error, at most one a second for a bound that rises
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

fn count(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "it must be a whole number, zero or more".into())
}

fn node_count(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "it must be a whole number, zero or more".into())
}

fn one_or_more(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "it must be a whole number, one or more".into())
}

fn share(text: &str) -> Result<f64, String> {
    in_range(text, |value| (0.0..1.0).contains(&value))
        .ok_or_else(|| "it must be a number, zero or more and less than 1".into())
}

fn positive(text: &str) -> Result<f64, String> {
    in_range(text, |value| value > 0.0)
        .ok_or_else(|| "it must be a finite number greater than 0".into())
}

fn non_negative(text: &str) -> Result<f64, String> {
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
        assert_eq!(args.method, settings.method);
        assert_eq!(args.relaxation, settings.relaxation);
        assert_eq!(args.gap, settings.gap);
        assert_eq!(args.relative_gap, settings.relative_gap);
        assert_eq!(args.ridge, 1e-3);
    }
}
