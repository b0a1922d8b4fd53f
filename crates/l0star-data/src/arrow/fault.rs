//! What is wrong with a Parquet or Arrow file.

use std::io;

use crate::caps::TooLarge;

/// What is wrong with a file.
pub(super) enum Fault {
    /// It contradicts its format, or itself.
    Damaged(String),
    /// It may be right, and is too much.
    TooLarge(TooLarge),
}

impl Fault {
    /// What a reader says of a file that it cannot read.
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
