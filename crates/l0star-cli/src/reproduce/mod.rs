//! `l0star reproduce`: runs the paper's experiments again, figure by figure.
//!
//! | module | its one job |
//! |---|---|
//! | `plan` | instances, and the methods that solve them |
//! | `experiments` | the paper's experiments, one file each: points, figures, statements |
//! | `runner` | runs what is missing, several instances in parallel |
//! | `mip` | the mixed-integer competitor, where it is set up |
//! | `store` | results in files from which a later run continues |
//! | `results` | means, deviations, counts |
//! | `figure`, `draw` | the content of a figure; its SVG and PNG files |
//! | `page` | Markdown and HTML |
//! | `machine` | the machine and the date |

mod draw;
mod experiments;
mod figure;
mod machine;
mod mip;
mod page;
mod plan;
mod results;
mod runner;
mod store;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use self::experiments::{ALL, Experiment};
use self::page::Chapter;
use self::plan::Point;
use self::results::Results;
use self::runner::Conditions;
use self::store::{Record, Store};
use l0star_report::text::printable;

use crate::failure::{Failure, INTERRUPTED, SOLVED};
use crate::{interrupt, output, units};

pub const EXAMPLES: &str = "\
Examples:
  l0star reproduce all
  l0star reproduce cost --instances 5 --out results
  l0star reproduce real --peers bench/peers

Each finished instance is written to NAME.csv at once; an interrupted run resumes from there
when it is started again. The page is reproduce.md and reproduce.html, with SVG and PNG figures.";

/// Names of the experiments, and `all`.
const NAMES: [&str; 7] = [
    "all",
    "cost",
    "recovery",
    "recovery-strong",
    "real",
    "sga-pdal",
    "ablation",
];

#[derive(Debug, clap::Args)]
pub struct ReproduceArgs {
    /// Which experiment, or all of them
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(NAMES))]
    pub name: String,

    /// Random instances at every point of a figure; the paper has 100
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub instances: u64,

    /// Folder for results, figures and the page; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "reproduced")]
    pub out: PathBuf,

    /// Cut each search off after this time: 500ms, 30s, 2m
    // The old name meant the same.
    #[arg(long, alias = "time-limit", value_name = "TIME", default_value = "60s", value_parser = units::duration)]
    pub search_time_limit: Duration,

    /// Instances that run side by side, each on one thread [default: one per core]
    #[arg(long, value_name = "T")]
    pub threads: Option<NonZeroUsize>,

    /// Folder of the peers, for the mixed-integer competitor of 'real'
    #[arg(long, value_name = "DIR", default_value = "bench/peers")]
    pub peers: PathBuf,

    /// Discard existing results
    #[arg(long)]
    pub restart: bool,

    /// Print nothing
    #[arg(long)]
    pub quiet: bool,
}

/// Runs the missing instances, then draws and writes all results.
pub fn run(args: &ReproduceArgs) -> Result<ExitCode, Failure> {
    fs::create_dir_all(&args.out).map_err(|reason| Failure::Output {
        what: format!("to the folder '{}'", args.out.display()),
        reason,
        advice: "choose another folder with --out",
    })?;
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let conditions = Conditions {
        instances: args.instances,
        threads: args.threads.unwrap_or(cores),
        time_limit: args.search_time_limit,
        interrupt: interrupt::flag(),
        quiet: args.quiet,
    };
    let mut chapters = Vec::new();
    for experiment in ALL {
        if args.name != "all" && args.name != experiment.name {
            chapters.extend(earlier(experiment, args, &conditions));
            continue;
        }
        let chapter = reproduce(experiment, args, &conditions)?;
        if conditions.interrupt.load(Ordering::Relaxed) {
            let message = format!(
                "the finished instances are in '{}', and the same command goes on from there",
                args.out.display()
            );
            output::tell("interrupted", &message);
            return Ok(ExitCode::from(INTERRUPTED));
        }
        chapters.push(chapter);
    }
    page::save(&chapters, &preface(&conditions), &args.out)?;
    if !args.quiet {
        output::print(&summary(&chapters, &args.out))?;
    }
    Ok(ExitCode::from(SOLVED))
}

/// Runs one experiment and returns its chapter: results, figures, statements.
fn reproduce(
    experiment: &Experiment,
    args: &ReproduceArgs,
    conditions: &Conditions,
) -> Result<Chapter, Failure> {
    let points = (experiment.points)();
    let mut store = open(experiment, &points, args, conditions, args.restart)?;
    runner::run(experiment.name, &points, &mut store, conditions)?;
    let mut records = store.records().to_vec();
    let mut notes = Vec::new();
    if experiment.name == "real" {
        let mut store = open_mip(args, conditions, args.restart)?;
        notes.extend(mip::run(&args.peers, &mut store, &args.out, conditions)?);
        records.extend_from_slice(store.records());
    }
    let mut chapter = chapter(experiment, &records, &points, conditions, store.begun());
    chapter.notes.extend(notes);
    for figure in &chapter.figures {
        draw::save(figure, &args.out)?;
    }
    Ok(chapter)
}

/// Returns the chapter of an experiment that was run before under the same conditions; its figures exist already.
fn earlier(
    experiment: &Experiment,
    args: &ReproduceArgs,
    conditions: &Conditions,
) -> Option<Chapter> {
    if !args.out.join(format!("{}.csv", experiment.name)).exists() {
        return None;
    }
    let points = (experiment.points)();
    let store = open(experiment, &points, args, conditions, false).ok()?;
    let mut records = store.records().to_vec();
    if experiment.name == "real" {
        records.extend_from_slice(open_mip(args, conditions, false).ok()?.records());
    }
    (!records.is_empty()).then(|| chapter(experiment, &records, &points, conditions, store.begun()))
}

fn open(
    experiment: &Experiment,
    points: &[Point],
    args: &ReproduceArgs,
    conditions: &Conditions,
    restart: bool,
) -> Result<Store, Failure> {
    let configuration = configuration(json!(points), conditions);
    Store::open(
        &args.out,
        experiment.name,
        &configuration,
        &machine::today(),
        restart,
    )
}

/// Opens the results of the mixed-integer solver. They have their own file, as the solver may be set up later.
fn open_mip(
    args: &ReproduceArgs,
    conditions: &Conditions,
    restart: bool,
) -> Result<Store, Failure> {
    let configuration = configuration(json!("those of real.json"), conditions);
    Store::open(
        &args.out,
        "real-mip",
        &configuration,
        &machine::today(),
        restart,
    )
}

fn chapter(
    experiment: &Experiment,
    records: &[Record],
    points: &[Point],
    conditions: &Conditions,
    begun: &str,
) -> Chapter {
    let results = Results::new(records, points, conditions.instances);
    let mut chapter = (experiment.chapter)(&results);
    let count = cut_off(&results, conditions);
    chapter.notes.push(format!("Begun on {begun}. {count}"));
    chapter
}

/// Returns the conditions that must be equal for results to belong together.
fn configuration(points: Value, conditions: &Conditions) -> Value {
    json!({
        "program": concat!("l0star ", env!("CARGO_PKG_VERSION")),
        "profile": profile(),
        "machine": machine::machine(),
        "instances at a time": conditions.threads,
        "time limit in seconds": conditions.time_limit.as_secs_f64(),
        "points": points,
    })
}

fn profile() -> &'static str {
    if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    }
}

/// Formats the note on runs that were cut off; they are part of every mean.
fn cut_off(results: &Results, conditions: &Conditions) -> String {
    let limit = conditions.time_limit.as_secs_f64();
    let mut cut: Vec<String> = results
        .cut_off()
        .map(|record| {
            format!(
                "{} {} at {}",
                record.panel,
                record.method,
                draw::plain(record.x)
            )
        })
        .collect();
    let count = cut.len();
    cut.sort();
    cut.dedup();
    match count {
        0 => format!(
            "{} runs, none of them cut off at the limit of {limit} s.",
            results.len()
        ),
        _ => format!(
            "{} runs; {count} of them were cut off at the limit of {limit} s and count with what they had reached (triangles; the means there are lower bounds): {}.",
            results.len(),
            cut.join("; ")
        ),
    }
}

fn preface(conditions: &Conditions) -> Vec<String> {
    vec![
        "Each statement of the paper beside what came out, with the paper's configuration (`BFS (paper)`, `--method paper`) and with the default engine (`l0star`) in the same figures. The paper: S. Sakaue and N. Marumo, Best-first Search Algorithm for Non-convex Sparse Minimization. Its programs were in Python on another machine, so times compare with each other, not with the paper's.".into(),
        format!(
            "Made by `l0star reproduce` {} ({} build), {}; {} instances at every point, seeds 1 to {}; {} at a time, each run on one thread; a run is cut off after {} s.",
            env!("CARGO_PKG_VERSION"),
            profile(),
            machine::machine(),
            conditions.instances,
            conditions.instances,
            conditions.threads,
            conditions.time_limit.as_secs_f64()
        ),
    ]
}

/// Formats the closing summary: how many statements hold, those that do not, and the path of the page.
fn summary(chapters: &[Chapter], folder: &Path) -> String {
    let mut text = String::new();
    for chapter in chapters {
        let count = |holds: Option<bool>| {
            let same = chapter
                .statements
                .iter()
                .filter(|statement| statement.holds == holds);
            same.count()
        };
        let not_run = match count(None) {
            0 => String::new(),
            count => format!(", {count} could not be checked"),
        };
        text += &format!(
            "{:16} {} of {} statements hold{not_run}\n",
            chapter.name,
            count(Some(true)),
            chapter.statements.len()
        );
        for statement in chapter.statements.iter().filter(|s| s.holds == Some(false)) {
            text += &format!("  not so: {}: {}\n", statement.paper, statement.found);
        }
        for note in &chapter.notes {
            text += &format!("  {note}\n");
        }
    }
    let page = folder.join("reproduce.html").display().to_string();
    text + &format!("the page: {}\n", printable(&page))
}
