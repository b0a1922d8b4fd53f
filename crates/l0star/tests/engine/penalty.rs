//! A price for every feature gives the same as brute force over all sets, whose prices are added up here.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::cases::cases;
use crate::common::priced::{PricedCase, brute_force, priced_case};
use crate::common::{self, Random, hard_draft, random_case};
use l0star::search::{Event, News};
use l0star::{
    Checkpoint, Design, Error, Method, PathRun, Problem, Run, Settings, Status, loss, penalty_path,
    prices, solve, solve_observed,
};
use proptest::prelude::*;

fn losses() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(loss::NAMES)
}

fn check(drawn: &PricedCase, settings: &Settings) -> Result<(), TestCaseError> {
    let case = &drawn.case;
    let words = &case.words;
    let truth = brute_force(drawn);
    let problem = match &case.built {
        Ok(problem) => problem,
        Err(Error::Circle { .. }) => return Ok(()),
        Err(error) => {
            prop_assert!(truth.is_empty(), "{words}: refused with '{error}'");
            return Ok(());
        }
    };
    let optimum = truth[0].0;
    let slack = common::rounding(problem, optimum);
    let worst = Cell::new(f64::NEG_INFINITY);
    let observer = Box::new(|event: &Event| {
        if event.news == News::Bound {
            worst.set(worst.get().max(event.lower_bound));
        }
    });
    let found = solve_observed(problem, settings, observer).unwrap();
    let highest = worst.get().max(found.lower_bound.unwrap());
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
    // The objective is that of the model: its own P, plus the prices of its features.
    let mut set = found.support.clone();
    set.extend(&case.rules.include_free);
    set.sort_unstable();
    set.dedup();
    prop_assert!(case.rules.allow(&set), "{words}: {set:?}");
    let cost = drawn.prices.cost(&case.rules, &set);
    prop_assert!(
        (problem.l0_cost(&found.support) - cost).abs() <= 1e-14 * cost,
        "{words}"
    );
    let mut x: Vec<(usize, f64)> = found.coefficients.iter().copied().enumerate().collect();
    if problem.has_intercept() {
        x.push((problem.columns(), found.intercept));
    }
    let own = case.loose.objective(&x) + cost;
    let room = 1e-9 * (own.abs() + found.empty_objective);
    prop_assert!(
        (own - found.objective).abs() <= room,
        "{words}: {own} for {}",
        found.objective
    );
    Ok(())
}

proptest! {
    #![proptest_config(cases(600, 81))]

    #[test]
    fn best_first_equals_brute_force(seed in any::<u64>(), loss in losses(), structured in any::<bool>()) {
        check(&priced_case(seed, loss, structured), &Settings::default())?;
    }
}

proptest! {
    #![proptest_config(cases(120, 82))]

    #[test]
    fn the_exhaustive_method_and_two_threads_equal_brute_force(
        seed in any::<u64>(), loss in losses(), structured in any::<bool>(),
    ) {
        let case = priced_case(seed, loss, structured);
        check(&case, &Settings::new(Method::Exhaustive))?;
        check(&case, &Settings { threads: NonZeroUsize::new(2), ..Settings::default() })?;
    }

    #[test]
    fn lists_equal_brute_force(
        seed in any::<u64>(), loss in losses(), top in 2usize..30, within in proptest::option::of(0.0..0.2f64),
        structured in any::<bool>(),
    ) {
        let drawn = priced_case(seed, loss, structured);
        let case = &drawn.case;
        let Ok(problem) = &case.built else { return Ok(()) };
        let truth = brute_force(&drawn);
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

    #[test]
    fn what_choices_cost_equals_brute_force(
        seed in any::<u64>(), loss in losses(), limit in proptest::option::of(0u64..6), structured in any::<bool>(),
    ) {
        let drawn = priced_case(seed, loss, structured);
        let case = &drawn.case;
        let Ok(problem) = &case.built else { return Ok(()) };
        let truth = brute_force(&drawn);
        let words = &case.words;
        let settings = Settings { node_limit: limit, ..Settings::default() };
        let solution = solve(problem, &settings).unwrap();
        for price in prices(problem, &settings, &solution, None).unwrap() {
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
            let cost = best - truth[0].0;
            let (low, high) = price.cost_bounds;
            prop_assert!(low <= cost + slack && cost <= high + slack, "{words}: {price:?}, not {cost}");
        }
    }

    #[test]
    fn every_size_of_a_path_equals_brute_force(seed in any::<u64>(), loss in losses(), structured in any::<bool>()) {
        let drawn = priced_case(seed, loss, structured);
        let case = &drawn.case;
        let Ok(problem) = &case.built else { return Ok(()) };
        let truth = brute_force(&drawn);
        let first = (0..=problem.k()).find(|k| problem.with_k(*k).is_ok()).unwrap();
        let path = PathRun::new(problem, &Settings::default(), first..=problem.k()).solve().unwrap();
        for point in path {
            let sized = truth.iter().find(|(_, set)| case.rules.count(set) <= point.k);
            let optimum = sized.unwrap().0;
            let error = point.solution.objective - optimum;
            let slack = common::rounding(problem, optimum);
            prop_assert!(error.abs() <= 1e-9 * optimum.max(1e-12) + slack, "{}: {error:e}", case.words);
            prop_assert!(point.solution.lower_bound.unwrap() <= optimum + slack, "{}", case.words);
        }
    }

    /// A price of 0 changes nothing at all.
    #[test]
    fn no_price_is_no_penalty_bit_for_bit(seed in any::<u64>(), loss in losses()) {
        let case = random_case(seed, loss);
        let mut random = Random::new(seed);
        let n = 12;
        let columns: Vec<f64> = (0..4 * n).map(|_| random.normal()).collect();
        let labels = matches!(loss, "logistic" | "squared-hinge");
        let mut b: Vec<f64> = (0..n).map(|i| {
            let value = columns[i] + random.normal();
            match (labels, i) {
                (true, 0) => 1.0,
                (true, 1) => -1.0,
                (true, _) => value.signum(),
                (false, _) => value,
            }
        }).collect();
        common::log_linked(&mut b, loss);
        let builder = Problem::builder(Design::dense(n, 4, columns).unwrap(), b)
            .loss(l0star::loss::by_name(loss, 1.0).unwrap())
            .k(1 + random.below(4));
        let plain = solve(&builder.clone().build().unwrap(), &Settings::default()).unwrap();
        let zero = builder.l0_penalty(0.0).l0_factor(1, 3.0).build().unwrap();
        let zero = solve(&zero, &Settings::default()).unwrap();
        prop_assert_eq!(
            (plain.objective.to_bits(), plain.lower_bound.map(f64::to_bits), plain.nodes, plain.coefficients),
            (zero.objective.to_bits(), zero.lower_bound.map(f64::to_bits), zero.nodes, zero.coefficients),
            "{}", case.words
        );
    }
}

proptest! {
    #![proptest_config(cases(150, 83))]

    /// At every price, including the breakpoints, its piece is as good as brute force.
    #[test]
    fn the_path_over_prices_is_the_least_of_all_lines(
        seed in any::<u64>(), loss in losses(), structured in any::<bool>(), share in 0.0..1.0f64,
    ) {
        let drawn = priced_case(seed, loss, structured);
        let case = &drawn.case;
        let Ok(problem) = &case.built else { return Ok(()) };
        let path = penalty_path(problem, &Settings::default()).unwrap();
        let words = &case.words;
        prop_assert!(path[0].from == 0.0 && path[path.len() - 1].to == f64::INFINITY, "{words}");
        prop_assert!(path.windows(2).all(|pair| pair[0].to == pair[1].from && pair[0].weight > pair[1].weight), "{words}");
        for piece in &path {
            prop_assert_eq!(piece.status, Status::Optimal, "{}", words);
            let to = if piece.to.is_finite() { piece.to } else { 3.0 * piece.from + 1.0 };
            for price in [piece.from, piece.from + share * (to - piece.from), to] {
                let prices = common::priced::Prices { penalty: price, ..drawn.prices.clone() };
                let least = common::priced::brute_force_at(case, &prices)[0].0;
                let own = piece.objective + price * piece.weight;
                let room = 1e-8 * least.max(1e-12 * problem.empty_objective()) + 1e-12 * problem.objective(&[]);
                prop_assert!((own - least).abs() <= room, "{words}: {own} at {price}, not {least}");
            }
        }
    }
}

/// Without k, all features may be in; a price that is too high leaves none.
#[test]
fn without_k_prices_alone_decide() {
    for name in loss::NAMES {
        let draft = || hard_draft(name).k(25);
        let free = solve(&draft().build().unwrap(), &Settings::default()).unwrap();
        let mut last = 25;
        for penalty in [1e-9, 0.01, 0.1, 1e6] {
            let problem = draft()
                .l0_penalty(penalty * free.empty_objective)
                .build()
                .unwrap();
            let found = solve(&problem, &Settings::default()).unwrap();
            assert_eq!(found.status, Status::Optimal, "{name} {penalty}");
            assert!(
                found.support.len() <= last,
                "{name} {penalty}: {:?}",
                found.support
            );
            last = found.support.len();
        }
        assert_eq!(last, 0);
    }
    let columns = vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0];
    let builder = Problem::builder(
        Design::dense(4, 2, columns).unwrap(),
        vec![1.1, 1.9, 3.2, 3.9],
    );
    assert_eq!(builder.clone().build().unwrap().k(), 1);
    assert_eq!(builder.clone().l0_penalty(0.1).build().unwrap().k(), 2);
    let included = builder.l0_penalty(0.1).include(0).build().unwrap();
    assert_eq!(included.k(), 2);
}

/// The response in another unit, with the price in that unit squared, gives the same features.
#[test]
fn the_unit_of_the_response_does_not_matter() {
    for name in ["quadratic", "huber"] {
        let mut random = Random::new(5);
        let (n, d) = (40, 12);
        let columns: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
        let b: Vec<f64> = (0..n)
            .map(|i| columns[i] + 0.5 * columns[n + i] + 0.3 * random.normal())
            .collect();
        let fit = |unit: f64| {
            let scaled = b.iter().map(|b| b * unit).collect();
            let problem = Problem::builder(Design::dense(n, d, columns.clone()).unwrap(), scaled)
                .loss(loss::by_name(name, unit).unwrap())
                .intercept(true)
                .l0_penalty(0.01 * unit * unit)
                .build()
                .unwrap();
            solve(&problem, &Settings::default()).unwrap()
        };
        let plain = fit(1.0);
        assert!(!plain.support.is_empty() && plain.support.len() < d);
        for unit in [
            2f64.powi(-200),
            2f64.powi(-30),
            2f64.powi(40),
            2f64.powi(200),
        ] {
            let found = fit(unit);
            assert_eq!(found.status, Status::Optimal, "{name} {unit:e}");
            assert_eq!(found.support, plain.support, "{name} {unit:e}");
        }
    }
}

/// A search that takes many nodes runs in pieces, each from the checkpoint of the previous one; a checkpoint of other
/// prices is refused.
#[test]
fn searches_can_be_resumed_with_the_same_prices_alone() {
    for name in loss::NAMES {
        let size = hard_draft(name).build().unwrap().empty_objective();
        let draft = |share: f64| hard_draft(name).l0_penalty(share * size).build().unwrap();
        let problem = draft(0.01);
        let whole = solve(&problem, &Settings::default()).unwrap();
        let truth = solve(&problem, &Settings::new(Method::Exhaustive)).unwrap();
        assert!((whole.objective - truth.objective).abs() <= 1e-9 * truth.objective);
        let pieces = Settings {
            node_limit: Some(5),
            ..Settings::default()
        };
        let mut saved: Option<Vec<u8>> = None;
        loop {
            let mut left = Vec::new();
            let sink = Box::new(|checkpoint: &Checkpoint| left = checkpoint.encode());
            let mut run = Run::new(&problem, &pieces).save(Duration::MAX, sink);
            if let Some(saved) = &saved {
                run = run.resume(Checkpoint::decode(saved).unwrap());
            }
            let part = run.solve().unwrap();
            assert!(
                part.lower_bound.unwrap() <= truth.objective * (1.0 + 1e-13),
                "{name}"
            );
            if part.status != Status::NodeLimit {
                assert_eq!(part.support, whole.support, "{name}");
                break;
            }
            let other = Run::new(&draft(0.02), &pieces)
                .resume(Checkpoint::decode(&left).unwrap())
                .solve();
            assert!(matches!(other, Err(Error::Checkpoint { .. })), "{name}");
            saved = Some(left);
        }
    }
}

#[test]
fn what_is_no_price_is_refused() {
    let builder = || hard_draft("quadratic");
    for penalty in [-1.0, f64::NAN, f64::INFINITY] {
        let error = builder()
            .l0_penalty(penalty)
            .build()
            .unwrap_err()
            .to_string();
        assert!(error.contains("l0_penalty"), "{error}");
    }
    for factor in [-1.0, f64::NAN, f64::INFINITY] {
        let error = builder().l0_penalty(1.0).l0_factor(0, factor).build();
        let error = error.unwrap_err().to_string();
        assert!(error.contains("l0 factor"), "{error}");
    }
    let grouped = builder().groups(vec![vec![0, 1]]).l0_penalty(1.0);
    let error = grouped.l0_factor(0, 1.0).l0_factor(1, 2.0).build();
    assert!(error.unwrap_err().to_string().contains("one factor"));
    let priced = builder().l0_penalty(0.1).build().unwrap();
    for method in [
        Method::Paper,
        Method::Omp,
        Method::Iht,
        Method::Htp,
        Method::Diht,
    ] {
        let error = solve(&priced, &Settings::new(method))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(method.as_str()) && error.contains("l0 penalty"),
            "{error}"
        );
    }
}
