//! Bytes:
//!
//! ```text
//! magic (8) · version (u32) · length of the payload (u64) · payload · BLAKE3 of all that (32), little-endian
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::refuse;
use crate::error::Result;

const VERSION: u32 = 9;
const MAGIC: usize = 8;
const HEADER: usize = MAGIC + 4 + 8;
const HASH: usize = blake3::OUT_LEN;

/// What a checkpoint is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One search ([`Checkpoint`](super::Checkpoint)).
    Search,
    /// Every size of a path ([`PathCheckpoint`](crate::path::PathCheckpoint)).
    Path,
    /// Many paths ([`BatchCheckpoint`](crate::batch::BatchCheckpoint)).
    Batch,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Search, Self::Path, Self::Batch];

    fn magic(self) -> [u8; MAGIC] {
        match self {
            Self::Search => *b"L0*SRCH\n",
            Self::Path => *b"L0*PATH\n",
            Self::Batch => *b"L0*BTCH\n",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Search => "a single search",
            Self::Path => "a path",
            Self::Batch => "many searches (cross-validation)",
        }
    }

    /// The bytes, checksum included.
    pub(crate) fn encode(self, value: &impl Serialize) -> Vec<u8> {
        let payload = postcard::to_allocvec(value).expect("memory takes any bytes");
        let mut bytes = Vec::with_capacity(HEADER + payload.len() + HASH);
        bytes.extend_from_slice(&self.magic());
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&payload);
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        bytes
    }

    /// Refuses whatever [`Kind::encode`] has not written, whole and unchanged.
    pub(crate) fn decode<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T> {
        let Some((start, rest)) = bytes.split_first_chunk::<MAGIC>() else {
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
        let Some((version, rest)) = rest.split_first_chunk::<4>() else {
            return refuse("it is cut off");
        };
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return refuse(&format!(
                "its version is {version}, and this program reads version {VERSION}"
            ));
        }
        let Some((length, rest)) = rest.split_first_chunk::<8>() else {
            return refuse("it is cut off");
        };
        let length = u64::from_le_bytes(*length);
        let Some((payload, hash)) = rest.split_last_chunk::<HASH>() else {
            return refuse("it is cut off");
        };
        if payload.len() as u64 != length {
            return refuse("it is cut off, or something is behind its end");
        }
        if blake3::hash(&bytes[..bytes.len() - HASH]) != *hash {
            return refuse("its checksum is wrong: it was changed or damaged");
        }
        match postcard::take_from_bytes(payload) {
            Ok((value, [])) => Ok(value),
            _ => refuse("it cannot be read"),
        }
    }
}
