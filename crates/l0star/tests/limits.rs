//! A search that is stopped says why, and what it had proved by then holds.
#![allow(missing_docs)]

mod common;

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{Random, hard, random_case};
use l0star::relaxation::pdal::{self, Pdal};
use l0star::relaxation::rows::NewtonRows;
use l0star::relaxation::sga::Sga;
use l0star::restricted::Restricted;
use l0star::search::binary::BinaryTree;
use l0star::search::paper::OrderedTree;
use l0star::search::{Context, Event, News, Phase, Progress, Search, Tree};
use l0star::{
    Design, Error, Ideas, Method, Problem, RelaxationKind, Settings, Solution, Status, loss, solve,
    solve_observed,
};

fn paper() -> Settings {
    Settings::new(Method::Paper)
}

/// Both searches.
fn searches() -> [Settings; 2] {
    [paper(), Settings::new(Method::BestFirst)]
}

/// The unlimited run, which takes many nodes.
fn unlimited(problem: &Problem, settings: &Settings) -> Solution {
    let truth = solve(problem, settings).unwrap();
    assert_eq!(truth.status, Status::Optimal);
    assert!(
        truth.nodes >= 50,
        "only {} nodes: too easy for {}",
        truth.nodes,
        settings.method
    );
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
        found.objective <= problem.objective(&[]) * (1.0 + 1e-12),
        "{status}: {} above the null model",
        found.objective
    );
    assert!(found.support.len() <= problem.k());
    assert!(found.nodes < truth.nodes);
}

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
            // The interrupt comes first.
            time_limit: Some(Duration::ZERO),
            node_limit: Some(0),
            ..base
        };
        let found = solve(&problem, &settings).unwrap();
        check_stopped(&problem, &found, &truth, Status::Interrupted);
        assert_eq!(found.nodes, 0);
    }
}

/// A run with this many bytes for open nodes.
fn with_memory(problem: &Problem, base: &Settings, bytes: u64) -> Solution {
    let settings = Settings {
        memory_limit: Some(bytes),
        ..base.clone()
    };
    solve(problem, &settings).unwrap()
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
        // The node in hand is taken back to the frontier, not lost.
        assert_eq!(found.nodes, at.get() + 1, "{name}");
        assert!(found.lower_bound.unwrap() > 0.0, "{name}");
    }
}

/// The default search on so many threads.
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
        let short = with_memory(&problem, &with_threads(2), 60_000);
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
    // The first model is found before there is more than one thread.
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
        .build()
        .unwrap();
    for order in [[0, 1], [1, 0]] {
        let mut context = Context::new(&problem, &Settings::default());
        let [a, b] = order.map(|j| context.try_support(&[j]));
        assert_eq!(a, b);
        assert_eq!(context.incumbent().unwrap().support, [0]);
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
    // The first time the root phase is the Gram matrix, the second time the root frame.
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

/// Every third step is stopped once, and taken again.
fn stop_and_step_on<T: Tree>(problem: &Problem, base: &Settings, tree: T) {
    let truth = unlimited(problem, base);
    let flag = Arc::new(AtomicBool::new(false));
    let settings = Settings {
        interrupt: Some(Arc::clone(&flag)),
        ..base.clone()
    };
    let mut search = Search::new(Context::new(problem, &settings), tree);
    let (mut steps, mut stops) = (0, 0);
    loop {
        let stop = steps % 3 == 2;
        flag.store(stop, Ordering::Relaxed);
        let before = (search.open(), search.lower_bound().value());
        let mut progress = search.step();
        if stop && progress != Progress::Done {
            assert_eq!(progress, Progress::Stopped(Status::Interrupted));
            assert_eq!((search.open(), search.lower_bound().value()), before);
            stops += 1;
            flag.store(false, Ordering::Relaxed);
            progress = search.step();
        }
        match progress {
            Progress::Running => steps += 1,
            Progress::Done => break,
            Progress::Stopped(status) => panic!("stopped by {status}"),
        }
    }
    assert!(stops >= 10, "only {stops} stops");
    let bound = search.lower_bound();
    let found = search.into_context().solution(&settings, None, Some(bound));
    assert_eq!(found.status, Status::Optimal);
    assert_eq!(found.support, truth.support);
    assert_eq!(found.objective, truth.objective);
    assert_eq!(found.nodes, truth.nodes);
}

#[test]
fn an_interrupted_search_can_be_stepped_on_to_the_same_optimum() {
    let problem = hard("quadratic");
    let [ordered, binary] = searches();
    let pdal = Pdal::new(&problem, pdal::EPSILON);
    stop_and_step_on(&problem, &ordered, OrderedTree::new(pdal, true, true));
    // The engine takes quadratic problems over from this tree.
    let labels = hard("logistic");
    let tree = BinaryTree::new(NewtonRows::new(&labels, Ideas::default()));
    stop_and_step_on(&labels, &binary, tree);
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
        // What ties with the incumbent may be dropped with evidence that much below it.
        assert!(
            pair[1] >= pair[0] - 1e-9 * best.max(1e-12),
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
    for name in loss::NAMES {
        let problem = hard(name);
        let tree = OrderedTree::new(Pdal::new(&problem, pdal::EPSILON), true, true);
        step_by_hand(&problem, &paper(), tree, name);
        let tree = BinaryTree::new(Pdal::new(&problem, pdal::EPSILON));
        step_by_hand(&problem, &paper(), tree, name);
    }
}

/// Searches of small problems of every kind. The seeds at the end have nodes whose relaxation ends below its best
/// bound, so that a child's own bound is far below its parent's.
fn step_small_problems(warm: bool, pruning: bool) {
    for name in loss::NAMES {
        for seed in (0..60).chain([278, 377, 681, 843, 907, 917]) {
            let case = random_case(seed, name);
            let problem = &case.problem;
            let words = format!("warm {warm}, pruning {pruning}, {}", case.words);
            let tree = OrderedTree::new(Pdal::new(problem, pdal::EPSILON), warm, pruning);
            step_by_hand(problem, &paper(), tree, &format!("pdal, {words}"));
            let tree = OrderedTree::new(Sga::new(problem, 1e-5), warm, pruning);
            step_by_hand(problem, &paper(), tree, &format!("sga, {words}"));
        }
    }
}

#[test]
fn in_the_binary_tree_the_bound_of_any_problem_only_rises() {
    for name in loss::NAMES {
        for seed in (0..60).chain([278, 377, 681, 843, 907, 917]) {
            let case = random_case(seed, name);
            let tree = BinaryTree::new(Pdal::new(&case.problem, pdal::EPSILON));
            step_by_hand(&case.problem, &paper(), tree, &case.words);
        }
    }
}

#[test]
fn with_warm_starts_the_bound_of_any_problem_only_rises() {
    step_small_problems(true, true);
}

#[test]
fn with_cold_starts_the_bound_of_any_problem_only_rises() {
    step_small_problems(false, true);
}

#[test]
fn without_pruning_the_bound_of_any_problem_only_rises() {
    step_small_problems(true, false);
}

#[test]
fn announced_incumbents_fall_and_announced_bounds_rise() {
    for (name, settings) in loss::NAMES.iter().zip(searches().into_iter().cycle()) {
        let problem = hard(name);
        let incumbents: RefCell<Vec<f64>> = RefCell::default();
        let bounds: RefCell<Vec<(f64, u64)>> = RefCell::default();
        let observer = Box::new(|event: &Event| match event.news {
            News::Incumbent { .. } => incumbents.borrow_mut().push(event.objective),
            News::Bound => {
                assert!(event.open >= 1, "{name}: a bound of nothing");
                bounds.borrow_mut().push((event.lower_bound, event.nodes));
            }
            News::Phase | News::Tick => {}
        });
        let found = solve_observed(&problem, &settings, observer).unwrap();
        let (incumbents, bounds) = (incumbents.into_inner(), bounds.into_inner());
        assert!(
            incumbents.windows(2).all(|pair| pair[1] < pair[0]),
            "{name}: {incumbents:?}"
        );
        assert_eq!(incumbents.last(), Some(&found.objective), "{name}");
        assert!(bounds.len() > 10, "{name}: {} bounds", bounds.len());
        assert!(
            bounds
                .windows(2)
                .all(|pair| pair[1].0 > pair[0].0 && pair[1].1 >= pair[0].1),
            "{name}: {bounds:?}"
        );
        let last = bounds.last().unwrap().0;
        assert!(last <= found.objective * (1.0 + 1e-14), "{name}: {last}");
    }
}

#[test]
fn every_announced_incumbent_is_the_objective_of_its_support() {
    let problem = hard("squared-hinge");
    for settings in searches() {
        let seen: RefCell<Vec<(f64, Vec<usize>)>> = RefCell::default();
        let observer = Box::new(|event: &Event| {
            if let News::Incumbent { support } = event.news {
                seen.borrow_mut().push((event.objective, support.to_vec()));
            }
        });
        solve_observed(&problem, &settings, observer).unwrap();
        let seen = seen.into_inner();
        assert!(!seen.is_empty());
        for (objective, support) in seen {
            assert!(support.len() <= problem.k(), "{support:?}");
            let fit = Restricted::new(&problem).fit(&support);
            // Incumbents are evaluated in doubled precision, a fit in plain floats.
            let rounding = 1e-12 * objective;
            assert!((fit.objective - objective).abs() <= rounding, "{support:?}");
        }
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
