//! From the columns of a file to the engine's design.

use l0star::Design;
use l0star_data::{RawTable, Table};

use crate::failure::Failure;

/// The names of features and their design.
pub type Named = (Vec<String>, Design);

/// The features called `names`; the file is given up for them, so that memory holds one copy.
pub fn of_file<N: AsRef<str>>(raw: RawTable, names: &[N]) -> Result<Named, Failure> {
    if raw.is_sparse() {
        return of_sparse(&raw, names);
    }
    of_table(raw.into_numeric(names)?)
}

/// All columns of a table.
pub fn of_table(table: Table) -> Result<Named, Failure> {
    let (names, rows, values) = table.into_parts();
    let design = Design::dense(rows, names.len(), values)?;
    Ok((names, design))
}

/// Sparse columns stay sparse.
fn of_sparse<N: AsRef<str>>(raw: &RawTable, names: &[N]) -> Result<Named, Failure> {
    let (names, rows, indptr, indices, values) = raw.sparse(names)?.into_parts();
    let design = Design::sparse(rows, names.len(), indptr, indices, values)?;
    Ok((names, design))
}
