//! One side of one box: descent with the coefficient held near its end, and what the slopes prove.

use super::descent::Room;
use super::{ProvedBox, RowBoxes, RowNode, Side, Visits};
use crate::bound::DualPoint;
use crate::linalg::rounding::U;
use crate::tuning::boxes::{ROW_HOLD, ROW_PRICE, ROW_ROUNDS, ROW_STALLS, STALLED};

impl RowBoxes {
    /// Shrinks one side by points of its own, unless it skips this round. `is_in`: the feature is in, and uses none of
    /// the budget.
    pub(super) fn visit(
        &mut self,
        at: &RowNode,
        (j, is_in): (usize, bool),
        (which, side): (usize, Side),
        room: &mut Room,
    ) {
        let before = self.boxes[j].end(side);
        if before == 0.0 {
            return;
        }
        let mut visits = std::mem::take(&mut self.visits[j][which]);
        if visits.rest.0 > 0 {
            visits.rest.0 -= 1;
            self.visits[j][which] = visits;
            return;
        }
        let alone = [j];
        let own = beside(at, (&alone, is_in));
        self.descend_on(&own, (j, which, side), &mut visits, room);
        let is_stalled = self.boxes[j].end(side) > STALLED * before;
        let rest = if is_stalled { visits.rest.1 + 1 } else { 0 };
        visits.rest = (rest, rest);
        self.visits[j][which] = visits;
    }

    /// Shrinks one side by descent; `at` has the budget that remains besides j.
    fn descend_on(
        &mut self,
        at: &RowNode,
        (j, which, side): (usize, usize, Side),
        visits: &mut Visits,
        room: &mut Room,
    ) {
        let hold = |known: &ProvedBox| ROW_HOLD * side.sign() * known.end(side);
        let others = at.node.budget;
        if visits.price == 0.0 {
            visits.price = ROW_PRICE * self.ceiling;
        }
        let start = visits.x.iter().map(|(i, x)| (*i as usize, f64::from(*x)));
        let start = start.filter(|(i, _)| *i != j).map(|(i, x)| {
            // Columns that are out start at zero; unpenalised columns have no box.
            let (low, high) = self.bounds(i);
            match at.problem.ridge[i] > 0.0 {
                true if !room_for(at, i) => (i, 0.0),
                true => (i, x.max(low).min(high)),
                false => (i, x),
            }
        });
        let held = (j, hold(&self.boxes[j]));
        room.go_to(at, start.chain([held]));
        let mut stalls = 0;
        for _ in 0..ROW_ROUNDS {
            room.look(at);
            let end = self.boxes[j].end(side);
            let proved = self.proved_end(at, (j, side), &room.point, &mut room.scratch);
            match proved {
                Some(proved) if proved < end => {
                    self.boxes[j].shrink(side, proved);
                    room.keep(at, (j, which));
                    stalls = if proved > STALLED * end {
                        stalls + 1
                    } else {
                        0
                    };
                }
                _ => stalls += 1,
            }
            if self.boxes[j].end(side) == 0.0 || stalls >= ROW_STALLS || at.limits.stop() {
                break;
            }
            if others > 0 {
                let used = room.used(at, self, Some(j)) / others as f64;
                visits.price *= used.clamp(0.4, 2.5).powf(0.7);
            }
            room.set(at.columns, j, hold(&self.boxes[j]));
            room.descend(at, self, Some(j), (visits.price, others));
        }
        let x = room.touched.iter().filter(|i| **i != j);
        let x = x.filter(|i| room.x[**i] != 0.0);
        visits.x = x.map(|i| (*i as u32, room.x[*i] as f32)).collect();
    }

    /// Returns the end of one side that the slopes of the point prove, for all models with `P(x) ≤ ceiling`.
    pub(super) fn proved_end(
        &self,
        at: &RowNode,
        (j, side): (usize, Side),
        point: &DualPoint,
        scratch: &mut Vec<f64>,
    ) -> Option<f64> {
        let problem = at.problem;
        let (v, error) = point.slope(problem, j);
        // On this side `s v_j x_j` is at least `steep · |x_j|`.
        let steep = (side.sign() * v - error) * (1.0 - 4.0 * U);
        // Squares of far smaller numbers would not be normal.
        if steep.is_nan() || steep <= 1e-140 {
            return None;
        }
        let bound = self.bound(point, at, Some(j), scratch);
        end_of(self.ceiling, bound.value(), steep, problem.ridge[j])
    }
}

/// Returns the node as a side of j sees it, with the budget that remains besides j. Where no other free feature can
/// enter, none is examined.
pub(super) fn beside<'a>(at: &RowNode<'a>, (alone, is_in): (&'a [usize; 1], bool)) -> RowNode<'a> {
    let others = at.node.budget.saturating_sub(usize::from(!is_in));
    let mut own = *at;
    own.node.budget = others;
    own.node.free = match (others, is_in) {
        (0, true) => &[],
        (0, false) => alone,
        _ => at.node.free,
    };
    own
}

/// Returns the largest `t ≥ 0` with `steep t + ½ ridge t² ≤ ceiling - bound`, rounded up; 0 where there is none, and
/// `None` where numbers overflow.
fn end_of(ceiling: f64, bound: f64, steep: f64, ridge: f64) -> Option<f64> {
    let left = ceiling - bound + 4.0 * U * (ceiling.abs() + bound.abs());
    if left <= 0.0 {
        return Some(0.0);
    }
    let below = steep + (steep * steep + 2.0 * ridge * left).sqrt();
    let end = 2.0 * left / below * (1.0 + 16.0 * U);
    // The sum is for a quotient that underflows.
    (below.is_finite() && end.is_finite()).then_some(end + 1e-150)
}

/// Whether a column can be non-zero in a node.
fn room_for(at: &RowNode, i: usize) -> bool {
    at.node.free.binary_search(&i).is_ok() || at.node.included.contains(&i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_where_the_parabola_meets_what_is_left() {
        for (steep, ridge, left) in [(1.0, 0.5, 2.0), (1e-9, 1e-4, 0.3), (3.0, 1e-9, 1e-12)] {
            let end = end_of(left + 1.0, 1.0, steep, ridge).unwrap();
            let at = steep * end + 0.5 * ridge * end * end;
            assert!(at >= left * (1.0 - 1e-15), "{at:e} {left:e}");
            assert!(at <= left * (1.0 + 1e-12) + 1e-15, "{at:e} {left:e}");
        }
        assert_eq!(end_of(1.0, 1.0 + 1e-10, 1.0, 1.0), Some(0.0));
    }

    #[test]
    fn what_overflows_or_is_no_number_proves_nothing() {
        for bad in [f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(end_of(1.0, bad, 1.0, 1.0), None);
        }
        assert_eq!(end_of(1e308, 0.0, 1.0, 1e10), None);
        assert_eq!(end_of(f64::NAN, 0.0, 1.0, 1.0), None);
        assert_eq!(end_of(1.0, 0.5, 1e200, 1.0), None);
    }
}
