//! Runs that take many nodes, and checks of runs that were stopped and of their checkpoints.

use std::num::NonZeroUsize;
use std::time::Duration;

use l0star::{Error, Method, Problem, Settings, Solution, Status, solve};

/// The interval that hands out only the last checkpoint.
pub const NEVER: Duration = Duration::MAX;

pub fn limited(nodes: u64, threads: usize) -> Settings {
    Settings {
        node_limit: Some(nodes),
        threads: NonZeroUsize::new(threads),
        ..Settings::default()
    }
}

/// Asserts that a checkpoint is refused when a bit at one of this many places is changed, or when it ends there.
pub fn refuses_damage<T>(saved: &[u8], places: usize, decode: impl Fn(&[u8]) -> Result<T, Error>) {
    let refuses = |bytes: &[u8], what: &str| match decode(bytes) {
        Err(Error::Checkpoint { .. }) => {}
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what}: it was read"),
    };
    for i in 0..places {
        let at = saved.len() * i / places;
        let mut damaged = saved.to_vec();
        damaged[at] ^= 1 << (i % 8);
        refuses(&damaged, &format!("a bit of byte {at}"));
        refuses(&saved[..at], &format!("{at} bytes"));
    }
}

pub fn paper() -> Settings {
    Settings::new(Method::Paper)
}

/// The settings of both searches.
pub fn searches() -> [Settings; 2] {
    [paper(), Settings::new(Method::BestFirst)]
}

/// The unlimited run, which takes many nodes.
pub fn unlimited(problem: &Problem, settings: &Settings) -> Solution {
    let truth = solve(problem, settings).unwrap();
    assert_eq!(truth.status, Status::Optimal);
    assert!(
        truth.nodes >= 50,
        "only {} nodes: too easy for {}",
        truth.nodes,
        settings.method
    );
    truth
}

/// Asserts that the claims of a stopped run hold, and that its model is no worse than the null model.
pub fn check_stopped(problem: &Problem, found: &Solution, truth: &Solution, status: Status) {
    assert_eq!(found.status, status);
    assert!(found.status.stopped_early());
    let bound = found.lower_bound.unwrap();
    assert!(
        bound <= truth.objective,
        "{status}: bound {bound} above the optimum {}",
        truth.objective
    );
    assert!(bound >= 0.0, "{status}: bound {bound}");
    assert!(
        found.objective >= truth.objective * (1.0 - 1e-12),
        "{status}: {} below the optimum {}",
        found.objective,
        truth.objective
    );
    assert!(
        found.objective <= problem.objective(&[]) * (1.0 + 1e-12),
        "{status}: {} above the null model",
        found.objective
    );
    assert!(found.support.len() <= problem.k());
    assert!(found.nodes < truth.nodes);
}

/// Runs with this many bytes for open nodes.
pub fn with_memory(problem: &Problem, base: &Settings, bytes: u64) -> Solution {
    let settings = Settings {
        memory_limit: Some(bytes),
        ..base.clone()
    };
    solve(problem, &settings).unwrap()
}
