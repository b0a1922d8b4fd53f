//! A search that was stopped and resumed ends like the uninterrupted one; only its own checkpoint is accepted.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::common::stopped::{NEVER, limited, refuses_damage};
use crate::common::{self, Case, Random, hard, random_case};
use l0star::{
    Checkpoint, Design, Mechanisms, Method, Problem, Run, Settings, Solution, Status, Use, loss,
    solve,
};

/// Runs at most this many nodes; returns the result and the bytes of the last checkpoint.
fn run(problem: &Problem, settings: &Settings, saved: Option<&[u8]>) -> (Solution, Vec<u8>) {
    let mut left = Vec::new();
    let sink = Box::new(|checkpoint: &Checkpoint| left = checkpoint.encode());
    let mut run = Run::new(problem, settings).save(NEVER, sink);
    if let Some(saved) = saved {
        run = run.resume(Checkpoint::decode(saved).unwrap());
    }
    let found = run.solve().unwrap();
    assert!(!left.is_empty());
    (found, left)
}

/// The proofs of Huber's rows close the root here, in every run anew: that must not use up the node of a resumed run.
#[test]
fn one_node_at_a_time_comes_to_an_end() {
    let columns = [
        -0.6987321539883959,
        -0.2842573977378615,
        -0.8836296056768971,
        1.3878698133737402,
        -1.1407207349274255,
        -0.4347664680346046,
        -1.0,
        -1.0,
    ];
    let design = Design::dense(2, 4, columns.to_vec()).unwrap();
    let problem = Problem::builder(design, vec![-116.82844214498212, 101.23550208387906])
        .loss(loss::by_name("huber", 0.3 * 116.82844214498212).unwrap())
        .standardize(false)
        .ridge(0.3)
        .build()
        .unwrap();
    let mut settings = limited(1, 1);
    settings.mechanisms.enumeration = false;
    settings.mechanisms.boxes = Use::Always;
    let (mut found, mut saved) = run(&problem, &settings, None);
    for _ in 0..10 {
        if found.status == Status::NodeLimit {
            (found, saved) = run(&problem, &settings, Some(&saved));
        }
    }
    assert_eq!(found.status, Status::Optimal);
}

/// Runs with this many nodes each until the search is over; returns the result and the number of runs.
fn in_pieces(problem: &Problem, settings: &Settings) -> (Solution, usize) {
    let (mut found, mut saved) = run(problem, settings, None);
    let mut runs = 1;
    while found.status == Status::NodeLimit {
        let (next, left) = run(problem, settings, Some(&saved));
        assert!(next.nodes > found.nodes, "no progress in run {runs}");
        assert!(next.objective <= found.objective);
        assert!(next.lower_bound.unwrap() >= found.lower_bound.unwrap() * (1.0 - 1e-9));
        (found, saved) = (next, left);
        runs += 1;
    }
    (found, runs)
}

#[test]
fn stopped_again_and_again_it_finds_the_same_optimum() {
    for name in loss::NAMES {
        let problem = hard(name);
        let truth = solve(&problem, &Settings::default()).unwrap();
        for threads in [1, 2] {
            let (found, runs) = in_pieces(&problem, &limited(7, threads));
            assert!(runs >= 5, "{name}: only {runs} runs");
            assert_eq!(found.status, Status::Optimal, "{name}");
            assert_eq!(found.support, truth.support, "{name}");
            assert!((found.objective - truth.objective).abs() <= 1e-12 * truth.objective);
            assert!(found.lower_bound.unwrap() <= truth.objective);
            // A warm start is rounded and a frame is built again, so the number of nodes is only about the same.
            assert!(found.nodes <= truth.nodes * 3 / 2 + 20, "{name}");
        }
    }
}

/// Asserts that the optimum is that of brute force, and that the bound is not above it.
fn assert_optimal(case: &Case, found: &Solution, truth: &Solution) {
    let slack = common::rounding(&case.problem, truth.objective);
    let error = found.objective - truth.objective;
    assert_eq!(found.status, Status::Optimal, "{}", case.words);
    assert!(error <= 1e-9 * truth.objective.max(1e-12), "{}", case.words);
    assert!(error >= -slack, "{}", case.words);
    let bound = found.lower_bound.unwrap();
    assert!(bound <= truth.objective + slack, "{}", case.words);
}

#[test]
fn random_problems_in_pieces_equal_brute_force() {
    for seed in 0..600 {
        let case = random_case(seed, loss::NAMES[seed as usize % loss::NAMES.len()]);
        let truth = solve(&case.problem, &Settings::new(Method::Exhaustive)).unwrap();
        let (found, _) = in_pieces(&case.problem, &limited(1 + seed % 3, 1));
        assert_optimal(&case, &found, &truth);
    }
}

#[test]
fn random_problems_killed_anywhere_equal_brute_force() {
    let settings = Settings::default();
    let mut kills = 0;
    for seed in 0..200 {
        let case = random_case(seed, loss::NAMES[seed as usize % loss::NAMES.len()]);
        let truth = solve(&case.problem, &Settings::new(Method::Exhaustive)).unwrap();
        let mut saved: Vec<Vec<u8>> = Vec::new();
        let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.encode()));
        let run = Run::new(&case.problem, &settings).save(Duration::ZERO, sink);
        run.solve().unwrap();
        for saved in &saved {
            let checkpoint = Checkpoint::decode(saved).unwrap();
            let run = Run::new(&case.problem, &settings).resume(checkpoint);
            assert_optimal(&case, &run.solve().unwrap(), &truth);
        }
        kills += saved.len();
    }
    assert!(kills > 1000, "{kills}");
}

/// A problem with more columns than a Gram matrix may have, few of which matter.
fn wide(loss: &str) -> Problem {
    let (rows, columns) = (40, 3100);
    let mut random = Random::new(3);
    let values: Vec<f64> = (0..rows * columns).map(|_| random.normal()).collect();
    let column = |j: usize| &values[j * rows..(j + 1) * rows];
    let response = (0..rows)
        .map(|i| 4.0 * column(10)[i] - 3.0 * column(2000)[i] + 0.1 * random.normal())
        .collect();
    let design = Design::dense(rows, columns, values.clone()).unwrap();
    let builder = Problem::builder(design, response)
        .standardize(false)
        .k(2)
        .ridge(0.5);
    let loss = loss::by_name(loss, 1.0).unwrap();
    builder.loss(loss).intercept(true).build().unwrap()
}

#[test]
fn wide_data_go_on_from_the_middle_of_their_screening() {
    // Working sets need few rounds, the ascent many iterations.
    goes_on_from_its_screening(&wide("quadratic"), 3);
    goes_on_from_its_screening(&wide("huber"), 10);
}

fn goes_on_from_its_screening(problem: &Problem, least: usize) {
    // With enumeration, a small budget would need no screening.
    let settings = Settings {
        mechanisms: Mechanisms {
            enumeration: false,
            ..Mechanisms::default()
        },
        ..Settings::default()
    };
    let truth = solve(problem, &settings).unwrap();
    assert_eq!(truth.status, Status::Optimal);
    let mut saved = Vec::new();
    let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.encode()));
    let first = Run::new(problem, &settings).save(Duration::ZERO, sink);
    // Saving must not change the result.
    assert_eq!(first.solve().unwrap().solver_calls, truth.solver_calls);
    let count = saved.len();
    assert!(count > least, "{count} checkpoints");
    let stopped = Settings {
        time_limit: Some(Duration::ZERO),
        ..settings.clone()
    };
    let mut bound = 0.0;
    for bytes in saved.iter().step_by(count / 8 + 1) {
        // Stopped again at once, nothing is lost: neither the model nor its bound nor the remaining features.
        let (again, left) = run(problem, &stopped, Some(bytes));
        assert!(again.objective.is_finite());
        assert!(again.lower_bound.unwrap() >= bound);
        bound = again.lower_bound.unwrap();
        for bytes in [bytes, &left] {
            let (found, _) = run(problem, &settings, Some(bytes));
            assert_eq!(found.status, Status::Optimal);
            assert_eq!(found.support, truth.support);
            assert!((found.objective - truth.objective).abs() <= 1e-12 * truth.objective);
            assert!(found.lower_bound.unwrap() <= truth.objective);
        }
    }
    assert!(bound > 0.0, "no bound was kept");
}

#[test]
fn a_checkpoint_of_every_step_is_a_place_to_go_on_from() {
    for (name, threads) in [("quadratic", 1), ("huber", 1), ("logistic", 2)] {
        let problem = hard(name);
        let truth = solve(&problem, &Settings::default()).unwrap();
        let mut saved = Vec::new();
        let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.encode()));
        let settings = Settings {
            threads: NonZeroUsize::new(threads),
            ..Settings::default()
        };
        Run::new(&problem, &settings)
            .save(Duration::ZERO, sink)
            .solve()
            .unwrap();
        let count = saved.len();
        for bytes in saved.iter().step_by(count / 12 + 1) {
            let checkpoint = Checkpoint::decode(bytes).unwrap();
            assert_eq!(
                Checkpoint::decode(&checkpoint.encode()).unwrap(),
                checkpoint
            );
            let found = Run::new(&problem, &Settings::default())
                .resume(checkpoint)
                .solve();
            let found = found.unwrap();
            assert_eq!(found.status, Status::Optimal, "{name}");
            assert!((found.objective - truth.objective).abs() <= 1e-12 * truth.objective);
            assert!(found.lower_bound.unwrap() <= truth.objective);
        }
    }
}

#[test]
fn stopped_before_it_has_nodes_it_starts_anew() {
    for name in ["quadratic", "logistic"] {
        let problem = hard(name);
        let truth = solve(&problem, &Settings::default()).unwrap();
        let settings = Settings {
            time_limit: Some(Duration::ZERO),
            ..Settings::default()
        };
        let (found, saved) = run(&problem, &settings, None);
        assert_eq!((found.status, found.nodes), (Status::TimeLimit, 0));
        let (found, _) = run(&problem, &Settings::default(), Some(&saved));
        assert_eq!((found.status, found.nodes), (Status::Optimal, truth.nodes));
        assert_eq!(found.objective, truth.objective);
    }
}

#[test]
fn a_limit_in_the_preparation_of_a_resumed_run_loses_nothing() {
    for name in ["quadratic", "logistic"] {
        let problem = hard(name);
        let (stopped, saved) = run(&problem, &limited(20, 1), None);
        let at_once = Settings {
            time_limit: Some(Duration::ZERO),
            ..Settings::default()
        };
        let (found, again) = run(&problem, &at_once, Some(&saved));
        assert_eq!(found.status, Status::TimeLimit);
        assert_eq!(
            (found.nodes, found.objective),
            (stopped.nodes, stopped.objective)
        );
        assert_eq!(found.lower_bound, stopped.lower_bound);
        let [(one, _), (other, _)] =
            [&saved, &again].map(|saved| run(&problem, &Settings::default(), Some(saved)));
        assert_eq!((one.nodes, one.objective), (other.nodes, other.objective));
        assert_eq!(one.status, Status::Optimal);
    }
}

#[test]
fn a_finished_run_resumed_is_finished() {
    for name in loss::NAMES {
        let problem = hard(name);
        let (found, saved) = run(&problem, &Settings::default(), None);
        let (again, left) = run(&problem, &limited(0, 1), Some(&saved));
        let same = Solution {
            seconds: found.seconds,
            ..again.clone()
        };
        assert_eq!(same, found, "{name}");
        assert!(
            saved.len() < 2000 && left.len() < 2000,
            "{name}: {}",
            saved.len()
        );
    }
}

#[test]
fn every_damaged_checkpoint_is_refused() {
    let problem = hard("quadratic");
    let (_, saved) = run(&problem, &limited(9, 1), None);
    refuses_damage(&saved, saved.len(), Checkpoint::decode);
    for more in [&b"\0"[..], &saved] {
        assert!(Checkpoint::decode(&[&saved, more].concat()).is_err());
    }
}

/// Bytes with a changed payload and a matching checksum: this does not happen by accident, but it must not cause a
/// panic.
#[test]
fn a_forged_checkpoint_does_no_harm() {
    for name in ["quadratic", "huber", "logistic"] {
        let problem = hard(name);
        let (_, saved) = run(&problem, &limited(9, 1), None);
        let mut random = Random::new(7);
        let mut accepted = 0;
        for _ in 0..1500 {
            let mut forged = saved[..saved.len() - 32].to_vec();
            for _ in 0..1 + random.below(3) {
                let at = 20 + random.below(forged.len() - 20);
                forged[at] = match random.below(4) {
                    0 => 0,
                    1 => 255,
                    _ => random.bits() as u8,
                };
            }
            let hash = blake3::hash(&forged);
            forged.extend_from_slice(hash.as_bytes());
            let Ok(checkpoint) = Checkpoint::decode(&forged) else {
                continue;
            };
            let run = Run::new(&problem, &limited(3, 1)).resume(checkpoint);
            accepted += u32::from(run.solve().is_ok());
        }
        assert!(accepted > 0, "{name}: nothing was tried");
    }
}

#[test]
fn another_search_is_refused_by_name() {
    let build = |shift: f64, k: usize, delta: f64, ridge: f64| {
        let mut random = Random::new(5);
        let columns = (0..60).map(|_| random.normal()).collect();
        let b = (0..12)
            .map(|i| random.normal() + shift * f64::from(i))
            .collect();
        Problem::builder(Design::dense(12, 5, columns).unwrap(), b)
            .standardize(false)
            .loss(loss::by_name("huber", delta).unwrap())
            .ridge(ridge)
            .k(k)
            .build()
            .unwrap()
    };
    let problem = build(0.0, 2, 1.0, 0.01);
    let (_, saved) = run(&problem, &limited(0, 1), None);
    let refuse = |problem: &Problem, settings: &Settings, words: &[&str]| {
        let checkpoint = Checkpoint::decode(&saved).unwrap();
        let outcome = Run::new(problem, settings).resume(checkpoint).solve();
        let message = outcome.unwrap_err().to_string();
        for word in words {
            assert!(message.contains(word), "no '{word}' in: {message}");
        }
    };
    let default = Settings::default();
    refuse(
        &build(1.0, 2, 1.0, 0.01),
        &default,
        &["checkpoint", "other data"],
    );
    refuse(&build(0.0, 2, 2.0, 0.01), &default, &["other data"]);
    refuse(
        &build(0.0, 2, 1.0, 0.02),
        &default,
        &["other data", "ridge"],
    );
    refuse(&build(0.0, 3, 1.0, 0.01), &default, &["k = 2", "it is 3"]);
    refuse(&hard("huber"), &default, &["rows = 12"]);
    let gap = Settings {
        gap: 0.5,
        ..Settings::default()
    };
    refuse(&problem, &gap, &["gap = 0", "it is 0.5"]);
    let relative = Settings {
        relative_gap: 0.25,
        ..Settings::default()
    };
    refuse(&problem, &relative, &["relative_gap = 0", "it is 0.25"]);
    refuse(
        &problem,
        &Settings::new(Method::Paper),
        &["method = paper", "best-first"],
    );
    // Limits and threads are not part of a search.
    let checkpoint = Checkpoint::decode(&saved).unwrap();
    let outcome = Run::new(&problem, &limited(1000, 2))
        .resume(checkpoint)
        .solve();
    assert_eq!(outcome.unwrap().status, Status::Optimal);
}

#[test]
fn a_newer_version_is_refused_as_such() {
    let (_, mut saved) = run(&hard("quadratic"), &limited(0, 1), None);
    let version = saved[8];
    saved[8] += 1;
    let message = Checkpoint::decode(&saved).unwrap_err().to_string();
    assert!(
        message.contains(&format!("version is {}", version + 1))
            && message.contains(&format!("version {version}")),
        "{message}"
    );
    let message = Checkpoint::decode(b"a,b,c\n1,2,3\n")
        .unwrap_err()
        .to_string();
    assert!(message.contains("no checkpoint"), "{message}");
}
