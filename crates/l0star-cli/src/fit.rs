//! `l0star fit`.

use std::process::ExitCode;
use std::time::Instant;

use l0star::search::{Event, News, Source};
use l0star::{Checkpoint, Run, Solution, Status};
use l0star_record::outcome::Outcome;
use l0star_report::page::{self, Page, Trace};
use l0star_report::{Face, Outlook};

use crate::checkpoint::Checkpoints;
use crate::failure::{self, Failure};
use crate::output;
use crate::progress::Listener;
use crate::ready::{FitArgs, Job};
use crate::saved::{self, Origin};
use crate::screen::Screen;
use crate::{checkpoint, interrupt, prices, table};

pub const EXAMPLES: &str = "\
Examples:
  l0star fit data/diabetes.csv --target target -k 5
  l0star fit data/diabetes.csv --target target -k 5 --interactions --json
  l0star fit houses.parquet --target price -k 4 --loss huber --huber-delta 2 --drop id,city
  l0star fit genes.csv.gz --target c1 -k 6 --no-header --features 'c*' --drop 2,5-9
  zcat rcv1.svm.gz | l0star fit - --target b --loss logistic -k 10
  l0star fit patients.csv --target died --loss logistic -k 8 --weights n --out model.json --report model.html
  l0star fit policies.csv --target claims --loss poisson --offset log_years -k 6
  l0star fit patients.csv --target days --event died --loss cox --strata centre -k 6
  l0star fit fields.csv --target wheat,barley,oats -k 5
  l0star fit plants.csv --target species --loss multinomial -k 4
  l0star fit data/diabetes.csv --target target -k 5 --within 1%
  l0star fit data/diabetes.csv --target target -k 5 --prices --include age --nonnegative bmi,bp
  l0star fit large.npy --target x1000 -k 20 --time-limit 8h --checkpoint large.ckpt
  l0star fit large.npy --target x1000 -k 20 --resume large.ckpt";

/// Runs the command; the exit code says whether the result is proved.
pub fn run(args: &FitArgs) -> Result<ExitCode, Failure> {
    let others = [("the model", &args.out), ("the report", &args.report)];
    let mut checkpoints = Checkpoints::prepare(&args.kept, &args.task.data, &others)?;
    let mut job = Job::prepare(args)?;
    job.settings.interrupt = Some(interrupt::flag());
    if !args.quiet && !args.json {
        output::warn(&args.search.warnings());
        output::warn(&job.warnings);
    }
    let listener = Listener::new(args.log, args.quiet);
    let mut trace = Trace::default();
    let watched = args.report.is_some().then_some(&mut trace);
    let started = Instant::now();
    let Solved {
        solution,
        last,
        found: (source, seconds),
        outlook,
    } = solve(&job, args.prices, &mut checkpoints, listener, watched)?;

    let (shown, is_refit, note) = job.task.reported(&job.problem, &solution);
    if !args.quiet && !args.json {
        output::warn(note.as_slice());
    }
    job.warnings.extend(note);
    let outcome = Outcome {
        is_refit,
        ..job.outcome()
    };
    let origin = Origin::new(&job.task, &job.problem, &job.settings);
    let fitted = outcome.with_inference(outcome.fitted(&shown), &shown);
    let mut fitted = origin.measured(fitted)?;
    fitted.found_by = Some(source.as_str().to_owned());
    fitted.found_after = Some(seconds);
    if !args.quiet && !args.json {
        output::warn(outlook.as_slice());
    }
    fitted.warnings.extend(outlook);
    let mut statuses = vec![solution.status];
    // An interrupted run ends without prices.
    if args.prices && solution.status != Status::Interrupted {
        let limit = job.settings.time_limit;
        let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
        let prices = prices::find(&job, left, &solution, last, &mut checkpoints)?;
        statuses.extend(prices.iter().map(|price| price.status));
        fitted.prices = Some(job.outcome().prices(&prices));
    }
    if args.out.is_some() || args.report.is_some() {
        let model = saved::model(&origin, fitted.clone());
        if let Some(path) = &args.out {
            model.save(path)?;
        }
        if let Some(path) = &args.report {
            let scores = job.task.scores(&shown.coefficients, shown.intercept);
            let page = Page {
                rows: job.task.scored(&scores),
                trace: Some(&trace),
                ..Page::new(Face::Command, &model)
            };
            page::save(path, &page)?;
        }
    }
    if args.json {
        output::print_json(&fitted)?;
    } else if !args.quiet {
        let screen = Screen::of_stdout();
        let mut text = table::render(&job, &solution, &fitted, &screen);
        if let Some(prices) = &fitted.prices {
            text.push('\n');
            text += &prices::table(prices, solution.objective, &screen);
        }
        output::print(&text)?;
    }
    Ok(ExitCode::from(failure::code(statuses)))
}

/// The outcome of a search.
struct Solved {
    solution: Solution,
    /// The last checkpoint, if prices are computed afterwards.
    last: Option<Checkpoint>,
    /// The source of the model and when it was found. A model that needed no search counts as given.
    found: (Source, f64),
    /// The message for a search that was stopped and was unlikely to finish.
    outlook: Option<String>,
}

/// Runs the search. With `after`, it keeps the last checkpoint for the prices.
fn solve(
    job: &Job,
    after: bool,
    checkpoints: &mut Checkpoints<Checkpoint>,
    mut listener: Listener,
    mut trace: Option<&mut Trace>,
) -> Result<Solved, Failure> {
    let source = checkpoints.source.take();
    let mut last = None;
    let mut found = (Source::Given, 0.0);
    let mut outlook = Outlook::default();
    let mut run = Run::new(&job.problem, &job.settings);
    if let Some(checkpoint) = checkpoints.resume.take() {
        run = run.resume(checkpoint);
    }
    if checkpoints.are_kept() {
        let every = checkpoints.every;
        let sink = Box::new(|checkpoint: &Checkpoint| {
            checkpoints.write(checkpoint);
            if after {
                last = Some(checkpoint.clone());
            }
        });
        run = run.save(every, sink);
    }
    run = run.observe(Box::new(|event: &Event| {
        if let News::Incumbent { source, .. } = event.news {
            found = (source, event.seconds);
        }
        outlook.hear(event);
        let words = outlook.words(&job.problem, job.ridge, Face::Command);
        listener.hear(event, words.as_deref());
        if let Some(trace) = &mut trace {
            trace.hear(event);
        }
    }));
    let solution = run.solve();
    listener.finish();
    let solution = solution.map_err(|error| checkpoint::explain(source, error))?;
    if let Some(trace) = trace {
        let Solution {
            seconds,
            objective,
            lower_bound,
            nodes,
            ..
        } = solution;
        trace.end(seconds, objective, lower_bound, nodes);
    }
    let hopeless = outlook.words(&job.problem, job.ridge, Face::Command);
    Ok(Solved {
        outlook: hopeless.filter(|_| solution.status.stopped_early()),
        solution,
        last,
        found,
    })
}
