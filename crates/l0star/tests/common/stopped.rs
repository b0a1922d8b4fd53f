//! Runs that take many nodes, and what holds for one of them that was stopped.

use l0star::{Method, Problem, Settings, Solution, Status, solve};

pub fn paper() -> Settings {
    Settings::new(Method::Paper)
}

/// Both searches.
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

/// What is claimed holds, and no less than what a null model would be is delivered.
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

/// A run with this many bytes for open nodes.
pub fn with_memory(problem: &Problem, base: &Settings, bytes: u64) -> Solution {
    let settings = Settings {
        memory_limit: Some(bytes),
        ..base.clone()
    };
    solve(problem, &settings).unwrap()
}
