//! CSV text to [`RawTable`], [`Table`] to CSV text.
//!
//! Accepted: a header line; `,` `;` tab or `|` between cells, found from the header; quoted
//! cells; LF or CRLF; a UTF-8 byte-order mark; blank lines. Blanks around a cell do not count.

mod rows;

use std::io::Write;
use std::path::Path;

use self::rows::{Rows, detect_delimiter};
use crate::error::DataError;
use crate::file::{read_bytes, write_atomically};
use crate::place::{Place, Position};
use crate::raw::{Cell, RawColumn, RawTable};
use crate::table::{Table, check_names};

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
