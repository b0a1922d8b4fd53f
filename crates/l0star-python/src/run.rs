//! One solve beside a live interpreter.
//!
//! The search runs on a thread of its own. The calling thread waits for it without the GIL, and wakes up for events (to
//! call back, while the search waits for the answer) and for signals (so that Ctrl-C works).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use l0star::search::{Event, News};
use l0star::{Problem, Settings};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::problem::refuse;

/// Signals are looked at, and a callback is called, at least this often.
const PATIENCE: Duration = Duration::from_millis(50);

/// A point of the trace is kept when the gap is below this share of the last one's: two thousand points from any gap to
/// a billionth of it.
const WORTH_A_POINT: f64 = 0.99;

/// As deep as the main thread's on common systems.
const STACK: usize = 8 << 20;

/// Stops every solve that it was given to.
#[pyclass(frozen, module = "l0star._core")]
#[derive(Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
}

impl Stop {
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops them now, or as soon as they begin.
    fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// A copy in another process is a flag of its own.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, ()) {
        (slf.get_type(), ())
    }
}

/// How to solve, and whom to tell.
pub struct Asked {
    pub settings: Settings,
    pub callback: Option<Py<PyAny>>,
}

/// The best model found, what is proved of it, and how the search went.
#[pyclass(frozen, module = "l0star._core")]
pub struct Solution {
    solution: l0star::Solution,
    trace: Vec<[f64; 3]>,
}

#[pymethods]
impl Solution {
    #[getter]
    fn status(&self) -> &'static str {
        self.solution.status.as_str()
    }

    #[getter]
    fn objective(&self) -> f64 {
        self.solution.objective
    }

    #[getter]
    fn lower_bound(&self) -> Option<f64> {
        self.solution.lower_bound
    }

    #[getter]
    fn support<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, self.solution.support.iter().map(|j| *j as i64))
    }

    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.solution.coefficients)
    }

    #[getter]
    fn intercept(&self) -> f64 {
        self.solution.intercept
    }

    #[getter]
    fn solver_calls(&self) -> u64 {
        self.solution.solver_calls
    }

    #[getter]
    fn nodes(&self) -> u64 {
        self.solution.nodes
    }

    #[getter]
    fn peak_open_nodes(&self) -> u64 {
        self.solution.peak_open_nodes
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.solution.seconds
    }

    /// Rows of (seconds, objective, lower bound), NaN where there is none yet.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let rows: Vec<Vec<f64>> = self.trace.iter().map(|row| row.to_vec()).collect();
        PyArray2::from_vec2(py, &rows).unwrap_or_else(|_| PyArray2::zeros(py, [0, 3], false))
    }
}

impl Solution {
    /// The engine lists selectable features only; what was forced in is part of the support too.
    pub fn include(&mut self, columns: &[usize]) {
        let coefficients = &self.solution.coefficients;
        let non_zero = columns.iter().filter(|j| coefficients[**j] != 0.0);
        self.solution.support.extend(non_zero);
        self.solution.support.sort_unstable();
    }

    /// From coefficients of scaled columns to those of the data.
    pub fn unscale(&mut self, scale: &[f64]) {
        for (coefficient, scale) in self.solution.coefficients.iter_mut().zip(scale) {
            *coefficient /= scale;
        }
    }
}

/// What a callback is told.
#[derive(Clone)]
struct State {
    kind: &'static str,
    seconds: f64,
    objective: Option<f64>,
    lower_bound: Option<f64>,
    nodes: u64,
    open: usize,
    support: Option<Vec<usize>>,
}

impl State {
    /// Nothing is known yet.
    fn new() -> Self {
        Self {
            kind: "tick",
            seconds: 0.0,
            objective: None,
            lower_bound: None,
            nodes: 0,
            open: 0,
            support: None,
        }
    }

    fn gap(&self) -> f64 {
        match (self.objective, self.lower_bound) {
            (Some(objective), Some(bound)) => objective - bound,
            _ => f64::INFINITY,
        }
    }

    fn point(&self) -> [f64; 3] {
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        [
            self.seconds,
            number(self.objective),
            number(self.lower_bound),
        ]
    }

    fn tell(&self, py: Python<'_>, callback: &Py<PyAny>) -> PyResult<bool> {
        let arguments = (
            self.kind,
            self.seconds,
            self.objective,
            self.lower_bound,
            self.nodes,
            self.open,
            self.support.clone(),
        );
        callback.bind(py).call1(arguments)?.is_truthy()
    }
}

/// Follows the events of a search, on the thread of the search.
struct Follower {
    start: Instant,
    state: State,
    trace: Vec<[f64; 3]>,
    last_gap: f64,
}

impl Follower {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            state: State::new(),
            trace: Vec::new(),
            last_gap: f64::INFINITY,
        }
    }

    fn note(&mut self, event: &Event) {
        let state = &mut self.state;
        state.seconds = self.start.elapsed().as_secs_f64();
        state.kind = match event.news {
            News::Incumbent { support } => {
                state.support = Some(support.to_vec());
                "incumbent"
            }
            News::Bound => "bound",
            News::Phase | News::Tick => "tick",
        };
        // The engine says +∞ and 0 where there is nothing yet.
        state.objective = event.objective.is_finite().then_some(event.objective);
        state.lower_bound = (event.lower_bound > 0.0).then_some(event.lower_bound);
        (state.open, state.nodes) = (event.open, event.nodes);
        let gap = state.gap();
        if state.kind == "incumbent" || gap < WORTH_A_POINT * self.last_gap {
            self.trace.push(state.point());
            self.last_gap = gap;
        }
    }
}

/// What the thread of the search sends: a state, and what it waits for to be dropped.
type Message = (State, Sender<()>);

/// Solves `problem` with at most `k` selectable features; also says what exception stopped the search.
pub fn run(
    py: Python<'_>,
    problem: &Problem,
    k: usize,
    asked: Asked,
) -> PyResult<(Solution, Option<PyErr>)> {
    let Asked { settings, callback } = asked;
    let flag = settings.interrupt.clone().unwrap_or_default();
    let (sender, messages) = channel();
    let events = callback.is_some().then(|| sender.clone());
    let (solution, stopped_by) = py.detach(move || {
        thread::scope(|scope| {
            let settings = &settings;
            let search = thread::Builder::new()
                .name("l0star".to_owned())
                .stack_size(STACK)
                .spawn_scoped(scope, move || {
                    // Held until the end, whether there is a callback or not: the waiting thread ends when it is gone.
                    let _open = sender;
                    guarded(|| search(problem, k, settings, events))
                })?;
            let stopped_by = wait(messages, callback.as_ref(), &flag);
            let solution = search.join().map_err(broken)?;
            Ok::<_, PyErr>((solution, stopped_by))
        })
    })?;
    Ok((solution?.map_err(refuse)?, stopped_by))
}

/// The thread of the search.
fn search(
    problem: &Problem,
    k: usize,
    settings: &Settings,
    events: Option<Sender<Message>>,
) -> l0star::Result<Solution> {
    let problem = problem.with_k(k)?;
    let mut follower = Follower::new();
    let observer = Box::new(|event: &Event| {
        follower.note(event);
        if let Some(events) = &events {
            let (held, until_dropped) = channel();
            if events.send((follower.state.clone(), held)).is_ok() {
                let _ = until_dropped.recv();
            }
        }
    });
    let solution = l0star::solve_observed(&problem, settings, observer)?;
    let mut trace = follower.trace;
    trace.push([
        follower.start.elapsed().as_secs_f64(),
        solution.objective,
        solution.lower_bound.unwrap_or(f64::NAN),
    ]);
    Ok(Solution { solution, trace })
}

/// The calling thread: returns when the search is over, with the exception that stopped it.
fn wait(
    messages: Receiver<Message>,
    callback: Option<&Py<PyAny>>,
    flag: &AtomicBool,
) -> Option<PyErr> {
    let start = Instant::now();
    let mut stopped_by = None;
    let mut latest = State::new();
    let mut looked = start;
    loop {
        let held = match messages.recv_timeout(PATIENCE.saturating_sub(looked.elapsed())) {
            Ok((state, held)) => {
                latest = state;
                Some(held)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return stopped_by,
        };
        let is_time = looked.elapsed() >= PATIENCE;
        if is_time {
            looked = Instant::now();
        }
        if stopped_by.is_some() || (held.is_none() && !is_time) {
            continue;
        }
        let answer = Python::attach(|py| {
            if is_time {
                py.check_signals()?;
            }
            if held.is_none() {
                latest.kind = "tick";
                latest.seconds = start.elapsed().as_secs_f64();
            }
            callback.map_or(Ok(false), |callback| latest.tell(py, callback))
        });
        match answer {
            Ok(false) => {}
            Ok(true) => flag.store(true, Ordering::Relaxed),
            Err(error) => {
                flag.store(true, Ordering::Relaxed);
                stopped_by = Some(error);
            }
        }
    }
}

/// Runs what must not panic; if it does, that is a `RuntimeError` and no more.
pub fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(broken)
}

fn broken(payload: Box<dyn Any + Send>) -> PyErr {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    PyRuntimeError::new_err(format!(
        "l0star failed, which is a bug; please report it with the data: {}",
        text.unwrap_or("no message")
    ))
}
