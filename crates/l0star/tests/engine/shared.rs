//! Columns that a provider keeps give the same models, bounds and proofs as columns in memory, even where rows are
//! skipped.

use crate::common::Random;
use crate::common::form::share;
use l0star::problem::ColumnStats;
use l0star::{Design, PathRun, Problem, Settings, Status, loss, solve};

/// More rows than a block has, with numbers that are exact in single precision.
const ROWS: usize = 2600;
const COLUMNS: usize = 9;

fn columns(seed: u64, is_single: bool) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let column = |j: usize| {
        let mut value = || {
            let value = 3.0 * j as f64 + random.normal();
            if is_single {
                f64::from(value as f32)
            } else {
                value
            }
        };
        (0..ROWS).map(|_| value()).collect()
    };
    (0..COLUMNS).map(column).collect()
}

fn response(columns: &[Vec<f64>], name: &str, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed ^ 77);
    let score = |i: usize| columns[1][i] - 3.0 - 0.8 * (columns[4][i] - 12.0);
    let rows = (0..ROWS).map(|i| (score(i) + random.normal(), random.uniform()));
    let rows = rows.map(|(z, u)| match name {
        "logistic" => {
            if z > 0.0 {
                1.0
            } else {
                -1.0
            }
        }
        "poisson" => (z.exp().min(50.0) + u).floor(),
        "gamma" => 0.1 + u + (0.3 * z).exp(),
        _ => z,
    });
    rows.collect()
}

#[test]
fn every_loss_finds_and_proves_the_same() {
    for (at, name) in ["quadratic", "huber", "logistic", "poisson", "gamma"]
        .into_iter()
        .enumerate()
    {
        for is_single in [false, true] {
            let seed = 2 * at as u64 + u64::from(is_single);
            let columns = columns(seed, is_single);
            let b = response(&columns, name, seed);
            let mut random = Random::new(seed ^ 5);
            let some = (0..ROWS).map(|_| if random.chance(0.2) { 0.0 } else { 1.0 });
            let some: Vec<f64> = some.collect();
            for weights in [None, Some(some)] {
                let solved = |design: Design| {
                    let builder = Problem::builder(design, b.clone())
                        .loss(loss::by_name(name, 1.0).unwrap())
                        .intercept(true)
                        .k(3);
                    let builder = match &weights {
                        None => builder,
                        Some(weights) => builder.weights(weights.clone()),
                    };
                    let problem = builder.build().unwrap();
                    (solve(&problem, &Settings::default()).unwrap(), problem)
                };
                let dense = Design::dense(ROWS, COLUMNS, columns.concat()).unwrap();
                let (expected, problem) = solved(dense);
                let (found, shared) = solved(share(&columns));
                let words = format!("{name}, {is_single}, {}", weights.is_some());
                assert_eq!(found.status, Status::Optimal, "{words}");
                assert_eq!(found.support, expected.support, "{words}");
                let close = |a: f64, b: f64| (a - b).abs() <= 2e-9 * b.abs();
                assert!(close(found.objective, expected.objective), "{words}");
                // Each bound holds for the model that the other found.
                assert!(found.lower_bound.unwrap() <= expected.objective, "{words}");
                assert!(expected.lower_bound.unwrap() <= found.objective, "{words}");
                let x: Vec<(usize, f64)> = found.coefficients.iter().copied().enumerate().collect();
                let (own, other) = (shared.objective(&x), problem.objective(&x));
                assert!((own - other).abs() <= 1e-12 * other, "{words}");
            }
        }
    }
}

#[test]
fn a_path_and_the_statistics_of_columns_are_the_same() {
    let columns = columns(3, true);
    let b = response(&columns, "huber", 3);
    let dense = Design::dense(ROWS, COLUMNS, columns.concat()).unwrap();
    let [one, other] = [dense, share(&columns)].map(|design| {
        let stats = ColumnStats::of(&design, None);
        let problem = Problem::builder(design, b.clone()).intercept(true).k(5);
        let problem = problem.build().unwrap();
        let path = PathRun::new(&problem, &Settings::default(), 1..=5)
            .solve()
            .unwrap();
        let supports: Vec<Vec<usize>> = path
            .iter()
            .map(|own| own.solution.support.clone())
            .collect();
        (stats, supports)
    });
    assert_eq!(one, other);
}
