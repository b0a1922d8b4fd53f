//! A path that is killed after every checkpoint with new content completes, and makes no step twice.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{PathCheckpoint, PathRun, PathSize};
use crate::search::checkpoint::Part;
use crate::search::checkpoint::testing::{self, SIGNAL, forge, payload, threads};
use crate::{Problem, Settings, Solution, Status};

fn problem(loss: &str, rows: usize, columns: usize, ridge: f64) -> Problem {
    let builder = testing::problem(loss, rows, columns, &SIGNAL);
    builder.ridge(ridge).intercept(true).build().unwrap()
}

/// A problem with so many columns that the Gram matrix has several bands.
fn tall() -> Problem {
    problem("quadratic", 500, 400, 0.05)
}

/// A problem with more columns than a Gram matrix may have.
fn wide() -> Problem {
    problem("quadratic", 25, 3010, 0.5)
}

/// The only part of an archive.
fn part(checkpoint: &PathCheckpoint) -> &Part {
    checkpoint.0.parts[0].as_ref().unwrap()
}

/// The state without what differs between runs: what was found and proved, but not the time and the calls.
fn substance(checkpoint: &PathCheckpoint) -> PathCheckpoint {
    let mut checkpoint = checkpoint.clone();
    let part = checkpoint.0.parts[0].as_mut().unwrap();
    for state in part.states.iter_mut().flatten() {
        (state.seconds, state.calls) = (0.0, 0);
    }
    if let Some(gram) = &mut part.gram {
        Arc::make_mut(gram).seconds = 0.0;
    }
    checkpoint
}

/// Stops a path at its first checkpoint with new content; returns that checkpoint, or the result if the path ended
/// before.
fn kill(
    problem: &Problem,
    settings: &Settings,
    last: usize,
    from: Option<&PathCheckpoint>,
) -> Result<PathCheckpoint, Vec<PathSize>> {
    let flag = Arc::new(AtomicBool::new(false));
    let settings = Settings {
        interrupt: Some(Arc::clone(&flag)),
        ..settings.clone()
    };
    let before = from.map(substance);
    let mut left: Option<PathCheckpoint> = None;
    let sink = Box::new(|checkpoint: &PathCheckpoint| {
        let is_new = before != Some(substance(checkpoint));
        if is_new && left.is_none() {
            left = Some(PathCheckpoint::decode(&checkpoint.encode()).unwrap());
            flag.store(true, Ordering::Relaxed);
        }
    });
    let mut run = PathRun::new(problem, &settings, 0..=last).save(Duration::ZERO, sink);
    if let Some(from) = from {
        run = run.resume(from.clone());
    }
    let found = run.solve().unwrap();
    let is_stopped = |point: &PathSize| point.solution.status == Status::Interrupted;
    if found.iter().any(is_stopped) {
        Ok(left.unwrap())
    } else {
        Err(found)
    }
}

fn same(found: &[PathSize], truth: &[PathSize]) {
    assert_eq!(found.len(), truth.len());
    for (found, truth) in found.iter().zip(truth) {
        let (k, found, truth) = (found.k, &found.solution, &truth.solution);
        assert_eq!(
            (truth.status, found.status),
            (Status::Optimal, Status::Optimal),
            "k = {k}"
        );
        assert_eq!(found.support, truth.support, "k = {k}");
        assert!(
            (found.objective - truth.objective).abs() <= 1e-12 * truth.objective,
            "k = {k}"
        );
        assert!(found.lower_bound.unwrap() <= truth.objective, "k = {k}");
    }
}

/// Kills a path at every checkpoint with new content until it completes; returns those checkpoints.
fn survives(problem: &Problem, settings: &Settings, last: usize) -> Vec<PathCheckpoint> {
    let truth = PathRun::new(problem, settings, 0..=last).solve().unwrap();
    let mut count = 0;
    let sink = Box::new(|_: &PathCheckpoint| count += 1);
    let whole = PathRun::new(problem, settings, 0..=last)
        .save(Duration::ZERO, sink)
        .solve()
        .unwrap();
    if settings.thread_count() == 1 {
        // Saving must not change the result.
        for (whole, truth) in whole.iter().zip(&truth) {
            let whole = Solution {
                seconds: truth.solution.seconds,
                ..whole.solution.clone()
            };
            assert_eq!(whole, truth.solution);
        }
    }
    let mut left: Vec<PathCheckpoint> = Vec::new();
    let found = loop {
        match kill(problem, settings, last, left.last()) {
            Ok(next) => left.push(next),
            Err(found) => break found,
        }
        // A path that repeated its steps would never finish.
        let kills = left.len();
        assert!(
            kills <= 3 * count / 2 + 20,
            "{}: {kills} kills, {count} steps, finished {:?}",
            problem.loss().name(),
            left[kills - 1].finished()
        );
    };
    assert!(
        left.len() > usize::from(settings.thread_count() == 1),
        "{} kills, {count} steps",
        left.len()
    );
    same(&found, &truth);
    for pair in left.windows(2) {
        let (before, after) = (pair[0].finished(), pair[1].finished());
        assert!(
            before.iter().all(|k| after.contains(k)),
            "{before:?}, then {after:?}"
        );
    }
    left
}

#[test]
fn sizes_that_are_done_and_the_one_at_hand_go_on() {
    let left = survives(&tall(), &threads(1), 4);
    // There are kills in every size, and during the making of the shared matrix.
    for k in 0..=4 {
        assert!(left.iter().any(|left| left.finished().len() == k), "{k}");
    }
    let matrix = |left: &PathCheckpoint| part(left).gram.as_ref().map_or(0, |gram| gram.count());
    let mut rows: Vec<usize> = left.iter().map(matrix).collect();
    assert!(rows.is_sorted(), "{rows:?}");
    rows.dedup();
    assert!(rows.len() >= 3, "{rows:?}");
}

#[test]
fn two_threads_go_on() {
    survives(&tall(), &threads(2), 4);
    survives(&problem("logistic", 120, 30, 0.01), &threads(2), 4);
}

#[test]
fn other_losses_and_lists_go_on() {
    survives(&problem("logistic", 120, 30, 0.01), &threads(1), 4);
    survives(&problem("huber", 80, 30, 0.01), &threads(1), 4);
    let settings = Settings {
        top: NonZeroUsize::new(3),
        ..threads(1)
    };
    survives(&problem("quadratic", 60, 25, 0.01), &settings, 4);
}

/// The position of a checkpoint: the number of finished sizes, and whether the current one is being screened and
/// whether it has nodes.
fn stage(checkpoint: &PathCheckpoint) -> (usize, bool, bool) {
    let states = part(checkpoint).states.iter().flatten();
    let at_hand = states.filter(|state| !state.is_over());
    let mut at_hand = at_hand.map(|state| (state.prepared.screening.is_some(), state.started));
    let (is_screened, has_nodes) = at_hand.next_back().unwrap_or_default();
    (checkpoint.finished().len(), is_screened, has_nodes)
}

#[test]
fn wide_data_go_on_from_anywhere() {
    let (problem, settings) = (wide(), threads(1));
    let mut saved: Vec<PathCheckpoint> = Vec::new();
    let sink = Box::new(|checkpoint: &PathCheckpoint| saved.push(checkpoint.clone()));
    let run = PathRun::new(&problem, &settings, 0..=2).save(Duration::ZERO, sink);
    let truth = run.solve().unwrap();
    let stages: Vec<_> = saved.chunk_by(|a, b| stage(a) == stage(b)).collect();
    for k in [1, 2] {
        for (is_screened, has_nodes) in [(true, false), (false, true)] {
            let expected = (k, is_screened, has_nodes);
            assert!(stages.iter().any(|of| stage(&of[0]) == expected));
        }
    }
    for of in stages {
        for from in [&of[0], &of[of.len() / 2], &of[of.len() - 1]] {
            let from = PathCheckpoint::decode(&from.encode()).unwrap();
            let run = PathRun::new(&problem, &settings, 0..=2).resume(from);
            same(&run.solve().unwrap(), &truth);
        }
    }
}

#[test]
fn a_matrix_is_kept_once_and_only_while_it_is_needed() {
    let problem = tall();
    let mut saved: Vec<PathCheckpoint> = Vec::new();
    let sink = Box::new(|checkpoint: &PathCheckpoint| saved.push(checkpoint.clone()));
    let run = PathRun::new(&problem, &threads(1), 0..=4).save(Duration::ZERO, sink);
    run.solve().unwrap();
    for checkpoint in &saved {
        let mut states = part(checkpoint).states.iter().flatten();
        assert!(states.all(|state| state.prepared.gram.is_none()));
    }
    let with = |size: usize| {
        let mut of_size = saved.iter().filter(|one| one.finished().len() == size);
        of_size.all(|one| part(one).gram.is_some())
    };
    assert!(with(2) && with(3) && with(4));
    assert!(part(saved.last().unwrap()).gram.is_none());
}

#[test]
fn forged_ones_do_no_harm() {
    let problem = tall();
    let settings = Settings {
        node_limit: Some(2),
        ..threads(1)
    };
    let mut saved: Vec<Vec<u8>> = Vec::new();
    let sink = Box::new(|checkpoint: &PathCheckpoint| saved.push(checkpoint.encode()));
    let run = PathRun::new(&problem, &threads(1), 0..=3).save(Duration::ZERO, sink);
    run.solve().unwrap();
    let mut accepted = 0;
    for (i, saved) in saved.iter().cycle().take(120).enumerate() {
        // The small numbers are at the beginning and at the end, around the matrix.
        let whole = payload(saved);
        let reach = whole.min(2000);
        let part = if i % 2 == 0 {
            0..reach
        } else {
            whole - reach..whole
        };
        if let Ok(checkpoint) = PathCheckpoint::decode(&forge(saved, i, part)) {
            let run = PathRun::new(&problem, &settings, 0..=3).resume(checkpoint);
            accepted += u32::from(run.solve().is_ok());
        }
    }
    assert!(accepted > 0, "nothing was tried");
}
