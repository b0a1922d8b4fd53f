//! A search that is stopped says why, and what it had proved by then holds.
#![allow(missing_docs)]

mod common;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{Random, random_case};
use l0star::relaxation::pdal::Pdal;
use l0star::relaxation::sga::Sga;
use l0star::search::paper::OrderedTree;
use l0star::search::{Context, Event, Progress, Search, Tree};
use l0star::{
    Design, Error, Method, Problem, RelaxationKind, Settings, Solution, Status, loss, solve,
    solve_observed,
};

/// Correlated columns and much noise: d = 25, k = 5, and no bound that settles it at the root.
fn hard(name: &str) -> Problem {
    let mut random = Random::new(11);
    let (n, d) = (40, 25);
    let common: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let columns: Vec<Vec<f64>> = (0..d)
        .map(|_| common.iter().map(|c| c + random.normal()).collect())
        .collect();
    let mut b: Vec<f64> = (0..n)
        .map(|i| {
            let signal: f64 = (0..5).map(|j| columns[j][i]).sum();
            signal + 3.0 * random.normal()
        })
        .collect();
    if matches!(name, "logistic" | "squared-hinge") {
        b.iter_mut().for_each(|b| *b = b.signum());
    }
    let design = Design::dense(n, d, columns.concat()).unwrap();
    Problem::builder(design, b)
        .loss(loss::by_name(name, 1.0).unwrap())
        .ridge(0.02)
        .k(5)
        .build()
        .unwrap()
}

fn paper() -> Settings {
    Settings::new(Method::Paper)
}

/// The unlimited run, which takes many nodes.
fn unlimited(problem: &Problem, settings: &Settings) -> Solution {
    let truth = solve(problem, settings).unwrap();
    assert_eq!(truth.status, Status::Optimal);
    assert!(truth.nodes >= 50, "only {} nodes: too easy", truth.nodes);
    truth
}

/// What is claimed holds, and no less than what a null model would be is delivered.
fn check_stopped(problem: &Problem, found: &Solution, truth: &Solution, status: Status) {
    assert_eq!(found.status, status);
    assert!(found.status.stopped_early());
    let bound = found.lower_bound.unwrap();
    assert!(
        bound <= truth.objective,
        "{status}: bound {bound} above the optimum {}",
        truth.objective
    );
    assert!(bound >= 0.0, "{status}: bound {bound}");
    assert!(
        found.objective >= truth.objective * (1.0 - 1e-12),
        "{status}: {} below the optimum {}",
        found.objective,
        truth.objective
    );
    assert!(
        found.objective <= problem.objective(&[]),
        "{status}: {} above the null model",
        found.objective
    );
    assert!(found.support.len() <= problem.k());
    assert!(found.nodes < truth.nodes);
}

#[test]
fn a_node_limit_stops_after_exactly_that_many_nodes() {
    for name in ["quadratic", "logistic"] {
        let problem = hard(name);
        for relaxation in [RelaxationKind::Pdal, RelaxationKind::Sga] {
            let base = Settings {
                relaxation,
                ..paper()
            };
            let truth = unlimited(&problem, &base);
            for limit in [0, 1, 7, truth.nodes / 2] {
                let settings = Settings {
                    node_limit: Some(limit),
                    ..base.clone()
                };
                let found = solve(&problem, &settings).unwrap();
                check_stopped(&problem, &found, &truth, Status::NodeLimit);
                assert_eq!(found.nodes, limit, "{name}, {relaxation}");
            }
        }
    }
}

#[test]
fn a_node_limit_that_is_not_reached_changes_nothing() {
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &paper());
    let settings = Settings {
        node_limit: Some(truth.nodes + 1),
        memory_limit: Some(u64::MAX),
        time_limit: Some(Duration::MAX),
        interrupt: Some(Arc::new(AtomicBool::new(false))),
        ..paper()
    };
    let found = solve(&problem, &settings).unwrap();
    let found = Solution {
        seconds: truth.seconds,
        ..found
    };
    assert_eq!(found, truth);
}

#[test]
fn a_time_limit_of_zero_returns_the_null_model_at_once() {
    let problem = hard("quadratic");
    for relaxation in [RelaxationKind::Pdal, RelaxationKind::Sga] {
        let base = Settings {
            relaxation,
            ..paper()
        };
        let truth = unlimited(&problem, &base);
        let settings = Settings {
            time_limit: Some(Duration::ZERO),
            ..base
        };
        let found = solve(&problem, &settings).unwrap();
        check_stopped(&problem, &found, &truth, Status::TimeLimit);
        assert_eq!((found.nodes, found.support.len()), (0, 0));
        assert_eq!(found.objective, problem.objective(&[]));
        assert_eq!(found.lower_bound, Some(0.0));
    }
}

#[test]
fn an_interrupt_set_beforehand_stops_at_once() {
    let problem = hard("logistic");
    let truth = unlimited(&problem, &paper());
    let settings = Settings {
        interrupt: Some(Arc::new(AtomicBool::new(true))),
        // The interrupt comes first.
        time_limit: Some(Duration::ZERO),
        node_limit: Some(0),
        ..paper()
    };
    let found = solve(&problem, &settings).unwrap();
    check_stopped(&problem, &found, &truth, Status::Interrupted);
    assert_eq!(found.nodes, 0);
}

#[test]
fn a_tiny_memory_limit_stops_after_the_root() {
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &paper());
    let found = |limit: u64| {
        let settings = Settings {
            memory_limit: Some(limit),
            ..paper()
        };
        solve(&problem, &settings).unwrap()
    };
    let tiny = found(1);
    check_stopped(&problem, &tiny, &truth, Status::MemoryLimit);
    assert_eq!((tiny.nodes, tiny.peak_open_nodes), (0, 1));
    let larger = found(10_000);
    check_stopped(&problem, &larger, &truth, Status::MemoryLimit);
    assert!(larger.nodes > 0);
    assert!(larger.lower_bound >= tiny.lower_bound);
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
    for name in ["quadratic", "logistic"] {
        let problem = hard(name);
        let truth = unlimited(&problem, &paper());
        let flag = Arc::new(AtomicBool::new(false));
        let settings = Settings {
            interrupt: Some(Arc::clone(&flag)),
            ..paper()
        };
        let at = Cell::new(0);
        let observer = Box::new(|event: &Event| {
            if let Event::Bound { nodes, .. } = event
                && *nodes >= 10
                && !flag.load(Ordering::Relaxed)
            {
                at.set(*nodes);
                flag.store(true, Ordering::Relaxed);
            }
        });
        let found = solve_observed(&problem, &settings, observer).unwrap();
        check_stopped(&problem, &found, &truth, Status::Interrupted);
        assert!(at.get() >= 10, "{name}: the flag was never set");
        // The node in hand is taken back to the frontier, not lost.
        assert_eq!(found.nodes, at.get() + 1, "{name}");
        assert!(found.lower_bound.unwrap() > 0.0, "{name}");
    }
}

#[test]
fn an_interrupted_search_can_be_stepped_on_to_the_same_optimum() {
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &paper());
    let flag = Arc::new(AtomicBool::new(false));
    let settings = Settings {
        interrupt: Some(Arc::clone(&flag)),
        ..paper()
    };
    let context = Context::new(&problem, &settings);
    let mut search = Search::new(
        context,
        OrderedTree::new(Pdal::new(&problem, 1e-5), true, true),
    );
    let mut stops = 0;
    let mut steps = 0;
    loop {
        // Every third step is stopped once.
        flag.store(steps % 3 == 0, Ordering::Relaxed);
        let before = (search.open(), search.lower_bound().value());
        match search.step() {
            Progress::Running => {}
            Progress::Stopped(status) => {
                assert_eq!(status, Status::Interrupted);
                assert_eq!((search.open(), search.lower_bound().value()), before);
                flag.store(false, Ordering::Relaxed);
                stops += 1;
                if search.step() == Progress::Done {
                    break;
                }
            }
            Progress::Done => break,
        }
        steps += 1;
    }
    assert!(stops >= 10, "only {stops} stops");
    let bound = search.lower_bound();
    let found = search.into_context().solution(&settings, None, Some(bound));
    assert_eq!(found.status, Status::Optimal);
    assert_eq!(found.support, truth.support);
    assert_eq!(found.objective, truth.objective);
}

/// Steps a search by hand: the bound only rises, and never above the objective in the end.
fn step_by_hand<T: Tree>(problem: &Problem, settings: &Settings, tree: T, words: &str) {
    let mut search = Search::new(Context::new(problem, settings), tree);
    let mut bounds = vec![search.lower_bound().value()];
    assert_eq!(bounds[0], 0.0, "{words}: a bound before the first step");
    assert_eq!(search.open(), 0, "{words}");
    loop {
        let progress = search.step();
        bounds.push(search.lower_bound().value());
        match progress {
            Progress::Running => {}
            Progress::Done => break,
            Progress::Stopped(status) => panic!("{words}: stopped by {status} without a limit"),
        }
    }
    let best = search.context().best();
    for (step, pair) in bounds.windows(2).enumerate() {
        // A child's bound is evaluated anew: it may round differently from its parent's.
        assert!(
            pair[1] >= pair[0] - 1e-9 * best,
            "{words}: the bound falls from {} to {} in step {step}, objective {best}",
            pair[0],
            pair[1]
        );
    }
    for bound in &bounds {
        assert!(
            *bound <= best * (1.0 + 1e-14),
            "{words}: bound {bound} above {best}"
        );
    }
    // Once it is over, it stays over.
    assert_eq!(search.step(), Progress::Done, "{words}");
    let bound = search.lower_bound();
    assert_eq!(
        bound.value(),
        *bounds.last().unwrap(),
        "{words}: a step after the end"
    );
    let found = search.into_context().solution(settings, None, Some(bound));
    assert_eq!(found.status, Status::Optimal, "{words}");
    assert_eq!(found.objective, best, "{words}");
}

#[test]
fn stepping_by_hand_the_bound_only_rises_and_stays_below_the_objective() {
    let settings = paper();
    for name in loss::NAMES {
        let hard = hard(name);
        let tree = OrderedTree::new(Pdal::new(&hard, 1e-5), true, true);
        step_by_hand(&hard, &settings, tree, name);
        for seed in 0..60 {
            let case = random_case(seed, name);
            let tree = OrderedTree::new(Pdal::new(&case.problem, 1e-5), true, true);
            step_by_hand(&case.problem, &settings, tree, &case.words);
            let tree = OrderedTree::new(Sga::new(&case.problem, 1e-5), true, true);
            step_by_hand(
                &case.problem,
                &settings,
                tree,
                &format!("sga, {}", case.words),
            );
        }
    }
}

#[test]
fn with_cold_starts_too_the_bound_only_rises() {
    let settings = paper();
    for name in loss::NAMES {
        for seed in 0..60 {
            let case = random_case(seed, name);
            let tree = OrderedTree::new(Pdal::new(&case.problem, 1e-5), false, true);
            step_by_hand(
                &case.problem,
                &settings,
                tree,
                &format!("cold, {}", case.words),
            );
        }
    }
}

#[test]
fn announced_incumbents_fall_and_announced_bounds_rise() {
    for name in loss::NAMES {
        let problem = hard(name);
        let incumbents: RefCell<Vec<f64>> = RefCell::default();
        let bounds: RefCell<Vec<(f64, u64)>> = RefCell::default();
        let observer = Box::new(|event: &Event| match event {
            Event::Incumbent { objective, support } => {
                assert!(support.len() <= 5, "{name}: {support:?}");
                incumbents.borrow_mut().push(*objective);
            }
            Event::Bound {
                lower_bound,
                open,
                nodes,
            } => {
                assert!(*open >= 1, "{name}: a bound of nothing");
                bounds.borrow_mut().push((*lower_bound, *nodes));
            }
        });
        let found = solve_observed(&problem, &paper(), observer).unwrap();
        let (incumbents, bounds) = (incumbents.into_inner(), bounds.into_inner());
        assert!(
            incumbents.windows(2).all(|pair| pair[1] < pair[0]),
            "{name}"
        );
        assert_eq!(incumbents.last(), Some(&found.objective), "{name}");
        assert!(bounds.len() > 10, "{name}: {} bounds", bounds.len());
        assert!(
            bounds
                .windows(2)
                .all(|pair| pair[1].0 > pair[0].0 && pair[1].1 >= pair[0].1),
            "{name}"
        );
        let last = bounds.last().unwrap().0;
        assert!(last <= found.objective * (1.0 + 1e-14), "{name}: {last}");
    }
}

#[test]
fn every_announced_incumbent_is_the_objective_of_its_support() {
    let problem = hard("squared-hinge");
    let seen: RefCell<Vec<(f64, Vec<usize>)>> = RefCell::default();
    let observer = Box::new(|event: &Event| {
        if let Event::Incumbent { objective, support } = event {
            seen.borrow_mut().push((*objective, support.to_vec()));
        }
    });
    solve_observed(&problem, &paper(), observer).unwrap();
    let seen = seen.into_inner();
    assert!(!seen.is_empty());
    for (objective, support) in seen {
        let fit = l0star::restricted::Restricted::new(&problem).fit(&support);
        assert_eq!(fit.objective, objective, "{support:?}");
    }
}

/// The first `d` of random columns, `k` of them to be chosen.
fn wide(d: usize, k: usize) -> Problem {
    let mut random = Random::new(5);
    let n = 4;
    let values = (0..n * d).map(|_| random.normal()).collect();
    let b = (0..n).map(|_| random.normal()).collect();
    Problem::builder(Design::dense(n, d, values).unwrap(), b)
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
    // So many that they cannot be counted.
    let error = solve(&wide(400, 200), &settings).unwrap_err();
    assert!(matches!(error, Error::TooManySupports { .. }), "{error:?}");
    // As few as there are of k, there are of d - k.
    let found = solve(&wide(60, 59), &settings).unwrap();
    assert_eq!((found.nodes, found.status), (60, Status::Optimal));
}

#[test]
fn a_gap_that_is_no_error_to_allow_is_refused_by_every_method() {
    let problem = wide(5, 2);
    for word in Method::WORDS {
        for gap in [-1.0, -f64::MIN_POSITIVE, f64::NAN, f64::INFINITY] {
            let settings = Settings {
                gap,
                ..Settings::new(word.parse().unwrap())
            };
            let message = solve(&problem, &settings).unwrap_err().to_string();
            for word in ["gap", &gap.to_string(), ">= 0"] {
                assert!(message.contains(word), "'{word}' is not in: {message}");
            }
        }
    }
}

#[test]
fn an_allowed_gap_ends_the_search_earlier_with_that_status() {
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &paper());
    let gap = 0.05 * truth.objective;
    let found = solve(&problem, &Settings { gap, ..paper() }).unwrap();
    assert_eq!(found.status, Status::GapReached);
    assert!(!found.status.stopped_early());
    assert!(found.nodes < truth.nodes);
    assert!(found.gap().unwrap() <= gap);
    assert!(found.lower_bound.unwrap() <= truth.objective);
    assert!(found.objective <= truth.objective + gap);
}
#[test]
fn zz_probe() {
    for (label, sga, warm) in [
        ("pdal warm", false, true),
        ("sga warm", true, true),
        ("pdal cold", false, false),
        ("sga cold", true, false),
    ] {
        for name in loss::NAMES {
            let (mut worst, mut which, mut drops) = (0.0f64, String::new(), 0);
            for seed in 0..1500 {
                let case = random_case(seed, name);
                let s = paper();
                macro_rules! go {
                    ($t:expr) => {{
                        let mut search = Search::new(Context::new(&case.problem, &s), $t);
                        let mut last = 0.0f64;
                        let mut drop = 0.0f64;
                        loop {
                            let p = search.step();
                            let b = search.lower_bound().value();
                            drop = drop.max(last - b);
                            last = b;
                            if p != Progress::Running {
                                break;
                            }
                        }
                        let best = search.context().best();
                        let rel = drop / best.max(1e-12);
                        if rel > 1e-9 {
                            drops += 1;
                        }
                        if rel > worst {
                            worst = rel;
                            which = case.words.clone();
                        }
                    }};
                }
                if sga {
                    go!(OrderedTree::new(Sga::new(&case.problem, 1e-5), warm, true))
                } else {
                    go!(OrderedTree::new(Pdal::new(&case.problem, 1e-5), warm, true))
                }
            }
            println!("PROBE {label} {name}: worst drop {worst:e}, {drops} cases: {which}");
        }
    }
}
#[test]
fn zz_nodes() {
    for name in loss::NAMES {
        for (ridge, noise, n) in [
            (0.02, 3.0, 40),
            (0.002, 3.0, 40),
            (0.0005, 3.0, 40),
            (0.002, 6.0, 60),
            (0.0005, 6.0, 60),
        ] {
            let p = hard2(name, ridge, noise, n);
            for relaxation in [RelaxationKind::Pdal, RelaxationKind::Sga] {
                let t = std::time::Instant::now();
                let s = solve(
                    &p,
                    &Settings {
                        relaxation,
                        ..paper()
                    },
                )
                .unwrap();
                print!(
                    "NODES {name} ridge {ridge} noise {noise} n {n} {relaxation}: {} nodes {} calls {:?}; ",
                    s.nodes,
                    s.solver_calls,
                    t.elapsed()
                );
                for g in [0.01, 0.05, 0.1, 0.2, 0.4] {
                    let f = solve(
                        &p,
                        &Settings {
                            relaxation,
                            gap: g * s.objective,
                            ..paper()
                        },
                    )
                    .unwrap();
                    print!(
                        "{g}: {} {} {:.3} | ",
                        f.status,
                        f.nodes,
                        f.gap().unwrap() / s.objective
                    );
                }
                println!();
            }
        }
    }
}
fn hard2(name: &str, ridge: f64, noise: f64, n: usize) -> Problem {
    let mut random = Random::new(11);
    let d = 25;
    let common: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let columns: Vec<Vec<f64>> = (0..d)
        .map(|_| common.iter().map(|c| c + random.normal()).collect())
        .collect();
    let mut b: Vec<f64> = (0..n)
        .map(|i| {
            let signal: f64 = (0..5).map(|j| columns[j][i]).sum();
            signal + noise * random.normal()
        })
        .collect();
    if matches!(name, "logistic" | "squared-hinge") {
        b.iter_mut().for_each(|b| *b = b.signum());
    }
    let design = Design::dense(n, d, columns.concat()).unwrap();
    Problem::builder(design, b)
        .loss(loss::by_name(name, 1.0).unwrap())
        .ridge(ridge)
        .k(5)
        .build()
        .unwrap()
}
