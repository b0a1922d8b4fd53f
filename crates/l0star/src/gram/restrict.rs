//! The tree of one decision from that of the whole problem: a feature in, or out.

use std::sync::Arc;

use super::swaps;
use super::tree::{GramNode, GramTree};
use crate::problem::Problem;
use crate::search::decision::Decision;
use crate::search::{Context, Restrict};

impl Restrict for GramTree<'_> {
    fn another(&self) -> Self {
        Self {
            mixed: self.mixed.clone(),
            root_error: self.root_error,
            ceiling: self.ceiling,
            frames: Arc::clone(&self.frames),
            ..Self::bare(self.problem, self.ideas, Arc::clone(&self.root))
        }
    }

    fn restrict(&self, _: &Problem, node: &GramNode, decision: Decision) -> Option<GramNode> {
        let (condensed, columns, budget) = node.shape();
        let is_it = |i: &u32| self.root.columns[*i as usize] == decision.feature;
        let (mut inside, mut outside) = (node.inside.clone(), node.outside.clone());
        let place = columns.iter().position(is_it);
        let is_condensed = condensed.iter().any(is_it);
        let is_in = is_condensed || place.is_some_and(|i| inside.contains(i));
        let is_out = !is_in && place.is_none_or(|i| outside.contains(i));
        let count = (0..columns.len()).filter(|i| inside.contains(*i)).count();
        match (decision.inside, place) {
            (true, _) if is_out => return None,
            (false, _) if is_in => return None,
            (true, Some(i)) if !is_in => {
                if count >= budget {
                    return None;
                }
                inside.insert(i);
            }
            (false, Some(i)) => outside.insert(i),
            _ => {}
        }
        let (frame, warm, depth) = (&node.frame, &node.warm, node.depth);
        let mut left = GramNode::new(node.low, frame, inside, outside, warm, depth);
        left.pending.clone_from(&node.pending);
        Some(left)
    }

    fn polish(&mut self, support: &[usize], decision: Decision, context: &mut Context) {
        let columns = &self.root.columns[..self.root.selectable];
        let place = |j: &usize| columns.binary_search(j).ok();
        let chosen: Option<Vec<usize>> = support.iter().map(place).collect();
        if let (Some(mut chosen), Some(i), true) =
            (chosen, place(&decision.feature), self.ideas.swaps)
        {
            let pinned = Some((i, decision.inside));
            let most = 10 * chosen.len() + 20;
            let limits = &context.limits;
            swaps::improve(
                self.root.form(),
                &mut chosen,
                most,
                pinned,
                limits,
                &mut |_| {},
            );
            self.offer(&chosen, context);
        }
    }
}
