//! [`Frontier`]: open nodes, nodes in flight and discarded nodes of a search, for one worker or several.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::checkpoint::{Draft, State};
use super::counters::Counters;
use super::evidence::Evidence;
use super::{Context, Expansion, Node, Progress, Tree};
use crate::bound::Certified;

/// The open nodes, ordered by the smallest bound and then by the greatest depth.
pub(super) struct Frontier<N> {
    heap: BinaryHeap<Open<N>>,
    /// The rest of the current subtrees, depth first; used while memory is short.
    plunge: Vec<N>,
    /// The node that each worker is expanding.
    flying: Vec<Option<Arc<N>>>,
    bytes: u64,
    evidence: Evidence,
    pub(super) counters: Counters,
}

/// The next thing for a worker to do.
pub(super) enum Next<N> {
    /// A node to expand.
    Node(Arc<N>),
    /// Nothing at present; a worker that is expanding a node may change that.
    Wait,
    /// Nothing any more: the search has ended.
    Over(Progress),
}

impl<N: Node> Frontier<N> {
    pub(super) fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            plunge: Vec::new(),
            flying: vec![None],
            bytes: 0,
            evidence: Evidence::default(),
            counters: Counters::default(),
        }
    }

    /// Takes over the evidence and the counters of a resumed context.
    pub(super) fn resume(&mut self, context: &mut Context) {
        self.evidence.rewind(context.evidence.take());
        self.counters = std::mem::take(&mut context.counters);
    }

    /// Writes all open nodes, the counters and the evidence to a draft.
    pub(super) fn save<T>(&self, tree: &T, draft: &mut Draft)
    where
        T: Tree<Node = N>,
    {
        let heap = self.heap.iter().map(|Open(node)| node);
        let flying = self.flying.iter().flatten().map(Arc::as_ref);
        for node in heap.chain(&self.plunge).chain(flying) {
            tree.save(node, draft);
        }
        self.save_rest(&mut draft.state);
    }

    /// Writes the counters and the evidence to a state.
    pub(super) fn save_rest(&self, state: &mut State) {
        state.started = true;
        state.prepared.beside_nodes();
        state.weakest = self.discarded().map(Certified::value);
        state.set_counters(&self.counters);
    }

    /// Takes out all open nodes while no worker is expanding one; the counters and the evidence stay.
    pub(super) fn drain<T>(&mut self, tree: &T) -> State
    where
        T: Tree<Node = N>,
    {
        let mut draft = Draft::default();
        self.save(tree, &mut draft);
        self.heap.clear();
        self.plunge.clear();
        self.bytes = 0;
        draft.state
    }

    /// Makes room for this many workers.
    pub(super) fn set_workers(&mut self, count: usize) {
        self.flying.resize_with(count, || None);
    }

    /// Number of open nodes, including those in flight.
    pub(super) fn open(&self) -> usize {
        self.heap.len() + self.plunge.len() + self.flying.iter().flatten().count()
    }

    /// The smallest bound of the open nodes.
    pub(super) fn bound(&self) -> Option<Certified> {
        let best = self.heap.peek().map(|Open(node)| node.bound());
        let flying = self.flying.iter().flatten().map(|node| node.bound());
        let plunge = self.plunge.iter().map(Node::bound);
        best.into_iter()
            .chain(flying)
            .chain(plunge)
            .reduce(Certified::weaker)
    }

    /// The weakest evidence of the discarded nodes.
    pub(super) fn discarded(&self) -> Option<Certified> {
        self.evidence.mark()
    }

    /// The next node for a worker. Limits are checked first.
    pub(super) fn take<T>(&mut self, worker: usize, tree: &T, context: &Context) -> Next<N>
    where
        T: Tree<Node = N>,
    {
        let idle = self.flying.iter().all(Option::is_none);
        let bytes = self.bytes + tree.shared_bytes();
        let limits = &context.limits;
        if let Some(status) = limits.reached_between(self.counters.nodes, bytes) {
            return match (self.heap.is_empty() && self.plunge.is_empty(), idle) {
                (false, _) => Next::Over(Progress::Stopped(status)),
                (true, false) => Next::Wait,
                (true, true) => Next::Over(Progress::Done),
            };
        }
        while let Some(node) = self.plunge.pop() {
            if !tree.finished(&node, context) {
                return self.fly(worker, node);
            }
            // Only this node is settled; the heap holds better ones.
            self.bytes -= node.bytes() as u64;
            self.evidence.rule_out(node.bound());
        }
        match self.heap.peek() {
            Some(Open(best)) if !tree.finished(best, context) => {
                let best = self.heap.pop().map(|Open(node)| node);
                best.map_or(Next::Wait, |node| self.fly(worker, node))
            }
            _ if idle => Next::Over(Progress::Done),
            _ => Next::Wait,
        }
    }

    fn fly(&mut self, worker: usize, node: N) -> Next<N> {
        self.counters.nodes += 1;
        let node = Arc::new(node);
        self.flying[worker] = Some(Arc::clone(&node));
        Next::Node(node)
    }

    /// Takes back a worker's node and the result of its expansion.
    pub(super) fn give<T>(
        &mut self,
        worker: usize,
        node: Arc<N>,
        expansion: Expansion,
        children: &mut Vec<N>,
        tree: &T,
        context: &mut Context,
    ) -> Progress
    where
        T: Tree<Node = N>,
    {
        self.flying[worker] = None;
        self.absorb(context);
        self.bytes -= node.bytes() as u64;
        match expansion {
            Expansion::Split => {
                self.push(children, tree, context);
                Progress::Running
            }
            Expansion::Stopped(status, bound) => {
                children.clear();
                if let Ok(mut node) = Arc::try_unwrap(node) {
                    node.raise(bound);
                    self.bytes += node.bytes() as u64;
                    self.heap.push(Open(node));
                }
                Progress::Stopped(status)
            }
        }
    }

    /// Moves the evidence and the counters of a context into the frontier.
    pub(super) fn absorb(&mut self, context: &mut Context) {
        self.evidence.absorb(context.evidence.take());
        self.counters.calls += std::mem::take(&mut context.counters.calls);
        self.counters.nodes += std::mem::take(&mut context.counters.nodes);
    }

    /// Adds new nodes to the heap or, when memory is short, to the top of the plunge.
    pub(super) fn push<T>(&mut self, children: &mut Vec<N>, tree: &T, context: &Context)
    where
        T: Tree<Node = N>,
    {
        self.bytes += children.iter().map(|node| node.bytes() as u64).sum::<u64>();
        let bytes = self.bytes + tree.shared_bytes();
        let short = T::PLUNGES && context.limits.is_short(bytes);
        if short || !self.plunge.is_empty() {
            // The last node is taken first, so it has to have the smallest bound.
            children.sort_by(|a, b| b.bound().value().total_cmp(&a.bound().value()));
            self.plunge.append(children);
        } else {
            self.heap.extend(children.drain(..).map(Open));
        }
        self.counters.peak_open = self.counters.peak_open.max(self.open() as u64);
    }
}

/// A node as it is ordered in the heap.
struct Open<N>(N);

impl<N: Node> Ord for Open<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.0, &other.0);
        b.bound()
            .value()
            .total_cmp(&a.bound().value())
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
