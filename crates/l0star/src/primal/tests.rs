//! Compares the models that are found with brute force.

use super::*;
use crate::problem::Decision;
use crate::{Design, Method, Settings};

/// A problem with more features than rows, and hardly a ridge.
fn problem(seed: u64, loss: &str, k: usize) -> Problem {
    let (n, d) = (12, 24);
    let mut random = Random(seed);
    let mut number = || random.below(2001) as f64 / 1000.0 - 1.0;
    let values: Vec<f64> = (0..n * d).map(|_| number()).collect();
    let response = (0..n).map(|i| {
        let z = 2.0 * values[i] - 1.5 * values[n + i] + values[2 * n + i] + 0.3 * number();
        match loss {
            "quadratic" | "huber" => z,
            "poisson" => f64::floor(3.0 * z.exp()),
            "gamma" => z.exp(),
            _ => f64::signum(z + 1e-9),
        }
    });
    let response = response.collect();
    let builder = Problem::builder(Design::dense(n, d, values).unwrap(), response);
    let loss = crate::loss::by_name(loss, 0.5).unwrap();
    let builder = builder.loss(loss).intercept(true).ridge(1e-3);
    builder.k(k).build().unwrap()
}

/// Relative excess of the model found before any node over the best of all supports.
fn above_the_best(problem: &Problem) -> f64 {
    let best = crate::solve(problem, &Settings::new(Method::Exhaustive)).unwrap();
    let settings = Settings {
        node_limit: Some(0),
        ..Settings::default()
    };
    let found = crate::solve(problem, &settings).unwrap();
    found.objective / best.objective - 1.0
}

/// Local search finds the best of all supports before any node is expanded.
#[test]
fn the_best_model_is_found_without_a_proof() {
    for loss in crate::loss::NAMES {
        for seed in 1..=4 {
            let problem = problem(seed, loss, 3);
            assert!(problem.has_weak_bounds());
            let share = above_the_best(&problem);
            assert!(share <= 1e-9, "{loss} {seed}: {share}");
        }
    }
}

/// With groups and bounds, local search finds the best model, too.
#[test]
fn structures_are_searched_too() {
    for loss in ["quadratic", "logistic"] {
        for seed in 1..=4 {
            let plain = problem(seed, loss, 3);
            let builder = Problem::builder(plain.design().clone(), plain.b.clone());
            let loss = crate::loss::by_name(loss, 1.0).unwrap();
            let builder = builder.loss(loss).standardize(false).ridge(1e-3).k(3);
            let builder = builder.groups(vec![vec![0, 5], vec![2, 7, 9]]);
            let problem = builder.bounds(1, -0.5, 0.5).build().unwrap();
            let share = above_the_best(&problem);
            assert!(share <= 1e-9, "{seed}: {share}");
        }
    }
}

/// Every run gives the same models: work is counted, not timed.
#[test]
fn a_run_can_be_repeated() {
    let problem = problem(7, "quadratic", 5);
    let run = || {
        let mut context = Context::new(&problem, &Settings::default());
        let mut primal = Exchanges::new(&problem, Quadratic::of_problem(&problem), None).unwrap();
        primal.work(200_000, u64::MAX, &mut context);
        (primal.starts, primal.pool, context.incumbents.best())
    };
    let (starts, pool, best) = run();
    assert!(starts > 10 && pool.len() > 1);
    assert_eq!(run(), (starts, pool, best));
}

/// The work left when patience runs out is not done later.
#[test]
fn it_ends_when_nothing_better_is_found() {
    let problem = problem(3, "quadratic", 2);
    let mut context = Context::new(&problem, &Settings::default());
    let mut primal = Exchanges::new(&problem, Quadratic::of_problem(&problem), None).unwrap();
    primal.work(u64::MAX, 20, &mut context);
    let starts = primal.starts;
    assert!(starts >= 20);
    primal.work(0, u64::MAX, &mut context);
    assert_eq!(primal.starts, starts);
}

/// Regression test: of two nearly equal columns, the second was exchanged for the first, which then was in the model
/// twice.
#[test]
fn no_column_is_in_a_model_twice() {
    let columns = [
        368525273.640576,
        368525274.1020488,
        -0.5019995947806843,
        -0.040526806735689765,
    ];
    let factors = [3.607799204328546, 0.6729433316351642];
    let response = vec![-1.114097978009011, -0.1736989721361186];
    let more = [1.0, 1.5, 2.0, 2.5, 0.3, 0.1];
    let design = Design::dense(2, 5, [&columns[..], &more].concat()).unwrap();
    let loss = crate::loss::by_name("huber", 0.01).unwrap();
    let builder = Problem::builder(design, response).weights(vec![0.014450305436229615, 1e-12]);
    let builder = builder
        .loss(loss)
        .ridge(1.4979898660332316e-13)
        .intercept(true)
        .k(2);
    let builder = builder
        .ridge_factor(0, factors[0])
        .ridge_factor(1, factors[1]);
    let problem = builder.build().unwrap();
    assert!(problem.has_weak_bounds());
    let best = crate::solve(&problem, &Settings::new(Method::Exhaustive)).unwrap();
    let found = crate::solve(&problem, &Settings::default()).unwrap();
    assert!(found.objective >= best.lower_bound.unwrap());
    assert!(
        found.support.is_sorted_by(|a, b| a < b),
        "{:?}",
        found.support
    );
}

/// The entries among a few indices equal those of the rows, whether or not the rows are kept.
#[test]
fn squares_are_parts_of_rows() {
    let problem = problem(5, "quadratic", 4);
    let mut quadratic = Quadratic::of_problem(&problem);
    let size = quadratic.size();
    let places = [7, 2, 19, size - 1];
    let before = quadratic.square(&places);
    let mut row = vec![0.0; size];
    for (at, i) in places.iter().enumerate() {
        quadratic.row_into(*i, &mut row);
        for (to, j) in places.iter().enumerate() {
            let entry = before[at * places.len() + to];
            assert!((entry - row[*j]).abs() <= 1e-14 * row[*i].abs(), "{i} {j}");
        }
    }
    let after = quadratic.square(&places);
    let close = before
        .iter()
        .zip(&after)
        .all(|(a, b)| (a - b).abs() <= 1e-14);
    assert!(close, "{before:?} {after:?}");
}

#[test]
fn there_has_to_be_a_choice() {
    for k in [0, 24] {
        let problem = problem(1, "quadratic", k);
        assert!(Exchanges::new(&problem, Quadratic::of_problem(&problem), None).is_none());
    }
}

/// A search for a decision finds the best model that follows it, whatever starts are suggested.
#[test]
fn decisions_are_followed() {
    for loss in ["quadratic", "huber", "logistic", "squared-hinge"] {
        for (seed, inside) in [(1, true), (2, false), (3, true), (4, false)] {
            let problem = problem(seed, loss, 2);
            // The feature whose other decision costs something: one of the best model, or one outside it.
            let best = crate::solve(&problem, &Settings::new(Method::Exhaustive)).unwrap();
            let mut others = (0..24).filter(|j| !best.support.contains(j));
            let feature = if inside {
                others.next().unwrap()
            } else {
                best.support[0]
            };
            let decision = Decision { feature, inside };
            let settings = Settings::default();
            let asked = || Context::for_decision(&problem, &settings, Some(decision), None);
            let mut brute = asked();
            for i in 0..24 {
                for j in 0..i {
                    brute.try_support(&[j, i]);
                }
                brute.try_support(&[i]);
            }
            let mut context = asked();
            let mut search = for_problem(&mut context).unwrap();
            search.suggest(&best.support);
            search.suggest(&[3, 4, 5, 6, 7]);
            search.work(u64::MAX, 200, &mut context);
            let (least, found) = (brute.incumbents.best(), context.incumbents.first().unwrap());
            let share = found.fit.objective / least - 1.0;
            assert!(share <= 1e-9, "{loss} {seed}: {share}");
            assert!(decision.allows(&found.support), "{:?}", found.support);
            for (value, features) in search.fresh() {
                assert!(decision.allows(&features) && value >= least * (1.0 - 1e-9));
            }
        }
    }
}

/// A good set that is suggested is found at once, smaller or larger than k, and shared with other searches.
#[test]
fn suggestions_are_taken_up() {
    for loss in ["quadratic", "logistic"] {
        let problem = problem(5, loss, 4);
        let best = crate::solve(&problem, &Settings::new(Method::Exhaustive)).unwrap();
        let more: Vec<usize> = (0..24)
            .filter(|j| best.support.contains(j) || *j == 20)
            .collect();
        for suggested in [&best.support[..], &best.support[1..], &more] {
            let mut context = Context::new(&problem, &Settings::default());
            let mut search = for_problem(&mut context).unwrap();
            search.suggest(suggested);
            // One start from the known model (none), one greedy, one from the suggestion, and one more.
            search.work(u64::MAX, 4, &mut context);
            let objective = context.incumbents.best();
            assert!(objective <= best.objective * (1.0 + 1e-9), "{loss}");
            let fresh = search.fresh();
            assert!(fresh.iter().any(|(_, features)| *features == best.support));
            assert!(search.fresh().is_empty());
        }
    }
}

/// The sizes of a path share their optima: a search starts from the optima of neighbouring sizes.
#[test]
fn sizes_share_their_optima() {
    let small = problem(6, "quadratic", 3);
    let optima = std::sync::Arc::new(crate::search::optima::Optima::default());
    let look = |problem: &Problem| {
        let mut context = Context::new(problem, &Settings::default());
        context.model_searches = Some(for_problem);
        context.optima = Some(std::sync::Arc::clone(&optima));
        crate::search::models::first(&mut context);
        context.incumbents.best()
    };
    let first = look(&small);
    let known = optima.near(3);
    assert_eq!(known[0].len(), 3);
    let large = small.with_k(4).unwrap();
    assert!(look(&large) <= first);
    assert_eq!(optima.near(4)[0].len(), 4);
    assert_eq!(look(&small), first);
}
