//! All searches of cross-validation, in turns: a face makes the problems and gives the scores.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use l0star::batch::{Turn, in_turns};
use l0star::path::PathSize;
use l0star::{PathState, Settings, Status};

use super::tally::{Hopeless, Scored, Tally};

/// A penalty on the rows outside a fold: all sizes of it are one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// Its number, the fold running fastest.
    pub at: usize,
    /// The number of its penalty: a ridge and a price.
    pub penalty: usize,
    /// The number of its fold.
    pub fold: usize,
}

/// What a face does in cross-validation, on whichever thread.
pub trait Searcher: Sync {
    /// Why it cannot go on.
    type Error: Send;
    /// What it notes during a search.
    type Notes;

    /// Begins a path.
    fn begin(&self, path: Path) -> Result<PathState<'static>, Self::Error>;

    /// Searches the next size of a path; nothing when there is none.
    fn step(
        &self,
        state: &mut PathState<'static>,
        settings: &Settings,
    ) -> Result<Option<(PathSize, Self::Notes)>, Self::Error>;

    /// Scores a model on the rows inside the fold.
    fn score(&self, path: Path, point: &PathSize, notes: Self::Notes) -> Result<f64, Self::Error>;

    /// How many seconds the proof of a search would take, where that is hopelessly many.
    fn hopeless(&self, _point: &PathSize, _notes: &Self::Notes) -> Option<f64> {
        None
    }

    /// Hears of a score that was entered.
    fn entered(&self, _path: Path, _point: &PathSize, _score: f64, _tally: &Tally) {}
}

/// All that is to be fitted and scored on the folds.
#[derive(Debug)]
pub struct CrossValidation<'a> {
    /// How a size is searched; many searches run at the same time, each on one thread.
    pub settings: &'a Settings,
    /// How many penalties there are: every ridge with every price.
    pub penalties: usize,
    /// How many folds there are.
    pub folds: usize,
    /// How many threads search.
    pub threads: usize,
    /// How many paths are kept at the same time, see [`l0star::batch::room_for`].
    pub room: usize,
    /// When searches are cut off.
    pub deadline: Option<Instant>,
    /// Whether a run is resumed: then other paths may have sizes that an earlier run has finished.
    pub is_resumed: bool,
    /// Where the scores go.
    pub tally: &'a Mutex<Tally>,
}

impl CrossValidation<'_> {
    /// Scores every size on every fold, a size on all folds before the next; what there is of it when it is cut off.
    pub fn run<S: Searcher>(&self, searcher: &S) -> Result<(), S::Error> {
        // Sizes that were not proved when their search ended, by path and place.
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

    /// One search, scored on the rows inside the fold.
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
            // What is proved of a size may be enough for a smaller one.
            for (size, point) in state.finish(&settings).iter().enumerate() {
                let status = point.solution.status;
                if !status.falls_short() && lock(unproved).remove(&(path.at, size)) {
                    tally.prove(path.penalty, size, path.fold, status);
                }
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
}

/// How a limit of the whole run is divided: the fit on all rows has as much of it as a fold.
pub fn on_folds(limit: Duration, folds: usize) -> Duration {
    limit.mul_f64(folds as f64 / (folds + 1) as f64)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
