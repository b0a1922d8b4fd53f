//! [`SavedPath`]: the part of a path that checkpoints contain, and how its searches resume from it.

use std::sync::Arc;

use crate::error::Result;
use crate::gram::triangle::Triangle;
use crate::problem::Problem;
use crate::search::checkpoint::{Part, State};
use crate::search::{Slot, Writer};
use crate::solve::Run;

/// The part of an archive that belongs to one path.
pub(super) struct SavedPath<'p> {
    writer: Arc<Writer<'p>>,
    /// Number of that part.
    part: usize,
    /// Number of nodes of each size when this run began.
    before: Vec<u64>,
}

impl<'p> SavedPath<'p> {
    /// Resumes the path from its part of the archive, if that belongs to `new`, an empty part; otherwise starts with
    /// `new`.
    pub(super) fn open(
        writer: Arc<Writer<'p>>,
        part: usize,
        new: Part,
        problem: &Problem,
    ) -> Result<Self> {
        let before = writer.with(|archive| {
            let saved = archive.take_up(part, new)?;
            saved.check(problem)?;
            let nodes = |state: &Option<State>| state.as_ref().map_or(0, |state| state.nodes);
            Ok(saved.states.iter().map(nodes).collect())
        })?;
        Ok(Self {
            writer,
            part,
            before,
        })
    }

    /// Reads or changes the saved part of the path.
    fn with<T>(&self, work: impl FnOnce(&mut Part) -> T) -> T {
        self.writer.with(|archive| {
            let part = archive.parts[self.part].as_mut();
            work(part.expect("a path is opened with its part"))
        })
    }

    fn state(&self, at: usize, is: impl FnOnce(&State) -> bool) -> bool {
        self.with(|part| part.states[at].as_ref().is_some_and(is))
    }

    /// Whether the search of a size is over.
    pub(super) fn is_over(&self, at: usize) -> bool {
        self.state(at, State::is_over)
    }

    /// Whether a size has nodes to resume from.
    pub(super) fn has_nodes(&self, at: usize) -> bool {
        self.state(at, |state| state.started)
    }

    /// Number of nodes that this run has expanded for a size.
    pub(super) fn nodes(&self, at: usize) -> u64 {
        let now = self.with(|part| part.states[at].as_ref().map_or(0, |state| state.nodes));
        now.saturating_sub(self.before[at])
    }

    /// Connects the run of a size: it resumes from its saved state, and its checkpoints are entered here.
    pub(super) fn attach<'r>(&'r self, at: usize, problem: &Problem, run: Run<'r>) -> Run<'r> {
        let state = self.with(|part| part.resume(at, problem));
        let enter = move |part: &mut Part, state| part.enter(at, state);
        run.take_up(state, Slot::open(&self.writer, self.part, enter))
    }

    /// Saves the Gram matrix with which the next size is to be searched.
    pub(super) fn take_up(&self, gram: Option<&Arc<Triangle>>) {
        if let Some(gram) = gram {
            self.with(|part| part.gram = Some(Arc::clone(gram)));
        }
    }

    /// Notes that a run has ended, with the Gram matrix that it leaves to the others.
    ///
    /// Of several paths, those that are not being stepped are kept without their Gram matrices, which would make every
    /// checkpoint large. A resumed run makes them again.
    pub(super) fn leave(&self, gram: Option<&Arc<Triangle>>) {
        self.take_up(gram);
        self.writer.write_if_due();
        self.writer.with(|archive| {
            if archive.parts.len() > 1
                && let Some(part) = &mut archive.parts[self.part]
            {
                part.gram = None;
            }
        });
    }

    /// Notes that the path has ended, for any reason. When all sizes are solved, the Gram matrix is dropped.
    pub(super) fn finish(&self) {
        let is_alone = self.writer.with(|archive| archive.parts.len() == 1);
        self.with(|part| {
            let mut states = part.states.iter();
            if states.all(|state| state.as_ref().is_some_and(State::is_over)) {
                part.gram = None;
            }
        });
        if is_alone {
            self.writer.write();
        } else {
            self.writer.write_if_due();
        }
    }
}
