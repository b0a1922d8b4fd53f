//! Gram nodes in a checkpoint, and back.
//!
//! A frame is written as the columns that it had and how far they were lifted. It is built again, from the Gram matrix of this
//! run, when the first of its nodes is expanded; that its lift holds is proved again.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::frame::{Frame, Spread};
use super::root::Root;
use super::tree::{GramNode, GramTree};
use crate::linalg::short::Short;
use crate::search::Context;
use crate::search::bits::Bits;
use crate::search::checkpoint::{Draft, SavedFrame, SavedNode, State, bits};

/// A frame that is still to be built, by root indices.
#[derive(Debug)]
pub(super) struct Pending {
    /// What is condensed, the always-in columns included.
    inside: Vec<u32>,
    columns: Vec<u32>,
    budget: usize,
    /// Of the columns, if they are known.
    scales: Vec<f64>,
    /// Where its only node stands, not rounded: (place among the columns, coefficient).
    point: Vec<(u32, f64)>,
    built: OnceLock<Option<Arc<Frame>>>,
}

impl GramNode {
    /// The root indices that are condensed in it and those that its sets are about, and how many of these may be in.
    pub(super) fn shape(&self) -> (&[u32], &[u32], usize) {
        match &self.pending {
            Some(pending) => (&pending.inside, &pending.columns, pending.budget),
            None => {
                let frame = &self.frame;
                (&frame.inside, &frame.columns, frame.budget)
            }
        }
    }
}

/// Enters a node into a checkpoint.
pub(super) fn save_node(root: &Root, node: &GramNode, draft: &mut Draft) {
    let column = |i: &u32| root.columns[*i as usize];
    let (key, scales) = match &node.pending {
        Some(pending) => (Arc::as_ptr(pending) as usize, &pending.scales),
        None => (Arc::as_ptr(&node.frame) as usize, &node.frame.scale),
    };
    let (inside, columns, _) = node.shape();
    let frame = draft.frame(key, || SavedFrame {
        inside: inside
            .iter()
            .filter(|i| (**i as usize) < root.selectable)
            .map(|i| column(i) as u32)
            .collect(),
        columns: columns.iter().map(|i| column(i) as u32).collect(),
        scales: scales.clone(),
    });
    let key = node.warm.as_ptr() as usize;
    let warm = (!node.warm.is_empty()).then(|| {
        draft.warm(key, || {
            let scale = |i: u32| match &node.pending {
                Some(_) => 1.0,
                None => node.frame.scale[i as usize],
            };
            let warm = node.warm.iter();
            warm.map(|(i, x)| (column(&columns[*i as usize]), x.value() / scale(*i)))
                .collect()
        })
    });
    let count = columns.len();
    draft.state.open.push(SavedNode {
        low: node.low.value(),
        depth: node.depth,
        frame,
        warm,
        inside: bits(count, |i| node.inside.contains(i)),
        outside: bits(count, |i| node.outside.contains(i)),
    });
}

impl GramTree<'_> {
    /// The nodes of a checkpoint. `None` when a column is not in this tree.
    pub(crate) fn restore(&mut self, state: &State) -> Option<Vec<GramNode>> {
        let first = self.first.take()?;
        let index: HashMap<usize, u32> = (0u32..)
            .zip(&self.root.columns[..self.root.selectable])
            .map(|(i, j)| (*j, i))
            .collect();
        let always = self.root.selectable as u32..self.root.size() as u32;
        let k = self.problem.support_size();
        let mut frames = Vec::new();
        for frame in &state.frames {
            let root_indices = |columns: &[u32]| -> Option<Vec<u32>> {
                let found = columns.iter().map(|j| index.get(&(*j as usize)).copied());
                found.collect()
            };
            let (inside, mut columns) =
                (root_indices(&frame.inside)?, root_indices(&frame.columns)?);
            // Explicit rows see the features that are in: those stay as columns. Else they are condensed away.
            let explicit = if self.mixed.is_some() {
                inside.len()
            } else {
                0
            };
            let mut pending = if explicit > 0 {
                let mut all = inside;
                all.append(&mut columns);
                Pending {
                    inside: always.clone().collect(),
                    columns: all,
                    budget: k,
                    scales: Vec::new(),
                    point: Vec::new(),
                    built: OnceLock::new(),
                }
            } else {
                Pending {
                    budget: k - inside.len().min(k),
                    inside: inside.into_iter().chain(always.clone()).collect(),
                    columns,
                    scales: frame.scales.clone(),
                    point: Vec::new(),
                    built: OnceLock::new(),
                }
            };
            let is_lifted_alike = pending.scales.is_empty() || pending.scales == first.frame.scale;
            if pending.columns == first.frame.columns
                && pending.inside == first.frame.inside
                && is_lifted_alike
            {
                let _ = pending.built.set(Some(Arc::clone(&first.frame)));
            }
            let at: HashMap<u32, u32> = pending.columns.iter().copied().zip(0..).collect();
            let place = |j: &usize| at.get(index.get(j)?).copied();
            if let ([_], Some(point)) = (&state.open[..], &state.prepared.point) {
                let point = point.model().into_iter();
                pending.point = point.filter_map(|(j, x)| Some((place(&j)?, x))).collect();
            }
            frames.push((Arc::new(pending), explicit, at));
        }
        let starts: Vec<Vec<(usize, f64)>> = state.warm_starts().collect();
        // Siblings have the same frame, and share their warm start again.
        let mut shared = HashMap::new();
        let nodes = state.open.iter().map(|saved| {
            let (pending, explicit, at) = &frames[saved.frame as usize];
            let size = pending.columns.len();
            let (mut inside, mut outside) = (Bits::new(size), Bits::new(size));
            (0..*explicit).for_each(|i| inside.insert(i));
            for i in *explicit..size {
                if saved.is_inside(i - explicit) {
                    inside.insert(i);
                } else if saved.is_outside(i - explicit) {
                    outside.insert(i);
                }
            }
            let start = saved.warm.map(|warm| {
                let known = shared.entry((saved.frame, warm)).or_insert_with(|| {
                    let start = starts[warm as usize].iter();
                    let known =
                        start.filter_map(|(j, x)| Some((*at.get(index.get(j)?)?, Short::new(*x))));
                    known.collect()
                });
                Arc::clone(known)
            });
            let start = start.unwrap_or_default();
            let low = saved.low();
            let mut node = GramNode::new(low, &first.frame, inside, outside, &start, saved.depth);
            node.pending = Some(Arc::clone(pending));
            node
        });
        Some(nodes.collect())
    }

    /// Goes to where a node of a checkpoint stands, if it was the only one: `resolved` is what was made of it.
    pub(super) fn go_back(&mut self, node: &GramNode, resolved: &GramNode) {
        let Some(pending) = node.pending.as_ref().filter(|own| !own.point.is_empty()) else {
            return;
        };
        let frame = &resolved.frame;
        let has_own = frame.columns == pending.columns;
        self.newton.x.fill(0.0);
        for (at, x) in &pending.point {
            // The columns of the root's frame are root indices.
            let i = match has_own {
                true => *at as usize,
                false => pending.columns[*at as usize] as usize,
            };
            if !resolved.outside.contains(i) {
                self.newton.x[i] = x * frame.scale[i];
            }
        }
    }

    /// A node of a checkpoint with its frame; with the root's where its own cannot be built.
    pub(super) fn resolve(&self, node: &GramNode, context: &Context) -> Option<GramNode> {
        let pending = node.pending.as_ref()?;
        let frame = pending.built.get_or_init(|| {
            let Pending {
                inside,
                columns,
                budget,
                scales,
                ..
            } = &**pending;
            if columns.is_empty() {
                return None;
            }
            let (best, limits) = (context.reference(), &context.limits);
            let root = self.frame_root();
            let known = Spread::Known(scales.clone());
            let spread = match scales.is_empty() {
                true => self.spread(),
                false => &known,
            };
            let mut frame = Frame::new(root, inside, columns, *budget, best, spread, limits)?;
            frame.error += self.root_error;
            Some(frame.share(&self.frames))
        });
        let (frame, inside, outside, place) = match frame {
            Some(frame) => {
                let place: Vec<u32> = (0..frame.size() as u32).collect();
                (frame, node.inside.clone(), node.outside.clone(), place)
            }
            None => {
                // The columns of the root frame are the selectable root indices, in order.
                let root = &node.frame;
                let (mut inside, mut outside) = (Bits::new(root.size()), Bits::new(root.size()));
                let mut free = vec![false; root.size()];
                for i in pending
                    .inside
                    .iter()
                    .filter(|i| (**i as usize) < root.size())
                {
                    inside.insert(*i as usize);
                }
                for (at, i) in pending.columns.iter().enumerate() {
                    if node.inside.contains(at) {
                        inside.insert(*i as usize);
                    } else if !node.outside.contains(at) {
                        free[*i as usize] = true;
                    }
                }
                for (i, free) in free.iter().enumerate() {
                    if !free && !inside.contains(i) {
                        outside.insert(i);
                    }
                }
                (root, inside, outside, pending.columns.clone())
            }
        };
        let warm = node.warm.iter().map(|(i, x)| {
            let i = place[*i as usize];
            (i, Short::new(x.value() * frame.scale[i as usize]))
        });
        let warm: Arc<[(u32, Short)]> = warm.collect();
        Some(GramNode::new(
            node.low, frame, inside, outside, &warm, node.depth,
        ))
    }
}
