//! Sets of four features: one feature after the other is included, and the rest is a matter of triples.
//!
//! A symmetric matrix with ones on its diagonal that is not positive semidefinite has a row whose other entries add up
//! to more than one (Gershgorin). A feature can be that row of a set of m features only if its m - 1 largest
//! correlations add up to more than one: call it a *hub*. Every set that is not proved contains a hub, and belongs to
//! the first of its hubs in a fixed order:
//!
//! ```text
//! for each hub i, in order: every set of i and at most m - 1 of the features after it, hubs or not
//! ```
//!
//! Features whose correlations are large come first. The many that come later have few others left to go with.

use std::time::Duration;

use super::scan::{self, Failure, Square};
use super::test::Test;
use super::{Proof, Space, Verdict, enumerate};
use crate::limits::Limits;
use crate::linalg::select::top_sum;
use crate::relaxation::Watch;
use crate::tuning::enumeration::{MOST_FOURS, SECONDS_OF_A_FOUR};

/// Correlations in single precision whose sum is at most this add up to less than one.
const BELOW_ONE: f64 = 0.9999;

/// Whether so many features have few enough sets of four to be enumerated within the limits.
pub(crate) fn are_fours_few(features: usize, threads: usize, limits: &Limits) -> bool {
    let fours = (features as f64).powi(4) / 24.0;
    let seconds = fours * SECONDS_OF_A_FOUR / threads as f64;
    let is_soon = |left: Duration| left.as_secs_f64() > seconds;
    fours <= MOST_FOURS && limits.time_left().is_none_or(is_soon)
}

/// Proves the sets of a space like [`enumerate`], with a budget one larger.
pub(super) fn enumerate_by_hubs(
    space: Space,
    mut target: f64,
    most: usize,
    limits: &Limits,
    threads: usize,
    watch: &mut dyn Watch,
) -> Verdict {
    let Space {
        entries,
        inside,
        free,
        m,
    } = space;
    let Some(test) = Test::new(entries, inside, free, m, target) else {
        return Verdict::Open;
    };
    let square = match scan::pairs(&test, true, most, limits, threads, &mut |_: &[usize]| {
        target
    }) {
        Ok((hits, square)) if hits.is_complete => square,
        Ok(_) | Err(Failure::Void) => return Verdict::Open,
        Err(Failure::Stopped) => return Verdict::Stopped,
    };
    let Order { features, hubs } = Order::new(&square, free.len(), m);
    drop(square);
    let mut handed = 0;
    for at in 0..hubs {
        let hub = free[features[at]];
        let inside = [inside, &[hub]].concat();
        let after: Vec<usize> = features[at + 1..].iter().map(|i| free[*i]).collect();
        let mut with_hub = |set: &[usize]| {
            handed += 1;
            watch.hit(&[&[hub], set].concat()[..])
        };
        let space = Space {
            entries,
            inside: &inside,
            free: &after,
            m: m - 1,
        };
        match enumerate(space, target, most, limits, threads, &mut with_hub) {
            Verdict::Proved(proof) => target = proof.target,
            open => return open,
        }
        if handed > most {
            return Verdict::Open;
        }
        // The triples of a hub are those of the features after it.
        let left = 1.0 - (at + 1) as f64 / hubs as f64;
        watch.progress(1.0 - left.powi(4));
    }
    Verdict::Proved(Proof { target })
}

/// The hubs of sets of a given size, then all other features, by their places.
struct Order {
    features: Vec<usize>,
    /// Number of hubs.
    hubs: usize,
}

impl Order {
    fn new(square: &Square, d: usize, m: usize) -> Self {
        let mut scratch = Vec::new();
        let mut rows: Vec<(bool, f64, usize)> = (0..d)
            .map(|i| {
                let others = square.row(i)[..d].iter().enumerate();
                let sizes = others.map(|(j, v)| if i == j { 0.0 } else { f64::from(v.abs()) });
                let squares = sizes.clone().map(|v| v * v).sum();
                let is_hub = top_sum(sizes, m - 1, &mut scratch) > BELOW_ONE;
                (is_hub, squares, i)
            })
            .collect();
        rows.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        Self {
            hubs: rows.iter().filter(|(is_hub, ..)| *is_hub).count(),
            features: rows.into_iter().map(|(.., i)| i).collect(),
        }
    }
}
