//! What can go wrong, as exceptions of Python.

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

/// An error of the engine as Python's.
pub fn refuse(error: l0star::Error) -> PyErr {
    let text = printable(&error.to_string()).into_owned();
    match error {
        l0star::Error::Checkpoint { .. } | l0star::Error::OtherSearch { .. } => {
            CheckpointError::new_err(text)
        }
        _ => PyValueError::new_err(text),
    }
}

/// Runs what must not panic; if it does, that is a `RuntimeError` and no more.
pub fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(broken)
}

/// What a panic says, as an exception.
pub fn broken(payload: Box<dyn Any + Send>) -> PyErr {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    PyRuntimeError::new_err(format!(
        "l0star failed, which is a bug; please report it with the data: {}",
        text.unwrap_or("no message")
    ))
}
