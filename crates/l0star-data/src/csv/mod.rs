//! CSV text to [`RawTable`], [`Table`] to CSV text.
//!
//! Accepted: a header line or none; any one-byte delimiter, found from the first line (`,` `;`
//! tab `|` or blanks) or given; quoted cells, with line breaks in them; LF, CRLF or CR; a UTF-8
//! byte-order mark; blank lines. Blanks around a cell do not count. Repeated names are numbered.

mod block;
mod dialect;
mod plan;
mod read;
mod start;

use std::path::Path;

use crate::atomic::write_atomically;
use crate::error::DataError;
use crate::format::ReadOptions;
use crate::frame::Frame;
use crate::raw::RawTable;
use crate::source::Source;
use crate::table::Table;

pub(crate) use self::read::{read, stream};

/// Reads a delimited text file.
pub fn read_csv(path: impl AsRef<Path>) -> Result<RawTable, DataError> {
    read(&Source::open(path.as_ref())?, &ReadOptions::default())
}

/// Reads delimited text that is already in memory; `file` is the name for messages.
pub fn parse_csv(file: &Path, bytes: &[u8]) -> Result<RawTable, DataError> {
    read(&Source::memory(file, bytes)?, &ReadOptions::default())
}

/// Writes a table as comma-separated text with shortest floats that read back to the same bits.
pub fn write_csv(path: impl AsRef<Path>, table: &Table) -> Result<(), DataError> {
    write_atomically(path, |out| Frame::from(table).write_text(out, ','))
}
