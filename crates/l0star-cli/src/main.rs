//! The command `l0star`: from a data file to a provably best sparse model.
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | `failure` | one error type, with its exit code |
//! | `numbers`, `units` | numbers in their ranges; `30s` and `4GB` |
//! | `screen` | the width of standard output, and whether it has colours |
//! | `output` | standard output and files |
//! | `interrupt` | the first Ctrl-C asks the search to stop, the second ends the process |
//! | `progress` | the log, and the live line on a terminal |
//! | `fault` | faults that tests inject at a checkpoint |
//! | `checkpoint` | checkpoints in files |
//! | `input`, `columns`, `reading` | how a file is read, which of its columns are features, and what type they have |
//! | `design` | the columns of a file as the engine's design |
//! | `rules` | the options about features: groups, bounds, heredity, features that are always in the model |
//! | `task`, `search` | the data and the search options of `fit`, `path` and `cv`; the data ready for the engine |
//! | `saved` | the model file of a result |
//! | `ready` | the arguments of `fit` and the file combined: a valid problem, or an error |
//! | `prices` | the cost of each choice of features |
//! | `table` | a result as a table for a terminal |
//! | `penalty_path` | the best model at every price per feature |
//! | `moments` | the sums over rows that the quadratic loss needs, in a stream |
//! | `convert` | the columns of files as a column store |
//! | `fit`, `path`, `cv`, `stability`, `predict`, `explain`, `export`, `generate`, `inspect`, `reproduce` | the commands |
//! | `manual` | shell completions and manual pages |
//! | `absent` | the error of commands that a lean build leaves out |
//! | `args` | the commands with their arguments, as typed |

#[cfg(not(all(feature = "figures", feature = "manual")))]
mod absent;
mod args;
mod checkpoint;
mod columns;
mod convert;
mod cv;
mod design;
mod explain;
mod export;
mod failure;
mod fault;
mod fit;
mod generate;
mod input;
mod inspect;
mod interrupt;
#[cfg(feature = "manual")]
mod manual;
mod moments;
mod numbers;
mod output;
mod path;
mod penalty_path;
mod predict;
mod prices;
mod progress;
mod reading;
mod ready;
#[cfg(feature = "figures")]
mod reproduce;
mod rules;
mod saved;
mod screen;
mod search;
mod stability;
mod table;
mod task;
mod units;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use l0star_report::text::printable;

fn main() -> ExitCode {
    let outcome = match args().command {
        Command::Fit(args) => fit::run(&args),
        Command::Path(args) => path::run(&args),
        Command::Cv(args) => cv::run(&args),
        Command::Stability(args) => stability::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Moments(args) => moments::run(&args),
        Command::Convert(args) => convert::run(&args),
        #[cfg(feature = "manual")]
        Command::Completions(args) => {
            manual::completions(&args, <Args as clap::CommandFactory>::command())
        }
        #[cfg(feature = "manual")]
        Command::Man(args) => manual::man(&args, <Args as clap::CommandFactory>::command()),
        #[cfg(not(feature = "manual"))]
        Command::Completions(_) => absent::refuse("completions", "manual"),
        #[cfg(not(feature = "manual"))]
        Command::Man(_) => absent::refuse("man", "manual"),
        #[cfg(feature = "figures")]
        Command::Reproduce(args) => reproduce::run(&args),
        #[cfg(not(feature = "figures"))]
        Command::Reproduce(_) => absent::refuse("reproduce", "figures"),
    };
    outcome.unwrap_or_else(|failure| {
        match &failure {
            failure::Failure::Troubles(lines) => output::tell_lines("error", lines),
            _ => output::tell("error", &failure.to_string()),
        }
        failure.exit_code()
    })
}

/// Parses the arguments, or prints what is wrong with them and exits.
fn args() -> Args {
    Args::try_parse().unwrap_or_else(|error| {
        // The error quotes the arguments, so they are parsed again in a form that is safe to print.
        let shown = std::env::args_os().map(|word| printable(&word.to_string_lossy()).into_owned());
        match Args::try_parse_from(shown) {
            Err(shown) if error.use_stderr() => shown.exit(),
            _ => error.exit(),
        }
    })
}
