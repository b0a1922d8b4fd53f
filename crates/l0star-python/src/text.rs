//! How wide a text is on a terminal: as the command has it.

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
