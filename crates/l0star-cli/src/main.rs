//! The command `l0star`: from a data file to a provably best sparse model.
//!
//! | module | its one job |
//! |---|---|
//! | `args` | the arguments as typed, each one in range by itself |
//! | `units` | `30s` and `4GB` |
//! | `ready` | arguments and file together: a valid problem, or what is wrong |
//! | `input`, `columns` | how a file is read, and which of its columns are features |
//! | `design` | the columns of a file as the engine takes them |
//! | `fit`, `generate`, `inspect`, `reproduce` | the commands |
//! | `checkpoint` | checkpoints in files |
//! | `interrupt` | the first Ctrl-C asks, the second insists |
//! | `progress` | the log, and the live line on a terminal |
//! | `output` | the JSON object, standard output and files |
//! | `table` | the same result for a reader |
//! | `failure` | one error type, with its exit code |

mod args;
mod checkpoint;
mod columns;
mod design;
mod failure;
mod fit;
mod generate;
mod input;
mod inspect;
mod interrupt;
mod output;
mod progress;
mod ready;
mod reproduce;
mod table;
mod units;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Fit(args) => fit::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
    };
    outcome.unwrap_or_else(|failure| {
        eprintln!("error: {failure}");
        failure.exit_code()
    })
}
