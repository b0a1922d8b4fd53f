//! The relaxation of a node with groups and bounds, by an accelerated proximal method with restarts.
//!
//! In coordinates of ridge 1 the problem is `min f(x) + ½|x_S|² + Ω(x_F)` within the bounds (`prox`). For any point y with
//! `u = -∇f(y)` and the atoms `q_g = Σ h_j(u_j)`,
//!
//! ```text
//! P(x) ≥ D(y) = f(y) + uᵀy - Σ_S q - top_m(q_F)      for every x of the node,
//! ```
//!
//! Every iterate therefore gives a bound; the best one is kept, and a [`Smooth`] certifies it. Where features have
//! prices c, the relaxed problem pays `Σ c_g z_g` for the shares of free features, and their atoms are `(q_g - c_g)₊`.
//! The prices of included features are a constant that is not counted here.

use std::ops::Range;

use super::prox::Target;
use crate::bound::{Certified, Children, box_atom};
use crate::limits::Limits;
use crate::linalg::rounding::{U, gamma};
use crate::linalg::select::top_sum;
use crate::relaxation::model::Goal;
use crate::tuning::rows::{CHECK, PROGRESS};

/// Number of roundings of an atom with bounds and a price, beyond those of a plain one.
pub(crate) const ATOM: usize = 17;
/// Maximum number of iterations at a node.
const MAX_ITERATIONS: usize = 600;

/// A smooth convex f in coordinates of ridge 1, with unpenalised columns eliminated, and the certificate of its bounds.
pub(crate) trait Smooth {
    /// Returns `(f(x), f(x) + uᵀx)` and sets `u = -∇f(x)` on the columns of the node; x vanishes elsewhere.
    fn evaluate(&mut self, x: &[f64], node: &Blocks, u: &mut [f64]) -> (f64, f64);

    /// Keeps the point evaluated last as the one to be certified; `dual` is its D.
    fn keep(&mut self, x: &[f64], u: &[f64], node: &Blocks, dual: f64);

    /// Returns the certified bound of the point kept last.
    fn certify(&mut self, node: &Blocks) -> Certified;
}

/// A node in the coordinates of a [`Smooth`].
#[derive(Debug, Clone)]
pub(crate) struct Blocks<'a> {
    /// Columns that are in.
    pub inside: Vec<usize>,
    /// Free columns, feature after feature, and the range of each feature.
    pub free: Vec<usize>,
    pub groups: Vec<Range<usize>>,
    /// Maximum number of features that may be non-zero.
    pub budget: usize,
    /// Price of each free feature; empty where there are none.
    pub costs: Vec<f64>,
    /// Bounds of every column, and a bound on the curvature of f along it, up to a common factor.
    pub bounds: &'a [(f64, f64)],
    pub curvature: &'a [f64],
}

impl Blocks<'_> {
    /// Returns every column that can be non-zero.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.inside.iter().chain(&self.free).copied()
    }

    /// Returns the largest number of free columns that models of the node can have.
    pub fn most_columns(&self) -> usize {
        let mut sizes: Vec<usize> = self.groups.iter().map(ExactSizeIterator::len).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.iter().take(self.budget).sum()
    }

    /// Returns how much rounding can change the difference of two of these atoms, beyond what
    /// is counted for single columns.
    pub fn selection_error(&self, atoms: &[f64]) -> f64 {
        let largest = atoms.iter().copied().fold(0.0, f64::max);
        let columns = self.groups.iter().map(ExactSizeIterator::len).max();
        2.0 * gamma(columns.unwrap_or(1) + ATOM + 8) * largest
    }

    /// Returns the sum of the atoms of the included features and of the m largest of the others.
    pub fn atoms(&self, u: &[f64], scratch: &mut Vec<f64>) -> f64 {
        let atom = |j: &usize| box_atom(u[*j], 1.0, self.bounds[*j]);
        let inside: f64 = self.inside.iter().map(atom).sum();
        if self.costs.is_empty() {
            let atoms = self.groups.iter().map(|group| self.atom(group, u));
            return inside + top_sum(atoms, self.budget, scratch);
        }
        let atoms = self.groups.iter().zip(&self.costs).map(|(group, cost)| {
            let atom = self.atom(group, u) - cost;
            // Not `f64::max`, which would drop a NaN.
            if atom < 0.0 { 0.0 } else { atom }
        });
        inside + top_sum(atoms, self.budget, scratch)
    }

    /// Returns the bounds of the children of a node whose free features are `free`. `child` certifies D raised by its
    /// first argument, less the second, the rounding of the atoms that are compared.
    pub fn children(
        &self,
        free: &[usize],
        u: &[f64],
        child: impl Fn(f64, f64) -> Certified,
    ) -> Children {
        let mut atoms: Vec<f64> = self.groups.iter().map(|g| self.atom(g, u)).collect();
        let rounding = self.selection_error(&atoms);
        atoms.iter_mut().zip(&self.costs).for_each(|(q, c)| *q -= c);
        let each = atoms.iter().copied().zip(free.iter().copied());
        Children::from_atoms(each, self.budget, |rise| {
            // A price far above all atoms causes larger rounding errors than they do.
            let own = if self.costs.is_empty() {
                0.0
            } else {
                8.0 * U * rise
            };
            child(rise, rounding + own)
        })
    }

    /// Returns the atom of a feature.
    pub fn atom(&self, group: &Range<usize>, u: &[f64]) -> f64 {
        let atom = |j: &usize| box_atom(u[*j], 1.0, self.bounds[*j]);
        self.free[group.clone()].iter().map(atom).sum()
    }
}

/// The solver, with its buffers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proximal {
    /// The iterate of least value.
    pub x: Vec<f64>,
    /// The point of the best bound, and u there.
    pub bound_x: Vec<f64>,
    pub best_u: Vec<f64>,
    /// The share of each free feature at x.
    pub shares: Vec<f64>,
    /// The common factor of the curvatures.
    factor: f64,
    /// The best D.
    pub bound: f64,
    point: Vec<f64>,
    u: Vec<f64>,
    current: Vec<f64>,
    next: Vec<f64>,
    next_u: Vec<f64>,
    v: Vec<f64>,
    t: Vec<f64>,
    bounds: Vec<(f64, f64)>,
    next_shares: Vec<f64>,
    pub scratch: Vec<f64>,
}

impl Proximal {
    /// Maximises the bound of a node from the point in `x`. The bound is valid whenever the method stops.
    pub(crate) fn solve(
        &mut self,
        smooth: &mut dyn Smooth,
        node: &Blocks,
        goal: &Goal,
        limits: &Limits,
    ) -> Certified {
        let size = node.curvature.len();
        for buffer in [
            &mut self.x,
            &mut self.bound_x,
            &mut self.best_u,
            &mut self.u,
            &mut self.next,
            &mut self.next_u,
        ] {
            buffer.resize(size, 0.0);
        }
        self.next.fill(0.0);
        self.shares.clear();
        self.bounds.clear();
        self.bounds
            .extend(node.free.iter().map(|j| node.bounds[*j]));
        // A slightly smaller factor than last time, so that steps may grow again.
        self.factor = (0.9 * self.factor).max(1.0);
        self.bound = f64::NEG_INFINITY;
        self.current.clone_from(&self.x);
        self.point.clone_from(&self.x);
        let mut certified: Option<Certified> = None;
        let mut best_primal = f64::INFINITY;
        let mut last_primal = f64::INFINITY;
        let mut momentum: f64 = 1.0;
        let mut checked = f64::NEG_INFINITY;
        let (mut value, base) = self.look(smooth, node);
        self.take(smooth, node, base, false, &mut certified);
        for iteration in 0..MAX_ITERATIONS {
            let reached = self.bound >= goal.cut && {
                let bound = *certified.get_or_insert_with(|| smooth.certify(node));
                bound.value() >= goal.cut
            };
            if reached || best_primal - self.bound <= goal.tolerance || limits.stop() {
                break;
            }
            if iteration % CHECK == CHECK - 1 {
                let missing = goal.cut - self.bound;
                if self.bound - checked < PROGRESS * missing {
                    break;
                }
                checked = self.bound;
            }
            let Some((next_value, next_base)) = self.step(smooth, node, value) else {
                break;
            };
            self.take(smooth, node, next_base, true, &mut certified);
            let primal = next_value + self.regular(node);
            if primal < best_primal {
                best_primal = primal;
                self.x.copy_from_slice(&self.next);
                self.shares.clone_from(&self.next_shares);
            }
            // Restart when the step goes against the momentum.
            let against: f64 = node
                .columns()
                .map(|j| {
                    let back = self.point[j] - self.next[j];
                    back * (self.next[j] - self.current[j]) * node.curvature[j]
                })
                .sum();
            let restart = against > 0.0 || primal > last_primal;
            last_primal = primal;
            let following = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let weight = if restart {
                0.0
            } else {
                (momentum - 1.0) / following
            };
            momentum = if restart { 1.0 } else { following };
            for j in node.columns() {
                self.point[j] = self.next[j] + weight * (self.next[j] - self.current[j]);
            }
            std::mem::swap(&mut self.current, &mut self.next);
            if weight == 0.0 {
                std::mem::swap(&mut self.u, &mut self.next_u);
                value = next_value;
            } else {
                value = self.look(smooth, node).0;
            }
        }
        certified.unwrap_or_else(|| smooth.certify(node))
    }

    /// Evaluates f and u at the extrapolated point.
    fn look(&mut self, smooth: &mut dyn Smooth, node: &Blocks) -> (f64, f64) {
        smooth.evaluate(&self.point, node, &mut self.u)
    }

    /// Keeps the point evaluated last if its D is the best: the point of a step, or the start.
    fn take(
        &mut self,
        smooth: &mut dyn Smooth,
        node: &Blocks,
        base: f64,
        stepped: bool,
        certified: &mut Option<Certified>,
    ) {
        let (x, u) = if stepped {
            (&self.next, &self.next_u)
        } else {
            (&self.point, &self.u)
        };
        let dual = base - node.atoms(u, &mut self.scratch);
        if dual > self.bound {
            self.bound = dual;
            *certified = None;
            self.best_u.copy_from_slice(u);
            self.bound_x.copy_from_slice(x);
            smooth.keep(x, u, node, dual);
        }
    }

    /// Takes a prox step from the extrapolated point into `next`, as long as the curvature allows.
    /// Returns `None` when f is not finite.
    fn step(&mut self, smooth: &mut dyn Smooth, node: &Blocks, value: f64) -> Option<(f64, f64)> {
        for _ in 0..100 {
            let length = |j: usize| 1.0 / (self.factor * node.curvature[j]);
            for j in &node.inside {
                let t = length(*j);
                let (low, high) = node.bounds[*j];
                let v = self.point[*j] + t * self.u[*j];
                self.next[*j] = (v / (1.0 + t)).max(low).min(high);
            }
            self.v.clear();
            self.t.clear();
            for j in &node.free {
                let t = length(*j);
                self.v.push(self.point[*j] + t * self.u[*j]);
                self.t.push(t);
            }
            let target = Target {
                v: &self.v,
                t: &self.t,
                bounds: &self.bounds,
                groups: &node.groups,
                costs: &node.costs,
                budget: node.budget,
            };
            target.shares(&mut self.next_shares);
            for (group, z) in node.groups.iter().zip(&self.next_shares) {
                for at in group.clone() {
                    self.next[node.free[at]] = target.coefficient(at, *z);
                }
            }
            let (next_value, base) = smooth.evaluate(&self.next, node, &mut self.next_u);
            if !next_value.is_finite() {
                return None;
            }
            let mut model = value;
            for j in node.columns() {
                let way = self.next[j] - self.point[j];
                model += way * (0.5 * self.factor * node.curvature[j] * way - self.u[j]);
            }
            if next_value <= model + 1e-13 * value.abs() {
                return Some((next_value, base));
            }
            self.factor *= 1.6;
        }
        None
    }

    /// Returns `½|x_S|² + Ω(x_F)` of the step, with its shares and what they cost.
    fn regular(&self, node: &Blocks) -> f64 {
        let square = |j: &usize| self.next[*j] * self.next[*j];
        let mut sum: f64 = node.inside.iter().map(square).sum();
        for (group, z) in node.groups.iter().zip(&self.next_shares) {
            if *z > 0.0 {
                let squares: f64 = node.free[group.clone()].iter().map(square).sum();
                sum += squares / z;
            }
        }
        let paid = node.costs.iter().zip(&self.next_shares);
        0.5 * sum + paid.map(|(cost, z)| cost * z).sum::<f64>()
    }
}
