//! Columns in four bytes.

/// Columns as they are written.
pub(crate) fn narrow(columns: &[usize]) -> Vec<u32> {
    columns.iter().map(|j| *j as u32).collect()
}

/// Columns as they were written.
pub(crate) fn wide(columns: &[u32]) -> Vec<usize> {
    columns.iter().map(|j| *j as usize).collect()
}
