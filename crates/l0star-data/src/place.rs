//! [`Place`]: the location of a cell in the data, and how a message shows it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::text;

/// Location of a cell in the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, when the data came from one.
    pub file: Option<PathBuf>,
    /// The name of the column.
    pub column: String,
    /// The line of a text file or the row of a table.
    pub position: Position,
}

/// The line or row of a [`Place`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The physical line of a text file; the first is 1.
    Line(u64),
    /// The row of a table without text; the first is 1.
    Row(usize),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Line(line) => write!(f, "line {line}"),
            Position::Row(row) => write!(f, "row {row}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", shown(file))?;
        }
        write!(f, "column '{}', {}", clip(&self.column), self.position)
    }
}

/// Shortens a cell or a name for a message, without hidden characters.
pub(crate) fn clip(value: &str) -> String {
    text::clip(value, 41)
}

/// Formats a path for a message, without hidden characters.
pub(crate) fn shown(path: &Path) -> String {
    text::printable(&path.display().to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_names_file_column_and_line() {
        let place = Place {
            file: Some(PathBuf::from("data.csv")),
            column: "city".into(),
            position: Position::Line(7),
        };
        assert_eq!(place.to_string(), "data.csv: column 'city', line 7");
        let place = Place {
            file: None,
            position: Position::Row(2),
            ..place
        };
        assert_eq!(place.to_string(), "column 'city', row 2");
    }

    #[test]
    fn files_and_columns_cannot_write_to_the_terminal() {
        let place = Place {
            file: Some(PathBuf::from("a\x1b[2J.csv")),
            column: "x\ny".into(),
            position: Position::Row(1),
        };
        assert_eq!(place.to_string(), r"a\u{1b}[2J.csv: column 'x\ny', row 1");
    }
}
