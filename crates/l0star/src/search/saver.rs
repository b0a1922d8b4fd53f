//! [`Save`]: when a checkpoint is due, and who takes it; [`Saver`]: that of a run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::checkpoint::{Checkpoint, Priced, Stamp, State};

/// Takes the checkpoints of a search.
pub type Sink<'p> = Box<dyn FnMut(&Checkpoint) + 'p>;

/// A large checkpoint is due when the last of them took at most one part in so many of the time.
const SHARE: u32 = 20;

/// Takes the states of a search.
pub(crate) trait Save {
    /// Whether it is time for one.
    fn is_due(&self) -> bool;

    /// Whether work of so many seconds is worth keeping: doing it again would take a good part of the interval.
    fn is_long(&self, seconds: f64) -> bool;

    fn save(&mut self, state: State);
}

/// How often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval {
    every: Duration,
    /// How long the last one took, if it was large.
    took: Duration,
}

impl Interval {
    pub(crate) fn new(every: Duration) -> Self {
        let took = Duration::ZERO;
        Self { every, took }
    }

    /// An interval of nothing: whenever it can be.
    pub(crate) fn is_over(&self, last: Instant) -> bool {
        let stretched = self.took.saturating_mul(SHARE - 1);
        self.every.is_zero() || last.elapsed() >= self.every.max(stretched)
    }

    pub(crate) fn is_long(&self, seconds: f64) -> bool {
        seconds * f64::from(SHARE) >= self.every.as_secs_f64()
    }

    /// One was taken that was begun at `start`.
    pub(crate) fn note(&mut self, start: Instant, is_large: bool) {
        self.took = if is_large {
            start.elapsed()
        } else {
            Duration::ZERO
        };
    }
}

/// When a checkpoint of a run is due, and who takes it.
pub(crate) struct Saver<'p> {
    stamp: Stamp,
    interval: Interval,
    sink: Sink<'p>,
    last: Instant,
    /// Those of an earlier run, which come after the search and stay in its checkpoints.
    prices: Option<Arc<Priced>>,
}

impl<'p> Saver<'p> {
    pub(crate) fn new(
        stamp: Stamp,
        every: Duration,
        sink: Sink<'p>,
        prices: Option<Arc<Priced>>,
    ) -> Self {
        Self {
            stamp,
            interval: Interval::new(every),
            sink,
            last: Instant::now(),
            prices,
        }
    }

    /// The last one was made then, by another run.
    pub(crate) fn since(mut self, last: Instant) -> Self {
        self.last = last;
        self
    }
}

impl Save for Saver<'_> {
    fn is_due(&self) -> bool {
        self.interval.is_over(self.last)
    }

    fn is_long(&self, seconds: f64) -> bool {
        self.interval.is_long(seconds)
    }

    fn save(&mut self, state: State) {
        let start = Instant::now();
        let is_large = state.prepared.gram.is_some();
        (self.sink)(&Checkpoint::new(&self.stamp, state, self.prices.clone()));
        self.last = Instant::now();
        self.interval.note(start, is_large);
    }
}
