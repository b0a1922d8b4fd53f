//! [`Nodes`]: the stage of a run in which nodes are expanded.

use std::time::{Duration, Instant};

use super::checkpoint::{Draft, State};
use super::cluster::SharedCluster;
use super::distributed::{self, Outcome, Sharing};
use super::frontier::{Frontier, Next};
use super::stage::Stage;
use super::{Context, Expansion, Node, Phase, Progress, Tree, models, parallel};
use crate::bound::Certified;
use crate::settings::{Settings, Status};

/// A tree and its open nodes. A step is a node.
pub(super) struct Nodes<T: Tree> {
    tree: T,
    frontier: Frontier<T::Node>,
    children: Vec<T::Node>,
    started: bool,
    /// When to start the other threads.
    help: Option<Help>,
    /// When to use the cluster.
    sharing: Option<Sharing>,
}

/// The number of threads to use, and when to start them.
#[derive(Debug, Clone, Copy)]
struct Help {
    threads: usize,
    start: Instant,
    after: Duration,
}

impl<T: Tree> Nodes<T> {
    /// A stage in which nothing is solved yet; its first step solves the root.
    pub(super) fn new(tree: T) -> Self {
        Self {
            tree,
            frontier: Frontier::new(),
            children: Vec::new(),
            started: false,
            help: None,
            sharing: None,
        }
    }

    /// A stage at the point where an earlier run stopped, with its open nodes; the context has already resumed.
    pub(super) fn resumed(context: &mut Context, tree: T, mut open: Vec<T::Node>) -> Self {
        let mut frontier = Frontier::new();
        frontier.push(&mut open, &tree, context);
        frontier.resume(context);
        context.receive_nodes();
        Self {
            tree,
            frontier,
            children: open,
            started: true,
            help: None,
            sharing: None,
        }
    }

    pub(super) fn into_tree(self) -> T {
        self.tree
    }

    /// Starts the other threads when the search has taken as long as the settings say.
    pub(super) fn share(&mut self, settings: &Settings) {
        let threads = settings.thread_count();
        self.help = (threads > 1).then(|| Help {
            threads,
            start: Instant::now(),
            after: settings.solo,
        });
    }

    /// Uses a cluster as soon as there are enough open nodes.
    pub(super) fn share_out(&mut self, settings: &Settings, cluster: &SharedCluster) {
        self.sharing = Some(Sharing::new(settings, cluster));
    }

    /// Number of open nodes.
    pub(super) fn open(&self) -> usize {
        self.frontier.open()
    }

    /// A certified lower bound of the optimum, valid at any time.
    pub(super) fn lower_bound(&self, context: &Context) -> Certified {
        let open = self.frontier.bound();
        let open = open.or((!self.started).then_some(Certified::TRIVIAL));
        let lows = open.into_iter().chain(self.frontier.discarded());
        context.lower_bound(lows.reduce(Certified::weaker))
    }

    /// Moves the counters and the evidence to the context.
    pub(super) fn leave(&self, context: &mut Context) {
        context.evidence.absorb(self.frontier.discarded());
        let counters = &self.frontier.counters;
        context.counters.calls += counters.calls;
        context.counters.nodes = counters.nodes;
        context.counters.peak_open = counters.peak_open;
    }

    /// Solves the root.
    fn begin(&mut self, context: &mut Context) -> Progress {
        context.enter(Phase::Root);
        let expansion = self.tree.root(context, &mut self.children);
        if let Expansion::Stopped(status, bound) = expansion {
            context.raise(bound);
            self.children.clear();
            return Progress::Stopped(status);
        }
        self.started = true;
        self.frontier.absorb(context);
        self.frontier.push(&mut self.children, &self.tree, context);
        Progress::Running
    }

    /// Uses the cluster for the open nodes, if there is one and enough work for it. `None`: the search continues here.
    fn distribute(&mut self, context: &mut Context) -> Option<Progress> {
        let (sharing, cluster) = (self.sharing.as_mut()?, context.cluster.clone()?);
        let (open, nodes) = (self.frontier.open(), self.frontier.counters.nodes);
        if !sharing.is_due(&cluster, open, nodes) {
            return None;
        }
        let (tree, frontier) = (&self.tree, &mut self.frontier);
        match distributed::run(tree, frontier, context, &cluster, sharing) {
            Outcome::Alone => None,
            Outcome::Refused => {
                self.sharing = None;
                None
            }
            Outcome::Ended(progress) => {
                self.sharing = None;
                Some(progress)
            }
        }
    }
}

impl<'p, T: Tree> Stage<'p> for Nodes<T> {
    fn step(&mut self, context: &mut Context<'p>) -> Progress {
        if !self.started {
            return self.begin(context);
        }
        if let Some(progress) = self.distribute(context) {
            return progress;
        }
        let is_due = |help: &Help| help.start.elapsed() >= help.after;
        if let Some(help) = self.help.filter(is_due) {
            self.help = None;
            let (tree, frontier) = (&self.tree, &mut self.frontier);
            if let Some(progress) = parallel::run(tree, frontier, context, help.threads) {
                return progress;
            }
        }
        let node = match self.frontier.take(0, &self.tree, context) {
            Next::Node(node) => node,
            Next::Over(progress) => return progress,
            Next::Wait => return Progress::Done,
        };
        let nodes = self.frontier.counters.nodes - 1;
        let expansion = self.tree.expand(&node, context, &mut self.children);
        let work = self.tree.work(&node, context.problem);
        models::beside(context, work, nodes, node.bound().value());
        let children = &mut self.children;
        self.frontier
            .give(0, node, expansion, children, &self.tree, context)
    }

    fn save(&self, context: &Context<'p>) -> State {
        let mut draft = Draft::new(context.saved(State::default()));
        if self.started {
            self.frontier.save(&self.tree, &mut draft);
        }
        draft.state
    }

    fn tell(&mut self, context: &mut Context<'p>) {
        let (open, nodes) = (self.open(), self.frontier.counters.nodes);
        if open == 0 {
            return;
        }
        if nodes > 0 {
            context.enter(Phase::Search);
        }
        let bound = self.lower_bound(context);
        context.announce_progress(open, nodes, Some(bound));
    }

    /// Limits are checked by the frontier: when no node is open the search is over, whatever the clock says.
    fn limit(&self, _context: &Context<'p>) -> Option<Status> {
        None
    }
}
