//! Runs the missing instances: several in parallel, each on one thread.

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use l0star::{Problem, Settings, Solution, solve};

use super::plan::{Entrant, Point};
use super::store::{Record, Store};
use crate::failure::Failure;

/// Number of repetitions of a short run on real data; its time is their median.
const REPEATS: usize = 9;
/// Duration above which a run is not repeated.
const LONG: Duration = Duration::from_millis(500);

/// The conditions of a run.
#[derive(Debug)]
pub struct Conditions {
    pub instances: u64,
    pub threads: NonZeroUsize,
    pub time_limit: Duration,
    pub interrupt: Arc<AtomicBool>,
    pub quiet: bool,
}

/// An instance to run.
struct Task<'a> {
    point: &'a Point,
    seed: u64,
}

/// Runs every instance that `store` lacks; stops early only if it is interrupted.
pub fn run(
    name: &str,
    points: &[Point],
    store: &mut Store,
    conditions: &Conditions,
) -> Result<(), Failure> {
    let tasks = missing(points, store, conditions.instances);
    if tasks.is_empty() {
        return Ok(());
    }
    let progress = bar(name, tasks.len(), conditions.quiet);
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    let outcome = std::thread::scope(|scope| {
        for _ in 0..conditions.threads.get().min(tasks.len()) {
            let sender = sender.clone();
            let (tasks, next, failed) = (&tasks, &next, &failed);
            scope.spawn(move || {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let stopped = || {
                        conditions.interrupt.load(Ordering::Relaxed)
                            || failed.load(Ordering::Relaxed)
                    };
                    if stopped() {
                        return;
                    }
                    let records = task.run(conditions);
                    // The receiver is gone if a file could not be written.
                    if stopped() || sender.send(records).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut outcome = Ok(());
        for records in receiver {
            outcome = records.and_then(|records| store.append(records));
            if outcome.is_err() {
                failed.store(true, Ordering::Relaxed);
                break;
            }
            progress.inc(1);
        }
        outcome
    });
    progress.finish_and_clear();
    outcome
}

/// Returns the missing instances: the first of every point, then the second of each, and so on. An interrupted run
/// then has results at every point.
fn missing<'a>(points: &'a [Point], store: &Store, instances: u64) -> Vec<Task<'a>> {
    let seeds = 1..=instances;
    seeds
        .flat_map(|seed| points.iter().map(move |point| Task { point, seed }))
        .filter(|task| task.seed == 1 || task.point.is_drawn())
        .filter(|task| {
            let methods = task.point.entrants.iter().map(|entrant| entrant.name);
            !store.has(task.point.panel, task.point.x, task.seed, methods)
        })
        .collect()
}

fn bar(name: &str, length: usize, quiet: bool) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::stderr());
    let template = "{msg:14} {wide_bar} {pos}/{len} instances  {elapsed} (eta {eta})";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(name.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

impl Task<'_> {
    fn run(&self, conditions: &Conditions) -> Result<Vec<Record>, Failure> {
        let (problem, truth) = self.point.source.problem(self.seed)?;
        let repeats = if self.point.is_drawn() { 1 } else { REPEATS };
        let mut records = Vec::new();
        for entrant in &self.point.entrants {
            let settings = Settings {
                time_limit: Some(conditions.time_limit),
                interrupt: Some(Arc::clone(&conditions.interrupt)),
                ..entrant.settings()
            };
            let (solution, seconds) = measure(&problem, &settings, repeats)?;
            records.push(self.record(entrant, &solution, seconds, truth.as_deref()));
        }
        Ok(records)
    }

    fn record(
        &self,
        entrant: &Entrant,
        solution: &Solution,
        seconds: f64,
        truth: Option<&[usize]>,
    ) -> Record {
        Record {
            panel: self.point.panel.to_owned(),
            x: self.point.x,
            seed: self.seed,
            method: entrant.name.to_owned(),
            status: solution.status,
            objective: solution.objective,
            lower_bound: solution.lower_bound,
            seconds,
            solver_calls: solution.solver_calls,
            nodes: solution.nodes,
            recovered: truth.map(|truth| truth == solution.support),
        }
    }
}

fn measure(
    problem: &Problem,
    settings: &Settings,
    repeats: usize,
) -> Result<(Solution, f64), Failure> {
    let mut times = Vec::with_capacity(repeats);
    loop {
        let start = Instant::now();
        let solution = solve(problem, settings)?;
        times.push(start.elapsed());
        if times.len() == repeats || times[0] > LONG {
            times.sort();
            return Ok((solution, times[times.len() / 2].as_secs_f64()));
        }
    }
}
