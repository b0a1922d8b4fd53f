//! Runs one search next to a running interpreter.
//!
//! The search runs on its own thread. The calling thread waits for it without the GIL. It wakes up for events,
//! to call a callback while the search waits for the answer, and for signals, so that Ctrl-C works.

mod folds;
mod searches;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use l0star::Problem;
use l0star::search::{Event, News};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub use self::folds::cross_validate;
pub use self::searches::{PricePiece, path, penalty_path, prices, solve, stability};
use crate::error::{broken, guarded, refuse};
use crate::solution::{History, Solution};

/// Upper limit on the time between two checks for signals, and between two callbacks.
const PATIENCE: Duration = Duration::from_millis(50);

/// A point of the trace is kept if the gap is below this share of the last one's. Two thousand points suffice
/// from any gap to a billionth of it.
const WORTH_A_POINT: f64 = 0.99;

/// Stack size of the search thread, the same as the main thread's on common systems.
const STACK: usize = 8 << 20;

/// Python functions that are called on the calling thread.
#[derive(Default)]
pub struct Listeners {
    /// The first size.
    pub k: usize,
    /// Receives states of the search; a true answer stops the search.
    pub callback: Option<Py<PyAny>>,
    /// Receives checkpoints, as bytes.
    pub save: Option<Py<PyAny>>,
    /// Makes the problem of a path of cross-validation.
    pub begin: Option<Box<Begin>>,
    /// Scores a search of cross-validation.
    pub score: Option<Py<PyAny>>,
}

/// A function from the number of a path to its problem.
pub type Begin = dyn Fn(Python<'_>, usize) -> PyResult<Begun> + Send + Sync;

/// The problem of a path, and its columns that are in every model but that k does not count.
pub struct Begun {
    pub problem: Problem,
    pub free: Vec<usize>,
}

/// The state that a callback receives.
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
    /// Returns a state in which nothing is known.
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
    /// Start of the call, for callbacks.
    origin: Instant,
    /// Start of the search for this k, for the trace.
    start: Instant,
    state: State,
    history: History,
    last_gap: f64,
}

impl Follower {
    fn new(k: usize, origin: Instant) -> Self {
        Self {
            origin,
            start: Instant::now(),
            state: State::new(k),
            history: History::default(),
            last_gap: f64::INFINITY,
        }
    }

    fn note(&mut self, event: &Event) {
        let state = &mut self.state;
        state.seconds = self.origin.elapsed().as_secs_f64();
        state.kind = match event.news {
            News::Incumbent { support, source } => {
                state.support = Some(support.to_vec());
                let seconds = self.start.elapsed().as_secs_f64();
                self.history.found = Some((source.as_str(), seconds));
                "incumbent"
            }
            News::Bound => "bound",
            News::Phase | News::Enumeration { .. } | News::Tick => "tick",
        };
        // The engine uses +∞ and 0 for unknown values.
        state.objective = event.objective.is_finite().then_some(event.objective);
        state.lower_bound = (event.lower_bound > 0.0).then_some(event.lower_bound);
        (state.open, state.nodes) = (event.open, event.nodes);
        let gap = state.gap();
        if state.kind == "incumbent" || gap < WORTH_A_POINT * self.last_gap {
            let seconds = self.start.elapsed().as_secs_f64();
            self.history.trace.push(state.point(seconds));
            self.last_gap = gap;
        }
    }
}

/// A message from the search thread, and a sender: the search thread waits until it is dropped.
type Message = (Told, Sender<()>);

/// An event that the search thread reports.
enum Told {
    State(State),
    Checkpoint(Vec<u8>),
    /// A path begins; its problem is sent back.
    Begin(usize, Sender<Begun>),
    /// A search of a path has ended; its score is sent back.
    Score(usize, Box<Solution>, Sender<f64>),
    /// Another function is to be called.
    Call(Call),
}

/// A function to call on the calling thread.
pub type Call = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

impl Told {
    /// Handles the event on the calling thread, with the GIL; returns whether the answer stops the search.
    fn pass_on(self, py: Python<'_>, listeners: &Listeners) -> PyResult<bool> {
        match (self, listeners) {
            (Self::Call(call), _) => call(py)?,
            (
                Self::State(state),
                Listeners {
                    callback: Some(callback),
                    ..
                },
            ) => {
                return state.tell(py, callback);
            }
            (
                Self::Checkpoint(bytes),
                Listeners {
                    save: Some(save), ..
                },
            ) => {
                save.bind(py).call1((PyBytes::new(py, &bytes),))?;
            }
            (
                Self::Begin(path, to),
                Listeners {
                    begin: Some(begin), ..
                },
            ) => {
                let begun = begin(py, path)?;
                // If the receiver is gone, no answer is needed.
                let _ = to.send(begun);
            }
            (
                Self::Score(path, solution, to),
                Listeners {
                    score: Some(score), ..
                },
            ) => {
                let score = score.bind(py).call1((path, *solution))?.extract::<f64>()?;
                // If the receiver is gone, no answer is needed.
                let _ = to.send(score);
            }
            _ => {}
        }
        Ok(false)
    }
}

/// The channel for a search's events, and which of them have a listener.
pub struct Events {
    sender: Sender<Message>,
    states: bool,
    checkpoints: bool,
}

/// Calls functions on the calling thread, from any thread.
#[derive(Clone)]
pub struct Caller(Sender<Message>);

impl Caller {
    /// Calls a function and waits until it is done. An exception ends the search, and
    /// further calls are then ignored.
    pub fn call(&self, call: Call) {
        send(&self.0, Told::Call(call));
    }
}

/// Sends an event, and waits until it has been handled.
fn send(sender: &Sender<Message>, told: Told) {
    let (held, until_dropped) = channel();
    if sender.send((told, held)).is_ok() {
        let _ = until_dropped.recv();
    }
}

impl Events {
    /// Sends an event, and waits until it has been handled.
    fn tell(&self, told: Told) {
        send(&self.sender, told);
    }

    /// Returns a caller for functions on the calling thread.
    pub fn caller(&self) -> Caller {
        Caller(self.sender.clone())
    }

    fn save(&self, bytes: Vec<u8>) {
        self.tell(Told::Checkpoint(bytes));
    }
}

/// The interval of checkpoints, and the state from which a search resumes.
pub struct Saving<T> {
    pub every: Duration,
    pub resume: Option<T>,
}

/// Runs `search` on its own thread, and returns its result with the exception that stopped
/// it. `flag` stops the search.
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
                    // Held until the end, even without listeners: the waiting thread stops when
                    // the last sender is dropped.
                    let _open = sender;
                    guarded(|| search(events))
                })?;
            let stopped_by = wait(messages, &listeners, flag);
            let found = search.join().map_err(broken)?;
            Ok::<_, PyErr>((found, stopped_by))
        })
    })?;
    match found? {
        Ok(found) => Ok((found, stopped_by)),
        // The exception says more than the error that results from it.
        Err(error) => Err(stopped_by.unwrap_or_else(|| refuse(error))),
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Handles events on the calling thread until the search is over; returns the exception that stopped it.
fn wait(messages: Receiver<Message>, listeners: &Listeners, flag: &AtomicBool) -> Option<PyErr> {
    let start = Instant::now();
    let mut stopped_by = None;
    let mut latest = State::new(listeners.k);
    let mut looked = start;
    loop {
        // The sender gets its answer when both are dropped, at the end of a round.
        let (told, _held) = match messages.recv_timeout(PATIENCE.saturating_sub(looked.elapsed())) {
            Ok((told, held)) => (Some(told), Some(held)),
            Err(RecvTimeoutError::Timeout) => (None, None),
            Err(RecvTimeoutError::Disconnected) => return stopped_by,
        };
        if let Some(Told::State(state)) = &told {
            latest = state.clone();
        }
        let is_time = looked.elapsed() >= PATIENCE;
        if is_time {
            looked = Instant::now();
        }
        // After a stop, only checkpoints are still handled.
        let is_over = stopped_by.is_some();
        let is_heard = match &told {
            Some(Told::Checkpoint(_)) => true,
            Some(_) => !is_over,
            None => is_time && !is_over,
        };
        if !is_heard {
            continue;
        }
        let answer = Python::attach(|py| {
            // Signals are also checked before a checkpoint is saved; the checkpoint is
            // saved whatever else happens.
            let signal = if is_time && !is_over {
                py.check_signals()
            } else {
                Ok(())
            };
            let told = told.unwrap_or_else(|| {
                latest.kind = "tick";
                latest.seconds = start.elapsed().as_secs_f64();
                Told::State(latest.clone())
            });
            match (signal, &told) {
                (Err(signal), Told::Checkpoint(_)) => told.pass_on(py, listeners).and(Err(signal)),
                (Err(signal), _) => Err(signal),
                (Ok(()), _) => told.pass_on(py, listeners),
            }
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
