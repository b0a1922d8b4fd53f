//! The m best models, and all models near the best, equal those of brute force over every set of at most k features.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::cases::cases;
use crate::common::{self, hard, random_case};
use l0star::internals::Restricted;
use l0star::{
    Checkpoint, Error, Mechanisms, Method, Problem, Run, Settings, Solution, Status, loss, solve,
};
use proptest::prelude::*;

/// Every set of at most k selectable features with its least objective, best first.
fn brute_force(problem: &Problem, selectable: &[usize]) -> Vec<(f64, Vec<usize>)> {
    let mut restricted = Restricted::new(problem);
    let mut all: Vec<(f64, Vec<usize>)> = (0u32..1 << selectable.len())
        .filter(|bits| bits.count_ones() as usize <= problem.k())
        .map(|bits| {
            let on = |i: &usize| bits >> i & 1 == 1;
            let chosen = (0..selectable.len()).filter(on);
            let set: Vec<usize> = chosen.map(|i| selectable[i]).collect();
            restricted.fit(&set);
            (restricted.precise_objective(), set)
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// The columns that can be chosen, according to the description of the case.
fn selectable(problem: &Problem, words: &str) -> Vec<usize> {
    let out = |j: &usize| {
        (*j == 0 && words.contains("column 0 always in"))
            || (*j == 1 && words.contains("column 1 excluded"))
    };
    (0..problem.columns()).filter(|j| !out(j)).collect()
}

fn many(top: Option<usize>, within: Option<f64>) -> Settings {
    Settings {
        top: top.and_then(NonZeroUsize::new),
        within,
        ..Settings::default()
    }
}

fn check(problem: &Problem, settings: &Settings, words: &str) -> Result<(), TestCaseError> {
    let truth = brute_force(problem, &selectable(problem, words));
    let found = solve(problem, settings).unwrap();
    check_list(problem, settings, &truth, &found, words)
}

fn check_list(
    problem: &Problem,
    settings: &Settings,
    truth: &[(f64, Vec<usize>)],
    found: &Solution,
    words: &str,
) -> Result<(), TestCaseError> {
    let list = &found.solutions;
    let words = format!("{words}, {:?}, {:?}", settings.top, settings.within);
    prop_assert_eq!(found.status, Status::Optimal, "{}", words);
    prop_assert_eq!(found.objective, list[0].objective);
    let sets: HashSet<&[usize]> = list.iter().map(|model| &model.support[..]).collect();
    prop_assert_eq!(sets.len(), list.len(), "{}: a set twice", words);
    for pair in list.windows(2) {
        prop_assert!(pair[0].objective <= pair[1].objective, "{words}: order");
    }
    for model in list {
        let same = truth.iter().find(|(_, set)| *set == model.support);
        let (value, _) = same.expect("a set of at most k features");
        prop_assert!(
            (model.objective - value).abs() <= common::proved(problem, *value),
            "{words}: {model:?} against {value}"
        );
        let others = (0..problem.columns()).filter(|j| model.coefficients[*j] != 0.0);
        let always = words.contains("column 0 always in");
        for j in others {
            prop_assert!(model.support.contains(&j) || always && j == 0, "{words}");
        }
    }
    let cap = settings.top.map_or(1000, NonZeroUsize::get);
    let (low, high) = match settings.within {
        None => (cap.min(truth.len()), cap.min(truth.len())),
        Some(within) => {
            let threshold = truth[0].0 * (1.0 + within);
            let room = 2.0 * common::proved(problem, threshold);
            let below = |high: f64| truth.iter().filter(|(value, _)| *value <= high).count();
            (below(threshold - room), below(threshold + room))
        }
    };
    prop_assert!(
        (low.min(cap)..=high.min(cap)).contains(&list.len()),
        "{words}: {} models, not {low} to {high}",
        list.len()
    );
    if low > cap || high <= cap {
        prop_assert_eq!(found.truncated, settings.within.is_some() && low > cap);
    }
    for (model, (value, _)) in list.iter().zip(truth) {
        prop_assert!(
            (model.objective - value).abs() <= common::proved(problem, *value),
            "{words}: {} is not the next best, {value}",
            model.objective
        );
    }
    let rest = truth.iter().find(|(_, set)| !sets.contains(&set[..]));
    match (found.rest_bound, rest) {
        (Some(bound), Some((value, _))) => prop_assert!(
            bound <= value + common::rounding(problem, *value),
            "{words}: {bound} is no bound of the rest, {value}"
        ),
        (None, rest) => prop_assert!(rest.is_none(), "{words}: there are more"),
        (Some(_), None) => {}
    }
    let bound = found.lower_bound.unwrap();
    prop_assert!(bound <= truth[0].0 + common::rounding(problem, truth[0].0));
    Ok(())
}

fn losses() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(loss::NAMES)
}

proptest! {
    #![proptest_config(cases(400, 21))]

    #[test]
    fn the_best_are_those_of_brute_force(
        seed in any::<u64>(), loss in losses(), top in 2usize..40, two in any::<bool>(),
    ) {
        let case = random_case(seed, loss);
        let threads = NonZeroUsize::new(if two { 2 } else { 1 });
        let settings = Settings { threads, ..many(Some(top), None) };
        check(&case.problem, &settings, &case.words)?;
    }

    #[test]
    fn all_near_the_best_are_found(
        seed in any::<u64>(), loss in losses(), within in 0.0..1.0f64, none in any::<bool>(),
        cap in proptest::option::of(1usize..20), two in any::<bool>(),
    ) {
        let case = random_case(seed, loss);
        let within = if none { 0.0 } else { within.powi(3) };
        let threads = NonZeroUsize::new(if two { 2 } else { 1 });
        let settings = Settings { threads, ..many(cap, Some(within)) };
        check(&case.problem, &settings, &case.words)?;
    }

    #[test]
    fn no_list_depends_on_the_mechanisms(
        seed in any::<u64>(), loss in losses(), top in 2usize..15, gram in any::<bool>(),
        fixing in any::<bool>(), lifting in any::<bool>(),
    ) {
        let case = random_case(seed, loss);
        let mechanisms = Mechanisms { gram, fixing, lifting, ..Mechanisms::default() };
        let settings = Settings { mechanisms, ..many(Some(top), None) };
        check(&case.problem, &settings, &case.words)?;
    }
}

proptest! {
    #![proptest_config(cases(150, 22))]

    #[test]
    fn the_exhaustive_method_makes_the_same_list(
        seed in any::<u64>(), loss in losses(), top in proptest::option::of(1usize..40),
        within in proptest::option::of(0.0..0.3f64),
    ) {
        prop_assume!(within.is_some() || top.is_some_and(|top| top > 1));
        let case = random_case(seed, loss);
        let settings = Settings { method: Method::Exhaustive, ..many(top, within) };
        check(&case.problem, &settings, &case.words)?;
    }
}

/// The sets of a list.
fn sets(solution: &Solution) -> Vec<&[usize]> {
    let list = solution.solutions.iter();
    list.map(|model| &model.support[..]).collect()
}

#[test]
fn a_search_that_takes_many_nodes_makes_the_list_of_the_exhaustive_method() {
    for name in ["quadratic", "huber", "logistic"] {
        let problem = hard(name);
        let settings = many(Some(25), None);
        let slow = Settings {
            method: Method::Exhaustive,
            ..settings.clone()
        };
        let truth = solve(&problem, &slow).unwrap();
        let found = solve(&problem, &settings).unwrap();
        assert_eq!(found.status, Status::Optimal);
        assert_eq!(sets(&found), sets(&truth), "{name}");
        assert!(found.nodes < truth.nodes, "{name}: {} nodes", found.nodes);
        let last = found.solutions[24].objective;
        assert!(found.rest_bound.unwrap() >= last * (1.0 - 1e-9));
        // A threshold at the last of them gives the same list.
        let within = last / found.objective - 1.0;
        let near = solve(&problem, &many(None, Some(within * (1.0 + 1e-6)))).unwrap();
        assert_eq!(sets(&near), sets(&truth), "{name}");
        assert!(!near.truncated);
        let capped = solve(&problem, &many(Some(10), Some(within))).unwrap();
        assert_eq!(sets(&capped), sets(&truth)[..10]);
        assert!(capped.truncated);
    }
}

#[test]
fn ties_are_all_in_the_list() {
    // Three copies of one column: four sets of at most one feature, three of them optimal.
    let column = [1.0, -2.0, 0.5, 3.0];
    let design = l0star::Design::dense(4, 3, column.repeat(3)).unwrap();
    let problem = Problem::builder(design, vec![1.0, -1.5, 0.2, 2.0])
        .standardize(false)
        .k(1)
        .build()
        .unwrap();
    let found = solve(&problem, &many(None, Some(0.0))).unwrap();
    assert_eq!(sets(&found), [&[0][..], &[1], &[2]]);
    let found = solve(&problem, &many(Some(10), None)).unwrap();
    assert_eq!(sets(&found), [&[0][..], &[1], &[2], &[]]);
    assert_eq!(found.rest_bound, None);
}

#[test]
fn a_list_that_was_stopped_says_so_and_goes_on_from_its_checkpoint() {
    for name in ["quadratic", "huber", "logistic"] {
        let problem = hard(name);
        let settings = many(Some(30), None);
        let whole = solve(&problem, &settings).unwrap();
        let mut saved = Vec::new();
        let limited = Settings {
            node_limit: Some(whole.nodes / 2),
            ..settings.clone()
        };
        let keep = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
        let run = Run::new(&problem, &limited).save(Duration::from_secs(600), keep);
        let stopped = run.solve().unwrap();
        assert_eq!(stopped.status, Status::NodeLimit);
        assert_eq!(stopped.solutions.len(), 30);
        let (first, rest) = (whole.objective, stopped.rest_bound.unwrap());
        assert!(stopped.lower_bound.unwrap() <= first * (1.0 + 1e-13));
        let known = sets(&stopped);
        for model in &whole.solutions {
            let is_known = known.contains(&&model.support[..]);
            assert!(is_known || model.objective >= rest * (1.0 - 1e-13));
        }
        let checkpoint = Checkpoint::decode(&saved).unwrap();
        let other = Run::new(&problem, &many(Some(31), None)).resume(checkpoint.clone());
        let refused = other.solve();
        assert!(matches!(
            refused,
            Err(Error::OtherSearch { what: "top", .. })
        ));
        let resumed = Run::new(&problem, &settings).resume(checkpoint).solve();
        let resumed = resumed.unwrap();
        assert_eq!(resumed.status, Status::Optimal);
        assert_eq!(sets(&resumed), sets(&whole), "{name}");
    }
}

#[test]
fn settings_that_no_list_goes_with_are_refused() {
    let problem = hard("quadratic");
    let list = many(Some(3), None);
    for settings in [
        Settings {
            method: Method::Paper,
            ..list.clone()
        },
        Settings {
            method: Method::Omp,
            ..list.clone()
        },
        Settings {
            gap: 0.1,
            ..list.clone()
        },
        Settings {
            relative_gap: 0.1,
            ..list
        },
        many(None, Some(-0.1)),
        many(None, Some(f64::NAN)),
    ] {
        let refused = solve(&problem, &settings);
        assert!(
            matches!(refused, Err(Error::Setting { .. })),
            "{settings:?}"
        );
    }
    // A single model is not a list.
    let one = Settings {
        method: Method::Paper,
        ..many(Some(1), None)
    };
    assert_eq!(solve(&problem, &one).unwrap().solutions.len(), 1);
}

/// In a list of one model, the proved bound of the best also holds for all others.
#[test]
fn a_list_of_one_model_has_a_bound_of_the_rest() {
    let problem = hard("quadratic");
    let found = solve(&problem, &many(Some(1), None)).unwrap();
    assert_eq!((found.status, found.solutions.len()), (Status::Optimal, 1));
    assert_eq!(found.rest_bound, found.lower_bound);
    assert_eq!(
        solve(&problem, &Settings::default()).unwrap().rest_bound,
        None
    );
    // Then nothing else can be chosen.
    let none = problem.with_k(0).unwrap();
    assert_eq!(solve(&none, &many(Some(1), None)).unwrap().rest_bound, None);
}
