//! CSV text to [`RawTable`], [`Table`] to CSV text.
//!
//! Accepted: a header line; `,` `;` tab or `|` between cells, found from the header; quoted
//! cells; LF or CRLF; a UTF-8 byte-order mark; blank lines. Blanks around a cell do not count.

use std::io::Write;
use std::path::Path;

use ::csv::{Reader, ReaderBuilder, StringRecord};

use crate::error::{DataError, Place, Position, clip};
use crate::file::{read_bytes, write_atomically};
use crate::raw::{Cell, RawColumn, RawTable};
use crate::table::{Table, check_names};

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Reads a delimited text file with a header line.
pub fn read_csv(path: impl AsRef<Path>) -> Result<RawTable, DataError> {
    let path = path.as_ref();
    parse_csv(path, &read_bytes(path)?)
}

/// Reads delimited text that is already in memory; `file` is the name for messages.
pub fn parse_csv(file: &Path, bytes: &[u8]) -> Result<RawTable, DataError> {
    let text = as_text(file, bytes)?;
    if text.trim().is_empty() {
        return Err(DataError::EmptyFile {
            path: file.to_path_buf(),
        });
    }
    let delimiter = detect_delimiter(text);
    let mut rows = Rows::new(file, text, delimiter);
    let names = header(file, &mut rows)?;

    let mut columns = vec![Column::Number(Vec::new()); names.len()];
    let mut lines = Vec::new();
    while rows.advance()? {
        check_width(&names, &rows)?;
        lines.push(rows.line);
        for (column, cell) in columns.iter_mut().zip(&rows.record) {
            column.push(rows.line, cell.trim());
        }
    }
    if lines.is_empty() {
        return Err(DataError::NoRows {
            path: file.to_path_buf(),
        });
    }
    let columns = with_text(file, text, delimiter, columns)?;
    Ok(RawTable::new(file, names, lines, columns))
}

/// Writes a table as comma-separated text with shortest floats that read back to the same bits.
pub fn write_csv(path: impl AsRef<Path>, table: &Table) -> Result<(), DataError> {
    write_atomically(path, |out| {
        let header: Vec<String> = table.names().iter().map(|name| quoted(name)).collect();
        writeln!(out, "{}", header.join(","))?;
        for i in 0..table.rows() {
            for j in 0..table.columns() {
                if j > 0 {
                    out.write_all(b",")?;
                }
                write_float(out, table.column(j)[i])?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}

/// Both formats of Rust round-trip; `{}` would spell out the 300 zeros of `1e300`.
fn write_float(out: &mut impl Write, value: f64) -> std::io::Result<()> {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    }
}

/// Quotes whatever [`detect_delimiter`] or the parser could take for structure.
fn quoted(name: &str) -> String {
    if name.contains([',', ';', '\t', '|', '"', '\r', '\n', '\u{feff}']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}

fn as_text<'a>(file: &Path, bytes: &'a [u8]) -> Result<&'a str, DataError> {
    let not_text = |reason: String| DataError::NotText {
        path: file.to_path_buf(),
        reason,
    };
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return Err(not_text(format!("a zero byte at offset {at}")));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| not_text(format!("no UTF-8 at byte offset {}", error.valid_up_to())))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The candidate that occurs most often in the header, outside quotes; a comma when none does.
fn detect_delimiter(text: &str) -> u8 {
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

fn header(file: &Path, rows: &mut Rows<'_>) -> Result<Vec<String>, DataError> {
    if !rows.advance()? {
        return Err(DataError::EmptyFile {
            path: file.to_path_buf(),
        });
    }
    let names: Vec<String> = rows
        .record
        .iter()
        .map(|name| name.trim().to_string())
        .collect();
    // Whole numbers may be the default names of a data frame; other numbers are a first row.
    let all_numbers = names
        .iter()
        .all(|name| name.parse::<f64>().is_ok_and(f64::is_finite));
    if all_numbers && !names.iter().all(|name| name.parse::<u64>().is_ok()) {
        return Err(DataError::NoHeader {
            path: file.to_path_buf(),
        });
    }
    check_names(Some(file), &names)?;
    Ok(names)
}

fn check_width(names: &[String], rows: &Rows<'_>) -> Result<(), DataError> {
    if rows.record.len() != names.len() {
        return Err(DataError::Ragged {
            path: rows.file.to_path_buf(),
            line: rows.line,
            expected: names.len(),
            found: rows.record.len(),
        });
    }
    // With one column a blank line is an empty cell: skipping it would shift the rows.
    if names.len() == 1 && rows.blank_before {
        return Err(DataError::MissingValue {
            place: Place {
                file: Some(rows.file.to_path_buf()),
                column: names[0].clone(),
                position: Position::Line(rows.line - 1),
            },
            value: String::new(),
        });
    }
    Ok(())
}

/// A column on the first pass: its numbers, or the cell that shows that it has other things.
#[derive(Clone)]
enum Column {
    Number(Vec<f64>),
    Text {
        line: u64,
        value: String,
        cell: Cell,
    },
}

impl Column {
    fn push(&mut self, line: u64, value: &str) {
        match (Cell::of(value), self) {
            (Cell::Number(number), Column::Number(numbers)) => numbers.push(number),
            (Cell::Number(_), Column::Text { .. }) => {}
            // Text says more about a column than a gap above it does.
            (cell, Column::Text { cell: old, .. }) if cell != Cell::Text || *old == Cell::Text => {}
            (cell, this) => {
                *this = Column::Text {
                    line,
                    value: value.to_string(),
                    cell,
                }
            }
        }
    }
}

/// The second pass, for the columns that turned out to hold text: keeping every cell of every
/// column as a string until the end would multiply the memory of a table of numbers.
fn with_text(
    file: &Path,
    text: &str,
    delimiter: u8,
    columns: Vec<Column>,
) -> Result<Vec<RawColumn>, DataError> {
    let mut raw: Vec<RawColumn> = columns
        .into_iter()
        .map(|column| match column {
            Column::Number(numbers) => RawColumn::Number(numbers),
            Column::Text { line, value, .. } => RawColumn::Text {
                first_bad: (line, value),
                values: Vec::new(),
            },
        })
        .collect();
    if raw
        .iter()
        .all(|column| matches!(column, RawColumn::Number(_)))
    {
        return Ok(raw);
    }
    let mut rows = Rows::new(file, text, delimiter);
    rows.advance()?;
    while rows.advance()? {
        for (column, cell) in raw.iter_mut().zip(&rows.record) {
            if let RawColumn::Text { values, .. } = column {
                values.push(cell.trim().to_string());
            }
        }
    }
    Ok(raw)
}

/// The records of a text with their physical lines. The line numbers of the `csv` crate count
/// records after CRLF and blank lines differently from an editor, hence the own count.
struct Rows<'a> {
    file: &'a Path,
    text: &'a [u8],
    reader: Reader<&'a [u8]>,
    record: StringRecord,
    at: usize,
    line: u64,
    /// Whether a blank line stood between the last record and the one before it.
    blank_before: bool,
}

impl<'a> Rows<'a> {
    fn new(file: &'a Path, text: &'a str, delimiter: u8) -> Rows<'a> {
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
    fn advance(&mut self) -> Result<bool, DataError> {
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
