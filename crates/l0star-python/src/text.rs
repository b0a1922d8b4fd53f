//! Text on a terminal, how wide it is and what of it may be shown: as the command has it.

use pyo3::prelude::*;

/// The columns that a text takes.
#[pyfunction]
pub fn width(text: &str) -> usize {
    l0star_report::width::width(text)
}

/// The text in at most so many columns.
#[pyfunction]
pub fn cut(text: &str, columns: usize) -> String {
    l0star_report::width::cut(text, columns)
}

/// A name as it may be printed: control characters and invisible ones are spelt out.
#[pyfunction]
pub fn printable(text: &str) -> String {
    l0star_data::text::printable(text).into_owned()
}
