//! Prices with duplicate columns equal those of all columns, although the search uses the data without the copies.

use crate::common;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::cases::cases;
use crate::copies::{Data, close, draw, hard};
use l0star::{
    Checkpoint, Design, Method, Price, PriceRun, Problem, Run, Settings, Status, loss, prices,
    solve,
};
use proptest::prelude::*;

/// The least objective of the sets that have a column, or of those that lack it.
fn truth(sets: &[(f64, Vec<usize>)], price: &Price) -> f64 {
    let follows = |set: &[usize]| set.contains(&price.feature) != price.chosen;
    let values = sets.iter().filter(|(_, set)| follows(set));
    values
        .map(|(value, _)| *value)
        .fold(f64::INFINITY, f64::min)
}

proptest! {
    #![proptest_config(cases(300, 84))]

    #[test]
    fn prices_are_exact(
        seed in any::<u64>(),
        threads in 1usize..3,
        limit in proptest::option::weighted(0.2, 0u64..4),
    ) {
        let (data, k) = draw(seed);
        let sets = data.sets(k);
        let problem = data.problem("quadratic", k);
        let settings = Settings { threads: NonZeroUsize::new(threads), ..Settings::default() };
        let solution = solve(&problem, &settings).unwrap();
        let settings = Settings { node_limit: limit, ..settings };
        for price in prices(&problem, &settings, &solution, None).unwrap() {
            let truth = truth(&sets, &price);
            let words = format!("{data:?}, k {k}, limit {limit:?}: {price:?}, not {truth}");
            prop_assert!(price.lower_bound <= truth * (1.0 + 1e-11), "{words}");
            prop_assert!(price.objective >= truth * (1.0 - 1e-11), "{words}");
            prop_assert_eq!(price.support.contains(&price.feature), !price.chosen, "{}", words);
            prop_assert!(price.support.len() <= k, "{words}");
            if limit.is_none() {
                prop_assert_eq!(price.status, Status::Optimal, "{}", words);
                prop_assert!(close(price.objective, truth), "{words}");
            }
        }
    }

    /// The price of a solution that was stopped early claims no more than is proved.
    #[test]
    fn prices_of_an_unproved_solution_are_exact(seed in any::<u64>()) {
        let (data, k) = draw(seed);
        let sets = data.sets(k);
        let problem = data.problem("quadratic", k);
        let first = Settings { node_limit: Some(0), ..Settings::default() };
        let solution = solve(&problem, &first).unwrap();
        for price in prices(&problem, &Settings::default(), &solution, None).unwrap() {
            let truth = truth(&sets, &price);
            prop_assert_eq!(price.status, Status::Optimal, "{:?}, k {}: {:?}", data, k, price);
            prop_assert!(close(price.objective, truth), "{data:?}, k {k}: {price:?}, not {truth}");
        }
    }
}

proptest! {
    #![proptest_config(cases(40, 85))]

    /// Other losses against prices by enumeration.
    #[test]
    fn other_losses_are_exact_too(seed in any::<u64>(), name in proptest::sample::select(loss::NAMES)) {
        let (mut data, k) = draw(seed);
        if matches!(name, "logistic" | "squared-hinge") {
            data.response.iter_mut().for_each(|b| *b = if *b > 0.0 { 1.0 } else { -1.0 });
            (data.response[0], data.response[1]) = (1.0, -1.0);
        }
        common::log_linked(&mut data.response, name);
        let problem = data.problem(name, k);
        let solution = solve(&problem, &Settings::default()).unwrap();
        let all = |method| prices(&problem, &Settings::new(method), &solution, None).unwrap();
        for (truth, found) in all(Method::Exhaustive).iter().zip(all(Method::BestFirst)) {
            prop_assert_eq!(found.status, Status::Optimal, "{}: {:?}, k {}", name, data, k);
            prop_assert!(close(found.objective, truth.objective), "{name}: {data:?}, k {k}: {found:?}, not {truth:?}");
        }
    }
}

/// Number of nodes of all prices.
fn nodes(prices: &[Price]) -> u64 {
    prices.iter().map(|price| price.nodes).sum()
}

fn priced(data: &Data, loss: &str) -> Vec<Price> {
    let problem = data.problem(loss, 6);
    let solution = solve(&problem, &Settings::default()).unwrap();
    prices(&problem, &Settings::default(), &solution, None).unwrap()
}

#[test]
fn copies_at_most_double_the_nodes() {
    for name in ["quadratic", "huber", "logistic"] {
        let (plain, copied) = hard(name);
        let (without, with) = (priced(&plain, name), priced(&copied, name));
        assert!(
            nodes(&with) <= 2 * nodes(&without),
            "{name}: {} nodes, {} without copies",
            nodes(&with),
            nodes(&without)
        );
        for (with, without) in with.iter().zip(&without) {
            assert_eq!(with.status, Status::Optimal, "{name}: {with:?}");
            // The copy replaces a copied column.
            let is_copied = [0, 8, 12].contains(&with.feature);
            if with.chosen && is_copied {
                assert_eq!(
                    (with.nodes, with.cost < 1e-9),
                    (0, true),
                    "{name}: {with:?}"
                );
            } else {
                assert!(close(with.objective, without.objective), "{name}: {with:?}");
            }
        }
        for (copy, column) in [(24, 0), (25, 8), (26, 12)] {
            let (copy, column) = (&with[copy], &with[column]);
            assert_eq!(copy.status, Status::Optimal, "{name}: {copy:?}");
            let other = if column.chosen { 0.0 } else { column.cost };
            assert!(
                (copy.cost - other).abs() <= 1e-8 * copy.objective,
                "{name}: {copy:?}"
            );
        }
    }
}

/// Without scaling, a shorter column can replace a longer one only at a cost.
#[test]
fn a_shorter_copy_has_a_price_of_its_own() {
    let (plain, _) = hard("quadratic");
    let mut data = Data {
        standardize: false,
        ridge: 0.05,
        ..plain
    };
    let shorter = data.columns[0].iter().map(|v| 0.4 * v).collect();
    data.columns.truncate(12);
    data.columns.push(shorter);
    let problem = data.problem("quadratic", 4);
    let solution = solve(&problem, &Settings::default()).unwrap();
    let sets = data.sets(4);
    for price in prices(&problem, &Settings::default(), &solution, None).unwrap() {
        assert_eq!(price.status, Status::Optimal, "{price:?}");
        assert!(close(price.objective, truth(&sets, &price)), "{price:?}");
    }
}

/// Prices with copies resume from each of their checkpoints.
#[test]
fn checkpoints_of_prices_with_copies_resume() {
    let (_, copied) = hard("quadratic");
    let problem = copied.problem("quadratic", 4);
    let settings = Settings::default();
    let mut last = None;
    let keep = Box::new(|checkpoint: &Checkpoint| last = Some(checkpoint.clone()));
    let solution = Run::new(&problem, &settings)
        .save(Duration::from_secs(60), keep)
        .solve()
        .unwrap();
    let truth = prices(&problem, &settings, &solution, None).unwrap();
    let mut saved: Vec<Checkpoint> = Vec::new();
    let keep = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.clone()));
    let whole = PriceRun::new(&problem, &settings, &solution)
        .resume(last.unwrap())
        .save(Duration::ZERO, keep)
        .solve()
        .unwrap();
    assert_eq!(whole, truth);
    assert!(saved.len() > 10, "{}", saved.len());
    for from in saved.iter().step_by(saved.len() / 6 + 1) {
        let from = Checkpoint::decode(&from.encode()).unwrap();
        let run = PriceRun::new(&problem, &settings, &solution).resume(from);
        for (found, truth) in run.solve().unwrap().iter().zip(&truth) {
            assert_eq!((found.feature, found.status), (truth.feature, truth.status));
            assert!(
                close(found.objective, truth.objective),
                "{found:?} {truth:?}"
            );
            assert_eq!(found.support, truth.support);
        }
    }
}

/// A copy with other bounds counts as another column.
#[test]
fn prices_respect_the_bounds_of_copies() {
    let column = [1.0, 2.0, 4.0, 3.0, -1.0, 0.5];
    let other = [0.0, 1.0, 0.0, 2.0, 1.5, -2.0];
    let design = Design::dense(6, 3, [column, other, column].concat()).unwrap();
    let response = column.iter().map(|v| 1.0 - v).collect();
    let builder = Problem::builder(design, response).k(1).ridge(0.1);
    let problem = builder.nonnegative(vec![2]).build().unwrap();
    let solution = solve(&problem, &Settings::default()).unwrap();
    let all = |method| prices(&problem, &Settings::new(method), &solution, None).unwrap();
    for (truth, found) in all(Method::Exhaustive).iter().zip(all(Method::BestFirst)) {
        assert_eq!(found.status, Status::Optimal);
        assert!(
            close(found.objective, truth.objective),
            "{found:?}, not {truth:?}"
        );
    }
}
