//! Options of a reader that hands out a file piece by piece.

use crate::error::DataError;
use crate::raw::RawTable;

/// Receives the pieces of a file, and decides whether to continue.
pub type Each<'a> = &'a mut (dyn FnMut(RawTable) -> Result<bool, DataError> + Send);

/// The columns that are wanted from a file that is read piece by piece.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Only these columns; all of them if `None`.
    pub columns: Option<&'a [String]>,
    /// Columns that are read as text, whatever their first rows look like.
    pub texts: &'a [String],
}

/// Upper limit on the rows of a piece, so that its size is about `cells` cells whatever the number of columns.
pub(crate) fn piece_rows(columns: usize, cells: usize) -> usize {
    const ROWS: usize = 32 * 1024;
    (cells / columns.max(1)).clamp(1, ROWS)
}

/// How a column is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Skipped,
    Text,
    /// As its cells suggest.
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
