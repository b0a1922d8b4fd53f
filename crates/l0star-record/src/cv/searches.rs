//! Runs all searches of cross-validation in turns; each face makes the problems and computes the scores.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use l0star::batch::{Turn, in_turns};
use l0star::path::PathSize;
use l0star::{PathState, Settings, Status};

use super::tally::{Hopeless, Scored, Tally};

/// A penalty on the rows outside a fold; all of its sizes form one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// Number of the path; the fold varies fastest.
    pub at: usize,
    /// Number of its penalty, which is a ridge and a price.
    pub penalty: usize,
    /// Number of its fold.
    pub fold: usize,
}

/// The part of cross-validation that a face implements; called on any thread.
pub trait Searcher: Sync {
    /// The error that ends the run.
    type Error: Send;
    /// Notes taken during a search.
    type Notes;

    /// Starts a path.
    fn begin(&self, path: Path) -> Result<PathState<'static>, Self::Error>;

    /// Searches the next size of a path; `None` if there is none.
    fn step(
        &self,
        state: &mut PathState<'static>,
        settings: &Settings,
    ) -> Result<Option<(PathSize, Self::Notes)>, Self::Error>;

    /// Scores a model on the rows inside the fold.
    fn score(&self, path: Path, point: &PathSize, notes: Self::Notes) -> Result<f64, Self::Error>;

    /// Returns the seconds that the proof of a search would take, if they are hopelessly many.
    fn hopeless(&self, _point: &PathSize, _notes: &Self::Notes) -> Option<f64> {
        None
    }

    /// Called after a score was entered.
    fn entered(&self, _path: Path, _point: &PathSize, _score: f64, _tally: &Tally) {}
}

/// All fits and scores of a cross-validation.
#[derive(Debug)]
pub struct CrossValidation<'a> {
    /// Settings of each search; many searches run at the same time, each on one thread.
    pub settings: &'a Settings,
    /// Number of penalties: every ridge with every price.
    pub penalties: usize,
    /// Number of folds.
    pub folds: usize,
    /// Number of threads that search.
    pub threads: usize,
    /// Number of paths kept in memory at the same time, see [`l0star::batch::room_for`].
    pub room: usize,
    /// Time at which searches are cut off.
    pub deadline: Option<Instant>,
    /// Whether a run is resumed. Then other paths may have sizes that an earlier run finished.
    pub is_resumed: bool,
    /// Receives the scores.
    pub tally: &'a Mutex<Tally>,
}

impl CrossValidation<'_> {
    /// Scores every size on every fold, one size on all folds before the next. If it is cut off,
    /// the scores so far remain.
    pub fn run<S: Searcher>(&self, searcher: &S) -> Result<(), S::Error> {
        // Sizes that were not proved when their search ended, by path and position.
        let unproved = Mutex::new(HashSet::new());
        let path = |at: usize| Path {
            at,
            penalty: at / self.folds,
            fold: at % self.folds,
        };
        in_turns(
            self.penalties * self.folds,
            self.threads,
            self.room,
            |at| searcher.begin(path(at)),
            |at, state| self.step(searcher, path(at), state, &unproved),
        )
    }

    /// Runs one search and scores it on the rows inside the fold.
    fn step<S: Searcher>(
        &self,
        searcher: &S,
        path: Path,
        state: &mut PathState<'static>,
        unproved: &Mutex<HashSet<(usize, usize)>>,
    ) -> Result<Turn, S::Error> {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let settings = Settings {
            threads: None,
            time_limit: self.deadline.map(left),
            ..self.settings.clone()
        };
        let size = state.done();
        let Some((point, notes)) = searcher.step(state, &settings)? else {
            return Ok(Turn::EndPath);
        };
        let status = point.solution.status;
        if self.is_cut_off(status) {
            return Ok(if self.is_resumed {
                Turn::EndPath
            } else {
                Turn::EndAll
            });
        }
        if status.falls_short() {
            lock(unproved).insert((path.at, size));
        }
        let seconds = searcher.hopeless(&point, &notes);
        let seconds = seconds.filter(|_| status.stopped_early());
        let score = searcher.score(path, &point, notes)?;
        let mut tally = lock(self.tally);
        let ridge = tally.penalty(path.penalty).ridge;
        let hopeless = seconds.map(|seconds| Hopeless {
            seconds,
            ridge: state.stronger_ridge(ridge),
        });
        let scored = Scored {
            score,
            status,
            features: point.solution.support.len(),
            hopeless,
        };
        tally.enter(path.penalty, size, path.fold, scored);
        searcher.entered(path, &point, score, &tally);
        if state.is_done() {
            // Proofs from the end of the path may also cover smaller sizes.
            for (size, point) in state.finish(&settings).iter().enumerate() {
                let status = point.solution.status;
                if !status.falls_short() && lock(unproved).remove(&(path.at, size)) {
                    tally.prove(path.penalty, size, path.fold, status);
                }
            }
        }
        Ok(Turn::Next)
    }

    /// Whether a search was ended by the end of the whole run. Its progress is then arbitrary,
    /// and so would be its score.
    fn is_cut_off(&self, status: Status) -> bool {
        match status {
            Status::Interrupted => true,
            Status::TimeLimit => self.deadline.is_some_and(|end| Instant::now() >= end),
            _ => false,
        }
    }
}

/// Returns the share of a run's time limit that the folds get; the fit on all rows gets as much as one fold.
pub fn on_folds(limit: Duration, folds: usize) -> Duration {
    limit.mul_f64(folds as f64 / (folds + 1) as f64)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
