//! Runs one search next to a running interpreter.
//!
//! The search runs on its own thread. The calling thread waits for it without the GIL. It wakes up for events,
//! to call a callback while the search waits for the answer, and for signals, so that Ctrl-C works.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use l0star::path::{Criteria, PathObserver, PathSize};
use l0star::search::{Cluster, Event, News};
use l0star::{
    Batch, Checkpoint, PathCheckpoint, PathRun, PathState, Price, PriceRun, Problem, Run, Settings,
};
use l0star_record::cv::{CrossValidation, Path, Searcher};
use l0star_record::stability::{Drawn, DrawnFile, Searches, Stop};
use l0star_report::Outlook;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{broken, guarded, refuse};
use crate::solution::{History, Solution};
use crate::tally::Tally;

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

/// Finds the best model of one size; runs on the search thread.
pub fn solve(
    problem: &Problem,
    settings: &Settings,
    events: &Events,
    kept: Saving<Checkpoint>,
    cluster: Option<impl Cluster>,
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
    if let Some(cluster) = cluster {
        run = run.on_cluster(cluster);
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

/// Computes the cost of deciding otherwise about each feature; runs on the search thread.
pub fn prices(
    problem: &Problem,
    settings: &Settings,
    found: &l0star::Solution,
    events: &Events,
    kept: Saving<Checkpoint>,
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

/// Finds the best models of resamples; returns them with what ended the run early and the seconds of all runs.
/// Runs on the thread that waits for the searches and takes part in them.
pub fn stability(
    searches: &Searches,
    problem: impl Fn(usize) -> l0star::Result<Problem> + Sync,
    events: &Events,
    key: String,
    columns: usize,
    resume: Option<DrawnFile>,
) -> l0star::Result<(Vec<Drawn>, Option<Stop>, f64)> {
    let origin = Instant::now();
    let mut file = match resume {
        Some(file) => file.check(&key, columns).map(|()| file)?,
        None => DrawnFile::new(key),
    };
    let before = file.seconds;
    let known = std::mem::take(&mut file.drawn);
    // A channel can be used by one thread at a time.
    let shared = Mutex::new(events);
    let done = |count: usize| {
        let events = lock(&shared);
        if events.states {
            events.tell(Told::State(State {
                seconds: origin.elapsed().as_secs_f64(),
                nodes: count as u64,
                ..State::new(count)
            }));
        }
    };
    let mut save = |drawn: &[Drawn]| {
        let events = lock(&shared);
        if events.checkpoints {
            file.seconds = before + origin.elapsed().as_secs_f64();
            file.drawn = drawn.to_vec();
            file.drawn.sort_by_key(|own| own.at);
            events.save(file.encode());
        }
    };
    let (drawn, stop) = searches.run(known, problem, done, &mut save)?;
    Ok((drawn, stop, before + origin.elapsed().as_secs_f64()))
}

/// A model that is best between two prices: the prices, the sum of the factors of its features, its objective
/// without the price, the status of the proof, and its solution.
pub type PricePiece = (f64, f64, f64, f64, String, Solution);

/// Finds the best model at every price of a feature; runs on the search thread.
pub fn penalty_path(problem: &Problem, settings: &Settings) -> l0star::Result<Vec<PricePiece>> {
    let pieces = l0star::penalty_path(problem, settings)?.into_iter();
    let pieces = pieces.map(|piece| {
        let solution = Solution::new(problem.k(), piece.solution, None, Default::default());
        let status = piece.status.to_string();
        (
            piece.from,
            piece.to,
            piece.weight,
            piece.objective,
            status,
            solution,
        )
    });
    Ok(pieces.collect())
}

/// Finds the best model of each of several sizes; runs on the search thread.
pub fn path(
    problem: &Problem,
    settings: &Settings,
    events: &Events,
    sizes: Vec<usize>,
    kept: Saving<PathCheckpoint>,
    cluster: Option<impl Cluster>,
) -> l0star::Result<Vec<Solution>> {
    let origin = Instant::now();
    let mut followers: Vec<Follower> = Vec::new();
    let mut run = PathRun::new(problem, settings, sizes);
    // Sizes with an observer are solved one after the other. With several threads and no observer,
    // they are solved in parallel.
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
    if let Some(cluster) = cluster {
        run = run.on_cluster(cluster);
    }
    let points = run.solve()?;
    let mut followers = followers.into_iter().peekable();
    let solution = |point: PathSize| {
        let follower = followers.next_if(|follower| follower.state.k == point.k);
        let history = follower.map(|follower| follower.history);
        let history = history.unwrap_or_default();
        Solution::new(point.k, point.solution, point.criteria, history)
    };
    Ok(points.into_iter().map(solution).collect())
}

/// The paths of cross-validation; problems and scores come from the calling thread.
struct Folds<'a> {
    events: &'a Events,
    settings: &'a Settings,
    sizes: &'a [usize],
    batch: Batch<'static>,
    origin: Instant,
    /// The columns that `include_free` adds to a support.
    free: Mutex<Vec<usize>>,
}

/// Returns the error for a missing answer. There was an exception and the flag is set, so
/// no further search follows.
fn unanswered(_: RecvError) -> l0star::Error {
    l0star::Error::Empty {
        what: "problems to solve",
    }
}

impl Searcher for Folds<'_> {
    type Error = l0star::Error;
    /// Notes on a search.
    type Notes = History;

    fn begin(&self, path: Path) -> l0star::Result<PathState<'static>> {
        let (to, from) = channel();
        self.events.tell(Told::Begin(path.at, to));
        let begun = from.recv().map_err(unanswered)?;
        *lock(&self.free) = begun.free;
        let sizes = self.sizes.iter().copied();
        self.batch
            .path(path.at, &begun.problem, self.settings, sizes)
    }

    fn step(
        &self,
        state: &mut PathState<'static>,
        settings: &Settings,
    ) -> l0star::Result<Option<(PathSize, History)>> {
        let Some(k) = self.sizes.get(state.done()) else {
            return Ok(None);
        };
        let mut follower = Follower::new(*k, self.origin);
        let mut observer: PathObserver<'_> = Box::new(|_, event| {
            follower.note(event);
            if self.events.states {
                self.events.tell(Told::State(follower.state.clone()));
            }
        });
        let point = state.step_observed(settings, Some(&mut observer))?;
        drop(observer);
        Ok(point.map(|point| (point, follower.history)))
    }

    fn hopeless(&self, point: &PathSize, history: &History) -> Option<f64> {
        let found = &point.solution;
        if !found.status.stopped_early() {
            return None;
        }
        let solution = Solution::new(point.k, found.clone(), point.criteria, history.clone());
        Outlook::of(solution.rows().iter().copied()).hopeless()
    }

    fn score(&self, path: Path, point: &PathSize, history: History) -> l0star::Result<f64> {
        let found = point.solution.clone();
        let mut solution = Solution::new(point.k, found, point.criteria, history);
        solution.complete(&lock(&self.free));
        let (to, from) = channel();
        self.events
            .tell(Told::Score(path.at, Box::new(solution), to));
        from.recv().map_err(unanswered)
    }
}

/// Runs cross-validation on the thread that waits for the searches and takes part in them.
pub fn cross_validate(
    tally: &Tally,
    room: usize,
    settings: &Settings,
    events: &Events,
) -> l0star::Result<()> {
    let origin = Instant::now();
    let limit = settings.time_limit;
    let all = CrossValidation {
        settings,
        penalties: tally.penalties.len(),
        folds: tally.folds,
        threads: settings.thread_count(),
        room,
        // A limit too far away to be represented is no limit.
        deadline: limit.and_then(|limit| origin.checked_add(limit)),
        is_resumed: false,
        tally: &tally.scores,
    };
    all.run(&Folds {
        events,
        settings,
        sizes: &tally.sizes,
        batch: Batch::unkept(),
        origin,
        free: Mutex::new(Vec::new()),
    })
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
