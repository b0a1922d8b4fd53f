//! Text on a terminal, with the same widths and escapes as in the command.

use pyo3::prelude::*;

/// Returns the number of terminal columns that a text takes.
#[pyfunction]
pub fn width(text: &str) -> usize {
    l0star_report::width::width(text)
}

/// Cuts a text to this many columns.
#[pyfunction]
pub fn cut(text: &str, columns: usize) -> String {
    l0star_report::width::cut(text, columns)
}

/// Returns a name in printable form, with control characters and invisible ones escaped.
#[pyfunction]
pub fn printable(text: &str) -> String {
    l0star_data::text::printable(text).into_owned()
}
