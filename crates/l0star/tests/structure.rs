//! Groups, bounds, heredity, forced and left-out features, ridge factors: the same as by brute force over the rules that
//! were asked for, told here in other words than the engine's.
#![allow(missing_docs)]

mod common;

use std::cell::Cell;
use std::num::NonZeroUsize;

use common::{RuledCase, ruled_case};
use l0star::restricted::Restricted;
use l0star::search::{Event, News};
use l0star::{Error, Method, Problem, Settings, Status, loss, solve, solve_observed};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same cases in every run.
fn config(cases: u32, seed: u64) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn losses() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(loss::NAMES)
}

fn slack(problem: &Problem, objective: f64) -> f64 {
    1e-13 * objective + 1e-28 * problem.objective(&[])
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
            // Column 0 may be in anyway.
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
    let slack = slack(problem, optimum);
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
    // The model itself is one that was asked for.
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
    #![proptest_config(config(600, 41))]

    #[test]
    fn best_first_equals_brute_force(seed in any::<u64>(), loss in losses()) {
        check(&ruled_case(seed, loss), &Settings::new(Method::BestFirst))?;
    }
}

proptest! {
    #![proptest_config(config(200, 42))]

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
