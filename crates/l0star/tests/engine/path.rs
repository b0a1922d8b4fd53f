//! Every size in one run gives the same as each size alone, with shared bounds and models.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::cases::cases;
use crate::common::{self, hard, random_case, ruled_case};
use l0star::path::{Criteria, PathSize};
use l0star::{Design, Method, PathRun, Problem, Settings, Status, loss, solve};
use proptest::prelude::*;

fn path(problem: &Problem, settings: &Settings, last: usize) -> Vec<PathSize> {
    PathRun::new(problem, settings, 0..=last).solve().unwrap()
}

fn threads(count: usize) -> Settings {
    Settings {
        threads: NonZeroUsize::new(count),
        ..Settings::default()
    }
}

/// Whether no objective rises and no bound is below that of a larger size.
fn is_monotone(path: &[PathSize]) -> bool {
    path.windows(2).all(|pair| {
        let (small, large) = (&pair[0].solution, &pair[1].solution);
        large.objective <= small.objective
            && large.lower_bound.unwrap().min(small.objective) <= small.lower_bound.unwrap()
    })
}

proptest! {
    #![proptest_config(cases(60, 20))]

    #[test]
    fn every_size_is_the_optimum_of_its_own(
        seed in 0u64..1 << 40,
        loss in prop::sample::select(loss::NAMES),
        count in 1usize..3,
    ) {
        let case = random_case(seed, loss);
        let last = case.problem.k() + 2;
        let path = path(&case.problem, &threads(count), last);
        prop_assert_eq!(path.len(), last + 1);
        prop_assert!(is_monotone(&path), "{}", case.words);
        for (k, point) in path.iter().enumerate() {
            prop_assert_eq!(point.k, k);
            let truth = solve(&case.problem.with_k(k).unwrap(), &Settings::new(Method::Exhaustive)).unwrap();
            let found = &point.solution;
            let slack = common::proved(&case.problem, truth.objective);
            prop_assert!((found.objective - truth.objective).abs() <= slack, "{}, k = {k}", case.words);
            prop_assert!(found.lower_bound.unwrap() <= truth.objective + slack, "{}, k = {k}", case.words);
            prop_assert!(found.support.len() <= k);
        }
    }
}

proptest! {
    #![proptest_config(cases(40, 21))]

    #[test]
    fn groups_bounds_and_heredity_have_paths(
        seed in 0u64..1 << 40,
        loss in prop::sample::select(loss::NAMES),
    ) {
        let case = ruled_case(seed, loss);
        let Ok(problem) = &case.built else { return Ok(()) };
        // Included features are in every size.
        let first = (0..=problem.k()).find(|k| problem.with_k(*k).is_ok()).unwrap();
        let path = PathRun::new(problem, &Settings::default(), first..=problem.k() + 1).solve().unwrap();
        prop_assert!(is_monotone(&path), "{}", case.words);
        for point in &path {
            let alone = problem.with_k(point.k).unwrap();
            let truth = solve(&alone, &Settings::new(Method::Exhaustive)).unwrap();
            let slack = common::proved(problem, truth.objective);
            let found = &point.solution;
            prop_assert!((found.objective - truth.objective).abs() <= slack, "{}, k = {}", case.words, point.k);
            prop_assert!(found.lower_bound.unwrap() <= truth.objective + slack, "{}", case.words);
            for support in found.solutions.iter().map(|model| &model.support).chain([&found.support]) {
                prop_assert!(support.is_sorted_by(|i, j| i < j), "{}: {support:?}", case.words);
            }
        }
    }
}

#[test]
fn a_path_of_some_sizes_is_that_part_of_the_whole_path() {
    for name in ["quadratic", "huber", "logistic"] {
        let problem = random_case(7, name).problem;
        let whole = path(&problem, &Settings::default(), 4);
        for settings in [Settings::default(), threads(2)] {
            // The sizes may be given in any order, and more than once.
            let some = PathRun::new(&problem, &settings, [4, 1, 4])
                .solve()
                .unwrap();
            assert_eq!(some.iter().map(|point| point.k).collect::<Vec<_>>(), [1, 4]);
            for point in &some {
                let (found, truth) = (&point.solution, &whole[point.k].solution);
                assert_eq!(found.status, Status::Optimal, "{name}");
                assert!(
                    (found.objective - truth.objective).abs() <= 2e-9 * truth.objective,
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn a_path_that_is_stopped_has_a_model_and_a_valid_bound_for_every_size() {
    let problem = hard("huber");
    let optimum: Vec<f64> = path(&problem.with_k(2).unwrap(), &Settings::default(), 2)
        .iter()
        .map(|point| point.solution.objective)
        .collect();
    let interrupt = Some(Arc::new(AtomicBool::new(true)));
    let stopped = [
        Settings {
            time_limit: Some(Duration::ZERO),
            ..Settings::default()
        },
        Settings {
            time_limit: Some(Duration::ZERO),
            ..threads(2)
        },
        Settings {
            search_time_limit: Some(Duration::ZERO),
            ..Settings::default()
        },
        Settings {
            search_time_limit: Some(Duration::ZERO),
            ..threads(2)
        },
        Settings {
            node_limit: Some(0),
            ..Settings::default()
        },
        Settings {
            interrupt,
            ..Settings::default()
        },
    ];
    for settings in stopped {
        let path = path(&problem, &settings, 2);
        assert!(is_monotone(&path));
        for (point, optimum) in path.iter().zip(&optimum) {
            let found = &point.solution;
            assert!(
                found.lower_bound.unwrap() <= *optimum
                    && *optimum <= found.objective * (1.0 + 1e-9)
            );
        }
    }
}

#[test]
fn a_size_that_is_stopped_does_not_stop_the_next() {
    let problem = hard("huber");
    let settings = Settings {
        node_limit: Some(1),
        ..Settings::default()
    };
    let path = path(&problem, &settings, 12);
    let stopped = path
        .iter()
        .filter(|point| point.solution.status == Status::NodeLimit);
    assert!(stopped.count() > 2, "too easy");
    for point in &path {
        let (k, bound) = (point.k, point.solution.lower_bound.unwrap());
        assert!(bound > 0.0, "no bound for k = {k}");
        assert!(
            point.solution.support.len() >= k.min(1),
            "no model for k = {k}"
        );
    }
}

#[test]
fn lists_and_inexact_methods_have_paths_too() {
    let case = random_case(3, "quadratic");
    let settings = Settings {
        top: NonZeroUsize::new(3),
        ..Settings::default()
    };
    for (k, point) in path(&case.problem, &settings, 3).iter().enumerate() {
        let alone = solve(&case.problem.with_k(k).unwrap(), &settings).unwrap();
        let objectives = |solution: &l0star::Solution| -> Vec<f64> {
            solution
                .solutions
                .iter()
                .map(|model| model.objective)
                .collect()
        };
        for (a, b) in objectives(&point.solution).iter().zip(objectives(&alone)) {
            assert!((a - b).abs() <= 2e-9 * b.max(1e-12), "k = {k}");
        }
        assert_eq!(point.solution.solutions.len(), alone.solutions.len());
    }
    for (k, point) in path(&case.problem, &Settings::new(Method::Omp), 3)
        .iter()
        .enumerate()
    {
        let alone = solve(
            &case.problem.with_k(k).unwrap(),
            &Settings::new(Method::Omp),
        )
        .unwrap();
        assert_eq!(point.solution.objective, alone.objective);
        assert_eq!(point.solution.lower_bound, None);
    }
}

#[test]
fn events_come_with_their_size_and_sizes_in_order() {
    let case = random_case(11, "logistic");
    let (mut seen, mut done) = (Vec::new(), Vec::new());
    PathRun::new(&case.problem, &Settings::default(), 0..=2)
        .observe(Box::new(|k, event| seen.push((k, event.objective))))
        .each(Box::new(|point| done.push(point.k)))
        .solve()
        .unwrap();
    assert_eq!(done, [0, 1, 2]);
    assert!(seen.windows(2).all(|pair| pair[0].0 <= pair[1].0) && !seen.is_empty());
}

#[test]
fn criteria_are_those_of_the_textbook() {
    let columns = vec![1.0, -1.0, 2.0, 0.5, 0.25, -2.0, 1.0, 1.0, -1.0, 3.0];
    let design = Design::dense(5, 2, columns.clone()).unwrap();
    let response = vec![1.2, -0.8, 2.5, 0.1, 0.4];
    let problem = Problem::builder(design, response.clone())
        .standardize(false)
        .ridge(1e-3)
        .intercept(true)
        .build()
        .unwrap();
    let one = &path(&problem, &Settings::default(), 1)[1];
    assert_eq!(one.solution.support.len(), 1);
    let j = one.solution.support[0];
    let squares: f64 = (0..5)
        .map(|i| {
            let fitted = columns[5 * j + i] * one.solution.coefficients[j] + one.solution.intercept;
            (response[i] - fitted).powi(2)
        })
        .sum();
    // One coefficient and the intercept; two ways to choose one feature.
    let deviance = 5.0 * (squares / 5.0).ln();
    let Criteria { aic, bic, ebic } = one.criteria.unwrap();
    assert!((aic - (deviance + 4.0)).abs() < 1e-12);
    assert!((bic - (deviance + 2.0 * 5f64.ln())).abs() < 1e-12);
    assert!((ebic - (bic + 2.0 * 2f64.ln())).abs() < 1e-12);
}

#[test]
fn the_deviance_of_labels_is_twice_their_log_loss() {
    let case = random_case(5, "logistic");
    let null = &path(&case.problem, &Settings::default(), 0)[0];
    let x: Vec<(usize, f64)> = null
        .solution
        .coefficients
        .iter()
        .copied()
        .enumerate()
        .collect();
    let parameters =
        x.iter().filter(|(_, x)| *x != 0.0).count() + usize::from(case.problem.has_intercept());
    let mut x = x;
    if case.problem.has_intercept() {
        x.push((case.problem.columns(), null.solution.intercept));
    }
    let deviance = 2.0 * case.problem.rows() as f64 * case.problem.mean_loss(&x);
    let criteria = null.criteria.unwrap();
    assert!((criteria.aic - deviance - 2.0 * parameters as f64).abs() <= 1e-9 * deviance);
    assert!(Criteria::new(&random_case(5, "squared-hinge").problem, &null.solution).is_none());
}
