//! [`Saver`]: when a checkpoint is due, and who takes it.

use std::time::{Duration, Instant};

use super::checkpoint::{Checkpoint, Stamp, State};

/// Takes the checkpoints of a search.
pub type Sink<'p> = Box<dyn FnMut(&Checkpoint) + 'p>;

/// When a checkpoint is due, and who takes it.
pub(crate) struct Saver<'p> {
    stamp: Stamp,
    every: Duration,
    sink: Sink<'p>,
    last: Instant,
}

impl<'p> Saver<'p> {
    pub(crate) fn new(stamp: Stamp, every: Duration, sink: Sink<'p>) -> Self {
        Self {
            stamp,
            every,
            sink,
            last: Instant::now(),
        }
    }

    pub(super) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.every
    }

    pub(super) fn save(&mut self, state: State) {
        (self.sink)(&Checkpoint::new(&self.stamp, state));
        self.last = Instant::now();
    }
}
