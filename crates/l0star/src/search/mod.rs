//! Best-first search: one loop over a tree of nodes, as a state that can be stepped.
//!
//! [`Tree`] says what a node is and how it splits; [`Search`] owns the frontier, the incumbent, the limits and the
//! events. `method=paper` is the tree in [`paper`]. Threads (`parallel`) and other processes (`distributed`) take its nodes.

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

/// Takes the checkpoints of a search.
pub type Sink<'p> = Box<dyn FnMut(&Checkpoint) + Send + 'p>;

/// A node of the frontier.
pub trait Node: Send + Sync {
    /// A certified lower bound of every x of the node.
    fn bound(&self) -> Certified;
    /// Bytes on the heap, for the memory limit.
    fn bytes(&self) -> usize;
    /// Ties in `bound` go to the larger priority.
    fn depth(&self) -> usize;
    /// A better bound of the same node.
    fn raise(&mut self, bound: Certified);
}

/// How an expansion ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expansion {
    /// The node is done with; what remains of it are the children.
    Split,
    /// A limit was reached in between: the node goes back to the frontier with the bound that it has by now, the
    /// children are dropped.
    Stopped(Status, Certified),
}

/// How supports are organised.
pub trait Tree: Send + Sized {
    /// Its nodes.
    type Node: Node;

    /// Whether its nodes may be taken in any order, so that the search can plunge when memory is short.
    const PLUNGES: bool;

    /// The node that contains every support.
    fn root(&mut self, context: &mut Context, children: &mut Vec<Self::Node>) -> Expansion;

    /// Whether the node, the best of the frontier, ends the search.
    fn finished(&self, node: &Self::Node, context: &Context) -> bool;

    /// Splits a node. Whatever is dropped is recorded with [`Evidence::rule_out`].
    fn expand(
        &mut self,
        node: &Self::Node,
        context: &mut Context,
        children: &mut Vec<Self::Node>,
    ) -> Expansion;

    /// Enters a node into a checkpoint, in the problem's own columns.
    fn save(&self, node: &Self::Node, draft: &mut Draft);

    /// The open nodes of a checkpoint that was found to fit the problem. `None`: they cannot be taken up again.
    fn load(&self, _problem: &Problem, _draft: &Draft) -> Option<Vec<Self::Node>> {
        None
    }

    /// A copy of the tree for another thread, with buffers of its own. `None`: the tree belongs to one thread.
    fn fork(&self) -> Option<Self> {
        None
    }

    /// About how many multiplications the expansion of a node takes; 0 where nobody has to know.
    fn work(&self, _node: &Self::Node, _problem: &Problem) -> u64 {
        0
    }

    /// Bytes on the heap that open nodes share.
    fn shared_bytes(&self) -> u64 {
        0
    }
}

/// A tree whose nodes can be cut down to the models that follow a decision.
pub(crate) trait Restrict: Tree + Sync {
    /// A copy of the tree with buffers of its own.
    fn another(&self) -> Self;

    /// What is left of a node; `None` when there is no model in it that follows the decision.
    fn restrict(
        &self,
        problem: &Problem,
        node: &Self::Node,
        decision: Decision,
    ) -> Option<Self::Node>;
}

/// What [`Search::step`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    Running,
    /// The search is over; nothing is open that could be better by more than the gap.
    Done,
    /// A limit was reached. The state is whole: it could be stepped on with other limits.
    Stopped(Status),
}

/// A search in progress: its nodes, and the context that they are looked at in.
pub struct Search<'p, T: Tree> {
    context: Context<'p>,
    nodes: Nodes<T>,
}

impl<'p, T: Tree> Search<'p, T> {
    /// Nothing is solved yet: the first step looks at the root.
    pub fn new(context: Context<'p>, tree: T) -> Self {
        let nodes = Nodes::new(tree);
        Self { context, nodes }
    }

    /// Where an earlier run stopped, with its open nodes; the context has resumed from it.
    pub(crate) fn resumed(mut context: Context<'p>, tree: T, open: Vec<T::Node>) -> Self {
        let nodes = Nodes::resumed(&mut context, tree, open);
        Self { context, nodes }
    }

    /// Hands out the last checkpoint, if someone wants it. When all is done nothing is left that would have to be looked at again.
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

    /// Explores until it is over or so much time has passed, and gives what is left. The node at hand is finished.
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

    /// What a search is made of, before its first step.
    pub(crate) fn into_parts(self) -> (Context<'p>, T) {
        (self.context, self.nodes.into_tree())
    }

    /// The incumbent and the limits.
    pub fn context(&self) -> &Context<'p> {
        &self.context
    }

    /// Gives the context back for the final result.
    pub fn into_context(mut self) -> Context<'p> {
        self.nodes.leave(&mut self.context);
        self.context
    }

    /// Open nodes.
    pub fn open(&self) -> usize {
        self.nodes.open()
    }

    /// A certified lower bound of the optimum, valid at any time.
    pub fn lower_bound(&self) -> Certified {
        self.nodes.lower_bound(&self.context)
    }

    /// Looks at the root, or takes the best open node and splits it.
    pub fn step(&mut self) -> Progress {
        self.nodes.step(&mut self.context)
    }

    /// Steps until it is over or a limit is reached, on as many threads as the settings say.
    pub fn run(&mut self, settings: &Settings) -> Progress {
        match &self.context.cluster {
            None => self.nodes.share(settings),
            Some(cluster) => self.nodes.share_out(settings, cluster),
        }
        stage::run(&mut self.nodes, &mut self.context)
    }
}
