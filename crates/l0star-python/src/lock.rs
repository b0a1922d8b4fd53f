//! One process at a time writes a file, under the same lock as in the command.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyBlockingIOError;
use pyo3::prelude::*;

/// The right to write a file, held until it is released; the command uses the same lock.
#[pyclass(frozen, module = "l0star._core")]
pub struct Lock(Mutex<Option<l0star_data::Lock>>);

#[pymethods]
impl Lock {
    #[new]
    fn new(path: PathBuf) -> PyResult<Lock> {
        let lock = l0star_data::Lock::of(path)
            .map_err(|error| PyBlockingIOError::new_err(error.to_string()))?;
        Ok(Lock(Mutex::new(Some(lock))))
    }

    /// Releases the lock; further calls have no effect.
    fn release(&self) {
        // No code panics while it holds the mutex.
        if let Ok(mut lock) = self.0.lock() {
            *lock = None;
        }
    }
}
