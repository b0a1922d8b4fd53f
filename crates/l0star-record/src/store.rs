//! [`StoreFile`]: a column store (`.l0d`) as the engine's design, with everything that a model needs
//! to know about its columns.

use std::path::Path;
use std::sync::Arc;

use l0star::Design;
use l0star::problem::{Numbers, SharedColumns};
use l0star_data::store::Entries;
use l0star_data::{ColumnStore, DataError, Watch};

use crate::moments::About;

/// Columns in a file, with a description.
#[derive(Clone, Debug)]
pub struct StoreFile {
    columns: Arc<Columns>,
    /// How the columns were made.
    pub about: About,
}

#[derive(Debug)]
struct Columns(ColumnStore);

impl SharedColumns for Columns {
    fn column(&self, index: usize) -> Numbers<'_> {
        match self.0.column(index) {
            Entries::Double(values) => Numbers::Double(values),
            Entries::Single(values) => Numbers::Single(values),
        }
    }
}

impl StoreFile {
    /// Opens a file; `watch` receives how much of it has been checked.
    pub fn open(path: impl AsRef<Path>, watch: Watch<'_>) -> Result<Self, DataError> {
        let store = ColumnStore::open(path, watch)?;
        let about = match store.note() {
            "" => About::default(),
            note => serde_json::from_str(note).map_err(|error| DataError::WrongFormat {
                path: store.path().to_path_buf(),
                what: format!(
                    "is no column store that can be read: its description is damaged ({error})"
                ),
            })?,
        };
        Ok(Self {
            columns: Arc::new(Columns(store)),
            about,
        })
    }

    /// Returns the column store.
    pub fn store(&self) -> &ColumnStore {
        &self.columns.0
    }

    /// Returns some columns as a design, in place.
    pub fn design(&self, columns: &[usize]) -> l0star::Result<Design> {
        let owner: Arc<dyn SharedColumns> = Arc::clone(&self.columns) as _;
        Design::shared(self.store().rows(), columns, owner)
    }
}
