//! [`PathCheckpoint`]: the searches of a path as bytes.

use crate::error::Result;
use crate::search::checkpoint::{Archive, Kind};

/// The state of a path: finished sizes, current searches, and the data that they share.
#[derive(Debug, Clone, PartialEq)]
pub struct PathCheckpoint(pub(crate) Archive);

impl PathCheckpoint {
    /// Encodes the checkpoint as bytes with a checksum.
    pub fn encode(&self) -> Vec<u8> {
        Kind::Path.encode(&self.0)
    }

    /// Decodes a checkpoint; refuses anything but the complete, unchanged output of [`PathCheckpoint::encode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Ok(Self(Kind::Path.decode(bytes)?))
    }

    /// The sizes whose search is over.
    pub fn finished(&self) -> Vec<usize> {
        let finished = self.0.finished().into_iter();
        finished.map(|(_, k)| k).collect()
    }

    /// Number of nodes expanded so far for all sizes.
    pub fn nodes(&self) -> u64 {
        self.0.nodes()
    }
}
