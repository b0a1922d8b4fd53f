//! [`Batch`]: many paths on the same data, as in cross-validation, whose checkpoints are kept together.

mod checkpoint;
#[cfg(test)]
mod tests;
mod turns;

use std::sync::Arc;
use std::time::{Duration, Instant};

pub use self::checkpoint::{BatchCheckpoint, BatchPlan};
pub use self::turns::{Turn, in_turns, room_for};
use crate::error::Result;
use crate::path::PathState;
use crate::problem::Problem;
use crate::search::Writer;
use crate::search::checkpoint::Archive;
use crate::settings::Settings;

/// Receives the checkpoints of a batch, on the thread that makes them.
pub type BatchSink<'p> = Box<dyn FnMut(&BatchCheckpoint) + Send + 'p>;

/// Paths that take turns on the available threads and save their checkpoints in one place.
///
/// ```
/// use std::time::Duration;
/// use l0star::{Batch, BatchCheckpoint, BatchPlan, Design, Problem, Settings};
///
/// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
/// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).build()?;
/// let settings = Settings::default();
/// let parameters = [("folds", "2".to_owned())];
/// let plan = BatchPlan { problem: &problem, settings: &settings, parameters: &parameters, paths: 2 };
/// let mut bytes = Vec::new();
/// let sink = Box::new(|checkpoint: &BatchCheckpoint| bytes = checkpoint.encode());
/// let batch = Batch::kept(BatchCheckpoint::new(&plan)?, Duration::from_secs(60), sink);
/// let mut path = batch.path(1, &problem, &settings, [0, 2])?;
/// let empty = path.step(&settings)?.expect("the model without features");
/// assert!(empty.solution.support.is_empty());
/// batch.save();
/// drop((batch, path));
/// // Perhaps in another process:
/// let checkpoint = BatchCheckpoint::decode(&bytes)?;
/// checkpoint.check(&plan)?;
/// assert_eq!(checkpoint.finished(), [(1, 0)]);
/// # Ok::<(), l0star::Error>(())
/// ```
pub struct Batch<'p> {
    start: Instant,
    /// Seconds that earlier runs took.
    before: f64,
    writer: Option<Arc<Writer<'p>>>,
}

impl<'p> Batch<'p> {
    /// A batch without checkpoints.
    pub fn unkept() -> Self {
        Self {
            start: Instant::now(),
            before: 0.0,
            writer: None,
        }
    }

    /// Resumes from a checkpoint, which may be a new one with nothing done. Hands out a checkpoint every `every`
    /// (zero: at every step). The caller hands out the last one ([`Batch::save`]).
    pub fn kept(saved: BatchCheckpoint, every: Duration, mut sink: BatchSink<'p>) -> Self {
        let (start, before) = (Instant::now(), saved.0.seconds);
        let hand_out = move |archive: &mut Archive| {
            let mut checkpoint = BatchCheckpoint(std::mem::take(archive));
            checkpoint.0.seconds = before + start.elapsed().as_secs_f64();
            sink(&checkpoint);
            *archive = checkpoint.0;
        };
        Self {
            start,
            before,
            writer: Some(Writer::new(saved.0, Some((every, Box::new(hand_out))))),
        }
    }

    /// Number of seconds of all runs so far.
    pub fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }

    /// Begins or resumes a path of the plan over these sizes. Sizes whose search was over in an earlier run are not
    /// searched again, and those that a limit stopped continue.
    ///
    /// # Panics
    ///
    /// If there is no such path in the plan.
    pub fn path(
        &self,
        at: usize,
        problem: &Problem,
        settings: &Settings,
        sizes: impl IntoIterator<Item = usize>,
    ) -> Result<PathState<'p>> {
        let mut sizes: Vec<usize> = sizes.into_iter().collect();
        sizes.sort_unstable();
        sizes.dedup();
        let writer = self.writer.as_ref();
        let writer = writer.map(|writer| (Arc::clone(writer), at));
        PathState::new(problem, settings, sizes, writer)
    }

    /// Hands out a checkpoint.
    pub fn save(&self) {
        if let Some(writer) = &self.writer {
            writer.write();
        }
    }
}
