//! Duplicate columns: the answer is that of all columns, the search that of the data without the copies.

use crate::common;
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::cases::cases;
use crate::copies::{Data, close, draw, hard};
use l0star::{Design, Method, PathRun, Problem, Settings, Solution, Status, loss, solve};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(400, 81))]

    #[test]
    fn copies_cost_no_exactness(seed in any::<u64>(), threads in 1usize..3) {
        let (data, k) = draw(seed);
        let truth = data.optimum(k);
        let settings = Settings { threads: NonZeroUsize::new(threads), ..Settings::default() };
        let found = solve(&data.problem("quadratic", k), &settings).unwrap();
        prop_assert_eq!(found.status, Status::Optimal, "{:?}, k {}", data, k);
        prop_assert!(close(found.objective, truth), "{data:?}, k {k}: {} is not {truth}", found.objective);
        prop_assert!(found.lower_bound.unwrap() <= truth * (1.0 + 1e-11), "{data:?}, k {k}");
        prop_assert!(found.support.len() <= k);
    }

    #[test]
    fn every_size_of_a_path_is_exact(seed in any::<u64>()) {
        let (data, k) = draw(seed);
        let problem = data.problem("quadratic", k);
        for point in PathRun::new(&problem, &Settings::default(), 0..=k).solve().unwrap() {
            let truth = data.optimum(point.k);
            prop_assert_eq!(point.solution.status, Status::Optimal, "{:?}, k {}", data, point.k);
            prop_assert!(close(point.solution.objective, truth), "{data:?}, k {}", point.k);
            prop_assert!(point.solution.lower_bound.unwrap() <= truth * (1.0 + 1e-11));
        }
    }

    #[test]
    fn a_bound_of_a_search_that_was_stopped_holds_for_all_columns(seed in any::<u64>(), limit in 0u64..4) {
        let (data, k) = draw(seed);
        let settings = Settings { node_limit: Some(limit), ..Settings::default() };
        let found = solve(&data.problem("quadratic", k), &settings).unwrap();
        let truth = data.optimum(k);
        prop_assert!(found.lower_bound.unwrap() <= truth * (1.0 + 1e-11), "{data:?}, k {k}");
        prop_assert!(found.objective >= truth * (1.0 - 1e-11));
    }
}

proptest! {
    #![proptest_config(cases(300, 83))]

    /// A list has every set of columns: copies may replace each other or be in together.
    #[test]
    fn lists_are_exact(
        seed in any::<u64>(),
        top in proptest::option::of(1usize..12),
        within in proptest::option::of(0.0..0.5),
        limit in proptest::option::weighted(0.2, 0u64..4),
    ) {
        let (data, k) = draw(seed);
        let mut truth = data.sets(k);
        truth.sort_by(|a, b| a.0.total_cmp(&b.0));
        let settings = Settings {
            top: top.and_then(NonZeroUsize::new),
            within,
            node_limit: limit,
            ..Settings::default()
        };
        let found = solve(&data.problem("quadratic", k), &settings).unwrap();
        let words = format!("{data:?}, k {k}, top {top:?}, within {within:?}, limit {limit:?}: {found:?}");
        let listed: HashSet<&[usize]> = found.solutions.iter().map(|model| &model.support[..]).collect();
        prop_assert_eq!(listed.len(), found.solutions.len(), "{}", words);
        for model in &found.solutions {
            let same = truth.iter().find(|(_, set)| *set == model.support).unwrap();
            prop_assert!(close(model.objective, same.0), "{words}");
        }
        prop_assert!(found.lower_bound.unwrap() <= truth[0].0 * (1.0 + 1e-11), "{words}");
        let rest = truth.iter().find(|(_, set)| !listed.contains(&set[..]));
        if settings.top.is_some() || within.is_some() {
            match (found.rest_bound, rest) {
                (Some(bound), Some((value, _))) => prop_assert!(bound <= value * (1.0 + 1e-11), "{words}"),
                (None, rest) => prop_assert!(rest.is_none(), "{words}"),
                (Some(_), None) => {}
            }
        }
        if limit.is_some() && found.status == Status::NodeLimit {
            return Ok(());
        }
        prop_assert_eq!(found.status, Status::Optimal, "{}", words);
        for (model, (value, _)) in found.solutions.iter().zip(&truth) {
            prop_assert!(close(model.objective, *value), "{words}: not the next best, {value}");
        }
        let most = top.unwrap_or(if within.is_some() { 1000 } else { 1 });
        let near = |room: f64| {
            let high = within.map_or(f64::INFINITY, |within| truth[0].0 * (1.0 + within) * (1.0 + room));
            truth.iter().filter(|(value, _)| *value <= high).count()
        };
        let (low, high) = (near(-4e-9), near(4e-9));
        prop_assert!((low.min(most)..=high.min(most)).contains(&listed.len()), "{words}");
        if low > most || high <= most {
            prop_assert_eq!(found.truncated, within.is_some() && low > most, "{}", words);
        }
    }
}

proptest! {
    #![proptest_config(cases(60, 82))]

    /// Other losses against the same problem solved with its copies.
    #[test]
    fn other_losses_are_exact_too(seed in any::<u64>(), name in proptest::sample::select(loss::NAMES)) {
        let (mut data, k) = draw(seed);
        if matches!(name, "logistic" | "squared-hinge") {
            data.response.iter_mut().for_each(|b| *b = if *b > 0.0 { 1.0 } else { -1.0 });
            (data.response[0], data.response[1]) = (1.0, -1.0);
        }
        common::log_linked(&mut data.response, name);
        let problem = data.problem(name, k);
        for top in [1, 6] {
            let list = |method| {
                let top = NonZeroUsize::new(top);
                solve(&problem, &Settings { top, ..Settings::new(method) }).unwrap()
            };
            let (truth, found) = (list(Method::Exhaustive), list(Method::BestFirst));
            prop_assert_eq!(found.status, Status::Optimal, "{}: {:?}, k {}", name, data, k);
            prop_assert_eq!(found.solutions.len(), truth.solutions.len());
            for (found, truth) in found.solutions.iter().zip(&truth.solutions) {
                prop_assert!(close(found.objective, truth.objective), "{name}: {data:?}, k {k}");
            }
        }
    }
}

/// Asserts that copies leave the search nearly as it was: the same model in at most twice the nodes.
fn assert_search_is_as_long(name: &str, with: &Solution, without: &Solution) {
    assert_eq!(with.status, Status::Optimal, "{name}");
    let (most, few) = (2 * without.nodes, without.nodes);
    assert!(few > 3, "{name}: {few} nodes show nothing");
    assert!(
        with.nodes <= most,
        "{name}: {} nodes, {few} without copies",
        with.nodes
    );
    // Ties go to the first column.
    assert_eq!(with.support, without.support, "{name}");
}

#[test]
fn copies_at_most_double_the_nodes() {
    for name in ["quadratic", "huber", "logistic"] {
        let (plain, copied) = hard(name);
        let run = |data: &Data| -> Solution {
            solve(&data.problem(name, 6), &Settings::default()).unwrap()
        };
        let (without, with) = (run(&plain), run(&copied));
        assert_search_is_as_long(name, &with, &without);
        assert!(close(with.objective, without.objective), "{name}");
    }
}

/// Features with a coefficient for each response, or for each class, are searched without copies, too.
#[test]
fn copies_at_most_double_the_nodes_of_several_responses_and_classes() {
    let problem = |data: &Data, classes: bool| {
        let rows = data.response.len();
        let design = Design::dense(rows, data.columns.len(), data.columns.concat()).unwrap();
        let other: Vec<f64> = (0..rows)
            .map(|i| 0.5 * data.response[i] + data.columns[3][i] - data.columns[5][i])
            .collect();
        let class = |i: usize| f64::from(data.response[i] > 0.0) + f64::from(other[i] > 0.5);
        let builder = if classes {
            Problem::builder(design, (0..rows).map(class).collect())
                .loss(Arc::new(loss::Multinomial::new(3)))
        } else {
            Problem::builder(design, data.response.clone()).more_responses(vec![other])
        };
        let builder = builder.intercept(true).standardize(true);
        builder.k(4).ridge(0.05).build().unwrap()
    };
    for (name, classes) in [("quadratic", false), ("logistic", true)] {
        let (plain, copied) = hard(name);
        let run = |data: &Data| solve(&problem(data, classes), &Settings::default()).unwrap();
        let (without, with) = (run(&plain), run(&copied));
        assert_search_is_as_long(name, &with, &without);
        assert_eq!(problem(&copied, classes).twins(0), [24]);
    }
}

/// Listed models with other members of the same classes need no additional search.
#[test]
fn copies_at_most_double_the_nodes_of_a_list() {
    for name in ["quadratic", "huber", "logistic"] {
        let (plain, copied) = hard(name);
        let settings = Settings {
            top: NonZeroUsize::new(8),
            ..Settings::default()
        };
        let run = |data: &Data| -> Solution { solve(&data.problem(name, 6), &settings).unwrap() };
        let (without, with) = (run(&plain), run(&copied));
        assert_eq!(with.status, Status::Optimal, "{name}");
        assert_eq!(with.solutions.len(), 8, "{name}");
        assert!(
            with.nodes <= 2 * without.nodes,
            "{name}: {} nodes, {} without copies",
            with.nodes,
            without.nodes
        );
    }
}

#[test]
fn twins_are_named_both_ways() {
    let (_, copied) = hard("quadratic");
    let problem = copied.problem("quadratic", 3);
    assert_eq!(problem.twins(0), [24]);
    assert_eq!(problem.twins(24), [0]);
    assert_eq!(problem.twins(12), [26]);
    assert_eq!(problem.twins(1), Vec::<usize>::new());
    // Without an intercept, a shifted column is not a copy; without scaling, a multiplied one is not.
    let other = Data {
        intercept: false,
        ..copied.clone()
    };
    assert_eq!(other.problem("quadratic", 3).twins(12), Vec::<usize>::new());
    let other = Data {
        standardize: false,
        ..copied
    };
    assert_eq!(other.problem("quadratic", 3).twins(0), Vec::<usize>::new());
    assert_eq!(other.problem("quadratic", 3).twins(8), [25]);
}

/// Without scaling the ridge holds back the shorter of two proportional columns more.
#[test]
fn the_longer_of_two_proportional_columns_is_chosen() {
    let (plain, _) = hard("quadratic");
    let mut data = Data {
        standardize: false,
        ..plain
    };
    let longer = data.columns[0].iter().map(|v| 3.0 * v).collect();
    data.columns.push(longer);
    let found = solve(&data.problem("quadratic", 6), &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Optimal);
    assert!(
        found.support.contains(&24) && !found.support.contains(&0),
        "{:?}",
        found.support
    );
}

/// A copy that may not be negative replaces its column only where its coefficient is positive.
#[test]
fn a_copy_with_other_bounds_cannot_stand_for_its_column() {
    let column = [1.0, 2.0, 4.0, 3.0, -1.0, 0.5];
    let other = [0.0, 1.0, 0.0, 2.0, 1.5, -2.0];
    let problem = |bounded: Vec<usize>| {
        let design = Design::dense(6, 4, [column, other, column, column].concat()).unwrap();
        let response = column.iter().map(|v| 1.0 - v).collect();
        let builder = Problem::builder(design, response).k(1).ridge(0.1);
        builder.nonnegative(bounded).build().unwrap()
    };
    assert_eq!(problem(vec![2]).twins(0), [3]);
    assert_eq!(problem(vec![2]).twins(2), Vec::<usize>::new());
    // The bounds of a negated copy are negated, too.
    assert_eq!(problem(vec![0, 2, 3]).twins(0), [2, 3]);
    let found = solve(&problem(vec![2]), &Settings::default()).unwrap();
    assert_eq!(found.support, [0]);
}
