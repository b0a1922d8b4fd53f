//! One search beside a live interpreter.
//!
//! The search runs on a thread of its own. The calling thread waits for it without the GIL, and wakes up for events (to
//! call back, while the search waits for the answer) and for signals (so that Ctrl-C works).

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use l0star::batch::{self, Turn};
use l0star::path::{Criteria, PathObserver, Point};
use l0star::search::{Event, News};
use l0star::{
    Batch, Checkpoint, PathCheckpoint, PathRun, PathState, Price, PriceRun, Problem, Run, Settings,
    Status,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{broken, guarded, refuse};
use crate::solution::{History, Solution};

/// Signals are looked at, and a callback is called, at least this often.
const PATIENCE: Duration = Duration::from_millis(50);

/// A point of the trace is kept when the gap is below this share of the last one's: two thousand points from any gap to
/// a billionth of it.
const WORTH_A_POINT: f64 = 0.99;

/// As deep as the main thread's on common systems.
const STACK: usize = 8 << 20;

/// Who is told what, on the calling thread.
#[derive(Default)]
pub struct Listeners {
    /// The size that comes first.
    pub k: usize,
    /// States of the search; a true answer stops it.
    pub callback: Option<Py<PyAny>>,
    /// Checkpoints, as bytes.
    pub save: Option<Py<PyAny>>,
    /// Makes the problem of a path of cross-validation.
    pub begin: Option<Box<Begin>>,
    /// Searches of cross-validation.
    pub scored: Option<Py<PyAny>>,
}

/// From the number of a path to its problem.
pub type Begin = dyn Fn(Python<'_>, usize) -> PyResult<Begun> + Send + Sync;

/// The problem of a path, and its columns that are in every model and that k does not count.
pub struct Begun {
    pub problem: Problem,
    pub free: Vec<usize>,
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
        // The engine says +∞ and 0 where there is nothing yet.
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

/// What the thread of the search sends, and what it waits for to be dropped.
type Message = (Told, Sender<()>);

/// What happened.
enum Told {
    State(State),
    Checkpoint(Vec<u8>),
    /// A path begins; its problem goes there.
    Begin(usize, Sender<Begun>),
    /// A search of a path has ended.
    Scored(usize, Box<Solution>),
}

impl Told {
    /// Tells it on the calling thread, with the GIL; whether the answer stops the search.
    fn pass_on(self, py: Python<'_>, listeners: &Listeners) -> PyResult<bool> {
        match (self, listeners) {
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
                // Whoever has gone away needs no answer.
                let _ = to.send(begun);
            }
            (
                Self::Scored(path, solution),
                Listeners {
                    scored: Some(scored),
                    ..
                },
            ) => {
                scored.bind(py).call1((path, *solution))?;
            }
            _ => {}
        }
        Ok(false)
    }
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
    match found? {
        Ok(found) => Ok((found, stopped_by)),
        // An exception says more than that something could not go on because of it.
        Err(error) => Err(stopped_by.unwrap_or_else(|| refuse(error))),
    }
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
        follower.history,
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

/// The best model of each of several sizes: the thread of a search.
pub fn path(
    problem: &Problem,
    settings: &Settings,
    events: &Events,
    sizes: Vec<usize>,
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
        let history = follower.map(|follower| follower.history);
        let history = history.unwrap_or_default();
        Solution::new(point.k, point.solution, point.criteria, history)
    };
    Ok(points.into_iter().map(solution).collect())
}

/// The paths of cross-validation, which take turns: the thread that waits for them, and one of those that search.
pub fn in_turns(
    paths: usize,
    room: usize,
    settings: &Settings,
    events: &Events,
    sizes: &[usize],
) -> l0star::Result<()> {
    let origin = Instant::now();
    // A limit too far away to be represented is no limit.
    let limit = settings.time_limit;
    let deadline = limit.and_then(|limit| origin.checked_add(limit));
    let batch = Batch::unkept();
    // What `include_free` adds to a support, and the sizes that were not proved when their search ended.
    let free = Mutex::new(Vec::new());
    let unproved = Mutex::new(HashSet::new());
    let begin = |path: usize| {
        let (to, from) = channel();
        events.tell(Told::Begin(path, to));
        // Without an answer there is an exception, and the flag is set: nothing will be searched.
        let begun = from.recv().map_err(|_| l0star::Error::Empty {
            what: "problems to solve",
        })?;
        *lock(&free) = begun.free;
        batch.path(path, &begun.problem, settings, sizes.iter().copied())
    };
    let tell = |path: usize, point: Point, history: History| {
        let mut solution = Solution::new(point.k, point.solution, point.criteria, history);
        solution.complete(&lock(&free));
        events.tell(Told::Scored(path, Box::new(solution)));
    };
    let step = |path: usize, state: &mut PathState| {
        let settings = Settings {
            threads: None,
            time_limit: deadline.map(|end| end.saturating_duration_since(Instant::now())),
            ..settings.clone()
        };
        let mut follower = Follower::new(sizes[state.done()], origin);
        let mut observer: PathObserver<'_> = Box::new(|_, event| {
            follower.note(event);
            if events.states {
                events.tell(Told::State(follower.state.clone()));
            }
        });
        let point = state.step_observed(&settings, Some(&mut observer))?;
        drop(observer);
        let Some(point) = point else {
            return Ok(Turn::EndPath);
        };
        let is_cut_off = match point.solution.status {
            Status::Interrupted => true,
            Status::TimeLimit => deadline.is_some_and(|end| Instant::now() >= end),
            _ => false,
        };
        if is_cut_off {
            return Ok(Turn::EndAll);
        }
        if point.solution.status.falls_short() {
            lock(&unproved).insert((path, point.k));
        }
        tell(path, point, follower.history);
        if state.is_done() {
            // What is proved of a size may be enough for a smaller one.
            for point in state.finish(&settings) {
                let is_proved = !point.solution.status.falls_short();
                if is_proved && lock(&unproved).remove(&(path, point.k)) {
                    tell(path, point, History::default());
                }
            }
        }
        Ok(Turn::Next)
    };
    batch::in_turns(paths, settings.thread_count(), room, begin, step)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calling thread: returns when the search is over, with the exception that stopped it.
fn wait(messages: Receiver<Message>, listeners: &Listeners, flag: &AtomicBool) -> Option<PyErr> {
    let start = Instant::now();
    let mut stopped_by = None;
    let mut latest = State::new(listeners.k);
    let mut looked = start;
    loop {
        // What is sent is answered when both are dropped, at the end of a round.
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
        // What was stopped is still to be saved, and nothing else.
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
            // Also before a checkpoint is saved: that is done whatever else happens.
            let signal = match is_time && !is_over {
                true => py.check_signals(),
                false => Ok(()),
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
