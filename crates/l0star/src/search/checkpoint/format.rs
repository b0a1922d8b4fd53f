//! Checkpoints as bytes that show damage ([`crate::sealed`]).

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::refuse;
use crate::error::Result;
use crate::sealed::{self, MAGIC};

const VERSION: u32 = 9;

/// Kinds of checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One search ([`Checkpoint`](super::Checkpoint)).
    Search,
    /// Every size of a path ([`PathCheckpoint`](crate::path::PathCheckpoint)).
    Path,
    /// Many paths ([`BatchCheckpoint`](crate::batch::BatchCheckpoint)).
    Batch,
    /// Subtrees sent to another process ([`Cluster`](crate::search::Cluster)).
    Task,
    /// The remainder of such subtrees.
    Answer,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Search,
        Self::Path,
        Self::Batch,
        Self::Task,
        Self::Answer,
    ];

    fn magic(self) -> [u8; MAGIC] {
        match self {
            Self::Search => *b"L0*SRCH\n",
            Self::Path => *b"L0*PATH\n",
            Self::Batch => *b"L0*BTCH\n",
            Self::Task => *b"L0*TASK\n",
            Self::Answer => *b"L0*ANSW\n",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Search => "a single search",
            Self::Path => "a path",
            Self::Batch => "many searches (cross-validation)",
            Self::Task => "a task of a cluster",
            Self::Answer => "the answer to a task of a cluster",
        }
    }

    /// Encodes a value as bytes with a checksum.
    pub(crate) fn encode(self, value: &impl Serialize) -> Vec<u8> {
        sealed::seal(self.magic(), VERSION, value)
    }

    /// Decodes bytes; refuses anything but the complete, unchanged output of [`Kind::encode`].
    pub(crate) fn decode<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T> {
        let Some(start) = bytes.first_chunk::<MAGIC>() else {
            return refuse("it is no checkpoint: it is too short to be one");
        };
        match Self::ALL.into_iter().find(|kind| kind.magic() == *start) {
            None => return refuse("it is no checkpoint: it begins with something else"),
            Some(other) if other != self => {
                let (other, own) = (other.name(), self.name());
                return refuse(&format!("it belongs to {other}, and this is {own}"));
            }
            Some(_) => {}
        }
        let value = sealed::open(self.magic(), VERSION, bytes);
        value.or_else(|fault| refuse(&fault.words(VERSION)))
    }
}
