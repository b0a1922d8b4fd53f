//! Best-first search: one loop over a tree of nodes, as a state that can be stepped.
//!
//! [`Tree`] says what a node is and how it splits; [`Search`] owns the frontier, the incumbent, the limits and the
//! events. `method=paper` is the tree in [`paper`].

pub mod binary;
pub mod context;
pub mod exhaustive;
pub mod paper;
pub(crate) mod screening;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::bound::Certified;
use crate::settings::Status;
pub use context::{Context, Event, Incumbent};

/// A node of the frontier.
pub trait Node {
    /// A certified lower bound of every x of the node.
    fn low(&self) -> Certified;
    /// Bytes on the heap, for the memory limit.
    fn bytes(&self) -> usize;
    /// Ties in `low` go to the larger priority.
    fn depth(&self) -> usize;
}

/// How an expansion ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expansion {
    /// The node is done with; what remains of it are the children.
    Split,
    /// A limit was reached in between: the node goes back to the frontier, the children are dropped.
    Stopped(Status),
}

/// How supports are organised.
pub trait Tree {
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
    frontier: BinaryHeap<Open<T::Node>>,
    /// While memory is short: what is left of the subtree of one node, depth first.
    plunge: Vec<T::Node>,
    children: Vec<T::Node>,
    started: bool,
    bytes: u64,
}

impl<'p, T: Tree> Search<'p, T> {
    /// Nothing is solved yet: the first step looks at the root.
    pub fn new(context: Context<'p>, tree: T) -> Self {
        Self {
            context,
            tree,
            frontier: BinaryHeap::new(),
            plunge: Vec::new(),
            children: Vec::new(),
            started: false,
            bytes: 0,
        }
    }

    /// The incumbent, the counters, the limits.
    pub fn context(&self) -> &Context<'p> {
        &self.context
    }

    /// Gives the context back for the final result.
    pub fn into_context(self) -> Context<'p> {
        self.context
    }

    /// Open nodes.
    pub fn open(&self) -> usize {
        self.frontier.len() + self.plunge.len()
    }

    /// A certified lower bound of the optimum, valid at any time.
    pub fn lower_bound(&self) -> Certified {
        let best = self.frontier.peek().map(|Open(node)| node.low());
        let lows = best.into_iter().chain(self.plunge.iter().map(Node::low));
        let open = lows.reduce(Certified::and);
        let open = open.or((!self.started).then_some(Certified::TRIVIAL));
        self.context.lower_bound(open)
    }

    /// Looks at the root, or takes the best open node and splits it.
    pub fn step(&mut self) -> Progress {
        if !self.started {
            return match self.tree.root(&mut self.context, &mut self.children) {
                Expansion::Split => {
                    self.started = true;
                    self.push_children();
                    Progress::Running
                }
                Expansion::Stopped(status) => {
                    self.children.clear();
                    Progress::Stopped(status)
                }
            };
        }
        if let Some(status) = self.limit() {
            return if self.open() == 0 {
                Progress::Done
            } else {
                Progress::Stopped(status)
            };
        }
        let plunging = !self.plunge.is_empty();
        let next = self.plunge.pop();
        let Some(node) = next.or_else(|| self.frontier.pop().map(|Open(node)| node)) else {
            return Progress::Done;
        };
        if !plunging {
            let bound = self.context.lower_bound(Some(node.low()));
            self.context.announce_bound(bound, self.frontier.len() + 1);
        }
        if self.tree.finished(&node, &self.context) {
            if plunging {
                // Only this node is settled; there are better ones in the frontier.
                self.bytes -= node.bytes() as u64;
                self.context.discard(node.low());
                return Progress::Running;
            }
            self.frontier.push(Open(node));
            return Progress::Done;
        }
        self.context.counters.nodes += 1;
        let expansion = self
            .tree
            .expand(&node, &mut self.context, &mut self.children);
        match expansion {
            Expansion::Split => {
                self.bytes -= node.bytes() as u64;
                self.push_children();
                Progress::Running
            }
            Expansion::Stopped(status) => {
                self.children.clear();
                if plunging {
                    self.plunge.push(node);
                } else {
                    self.frontier.push(Open(node));
                }
                Progress::Stopped(status)
            }
        }
    }

    /// The limit that ends the search now. Over the memory limit a tree that can plunges instead, and the search ends only
    /// when a single plunge needs as much again.
    fn limit(&self) -> Option<Status> {
        let slack = if T::PLUNGES { 2 } else { 1 };
        let nodes = self.context.counters.nodes;
        self.context
            .limits
            .reached_between(nodes, self.bytes / slack)
    }

    /// Steps until it is over or a limit is reached.
    pub fn run(&mut self) -> Progress {
        loop {
            let progress = self.step();
            if progress != Progress::Running {
                return progress;
            }
        }
    }

    fn push_children(&mut self) {
        let children = self.children.iter().map(|node| node.bytes() as u64);
        self.bytes += children.sum::<u64>();
        let short = T::PLUNGES && self.context.limits.is_short(self.bytes);
        if short || !self.plunge.is_empty() {
            // The last is taken first: the one with the smallest bound.
            let order = |a: &T::Node, b: &T::Node| b.low().value().total_cmp(&a.low().value());
            self.children.sort_by(order);
            self.plunge.append(&mut self.children);
        } else {
            self.frontier.extend(self.children.drain(..).map(Open));
        }
        let open = self.open() as u64;
        let peak = &mut self.context.counters.peak_open;
        *peak = open.max(*peak);
    }
}

/// Orders the heap: smallest bound first, then the deepest.
struct Open<N>(N);

impl<N: Node> Ord for Open<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.0, &other.0);
        b.low()
            .value()
            .total_cmp(&a.low().value())
            .then(a.depth().cmp(&b.depth()))
    }
}

impl<N: Node> PartialOrd for Open<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<N: Node> PartialEq for Open<N> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<N: Node> Eq for Open<N> {}
