//! [`Remote`]: the cluster of a search, which is a Python object.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use l0star::search::{Answer, Broken, Budgets, Cluster};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::run::Caller;

/// Budgets given by the Python side: seconds of a task, seconds while other workers are idle, nodes of a
/// task, open nodes per worker.
type Given = (f64, f64, Option<u64>, usize);

/// A Python object that submits tasks, called on the thread that waits for the search.
///
/// | method | what it does |
/// |---|---|
/// | `workers()` | returns how many tasks run at the same time; 0 while there are no workers |
/// | `budgets()` | returns the seconds of a task, the seconds of one while other workers are idle, the nodes of a task or None, the open nodes per worker |
/// | `submit(id, task)` | starts a task |
/// | `collect()` | waits a moment for answers: a list of `(id, bytes)`, with None in place of bytes for a lost task |
/// | `recall()` | drops all submitted tasks, which are no longer needed; more may be submitted later |
/// | `finish(reason)` | ends the use of the cluster; `reason` says why the search gave up, or is None |
///
/// An exception in any of them ends the search, and is raised after the search was saved.
pub struct Remote {
    caller: Caller,
    object: Arc<Py<PyAny>>,
    budgets: Budgets,
}

impl Remote {
    pub fn new(caller: Caller, object: Py<PyAny>) -> Self {
        let mut new = Self {
            caller,
            object: Arc::new(object),
            budgets: Budgets::default(),
        };
        let given = new.ask(|object| object.call_method0("budgets")?.extract::<Given>());
        if let Some((full, hungry, nodes, ramp)) = given {
            let time = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            let (full, hungry) = (time(full), time(hungry));
            new.budgets = Budgets {
                full,
                hungry,
                nodes,
                ramp,
            };
        }
        new
    }

    /// Returns the result of a call; `None` if there was an exception, now or before.
    fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T> + Send + 'static,
    ) -> Option<T> {
        let (to, from) = channel();
        let object = Arc::clone(&self.object);
        self.caller.call(Box::new(move |py| {
            // If the receiver is gone, no answer is needed.
            let _ = to.send(call(object.bind(py))?);
            Ok(())
        }));
        from.recv().ok()
    }
}

impl Cluster for Remote {
    fn workers(&mut self) -> usize {
        let workers = self.ask(|object| object.call_method0("workers")?.extract());
        workers.unwrap_or(1)
    }

    fn budgets(&self) -> Budgets {
        self.budgets
    }

    fn submit(&mut self, id: u64, task: &[u8]) -> Result<(), Broken> {
        let task = task.to_vec();
        let submit = move |object: &Bound<'_, PyAny>| {
            let task = PyBytes::new(object.py(), &task);
            object.call_method1("submit", (id, task)).map(drop)
        };
        self.ask(submit).ok_or(Broken)
    }

    fn collect(&mut self) -> Result<Vec<Answer>, Broken> {
        let collect = |object: &Bound<'_, PyAny>| {
            let answers = object.call_method0("collect")?;
            answers.extract::<Vec<(u64, Option<Vec<u8>>)>>()
        };
        let answers = self.ask(collect).ok_or(Broken)?.into_iter();
        Ok(answers.map(|(id, bytes)| Answer { id, bytes }).collect())
    }

    fn recall(&mut self) {
        self.ask(|object| object.call_method0("recall").map(drop));
    }

    fn finish(&mut self, reason: Option<&str>) {
        let reason = reason.map(str::to_owned);
        self.ask(move |object| object.call_method1("finish", (reason,)).map(drop));
    }
}
