//! The searches of the command's cross-validation, and their checkpoint file.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::ProgressBar;
use l0star::batch::room_for;
use l0star::path::{PathObserver, PathSize};
use l0star::search::Event;
use l0star::{Batch, BatchCheckpoint, BatchPlan, PathState, Problem, Settings, Solution};
use l0star_record::cv::{CrossValidation, Folds, Path, Penalty, Score, Searcher, Tally};
use l0star_report::Outlook;
use l0star_report::text::significant;

use crate::checkpoint::{self, Checkpoints};
use crate::failure::Failure;
use crate::task::Task;

/// Searches, with or without checkpoints.
pub struct Searches {
    batch: Batch<'static>,
    /// The file that the searches resume from.
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

    /// Resumes from the given file, if it belongs to the plan, and writes further checkpoints.
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

    /// Writes a checkpoint of everything done so far.
    pub fn save(&self) {
        self.batch.save();
    }

    /// Returns the seconds of all runs.
    pub fn seconds(&self) -> f64 {
        self.batch.seconds()
    }
}

/// The command's part of cross-validation: problems from the file, and scores of its rows.
pub struct Plan<'a> {
    pub task: &'a Task,
    pub settings: &'a Settings,
    pub ks: &'a [usize],
    pub penalties: &'a [Penalty],
    pub folds: &'a Folds,
    pub score: Score,
    pub searches: &'a Searches,
    /// Time at which searches on folds are cut off.
    pub deadline: Option<Instant>,
    /// Progress bar, which advances with every search.
    pub bar: ProgressBar,
    /// Whether every search is logged on standard error.
    pub log: bool,
    /// The supports found, by path and size.
    pub found: Mutex<HashMap<(usize, usize), Vec<usize>>>,
}

impl Plan<'_> {
    /// Scores every size on every fold, or as many as it can before it is cut off.
    pub fn run(&self, threads: usize) -> Result<Tally, Failure> {
        if self.log {
            self.write_line(HEADER.map(str::to_owned));
        }
        let tally = Mutex::new(Tally::new(self.ks, self.penalties, self.folds.count));
        let (columns, entries) = self.task.extent();
        let all = CrossValidation {
            settings: self.settings,
            penalties: self.penalties.len(),
            folds: self.folds.count,
            threads,
            room: room_for(entries, columns),
            deadline: self.deadline,
            is_resumed: self.searches.source.is_some(),
            tally: &tally,
        };
        all.run(self)?;
        Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the columns of the models of a candidate, fold by fold.
    pub fn models(&self, candidate: usize) -> Vec<Vec<usize>> {
        let (penalty, k) = (
            candidate / self.ks.len(),
            self.ks[candidate % self.ks.len()],
        );
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |fold: usize| {
            let own = found.get(&(penalty * self.folds.count + fold, k));
            own.cloned().unwrap_or_default()
        };
        (0..self.folds.count).map(of).collect()
    }

    /// Writes a line of the log. The price has a column only if there are several prices.
    fn write_line(&self, cells: [String; 9]) {
        let [seconds, done, k, ridge, price, fold, score, nodes, status] = cells;
        let price = match self.penalties {
            [first, .., last] if first.l0 != last.l0 => format!("{price:>9} "),
            _ => String::new(),
        };
        // A log that cannot be written must not end the run.
        let _ = writeln!(
            io::stderr(),
            "{seconds:>9} {done:>9} {k:>4} {ridge:>9} {price}{fold:>6} {score:>12} {nodes:>10}  {status}"
        );
    }

    fn weights(&self, fold: usize, inside: bool) -> Vec<f64> {
        let own = self.task.weights.as_deref();
        self.folds.weights(own, fold, inside)
    }
}

impl Searcher for Plan<'_> {
    type Error = Failure;
    /// The course of the bound of a search.
    type Notes = Outlook;

    /// Starts the path of a penalty on the rows outside a fold.
    fn begin(&self, path: Path) -> Result<PathState<'static>, Failure> {
        let (k, penalty) = (self.ks[0], self.penalties[path.penalty]);
        let problem = if self.task.folds.is_empty() {
            let outside = self.weights(path.fold, false);
            self.task.problem_at(k, penalty, Some(&outside))?
        } else {
            self.task.problem_without(path.fold, k, penalty)?
        };
        self.searches
            .path(path.at, &problem, self.settings, self.ks)
    }

    fn step(
        &self,
        state: &mut PathState<'static>,
        settings: &Settings,
    ) -> Result<Option<(PathSize, Outlook)>, Failure> {
        let mut outlook = Outlook::default();
        let mut observer: PathObserver<'_> = Box::new(|_, event: &Event| outlook.hear(event));
        let point = state.step_observed(settings, Some(&mut observer));
        drop(observer);
        let point = point.map_err(|error| self.searches.explain(error))?;
        Ok(point.map(|point| (point, outlook)))
    }

    fn hopeless(&self, _: &PathSize, outlook: &Outlook) -> Option<f64> {
        outlook.hopeless()
    }

    fn score(&self, path: Path, point: &PathSize, _: Outlook) -> Result<f64, Failure> {
        let solution = &point.solution;
        let columns = self.task.rules.columns(&solution.support);
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert((path.at, point.k), columns);
        drop(found);
        if let Some(moments) = self.task.folds.get(path.fold) {
            let (coefficients, intercept) = (&solution.coefficients, solution.intercept);
            let score = self.score.of_moments(moments, coefficients, intercept);
            // A score that needs the rows is computed from rows, never from moments.
            return Ok(score.unwrap_or(f64::NAN));
        }
        let inside = self.weights(path.fold, true);
        if self.task.has_several() {
            let (predicted, responses) =
                (self.task.scores_each(solution), self.task.all_responses());
            let loss = &*self.task.loss;
            return Ok(self.score.of_several(loss, &predicted, &responses, &inside));
        }
        let predicted = self.task.scores(&solution.coefficients, solution.intercept);
        let (loss, response) = (&*self.task.loss, &self.task.response);
        Ok(self.score.of(loss, &predicted, response, &inside))
    }

    fn entered(&self, path: Path, point: &PathSize, score: f64, tally: &Tally) {
        self.bar.inc(1);
        if !self.log {
            return;
        }
        let (missing, all) = tally.missing();
        let solution = &point.solution;
        let Penalty { ridge, l0 } = self.penalties[path.penalty];
        self.write_line([
            format!("{:.2}", self.searches.seconds()),
            format!("{}/{all}", all - missing),
            point.k.to_string(),
            ridge.to_string(),
            l0.to_string(),
            format!("{}/{}", path.fold + 1, self.folds.count),
            significant(score, 5),
            solution.nodes.to_string(),
            solution.status.to_string(),
        ]);
    }
}

const HEADER: [&str; 9] = [
    "seconds", "done", "k", "ridge", "price", "fold", "score", "nodes", "status",
];
