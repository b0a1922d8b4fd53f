//! The searches of all resamples, on a few threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use l0star::{Problem, Run, Settings, Status};

use super::drawn::Drawn;

/// What ended the searches before all were done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The time limit of the run.
    TimeLimit,
    /// Ctrl-C.
    Interrupted,
}

/// All that is to be searched.
pub struct Searches<'a> {
    /// How many resamples are wanted.
    pub resamples: usize,
    /// How each is searched, on one thread; the time limit is for all of them.
    pub settings: &'a Settings,
    /// How many threads search.
    pub threads: usize,
    /// The columns that are in every model and not in its support.
    pub free: &'a [usize],
    /// A model that is tried first in every resample: the best one of all rows.
    pub start: &'a [usize],
    /// How often what is done is handed out.
    pub every: Duration,
}

/// What the threads share.
struct Shared<'s, E> {
    todo: Vec<usize>,
    drawn: Vec<Drawn>,
    error: Option<E>,
    saved: Instant,
    save: &'s mut (dyn FnMut(&[Drawn]) + Send),
}

impl Searches<'_> {
    /// Adds the best models of the resamples that are not among the `drawn`, in the order of their numbers, and says what
    /// ended that early. A search that the end of the run cuts off leaves nothing: how far it came is an accident.
    ///
    /// `problem` makes the problem of a resample, `done` hears how many there are; `save` is given what there is.
    pub fn run<E: Send + From<l0star::Error>>(
        &self,
        drawn: Vec<Drawn>,
        problem: impl Fn(usize) -> Result<Problem, E> + Sync,
        done: impl Fn(usize) + Sync,
        save: &mut (dyn FnMut(&[Drawn]) + Send),
    ) -> Result<(Vec<Drawn>, Option<Stop>), E> {
        let limit = self.settings.time_limit;
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let known: std::collections::HashSet<usize> = drawn.iter().map(|own| own.at).collect();
        let todo = (0..self.resamples).rev().filter(|at| !known.contains(at));
        let shared = Mutex::new(Shared {
            todo: todo.collect(),
            drawn,
            error: None,
            saved: Instant::now(),
            save,
        });
        let is_over = AtomicBool::new(false);
        let next = || {
            if is_over.load(Ordering::Relaxed) || self.stop(deadline).is_some() {
                None
            } else {
                lock(&shared).todo.pop()
            }
        };
        let work = || {
            while let Some(at) = next() {
                match problem(at).and_then(|problem| self.search(at, &problem, deadline)) {
                    Ok(None) => break,
                    Ok(Some(found)) => {
                        let mut shared = lock(&shared);
                        shared.drawn.push(found);
                        done(shared.drawn.len());
                        if shared.saved.elapsed() >= self.every {
                            let Shared { drawn, save, .. } = &mut *shared;
                            save(drawn);
                            shared.saved = Instant::now();
                        }
                    }
                    Err(error) => {
                        lock(&shared).error.get_or_insert(error);
                        is_over.store(true, Ordering::Relaxed);
                    }
                }
            }
        };
        thread::scope(|scope| {
            // A system that gives us fewer threads gets along with fewer.
            for _ in 1..self.threads.clamp(1, self.resamples.max(1)) {
                let builder = thread::Builder::new().name("l0star".to_owned());
                let _ = builder.spawn_scoped(scope, work);
            }
            work();
        });
        let shared = shared.into_inner();
        let mut shared = shared.unwrap_or_else(PoisonError::into_inner);
        shared.drawn.sort_by_key(|own| own.at);
        (shared.save)(&shared.drawn);
        if let Some(error) = shared.error {
            return Err(error);
        }
        let has = |at: usize| shared.drawn.binary_search_by_key(&at, |own| own.at).is_ok();
        let stop = if (0..self.resamples).all(has) {
            None
        } else {
            Some(self.stop(None).unwrap_or(Stop::TimeLimit))
        };
        shared.drawn.retain(|own| own.at < self.resamples);
        Ok((shared.drawn, stop))
    }

    /// Why no further search should begin.
    fn stop(&self, deadline: Option<Instant>) -> Option<Stop> {
        let interrupt = self.settings.interrupt.as_ref();
        if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Stop::Interrupted);
        }
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_late.then_some(Stop::TimeLimit)
    }

    /// The best model of a resample; nothing when the end of the run cuts its search off.
    fn search<E: From<l0star::Error>>(
        &self,
        at: usize,
        problem: &Problem,
        deadline: Option<Instant>,
    ) -> Result<Option<Drawn>, E> {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let settings = Settings {
            threads: None,
            time_limit: deadline.map(left),
            ..self.settings.clone()
        };
        let run = Run::new(problem, &settings).start(vec![self.start.to_vec()]);
        let solution = run.solve()?;
        let is_cut_off = match solution.status {
            Status::Interrupted => true,
            Status::TimeLimit => self.stop(deadline).is_some(),
            _ => false,
        };
        let mut columns = [&solution.support, self.free].concat();
        columns.sort_unstable();
        columns.dedup();
        Ok((!is_cut_off).then(|| Drawn::new(at, &solution, &columns)))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
