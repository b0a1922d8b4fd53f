//! Bound of a node with boxes.
//!
//! With `Q = H - diag(λ)`, any y, `u = c - Qy` and every x of the node in its boxes,
//!
//! ```text
//! P(x) ≥ D(y) = c0 - ½ yᵀQy - (sum of the m largest q_i),   q_i = max over l_i ≤ x ≤ r_i of u_i x - ½ λ_i x²
//! ```
//!
//! as `c0 - cᵀx + ½ xᵀQx` is convex and lies above its tangent at y. D is greatest where y minimises the relaxation
//!
//! ```text
//! c0 - cᵀy + ½ yᵀQy + ½ Σ λ_i y_i²/z_i,   z_i l_i ≤ y_i ≤ z_i r_i,   0 ≤ z_i ≤ 1,   Σ z_i ≤ m.
//! ```
//!
//! With a price τ on Σ z, the relaxation separates into a penalty for each y_i, and coordinate descent minimises it. τ
//! is adjusted until the sum is m. Where features have a price c, `(q_i - c)₊` replaces `q_i`, and τ is at least c.

use super::budget::Choice;
use super::point::DescentPoint;
use super::{ProvedBox, Quadratic};
use crate::bound::{Certified, Children, box_atom};
use crate::limits::Limits;
use crate::linalg::rounding::U;
use crate::linalg::select::top_sum;
use crate::tuning::boxes::{ASCENT_PASSES, ASCENT_PROGRESS, ASCENT_STALLS};

/// Maximum number of rounds of descent and evaluation.
const ROUNDS: usize = 200;

/// A point, the bound that it gives, and what its children need.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ascent {
    point: DescentPoint,
    /// The price τ.
    price: f64,
    /// z at the point.
    pub shares: Vec<f64>,
    /// D at the point with the best bound, before its error is subtracted. `error` and `atoms` belong to the same
    /// point; the atoms are rounded up and net of prices.
    value: f64,
    error: f64,
    atoms: Vec<f64>,
    scratch: Vec<f64>,
}

/// A node to be bounded.
#[derive(Clone, Copy)]
pub(crate) struct Bounded<'a> {
    pub quadratic: &'a Quadratic<'a>,
    pub boxes: &'a [ProvedBox],
    pub choice: Choice,
    /// Ceiling up to which the boxes and the bound hold.
    pub ceiling: f64,
}

impl Ascent {
    /// Maximises D from `start` until it passes `cut` or progress stalls.
    pub(crate) fn maximise(
        &mut self,
        node: &Bounded,
        start: &[(usize, f64)],
        cut: f64,
        limits: &Limits,
    ) -> Certified {
        let quadratic = node.quadratic;
        self.point.reset(quadratic);
        for (i, x) in start {
            let (low, high) = node.boxes[*i].bounds();
            self.go(quadratic, *i, x.clamp(low, high));
        }
        self.value = f64::NEG_INFINITY;
        self.error = f64::INFINITY;
        self.evaluate(node);
        // Where features have a price, τ equals it as long as the budget does not bind.
        self.price = if node.choice.price > 0.0 {
            node.choice.price
        } else {
            self.last_in(node.choice.most)
        };
        let mut stalls = 0;
        let mut before = self.value;
        for _ in 0..ROUNDS {
            if self.bound(node, 0.0).value() >= cut || limits.stop() {
                break;
            }
            self.descend(node);
            self.evaluate(node);
            let gained = self.value - before;
            if gained > ASCENT_PROGRESS * (cut - before) {
                stalls = 0;
                before = self.value;
            } else {
                stalls += 1;
                if stalls >= ASCENT_STALLS {
                    break;
                }
            }
            let used = self.update_shares(node) / node.choice.most as f64;
            self.price *= used.clamp(0.4, 2.5).powf(0.7);
            self.price = self.price.max(node.choice.price);
        }
        self.update_shares(node);
        self.bound(node, 0.0)
    }

    /// Updates z at the point, and returns its sum.
    fn update_shares(&mut self, node: &Bounded) -> f64 {
        let shares = self.point.x.iter().enumerate();
        let shares = shares.map(|(i, y)| node.share(i, *y, self.price));
        self.shares.clear();
        self.shares.extend(shares);
        self.shares.iter().sum()
    }

    /// Returns the last point of the ascent.
    pub(crate) fn y(&self) -> &[f64] {
        &self.point.x
    }

    fn go(&mut self, quadratic: &Quadratic, i: usize, y: f64) {
        let change = y - self.point.x[i];
        self.point.go(quadratic, i, y);
        self.point.v[i] += quadratic.ridge[i] * change;
    }

    /// Passes over all coordinates, then over the non-zero ones.
    fn descend(&mut self, node: &Bounded) {
        let quadratic = node.quadratic;
        let settled = 1e-4 * (2.0 * node.ceiling).sqrt();
        for pass in 0..ASCENT_PASSES {
            let mut largest: f64 = 0.0;
            for i in 0..quadratic.size() {
                let y = self.point.x[i];
                if pass > 0 && y == 0.0 {
                    continue;
                }
                let whole = quadratic.row(i)[i];
                let curvature = (whole - quadratic.ridge[i]).max(1e-12 * whole);
                let slope = self.point.v[i] + curvature * y;
                let best = node.least(i, slope, curvature, self.price);
                if best != y && !best.is_nan() {
                    self.go(quadratic, i, best);
                    largest = largest.max((best - y).abs() * curvature.sqrt());
                }
            }
            if largest < settled {
                break;
            }
        }
    }

    /// Evaluates D at the point, and keeps it if it is the best so far.
    fn evaluate(&mut self, node: &Bounded) {
        let quadratic = node.quadratic;
        let (error, omega) = self.point.error(quadratic);
        let (mut linear, mut pull) = (0.0, 0.0);
        let DescentPoint { x: y, v: u, .. } = &self.point;
        for ((y, c), u) in y.iter().zip(&quadratic.c).zip(u) {
            linear += c * y;
            pull += u * y;
        }
        let base = quadratic.c0 - 0.5 * (linear - pull);
        let atom = |i: usize| {
            let slack = error * quadratic.sizes[i];
            let bounds = node.boxes[i].bounds();
            let ends = [u[i] - slack, u[i] + slack];
            let [low, high] = ends.map(|u| box_atom(u, quadratic.ridge[i], bounds));
            // Not `f64::max`, which would drop a NaN.
            if low > high || low.is_nan() {
                low
            } else {
                high
            }
        };
        let Choice { most, price } = node.choice;
        let priced = |i: usize| match atom(i) - price {
            // Not `f64::max`, which would drop a NaN.
            atom if atom < 0.0 => 0.0,
            atom => atom,
        };
        let top = top_sum((0..quadratic.size()).map(priced), most, &mut self.scratch);
        let value = base - top;
        let size = base.abs() + top + most as f64 * price;
        let error = 4.0 * error * omega + (4 * most + 40) as f64 * U * size;
        // A NaN is never better.
        if value - error > self.value - self.error {
            self.value = value;
            self.error = error;
            self.atoms.clear();
            self.atoms
                .extend((0..quadratic.size()).map(|i| atom(i) - price));
        }
    }

    /// Returns the m-th largest atom.
    fn last_in(&mut self, budget: usize) -> f64 {
        self.scratch.clone_from(&self.atoms);
        if self.scratch.len() < budget || budget == 0 {
            return 0.0;
        }
        let order = |a: &f64, b: &f64| b.total_cmp(a);
        *self.scratch.select_nth_unstable_by(budget - 1, order).1
    }

    /// Returns the bound of the node, or of a child whose D is higher by `rise`.
    fn bound(&self, node: &Bounded, rise: f64) -> Certified {
        Certified::from_frame(self.value + rise, node.ceiling, self.error)
    }

    /// Returns the bounds of all children; `column` maps an index to its feature.
    pub(crate) fn children(&self, node: &Bounded, column: impl Fn(usize) -> usize) -> Children {
        let atoms = self.atoms.iter().enumerate();
        let atoms = atoms.map(|(i, q)| (*q, column(i)));
        // A price far above all atoms causes larger rounding errors than they do.
        let share = if node.choice.price > 0.0 {
            8.0 * U
        } else {
            0.0
        };
        Children::from_atoms(atoms, node.choice.most, |rise| {
            self.bound(node, rise - share * rise)
        })
    }
}

impl Bounded<'_> {
    /// Returns `θ = √(2τ/λ)`, the size from which a coefficient takes a whole unit of the budget.
    fn whole(&self, i: usize, price: f64) -> f64 {
        (2.0 * price / self.quadratic.ridge[i]).sqrt()
    }

    /// Returns the least z for a coefficient: `|y|/θ`, or what its box requires.
    fn share(&self, i: usize, y: f64, price: f64) -> f64 {
        if y == 0.0 {
            return 0.0;
        }
        let (low, high) = self.boxes[i].bounds();
        let end = if y > 0.0 { high } else { -low };
        let least = y.abs() / end.min(self.whole(i, price));
        if least < 1.0 { least } else { 1.0 }
    }

    /// Minimises `½ h y² - g y` and the penalty over one coordinate. Up to `e = min(θ, end)` the penalty is
    /// `(τ/e + ½ λ e) |y|`, beyond it `τ + ½ λ y²`.
    fn least(&self, i: usize, slope: f64, curvature: f64, price: f64) -> f64 {
        let (low, high) = self.boxes[i].bounds();
        let (sign, end) = if slope > 0.0 {
            (1.0, high)
        } else {
            (-1.0, -low)
        };
        let ridge = self.quadratic.ridge[i];
        let whole = self.whole(i, price);
        let first = end.min(whole);
        let over = slope.abs() - (price / first + 0.5 * ridge * first);
        if first == 0.0 || over <= 0.0 {
            return 0.0;
        }
        let y = over / curvature;
        if y <= first {
            return sign * y;
        }
        let y = slope.abs() / (curvature + ridge);
        sign * y.clamp(first, end)
    }
}
