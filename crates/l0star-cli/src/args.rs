//! The arguments as typed. Each value is in its range; `ready` checks whether they fit the data.

use clap::{Parser, Subcommand};

#[cfg(not(all(feature = "figures", feature = "manual")))]
use crate::absent::AbsentArgs;
use crate::convert::ConvertArgs;
use crate::cv::CvArgs;
use crate::explain::ExplainArgs;
use crate::export::ExportArgs;
use crate::generate::GenerateArgs;
use crate::input::FORMATS;
use crate::inspect::InspectArgs;
#[cfg(feature = "manual")]
use crate::manual::{CompletionsArgs, ManArgs};
use crate::moments::MomentsArgs;
use crate::path::PathArgs;
use crate::predict::PredictArgs;
use crate::ready::FitArgs;
#[cfg(feature = "figures")]
use crate::reproduce::ReproduceArgs;
use crate::stability::StabilityArgs;

const EXAMPLES: &str = "\
Examples:
  l0star fit data/diabetes.csv --target target -k 5
  l0star fit patients.csv --target died --loss logistic -k 8 --time-limit 1m --json
  l0star cv patients.csv --target died --loss logistic -k 8 --out model.json
  l0star stability patients.csv --target died --loss logistic -k 8 --report stability.html
  l0star predict model.json new-patients.csv
  l0star inspect patients.csv --target died
  l0star generate huber -d 200 --seed 7 --out huber.csv

Exit codes: 0 solved to the requested gap (or a heuristic finished), 2 wrong usage,
3 bad data, 4 stopped at a limit (that of double precision included), 130 interrupted
(4 and 130 write the best model found).";

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
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::fit::EXAMPLES))]
    Fit(Box<FitArgs>),
    /// Choose k and the ridge by cross-validation
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::cv::EXAMPLES))]
    Cv(Box<CvArgs>),
    /// Find the best model of every resample of the rows: which features are chosen how often
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::stability::EXAMPLES))]
    Stability(Box<StabilityArgs>),
    /// Apply a model to other data
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::predict::EXAMPLES))]
    Predict(PredictArgs),
    /// Say what was proved of a model, and how
    #[command(after_help = crate::explain::EXAMPLES)]
    Explain(ExplainArgs),
    /// Write a model as SQL or as Python code that gives the same numbers
    #[command(after_help = crate::export::EXAMPLES)]
    Export(ExportArgs),
    /// Find the best model of every size up to k, with AIC, BIC and EBIC
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::path::EXAMPLES))]
    Path(Box<PathArgs>),
    /// Write an instance of the paper's families, or one of its two real data sets
    #[command(after_help = crate::generate::EXAMPLES)]
    Generate(GenerateArgs),
    /// Show what a data file holds: rows, types, gaps, scales, copies
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::inspect::EXAMPLES))]
    Inspect(InspectArgs),
    /// Sum up all that a quadratic fit needs of rows, from files of any size, for fit and path
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::moments::EXAMPLES))]
    Moments(Box<MomentsArgs>),
    /// Write files as a column store, which fits map into memory: any loss, beyond memory
    #[command(after_help = format!("{}\n\n{FORMATS}", crate::convert::EXAMPLES))]
    Convert(Box<ConvertArgs>),
    /// Print completions for a shell
    #[cfg(feature = "manual")]
    #[command(after_help = crate::manual::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print completions for a shell (not in this build: see --features full)
    #[cfg(not(feature = "manual"))]
    Completions(AbsentArgs),
    /// Print a manual page
    #[cfg(feature = "manual")]
    #[command(after_help = crate::manual::MAN_EXAMPLES)]
    Man(ManArgs),
    /// Print a manual page (not in this build: see --features full)
    #[cfg(not(feature = "manual"))]
    Man(AbsentArgs),
    /// Run the paper's experiments again: results, figures, and a page of what holds
    #[cfg(feature = "figures")]
    #[command(after_help = crate::reproduce::EXAMPLES)]
    Reproduce(ReproduceArgs),
    /// Run the paper's experiments again (not in this build: see --features full)
    #[cfg(not(feature = "figures"))]
    Reproduce(AbsentArgs),
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
