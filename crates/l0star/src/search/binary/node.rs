//! [`BinaryNode`]: a node of the binary tree as it waits in the frontier; [`Left`]: the rest of it while it is
//! expanded.

use std::sync::Arc;

use crate::bound::{Certified, Subproblem};
use crate::problem::Problem;
use crate::relaxation::Start;
use crate::search::Node;
use crate::search::bits::Bits;
use crate::tuning::tree::RELIST;

/// A node that is bounded but not yet solved. It has two bits for each column of a list that it shares with its
/// relatives.
#[derive(Debug)]
pub struct BinaryNode<S> {
    pub(super) bound: Certified,
    /// The selectable columns that were not out when the list was made.
    pub(super) list: Arc<[u32]>,
    pub(super) inside: Bits,
    pub(super) outside: Bits,
    pub(super) start: Option<Arc<S>>,
    /// Number of splits that led to the node.
    pub(super) depth: u32,
    bytes: u32,
}

impl<S: Start> BinaryNode<S> {
    /// The node in which the features `inside` are in and `free` are undecided.
    pub(crate) fn new(
        bound: Certified,
        inside: &[usize],
        free: &[usize],
        start: Option<&Arc<S>>,
    ) -> Self {
        Self::within(None, bound, inside, free, start, 0)
    }

    /// A node below one with this list, which contains its columns.
    pub(super) fn within(
        list: Option<&Arc<[u32]>>,
        bound: Certified,
        inside: &[usize],
        free: &[usize],
        start: Option<&Arc<S>>,
        depth: u32,
    ) -> Self {
        let left = inside.len() + free.len();
        let (list, own) = match list {
            Some(list) if left as f64 > RELIST * list.len() as f64 => (Arc::clone(list), 0),
            _ => {
                let mut list: Vec<u32> = inside.iter().chain(free).map(|j| *j as u32).collect();
                list.sort_unstable();
                (list.into(), left * size_of::<u32>())
            }
        };
        debug_assert!(free.is_sorted());
        let (mut bits, mut outside) = (Bits::new(list.len()), Bits::full(list.len()));
        let mut from = 0;
        for j in free {
            // The free features and the list are both in order.
            from += list[from..]
                .iter()
                .position(|i| *i as usize == *j)
                .unwrap_or(0);
            outside.remove(from);
        }
        for j in inside {
            let at = list.partition_point(|i| (*i as usize) < *j);
            bits.insert(at);
            outside.remove(at);
        }
        // Shared data are charged to the first of the nodes that share them.
        let own_start = start.filter(|start| Arc::strong_count(start) == 1);
        let shared = own_start.map_or(0, |start| start.bytes());
        let bytes = size_of::<Self>() + 2 * bits.bytes() + own + shared;
        Self {
            bound,
            list,
            inside: bits,
            outside,
            start: start.cloned(),
            depth,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        }
    }

    /// Appends the features that are in to `inside`; returns the free ones.
    pub(super) fn sets(&self, inside: &mut Vec<usize>) -> Vec<usize> {
        let mut free = Vec::with_capacity(self.list.len());
        for (i, j) in self.list.iter().enumerate() {
            if self.inside.contains(i) {
                inside.push(*j as usize);
            } else if !self.outside.contains(i) {
                free.push(*j as usize);
            }
        }
        free
    }

    /// A node below this one.
    pub(super) fn below(&self, bound: Certified, left: &Left, start: Option<&Arc<S>>) -> Self {
        let (inside, free) = (left.inside(), &left.free);
        Self::within(Some(&self.list), bound, inside, free, start, self.depth + 1)
    }
}

impl<S: Start> Node for BinaryNode<S> {
    fn bound(&self) -> Certified {
        self.bound
    }

    fn bytes(&self) -> usize {
        self.bytes as usize
    }

    fn depth(&self) -> usize {
        self.depth as usize
    }

    fn raise(&mut self, bound: Certified) {
        self.bound = self.bound.tighter(bound);
    }
}

/// The undecided part of a node while it is expanded.
#[derive(Debug, Clone)]
pub(super) struct Left {
    /// The penalised always-in columns, then the features that are in.
    pub(super) included: Vec<usize>,
    /// The features that are undecided, in order.
    pub(super) free: Vec<usize>,
    pub(super) budget: usize,
    /// Number of `included` columns that are always in.
    always: usize,
}

impl Left {
    /// Applies the constraints of the problem to a node; `None` when it contains no model.
    pub(super) fn new<S: Start>(problem: &Problem, node: &BinaryNode<S>) -> Option<Self> {
        let always = problem.penalised.len();
        let mut included = Vec::with_capacity(always + problem.support_size() + 1);
        included.extend_from_slice(&problem.penalised);
        let free = node.sets(&mut included);
        let left = Self {
            included,
            free,
            budget: 0,
            always,
        };
        left.propagated(problem)
    }

    /// Propagates the constraints of the problem from what is decided; `None` when no model is left.
    pub(super) fn propagated(mut self, problem: &Problem) -> Option<Self> {
        let k = problem.support_size();
        if let Some(structure) = problem.structure.as_deref() {
            let (inside, free) = structure.propagate(self.inside(), &self.free, k)?;
            self.included.truncate(self.always);
            self.included.extend(inside);
            self.free = free;
        }
        // More features than fit may have been fixed, each with its own evidence. Then no model is left.
        self.budget = k.checked_sub(self.inside().len())?;
        Some(self)
    }

    pub(super) fn node(&self) -> Subproblem<'_> {
        Subproblem {
            included: &self.included,
            free: &self.free,
            budget: self.budget,
        }
    }

    /// The features that are in.
    pub(super) fn inside(&self) -> &[usize] {
        &self.included[self.always..]
    }

    /// Whether at most one support is left, apart from its subsets. Where features have prices, subsets may be better.
    pub(super) fn is_leaf(&self, problem: &Problem) -> bool {
        let fits = self.free.len() <= self.budget;
        self.budget == 0 || self.free.is_empty() || (fits && !problem.is_priced())
    }
}
