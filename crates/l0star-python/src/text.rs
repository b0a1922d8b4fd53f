//! How wide a text is on a terminal: as the command has it.

use l0star_report::width;
use pyo3::prelude::*;

/// The columns that a text takes.
#[pyfunction]
pub fn width(text: &str) -> usize {
    width::width(text)
}

/// The text in at most so many columns.
#[pyfunction]
pub fn cut(text: &str, columns: usize) -> String {
    width::cut(text, columns)
}
