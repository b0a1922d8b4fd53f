//! [`Writer`]: the checkpoints of a run and their receiver; [`Slot`]: the place of one search in them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::checkpoint::{Archive, Part, State};

/// A large checkpoint is due when writing the last one took at most one part in this many of the time.
const SHARE: u32 = 20;

/// Receives an archive, and leaves it unchanged.
pub(crate) type ArchiveSink<'p> = Box<dyn FnMut(&mut Archive) + Send + 'p>;

/// Interval at which checkpoints are handed out.
#[derive(Debug, Clone, Copy)]
struct Interval {
    every: Duration,
    /// How long writing the last checkpoint took, if it was large.
    took: Duration,
}

impl Interval {
    /// Whether a checkpoint is due. With an interval of zero, one is due at every opportunity.
    fn is_over(&self, last: Instant) -> bool {
        let stretched = self.took.saturating_mul(SHARE - 1);
        self.every.is_zero() || last.elapsed() >= self.every.max(stretched)
    }
}

/// The checkpoints of a run, shared by all its threads.
pub(crate) struct Writer<'p>(Mutex<Inner<'p>>);

struct Inner<'p> {
    archive: Archive,
    /// `None`: checkpoints are not wanted.
    sink: Option<ArchiveSink<'p>>,
    interval: Interval,
    /// When the last checkpoint was handed out.
    last: Instant,
    /// Whether anything has changed since then.
    is_new: bool,
}

impl Inner<'_> {
    fn write(&mut self) {
        if let Some(sink) = &mut self.sink {
            let start = Instant::now();
            sink(&mut self.archive);
            self.last = Instant::now();
            self.interval.took = if self.archive.is_large() {
                self.last - start
            } else {
                Duration::ZERO
            };
            self.is_new = false;
        }
    }
}

impl<'p> Writer<'p> {
    /// A writer. `sink`: the interval between checkpoints, and their receiver.
    pub(crate) fn new(archive: Archive, sink: Option<(Duration, ArchiveSink<'p>)>) -> Arc<Self> {
        let (every, sink) = sink.unzip();
        Arc::new(Self(Mutex::new(Inner {
            archive,
            sink,
            interval: Interval {
                every: every.unwrap_or_default(),
                took: Duration::ZERO,
            },
            last: Instant::now(),
            is_new: true,
        })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner<'p>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads or changes the archive.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Archive) -> T) -> T {
        let mut inner = self.inner();
        inner.is_new = true;
        work(&mut inner.archive)
    }

    /// Whether checkpoints are wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        self.inner().sink.is_some()
    }

    /// Hands out a checkpoint if one is due.
    pub(crate) fn write_if_due(&self) {
        let mut inner = self.inner();
        if inner.interval.is_over(inner.last) {
            inner.write();
        }
    }

    /// Hands out a checkpoint.
    pub(crate) fn write(&self) {
        self.inner().write();
    }

    /// Hands out the last checkpoint, unless nothing has changed since the previous one.
    pub(crate) fn finish(&self) {
        let mut inner = self.inner();
        if inner.is_new {
            inner.write();
        }
    }
}

/// Receives the states of a search.
pub(crate) trait Save {
    /// Whether a checkpoint is due.
    fn is_due(&self) -> bool;

    /// Whether work of this many seconds is worth keeping: repeating it would take a good part of the interval.
    fn is_long(&self, seconds: f64) -> bool;

    /// Takes a state, and hands out a checkpoint if one is due. The state of a search that is over is handed out with
    /// the next checkpoint, or by [`Writer::finish`].
    fn save(&mut self, state: State);
}

/// Enters the state of a search into its part of the archive.
type Enter<'p> = Box<dyn FnMut(&mut Part, State) + 'p>;

/// The place of one search in a [`Writer`].
pub(crate) struct Slot<'p> {
    writer: Arc<Writer<'p>>,
    part: usize,
    enter: Enter<'p>,
    /// When the state of this search was handed out last. Searches run side by side, and each is handed out at every
    /// interval.
    last: Instant,
}

impl<'p> Slot<'p> {
    /// The saver of a search; `None` where checkpoints are not wanted. Its interval starts at the last checkpoint of
    /// the run, so that earlier results are saved in time whatever the search does.
    pub(crate) fn open(
        writer: &Arc<Writer<'p>>,
        part: usize,
        enter: impl FnMut(&mut Part, State) + 'p,
    ) -> Option<Box<dyn Save + 'p>> {
        let last = writer.inner().last;
        writer.is_wanted().then(|| -> Box<dyn Save + 'p> {
            Box::new(Self {
                writer: Arc::clone(writer),
                part,
                enter: Box::new(enter),
                last,
            })
        })
    }
}

impl Save for Slot<'_> {
    fn is_due(&self) -> bool {
        self.writer.inner().interval.is_over(self.last)
    }

    fn is_long(&self, seconds: f64) -> bool {
        let every = self.writer.inner().interval.every;
        seconds * f64::from(SHARE) >= every.as_secs_f64()
    }

    fn save(&mut self, state: State) {
        let mut inner = self.writer.inner();
        let is_over = state.is_over();
        if let Some(part) = &mut inner.archive.parts[self.part] {
            (self.enter)(part, state);
            inner.is_new = true;
        }
        if !is_over && inner.interval.is_over(self.last) {
            inner.write();
            self.last = inner.last;
        }
    }
}
