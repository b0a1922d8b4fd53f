//! Prices that are killed after every step complete, and are the same as without kills.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Price, PriceRun, prices};
use crate::search::Checkpoint;
use crate::search::checkpoint::testing::{self, forge, payload, refuses_damage, threads};
use crate::search::checkpoint::{Priced, State};
use crate::{Problem, Run, Settings, Solution, Status, solve};

fn problem(rows: usize, columns: usize, loss: &str) -> crate::problem::Builder {
    let response = [(2.0, 3), (-1.0, 8), (0.7, 5), (2.0, 997)];
    testing::problem(loss, rows, columns, &response).ridge(0.02)
}

fn quadratic() -> Problem {
    let builder = problem(40, 22, "quadratic").k(4);
    builder.intercept(true).build().unwrap()
}

/// A problem of which some rows stay explicit.
fn huber() -> Problem {
    problem(40, 16, "huber").k(3).build().unwrap()
}

fn logistic() -> Problem {
    let builder = problem(60, 12, "logistic").k(3);
    builder.intercept(true).build().unwrap()
}

fn grouped() -> Problem {
    let builder = problem(40, 16, "quadratic").k(3);
    let builder = builder.groups(vec![vec![0, 1], vec![5, 6, 7]]);
    builder.nonnegative(vec![11, 12]).build().unwrap()
}

/// A problem with more columns than a Gram matrix may have.
fn wide() -> Problem {
    problem(25, 3010, "quadratic")
        .k(2)
        .ridge(0.5)
        .build()
        .unwrap()
}

/// The features to price: only some for the wide problem.
fn features(problem: &Problem) -> Vec<usize> {
    let all = problem.selectable.iter().copied();
    let count = if problem.columns() > 100 { 3 } else { 22 };
    all.take(count).collect()
}

fn run<'p>(
    problem: &'p Problem,
    settings: &Settings,
    solution: &'p Solution,
    from: Option<&Checkpoint>,
    sink: super::PriceSink<'p>,
) -> Vec<Price> {
    let mut run = PriceRun::new(problem, settings, solution).save(Duration::ZERO, sink);
    run = run.features(features(problem));
    if let Some(from) = from {
        run = run.resume(from.clone());
    }
    run.solve().unwrap()
}

/// The prices without what differs between runs: what was found and proved, but not the time and the calls.
fn substance(priced: &Priced) -> Priced {
    let strip = |state: &mut State| (state.seconds, state.calls) = (0.0, 0);
    let mut priced = priced.clone();
    priced.begun.iter_mut().flatten().for_each(strip);
    for done in priced.done.iter_mut().flatten() {
        (done.seconds, done.calls) = (0.0, 0);
    }
    if let Some(gram) = &mut priced.gram {
        Arc::make_mut(gram).seconds = 0.0;
    }
    priced
}

/// Number of checkpoints of each kind seen.
#[derive(Debug, Default)]
struct Seen {
    heuristics: usize,
    alone: usize,
    done: usize,
}

impl Seen {
    fn note(&mut self, priced: &Priced) {
        self.heuristics += usize::from(priced.heuristic.is_some());
        self.alone += usize::from(priced.begun.iter().any(Option::is_some));
        self.done += usize::from(priced.done.iter().any(Option::is_some));
    }
}

fn same(found: &[Price], truth: &[Price]) {
    assert_eq!(found.len(), truth.len());
    for (found, truth) in found.iter().zip(truth) {
        assert_eq!((found.feature, found.chosen), (truth.feature, truth.chosen));
        assert_eq!(found.status, truth.status, "{found:?} {truth:?}");
        assert_eq!(found.support, truth.support);
        assert!((found.objective - truth.objective).abs() <= 1e-12 * truth.objective);
        assert!((found.cost - truth.cost).abs() <= 1e-12 * truth.objective);
        assert!(found.lower_bound <= truth.objective);
        assert!(found.lower_bound >= truth.objective * (1.0 - 2e-9));
    }
}

/// Stops prices at their first checkpoint with new content; returns that checkpoint, or the prices if they ended
/// before.
fn kill(
    problem: &Problem,
    settings: &Settings,
    solution: &Solution,
    from: Option<&Checkpoint>,
) -> Result<Checkpoint, Vec<Price>> {
    let flag = Arc::new(AtomicBool::new(false));
    let settings = Settings {
        interrupt: Some(Arc::clone(&flag)),
        ..settings.clone()
    };
    let known = |checkpoint: &Checkpoint| substance(&checkpoint.prices().unwrap());
    let before = from.map(known);
    let mut left = None;
    let sink = Box::new(|checkpoint: &Checkpoint| {
        let is_new = before.as_ref() != Some(&known(checkpoint));
        if is_new && left.is_none() {
            left = Some(Checkpoint::decode(&checkpoint.encode()).unwrap());
            flag.store(true, Ordering::Relaxed);
        }
    });
    let found = run(problem, &settings, solution, from, sink);
    let is_interrupted = |price: &Price| price.status == Status::Interrupted;
    if found.iter().any(is_interrupted) {
        Ok(left.unwrap())
    } else {
        Err(found)
    }
}

/// Kills prices at every checkpoint with new content until they complete; returns the kinds of checkpoints seen.
fn survives(problem: &Problem, settings: &Settings) -> Seen {
    let solution = solve(problem, settings).unwrap();
    let asked = features(problem);
    let truth = prices(problem, settings, &solution, Some(&asked)).unwrap();
    let is_done = |price: &Price| price.status == Status::Optimal;
    assert!(truth.iter().all(is_done));
    let mut count = 0;
    let sink = Box::new(|_: &Checkpoint| count += 1);
    let whole = run(problem, settings, &solution, None, sink);
    // Saving must not change the result.
    assert!(settings.thread_count() > 1 || whole == truth);
    same(&whole, &truth);
    let (mut seen, mut kills) = (Seen::default(), 0);
    let mut left: Option<Checkpoint> = None;
    let found = loop {
        match kill(problem, settings, &solution, left.as_ref()) {
            Ok(next) => {
                seen.note(&next.prices().unwrap());
                left = Some(next);
            }
            Err(found) => break found,
        }
        kills += 1;
        // Prices that repeated their steps would never finish.
        assert!(
            kills <= 3 * count / 2 + 20,
            "{kills} kills, {count} steps: {seen:?}"
        );
    };
    same(&found, &truth);
    assert!(kills > 2, "{kills} kills, {count} steps");
    seen
}

#[test]
fn killed_after_every_step_they_go_on() {
    let seen = survives(&quadratic(), &threads(1));
    assert!(seen.alone > 5 && seen.done > 5, "{seen:?}");
    let seen = survives(&huber(), &threads(1));
    assert!(seen.alone > 5 && seen.done > 5, "{seen:?}");
    let seen = survives(&logistic(), &threads(1));
    assert!(seen.alone > 1 && seen.done > 1, "{seen:?}");
}

#[test]
fn killed_with_groups_and_bounds_they_go_on() {
    let seen = survives(&grouped(), &threads(1));
    assert!(seen.heuristics > 1 && seen.done > 5, "{seen:?}");
}

#[test]
fn wide_data_go_on_from_anywhere() {
    let (problem, settings) = (wide(), threads(1));
    let solution = solve(&problem, &settings).unwrap();
    let asked = features(&problem);
    let truth = prices(&problem, &settings, &solution, Some(&asked)).unwrap();
    let mut saved: Vec<Checkpoint> = Vec::new();
    let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.clone()));
    let whole = run(&problem, &settings, &solution, None, sink);
    assert_eq!(whole, truth);
    assert!(saved.len() > 6, "{}", saved.len());
    for from in saved.iter().step_by(saved.len() / 4 + 1) {
        let found = run(&problem, &settings, &solution, Some(from), Box::new(|_| {}));
        same(&found, &truth);
    }
}

#[test]
fn killed_side_by_side_they_go_on() {
    let seen = survives(&quadratic(), &threads(2));
    assert!(seen.alone > 1 && seen.done > 1, "{seen:?}");
    survives(&logistic(), &threads(3));
}

/// The result of a run of the search, and its last checkpoint.
fn search(
    problem: &Problem,
    settings: &Settings,
    from: Option<&Checkpoint>,
) -> (Solution, Checkpoint) {
    let mut left = None;
    let sink = Box::new(|checkpoint: &Checkpoint| left = Some(checkpoint.clone()));
    let mut run = Run::new(problem, settings).save(Duration::MAX, sink);
    if let Some(from) = from {
        run = run.resume(from.clone());
    }
    (run.solve().unwrap(), left.unwrap())
}

/// The prices, and their last checkpoint.
fn priced(
    problem: &Problem,
    settings: &Settings,
    solution: &Solution,
    from: &Checkpoint,
) -> (Vec<Price>, Checkpoint) {
    let mut left = None;
    let sink = Box::new(|checkpoint: &Checkpoint| left = Some(checkpoint.clone()));
    let run = PriceRun::new(problem, settings, solution).resume(from.clone());
    let found = run.save(Duration::MAX, sink).solve().unwrap();
    (found, left.unwrap())
}

#[test]
fn a_search_and_its_prices_stopped_again_and_again_end_where_they_would_have() {
    let mut stops = 0;
    for problem in [quadratic(), huber(), logistic(), grouped()] {
        let whole = solve(&problem, &threads(1)).unwrap();
        let truth = prices(&problem, &threads(1), &whole, None).unwrap();
        let settings = Settings {
            node_limit: Some(1),
            ..threads(1)
        };
        let mut left: Option<Checkpoint> = None;
        let mut runs = 0;
        let (solution, found) = loop {
            runs += 1;
            assert!(runs < 200, "no progress");
            // Both are stopped, and the search finds better models from run to run.
            let (solution, kept) = search(&problem, &settings, left.as_ref());
            let before = left.and_then(|left| left.prices());
            assert_eq!(kept.prices(), before, "the search keeps the prices");
            let (found, kept) = priced(&problem, &settings, &solution, &kept);
            for (found, truth) in found.iter().zip(&truth) {
                let room = 1e-12 * truth.objective;
                if found.chosen == truth.chosen {
                    assert!(found.lower_bound <= truth.objective + room);
                    assert!(found.objective >= truth.objective - room);
                }
            }
            let bytes = kept.encode();
            left = Some(Checkpoint::decode(&bytes).unwrap());
            let is_open = |price: &Price| price.status.stopped_early();
            if !solution.status.stopped_early() && !found.iter().any(is_open) {
                assert!(bytes.len() < 4000, "{}", bytes.len());
                break (solution, found);
            }
        };
        stops += runs - 1;
        assert_eq!(solution.support, whole.support);
        same(&found, &truth);
        // Finished searches and prices are not made again.
        let (again, kept) = search(&problem, &settings, left.as_ref());
        assert_eq!(
            (again.status, again.nodes),
            (Status::Optimal, solution.nodes)
        );
        let (again, _) = priced(&problem, &settings, &again, &kept);
        assert_eq!(again, found);
    }
    assert!(stops > 5, "{stops} stops");
}

#[test]
fn a_limit_at_once_loses_nothing() {
    let at_once = Settings {
        time_limit: Some(Duration::ZERO),
        ..threads(1)
    };
    for problem in [quadratic(), logistic()] {
        let (solution, kept) = search(&problem, &threads(1), None);
        let limited = Settings {
            node_limit: Some(3),
            ..threads(1)
        };
        let (stopped, kept) = priced(&problem, &limited, &solution, &kept);
        let (again, left) = priced(&problem, &at_once, &solution, &kept);
        for (again, stopped) in again.iter().zip(&stopped) {
            assert!(again.lower_bound <= stopped.objective);
        }
        let (old, new) = (kept.prices().unwrap(), left.prices().unwrap());
        let nodes = |state: &State| state.open.clone();
        let begun = |priced: &Priced| -> Vec<_> {
            let begun = priced.begun.iter();
            begun.map(|begun| begun.as_ref().map(nodes)).collect()
        };
        assert_eq!(begun(&new), begun(&old));
        assert_eq!(new.done, old.done);
        let (found, _) = priced(&problem, &threads(1), &solution, &left);
        let truth = prices(&problem, &threads(1), &solution, None).unwrap();
        same(&found, &truth);
    }
}

/// One checkpoint of each kind: a heuristic, a search, finished prices.
fn kinds() -> Vec<(Problem, Solution, Vec<u8>)> {
    let mut kinds = Vec::new();
    for problem in [quadratic(), logistic(), grouped()] {
        let (solution, kept) = search(&problem, &threads(1), None);
        let mut saved: Vec<Checkpoint> = Vec::new();
        let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.clone()));
        run(&problem, &threads(1), &solution, Some(&kept), sink);
        let is_heuristic = |priced: &Priced| priced.heuristic.is_some();
        let is_search = |priced: &Priced| priced.begun.iter().flatten().any(|s| s.open.len() > 1);
        let is_done = |priced: &Priced| priced.done.iter().all(Option::is_some);
        let all = [is_heuristic as fn(&Priced) -> bool, is_search, is_done];
        for kind in all {
            let found = saved.iter().find(|c| kind(&c.prices().unwrap()));
            kinds.extend(found.map(|f| (problem.clone(), solution.clone(), f.encode())));
        }
    }
    assert!(kinds.len() >= 7, "{}", kinds.len());
    kinds
}

#[test]
fn damaged_ones_are_refused() {
    for (_, _, saved) in kinds() {
        refuses_damage(&saved, Checkpoint::decode);
    }
}

#[test]
fn forged_ones_do_no_harm() {
    let settings = Settings {
        node_limit: Some(2),
        ..threads(1)
    };
    let (mut accepted, mut refused) = (0, 0);
    for (problem, solution, saved) in kinds() {
        for i in 0..150 {
            let forged = forge(&saved, i, 0..payload(&saved));
            let Ok(checkpoint) = Checkpoint::decode(&forged) else {
                continue;
            };
            let run = PriceRun::new(&problem, &settings, &solution);
            match run.resume(checkpoint).solve() {
                Ok(_) => accepted += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} {refused}");
}

#[test]
fn prices_of_another_problem_are_refused() {
    let (solution, kept) = search(&quadratic(), &threads(1), None);
    let problem = quadratic();
    let (_, kept) = priced(&problem, &threads(1), &solution, &kept);
    let other = problem.with_k(3).unwrap();
    let run = PriceRun::new(&other, &threads(1), &solution).resume(kept.clone());
    let message = run.solve().unwrap_err().to_string();
    assert!(
        message.contains("k = 4") && message.contains("it is 3"),
        "{message}"
    );
    let paper = Settings::new(crate::Method::Paper);
    let run = PriceRun::new(&problem, &paper, &solution).resume(kept);
    let message = run.solve().unwrap_err().to_string();
    assert!(message.contains("best-first"), "{message}");
}
