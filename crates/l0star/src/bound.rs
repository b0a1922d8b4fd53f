//! The node bound, certified against rounding.
//!
//! A node is (S in, F free, the rest out) with budget m. For any slopes α in the domain of the conjugate, with
//! `β_i = p_i α_i`, `v_j = a_jᵀβ` and `q_j = v_j²/2λ_j`, every x of the node has
//!
//! ```text
//! P(x) ≥ D(β) = βᵀo - L*(β) - Σ_S q_j - (sum of the m largest q_j over F)
//! ```
//!
//! (Fenchel–Young row by row; equation (4) of the paper). With bounds on the coefficients and with groups an atom is
//!
//! ```text
//! q_g = Σ_{j in g} h_j(-v_j),   h_j(u) = max over l_j ≤ x ≤ u_j of ux - λ_j x²/2
//! ```
//!
//! and all else is the same. Where features have prices `c_g`, the objective is `P(x) + Σ c_g [g is in]`: the atom of a free
//! feature is `(q_g - c_g)₊`, and the prices of what is in are added. The float α *is* the dual point, so D only has to be
//! evaluated downwards. `docs/numerics.md` derives the margins.

mod leaf;

pub(crate) use leaf::{joint_leaf_bound, leaf_bound};

use crate::linalg::kernels;
use crate::linalg::rounding::{U, gamma};
use crate::linalg::select::top_sum;
use crate::problem::{Problem, Structure};
use crate::settings::Solution;

/// Covers underflow in the few thousand products that a bound adds up.
const TINY: f64 = 1e-290;

/// A number proved to be at most P(x) for every x of some node that is better than the null model.
///
/// Only this module makes one from data; everything that closes a node or fixes a feature takes one.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Certified(f64);

impl Certified {
    /// Losses and ridges are non-negative, so 0 is a bound of every node.
    pub const TRIVIAL: Self = Self(0.0);

    /// The bound.
    pub fn value(self) -> f64 {
        self.0
    }

    /// The larger of two bounds of the same node.
    pub fn tighter(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// Nothing above `ceiling` is claimed any more.
    pub(crate) fn at_most(self, ceiling: f64) -> Self {
        Self(self.0.min(ceiling))
    }

    /// A bound of `P(x) + cost` from one of P(x): for a cost that was added up from so many terms, each at least 0.
    pub(crate) fn plus(self, cost: f64, terms: usize) -> Self {
        if cost == 0.0 {
            return self;
        }
        let sum = self.0 + cost * (1.0 - gamma(terms + 2));
        Self::new(sum - 2.0 * U * sum.abs())
    }

    /// The smaller of bounds of two nodes bounds both.
    pub fn weaker(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }

    /// A bound evaluated in a [frame](crate::gram), with the proved bound of all its errors, both about x with `P(x) < ceiling`:
    /// the others are at least that, so that nothing above it is claimed, and no error is taken off the ceiling itself.
    pub(crate) fn from_frame(value: f64, ceiling: f64, error: f64) -> Self {
        let proved = Self::new(value - error - 4.0 * U * (value.abs() + error) - TINY);
        // A few roundings are left to whatever was compared with the ceiling on the way.
        let most = ceiling - 4.0 * U * ceiling.abs();
        if most.is_finite() {
            proved.at_most(most)
        } else {
            proved
        }
    }

    /// The target that an enumeration proved of every set that it did not hand out.
    pub(crate) fn enumerated(proof: &impl Enumeration) -> Self {
        Self::new(proof.target())
    }

    /// A bound that was certified by an earlier run of the same search, whose checkpoint was found whole.
    pub(crate) fn restored(value: f64) -> Self {
        Self::new(value)
    }

    /// The bound that a search of this run came to.
    pub(crate) fn of(found: &Solution) -> Self {
        found.lower_bound.map_or(Self::TRIVIAL, Self::new)
    }

    /// NaN and infinities (overflow on the way) say nothing. Negative numbers are kept: an ascent wants to see them.
    fn new(value: f64) -> Self {
        Self(if value.is_finite() {
            value
        } else {
            f64::NEG_INFINITY
        })
    }
}

/// A proof that looked at every set of features; only the code that enumerates makes one.
pub(crate) trait Enumeration {
    /// At most P(x) for every x of the sets that were not handed out to be certified by themselves.
    fn target(&self) -> f64;
}

/// What a bound has to know of a node.
#[derive(Debug, Clone, Copy)]
pub struct Subproblem<'a> {
    /// What may be non-zero whatever the budget: penalised always-in columns and the features of S.
    pub included: &'a [usize],
    /// Selectable features that are undecided.
    pub free: &'a [usize],
    /// How many of `free` may be non-zero.
    pub budget: usize,
}

impl Subproblem<'_> {
    /// Every feature that can be non-zero, unpenalised ones aside.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.included.iter().chain(self.free).copied()
    }

    /// The features of S.
    pub(crate) fn inside(&self, problem: &Problem) -> &[usize] {
        let always = problem.penalised.len();
        self.included.get(always..).unwrap_or(&[])
    }

    /// From a bound of what is left when the prices of the features that are in are not counted to one of the objective.
    pub(crate) fn with_cost(&self, problem: &Problem, bound: Certified) -> Certified {
        let inside = self.inside(problem);
        bound.plus(problem.cost(inside), inside.len() + problem.included.len())
    }
}

/// A dual point: slopes, or predictions where the loss couples rows, and all that is needed to bound any node with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct DualPoint {
    /// Slopes, in the domain and with `Uᵀβ ≈ 0`.
    pub alpha: Vec<f64>,
    /// `p ∘ α`, or `∇L` at the predictions.
    pub beta: Vec<f64>,
    /// `a_jᵀβ` for the columns asked for last.
    pub v: Vec<f64>,
    /// A lower bound of `βᵀo - L*(β)` less the cost of unpenalised residues.
    base: f64,
    /// `γ_{n+3} |β|₂`, and how far β is from the dual point itself, to be multiplied by a column's size.
    error: f64,
}

impl DualPoint {
    pub(crate) fn new(problem: &Problem) -> Self {
        let mut point = Self {
            alpha: vec![0.0; problem.rows()],
            beta: vec![0.0; problem.rows()],
            v: vec![0.0; problem.design.columns()],
            ..Self::default()
        };
        if problem.joint().is_some() {
            point.move_to(problem, &vec![0.0; problem.rows()]);
            return point;
        }
        problem.loss.clip(&mut point.alpha, &problem.b);
        point.update(problem);
        point
    }

    /// Goes to the slopes at predictions z.
    pub(crate) fn move_to(&mut self, problem: &Problem, z: &[f64]) {
        let Some(joint) = problem.joint() else {
            problem.loss.slopes(z, &problem.b, &mut self.alpha);
            self.update(problem);
            return;
        };
        let dual = joint.dual(z, &problem.offset, &mut self.beta);
        let size = kernels::norm(&self.beta);
        let n = problem.rows();
        let slack = dual.slack + problem.unpenalised.joint_cost(problem, &self.beta, &dual);
        self.base = dual.value - slack - 4.0 * U * (dual.value.abs() + slack);
        self.error = gamma(n + 3) * size * (1.0 + gamma(n + 4)) + 1.01 * dual.distance;
    }

    /// Goes to slopes α that were kept with their predictions z.
    pub(crate) fn return_to(&mut self, problem: &Problem, alpha: &[f64], z: &[f64]) {
        if problem.joint().is_some() {
            self.move_to(problem, z);
        } else {
            self.alpha.copy_from_slice(alpha);
            self.update(problem);
        }
    }

    /// After `alpha` was changed: repairs it, and computes β and what does not depend on the node.
    pub(crate) fn update(&mut self, problem: &Problem) {
        problem.unpenalised.repair(problem, &mut self.alpha);
        problem.weigh(&self.alpha, &mut self.beta);
        let n = problem.rows();
        let (sum, size) =
            problem
                .loss
                .dual_total(&problem.p, &self.alpha, &problem.b, &problem.offset);
        let residue = problem.unpenalised.residue_cost(problem, &self.alpha);
        self.base = -sum - gamma(n + 20) * size * 1.01 - residue;
        self.error = gamma(n + 3) * kernels::norm(&self.beta) * (1.0 + gamma(n + 4));
    }

    /// `v_j = a_jᵀβ` for the columns of a node.
    pub(crate) fn dots(&mut self, problem: &Problem, node: &Subproblem) {
        let v = &mut self.v;
        if problem.structure.is_some() {
            for features in [node.included, node.free] {
                let columns = problem.expanded(features);
                problem.design.dots_scattered(&columns, &self.beta, v);
            }
            return;
        }
        problem.design.dots_scattered(node.included, &self.beta, v);
        problem.design.dots_scattered(node.free, &self.beta, v);
    }

    /// `a_jᵀβ` of a column of the last [`DualPoint::dots`], and a bound of its error.
    pub(crate) fn slope(&self, problem: &Problem, j: usize) -> (f64, f64) {
        (self.v[j], self.error * problem.sizes[j])
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.alpha.clone_from(&other.alpha);
        self.beta.clone_from(&other.beta);
        self.v.clone_from(&other.v);
        self.base = other.base;
        self.error = other.error;
    }

    /// What bounds of the columns of the last [`DualPoint::dots`] of a node need. Those of nodes with other columns are not numbers.
    pub(crate) fn for_bounds(&self, node: &Subproblem) -> Self {
        let mut v = vec![f64::NAN; self.v.len()];
        node.columns().for_each(|j| v[j] = self.v[j]);
        Self {
            v,
            base: self.base,
            error: self.error,
            ..Self::default()
        }
    }

    /// Whether it is a point at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.v.is_empty()
    }

    /// `D(β)` of a node whose columns are covered by the last [`DualPoint::dots`], rounded down; the prices of what is in are
    /// not counted.
    pub(crate) fn bound(
        &self,
        problem: &Problem,
        node: &Subproblem,
        scratch: &mut Vec<f64>,
    ) -> Certified {
        match &problem.structure {
            None => {
                let atom = |j: usize| self.atom(problem, j);
                self.bound_by(problem, node, scratch, 0, atom, atom)
            }
            Some(structure) => {
                let more = additions(structure, node);
                let inside = |j: usize| self.feature_atom(problem, structure, j);
                let free = |j: usize| match self.priced_atom(problem, structure, j, more) {
                    // Not `f64::max`, which would drop a NaN.
                    atom if atom < 0.0 => 0.0,
                    atom => atom,
                };
                self.bound_by(problem, node, scratch, more, inside, free)
            }
        }
    }

    /// [`DualPoint::bound`] of the models of a node whose coefficients are within `bounds`, by column, for a problem without
    /// structure.
    pub(crate) fn bound_within(
        &self,
        problem: &Problem,
        node: &Subproblem,
        bounds: &impl Fn(usize) -> (f64, f64),
        scratch: &mut Vec<f64>,
    ) -> Certified {
        let atom = |j: usize| self.atom_within(problem, j, bounds(j));
        self.bound_by(problem, node, scratch, WITHIN, atom, atom)
    }

    /// `Q_j ≥ q_j` of a column with bounds.
    fn atom_within(&self, problem: &Problem, j: usize, bounds: (f64, f64)) -> f64 {
        let error = self.error * problem.sizes[j];
        atom_above(-self.v[j], error, problem.ridge[j], bounds)
    }

    /// `Q_j ≥ q_j` of a column without bounds.
    #[inline]
    fn atom(&self, problem: &Problem, j: usize) -> f64 {
        let v = self.v[j].abs() + self.error * problem.sizes[j];
        v * (v / (2.0 * problem.ridge[j]))
    }

    /// `Q_g ≥ q_g` of a feature.
    fn feature_atom(&self, problem: &Problem, structure: &Structure, leader: usize) -> f64 {
        let atom = |j: &usize| {
            let error = self.error * problem.sizes[*j];
            atom_above(-self.v[*j], error, problem.ridge[*j], structure.bounds[*j])
        };
        structure.members[leader].iter().map(atom).sum()
    }

    /// `Q_g - c_g`, which may be below 0, for a feature with a price; the rounding of `Q_g`, `more` times beyond that of a
    /// single column, is in it. Else `Q_g`.
    fn priced_atom(
        &self,
        problem: &Problem,
        structure: &Structure,
        leader: usize,
        more: usize,
    ) -> f64 {
        let atom = self.feature_atom(problem, structure, leader);
        if structure.priced {
            atom * (1.0 + gamma(more + 12)) - structure.costs[leader]
        } else {
            atom
        }
    }

    /// `D(β)` with these atoms of what is in and of what is free, which were rounded `more` times more often than those of single columns.
    fn bound_by(
        &self,
        problem: &Problem,
        node: &Subproblem,
        scratch: &mut Vec<f64>,
        more: usize,
        inside: impl Fn(usize) -> f64,
        free: impl Fn(usize) -> f64,
    ) -> Certified {
        let included: f64 = node.included.iter().map(|j| inside(*j)).sum();
        let top = top_sum(node.free.iter().map(|j| free(*j)), node.budget, scratch);
        let terms = node.included.len() + node.budget.min(node.free.len()) + more;
        let atoms = (included + top) * (1.0 + gamma(terms + 10));
        let value = self.base - atoms - 4.0 * U * (self.base.abs() + atoms) - TINY;
        cap(problem, value)
    }
}

/// Bounds of all children of a node, from one dual point.
///
/// With the m largest atoms over F as `top`, leaving `i ∈ top` out raises D by `q_i - q_(m+1)`, forcing `i ∉ top` in
/// raises it by `q_(m) - q_i`; the other two children keep D. A child at or above the cut is ruled out, which decides the
/// feature (*safe fixing*). With prices `q_i - c_i` takes the place of `q_i`, and what is below 0 is not in `top`.
#[derive(Debug, Clone)]
pub struct Children {
    /// The bound of the node itself.
    pub low: Certified,
    /// For each free feature the child that the relaxed point does not prefer.
    pub other_sides: Vec<OtherSide>,
}

/// The child of a node on the other side of one feature: without a feature of `top`, or with one that is not in it.
#[derive(Debug, Clone, Copy)]
pub struct OtherSide {
    /// The feature.
    pub feature: usize,
    /// Whether it is out in this child; then ruling the child out fixes it in.
    pub is_out: bool,
    /// The bound of the child.
    pub bound: Certified,
}

impl Children {
    /// From the atoms of the free features, q or q - c; `bound` certifies the D of the point, risen by so much.
    pub(crate) fn from_atoms(
        atoms: impl Iterator<Item = (f64, usize)>,
        budget: usize,
        bound: impl Fn(f64) -> Certified,
    ) -> Self {
        // Room for all at once: a vector that grows takes a tenth of a small node's time.
        let mut order = Vec::with_capacity(atoms.size_hint().1.unwrap_or(0));
        order.extend(atoms);
        if budget > 0 && budget < order.len() {
            order.select_nth_unstable_by(budget - 1, |a, b| b.0.total_cmp(&a.0));
        }
        let count = budget.min(order.len());
        let (top, rest) = order.split_at(count);
        let last_in = if count < budget {
            0.0
        } else {
            let least = top.iter().map(|(q, _)| *q).fold(f64::INFINITY, f64::min);
            least.max(0.0)
        };
        let first_out = rest.iter().map(|(q, _)| *q).fold(0.0, f64::max);
        let other_sides = order.iter().enumerate().map(|(rank, (q, j))| {
            let is_out = rank < count && *q >= 0.0;
            let rise = if is_out { q - first_out } else { last_in - q };
            OtherSide {
                feature: *j,
                is_out,
                bound: bound(rise.max(0.0)),
            }
        });
        Self {
            low: bound(0.0),
            other_sides: other_sides.collect(),
        }
    }
}

impl DualPoint {
    /// The bounds of the children of a node, rounded down.
    pub(crate) fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        match &problem.structure {
            None => {
                let atom = |j: usize| self.atom(problem, j);
                self.children_by(problem, node, 0, atom, atom)
            }
            Some(structure) => {
                let more = additions(structure, node);
                let inside = |j: usize| self.feature_atom(problem, structure, j);
                let free = |j: usize| self.priced_atom(problem, structure, j, more);
                self.children_by(problem, node, more, inside, free)
            }
        }
    }

    /// The bounds of the children of a node whose coefficients are within `bounds`.
    pub(crate) fn children_within(
        &self,
        problem: &Problem,
        node: &Subproblem,
        bounds: &impl Fn(usize) -> (f64, f64),
    ) -> Children {
        let atom = |j: usize| self.atom_within(problem, j, bounds(j));
        self.children_by(problem, node, WITHIN, atom, atom)
    }

    fn children_by(
        &self,
        problem: &Problem,
        node: &Subproblem,
        more: usize,
        inside: impl Fn(usize) -> f64,
        atom: impl Fn(usize) -> f64,
    ) -> Children {
        let m = node.budget;
        let included: f64 = node.included.iter().map(|j| inside(*j)).sum();
        // A NaN stays one.
        let positive = |atom: f64| if atom < 0.0 { 0.0 } else { atom };
        let free = node.free.iter().map(|j| positive(atom(*j)));
        let top = top_sum(free, m, &mut Vec::new());
        let atoms = included + top;
        let terms = node.included.len() + m.min(node.free.len()) + more + 20;
        let slack = gamma(terms) * atoms + 8.0 * U * self.base.abs() + TINY;
        let low = self.base - atoms - slack;
        let free = node.free.iter().map(|j| (atom(*j), *j));
        // A feature that costs more than it gives has a rise that may be far larger than all atoms.
        let share = if problem.is_priced() { 8.0 * U } else { 0.0 };
        Children::from_atoms(free, m, |rise| {
            node.with_cost(problem, cap(problem, low + rise - share * rise))
        })
    }
}

/// Roundings of an atom of one column with bounds beyond those of a plain one.
const WITHIN: usize = 17;

/// How many roundings an atom of bounded columns costs beyond those of a plain one, and how many the sums inside the atoms
/// of groups.
fn additions(structure: &Structure, node: &Subproblem) -> usize {
    let largest = |features: &[usize]| {
        let sizes = features.iter().map(|j| structure.members[*j].len());
        sizes.max().unwrap_or(0)
    };
    16 + largest(node.included).max(largest(node.free))
}

/// `h(u) = max over l ≤ x ≤ r of ux - λx²/2` for bounds (l, r) around 0: `u²/2λ`, linear from where the maximum is at a
/// bound.
pub(crate) fn box_atom(u: f64, ridge: f64, (low, high): (f64, f64)) -> f64 {
    let (u, end) = if u < 0.0 { (-u, -low) } else { (u, high) };
    if u <= ridge * end {
        u * (u / (2.0 * ridge))
    } else {
        end * (u - 0.5 * ridge * end)
    }
}

/// The most that h can be within `error` of u, before its own rounding: h is convex and least at 0, so that is at an end.
fn atom_above(u: f64, error: f64, ridge: f64, bounds: (f64, f64)) -> f64 {
    let ends = [u - error, u + error].map(|u| box_atom(u, ridge, bounds));
    // Not `f64::max`, which would drop a NaN.
    if ends[0] > ends[1] || ends[0].is_nan() {
        ends[0]
    } else {
        ends[1]
    }
}

/// Bounds that pay for unpenalised columns by their boxes hold only for x that are no worse than the null model:
/// nothing above that may be claimed.
fn cap(problem: &Problem, value: f64) -> Certified {
    if problem.unpenalised.is_empty() {
        return Certified::new(value);
    }
    let ceiling = problem.null_value * (1.0 + 1e-7);
    // Not `f64::min`, which would turn a NaN (an overflow) into a certificate.
    Certified::new(if value > ceiling { ceiling } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_claims_its_value_less_its_error_and_never_more_than_its_ceiling() {
        let claim = |value, ceiling, error| Certified::from_frame(value, ceiling, error).value();
        let close = |claim: f64, most: f64| claim < most && claim > most * (1.0 - 1e-14);
        assert!(close(claim(3.0, f64::INFINITY, 0.5), 2.5));
        assert!(close(claim(3.0, 2.75, 0.5), 2.5));
        assert!(close(claim(3.0, 2.0, 0.5), 2.0));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for ceiling in [1.0, f64::INFINITY] {
                assert_eq!(claim(value, ceiling, 0.1), f64::NEG_INFINITY);
                assert_eq!(claim(1.0, ceiling, value.abs()), f64::NEG_INFINITY);
            }
        }
    }
}
