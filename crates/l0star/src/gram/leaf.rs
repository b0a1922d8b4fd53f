//! Nodes of the Gram tree in which at most one support is left, subsets aside.

use std::sync::Arc;

use super::frame::Frame;
use super::small;
use super::tree::{GramNode, GramTree};
use crate::bound::Certified;
use crate::relaxation::newton::Sets;
use crate::search::Context;
use crate::search::bits::Bits;

impl GramTree<'_> {
    /// At most one support is left: every feature that may be in it is in, and nothing is free.
    pub(super) fn settle(&mut self, sets: &mut Sets) {
        let free = std::mem::take(&mut sets.free);
        if sets.budget > 0 {
            sets.inside.extend(free);
            sets.budget = 0;
        } else {
            free.iter().for_each(|i| self.newton.x[*i] = 0.0);
        }
    }

    /// Closes a node in which few features can still be chosen by looking at all its models, where that is worth it.
    pub(super) fn enumerate(&self, frame: &Frame, sets: &Sets, context: &mut Context) -> bool {
        if self.mixed.is_some() || sets.budget > small::LARGEST {
            return false;
        }
        let wide = |i: u32| i as usize;
        let inside: Vec<usize> = Self::decided(frame, sets).into_iter().map(wide).collect();
        let free: Vec<usize> = sets.free.iter().map(|i| wide(frame.columns[*i])).collect();
        small::close_node(
            &self.root,
            &inside,
            &free,
            sets.budget,
            self.expanded,
            self.ceiling,
            context,
        )
    }

    /// A settled node that the frame's bound does not close: its own optimum, in doubled precision, does; or, when a list
    /// is wanted, leaves its proper subsets, with the bound that is returned.
    pub(super) fn close_leaf(
        &mut self,
        frame: &Frame,
        sets: &Sets,
        context: &mut Context,
    ) -> Option<Certified> {
        let left = Self::decided(frame, sets);
        let always = self.root.selectable as u32;
        let chosen: Vec<usize> = left
            .iter()
            .filter(|i| **i < always)
            .map(|i| *i as usize)
            .collect();
        let support = self.offer(&chosen, context);
        let evidence = context.certify_last().or(Certified::TRIVIAL);
        if !context.wants_list() || evidence.value() >= context.cut() {
            context.discard(evidence);
            return None;
        }
        context.settle(&support, evidence);
        Some(evidence)
    }

    /// The proper subsets of a settled support that may lack some of `free`: without the i-th, with all before it.
    pub(super) fn subsets(
        &self,
        low: Certified,
        frame: &Arc<Frame>,
        sets: &Sets,
        free: &[usize],
        depth: u32,
    ) -> Vec<GramNode> {
        let warm = self.warm(sets);
        let (mut inside, mut outside) = (Bits::new(frame.size()), Bits::new(frame.size()));
        let mut left = vec![false; frame.size()];
        sets.inside.iter().for_each(|i| left[*i] = true);
        (0..left.len())
            .filter(|i| !left[*i])
            .for_each(|i| outside.insert(i));
        free.iter().for_each(|i| left[*i] = false);
        (0..left.len())
            .filter(|i| left[*i])
            .for_each(|i| inside.insert(i));
        let mut nodes = Vec::with_capacity(free.len());
        for i in free {
            let mut without = outside.clone();
            without.insert(*i);
            nodes.push(GramNode::new(
                low,
                frame,
                inside.clone(),
                without,
                &warm,
                depth,
            ));
            inside.insert(*i);
        }
        nodes
    }
}
