//! Arguments and file together: a valid [`Job`], or what is wrong with them.

use l0star::{Method, Problem, Settings};

use crate::args::FitArgs;
use crate::failure::Failure;
use crate::output;
use crate::task::Task;

/// A problem that can be solved, and how.
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
    /// Checks everything that can be checked before the long part.
    pub fn prepare(args: &FitArgs) -> Result<Self, Failure> {
        let settings = settings(args)?;
        output::check_files(&args.out, &args.report, &args.task.data)?;
        let task = Task::read(&args.task)?;
        let problem = task.problem(args.k, args.ridge, task.weights.as_deref())?;
        Ok(Self {
            warnings: task.warnings(args.k),
            task,
            problem,
            settings,
            ridge: args.ridge,
            lists: args.top.is_some() || args.within.is_some(),
        })
    }

    /// The label that stands for +1, for a loss on labels.
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

/// What `--top` and `--within` do not go with.
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
