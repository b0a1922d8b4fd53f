//! Coordinate descent on the loss with a price on the budget, within boxes.
//!
//! It minimises `L(Ax + o) + ½ Σ λ_i x_i² + τ Σ_F |x_i|/end_i` within the boxes, where `end_i` is the end on the side
//! that x_i is on. The loss is replaced by parabolas that touch it at the point and lie above it
//! ([`Loss::covering_curvature`](crate::loss::Loss::covering_curvature)), so that no step has to be checked. No proof
//! depends on the point that the descent reaches.

use super::{RowBoxes, RowNode};
use crate::bound::DualPoint;
use crate::limits::Limits;
use crate::linalg::kernels;
use crate::problem::Problem;
use crate::tuning::boxes::{MOST_KEPT, ROW_COVERS, ROW_NEAR, ROW_PASSES, SETTLED};

/// The columns of a problem, stored one after the other without gaps.
#[derive(Debug)]
pub(crate) struct Columns {
    rows: usize,
    values: Vec<f64>,
}

impl Columns {
    pub(crate) fn new(problem: &Problem) -> Self {
        let (rows, count) = (problem.rows(), problem.design.columns());
        let mut values = vec![0.0; rows * count];
        for (j, column) in values.chunks_exact_mut(rows).enumerate() {
            problem.design.add_columns([(j, 1.0)], column);
        }
        Self { rows, values }
    }

    fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.rows..(j + 1) * self.rows]
    }
}

/// A point, its slopes, and buffers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    /// Coefficients by column.
    pub(super) x: Vec<f64>,
    /// The predictions.
    pub(super) z: Vec<f64>,
    /// Columns whose coefficients may differ from zero.
    pub(super) touched: Vec<usize>,
    /// The slopes at the point, valid after a call of [`Room::look`].
    pub(super) point: DualPoint,
    pub(super) scratch: Vec<f64>,
    /// Points that proved each side of each box in the current node; empty where they are not kept.
    pub(super) certificates: Vec<[DualPoint; 2]>,
    alpha: Vec<f64>,
    slopes: Vec<f64>,
    curvature: Vec<f64>,
    moved: Vec<f64>,
    active: Vec<usize>,
}

impl Room {
    /// Moves to a point; a column that is listed twice counts once.
    pub(super) fn go_to(&mut self, at: &RowNode, x: impl Iterator<Item = (usize, f64)>) {
        let problem = at.problem;
        let n = problem.rows();
        if self.z.len() != n || self.x.len() != problem.design.columns() {
            *self = Self {
                x: vec![0.0; problem.design.columns()],
                z: vec![0.0; n],
                alpha: vec![0.0; n],
                slopes: vec![0.0; n],
                curvature: vec![0.0; n],
                moved: vec![0.0; n],
                point: DualPoint::new(problem),
                certificates: std::mem::take(&mut self.certificates),
                ..Self::default()
            };
        }
        for j in self.touched.drain(..) {
            self.x[j] = 0.0;
        }
        problem.predict_into(&[], &mut self.z);
        for (j, x) in x.filter(|(_, x)| *x != 0.0) {
            self.set(at.columns, j, x);
        }
    }

    /// Drops the certificates of another node, and makes room for those of this one if memory allows.
    pub(crate) fn begin(&mut self, problem: &Problem, limits: &Limits) {
        self.certificates.clear();
        let d = problem.design.columns();
        if 2 * d <= MOST_KEPT && !limits.is_short(16 * (d as u64).pow(2)) {
            self.certificates.resize(d, Default::default());
        }
    }

    /// Keeps the point examined last as the proof of a side.
    pub(super) fn keep(&mut self, at: &RowNode, (j, which): (usize, usize)) {
        if let Some(own) = self.certificates.get_mut(j) {
            own[which] = self.point.for_bounds(&at.node);
        }
    }

    /// Moves one coefficient.
    pub(super) fn set(&mut self, columns: &Columns, j: usize, x: f64) {
        if self.x[j] == 0.0 {
            self.touched.push(j);
        }
        kernels::axpy(x - self.x[j], columns.column(j), &mut self.z);
        self.x[j] = x;
    }

    /// Computes the slopes at the point, for all columns of the node.
    pub(super) fn look(&mut self, at: &RowNode) {
        self.point.move_to(at.problem, &self.z);
        self.point.dots(at.problem, &at.node);
    }

    /// Runs a few rounds of descent from the point examined last; `held` does not move. Without a budget, free columns
    /// stay where they are.
    pub(super) fn descend(
        &mut self,
        at: &RowNode,
        known: &RowBoxes,
        held: Option<usize>,
        (price, budget): (f64, usize),
    ) {
        let problem = at.problem;
        let loss = &problem.loss;
        let mut active = std::mem::take(&mut self.active);
        active.clear();
        let is_moved = |j: &usize| Some(*j) != held;
        active.extend_from_slice(problem.unpenalised.columns());
        active.extend(at.node.included.iter().copied().filter(is_moved));
        let decided = active.len();
        if budget > 0 {
            let is_near = |j: &usize| {
                let v = self.point.slope(problem, *j).0;
                let (low, high) = known.bounds(*j);
                let end = if v < 0.0 { high } else { -low };
                self.x[*j] != 0.0 || v.abs() * end > ROW_NEAR * price
            };
            active.extend(
                at.node
                    .free
                    .iter()
                    .copied()
                    .filter(is_moved)
                    .filter(is_near),
            );
        }
        let settled = SETTLED * (2.0 * known.ceiling()).sqrt();
        for _ in 0..ROW_COVERS {
            loss.slopes(&self.z, &problem.b, &mut self.alpha);
            problem.weigh(&self.alpha, &mut self.slopes);
            loss.covering_curvatures(&problem.p, &self.z, &problem.b, &mut self.curvature);
            let mut furthest: f64 = 0.0;
            for pass in 0..ROW_PASSES {
                let mut largest: f64 = 0.0;
                for (place, j) in active.iter().enumerate() {
                    if pass > 0 && place >= decided && self.x[*j] == 0.0 {
                        continue;
                    }
                    let (bounds, price) = if place >= decided {
                        (known.bounds(*j), price)
                    } else if problem.ridge[*j] > 0.0 {
                        (known.bounds(*j), 0.0)
                    } else {
                        ((f64::NEG_INFINITY, f64::INFINITY), 0.0)
                    };
                    largest = largest.max(self.step(at, *j, bounds, price));
                }
                furthest = furthest.max(largest);
                if largest <= settled {
                    break;
                }
            }
            if furthest <= settled {
                break;
            }
        }
        self.active = active;
    }

    /// Minimises along one coordinate, and returns how far predictions moved.
    fn step(&mut self, at: &RowNode, j: usize, (low, high): (f64, f64), price: f64) -> f64 {
        let (column, ridge) = (at.columns.column(j), at.problem.ridge[j]);
        let (x, slope) = (self.x[j], kernels::dot(column, &self.slopes));
        if x == 0.0 && price > 0.0 {
            let end = if slope < 0.0 { high } else { -low };
            if slope.abs() * end <= price {
                return 0.0;
            }
        }
        let own = kernels::weighted_dot(&self.curvature, column, column);
        let curvature = own + ridge;
        if !(curvature > 0.0 && curvature.is_finite()) {
            return 0.0;
        }
        // As a function of x: ½ curvature x² - pull x + price |x|/end.
        let pull = own * x - slope;
        let end = if pull > 0.0 { high } else { -low };
        let threshold = if price > 0.0 { price / end } else { 0.0 };
        let size = ((pull.abs() - threshold) / curvature).max(0.0).min(end);
        let next = if size > 0.0 {
            pull.signum() * size
        } else {
            0.0
        };
        let change = next - x;
        if change == 0.0 || !change.is_finite() {
            return 0.0;
        }
        self.set(at.columns, j, next);
        for ((moved, weight), a) in self.moved.iter_mut().zip(&self.curvature).zip(column) {
            *moved = weight * a;
        }
        kernels::axpy(change, &self.moved, &mut self.slopes);
        change.abs() * own.sqrt()
    }

    /// Returns how much of the budget the free features of a node use, apart from `held`.
    pub(super) fn used(&self, at: &RowNode, known: &RowBoxes, held: Option<usize>) -> f64 {
        let free = at.node.free.iter().filter(|j| Some(**j) != held);
        free.map(|j| share(self.x[*j], known.bounds(*j))).sum()
    }
}

/// Returns the share of a box that a coefficient takes up.
pub(super) fn share(x: f64, (low, high): (f64, f64)) -> f64 {
    if x > 0.0 {
        x / high
    } else if x < 0.0 {
        x / low
    } else {
        0.0
    }
}
