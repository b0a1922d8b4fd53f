//! Bounds of all children of a node, proved by one dual point.

use super::Certified;

/// Bounds of all children of a node, from one dual point.
///
/// With the m largest atoms over F as `top`, leaving `i ∈ top` out raises D by `q_i - q_(m+1)`, and forcing `i ∉ top`
/// in raises it by `q_(m) - q_i`; the other two children keep D. A child at or above the cut is ruled out, which
/// decides the feature (*safe fixing*). With prices, `q_i - c_i` replaces `q_i`, and features for which it is negative
/// are not in `top`.
#[derive(Debug, Clone)]
pub struct Children {
    /// The bound of the node itself.
    pub low: Certified,
    /// For each free feature, the child that the relaxed point does not prefer.
    pub other_sides: Vec<OtherSide>,
}

/// The child of a node on the other side of one feature: without a feature of `top`, or with one that is not in it.
#[derive(Debug, Clone, Copy)]
pub struct OtherSide {
    /// The feature that the child decides.
    pub feature: usize,
    /// Whether the feature is out in this child. Ruling out such a child fixes the feature in.
    pub is_out: bool,
    /// The bound of the child.
    pub bound: Certified,
}

impl Children {
    /// Creates the bounds from the atoms of the free features, q or q - c. `bound` certifies the D of the point plus a
    /// rise.
    pub(crate) fn from_atoms(
        atoms: impl Iterator<Item = (f64, usize)>,
        budget: usize,
        bound: impl Fn(f64) -> Certified,
    ) -> Self {
        // Allocates once: growing the vector takes a tenth of a small node's time.
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
