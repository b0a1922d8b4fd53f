//! A search stepped by hand: bounds only rise, stops lose nothing, and events are correct.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::stopped::{paper, searches, unlimited};
use crate::common::{self, hard, random_case};
use l0star::internals::BinaryTree;
use l0star::internals::NewtonRows;
use l0star::internals::OrderedTree;
use l0star::internals::Restricted;
use l0star::internals::Sga;
use l0star::internals::Working;
use l0star::internals::{Pdal, pdal};
use l0star::search::{Context, Event, News, Progress, Search, Tree};
use l0star::{Mechanisms, Method, Problem, Settings, Status, loss, solve, solve_observed};

/// Stops every third step once, and repeats it.
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
    // The engine would solve quadratic problems in another way, not with this tree.
    let labels = hard("logistic");
    let tree = BinaryTree::new(NewtonRows::new(&labels, Mechanisms::default()));
    stop_and_step_on(&labels, &binary, tree);
}

/// Steps a search by hand: the bound only rises, and is never above the final objective.
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
    let best = search.context().incumbents.best();
    for (step, pair) in bounds.windows(2).enumerate() {
        // Nodes that tie with the incumbent may be dropped with evidence that much below it.
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
    // Where only rounding is left of the objective, it may be evaluated again.
    let rounding = 1e-30 * problem.objective(&[]);
    assert!((found.objective - best).abs() <= rounding, "{words}");
}

/// The losses of bounded curvature, which the paper's relaxations are for.
fn bounded() -> impl Iterator<Item = &'static str> {
    let names = loss::NAMES.iter().copied();
    names.filter(|name| loss::by_name(name, 1.0).unwrap().smoothness() < f64::INFINITY)
}

#[test]
fn stepping_by_hand_the_bound_only_rises_and_stays_below_the_objective() {
    for name in bounded() {
        let problem = hard(name);
        let tree = OrderedTree::new(Pdal::new(&problem, pdal::EPSILON), true, true);
        step_by_hand(&problem, &paper(), tree, name);
        let tree = BinaryTree::new(Pdal::new(&problem, pdal::EPSILON));
        step_by_hand(&problem, &paper(), tree, name);
    }
}

/// Steps searches of small problems of every kind. The seeds at the end have nodes whose relaxation ends below its
/// best bound, so that a child's own bound is far below its parent's.
fn step_small_problems(warm: bool, pruning: bool) {
    for name in bounded() {
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
    for name in bounded() {
        for seed in (0..60).chain([278, 377, 681, 843, 907, 917]) {
            let case = random_case(seed, name);
            let tree = BinaryTree::new(Pdal::new(&case.problem, pdal::EPSILON));
            step_by_hand(&case.problem, &paper(), tree, &case.words);
        }
    }
}

#[test]
fn working_sets_that_grow_by_one_column_lead_to_the_optimum() {
    let mut searched = 0;
    for seed in (0..500).chain([2461]) {
        let case = random_case(seed, "quadratic");
        let Some(relaxation) = Working::new(&case.problem, 1) else {
            continue;
        };
        searched += 1;
        let settings = Settings::new(Method::BestFirst);
        let tree = BinaryTree::new(relaxation);
        let mut search = Search::new(Context::new(&case.problem, &settings), tree);
        let truth = solve(&case.problem, &Settings::new(Method::Exhaustive)).unwrap();
        let slack = common::rounding(&case.problem, truth.objective);
        for steps in 0.. {
            let progress = search.step();
            let bound = search.lower_bound().value();
            let words = &case.words;
            assert!(steps < 100_000, "{words}: no end");
            assert!(bound <= truth.objective + slack, "{words}: bound {bound}");
            if progress == Progress::Done {
                break;
            }
        }
        let error = search.context().incumbents.best() - truth.objective;
        let allowed = 1e-9 * truth.objective.max(1e-12);
        assert!(error <= allowed, "{}: {error} too much", case.words);
    }
    assert!(searched > 300, "{searched} problems");
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
        if !common::suits(&problem, settings.method) {
            continue;
        }
        let incumbents: RefCell<Vec<f64>> = RefCell::default();
        let bounds: RefCell<Vec<(f64, u64)>> = RefCell::default();
        let observer = Box::new(|event: &Event| match event.news {
            News::Incumbent { .. } => incumbents.borrow_mut().push(event.objective),
            News::Bound => {
                assert!(event.open >= 1, "{name}: a bound of nothing");
                bounds.borrow_mut().push((event.lower_bound, event.nodes));
            }
            News::Phase | News::Enumeration { .. } | News::Tick => {}
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
            if let News::Incumbent { support, .. } = event.news {
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
