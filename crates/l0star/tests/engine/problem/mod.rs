//! A problem that cannot be solved is refused with a message that says what to correct, and the parts of a valid one
//! mean what their documentation says.

mod equivalents;
mod refusals;

use l0star::problem::Builder;
use l0star::{Design, Problem};

const REAL: &[&str] = &["quadratic", "huber"];
const LABELS: &[&str] = &["logistic", "squared-hinge"];

/// Three rows, two columns called `age` and `height`.
fn small(response: &[f64]) -> Builder {
    let design = Design::dense(3, 2, vec![1.0, 2.0, 4.0, -1.0, 0.5, 2.0]).unwrap();
    Problem::builder(design, response.to_vec())
        .standardize(false)
        .names(vec!["age".to_owned(), "height".to_owned()])
}
