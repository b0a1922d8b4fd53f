//! [`PathCheckpoint`]: the searches of a path as bytes.

use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::search::Checkpoint;
use crate::search::checkpoint::{Kind, Stamp, State, Triangle, refuse, shared};

/// The state of a path: sizes that are done, sizes at hand, and what they have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathCheckpoint {
    /// Of the largest size.
    stamp: Stamp,
    first: u64,
    last: u64,
    /// The rows of the Gram matrix, where it takes long to make them: once for all sizes.
    #[serde(with = "shared")]
    pub(super) gram: Option<Arc<Triangle>>,
    /// One a size; `None` where nothing was done yet.
    pub(super) states: Vec<Option<State>>,
}

impl PathCheckpoint {
    /// Nothing is done yet.
    pub(super) fn new(stamp: Stamp, sizes: &RangeInclusive<usize>) -> Self {
        Self {
            stamp,
            first: *sizes.start() as u64,
            last: *sizes.end() as u64,
            gram: None,
            states: vec![None; sizes.clone().count()],
        }
    }

    /// The bytes, checksum included.
    pub fn encode(&self) -> Vec<u8> {
        Kind::Path.encode(self)
    }

    /// Refuses whatever [`PathCheckpoint::encode`] has not written, whole and unchanged.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Kind::Path.decode(bytes)
    }

    /// The sizes whose search is over.
    pub fn finished(&self) -> Vec<usize> {
        let over = |(k, state): (u64, &Option<State>)| {
            let is_over = state.as_ref().is_some_and(State::is_over);
            is_over.then_some(k as usize)
        };
        let sizes = (self.first..).zip(&self.states);
        sizes.filter_map(over).collect()
    }

    /// Nodes that were looked at so far, of all sizes together.
    pub fn nodes(&self) -> u64 {
        self.states.iter().flatten().map(|state| state.nodes).sum()
    }

    /// Whether it belongs to this path (a stamp and a range of sizes), and is consistent with it.
    pub(super) fn check(&self, now: &Self, problems: &[Problem]) -> Result<()> {
        let sizes = |own: &Self| format!("{} to {}", own.first, own.last);
        if (self.first, self.last) != (now.first, now.last) {
            return Err(Error::OtherSearch {
                what: "sizes",
                saved: sizes(self),
                now: sizes(now),
            });
        }
        self.stamp.check(&now.stamp)?;
        if self.states.len() != problems.len() {
            return refuse("it does not fit its own problem: the sizes");
        }
        for (at, problem) in problems.iter().enumerate() {
            if let Some(checkpoint) = self.resume(at, problem) {
                checkpoint.check(&self.stamp.with_k(problem.k()), problem)?;
            }
        }
        Ok(())
    }

    /// Of one size.
    pub(super) fn stamp(&self, problem: &Problem) -> Stamp {
        self.stamp.with_k(problem.k())
    }

    /// What a size goes on from, with what all have in common.
    pub(super) fn resume(&self, at: usize, problem: &Problem) -> Option<Checkpoint> {
        let mut state = match (&self.states[at], &self.gram) {
            (None, None) => return None,
            (Some(state), _) => state.clone(),
            (None, Some(_)) => State::fresh(problem),
        };
        if !state.is_over() {
            state.prepared.gram.clone_from(&self.gram);
        }
        Some(Checkpoint::new(&self.stamp(problem), state, None))
    }
}
