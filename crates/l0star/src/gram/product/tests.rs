//! Checks every way of computing the matrix against plain sums, and the rows that are kept of it.

use super::*;
use crate::settings::Settings;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows in two parts.
const N: usize = PART + 76;
/// More than two blocks, none of them full.
const D: usize = SMALL + 30;

/// Returns the same numbers, dense and sparse; one in `one_in` entries is not zero.
fn designs(one_in: usize) -> [Design; 2] {
    let value = |i: usize, j: usize| {
        let hash = (i * 7919 + j * 104_729 + i * j) % 1009;
        if hash.is_multiple_of(one_in) {
            hash as f64 / 100.0 - 4.0
        } else {
            0.0
        }
    };
    let (mut dense, mut indptr, mut indices, mut values) = (vec![], vec![0], vec![], vec![]);
    for j in 0..D {
        for i in 0..N {
            let value = value(i, j);
            dense.push(value);
            if value != 0.0 {
                indices.push(i as u32);
                values.push(value);
            }
        }
        indptr.push(values.len());
    }
    [
        Design::dense(N, D, dense).unwrap(),
        Design::sparse(N, D, indptr, indices, values).unwrap(),
    ]
}

/// Checks every second column and one more, with or without shifts.
fn check(one_in: usize, shifted: bool, look: impl Fn(&Columns)) {
    let columns: Vec<usize> = (0..D).filter(|j| j % 2 == 0 || *j > 20).collect();
    let b: Vec<f64> = (0..N).map(|i| (i % 7) as f64 - 3.0).collect();
    let shifts = |j: &usize| (*j as f64 / 300.0, 1.0 + (*j % 5) as f64 / 4.0);
    // Different weights for the rows, and equal ones.
    for period in [3, 1] {
        let weight = |i: usize| (1.0 + (i % period) as f64) / 120.0;
        let p: Vec<f64> = (0..N).map(weight).collect();
        for design in &designs(one_in) {
            look(&Columns {
                design,
                columns: &columns,
                shifts: if shifted {
                    columns.iter().map(shifts).collect()
                } else {
                    vec![]
                },
                p: &p,
                b: &b,
            });
        }
    }
}

#[test]
fn every_way_gives_the_plain_sums_within_the_rounding_claimed() {
    for (one_in, shifted) in [(20, false), (20, true), (2, false), (2, true)] {
        check(one_in, shifted, |of| {
            assert_eq!(of.is_thin(), of.design.is_sparse() && one_in == 20);
            let found = of
                .products(&Limits::new(&Settings::default()), 1, &mut ())
                .unwrap();
            let d = of.columns.len();
            let column = |index: usize| {
                let (shift, scale) = of.shift(index);
                let mut out = vec![0.0; N];
                of.design.fill(of.columns[index], shift, scale, &mut out);
                out
            };
            let gamma = crate::linalg::rounding::gamma(2 * N + 20);
            for i in (0..d).step_by(17) {
                let a = column(i);
                let own = found.sizes[i];
                assert!(own >= kernels::weighted_dot(of.p, &a, &a) * (1.0 - 1e-12));
                let c = kernels::weighted_dot(of.p, &a, of.b);
                let squares = kernels::weighted_dot(of.p, of.b, of.b);
                assert!((found.c[i] - c).abs() <= gamma * (own * squares).sqrt());
                if shifted {
                    let mean = kernels::dot(of.p, &a).abs();
                    assert!((found.means[i] - mean).abs() <= gamma * own.sqrt());
                }
                for j in 0..d {
                    let exact = kernels::weighted_dot(of.p, &a, &column(j));
                    let error = (found.gram[i * d + j] - exact).abs();
                    assert!(error <= gamma * (own * found.sizes[j]).sqrt());
                    assert_eq!(found.gram[i * d + j], found.gram[j * d + i]);
                }
            }
        });
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let bits = |v: &[f64]| -> Vec<u64> { v.iter().map(|v| v.to_bits()).collect() };
    for one_in in [20, 2] {
        check(one_in, true, |of| {
            let limits = Limits::new(&Settings::default());
            let one = of.products(&limits, 1, &mut ()).unwrap();
            for threads in [2, 3, 8] {
                let many = of.products(&limits, threads, &mut ()).unwrap();
                assert_eq!(bits(&one.gram), bits(&many.gram));
                assert_eq!(bits(&one.c), bits(&many.c));
                assert_eq!(bits(&one.sizes), bits(&many.sizes));
            }
        });
    }
}

#[test]
fn a_limit_ends_it_between_blocks() {
    let settings = Settings {
        interrupt: Some(Arc::new(AtomicBool::new(true))),
        ..Settings::default()
    };
    for one_in in [20, 2] {
        check(one_in, false, |of| {
            let limits = Limits::new(&settings);
            assert!(of.products(&limits, 1, &mut ()).is_none());
            assert!(of.products(&limits, 2, &mut ()).is_none());
        });
    }
}

/// A driver that is interrupted after a number of bands, and keeps those that are there.
struct Killed {
    flag: Arc<AtomicBool>,
    known: Option<Triangle>,
    made: usize,
    left: usize,
}

impl BandDriver for Killed {
    fn known(&mut self, columns: &[usize]) -> Option<Triangle> {
        let known = self.known.replace(Triangle::new(columns));
        known.and_then(|known| known.over(columns))
    }

    fn drive(&mut self, bands: &mut Bands) {
        let known = bands.count();
        while bands.step() {
            self.made = bands.count() - known;
            self.flag.store(self.made == self.left, Ordering::Relaxed);
        }
        bands.add_to(self.known.as_mut().unwrap());
    }
}

/// Makes one run that is interrupted after a number of bands.
fn run(of: &Columns, keep: &mut Killed, threads: usize) -> Option<Products> {
    keep.flag.store(false, Ordering::Relaxed);
    keep.made = 0;
    let settings = Settings {
        interrupt: Some(Arc::clone(&keep.flag)),
        ..Settings::default()
    };
    of.products(&Limits::new(&settings), threads, keep)
}

#[test]
fn a_band_that_was_kept_is_not_made_again() {
    let bits = |v: &[f64]| -> Vec<u64> { v.iter().map(|v| v.to_bits()).collect() };
    for one_in in [20, 2] {
        check(one_in, true, |of| {
            let whole = of.products(&Limits::none(), 1, &mut ()).unwrap();
            let count = of.columns.len().div_ceil(of.band());
            assert!(count > 1);
            for threads in [1, 2] {
                let mut keep = Killed {
                    flag: Arc::default(),
                    known: None,
                    made: 0,
                    left: 1,
                };
                let mut runs = 0;
                let found = loop {
                    runs += 1;
                    let before = keep.known.as_ref().map_or(0, Triangle::count);
                    if let Some(found) = run(of, &mut keep, threads) {
                        break found;
                    }
                    let kept = keep.known.as_ref().unwrap();
                    assert!(kept.count() > before, "nothing was kept");
                };
                assert!(runs <= count);
                // With one thread, every run but the last was interrupted after its first band.
                assert!(threads > 1 || runs == count);
                assert_eq!(bits(&found.gram), bits(&whole.gram));
                assert_eq!(bits(&found.c), bits(&whole.c));
                assert_eq!(bits(&found.means), bits(&whole.means));
                assert_eq!(bits(&found.sizes), bits(&whole.sizes));
                // For some of the columns, the entries are the same, and nothing is computed.
                let some: Vec<usize> = of.columns.iter().copied().step_by(3).collect();
                let shifts = of.shifts.iter().copied().step_by(3).collect();
                let part = Columns {
                    columns: &some,
                    shifts,
                    ..*of
                };
                keep.left = usize::MAX;
                let found = run(&part, &mut keep, threads).unwrap();
                assert_eq!(keep.made, 0, "all of it was known");
                let d = of.columns.len();
                for (i, row) in found.gram.chunks_exact(some.len()).enumerate() {
                    for (j, value) in row.iter().enumerate() {
                        let known = whole.gram[3 * i * d + 3 * j];
                        assert_eq!(value.to_bits(), known.to_bits());
                    }
                }
            }
        });
    }
}

#[test]
fn rows_that_are_not_those_of_the_data_are_made_again() {
    for one_in in [20, 2] {
        check(one_in, true, |of| {
            let whole = of.products(&Limits::none(), 1, &mut ()).unwrap();
            let d = of.columns.len();
            for (index, place) in [(0, 0), (200, 7), (d - 1, d - 1)] {
                let mut keep = Killed {
                    flag: Arc::default(),
                    known: None,
                    made: 0,
                    left: usize::MAX,
                };
                run(of, &mut keep, 1).unwrap();
                let mut wrong = Triangle::new(of.columns);
                let kept = keep.known.as_ref().unwrap();
                for i in 0..d {
                    let mut row = kept.row(i).unwrap().clone();
                    if i == index {
                        let size = kept.row(place).unwrap().size;
                        row.gram[place] += 1e-3 * (row.size * size).sqrt();
                    }
                    wrong.add(i, || row);
                }
                keep.known = Some(wrong);
                let found = run(of, &mut keep, 1).unwrap();
                assert_eq!(keep.made, d.div_ceil(of.band()));
                assert!(found.gram == whole.gram);
            }
        });
    }
}
