//! The records of a delimited text: which delimiter, which physical line.

use std::path::Path;

use ::csv::{Reader, ReaderBuilder, StringRecord};

use crate::error::DataError;
use crate::place::clip;

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The candidate that occurs most often in the header, outside quotes; a comma when none does.
pub(super) fn detect_delimiter(text: &str) -> u8 {
    let mut counts = [0usize; DELIMITERS.len()];
    let mut in_quotes = false;
    for byte in text.trim_start_matches(['\r', '\n']).bytes() {
        match byte {
            b'"' => in_quotes = !in_quotes,
            b'\r' | b'\n' if !in_quotes => break,
            _ if in_quotes => {}
            _ => {
                if let Some(which) = DELIMITERS.iter().position(|&d| d == byte) {
                    counts[which] += 1;
                }
            }
        }
    }
    // Strictly more, so that a tie goes to the commoner delimiter, which stands first.
    let mut best = 0;
    for which in 1..counts.len() {
        if counts[which] > counts[best] {
            best = which;
        }
    }
    DELIMITERS[best]
}

/// The records of a text with their physical lines. The line numbers of the `csv` crate count
/// records after CRLF and blank lines differently from an editor, hence the own count.
pub(super) struct Rows<'a> {
    pub(super) file: &'a Path,
    text: &'a [u8],
    reader: Reader<&'a [u8]>,
    pub(super) record: StringRecord,
    at: usize,
    /// The physical line on which the current record starts.
    pub(super) line: u64,
    /// Whether a blank line stands above the current record.
    pub(super) blank_before: bool,
}

impl<'a> Rows<'a> {
    pub(super) fn new(file: &'a Path, text: &'a str, delimiter: u8) -> Rows<'a> {
        let text = text.as_bytes();
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(text);
        Rows {
            file,
            text,
            reader,
            record: StringRecord::new(),
            at: 0,
            line: 1,
            blank_before: false,
        }
    }

    /// Moves to the next record; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool, DataError> {
        let more =
            self.reader
                .read_record(&mut self.record)
                .map_err(|error| DataError::NotText {
                    path: self.file.to_path_buf(),
                    reason: clip(&error.to_string()),
                })?;
        if !more {
            return Ok(false);
        }
        let offset = self
            .record
            .position()
            .map_or(self.at, |place| place.byte() as usize);
        let breaks = self.text[offset..]
            .iter()
            .take_while(|b| matches!(b, b'\r' | b'\n'))
            .count();
        let start = offset + breaks;
        self.line += line_breaks(&self.text[self.at..start]);
        // The reader may leave the `\n` of a CRLF for the next record.
        let splits_crlf = offset > 0 && self.text[offset - 1..].starts_with(b"\r\n");
        self.blank_before = breaks > usize::from(splits_crlf);
        self.at = start;
        Ok(true)
    }
}

fn line_breaks(text: &[u8]) -> u64 {
    let newlines = text.iter().filter(|&&byte| byte == b'\n').count();
    let returns = text.iter().filter(|&&byte| byte == b'\r').count();
    let both = text.windows(2).filter(|pair| pair == b"\r\n").count();
    (newlines + returns - both) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_shows_the_delimiter() {
        assert_eq!(detect_delimiter("a,b;c,d\n"), b',');
        assert_eq!(detect_delimiter("a;b,c;d\n1,2"), b';');
        assert_eq!(detect_delimiter("\r\na\tb\n"), b'\t');
        assert_eq!(detect_delimiter("a|b"), b'|');
        assert_eq!(detect_delimiter("\"a;b;c\",d"), b',');
        assert_eq!(detect_delimiter("alone\n1;2;3"), b',');
    }

    #[test]
    fn line_breaks_of_every_system_count_once() {
        assert_eq!(line_breaks(b"a\nb\r\nc\rd"), 3);
        assert_eq!(line_breaks(b"\r\r\n\n"), 3);
    }
}
