//! The bands of a matrix under construction ([`Bands`]), one after the other or on several threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::{Columns, Products};
use crate::gram::triangle::{Triangle, TriangleRow};
use crate::limits::Limits;
use crate::linalg::cholesky::mirror_up;

/// Time that a step waits for a band from another thread.
const PATIENCE: Duration = Duration::from_millis(50);

/// The bands of a matrix under construction.
pub(crate) struct Bands<'b, 'a> {
    /// Finished bands, including those that were known …
    done: &'b mut Vec<Band<'a>>,
    /// … out of this many.
    all: usize,
    next: &'b mut dyn FnMut() -> Next<'a>,
}

/// Outcome of waiting for a band.
enum Next<'a> {
    Made(Band<'a>),
    /// Another thread is still computing a band.
    NotYet,
    /// All bands are finished, or a limit was reached.
    Over,
}

impl Bands<'_, '_> {
    /// Computes the next band, or waits a while for one from another thread; returns false when no more are to come.
    pub(crate) fn step(&mut self) -> bool {
        match (self.next)() {
            Next::Made(band) => self.done.push(band),
            Next::NotYet => {}
            Next::Over => return false,
        }
        true
    }

    /// Returns the number of finished bands.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.done.len()
    }

    /// Whether all bands are finished.
    pub(crate) fn is_whole(&self) -> bool {
        self.done.len() == self.all
    }

    /// Adds the rows of the finished bands.
    pub(crate) fn add_to(&self, triangle: &mut Triangle) {
        self.done.iter().for_each(|band| band.add_to(triangle));
    }
}

/// Steps through the bands of a matrix, and supplies those of an earlier run.
pub(crate) trait BandDriver {
    /// Returns the rows that are already known of the matrix of these columns.
    fn known(&mut self, columns: &[usize]) -> Option<Triangle>;

    /// Steps through the bands, to the end or to a limit.
    fn drive(&mut self, bands: &mut Bands);
}

/// A driver that knows no rows, and steps to the end.
impl BandDriver for () {
    fn known(&mut self, _: &[usize]) -> Option<Triangle> {
        None
    }

    fn drive(&mut self, bands: &mut Bands) {
        while bands.step() {}
    }
}

/// A band of rows of the result.
pub(super) struct Band<'a> {
    pub first: usize,
    pub gram: &'a mut [f64],
    pub c: &'a mut [f64],
    pub means: &'a mut [f64],
    pub sizes: &'a mut [f64],
}

impl Band<'_> {
    /// Adds the rows of the band.
    fn add_to(&self, triangle: &mut Triangle) {
        let d = self.gram.len() / self.c.len();
        for (local, row) in self.gram.chunks_exact(d).enumerate() {
            let index = self.first + local;
            triangle.add(index, || TriangleRow {
                gram: row[..=index].to_vec(),
                c: self.c[local],
                mean: self.means[local],
                size: self.sizes[local],
            });
        }
    }

    /// Copies the rows of the band from the known ones; returns false when one is missing.
    fn take_from(&mut self, known: &Triangle) -> bool {
        let rows = (0..self.c.len()).map(|local| known.row(self.first + local));
        let Some(rows) = rows.collect::<Option<Vec<_>>>() else {
            return false;
        };
        let d = self.gram.len() / self.c.len();
        for (local, row) in rows.into_iter().enumerate() {
            self.gram[local * d..][..row.gram.len()].copy_from_slice(&row.gram);
            self.c[local] = row.c;
            self.means[local] = row.mean;
            self.sizes[local] = row.size;
        }
        true
    }
}

/// A way to compute a band; `run` returns false when a limit was reached in between.
pub(super) trait Way: Sync {
    fn run(&self, band: &mut Band, limits: &Limits) -> bool;
}

/// Computes all bands in one way; `None` when a limit is reached before the end.
pub(super) fn compute(
    of: &Columns,
    way: &impl Way,
    limits: &Limits,
    threads: usize,
    known: Option<&Triangle>,
    driver: &mut dyn BandDriver,
) -> Option<Products> {
    let d = of.columns.len();
    let mut products = Products {
        gram: vec![0.0; d * d],
        c: vec![0.0; d],
        means: vec![0.0; d],
        sizes: vec![0.0; d],
    };
    let bands = cut(&mut products, of.band());
    let all = bands.len();
    let (mut done, mut left) = (Vec::with_capacity(all), Vec::new());
    for mut band in bands {
        let is_known = known.is_some_and(|known| band.take_from(known));
        if is_known { &mut done } else { &mut left }.push(band);
    }
    let stopped = AtomicBool::new(false);
    let make = |band: &mut Band| {
        let is_made = !stopped.load(Ordering::Relaxed) && way.run(band, limits);
        if !is_made {
            stopped.store(true, Ordering::Relaxed);
        }
        is_made
    };
    let threads = threads.min(left.len());
    let pool = (threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
    match pool {
        Some(Ok(pool)) => pool.in_place_scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for mut band in left {
                let (sender, make) = (sender.clone(), &make);
                scope.spawn(move |_| {
                    if make(&mut band) {
                        // If the receiver is gone, the band is not needed.
                        let _ = sender.send(band);
                    }
                });
            }
            drop(sender);
            let mut next = || match receiver.recv_timeout(PATIENCE) {
                Ok(band) => Next::Made(band),
                Err(RecvTimeoutError::Timeout) => Next::NotYet,
                Err(RecvTimeoutError::Disconnected) => Next::Over,
            };
            driver.drive(&mut Bands {
                done: &mut done,
                all,
                next: &mut next,
            });
            // The driver stopped, so no more bands are needed.
            stopped.store(true, Ordering::Relaxed);
        }),
        // If no threads are available, the bands are computed on this one.
        _ => {
            let mut left = left.into_iter();
            let mut next = || {
                let made = left.next();
                let made = made.and_then(|mut band| make(&mut band).then_some(band));
                made.map_or(Next::Over, Next::Made)
            };
            driver.drive(&mut Bands {
                done: &mut done,
                all,
                next: &mut next,
            });
        }
    }
    let is_whole = done.len() == all;
    drop(done);
    is_whole.then(|| {
        mirror_up(&mut products.gram, d);
        products
    })
}

/// Cuts the matrix into bands of `width` rows. The last rows are the longest: they come first, so that no thread
/// is left with them at the end.
fn cut(products: &mut Products, width: usize) -> Vec<Band<'_>> {
    let d = products.c.len();
    let bands = products.gram.chunks_mut(width * d);
    let bands = bands.zip(products.c.chunks_mut(width));
    let bands = bands.zip(products.means.chunks_mut(width));
    let bands = bands.zip(products.sizes.chunks_mut(width));
    let bands = bands
        .enumerate()
        .map(|(i, (((gram, c), means), sizes))| Band {
            first: i * width,
            gram,
            c,
            means,
            sizes,
        });
    let mut bands: Vec<Band> = bands.collect();
    bands.reverse();
    bands
}
