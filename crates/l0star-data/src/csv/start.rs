//! The start of a text: its dialect, its names, and the columns that look like text.

use std::path::Path;

use super::block::{Blocks, Failed, Wrong, as_text, parse};
use super::dialect::{Dialect, detect_delimiter, is_header, line_breaks, skip_blanks, skip_break};
use super::plan::{Use, planned};
use crate::caps::{LONGEST_RECORD, MOST_COLUMNS};
use crate::error::DataError;
use crate::format::{Decimal, ReadOptions, extension};
use crate::names::unique;
use crate::source::Source;

/// Bytes that are examined for columns of text; later rows may reveal others.
const SAMPLE: usize = 1 << 16;

/// Facts from the first record.
pub(super) struct Start {
    pub(super) dialect: Dialect,
    pub(super) names: Vec<String>,
    pub(super) has_names: bool,
    /// Notes on names that were changed.
    pub(super) notes: Vec<String>,
    /// Bytes and lines before the first row of data.
    pub(super) offset: u64,
    pub(super) lines: u64,
}

impl Start {
    /// Reads the header and leaves the bytes after it in the buffer.
    pub(super) fn read(
        source: &Source<'_>,
        options: &ReadOptions,
        blocks: &mut Blocks<'_>,
    ) -> Result<Start, DataError> {
        let file = source.name();
        let fill = |blocks: &mut Blocks<'_>, at: usize| {
            let filled = blocks.fill();
            filled.map_err(|failed| refuse(source, failed, line_breaks(&blocks.buffer[..at]) + 1))
        };
        let mut at = 0;
        loop {
            if !blocks.at_end {
                fill(blocks, at)?;
            }
            if at == 0 && blocks.buffer.starts_with("\u{feff}".as_bytes()) {
                at = "\u{feff}".len();
            }
            at = skip_blank_lines(&blocks.buffer, at);
            if blocks.at_end || memchr::memchr2(b'\n', b'\r', &blocks.buffer[at..]).is_some() {
                break;
            }
        }
        if at >= blocks.buffer.len() {
            return Err(DataError::EmptyFile {
                path: file.to_path_buf(),
            });
        }
        let delimiter = match options.delimiter {
            Some(delimiter) => delimiter,
            None => delimiter(file, &blocks.buffer[at..]),
        };
        let dialect = Dialect {
            delimiter,
            decimal_comma: match options.decimal {
                Decimal::Point => false,
                Decimal::Comma => true,
                Decimal::CommaIfFree => delimiter != b',',
            },
        };
        check_dialect(dialect)?;
        // A quoted name may contain line breaks.
        while !blocks.at_end && dialect.last_record_end(&blocks.buffer[at..]).is_none() {
            fill(blocks, at)?;
        }
        let first = &blocks.buffer[at..];
        let length = memchr::memchr2(b'\n', b'\r', first).unwrap_or(first.len());
        if memchr::memchr_iter(dialect.delimiter, &first[..length]).count() >= MOST_COLUMNS {
            return Err(DataError::ManyColumns {
                path: file.to_path_buf(),
                most: MOST_COLUMNS,
            });
        }
        let unclosed = || DataError::UnclosedQuote {
            path: file.to_path_buf(),
            line: line_breaks(&blocks.buffer[..at]) + 1,
        };
        let (cells, end) = dialect.record(&blocks.buffer, at).ok_or_else(unclosed)?;
        let names: Result<Vec<String>, Wrong> = cells
            .iter()
            .map(|cell| as_text(cell).map(str::to_string))
            .collect();
        let names = names.map_err(|_| not_text(file, &blocks.buffer[..end], 0))?;
        // Quoted numbers are meant as names.
        let is_quoted = blocks.buffer[at] == b'"';
        let has_names = options
            .header
            .unwrap_or_else(|| is_quoted || is_header(&names));
        let (names, notes, end) = if has_names {
            let (names, notes) = unique(names);
            (names, notes, skip_break(&blocks.buffer, end))
        } else {
            let names = (1..=names.len()).map(|j| format!("c{j}"));
            (names.collect(), Vec::new(), at)
        };
        let lines = line_breaks(&blocks.buffer[..end]);
        blocks.buffer.drain(..end);
        Ok(Start {
            dialect,
            names,
            has_names,
            notes,
            offset: end as u64,
            lines,
        })
    }

    /// Marks the columns that hold text in the first rows.
    pub(super) fn sample(&self, buffer: &[u8]) -> Vec<bool> {
        let head = &buffer[..buffer.len().min(SAMPLE)];
        let head = match self.dialect.last_record_end(head) {
            Some(end) => &head[..end],
            None => buffer,
        };
        let plan = planned(self.names.len(), |_| Use::Number);
        // Errors are reported by the pass over the whole text, which knows the line.
        parse(head, self.dialect, &plan)
            .map_or_else(|_| vec![false; self.names.len()], |parsed| parsed.has_text)
    }
}

fn skip_blank_lines(bytes: &[u8], mut at: usize) -> usize {
    loop {
        let after = skip_blanks(bytes, at);
        if after >= bytes.len() {
            return after;
        }
        let next = skip_break(bytes, after);
        if next == after {
            return at;
        }
        at = next;
    }
}

fn delimiter(file: &Path, text: &[u8]) -> u8 {
    let line_end = memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len());
    let is_tsv = matches!(extension(file).as_deref(), Some("tsv" | "tab"));
    if is_tsv && text[..line_end].contains(&b'\t') {
        return b'\t';
    }
    detect_delimiter(text)
}

fn check_dialect(dialect: Dialect) -> Result<(), DataError> {
    let delimiter = dialect.delimiter;
    let in_numbers = delimiter.is_ascii_alphanumeric() || b".+-\"\r\n".contains(&delimiter);
    if in_numbers || !delimiter.is_ascii() || delimiter == 0 {
        return Err(DataError::argument(
            "delimiter",
            format!("'{}'", char::from(delimiter).escape_default()),
            "it must not be a letter, a digit, a quote, a line break or part of a number",
        ));
    }
    if dialect.decimal_comma && delimiter == b',' {
        return Err(DataError::argument(
            "delimiter",
            "','",
            "decimals have a comma too; give the character between the cells, or write decimals with a point",
        ));
    }
    Ok(())
}

/// Returns the error for a missing block; the record that it starts with is on `line`.
pub(super) fn refuse(source: &Source<'_>, failed: Failed, line: u64) -> DataError {
    match failed {
        Failed::Io(reason) => source.failed(reason),
        Failed::TooLong => DataError::LongRecord {
            path: source.name().to_path_buf(),
            line,
            most: LONGEST_RECORD,
        },
    }
}

pub(super) fn not_text(file: &Path, bytes: &[u8], offset: u64) -> DataError {
    let reason = match (memchr::memchr(0, bytes), std::str::from_utf8(bytes)) {
        (Some(at), _) => format!("a zero byte at offset {}", offset + at as u64),
        (None, Err(error)) => {
            let at = offset + error.valid_up_to() as u64;
            format!("no UTF-8 at byte offset {at}")
        }
        (None, Ok(_)) => "no UTF-8".into(),
    };
    DataError::NotText {
        path: file.to_path_buf(),
        reason,
    }
}
