//! Small problems that are hard for floating point, solved by the engine and compared with exact arithmetic.
//!
//! No comparison uses a tolerance of ours. For every loss, the following must hold:
//!
//! | what is reported | what must hold in exact numbers |
//! |---|---|
//! | a bound: of a search at any time, of the rest of a list, of a price | it is at most the minimum that it bounds |
//! | an objective | P of its model plus the prices of its set, within 32 units of rounding; at least the set's minimum |
//! | `optimal`, `gap_reached` | the gap is at most what the status says |
//! | a list | its models are in order, each at its own minimum, and no better one is left out |
//! | prices | the exact cost is between its bounds |
//! | a path, a search that was stopped and resumed | the same, for every size, before and after |
//!
//! The problems have columns and responses in units from 1e-300 to 1e300, columns that are equal or nearly so, means
//! far from 0, ridges from 1e-14 to 1e6, weights from 1e-12 to 1e12, groups, bounds, heredity and prices of
//! features. A problem that the builder refuses is no finding; a panic is.
//!
//! The oracle is the crate `l0star-oracle`. It uses fractions, and an enclosure of 60 digits for the logistic,
//! Poisson and gamma losses and for Cox's partial likelihood (ties, strata, entry times). It runs in this process,
//! in the profile of `xtask` itself.
//!
//! [`wide`] does the same for problems with fewer rows than columns that are searched with proved boxes, and checks
//! the boxes.

mod claims;
mod draw;
mod wide;

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use l0star::search::{Event, News};
use l0star::{
    Checkpoint, Method, PathCheckpoint, PathRun, PriceRun, Problem, RelaxationKind, Run, Settings,
    Solution, Status, Use, prices,
};

use super::{Finding, Ground};
use crate::soak::common::Random;
use claims::Truth;
use draw::Case;

/// Solves the hard problem of a seed, and asks one or two questions about it.
pub fn hard(ground: &Ground, seed: u64) -> Result<(), Finding> {
    watched(ground, seed, Case::draw, examine)
}

/// Solves a problem suited to proved boxes, and asks two questions about it.
pub fn boxes(ground: &Ground, seed: u64) -> Result<(), Finding> {
    watched(ground, seed, Case::wide, wide::examine)
}

/// Examines a case on its own thread, so that a panic or an endless loop is a finding.
fn watched(
    ground: &Ground,
    seed: u64,
    draw: fn(u64) -> Case,
    examine: fn(&Case, u64) -> Result<(), Finding>,
) -> Result<(), Finding> {
    let (done, outcome) = mpsc::channel();
    thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| examine(&draw(seed), seed)));
        let panicked = |_| Err("a panic, whose message is above".to_owned());
        // The receiver is gone if the time is up.
        let _ = done.send(outcome.unwrap_or_else(panicked));
    });
    let outcome = match ground.program.watchdog {
        Some(limit) => outcome.recv_timeout(limit),
        None => outcome.recv().map_err(mpsc::RecvTimeoutError::from),
    };
    let outcome = outcome.unwrap_or_else(|_| Err("it does not end".to_owned()));
    if outcome.is_err() {
        ground.put("case.txt", format!("{:#?}\n", draw(seed)).as_bytes())?;
    }
    outcome
}

fn say(error: l0star::Error) -> String {
    format!("refused after the problem was accepted: {error}")
}

fn examine(case: &Case, seed: u64) -> Result<(), Finding> {
    let Ok(problem) = case.builder().and_then(|builder| builder.build()) else {
        return Ok(());
    };
    let truth = Truth::new(case, &problem)?;
    let random = &mut Random::new(seed ^ 0xBB67_AE85_84CA_A73B);
    let found = search(&truth, case, &problem, drawn(case, random), random)?;
    let base = &Settings::default();
    match random.below(5) {
        0 => list(&truth, &problem, random),
        1 => costs(&truth, &problem, &found, random),
        2 => sizes(&truth, case, &problem, base, random),
        3 => in_pieces(&truth, case, &problem, base, random),
        _ => interrupted(&truth, case, &problem, base, random),
    }
}

/// Draws a method and its mechanisms.
fn drawn(case: &Case, random: &mut Random) -> Settings {
    let plain = case.rules.groups.is_empty()
        && case.rules.bounds.is_empty()
        && case.rules.requires.is_empty()
        && case.prices.penalty == 0.0;
    // The paper's method is for losses of bounded curvature that are sums over rows.
    let plain = plain && !matches!(case.loss, "poisson" | "gamma" | "cox");
    let mut settings = match random.below(8) {
        0 if case.is_mild && plain => Settings::new(Method::Paper),
        1 if case.is_mild && plain => Settings {
            relaxation: RelaxationKind::Sga,
            ..Settings::new(Method::Paper)
        },
        2 => Settings::new(Method::Exhaustive),
        3 => Settings {
            threads: NonZeroUsize::new(2),
            ..Settings::default()
        },
        _ => Settings::default(),
    };
    // With the Gram matrix or with rows; with or without screening of columns first.
    settings.mechanisms.gram = random.chance(0.8);
    if random.chance(0.3) {
        settings.mechanisms.screen_from = 0;
        settings.mechanisms.working_from = 0;
    }
    if random.chance(0.3) {
        settings.mechanisms.boxes = Use::Always;
    }
    settings
}

/// Runs one search to its end and checks every bound that it announces.
fn search(
    truth: &Truth,
    case: &Case,
    problem: &Problem,
    mut settings: Settings,
    random: &mut Random,
) -> Result<Solution, Finding> {
    match random.below(6) {
        0 => settings.relative_gap = [1e-12, 1e-6, 0.1][random.below(3)],
        1 => settings.gap = problem.empty_objective() * [1e-14, 1e-6, 0.1][random.below(3)],
        _ => {}
    }
    let highest = Cell::new(f64::NEG_INFINITY);
    let observer = Box::new(|event: &Event| {
        if event.news == News::Bound {
            highest.set(highest.get().max(event.lower_bound));
        }
    });
    let run = Run::new(problem, &settings).observe(observer);
    let found = run.solve().map_err(say)?;
    let describe = |finding: Finding| {
        let (method, threads) = (settings.method, settings.thread_count());
        let (gap, share) = (settings.gap, settings.relative_gap);
        format!("{method} ({threads} threads, gap {gap:e}, {share:e}): {finding}")
    };
    let bound = truth.bound(highest.get(), case.rules.k);
    let bound = bound.map_err(|finding| format!("announced on the way: {finding}"));
    let outcome = bound.and_then(|()| truth.solution(problem, &settings, &found, case.rules.k));
    outcome.map_err(describe)?;
    Ok(found)
}

/// Checks a list of the best models, or of all models that are nearly as good.
fn list(truth: &Truth, problem: &Problem, random: &mut Random) -> Result<(), Finding> {
    let mut settings = Settings::default();
    match random.below(3) {
        0 => settings.within = Some([0.0, 1e-3, 0.3][random.below(3)]),
        _ => settings.top = NonZeroUsize::new(1 + random.below(6)),
    }
    if random.chance(0.3) {
        settings.within = Some(0.2);
    }
    let found = l0star::solve(problem, &settings).map_err(say)?;
    let outcome = truth.solution(problem, &settings, &found, problem.k());
    let outcome = outcome.and_then(|()| truth.list(problem, &settings, &found));
    let asked = (settings.top, settings.within);
    outcome.map_err(|finding| format!("list {asked:?}: {finding}"))
}

/// Checks the prices, also with few nodes and from a checkpoint.
fn costs(
    truth: &Truth,
    problem: &Problem,
    found: &Solution,
    random: &mut Random,
) -> Result<(), Finding> {
    let settings = Settings::default();
    let mut saved: Vec<Vec<u8>> = Vec::new();
    let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.encode()));
    let run = PriceRun::new(problem, &settings, found).save(Duration::ZERO, sink);
    let all = run.solve().map_err(say)?;
    let named = |name: &'static str| move |finding| format!("{name}: {finding}");
    truth.prices(found, &all).map_err(named("prices"))?;
    let few = Settings {
        node_limit: Some(random.below(4) as u64),
        ..Settings::default()
    };
    let some = prices(problem, &few, found, None).map_err(say)?;
    truth
        .prices(found, &some)
        .map_err(named("prices of few nodes"))?;
    if saved.is_empty() {
        return Ok(());
    }
    let checkpoint = Checkpoint::decode(&saved[random.below(saved.len())]).map_err(say)?;
    let run = PriceRun::new(problem, &settings, found).resume(checkpoint);
    let again = run.solve().map_err(say)?;
    truth.prices(found, &again).map_err(named("resumed prices"))
}

/// Checks every size of a path, then of a path resumed from one of its checkpoints.
fn sizes(
    truth: &Truth,
    case: &Case,
    problem: &Problem,
    base: &Settings,
    random: &mut Random,
) -> Result<(), Finding> {
    let first = (0..=case.rules.k).find(|k| problem.with_k(*k).is_ok());
    let sizes = first.unwrap_or(case.rules.k)..=case.rules.k;
    let settings = base.clone();
    let mut saved: Vec<Vec<u8>> = Vec::new();
    let sink = Box::new(|checkpoint: &PathCheckpoint| saved.push(checkpoint.encode()));
    let run = PathRun::new(problem, &settings, sizes.clone()).save(Duration::ZERO, sink);
    let points = run.solve().map_err(say)?;
    let named = |name: &'static str| move |finding| format!("{name}: {finding}");
    truth
        .path(problem, &settings, &points)
        .map_err(named("path"))?;
    if saved.is_empty() {
        return Ok(());
    }
    let checkpoint = PathCheckpoint::decode(&saved[random.below(saved.len())]).map_err(say)?;
    let run = PathRun::new(problem, &settings, sizes).resume(checkpoint);
    let points = run.solve().map_err(say)?;
    truth
        .path(problem, &settings, &points)
        .map_err(named("resumed path"))
}

/// Checks a search that is stopped after every few nodes and resumed until it finishes.
fn in_pieces(
    truth: &Truth,
    case: &Case,
    problem: &Problem,
    base: &Settings,
    random: &mut Random,
) -> Result<(), Finding> {
    let settings = Settings {
        node_limit: Some(random.below(3) as u64),
        ..base.clone()
    };
    let mut saved: Option<Vec<u8>> = None;
    // Under a limit that allows no node the search makes no progress, so it finally runs without the limit.
    for stops in 0.. {
        let settings = match stops {
            0..20 => settings.clone(),
            _ => base.clone(),
        };
        let mut left = Vec::new();
        let sink = Box::new(|checkpoint: &Checkpoint| left = checkpoint.encode());
        let mut run = Run::new(problem, &settings).save(Duration::MAX, sink);
        if let Some(saved) = &saved {
            run = run.resume(Checkpoint::decode(saved).map_err(say)?);
        }
        let found = run.solve().map_err(say)?;
        let outcome = truth.solution(problem, &settings, &found, case.rules.k);
        outcome.map_err(|finding| format!("after {stops} stops: {finding}"))?;
        if found.status != Status::NodeLimit {
            break;
        }
        saved = Some(left);
    }
    Ok(())
}

/// Checks a search that is interrupted at one of its checkpoints, and another that resumes from there.
fn interrupted(
    truth: &Truth,
    case: &Case,
    problem: &Problem,
    base: &Settings,
    random: &mut Random,
) -> Result<(), Finding> {
    let flag = Arc::new(AtomicBool::new(false));
    let settings = Settings {
        interrupt: Some(Arc::clone(&flag)),
        ..base.clone()
    };
    let (mut left, mut rest) = (Vec::new(), random.below(8));
    let sink = Box::new(|checkpoint: &Checkpoint| {
        left = checkpoint.encode();
        flag.fetch_or(rest == 0, Ordering::Relaxed);
        rest = rest.saturating_sub(1);
    });
    let run = Run::new(problem, &settings).save(Duration::ZERO, sink);
    let found = run.solve().map_err(say)?;
    let named = |name: &'static str| move |finding| format!("{name}: {finding}");
    truth
        .solution(problem, &settings, &found, case.rules.k)
        .map_err(named("interrupted"))?;
    if left.is_empty() {
        return Ok(());
    }
    let run = Run::new(problem, base);
    let run = run.resume(Checkpoint::decode(&left).map_err(say)?);
    let found = run.solve().map_err(say)?;
    truth
        .solution(problem, base, &found, case.rules.k)
        .map_err(named("resumed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If all problems were refused, or no result claimed anything, the attack would find nothing.
    #[test]
    fn most_problems_are_solved_and_proved() {
        let (mut built, mut proved, drawn) = (0, 0, 200);
        for seed in 0..drawn {
            let case = Case::draw(seed);
            let problem = case.builder().and_then(|builder| builder.build());
            let Ok(problem) = problem else { continue };
            built += 1;
            let found = l0star::solve(&problem, &Settings::default()).unwrap();
            proved += u64::from(found.status == Status::Optimal);
        }
        println!("{built} of {drawn} problems are accepted, {proved} solved");
        assert!(2 * built > drawn && 10 * proved > 8 * built);
    }

    /// A bound just above the objective of a model is not valid and must be found.
    #[test]
    fn a_bound_above_the_optimum_is_found() {
        let mut seen = 0;
        for seed in 0..40 {
            let case = Case::draw(seed);
            let problem = case.builder().and_then(|builder| builder.build());
            let Ok(problem) = problem else { continue };
            let truth = Truth::new(&case, &problem).unwrap();
            let settings = Settings::default();
            let found = l0star::solve(&problem, &settings).unwrap();
            let k = case.rules.k;
            assert_eq!(truth.solution(&problem, &settings, &found, k), Ok(()));
            let bound = (found.objective * (1.0 + 1e-14)).next_up();
            let wrong = Solution {
                lower_bound: Some(bound),
                ..found
            };
            let outcome = truth.solution(&problem, &settings, &wrong, k);
            assert!(outcome.unwrap_err().contains("above the optimum"), "{seed}");
            seen += 1;
        }
        assert!(seen > 20);
    }
}
