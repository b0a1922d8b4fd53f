//! The commands of `cargo xtask` that need the engine: `bench`, `soak`, `attack`. They are a separate program, so
//! that the others need not wait for the engine to be built.

mod attack;
mod bench;
mod soak;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measure the engine, and try to prove it wrong.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", arg_required_else_help = true)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure, in the release profile
    Bench(Bench),
    /// Damaged files and hostile names through the real binary; hard problems against exact arithmetic
    Attack(Attack),
    /// Random small problems against brute force
    Soak(Soak),
    /// What `bench read` measures
    #[command(hide = true)]
    ReadInner { path: PathBuf },
}

/// What to measure.
#[derive(Debug, Args)]
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

/// How long to attack, and with what.
#[derive(Debug, Args)]
struct Attack {
    /// Minutes to go on
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
    /// The number of cases, instead of a time
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
    /// The few cases of `cargo xtask test`
    #[arg(long, hide = true)]
    short: bool,
}

/// How many random problems, and which.
#[derive(Debug, Args)]
struct Soak {
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
}

impl Bench {
    fn run(&self) -> Result<(), String> {
        match self.suite {
            Suite::Paper => bench::paper::paper(&self.only, self.seeds.as_deref()),
            Suite::Engine => bench::engine::engine(&self.only),
            Suite::Ablation => bench::ablation::ablation(&self.only),
            Suite::Path => bench::together::path(&self.only),
            Suite::Prices => bench::together::prices(&self.only),
            Suite::Stability => bench::stability::stability(),
            Suite::Flat => bench::flat::flat(&self.only, self.seeds.as_deref()),
            Suite::Threads => bench::threads::threads(&self.only),
            Suite::Read => bench::read::read(),
            Suite::Python => bench::python::overhead(),
        }
    }
}

impl Attack {
    fn run(&self) -> Result<(), String> {
        if self.short {
            return attack::short();
        }
        let until = match self.cases {
            Some(cases) => attack::Until::Cases(cases),
            None => attack::Until::Minutes(self.minutes),
        };
        attack::run(until, self.seed, self.only.as_deref(), self.dev)
    }
}

fn main() -> ExitCode {
    let outcome = match Program::parse().command {
        Command::Bench(bench) => bench.run(),
        Command::Attack(attack) => attack.run(),
        Command::Soak(Soak {
            cases,
            seed,
            wide,
            loss,
        }) => soak::run(cases, seed, wide, loss.as_deref()),
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
