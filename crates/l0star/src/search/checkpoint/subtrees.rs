//! [`Subtree`]: an open node that can be sent to another process, with everything needed to explore it there.
//!
//! A [`State`] is taken apart into subtrees and put together from them ([`State::take_subtrees`],
//! [`State::add_subtrees`]). In between, subtrees share lists of columns, starting points and frames by reference. So
//! any of them can be dropped or sent away without a loss to the others.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use super::{SavedNode, State};
use crate::bound::Certified;
use crate::linalg::short::Short;
use crate::relaxation::{FrameShape, SavedPoint};

/// An open node of a checkpoint.
#[derive(Debug, Clone)]
pub(crate) struct Subtree {
    bound: f64,
    depth: u32,
    list: Arc<[u32]>,
    start: Option<Arc<Point>>,
    inside: Vec<u8>,
    outside: Vec<u8>,
}

/// A starting point, and the frame that it was found in.
#[derive(Debug)]
struct Point {
    x: Vec<(u32, Short)>,
    frame: Option<Arc<FrameShape>>,
}

impl Subtree {
    /// A certified lower bound of every model in the subtree.
    pub(crate) fn bound(&self) -> Certified {
        Certified::restored(self.bound)
    }

    /// Approximate number of bytes on the heap.
    pub(crate) fn bytes(&self) -> u64 {
        let shared = self.start.as_ref().map_or(0, |point| {
            size_of_val(&*point.x) / Arc::strong_count(point).max(1)
        });
        (size_of::<Self>() + self.inside.len() + self.outside.len() + shared) as u64
    }

    fn frame(&self) -> Option<&Arc<FrameShape>> {
        self.start.as_ref()?.frame.as_ref()
    }

    /// Best first: the smallest bound, then the deepest.
    fn order(&self, other: &Self) -> Ordering {
        let bounds = self.bound.total_cmp(&other.bound);
        bounds.then(other.depth.cmp(&self.depth))
    }
}

/// Whether two nodes are solved in the same frame, even if each has its own copy.
fn is_same(a: Option<&Arc<FrameShape>>, b: Option<&Arc<FrameShape>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
        (None, None) => true,
        _ => false,
    }
}

/// Takes out the best subtree and others with the same frame, `count` in total if there are that many. The process
/// that explores the nodes of a frame has to build the frame and prove its lift, so these nodes travel together.
pub(crate) fn split(subtrees: &mut Vec<Subtree>, count: usize) -> Vec<Subtree> {
    let places = subtrees.iter().enumerate();
    let best = places.min_by(|(i, a), (j, b)| a.order(b).then(i.cmp(j)));
    let Some((_, best)) = best else {
        return Vec::new();
    };
    let frame = best.frame().cloned();
    if count < subtrees.len() {
        let is_other = |own: &Subtree| !is_same(own.frame(), frame.as_ref());
        let mut keyed: Vec<(bool, Subtree)> = subtrees
            .drain(..)
            .map(|own| (is_other(&own), own))
            .collect();
        // The order is stable: the selection depends only on the open subtrees.
        keyed.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.order(y)));
        subtrees.extend(keyed.into_iter().map(|(_, own)| own));
    }
    let rest = subtrees.split_off(count.min(subtrees.len()));
    std::mem::replace(subtrees, rest)
}

impl State {
    /// Takes the open nodes out.
    pub(crate) fn take_subtrees(&mut self) -> Vec<Subtree> {
        let lists: Vec<Arc<[u32]>> = self.lists.drain(..).map(Arc::from).collect();
        let starts = std::mem::take(&mut self.starts);
        let frames: Vec<Arc<FrameShape>> = starts.frames.into_iter().map(Arc::new).collect();
        let point = |saved: SavedPoint| {
            let frame = saved.frame.map(|at| Arc::clone(&frames[at as usize]));
            let SavedPoint { x, .. } = saved;
            Arc::new(Point { x, frame })
        };
        let points: Vec<Arc<Point>> = starts.points.into_iter().map(point).collect();
        let nodes = self.open.drain(..).map(|node| Subtree {
            bound: node.bound,
            depth: node.depth,
            list: Arc::clone(&lists[node.list as usize]),
            start: node.start.map(|at| Arc::clone(&points[at as usize])),
            inside: node.inside,
            outside: node.outside,
        });
        nodes.collect()
    }

    /// Adds open nodes; data that they share are written once.
    pub(crate) fn add_subtrees<'a>(&mut self, subtrees: impl IntoIterator<Item = &'a Subtree>) {
        let (mut lists, mut points) = (HashMap::new(), HashMap::new());
        for own in subtrees {
            let address = own.list.as_ptr() as usize;
            let list = *lists.entry(address).or_insert_with(|| {
                self.lists.push(own.list.to_vec());
                self.lists.len() as u32 - 1
            });
            let start = own.start.as_ref().map(|point| {
                let address = Arc::as_ptr(point) as usize;
                *points
                    .entry(address)
                    .or_insert_with(|| self.add_point(point))
            });
            self.open.push(SavedNode {
                bound: own.bound,
                depth: own.depth,
                list,
                start,
                inside: own.inside.clone(),
                outside: own.outside.clone(),
            });
        }
    }

    fn add_point(&mut self, point: &Point) -> u32 {
        let starts = &mut self.starts;
        let frame = point.frame.as_ref().map(|frame| {
            // Frames are few, and each process returns its own copy of the same frame.
            let known = starts.frames.iter().position(|own| own == &**frame);
            known.unwrap_or_else(|| {
                starts.frames.push((**frame).clone());
                starts.frames.len() - 1
            }) as u32
        });
        let x = point.x.clone();
        starts.points.push(SavedPoint { x, frame });
        starts.points.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relaxation::SavedStarts;

    fn frame(columns: &[u32]) -> FrameShape {
        FrameShape {
            inside: Vec::new(),
            columns: columns.to_vec(),
            scales: vec![1.0; columns.len()],
        }
    }

    fn node(bound: f64, depth: u32, list: u32, start: Option<u32>) -> SavedNode {
        SavedNode {
            bound,
            depth,
            list,
            start,
            inside: vec![1],
            outside: vec![2],
        }
    }

    /// Six nodes, two lists, three starting points, two frames.
    fn state() -> State {
        let points = [Some(0), Some(1), None].map(|frame| SavedPoint {
            x: vec![(1, Short::new(0.5))],
            frame,
        });
        State {
            lists: vec![vec![0, 1, 2], vec![1, 2]],
            starts: SavedStarts {
                points: points.to_vec(),
                frames: vec![frame(&[0, 1, 2]), frame(&[1, 2])],
            },
            open: vec![
                node(3.0, 1, 0, Some(0)),
                node(1.0, 1, 1, Some(1)),
                node(2.0, 1, 0, Some(0)),
                node(1.0, 4, 0, Some(0)),
                node(1.5, 2, 1, Some(2)),
                node(0.5, 2, 1, None),
            ],
            ..State::default()
        }
    }

    fn bounds(subtrees: &[Subtree]) -> Vec<f64> {
        subtrees.iter().map(|own| own.bound).collect()
    }

    #[test]
    fn nothing_is_lost_on_the_way_through_subtrees() {
        let (mut given, mut made) = (state(), State::default());
        made.add_subtrees(&given.take_subtrees());
        assert_eq!(made, state());
        assert!(given.open.is_empty() && given.lists.is_empty());
        assert_eq!(given.starts, Default::default());
        // Two parts are put together again: frames are identified by their content.
        let mut all = state().take_subtrees();
        let parts = [split(&mut all, 2), all];
        let mut together = State::default();
        for part in &parts {
            let mut sent = State::default();
            sent.add_subtrees(part);
            together.add_subtrees(&sent.take_subtrees());
        }
        assert_eq!(together.open.len(), 6);
        assert_eq!(together.starts.frames.len(), 2);
    }

    #[test]
    fn the_best_goes_first_and_takes_those_of_its_frame_along() {
        let mut all = state().take_subtrees();
        // Both subtrees without a frame.
        assert_eq!(bounds(&split(&mut all, 2)), [0.5, 1.5]);
        // The deeper of two with the same bound, and the others of its frame before better ones of another.
        let part = split(&mut all, 3);
        assert_eq!(bounds(&part), [1.0, 2.0, 3.0]);
        assert_eq!(part[0].depth, 4);
        assert_eq!(bounds(&all), [1.0]);
        assert_eq!(split(&mut all, 5).len(), 1);
        assert!(all.is_empty() && split(&mut all, 1).is_empty());
    }
}
