//! The class `Explorer`: the worker side of a search on a cluster.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::problem::Problem;
use crate::run::{Listeners, run};

/// Explores subtrees of searches of one problem; see `l0star::Explorer`.
#[pyclass(frozen, module = "l0star._core")]
pub struct Explorer {
    explorer: Mutex<l0star::Explorer>,
    flag: Arc<AtomicBool>,
}

#[pymethods]
impl Explorer {
    #[new]
    #[pyo3(signature = (problem, *, threads, memory_limit=None))]
    fn new(problem: &Problem, threads: usize, memory_limit: Option<u64>) -> Self {
        let flag = Arc::new(AtomicBool::new(false));
        let settings = l0star::Settings {
            threads: NonZeroUsize::new(threads),
            memory_limit,
            interrupt: Some(Arc::clone(&flag)),
            ..l0star::Settings::default()
        };
        let problem = problem.shared().problem;
        Self {
            explorer: Mutex::new(l0star::Explorer::new(&problem, &settings)),
            flag,
        }
    }

    /// Returns the answer to a task, as bytes.
    fn explore<'py>(&self, py: Python<'py>, task: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let task = task.to_vec();
        let search = |_| {
            let mut explorer = self.explorer.lock().unwrap_or_else(PoisonError::into_inner);
            explorer.explore(&task)
        };
        let (answer, stopped_by) = run(py, &self.flag, Listeners::default(), search)?;
        match stopped_by {
            Some(error) => Err(error),
            None => Ok(PyBytes::new(py, &answer)),
        }
    }
}
