//! [`PathCheckpoint`]: the searches of a path as bytes.

use crate::error::Result;
use crate::search::checkpoint::{Archive, Kind};

/// The state of a path: sizes that are done, sizes at hand, and what they have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct PathCheckpoint(pub(crate) Archive);

impl PathCheckpoint {
    /// The bytes, checksum included.
    pub fn encode(&self) -> Vec<u8> {
        Kind::Path.encode(&self.0)
    }

    /// Refuses whatever [`PathCheckpoint::encode`] has not written, whole and unchanged.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Ok(Self(Kind::Path.decode(bytes)?))
    }

    /// The sizes whose search is over.
    pub fn finished(&self) -> Vec<usize> {
        let finished = self.0.finished().into_iter();
        finished.map(|(_, k)| k).collect()
    }

    /// Nodes that were looked at so far, of all sizes together.
    pub fn nodes(&self) -> u64 {
        self.0.nodes()
    }
}
