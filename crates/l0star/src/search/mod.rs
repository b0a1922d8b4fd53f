//! Best-first search: one loop over a tree of nodes, as a state that can be stepped.
//!
//! [`Tree`] defines what a node is and how it splits. [`Search`] owns the frontier, the incumbent, the limits and the
//! events. `method=paper` is the tree in [`paper`]. Threads (`parallel`) and other processes (`distributed`) expand
//! its nodes.

pub mod binary;
pub(crate) mod bits;
pub mod checkpoint;
mod cluster;
pub mod context;
mod count;
mod counters;
pub(crate) mod decision_models;
mod distributed;
mod event;
mod evidence;
pub mod exhaustive;
mod frontier;
pub(crate) mod handout;
pub(crate) mod incumbents;
pub(crate) mod models;
mod nodes;
pub(crate) mod optima;
pub mod paper;
mod parallel;
mod pool;
mod reporter;
pub(crate) mod stage;
mod writer;

use std::time::Duration;

use crate::bound::Certified;
use crate::problem::{Decision, Problem};
use crate::settings::{Settings, Status};
pub use checkpoint::Checkpoint;
use checkpoint::{Draft, State};
pub use cluster::{Answer, Broken, Budgets, Cluster};
pub(crate) use cluster::{SharedCluster, Task, seal_answer};
pub use context::Context;
pub use event::{Event, News, Observer, Phase, Source};
pub use evidence::Evidence;
pub use incumbents::Incumbents;
use nodes::Nodes;
pub use pool::Incumbent;
use stage::Stage;
pub(crate) use writer::{ArchiveSink, Save, Slot, Writer};

/// Receives the checkpoints of a search.
pub type Sink<'p> = Box<dyn FnMut(&Checkpoint) + Send + 'p>;

/// A node of the frontier.
pub trait Node: Send + Sync {
    /// A certified lower bound of every x in the node.
    fn bound(&self) -> Certified;
    /// Bytes on the heap, for the memory limit.
    fn bytes(&self) -> usize;
    /// Depth in the tree. Of nodes with equal bounds the deeper one is expanded first.
    fn depth(&self) -> usize;
    /// Replaces the bound by a better one of the same node.
    fn raise(&mut self, bound: Certified);
}

/// How an expansion ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expansion {
    /// The node is finished; its children replace it.
    Split,
    /// A limit was reached during the expansion. The node returns to the frontier with the bound reached so far, and
    /// the children are dropped.
    Stopped(Status, Certified),
}

/// A way to divide the supports into nodes.
pub trait Tree: Send + Sized {
    /// The nodes of this tree.
    type Node: Node;

    /// Whether nodes may be expanded in any order, so that the search can plunge when memory is short.
    const PLUNGES: bool;

    /// Bounds the node that contains every support.
    fn root(&mut self, context: &mut Context, children: &mut Vec<Self::Node>) -> Expansion;

    /// Whether this node, the best of the frontier, ends the search.
    fn finished(&self, node: &Self::Node, context: &Context) -> bool;

    /// Splits a node. Everything that is dropped is recorded with [`Evidence::rule_out`].
    fn expand(
        &mut self,
        node: &Self::Node,
        context: &mut Context,
        children: &mut Vec<Self::Node>,
    ) -> Expansion;

    /// Writes a node to a checkpoint, in the problem's own columns.
    fn save(&self, node: &Self::Node, draft: &mut Draft);

    /// The open nodes of a checkpoint that fits the problem. `None`: the tree cannot resume from them.
    fn load(&self, _problem: &Problem, _draft: &Draft) -> Option<Vec<Self::Node>> {
        None
    }

    /// A copy of the tree for another thread, with its own buffers. `None`: the tree belongs to one thread.
    fn fork(&self) -> Option<Self> {
        None
    }

    /// Approximate number of multiplications in the expansion of a node; 0 where the number is not needed.
    fn work(&self, _node: &Self::Node, _problem: &Problem) -> u64 {
        0
    }

    /// Bytes on the heap that open nodes share.
    fn shared_bytes(&self) -> u64 {
        0
    }
}

/// A tree whose nodes can be restricted to the models that follow a decision.
pub(crate) trait Restrict: Tree + Sync {
    /// A copy of the tree with its own buffers.
    fn another(&self) -> Self;

    /// The part of a node that follows the decision; `None` when it contains no such model.
    fn restrict(
        &self,
        problem: &Problem,
        node: &Self::Node,
        decision: Decision,
    ) -> Option<Self::Node>;
}

/// Outcome of [`Search::step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There are more steps to make.
    Running,
    /// The search is over: no open node can be better by more than the gap.
    Done,
    /// A limit was reached. The state is complete: stepping can continue with other limits.
    Stopped(Status),
}

/// A search in progress: its nodes, and the context in which they are expanded.
pub struct Search<'p, T: Tree> {
    context: Context<'p>,
    nodes: Nodes<T>,
}

impl<'p, T: Tree> Search<'p, T> {
    /// A search in which nothing is solved yet; its first step solves the root.
    pub fn new(context: Context<'p>, tree: T) -> Self {
        let nodes = Nodes::new(tree);
        Self { context, nodes }
    }

    /// A search at the point where an earlier run stopped, with its open nodes; the context has already resumed.
    pub(crate) fn resumed(mut context: Context<'p>, tree: T, open: Vec<T::Node>) -> Self {
        let nodes = Nodes::resumed(&mut context, tree, open);
        Self { context, nodes }
    }

    /// Hands out the last checkpoint, if one is wanted. When the search is done, the checkpoint has no open nodes.
    pub(crate) fn save(&mut self, done: bool) {
        if !self.context.saves() {
            return;
        }
        let mut state = self.nodes.save(&self.context);
        if done {
            state.close();
        }
        self.context.save(state);
    }

    /// Explores until the search is over or this much time has passed, and returns the rest. The current node is
    /// finished.
    pub(crate) fn explore(mut self, settings: &Settings, time: Duration) -> State {
        // Nodes are counted from 0 in every task.
        self.context.limits.pause_after(time, 1);
        let progress = self.run(settings);
        let mut state = self.nodes.save(&self.context);
        if progress == Progress::Done {
            state.close();
        }
        state
    }

    /// The parts of a search, before its first step.
    pub(crate) fn into_parts(self) -> (Context<'p>, T) {
        (self.context, self.nodes.into_tree())
    }

    /// The incumbent and the limits.
    pub fn context(&self) -> &Context<'p> {
        &self.context
    }

    /// Returns the context, for the final result.
    pub fn into_context(mut self) -> Context<'p> {
        self.nodes.leave(&mut self.context);
        self.context
    }

    /// Number of open nodes.
    pub fn open(&self) -> usize {
        self.nodes.open()
    }

    /// A certified lower bound of the optimum, valid at any time.
    pub fn lower_bound(&self) -> Certified {
        self.nodes.lower_bound(&self.context)
    }

    /// Solves the root, or splits the best open node.
    pub fn step(&mut self) -> Progress {
        self.nodes.step(&mut self.context)
    }

    /// Steps until the search is over or a limit is reached, on the number of threads in the settings.
    pub fn run(&mut self, settings: &Settings) -> Progress {
        match &self.context.cluster {
            None => self.nodes.share(settings),
            Some(cluster) => self.nodes.share_out(settings, cluster),
        }
        stage::run(&mut self.nodes, &mut self.context)
    }
}
