//! One search beside a live interpreter.
//!
//! The search runs on a thread of its own. The calling thread waits for it without the GIL, and wakes up for events (to
//! call back, while the search waits for the answer) and for signals (so that Ctrl-C works).

use std::any::Any;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use l0star::path::{Criteria, Point};
use l0star::search::{Event, News};
use l0star::{Checkpoint, PathCheckpoint, PathRun, Price, PriceRun, Problem, Run, Settings};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::problem::refuse;
use crate::solution::Solution;

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

/// Who is told what, on the calling thread.
#[derive(Default)]
pub struct Listeners {
    /// The size that comes first.
    pub k: usize,
    /// States of the search; a true answer stops it.
    pub callback: Option<Py<PyAny>>,
    /// Checkpoints, as bytes.
    pub save: Option<Py<PyAny>>,
}

/// What a callback is told.
#[derive(Clone)]
struct State {
    k: usize,
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
    fn new(k: usize) -> Self {
        Self {
            k,
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

    fn point(&self, seconds: f64) -> [f64; 4] {
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        [
            seconds,
            number(self.objective),
            number(self.lower_bound),
            self.nodes as f64,
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
            self.k,
        );
        callback.bind(py).call1(arguments)?.is_truthy()
    }
}

/// Follows the events of a search, on the thread of the search.
struct Follower {
    /// Of the call, for callbacks.
    origin: Instant,
    /// Of the search for this k, for the trace.
    start: Instant,
    state: State,
    trace: Vec<[f64; 4]>,
    last_gap: f64,
}

impl Follower {
    fn new(k: usize, origin: Instant) -> Self {
        Self {
            origin,
            start: Instant::now(),
            state: State::new(k),
            trace: Vec::new(),
            last_gap: f64::INFINITY,
        }
    }

    fn note(&mut self, event: &Event) {
        let state = &mut self.state;
        state.seconds = self.origin.elapsed().as_secs_f64();
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
            let seconds = self.start.elapsed().as_secs_f64();
            self.trace.push(state.point(seconds));
            self.last_gap = gap;
        }
    }
}

/// What the thread of the search sends, and what it waits for to be dropped.
type Message = (Told, Sender<()>);

/// What happened.
enum Told {
    State(State),
    Checkpoint(Vec<u8>),
}

/// Where a search sends what happens, and what is listened to.
pub struct Events {
    sender: Sender<Message>,
    states: bool,
    checkpoints: bool,
}

impl Events {
    /// Sends, and waits until it has been looked at.
    fn tell(&self, told: Told) {
        let (held, until_dropped) = channel();
        if self.sender.send((told, held)).is_ok() {
            let _ = until_dropped.recv();
        }
    }

    fn save(&self, bytes: Vec<u8>) {
        self.tell(Told::Checkpoint(bytes));
    }
}

/// How often a search is saved, if anybody listens, and what it goes on from.
pub struct Kept<T> {
    pub every: Duration,
    pub resume: Option<T>,
}

/// Runs `search` on a thread of its own; also says what exception stopped it. The flag is what stops it.
pub fn run<T: Send>(
    py: Python<'_>,
    flag: &AtomicBool,
    listeners: Listeners,
    search: impl FnOnce(Events) -> l0star::Result<T> + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let (sender, messages) = channel();
    let events = Events {
        sender: sender.clone(),
        states: listeners.callback.is_some(),
        checkpoints: listeners.save.is_some(),
    };
    let (found, stopped_by) = py.detach(move || {
        thread::scope(|scope| {
            let search = thread::Builder::new()
                .name("l0star".to_owned())
                .stack_size(STACK)
                .spawn_scoped(scope, move || {
                    // Held until the end, whether anyone is told or not: the waiting thread ends when it is gone.
                    let _open = sender;
                    guarded(|| search(events))
                })?;
            let stopped_by = wait(messages, &listeners, flag);
            let found = search.join().map_err(broken)?;
            Ok::<_, PyErr>((found, stopped_by))
        })
    })?;
    Ok((found?.map_err(refuse)?, stopped_by))
}

/// The best model of one size: the thread of a search.
pub fn solve(
    problem: &Problem,
    settings: &Settings,
    events: &Events,
    kept: Kept<Checkpoint>,
) -> l0star::Result<Solution> {
    let mut follower = Follower::new(problem.k(), Instant::now());
    let mut run = Run::new(problem, settings).observe(Box::new(|event: &Event| {
        follower.note(event);
        if events.states {
            events.tell(Told::State(follower.state.clone()));
        }
    }));
    if events.checkpoints {
        let sink = |checkpoint: &Checkpoint| events.save(checkpoint.encode());
        run = run.save(kept.every, Box::new(sink));
    }
    if let Some(checkpoint) = kept.resume {
        run = run.resume(checkpoint);
    }
    let solution = run.solve()?;
    let criteria = Criteria::new(problem, &solution);
    Ok(Solution::new(
        problem.k(),
        solution,
        criteria,
        follower.trace,
    ))
}

/// What it costs to decide otherwise about each feature: the thread of the searches.
pub fn prices(
    problem: &Problem,
    settings: &Settings,
    found: &l0star::Solution,
    events: &Events,
    kept: Kept<Checkpoint>,
) -> l0star::Result<Vec<Price>> {
    let mut run = PriceRun::new(problem, settings, found);
    if events.checkpoints {
        let sink = |checkpoint: &Checkpoint| events.save(checkpoint.encode());
        run = run.save(kept.every, Box::new(sink));
    }
    if let Some(checkpoint) = kept.resume {
        run = run.resume(checkpoint);
    }
    run.solve()
}

/// The best model of every size from one to another: the thread of a search.
pub fn path(
    problem: &Problem,
    settings: &Settings,
    events: &Events,
    sizes: RangeInclusive<usize>,
    kept: Kept<PathCheckpoint>,
) -> l0star::Result<Vec<Solution>> {
    let origin = Instant::now();
    let mut followers: Vec<Follower> = Vec::new();
    let mut run = PathRun::new(problem, settings, sizes);
    // Whoever is followed is solved one after the other; with several threads and nobody to tell, sizes go side by side.
    if events.states || settings.thread_count() == 1 {
        run = run.observe(Box::new(|k, event| {
            if followers.last().is_none_or(|last| last.state.k != k) {
                followers.push(Follower::new(k, origin));
            }
            if let Some(follower) = followers.last_mut() {
                follower.note(event);
                if events.states {
                    events.tell(Told::State(follower.state.clone()));
                }
            }
        }));
    }
    if events.checkpoints {
        let sink = |checkpoint: &PathCheckpoint| events.save(checkpoint.encode());
        run = run.save(kept.every, Box::new(sink));
    }
    if let Some(checkpoint) = kept.resume {
        run = run.resume(checkpoint);
    }
    let points = run.solve()?;
    let mut followers = followers.into_iter().peekable();
    let solution = |point: Point| {
        let follower = followers.next_if(|follower| follower.state.k == point.k);
        let trace = follower.map(|follower| follower.trace).unwrap_or_default();
        Solution::new(point.k, point.solution, point.criteria, trace)
    };
    Ok(points.into_iter().map(solution).collect())
}

/// The calling thread: returns when the search is over, with the exception that stopped it.
fn wait(messages: Receiver<Message>, listeners: &Listeners, flag: &AtomicBool) -> Option<PyErr> {
    let start = Instant::now();
    let mut stopped_by = None;
    let mut latest = State::new(listeners.k);
    let mut looked = start;
    loop {
        let mut bytes = None;
        let held = match messages.recv_timeout(PATIENCE.saturating_sub(looked.elapsed())) {
            Ok((told, held)) => {
                match told {
                    Told::State(state) => latest = state,
                    Told::Checkpoint(checkpoint) => bytes = Some(checkpoint),
                }
                Some(held)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return stopped_by,
        };
        let is_time = looked.elapsed() >= PATIENCE;
        if is_time {
            looked = Instant::now();
        }
        // What was stopped is still to be saved, and nothing else.
        let is_over = stopped_by.is_some();
        if bytes.is_none() && (is_over || (held.is_none() && !is_time)) {
            continue;
        }
        let answer = Python::attach(|py| {
            if let (Some(bytes), Some(save)) = (&bytes, &listeners.save) {
                save.bind(py).call1((PyBytes::new(py, bytes),))?;
            }
            if is_time && !is_over {
                py.check_signals()?;
            }
            if bytes.is_some() || is_over {
                return Ok(false);
            }
            if held.is_none() {
                latest.kind = "tick";
                latest.seconds = start.elapsed().as_secs_f64();
            }
            let callback = listeners.callback.as_ref();
            callback.map_or(Ok(false), |callback| latest.tell(py, callback))
        });
        match answer {
            Ok(false) => {}
            Ok(true) => flag.store(true, Ordering::Relaxed),
            Err(error) => {
                flag.store(true, Ordering::Relaxed);
                stopped_by = stopped_by.or(Some(error));
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
