//! Enumeration for small budgets: every set of at most four features is examined, and nearly all are proved at once.
//!
//! With `τ = 2(c0 - target)` and `M = H - ccᵀ/τ`, a set U of columns has `min P ≥ target` if and only if `M_UU ⪰ 0`. For the
//! correlations `m_ij = M_ij/√(M_ii M_jj)` of up to three features that is
//!
//! ```text
//! one: M_ii ≥ 0     two: |m_ij| ≤ 1     three: (m_jl - m_ij m_il)² ≤ (1 - m_ij²)(1 - m_il²)
//! ```
//!
//! A set therefore costs a few operations. Triples are examined in single precision. Those that are not proved there
//! are examined again in double precision, and those that are still not proved are handed out, to be fitted and
//! certified individually. Margins are derived in section 14 of `docs/numerics.md`.
//!
//! | module | its one job |
//! |---|---|
//! | [`entries`] | H, c, c0 from a matrix in memory or from columns |
//! | [`test`] | M for one target, with its margins |
//! | [`scan`] | the passes over pairs and triples |
//! | [`hubs`] | sets of four features |
//! | [`node`] | nodes of a search |
//! | [`curved`] | up to three features under any other loss |

mod curved;
mod entries;
mod hubs;
mod node;
mod scan;
mod test;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use self::scan::{Failure, Hits};
use self::test::Test;
use crate::bound::{Certified, Enumeration};
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::relaxation::Watch;

pub(crate) use self::curved::{Data, enumerate_curved};
pub(crate) use self::entries::Entries;
pub(crate) use self::hubs::are_fours_few;
pub(crate) use self::node::enumerate_node;
use crate::tuning::enumeration::FEW;

/// The largest budget whose sets are examined in one pass, and that nodes of a search are enumerated with.
pub(crate) const LARGEST: usize = 3;
/// The largest budget that is enumerated, in a pass per hub.
pub(crate) const LARGEST_BY_HUBS: usize = LARGEST + 1;

/// Returns the number of bytes of the correlations of this many columns, from which triples are judged.
pub(crate) fn square_bytes(columns: usize) -> u64 {
    4 * (columns as u64).pow(2)
}

/// Result of an enumeration.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Every set that was not handed out is no better than the target.
    Proved(Proof),
    /// A limit was reached.
    Stopped,
    /// The test does not apply, or too many sets are too close to the target.
    Open,
}

impl Verdict {
    /// Returns the bound of every set that was not handed out, if it was proved.
    pub(crate) fn proof(&self) -> Option<Certified> {
        match self {
            Self::Proved(proof) => Some(Certified::enumerated(proof)),
            Self::Stopped | Self::Open => None,
        }
    }
}

/// The target that an enumeration proved. Only this module creates such proofs.
#[derive(Debug)]
pub(crate) struct Proof {
    target: f64,
}

impl Enumeration for Proof {
    fn target(&self) -> f64 {
        self.target
    }
}

/// Sets of columns: all of `inside`, and at most `m` of `free`.
#[derive(Clone, Copy)]
pub(crate) struct Space<'a> {
    pub(crate) entries: &'a Entries<'a>,
    pub(crate) inside: &'a [usize],
    pub(crate) free: &'a [usize],
    pub(crate) m: usize,
}

/// Proves that every set of a space has `P ≥ target`, except the sets that are handed out, at most `most` of them.
///
/// [`Watch::hit`] receives some of the free columns, to be fitted together with `inside`. All other sets are proved for
/// the last target that it returns. A set that is handed out stands for its subsets.
pub(crate) fn enumerate(
    space: Space,
    target: f64,
    most: usize,
    limits: &Limits,
    threads: usize,
    watch: &mut dyn Watch,
) -> Verdict {
    let Space {
        entries,
        inside,
        free,
        ..
    } = space;
    let m = space.m.min(free.len());
    if m > LARGEST {
        return match m {
            LARGEST_BY_HUBS => hubs::enumerate_by_hubs(space, target, most, limits, threads, watch),
            _ => Verdict::Open,
        };
    }
    let columns = |set: &[usize]| set.iter().map(|i| free[*i]).collect::<Vec<_>>();
    let mut handed: HashSet<Vec<usize>> = HashSet::new();
    let (mut target, last, mut most) = (target, most, most.min(FEW));
    let mut factor = Cholesky::new();
    loop {
        let Some(mut test) = Test::new(entries, inside, free, m, target) else {
            return Verdict::Open;
        };
        let found = match pass(&test, inside, m, most, target, limits, threads, watch) {
            Ok(found) => found,
            Err(Failure::Stopped) => return Verdict::Stopped,
            Err(Failure::Void) => return Verdict::Open,
        };
        let mut order: Vec<(f64, Vec<usize>)> = found
            .sets
            .into_iter()
            .map(|set| {
                let all: Vec<usize> = inside.iter().copied().chain(columns(&set)).collect();
                (entries.value(&all, &mut factor), set)
            })
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let before = target;
        for (_, set) in order {
            if limits.stop() {
                return Verdict::Stopped;
            }
            if handed.contains(&set) || test.proves(&set) {
                continue;
            }
            if handed.len() >= last {
                return Verdict::Open;
            }
            let next = watch.hit(&columns(&set));
            handed.insert(set);
            if next < target {
                target = next;
                if !found.is_complete {
                    break;
                }
                match Test::new(entries, inside, free, m, target) {
                    Some(lower) => test = lower,
                    None => return Verdict::Open,
                }
            } else if !found.is_complete {
                // The best of them does not lower the target, so the others will not either.
                break;
            }
        }
        if found.is_complete {
            return Verdict::Proved(Proof { target });
        }
        if target >= before {
            if most == last {
                return Verdict::Open;
            }
            most = last;
        }
    }
}

/// Makes one pass with one target. Smaller sets come first: if one beats the target, all sets that contain it become
/// hits.
#[allow(clippy::too_many_arguments)]
fn pass(
    test: &Test,
    inside: &[usize],
    m: usize,
    most: usize,
    target: f64,
    limits: &Limits,
    threads: usize,
    watch: &mut dyn Watch,
) -> Result<Hits, Failure> {
    if m == 0 {
        return Ok(Hits {
            sets: Vec::new(),
            is_complete: true,
        });
    }
    if m == 1 || !test.weak.is_empty() {
        return Ok(Hits {
            sets: test.weak.iter().map(|i| vec![*i]).collect(),
            is_complete: m == 1,
        });
    }
    let (hits, square) = scan::pairs(test, m == 3, most, limits, threads, watch)?;
    if m == 2 {
        return Ok(hits);
    }
    let mut factor = Cholesky::new();
    let mut is_better = |set: &Vec<usize>| {
        let free = set.iter().map(|i| test.free[*i]);
        let all: Vec<usize> = inside.iter().copied().chain(free).collect();
        test.entries.value(&all, &mut factor) < target
    };
    if !hits.is_complete || hits.sets.iter().any(&mut is_better) {
        return Ok(Hits {
            is_complete: false,
            ..hits
        });
    }
    // A pair that is merely too close to the target is part of the triples that are.
    square.triples(test, most, limits, threads, watch)
}
