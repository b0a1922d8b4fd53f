//! The project's own commands: `cargo xtask test`, `cargo xtask wheel`, `cargo xtask bench
//! paper|engine|ablation|path|prices|flat|threads|read|python`, `cargo xtask docs`, `cargo xtask release`,
//! `cargo xtask soak`, `cargo xtask attack`, `cargo xtask report`, `cargo xtask results`, `cargo xtask deny`.

mod attack;
mod bench;
mod checks;
#[cfg(test)]
mod clocks;
mod docs;
#[cfg(test)]
mod links;
#[cfg(test)]
mod modules;
mod python;
mod release;
mod report;
mod results;
mod soak;
mod step;
mod tools;
#[cfg(test)]
mod walk;

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand, ValueEnum};

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", arg_required_else_help = true)]
struct Args {
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
    Attack(Attack),
    /// Random small problems against brute force
    Soak {
        /// How many problems
        #[arg(long, default_value_t = 5000)]
        cases: u64,
        /// The seed of the first; the others follow
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Only problems with fewer rows than columns, through proved boxes
        #[arg(long)]
        wide: bool,
        /// Only problems of this loss
        #[arg(long, conflicts_with = "wide", value_parser = PossibleValuesParser::new(soak::losses()))]
        loss: Option<String>,
    },
    /// What `soak` runs in the release profile
    #[command(hide = true)]
    SoakInner {
        cases: u64,
        seed: u64,
        #[arg(long)]
        wide: bool,
        #[arg(long)]
        loss: Option<String>,
    },
    /// Measure, in the release profile
    Bench(Bench),
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
    /// What `bench` runs in the release profile
    #[command(hide = true)]
    BenchInner(Bench),
    /// What `bench read` measures
    #[command(hide = true)]
    ReadInner { path: std::path::PathBuf },
}

/// How long to attack, and with what.
#[derive(Debug, clap::Args)]
struct Attack {
    /// For so many minutes
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
    /// So many cases instead
    #[arg(long)]
    cases: Option<u64>,
    /// The seed of the first case; the others follow
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this kind: exact, boxes, files, names or bombs
    #[arg(long)]
    only: Option<String>,
    /// The binary of the dev profile, which is built sooner and checks more
    #[arg(long)]
    dev: bool,
}

impl Attack {
    fn until(&self) -> attack::Until {
        match self.cases {
            Some(cases) => attack::Until::Cases(cases),
            None => attack::Until::Minutes(self.minutes),
        }
    }
}

/// What to measure.
#[derive(Debug, clap::Args)]
struct Bench {
    suite: Suite,
    /// Only the families whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// `paper`, `flat`: other seeds than the family's, as FIRST-LAST
    #[arg(long)]
    seeds: Option<String>,
}

/// A table.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Suite {
    /// The paper's method on the paper's instances
    Paper,
    /// The default method against the paper's, and harder instances
    Engine,
    /// The default method with one mechanism after the other switched off
    Ablation,
    /// All sizes up to 20 in one path, against as many separate runs
    Path,
    /// All prices in one run, against as many separate runs
    Prices,
    /// 500 resamples of the diabetes data with interactions
    Stability,
    /// No more rows than features, small ridges, proved optimal
    Flat,
    /// Nodes a second with one thread and with two
    Threads,
    /// The reader of CSV files on one gigabyte
    Read,
    /// What fit costs in Python over the same call in Rust
    Python,
}

impl Bench {
    /// Re-runs itself optimised.
    fn run(&self) -> Result<(), String> {
        let suite = match self.suite {
            Suite::Paper => "paper",
            Suite::Engine => "engine",
            Suite::Ablation => "ablation",
            Suite::Path => "path",
            Suite::Prices => "prices",
            Suite::Stability => "stability",
            Suite::Flat => "flat",
            Suite::Threads => "threads",
            Suite::Read => "read",
            Suite::Python => "python",
        };
        let mut arguments = vec!["bench-inner", suite, "--only", &self.only];
        if let Some(seeds) = &self.seeds {
            arguments.extend(["--seeds", seeds]);
        }
        step::in_release(&format!("bench {suite}"), &arguments)
    }

    fn inner(&self) -> Result<(), String> {
        match self.suite {
            Suite::Paper => bench::paper(&self.only, self.seeds.as_deref()),
            Suite::Engine => bench::engine(&self.only),
            Suite::Ablation => bench::ablation(&self.only),
            Suite::Path => bench::path(&self.only),
            Suite::Prices => bench::prices(&self.only),
            Suite::Stability => bench::stability::stability(),
            Suite::Flat => bench::flat::flat(&self.only, self.seeds.as_deref()),
            Suite::Threads => bench::threads(&self.only),
            Suite::Read => bench::read::read(),
            Suite::Python => bench::python::overhead(),
        }
    }
}

fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Test => checks::test(),
        Command::TestPython => python::test(),
        Command::Wheel => python::wheel(),
        Command::Docs => docs::build(),
        Command::Release { dry_run: _, only } => release::run_parts(only),
        Command::Report => report::pictures(),
        Command::Deny => checks::deny(),
        Command::Attack(with) => {
            attack::run(with.until(), with.seed, with.only.as_deref(), with.dev)
        }
        Command::Soak {
            cases,
            seed,
            wide,
            loss,
        } => soak::run(cases, seed, wide, loss.as_deref()),
        Command::SoakInner {
            cases,
            seed,
            wide,
            loss,
        } => soak::inner(cases, seed, wide, loss.as_deref()),
        Command::Results {
            instances,
            only,
            budget,
            time_limit,
        } => results::run(instances, only, budget, time_limit),
        Command::Bench(bench) => bench.run(),
        Command::BenchInner(bench) => bench.inner(),
        Command::ReadInner { path } => bench::read::inner(&path),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
