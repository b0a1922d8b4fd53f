//! [`Frame`]: named columns of numbers and of text, to be written.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;

use crate::atomic::write_atomically;
use crate::column::Cell;
use crate::csv::{quoted, write_float};
use crate::error::DataError;
use crate::format::{Format, extension};
use crate::table::Table;
use crate::{arrow, libsvm, npy, npz};

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values<'a> {
    /// Numbers.
    Numbers(Cow<'a, [f64]>),
    /// Text.
    Texts(Cow<'a, [String]>),
}

/// Columns of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame<'a> {
    columns: Vec<(Cow<'a, str>, Values<'a>)>,
    rows: usize,
}

impl<'a> Frame<'a> {
    /// No columns yet, of so many rows.
    pub fn new(rows: usize) -> Frame<'a> {
        Frame {
            columns: Vec::new(),
            rows,
        }
    }

    /// One more column.
    ///
    /// # Panics
    /// When it has not as many cells as the frame has rows.
    pub fn push(&mut self, name: impl Into<Cow<'a, str>>, values: Values<'a>) {
        let cells = match &values {
            Values::Numbers(values) => values.len(),
            Values::Texts(values) => values.len(),
        };
        assert_eq!(cells, self.rows, "a column of another length");
        self.columns.push((name.into(), values));
    }

    /// The columns with their names.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&str, &Values<'a>)> {
        let columns = self.columns.iter();
        columns.map(|(name, values)| (name.as_ref(), values))
    }

    /// The same columns with texts that no spreadsheet runs as a formula: an apostrophe is put before those that begin with
    /// `=`, `+`, `-`, `@`, a tab or a line break. Texts that are numbers stay as they are.
    pub fn without_formulas(mut self) -> Frame<'a> {
        let starts = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
        let is_formula = |text: &String| {
            text.starts_with(starts) && !matches!(Cell::of(text.trim()), Cell::Number(_))
        };
        for (_, values) in &mut self.columns {
            if let Values::Texts(texts) = values
                && texts.iter().any(is_formula)
            {
                for text in texts.to_mut().iter_mut().filter(|text| is_formula(text)) {
                    text.insert(0, '\'');
                }
            }
        }
        self
    }

    /// Delimited text with a header; numbers read back to the same bits.
    pub fn write_text(&self, out: &mut dyn Write, delimiter: char) -> io::Result<()> {
        let mut between = [0; 4];
        let between = delimiter.encode_utf8(&mut between).as_bytes();
        let header: Vec<String> = self.columns().map(|(name, _)| quoted(name)).collect();
        writeln!(out, "{}", header.join(&delimiter.to_string()))?;
        for row in 0..self.rows {
            for (j, (_, values)) in self.columns.iter().enumerate() {
                if j > 0 {
                    out.write_all(between)?;
                }
                match values {
                    Values::Numbers(values) => write_float(out, values[row])?,
                    Values::Texts(values) => out.write_all(quoted(&values[row]).as_bytes())?,
                }
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl<'a> From<&'a Table> for Frame<'a> {
    fn from(table: &'a Table) -> Frame<'a> {
        let mut frame = Frame::new(table.rows());
        for (j, name) in table.names().iter().enumerate() {
            frame.push(name, Values::Numbers(table.column(j).into()));
        }
        frame
    }
}

/// Writes the format that the extension names, text compressed when `.gz` or `.zst` follows.
/// NumPy matrices and LIBSVM files carry no names; there the last column is the target.
pub fn save(path: impl AsRef<Path>, table: &Table) -> Result<(), DataError> {
    let path = path.as_ref();
    let last = path.extension().and_then(|last| last.to_str());
    match (Format::of_name(path), last) {
        (Some(Format::Libsvm), _) => write_packed(path, |out| libsvm::write(out, table)),
        (_, Some("gz" | "zst" | "zstd")) => save_frame(path, &Frame::from(table)),
        (Some(Format::Npy), _) => npy::write_npy(path, table),
        (Some(Format::Npz), _) => write_atomically(path, |out| npz::write(out, table)),
        _ => save_frame(path, &Frame::from(table)),
    }
}

/// Writes delimited text, Parquet or Arrow, by the extension, text compressed when `.gz` or
/// `.zst` follows.
pub fn save_frame(path: impl AsRef<Path>, frame: &Frame<'_>) -> Result<(), DataError> {
    let path = path.as_ref();
    let unknown = || DataError::UnknownFormat {
        path: path.to_path_buf(),
    };
    let last = path.extension().and_then(|last| last.to_str());
    match (Format::of_name(path).ok_or_else(unknown)?, last) {
        (Format::Csv, _) => {
            let is_tsv = extension(path).is_some_and(|extension| extension != "csv");
            let delimiter = if is_tsv { '\t' } else { ',' };
            write_packed(path, |out| frame.write_text(out, delimiter))
        }
        (_, Some("gz" | "zst" | "zstd")) => Err(unknown()),
        (Format::Parquet, _) => write_atomically(path, |out| arrow::write_parquet(out, frame)),
        (Format::Arrow, _) => write_atomically(path, |out| arrow::write_ipc(out, frame)),
        (Format::Npy | Format::Npz | Format::Libsvm, _) => Err(unknown()),
    }
}

/// Text, compressed when the name ends in `.gz` or `.zst`.
fn write_packed(
    path: &Path,
    text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    match path.extension().and_then(|last| last.to_str()) {
        Some("gz") => write_atomically(path, |out| {
            let mut packed = GzEncoder::new(out, flate2::Compression::default());
            text(&mut packed)?;
            packed.finish().map(|_| ())
        }),
        Some("zst" | "zstd") => write_atomically(path, |out| {
            let mut packed = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            packed.include_checksum(true)?;
            text(&mut packed)?;
            packed.finish().map(|_| ())
        }),
        _ => write_atomically(path, |out| text(out)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_neutralised_and_numbers_are_not() {
        let texts = [
            "=1+1", "+cmd", "-2.5", "@x", "\tx", "a=b", "-", "1e3", "'", "",
        ];
        let mut frame = Frame::new(texts.len());
        let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        frame.push("=name", Values::Texts(texts.into()));
        frame.push("z", Values::Numbers(vec![-1.0; 10].into()));
        let safe = frame.clone().without_formulas();
        let shown: Vec<_> = safe.columns().map(|(_, values)| values.clone()).collect();
        let Values::Texts(texts) = &shown[0] else {
            panic!("text")
        };
        let expected = [
            "'=1+1", "'+cmd", "-2.5", "'@x", "'\tx", "a=b", "'-", "1e3", "'", "",
        ];
        assert_eq!(texts[..], expected);
        assert_eq!(shown[1], Values::Numbers(vec![-1.0; 10].into()));
    }

    #[test]
    fn text_is_quoted_where_it_must_be() {
        let mut frame = Frame::new(2);
        frame.push("z", Values::Numbers(vec![1.5, 1e300].into()));
        frame.push("l", Values::Texts(vec!["a,b".into(), "c".into()].into()));
        let mut out = Vec::new();
        frame.write_text(&mut out, ',').unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "z,l\n1.5,\"a,b\"\n1e300,c\n"
        );
    }
}
