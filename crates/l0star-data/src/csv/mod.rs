//! Reads CSV text into a [`RawTable`] and writes a [`Table`] as CSV text.
//!
//! The reader accepts text with or without a header line. The delimiter is any one byte: it is given, or found
//! from the first line (`,` `;` tab `|` or blanks). Cells may be quoted and then contain line breaks. LF,
//! CRLF, CR, blank lines and a UTF-8 byte-order mark are accepted. Blanks around a cell are ignored, and
//! repeated names are numbered.

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

/// Reads delimited text that is already in memory; `file` is the name used in messages.
pub fn parse_csv(file: &Path, bytes: &[u8]) -> Result<RawTable, DataError> {
    read(&Source::memory(file, bytes)?, &ReadOptions::default())
}

/// Writes a table as comma-separated text, with the shortest floats that read back to the same bits.
pub fn write_csv(path: impl AsRef<Path>, table: &Table) -> Result<(), DataError> {
    write_atomically(path, |out| Frame::from(table).write_text(out, ','))
}
