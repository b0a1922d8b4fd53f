//! Paths that take turns make each Gram matrix once. Stopped anywhere, they resume without a loss.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Batch, BatchCheckpoint, BatchPlan, Turn, in_turns};
use crate::gram::root::testing::MADE;
use crate::path::{PathSize, PathState};
use crate::search::checkpoint::testing::{self, SIGNAL};
use crate::{Error, Problem, Settings, Status, solve};

const SIZES: [usize; 3] = [1, 2, 4];

/// A problem without every second row, or without the others.
fn fold(fold: usize) -> Problem {
    let (rows, columns) = (120, 40);
    let weights = (0..rows).map(|i| f64::from(u8::from(i % 2 == fold)));
    let builder = testing::problem("quadratic", rows, columns, &SIGNAL);
    let builder = builder.ridge(0.02).intercept(true);
    builder.weights(weights.collect()).build().unwrap()
}

/// Solves all sizes of both folds on this thread; returns them with the number of the fold.
fn solve_both(batch: &Batch, settings: &Settings, together: usize) -> Vec<(usize, PathSize)> {
    let points = Mutex::new(Vec::new());
    let begin = |at: usize| batch.path(at, &fold(at), settings, SIZES);
    let step = |at: usize, path: &mut PathState| {
        let point = path.step(settings)?.expect("a size is left");
        assert_eq!(path.sizes()[path.done() - 1], point.k);
        points.lock().unwrap().push((at, point));
        Ok(Turn::Next)
    };
    in_turns(2, 1, together, begin, step).unwrap();
    points.into_inner().unwrap()
}

fn count<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = MADE.get();
    let done = work();
    (done, MADE.get() - before)
}

#[test]
fn the_gram_matrix_is_made_once_a_fold() {
    let settings = Settings::default();
    let (found, made) = count(|| solve_both(&Batch::unkept(), &settings, 2));
    assert_eq!(made, 2, "for {} searches", found.len());
    let order: Vec<(usize, usize)> = found.iter().map(|(at, point)| (point.k, *at)).collect();
    assert_eq!(order, [(1, 0), (1, 1), (2, 0), (2, 1), (4, 0), (4, 1)]);
    let mut alone = Vec::new();
    let (_, made) = count(|| {
        for (k, at) in SIZES.into_iter().flat_map(|k| [(k, 0), (k, 1)]) {
            let problem = fold(at).with_k(k).unwrap();
            alone.push(solve(&problem, &settings).unwrap());
        }
    });
    assert_eq!(made, 6);
    for ((_, found), alone) in found.iter().zip(&alone) {
        assert_eq!(found.solution.status, Status::Optimal);
        assert_eq!(found.solution.support, alone.support);
        let error = (found.solution.objective - alone.objective).abs();
        assert!(error <= 1e-9 * alone.objective, "k = {}", found.k);
    }
}

#[test]
fn one_size_alone_is_searched_like_any_other_problem() {
    let (problem, settings) = (fold(0).with_k(3).unwrap(), Settings::default());
    let mut path = Batch::unkept().path(0, &problem, &settings, [3]).unwrap();
    let found = path.step(&settings).unwrap().unwrap().solution;
    let alone = solve(&problem, &settings).unwrap();
    assert_eq!(found.nodes, alone.nodes);
    assert_eq!(found.objective, alone.objective);
}

/// Stops a run at its first checkpoint with new content; returns that checkpoint, or the result if the run ended
/// before.
fn interrupted(
    plan: &BatchPlan,
    from: &BatchCheckpoint,
) -> Result<BatchCheckpoint, Vec<(usize, PathSize)>> {
    let flag = Arc::new(AtomicBool::new(false));
    let settings = Settings {
        interrupt: Some(Arc::clone(&flag)),
        ..plan.settings.clone()
    };
    let known = |checkpoint: &BatchCheckpoint| (checkpoint.nodes(), checkpoint.finished());
    let before = known(from);
    let mut left = None;
    let sink = Box::new(|checkpoint: &BatchCheckpoint| {
        if left.is_none() && known(checkpoint) != before {
            left = Some(BatchCheckpoint::decode(&checkpoint.encode()).unwrap());
            flag.store(true, Ordering::Relaxed);
        }
    });
    let batch = Batch::kept(from.clone(), Duration::ZERO, sink);
    let found = solve_both(&batch, &settings, 2);
    drop(batch);
    let is_stopped = |(_, point): &(usize, PathSize)| point.solution.status == Status::Interrupted;
    if found.iter().any(is_stopped) {
        Ok(left.unwrap())
    } else {
        Err(found)
    }
}

#[test]
fn interrupted_at_every_step_a_batch_loses_nothing() {
    let problem = fold(0);
    let settings = Settings::default();
    let plan = BatchPlan {
        problem: &problem,
        settings: &settings,
        parameters: &[("folds", "2".to_owned())],
        paths: 2,
    };
    let truth = solve_both(&Batch::unkept(), &settings, 2);
    let mut left = BatchCheckpoint::new(&plan).unwrap();
    let mut stops = 0;
    let found = loop {
        match interrupted(&plan, &left) {
            Ok(next) => {
                next.check(&plan).unwrap();
                assert!(next.nodes() >= left.nodes());
                assert!(
                    left.finished()
                        .iter()
                        .all(|at| next.finished().contains(at))
                );
                left = next;
            }
            Err(found) => break found,
        }
        stops += 1;
        assert!(stops < 1000, "no progress");
    };
    assert!(stops >= truth.len() - 1, "{stops} stops");
    for ((_, found), (_, truth)) in found.iter().zip(&truth) {
        assert_eq!(found.solution.status, Status::Optimal);
        assert_eq!(found.solution.support, truth.solution.support);
        let (found, truth) = (found.solution.objective, truth.solution.objective);
        assert!((found - truth).abs() <= 1e-12 * truth);
    }
}

#[test]
fn without_room_for_both_one_path_comes_after_the_other() {
    let found = solve_both(&Batch::unkept(), &Settings::default(), 1);
    let order: Vec<(usize, usize)> = found.iter().map(|(at, point)| (*at, point.k)).collect();
    assert_eq!(order, [(0, 1), (0, 2), (0, 4), (1, 1), (1, 2), (1, 4)]);
}

#[test]
fn threads_share_the_paths_and_one_can_stop_them_all() {
    let (batch, settings) = (Batch::unkept(), Settings::default());
    let begin = |at: usize| batch.path(at, &fold(at % 2), &settings, SIZES);
    for threads in [1, 3, 20] {
        let steps = AtomicUsize::new(0);
        let count = |_: usize, path: &mut PathState| {
            path.step(&settings)?;
            steps.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Error>(Turn::Next)
        };
        in_turns(5, threads, 5, begin, count).unwrap();
        assert_eq!(steps.into_inner(), 5 * SIZES.len());
    }
    let steps = AtomicUsize::new(0);
    let stop = |_: usize, path: &mut PathState| {
        path.step(&settings)?;
        Ok(match steps.fetch_add(1, Ordering::Relaxed) {
            3 => Turn::EndAll,
            _ => Turn::Next,
        })
    };
    in_turns(5, 1, 5, begin, stop).unwrap();
    assert_eq!(steps.into_inner(), 4);
    let steps = AtomicUsize::new(0);
    let end_one = |at: usize, path: &mut PathState| {
        path.step(&settings)?;
        steps.fetch_add(1, Ordering::Relaxed);
        Ok(if at == 1 { Turn::EndPath } else { Turn::Next })
    };
    in_turns(5, 2, 5, begin, end_one).unwrap();
    assert_eq!(steps.into_inner(), 4 * SIZES.len() + 1);
    let fail = |at: usize, path: &mut PathState| match at {
        2 => Err(Error::Empty { what: "rows" }),
        _ => path.step(&settings).map(|_| Turn::Next),
    };
    assert!(in_turns(5, 1, 5, begin, fail).is_err());
}
