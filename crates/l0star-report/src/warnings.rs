//! Warnings about the data, for the user to read before they believe a model.

use l0star::problem::ColumnStats;
use l0star_data::counted;

use crate::face::Face;
use crate::moments;

pub use crate::moments::Data;

/// Warns about k in relation to the numbers of features and rows.
pub fn counts(k: usize, features: usize, rows: usize, intercept: bool) -> Option<String> {
    if k > features {
        return Some(format!(
            "k is {k}, more than the number of features ({features}): all of them may be in the model"
        ));
    }
    (k + usize::from(intercept) > rows).then(|| {
        format!(
            "k is {k}, and {} cannot tell so many coefficients apart: only the ridge decides between them; use a smaller k",
            counted(rows, "row")
        )
    })
}

/// Returns the warnings before a model with k features is fitted.
pub fn warnings(data: &Data, k: usize, face: Face) -> Vec<String> {
    let counts = counts(k, data.features, data.rows(), data.intercept);
    let mut warnings = Vec::from_iter(counts);
    let moments = ColumnStats::of(data.design, data.weights);
    warnings.extend(moments::constant(&moments, data, face));
    if !data.standardize {
        warnings.extend(moments::far_apart(&moments, data.names, face));
    }
    warnings.extend(moments::copies(&moments, data));
    warnings.extend(moments::near_copies(&moments, data, face));
    warnings
}
