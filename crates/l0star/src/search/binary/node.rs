//! [`BinaryNode`]: a node of the binary tree as it waits in the frontier; [`Left`]: what is left of it while it is expanded.

use std::sync::Arc;

use crate::bound::{Certified, Subproblem};
use crate::problem::Problem;
use crate::relaxation::Start;
use crate::search::Node;
use crate::search::bits::Bits;
use crate::tuning::tree::RELIST;

/// A node that is bounded but not yet solved: two bits for each column of a list that it shares with its relatives.
#[derive(Debug)]
pub struct BinaryNode<S> {
    pub(super) bound: Certified,
    /// The selectable columns that were not out when the list was made.
    pub(super) list: Arc<[u32]>,
    pub(super) inside: Bits,
    pub(super) outside: Bits,
    pub(super) start: Option<Arc<S>>,
    /// How many splits led to it.
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

    /// A node below one with this list, which covers its columns.
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
            // Free features are in order, and so is the list.
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
        // What is shared is charged to the first of those that share it.
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

    /// Appends the features that are in to `inside`; returns those that are free.
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

/// What is left of a node while it is expanded.
#[derive(Debug, Clone)]
pub(super) struct Left {
    /// The penalised always-in columns, then the features that are in.
    pub(super) included: Vec<usize>,
    /// The features that are undecided, in order.
    pub(super) free: Vec<usize>,
    pub(super) budget: usize,
    /// How many of `included` are always in.
    always: usize,
}

impl Left {
    /// What the constraints of the problem leave of a node; `None` when no model is left in it.
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

    /// Follows the constraints of the problem from what is decided; `None` when no model is left.
    pub(super) fn propagated(mut self, problem: &Problem) -> Option<Self> {
        let k = problem.support_size();
        if let Some(structure) = problem.structure.as_deref() {
            let (inside, free) = structure.propagate(self.inside(), &self.free, k)?;
            self.included.truncate(self.always);
            self.included.extend(inside);
            self.free = free;
        }
        // More features than fit may have been fixed, each with evidence of its own: then nothing is left.
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

    /// Whether at most one support is left, subsets aside. Where features have prices, subsets may be better.
    pub(super) fn is_leaf(&self, problem: &Problem) -> bool {
        let fits = self.free.len() <= self.budget;
        self.budget == 0 || self.free.is_empty() || (fits && !problem.is_priced())
    }
}
