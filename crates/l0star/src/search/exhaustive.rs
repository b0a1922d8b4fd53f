//! Brute force: every support of size k, the reference that all else is tested against.

use super::Context;
use crate::bound::Certified;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::settings::Status;

/// More supports than this are refused.
pub const LIMIT: u128 = 1_000_000;

/// `binomial(d, k)`, saturating.
pub fn supports(problem: &Problem) -> u128 {
    let d = problem.selectable.len() as u128;
    let k = problem.support_size() as u128;
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

/// Fits every support of size `min(k, d)` (a smaller one is never better). Returns what is proved and, if a limit came
/// first, which.
pub fn run(context: &mut Context) -> Result<(Certified, Option<Status>)> {
    let problem = context.problem;
    let supports = supports(problem);
    if supports > LIMIT {
        return Err(Error::TooManySupports {
            supports,
            limit: LIMIT,
        });
    }
    let (d, k) = (problem.selectable.len(), problem.support_size());
    let mut at: Vec<usize> = (0..k).collect();
    let mut bound: Option<Certified> = None;
    loop {
        let nodes = context.counters.nodes;
        if let Some(status) = context.limits.reached_between(nodes, 0) {
            return Ok((Certified::TRIVIAL, Some(status)));
        }
        let support: Vec<usize> = at.iter().map(|i| problem.selectable[*i]).collect();
        context.try_support(&support);
        let low = context.certify_last().or(Certified::TRIVIAL);
        bound = Some(bound.map_or(low, |bound| bound.and(low)));
        context.counters.calls += 1;
        context.counters.nodes += 1;
        // The next combination in lexicographic order.
        let Some(i) = (0..k).rev().find(|i| at[*i] != i + d - k) else {
            return Ok((bound.unwrap_or(Certified::TRIVIAL), None));
        };
        at[i] += 1;
        for j in i + 1..k {
            at[j] = at[j - 1] + 1;
        }
    }
}
