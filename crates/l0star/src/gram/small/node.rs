//! Enumeration of nodes of a search with a small budget.

use super::{Entries, Space, enumerate};
use crate::bound::Certified;
use crate::gram::root::Root;
use crate::relaxation::{Task, Watch};
use crate::tuning::enumeration::FEW;

/// Examines every model of a node with at most [`LARGEST`](super::LARGEST) features left. Returns a bound of all models
/// that are not handed out, by their features in order; `None` where there are too many, and at a limit.
pub(crate) fn enumerate_node(root: &Root, task: &Task, watch: &mut dyn Watch) -> Option<Certified> {
    let index = |j: &usize| root.index(*j);
    let chosen: Vec<usize> = task.node.included.iter().filter_map(index).collect();
    let free: Vec<usize> = task.node.free.iter().filter_map(index).collect();
    let inside: Vec<usize> = chosen
        .iter()
        .copied()
        .chain(root.selectable..root.size())
        .collect();
    let space = Space {
        entries: &Entries::of_root(root),
        inside: &inside,
        free: &free,
        m: task.node.budget,
    };
    let mut named = Named {
        root,
        chosen: &chosen,
        watch,
    };
    enumerate(space, task.cut, FEW, task.limits, 1, &mut named).proof()
}

/// Hands out sets of root indices as features, together with the included ones.
struct Named<'a> {
    root: &'a Root,
    chosen: &'a [usize],
    watch: &'a mut dyn Watch,
}

impl Watch for Named<'_> {
    fn hit(&mut self, set: &[usize]) -> f64 {
        let indices = self.chosen.iter().chain(set);
        let mut support: Vec<usize> = indices.map(|i| self.root.columns[*i]).collect();
        support.sort_unstable();
        self.watch.hit(&support)
    }

    fn progress(&mut self, share: f64) {
        self.watch.progress(share);
    }
}
