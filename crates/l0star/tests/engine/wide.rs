//! Prices of problems with more columns than a Gram matrix may have.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::Random;
use l0star::internals::Restricted;
use l0star::{Checkpoint, Design, Price, PriceRun, Problem, Settings, Solution, loss, solve};

const ROWS: usize = 20;
const COLUMNS: usize = 3005;

/// A problem in which two columns matter.
fn wide(name: &str) -> Problem {
    let mut random = Random::new(3);
    let values: Vec<f64> = (0..ROWS * COLUMNS).map(|_| random.normal()).collect();
    let column = |j: usize| &values[j * ROWS..(j + 1) * ROWS];
    let signal = |i: usize| 4.0 * column(10)[i] - 3.0 * column(2000)[i];
    let response = (0..ROWS).map(|i| signal(i) + 0.1 * random.normal());
    let response = response.map(|b| if name == "logistic" { b.signum() } else { b });
    let response: Vec<f64> = response.collect();
    let design = Design::dense(ROWS, COLUMNS, values.clone()).unwrap();
    let builder = Problem::builder(design, response)
        .standardize(false)
        .k(2)
        .ridge(0.5);
    let loss = loss::by_name(name, 1.0).unwrap();
    builder.loss(loss).build().unwrap()
}

/// The prices that are known after this many checkpoints.
fn interrupted(problem: &Problem, best: &Solution, after: usize) -> Vec<Price> {
    let flag = Arc::new(AtomicBool::new(after == 0));
    let settings = Settings {
        interrupt: Some(Arc::clone(&flag)),
        ..Settings::default()
    };
    let mut count = 0;
    let sink = |_: &Checkpoint| {
        count += 1;
        flag.store(count >= after, Ordering::Relaxed);
    };
    let run = PriceRun::new(problem, &settings, best).save(Duration::ZERO, Box::new(sink));
    run.solve().unwrap()
}

#[test]
fn intervals_hold_the_prices_of_wide_problems_wherever_they_are_stopped() {
    for name in ["quadratic", "huber", "logistic"] {
        let problem = wide(name);
        let best = solve(&problem, &Settings::default()).unwrap();
        for after in [0, 5, 50] {
            let found = interrupted(&problem, &best, after);
            assert_eq!(found.len(), COLUMNS);
            let mut restricted = Restricted::new(&problem);
            for j in [0, 10, 77, 2000, 3004] {
                let price = &found[j];
                assert_eq!(price.feature, j);
                let with = |i: usize| {
                    if price.chosen {
                        vec![best.support[usize::from(best.support[0] == j)], i]
                    } else {
                        vec![j, i]
                    }
                };
                let others = (0..COLUMNS).filter(|i| *i != j);
                // Without the chosen feature, the other one need not be in; then this is an upper bound.
                let truth = others
                    .map(|i| {
                        let mut support = with(i);
                        support.sort_unstable();
                        support.dedup();
                        restricted.fit(&support).objective
                    })
                    .fold(f64::INFINITY, f64::min);
                let slack = 1e-12 * truth;
                assert!(price.lower_bound <= truth + slack, "{name} {j}: {price:?}");
                if !price.chosen {
                    assert!(price.objective >= truth - slack, "{name} {j}: {price:?}");
                }
            }
        }
    }
}
