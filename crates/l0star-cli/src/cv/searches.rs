//! All searches: who is searched next, what it is scored by, and the file of the checkpoints.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use l0star::batch::{Turn, in_turns, room_for};
use l0star::path::Point;
use l0star::{Batch, BatchCheckpoint, BatchPlan, PathState, Problem, Settings, Solution, Status};
use l0star_report::text::significant;

use super::folds::Folds;
use super::score::Score;
use super::tally::{Scored, Tally};
use crate::checkpoint::{self, Checkpoints};
use crate::failure::Failure;
use crate::task::Task;

/// Searches whose checkpoints are kept, or are not.
pub struct Searches {
    batch: Batch<'static>,
    /// Where they resume from.
    source: Option<PathBuf>,
}

impl Searches {
    /// Searches without checkpoints.
    pub fn unkept() -> Self {
        Self {
            batch: Batch::unkept(),
            source: None,
        }
    }

    /// Resumes from the file, if one was given and it belongs to the plan, and writes further checkpoints.
    pub fn kept(
        mut checkpoints: Checkpoints<BatchCheckpoint>,
        plan: &BatchPlan,
    ) -> Result<Self, Failure> {
        let source = checkpoints.source.take();
        let saved = match checkpoints.resume.take() {
            Some(saved) => saved.check(plan).map(|()| saved),
            None => BatchCheckpoint::new(plan),
        };
        let saved = saved.map_err(|error| checkpoint::explain(source.clone(), error))?;
        let every = checkpoints.every;
        let sink = Box::new(move |checkpoint: &BatchCheckpoint| checkpoints.write(checkpoint));
        Ok(Self {
            batch: Batch::kept(saved, every, sink),
            source,
        })
    }

    fn path(
        &self,
        at: usize,
        problem: &Problem,
        settings: &Settings,
        ks: &[usize],
    ) -> Result<PathState<'static>, Failure> {
        let path = self.batch.path(at, problem, settings, ks.iter().copied());
        path.map_err(|error| self.explain(error))
    }

    /// Solves a problem for its own k, as a path of one size.
    pub fn solve(
        &self,
        at: usize,
        problem: &Problem,
        settings: &Settings,
    ) -> Result<Solution, Failure> {
        let mut path = self.path(at, problem, settings, &[problem.k()])?;
        let point = path.step(settings).map_err(|error| self.explain(error))?;
        path.finish(settings);
        Ok(point.expect("the size has not had its turn").solution)
    }

    fn explain(&self, error: l0star::Error) -> Failure {
        checkpoint::explain(self.source.clone(), error)
    }

    /// Writes the last checkpoint of some work.
    pub fn save(&self) {
        self.batch.save();
    }

    /// Seconds of all runs.
    pub fn seconds(&self) -> f64 {
        self.batch.seconds()
    }
}

/// All that is to be fitted and scored on the folds.
pub struct Plan<'a> {
    pub task: &'a Task,
    pub settings: &'a Settings,
    pub ks: &'a [usize],
    pub ridges: &'a [f64],
    pub folds: &'a Folds,
    pub score: Score,
    pub searches: &'a Searches,
    /// When searches on folds are cut off.
    pub deadline: Option<Instant>,
    /// Advances with every search.
    pub bar: ProgressBar,
    /// Whether every search gets a line on standard error.
    pub log: bool,
}

impl Plan<'_> {
    /// Scores every size on every fold, a size on all folds before the next; what there is of it when it is cut off.
    pub fn run(&self, threads: usize) -> Result<Tally, Failure> {
        if self.log {
            write_line(&HEADER.map(str::to_owned));
        }
        let tally = Tally::new(self.ks, self.ridges, self.folds.count);
        let tally = Mutex::new(tally);
        let design = &self.task.design;
        in_turns(
            self.ridges.len() * self.folds.count,
            threads,
            room_for(design.entry_count(), design.columns()),
            |at| self.begin(at),
            |at, path| self.step(at, path, &tally),
        )?;
        Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The path of a ridge on the rows outside a fold.
    fn begin(&self, at: usize) -> Result<PathState<'static>, Failure> {
        let (ridge, fold) = (at / self.folds.count, at % self.folds.count);
        let outside = self.folds.weights(self.task, fold, false);
        let ridge = self.ridges[ridge];
        let problem = self.task.problem(self.ks[0], ridge, Some(&outside))?;
        self.searches.path(at, &problem, self.settings, self.ks)
    }

    /// One search, scored on the rows inside the fold.
    fn step(&self, at: usize, path: &mut PathState, tally: &Mutex<Tally>) -> Result<Turn, Failure> {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        // Many searches run at the same time, each on one thread.
        let settings = Settings {
            threads: None,
            time_limit: self.deadline.map(left),
            ..self.settings.clone()
        };
        let size = path.done();
        let point = path.step(&settings);
        let point = point.map_err(|error| self.searches.explain(error))?;
        let Some(point) = point else {
            return Ok(Turn::EndPath);
        };
        if self.is_cut_off(point.solution.status) {
            // Others may have sizes that an earlier run has finished.
            return Ok(match self.searches.source {
                Some(_) => Turn::EndPath,
                None => Turn::EndAll,
            });
        }
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        let score = self.enter(at, size, &point, &mut tally);
        self.bar.inc(1);
        if self.log {
            self.note(at, &point, score, &tally);
        }
        if path.is_done() {
            // What is proved of a size may be enough for a smaller one.
            for (size, point) in path.finish(&settings).iter().enumerate() {
                self.enter(at, size, point, &mut tally);
            }
        }
        Ok(Turn::Next)
    }

    /// Whether a search was ended by what ends the whole run: how far it came is an accident, and its score would be one.
    fn is_cut_off(&self, status: Status) -> bool {
        match status {
            Status::Interrupted => true,
            Status::TimeLimit => self.deadline.is_some_and(|end| Instant::now() >= end),
            _ => false,
        }
    }

    /// Enters the score of a model, and what is known of it.
    fn enter(&self, at: usize, size: usize, point: &Point, tally: &mut Tally) -> f64 {
        let (ridge, fold) = (at / self.folds.count, at % self.folds.count);
        let inside = self.folds.weights(self.task, fold, true);
        let solution = &point.solution;
        let predicted = self.task.scores(&solution.coefficients, solution.intercept);
        let score = self.score.of(&predicted, &self.task.response, &inside);
        let status = solution.status;
        tally.enter(ridge, size, fold, Scored { score, status });
        score
    }

    /// A line of the log.
    fn note(&self, at: usize, point: &Point, score: f64, tally: &Tally) {
        let (ridge, fold) = (at / self.folds.count, at % self.folds.count);
        let (missing, all) = tally.missing();
        let solution = &point.solution;
        write_line(&[
            format!("{:.2}", self.searches.seconds()),
            format!("{}/{all}", all - missing),
            point.k.to_string(),
            self.ridges[ridge].to_string(),
            format!("{}/{}", fold + 1, self.folds.count),
            significant(score, 5),
            solution.nodes.to_string(),
            solution.status.to_string(),
        ]);
    }
}

const HEADER: [&str; 8] = [
    "seconds", "done", "k", "ridge", "fold", "score", "nodes", "status",
];

fn write_line(columns: &[String; 8]) {
    let [seconds, done, k, ridge, fold, score, nodes, status] = columns;
    // A log that cannot be written must not end the run.
    let _ = writeln!(
        io::stderr(),
        "{seconds:>9} {done:>9} {k:>4} {ridge:>9} {fold:>6} {score:>12} {nodes:>10}  {status}"
    );
}

/// How a limit of the whole run is divided: the fit on all rows has as much of it as a fold.
pub fn on_folds(limit: Duration, folds: usize) -> Duration {
    limit.mul_f64(folds as f64 / (folds + 1) as f64)
}
