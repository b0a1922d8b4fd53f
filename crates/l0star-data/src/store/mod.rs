//! [`ColumnStore`]: the columns of a table in an `.l0d` file, which is mapped into memory instead of read.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `L0*COLS\n` |
//! | 4, 4 | the version, and the bytes of a number (8 or 4) |
//! | 8, 8, 8 | rows, columns, bytes of the description |
//! | … | the description: names and a note, as JSON |
//! | 32 each | a checksum (BLAKE3) of each column |
//! | 32 | a checksum of all the above |
//! | … | zeros up to a multiple of 4096 bytes, then the columns, each starting at a multiple of 64 bytes |
//!
//! All numbers are little-endian.

mod layout;
mod read;
mod write;

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

pub(crate) use layout::MAGIC;
pub use layout::Precision;
use layout::{Layout, damaged};
pub(crate) use read::{read, stream};
pub use write::{Filling, Shape};

use crate::error::DataError;
use crate::source::Watch;

/// The columns of a file, in place.
///
/// The file must not be changed while the store is used. If another process shortens it in place, this process
/// ends (`SIGBUS`), as with any memory map. Replacing the file is harmless, and this crate only replaces files.
#[derive(Debug)]
pub struct ColumnStore {
    path: PathBuf,
    layout: Layout,
    note: String,
    map: Mmap,
    file: File,
    found: Metadata,
}

/// Entries of a column, in the stored precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entries<'a> {
    /// Entries in double precision.
    Double(&'a [f64]),
    /// Entries in single precision.
    Single(&'a [f32]),
}

impl ColumnStore {
    /// Whether a file begins like a column store; false for a file that cannot be read.
    pub fn is_at(path: impl AsRef<Path>) -> bool {
        layout::is_at(path.as_ref())
    }

    /// Opens a file after reading all of it once to compare its checksums. `watch` receives the number of
    /// bytes read and their total.
    pub fn open(path: impl AsRef<Path>, watch: Watch<'_>) -> Result<ColumnStore, DataError> {
        let path = path.as_ref();
        let reading = |reason| DataError::reading(path, reason);
        if path.is_dir() {
            return Err(DataError::IsFolder {
                path: path.to_path_buf(),
            });
        }
        let mut file = File::open(path).map_err(reading)?;
        let found = file.metadata().map_err(reading)?;
        let (layout, note) = layout::verify(path, &mut file, found.len(), watch)?;
        let map = map(&file).map_err(reading)?;
        let store = ColumnStore {
            path: path.to_path_buf(),
            layout,
            note,
            map,
            file,
            found,
        };
        store.check_unchanged()?;
        for j in 0..store.columns() {
            store.entries(j).ok_or_else(|| {
                damaged(path, "its columns cannot be mapped on this machine".into())
            })?;
        }
        Ok(store)
    }

    /// Fails if the file was changed after it was opened.
    pub fn check_unchanged(&self) -> Result<(), DataError> {
        let now = self.file.metadata();
        let now = now.map_err(|reason| DataError::reading(&self.path, reason))?;
        let time = |found: &Metadata| found.modified().ok();
        if now.len() == self.found.len() && time(&now) == time(&self.found) {
            return Ok(());
        }
        Err(DataError::WrongFormat {
            path: self.path.clone(),
            what: "was changed while it was used, so the result is of no known data; run it again"
                .into(),
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> &[String] {
        &self.layout.names
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.layout.names.len()
    }

    /// Returns the precision of the stored numbers.
    pub fn precision(&self) -> Precision {
        self.layout.precision
    }

    /// Returns the note that was stored with the columns.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// Returns column `j`, counted from 0, as it is stored in the file.
    ///
    /// # Panics
    /// If `j` is not below [`ColumnStore::columns`], like any slice.
    pub fn column(&self, j: usize) -> Entries<'_> {
        assert!(j < self.columns(), "column {j} of {}", self.columns());
        // All entries were checked when the file was opened.
        self.entries(j).unwrap_or(Entries::Double(&[]))
    }

    /// Returns column `j` as doubles.
    pub fn numbers(&self, j: usize) -> Vec<f64> {
        self.some_numbers(j, 0..self.rows())
    }

    fn some_numbers(&self, j: usize, rows: std::ops::Range<usize>) -> Vec<f64> {
        match self.column(j) {
            Entries::Double(values) => values[rows].to_vec(),
            Entries::Single(values) => values[rows].iter().copied().map(f64::from).collect(),
        }
    }

    fn entries(&self, j: usize) -> Option<Entries<'_>> {
        let start = self.layout.place(j);
        let bytes = self.map.get(start..start + self.layout.length())?;
        Some(match self.layout.precision {
            Precision::Double => Entries::Double(bytemuck::try_cast_slice(bytes).ok()?),
            Precision::Single => Entries::Single(bytemuck::try_cast_slice(bytes).ok()?),
        })
    }
}

#[expect(unsafe_code)]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: a map is sound as long as nobody changes or shortens the file, which no program can rule
    // out. The documentation of `ColumnStore` requires this of the user; this crate never changes a file
    // in place but replaces it.
    unsafe { Mmap::map(file) }
}
