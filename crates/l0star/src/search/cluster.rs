//! [`Cluster`]: processes that explore subtrees for a search; what is sent to them, and what comes back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::checkpoint::{Kind, Stamp, State, refuse};
use crate::error::Result;
use crate::problem::Problem;
use crate::settings::Settings;

/// Processes that explore subtrees. A search owns its open nodes and its models; what it sends away counts as open until an answer
/// has come, so that its bound and its checkpoints hold at any time, whatever becomes of the tasks.
///
/// A task is bytes for [`Explorer::explore`](crate::Explorer::explore) in another process, and its answer is what that returns.
/// Tasks are pure: one that is lost is submitted again with the same bytes, and an answer that comes twice counts once.
pub trait Cluster: Send + 'static {
    /// How many tasks run at the same time. It may change from call to call. While it is 0 the search continues in its own process
    /// and asks again after about the time of a task.
    fn workers(&mut self) -> usize;

    /// How long tasks take.
    fn budgets(&self) -> Budgets {
        Budgets::default()
    }

    /// Begins a task.
    fn submit(&mut self, id: u64, task: &[u8]) -> std::result::Result<(), Broken>;

    /// Waits a moment for answers; an empty list is no harm.
    fn collect(&mut self) -> std::result::Result<Vec<Answer>, Broken>;

    /// Nothing that was submitted is needed any more: there were no workers, and the search has gone on without them. More may be
    /// submitted later.
    fn recall(&mut self) {}

    /// The search ends, with or without answers to what was submitted; `reason` says why it gave up, if it did.
    fn finish(&mut self, reason: Option<&str>);
}

/// What became of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// As it was submitted.
    pub id: u64,
    /// What [`Explorer::explore`](crate::Explorer::explore) returned; `None` when the process that explored it has died.
    pub bytes: Option<Vec<u8>>,
}

/// The cluster cannot be used any more. The search ends as if it were interrupted, with all that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken;

/// How long tasks take. The node at hand is always finished.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budgets {
    /// While there are more open nodes than workers.
    pub full: Duration,
    /// While there are not: what comes back soon can be divided again.
    pub hungry: Duration,
    /// Nodes of a task, whatever time they take; `None`: as many as there is time for.
    pub nodes: Option<u64>,
    /// The search goes on by itself until it has so many open nodes for each worker.
    pub ramp: usize,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            full: Duration::from_secs(4),
            hungry: Duration::from_millis(500),
            nodes: None,
            ramp: 4,
        }
    }
}

/// A cluster that the searches of a run use one after the other.
#[derive(Clone)]
pub(crate) struct SharedCluster(Arc<Mutex<dyn Cluster>>);

impl SharedCluster {
    pub(crate) fn new(cluster: impl Cluster) -> Self {
        Self(Arc::new(Mutex::new(cluster)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, dyn Cluster + 'static> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Some subtrees, and all that has to be known to explore them in another process that has the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Which problem and which settings they belong to.
    pub stamp: Stamp,
    pub k: usize,
    pub gap: f64,
    pub relative_gap: f64,
    pub top: Option<usize>,
    pub within: Option<f64>,
    pub seconds: f64,
    pub nodes: Option<u64>,
    /// The columns that are left of the whole search: the same for all its tasks, so that a process makes their Gram matrix once.
    pub columns: Vec<u32>,
    /// The subtrees, and the models that are known.
    pub state: State,
}

/// What is left of a task, and which it was of.
#[derive(Debug, Serialize, Deserialize)]
struct Sealed {
    task: [u8; blake3::OUT_LEN],
    state: State,
}

impl Task {
    /// A task of nothing yet.
    pub(crate) fn new(problem: &Problem, settings: &Settings, columns: Vec<u32>) -> Result<Self> {
        Ok(Self {
            stamp: Stamp::new(problem, settings)?,
            k: problem.k(),
            gap: settings.gap,
            relative_gap: settings.relative_gap,
            top: settings.top.map(usize::from),
            within: settings.within,
            seconds: 0.0,
            nodes: None,
            columns,
            state: State::default(),
        })
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        Kind::Task.encode(self)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        Kind::Task.decode(bytes)
    }
}

/// The answer to a task, as bytes. It says nothing of the time that it took, so that the same task has the same answer.
pub(crate) fn seal_answer(task: &[u8], mut state: State) -> Vec<u8> {
    state.seconds = 0.0;
    let task = *blake3::hash(task).as_bytes();
    Kind::Answer.encode(&Sealed { task, state })
}

/// What an answer says, if it is one to this task, and of this problem.
pub(crate) fn open_answer(problem: &Problem, task: &[u8], answer: &[u8]) -> Result<State> {
    let sealed: Sealed = Kind::Answer.decode(answer)?;
    if sealed.task != *blake3::hash(task).as_bytes() {
        return refuse("it is the answer to another task");
    }
    sealed.state.check(problem)?;
    if !sealed.state.started {
        return refuse("it has no nodes");
    }
    Ok(sealed.state)
}
