//! Brute force: every support of size k, the reference that all else is tested against.

use super::Context;
use crate::bound::Certified;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::settings::Status;

/// More supports than this are refused.
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

/// How many supports of size k there are, saturating.
pub fn supports(problem: &Problem) -> u128 {
    let (d, k) = (problem.selectable.len(), problem.support_size());
    binomial(d as u128, k as u128)
}

/// How many supports of at most k features there are, saturating.
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

/// The next combination of indices below d in lexicographic order; false when there is none.
fn advance(at: &mut [usize], d: usize) -> bool {
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

/// Fits every support of size `min(k, d)` (a smaller one is never better), and the smaller ones if a list is wanted.
/// Returns what is proved and, if a limit came first, which.
pub fn run(context: &mut Context) -> Result<(Option<Certified>, Option<Status>)> {
    let problem = context.problem;
    let many = context.wants_list();
    let supports = if many {
        count_subsets(problem)
    } else {
        supports(problem)
    };
    if supports > LIMIT {
        return Err(Error::TooManySupports {
            supports,
            limit: LIMIT,
        });
    }
    let k = problem.support_size();
    for size in if many { 0 } else { k }..=k {
        if let Some(status) = run_size(context, size) {
            return Ok((Some(Certified::TRIVIAL), Some(status)));
        }
    }
    Ok((context.mark(), None))
}

/// Fits every support of one size. Returns the limit that was reached.
fn run_size(context: &mut Context, k: usize) -> Option<Status> {
    let problem = context.problem;
    let d = problem.selectable.len();
    let mut at: Vec<usize> = (0..k).collect();
    loop {
        let nodes = context.counters.nodes;
        if let Some(status) = context.limits.reached_between(nodes, 0) {
            return Some(status);
        }
        let support: Vec<usize> = at.iter().map(|i| problem.selectable[*i]).collect();
        let allowed = problem.structure.as_ref();
        if allowed.is_none_or(|structure| structure.is_closed(&support)) {
            context.try_support(&support);
            let low = context.certify_last().or(Certified::TRIVIAL);
            context.settle(&support, low);
            context.counters.calls += 1;
            context.counters.nodes += 1;
        }
        if !advance(&mut at, d) {
            return None;
        }
    }
}
