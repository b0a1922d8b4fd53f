//! More features than rows and a small ridge: proved boxes in the search.
#![allow(missing_docs)]

mod common;

use std::num::NonZeroUsize;
use std::time::Duration;

use common::Random;
use l0star::{
    Checkpoint, Design, Mechanisms, Problem, Run, Settings, Solution, Status, Use, solve,
};

/// Boxes wherever they apply, small sizes too.
fn with_boxes() -> Settings {
    Settings {
        mechanisms: Mechanisms {
            boxes: Use::Always,
            enumeration: false,
            ..Mechanisms::default()
        },
        ..Settings::default()
    }
}

struct Case {
    columns: Vec<Vec<f64>>,
    b: Vec<f64>,
    k: usize,
    ridge: f64,
}

impl Case {
    /// Columns that repeat or are constant now and then, in units that differ by powers of two.
    fn random(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let d = 5 + random.below(5);
        let n = 3 + random.below(d - 3);
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for j in 0..d {
            let mut column: Vec<f64> = match random.below(10) {
                0 if j > 0 => columns[random.below(j)].clone(),
                1 => vec![1.0; n],
                2 => (0..n).map(|_| random.below(3) as f64 - 1.0).collect(),
                _ => (0..n).map(|_| random.normal()).collect(),
            };
            let unit = f64::powi(2.0, [0, 0, 0, -3, 4][random.below(5)]);
            column.iter_mut().for_each(|a| *a *= unit);
            columns.push(column);
        }
        let unit = f64::powi(2.0, [0, 0, -30, 25][random.below(4)]);
        let b = (0..n).map(|i| unit * (columns[0][i] - columns[d - 1][i] + random.normal()));
        let b = b.collect();
        Self {
            columns,
            b,
            k: 1 + random.below(5.min(d - 1)),
            ridge: [1e-5, 1e-3, 0.1][random.below(3)],
        }
    }

    fn problem(&self) -> Problem {
        let design = Design::dense(self.b.len(), self.columns.len(), self.columns.concat());
        Problem::builder(design.unwrap(), self.b.clone())
            .intercept(false)
            .standardize(false)
            .k(self.k)
            .ridge(self.ridge)
            .build()
            .unwrap()
    }

    /// The least P of all sets of k columns, by normal equations.
    fn optimum(&self) -> f64 {
        let d = self.columns.len();
        let sets = (0_u32..1 << d).filter(|mask| mask.count_ones() as usize == self.k);
        sets.map(|mask| self.least(mask))
            .fold(f64::INFINITY, f64::min)
    }

    fn least(&self, mask: u32) -> f64 {
        let n = self.b.len() as f64;
        let set: Vec<&Vec<f64>> = (0..self.columns.len())
            .filter(|j| mask >> j & 1 == 1)
            .map(|j| &self.columns[j])
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let m = set.len();
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for (r, a) in set.iter().enumerate() {
            let mut row: Vec<f64> = set.iter().map(|other| dot(a, other) / n).collect();
            row[r] += self.ridge;
            row.push(dot(a, &self.b) / n);
            rows.push(row);
        }
        for p in 0..m {
            for r in 0..m {
                if r != p {
                    let factor = rows[r][p] / rows[p][p];
                    let row = rows[p].clone();
                    rows[r]
                        .iter_mut()
                        .zip(row)
                        .for_each(|(v, w)| *v -= factor * w);
                }
            }
        }
        // P at the solution itself, so that errors of the elimination count twice as little.
        let x: Vec<f64> = (0..m).map(|r| rows[r][m] / rows[r][r]).collect();
        let residual = |i: usize| {
            let fitted: f64 = set.iter().zip(&x).map(|(a, x)| a[i] * x).sum();
            self.b[i] - fitted
        };
        let squares: f64 = (0..self.b.len()).map(|i| residual(i).powi(2)).sum();
        0.5 * squares / n + 0.5 * self.ridge * dot(&x, &x)
    }
}

fn check(case: &Case, found: &Solution, words: &str) {
    let optimum = case.optimum();
    // The elimination loses digits where columns repeat.
    let room = 1e-8 * optimum + 1e-14 * found.empty_objective;
    let bound = found.lower_bound.unwrap();
    assert!(bound <= optimum + room, "{words}: {bound} > {optimum}");
    let objective = found.objective;
    assert!(
        (objective - optimum).abs() <= room,
        "{words}: {objective}, {optimum}"
    );
    assert_eq!(found.status, Status::Optimal, "{words}");
}

#[test]
fn the_search_with_boxes_equals_brute_force() {
    for seed in 0..1000 {
        let case = Case::random(seed);
        let found = solve(&case.problem(), &with_boxes()).unwrap();
        check(&case, &found, &format!("seed {seed}"));
    }
}

#[test]
fn two_threads_equal_brute_force() {
    for seed in 5000..5100 {
        let case = Case::random(seed);
        let settings = Settings {
            threads: NonZeroUsize::new(2),
            ..with_boxes()
        };
        let found = solve(&case.problem(), &settings).unwrap();
        check(&case, &found, &format!("seed {seed}"));
    }
}

/// The same columns with a price for each feature, with and without k.
#[test]
fn the_search_with_boxes_and_prices_equals_brute_force() {
    for seed in 0..300 {
        let case = Case::random(seed);
        let d = case.columns.len();
        let empty = case.least(0);
        let random = &mut Random::new(seed ^ 0xABCD);
        let price = empty * [1e-4, 0.01, 0.04, 0.1, 0.3, 2.0][random.below(6)];
        let most = [case.k, d][random.below(2)];
        let all = (0_u32..1 << d).filter(|mask| mask.count_ones() as usize <= most);
        let value = |mask: u32| case.least(mask) + f64::from(mask.count_ones()) * price;
        let optimum = all.map(value).fold(f64::INFINITY, f64::min);
        let problem = case.problem().with_k(most).unwrap();
        let problem = problem.with_l0_penalty(price).unwrap();
        for threads in [1, 2].into_iter().take(1 + usize::from(seed % 10 == 0)) {
            let settings = Settings {
                threads: NonZeroUsize::new(threads),
                ..with_boxes()
            };
            let found = solve(&problem, &settings).unwrap();
            let room = 1e-8 * optimum + 1e-14 * empty;
            let (bound, objective) = (found.lower_bound.unwrap(), found.objective);
            assert!(bound <= optimum + room, "seed {seed}: {bound} > {optimum}");
            let error = (objective - optimum).abs();
            assert!(error <= room, "seed {seed}: {objective}, {optimum}");
            assert_eq!(found.status, Status::Optimal, "seed {seed}");
        }
    }
}

/// 40 rows, 80 columns, four of which matter; a ridge of 1e-4.
fn wide() -> Problem {
    let mut random = Random::new(1);
    let (n, d) = (40, 80);
    let values: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
    let signal = |i: usize| {
        [3, 20, 41, 77]
            .iter()
            .map(|j| values[j * n + i])
            .sum::<f64>()
    };
    let b: Vec<f64> = (0..n).map(|i| signal(i) + 0.5 * random.normal()).collect();
    let design = Design::dense(n, d, values.clone()).unwrap();
    let builder = Problem::builder(design, b)
        .intercept(false)
        .standardize(false);
    builder.k(4).ridge(1e-4).build().unwrap()
}

/// By default, where the ridge is small beside the curvature.
#[test]
fn boxes_solve_what_bounds_without_them_do_not() {
    let problem = wide();
    let few = Settings {
        node_limit: Some(100),
        ..Settings::default()
    };
    let found = solve(&problem, &few).unwrap();
    assert_eq!(found.status, Status::Optimal, "{} nodes", found.nodes);
    assert_eq!(found.support, [3, 20, 41, 77]);
    let without = Settings {
        mechanisms: Mechanisms {
            boxes: Use::Never,
            enumeration: false,
            ..Mechanisms::default()
        },
        ..few
    };
    let stopped = solve(&problem, &without).unwrap();
    assert_eq!(stopped.status, Status::NodeLimit);
}

/// A price in the place of k, with the same boxes.
#[test]
fn boxes_solve_what_has_a_price_in_the_place_of_k() {
    let plain = solve(&wide(), &Settings::default()).unwrap();
    let three = solve(&wide().with_k(3).unwrap(), &Settings::default()).unwrap();
    let price = 0.4 * (three.objective - plain.objective);
    let problem = wide().with_k(80).unwrap();
    let problem = problem.with_l0_penalty(price).unwrap();
    let few = Settings {
        node_limit: Some(200),
        ..Settings::default()
    };
    let found = solve(&problem, &few).unwrap();
    assert_eq!(found.status, Status::Optimal, "{} nodes", found.nodes);
    assert_eq!(found.support, [3, 20, 41, 77]);
    let expected = plain.objective + 4.0 * price;
    assert!((found.objective - expected).abs() <= 1e-9 * expected);
}

/// What proved the boxes is left out where it would take half of the memory, and counted where it does not.
#[test]
fn a_memory_limit_leaves_the_answer() {
    for limit in [60_000, 1_000_000] {
        let limited = Settings {
            memory_limit: Some(limit),
            ..Settings::default()
        };
        let found = solve(&wide(), &limited).unwrap();
        assert_eq!(found.status, Status::Optimal, "{limit}");
        assert_eq!(found.support, [3, 20, 41, 77]);
    }
}

#[test]
fn a_search_with_boxes_resumes() {
    let problem = wide();
    let whole = solve(&problem, &Settings::default()).unwrap();
    for limit in 0..4 {
        let limited = Settings {
            node_limit: Some(limit),
            ..Settings::default()
        };
        let mut saved = Vec::new();
        let keep = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
        let stopped = Run::new(&problem, &limited).save(Duration::ZERO, keep);
        stopped.solve().unwrap();
        let checkpoint = Checkpoint::decode(&saved).unwrap();
        let resumed = Run::new(&problem, &Settings::default()).resume(checkpoint);
        let resumed = resumed.solve().unwrap();
        assert_eq!(resumed.status, Status::Optimal);
        assert_eq!(resumed.objective, whole.objective);
        assert!(resumed.lower_bound.unwrap() <= whole.objective);
    }
}
