//! [`PathCheckpoint`]: the searches of a path as bytes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::gram::triangle::Triangle;
use crate::problem::Problem;
use crate::search::Checkpoint;
use crate::search::checkpoint::{Kind, Stamp, State, refuse, shared};

/// The state of a path: sizes that are done, sizes at hand, and what they have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathCheckpoint {
    /// Of the largest size.
    stamp: Stamp,
    /// In increasing order.
    sizes: Vec<u64>,
    /// The rows of the Gram matrix, where it takes long to make them: once for all sizes.
    #[serde(with = "shared")]
    pub(super) gram: Option<Arc<Triangle>>,
    /// One a size; `None` where nothing was done yet.
    pub(super) states: Vec<Option<State>>,
}

impl PathCheckpoint {
    /// Nothing is done yet.
    pub(super) fn new(stamp: Stamp, sizes: &[usize]) -> Self {
        Self {
            stamp,
            sizes: sizes.iter().map(|k| *k as u64).collect(),
            gram: None,
            states: vec![None; sizes.len()],
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
        let over = |(k, state): (&u64, &Option<State>)| {
            let is_over = state.as_ref().is_some_and(State::is_over);
            is_over.then_some(*k as usize)
        };
        let sizes = self.sizes.iter().zip(&self.states);
        sizes.filter_map(over).collect()
    }

    /// Nodes that were looked at so far, of all sizes together.
    pub fn nodes(&self) -> u64 {
        self.states.iter().flatten().map(|state| state.nodes).sum()
    }

    /// Whether it belongs to the path of `now`, a checkpoint of nothing, and is consistent with it.
    pub(super) fn check(&self, now: &Self, problem: &Problem) -> Result<()> {
        if self.sizes != now.sizes {
            return Err(Error::OtherSearch {
                what: "sizes",
                saved: words(&self.sizes),
                now: words(&now.sizes),
            });
        }
        self.stamp.check(&now.stamp)?;
        if self.states.len() != self.sizes.len() {
            return refuse("it does not fit its own problem: the sizes");
        }
        for (at, k) in self.sizes.iter().enumerate() {
            let problem = problem.with_k(*k as usize)?;
            if let Some(checkpoint) = self.resume(at, &problem) {
                checkpoint.check(&self.stamp(&problem), &problem)?;
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

/// Sizes as a reader would say them: a range where they follow each other.
fn words(sizes: &[u64]) -> String {
    match sizes {
        [first, .., last] if last - first + 1 == sizes.len() as u64 => format!("{first} to {last}"),
        _ => {
            let words: Vec<String> = sizes.iter().map(u64::to_string).collect();
            words.join(", ")
        }
    }
}
