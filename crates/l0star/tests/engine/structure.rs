//! Groups, bounds, heredity, forced and excluded features, and ridge factors give the same as brute force over the
//! stated rules, which are implemented here independently of the engine.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::cases::cases;
use crate::common::ruled::forced_case;
use crate::common::{self, Random, RuledCase, hard_draft, ruled_case};
use l0star::internals::Restricted;
use l0star::search::{Event, News};
use l0star::{
    Checkpoint, Design, Error, Method, Problem, RelaxationKind, Run, Settings, Status, loss,
    prices, solve, solve_observed,
};
use proptest::prelude::*;

fn losses() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(loss::NAMES)
}

/// Every set that the rules allow with its least objective, best first.
fn brute_force(case: &RuledCase) -> Vec<(f64, Vec<usize>)> {
    let mut restricted = Restricted::new(&case.loose);
    let always: Vec<usize> = case.loose.selectable().to_vec();
    let mut all: Vec<(f64, Vec<usize>)> = case
        .rules
        .allowed()
        .into_iter()
        .map(|set| {
            // Column 0 may be always in.
            let free: Vec<usize> = set.iter().copied().filter(|j| always.contains(j)).collect();
            restricted.fit(&free);
            (restricted.precise_objective(), set)
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

fn check(case: &RuledCase, settings: &Settings) -> Result<(), TestCaseError> {
    let words = &case.words;
    let truth = brute_force(case);
    let problem = match &case.built {
        Ok(problem) => problem,
        Err(Error::Circle { .. }) => return Ok(()),
        Err(error) => {
            prop_assert!(truth.is_empty(), "{words}: refused with '{error}'");
            return Ok(());
        }
    };
    prop_assert!(!truth.is_empty(), "{words}: should have been refused");
    let optimum = truth[0].0;
    let slack = common::rounding(problem, optimum);
    let worst = Cell::new(f64::NEG_INFINITY);
    let observer = Box::new(|event: &Event| {
        if event.news == News::Bound {
            worst.set(worst.get().max(event.lower_bound));
        }
    });
    let found = solve_observed(problem, settings, observer).unwrap();
    let bound = found.lower_bound.unwrap();
    let highest = worst.get().max(bound);
    prop_assert!(
        highest <= optimum + slack,
        "{words}: bound {highest} above the optimum {optimum}"
    );
    let error = found.objective - optimum;
    prop_assert!(
        error <= 1e-9 * optimum.max(1e-12) && error >= -slack,
        "{words}: found {}, optimum {optimum}, {:?}",
        found.objective,
        found.support
    );
    prop_assert_eq!(
        found.status,
        Status::Optimal,
        "{}: gap {:?} of {}",
        words,
        found.gap(),
        optimum
    );
    // The model follows the rules.
    for (j, x) in found.coefficients.iter().enumerate() {
        let (low, high) = problem.bounds(j);
        prop_assert!(
            low <= *x && *x <= high,
            "{words}: coefficient {x} of column {j}"
        );
        let is_free = case.rules.include_free.contains(&j);
        prop_assert!(
            *x == 0.0 || is_free || found.support.contains(&j),
            "{words}"
        );
    }
    let mut set = found.support.clone();
    set.extend(&case.rules.include_free);
    set.sort_unstable();
    set.dedup();
    prop_assert!(case.rules.allow(&set), "{words}: {set:?}");
    Ok(())
}

proptest! {
    #![proptest_config(cases(600, 41))]

    #[test]
    fn best_first_equals_brute_force(seed in any::<u64>(), loss in losses()) {
        check(&ruled_case(seed, loss), &Settings::new(Method::BestFirst))?;
    }
}

proptest! {
    #![proptest_config(cases(200, 42))]

    #[test]
    fn the_exhaustive_method_equals_brute_force(seed in any::<u64>(), loss in losses()) {
        check(&ruled_case(seed, loss), &Settings::new(Method::Exhaustive))?;
    }

    #[test]
    fn two_threads_equal_brute_force(seed in any::<u64>(), loss in losses()) {
        let settings = Settings { threads: NonZeroUsize::new(2), ..Settings::default() };
        check(&ruled_case(seed, loss), &settings)?;
    }
}

proptest! {
    #![proptest_config(cases(200, 44))]

    #[test]
    fn forced_features_and_ridge_factors_equal_brute_force_by_every_exact_method(
        seed in any::<u64>(), loss in losses(), sga in any::<bool>(),
    ) {
        let case = forced_case(seed, loss);
        check(&case, &Settings::new(Method::BestFirst))?;
        let relaxation = if sga { RelaxationKind::Sga } else { RelaxationKind::Pdal };
        if common::suits(&case.loose, Method::Paper) {
            check(&case, &Settings { relaxation, ..Settings::new(Method::Paper) })?;
        }
    }
}

proptest! {
    #![proptest_config(cases(250, 43))]

    #[test]
    fn lists_equal_brute_force(
        seed in any::<u64>(), loss in losses(), top in 2usize..30, within in proptest::option::of(0.0..0.2f64),
    ) {
        let case = ruled_case(seed, loss);
        let Ok(problem) = &case.built else { return Ok(()) };
        let truth = brute_force(&case);
        let settings = Settings { top: NonZeroUsize::new(top), within, ..Settings::default() };
        let found = solve(problem, &settings).unwrap();
        let words = &case.words;
        prop_assert_eq!(found.status, Status::Optimal, "{}", words);
        let room = |value: f64| common::proved(problem, value);
        for (model, (value, _)) in found.solutions.iter().zip(&truth) {
            prop_assert!(
                (model.objective - value).abs() <= room(*value),
                "{words}: {} is not the next best, {value}", model.objective
            );
            let mut set = model.support.clone();
            set.extend(&case.rules.include_free);
            set.sort_unstable();
            set.dedup();
            prop_assert!(case.rules.allow(&set), "{words}: {set:?}");
        }
        let high = within.map_or(f64::INFINITY, |within| truth[0].0 * (1.0 + within));
        let sure = truth.iter().filter(|(value, _)| *value < high - room(high)).count();
        let most = truth.iter().filter(|(value, _)| *value <= high + room(high)).count();
        let count = found.solutions.len();
        prop_assert!(count >= sure.min(top) && count <= most.min(top), "{words}: {count} of {}", truth.len());
        if let (Some(bound), Some((value, _))) = (found.rest_bound, truth.get(count)) {
            prop_assert!(bound <= value + common::rounding(problem, *value), "{words}: {bound} above {value}");
        }
    }

}

proptest! {
    #![proptest_config(cases(600, 45))]

    #[test]
    fn prices_equal_brute_force(
        seed in any::<u64>(), loss in losses(), threads in 1usize..3,
        limit in proptest::option::of(0u64..6), good in any::<bool>(),
    ) {
        let case = ruled_case(seed, loss);
        let Ok(problem) = &case.built else { return Ok(()) };
        let truth = brute_force(&case);
        let words = &case.words;
        let settings = Settings {
            threads: NonZeroUsize::new(threads), node_limit: limit, ..Settings::default()
        };
        // The model that is priced need not be the best.
        let solution = match solve(problem, &Settings::new(Method::Omp)) {
            Ok(greedy) if !good => greedy,
            _ => solve(problem, &settings).unwrap(),
        };
        let all = prices(problem, &settings, &solution, None).unwrap();
        prop_assert_eq!(all.len(), problem.selectable().len());
        for price in all {
            prop_assert_eq!(price.chosen, solution.support.contains(&price.feature), "{}", words);
            let mut others = truth.iter().filter(|(_, set)| set.contains(&price.feature) != price.chosen);
            let Some((best, _)) = others.next() else {
                prop_assert!(price.objective == f64::INFINITY, "{words}: {price:?}");
                continue;
            };
            let slack = common::rounding(problem, *best);
            let exact = (price.objective - best).abs() <= 1e-9 * best.max(1e-12) + slack;
            prop_assert!(
                exact || (price.status == Status::NodeLimit && limit.is_some() && price.objective > *best),
                "{words}, limit {limit:?}: {price:?}, not {best}"
            );
            prop_assert!(limit.is_some() || price.status == Status::Optimal, "{words}: {price:?}");
            prop_assert!(price.lower_bound <= best + slack, "{words}: {price:?} above {best}");
            // The cost is that of the best model, whichever model was priced.
            let cost = best - truth[0].0;
            let (low, high) = price.cost_bounds;
            prop_assert!(low <= cost + slack && cost <= high + slack, "{words}: {price:?}, not {cost}");
            let mut set = price.support.clone();
            set.extend(&case.rules.include_free);
            set.sort_unstable();
            set.dedup();
            prop_assert!(case.rules.allow(&set), "{words}: {set:?}");
            prop_assert_eq!(set.contains(&price.feature), !price.chosen, "{}: {:?}", words, set);
        }
    }
}

/// Checks the conditions of a minimum over a box: no coefficient could be better for the slopes of the model.
/// Everything but the scalar loss is computed here from the raw numbers.
#[test]
fn a_fit_with_bounds_meets_the_conditions_of_a_minimum() {
    for name in loss::NAMES {
        for seed in 0..150 {
            let mut random = Random::new(seed);
            let (n, d) = (8 + random.below(20), 1 + random.below(6));
            let columns: Vec<Vec<f64>> = (0..d)
                .map(|_| (0..n).map(|_| random.normal()).collect())
                .collect();
            let labels = matches!(*name, "logistic" | "squared-hinge");
            let mut b: Vec<f64> = (0..n)
                .map(|i| {
                    let v = columns[0][i] + random.normal();
                    if labels { v.signum() } else { v }
                })
                .collect();
            common::log_linked(&mut b, name);
            if labels && b.iter().all(|v| *v == b[0]) {
                continue;
            }
            let bounds: Vec<(f64, f64)> = (0..d)
                .map(|_| match random.below(4) {
                    0 => (0.0, f64::INFINITY),
                    1 => (f64::NEG_INFINITY, 0.0),
                    2 => (-0.3 * random.uniform(), 0.3 * random.uniform()),
                    _ => (f64::NEG_INFINITY, f64::INFINITY),
                })
                .collect();
            let (ridge, intercept) = (10f64.powf(-4.0 * random.uniform()), random.chance(0.5));
            let design = Design::dense(n, d, columns.concat()).unwrap();
            let mut builder = Problem::builder(design, b.clone())
                .standardize(false)
                .loss(loss::by_name(name, 1.0).unwrap())
                .ridge(ridge)
                .intercept(intercept)
                .k(d);
            for (j, (low, high)) in bounds.iter().enumerate() {
                builder = builder.bounds(j, *low, *high);
            }
            let problem = builder.build().unwrap();
            let mut restricted = Restricted::new(&problem);
            let all: Vec<usize> = (0..d).collect();
            let fit = restricted.fit(&all);
            let words = format!("{name}, seed {seed}: {fit:?} within {bounds:?}");
            let x = |j: usize| fit.x.iter().find(|(i, _)| *i == j).unwrap().1;
            let shift = if intercept { x(d) } else { 0.0 };
            let slopes: Vec<f64> = (0..n)
                .map(|i| {
                    let z = shift + (0..d).map(|j| columns[j][i] * x(j)).sum::<f64>();
                    problem.loss().slope(z, b[i]) / n as f64
                })
                .collect();
            // P minus its dual at these slopes: `Σ δ(-g - λδ/2)`, where δ is the step to the best coefficient for
            // them.
            let mut gap = 0.0;
            for (j, (low, high)) in bounds.iter().enumerate() {
                let pull: f64 = (0..n).map(|i| slopes[i] * columns[j][i]).sum();
                let g = pull + ridge * x(j);
                assert!(*low <= x(j) && x(j) <= *high, "{words}");
                let way = (x(j) - g / ridge).clamp(*low, *high) - x(j);
                gap += way * (-g - 0.5 * ridge * way);
            }
            assert!(gap <= 1e-13 * fit.objective, "{words}: gap {gap:e}");
            if intercept {
                let slope = slopes.iter().sum::<f64>().abs();
                assert!(slope <= 1e-9 * (1.0 + fit.objective), "{words}");
            }
            let bound = restricted.certify().value();
            let gap = fit.objective - bound;
            assert!(
                gap <= 1e-10 * fit.objective && bound <= fit.objective * (1.0 + 1e-13),
                "{words}: {gap:e}"
            );
        }
    }
}

fn small() -> l0star::problem::Builder {
    let columns = (0..20).map(|i| f64::from(i * i % 7)).collect();
    let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    Problem::builder(
        Design::dense(5, 4, columns).unwrap(),
        vec![1.0, 2.0, 0.0, 1.0, 3.0],
    )
    .standardize(false)
    .names(names)
    .k(2)
}

#[test]
fn what_cannot_be_is_refused_with_the_column() {
    let words = |builder: l0star::problem::Builder| builder.build().unwrap_err().to_string();
    let infinity = f64::INFINITY;
    for (error, expected) in [
        (
            words(small().bounds(1, 0.5, 1.0)),
            "column 'b' has the bounds 0.5 to 1",
        ),
        (
            words(small().bounds(2, f64::NAN, 1.0)),
            "column 'c' has the bounds NaN to 1",
        ),
        (words(small().bounds(9, 0.0, 1.0)), "there is no column 9"),
        (words(small().nonnegative([0, 4])), "there is no column 4"),
        (
            words(small().groups(vec![vec![0, 1], vec![1, 2]])),
            "column 'b' is in two groups",
        ),
        (
            words(small().groups(vec![vec![0], vec![]])),
            "no columns in a group",
        ),
        (
            words(small().groups(vec![vec![0, 1]]).always_in(1, 0.1)),
            "column 'b' is in a group and always in",
        ),
        (
            words(small().always_in(3, 0.0).bounds(3, 0.0, infinity)),
            "column 'd' has bounds and no ridge",
        ),
        (
            words(small().requires(0, &[1]).requires(1, &[0])),
            "requires itself",
        ),
        (
            words(small().include(0).exclude(0)),
            "column 'a' is both excluded and always in",
        ),
        (
            words(small().include(0).requires(0, &[1]).exclude(1)),
            "column 'b' is both excluded and always in",
        ),
        (
            words(small().include(0).include(1).include(2)),
            "3 features are included, more than k = 2",
        ),
        (
            words(small().ridge_factor(0, 0.0)),
            "ridge factor of a column = 0 is out of range",
        ),
    ] {
        assert!(error.contains(expected), "{error}");
    }
    let grouped = small().groups(vec![vec![0, 1]]).build().unwrap();
    for method in [
        Method::Paper,
        Method::Omp,
        Method::Iht,
        Method::Htp,
        Method::Diht,
    ] {
        let error = solve(&grouped, &Settings::new(method))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(method.as_str()) && error.contains("groups"),
            "{error}"
        );
    }
}

#[test]
fn a_group_counts_as_one_and_comes_as_a_whole() {
    let problem = small()
        .groups(vec![vec![0, 3], vec![1, 2]])
        .k(1)
        .build()
        .unwrap();
    assert_eq!(problem.selectable(), [0, 1]);
    let found = solve(&problem, &Settings::default()).unwrap();
    assert!(
        found.support == [0, 3] || found.support == [1, 2],
        "{found:?}"
    );
    assert_eq!(found.status, Status::Optimal);
}

#[test]
fn included_features_are_in_the_support_and_counted() {
    let problem = small().include(2).k(2).build().unwrap();
    let found = solve(&problem, &Settings::default()).unwrap();
    assert!(
        found.support.contains(&2) && found.support.len() == 2,
        "{found:?}"
    );
    assert_eq!(found.solutions[0].support.len(), 2);
    // Features that are included for free are neither.
    let problem = small().include_free(2).k(1).build().unwrap();
    let free = solve(&problem, &Settings::default()).unwrap();
    assert!(
        !free.support.contains(&2) && free.coefficients[2] != 0.0,
        "{free:?}"
    );
    assert_eq!(free.objective, found.objective);
}

/// Problems that take many nodes: groups, signs, boxes and heredity, each alone.
fn hard_ones(name: &str) -> Vec<(&'static str, Problem)> {
    let boxes = (0..25).fold(hard_draft(name), |builder, j| builder.bounds(j, -0.2, 0.4));
    let chains = (10..25).fold(hard_draft(name), |builder, j| {
        builder.requires(j, &[j - 10])
    });
    let groups = (0..12).map(|g| vec![2 * g, 2 * g + 1]).collect();
    vec![
        ("groups", hard_draft(name).groups(groups).k(3)),
        ("signs", hard_draft(name).nonnegative(0..25).k(3)),
        ("boxes", boxes.k(3)),
        ("heredity", chains.k(4)),
    ]
    .into_iter()
    .map(|(words, builder)| (words, builder.build().unwrap()))
    .collect()
}

#[test]
fn searches_that_take_many_nodes_equal_the_exhaustive_method_and_can_be_resumed() {
    for name in loss::NAMES {
        for (words, problem) in hard_ones(name) {
            let truth = solve(&problem, &Settings::new(Method::Exhaustive)).unwrap();
            let found = solve(&problem, &Settings::default()).unwrap();
            assert_eq!(found.status, Status::Optimal, "{name}, {words}");
            assert!(
                (found.objective - truth.objective).abs() <= 1e-9 * truth.objective,
                "{name}, {words}"
            );
            // The search runs in pieces of a few nodes, each from the checkpoint of the previous one.
            let pieces = Settings {
                node_limit: Some(7),
                ..Settings::default()
            };
            let mut saved: Option<Vec<u8>> = None;
            let last = loop {
                let mut left = Vec::new();
                let sink = Box::new(|checkpoint: &Checkpoint| left = checkpoint.encode());
                let mut run = Run::new(&problem, &pieces).save(Duration::MAX, sink);
                if let Some(saved) = &saved {
                    run = run.resume(Checkpoint::decode(saved).unwrap());
                }
                let part = run.solve().unwrap();
                let bound = part.lower_bound.unwrap();
                assert!(bound <= truth.objective * (1.0 + 1e-13), "{name}, {words}");
                if part.status != Status::NodeLimit {
                    break part;
                }
                saved = Some(left);
            };
            assert_eq!(last.support, found.support, "{name}, {words}");
        }
    }
}

#[test]
fn a_checkpoint_of_other_constraints_is_refused() {
    let problems = hard_ones("quadratic");
    let mut saved = Vec::new();
    let limited = Settings {
        node_limit: Some(0),
        ..Settings::default()
    };
    let sink = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
    Run::new(&problems[1].1, &limited)
        .save(Duration::MAX, sink)
        .solve()
        .unwrap();
    let checkpoint = Checkpoint::decode(&saved).unwrap();
    let refused = Run::new(&problems[2].1, &limited)
        .resume(checkpoint)
        .solve();
    assert!(
        matches!(refused, Err(Error::Checkpoint { .. })),
        "{refused:?}"
    );
}
