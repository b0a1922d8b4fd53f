//! `l0star stability`: the best model of every resample of the rows, and how often each feature is in it.

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use l0star::{Method, Problem, Run, Settings, Status};
use l0star_data::counted;
use l0star_record::fields::Fitted;
use l0star_record::outcome::Outcome;
use l0star_record::stability::summary::Resampled;
use l0star_record::stability::{Drawn, DrawnFile, Plan, Resampling, Searches, Stability, Stop};
use l0star_report::page::{self, Page};
use l0star_report::text::{percent, significant};
use l0star_report::width::{padded, width};
use l0star_report::{Face, stability as words};

use crate::checkpoint::{self, CheckpointArgs, Checkpoints};
use crate::failure::{Failure, INTERRUPTED, LIMIT, SOLVED};
use crate::numbers::{count, one_or_more, positive};
use crate::saved::{self, Origin};
use crate::screen::Screen;
use crate::search::SearchArgs;
use crate::task::{Task, TaskArgs};
use crate::{interrupt, output, progress, table};

pub const EXAMPLES: &str = "\
Examples:
  l0star stability data/diabetes.csv --target target -k 5
  l0star stability data/diabetes.csv --target target -k 5 --interactions --resamples 500 --report page.html
  l0star stability patients.csv --target died --loss logistic -k 8 --resampling half --json
  l0star stability large.npy --target x1000 -k 12 --checkpoint large.ckpt
  l0star stability large.npy --target x1000 -k 12 --resume large.ckpt --resamples 1000

The best model of all rows is found first, then that of each resample, drawn by --seed (of each label by itself). \
Intervals of coefficients hold the middle 95 % over all resamples, with 0 where a feature was not chosen.

--time-limit is for the whole run, and resamples that are done by then count; so do those that are done when it is \
interrupted. --search-time-limit, --node-limit and --memory-limit are for each search; what they stop counts as not proved.";

const LONGEST_NAME: usize = 32;
const MOST_ROWS: usize = 20;
const LONGEST_BAR: usize = 20;

#[derive(Debug, clap::Args)]
pub struct StabilityArgs {
    #[command(flatten)]
    pub task: TaskArgs,

    /// At most this many features
    #[arg(short, value_name = "K", allow_hyphen_values = true, value_parser = count, display_order = 2)]
    pub k: usize,

    /// Weight of the ridge, R/2 times the sum of the squared coefficients
    #[arg(long, value_name = "R", default_value_t = 1e-3, allow_hyphen_values = true,
          value_parser = positive)]
    pub ridge: f64,

    /// How many resamples; a resumed run may have more than the first
    #[arg(long, value_name = "N", default_value = "500", allow_hyphen_values = true, value_parser = one_or_more)]
    pub resamples: NonZeroUsize,

    /// As many rows as there are with replacement, or half of them
    #[arg(long, value_name = "HOW", default_value = "bootstrap",
          value_parser = PossibleValuesParser::new(Resampling::WORDS).try_map(|word| word.parse::<Resampling>()))]
    pub resampling: Resampling,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub kept: CheckpointArgs,

    /// Print one JSON object instead of the tables: the fields of fit, and stability
    #[arg(long)]
    pub json: bool,

    /// Write the model of all rows with its stability to this file, for predict and explain
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write the result as an HTML page: how often each feature was chosen, and which together
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Print no tables and no progress bar
    #[arg(long)]
    pub quiet: bool,
}

/// Runs the command: finds the best models of all resamples.
pub fn run(args: &StabilityArgs) -> Result<ExitCode, Failure> {
    let settings = settings(args)?;
    args.task.rules.check_price()?;
    let others = [("the model", &args.out), ("the report", &args.report)];
    let checkpoints = Checkpoints::prepare(&args.kept, &args.task.data, &others)?;
    output::check_files(&args.out, &args.report, &args.task.data)?;
    let task = Task::read(&args.task, args.quiet)?;
    task.needs_rows("stability")?;
    let problem = task.problem(args.k, args.ridge, task.weights.as_deref())?;
    let mut warnings = task.warnings(args.k);
    if !args.quiet && !args.json {
        output::warn(&args.search.warnings());
        output::warn(&warnings);
    }
    let started = Instant::now();
    let solution = Run::new(&problem, &settings).solve()?;
    let (shown, is_refit, note) = task.reported(&problem, &solution);
    if !args.quiet && !args.json {
        output::warn(note.as_slice());
    }
    warnings.extend(note);
    let outcome = Outcome {
        is_refit,
        ..task.outcome(&problem, args.ridge, &warnings)
    };
    let origin = Origin::new(&task, &problem, &settings);
    let fitted = outcome.with_inference(outcome.fitted(&shown), &shown);
    let mut fitted = origin.measured(fitted)?;
    let limit = settings.time_limit;
    let rest = Settings {
        time_limit: limit.map(|limit| limit.saturating_sub(started.elapsed())),
        ..settings.clone()
    };
    let (drawn, stop, seconds) = resample(args, &task, &rest, &solution.support, checkpoints)?;
    let feature = |j: usize| task.rules.name(j).to_owned();
    let stability = Stability::of(&Resampled {
        drawn: &drawn,
        names: &task.names,
        outputs: task.outputs(),
        feature: &feature,
        chosen: &task.rules.columns(&solution.support),
        resampling: args.resampling,
        seed: args.task.seed,
        asked: args.resamples.get(),
        status: match stop {
            None => "complete",
            Some(Stop::TimeLimit) => "time_limit",
            Some(Stop::Interrupted) => "interrupted",
        },
        seconds,
    });
    let is_proved = stability.proved == stability.resamples;
    fitted.stability = Some(stability);
    if args.out.is_some() || args.report.is_some() {
        let model = saved::model(&origin, fitted.clone());
        if let Some(path) = &args.out {
            model.save(path)?;
        }
        if let Some(path) = &args.report {
            let scores = task.scores(&shown.coefficients, shown.intercept);
            let page = Page {
                rows: task.scored(&scores),
                ..Page::new(Face::Command, &model)
            };
            page::save(path, &page)?;
        }
    }
    if args.json {
        output::print_json(&fitted)?;
    } else if !args.quiet {
        output::print(&render(&fitted, task.intercept, &Screen::of_stdout()))?;
    }
    let status = solution.status;
    Ok(ExitCode::from(match stop {
        Some(Stop::Interrupted) => INTERRUPTED,
        _ if status == Status::Interrupted => INTERRUPTED,
        None if is_proved && !status.falls_short() => SOLVED,
        _ => LIMIT,
    }))
}

fn settings(args: &StabilityArgs) -> Result<Settings, Failure> {
    let mut settings = args.search.settings()?;
    args.kept.check(settings.method)?;
    if settings.method != Method::BestFirst {
        settings.threads = None;
    }
    settings.interrupt = Some(interrupt::flag());
    Ok(settings)
}

/// Returns the models of the resamples, what stopped them early if anything, and the seconds of all runs.
fn resample(
    args: &StabilityArgs,
    task: &Task,
    settings: &Settings,
    start: &[usize],
    mut checkpoints: Checkpoints<DrawnFile>,
) -> Result<(Vec<Drawn>, Option<Stop>, f64), Failure> {
    let source = checkpoints.source.take();
    let every = checkpoints.every;
    let is_kept = checkpoints.are_kept();
    let key = if is_kept {
        key(args, task, settings)
    } else {
        String::new()
    };
    let mut file = match checkpoints.resume.take() {
        Some(file) => file
            .check(&key, task.names.len() * task.outputs().len().max(1))
            .map(|()| file)
            .map_err(|error| checkpoint::explain(source, error))?,
        None => DrawnFile::new(key),
    };
    let (started, before) = (Instant::now(), file.seconds);
    let (kinds, has_kinds) = task.kinds();
    let plan = Plan {
        resampling: args.resampling,
        seed: args.task.seed,
        response: &kinds,
        weights: task.weights.as_deref(),
        has_labels: has_kinds,
    };
    let known = std::mem::take(&mut file.drawn);
    let bar = progress::bar(args.resamples.get(), "resamples", args.quiet);
    let threads = args.search.thread_count();
    let searches = Searches {
        resamples: args.resamples.get(),
        settings,
        threads: threads.map_or(1, NonZeroUsize::get),
        free: task.rules.free(),
        start,
        every,
    };
    let problem = |at: usize| -> Result<Problem, Failure> {
        task.problem(args.k, args.ridge, Some(&plan.draw(at)))
    };
    let mut save = |drawn: &[Drawn]| {
        if !is_kept {
            return;
        }
        file.seconds = before + started.elapsed().as_secs_f64();
        file.drawn = drawn.to_vec();
        file.drawn.sort_by_key(|own| own.at);
        checkpoints.write(&file);
    };
    let done = |count: usize| bar.set_position(count as u64);
    let found = searches.run(known, problem, done, &mut save);
    bar.finish_and_clear();
    let (drawn, stop) = found?;
    Ok((drawn, stop, before + started.elapsed().as_secs_f64()))
}

/// Returns a key that identifies the resamples: the data, the problem, and how rows are drawn.
fn key(args: &StabilityArgs, task: &Task, settings: &Settings) -> String {
    let asked = serde_json::to_string(&task.rules.asked()).expect("constraints are plain");
    let words = [
        task.fingerprint(),
        task.names.join(","),
        format!("k={}", args.k),
        format!("loss={} {:?}", task.loss.name(), task.loss.huber_delta()),
        format!("ridge={:e}", args.ridge),
        format!("gap={:e} {:e}", settings.gap, settings.relative_gap),
        format!("method={}", settings.method),
        format!("intercept={}", task.intercept),
        format!("standardize={}", task.standardize),
        format!("resampling={} seed={}", args.resampling, args.task.seed),
        asked,
    ];
    let mut fingerprint = l0star_data::Fingerprint::new(0);
    for word in &words {
        let bytes: Vec<f64> = word.bytes().map(f64::from).collect();
        fingerprint.vector(&bytes);
    }
    fingerprint.finish()
}

/// Formats the tables of the result.
fn render(fitted: &Fitted, intercept: bool, screen: &Screen) -> String {
    let Some(own) = &fitted.stability else {
        return String::new();
    };
    let mut text = screen.bold(&words::headline(own)) + "\n\n";
    if own.resamples > 0 {
        text += &frequencies(own, screen);
        text.push('\n');
        text += &screen.wrapped("  ", "  ", words::INTERVALS);
        if !own.pairs.is_empty() {
            text.push('\n');
            for pair in own.pairs.iter().take(5) {
                text += &screen.wrapped("  ", "    ", &words::stand_in(pair));
            }
        }
        text.push('\n');
        text += &models(own, screen);
        text.push('\n');
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", screen.bold("the best model of all rows"));
    text += &table::measures(fitted, screen);
    text.push('\n');
    text += &table::coefficients(fitted, intercept, screen);
    let print = format!(
        "{}, {} seconds",
        counted(own.nodes, "node"),
        significant(own.seconds, 3)
    );
    let _ = writeln!(text, "\n  {}", screen.dim(&print));
    text
}

/// Formats how often each feature was chosen, and the interval of its coefficient.
fn frequencies(own: &Stability, screen: &Screen) -> String {
    let shown = &own.features[..own.features.len().min(MOST_ROWS)];
    let names: Vec<String> = shown
        .iter()
        .map(|feature| screen.clip(&feature.feature, LONGEST_NAME))
        .collect();
    let wide = names.iter().map(|name| width(name)).fold(7, usize::max);
    let head = format!(
        "  {}  {:>8}  {:>11}  {:>24}",
        padded("feature", wide),
        "chosen",
        "median",
        "95 % interval"
    );
    let mut text = screen.bold(&head) + "\n";
    for (feature, name) in shown.iter().zip(&names) {
        // A group has one interval per column, which only the JSON output shows.
        let mut spreads = own
            .coefficients
            .iter()
            .filter(|spread| spread.feature == feature.feature);
        let spread = spreads.clone().find(|spread| spread.output.is_none());
        let (median, interval) = spread.map_or((String::new(), String::new()), |spread| {
            let number = |value: f64| significant(value, 4);
            (
                number(spread.median),
                format!("{} to {}", number(spread.lower), number(spread.upper)),
            )
        });
        let bar = "█".repeat((feature.frequency * LONGEST_BAR as f64).round() as usize);
        let bar = if feature.chosen {
            screen.good(&bar)
        } else {
            screen.dim(&bar)
        };
        let line = format!(
            "  {}  {:>6} %  {median:>11}  {interval:>24}  {bar}",
            padded(name, wide),
            percent(feature.frequency)
        );
        let _ = writeln!(text, "{}", line.trim_end());
        for (spread, output) in spreads
            .by_ref()
            .filter_map(|own| Some((own, own.output.as_ref()?)))
        {
            let number = |value: f64| significant(value, 4);
            let interval = format!("{} to {}", number(spread.lower), number(spread.upper));
            let name = format!("  {}", screen.clip(output, LONGEST_NAME - 2));
            let _ = writeln!(
                text,
                "  {}  {:>8}  {:>11}  {interval:>24}",
                padded(&name, wide),
                "",
                number(spread.median)
            );
        }
    }
    if shown.len() < own.features.len() {
        let rest = own.features.len() - shown.len();
        let _ = writeln!(text, "  … and {} more", counted(rest, "feature"));
    }
    text
}

/// Formats the models that won most often.
fn models(own: &Stability, screen: &Screen) -> String {
    let mut text = screen.wrapped("  ", "  ", &words::verdict(own));
    for model in own.models.iter().take(5) {
        let names: Vec<String> = model
            .features
            .iter()
            .map(|name| screen.clip(name, LONGEST_NAME))
            .collect();
        let features = if names.is_empty() {
            "(none)".to_owned()
        } else {
            names.join(", ")
        };
        let mark = if model.chosen { " (of all rows)" } else { "" };
        let first = format!("  {:>6} %  ", percent(model.share));
        text += &screen.wrapped(&first, &" ".repeat(12), &format!("{features}{mark}"));
    }
    text
}
