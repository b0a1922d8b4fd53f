//! A search that is stopped gives the reason, and the bound that it had proved holds.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::stopped::{check_stopped, paper, searches, unlimited, with_memory};
use crate::common::{Random, hard, random_case};
use l0star::search::{Event, News, Phase};
use l0star::{
    Design, Error, Method, Problem, RelaxationKind, Settings, Solution, Status, solve,
    solve_observed,
};

#[test]
fn a_node_limit_stops_after_exactly_that_many_nodes() {
    let sga = Settings {
        relaxation: RelaxationKind::Sga,
        ..paper()
    };
    let [ordered, binary] = searches();
    for (name, base) in [
        ("quadratic", ordered.clone()),
        ("quadratic", binary.clone()),
        ("quadratic", sga),
        ("logistic", ordered),
        ("logistic", binary),
    ] {
        let problem = hard(name);
        let truth = unlimited(&problem, &base);
        for limit in [0, 1, 7, truth.nodes / 2] {
            let settings = Settings {
                node_limit: Some(limit),
                ..base.clone()
            };
            let found = solve(&problem, &settings).unwrap();
            check_stopped(&problem, &found, &truth, Status::NodeLimit);
            assert_eq!(found.nodes, limit, "{name}, {}", base.method);
        }
    }
}

#[test]
fn a_node_limit_that_is_not_reached_changes_nothing() {
    let problem = hard("quadratic");
    for base in searches() {
        let truth = unlimited(&problem, &base);
        let settings = Settings {
            node_limit: Some(truth.nodes + 1),
            memory_limit: Some(u64::MAX),
            time_limit: Some(Duration::MAX),
            interrupt: Some(Arc::new(AtomicBool::new(false))),
            ..base
        };
        let found = solve(&problem, &settings).unwrap();
        let found = Solution {
            seconds: truth.seconds,
            ..found
        };
        assert_eq!(found, truth);
    }
}

#[test]
fn a_time_limit_of_zero_returns_the_null_model_at_once() {
    let problem = hard("quadratic");
    let sga = Settings {
        relaxation: RelaxationKind::Sga,
        ..paper()
    };
    for base in searches().into_iter().chain([sga]) {
        let truth = unlimited(&problem, &base);
        let settings = Settings {
            time_limit: Some(Duration::ZERO),
            ..base
        };
        let found = solve(&problem, &settings).unwrap();
        check_stopped(&problem, &found, &truth, Status::TimeLimit);
        assert_eq!((found.nodes, found.support.len()), (0, 0));
        let null = problem.objective(&[]);
        assert!((found.objective - null).abs() <= 1e-12 * null);
        assert_eq!(found.lower_bound, Some(0.0));
    }
}

#[test]
fn an_interrupt_set_beforehand_stops_at_once() {
    let problem = hard("logistic");
    for base in searches() {
        let truth = unlimited(&problem, &base);
        let settings = Settings {
            interrupt: Some(Arc::new(AtomicBool::new(true))),
            // The interrupt takes precedence.
            time_limit: Some(Duration::ZERO),
            node_limit: Some(0),
            ..base
        };
        let found = solve(&problem, &settings).unwrap();
        check_stopped(&problem, &found, &truth, Status::Interrupted);
        assert_eq!(found.nodes, 0);
    }
}

#[test]
fn a_tiny_memory_limit_stops_after_the_root() {
    let problem = hard("quadratic");
    for base in searches() {
        let truth = unlimited(&problem, &base);
        let tiny = with_memory(&problem, &base, 1);
        check_stopped(&problem, &tiny, &truth, Status::MemoryLimit);
        assert_eq!((tiny.nodes, tiny.peak_open_nodes), (0, 1));
    }
    let truth = unlimited(&problem, &paper());
    let larger = with_memory(&problem, &paper(), 15_000);
    check_stopped(&problem, &larger, &truth, Status::MemoryLimit);
    assert!(larger.nodes > 0);
}

#[test]
fn short_of_memory_the_default_plunges_and_still_proves_the_optimum() {
    for (name, bytes) in [("quadratic", 40_000), ("logistic", 10_000)] {
        let problem = hard(name);
        let base = Settings::new(Method::BestFirst);
        let truth = unlimited(&problem, &base);
        let short = with_memory(&problem, &base, bytes);
        assert_eq!(short.status, Status::Optimal, "{name}");
        assert!((short.objective - truth.objective).abs() <= 1e-9 * truth.objective);
        assert!(short.lower_bound.unwrap() <= truth.objective * (1.0 + 1e-12));
        assert!(
            short.peak_open_nodes < truth.peak_open_nodes,
            "{name}: {} open nodes with little memory, {} with all of it",
            short.peak_open_nodes,
            truth.peak_open_nodes
        );
    }
}

#[test]
fn brute_force_keeps_the_limits_and_then_proves_nothing() {
    let case = random_case(3, "quadratic");
    let problem = case.problem.with_k(2).unwrap();
    let run = |settings: Settings| {
        let settings = Settings {
            method: Method::Exhaustive,
            ..settings
        };
        solve(&problem, &settings).unwrap()
    };
    let truth = run(Settings::default());
    assert_eq!(truth.status, Status::Optimal);
    assert!(truth.nodes > 2, "{}", case.words);
    let found = run(Settings {
        node_limit: Some(2),
        ..Settings::default()
    });
    assert_eq!((found.status, found.nodes), (Status::NodeLimit, 2));
    assert_eq!(found.lower_bound, Some(0.0));
    assert!(found.objective >= truth.objective);
    let found = run(Settings {
        time_limit: Some(Duration::ZERO),
        ..Settings::default()
    });
    assert_eq!((found.status, found.nodes), (Status::TimeLimit, 0));
}

#[test]
fn an_interrupted_heuristic_says_so_and_proves_nothing() {
    let problem = hard("quadratic");
    for method in [Method::Omp, Method::Iht, Method::Htp, Method::Diht] {
        let settings = Settings {
            interrupt: Some(Arc::new(AtomicBool::new(true))),
            ..Settings::new(method)
        };
        let found = solve(&problem, &settings).unwrap();
        assert_eq!(found.status, Status::Interrupted, "{method}");
        assert_eq!(found.lower_bound, None, "{method}");
        assert!(found.support.len() <= problem.k(), "{method}");
    }
}

#[test]
fn an_interrupt_during_the_search_stops_it_there() {
    for (name, base) in ["quadratic", "logistic"].into_iter().zip(searches()) {
        let problem = hard(name);
        let truth = unlimited(&problem, &base);
        let flag = Arc::new(AtomicBool::new(false));
        let settings = Settings {
            interrupt: Some(Arc::clone(&flag)),
            ..base
        };
        let at = Cell::new(0);
        let observer = Box::new(|event: &Event| {
            if event.news == News::Bound && event.nodes >= 10 && !flag.load(Ordering::Relaxed) {
                at.set(event.nodes);
                flag.store(true, Ordering::Relaxed);
            }
        });
        let found = solve_observed(&problem, &settings, observer).unwrap();
        check_stopped(&problem, &found, &truth, Status::Interrupted);
        assert!(at.get() >= 10, "{name}: the flag was never set");
        // No node is begun after the flag is set.
        assert_eq!(found.nodes, at.get(), "{name}");
        assert!(found.lower_bound.unwrap() > 0.0, "{name}");
    }
}

#[test]
fn events_tell_the_phases_in_order_and_what_is_left() {
    for name in ["quadratic", "logistic"] {
        let problem = hard(name);
        let phases: RefCell<Vec<Phase>> = RefCell::default();
        let last: RefCell<(f64, u64, usize)> = RefCell::new((0.0, 0, 25));
        let observer = Box::new(|event: &Event| {
            if event.news == News::Phase {
                phases.borrow_mut().push(event.phase);
            }
            let mut last = last.borrow_mut();
            assert!(
                event.seconds >= last.0 && event.nodes >= last.1 && event.features_left <= last.2
            );
            assert!(event.relative_gap() >= 0.0 && event.nodes_per_second() >= 0.0);
            *last = (event.seconds, event.nodes, event.features_left);
        });
        solve_observed(&problem, &Settings::default(), observer).unwrap();
        let phases = phases.into_inner();
        assert_eq!(phases.last(), Some(&Phase::Search), "{name}");
        assert!(
            phases.contains(&Phase::Heuristic) && phases.contains(&Phase::Root),
            "{name}"
        );
        assert!(phases.windows(2).all(|pair| pair[0] != pair[1]), "{name}");
    }
}

#[test]
fn an_interrupt_ends_the_preparation_too() {
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &Settings::default());
    // The root phase first makes the Gram matrix; the second time, it makes the root frame.
    for (at, has_model) in [(1, false), (2, true)] {
        let flag = Arc::new(AtomicBool::new(false));
        let settings = Settings {
            interrupt: Some(Arc::clone(&flag)),
            ..Settings::default()
        };
        let seen = Cell::new(0);
        let observer = Box::new(|event: &Event| {
            if event.news == News::Phase && event.phase == Phase::Root {
                seen.set(seen.get() + 1);
                if seen.get() == at {
                    flag.store(true, Ordering::Relaxed);
                }
            }
        });
        let found = solve_observed(&problem, &settings, observer).unwrap();
        check_stopped(&problem, &found, &truth, Status::Interrupted);
        assert_eq!((seen.get(), found.nodes), (at, 0));
        assert_eq!(!found.support.is_empty(), has_model);
    }
}

/// The first `d` of random columns, `k` of them to be chosen.
fn wide(d: usize, k: usize) -> Problem {
    let mut random = Random::new(5);
    let n = 4;
    let values = (0..n * d).map(|_| random.normal()).collect();
    let b = (0..n).map(|_| random.normal()).collect();
    Problem::builder(Design::dense(n, d, values).unwrap(), b)
        .standardize(false)
        .k(k)
        .build()
        .unwrap()
}

#[test]
fn brute_force_is_refused_above_a_million_supports() {
    let settings = Settings::new(Method::Exhaustive);
    // binomial(183, 3) = 1,004,731.
    let error = solve(&wide(183, 3), &settings).unwrap_err();
    assert_eq!(
        error,
        Error::TooManySupports {
            supports: 1_004_731,
            limit: 1_000_000
        }
    );
    let message = error.to_string();
    for word in ["1004731", "1000000", "exhaustive", "best-first"] {
        assert!(message.contains(word), "'{word}' is not in: {message}");
    }
    // There are too many supports to be counted.
    let error = solve(&wide(400, 200), &settings).unwrap_err();
    assert!(matches!(error, Error::TooManySupports { .. }), "{error:?}");
    // There are as few supports of size k as of size d - k.
    let found = solve(&wide(60, 59), &settings).unwrap();
    assert_eq!((found.nodes, found.status), (60, Status::Optimal));
}

#[test]
fn a_gap_that_is_no_error_to_allow_is_refused_by_every_method() {
    let problem = wide(5, 2);
    for word in Method::WORDS {
        for gap in [-1.0, -f64::MIN_POSITIVE, f64::NAN, f64::INFINITY] {
            let base = Settings::new(word.parse().unwrap());
            let absolute = Settings {
                gap,
                ..base.clone()
            };
            let relative = Settings {
                relative_gap: gap,
                ..base
            };
            for (name, settings) in [("gap", absolute), ("relative_gap", relative)] {
                let message = solve(&problem, &settings).unwrap_err().to_string();
                for word in [name, &gap.to_string(), ">= 0"] {
                    assert!(message.contains(word), "'{word}' is not in: {message}");
                }
            }
        }
    }
}

#[test]
fn an_allowed_gap_ends_the_search_earlier_with_that_status() {
    let problem = hard("quadratic");
    for base in searches() {
        let truth = unlimited(&problem, &base);
        let gap = 0.2 * truth.objective;
        let found = solve(&problem, &Settings { gap, ..base }).unwrap();
        assert_eq!(found.status, Status::GapReached);
        assert!(!found.status.stopped_early());
        assert!(found.nodes < truth.nodes);
        assert!(found.gap().unwrap() <= gap);
        assert!(found.lower_bound.unwrap() <= truth.objective);
        assert!(found.objective <= truth.objective + gap);
    }
}
