//! [`in_turns`]: runs many paths on a few threads, one size of each before the next size of any.

use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::path::PathState;
use crate::tuning::frames::MAX_COLUMNS;

/// Limit on the bytes of all open paths together.
const ROOM: usize = 1 << 31;

/// Number of paths on data of this size that [`in_turns`] should keep open at the same time. Each has its own entries
/// and, where it has a Gram matrix, that and two lifted frames.
pub fn room_for(entries: usize, columns: usize) -> usize {
    let square = columns.min(MAX_COLUMNS).pow(2);
    let numbers = entries.saturating_add(3 * square).max(1);
    (ROOM / size_of::<f64>() / numbers).max(1)
}

/// How to continue after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Continue with the next path, until all sizes of all paths have had their turn.
    Next,
    /// End this path.
    EndPath,
    /// End all paths.
    EndAll,
}

/// Lets paths take turns on this many threads. The next to be stepped is always the one with the least progress, so
/// that all paths have made about the same progress when they are stopped.
///
/// `begin` opens a path; at most `together` of them (or as many as there are threads) are open at the same time (see
/// [`room_for`]). `step` solves the next size of a path and says how to continue.
///
/// # Errors
///
/// Returns the first error of `begin` or `step`. Paths on other threads end their step before.
pub fn in_turns<'p, E: Send>(
    paths: usize,
    threads: usize,
    together: usize,
    begin: impl Fn(usize) -> Result<PathState<'p>, E> + Sync,
    step: impl Fn(usize, &mut PathState<'p>) -> Result<Turn, E> + Sync,
) -> Result<(), E> {
    let threads = threads.clamp(1, paths.max(1));
    let turns = Turns {
        together: together.max(threads),
        inner: Mutex::new(Inner {
            places: (0..paths).map(|_| PathPlace::Waiting).collect(),
            error: None,
            is_over: false,
        }),
    };
    let work = || {
        while let Some((at, begun)) = turns.take() {
            let next = begun.map_or_else(|| begin(at), Ok).and_then(|mut path| {
                let turn = step(at, &mut path)?;
                Ok((path, turn))
            });
            turns.give_back(at, next);
        }
    };
    thread::scope(|scope| {
        // If the system provides fewer threads, fewer are used.
        let others = (1..threads).map(|_| {
            let builder = thread::Builder::new().name("l0star".to_owned());
            builder.spawn_scoped(scope, work)
        });
        let others: Vec<_> = others.collect();
        work();
        for other in others.into_iter().flatten() {
            if let Err(panic) = other.join() {
                resume_unwind(panic);
            }
        }
    });
    let inner = turns.inner.into_inner();
    let inner = inner.unwrap_or_else(PoisonError::into_inner);
    inner.error.map_or(Ok(()), Err)
}

struct Turns<'p, E> {
    /// Limit on the number of open paths.
    together: usize,
    inner: Mutex<Inner<'p, E>>,
}

struct Inner<'p, E> {
    places: Vec<PathPlace<'p>>,
    error: Option<E>,
    is_over: bool,
}

/// State of a path.
enum PathPlace<'p> {
    /// Not open yet.
    Waiting,
    /// Open, and on no thread.
    Idle(Box<PathState<'p>>),
    /// Being stepped on a thread.
    AtWork,
    Ended,
}

impl<'p, E> Turns<'p, E> {
    fn inner(&self) -> MutexGuard<'_, Inner<'p, E>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path whose turn it is; `None` when there is none. Paths on other threads stay there: there are no more
    /// threads than paths, so that no thread has to wait for one.
    fn take(&self) -> Option<(usize, Option<PathState<'p>>)> {
        let mut inner = self.inner();
        if inner.is_over {
            return None;
        }
        let places = inner.places.iter();
        let open = places.filter(|place| matches!(place, PathPlace::Idle(_) | PathPlace::AtWork));
        let has_room = open.count() < self.together;
        let done = |place: &PathPlace| match place {
            PathPlace::Waiting if has_room => Some(0),
            PathPlace::Idle(path) => Some(path.done()),
            _ => None,
        };
        let places = inner.places.iter().enumerate();
        let candidates = places.filter_map(|(at, place)| Some((done(place)?, at)));
        let (_, at) = candidates.min()?;
        match std::mem::replace(&mut inner.places[at], PathPlace::AtWork) {
            PathPlace::Idle(path) => Some((at, Some(*path))),
            _ => Some((at, None)),
        }
    }

    fn give_back(&self, at: usize, next: Result<(PathState<'p>, Turn), E>) {
        let mut inner = self.inner();
        let place = match next {
            Ok((path, Turn::Next)) if !path.is_done() => PathPlace::Idle(Box::new(path)),
            Ok((_, turn)) => {
                inner.is_over |= turn == Turn::EndAll;
                PathPlace::Ended
            }
            Err(error) => {
                inner.error.get_or_insert(error);
                inner.is_over = true;
                PathPlace::Ended
            }
        };
        inner.places[at] = place;
    }
}
