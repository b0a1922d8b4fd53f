//! The generators draw from the documented distributions, and always give the same numbers.

use l0star_data::generate::{self, default_n};
use l0star_data::{DataError, Instance, RealData, Table, real_instance};

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn assert_unit_columns(table: &Table, columns: std::ops::Range<usize>) {
    for j in columns {
        assert!((norm(table.column(j)) - 1.0).abs() < 1e-12, "column {j}");
    }
}

fn correlation(table: &Table, i: usize, j: usize) -> f64 {
    let (a, b) = (table.column(i), table.column(j));
    dot(a, b) / (norm(a) * norm(b))
}

fn mean_correlation(table: &Table, columns: &[usize]) -> f64 {
    let pairs = columns
        .iter()
        .flat_map(|&i| columns.iter().map(move |&j| (i, j)));
    let values: Vec<f64> = pairs
        .filter(|(i, j)| i < j)
        .map(|(i, j)| correlation(table, i, j))
        .collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn signal(instance: &Instance, weight: f64) -> Vec<f64> {
    let table = instance.table();
    let entry = |i| {
        instance
            .support()
            .iter()
            .map(|&j| weight * table.column(j)[i])
            .sum()
    };
    (0..table.rows()).map(entry).collect()
}

fn assert_shape(instance: &Instance, d: usize, k: usize, n: usize) {
    let table = instance.table();
    assert_eq!((table.rows(), table.columns()), (n, d + 1));
    assert_eq!(table.names()[0], "x1");
    assert_eq!(table.names()[d - 1], format!("x{d}"));
    assert_eq!(table.names()[d], "b");
    assert_eq!(instance.k(), k);
    assert_eq!(instance.support().len(), k);
    assert!(instance.support().windows(2).all(|pair| pair[0] < pair[1]));
    assert!(instance.support().iter().all(|&j| j < d));
    assert_eq!(instance.design().len(), n * d);
    assert_eq!(instance.response(), table.column(d));
}

#[test]
fn huber_has_its_correlation_noise_and_outliers() {
    let (d, k, n) = (20, 5, 4000);
    let instance = generate::huber(d, k, n, 3).unwrap();
    assert_shape(&instance, d, k, n);
    assert_unit_columns(instance.table(), 0..d);
    let all: Vec<usize> = (0..d).collect();
    assert!((mean_correlation(instance.table(), &all) - 0.2).abs() < 0.03);

    // ‖b − A x_true‖ is the noise: the outliers multiply its tenth by √(0.1·10² + 0.9).
    let clean = signal(&instance, 1.0);
    let noise: Vec<f64> = instance
        .response()
        .iter()
        .zip(&clean)
        .map(|(b, s)| b - s)
        .collect();
    let ratio = norm(&noise) / norm(&clean);
    assert!((0.25..0.5).contains(&ratio), "{ratio}");
    let scale = norm(&clean) / 10.0 / (n as f64).sqrt();
    let outliers = noise.iter().filter(|e| e.abs() > 5.0 * scale).count();
    assert!((n / 25..n / 9).contains(&outliers), "{outliers}");
}

#[test]
fn huber_without_outliers_has_exact_ratios() {
    // Nine rows have ⌊0.9⌋ = 0 outliers; one feature makes x_noise exactly ±0.1.
    let instance = generate::huber(1, 1, 9, 5).unwrap();
    let a = instance.table().column(0);
    let b = instance.response();
    let found = [1.1, 0.9].iter().any(|weight| {
        let noise: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - weight * a).collect();
        (norm(&noise) * 10.0 / weight - 1.0).abs() < 1e-12
    });
    assert!(found);
}

#[test]
fn logistic_has_two_blocks_and_plausible_labels() {
    let (d, k, n) = (20, 6, 4000);
    let instance = generate::logistic(d, k, n, 3).unwrap();
    assert_shape(&instance, d, k, n);
    assert_unit_columns(instance.table(), 0..d);
    assert!(instance.response().iter().all(|b| b.abs() == 1.0));

    // The block Ŝ is found by its correlations: half of it lies in the support.
    let table = instance.table();
    let heavy: Vec<usize> = (0..d)
        .filter(|&i| {
            (0..d)
                .filter(|&j| j != i && correlation(table, i, j) > 0.4)
                .count()
                == k - 1
        })
        .collect();
    assert_eq!(heavy.len(), k);
    let inside = heavy
        .iter()
        .filter(|j| instance.support().contains(j))
        .count();
    assert_eq!(inside, k / 2);
    assert!((mean_correlation(table, &heavy) - 0.5).abs() < 0.03);
    let light: Vec<usize> = (0..d).filter(|j| !heavy.contains(j)).collect();
    assert!((mean_correlation(table, &light) - 0.2).abs() < 0.03);
    assert!(correlation(table, heavy[0], light[0]).abs() < 0.06);
}

#[test]
fn logistic_labels_follow_the_signal() {
    // With few rows, unit columns have large entries, and hence clear probabilities.
    let mut agreement = 0.0;
    for seed in 0..200 {
        let Ok(instance) = generate::logistic(6, 2, 20, seed) else {
            continue;
        };
        let scores = signal(&instance, 10.0);
        agreement += dot(&scores, instance.response());
    }
    assert!(agreement > 0.0);
}

#[test]
fn logistic_refuses_what_it_cannot_draw() {
    let message = generate::logistic(5, 5, 30, 1).unwrap_err().to_string();
    assert!(
        message.starts_with("k = 5 is not allowed: the support needs 2 features outside"),
        "{message}"
    );
    assert!(generate::logistic(1, 1, 30, 1).is_ok());
    let single = generate::logistic(4, 2, 1, 9).unwrap_err();
    assert!(
        matches!(single, DataError::DegenerateDraw { seed: 9, .. }),
        "{single}"
    );
    assert!(single.to_string().contains("another seed or a larger n"));
}

#[test]
fn ar_has_its_correlation_support_and_snr() {
    let (d, k, n, rho, snr) = (12, 3, 20_000, 0.7, 4.0);
    let instance = generate::ar(d, k, n, rho, snr, 3).unwrap();
    assert_shape(&instance, d, k, n);
    assert_eq!(instance.support(), [2, 6, 10]);
    let table = instance.table();
    assert!((correlation(table, 3, 4) - rho).abs() < 0.02);
    assert!((correlation(table, 3, 6) - rho.powi(3)).abs() < 0.03);
    assert!((norm(table.column(8)).powi(2) / n as f64 - 1.0).abs() < 0.03);
    let clean = signal(&instance, 1.0);
    let noise: Vec<f64> = instance
        .response()
        .iter()
        .zip(&clean)
        .map(|(b, s)| b - s)
        .collect();
    let ratio = (norm(&clean) / norm(&noise)).powi(2);
    assert!((ratio / snr - 1.0).abs() < 0.05, "{ratio}");
}

#[test]
fn arguments_are_checked_in_every_family() {
    for (d, k, n) in [(0, 1, 5), (5, 0, 5), (5, 6, 5), (5, 1, 0)] {
        assert!(matches!(
            generate::huber(d, k, n, 1),
            Err(DataError::Argument { .. })
        ));
        assert!(matches!(
            generate::logistic(d, k, n, 1),
            Err(DataError::Argument { .. })
        ));
        assert!(matches!(
            generate::ar(d, k, n, 0.5, 1.0, 1),
            Err(DataError::Argument { .. })
        ));
    }
}

#[test]
fn a_seed_is_an_instance() {
    let (d, k) = (30, 3);
    let n = default_n(d, k);
    assert_eq!(
        generate::huber(d, k, n, 1).unwrap(),
        generate::huber(d, k, n, 1).unwrap()
    );
    assert_ne!(
        generate::huber(d, k, n, 1).unwrap(),
        generate::huber(d, k, n, 2).unwrap()
    );
}

fn assert_real(table: &Table, rows: usize, features: usize) {
    assert_eq!((table.rows(), table.columns()), (rows, features + 1));
    assert_eq!(table.names()[features], "b");
    assert_unit_columns(table, 0..features + 1);
}

#[test]
fn diabetes_is_442_by_65() {
    let table = real_instance(RealData::Diabetes).unwrap();
    assert_real(&table, 442, 65);
    assert_eq!(table.names()[0], "age");
    assert_eq!(table.names()[10], "age:sex");
    assert_eq!(table.names()[55], "age^2");
    assert_eq!(table.names()[64], "s6^2");
}

#[test]
fn boston_is_506_by_103() {
    let table = real_instance(RealData::Boston).unwrap();
    assert_real(&table, 506, 103);
    assert_eq!(table.find("CHAS^2"), None);
    assert!(table.find("CHAS:NOX").is_some());
    assert_eq!(RealData::Boston.table().unwrap().columns(), 14);
}
