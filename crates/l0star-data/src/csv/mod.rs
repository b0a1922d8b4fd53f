//! CSV text to [`RawTable`], [`Table`] to CSV text.
//!
//! Accepted: a header line or none; any one-byte delimiter, found from the first line (`,` `;`
//! tab `|` or blanks) or given; quoted cells, with line breaks in them; LF, CRLF or CR; a UTF-8
//! byte-order mark; blank lines. Blanks around a cell do not count.

mod block;
mod dialect;
mod read;

use std::io::{self, Write};
use std::path::Path;

use crate::atomic::write_atomically;
use crate::column::Cell;
use crate::error::DataError;
use crate::file::ReadOptions;
use crate::frame::Frame;
use crate::raw::RawTable;
use crate::source::Source;
use crate::table::Table;

pub(crate) use self::read::read;

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

/// Both formats of Rust round-trip; `{}` would spell out the 300 zeros of `1e300`.
pub(crate) fn write_float(out: &mut dyn Write, value: f64) -> io::Result<()> {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    }
}

/// Quotes whatever the reader could take for structure.
pub(crate) fn quoted(name: &str) -> String {
    let is_number = matches!(Cell::of(name), Cell::Number(_));
    if is_number || name.contains([',', ';', '\t', '|', '"', '\r', '\n', '\u{feff}']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_short() {
        let shown = |value: f64| {
            let mut out = Vec::new();
            write_float(&mut out, value).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(0.1), "0.1");
        assert_eq!(shown(-0.0), "-0");
        assert_eq!(shown(151.0), "151");
        assert_eq!(shown(1e300), "1e300");
        assert_eq!(shown(-2.5e-7), "-2.5e-7");
    }
}
