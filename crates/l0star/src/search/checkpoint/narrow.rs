//! Columns as 32-bit numbers.

/// Converts columns to the width in which they are written.
pub(crate) fn narrow(columns: &[usize]) -> Vec<u32> {
    columns.iter().map(|j| *j as u32).collect()
}

/// Converts columns back from the width in which they are written.
pub(crate) fn wide(columns: &[u32]) -> Vec<usize> {
    columns.iter().map(|j| *j as usize).collect()
}
