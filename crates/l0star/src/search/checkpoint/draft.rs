//! [`Draft`]: nodes being written to a checkpoint.

use std::collections::HashMap;

use super::State;
use crate::linalg::short::Short;
use crate::relaxation::{SavedPoint, Start};

/// The bits of a predicate on the positions of a list.
pub(crate) fn bits(count: usize, set: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut bits = vec![0; count.div_ceil(8)];
    for i in (0..count).filter(|i| set(*i)) {
        bits[i / 8] |= 1 << (i % 8);
    }
    bits
}

/// Nodes being written to a checkpoint. Data that they share are written once.
#[derive(Debug, Default)]
pub struct Draft {
    pub(crate) state: State,
    /// The numbers of lists, starting points and frames by their addresses.
    lists: HashMap<usize, u32>,
    starts: HashMap<usize, u32>,
    frames: HashMap<usize, u32>,
}

impl Draft {
    /// A draft without nodes.
    pub(crate) fn new(state: State) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }

    /// The number of a list of columns; `list` makes it if it is new.
    pub(crate) fn list(&mut self, address: usize, list: impl FnOnce() -> Vec<u32>) -> u32 {
        let lists = &mut self.state.lists;
        *self.lists.entry(address).or_insert_with(|| {
            lists.push(list());
            lists.len() as u32 - 1
        })
    }

    /// The number of a starting point.
    pub(crate) fn start(&mut self, address: usize, start: &impl Start) -> u32 {
        let Self { state, frames, .. } = self;
        *self.starts.entry(address).or_insert_with(|| {
            let saved = &mut state.starts;
            let frame = start.frame().map(|(address, shape)| {
                *frames.entry(address).or_insert_with(|| {
                    saved.frames.push(shape.clone());
                    saved.frames.len() as u32 - 1
                })
            });
            let x = start.model().into_iter();
            let x = x.map(|(j, x)| (j as u32, Short::new(x)));
            // A value that is not finite is not a useful starting point.
            let x = x.filter(|(_, x)| x.value().is_finite()).collect();
            saved.points.push(SavedPoint { x, frame });
            saved.points.len() as u32 - 1
        })
    }
}
