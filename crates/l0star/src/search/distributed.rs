//! A search whose subtrees are explored by other processes.
//!
//! All open nodes stay here, including those sent away, until the answer to a task replaces them. So the bound and the
//! checkpoints are valid at any time, as in a search on one machine. A lost task is submitted again. While there are
//! no workers, the search continues in its own process.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::checkpoint::{Draft, State, Subtree, split};
use super::cluster::{Answer, Broken, Budgets, SharedCluster, Task, open_answer};
use super::context::Context;
use super::frontier::Frontier;
use super::stage::{self, Stage};
use super::{Phase, Progress, Tree};
use crate::bound::Certified;
use crate::settings::{Settings, Status};

/// A task is given up when it was lost more often than this and no other task was answered in between: then the task
/// itself kills its processes. While other tasks are answered, workers die for other reasons.
const MOST_LOSSES: u32 = 10;
/// A task gets one part in this many of a worker's share of the open nodes; several tasks per worker even out the
/// differences.
const SHARE: usize = 2;

/// Decides when a cluster explores the open nodes, and holds the state that persists between those times.
pub(super) struct Sharing {
    settings: Settings,
    /// Number of open nodes that is enough for the cluster.
    open: usize,
    /// The number of the next task. Numbers are never reused, so a late answer is not taken for that of another task.
    submitted: u64,
    /// Set while there are no workers.
    pause: Option<Pause>,
}

/// A pause of about one task, after which the search asks for workers again.
struct Pause {
    start: Instant,
    time: Duration,
    /// Nodes of the whole search at which the pause ends.
    nodes: u64,
}

/// Outcome of [`run`].
pub(super) enum Outcome {
    /// The tree does not allow distribution; nothing was done.
    Refused,
    /// The search ended, as on one machine.
    Ended(Progress),
    /// No workers are left. All open nodes are in the frontier again.
    Alone,
}

impl Sharing {
    pub(super) fn new(settings: &Settings, cluster: &SharedCluster) -> Self {
        let mut new = Self {
            settings: settings.clone(),
            open: 1,
            submitted: 0,
            pause: None,
        };
        let mut cluster = cluster.lock();
        let workers = cluster.workers();
        new.ramp(cluster.budgets(), workers);
        new
    }

    fn ramp(&mut self, budgets: Budgets, workers: usize) {
        self.open = (budgets.ramp * workers).max(1);
    }

    /// Whether there are enough open nodes, and workers as far as is known.
    pub(super) fn is_due(&mut self, cluster: &SharedCluster, open: usize, nodes: u64) -> bool {
        if let Some(pause) = &self.pause {
            if nodes < pause.nodes && pause.start.elapsed() < pause.time {
                return false;
            }
            let mut cluster = cluster.lock();
            let (budgets, workers) = (cluster.budgets(), cluster.workers());
            self.pause = (workers == 0).then(|| Pause::new(budgets, nodes));
            self.ramp(budgets, workers);
        }
        self.pause.is_none() && open >= self.open
    }
}

impl Pause {
    /// A pause as long as a task for hungry workers.
    fn new(budgets: Budgets, nodes: u64) -> Self {
        let more = budgets.nodes.unwrap_or(u64::MAX).max(1);
        Self {
            start: Instant::now(),
            time: budgets.hungry,
            nodes: nodes.saturating_add(more),
        }
    }
}

/// Explores all open nodes on a cluster until the search is over, a limit is reached or no workers are left.
pub(super) fn run<'p, T: Tree>(
    tree: &T,
    open: &mut Frontier<T::Node>,
    context: &mut Context<'p>,
    cluster: &SharedCluster,
    sharing: &mut Sharing,
) -> Outcome {
    if tree.load(context.problem, &Draft::default()).is_none() {
        return Outcome::Refused;
    }
    let mut state = open.drain(tree);
    let columns = state.alive().iter().map(|j| *j as u32).collect();
    let subtrees = state.take_subtrees();
    let Ok(task) = Task::new(context.problem, &sharing.settings, columns) else {
        give_back(tree, open, context, &subtrees);
        return Outcome::Refused;
    };
    let budgets = cluster.lock().budgets();
    let mut distributed = Distributed {
        cluster,
        budgets,
        task,
        subtrees,
        flying: BTreeMap::new(),
        submitted: &mut sharing.submitted,
        open,
        is_alone: false,
        gave_up: None,
    };
    let progress = stage::run(&mut distributed, context);
    let (rest, reason) = (distributed.all(), distributed.gave_up.take());
    let is_alone = distributed.is_alone && progress == Progress::Done;
    if is_alone {
        cluster.lock().recall();
        sharing.pause = Some(Pause::new(budgets, open.counters.nodes));
    } else {
        cluster.lock().finish(reason.as_deref());
    }
    give_back(tree, open, context, &rest);
    if is_alone {
        Outcome::Alone
    } else {
        Outcome::Ended(progress)
    }
}

/// Returns the remaining subtrees to the frontier.
fn give_back<'a, T: Tree>(
    tree: &T,
    open: &mut Frontier<T::Node>,
    context: &Context,
    rest: impl IntoIterator<Item = &'a Subtree>,
) {
    let mut state = State::default();
    state.add_subtrees(rest);
    let nodes = tree.load(context.problem, &Draft::new(state));
    open.push(&mut nodes.unwrap_or_default(), tree, context);
}

/// The open nodes of a search on a cluster. A step is a batch of answers.
struct Distributed<'s, N> {
    cluster: &'s SharedCluster,
    budgets: Budgets,
    /// The common part of all tasks, without nodes and models.
    task: Task,
    /// Open subtrees that were not sent away.
    subtrees: Vec<Subtree>,
    /// Subtrees that were sent away, by the number of their task.
    flying: BTreeMap<u64, Flight>,
    submitted: &'s mut u64,
    /// Collects the evidence and the counters; it has no nodes of its own.
    open: &'s mut Frontier<N>,
    /// Whether there are no workers.
    is_alone: bool,
    /// The reason why the search gave up, if it did.
    gave_up: Option<String>,
}

/// Subtrees that are being explored elsewhere.
struct Flight {
    task: Vec<u8>,
    subtrees: Vec<Subtree>,
    /// Number of nodes that the task may expand, if that is limited.
    nodes: Option<u64>,
    /// Number of times it was lost since any task was answered.
    losses: u32,
}

impl<N: super::Node> Distributed<'_, N> {
    /// All open subtrees, here and elsewhere.
    fn all(&self) -> Vec<Subtree> {
        self.each().cloned().collect()
    }

    fn each(&self) -> impl Iterator<Item = &Subtree> {
        let flying = self.flying.values().flat_map(|flight| &flight.subtrees);
        self.subtrees.iter().chain(flying)
    }

    /// The smallest bound of what is open or was discarded.
    fn bound(&self) -> Option<Certified> {
        let open = self.each().map(Subtree::bound);
        open.chain(self.open.discarded()).reduce(Certified::weaker)
    }

    /// Discards the subtrees that cannot be better than the models known by now.
    fn prune(&mut self, context: &mut Context) {
        let cut = context.incumbents.cut();
        self.subtrees.retain(|own| {
            let is_open = own.bound().value() < cut;
            if !is_open {
                context.evidence.rule_out(own.bound());
            }
            is_open
        });
        self.open.absorb(context);
    }

    /// Number of nodes that the next task may expand, so that all tasks together keep the limit; `None`: no limit.
    fn allot(&self, workers: usize, context: &Context) -> Option<u64> {
        let left = context.limits.nodes_left(self.open.counters.nodes);
        let flying = self.flying.values().filter_map(|flight| flight.nodes);
        let taken: u64 = flying.sum();
        let share = left.map(|left| left.saturating_sub(taken).div_ceil(workers as u64));
        share.into_iter().chain(self.budgets.nodes).min()
    }

    /// Gives every idle worker some of the open subtrees.
    fn submit(&mut self, context: &Context) -> Result<(), Broken> {
        let mut cluster = self.cluster.lock();
        let workers = cluster.workers();
        self.is_alone = workers == 0;
        while self.flying.len() < workers && !self.subtrees.is_empty() {
            let nodes = self.allot(workers, context);
            if nodes == Some(0) {
                break;
            }
            let count = (self.subtrees.len() / (SHARE * workers)).max(1);
            let subtrees = split(&mut self.subtrees, count);
            // While other workers would be idle, the remainder of these subtrees has to come back soon.
            let is_hungry = self.subtrees.len() < workers;
            let seconds = if is_hungry {
                self.budgets.hungry
            } else {
                self.budgets.full
            };
            self.task.seconds = seconds.as_secs_f64();
            self.task.nodes = nodes;
            self.task.state = context.sent();
            self.task.state.add_subtrees(&subtrees);
            let task = self.task.encode();
            let flight = Flight {
                task,
                subtrees,
                nodes,
                losses: 0,
            };
            let id = *self.submitted;
            *self.submitted += 1;
            let sent = cluster.submit(id, &flight.task);
            // Subtrees that could not be sent are open, too.
            self.flying.insert(id, flight);
            sent?;
        }
        Ok(())
    }

    /// Replaces the subtrees of a task by its remainder; submits a lost task again.
    fn take_in(&mut self, answer: Answer, context: &mut Context) -> Result<(), Broken> {
        let Answer { id, bytes } = answer;
        let Some(flight) = self.flying.get_mut(&id) else {
            // The task was answered before.
            return Ok(());
        };
        let problem = context.problem;
        let state = bytes.map(|bytes| open_answer(problem, &flight.task, &bytes));
        match state {
            Some(Ok(mut state)) => {
                self.flying.remove(&id);
                for flight in self.flying.values_mut() {
                    flight.losses = 0;
                }
                context.merge(&state);
                context.counters.calls += state.calls;
                context.counters.nodes += state.nodes;
                self.open.absorb(context);
                self.subtrees.extend(state.take_subtrees());
                let open = self.each().count() as u64;
                let counters = &mut self.open.counters;
                counters.peak_open = counters.peak_open.max(open);
                self.prune(context);
                return Ok(());
            }
            Some(Err(error)) => {
                self.gave_up = Some(format!("a worker gave an answer that is none: {error}"));
                return Err(Broken);
            }
            None => {}
        }
        flight.losses += 1;
        if flight.losses > MOST_LOSSES {
            let times = flight.losses;
            self.gave_up = Some(format!(
                "the workers of one task died {times} times, and none had an answer in between: it may need more memory than they have"
            ));
            return Err(Broken);
        }
        self.cluster.lock().submit(id, &flight.task)
    }

    fn advance(&mut self, context: &mut Context) -> Result<(), Broken> {
        self.submit(context)?;
        if self.is_alone {
            return Ok(());
        }
        let answers = self.cluster.lock().collect()?;
        for answer in answers {
            self.take_in(answer, context)?;
        }
        Ok(())
    }
}

impl<'p, N: super::Node> Stage<'p> for Distributed<'_, N> {
    fn step(&mut self, context: &mut Context<'p>) -> Progress {
        if self.subtrees.is_empty() && self.flying.is_empty() {
            return Progress::Done;
        }
        match self.advance(context) {
            Ok(()) if self.is_alone => Progress::Done,
            Ok(()) => Progress::Running,
            Err(Broken) => Progress::Stopped(Status::Interrupted),
        }
    }

    fn save(&self, context: &Context<'p>) -> State {
        let mut state = context.saved(State::default());
        state.add_subtrees(self.each());
        self.open.save_rest(&mut state);
        state
    }

    fn tell(&mut self, context: &mut Context<'p>) {
        context.enter(Phase::Search);
        let bound = context.lower_bound(self.bound());
        let nodes = self.open.counters.nodes;
        context.announce_progress(self.each().count(), nodes, Some(bound));
    }

    fn limit(&self, context: &Context<'p>) -> Option<Status> {
        if self.subtrees.is_empty() && self.flying.is_empty() {
            return None;
        }
        // The frames of open nodes are in other processes.
        let bytes = self.each().map(Subtree::bytes).sum();
        let nodes = self.open.counters.nodes;
        context.limits.reached_between(nodes, bytes)
    }
}
