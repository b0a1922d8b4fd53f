//! Values serialised with a checksum that reveals damage:
//!
//! ```text
//! magic (8) · version (u32) · length of the payload (u64) · payload · BLAKE3 of all that (32), little-endian
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) const MAGIC: usize = 8;
const HEADER: usize = MAGIC + 4 + 8;
const HASH: usize = blake3::OUT_LEN;

/// Reason why bytes cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes do not begin with the expected magic.
    Other,
    /// The bytes have another version.
    Version(u32),
    Cut,
    /// The bytes are cut off, or others follow their end.
    Length,
    Checksum,
    Unreadable,
}

impl Fault {
    /// Describes what is wrong with the bytes, for a program that reads this version.
    pub(crate) fn words(self, version: u32) -> String {
        match self {
            Self::Other => "it begins with something else".to_owned(),
            Self::Version(found) => {
                format!("its version is {found}, and this program reads version {version}")
            }
            Self::Cut => "it is cut off".to_owned(),
            Self::Length => "it is cut off, or something is behind its end".to_owned(),
            Self::Checksum => "its checksum is wrong: it was changed or damaged".to_owned(),
            Self::Unreadable => "it cannot be read".to_owned(),
        }
    }
}

/// Serialises a value, with a header and a checksum.
pub(crate) fn seal(magic: [u8; MAGIC], version: u32, value: &impl Serialize) -> Vec<u8> {
    let payload = postcard::to_allocvec(value).expect("memory takes any bytes");
    let mut bytes = Vec::with_capacity(HEADER + payload.len() + HASH);
    bytes.extend_from_slice(&magic);
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&payload);
    let hash = blake3::hash(&bytes);
    bytes.extend_from_slice(hash.as_bytes());
    bytes
}

/// Reads a value that [`seal`] wrote, and refuses bytes that are not whole and unchanged.
pub(crate) fn open<T: DeserializeOwned>(
    magic: [u8; MAGIC],
    version: u32,
    bytes: &[u8],
) -> Result<T, Fault> {
    let rest = match bytes.split_first_chunk::<MAGIC>() {
        Some((start, rest)) if *start == magic => rest,
        None if magic.starts_with(bytes) => return Err(Fault::Cut),
        _ => return Err(Fault::Other),
    };
    let (found, rest) = rest.split_first_chunk::<4>().ok_or(Fault::Cut)?;
    let found = u32::from_le_bytes(*found);
    if found != version {
        return Err(Fault::Version(found));
    }
    let (length, rest) = rest.split_first_chunk::<8>().ok_or(Fault::Cut)?;
    let length = u64::from_le_bytes(*length);
    let (payload, hash) = rest.split_last_chunk::<HASH>().ok_or(Fault::Cut)?;
    if payload.len() as u64 != length {
        return Err(Fault::Length);
    }
    if blake3::hash(&bytes[..bytes.len() - HASH]) != *hash {
        return Err(Fault::Checksum);
    }
    match postcard::take_from_bytes(payload) {
        Ok((value, [])) => Ok(value),
        _ => Err(Fault::Unreadable),
    }
}
