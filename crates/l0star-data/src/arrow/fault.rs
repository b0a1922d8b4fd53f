//! Errors in a Parquet or Arrow file.

use std::io;

use crate::caps::TooLarge;

/// An error in a file.
pub(super) enum Fault {
    /// The file contradicts its format, or itself.
    Damaged(String),
    /// The file may be valid, but is too large.
    TooLarge(TooLarge),
}

impl Fault {
    /// Wraps what a reader says about a file that it cannot read.
    pub(super) fn damaged(reason: impl ToString) -> Fault {
        Fault::Damaged(reason.to_string())
    }
}

impl From<TooLarge> for Fault {
    fn from(cap: TooLarge) -> Fault {
        Fault::TooLarge(cap)
    }
}

impl From<io::Error> for Fault {
    fn from(reason: io::Error) -> Fault {
        match TooLarge::behind(&reason) {
            Some(cap) => Fault::TooLarge(cap),
            None => Fault::damaged(reason),
        }
    }
}
