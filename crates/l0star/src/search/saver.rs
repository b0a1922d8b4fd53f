//! [`Saver`]: when a checkpoint is due, and who takes it.

use std::time::{Duration, Instant};

use super::checkpoint::{Checkpoint, Stamp, State};

/// Takes the checkpoints of a search.
pub type Sink<'p> = Box<dyn FnMut(&Checkpoint) + 'p>;

/// A checkpoint that a Gram matrix makes large is due when the last of them took at most one part in so many of the time.
const SHARE: u32 = 20;

/// When a checkpoint is due, and who takes it.
pub(crate) struct Saver<'p> {
    stamp: Stamp,
    every: Duration,
    sink: Sink<'p>,
    last: Instant,
    /// How long the last one took, if it was large.
    took: Duration,
}

impl<'p> Saver<'p> {
    pub(crate) fn new(stamp: Stamp, every: Duration, sink: Sink<'p>) -> Self {
        Self {
            stamp,
            every,
            sink,
            last: Instant::now(),
            took: Duration::ZERO,
        }
    }

    /// The last one was made then, by another run.
    pub(crate) fn since(mut self, last: Instant) -> Self {
        self.last = last;
        self
    }

    /// An interval of nothing: whenever it can be.
    pub(super) fn is_due(&self) -> bool {
        let stretched = self.took.saturating_mul(SHARE - 1);
        self.every.is_zero() || self.last.elapsed() >= self.every.max(stretched)
    }

    /// Whether work of so many seconds is worth keeping: doing it again would take a good part of the interval.
    pub(super) fn is_long(&self, seconds: f64) -> bool {
        seconds * f64::from(SHARE) >= self.every.as_secs_f64()
    }

    pub(super) fn save(&mut self, state: State) {
        let start = Instant::now();
        let is_large = state.prepared.gram.is_some();
        (self.sink)(&Checkpoint::new(&self.stamp, state));
        self.last = Instant::now();
        self.took = match is_large {
            true => self.last - start,
            false => Duration::ZERO,
        };
    }
}
