//! The error type of the command, with its exit codes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use l0star::Status;
use l0star_data::DataError;

/// Exit code: solved to the requested gap, or a heuristic finished.
pub const SOLVED: u8 = 0;
/// Exit code: stopped at a limit or at the limit of double precision; the best model is written.
pub const LIMIT: u8 = 4;
/// Exit code: interrupted by a signal; the best model is written.
pub const INTERRUPTED: u8 = 130;

/// Returns the exit code of a run whose searches ended with these statuses.
pub fn code(statuses: impl IntoIterator<Item = Status>) -> u8 {
    statuses.into_iter().fold(SOLVED, |code, status| {
        code.max(match status {
            Status::Interrupted => INTERRUPTED,
            status if status.falls_short() => LIMIT,
            _ => SOLVED,
        })
    })
}

const USAGE: u8 = 2;
const BAD_DATA: u8 = 3;

/// Reason why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A command line that asks for something impossible.
    #[error("{0}")]
    Usage(String),
    /// Columns that cannot have the role they were given, one line each.
    #[error("{}", .0.join("\n"))]
    Troubles(Vec<String>),
    /// Data that do not form a valid problem.
    #[error("{0}")]
    BadData(String),
    /// An error of a file, or of an argument of a generator.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An error of the engine.
    #[error(transparent)]
    Engine(#[from] l0star::Error),
    /// A checkpoint that does not belong to this search.
    #[error("{}: {reason}", file.display())]
    Resume {
        file: PathBuf,
        reason: l0star::Error,
    },
    /// An output that cannot be written.
    #[error("cannot write {what}: {reason}; {advice}")]
    Output {
        what: String,
        reason: std::io::Error,
        advice: &'static str,
    },
}

impl Failure {
    /// Adds the name of the file to the error, if it has none yet.
    pub fn in_file(self, file: &Path) -> Self {
        match self {
            Self::Data(error) => Self::Data(error.in_file(file)),
            other => other,
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) | Self::Output { .. } => USAGE,
            Self::BadData(_) | Self::Troubles(_) => BAD_DATA,
            Self::Data(error) => match error {
                DataError::Argument { .. }
                | DataError::DegenerateDraw { .. }
                | DataError::UnknownFormat { .. }
                | DataError::InUse { .. }
                | DataError::Io {
                    action: "write", ..
                } => USAGE,
                _ => BAD_DATA,
            },
            Self::Engine(error) | Self::Resume { reason: error, .. } => match error {
                l0star::Error::Setting { .. }
                | l0star::Error::Unknown { .. }
                | l0star::Error::Conflict { .. }
                | l0star::Error::NoSuchColumn { .. }
                | l0star::Error::TooManyIncluded { .. }
                | l0star::Error::Bounds { .. }
                | l0star::Error::Group { .. }
                | l0star::Error::Structured { .. }
                | l0star::Error::SeveralResponses { .. }
                | l0star::Error::SeveralScores { .. }
                | l0star::Error::Offsets { .. }
                | l0star::Error::Steep { .. }
                | l0star::Error::Coupled { .. }
                | l0star::Error::Intercept { .. }
                | l0star::Error::OtherSearch { .. }
                | l0star::Error::TooManySupports { .. } => USAGE,
                _ => BAD_DATA,
            },
        })
    }
}
