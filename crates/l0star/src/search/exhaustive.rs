//! Brute force: fits every support of size k. It is the reference that all other methods are tested against.

use super::Context;
use super::count::{LIMIT, advance, count_subsets, supports};
use crate::bound::Certified;
use crate::error::{Error, Result};
use crate::settings::Status;

/// Fits every support of size `min(k, d)` (a smaller one is never better), and the smaller ones if a list is wanted or
/// features have prices. Returns the proved bound and, if a limit was reached first, that limit.
pub fn run(context: &mut Context) -> Result<(Option<Certified>, Option<Status>)> {
    let problem = context.problem;
    let many = context.incumbents.wants_list() || problem.is_priced();
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
    Ok((context.evidence.mark(), None))
}

/// Fits every support of one size. Returns the limit that was reached, if any.
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
            let low = context.certify_last().tighter(Certified::TRIVIAL);
            context.record_bound(&support, low);
            context.counters.calls += 1;
            context.counters.nodes += 1;
        }
        if !advance(&mut at, d) {
            return None;
        }
    }
}
