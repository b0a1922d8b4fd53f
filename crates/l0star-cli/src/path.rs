//! `l0star path`: the best model of every size, and the size that a criterion chooses.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use l0star::path::{Criteria, PathSize};
use l0star::search::Event;
use l0star::{Method, PathCheckpoint, PathRun, Problem, Settings};
use l0star_record::fields::{Constraints, Fitted};
use l0star_record::outcome::Outcome;
use l0star_report::page::{self, Page, PathChart, PathPoint};
use l0star_report::text::{percent_up, printable, significant};
use l0star_report::{Face, Outlook, Proof, proof};
use serde::Serialize;

use crate::checkpoint::{CheckpointArgs, Checkpoints};
use crate::failure::{self, Failure};
use crate::numbers::{count, positive};
use crate::progress::{self, Listener};
use crate::saved::{self, Origin};
use crate::screen::Screen;
use crate::search::SearchArgs;
use crate::task::{Task, TaskArgs};
use crate::{checkpoint, interrupt, output, penalty_path};

pub const EXAMPLES: &str = "\
Examples:
  l0star path data/diabetes.csv --target target
  l0star path data/diabetes.csv --target target -k 20 --interactions --criterion bic
  l0star path data/diabetes.csv --target target --l0-penalty-path
  l0star path patients.csv --target died --loss logistic -k 12 --time-limit 10m --out model.json
  l0star path large.npy --target x1000 -k 20 --checkpoint large.ckpt
  l0star path large.npy --target x1000 -k 20 --resume large.ckpt

AIC, BIC and EBIC are -2 log likelihood plus 2, log n, and log n + 2 log C(d, k)/k for each parameter; smaller is
better. Quadratic: normal errors of unknown variance. Huber: its loss in their place. --time-limit is for the whole
path; every size gets an equal share of what is left. --search-time-limit, --node-limit and --memory-limit are for each
size.";

/// Largest size if none is given.
const DEFAULT_SIZE: usize = 10;

#[derive(Debug, clap::Args)]
pub struct PathArgs {
    #[command(flatten)]
    pub task: TaskArgs,

    /// Up to this many features [default: 10, or all when there are fewer]
    #[arg(short, value_name = "K", allow_hyphen_values = true, value_parser = count)]
    pub k: Option<usize>,

    /// Weight of the ridge, R/2 times the sum of the squared coefficients
    #[arg(long, value_name = "R", default_value_t = 1e-3, allow_hyphen_values = true,
          value_parser = positive)]
    pub ridge: f64,

    /// The best model at every price of a feature (--l0-penalty), with the exact prices at which it changes; k only limits the
    /// size [default: all features]
    #[arg(long, conflicts_with_all = ["l0_penalty", "checkpoint", "resume", "out", "report", "criterion", "log"])]
    pub l0_penalty_path: bool,

    /// What the chosen size is best by
    #[arg(long, value_name = "CRITERION", default_value = "ebic")]
    pub criterion: Criterion,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub kept: CheckpointArgs,

    /// Print one JSON object instead of the table
    #[arg(long)]
    pub json: bool,

    /// Write the model of the chosen size to this file, for predict and explain
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write the path and the model of the chosen size as a page to look at
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Print no table and no live line
    #[arg(long)]
    pub quiet: bool,

    /// Print a line on standard error for every event of the searches
    #[arg(long)]
    pub log: bool,
}

/// An information criterion, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// Akaike's
    Aic,
    /// The Bayesian
    Bic,
    /// The extended Bayesian, for more features than a few
    Ebic,
}

impl Criterion {
    fn of(self, criteria: &Criteria) -> f64 {
        match self {
            Self::Aic => criteria.aic,
            Self::Bic => criteria.bic,
            Self::Ebic => criteria.ebic,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Aic => "AIC",
            Self::Bic => "BIC",
            Self::Ebic => "EBIC",
        }
    }

    /// Returns the position of the smallest value; `None` for a loss without a likelihood.
    fn choose(self, points: &[PathSize]) -> Option<usize> {
        let values = points.iter().map(|point| point.criteria);
        let values: Option<Vec<f64>> = values.map(|all| Some(self.of(&all?))).collect();
        let values = values?;
        (0..values.len()).min_by(|a, b| values[*a].total_cmp(&values[*b]))
    }
}

/// The JSON output of `path`.
#[derive(Debug, Serialize)]
struct Output {
    criterion: Criterion,
    chosen_k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constraints: Option<Constraints>,
    path: Vec<Row>,
    warnings: Vec<String>,
}

/// One size of the path in the JSON output.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    fitted: Fitted,
    aic: Option<f64>,
    bic: Option<f64>,
    ebic: Option<f64>,
    /// Features that enter compared with the previous size.
    entering: Vec<String>,
    leaving: Vec<String>,
}

/// Runs the command; the exit code says whether all sizes are proved.
pub fn run(args: &PathArgs) -> Result<ExitCode, Failure> {
    let mut settings = settings(args)?;
    settings.interrupt = Some(interrupt::flag());
    if args.l0_penalty_path {
        let asked = penalty_path::Asked {
            task: &args.task,
            k: args.k,
            ridge: args.ridge,
            json: args.json,
            quiet: args.quiet,
            warnings: args.search.warnings(),
        };
        return penalty_path::run(&asked, &settings);
    }
    args.task.rules.check_price()?;
    args.kept.check(settings.method)?;
    let others = [("the model", &args.out), ("the report", &args.report)];
    let checkpoints = Checkpoints::prepare(&args.kept, &args.task.data, &others)?;
    output::check_files(&args.out, &args.report, &args.task.data)?;
    let task = Task::read_or_sum(&args.task, args.quiet)?;
    if (args.out.is_some() || args.report.is_some()) && !task.loss.is_likelihood() {
        return Err(Failure::Usage(format!(
            "the loss '{}' is not a likelihood, so no criterion can choose a size to write; use fit -k K, or cv",
            task.loss.name()
        )));
    }
    let last = args.k.unwrap_or(DEFAULT_SIZE.min(task.features()));
    let warnings = task.warnings(last);
    if !args.quiet && !args.json {
        output::warn(&args.search.warnings());
        output::warn(&warnings);
    }
    let problem = task.problem(last, args.ridge, task.weights.as_deref())?;
    let (points, outlooks) = solve(args, &problem, &settings, last, checkpoints)?;

    let chosen = args.criterion.choose(&points);
    let origin = Origin::new(&task, &problem, &settings);
    let mut rows = rows(&origin, &task, &problem, &points, args.ridge)?;
    let hopeless = hopeless(&points, &outlooks, &problem, args.ridge);
    if let Some((at, words)) = hopeless.first()
        && !args.quiet
        && !args.json
    {
        output::warn(&[format!("k = {}: {words}", points[*at].k)]);
    }
    for (at, words) in hopeless {
        rows[at].fitted.warnings.push(words);
    }
    if let Some(chosen) = chosen {
        let mut fitted = rows[chosen].fitted.clone();
        fitted.constraints = task.rules.asked().cloned();
        fitted.warnings.splice(0..0, warnings.iter().cloned());
        let model = saved::model(&origin, fitted);
        if let Some(out) = &args.out {
            model.save(out)?;
        }
        if let Some(file) = &args.report {
            let (shown, ..) = task.reported(&problem, &points[chosen].solution);
            let scores = task.scores(&shown.coefficients, shown.intercept);
            let page = Page {
                rows: task.scored(&scores),
                path: Some(chart(&rows, args.criterion, points[chosen].k)),
                ..Page::new(Face::Command, &model)
            };
            page::save(file, &page)?;
        }
    }
    let output = Output {
        criterion: args.criterion,
        chosen_k: chosen.map(|at| points[at].k),
        constraints: task.rules.asked().cloned(),
        path: rows,
        warnings,
    };
    if args.json {
        output::print_json(&output)?;
    } else if !args.quiet {
        output::print(&render(&output, chosen, &Screen::of_stdout()))?;
    }
    let statuses = points.iter().map(|point| point.solution.status);
    Ok(ExitCode::from(failure::code(statuses)))
}

fn settings(args: &PathArgs) -> Result<Settings, Failure> {
    let settings = args.search.settings()?;
    match settings.method {
        Method::BestFirst => Ok(settings),
        _ => Ok(Settings {
            threads: None,
            ..settings
        }),
    }
}

fn solve(
    args: &PathArgs,
    problem: &Problem,
    settings: &Settings,
    last: usize,
    mut checkpoints: Checkpoints<PathCheckpoint>,
) -> Result<(Vec<PathSize>, Outlooks), Failure> {
    let source = checkpoints.source.take();
    let mut listener = Listener::new(args.log, true);
    let mut outlooks = Outlooks::new();
    let mut size = None;
    // Smaller models have no room for the features that must be in.
    let first = problem.included().len();
    let mut run = PathRun::new(problem, settings, first..=last);
    // Without an observer, several sizes are solved in parallel.
    if args.log || settings.thread_count() == 1 {
        run = run.observe(Box::new(|k, event: &Event| {
            if args.log && size.replace(k) != Some(k) {
                eprintln!("k = {k}");
            }
            listener.hear(event, None);
            outlooks.entry(k).or_default().hear(event);
        }));
    }
    if let Some(checkpoint) = checkpoints.resume.take() {
        run = run.resume(checkpoint);
    }
    if checkpoints.are_kept() {
        let every = checkpoints.every;
        let sink = Box::new(move |checkpoint: &PathCheckpoint| checkpoints.write(checkpoint));
        run = run.save(every, sink);
    }
    let bar = progress::bar(last + 1 - first, "sizes", args.quiet || args.log);
    let each = bar.clone();
    let points = run.each(Box::new(move |_| each.inc(1))).solve();
    bar.finish_and_clear();
    let points = points.map_err(|error| checkpoint::explain(source, error))?;
    Ok((points, outlooks))
}

/// How the search of each observed size went.
type Outlooks = BTreeMap<usize, Outlook>;

/// Returns the sizes whose search was stopped and was unlikely to finish: position and advice.
fn hopeless(
    points: &[PathSize],
    outlooks: &Outlooks,
    problem: &Problem,
    ridge: f64,
) -> Vec<(usize, String)> {
    let stopped = points.iter().enumerate();
    let stopped = stopped.filter(|(_, point)| point.solution.status.stopped_early());
    stopped
        .filter_map(|(at, point)| {
            let outlook = outlooks.get(&point.k)?;
            Some((at, outlook.words(problem, ridge, Face::Command)?))
        })
        .collect()
}

fn rows(
    origin: &Origin,
    task: &Task,
    problem: &Problem,
    points: &[PathSize],
    ridge: f64,
) -> Result<Vec<Row>, Failure> {
    let names = |of: &[usize], without: &[usize]| -> Vec<String> {
        let new = of.iter().filter(|j| !without.contains(j));
        new.map(|j| task.names[*j].clone()).collect()
    };
    let mut before: &[usize] = &[];
    let mut rows = Vec::with_capacity(points.len());
    for point in points {
        let now = &point.solution.support[..];
        let criteria = point.criteria;
        let (shown, is_refit, note) = task.reported(problem, &point.solution);
        let outcome = Outcome {
            k: point.k,
            is_refit,
            ..task.outcome(problem, ridge, note.as_slice())
        };
        let fitted = outcome.with_inference(outcome.fitted(&shown), &shown);
        let fitted = origin.measured(fitted)?;
        rows.push(Row {
            // The constraints are the same for all sizes and are reported once.
            fitted: Fitted {
                constraints: None,
                ..fitted
            },
            aic: criteria.map(|criteria| criteria.aic),
            bic: criteria.map(|criteria| criteria.bic),
            ebic: criteria.map(|criteria| criteria.ebic),
            entering: names(now, before),
            leaving: names(before, now),
        });
        before = now;
    }
    Ok(rows)
}

/// Returns the chart of the path for the report.
fn chart(rows: &[Row], criterion: Criterion, chosen: usize) -> PathChart<'_> {
    let point = |row| {
        let Row {
            fitted,
            aic,
            bic,
            ebic,
            ..
        }: &Row = row;
        PathPoint {
            k: fitted.k,
            objective: fitted.objective,
            status: &fitted.status,
            lower_bound: fitted.lower_bound,
            aic: *aic,
            bic: *bic,
            ebic: *ebic,
            support: &fitted.support,
        }
    };
    PathChart {
        criterion: criterion.name(),
        chosen,
        points: rows.iter().map(point).collect(),
    }
}

/// Formats the path as text, one line per size.
fn render(output: &Output, chosen: Option<usize>, screen: &Screen) -> String {
    let path = &output.path;
    let title = proof::path(path.iter().map(|row| Proof::of(&row.fitted)));
    let mut text = screen.bold(&title) + "\n\n";
    let mut line = |cells: [&str; 7], features: &str| {
        let [mark, k, objective, gap, aic, bic, ebic] = cells;
        let line = format!(
            "{mark} {k:>3}  {objective:<11}  {gap:>7}  {aic:>9}  {bic:>9}  {ebic:>9}  {features}"
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    };
    line(
        [" ", "k", "objective", "gap %", "AIC", "BIC", "EBIC"],
        "features",
    );
    for (at, row) in path.iter().enumerate() {
        let fitted = &row.fitted;
        let gap = match (fitted.relative_gap, Proof::of(fitted).is_optimal()) {
            (_, true) => "0".to_owned(),
            (Some(gap), false) => percent_up(gap),
            (None, false) => "?".to_owned(),
        };
        let number = |value: Option<f64>| value.map_or("-".into(), |value| significant(value, 6));
        let signed = |sign: &str, names: &[String]| -> Vec<String> {
            let names = names.iter();
            names
                .map(|name| format!("{sign}{}", screen.clip(name, 24)))
                .collect()
        };
        let mut changes = signed("+", &row.entering);
        changes.extend(signed("−", &row.leaving));
        let mark = if Some(at) == chosen { "→" } else { " " };
        let cells = [
            mark,
            &fitted.k.to_string(),
            &significant(fitted.objective, 7),
            &gap,
            &number(row.aic),
            &number(row.bic),
            &number(row.ebic),
        ];
        line(
            cells,
            &screen.clip(&changes.join(" "), screen.width.saturating_sub(62).max(18)),
        );
    }
    if let Some(row) = chosen.and_then(|at| path.get(at)) {
        let name = output.criterion.name();
        let features = if row.fitted.support.is_empty() {
            "(none)".to_owned()
        } else {
            printable(&row.fitted.support.join(", ")).into_owned()
        };
        let first = format!("\n→ {name} is smallest at k = {}: ", row.fitted.k);
        text.push_str(&screen.wrapped(&first, "  ", &features));
    }
    text
}

#[cfg(test)]
mod tests {
    use l0star::{Design, Status};

    use super::*;

    #[test]
    fn sizes_that_were_stopped_without_hope_are_told_what_would_help() {
        let design = Design::dense(3, 2, vec![1.0, 0.0, 2.0, 0.0, 1.0, 1.0]).unwrap();
        let problem = Problem::builder(design, vec![1.0, 2.0, 3.0]).k(2).build();
        let problem = problem.unwrap();
        let mut points = PathRun::new(&problem, &Settings::default(), 0..=2)
            .solve()
            .unwrap();
        // The bound stands still in one search and moves in the other.
        let still = (0..100).map(|at| [at as f64, 1.0, 0.5, 0.0]);
        let moving = (0..100).map(|at| [at as f64, 1.0, at as f64 / 100.0, 0.0]);
        let outlooks = [
            Outlook::of(still.clone()),
            Outlook::of(still),
            Outlook::of(moving),
        ];
        let outlooks: Outlooks = outlooks.into_iter().enumerate().collect();
        assert!(hopeless(&points, &outlooks, &problem, 1e-3).is_empty());
        points[1].solution.status = Status::TimeLimit;
        points[2].solution.status = Status::TimeLimit;
        let found = hopeless(&points, &outlooks, &problem, 1e-3);
        assert_eq!(found.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1]);
        assert!(found[0].1.contains("--ridge"), "{}", found[0].1);
    }
}
