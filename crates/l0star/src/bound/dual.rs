//! Bounds of a node and its children from a dual point, in matrix form (`docs/numerics.md`, sections 1 and 12).

use super::{Certified, Children, Subproblem, TINY};
use crate::linalg::kernels;
use crate::linalg::rounding::{U, gamma};
use crate::linalg::select::top_sum;
use crate::problem::{Problem, Structure};

/// A dual point: slopes, or predictions where the loss couples rows, and all that is needed to bound any node with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct DualPoint {
    /// Slopes, in the domain of the conjugate and with `Uᵀβ ≈ 0`.
    pub alpha: Vec<f64>,
    /// `p ∘ α`, or `∇L` at the predictions.
    pub beta: Vec<f64>,
    /// `a_jᵀβ` for the columns requested last.
    pub v: Vec<f64>,
    /// A lower bound of `βᵀo - L*(β)` less the cost of unpenalised residues.
    base: f64,
    /// `γ_{n+3} |β|₂` plus the distance of β from the dual point itself, to be multiplied by a column's size.
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

    /// Moves to the slopes at predictions z.
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

    /// Returns to slopes α that were saved with their predictions z.
    pub(crate) fn return_to(&mut self, problem: &Problem, alpha: &[f64], z: &[f64]) {
        if problem.joint().is_some() {
            self.move_to(problem, z);
        } else {
            self.alpha.copy_from_slice(alpha);
            self.update(problem);
        }
    }

    /// Repairs `alpha` after it was changed, and computes β and everything that does not depend on the node.
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

    /// Computes `v_j = a_jᵀβ` for the columns of a node.
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

    /// Returns `a_jᵀβ` of a column of the last [`DualPoint::dots`], and a bound of its error.
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

    /// Copies what bounds need for the columns of a node, those of the last [`DualPoint::dots`]. The entries of other
    /// columns are NaN.
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

    /// Whether there is no point.
    pub(crate) fn is_empty(&self) -> bool {
        self.v.is_empty()
    }

    /// Returns `D(β)`, rounded down, for a node whose columns are covered by the last [`DualPoint::dots`]. The prices
    /// of the features that are in are not counted.
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

    /// Returns [`DualPoint::bound`] for the models of a node whose coefficients are within `bounds`, given by column,
    /// for a problem without structure.
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

    /// `Q_g - c_g`, which may be negative, for a problem with prices, and `Q_g` otherwise. With prices the result
    /// covers the rounding of `Q_g`, which has `more` roundings beyond those of a single column.
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

    /// `D(β)` with these atoms of included and free features, which have `more` roundings beyond those of single columns.
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

impl DualPoint {
    /// Returns the bounds of the children of a node, rounded down.
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

    /// Returns the bounds of the children of a node for models whose coefficients are within `bounds`.
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
        // A NaN stays NaN.
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

/// Number of roundings of an atom of one column with bounds beyond those of a plain one.
const WITHIN: usize = 17;

/// Number of roundings of an atom of bounded columns beyond those of a plain one, including those of the sums inside
/// the atoms of groups.
fn additions(structure: &Structure, node: &Subproblem) -> usize {
    let largest = |features: &[usize]| {
        let sizes = features.iter().map(|j| structure.members[*j].len());
        sizes.max().unwrap_or(0)
    };
    16 + largest(node.included).max(largest(node.free))
}

/// `h(u) = max over l ≤ x ≤ r of ux - λx²/2` for bounds (l, r) around 0: `u²/2λ`, and linear once the maximum is at a
/// bound.
pub(crate) fn box_atom(u: f64, ridge: f64, (low, high): (f64, f64)) -> f64 {
    let (u, end) = if u < 0.0 { (-u, -low) } else { (u, high) };
    if u <= ridge * end {
        u * (u / (2.0 * ridge))
    } else {
        end * (u - 0.5 * ridge * end)
    }
}

/// Maximum of h within `error` of u, before its own rounding: h is convex and smallest at 0, so the maximum is at an end.
pub(super) fn atom_above(u: f64, error: f64, ridge: f64, bounds: (f64, f64)) -> f64 {
    let ends = [u - error, u + error].map(|u| box_atom(u, ridge, bounds));
    // Not `f64::max`, which would drop a NaN.
    if ends[0] > ends[1] || ends[0].is_nan() {
        ends[0]
    } else {
        ends[1]
    }
}

/// Caps a bound at the value of the null model if there are unpenalised columns.
///
/// Bounds that account for unpenalised columns by their boxes hold only for x that are no worse than the null model.
pub(super) fn cap(problem: &Problem, value: f64) -> Certified {
    if problem.unpenalised.is_empty() {
        return Certified::new(value);
    }
    let ceiling = problem.null_value * (1.0 + 1e-7);
    // Not `f64::min`, which would turn a NaN (an overflow) into a certificate.
    Certified::new(if value > ceiling { ceiling } else { value })
}
