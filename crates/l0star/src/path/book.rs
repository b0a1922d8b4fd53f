//! [`Book`]: where the sizes of a path leave their checkpoints, and go on from.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::PathSink;
use super::checkpoint::PathCheckpoint;
use crate::problem::Problem;
use crate::search::Checkpoint;
use crate::search::checkpoint::{State, Triangle};
use crate::solve::Run;

/// The checkpoints of all sizes, for as many threads as there are.
pub(super) struct Book<'p> {
    /// How often they are handed out; `None`: nobody wants them.
    every: Option<Duration>,
    /// The nodes of each size when this run began.
    before: Vec<u64>,
    inner: Mutex<Inner<'p>>,
}

struct Inner<'p> {
    saved: PathCheckpoint,
    sink: Option<PathSink<'p>>,
    /// When they were handed out last.
    last: Instant,
}

impl Inner<'_> {
    fn write(&mut self) {
        if let Some(sink) = &mut self.sink {
            sink(&self.saved);
            self.last = Instant::now();
        }
    }
}

impl<'p> Book<'p> {
    pub(super) fn new(saved: PathCheckpoint, sink: Option<(Duration, PathSink<'p>)>) -> Self {
        let (every, sink) = sink.unzip();
        let nodes = |state: &Option<State>| state.as_ref().map_or(0, |state| state.nodes);
        Self {
            every,
            before: saved.states.iter().map(nodes).collect(),
            inner: Mutex::new(Inner {
                saved,
                sink,
                last: Instant::now(),
            }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<'p>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_due(&self, last: Instant) -> bool {
        self.every.is_some_and(|every| last.elapsed() >= every)
    }

    /// Whether nothing is left to do for a size.
    pub(super) fn is_over(&self, at: usize) -> bool {
        self.state(at, State::is_over)
    }

    /// Whether a size has nodes to go on from.
    pub(super) fn has_nodes(&self, at: usize) -> bool {
        self.state(at, |state| state.started)
    }

    fn state(&self, at: usize, is: impl FnOnce(&State) -> bool) -> bool {
        self.inner().saved.states[at].as_ref().is_some_and(is)
    }

    /// The nodes that this run has looked at for a size.
    pub(super) fn nodes(&self, at: usize) -> u64 {
        let inner = self.inner();
        let state = inner.saved.states[at].as_ref();
        state.map_or(0, |state| state.nodes.saturating_sub(self.before[at]))
    }

    /// The run of a size: it goes on where it was left, and its checkpoints come here.
    pub(super) fn attach<'r>(&'r self, at: usize, problem: &Problem, run: Run<'r>) -> Run<'r> {
        let inner = self.inner();
        // What was done before is safe when an interval has passed, whatever this run does.
        let mut last = inner.last;
        let mut run = run.stamped(inner.saved.stamp(problem), last);
        if let Some(checkpoint) = inner.saved.resume(at, problem) {
            run = run.resume(checkpoint);
        }
        let Some(every) = self.every else {
            return run;
        };
        let sink = move |checkpoint: &Checkpoint| {
            let mut state = checkpoint.state.clone();
            let mut inner = self.inner();
            if let Some(gram) = state.prepared.gram.take() {
                inner.saved.gram = Some(gram);
            }
            // One that is over is written by `settle`, together with what it leaves to the others.
            let is_over = state.is_over();
            inner.saved.states[at] = Some(state);
            if !is_over && self.is_due(last) {
                inner.write();
                last = inner.last;
            }
        };
        run.save(every, Box::new(sink))
    }

    /// A run has ended, and leaves this to the others.
    pub(super) fn settle(&self, gram: Option<&Arc<Triangle>>) {
        let mut inner = self.inner();
        if let Some(gram) = gram {
            inner.saved.gram = Some(Arc::clone(gram));
        }
        if self.is_due(inner.last) {
            inner.write();
        }
    }

    /// The path has ended, however that came. What was only of use on the way is left out when all is done.
    pub(super) fn finish(&self) {
        let mut inner = self.inner();
        let mut states = inner.saved.states.iter().flatten();
        if states.all(State::is_over) {
            inner.saved.gram = None;
        }
        inner.write();
    }
}
