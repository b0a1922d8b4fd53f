//! Lists whose lengths do not agree, and numbers that are not finite.

use crate::error::{Error, Result};

pub(super) fn check_length(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Shape {
        what: what.to_owned(),
        expected,
        found,
    })
}

pub(super) fn check_vector(what: &str, values: &[f64], rows: usize) -> Result<()> {
    check_length(&format!("the {what}"), values.len(), rows)?;
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(row) => Err(Error::NotFinite {
            row: row + 1,
            column: what.to_owned(),
            value: values[row],
        }),
    }
}
