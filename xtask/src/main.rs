//! The project's own commands: `cargo xtask test`, `wheel`, `docs`, `release`, `report`, `results`, `deny`. It passes
//! `bench`, `soak` and `attack` on to another program (`src/trials.rs`).

mod checks;
#[cfg(test)]
mod clocks;
mod docs;
#[cfg(test)]
mod links;
#[cfg(test)]
mod modules;
mod release;
mod results;
#[cfg(test)]
mod walk;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use xtask::{python, report, step};

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", arg_required_else_help = true)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Everything that has to hold before a change is merged: format, lints, docs, tests, licences
    Test,
    /// The part of `test` that concerns the Python package
    TestPython,
    /// The wheel of the Python package, in target/wheels
    Wheel,
    /// The documentation site, in target/site
    Docs,
    /// Everything that would be published, built and checked in target/dist
    Release {
        /// Publish nothing; there is no other way here, the workflow of the forge publishes
        #[arg(long, required = true)]
        dry_run: bool,
        /// Only this part
        #[arg(long)]
        only: Option<release::Part>,
    },
    /// The pages of `--report` in a browser, and their pictures in docs
    Report,
    /// Licences, duplicate versions, sources and known vulnerabilities of the dependencies
    Deny,
    /// Damaged files and hostile names through the real binary; hard problems against exact arithmetic
    #[command(disable_help_flag = true)]
    Attack(HandedOn),
    /// Random small problems against brute force
    #[command(disable_help_flag = true)]
    Soak(HandedOn),
    /// Measure, in the release profile
    #[command(disable_help_flag = true)]
    Bench(HandedOn),
    /// The pages of docs/results: the paper's experiments and the race against the peers; hours on a quiet machine
    Results {
        /// Random instances at every point of the paper's figures
        #[arg(long, default_value_t = 100)]
        instances: u64,
        /// Only the paper's experiments, or only the race
        #[arg(long)]
        only: Option<results::Part>,
        /// Minutes after which the race begins no run; what is missing is run by the same command later
        #[arg(long)]
        budget: Option<f64>,
        /// Seconds for a run of the race
        #[arg(long)]
        time_limit: Option<f64>,
    },
}

/// Arguments that are passed on to the program with the engine.
#[derive(Debug, Args)]
struct HandedOn {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

fn main() -> ExitCode {
    let outcome = match Program::parse().command {
        Command::Test => checks::test(),
        Command::TestPython => python::test(),
        Command::Wheel => python::wheel(),
        Command::Docs => docs::build(),
        Command::Release { dry_run: _, only } => release::run_parts(only),
        Command::Report => report::pictures(),
        Command::Deny => checks::deny(),
        Command::Attack(HandedOn { arguments }) => step::attack(&arguments),
        Command::Soak(HandedOn { arguments }) => step::in_release("soak", &arguments),
        Command::Bench(HandedOn { arguments }) => step::in_release("bench", &arguments),
        Command::Results {
            instances,
            only,
            budget,
            time_limit,
        } => results::run(instances, only, budget, time_limit),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
