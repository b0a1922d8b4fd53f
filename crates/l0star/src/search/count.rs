//! Counts the supports of a problem, and iterates over them.

use crate::problem::Problem;

/// Most supports that are enumerated.
pub const LIMIT: u128 = 1_000_000;

/// `binomial(d, k)`, saturating.
fn binomial(d: u128, k: u128) -> u128 {
    let k = k.min(d - k);
    let mut count: u128 = 1;
    for i in 0..k {
        match count.checked_mul(d - i) {
            Some(product) => count = product / (i + 1),
            None => return u128::MAX,
        }
    }
    count
}

/// Number of supports of size k, saturating.
pub fn supports(problem: &Problem) -> u128 {
    let (d, k) = (problem.selectable.len(), problem.support_size());
    binomial(d as u128, k as u128)
}

/// Number of supports of at most k features, saturating.
pub(crate) fn count_subsets(problem: &Problem) -> u128 {
    let (d, k) = (problem.selectable.len(), problem.support_size());
    let sizes = (0..=k).map(|size| binomial(d as u128, size as u128));
    let all = sizes.fold(0, u128::saturating_add);
    match &problem.structure {
        Some(structure) if structure.heredity && all <= LIMIT => {
            let mut closed = 0;
            for size in 0..=k {
                let mut at: Vec<usize> = (0..size).collect();
                loop {
                    let set: Vec<usize> = at.iter().map(|i| problem.selectable[*i]).collect();
                    closed += u128::from(structure.is_closed(&set));
                    if !advance(&mut at, d) {
                        break;
                    }
                }
            }
            closed
        }
        _ => all,
    }
}

/// Advances to the next combination of indices below d in lexicographic order; returns false when there is none.
pub(super) fn advance(at: &mut [usize], d: usize) -> bool {
    let k = at.len();
    let Some(i) = (0..k).rev().find(|i| at[*i] != i + d - k) else {
        return false;
    };
    at[i] += 1;
    for j in i + 1..k {
        at[j] = at[j - 1] + 1;
    }
    true
}
