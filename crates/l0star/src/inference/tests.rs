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
        let (coefficients, intercepts) = refit(&problem, &solution).unwrap();
        near(coefficients[0], x[0]);
        near(coefficients[1], x[1]);
        near(intercepts[0], x[2]);
        assert_eq!(coefficients[2], 0.0);
        solution.coefficients = coefficients;
        solution.intercept = intercepts[0];
        let found = standard_errors(&problem, &solution, false).unwrap();
        assert_eq!(found.columns, [0, 1]);
        near(found.errors[0].unwrap(), errors[0]);
        near(found.errors[1].unwrap(), errors[1]);
        near(found.intercepts[0], errors[2]);
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

fn refitted(problem: &Problem) -> Solution {
    let solution = solve(problem, &Settings::default()).unwrap();
    let (coefficients, intercepts) = refit(problem, &solution).unwrap();
    Solution {
        coefficients,
        intercept: intercepts[0],
        more_intercepts: intercepts[1..].to_vec(),
        ..solution
    }
}

/// Each response has the coefficients and the standard errors that it has by itself.
#[test]
fn responses_are_as_each_of_them_alone() {
    let wave = |r: usize, i: usize| {
        let noise = ((i * (r + 2)) as f64 * 3.7).sin();
        [1.0, 1e3][r] * (entry(i, 0) - [0.02, -0.05][r] * entry(i, 1) + noise + 200.0 * r as f64)
    };
    let response = |r: usize| -> Vec<f64> { (0..ROWS).map(|i| wave(r, i)).collect() };
    let offset = |r: usize| -> Vec<f64> { (0..ROWS).map(|i| (i % (3 + r)) as f64).collect() };
    let weights: Vec<f64> = (0..ROWS).map(|i| [1.0, 2.5, 0.0, 0.5][i % 4]).collect();
    let values = (0..2).flat_map(|j| (0..ROWS).map(move |i| entry(i, j)));
    let design = Design::dense(ROWS, 2, values.collect()).unwrap();
    for standardize in [true, false] {
        for (has_ridge, bound) in [(false, false), (true, false), (false, true)] {
            let of = |responses: &[usize]| {
                let builder = Problem::builder(design.clone(), response(responses[0]));
                let others = responses[1..].iter().map(|r| response(*r));
                let builder = builder
                    .more_responses(others.collect())
                    .offsets(responses.iter().map(|r| offset(*r)).collect())
                    .weights(weights.clone())
                    .standardize(standardize)
                    .ridge(0.01)
                    .intercept(true)
                    .k(2);
                let builder = if bound {
                    builder.nonnegative([1]).include(0).include(1)
                } else {
                    builder
                };
                let problem = builder.build().unwrap();
                let found = if has_ridge {
                    solve(&problem, &Settings::default()).unwrap()
                } else {
                    refitted(&problem)
                };
                let errors = standard_errors(&problem, &found, has_ridge).unwrap();
                (found, errors)
            };
            let (found, errors) = of(&[0, 1]);
            assert_eq!(errors.columns, [0, 1, 2, 3]);
            let intercepts: Vec<f64> = found.intercepts().collect();
            for (r, intercept) in intercepts.into_iter().enumerate() {
                let (alone, own) = of(&[r]);
                near(intercept, alone.intercept);
                for j in 0..2 {
                    let (x, y) = (found.coefficients[2 * r + j], alone.coefficients[j]);
                    assert!((x - y).abs() <= 1e-8 * y.abs(), "{x} and {y}");
                }
                // With a bound that is met, the freedom is that of the response with most coefficients.
                let ratio = own.freedom.unwrap() as f64 / errors.freedom.unwrap() as f64;
                assert!(ratio == 1.0 || bound);
                let same = |x: Option<f64>, y: Option<f64>| match (x, y) {
                    (Some(x), Some(y)) => near(x, y * ratio.sqrt()),
                    (x, y) => assert_eq!(x, y),
                };
                (0..2).for_each(|j| same(errors.errors[2 * r + j], own.errors[j]));
                near(errors.intercepts[r], own.intercepts[0] * ratio.sqrt());
            }
        }
    }
}

/// Two classes are labels: each has half of the coefficient, with half of the error.
#[test]
fn two_classes_are_labels() {
    let class = |i: usize| f64::from(u8::from(entry(i, 0) + (i as f64 * 5.3).cos() > 0.2));
    let values: Vec<f64> = (0..2)
        .flat_map(|j| (0..ROWS).map(move |i| entry(i, j)))
        .collect();
    let design = || Design::dense(ROWS, 2, values.clone()).unwrap();
    for (has_ridge, intercept) in [(false, true), (false, false), (true, true)] {
        let labels = (0..ROWS).map(|i| 2.0 * class(i) - 1.0).collect();
        let problem =
            Problem::builder(design(), labels).loss(loss::by_name("logistic", 1.0).unwrap());
        // The ridge of two halves is half of that of the whole.
        let problem = problem
            .ridge(0.01)
            .intercept(intercept)
            .k(2)
            .build()
            .unwrap();
        let classes = Problem::builder(design(), (0..ROWS).map(class).collect());
        let classes = classes.loss(std::sync::Arc::new(loss::Multinomial::new(2)));
        let classes = classes
            .ridge(0.02)
            .intercept(intercept)
            .k(2)
            .build()
            .unwrap();
        let found = |problem: &Problem| {
            if has_ridge {
                solve(problem, &Settings::default()).unwrap()
            } else {
                refitted(problem)
            }
        };
        let (one, two) = (found(&problem), found(&classes));
        let own = standard_errors(&problem, &one, has_ridge).unwrap();
        let both = standard_errors(&classes, &two, has_ridge).unwrap();
        assert_eq!(both.columns, [0, 1, 2, 3]);
        assert_eq!(both.freedom, None);
        let close = |x: f64, y: f64| assert!((x - y).abs() <= 1e-6 * y.abs(), "{x} and {y}");
        for j in 0..2 {
            close(two.coefficients[j], -0.5 * one.coefficients[j]);
            close(two.coefficients[2 + j], 0.5 * one.coefficients[j]);
            let error = 0.5 * own.errors[j].unwrap();
            close(both.errors[j].unwrap(), error);
            close(both.errors[2 + j].unwrap(), error);
        }
        for (error, own) in both.intercepts.iter().zip(own.intercepts.iter().cycle()) {
            close(*error, 0.5 * own);
        }
    }
}

#[test]
fn classes_that_are_told_apart_have_no_fit_without_the_ridge() {
    let design = Design::dense(6, 1, (0..6).map(f64::from).collect()).unwrap();
    let classes = vec![0.0, 0.0, 1.0, 1.0, 2.0, 2.0];
    let problem = Problem::builder(design, classes)
        .loss(std::sync::Arc::new(loss::Multinomial::new(3)))
        .ridge(1e-6)
        .intercept(true);
    let problem = problem.build().unwrap();
    let solution = solve(&problem, &Settings::default()).unwrap();
    assert_eq!(refit(&problem, &solution), Err(Undetermined::Separated));
}
