//! Runs the searches of all resamples on several threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use l0star::{Problem, Run, Settings, Status};

use super::drawn::Drawn;

/// The reason why the searches ended before all were done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The time limit of the run.
    TimeLimit,
    /// An interrupt, such as Ctrl-C.
    Interrupted,
}

/// All searches of a run.
pub struct Searches<'a> {
    /// Number of resamples requested.
    pub resamples: usize,
    /// Settings of each search, which runs on one thread; the time limit covers all searches.
    pub settings: &'a Settings,
    /// Number of threads.
    pub threads: usize,
    /// Columns that are in every model but not in its support.
    pub free: &'a [usize],
    /// The best model of all rows, which is tried first in every resample.
    pub start: &'a [usize],
    /// Interval at which the finished models are passed to `save`.
    pub every: Duration,
}

/// State that the threads share.
struct Shared<'s, E> {
    todo: Vec<usize>,
    drawn: Vec<Drawn>,
    error: Option<E>,
    saved: Instant,
    save: &'s mut (dyn FnMut(&[Drawn]) + Send),
}

impl Searches<'_> {
    /// Adds the best models of the resamples that are not among `drawn`, in the order of their numbers, and
    /// returns what ended the run early. A search that is cut off by the end of the run leaves nothing, because
    /// its progress is arbitrary.
    ///
    /// `problem` makes the problem of a resample, `done` receives the number of finished resamples, and
    /// `save` receives their models.
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
            // If the system provides fewer threads, the search runs on these.
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

    /// Returns the reason why no further search should begin.
    fn stop(&self, deadline: Option<Instant>) -> Option<Stop> {
        let interrupt = self.settings.interrupt.as_ref();
        if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Stop::Interrupted);
        }
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_late.then_some(Stop::TimeLimit)
    }

    /// Returns the best model of a resample; `None` if the end of the run cuts its search off.
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
