//! Weights, offsets, intercepts and roles of columns mean what their documentation says: equivalent statements give
//! equal results.

use l0star::problem::Builder;
use l0star::{Design, Method, Problem, Settings, Solution, loss, solve};

use super::{LABELS, REAL, small};
use crate::common::{self, Random};

/// The numbers of a random problem, for tests that build it in two ways.
#[derive(Clone)]
struct Data {
    columns: Vec<Vec<f64>>,
    b: Vec<f64>,
    loss: &'static str,
}

impl Data {
    fn new(seed: u64, loss: &'static str) -> Self {
        let mut random = Random::new(seed);
        let (n, d) = (12, 6);
        let columns: Vec<Vec<f64>> = (0..d)
            .map(|_| (0..n).map(|_| random.normal()).collect())
            .collect();
        let mut b: Vec<f64> = (0..n)
            .map(|i| columns[1][i] - 0.7 * columns[4][i] + 0.5 * random.normal())
            .collect();
        if LABELS.contains(&loss) {
            b.iter_mut().for_each(|b| *b = b.signum());
            (b[0], b[1]) = (1.0, -1.0);
        }
        common::log_linked(&mut b, loss);
        Self { columns, b, loss }
    }

    fn rows(&self) -> usize {
        self.b.len()
    }

    fn builder(&self) -> Builder {
        let design = Design::dense(self.rows(), self.columns.len(), self.columns.concat()).unwrap();
        Problem::builder(design, self.b.clone())
            .standardize(false)
            .loss(loss::by_name(self.loss, 0.7).unwrap())
            .ridge(0.01)
            .k(3)
    }

    /// The data with each row repeated `times` times.
    fn repeated(&self, times: &[usize]) -> Self {
        let repeat = |v: &Vec<f64>| -> Vec<f64> {
            v.iter()
                .zip(times)
                .flat_map(|(v, times)| vec![*v; *times])
                .collect()
        };
        Self {
            columns: self.columns.iter().map(repeat).collect(),
            b: repeat(&self.b),
            loss: self.loss,
        }
    }
}

fn solved(builder: Builder) -> Solution {
    let problem = builder.build().unwrap();
    solve(&problem, &settings(&problem)).unwrap()
}

/// The settings of the plainest exact method that can solve a problem.
fn settings(problem: &Problem) -> Settings {
    Settings::new(if common::suits(problem, Method::Paper) {
        Method::Paper
    } else {
        Method::BestFirst
    })
}

/// Asserts that two solutions are equal but for the time.
fn assert_identical(found: &Solution, expected: &Solution, words: &str) {
    let found = Solution {
        seconds: expected.seconds,
        ..found.clone()
    };
    assert_eq!(&found, expected, "{words}");
}

fn assert_equivalent(found: &Solution, expected: &Solution, words: &str) {
    assert_eq!(found.support, expected.support, "{words}");
    assert!(
        (found.objective - expected.objective).abs() <= 1e-12 * expected.objective,
        "{words}: objectives {} and {}",
        found.objective,
        expected.objective
    );
    let coefficients = found.coefficients.iter().zip(&expected.coefficients);
    for (found, expected) in coefficients.chain([(&found.intercept, &expected.intercept)]) {
        assert!(
            (found - expected).abs() <= 1e-6,
            "{words}: coefficients {found} and {expected}"
        );
    }
}

#[test]
fn the_defaults_are_those_of_the_table() {
    let problem = small(&[1.0, 2.0, 3.0]).build().unwrap();
    assert_eq!(problem.k(), 1);
    assert_eq!(problem.loss().name(), "quadratic");
    assert_eq!((problem.ridge(0), problem.ridge(1)), (1e-3, 1e-3));
    assert!(!problem.has_intercept());
    assert_eq!(problem.selectable(), [0, 1]);
    assert_eq!(problem.names(), ["age", "height"]);
    assert!((problem.objective(&[]) - 14.0 / 6.0).abs() <= 1e-15 * 14.0);
}

#[test]
fn the_objective_is_the_weighted_mean_loss_and_the_ridge() {
    let problem = small(&[1.0, 2.0, 3.0])
        .weights(vec![1.0, 3.0, 0.0])
        .offset(vec![0.5, -0.5, 100.0])
        .ridge(0.2)
        .always_in(1, 0.4)
        .intercept(true)
        .build()
        .unwrap();
    assert_eq!((problem.rows(), problem.columns()), (2, 2));
    assert_eq!(problem.selectable(), [0]);
    // z = o + 2 age - height + 0.25, the residuals are 2.75 and 0.75 + 0.5.
    let residuals = [0.5 + 2.0 + 1.0 + 0.25 - 1.0, -0.5 + 4.0 - 0.5 + 0.25 - 2.0];
    let expected = 0.25 * 0.5 * residuals[0] * residuals[0]
        + 0.75 * 0.5 * residuals[1] * residuals[1]
        + 0.5 * 0.2 * 4.0
        + 0.5 * 0.4;
    let found = problem.objective(&[(0, 2.0), (1, -1.0), (2, 0.25)]);
    assert!(
        (found - expected).abs() <= 1e-15 * expected,
        "{found}, not {expected}"
    );
}

#[test]
fn rows_of_weight_zero_are_as_if_deleted() {
    for name in loss::NAMES {
        for seed in 0..5 {
            let data = Data::new(seed, name);
            let mut random = Random::new(seed + 100);
            let times: Vec<usize> = (0..data.rows())
                .map(|i| usize::from(i < 2 || random.chance(0.7)))
                .collect();
            let weights: Vec<f64> = times.iter().map(|times| *times as f64).collect();
            let offset: Vec<f64> = (0..data.rows()).map(|_| random.normal()).collect();
            let left: Vec<f64> = offset
                .iter()
                .zip(&times)
                .filter_map(|(o, times)| (*times > 0).then_some(*o))
                .collect();
            for intercept in [false, true] {
                let weighted = data.builder().weights(weights.clone());
                let deleted = data.repeated(&times).builder();
                assert_identical(
                    &solved(weighted.offset(offset.clone()).intercept(intercept)),
                    &solved(deleted.offset(left.clone()).intercept(intercept)),
                    &format!("{name}, seed {seed}, intercept {intercept}"),
                );
            }
        }
    }
}

#[test]
fn integer_weights_are_repeated_rows() {
    for name in loss::NAMES {
        for seed in 0..5 {
            let data = Data::new(seed, name);
            let mut random = Random::new(seed + 200);
            let times: Vec<usize> = (0..data.rows())
                .map(|i| random.below(4) + usize::from(i < 2))
                .collect();
            let weights = times.iter().map(|times| *times as f64).collect();
            let repeated = data.repeated(&times).builder();
            assert_equivalent(
                &solved(data.builder().weights(weights)),
                &solved(repeated),
                &format!("{name}, seed {seed}"),
            );
        }
    }
}

#[test]
fn a_constant_offset_is_a_shift_of_real_responses() {
    for name in REAL {
        for c in [0.3, -2.0] {
            let data = Data::new(3, name);
            let mut shifted = data.clone();
            shifted.b.iter_mut().for_each(|b| *b -= c);
            assert_equivalent(
                &solved(data.builder().offset(vec![c; data.rows()])),
                &solved(shifted.builder()),
                &format!("{name}, {c}"),
            );
        }
    }
}

#[test]
fn an_intercept_takes_up_a_constant_offset() {
    for name in loss::NAMES {
        let data = Data::new(4, name);
        let plain = solved(data.builder().intercept(true));
        let offset = vec![0.8; data.rows()];
        let mut moved = solved(data.builder().intercept(true).offset(offset));
        assert!((moved.intercept + 0.8 - plain.intercept).abs() <= 1e-6);
        moved.intercept = plain.intercept;
        assert_equivalent(&moved, &plain, name);
    }
}

#[test]
fn an_intercept_is_a_free_column_of_ones() {
    for name in REAL {
        for seed in 0..5 {
            let data = Data::new(seed, name);
            let mut with_ones = data.clone();
            with_ones.columns.push(vec![1.0; data.rows()]);
            let d = data.columns.len();
            let expected = solved(data.builder().intercept(true));
            let mut found = solved(with_ones.builder().always_in(d, 0.0));
            assert_eq!(found.intercept, 0.0);
            found.intercept = found.coefficients.pop().unwrap();
            assert_equivalent(&found, &expected, &format!("{name}, seed {seed}"));
        }
    }
}

#[test]
fn a_larger_k_than_there_are_features_means_all_of_them() {
    for name in loss::NAMES {
        let data = Data::new(6, name);
        let d = data.columns.len();
        let all = solved(data.builder().k(d));
        assert_eq!(all.support.len(), d, "{name}");
        for k in [d + 1, 1000, usize::MAX] {
            assert_identical(&solved(data.builder().k(k)), &all, name);
        }
    }
}

#[test]
fn another_k_for_a_problem_is_a_problem_built_with_it() {
    for name in loss::NAMES {
        let data = Data::new(8, name);
        let builder = data.builder().intercept(true);
        let one = builder.clone().k(1).build().unwrap();
        for k in [0, 2, 5] {
            let found = solve(&one.with_k(k).unwrap(), &settings(&one)).unwrap();
            assert_identical(&found, &solved(builder.clone().k(k)), name);
        }
    }
}

#[test]
fn the_scale_of_the_weights_does_not_matter() {
    for name in loss::NAMES {
        let data = Data::new(7, name);
        let mut random = Random::new(300);
        let weights: Vec<f64> = (0..data.rows()).map(|_| 0.1 + random.uniform()).collect();
        let scaled = |scale: f64| {
            let weights = weights.iter().map(|w| w * scale).collect();
            solved(data.builder().weights(weights).intercept(true))
        };
        let plain = scaled(1.0);
        // A power of two changes no digit.
        for power in [300, -300] {
            assert_identical(&scaled(2f64.powi(power)), &plain, name);
        }
        for scale in [1e100, 1e-100, 1e305] {
            assert_equivalent(&scaled(scale), &plain, &format!("{name}, {scale:e}"));
        }
    }
}

#[test]
fn excluded_columns_stay_out_and_always_in_columns_stay_in() {
    for name in loss::NAMES {
        for seed in 0..5 {
            let data = Data::new(seed, name);
            let found = solved(data.builder().k(2).exclude(1).always_in(3, 0.05));
            let words = format!("{name}, seed {seed}");
            assert_eq!(found.coefficients[1], 0.0, "{words}");
            assert_ne!(found.coefficients[3], 0.0, "{words}");
            assert!(!found.support.contains(&3), "{words}: k counts column 3");
            assert_eq!(found.support.len(), 2, "{words}");
            // Removing the column from the data is the same as excluding it.
            let mut without = data.clone();
            without.columns.remove(1);
            let mut expected = solved(without.builder().k(2).always_in(2, 0.05));
            expected.coefficients.insert(1, 0.0);
            for j in &mut expected.support {
                *j += usize::from(*j >= 1);
            }
            assert_equivalent(&found, &expected, &words);
        }
    }
}
