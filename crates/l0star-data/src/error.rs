//! [`DataError`]: one sentence each, saying what is wrong, where, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::place::{Place, shown};

/// Everything that can be wrong with data, files and generator arguments.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused to read or write a file.
    #[error("cannot {action} '{}': {reason}; {advice}", shown(path))]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        reason: io::Error,
        /// What to do.
        advice: &'static str,
    },

    /// Another process writes the file.
    #[error(
        "'{}' is in use by another run; wait until that one has ended, or choose another file",
        shown(path)
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },

    /// A folder was given where a file belongs.
    #[error("'{}' is a folder; give the path of a file", shown(path))]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },

    /// The extension names no format that can be written.
    #[error(
        "cannot tell the format of '{}' from its extension; use one of .csv, .npy, .npz, .tsv, .parquet, .arrow, .libsvm, or .csv.gz and the like",
        shown(path)
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },

    /// Bytes that are no UTF-8 text.
    #[error(
        "'{}' is not a text file ({reason}); save it as CSV in UTF-8",
        shown(path)
    )]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first thing that showed it.
        reason: String,
    },

    /// A file of no bytes, or of blank lines.
    #[error("'{}' is empty; it needs at least one row of numbers", shown(path))]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },

    /// A header with nothing below it.
    #[error(
        "'{}' has a header but no rows; add at least one row of numbers",
        shown(path)
    )]
    NoRows {
        /// The file.
        path: PathBuf,
    },

    /// A row with too few or too many cells.
    #[error(
        "{}: line {line} has {found} cells but the header has {expected}; look for a missing, extra or unquoted delimiter",
        shown(path)
    )]
    Ragged {
        /// The file.
        path: PathBuf,
        /// Physical line; the header is usually line 1.
        line: u64,
        /// Cells in the header.
        expected: usize,
        /// Cells in this row.
        found: usize,
    },

    /// A column without a name.
    #[error("{}column {position} has no name; name every column", prefix(file))]
    EmptyName {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// Which column; the first is 1.
        position: usize,
    },

    /// Two columns of one name.
    #[error(
        "{}columns {first} and {second} are both named '{name}'; rename one of them",
        prefix(file)
    )]
    DuplicateName {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// The name.
        name: String,
        /// Position of the first; the leftmost column is 1.
        first: usize,
        /// Position of the second.
        second: usize,
    },

    /// Text where a number is needed.
    #[error("{place}: '{value}' is not a number; {advice}")]
    NotANumber {
        /// The cell.
        place: Place,
        /// What stands there.
        value: String,
        /// What to do.
        advice: String,
    },

    /// An empty cell, `NA`, `NaN` or `null`.
    #[error("{place}: missing value ('{value}'); fill it in, or drop the row or the column")]
    MissingValue {
        /// The cell.
        place: Place,
        /// What stands there.
        value: String,
    },

    /// Missing cells, counted by column.
    #[error("{place}: missing value {found}; {advice}")]
    MissingValues {
        /// The first one.
        place: Place,
        /// What stands there, and how many there are in which column, for the reader.
        found: String,
        /// What to do.
        advice: &'static str,
    },

    /// Columns that a model needs.
    #[error(
        "{} lacks {absent} of the {needed} columns that the model needs: {columns}; rename or add them (l0star inspect lists what a file has)",
        shown(path)
    )]
    Lacks {
        /// The file.
        path: PathBuf,
        /// How many it lacks.
        absent: usize,
        /// How many are needed.
        needed: usize,
        /// Which, each with the nearest names, as a list for the reader.
        columns: String,
    },

    /// An infinite number, or a NaN in binary data.
    #[error(
        "{place}: '{value}' is not finite; replace it by a finite number, or drop the row or the column"
    )]
    NotFinite {
        /// The cell.
        place: Place,
        /// What stands there.
        value: String,
    },

    /// A name that no column has.
    #[error(
        "{}there is no column '{name}'{}; the columns are {available}",
        prefix(file),
        did_you_mean(close)
    )]
    NoSuchColumn {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// The name that was asked for.
        name: String,
        /// The nearest names, best first.
        close: Vec<String>,
        /// The first columns, as a list for the reader.
        available: String,
    },

    /// A pattern or number that means no column.
    #[error(
        "{}'{item}' chooses no column: {why}; see the columns with l0star inspect",
        prefix(file)
    )]
    NoMatch {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// What was asked for.
        item: String,
        /// Why nothing fits it.
        why: String,
    },

    /// A binary target that never varies.
    #[error(
        "{}column '{column}' has the single label '{label}'; a classifier needs a target with two labels",
        prefix(file)
    )]
    OneLabel {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// The target.
        column: String,
        /// Its only label.
        label: String,
    },

    /// A target of more than two labels.
    #[error(
        "{}column '{column}' has {count} labels ({first}); a classifier needs exactly two, so merge some or choose a regression loss",
        prefix(file)
    )]
    ManyLabels {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// The target.
        column: String,
        /// How many labels there are.
        count: usize,
        /// The first few, for the reader.
        first: String,
    },

    /// A label that a model does not know.
    #[error(
        "{place}: '{value}' is neither '{}' nor '{}', the labels of the model; correct it, or drop the row",
        labels[0],
        labels[1]
    )]
    OtherLabel {
        /// The cell.
        place: Place,
        /// What stands there.
        value: String,
        /// The labels that are known.
        labels: Box<[String; 2]>,
    },

    /// Lengths that do not agree, or a table without cells.
    #[error("{what}; a table needs at least one row and one column, and rows x columns values")]
    Shape {
        /// What was found.
        what: String,
    },

    /// A file that is damaged, or holds something that its format allows and we do not.
    #[error("'{}' cannot be read as {format}: {reason}", shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What it was taken for.
        format: String,
        /// What is wrong and what to do.
        reason: String,
    },

    /// A file that is not what it should be.
    #[error("'{}' {what}", shown(path))]
    WrongFormat {
        /// The file.
        path: PathBuf,
        /// What it is, and what to do.
        what: String,
    },

    /// A line that breaks the rules of its format.
    #[error("{}: line {line}: {what}", shown(path))]
    Line {
        /// The file.
        path: PathBuf,
        /// Physical line; the first is 1.
        line: u64,
        /// What is wrong and what to do.
        what: String,
    },

    /// A record of text that is longer than any table's.
    #[error(
        "{}: the record that starts on line {line} has more than {most} bytes; look for a quote that is never closed, \
         or a file that is no table",
        shown(path)
    )]
    LongRecord {
        /// The file.
        path: PathBuf,
        /// Where the record starts.
        line: u64,
        /// How long a record may be.
        most: usize,
    },

    /// A first line with more cells than any table's.
    #[error(
        "{}: its first line has more than {most} cells; look for a file that is no table",
        shown(path)
    )]
    ManyColumns {
        /// The file.
        path: PathBuf,
        /// How many columns a table may have.
        most: usize,
    },

    /// A cell in quotes that never ends.
    #[error(
        "{}: the quote that opens on line {line} is never closed; close it, or double quotes inside a cell",
        shown(path)
    )]
    UnclosedQuote {
        /// The file.
        path: PathBuf,
        /// Where the record with the quote starts.
        line: u64,
    },

    /// An argument out of its range.
    #[error("{name} = {value} is not allowed: {rule}")]
    Argument {
        /// The argument.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        rule: String,
    },

    /// The drawn labels are all the same.
    #[error(
        "the logistic instance with seed {seed} has only the label {label}; use another seed or a larger n"
    )]
    DegenerateDraw {
        /// The seed.
        seed: u64,
        /// The only label drawn.
        label: f64,
    },
}

impl DataError {
    /// A file that could not be read, with what to do about it.
    pub fn reading(path: &Path, reason: io::Error) -> DataError {
        let advice = match reason.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::PermissionDenied => "check the permissions of the file",
            io::ErrorKind::OutOfMemory => "free some memory, or give fewer rows or columns",
            _ => "check the file and try again",
        };
        DataError::Io {
            action: "read",
            path: path.to_path_buf(),
            reason,
            advice,
        }
    }

    pub(crate) fn writing(path: &Path, reason: io::Error) -> DataError {
        let advice = match reason.kind() {
            io::ErrorKind::NotFound => "create the folder first",
            io::ErrorKind::PermissionDenied => "choose a folder that you may write to",
            _ => "choose another place or free some space",
        };
        DataError::Io {
            action: "write",
            path: path.to_path_buf(),
            reason,
            advice,
        }
    }

    pub(crate) fn argument(
        name: &'static str,
        value: impl fmt::Display,
        rule: impl Into<String>,
    ) -> DataError {
        DataError::Argument {
            name,
            value: value.to_string(),
            rule: rule.into(),
        }
    }

    /// Names the file in which the error happened, if it does not yet.
    pub fn in_file(mut self, path: &Path) -> DataError {
        match &mut self {
            DataError::NotFinite {
                place: Place { file, .. },
                ..
            }
            | DataError::EmptyName { file, .. }
            | DataError::DuplicateName { file, .. }
            | DataError::NoSuchColumn { file, .. }
            | DataError::NoMatch { file, .. }
            | DataError::OneLabel { file, .. }
            | DataError::ManyLabels { file, .. } => {
                file.get_or_insert_with(|| path.to_path_buf());
            }
            _ => {}
        }
        self
    }
}

fn prefix(file: &Option<PathBuf>) -> String {
    file.as_ref()
        .map_or(String::new(), |path| format!("{}: ", shown(path)))
}

pub(crate) fn did_you_mean(close: &[String]) -> String {
    if close.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = close.iter().map(|name| format!("'{name}'")).collect();
    format!(" (did you mean {}?)", quoted.join(" or "))
}
