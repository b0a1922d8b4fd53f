//! Errors as Python exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use l0star_report::text::printable;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    l0star._core,
    CheckpointError,
    PyValueError,
    "Bytes that are no checkpoint of this search; whoever knows the file names it."
);

/// Converts an error of the engine to a Python exception.
pub fn refuse(error: l0star::Error) -> PyErr {
    let text = printable(&error.to_string()).into_owned();
    match error {
        l0star::Error::Checkpoint { .. } | l0star::Error::OtherSearch { .. } => {
            CheckpointError::new_err(text)
        }
        _ => PyValueError::new_err(text),
    }
}

/// Runs work that must not panic; a panic becomes a `RuntimeError`.
pub fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(broken)
}

/// Converts the payload of a panic to an exception.
pub fn broken(payload: Box<dyn Any + Send>) -> PyErr {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    PyRuntimeError::new_err(format!(
        "l0star failed, which is a bug; please report it with the data: {}",
        text.unwrap_or("no message")
    ))
}
