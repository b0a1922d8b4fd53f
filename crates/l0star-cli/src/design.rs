//! From the columns of a file to the engine's design.

use l0star::Design;
use l0star_data::{RawTable, Table};

use crate::failure::Failure;

/// Feature names with their design.
pub type Named = (Vec<String>, Design);

/// Builds the design of the features `names`. It consumes the table, so that memory holds only one copy.
pub fn of_file<N: AsRef<str>>(raw: RawTable, names: &[N]) -> Result<Named, Failure> {
    if raw.is_sparse() {
        return of_sparse(&raw, names);
    }
    of_table(raw.into_numeric(names)?)
}

/// Builds a dense design from all columns of a table.
pub fn of_table(table: Table) -> Result<Named, Failure> {
    let (names, rows, values) = table.into_parts();
    let design = Design::dense(rows, names.len(), values)?;
    Ok((names, design))
}

/// Builds a sparse design, so that sparse columns stay sparse.
fn of_sparse<N: AsRef<str>>(raw: &RawTable, names: &[N]) -> Result<Named, Failure> {
    let (names, rows, indptr, indices, values) = raw.sparse(names)?.into_parts();
    let design = Design::sparse(rows, names.len(), indptr, indices, values)?;
    Ok((names, design))
}
