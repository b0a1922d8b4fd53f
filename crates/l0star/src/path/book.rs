//! [`Book`]: where paths leave the checkpoints of their sizes, and resume from; [`Page`]: what one path has of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::checkpoint::PathCheckpoint;
use crate::error::Result;
use crate::gram::triangle::Triangle;
use crate::problem::Problem;
use crate::search::Checkpoint;
use crate::search::checkpoint::State;
use crate::solve::Run;

/// The checkpoints of one path or of several; `None` for a path that has not begun.
type Paths = Vec<Option<PathCheckpoint>>;

/// Takes them, and leaves them as they are.
pub(crate) type Sink<'p> = Box<dyn FnMut(&mut Paths) + Send + 'p>;

/// The checkpoints of paths that are written together, for as many threads as there are.
pub(crate) struct Book<'p> {
    /// How often they are handed out; `None`: nobody wants them.
    every: Option<Duration>,
    inner: Mutex<Inner<'p>>,
}

struct Inner<'p> {
    paths: Paths,
    sink: Option<Sink<'p>>,
    /// When they were handed out last.
    last: Instant,
}

impl Inner<'_> {
    fn write(&mut self) {
        if let Some(sink) = &mut self.sink {
            sink(&mut self.paths);
            self.last = Instant::now();
        }
    }
}

impl<'p> Book<'p> {
    pub(crate) fn new(paths: Paths, every: Option<Duration>, sink: Option<Sink<'p>>) -> Self {
        Self {
            every,
            inner: Mutex::new(Inner {
                paths,
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

    /// Hands out a checkpoint.
    pub(crate) fn write(&self) {
        self.inner().write();
    }
}

/// One path in a [`Book`].
pub(super) struct Page<'p> {
    book: Arc<Book<'p>>,
    path: usize,
    /// The nodes of each size when this run began.
    before: Vec<u64>,
}

impl<'p> Page<'p> {
    /// Resumes the path from the checkpoint that the book has of it, if that belongs to `new`, a checkpoint of nothing; or
    /// begins with `new`.
    pub(super) fn open(
        book: Arc<Book<'p>>,
        path: usize,
        new: PathCheckpoint,
        problem: &Problem,
    ) -> Result<Self> {
        let mut inner = book.inner();
        if let Some(saved) = &inner.paths[path] {
            saved.check(&new, problem)?;
        }
        let saved = inner.paths[path].get_or_insert(new);
        let nodes = |state: &Option<State>| state.as_ref().map_or(0, |state| state.nodes);
        let before = saved.states.iter().map(nodes).collect();
        drop(inner);
        Ok(Self { book, path, before })
    }

    /// Looks at the checkpoint of the path, or changes it.
    fn with<T>(&self, work: impl FnOnce(&mut PathCheckpoint) -> T) -> T {
        let path = &mut self.book.inner().paths[self.path];
        work(path.as_mut().expect("a page is opened with a checkpoint"))
    }

    fn state(&self, at: usize, is: impl FnOnce(&State) -> bool) -> bool {
        self.with(|saved| saved.states[at].as_ref().is_some_and(is))
    }

    /// Whether nothing is left to do for a size.
    pub(super) fn is_over(&self, at: usize) -> bool {
        self.state(at, State::is_over)
    }

    /// Whether a size has nodes to go on from.
    pub(super) fn has_nodes(&self, at: usize) -> bool {
        self.state(at, |state| state.started)
    }

    /// The nodes that this run has looked at for a size.
    pub(super) fn nodes(&self, at: usize) -> u64 {
        let now = self.with(|saved| saved.states[at].as_ref().map_or(0, |state| state.nodes));
        now.saturating_sub(self.before[at])
    }

    /// The run of a size: it goes on where it was left, and its checkpoints come here.
    pub(super) fn attach<'r>(&'r self, at: usize, problem: &Problem, run: Run<'r>) -> Run<'r> {
        // What was done before is safe when an interval has passed, whatever this run does.
        let mut last = self.book.inner().last;
        let (stamp, resume) = self.with(|saved| (saved.stamp(problem), saved.resume(at, problem)));
        let mut run = run.stamped(stamp, last);
        if let Some(checkpoint) = resume {
            run = run.resume(checkpoint);
        }
        let Some(every) = self.book.every else {
            return run;
        };
        let sink = move |checkpoint: &Checkpoint| {
            let mut state = checkpoint.state.clone();
            // One that is over is written by `settle`, together with what it leaves to the others.
            let is_over = state.is_over();
            self.with(|saved| {
                if let Some(gram) = state.prepared.gram.take() {
                    saved.gram = Some(gram);
                }
                saved.states[at] = Some(state);
            });
            // What other paths have written since has an older state of this search.
            if !is_over && self.book.is_due(last) {
                let mut inner = self.book.inner();
                inner.write();
                last = inner.last;
            }
        };
        run.save(every, Box::new(sink))
    }

    /// The next size is about to be searched, with this Gram matrix.
    pub(super) fn take_up(&self, gram: Option<&Arc<Triangle>>) {
        if let Some(gram) = gram {
            self.with(|saved| saved.gram = Some(Arc::clone(gram)));
        }
    }

    /// A run has ended, and leaves this to the others.
    ///
    /// Of several paths, those that nobody is working at are kept without their Gram matrices, which would make every
    /// checkpoint large: whoever resumes makes them anew.
    pub(super) fn settle(&self, gram: Option<&Arc<Triangle>>) {
        self.take_up(gram);
        let mut inner = self.book.inner();
        if self.book.is_due(inner.last) {
            inner.write();
        }
        if inner.paths.len() > 1
            && let Some(saved) = &mut inner.paths[self.path]
        {
            saved.gram = None;
        }
    }

    /// The path has ended, however that came. What was only of use on the way is left out when all is done.
    pub(super) fn finish(&self) {
        self.with(|saved| {
            let mut states = saved.states.iter();
            if states.all(|state| state.as_ref().is_some_and(State::is_over)) {
                saved.gram = None;
            }
        });
        let mut inner = self.book.inner();
        if inner.paths.len() == 1 || self.book.is_due(inner.last) {
            inner.write();
        }
    }
}
