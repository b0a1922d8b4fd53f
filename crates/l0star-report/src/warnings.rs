//! What a user should know of the data before they believe a model.

use l0star::problem::Moments;
use l0star_data::counted;

use crate::face::Face;
use crate::moments;

pub use crate::moments::Data;

/// What to say before a model with k features is fitted.
pub fn warnings(data: &Data, k: usize, face: Face) -> Vec<String> {
    let mut warnings = Vec::new();
    let (rows, features) = (data.rows(), data.features);
    if k > features {
        warnings.push(format!(
            "k is {k}, more than the number of features ({features}): all of them may be in the model"
        ));
    } else if k + usize::from(data.intercept) > rows {
        warnings.push(format!(
            "k is {k}, and {} cannot tell so many coefficients apart: only the ridge decides between them; use a smaller k",
            counted(rows, "row")
        ));
    }
    let moments = Moments::of(data.design, data.weights);
    warnings.extend(moments::constant(&moments, data, face));
    if !data.standardize {
        warnings.extend(moments::far_apart(&moments, data.names, face));
    }
    warnings.extend(moments::copies(&moments, data));
    warnings.extend(moments::near_copies(&moments, data, face));
    warnings
}
