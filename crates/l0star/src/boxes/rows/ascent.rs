//! Bound of a node with boxes: the best over the slopes along a descent.

use super::descent::{Room, share};
use super::{RowBoxes, RowNode};
use crate::bound::{Certified, Children, DualPoint};
use crate::tuning::boxes::{ROW_PRICE, ROW_PROGRESS};

/// Maximum number of rounds of descent and evaluation.
const ROUNDS: usize = 60;
/// Number of rounds without progress after which the ascent ends.
const STALLS: usize = 8;

/// The point with the best bound of a node, and the last point of the descent.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowAscent {
    /// The slopes of the best bound.
    best: DualPoint,
    /// Share of the budget of each column, at the point with the best bound.
    pub shares: Vec<f64>,
    /// The last point: (column, coefficient).
    pub x: Vec<(usize, f64)>,
}

impl RowAscent {
    /// Maximises the bound of a node from the point in `x`, until it passes `cut` or progress stalls.
    pub(crate) fn maximise(
        &mut self,
        at: &RowNode,
        known: &RowBoxes,
        cut: f64,
        room: &mut Room,
    ) -> Certified {
        let problem = at.problem;
        let mut allowed = vec![false; problem.design.columns()];
        let decided = problem.unpenalised.columns().iter();
        let alive = at.node.columns().chain(decided.copied());
        alive.for_each(|j| allowed[j] = true);
        let start = self.x.iter().filter(|(j, _)| allowed[*j]);
        let start = start.map(|(j, x)| {
            let (low, high) = known.bounds(*j);
            let is_held = problem.ridge[*j] > 0.0;
            (*j, if is_held { x.max(low).min(high) } else { *x })
        });
        room.go_to(at, start);
        let m = at.node.budget;
        let mut price = ROW_PRICE * known.ceiling();
        let mut best = Certified::TRIVIAL;
        let (mut stalls, mut before) = (0, 0.0);
        self.shares.clear();
        self.shares.resize(allowed.len(), 0.0);
        for round in 0..ROUNDS {
            room.look(at);
            let bound = known.bound(&room.point, at, None, &mut room.scratch);
            if round == 0 || bound.value() > best.value() {
                best = bound;
                self.best.copy_from(&room.point);
                self.shares.fill(0.0);
                for j in at.node.free {
                    self.shares[*j] = share(room.x[*j], known.bounds(*j));
                }
            }
            if round == 0 || best.value() > before + ROW_PROGRESS * (cut - before) {
                (stalls, before) = (0, best.value());
            } else {
                stalls += 1;
            }
            if best.value() >= cut || stalls >= STALLS || at.limits.stop() {
                break;
            }
            if round > 0 {
                let used = room.used(at, known, None) / m as f64;
                price *= used.clamp(0.4, 2.5).powf(0.7);
            }
            room.descend(at, known, None, (price, m));
        }
        let touched = room.touched.iter().filter(|j| room.x[**j] != 0.0);
        self.x = touched.map(|j| (*j, room.x[*j])).collect();
        best.at_most(known.outside().value())
            .tighter(Certified::TRIVIAL)
    }

    /// Returns the bounds of the children of the node that was bounded last.
    pub(crate) fn children(&self, at: &RowNode, known: &RowBoxes) -> Children {
        let bounds = |j: usize| known.bounds(j);
        let mut children = self.best.children_within(at.problem, &at.node, &bounds);
        let outside = known.outside();
        children.low = children.low.at_most(outside.value());
        for other in &mut children.other_sides {
            other.bound = other.bound.at_most(outside.value());
            if known.is_zero(other.feature) {
                (other.is_out, other.bound) = (false, outside);
            }
        }
        children
    }
}
