//! [`Cluster`]: processes that explore subtrees for a search, the tasks sent to them, and their answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::checkpoint::{Kind, Stamp, State, refuse};
use crate::error::Result;
use crate::problem::Problem;
use crate::settings::Settings;

/// Processes that explore subtrees. A search owns its open nodes and its models. Subtrees that it sends away count as
/// open until an answer has come. So its bound and its checkpoints are valid at any time, whatever happens to the
/// tasks.
///
/// A task is bytes for [`Explorer::explore`](crate::Explorer::explore) in another process, and its answer is the value
/// that this returns. Tasks are pure: a lost task is submitted again with the same bytes, and a repeated answer counts
/// once.
pub trait Cluster: Send + 'static {
    /// Number of tasks that can run at the same time. It may change from call to call. While it is 0 the search
    /// continues in its own process and asks again after about the time of a task.
    fn workers(&mut self) -> usize;

    /// Time and nodes that a task may take.
    fn budgets(&self) -> Budgets {
        Budgets::default()
    }

    /// Begins a task.
    fn submit(&mut self, id: u64, task: &[u8]) -> std::result::Result<(), Broken>;

    /// Waits a moment for answers; may return an empty list.
    fn collect(&mut self) -> std::result::Result<Vec<Answer>, Broken>;

    /// Drops all submitted tasks: there were no workers, and the search has continued without them. More tasks may be
    /// submitted later.
    fn recall(&mut self) {}

    /// Notes that the search ends, whether or not all tasks were answered. `reason` says why it gave up, if it did.
    fn finish(&mut self, reason: Option<&str>);
}

/// Outcome of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The number with which the task was submitted.
    pub id: u64,
    /// The bytes that [`Explorer::explore`](crate::Explorer::explore) returned; `None` when the process that explored it has died.
    pub bytes: Option<Vec<u8>>,
}

/// The cluster can no longer be used. The search ends as if it were interrupted, and keeps everything found so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken;

/// Time and nodes that a task may take. The current node is always finished.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budgets {
    /// Time of a task while there are more open nodes than workers.
    pub full: Duration,
    /// Time of a task otherwise, so that its remainder can soon be divided again.
    pub hungry: Duration,
    /// Most nodes of a task; `None`: no limit but the time.
    pub nodes: Option<u64>,
    /// Open nodes per worker from which the cluster is used.
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

/// Subtrees, and everything that is needed to explore them in another process that has the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    /// The problem and the settings that the subtrees belong to.
    pub stamp: Stamp,
    pub k: usize,
    pub gap: f64,
    pub relative_gap: f64,
    pub top: Option<usize>,
    pub within: Option<f64>,
    pub seconds: f64,
    pub nodes: Option<u64>,
    /// The remaining columns of the whole search. They are the same for all its tasks, so that a process makes their
    /// Gram matrix once.
    pub columns: Vec<u32>,
    /// The subtrees and the known models.
    pub state: State,
}

/// The remainder of a task, and the hash of that task.
#[derive(Debug, Serialize, Deserialize)]
struct Sealed {
    task: [u8; blake3::OUT_LEN],
    state: State,
}

impl Task {
    /// A task without subtrees.
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

/// Encodes the answer to a task. The time it took is left out, so that the same task always has the same answer.
pub(crate) fn seal_answer(task: &[u8], mut state: State) -> Vec<u8> {
    state.seconds = 0.0;
    let task = *blake3::hash(task).as_bytes();
    Kind::Answer.encode(&Sealed { task, state })
}

/// Decodes an answer, and checks that it belongs to this task and this problem.
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
