//! [`in_turns`]: many paths on a few threads, a size of each before the next size of any.

use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::path::PathState;
use crate::tuning::frames::MAX_COLUMNS;

/// Bytes that paths which have begun may take together.
const ROOM: usize = 1 << 31;

/// How many paths on data of this size [`in_turns`] should keep at the same time: each has its own entries and, where it has a
/// Gram matrix, that and two lifted frames.
pub fn room_for(entries: usize, columns: usize) -> usize {
    let square = columns.min(MAX_COLUMNS).pow(2);
    let numbers = entries.saturating_add(3 * square).max(1);
    (ROOM / size_of::<f64>() / numbers).max(1)
}

/// How to go on after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// With the next path, until all sizes of all paths have had their turn.
    Next,
    /// Without this path.
    EndPath,
    /// Not at all.
    EndAll,
}

/// Lets paths take turns on so many threads: the next to be stepped is always the one that has come least far, so that what
/// there is of every path when it is stopped is about the same.
///
/// `begin` makes a path; at most `together` of them (or as many as there are threads) have begun and not ended at the same
/// time (see [`room_for`]). `step` takes it one size further and says how to go on.
///
/// # Errors
///
/// The first error of `begin` or `step`; paths at hand on other threads end their step before it is returned.
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
        // A system that gives us fewer threads gets along with fewer.
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
    /// The most paths that have begun and not ended.
    together: usize,
    inner: Mutex<Inner<'p, E>>,
}

struct Inner<'p, E> {
    places: Vec<PathPlace<'p>>,
    error: Option<E>,
    is_over: bool,
}

/// Where a path is.
enum PathPlace<'p> {
    /// It has not begun.
    Waiting,
    /// Nobody works at it.
    Idle(Box<PathState<'p>>),
    /// On a thread.
    AtWork,
    Ended,
}

impl<'p, E> Turns<'p, E> {
    fn inner(&self) -> MutexGuard<'_, Inner<'p, E>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path whose turn it is; `None` when there is none. Those that others are working at stay with them: there are no
    /// more threads than paths, so that nobody has to wait for one.
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
