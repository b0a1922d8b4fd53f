//! Shared helpers of the checkpoint tests: problems, and changes to the bytes of checkpoints.

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::problem::Builder;
use crate::{Design, Mechanisms, Problem, Settings, loss};

/// A response made of three columns, and of a wave that only the widest designs contain.
pub(crate) const SIGNAL: [(f64, usize); 4] = [(2.0, 3), (-1.0, 20), (0.7, 11), (1.0, 997)];

fn wave(i: usize, j: usize) -> f64 {
    ((i * 37 + j * 11 + i * j * 7 + j * j * 3) as f64).sin()
}

/// A problem whose columns are waves. The response is a sum of factors times waves, or its sign where labels are
/// needed.
pub(crate) fn problem(
    loss: &str,
    rows: usize,
    columns: usize,
    response: &[(f64, usize)],
) -> Builder {
    let value = |at: usize| wave(at % rows, at / rows);
    let values = (0..rows * columns).map(value).collect();
    let design = Design::dense(rows, columns, values).unwrap();
    let sum = |i: usize| -> f64 { response.iter().map(|(f, j)| f * wave(i, *j)).sum() };
    let response = (0..rows).map(|i| match loss {
        "logistic" => sum(i).signum(),
        _ => sum(i),
    });
    let builder = Problem::builder(design, response.collect()).standardize(false);
    builder.loss(loss::by_name(loss, 1.0).unwrap())
}

/// Settings for this many threads, without enumeration, so that small budgets have a tree, too.
pub(crate) fn threads(count: usize) -> Settings {
    Settings {
        threads: NonZeroUsize::new(count),
        mechanisms: Mechanisms {
            enumeration: false,
            ..Mechanisms::default()
        },
        ..Settings::default()
    }
}

/// Asserts that bytes with changed bits or a missing end are refused.
pub(crate) fn refuses_damage<T>(saved: &[u8], decode: impl Fn(&[u8]) -> Result<T>) {
    let refuses = |bytes: &[u8], what: &str| match decode(bytes) {
        Err(Error::Checkpoint { .. }) => {}
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what}: it was read"),
    };
    for i in 0..200 {
        let at = saved.len() * i / 200;
        let mut damaged = saved.to_vec();
        damaged[at] ^= 1 << (i % 8);
        refuses(&damaged, &format!("byte {at}"));
        refuses(&saved[..at], &format!("{at} bytes"));
    }
}

/// Bytes of magic, version and length.
const HEADER: usize = 20;

/// Number of bytes between the header and the checksum.
pub(crate) fn payload(saved: &[u8]) -> usize {
    saved.len() - HEADER - blake3::OUT_LEN
}

/// The `i`-th forgery: changes a byte in this part of the payload and recomputes the checksum. This does not happen by
/// accident, but it must not cause a panic.
pub(crate) fn forge(saved: &[u8], i: usize, part: Range<usize>) -> Vec<u8> {
    let mut forged = saved[..HEADER + payload(saved)].to_vec();
    let at = HEADER + part.start + (i * 7919 + i * i * 104_729) % part.len();
    let old = forged[at];
    let new = [0, 255, old ^ 1, old.wrapping_add(i as u8)][i / 2 % 4];
    forged[at] = if new == old { !old } else { new };
    let hash = blake3::hash(&forged);
    forged.extend_from_slice(hash.as_bytes());
    forged
}
