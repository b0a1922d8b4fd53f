//! [`Remote`]: the cluster of a search, which is an object of Python.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use l0star::search::{Answer, Broken, Budgets, Cluster};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::run::Caller;

/// What Python's end gives: seconds of a task, and while others have nothing to do; its nodes; open nodes for each worker.
type Given = (f64, f64, Option<u64>, usize);

/// A Python object that submits tasks, called on the thread that waits for the search.
///
/// | method | what it does |
/// |---|---|
/// | `workers()` | how many tasks run at the same time; 0 while there is nobody to run them |
/// | `budgets()` | seconds of a task, and of one while others have nothing to do, nodes of a task or None, open nodes per worker |
/// | `submit(id, task)` | begins a task |
/// | `collect()` | waits a moment for answers: a list of `(id, bytes)`, None in the place of bytes for a task that was lost |
/// | `recall()` | nothing that was submitted is needed any more, but there may be more to submit later |
/// | `finish(reason)` | the search needs no more answers; why it gave up, or None |
///
/// An exception in any of them ends the search, and is raised when that has been saved.
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

    /// What a call gives; `None` when there was an exception, now or before.
    fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T> + Send + 'static,
    ) -> Option<T> {
        let (to, from) = channel();
        let object = Arc::clone(&self.object);
        self.caller.call(Box::new(move |py| {
            // Whoever has gone away needs no answer.
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
