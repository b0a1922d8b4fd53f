//! Proved boxes for losses that add up over rows: logistic, Huber, the squared hinge.
//!
//! For slopes α in the domain of the conjugate, `β = p ∘ α` and `v = Aᵀβ`, the Fenchel–Young inequality, row by row,
//! gives for every x
//!
//! ```text
//! P(x) ≥ base + Σ (v_i x_i + ½ λ_i x_i²),   base = βᵀo - L*(β)
//! ```
//!
//! Consider a model of a node (S in, at most m of F) with `P(x) ≤ ceiling` and `x_j ≠ 0`. Besides j, at most m - 1 free
//! features (m if j is in) are non-zero, and each coefficient is in its box:
//!
//! ```text
//! v_j x_j + ½ λ_j x_j² ≤ R = ceiling - base + Σ_S q_i + (sum of the m - 1 largest q_i over F),   i ≠ j
//! q_i = max over l_i ≤ x ≤ r_i of -v_i x - ½ λ_i x²
//! ```
//!
//! `ceiling - R` is the bound of the node without j that [`DualPoint`] certifies, so only one quotient has to be
//! rounded here. On the side s of j where `s v_j > 0`, this bounds `s x_j`. Any slopes will do. Good ones are those of
//! a point at which `x_j` is held near the end of its box and the rest of the loss is least ([`side`]). See
//! `docs/numerics.md`, section 22.

mod ascent;
mod descent;
mod side;

use std::sync::Arc;

use super::{ProvedBox, SIDES, Side, mean_share};
use crate::bound::{Certified, DualPoint, Subproblem};
use crate::limits::Limits;
use crate::problem::Problem;

use crate::tuning::boxes::{MOST_REPEATS, WORTH_REPEATING};
pub(crate) use ascent::RowAscent;
pub(crate) use descent::{Columns, Room};
use side::beside;

/// A node whose boxes are to be proved, and its columns.
#[derive(Clone, Copy)]
pub(crate) struct RowNode<'a> {
    pub problem: &'a Problem,
    pub columns: &'a Columns,
    pub node: Subproblem<'a>,
    pub limits: &'a Limits,
}

/// The boxes of a node, and the state of the work on them.
#[derive(Debug, Clone)]
pub(crate) struct RowBoxes {
    /// Boxes by column of the problem; those of columns that are out have no meaning.
    boxes: Vec<ProvedBox>,
    /// The boxes hold for models with P up to this objective.
    ceiling: f64,
    visits: Vec<[Visits; 2]>,
}

/// State of one side between visits.
#[derive(Debug, Clone, Default)]
struct Visits {
    /// Last point of the descent: (column, coefficient), unpenalised columns included.
    x: Arc<[(u32, f32)]>,
    /// The price of the budget there; 0 before the first visit.
    price: f64,
    /// Number of rounds still to skip, and how many the last visit set.
    rest: (u32, u32),
}

impl RowBoxes {
    /// Returns the boxes that the ridges prove for models with P up to `ceiling`.
    pub(crate) fn new(problem: &Problem, ceiling: f64) -> Self {
        let by_ridge = |ridge: &f64| ProvedBox::by_ridge(*ridge, ceiling);
        Self {
            boxes: problem.ridge.iter().map(by_ridge).collect(),
            ceiling,
            visits: vec![Default::default(); problem.ridge.len()],
        }
    }

    /// Returns the ceiling: the boxes hold for models with P up to this.
    pub(crate) fn ceiling(&self) -> f64 {
        self.ceiling
    }

    /// Lowers the ceiling: only models up to the new one matter from here on.
    pub(crate) fn lower(&mut self, ceiling: f64) {
        self.ceiling = self.ceiling.min(ceiling);
    }

    /// Returns the box of a column.
    pub(crate) fn bounds(&self, j: usize) -> (f64, f64) {
        self.boxes[j].bounds()
    }

    /// Whether no model up to the ceiling has the feature.
    pub(crate) fn is_zero(&self, j: usize) -> bool {
        self.boxes[j].is_zero()
    }

    /// Returns a copy for the nodes below, where every side is visited again.
    pub(crate) fn for_children(&self) -> Self {
        let mut copy = self.clone();
        let visits = copy.visits.iter_mut().flatten();
        visits.for_each(|visits| visits.rest = (0, 0));
        copy
    }

    /// Returns the number of bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let points = self.visits.iter().flatten();
        let points: usize = points.map(|visits| size_of_val(&*visits.x) + 16).sum();
        points + self.boxes.len() * (size_of::<ProvedBox>() + 2 * size_of::<Visits>())
    }

    /// Returns what is proved about models outside the boxes.
    pub(crate) fn outside(&self) -> Certified {
        Certified::from_frame(self.ceiling, self.ceiling, 0.0)
    }

    /// Returns the bound of a node by a point that has the slopes of its columns; the column `without` is zero.
    fn bound(
        &self,
        point: &DualPoint,
        at: &RowNode,
        without: Option<usize>,
        scratch: &mut Vec<f64>,
    ) -> Certified {
        let bounds = |j: usize| {
            if Some(j) == without {
                (0.0, 0.0)
            } else {
                self.bounds(j)
            }
        };
        point.bound_within(at.problem, &at.node, &bounds, scratch)
    }

    /// Visits every side that is worthwhile, each with what the earlier visits proved.
    ///
    /// Returns the mean share that is left of the boxes that were not zero, or `None` at a limit.
    pub(crate) fn round(&mut self, at: &RowNode, room: &mut Room) -> Option<f64> {
        let free = at.node.free.iter().map(|j| (*j, false));
        let inside = at.node.included.iter().map(|j| (*j, true));
        let all: Vec<(usize, bool)> = free
            .chain(inside)
            .filter(|(j, _)| !self.is_zero(*j))
            .collect();
        let reaches = |boxes: &[ProvedBox]| -> Vec<f64> {
            all.iter().map(|(j, _)| boxes[*j].reach()).collect()
        };
        let before = reaches(&self.boxes);
        for column in &all {
            for side in SIDES.into_iter().enumerate() {
                if at.limits.stop() {
                    return None;
                }
                self.visit(at, *column, side, room);
            }
        }
        let mut last = reaches(&self.boxes);
        for _ in 0..MOST_REPEATS {
            self.apply_again(at, &all, room);
            let now = reaches(&self.boxes);
            if mean_share(&last, now.iter().copied()) > WORTH_REPEATING || at.limits.stop() {
                last = now;
                break;
            }
            last = now;
        }
        Some(mean_share(&before, last.iter().copied()))
    }

    /// Applies the stored certificates to the current boxes again.
    fn apply_again(&mut self, at: &RowNode, all: &[(usize, bool)], room: &mut Room) {
        let Room {
            certificates,
            scratch,
            ..
        } = room;
        for (j, is_in) in all {
            let Some(own) = certificates.get(*j) else {
                return;
            };
            for (certificate, side) in own.iter().zip(SIDES) {
                let end = self.boxes[*j].end(side);
                if end == 0.0 || certificate.is_empty() {
                    continue;
                }
                let alone = [*j];
                let beside = beside(at, (&alone, *is_in));
                let proved = self.proved_end(&beside, (*j, side), certificate, scratch);
                if let Some(proved) = proved.filter(|proved| *proved < end) {
                    self.boxes[*j].shrink(side, proved);
                }
            }
        }
    }
}
