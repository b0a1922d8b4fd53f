//! More features than rows and a small ridge: proved boxes in the search.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::common::{Random, repeating_columns};
use l0star::{
    Checkpoint, Design, Mechanisms, Problem, Run, Settings, Solution, Status, Use, solve,
};

/// Boxes wherever they apply, even for small sizes.
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
        let columns = repeating_columns(d, n, random);
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
        // P at the solution itself, so that errors of the elimination count only to second order.
        self.value(&self.minimiser(mask))
    }

    /// The columns of a set and their coefficients at the minimum.
    fn minimiser(&self, mask: u32) -> Vec<(usize, f64)> {
        let n = self.b.len() as f64;
        let places: Vec<usize> = (0..self.columns.len())
            .filter(|j| mask >> j & 1 == 1)
            .collect();
        let set: Vec<&Vec<f64>> = places.iter().map(|j| &self.columns[*j]).collect();
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
        let x = (0..m).map(|r| rows[r][m] / rows[r][r]);
        places.into_iter().zip(x).collect()
    }

    /// P of a model.
    fn value(&self, x: &[(usize, f64)]) -> f64 {
        let residual = |i: usize| {
            let fitted: f64 = x.iter().map(|(j, x)| self.columns[*j][i] * x).sum();
            self.b[i] - fitted
        };
        let squares: f64 = (0..self.b.len()).map(|i| residual(i).powi(2)).sum();
        let sizes: f64 = x.iter().map(|(_, x)| x * x).sum();
        0.5 * squares / self.b.len() as f64 + 0.5 * self.ridge * sizes
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

/// The search equals brute force with a price for each feature, too, with and without k.
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

/// Bounds for every column: of all kinds, from those that allow only 0 to those that affect no model.
struct Limited {
    case: Case,
    bounds: Vec<(f64, f64)>,
}

impl Limited {
    fn random(seed: u64) -> Self {
        let mut case = Case::random(seed);
        case.k = case.k.min(3);
        let random = &mut Random::new(seed ^ 0x77AA);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let usual = [0.3, 1.2, 3.0, 1e3][random.below(4)];
        let bounds = case.columns.iter().map(|a| {
            // The unit of the response divided by that of the column.
            let unit = (dot(&case.b, &case.b) / dot(a, a).max(1e-300))
                .sqrt()
                .min(1e30);
            let most = usual * unit;
            match random.below(12) {
                0 => (0.0, most),
                1 => (-most, 0.0),
                2 => (0.0, f64::INFINITY),
                3 => (0.0, 0.0),
                _ => (-most, most),
            }
        });
        let bounds = bounds.collect();
        Self { case, bounds }
    }

    fn problem(&self) -> Problem {
        let Case {
            columns,
            b,
            k,
            ridge,
        } = &self.case;
        let design = Design::dense(b.len(), columns.len(), columns.concat()).unwrap();
        let builder = Problem::builder(design, b.clone());
        let mut builder = builder
            .intercept(false)
            .standardize(false)
            .k(*k)
            .ridge(*ridge);
        for (j, (low, high)) in self.bounds.iter().enumerate() {
            builder = builder.bounds(j, *low, *high);
        }
        builder.build().unwrap()
    }

    /// The least P within the bounds over sets of at most `most` columns, with a price for each.
    fn optimum(&self, most: usize, price: f64) -> f64 {
        let d = self.case.columns.len();
        let sets = (0_u32..1 << d).filter(|mask| mask.count_ones() as usize <= most);
        let value = |mask: u32| self.least(mask) + f64::from(mask.count_ones()) * price;
        sets.map(value).fold(f64::INFINITY, f64::min)
    }

    /// The minimum over a box is one of those where some columns are held at one of their bounds and the others are free.
    fn least(&self, mask: u32) -> f64 {
        let set: Vec<usize> = (0..self.bounds.len())
            .filter(|j| mask >> j & 1 == 1)
            .collect();
        let choices = 3_usize.pow(set.len() as u32);
        let value = |mut choice: usize| {
            let mut free = 0;
            let mut held = vec![0.0; self.bounds.len()];
            for j in &set {
                let (low, high) = self.bounds[*j];
                match choice % 3 {
                    0 => free |= 1 << j,
                    1 => held[*j] = low,
                    _ => held[*j] = high,
                }
                choice /= 3;
            }
            self.least_with(free, &held)
        };
        (0..choices).map(value).fold(f64::INFINITY, f64::min)
    }

    /// P where some columns are free and the others held, infinite where that leaves the bounds.
    fn least_with(&self, free: u32, held: &[f64]) -> f64 {
        let Case {
            columns, b, ridge, ..
        } = &self.case;
        if held.iter().any(|x| x.is_infinite()) {
            return f64::INFINITY;
        }
        let residual = |i: usize| {
            let fitted: f64 = columns.iter().zip(held).map(|(a, x)| a[i] * x).sum();
            b[i] - fitted
        };
        let rest = Case {
            columns: columns.clone(),
            b: (0..b.len()).map(residual).collect(),
            ..self.case
        };
        let x = rest.minimiser(free);
        let fits = |(j, x): &(usize, f64)| self.bounds[*j].0 <= *x && *x <= self.bounds[*j].1;
        if !x.iter().all(fits) {
            return f64::INFINITY;
        }
        let fixed: f64 = held.iter().map(|x| x * x).sum();
        rest.value(&x) + 0.5 * ridge * fixed
    }
}

/// Boxes start from the given bounds.
#[test]
fn the_search_with_given_bounds_equals_brute_force() {
    for seed in 0..100 {
        let limited = Limited::random(seed);
        let random = &mut Random::new(seed ^ 0x1234);
        let empty = limited.case.least(0);
        let price = match random.below(3) {
            0 => empty * [1e-4, 0.02, 0.1][random.below(3)],
            _ => 0.0,
        };
        let optimum = limited.optimum(limited.case.k, price);
        let problem = limited.problem().with_l0_penalty(price).unwrap();
        let mut settings = with_boxes();
        settings.mechanisms.enumeration = seed % 2 == 0;
        settings.threads = NonZeroUsize::new(1 + usize::from(seed % 10 == 0));
        let found = solve(&problem, &settings).unwrap();
        let room = 1e-8 * optimum + 1e-14 * empty;
        let (bound, objective) = (found.lower_bound.unwrap(), found.objective);
        assert!(bound <= optimum + room, "seed {seed}: {bound} > {optimum}");
        let error = (objective - optimum).abs();
        assert!(error <= room, "seed {seed}: {objective}, {optimum}");
        assert_eq!(found.status, Status::Optimal, "seed {seed}");
    }
}

/// Bounds that change no model, used as boxes, prove in few nodes what takes many without them.
#[test]
fn given_bounds_are_tightened_where_ridges_are_small() {
    let plain = solve(&wide(), &Settings::default()).unwrap();
    let largest = plain.support.iter().map(|j| plain.coefficients[*j].abs());
    let most = 1.5 * largest.fold(0.0, f64::max);
    let few = Settings {
        node_limit: Some(100),
        ..Settings::default()
    };
    let price = {
        let three = solve(&wide().with_k(3).unwrap(), &Settings::default()).unwrap();
        0.4 * (three.objective - plain.objective)
    };
    let within = wide_within(Some(most));
    let found = solve(&within, &few).unwrap();
    assert_eq!(found.status, Status::Optimal, "{} nodes", found.nodes);
    assert!((found.objective - plain.objective).abs() <= 1e-9 * plain.objective);
    let priced = within.with_k(80).unwrap().with_l0_penalty(price).unwrap();
    let found = solve(&priced, &few).unwrap();
    assert_eq!(found.status, Status::Optimal, "{} nodes", found.nodes);
    assert_eq!(found.support, plain.support);
}

/// 40 rows, 80 columns, four of which matter; a ridge of 1e-4.
fn wide() -> Problem {
    wide_within(None)
}

/// The problem of [`wide`], with no coefficient larger than this.
fn wide_within(most: Option<f64>) -> Problem {
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
    let mut builder = Problem::builder(design, b)
        .intercept(false)
        .standardize(false);
    if let Some(most) = most {
        builder = builder.assume_max_coefficient(most);
    }
    builder.k(4).ridge(1e-4).build().unwrap()
}

/// Boxes are used by default where the ridge is small compared with the curvature.
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

/// A price instead of k, with the same boxes.
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

/// The data that prove the boxes are omitted where they would take half of the memory, and counted where they do not.
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
