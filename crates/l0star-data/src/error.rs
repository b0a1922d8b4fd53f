//! [`DataError`]: one sentence per error, which says what is wrong, where, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::place::{Place, shown};

/// Every error in data, files and generator arguments.
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
        /// The reason that the operating system gave.
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

    /// A folder was given instead of a file.
    #[error("'{}' is a folder; give the path of a file", shown(path))]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },

    /// The extension does not name a format that can be written.
    #[error(
        "cannot tell the format of '{}' from its extension; use one of .csv, .npy, .npz, .tsv, .parquet, .arrow, .libsvm, or .csv.gz and the like",
        shown(path)
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },

    /// Bytes that are not UTF-8 text.
    #[error(
        "'{}' is not a text file ({reason}); save it as CSV in UTF-8",
        shown(path)
    )]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first sign of it.
        reason: String,
    },

    /// A file of no bytes, or of blank lines only.
    #[error("'{}' is empty; it needs at least one row of numbers", shown(path))]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },

    /// A header without rows.
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
        /// The physical line; the header is usually line 1.
        line: u64,
        /// The number of cells in the header.
        expected: usize,
        /// The number of cells in this row.
        found: usize,
    },

    /// A column without a name.
    #[error("{}column {position} has no name; name every column", prefix(file))]
    EmptyName {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// The position of the column; the first is 1.
        position: usize,
    },

    /// Two columns with the same name.
    #[error(
        "{}columns {first} and {second} are both named '{name}'; rename one of them",
        prefix(file)
    )]
    DuplicateName {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// The name.
        name: String,
        /// The position of the first of them; the leftmost column is 1.
        first: usize,
        /// The position of the second.
        second: usize,
    },

    /// Text where a number is needed.
    #[error("{place}: '{value}' is not a number; {advice}")]
    NotANumber {
        /// The cell.
        place: Place,
        /// The text of the cell.
        value: String,
        /// What to do.
        advice: String,
    },

    /// An empty cell, `NA`, `NaN` or `null`.
    #[error("{place}: missing value ('{value}'); fill it in, or drop the row or the column")]
    MissingValue {
        /// The cell.
        place: Place,
        /// The text of the cell.
        value: String,
    },

    /// Missing cells, counted by column.
    #[error("{place}: missing value {found}; {advice}")]
    MissingValues {
        /// The first missing cell.
        place: Place,
        /// The text of that cell, and the count of missing cells per column, for the reader.
        found: String,
        /// What to do.
        advice: &'static str,
    },

    /// Columns that a model needs but the file lacks.
    #[error(
        "{} lacks {absent} of the {needed} columns that the model needs: {columns}; rename or add them (l0star inspect lists what a file has)",
        shown(path)
    )]
    Lacks {
        /// The file.
        path: PathBuf,
        /// The number of missing columns.
        absent: usize,
        /// The number of columns that the model needs.
        needed: usize,
        /// The missing columns, each with the nearest names, as a list for the reader.
        columns: String,
    },

    /// An infinite number, or a NaN in binary data.
    #[error(
        "{place}: '{value}' is not finite; replace it by a finite number, or drop the row or the column"
    )]
    NotFinite {
        /// The cell.
        place: Place,
        /// The text of the cell.
        value: String,
    },

    /// A name that belongs to no column.
    #[error(
        "{}there is no column '{name}'{}; the columns are {available}",
        prefix(file),
        did_you_mean(close)
    )]
    NoSuchColumn {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// The requested name.
        name: String,
        /// The nearest names, best first.
        close: Vec<String>,
        /// The first columns, as a list for the reader.
        available: String,
    },

    /// A pattern or number that matches no column.
    #[error(
        "{}'{item}' chooses no column: {why}; see the columns with l0star inspect",
        prefix(file)
    )]
    NoMatch {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// The requested item.
        item: String,
        /// Why nothing matches it.
        why: String,
    },

    /// A binary target with only one label.
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

    /// A target with more than two labels.
    #[error(
        "{}column '{column}' has {count} labels ({first}); a classifier needs exactly two, so merge some or choose a regression loss",
        prefix(file)
    )]
    ManyLabels {
        /// The file, when there is one.
        file: Option<PathBuf>,
        /// The target.
        column: String,
        /// The number of labels.
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
        /// The text of the cell.
        value: String,
        /// The known labels.
        labels: Box<[String; 2]>,
    },

    /// Lengths that do not agree, or a table without cells.
    #[error("{what}; a table needs at least one row and one column, and rows x columns values")]
    Shape {
        /// What was found.
        what: String,
    },

    /// A file that is damaged, or uses a feature of its format that is not supported.
    #[error("'{}' cannot be read as {format}: {reason}", shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The format that it was read as.
        format: String,
        /// What is wrong and what to do.
        reason: String,
    },

    /// A file of the wrong kind.
    #[error("'{}' {what}", shown(path))]
    WrongFormat {
        /// The file.
        path: PathBuf,
        /// What it is, and what to do.
        what: String,
    },

    /// A line that violates its format.
    #[error("{}: line {line}: {what}", shown(path))]
    Line {
        /// The file.
        path: PathBuf,
        /// The physical line; the first is 1.
        line: u64,
        /// What is wrong and what to do.
        what: String,
    },

    /// A text record that is longer than allowed.
    #[error(
        "{}: the record that starts on line {line} has more than {most} bytes; look for a quote that is never closed, \
         or a file that is no table",
        shown(path)
    )]
    LongRecord {
        /// The file.
        path: PathBuf,
        /// The line where the record starts.
        line: u64,
        /// The limit on the bytes of a record.
        most: usize,
    },

    /// A first line with more cells than allowed.
    #[error(
        "{}: its first line has more than {most} cells; look for a file that is no table",
        shown(path)
    )]
    ManyColumns {
        /// The file.
        path: PathBuf,
        /// The limit on the columns of a table.
        most: usize,
    },

    /// A quoted cell that never ends.
    #[error(
        "{}: the quote that opens on line {line} is never closed; close it, or double quotes inside a cell",
        shown(path)
    )]
    UnclosedQuote {
        /// The file.
        path: PathBuf,
        /// The line where the record with the quote starts.
        line: u64,
    },

    /// An argument out of its range.
    #[error("{name} = {value} is not allowed: {rule}")]
    Argument {
        /// The argument.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The allowed values.
        rule: String,
    },

    /// All drawn labels are equal.
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
    /// Creates the error for a file that could not be read, with what to do about it.
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

    /// Adds the file in which the error happened, if none is named yet.
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
