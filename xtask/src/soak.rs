//! `cargo xtask soak`: compares any number of small random problems with brute force.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::time::Duration;

use l0star::internals::BinaryTree;
use l0star::internals::Working;
use l0star::search::{Context, Event, News, Progress, Search};
use l0star::{
    Checkpoint, Mechanisms, Method, PathCheckpoint, PathRun, PriceRun, Problem, RelaxationKind,
    Run, Settings, Solution, Status, Use, loss, prices, solve, solve_observed,
};

/// The problem generator of the test suite.
#[path = "../../crates/l0star/tests/engine/common/mod.rs"]
pub mod common;

use common::{priced, survival};

mod rows;
mod several;
mod wide;

/// Number of losses, which take turns. Other choices also take turns, separately for each loss.
const TURNS: u64 = (loss::NAMES.len() + loss::JOINT_NAMES.len() + several::NAMES.len()) as u64;

/// Returns all losses and other kinds of problems, in the order of their turns.
pub fn losses() -> Vec<&'static str> {
    [loss::NAMES, loss::JOINT_NAMES, several::NAMES].concat()
}

/// Checks `cases` problems from `seed` on, with losses and methods in turn.
///
/// The problems can be restricted to those with fewer rows than columns, or to one loss.
pub fn run(cases: u64, seed: u64, only_wide: bool, only: Option<&str>) -> Result<(), String> {
    let mut wrong = 0;
    for case in 0..cases {
        if only.is_none()
            && let Err(message) = check_wide(seed.wrapping_add(case))
        {
            wrong += 1;
            println!("WRONG boxes, seed {}: {message}", seed.wrapping_add(case));
        }
        if (case + 1) % 1000 == 0 {
            println!("{} problems, {wrong} wrong", case + 1);
        }
        if only_wide {
            continue;
        }
        let loss = only.unwrap_or(losses()[(case % TURNS) as usize]);
        if several::NAMES.contains(&loss) {
            let seed = seed.wrapping_add(case);
            if let Err(message) = several::run(loss, seed, case) {
                wrong += 1;
                println!("WRONG {loss}, seed {seed}: {message}");
            }
            continue;
        }
        let drawn = common::random_case(seed.wrapping_add(case), loss);
        let mut look = |problem: &Problem, settings: &Settings, words: &str| {
            if let Err(message) = check(problem, settings) {
                wrong += 1;
                println!(
                    "WRONG {} {}, threads {}: {words}: {message}",
                    settings.method,
                    settings.relaxation,
                    settings.thread_count(),
                );
            }
        };
        let mut all = configurations(case);
        if drawn.problem.loss().smoothness() == f64::INFINITY {
            // The paper's method is for losses of bounded curvature.
            all.retain(|settings| settings.method != Method::Paper);
        }
        for settings in &all {
            look(&drawn.problem, settings, &drawn.words);
        }
        // The same data with groups, bounds, heredity and forced features, and also with prices; invalid ones are
        // refused.
        let ruled = common::ruled_case(seed.wrapping_add(case), loss);
        let priced = priced::priced_case(seed.wrapping_add(case), loss, case % 3 > 0);
        let exact = |settings: &&Settings| settings.method == Method::BestFirst;
        for settings in all.iter().filter(exact) {
            for other in [&ruled, &priced.case] {
                if let Ok(problem) = &other.built {
                    look(problem, settings, &other.words);
                }
            }
        }
        let times = drawn.problem.loss().has_hazards();
        if times && let Err(message) = check_times(seed.wrapping_add(case)) {
            wrong += 1;
            println!("WRONG times, seed {}: {message}", seed.wrapping_add(case));
        }
        if let Err(message) = check_priced(&priced) {
            wrong += 1;
            println!("WRONG prices of features: {}: {message}", priced.case.words);
        }
        if let Err(message) = check_working(&drawn.problem) {
            wrong += 1;
            println!("WRONG working sets: {}: {message}", drawn.words);
        }
        // A third of the problems checks the three best models, a third all sizes in one path, a third all prices.
        for (problem, words) in [Some((&drawn.problem, &drawn.words))]
            .into_iter()
            .chain([&ruled, &priced.case].map(|other| {
                let problem = other.built.as_ref().ok();
                problem.map(|problem| (problem, &other.words))
            }))
            .flatten()
        {
            let outcome = match case / TURNS % 3 {
                0 => check_list(problem),
                1 => check_path(problem),
                _ => check_prices(problem, case),
            };
            let killed = match case / TURNS % 4 {
                1 => check_killed(problem),
                _ => Ok(()),
            };
            if let Err(message) = outcome.and(killed) {
                wrong += 1;
                println!("WRONG {words}: {message}");
            }
        }
    }
    println!("{cases} problems, {wrong} wrong");
    if wrong == 0 {
        return Ok(());
    }
    Err(format!("{wrong} wrong results"))
}

/// Returns the configurations to check: every exact method, the default with and without screening.
///
/// A quarter of the problems adds two threads, which take longer to start than the search. Another quarter adds a
/// search that is stopped after every other node, saved and resumed. One more resumes from checkpoints such as a
/// killed run leaves ([`check_killed`]).
fn configurations(case: u64) -> Vec<Settings> {
    let two = Settings {
        threads: NonZeroUsize::new(2),
        ..screened()
    };
    let pieces = Settings {
        node_limit: Some(2),
        ..screened()
    };
    let sga = Settings {
        relaxation: RelaxationKind::Sga,
        ..Settings::new(Method::Paper)
    };
    let mut all = vec![
        Settings::new(Method::BestFirst),
        screened(),
        boxed(),
        Settings::new(Method::Paper),
        sga,
    ];
    // Every loss gets its share.
    match case / TURNS % 4 {
        0 => all.push(two),
        2 => all.push(pieces),
        _ => {}
    }
    all
}

/// Returns the default settings with screening before the Gram matrix, and with working sets, for small problems too.
fn screened() -> Settings {
    let mechanisms = Mechanisms {
        screen_from: 0,
        working_from: 0,
        ..Mechanisms::default()
    };
    Settings {
        mechanisms,
        ..Settings::new(Method::BestFirst)
    }
}

/// Returns settings with proved boxes wherever they apply, and with trees for small sizes too.
fn boxed() -> Settings {
    let mechanisms = Mechanisms {
        boxes: Use::Always,
        enumeration: false,
        ..Mechanisms::default()
    };
    Settings {
        mechanisms,
        ..Settings::new(Method::BestFirst)
    }
}

/// More pieces than any of these small searches takes.
const MOST_PIECES: usize = 100_000;

/// Solves a problem by a search that is stopped at the node limit and resumed until it is finished.
fn in_pieces(
    problem: &Problem,
    settings: &Settings,
    highest: &Cell<f64>,
) -> Result<Solution, l0star::Error> {
    let mut saved: Option<Vec<u8>> = None;
    let mut pieces = 0;
    loop {
        pieces += 1;
        let mut left = Vec::new();
        let sink = Box::new(|checkpoint: &Checkpoint| left = checkpoint.encode());
        let mut run = Run::new(problem, settings).save(Duration::MAX, sink);
        if let Some(saved) = &saved {
            run = run.resume(Checkpoint::decode(saved)?);
        }
        let found = run.solve()?;
        highest.set(highest.get().max(found.lower_bound.unwrap_or(f64::NAN)));
        if found.status != Status::NodeLimit || pieces == MOST_PIECES {
            return Ok(found);
        }
        saved = Some(left);
    }
}

/// Number of checkpoints of a run that are tried, besides the last.
const TRIED: usize = 5;

/// Checks runs resumed from some of all possible checkpoints, including those in the middle of a relaxation.
fn check_killed(problem: &Problem) -> Result<(), String> {
    let say = |error: l0star::Error| error.to_string();
    let settings = screened();
    let mut saved: Vec<Vec<u8>> = Vec::new();
    let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.encode()));
    let run = Run::new(problem, &settings).save(Duration::ZERO, sink);
    run.solve().map_err(say)?;
    for saved in some(&saved, TRIED) {
        let checkpoint = Checkpoint::decode(saved).map_err(say)?;
        let run = Run::new(problem, &settings).resume(checkpoint);
        let found = run.solve().map_err(say)?;
        compare(problem, &found, 0.0).map_err(|message| format!("resumed: {message}"))?;
    }
    Ok(())
}

/// Checks a problem of survival times against the definition of its likelihood, without any code of the engine.
fn check_times(seed: u64) -> Result<(), String> {
    let data = survival::Data::draw(seed);
    let problem = data.builder().build().map_err(|error| error.to_string())?;
    let optimum = data.optimum();
    let room = 1e-12 * optimum + 1e-14;
    for method in [Method::BestFirst, Method::Exhaustive] {
        let found = solve(&problem, &Settings::new(method)).map_err(|error| error.to_string())?;
        let bound = found.lower_bound.unwrap_or(f64::NAN);
        let is_right = bound <= optimum + room
            && (found.objective - optimum).abs() <= 1e-9 * optimum + room
            && found.status == Status::Optimal;
        if !is_right {
            return Err(format!(
                "{method}: {}, bound {bound:e}, objective {:e}, optimum {optimum:e}",
                found.status, found.objective
            ));
        }
    }
    Ok(())
}

/// Checks the exhaustive method, to which everything else is compared, against prices added outside the engine.
fn check_priced(drawn: &priced::PricedCase) -> Result<(), String> {
    let Ok(problem) = &drawn.case.built else {
        return Ok(());
    };
    let found = solve(problem, &Settings::new(Method::Exhaustive));
    let found = found.map_err(|error| error.to_string())?.objective;
    let truth = priced::brute_force(drawn);
    let optimum = truth.first().map_or(f64::NAN, |(value, _)| *value);
    let room = common::proved(problem, optimum);
    if (found - optimum).abs() <= room {
        Ok(())
    } else {
        Err(format!(
            "{found:e} by the exhaustive method, not {optimum:e}"
        ))
    }
}

/// Checks the three best models against those of brute force.
fn check_list(problem: &Problem) -> Result<(), String> {
    let list = |method| {
        let settings = Settings {
            top: NonZeroUsize::new(3),
            ..Settings::new(method)
        };
        solve(problem, &settings).map_err(|error| error.to_string())
    };
    let (found, truth) = (list(Method::BestFirst)?, list(Method::Exhaustive)?);
    if found.status != Status::Optimal || found.solutions.len() != truth.solutions.len() {
        let (own, all) = (found.solutions.len(), truth.solutions.len());
        return Err(format!("status {}, {own} models of {all}", found.status));
    }
    for (own, other) in found.solutions.iter().zip(&truth.solutions) {
        let slack = common::proved(problem, other.objective);
        if (own.objective - other.objective).abs() > slack {
            return Err(format!(
                "{:e} in the list, not {:e}",
                own.objective, other.objective
            ));
        }
    }
    Ok(())
}

/// Returns how far a model may be below the objective that brute force finds.
///
/// If columns are far from 0 and an intercept compensates for that, two fits of one support differ by more than the
/// rounding of either, and two perfect fits have two different tiny objectives. Bounds get no such allowance.
fn refit(optimum: f64, rounding: f64) -> f64 {
    1e-12 * optimum.max(1e-9) + rounding
}

/// Returns some elements of a slice, including the first.
fn some<T>(all: &[T], count: usize) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len() / count + 1)
}

/// Checks every size of a path, and of paths resumed from some checkpoints, against brute force.
fn check_path(problem: &Problem) -> Result<(), String> {
    let say = |error: l0star::Error| error.to_string();
    // Included features are in every size.
    let first = (0..=problem.k()).find(|k| problem.with_k(*k).is_ok());
    let sizes = first.unwrap_or(problem.k())..=problem.k();
    let settings = Settings::default();
    let mut saved: Vec<Vec<u8>> = Vec::new();
    let sink = Box::new(|checkpoint: &PathCheckpoint| saved.push(checkpoint.encode()));
    let path = PathRun::new(problem, &settings, sizes.clone()).save(Duration::ZERO, sink);
    let mut points = path.solve().map_err(say)?;
    for saved in some(&saved, TRIED) {
        let checkpoint = PathCheckpoint::decode(saved).map_err(say)?;
        let path = PathRun::new(problem, &settings, sizes.clone()).resume(checkpoint);
        points.extend(path.solve().map_err(say)?);
    }
    for point in points {
        let alone = problem.with_k(point.k).map_err(say)?;
        let truth = solve(&alone, &Settings::new(Method::Exhaustive)).map_err(say)?;
        let (optimum, found) = (truth.objective, point.solution);
        let slack = common::rounding(problem, optimum);
        let bound = found.lower_bound.unwrap_or(f64::NAN);
        if bound.is_nan() || bound > optimum + slack {
            return Err(format!(
                "k = {}: bound {bound:e} above {optimum:e}",
                point.k
            ));
        }
        let error = found.objective - optimum;
        if error.is_nan() || error > 1e-9 * optimum.max(1e-12) || error < -refit(optimum, slack) {
            return Err(format!(
                "k = {}: found {:e}, optimum {optimum:e}",
                point.k, found.objective
            ));
        }
    }
    Ok(())
}

/// Checks the search by working sets, which normally runs only on wide problems.
fn check_working(problem: &Problem) -> Result<(), String> {
    let Some(relaxation) = Working::new(problem, 1) else {
        return Ok(());
    };
    let settings = Settings::new(Method::BestFirst);
    let context = Context::new(problem, &settings);
    let mut search = Search::new(context, BinaryTree::new(relaxation));
    let stopped = match search.run(&settings) {
        Progress::Stopped(status) => Some(status),
        Progress::Running | Progress::Done => None,
    };
    let bound = search.lower_bound();
    let found = search
        .into_context()
        .solution(&settings, stopped, Some(bound));
    compare(problem, &found, bound.value())
}

/// Checks every price against brute force with that decision made: without a limit, with few nodes, and when resumed.
fn check_prices(problem: &Problem, case: u64) -> Result<(), String> {
    let say = |error: l0star::Error| error.to_string();
    let brute = Settings::new(Method::Exhaustive);
    let solution = solve(problem, &Settings::default()).map_err(say)?;
    let truth = prices(problem, &brute, &solution, None).map_err(say)?;
    let settings = Settings::default();
    let mut saved: Vec<Vec<u8>> = Vec::new();
    let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.encode()));
    let run = PriceRun::new(problem, &settings, &solution).save(Duration::ZERO, sink);
    let mut runs = vec![(None, run.solve().map_err(say)?)];
    let few = Settings {
        node_limit: Some(case % 5),
        ..Settings::default()
    };
    let found = prices(problem, &few, &solution, None).map_err(say)?;
    runs.push((few.node_limit, found));
    for saved in some(&saved, TRIED) {
        let checkpoint = Checkpoint::decode(saved).map_err(say)?;
        let run = PriceRun::new(problem, &settings, &solution).resume(checkpoint);
        runs.push((None, run.solve().map_err(say)?));
    }
    for (node_limit, found) in runs {
        for (own, truth) in found.iter().zip(&truth) {
            let (j, optimum) = (own.feature, truth.objective);
            if optimum.is_infinite() && own.objective.is_infinite() {
                continue;
            }
            let slack = common::rounding(problem, optimum);
            let bound = own.lower_bound;
            if bound.is_nan() || bound > optimum + slack {
                return Err(format!("column {j}: bound {bound:e} above {optimum:e}"));
            }
            let error = own.objective - optimum;
            let proved = node_limit.is_none() || !own.status.falls_short();
            if error.is_nan()
                || error < -refit(optimum, slack)
                || (proved && error > 1e-9 * optimum.max(1e-12))
            {
                return Err(format!(
                    "column {j}: found {:e}, optimum {optimum:e}",
                    own.objective
                ));
            }
            if node_limit.is_none() && own.status != Status::Optimal {
                return Err(format!("column {j}: status {}", own.status));
            }
        }
    }
    Ok(())
}

/// Checks a problem with fewer rows than columns, searched with proved boxes, and the boxes of some of its nodes.
fn check_wide(seed: u64) -> Result<(), String> {
    let case = wide::Case::draw(seed);
    let Some(problem) = case.problem() else {
        return Ok(());
    };
    for settings in wide::Case::configurations(seed) {
        let outcome = check(&problem, &settings);
        let (threads, pieces) = (settings.thread_count(), settings.node_limit);
        outcome.map_err(|message| format!("threads {threads}, pieces {pieces:?}: {message}"))?;
    }
    case.check_boxes(&problem, seed)
}

fn check(problem: &Problem, settings: &Settings) -> Result<(), String> {
    let say = |error: l0star::Error| error.to_string();
    let highest = Cell::new(0.0_f64);
    let observer = Box::new(|event: &Event| {
        if event.news == News::Bound {
            highest.set(highest.get().max(event.lower_bound));
        }
    });
    let found = match settings.node_limit {
        None => solve_observed(problem, settings, observer).map_err(say)?,
        Some(_) => in_pieces(problem, settings, &highest).map_err(say)?,
    };
    compare(problem, &found, highest.get())
}

/// Compares the result of an exact method, and the highest bound that it announced, with brute force.
fn compare(problem: &Problem, found: &Solution, highest: f64) -> Result<(), String> {
    let optimum = solve(problem, &Settings::new(Method::Exhaustive))
        .map_err(|error| error.to_string())?
        .objective;
    // Rounding of the brute-force objective itself.
    let slack = common::rounding(problem, optimum);
    let bound = found.lower_bound.unwrap_or(f64::NAN);
    let highest = highest.max(bound);
    if highest.is_nan() || highest > optimum + slack {
        return Err(format!("bound {highest:e} above the optimum {optimum:e}"));
    }
    let allowed = 1e-9 * optimum.max(1e-12);
    let error = found.objective - optimum;
    if error.is_nan() || error > allowed || error < -refit(optimum, slack) {
        return Err(format!("found {:e}, optimum {optimum:e}", found.objective));
    }
    if found.status != Status::Optimal {
        let gap = found.objective - bound;
        return Err(format!(
            "status {}, gap {gap:e} of {optimum:e}",
            found.status
        ));
    }
    Ok(())
}
