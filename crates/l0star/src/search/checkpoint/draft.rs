//! [`Draft`]: nodes on their way into a checkpoint.

use std::collections::HashMap;

use super::{SavedFrame, SavedNode, State};
use crate::bound::Certified;
use crate::linalg::short::Short;

/// Bits of a function of the columns of a frame.
pub(crate) fn bits(count: usize, set: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut bits = vec![0; count.div_ceil(8)];
    for i in (0..count).filter(|i| set(*i)) {
        bits[i / 8] |= 1 << (i % 8);
    }
    bits
}

/// A node that is given by the selectable columns that are in and free, all others being out.
#[derive(Debug)]
pub(crate) struct ListedNode {
    pub low: Certified,
    pub depth: usize,
    pub inside: Vec<u32>,
    pub free: Vec<u32>,
    pub warm: Option<u32>,
}

/// Nodes on their way into a checkpoint: what they share is written once.
#[derive(Debug, Default)]
pub struct Draft {
    pub(crate) state: State,
    listed: Vec<ListedNode>,
    frames: HashMap<usize, u32>,
    warm_starts: HashMap<usize, u32>,
}

impl Draft {
    /// Nodes to come.
    pub(crate) fn new(state: State) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }

    /// The number of a frame; `key` is its address, `frame` makes it when it is new.
    pub(crate) fn frame(&mut self, key: usize, frame: impl FnOnce() -> SavedFrame) -> u32 {
        let frames = &mut self.state.frames;
        *self.frames.entry(key).or_insert_with(|| {
            frames.push(frame());
            frames.len() as u32 - 1
        })
    }

    /// The number of a warm start: (column, coefficient).
    pub(crate) fn warm(&mut self, key: usize, warm: impl FnOnce() -> Vec<(usize, f64)>) -> u32 {
        let starts = &mut self.state.warm_starts;
        *self.warm_starts.entry(key).or_insert_with(|| {
            let warm = warm().into_iter();
            let narrow = warm.map(|(j, x)| (j as u32, Short::new(x)));
            // Whatever is not a number is no good start.
            starts.push(narrow.filter(|(_, x)| x.value().is_finite()).collect());
            starts.len() as u32 - 1
        })
    }

    /// A node that is given by the selectable columns that are in and free.
    pub(crate) fn add(&mut self, node: ListedNode) {
        self.listed.push(node);
    }

    /// The state with all nodes. Those given by lists share one frame: every column that one of them has left.
    pub(crate) fn finish(self) -> State {
        let mut state = self.state;
        if !self.listed.is_empty() {
            Self::enter(self.listed, &mut state);
        }
        // The only node goes on where it stands, not where it began.
        if let ([node], true) = (&mut state.open[..], state.prepared.has_point()) {
            node.warm = None;
            state.warm_starts.clear();
        }
        state
    }

    fn enter(listed: Vec<ListedNode>, state: &mut State) {
        let alive = |node: &ListedNode| [&node.inside[..], &node.free].concat();
        let mut columns: Vec<u32> = listed.iter().flat_map(alive).collect();
        columns.sort_unstable();
        columns.dedup();
        let count = columns.len();
        let frame = state.frames.len() as u32;
        for node in listed {
            let at = |set: &[u32]| -> Vec<usize> {
                let found = set.iter().map(|j| columns.partition_point(|c| c < j));
                found.collect()
            };
            let mut outside = vec![true; count];
            let mut inside = vec![false; count];
            at(&node.free).iter().for_each(|i| outside[*i] = false);
            at(&node.inside).iter().for_each(|i| {
                outside[*i] = false;
                inside[*i] = true;
            });
            state.open.push(SavedNode {
                low: node.low.value(),
                depth: node.depth as u32,
                frame,
                warm: node.warm,
                inside: bits(count, |i| inside[i]),
                outside: bits(count, |i| outside[i]),
            });
        }
        let inside = Vec::new();
        state.frames.push(SavedFrame {
            inside,
            columns,
            scales: Vec::new(),
        });
    }
}
