//! [`Batch`]: many searches on the same data, as cross-validation has them, whose checkpoints are kept together.

mod checkpoint;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use self::checkpoint::{BatchCheckpoint, BatchPlan};
use crate::error::Result;
use crate::problem::Problem;
use crate::search::Checkpoint;
use crate::search::checkpoint::Stamp;
use crate::settings::{Settings, Solution, Status};
use crate::solve::Run;

/// Takes the checkpoints of a batch, on whichever thread they are made.
pub type BatchSink<'p> = Box<dyn FnMut(&BatchCheckpoint) + Send + 'p>;

/// Searches that leave their checkpoints in one place, for as many threads as there are.
///
/// ```
/// use std::time::Duration;
/// use l0star::{Batch, BatchCheckpoint, BatchPlan, Design, Problem, Settings};
///
/// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
/// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).k(1).build()?;
/// let settings = Settings::default();
/// let parameters = [("ks", "0,1".to_owned())];
/// let plan = BatchPlan { problem: &problem, settings: &settings, parameters: &parameters, searches: 2 };
/// let mut bytes = Vec::new();
/// let sink = Box::new(|checkpoint: &BatchCheckpoint| bytes = checkpoint.encode());
/// let batch = Batch::new(BatchCheckpoint::new(&plan)?, Duration::from_secs(60), sink);
/// let solution = batch.solve(1, &problem, &settings)?;
/// batch.finish(1, solution.objective);
/// batch.save();
/// drop(batch);
/// // Perhaps in another process:
/// let checkpoint = BatchCheckpoint::decode(&bytes)?;
/// checkpoint.check(&plan)?;
/// assert_eq!(checkpoint.finished(), [1]);
/// # Ok::<(), l0star::Error>(())
/// ```
pub struct Batch<'p> {
    every: Duration,
    start: Instant,
    /// Seconds of the runs before this one.
    before: f64,
    inner: Mutex<Inner<'p>>,
}

struct Inner<'p> {
    saved: BatchCheckpoint,
    sink: BatchSink<'p>,
    /// When they were handed out last.
    last: Instant,
}

impl<'p> Batch<'p> {
    /// Goes on from a checkpoint, or from one of nothing, and hands one out so often (zero: at every step). Whoever wants one
    /// at the end asks for it ([`Batch::save`]).
    pub fn new(saved: BatchCheckpoint, every: Duration, sink: BatchSink<'p>) -> Self {
        let start = Instant::now();
        Self {
            every,
            start,
            before: saved.seconds,
            inner: Mutex::new(Inner {
                saved,
                sink,
                last: start,
            }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<'p>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds of all runs so far.
    pub fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }

    /// What came of a search that is done.
    pub fn value(&self, at: usize) -> Option<f64> {
        self.inner().saved.value(at)
    }

    /// Solves one of the searches of the plan, from where it was left. It is not done before [`Batch::finish`] says so: one
    /// that a limit has stopped goes on in the next run.
    ///
    /// # Panics
    ///
    /// If there is no such search in the plan.
    pub fn solve(&self, at: usize, problem: &Problem, settings: &Settings) -> Result<Solution> {
        let stamp = Stamp::new(problem, settings)?;
        let (mut last, resume) = {
            let inner = self.inner();
            (inner.last, inner.saved.search(at).cloned())
        };
        // What was done before is safe when an interval has passed, whatever this run does.
        let mut run = Run::new(problem, settings).stamped(stamp, last);
        if let Some(checkpoint) = resume {
            run = run.resume(checkpoint);
        }
        let sink = |checkpoint: &Checkpoint| {
            let mut inner = self.inner();
            inner.saved.set_search(at, checkpoint.clone());
            // What others have written since has an older state of this search.
            if last.elapsed() >= self.every {
                last = self.write(&mut inner);
            }
        };
        let solution = run.save(self.every, Box::new(sink)).solve()?;
        if solution.status.falls_short() && solution.status != Status::Interrupted {
            self.inner().saved.set_aside(at);
        }
        Ok(solution)
    }

    /// A search is done, and this came of it; its models and bounds are not needed any more.
    ///
    /// # Panics
    ///
    /// If there is no such search in the plan.
    pub fn finish(&self, at: usize, value: f64) {
        self.inner().saved.finish(at, value);
    }

    /// Hands out a checkpoint.
    pub fn save(&self) {
        self.write(&mut self.inner());
    }

    fn write(&self, inner: &mut Inner<'_>) -> Instant {
        inner.saved.seconds = self.seconds();
        (inner.sink)(&inner.saved);
        inner.last = Instant::now();
        inner.last
    }
}
