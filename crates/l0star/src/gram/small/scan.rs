//! The passes over all pairs and all triples.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::entries::Buffers;
use super::test::{Test, determinant};
use crate::limits::Limits;
use crate::linalg::kernels;
use crate::relaxation::Watch;

/// Numbers of rows and columns of a block of entries.
const BAND: usize = 128;
const BLOCK: usize = 512;
/// Number of features j whose rows are scanned together, and of others l at a time: 512 KB that stay in cache …
const TOGETHER: usize = 512;
const AT_ONCE: usize = 256;
/// … and the number of others in one piece of work.
const PIECE: usize = 8 * AT_ONCE;
/// Number of rows between two checks of the limits, at most a few million triples.
const UNNOTICED: usize = 64;

/// Three correlations of at most ½ belong to a positive semidefinite matrix; this is a little less, for their rounding.
const HALF: f32 = 0.499_99;
/// Upper bound on the change of a determinant by rounding to single precision.
const NEAR_SINGLE: f32 = 2e-6;
/// Value on the diagonal, which is not examined: it rarely looks like a hit.
const DIAGONAL: f32 = 0.998;

/// The sets of a pass that are not proved, by places in order; those found by the end of the pass.
pub(super) struct Hits {
    pub(super) sets: Vec<Vec<usize>>,
    /// Whether all of the others are proved.
    pub(super) is_complete: bool,
}

/// Reason why a pass has no result.
pub(super) enum Failure {
    /// A limit was reached.
    Stopped,
    /// Overflow.
    Void,
}

/// Correlations in single precision, row by row, the rows padded with zeros.
pub(super) struct Square {
    values: Vec<f32>,
    stride: usize,
}

/// State that the threads of a pass share.
pub(super) struct ScanState<'l> {
    limits: &'l Limits,
    most: usize,
    count: AtomicUsize,
    stopped: AtomicBool,
    void: AtomicBool,
    sets: Mutex<Vec<Vec<usize>>>,
}

impl<'l> ScanState<'l> {
    pub(super) fn new(most: usize, limits: &'l Limits) -> Self {
        Self {
            limits,
            most,
            count: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            void: AtomicBool::new(false),
            sets: Mutex::default(),
        }
    }

    /// Whether the pass has ended, by a limit or by too many hits.
    pub(super) fn is_over(&self) -> bool {
        if self.limits.stop() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.stopped.load(Ordering::Relaxed)
            || self.void.load(Ordering::Relaxed)
            || self.count.load(Ordering::Relaxed) > self.most
    }

    pub(super) fn add(&self, set: &[usize]) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if sets.len() <= self.most {
            sets.push(set.to_vec());
        }
    }

    pub(super) fn finish(self) -> Result<Hits, Failure> {
        if self.stopped.into_inner() {
            return Err(Failure::Stopped);
        }
        if self.void.into_inner() {
            return Err(Failure::Void);
        }
        let mut sets = self
            .sets
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        sets.sort_unstable();
        Ok(Hits {
            is_complete: self.count.into_inner() <= self.most,
            sets,
        })
    }
}

/// Hands pieces of work to threads until none is left. `watch` receives the progress, on this thread.
pub(super) fn share_out<W: Send>(
    work: Vec<W>,
    threads: usize,
    watch: &mut dyn Watch,
    run: impl Fn(W) + Sync,
) {
    let total = work.len();
    let threads = threads.min(total);
    let left = Mutex::new(work.into_iter());
    let next = || {
        let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
        let piece = left.next();
        piece.map(|piece| (piece, left.len()))
    };
    let work = || {
        while let Some((piece, _)) = next() {
            run(piece);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If the system grants fewer threads, those that exist do all the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        while let Some((piece, left)) = next() {
            run(piece);
            watch.progress(1.0 - left as f64 / total as f64);
        }
    });
}

/// Examines all pairs. Returns those that are not proved and, if the pass was complete, all
/// correlations if they are wanted.
pub(super) fn pairs(
    test: &Test,
    wants_square: bool,
    most: usize,
    limits: &Limits,
    threads: usize,
    watch: &mut dyn Watch,
) -> Result<(Hits, Square), Failure> {
    let d = test.free.len();
    let mut square = Square::new(if wants_square { d } else { 0 });
    let shared = ScanState::new(most, limits);
    let firsts = (0..d).step_by(BAND);
    let stride = square.stride.max(1);
    let mut rows = square.values.chunks_mut(BAND * stride);
    let bands: Vec<(usize, &mut [f32])> = firsts
        .map(|first| (first, rows.next().unwrap_or_default()))
        .collect();
    share_out(bands, threads, watch, |(first, rows)| {
        band(test, first, rows, stride, &shared);
    });
    let hits = shared.finish()?;
    if hits.is_complete {
        square.mirror(d);
    }
    Ok((hits, square))
}

/// Examines the pairs of the features of a band with those after them.
fn band(test: &Test, first: usize, out: &mut [f32], stride: usize, shared: &ScanState) {
    let (free, d) = (test.free, test.free.len());
    let last = (first + BAND).min(d);
    let (mut buffers, mut block) = (Buffers::default(), Vec::new());
    for start in (first..d).step_by(BLOCK) {
        if shared.is_over() {
            return;
        }
        let end = (start + BLOCK).min(d);
        let (rows, columns) = (&free[first..last], &free[start..end]);
        test.entries.block(rows, columns, &mut buffers, &mut block);
        let lines = block.chunks_exact_mut(columns.len());
        for (i, line) in (first..last).zip(lines) {
            let from = start.max(i + 1);
            let Some(line) = line.get_mut(from - start..).filter(|line| !line.is_empty()) else {
                continue;
            };
            test.normalise(i, from, line);
            if line.iter().filter(|m| !Test::is_apart(**m)).count() > 0 {
                for (j, m) in (from..end).zip(&*line) {
                    if !m.is_finite() {
                        shared.void.store(true, Ordering::Relaxed);
                    } else if !Test::is_apart(*m) {
                        shared.add(&[i, j]);
                    }
                }
            }
            if !out.is_empty() {
                let row = &mut out[(i - first) * stride..][from..end];
                for (out, m) in row.iter_mut().zip(&*line) {
                    *out = m.clamp(-1.0, 1.0) as f32;
                }
            }
        }
    }
}

impl Square {
    fn new(d: usize) -> Self {
        let stride = d.next_multiple_of(AT_ONCE);
        Self {
            values: vec![0.0; d * stride],
            stride,
        }
    }

    /// Returns the correlations of a feature; the one with itself is meaningless.
    pub(super) fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.stride..(i + 1) * self.stride]
    }

    /// Copies the entries above the diagonal to below it, tile by tile.
    fn mirror(&mut self, d: usize) {
        const TILE: usize = 32;
        let (values, stride) = (&mut self.values, self.stride);
        if values.is_empty() {
            return;
        }
        for top in (0..d).step_by(TILE) {
            for left in (top..d).step_by(TILE) {
                for i in top..(top + TILE).min(d) {
                    for j in left.max(i + 1)..(left + TILE).min(d) {
                        values[j * stride + i] = values[i * stride + j];
                    }
                }
            }
        }
        (0..d).for_each(|i| values[i * stride + i] = DIAGONAL);
    }

    /// Examines all triples, and returns those that are not proved.
    pub(super) fn triples(
        &self,
        test: &Test,
        most: usize,
        limits: &Limits,
        threads: usize,
        watch: &mut dyn Watch,
    ) -> Result<Hits, Failure> {
        let d = test.free.len();
        let shared = ScanState::new(most, limits);
        let pieces = (0..d).step_by(TOGETHER).flat_map(|first| {
            let starts = (0..self.stride).step_by(PIECE);
            starts.map(move |start| (first, start))
        });
        share_out(pieces.collect(), threads, watch, |(first, start)| {
            self.piece(test, first, start, &shared);
        });
        shared.finish()
    }

    /// Examines the triples of close pairs (i, j), j from `first` on and i before it, with all l from `start` on.
    fn piece(&self, test: &Test, first: usize, start: usize, shared: &ScanState) {
        let d = test.free.len();
        let last = (first + TOGETHER).min(d);
        let mut close: Vec<u32> = Vec::new();
        let mut ends = Vec::with_capacity(last);
        for i in 0..last {
            let from = first.max(i + 1);
            let row = &self.row(i)[from..last.max(from)];
            let js = (from as u32..).zip(row);
            close.extend(js.filter(|(_, m)| m.abs() > HALF).map(|(j, _)| j));
            ends.push(close.len());
        }
        let mut found = Vec::new();
        let until = (start + PIECE).min(self.stride);
        for block in (start..until).step_by(AT_ONCE) {
            for i in 0..last {
                if i % UNNOTICED == 0 && shared.is_over() {
                    return;
                }
                let begin = if i == 0 { 0 } else { ends[i - 1] };
                let close = &close[begin..ends[i]];
                if close.is_empty() {
                    continue;
                }
                let columns = block..block + AT_ONCE;
                kernels::dependent(
                    &self.values,
                    self.stride,
                    i,
                    close,
                    columns,
                    -NEAR_SINGLE,
                    &mut found,
                );
                for j in found.drain(..) {
                    self.list(test, i, j as usize, block, shared);
                }
            }
        }
    }

    /// Lists the unproved triples of a pair and a block of others.
    fn list(&self, test: &Test, i: usize, j: usize, block: usize, shared: &ScanState) {
        let d = test.free.len();
        let (own, other) = (self.row(i), self.row(j));
        let a = own[j];
        for l in (block..(block + AT_ONCE).min(d)).filter(|l| *l != i && *l != j) {
            let (b, c) = (own[l], other[l]);
            if determinant([a, b, c].map(f64::from)) > f64::from(NEAR_SINGLE) {
                continue;
            }
            // A triple occurs once for each of its close pairs; only the first in order counts.
            let mut set = [i, j, l];
            set.sort_unstable();
            let [p, q, r] = set;
            let mut pairs = [(p, q), (p, r), (q, r)].into_iter();
            let is_close = |(i, j): &(usize, usize)| self.row(*i)[*j].abs() > HALF;
            if pairs.find(is_close) == Some((i, j)) && !test.proves(&set) {
                shared.add(&set);
                if shared.count.load(Ordering::Relaxed) > shared.most {
                    return;
                }
            }
        }
    }
}
