//! Best-first search: one loop over a tree of nodes, as a state that can be stepped.
//!
//! [`Tree`] says what a node is and how it splits; [`Search`] owns the frontier, the incumbent, the limits and the
//! events. `method=paper` is the tree in [`paper`].

pub mod binary;
pub(crate) mod bits;
pub mod checkpoint;
pub mod context;
mod count;
mod counters;
mod event;
pub mod exhaustive;
mod frontier;
pub(crate) mod handout;
pub(crate) mod ledger;
pub(crate) mod models;
pub(crate) mod optima;
pub mod paper;
mod parallel;
mod pool;
mod saver;

use std::time::Instant;

use crate::bound::Certified;
use crate::problem::{Decision, Problem};
use crate::settings::{Settings, Status};
pub use checkpoint::Checkpoint;
use checkpoint::{Draft, State};
pub use context::Context;
pub(crate) use context::Purpose;
pub use event::{Event, News, Observer, Phase, Source};
use frontier::{Frontier, Next};
pub use pool::Incumbent;
pub use saver::Sink;
pub(crate) use saver::{Interval, Save, Saver};

/// A node of the frontier.
pub trait Node: Send + Sync {
    /// A certified lower bound of every x of the node.
    fn low(&self) -> Certified;
    /// Bytes on the heap, for the memory limit.
    fn bytes(&self) -> usize;
    /// Ties in `low` go to the larger priority.
    fn depth(&self) -> usize;
    /// A better bound of the same node.
    fn raise(&mut self, low: Certified);
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

    /// Splits a node. Whatever is dropped is recorded with [`Context::discard`].
    fn expand(
        &mut self,
        node: &Self::Node,
        context: &mut Context,
        children: &mut Vec<Self::Node>,
    ) -> Expansion;

    /// Enters a node into a checkpoint, in the problem's own columns.
    fn save(&self, node: &Self::Node, draft: &mut Draft);

    /// The same tree for another thread, with buffers of its own. `None`: the tree belongs to one thread.
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
    /// The same tree with buffers of its own.
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

/// A search in progress.
pub struct Search<'p, T: Tree> {
    context: Context<'p>,
    tree: T,
    frontier: Frontier<T::Node>,
    children: Vec<T::Node>,
    started: bool,
}

impl<'p, T: Tree> Search<'p, T> {
    /// Nothing is solved yet: the first step looks at the root.
    pub fn new(context: Context<'p>, tree: T) -> Self {
        Self {
            context,
            tree,
            frontier: Frontier::new(),
            children: Vec::new(),
            started: false,
        }
    }

    /// Where an earlier run stopped, with its open nodes; the context has resumed from it.
    pub(crate) fn resumed(mut context: Context<'p>, tree: T, nodes: Vec<T::Node>) -> Self {
        let mut frontier = Frontier::new();
        let mut children = nodes;
        frontier.push(&mut children, &tree, &context);
        frontier.resume(&mut context);
        Self {
            context,
            tree,
            frontier,
            children,
            started: true,
        }
    }

    /// Hands out a checkpoint, if someone wants it. At the end nothing is left that would have to be looked at again.
    pub(crate) fn save(&mut self, done: bool) {
        if !self.context.saves() {
            return;
        }
        let mut draft = Draft::new(self.context.saved(State::default()));
        if self.started {
            self.frontier.save(&self.tree, &mut draft);
        }
        let mut state = draft.state;
        if done {
            state.close();
        }
        self.context.save(state);
    }

    /// What a search is made of, before its first step.
    pub(crate) fn into_parts(self) -> (Context<'p>, T) {
        (self.context, self.tree)
    }

    /// The incumbent and the limits.
    pub fn context(&self) -> &Context<'p> {
        &self.context
    }

    /// Gives the context back for the final result.
    pub fn into_context(mut self) -> Context<'p> {
        if let Some(floor) = self.frontier.floor() {
            self.context.discard(floor);
        }
        let counters = &self.frontier.counters;
        self.context.counters.calls += counters.calls;
        self.context.counters.nodes = counters.nodes;
        self.context.counters.peak_open = counters.peak_open;
        self.context
    }

    /// Open nodes.
    pub fn open(&self) -> usize {
        self.frontier.open()
    }

    /// A certified lower bound of the optimum, valid at any time.
    pub fn lower_bound(&self) -> Certified {
        let low = self.frontier.low();
        let open = low.or((!self.started).then_some(Certified::TRIVIAL));
        let lows = open.into_iter().chain(self.frontier.floor());
        self.context.lower_bound(lows.reduce(Certified::and))
    }

    /// Looks at the root, or takes the best open node and splits it.
    pub fn step(&mut self) -> Progress {
        if !self.started {
            self.context.enter(Phase::Root);
            let expansion = self.tree.root(&mut self.context, &mut self.children);
            if let Expansion::Stopped(status, low) = expansion {
                self.context.raise(low);
                self.children.clear();
                return Progress::Stopped(status);
            }
            self.started = true;
            self.frontier.settle(&mut self.context);
            let Self { context, tree, .. } = self;
            self.frontier.push(&mut self.children, tree, context);
            return Progress::Running;
        }
        let (node, is_best) = match self.frontier.take(0, &self.tree, &self.context) {
            Next::Node(node, is_best) => (node, is_best),
            Next::Over(progress) => return progress,
            Next::Wait => return Progress::Done,
        };
        let (open, nodes) = (self.frontier.open(), self.frontier.counters.nodes - 1);
        if nodes > 0 {
            self.context.enter(Phase::Search);
        }
        if self.context.is_observed() {
            let bound = is_best.then(|| self.lower_bound());
            self.context.announce_progress(open, nodes, bound);
        }
        let expansion = self
            .tree
            .expand(&node, &mut self.context, &mut self.children);
        let work = self.tree.work(&node, self.context.problem);
        models::beside(&mut self.context, work, nodes, node.low().value());
        let Self { context, tree, .. } = self;
        self.frontier
            .give(0, node, expansion, &mut self.children, tree, context)
    }

    /// Steps until it is over or a limit is reached, on as many threads as the settings say.
    pub fn run(&mut self, settings: &Settings) -> Progress {
        let mut threads = settings.thread_count();
        let start = Instant::now();
        loop {
            if self.context.is_save_due() {
                self.save(false);
            }
            if threads > 1 && self.started && start.elapsed() >= settings.solo {
                if let Some(progress) = parallel::run(self, threads) {
                    return progress;
                }
                threads = 1;
            }
            let progress = self.step();
            if progress != Progress::Running {
                return progress;
            }
        }
    }
}
