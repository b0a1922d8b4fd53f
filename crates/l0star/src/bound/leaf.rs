//! The bound of a leaf in doubled precision.

use super::dual::{atom_above, cap};
use super::{Certified, TINY};
use crate::linalg::kernels;
use crate::linalg::rounding::{Doubled, U, gamma, two_product};
use crate::loss::Joint;
use crate::problem::Problem;

/// Bound of a leaf, where exactly the columns `included` may be non-zero, in doubled precision.
///
/// It is needed where a leaf has to be closed by its own optimum. Sums are kept in two doubles, so that only the
/// rounding of single terms remains, not that of n of them. With `has_rests` the terms of the responses have both
/// halves, too, which takes longer.
pub(crate) fn leaf_bound(
    problem: &Problem,
    alpha: &[f64],
    included: &[usize],
    has_rests: bool,
) -> Certified {
    let (p, b) = (&problem.p, &problem.b);
    let mut total = Doubled::default();
    let mut size = 0.0;
    for (i, alpha) in alpha.iter().enumerate() {
        let (first, second) = problem.loss.conjugate_terms(*alpha, b[i]);
        total.add_product(p[i], -first);
        total.add_product(p[i], -second);
        let rest = has_rests.then(|| problem.loss.conjugate_rest(*alpha, b[i]));
        size += p[i] * first.abs();
        size += match rest.flatten() {
            None => p[i] * second.abs(),
            Some(rest) => {
                total.add_product(p[i], -rest);
                1e-9 * p[i] * (alpha.abs() + second.abs())
            }
        };
        if let Some(o) = problem.offset.get(i) {
            let (product, low) = two_product(*alpha, *o);
            total.add_product(p[i], product);
            total.add_product(p[i], low);
        }
    }
    let slack = total.error() + 18.0 * U * size * (1.0 + gamma(2 * alpha.len() + 4));
    let slack = slack + problem.unpenalised.residue_cost(problem, alpha);
    let mut beta = vec![0.0; alpha.len()];
    problem.weigh(alpha, &mut beta);
    // 2U |a|ᵀ|β| is the rounding of β_i = p_i α_i itself.
    let distance = 2.0 * U * kernels::norm(&beta) * (1.0 + gamma(alpha.len() + 4));
    less_atoms(problem, total.value(), slack, &beta, distance, included)
}

/// Bound of a leaf at the gradient of a loss that couples rows.
pub(crate) fn joint_leaf_bound(
    problem: &Problem,
    joint: &dyn Joint,
    z: &[f64],
    included: &[usize],
) -> Certified {
    let mut beta = vec![0.0; z.len()];
    let dual = joint.dual(z, &problem.offset, &mut beta);
    let distance = 1.01 * dual.distance;
    let slack = dual.slack + problem.unpenalised.joint_cost(problem, &beta, &dual);
    less_atoms(problem, dual.value, slack, &beta, distance, included)
}

/// Subtracts the slack and the atoms of a leaf's columns from a value, for a dual point within `distance` of the floats β.
fn less_atoms(
    problem: &Problem,
    total: f64,
    slack: f64,
    beta: &[f64],
    distance: f64,
    included: &[usize],
) -> Certified {
    let mut atoms = 0.0;
    for j in included {
        let v = problem.design.doubled_dot(*j, beta);
        let error = v.error() + problem.norms[*j] * distance;
        let v_above = v.value().abs() + error;
        atoms += match &problem.structure {
            None => v_above * (v_above / (2.0 * problem.ridge[*j])),
            Some(s) => atom_above(-v.value(), error, problem.ridge[*j], s.bounds[*j]),
        };
    }
    let more = if problem.structure.is_some() { 16 } else { 0 };
    atoms *= 1.0 + gamma(included.len() + 10 + more);
    let value = total - atoms - slack;
    cap(
        problem,
        value - 4.0 * U * (total.abs() + atoms + slack) - TINY,
    )
}
