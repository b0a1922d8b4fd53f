//! From the columns of a file to the engine's design.

use l0star::Design;
use l0star_data::{RawTable, Table};

use crate::failure::Failure;

/// The names of features and their design.
pub type Named = (Vec<String>, Design);

/// A sparse file is filled up with its zeros up to this many bytes.
const DENSE_LIMIT: usize = 4 << 30;

/// The features called `names`; the file is given up for them, so that memory holds one copy.
pub fn of_file<N: AsRef<str>>(raw: RawTable, names: &[N]) -> Result<Named, Failure> {
    if raw.is_sparse() {
        return of_sparse(raw, names);
    }
    of_table(raw.into_numeric(names)?)
}

/// All columns of a table.
pub fn of_table(table: Table) -> Result<Named, Failure> {
    let (names, rows, values) = table.into_parts();
    let design = Design::dense(rows, names.len(), values)?;
    Ok((names, design))
}

/// The seam to a sparse engine, and the only place that makes a sparse file dense. With a
/// `Design::sparse` this becomes `raw.sparse(names)?.into_parts()` handed over as it is, and
/// `DENSE_LIMIT` goes.
fn of_sparse<N: AsRef<str>>(raw: RawTable, names: &[N]) -> Result<Named, Failure> {
    let bytes = raw
        .rows()
        .checked_mul(names.len())
        .and_then(|cells| cells.checked_mul(size_of::<f64>()));
    if bytes.is_none_or(|bytes| bytes > DENSE_LIMIT) {
        return Err(Failure::BadData(format!(
            "{}: {} rows x {} features are too many to fill up with zeros; choose fewer with --features or --drop",
            raw.file().display(),
            raw.rows(),
            names.len()
        )));
    }
    of_table(raw.sparse(names)?.to_dense()?)
}
