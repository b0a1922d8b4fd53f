//! Bytes:
//!
//! ```text
//! magic (8) · version (u32) · length of the payload (u64) · payload · BLAKE3 of all that (32), little-endian
//! ```

use super::{Checkpoint, refuse};
use crate::error::Result;

const MAGIC: [u8; 8] = *b"L0*SRCH\n";
const VERSION: u32 = 5;
const HEADER: usize = MAGIC.len() + 4 + 8;
const HASH: usize = blake3::OUT_LEN;

impl Checkpoint {
    /// The bytes, checksum included.
    pub fn encode(&self) -> Vec<u8> {
        let payload = postcard::to_allocvec(self).expect("memory takes any bytes");
        let mut bytes = Vec::with_capacity(HEADER + payload.len() + HASH);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&payload);
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        bytes
    }

    /// Refuses whatever [`Checkpoint::encode`] has not written, whole and unchanged.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let Some((start, rest)) = bytes.split_first_chunk::<8>() else {
            return refuse("it is no checkpoint: it is too short to be one");
        };
        if *start != MAGIC {
            return refuse("it is no checkpoint: it begins with something else");
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
            Ok((checkpoint, [])) => Ok(checkpoint),
            _ => refuse("it cannot be read"),
        }
    }
}
