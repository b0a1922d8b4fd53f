//! Writes columns row by row, whatever the number of rows: memory holds one piece of them.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use super::ColumnStore;
use super::layout::{Layout, Precision};
use crate::atomic::write_atomically;
use crate::error::DataError;
use crate::place::{Place, Position};
use crate::table::check_names;

/// Names, size and precision of a file to be written.
#[derive(Clone, Debug)]
pub struct Shape<'a> {
    /// The names of the columns.
    pub names: &'a [String],
    /// Total number of rows.
    pub rows: usize,
    /// Precision of the stored numbers.
    pub precision: Precision,
    /// Note to store with the columns.
    pub note: &'a str,
}

/// A file while its rows are added.
#[derive(Debug)]
pub struct Filling<'a> {
    path: &'a Path,
    file: &'a mut BufWriter<File>,
    layout: Layout,
    hashers: Vec<blake3::Hasher>,
    /// Number of rows written so far.
    rows: usize,
    bytes: Vec<u8>,
}

impl ColumnStore {
    /// Writes a file, whole or not at all; `fill` adds the rows piece by piece.
    pub fn write<E: From<DataError>>(
        path: impl AsRef<Path>,
        shape: &Shape<'_>,
        fill: impl FnOnce(&mut Filling<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = path.as_ref();
        let Shape {
            names,
            rows,
            precision,
            note,
        } = *shape;
        check_names(None, names)?;
        let Some((layout, mut head)) = Layout::new(names, rows, precision, note) else {
            let what = format!(
                "{rows} rows of {} columns are too many for a file",
                names.len()
            );
            return Err(unwritten(path, what).into());
        };
        let mut failure = None;
        let written = write_atomically(path, |file| {
            let mut filling = Filling {
                path,
                file,
                hashers: vec![blake3::Hasher::new(); names.len()],
                layout,
                rows: 0,
                bytes: Vec::new(),
            };
            let filled = fill(&mut filling).and_then(|()| Ok(filling.check_all()?));
            if let Err(error) = filled {
                failure = Some(error);
                return Err(io::Error::other("the rows could not be read"));
            }
            for hasher in &filling.hashers {
                head.extend_from_slice(hasher.finalize().as_bytes());
            }
            let seal = blake3::hash(&head);
            head.extend_from_slice(seal.as_bytes());
            let total = filling.layout.total().unwrap_or_default() as u64;
            filling.file.seek(SeekFrom::Start(0))?;
            filling.file.write_all(&head)?;
            filling.file.flush()?;
            // The end of the last column, padded to a full cache line.
            filling.file.get_ref().set_len(total)
        });
        match failure {
            Some(failure) => Err(failure),
            None => Ok(written?),
        }
    }
}

fn unwritten(path: &Path, what: String) -> DataError {
    DataError::WrongFormat {
        path: path.to_path_buf(),
        what: format!("was not written: {what}"),
    }
}

impl Filling<'_> {
    /// Adds rows: one slice per column, all of the same length.
    pub fn append(&mut self, columns: &[&[f64]]) -> Result<(), DataError> {
        let rows = columns.first().map_or(0, |first| first.len());
        if columns.len() != self.hashers.len() || columns.iter().any(|own| own.len() != rows) {
            let (found, expected) = (columns.len(), self.hashers.len());
            return Err(unwritten(
                self.path,
                format!(
                    "a piece has {found} columns, not all of {rows} rows, where {expected} are stored"
                ),
            ));
        }
        if rows > self.layout.rows - self.rows {
            return Err(self.changed());
        }
        for (j, values) in columns.iter().enumerate() {
            self.put(j, values)?;
        }
        self.rows += rows;
        Ok(())
    }

    fn put(&mut self, j: usize, values: &[f64]) -> Result<(), DataError> {
        self.bytes.clear();
        let precision = self.layout.precision;
        for (row, value) in values.iter().enumerate() {
            let is_kept = match precision {
                Precision::Double => value.is_finite(),
                Precision::Single => (*value as f32).is_finite(),
            };
            if !is_kept {
                return Err(self.refused(j, row, *value));
            }
            match precision {
                Precision::Double => self.bytes.extend_from_slice(&value.to_le_bytes()),
                Precision::Single => self.bytes.extend_from_slice(&(*value as f32).to_le_bytes()),
            }
        }
        let place = self.layout.place(j) + self.rows * precision.width();
        let written = self.file.seek(SeekFrom::Start(place as u64));
        let written = written.and_then(|_| self.file.write_all(&self.bytes));
        written.map_err(|reason| DataError::writing(self.path, reason))?;
        self.hashers[j].update(&self.bytes);
        Ok(())
    }

    fn refused(&self, j: usize, row: usize, value: f64) -> DataError {
        let column = self.layout.names[j].clone();
        if value.is_finite() {
            let row = self.rows + row + 1;
            return unwritten(
                self.path,
                format!(
                    "column '{column}', row {row}: {value:e} leaves the range of single precision; store doubles, without --f32"
                ),
            );
        }
        DataError::NotFinite {
            place: Place {
                file: None,
                column,
                position: Position::Row(self.rows + row + 1),
            },
            value: value.to_string(),
        }
    }

    /// Fails unless all rows were added.
    fn check_all(&self) -> Result<(), DataError> {
        if self.rows > 0 && self.rows == self.layout.rows {
            return Ok(());
        }
        Err(self.changed())
    }

    fn changed(&self) -> DataError {
        unwritten(
            self.path,
            format!(
                "there are other rows than the {} that were counted before, so the data changed while they were read; run it again",
                self.layout.rows
            ),
        )
    }
}
