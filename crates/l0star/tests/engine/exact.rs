//! Every exact method finds the brute-force optimum, and no bound is ever above it.

use std::cell::Cell;
use std::num::NonZeroUsize;

use crate::cases::cases;
use crate::common::priced::priced_case;
use crate::common::{self, Random, dense_case, random_case, ruled_case};
use l0star::search::{Event, News};
use l0star::{
    Design, Error, Mechanisms, Method, Problem, RelaxationKind, Settings, Solution, Status, Use,
    loss, solve, solve_observed,
};
use proptest::prelude::*;

fn check(problem: &Problem, settings: &Settings, words: &str) -> Result<(), TestCaseError> {
    if !common::suits(problem, settings.method) {
        return Ok(());
    }
    let found = check_values(problem, settings, words)?;
    prop_assert!(
        found.support.len() <= problem.k(),
        "{words}: support too large"
    );
    Ok(())
}

/// Compares the objective of a search and all its bounds with brute force.
fn check_values(
    problem: &Problem,
    settings: &Settings,
    words: &str,
) -> Result<Solution, TestCaseError> {
    let truth = solve(problem, &Settings::new(Method::Exhaustive)).unwrap();
    let optimum = truth.objective;
    let slack = common::rounding(problem, optimum);
    let worst = Cell::new(f64::NEG_INFINITY);
    let observer = Box::new(|event: &Event| {
        if event.news == News::Bound {
            worst.set(worst.get().max(event.lower_bound));
        }
    });
    let found = solve_observed(problem, settings, observer).unwrap();
    prop_assert!(
        worst.get() <= optimum + slack,
        "{words}: bound {} on the way above the optimum {optimum}",
        worst.get()
    );
    let bound = found.lower_bound.unwrap();
    prop_assert!(
        bound <= optimum + slack,
        "{words}: bound {bound} above the optimum {optimum}"
    );
    let relative =
        settings.relative_gap.max(1e-9) * found.objective.max(1e-12 * found.empty_objective);
    let allowed = settings.gap.max(relative);
    prop_assert!(
        found.objective - optimum <= allowed,
        "{words}: found {}, optimum {optimum}",
        found.objective
    );
    prop_assert!(
        found.objective >= optimum - slack,
        "{words}: found {} below brute force {optimum}",
        found.objective
    );
    prop_assert!(
        found.objective - bound <= allowed * (1.0 + 1e-6),
        "{words}: gap {} not closed, objective {}",
        found.objective - bound,
        found.objective
    );
    let right = if settings.gap == 0.0 && settings.relative_gap == 0.0 {
        found.status == Status::Optimal
    } else {
        matches!(found.status, Status::Optimal | Status::GapReached)
    };
    prop_assert!(right, "{words}: status {}", found.status);
    Ok(found)
}

fn losses() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(loss::NAMES)
}

proptest! {
    #![proptest_config(cases(600, 1))]

    #[test]
    fn best_first_equals_brute_force(seed in any::<u64>(), loss in losses()) {
        let case = random_case(seed, loss);
        check(&case.problem, &Settings::new(Method::BestFirst), &case.words)?;
    }

    #[test]
    fn two_threads_equal_brute_force(seed in any::<u64>(), loss in losses()) {
        let case = random_case(seed, loss);
        let settings = Settings { threads: NonZeroUsize::new(2), ..Settings::default() };
        check(&case.problem, &settings, &case.words)?;
    }

    #[test]
    fn paper_with_pdal_equals_brute_force(seed in any::<u64>(), loss in losses()) {
        let case = random_case(seed, loss);
        check(&case.problem, &Settings::new(Method::Paper), &case.words)?;
    }
}

/// Any subset of the mechanisms.
fn mechanisms() -> impl Strategy<Value = Mechanisms> {
    any::<[bool; 13]>().prop_map(|on| Mechanisms {
        gram: on[0],
        lifting: on[1],
        spreading: on[2],
        reframing: on[3],
        fixing: on[4],
        gains: on[5],
        swaps: on[6],
        slack: on[7],
        screen_from: if on[8] { 0 } else { u64::MAX },
        working_from: if on[8] { 0 } else { usize::MAX },
        primal: on[9],
        enumeration: on[10],
        boxes: match (on[11], on[12]) {
            (true, true) => Use::Always,
            (true, false) => Use::Auto,
            (false, _) => Use::Never,
        },
    })
}

proptest! {
    #![proptest_config(cases(500, 5))]

    #[test]
    fn no_result_depends_on_the_mechanisms(seed in any::<u64>(), loss in losses(), mechanisms in mechanisms()) {
        let case = random_case(seed, loss);
        let settings = Settings { mechanisms, ..Settings::new(Method::BestFirst) };
        check(&case.problem, &settings, &format!("{} {mechanisms:?}", case.words))?;
    }
}

proptest! {
    #![proptest_config(cases(400, 5))]

    /// Groups, bounds, heredity and prices, in Gram form and in matrix form, over working sets.
    #[test]
    fn no_result_depends_on_working_sets(
        seed in any::<u64>(),
        loss in losses(),
        gram in any::<bool>(),
        priced in any::<bool>(),
    ) {
        let case = if priced {
            priced_case(seed, loss, true).case
        } else {
            ruled_case(seed, loss)
        };
        let mechanisms = Mechanisms { gram, working_from: 0, ..Mechanisms::default() };
        let settings = Settings { mechanisms, ..Settings::default() };
        if let Ok(problem) = &case.built {
            check_values(problem, &settings, &format!("{} {gram}", case.words))?;
        }
    }
}

proptest! {
    #![proptest_config(cases(300, 2))]

    #[test]
    fn paper_with_any_switch_equals_brute_force(
        seed in any::<u64>(), loss in losses(), sga in any::<bool>(), warm in any::<bool>(), prune in any::<bool>(),
    ) {
        let case = random_case(seed, loss);
        let settings = Settings {
            method: Method::Paper,
            relaxation: if sga { RelaxationKind::Sga } else { RelaxationKind::Pdal },
            warm_start: warm,
            pruning: prune,
            ..Settings::default()
        };
        check(&case.problem, &settings, &format!("{}, sga {sga}, warm {warm}, pruning {prune}", case.words))?;
    }

    #[test]
    fn an_allowed_gap_is_kept(seed in any::<u64>(), loss in losses(), share in 0.0..0.5f64, paper in any::<bool>()) {
        let case = random_case(seed, loss);
        let null = case.problem.objective(&[]);
        let method = if paper { Method::Paper } else { Method::BestFirst };
        let settings = Settings { method, gap: share * null, ..Settings::default() };
        check(&case.problem, &settings, &case.words)?;
    }

    #[test]
    fn an_allowed_relative_gap_is_kept(seed in any::<u64>(), loss in losses(), share in 0.0..0.5f64, paper in any::<bool>()) {
        let case = random_case(seed, loss);
        let method = if paper { Method::Paper } else { Method::BestFirst };
        let settings = Settings { method, relative_gap: share, ..Settings::default() };
        check(&case.problem, &settings, &case.words)?;
    }
}

/// Regression tests: cases that random search found once.
#[test]
fn cases_that_failed_once_pass() {
    let unpruned = Settings {
        warm_start: false,
        pruning: false,
        ..Settings::new(Method::Paper)
    };
    let default = Settings::new(Method::BestFirst);
    for (seed, loss, settings) in [
        (18131259715019378551, "squared-hinge", &unpruned),
        (465423984847223106, "squared-hinge", &unpruned),
        (12358497040691344033, "quadratic", &default),
        (
            12358497040691344033,
            "quadratic",
            &Settings::new(Method::Paper),
        ),
        (3759271398665458615, "quadratic", &default),
    ] {
        let case = dense_case(seed, loss);
        check(&case.problem, settings, &case.words).unwrap();
    }
}

/// Asserts that no exact method claims a bound above the best model that any of them found, or `optimal` for a worse
/// one; both up to a relative error.
fn check_claims(problem: &Problem, bound_error: f64, objective_error: f64) {
    let sga = Settings {
        relaxation: RelaxationKind::Sga,
        ..Settings::new(Method::Paper)
    };
    let methods = [Method::Exhaustive, Method::BestFirst, Method::Paper];
    let found: Vec<Solution> = methods
        .map(Settings::new)
        .into_iter()
        .chain([sga])
        .map(|settings| solve(problem, &settings).unwrap())
        .collect();
    let objectives = found.iter().map(|solution| solution.objective);
    let optimum = objectives.fold(f64::INFINITY, f64::min);
    for solution in found {
        let bound = solution.lower_bound.unwrap();
        assert!(bound <= optimum * (1.0 + bound_error), "{solution:?}");
        if solution.status == Status::Optimal {
            let worst = optimum * (1.0 + objective_error);
            assert!(solution.objective <= worst, "{solution:?}");
        }
    }
}

#[test]
fn an_overflow_never_becomes_a_bound() {
    for n in [2, 4, 20] {
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let columns = (0..2 * n).map(|i| sign(i / 2 + i)).collect();
        let design = Design::dense(n, 2, columns).unwrap();
        let build = |size: f64| {
            let b = (0..n).map(|i| size * sign(i)).collect();
            let builder = Problem::builder(design.clone(), b);
            builder.standardize(false).intercept(true).build()
        };
        assert!(matches!(build(9e153), Err(Error::TooLarge { .. })));
        check_claims(&build(9e119).unwrap(), 1e-12, 1e-9);
    }
}

#[test]
fn nearly_dependent_columns_still_count_as_k_features() {
    // The greedy start finds no use for the second column; the search has to.
    let tiny = [3.1e-8, -9.7e-8, 5.3e-8, -2.9e-8, 8.8e-8];
    let mut columns = vec![1.0; 5];
    columns.extend(tiny.map(|t| 1.0 + t));
    let design = Design::dense(5, 2, columns).unwrap();
    let b: Vec<f64> = tiny.iter().map(|t| 1.0 + 1e7 * t).collect();
    let problem = Problem::builder(design, b)
        .standardize(false)
        .ridge(1e-16)
        .k(2)
        .build()
        .unwrap();
    check_claims(&problem, 1e-9, 1e-8);
}

#[test]
fn a_response_far_from_zero_costs_no_digits() {
    // b = 1e6 + r with an intercept: the objective is that of r, whose digits survive only in doubled precision.
    let mut random = common::Random::new(5);
    let n = 50;
    let columns: Vec<f64> = (0..3 * n).map(|_| random.normal()).collect();
    // Multiples of 2⁻²⁰, so that adding the shift is exact.
    let grid = |v: f64| (v * f64::from(1 << 20)).round() / f64::from(1 << 20);
    let r: Vec<f64> = (0..n).map(|_| grid(1e-3 * random.normal())).collect();
    let objective = |shift: f64| {
        let design = Design::dense(n, 3, columns.clone()).unwrap();
        let b = r.iter().map(|r| r + shift).collect();
        let builder = Problem::builder(design, b)
            .standardize(false)
            .intercept(true)
            .k(2);
        solve(&builder.build().unwrap(), &Settings::default())
            .unwrap()
            .objective
    };
    let (near, far) = (objective(0.0), objective(1048576.0));
    assert!(
        (near - far).abs() <= 1e-10 * near,
        "{near:e} against {far:e}"
    );
}

/// With δ beyond every residual, the two losses are the same. For a fit so good that the rounding of the Gram form
/// exceeds the requested gap, one takes no more nodes than the other.
#[test]
fn a_good_fit_of_the_huber_loss_closes_like_that_of_the_quadratic() {
    for (noise, ridge) in [(1e-2, 1e-4), (1e-3, 1e-6), (1e-4, 1e-7)] {
        for seed in 0..5 {
            let mut random = Random::new(seed);
            let (n, d, k) = (120, 24, 5);
            let data: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
            let column = |j: usize| &data[j * n..(j + 1) * n];
            let mut response: Vec<f64> = (0..n).map(|_| noise * random.normal()).collect();
            for j in 0..k {
                let pairs = response.iter_mut().zip(column(3 * j));
                pairs.for_each(|(b, a)| *b += 0.3 * a);
            }
            let solved = |name: &str| {
                let design = Design::dense(n, d, data.clone()).unwrap();
                let builder = Problem::builder(design, response.clone())
                    .standardize(false)
                    .k(k)
                    .ridge(ridge);
                let loss = loss::by_name(name, 1e3).unwrap();
                let settings = Settings {
                    node_limit: Some(2000),
                    ..Settings::default()
                };
                solve(&builder.loss(loss).build().unwrap(), &settings).unwrap()
            };
            let (huber, quadratic) = (solved("huber"), solved("quadratic"));
            assert_eq!(huber.support, quadratic.support);
            assert_eq!(huber.status, Status::Optimal, "{} nodes", huber.nodes);
            assert_eq!(quadratic.status, Status::Optimal);
            assert!(huber.nodes <= quadratic.nodes, "{} nodes", huber.nodes);
        }
    }
}

/// A power of two changes no digit: in other units of the response the search is the same, node for node.
#[test]
fn the_units_of_the_response_do_not_matter() {
    for (name, ridge) in [("huber", 1e-2), ("huber", 1e-3), ("quadratic", 1e-3)] {
        for seed in 0..4 {
            let mut random = Random::new(seed);
            let (n, d, k) = (150, 30, 5);
            let data: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
            let mut response: Vec<f64> = (0..n).map(|_| 0.7 * random.normal()).collect();
            for j in 0..k {
                let column = &data[3 * j * n..(3 * j + 1) * n];
                let pairs = response.iter_mut().zip(column);
                pairs.for_each(|(b, a)| *b += 0.4 * a);
            }
            let solved = |unit: f64, gram: bool, kind: &str| {
                let design = Design::dense(n, d, data.clone()).unwrap();
                let response = response.iter().map(|b| b * unit).collect();
                let builder = Problem::builder(design, response)
                    .standardize(false)
                    .k(k)
                    .ridge(ridge);
                let builder = match kind {
                    "intercept" => builder.intercept(true),
                    "groups" => builder.groups(vec![vec![0, 1], vec![5, 9]]),
                    "signs" => builder.nonnegative(0..d),
                    _ => builder,
                };
                let loss = loss::by_name(name, unit).unwrap();
                let mut settings = Settings::default();
                settings.mechanisms.gram = gram;
                solve(&builder.loss(loss).build().unwrap(), &settings).unwrap()
            };
            let kinds = ["plain", "intercept", "groups", "signs"];
            for (gram, kind) in [true, false]
                .into_iter()
                .flat_map(|gram| kinds.map(|kind| (gram, kind)))
            {
                let plain = solved(1.0, gram, kind);
                for unit in [f64::exp2(-12.0), f64::exp2(12.0)] {
                    let form = format!("{kind}, Gram form {gram}");
                    let words = format!("{name}, ridge {ridge}, seed {seed}, {form}");
                    let scaled = solved(unit, gram, kind);
                    assert_eq!(scaled.support, plain.support, "{words}");
                    assert_eq!(scaled.nodes, plain.nodes, "{words}");
                    assert_eq!(scaled.solver_calls, plain.solver_calls, "{words}");
                    let (objective, truth) = (scaled.objective / unit / unit, plain.objective);
                    assert!(
                        (objective - truth).abs() <= 1e-12 * truth,
                        "{words}: {objective}"
                    );
                }
            }
        }
    }
}
