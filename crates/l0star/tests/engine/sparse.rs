//! Sparse matrices and views are the same problems as dense ones, and cost only what they store.

use std::num::NonZeroUsize;

use crate::cases::cases;
use crate::common::{self, Form, Random, case_with};
use l0star::{
    Design, Error, Method, Problem, RelaxationKind, Settings, Solution, Status, loss, solve,
};
use proptest::prelude::*;

/// The numbers that a design shows, as a dense design.
fn written_out(design: &Design) -> Design {
    let mut values = Vec::new();
    let mut column = vec![0.0; design.rows()];
    for j in 0..design.columns() {
        design.column_into(j, &mut column);
        values.extend_from_slice(&column);
    }
    Design::dense(design.rows(), design.columns(), values).unwrap()
}

fn exact_methods() -> Vec<Settings> {
    let sga = Settings {
        relaxation: RelaxationKind::Sga,
        ..Settings::new(Method::Paper)
    };
    let mut all = [Method::Exhaustive, Method::BestFirst, Method::Paper]
        .map(Settings::new)
        .to_vec();
    all.push(sga);
    all
}

proptest! {
    #![proptest_config(cases(250, 7))]

    #[test]
    fn every_form_has_the_optimum_of_the_dense_matrix(
        seed in any::<u64>(),
        loss in proptest::sample::select(loss::NAMES),
        form in proptest::sample::select(&Form::ALL[1..]),
    ) {
        let formed = case_with(seed, loss, true, |columns| form.design(columns, seed));
        let dense = case_with(seed, loss, true, |columns| written_out(&form.design(columns, seed)));
        let truth = solve(&dense.problem, &Settings::new(Method::Exhaustive)).unwrap();
        let null = dense.problem.objective(&[]);
        // Writing a view out rounds its entries. This moves a perfect fit by the rounding of the response.
        let slack = 1e-11 * truth.objective + 1e-22 * null;
        for settings in exact_methods() {
            if !common::suits(&formed.problem, settings.method) {
                continue;
            }
            let words = format!("{form:?}, {}, {}", settings.method, formed.words);
            let found = solve(&formed.problem, &settings).unwrap();
            let bound = found.lower_bound.unwrap();
            prop_assert!(bound <= truth.objective + slack, "{words}: bound {bound} above {}", truth.objective);
            let error = (found.objective - truth.objective).abs();
            let allowed = 1e-9 * truth.objective.max(1e-12) + slack;
            prop_assert!(error <= allowed, "{words}: {} against {}", found.objective, truth.objective);
            prop_assert_eq!(found.status, Status::Optimal, "{}", words);
        }
        for method in [Method::Omp, Method::Iht, Method::Htp, Method::Diht] {
            let found = solve(&formed.problem, &Settings::new(method)).unwrap();
            prop_assert!(found.objective >= truth.objective - slack);
            prop_assert!(found.objective <= null * (1.0 + 1e-12), "{method}: {}", formed.words);
        }
    }
}

/// The coefficients of a view belong to the columns that it shows.
#[test]
fn coefficients_belong_to_the_view() {
    let design = Design::sparse(4, 1, vec![0, 4], vec![0, 1, 2, 3], vec![11., 12., 13., 14.]);
    let design = design.unwrap().with_view(vec![10.0], vec![2.0]).unwrap();
    let problem = Problem::builder(design, vec![2.0, 4.0, 6.0, 8.0])
        .standardize(false)
        .ridge(1e-12)
        .build()
        .unwrap();
    let found = solve(&problem, &Settings::default()).unwrap();
    assert!((found.coefficients[0] - 1.0).abs() < 1e-9);
}

/// Asserts that the claims of every exact method agree with brute force on the same numbers written out.
fn check_against_dense(design: Design, build: impl Fn(Design) -> Problem, error: f64, words: &str) {
    let truth = solve(
        &build(written_out(&design)),
        &Settings::new(Method::Exhaustive),
    );
    let truth = truth.unwrap().objective;
    let problem = build(design);
    for settings in exact_methods() {
        let found = solve(&problem, &settings).unwrap();
        let bound = found.lower_bound.unwrap();
        let (objective, method) = (found.objective, settings.method);
        assert!(
            bound <= truth * (1.0 + error),
            "{words}, {method}: bound {bound} above {truth}"
        );
        assert!(
            (objective - truth).abs() <= error * truth,
            "{words}, {method}: {objective} against {truth}"
        );
    }
}

/// A few nearly constant columns among sparse ones: centring them by their sums loses digits, and the bounds must
/// account for it.
#[test]
fn sparse_columns_far_from_zero_keep_their_bounds_valid() {
    let mut random = Random::new(3);
    let (n, d) = (40, 20);
    let columns: Vec<Vec<f64>> = (0..d)
        .map(|j| {
            let full = j % 5 == 0;
            let mut entry = || {
                if full {
                    1e7 + random.normal()
                } else if random.chance(0.03) {
                    random.normal()
                } else {
                    0.0
                }
            };
            (0..n).map(|_| entry()).collect()
        })
        .collect();
    let b: Vec<f64> = (0..n)
        .map(|i| columns[0][i] - columns[5][i] + 0.5 * random.normal())
        .collect();
    for name in ["quadratic", "huber"] {
        for intercept in [false, true] {
            let build = |design: Design| {
                Problem::builder(design, b.clone())
                    .standardize(false)
                    .loss(loss::by_name(name, 1.0).unwrap())
                    .intercept(intercept)
                    .k(2)
                    .build()
                    .unwrap()
            };
            for form in [Form::Dense, Form::Sparse] {
                let words = format!("{name}, intercept {intercept}, {form:?}");
                let design = form.design(&columns, 0);
                check_against_dense(design.clone(), build, 1e-8, &words);
                let centre = (0..d).map(|j| if j % 5 == 0 { 1e7 } else { 0.0 });
                let view = design.with_view(centre.collect(), vec![1.0; d]).unwrap();
                check_against_dense(view, build, 1e-8, &words);
            }
        }
    }
}

#[test]
fn columns_without_a_ridge_may_be_sparse_or_views() {
    let mut random = Random::new(8);
    let (n, d) = (30, 7);
    let columns: Vec<Vec<f64>> = (0..d)
        .map(|_| {
            let mut entry = || {
                if random.chance(0.6) {
                    0.0
                } else {
                    random.normal()
                }
            };
            (0..n).map(|_| entry()).collect()
        })
        .collect();
    let b: Vec<f64> = (0..n).map(|_| 2.0 + random.normal()).collect();
    for name in ["quadratic", "huber"] {
        for intercept in [false, true] {
            for form in Form::ALL {
                let build = |design: Design| {
                    Problem::builder(design, b.clone())
                        .standardize(false)
                        .loss(loss::by_name(name, 1.0).unwrap())
                        .intercept(intercept)
                        .always_in(0, 0.0)
                        .always_in(1, 0.0)
                        .k(2)
                        .build()
                        .unwrap()
                };
                let words = format!("{name}, intercept {intercept}, {form:?}");
                check_against_dense(form.design(&columns, 1), build, 1e-9, &words);
            }
        }
    }
}

#[test]
fn malformed_columns_are_refused_by_place() {
    let sparse = |indptr: &[usize], indices: &[u32], values: &[f64]| {
        Design::sparse(3, 2, indptr.to_vec(), indices.to_vec(), values.to_vec())
    };
    let message = |design: l0star::Result<Design>| design.unwrap_err().to_string();
    assert!(sparse(&[0, 1, 3], &[2, 0, 2], &[1.0, 2.0, 3.0]).is_ok());
    assert_eq!(
        message(sparse(&[0, 3], &[2, 0, 2], &[1.0, 2.0, 3.0])),
        "indptr of a sparse design matrix of 2 columns has 2 entries, but the data need 3"
    );
    assert_eq!(
        message(sparse(&[0, 1, 3], &[2, 0], &[1.0, 2.0, 3.0])),
        "the array of row indices of a sparse design matrix of 2 columns has 2 entries, but the data need 3"
    );
    for indptr in [[1, 1, 3], [0, 2, 1], [0, 1, 2], [0, 4, 3]] {
        let refused = sparse(&indptr, &[2, 0, 2], &[1.0, 2.0, 3.0]);
        assert!(
            matches!(refused, Err(Error::ColumnStarts { .. })),
            "{indptr:?}"
        );
    }
    assert_eq!(
        message(sparse(&[0, 2, 1], &[2, 0, 2], &[1.0, 2.0, 3.0])),
        "indptr of the sparse design matrix: column 2 would be the values 2 to 1 of 3; indptr must begin with 0, never \
         decrease, and end with the number of values"
    );
    assert_eq!(
        message(sparse(&[0, 2, 3], &[2, 0, 2], &[1.0, 2.0, 3.0])),
        "sparse design matrix, column 1: the value 2 has the row index 0, which must be at least 3 and below 3 \
         (counted from 0); sort the rows of a column and add up duplicates"
    );
    for (indices, row, column) in [([3, 0, 2], 3, 1), ([0, 1, 1], 1, 2), ([0, 2, 1], 1, 2)] {
        match sparse(&[0, 1, 3], &indices, &[1.0, 2.0, 3.0]) {
            Err(Error::RowIndex {
                row: r, column: c, ..
            }) => assert_eq!((r, c), (row, column)),
            other => panic!("{indices:?}: {other:?}"),
        }
    }
    assert!(matches!(
        Design::sparse(0, 0, vec![0], vec![], vec![]),
        Err(Error::Empty { what: "rows" })
    ));
    let design = sparse(&[0, 1, 3], &[2, 0, 2], &[1.0, 2.0, f64::NAN]).unwrap();
    let refused = Problem::builder(design, vec![1.0; 3])
        .standardize(false)
        .build();
    assert_eq!(
        refused.unwrap_err().to_string(),
        "row 3, column 'x2' is NaN: every entry must be a finite number"
    );
}

#[test]
fn malformed_views_are_refused_by_place() {
    let design = Design::dense(2, 2, vec![1.0; 4]).unwrap();
    let view = |centre: &[f64], scale: &[f64]| {
        let viewed = design.clone().with_view(centre.to_vec(), scale.to_vec());
        viewed.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(view(&[0.0; 2], &[1.0; 2]), Ok(()));
    assert_eq!(
        view(&[0.0; 2], &[1.0; 3]).unwrap_err(),
        "the list of scales has 3 entries, but the data need 2"
    );
    assert_eq!(
        view(&[0.0, f64::INFINITY], &[1.0; 2]).unwrap_err(),
        "row 2, column 'centres' is inf: every entry must be a finite number"
    );
    // The numbers are finite, but the view's column is not.
    let huge = design.with_view(vec![0.0; 2], vec![1e200; 2]).unwrap();
    let refused = Problem::builder(huge, vec![1.0; 2])
        .standardize(false)
        .build();
    assert!(matches!(refused, Err(Error::TooLarge { .. })));
}

/// Columns with `each` entries and a response made of three of them.
fn wide(n: usize, d: usize, each: usize) -> (Design, Vec<f64>) {
    let mut random = Random::new(17);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut b: Vec<f64> = (0..n).map(|_| 0.1 * random.normal()).collect();
    for j in 0..d {
        let mut rows: Vec<u32> = (0..each).map(|_| random.below(n) as u32).collect();
        rows.sort_unstable();
        rows.dedup();
        for i in rows {
            let value = random.normal();
            if j % (d / 3) == 7 {
                b[i as usize] += 5.0 * value;
            }
            indices.push(i);
            values.push(value);
        }
        indptr.push(values.len());
    }
    let design = Design::sparse(n, d, indptr, indices, values).unwrap();
    (design, b)
}

fn planted(d: usize) -> [usize; 3] {
    [7, d / 3 + 7, 2 * (d / 3) + 7]
}

#[test]
fn fifty_thousand_sparse_columns_are_solved() {
    let (n, d) = (2000, 50_000);
    let (design, b) = wide(n, d, 20);
    for (name, intercept) in [("quadratic", false), ("quadratic", true), ("huber", false)] {
        let problem = Problem::builder(design.clone(), b.clone())
            .standardize(false)
            .loss(loss::by_name(name, 1.0).unwrap())
            .intercept(intercept)
            .ridge(1e-3)
            .k(3)
            .build()
            .unwrap();
        let found = solve(&problem, &Settings::default()).unwrap();
        assert_eq!(found.status, Status::Optimal, "{name}");
        assert_eq!(found.support, planted(d), "{name}");
    }
}

/// Rows times columns would take 32 GB here, columns squared 80 GB: either would be refused or take minutes.
#[test]
fn nothing_of_the_size_of_a_dense_matrix_is_made() {
    let (n, d) = (40_000, 100_000);
    let (design, b) = wide(n, d, 5);
    let labels: Vec<f64> = b
        .iter()
        .map(|b| if *b > 0.0 { 1.0 } else { -1.0 })
        .collect();
    let view = design
        .clone()
        .with_view(vec![0.01; d], vec![2.0; d])
        .unwrap();
    for (name, design) in [
        ("quadratic", design.clone()),
        ("quadratic", view),
        ("logistic", design),
    ] {
        let response = if name == "logistic" { &labels } else { &b };
        let problem = Problem::builder(design, response.clone())
            .standardize(false)
            .loss(loss::by_name(name, 1.0).unwrap())
            .intercept(true)
            .ridge(1e-3)
            .k(3)
            .build()
            .unwrap();
        for method in [Method::BestFirst, Method::Omp, Method::Htp] {
            let settings = Settings {
                node_limit: Some(0),
                ..Settings::new(method)
            };
            let found = solve(&problem, &settings).unwrap();
            assert!(found.objective < problem.objective(&[]), "{name}, {method}");
            assert!(found.lower_bound.is_none_or(|low| low <= found.objective));
        }
    }
}

#[test]
fn threads_change_nothing_of_a_result() {
    let (design, b) = wide(600, 280, 60);
    for design in [written_out(&design), design] {
        let problem = Problem::builder(design, b.clone())
            .standardize(false)
            .intercept(true)
            .k(3)
            .build()
            .unwrap();
        let with = |threads: usize| {
            let settings = Settings {
                threads: NonZeroUsize::new(threads),
                ..Settings::default()
            };
            let found = solve(&problem, &settings).unwrap();
            Solution {
                seconds: 0.0,
                ..found
            }
        };
        let one = with(1);
        assert_eq!(one.status, Status::Optimal);
        assert_eq!(one, with(2));
        assert_eq!(one, with(5));
    }
}
