//! `l0star._core`: arrays in, numbers out. Users see the pure-Python package on top of it.
//!
//! The modules, each importing only from those above it:
//!
//! | module | its one job |
//! |---|---|
//! | `error` | errors as Python exceptions |
//! | `lock` | one process at a time writes a file |
//! | `text` | the width of a text on a terminal, and its printable form |
//! | `words` | the sentences of `l0star-report`, for the Python package |
//! | `about` | how features were made from columns, in the fields of a model file |
//! | `store` | the class `Columns`: a column store |
//! | `design` | a NumPy matrix of any layout, or a sparse one → the engine's columns, in one copy; those of a store in place |
//! | `rules` | the class `Rules`: constraints on the features |
//! | `solution` | the results, as classes |
//! | `tally` | the class `Tally`: the scores of cross-validation |
//! | `frame`, `model` | tables with text, missing values and dates; model files |
//! | `moments` | the class `Moments`: sums over rows |
//! | `survival` | times until an event, and how well scores order them |
//! | `report` | the HTML page of a result |
//! | `run` | one search next to a running interpreter: signals, callbacks, checkpoints, panics |
//! | `remote` | the cluster of a search, which is a Python object |
//! | `settings` | settings of a search as Python passes them |
//! | `problem` | the class `Problem`: checked data, to be solved for any k |
//! | `cv` | cross-validation |
//! | `explorer` | the class `Explorer`: the worker side of a search on a cluster |
//! | `_core` | the module as Python imports it |

mod about;
mod cv;
mod design;
mod error;
mod explorer;
mod frame;
mod lock;
mod model;
mod moments;
mod problem;
mod remote;
mod report;
mod rules;
mod run;
mod settings;
mod solution;
mod store;
mod survival;
mod tally;
mod text;
mod words;

use pyo3::pymodule;

/// The engine of l0star; use the package `l0star` instead.
// Nothing here relies on the GIL: classes are frozen, and the engine shares nothing between solves.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::cv::cross_validate;
    #[pymodule_export]
    use crate::error::CheckpointError;
    #[pymodule_export]
    use crate::explorer::Explorer;
    #[pymodule_export]
    use crate::frame::{Frame, Prepared};
    #[pymodule_export]
    use crate::lock::Lock;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::moments::Moments;
    #[pymodule_export]
    use crate::problem::{Problem, hold_out};
    #[pymodule_export]
    use crate::report::report;
    #[pymodule_export]
    use crate::rules::Rules;
    #[pymodule_export]
    use crate::solution::{Price, Solution};
    #[pymodule_export]
    use crate::store::{Columns, write_columns};
    #[pymodule_export]
    use crate::survival::concordance;
    #[pymodule_export]
    use crate::tally::Tally;
    #[pymodule_export]
    use crate::text::{cut, printable, width};
    #[pymodule_export]
    use crate::words::{
        advice, cost_note, counted, effect_notes, expectations, gap, headline, measures, percent,
        small_print, stability_words,
    };

    use l0star::loss::{self, Loss};
    use l0star::{Method, RelaxationKind, Status};
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Adds the engine's vocabulary, so that new losses and methods need no change here.
    #[pymodule_init]
    fn vocabulary(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let losses = |suits: fn(&dyn Loss) -> bool| {
            let is_one = |name: &&&str| loss::by_name(name, 1.0).is_ok_and(|loss| suits(&*loss));
            let names: Vec<&str> = loss::NAMES.iter().filter(is_one).copied().collect();
            PyTuple::new(module.py(), names)
        };
        module.add("REAL_LOSSES", losses(|loss| loss.response().is_numeric())?)?;
        module.add(
            "LABEL_LOSSES",
            losses(|loss| !loss.response().is_numeric())?,
        )?;
        module.add("TIME_LOSSES", PyTuple::new(module.py(), loss::JOINT_NAMES)?)?;
        module.add(
            "CLASS_LOSSES",
            PyTuple::new(module.py(), loss::CLASS_NAMES)?,
        )?;
        module.add("LOG_LINK_LOSSES", losses(|loss| loss.has_log_link())?)?;
        let words = |words: &[&str]| PyTuple::new(module.py(), words);
        module.add("METHODS", words(Method::WORDS)?)?;
        module.add("RELAXATIONS", words(RelaxationKind::WORDS)?)?;
        module.add("STATUSES", words(Status::WORDS)?)
    }
}
