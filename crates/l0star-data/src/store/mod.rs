//! [`ColumnStore`]: the columns of a table in a file `.l0d` that is mapped into memory, not read.
//!
//! | bytes | what they are |
//! |---|---|
//! | 8 | `L0*COLS\n` |
//! | 4, 4 | the version, and the bytes of a number (8 or 4) |
//! | 8, 8, 8 | rows, columns, bytes of the description |
//! | … | the description: names and a note, as JSON |
//! | 32 each | a checksum (BLAKE3) of each column |
//! | 32 | a checksum of all the above |
//! | … | zeros up to a multiple of 4096 bytes, then the columns, each from a multiple of 64 bytes on |
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
/// The file must not be changed while the store is used. One that another process shortens in place ends this process (`SIGBUS`): that is how
/// memory maps are. Files that are replaced, as all files that this crate writes are, do no harm.
#[derive(Debug)]
pub struct ColumnStore {
    path: PathBuf,
    layout: Layout,
    note: String,
    map: Mmap,
    file: File,
    found: Metadata,
}

/// The entries of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entries<'a> {
    /// In double precision.
    Double(&'a [f64]),
    /// In single precision.
    Single(&'a [f32]),
}

impl ColumnStore {
    /// Whether a file begins like one of these; false for one that cannot be read.
    pub fn is_at(path: impl AsRef<Path>) -> bool {
        layout::is_at(path.as_ref())
    }

    /// Opens a file, having read all of it once to compare its checksums. `watch` is told how many bytes of how many have been read.
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

    /// Refuses the file if it was changed since it was opened.
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

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.layout.names
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.layout.names.len()
    }

    /// How numbers are stored.
    pub fn precision(&self) -> Precision {
        self.layout.precision
    }

    /// What was written beside the columns.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// Column `j`, counted from 0, as it lies in the file.
    ///
    /// # Panics
    /// When `j` is not below [`ColumnStore::columns`], like any slice.
    pub fn column(&self, j: usize) -> Entries<'_> {
        assert!(j < self.columns(), "column {j} of {}", self.columns());
        // All were looked at when the file was opened.
        self.entries(j).unwrap_or(Entries::Double(&[]))
    }

    /// Column `j` as doubles.
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
    // SAFETY: a map is sound as long as nobody changes or shortens the file, which no program can rule out. The documentation of
    // `ColumnStore` asks it of the user; this crate itself never changes a file in place, it replaces it.
    unsafe { Mmap::map(file) }
}
