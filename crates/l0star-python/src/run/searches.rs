//! The searches that run on a thread of their own: one size, several, every price, prices of features, resamples.

use std::sync::Mutex;
use std::time::Instant;

use l0star::path::{Criteria, PathSize};
use l0star::search::{Cluster, Event};
use l0star::{Checkpoint, PathCheckpoint, PathRun, Price, PriceRun, Problem, Run, Settings};
use l0star_record::stability::{Drawn, DrawnFile, Searches, Stop};

use super::{Events, Follower, Saving, State, Told, lock};
use crate::solution::Solution;

/// Finds the best model of one size; runs on the search thread.
pub fn solve(
    problem: &Problem,
    settings: &Settings,
    events: &Events,
    kept: Saving<Checkpoint>,
    cluster: Option<impl Cluster>,
) -> l0star::Result<Solution> {
    let mut follower = Follower::new(problem.k(), Instant::now());
    let mut run = Run::new(problem, settings).observe(Box::new(|event: &Event| {
        follower.note(event);
        if events.states {
            events.tell(Told::State(follower.state.clone()));
        }
    }));
    if events.checkpoints {
        let sink = |checkpoint: &Checkpoint| events.save(checkpoint.encode());
        run = run.save(kept.every, Box::new(sink));
    }
    if let Some(checkpoint) = kept.resume {
        run = run.resume(checkpoint);
    }
    if let Some(cluster) = cluster {
        run = run.on_cluster(cluster);
    }
    let solution = run.solve()?;
    let criteria = Criteria::new(problem, &solution);
    Ok(Solution::new(
        problem.k(),
        solution,
        criteria,
        follower.history,
    ))
}

/// Computes the cost of deciding otherwise about each feature; runs on the search thread.
pub fn prices(
    problem: &Problem,
    settings: &Settings,
    found: &l0star::Solution,
    events: &Events,
    kept: Saving<Checkpoint>,
) -> l0star::Result<Vec<Price>> {
    let mut run = PriceRun::new(problem, settings, found);
    if events.checkpoints {
        let sink = |checkpoint: &Checkpoint| events.save(checkpoint.encode());
        run = run.save(kept.every, Box::new(sink));
    }
    if let Some(checkpoint) = kept.resume {
        run = run.resume(checkpoint);
    }
    run.solve()
}

/// Finds the best models of resamples; returns them with what ended the run early and the seconds of all runs.
/// Runs on the thread that waits for the searches and takes part in them.
pub fn stability(
    searches: &Searches,
    problem: impl Fn(usize) -> l0star::Result<Problem> + Sync,
    events: &Events,
    key: String,
    columns: usize,
    resume: Option<DrawnFile>,
) -> l0star::Result<(Vec<Drawn>, Option<Stop>, f64)> {
    let origin = Instant::now();
    let mut file = match resume {
        Some(file) => file.check(&key, columns).map(|()| file)?,
        None => DrawnFile::new(key),
    };
    let before = file.seconds;
    let known = std::mem::take(&mut file.drawn);
    // A channel can be used by one thread at a time.
    let shared = Mutex::new(events);
    let done = |count: usize| {
        let events = lock(&shared);
        if events.states {
            events.tell(Told::State(State {
                seconds: origin.elapsed().as_secs_f64(),
                nodes: count as u64,
                ..State::new(count)
            }));
        }
    };
    let mut save = |drawn: &[Drawn]| {
        let events = lock(&shared);
        if events.checkpoints {
            file.seconds = before + origin.elapsed().as_secs_f64();
            file.drawn = drawn.to_vec();
            file.drawn.sort_by_key(|own| own.at);
            events.save(file.encode());
        }
    };
    let (drawn, stop) = searches.run(known, problem, done, &mut save)?;
    Ok((drawn, stop, before + origin.elapsed().as_secs_f64()))
}

/// A model that is best between two prices: the prices, the sum of the factors of its features, its objective
/// without the price, the status of the proof, and its solution.
pub type PricePiece = (f64, f64, f64, f64, String, Solution);

/// Finds the best model at every price of a feature; runs on the search thread.
pub fn penalty_path(problem: &Problem, settings: &Settings) -> l0star::Result<Vec<PricePiece>> {
    let pieces = l0star::penalty_path(problem, settings)?.into_iter();
    let pieces = pieces.map(|piece| {
        let solution = Solution::new(problem.k(), piece.solution, None, Default::default());
        let status = piece.status.to_string();
        (
            piece.from,
            piece.to,
            piece.weight,
            piece.objective,
            status,
            solution,
        )
    });
    Ok(pieces.collect())
}

/// Finds the best model of each of several sizes; runs on the search thread.
pub fn path(
    problem: &Problem,
    settings: &Settings,
    events: &Events,
    sizes: Vec<usize>,
    kept: Saving<PathCheckpoint>,
    cluster: Option<impl Cluster>,
) -> l0star::Result<Vec<Solution>> {
    let origin = Instant::now();
    let mut followers: Vec<Follower> = Vec::new();
    let mut run = PathRun::new(problem, settings, sizes);
    // Sizes with an observer are solved one after the other. With several threads and no observer,
    // they are solved in parallel.
    if events.states || settings.thread_count() == 1 {
        run = run.observe(Box::new(|k, event| {
            if followers.last().is_none_or(|last| last.state.k != k) {
                followers.push(Follower::new(k, origin));
            }
            if let Some(follower) = followers.last_mut() {
                follower.note(event);
                if events.states {
                    events.tell(Told::State(follower.state.clone()));
                }
            }
        }));
    }
    if events.checkpoints {
        let sink = |checkpoint: &PathCheckpoint| events.save(checkpoint.encode());
        run = run.save(kept.every, Box::new(sink));
    }
    if let Some(checkpoint) = kept.resume {
        run = run.resume(checkpoint);
    }
    if let Some(cluster) = cluster {
        run = run.on_cluster(cluster);
    }
    let points = run.solve()?;
    let mut followers = followers.into_iter().peekable();
    let solution = |point: PathSize| {
        let follower = followers.next_if(|follower| follower.state.k == point.k);
        let history = follower.map(|follower| follower.history);
        let history = history.unwrap_or_default();
        Solution::new(point.k, point.solution, point.criteria, history)
    };
    Ok(points.into_iter().map(solution).collect())
}
