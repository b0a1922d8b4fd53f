//! The layout of a column store file, and the check that the file is intact.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::source::Watch;
use crate::table::check_names;

pub(crate) const MAGIC: [u8; 8] = *b"L0*COLS\n";
const VERSION: u32 = 1;
/// Bytes of magic, version, width, rows, columns and length of the description.
const FIXED: usize = 8 + 4 + 4 + 8 + 8 + 8;
const HASH: usize = blake3::OUT_LEN;
/// The first column begins at a multiple of a page, and each column at a multiple of a cache line.
const PAGE: usize = 4096;
const LINE: usize = 64;
/// Bytes that are hashed at a time.
const PART: usize = 1 << 20;

/// Precision of the stored numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// 64 bits per number.
    #[default]
    Double,
    /// 32 bits per number.
    Single,
}

impl Precision {
    /// Returns the bytes of a number.
    pub fn width(self) -> usize {
        match self {
            Precision::Double => 8,
            Precision::Single => 4,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) names: Vec<String>,
    pub(super) rows: usize,
    pub(super) precision: Precision,
    /// Offset of the first column.
    start: usize,
    /// Distance from the start of a column to that of the next.
    stride: usize,
}

#[derive(Serialize, Deserialize)]
struct Description {
    names: Vec<String>,
    note: String,
}

impl Layout {
    /// Creates the layout of a file to be written, and its header up to the checksums.
    pub(super) fn new(
        names: &[String],
        rows: usize,
        precision: Precision,
        note: &str,
    ) -> Option<(Layout, Vec<u8>)> {
        let description = Description {
            names: names.to_vec(),
            note: note.to_owned(),
        };
        let description = serde_json::to_vec(&description).unwrap_or_default();
        let layout = Layout::of(names.to_vec(), rows, precision, description.len())?;
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.extend_from_slice(&(precision.width() as u32).to_le_bytes());
        for number in [rows, names.len(), description.len()] {
            head.extend_from_slice(&(number as u64).to_le_bytes());
        }
        head.extend_from_slice(&description);
        Some((layout, head))
    }

    /// Computes a layout; `None` if the file would be larger than memory can address.
    fn of(
        names: Vec<String>,
        rows: usize,
        precision: Precision,
        description: usize,
    ) -> Option<Layout> {
        let hashes = names.len().checked_add(1)?.checked_mul(HASH)?;
        let header = FIXED.checked_add(description)?.checked_add(hashes)?;
        let layout = Layout {
            start: header.checked_next_multiple_of(PAGE)?,
            stride: rows
                .checked_mul(precision.width())?
                .checked_next_multiple_of(LINE)?,
            names,
            rows,
            precision,
        };
        layout.total().map(|_| layout)
    }

    /// Returns the bytes of the file.
    pub(super) fn total(&self) -> Option<usize> {
        let columns = self.stride.checked_mul(self.names.len())?;
        self.start.checked_add(columns)
    }

    /// Returns the bytes of a column.
    pub(super) fn length(&self) -> usize {
        self.rows * self.precision.width()
    }

    /// Returns the offset of column `j`.
    pub(super) fn place(&self, j: usize) -> usize {
        self.start + j * self.stride
    }
}

pub(super) fn is_at(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    let read = |mut file: File| file.read_exact(&mut head).is_ok();
    path.is_file() && File::open(path).is_ok_and(read) && head == MAGIC
}

pub(super) fn damaged(path: &Path, reason: String) -> DataError {
    DataError::Unreadable {
        path: path.to_path_buf(),
        format: "a column store".into(),
        reason,
    }
}

/// Reads a whole file of `length` bytes, compares its checksums, and returns its layout and its note.
pub(super) fn verify(
    path: &Path,
    file: &mut File,
    length: u64,
    watch: Watch<'_>,
) -> Result<(Layout, String), DataError> {
    let wrong = |reason: &str| {
        damaged(
            path,
            format!("{reason}; write it again with l0star convert"),
        )
    };
    let cut = || wrong("it is cut short, or was not written to its end");
    let fail = |reason: std::io::Error| match reason.kind() {
        std::io::ErrorKind::UnexpectedEof => cut(),
        _ => DataError::reading(path, reason),
    };
    let mut head = vec![0; FIXED];
    file.read_exact(&mut head).map_err(fail)?;
    if head[..8] != MAGIC {
        return Err(wrong("it does not begin like one"));
    }
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if word(8) != VERSION {
        return Err(damaged(
            path,
            format!(
                "it has version {} of the format, and this l0star reads version {VERSION}; update l0star, or write it again with l0star convert",
                word(8)
            ),
        ));
    }
    let precision = match word(12) {
        8 => Precision::Double,
        4 => Precision::Single,
        _ => return Err(wrong("its header is damaged")),
    };
    let number = |at: usize| {
        let number = u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        // No part can be larger than the file, which bounds what is allocated.
        let possible = Some(number).filter(|number| *number <= length);
        possible.and_then(|number| usize::try_from(number).ok())
    };
    let counts = (number(16), number(24), number(32));
    let (Some(rows), Some(columns), Some(description)) = counts else {
        return Err(cut());
    };
    let rest = columns
        .checked_add(1)
        .and_then(|count| count.checked_mul(HASH)?.checked_add(description))
        .filter(|rest| *rest as u64 <= length);
    let Some(rest) = rest else {
        return Err(cut());
    };
    head.resize(FIXED + rest, 0);
    file.read_exact(&mut head[FIXED..]).map_err(fail)?;
    let (body, seal) = head.split_at(head.len() - HASH);
    if blake3::hash(body).as_bytes() != seal {
        return Err(wrong("its header is damaged"));
    }
    let about = serde_json::from_slice::<Description>(&body[FIXED..FIXED + description]);
    let about = about.map_err(|_| wrong("its header is damaged"))?;
    check_names(Some(path), &about.names)?;
    if about.names.len() != columns || columns == 0 || rows == 0 {
        return Err(wrong("its header is damaged"));
    }
    let Some(layout) = Layout::of(about.names, rows, precision, description) else {
        return Err(cut());
    };
    if layout.total().map(|total| total as u64) != Some(length) {
        return Err(cut());
    }
    if cfg!(target_endian = "big") {
        return Err(wrong("this machine has its bytes in another order"));
    }
    let hashes = &body[FIXED + description..];
    let mut part = vec![0; PART];
    for (j, expected) in hashes.chunks_exact(HASH).enumerate() {
        let place = layout.place(j) as u64;
        file.seek(SeekFrom::Start(place)).map_err(fail)?;
        let (mut left, mut hasher) = (layout.length(), blake3::Hasher::new());
        while left > 0 {
            let part = &mut part[..left.min(PART)];
            file.read_exact(part).map_err(fail)?;
            hasher.update(part);
            left -= part.len();
            watch(place + (layout.length() - left) as u64, length);
        }
        if hasher.finalize().as_bytes() != expected {
            let column = &layout.names[j];
            return Err(wrong(&format!("column '{column}' is damaged")));
        }
    }
    Ok((layout, about.note))
}
