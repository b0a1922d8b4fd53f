//! Cross-validation: its paths are searched in turns, and its problems and scores come from the calling thread.

use std::sync::Mutex;
use std::sync::mpsc::{RecvError, channel};
use std::time::Instant;

use l0star::path::{PathObserver, PathSize};
use l0star::{Batch, PathState, Settings};
use l0star_record::cv::{CrossValidation, Path, Searcher};
use l0star_report::Outlook;

use super::{Events, Follower, Told, lock};
use crate::solution::{History, Solution};
use crate::tally::Tally;

/// The paths of cross-validation; problems and scores come from the calling thread.
struct Folds<'a> {
    events: &'a Events,
    settings: &'a Settings,
    sizes: &'a [usize],
    batch: Batch<'static>,
    origin: Instant,
    /// The columns that `include_free` adds to a support.
    free: Mutex<Vec<usize>>,
}

/// Returns the error for a missing answer. There was an exception and the flag is set, so
/// no further search follows.
fn unanswered(_: RecvError) -> l0star::Error {
    l0star::Error::Empty {
        what: "problems to solve",
    }
}

impl Searcher for Folds<'_> {
    type Error = l0star::Error;
    /// Notes on a search.
    type Notes = History;

    fn begin(&self, path: Path) -> l0star::Result<PathState<'static>> {
        let (to, from) = channel();
        self.events.tell(Told::Begin(path.at, to));
        let begun = from.recv().map_err(unanswered)?;
        *lock(&self.free) = begun.free;
        let sizes = self.sizes.iter().copied();
        self.batch
            .path(path.at, &begun.problem, self.settings, sizes)
    }

    fn step(
        &self,
        state: &mut PathState<'static>,
        settings: &Settings,
    ) -> l0star::Result<Option<(PathSize, History)>> {
        let Some(k) = self.sizes.get(state.done()) else {
            return Ok(None);
        };
        let mut follower = Follower::new(*k, self.origin);
        let mut observer: PathObserver<'_> = Box::new(|_, event| {
            follower.note(event);
            if self.events.states {
                self.events.tell(Told::State(follower.state.clone()));
            }
        });
        let point = state.step_observed(settings, Some(&mut observer))?;
        drop(observer);
        Ok(point.map(|point| (point, follower.history)))
    }

    fn hopeless(&self, point: &PathSize, history: &History) -> Option<f64> {
        let found = &point.solution;
        if !found.status.stopped_early() {
            return None;
        }
        let solution = Solution::new(point.k, found.clone(), point.criteria, history.clone());
        Outlook::of(solution.rows().iter().copied()).hopeless()
    }

    fn score(&self, path: Path, point: &PathSize, history: History) -> l0star::Result<f64> {
        let found = point.solution.clone();
        let mut solution = Solution::new(point.k, found, point.criteria, history);
        solution.complete(&lock(&self.free));
        let (to, from) = channel();
        self.events
            .tell(Told::Score(path.at, Box::new(solution), to));
        from.recv().map_err(unanswered)
    }
}

/// Runs cross-validation on the thread that waits for the searches and takes part in them.
pub fn cross_validate(
    tally: &Tally,
    room: usize,
    settings: &Settings,
    events: &Events,
) -> l0star::Result<()> {
    let origin = Instant::now();
    let limit = settings.time_limit;
    let all = CrossValidation {
        settings,
        penalties: tally.penalties.len(),
        folds: tally.folds,
        threads: settings.thread_count(),
        room,
        // A limit too far away to be represented is no limit.
        deadline: limit.and_then(|limit| origin.checked_add(limit)),
        is_resumed: false,
        tally: &tally.scores,
    };
    all.run(&Folds {
        events,
        settings,
        sizes: &tally.sizes,
        batch: Batch::unkept(),
        origin,
        free: Mutex::new(Vec::new()),
    })
}
