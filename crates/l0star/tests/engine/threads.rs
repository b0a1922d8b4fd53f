//! A search on several threads gives the same answer and keeps the same limits.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::hard;
use crate::common::stopped::{check_stopped, unlimited, with_memory};
use l0star::search::{Context, Event, News};
use l0star::{Design, Problem, Settings, Solution, Status, loss, solve, solve_observed};

/// The settings of the default search on this many threads.
fn with_threads(threads: usize) -> Settings {
    Settings {
        threads: NonZeroUsize::new(threads),
        ..Settings::default()
    }
}

#[test]
fn any_number_of_threads_finds_the_same_objective_and_status() {
    for name in loss::NAMES {
        let problem = hard(name);
        let truth = unlimited(&problem, &Settings::default());
        for threads in [2, 3, 8] {
            let found = solve(&problem, &with_threads(threads)).unwrap();
            assert_eq!(found.status, Status::Optimal, "{name}, {threads} threads");
            assert_eq!(found.support, truth.support, "{name}, {threads} threads");
            assert!((found.objective - truth.objective).abs() <= 1e-12 * truth.objective);
            assert!(found.lower_bound.unwrap() <= truth.objective);
        }
    }
}

#[test]
fn one_thread_is_repeatable_bit_for_bit() {
    for name in loss::NAMES {
        let problem = hard(name);
        let [first, second] = [(); 2].map(|()| {
            let found = solve(&problem, &with_threads(1)).unwrap();
            Solution {
                seconds: 0.0,
                ..found
            }
        });
        assert_eq!(first, second, "{name}");
    }
}

#[test]
fn several_threads_keep_the_limits_too() {
    for name in ["quadratic", "logistic"] {
        let problem = hard(name);
        let truth = unlimited(&problem, &Settings::default());
        for limit in [0, 1, 7, truth.nodes / 2] {
            let settings = Settings {
                node_limit: Some(limit),
                ..with_threads(3)
            };
            let found = solve(&problem, &settings).unwrap();
            check_stopped(&problem, &found, &truth, Status::NodeLimit);
            assert_eq!(found.nodes, limit, "{name}");
        }
        let settings = Settings {
            time_limit: Some(Duration::ZERO),
            ..with_threads(3)
        };
        let found = solve(&problem, &settings).unwrap();
        check_stopped(&problem, &found, &truth, Status::TimeLimit);
        let tiny = with_memory(&problem, &with_threads(3), 1);
        check_stopped(&problem, &tiny, &truth, Status::MemoryLimit);
        let short = with_memory(&problem, &with_threads(2), 120_000);
        assert_eq!(short.status, Status::Optimal, "{name}");
        assert!((short.objective - truth.objective).abs() <= 1e-9 * truth.objective);
    }
}

#[test]
fn an_interrupt_stops_several_threads() {
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &Settings::default());
    let flag = Arc::new(AtomicBool::new(false));
    let settings = Settings {
        interrupt: Some(Arc::clone(&flag)),
        ..with_threads(2)
    };
    // The first model is found while there is only one thread.
    let observer = Box::new(|event: &Event| {
        if matches!(event.news, News::Incumbent { .. }) {
            flag.store(true, Ordering::Relaxed);
        }
    });
    let found = solve_observed(&problem, &settings, observer).unwrap();
    check_stopped(&problem, &found, &truth, Status::Interrupted);
    assert!(!found.support.is_empty());
}

#[test]
fn of_equal_models_the_first_support_is_kept() {
    let column = [1.0, 2.0, -1.0, 0.5];
    let design = Design::dense(4, 2, [column, column].concat()).unwrap();
    let problem = Problem::builder(design, vec![1.0, 2.1, -0.9, 0.4])
        .standardize(false)
        .build()
        .unwrap();
    for order in [[0, 1], [1, 0]] {
        let mut context = Context::new(&problem, &Settings::default());
        let [a, b] = order.map(|j| context.try_support(&[j]));
        assert_eq!(a, b);
        assert_eq!(context.incumbents.first().unwrap().support, [0]);
    }
}

#[test]
fn far_more_threads_than_cores_are_not_started() {
    let most = Settings::most_threads().get();
    assert_eq!(with_threads(1_000_000_000).thread_count(), most);
    assert_eq!(with_threads(1).thread_count(), 1);
    let problem = hard("quadratic");
    let found = solve(&problem, &with_threads(1_000_000_000)).unwrap();
    assert_eq!(found.status, Status::Optimal);
}
