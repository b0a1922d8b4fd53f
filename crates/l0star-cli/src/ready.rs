//! Arguments and file combined: a valid [`Job`], or an error.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use l0star::{Method, Problem, Settings};
use l0star_record::outcome::Outcome;

use crate::checkpoint::CheckpointArgs;
use crate::failure::Failure;
use crate::numbers::{count, one_or_more, positive};
use crate::output;
use crate::search::SearchArgs;
use crate::task::{Task, TaskArgs};
use crate::units;

/// The arguments of `fit` as typed.
#[derive(Debug, clap::Args)]
pub struct FitArgs {
    #[command(flatten)]
    pub task: TaskArgs,

    /// At most this many features; with --l0-penalty it may be left out
    #[arg(short, value_name = "K", allow_hyphen_values = true, value_parser = count, display_order = 2,
          required_unless_present = "l0_penalty")]
    pub k: Option<usize>,

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

/// A problem that can be solved, with its settings.
#[derive(Debug)]
pub struct Job {
    pub task: Task,
    pub problem: Problem,
    pub settings: Settings,
    pub ridge: f64,
    /// Whether `--top` or `--within` asks for a list of models.
    pub lists: bool,
    pub warnings: Vec<String>,
}

impl Job {
    /// Checks everything that can be checked before the search.
    pub fn prepare(args: &FitArgs) -> Result<Self, Failure> {
        let settings = settings(args)?;
        args.task.rules.check_price()?;
        output::check_files(&args.out, &args.report, &args.task.data)?;
        let task = Task::read_or_sum(&args.task, args.quiet)?;
        let k = args.k.unwrap_or_else(|| task.features());
        let problem = task.problem(k, args.ridge, task.weights.as_deref())?;
        Ok(Self {
            warnings: task.warnings(k),
            task,
            problem,
            settings,
            ridge: args.ridge,
            lists: args.top.is_some() || args.within.is_some(),
        })
    }

    /// Returns the context that turns a solution of the job into a result.
    pub fn outcome(&self) -> Outcome<'_> {
        Outcome {
            lists: self.lists,
            ..self.task.outcome(&self.problem, self.ridge, &self.warnings)
        }
    }

    /// Returns the label that stands for +1, for a loss on labels.
    pub fn positive_label(&self) -> Option<&str> {
        let labels = self.task.labels.as_ref();
        labels.map(|[_, positive]| positive.as_str())
    }
}

fn settings(args: &FitArgs) -> Result<Settings, Failure> {
    let settings = args.search.settings()?;
    let method = settings.method;
    if method != Method::BestFirst && args.search.threads.is_some_and(|threads| threads.get() > 1) {
        return Err(Failure::Usage(format!(
            "--threads belongs to --method best-first, and the method is '{method}'; drop one of them"
        )));
    }
    args.kept.check(method)?;
    if args.prices
        && !matches!(
            method,
            Method::BestFirst | Method::Paper | Method::Exhaustive
        )
    {
        return Err(Failure::Usage(format!(
            "--prices need a method that proves its answer, and the method is '{method}'; drop one of them"
        )));
    }
    check_list(args)?;
    Ok(Settings {
        top: args.top,
        within: args.within,
        ..settings
    })
}

/// Refuses options that conflict with `--top` and `--within`.
fn check_list(args: &FitArgs) -> Result<(), Failure> {
    let option = match (args.within, args.top) {
        (Some(_), _) => "--within",
        (None, Some(top)) if top.get() > 1 => "--top",
        _ => return Ok(()),
    };
    let search = &args.search;
    if !matches!(search.method, Method::BestFirst | Method::Exhaustive) {
        return Err(Failure::Usage(format!(
            "{option} belongs to --method best-first or exhaustive, and the method is '{}'; drop one of them",
            search.method
        )));
    }
    if search.gap > 0.0 || search.relative_gap > 0.0 {
        return Err(Failure::Usage(format!(
            "{option} makes an exact list, and a gap is allowed; drop {option}, or --gap and --relative-gap"
        )));
    }
    Ok(())
}
