//! What a reader that hands out a file piece by piece is told.

use crate::error::DataError;
use crate::raw::RawTable;

/// Takes the pieces of a file, and says whether to go on.
pub type Each<'a> = &'a mut (dyn FnMut(RawTable) -> Result<bool, DataError> + Send);

/// Which columns are wanted of a file that is read piece by piece.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// These alone; all where nothing is said.
    pub columns: Option<&'a [String]>,
    /// Columns that are text, whatever their first rows look like.
    pub texts: &'a [String],
}

/// Rows of a piece of a file with so many columns, at most: as many as have so many cells, whatever the number of columns.
pub(crate) fn piece_rows(columns: usize, cells: usize) -> usize {
    const ROWS: usize = 32 * 1024;
    (cells / columns.max(1)).clamp(1, ROWS)
}

/// What a column is wanted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Skipped,
    Text,
    /// As it looks.
    Any,
}

impl Wanted<'_> {
    pub(crate) fn kind(&self, name: &str) -> Kind {
        let is = |names: &[String]| names.iter().any(|own| own == name);
        match self.columns {
            Some(columns) if !is(columns) => Kind::Skipped,
            _ if is(self.texts) => Kind::Text,
            _ => Kind::Any,
        }
    }
}
