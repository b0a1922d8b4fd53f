//! A path that was stopped and resumed ends like the uninterrupted one; only its own checkpoint is accepted.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::common::stopped::{NEVER, limited, refuses_damage};
use crate::common::{hard, random_case, ruled_case};
use l0star::path::PathSize;
use l0star::{
    Checkpoint, Design, Error, Method, PathCheckpoint, PathRun, Problem, Run, Settings, Status,
    loss,
};

/// Runs at most this many nodes per size; returns the result and the bytes of the last checkpoint.
fn run(
    problem: &Problem,
    settings: &Settings,
    sizes: RangeInclusive<usize>,
    saved: Option<&[u8]>,
) -> (Vec<PathSize>, Vec<u8>) {
    let mut left = Vec::new();
    let sink = Box::new(|checkpoint: &PathCheckpoint| left = checkpoint.encode());
    let mut run = PathRun::new(problem, settings, sizes).save(NEVER, sink);
    if let Some(saved) = saved {
        run = run.resume(PathCheckpoint::decode(saved).unwrap());
    }
    let found = run.solve().unwrap();
    assert!(!left.is_empty());
    (found, left)
}

fn is_open(path: &[PathSize]) -> bool {
    let mut points = path.iter();
    points.any(|point| point.solution.status.stopped_early())
}

/// Runs with this many nodes per size until all are over; returns the result and the number of runs.
fn in_pieces(
    problem: &Problem,
    settings: &Settings,
    sizes: RangeInclusive<usize>,
) -> (Vec<PathSize>, usize) {
    let (mut found, mut saved) = run(problem, settings, sizes.clone(), None);
    let mut runs = 1;
    while is_open(&found) {
        let before = PathCheckpoint::decode(&saved).unwrap();
        (found, saved) = run(problem, settings, sizes.clone(), Some(&saved));
        let after = PathCheckpoint::decode(&saved).unwrap();
        assert!(after.nodes() > before.nodes(), "no progress in run {runs}");
        runs += 1;
    }
    // Everything is solved: nothing is searched again.
    let nodes = PathCheckpoint::decode(&saved).unwrap().nodes();
    let (again, left) = run(problem, &limited(0, 1), sizes, Some(&saved));
    for (again, found) in again.iter().zip(&found) {
        assert_eq!(again.solution.support, found.solution.support);
        assert_eq!(again.solution.objective, found.solution.objective);
        assert_eq!(again.solution.status, found.solution.status);
        assert_eq!(again.criteria, found.criteria);
    }
    assert_eq!(PathCheckpoint::decode(&left).unwrap().nodes(), nodes);
    (found, runs)
}

#[test]
fn stopped_again_and_again_it_finds_the_same_path() {
    for name in loss::NAMES {
        let problem = hard(name);
        let sizes = 0..=problem.k();
        let truth = PathRun::new(&problem, &Settings::default(), sizes.clone());
        let truth = truth.solve().unwrap();
        for threads in [1, 2] {
            let (found, runs) = in_pieces(&problem, &limited(7, threads), sizes.clone());
            assert!(runs >= 3, "{name}: only {runs} runs");
            for (found, truth) in found.iter().zip(&truth) {
                let (k, found, truth) = (found.k, &found.solution, &truth.solution);
                assert_eq!(found.status, Status::Optimal, "{name}, k = {k}");
                assert_eq!(found.support, truth.support, "{name}, k = {k}");
                assert!((found.objective - truth.objective).abs() <= 1e-12 * truth.objective);
                assert!(found.lower_bound.unwrap() <= truth.objective);
                assert!(
                    found.nodes <= truth.nodes * 3 / 2 + 20,
                    "{name}, k = {k}: {} nodes for {}",
                    found.nodes,
                    truth.nodes
                );
            }
        }
    }
}

#[test]
fn random_paths_in_pieces_equal_brute_force() {
    for seed in 0..200 {
        let case = random_case(seed, loss::NAMES[seed as usize % loss::NAMES.len()]);
        let settings = limited(1 + seed % 3, 1 + seed as usize % 2);
        equals_brute_force(&case.problem, &settings, 0, &case.words);
    }
    for seed in 0..60 {
        let case = ruled_case(seed, loss::NAMES[seed as usize % loss::NAMES.len()]);
        let Ok(problem) = &case.built else { continue };
        let first = problem.included().len();
        equals_brute_force(problem, &limited(1, 1), first, &case.words);
    }
}

fn equals_brute_force(problem: &Problem, settings: &Settings, first: usize, words: &str) {
    let (found, _) = in_pieces(problem, settings, first..=problem.k());
    for point in &found {
        let alone = problem.with_k(point.k).unwrap();
        let truth = l0star::solve(&alone, &Settings::new(Method::Exhaustive)).unwrap();
        let slack = 2e-9 * truth.objective.max(1e-12) + 1e-27 * problem.objective(&[]);
        let found = &point.solution;
        let error = found.objective - truth.objective;
        assert!(error.abs() <= slack, "{words}, k = {}", point.k);
        assert!(
            found.lower_bound.unwrap() <= truth.objective + slack,
            "{words}"
        );
    }
}

#[test]
fn an_interrupt_loses_nothing() {
    let problem = hard("quadratic");
    let sizes = 0..=problem.k();
    let (_, saved) = run(&problem, &limited(7, 1), sizes.clone(), None);
    let before = PathCheckpoint::decode(&saved).unwrap();
    let interrupted = Settings {
        interrupt: Some(Arc::new(AtomicBool::new(true))),
        ..Settings::default()
    };
    let (found, left) = run(&problem, &interrupted, sizes, Some(&saved));
    let status = |point: &PathSize| point.solution.status == Status::Interrupted;
    assert!(found.iter().any(status));
    let after = PathCheckpoint::decode(&left).unwrap();
    assert_eq!(after.nodes(), before.nodes());
    assert_eq!(after.finished(), before.finished());
}

/// On the scale of the data, the intercept has hardly a digit here: one column is 10^11 times further from zero than
/// its values are from each other. The model that one size adopts from the previous one must still have the objective
/// that it states.
#[test]
fn a_mean_far_from_zero_is_no_reason_to_refuse_a_checkpoint() {
    let columns = [
        [8475557522.284577, -3258708298.385443],
        [62299.16194928272, -34950.611988354176],
        [2.9181774273045738e29, -1.1219897892870681e29],
        [14545618.086256392, -6233180.932067717],
        [-1.6451606127157399e25, 1.1461111419926908e26],
        [6145581639.673808, 6145581639.673808],
        [9.006974406346443e-29, 9.006974406346443e-29],
        [6.23358424723588e17, 6.233584247254838e17],
    ];
    let design = Design::dense(2, 8, columns.concat()).unwrap();
    let response = vec![0.04079926960767777, 1.3315594760341645];
    let problem = Problem::builder(design, response)
        .weights(vec![523592893.06379783, 8829586.310942564])
        .ridge(0.0017388540423899249)
        .intercept(true)
        .exclude(2)
        .k(4)
        .build()
        .unwrap();
    let mut settings = Settings::default();
    settings.mechanisms.enumeration = false;
    let mut saved: Vec<PathCheckpoint> = Vec::new();
    let sink = Box::new(|checkpoint: &PathCheckpoint| saved.push(checkpoint.clone()));
    let run = PathRun::new(&problem, &settings, 0..=4).save(Duration::ZERO, sink);
    let truth = run.solve().unwrap();
    assert!(saved.len() > 4, "{}", saved.len());
    for checkpoint in saved {
        let run = PathRun::new(&problem, &settings, 0..=4).resume(checkpoint);
        for (found, truth) in run.solve().unwrap().iter().zip(&truth) {
            let (found, truth) = (&found.solution, &truth.solution);
            assert!((found.objective - truth.objective).abs() <= 1e-12 * truth.objective);
        }
    }
}

#[test]
fn a_node_limit_is_for_a_size_however_many_threads_there_are() {
    let problem = hard("huber");
    for threads in [1, 2] {
        let (found, _) = run(&problem, &limited(5, threads), 0..=problem.k(), None);
        // Nodes in flight when the limit is reached are finished.
        let most = 5 + threads as u64;
        assert!(found.iter().all(|point| point.solution.nodes <= most));
    }
}

fn stopped() -> (Problem, Vec<u8>) {
    let problem = hard("quadratic");
    let (_, saved) = run(&problem, &limited(7, 1), 0..=8, None);
    (problem, saved)
}

fn refusal(
    problem: &Problem,
    settings: &Settings,
    sizes: RangeInclusive<usize>,
    saved: &[u8],
) -> Error {
    let checkpoint = PathCheckpoint::decode(saved).unwrap();
    let run = PathRun::new(problem, settings, sizes).resume(checkpoint);
    run.solve().unwrap_err()
}

#[test]
fn another_path_is_refused() {
    let (problem, saved) = stopped();
    let one = Settings::default();
    for (settings, sizes, words) in [
        (one.clone(), 0..=9, "sizes = 0 to 8, and now it is 0 to 9"),
        (one.clone(), 1..=8, "sizes = 0 to 8, and now it is 1 to 8"),
        (
            Settings {
                gap: 0.5,
                ..one.clone()
            },
            0..=8,
            "gap = 0, and now it is 0.5",
        ),
        (
            Settings {
                top: NonZeroUsize::new(2),
                ..one.clone()
            },
            0..=8,
            "top = 1, and now it is 2",
        ),
    ] {
        let error = refusal(&problem, &settings, sizes, &saved);
        assert!(matches!(error, Error::OtherSearch { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let error = refusal(&hard("huber"), &one, 0..=8, &saved).to_string();
    assert!(
        error.contains("loss = quadratic, and now it is huber"),
        "{error}"
    );
    let paper = refusal(&problem, &Settings::new(Method::Paper), 0..=8, &saved);
    assert!(paper.to_string().contains("best-first"), "{paper}");
}

#[test]
fn other_data_are_refused() {
    let saved = {
        let case = random_case(3, "quadratic");
        run(&case.problem, &limited(1, 1), 0..=2, None).1
    };
    // The same shape with other numbers.
    let problem = random_case(3, "quadratic").problem;
    let design = problem.design().clone();
    let response = vec![1.5; problem.rows()];
    let other = Problem::builder(design, response)
        .standardize(false)
        .build()
        .unwrap();
    let error = refusal(&other, &Settings::default(), 0..=2, &saved).to_string();
    assert!(error.contains("it belongs to other data"), "{error}");
}

#[test]
fn a_checkpoint_of_one_search_is_none_of_a_path() {
    let (problem, saved) = stopped();
    let error = Checkpoint::decode(&saved).unwrap_err().to_string();
    assert!(
        error.contains("it belongs to a path, and this is a single search"),
        "{error}"
    );
    let mut search = Vec::new();
    let sink = Box::new(|checkpoint: &Checkpoint| search = checkpoint.encode());
    let settings = limited(3, 1);
    Run::new(&problem, &settings)
        .save(NEVER, sink)
        .solve()
        .unwrap();
    let error = PathCheckpoint::decode(&search).unwrap_err().to_string();
    assert!(
        error.contains("it belongs to a single search, and this is a path"),
        "{error}"
    );
}

#[test]
fn two_hundred_damaged_ones_are_refused() {
    let (_, saved) = stopped();
    refuses_damage(&saved, 200, PathCheckpoint::decode);
}
