use super::*;
use crate::loss;
use crate::problem::Design;
use crate::settings::Settings;
use crate::solve::solve;

const ROWS: usize = 30;

fn entry(i: usize, j: usize) -> f64 {
    // Units and means differ.
    let unit = [1.0, 100.0, 0.01][j];
    unit * (5.0 * j as f64 + ((i * (2 * j + 3) + j * j) as f64 * 0.7).sin())
}

fn builder() -> crate::problem::Builder {
    let values = (0..3).flat_map(|j| (0..ROWS).map(move |i| entry(i, j)));
    let design = Design::dense(ROWS, 3, values.collect()).unwrap();
    let response = (0..ROWS).map(|i| {
        let noise = (i as f64 * 12.9).sin();
        2.0 * entry(i, 0) - 0.03 * entry(i, 1) + noise + 4.0
    });
    Problem::builder(design, response.collect())
        .intercept(true)
        .k(2)
}

/// Solves the normal equations of the intercept and two columns by Cramer's rule, in the data's own units.
fn by_hand(weights: &[f64], b: &[f64]) -> ([f64; 3], [f64; 3]) {
    let a = |i: usize| [entry(i, 0), entry(i, 1), 1.0];
    let mut m = [[0.0; 3]; 3];
    let mut v = [0.0; 3];
    for i in 0..ROWS {
        for (r, own) in m.iter_mut().enumerate() {
            v[r] += weights[i] * a(i)[r] * b[i];
            for (c, sum) in own.iter_mut().enumerate() {
                *sum += weights[i] * a(i)[r] * a(i)[c];
            }
        }
    }
    let det = |m: &[[f64; 3]; 3]| {
        let minor = |r: usize, c: usize| {
            let (r1, r2) = ((r + 1) % 3, (r + 2) % 3);
            let (c1, c2) = ((c + 1) % 3, (c + 2) % 3);
            m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
        };
        (0..3).map(|c| m[0][c] * minor(0, c)).sum::<f64>()
    };
    let whole = det(&m);
    let solve = |v: [f64; 3]| {
        [0, 1, 2].map(|c| {
            let mut other = m;
            (0..3).for_each(|r| other[r][c] = v[r]);
            det(&other) / whole
        })
    };
    let x = solve(v);
    let residual = |i: usize| b[i] - (0..3).map(|c| a(i)[c] * x[c]).sum::<f64>();
    let counted = weights.iter().filter(|w| **w > 0.0).count();
    let sigma2 = (0..ROWS)
        .map(|i| weights[i] * residual(i).powi(2))
        .sum::<f64>()
        / (counted - 3) as f64;
    let variance = [0, 1, 2].map(|c| {
        let mut unit = [0.0; 3];
        unit[c] = 1.0;
        sigma2 * solve(unit)[c]
    });
    (x, variance.map(f64::sqrt))
}

fn near(found: f64, expected: f64) {
    let error = (found - expected).abs() / expected.abs();
    assert!(error < 1e-8, "{found} and {expected}");
}

#[test]
fn least_squares_and_its_standard_errors_whatever_the_weights() {
    let weights: Vec<f64> = (0..ROWS).map(|i| [1.0, 2.5, 0.0, 0.5][i % 4]).collect();
    for standardize in [true, false] {
        let b = builder().standardize(standardize);
        let problem = b.weights(weights.clone()).build().unwrap();
        let mut solution = solve(&problem, &Settings::default()).unwrap();
        assert_eq!(solution.support, [0, 1]);
        let response: Vec<f64> = (0..ROWS)
            .map(|i| 2.0 * entry(i, 0) - 0.03 * entry(i, 1) + (i as f64 * 12.9).sin() + 4.0)
            .collect();
        let (x, errors) = by_hand(&weights, &response);
        let (coefficients, intercept) = refit(&problem, &solution).unwrap();
        near(coefficients[0], x[0]);
        near(coefficients[1], x[1]);
        near(intercept, x[2]);
        assert_eq!(coefficients[2], 0.0);
        solution.coefficients = coefficients;
        solution.intercept = intercept;
        let found = standard_errors(&problem, &solution, false).unwrap();
        assert_eq!(found.columns, [0, 1]);
        near(found.errors[0].unwrap(), errors[0]);
        near(found.errors[1].unwrap(), errors[1]);
        near(found.intercept.unwrap(), errors[2]);
        assert_eq!(found.freedom, Some(problem.rows() - 3));
    }
}

#[test]
fn a_bound_that_is_met_holds_and_has_no_error() {
    let problem = builder().k(2).nonnegative([1]).include(1).build().unwrap();
    let solution = solve(&problem, &Settings::default()).unwrap();
    let (coefficients, _) = refit(&problem, &solution).unwrap();
    assert_eq!(coefficients[1], 0.0);
    let found = standard_errors(&problem, &solution, true).unwrap();
    let of = |j: usize| found.columns.iter().position(|own| *own == j).unwrap();
    assert_eq!(found.errors[of(1)], None);
    assert!(found.errors[of(0)].is_some());
}

#[test]
fn what_is_not_determined_is_said() {
    let logistic = || loss::by_name("logistic", 1.0).unwrap();
    let design = Design::dense(6, 1, (0..6).map(f64::from).collect()).unwrap();
    let separated = vec![-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
    let problem = Problem::builder(design.clone(), separated)
        .loss(logistic())
        .intercept(true);
    let problem = problem.build().unwrap();
    let solution = solve(&problem, &Settings::default()).unwrap();
    assert!(
        matches!(
            refit(&problem, &solution),
            Err(Undetermined::Separated | Undetermined::Dependent)
        ),
        "{:?}",
        refit(&problem, &solution)
    );
    let twice: Vec<f64> = (0..12).map(|i| f64::from(i % 6)).collect();
    let design = Design::dense(6, 2, twice).unwrap();
    let response = vec![1.0, 2.0, 4.0, 3.0, 6.0, 5.0];
    let problem = Problem::builder(design, response).include(0).include(1);
    let problem = problem.k(2).intercept(true).build().unwrap();
    let solution = solve(&problem, &Settings::default()).unwrap();
    assert_eq!(refit(&problem, &solution), Err(Undetermined::Dependent));
    let none = standard_errors(&problem, &solution, false);
    assert_eq!(none, Err(Undetermined::Dependent));
    assert!(standard_errors(&problem, &solution, true).is_ok());
}
