//! A run that is killed at every checkpoint completes, and makes no step twice.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::testing::{SIGNAL, forge, payload, problem, refuses_damage, threads};
use super::{Checkpoint, Heuristic, State};
use crate::{Problem, Run, Settings, Solution, Status, loss, solve};

/// A problem with so many columns that its Gram matrix has several bands.
fn tall() -> Problem {
    let builder = problem("quadratic", 500, 400, &SIGNAL).k(3);
    builder.ridge(0.01).intercept(true).build().unwrap()
}

fn logistic() -> Problem {
    let builder = problem("logistic", 120, 30, &SIGNAL).k(4);
    builder.ridge(0.002).intercept(true).build().unwrap()
}

/// Some residuals are near the end of the quadratic part: it takes several rounds to prove which rows are in it.
fn huber() -> Problem {
    let builder = problem("huber", 100, 30, &SIGNAL).k(4);
    let builder = builder.loss(loss::by_name("huber", 1.5).unwrap());
    builder.ridge(0.005).build().unwrap()
}

fn grouped(loss: &str) -> Problem {
    let builder = problem(loss, 80, 24, &SIGNAL).k(4).ridge(0.005);
    let builder = builder.groups(vec![vec![0, 1], vec![5, 6, 7]]);
    let builder = builder.nonnegative(vec![11, 12]);
    builder.intercept(true).build().unwrap()
}

/// A problem with more columns than a Gram matrix may have, and a column without a ridge: it needs a first-order
/// ascent.
fn wide() -> Problem {
    let response = [(3.0, 3), (-2.0, 20), (0.1, 997)];
    let builder = problem("quadratic", 25, 3050, &response).k(2);
    let builder = builder.always_in(40, 0.0);
    builder.ridge(0.5).build().unwrap()
}

/// The state without what differs between runs: what was found and proved, but not the time and the calls.
fn substance(state: &State) -> State {
    let mut state = state.clone();
    (state.seconds, state.calls) = (0.0, 0);
    if let Some(gram) = &mut state.prepared.gram {
        Arc::make_mut(gram).seconds = 0.0;
    }
    state
}

/// Stops a run at its first checkpoint with new content; returns that checkpoint, or the result if the run ended
/// before.
fn kill(
    problem: &Problem,
    settings: &Settings,
    from: Option<&Checkpoint>,
) -> Result<Checkpoint, Box<Solution>> {
    let flag = Arc::new(AtomicBool::new(false));
    let settings = Settings {
        interrupt: Some(Arc::clone(&flag)),
        ..settings.clone()
    };
    let before = from.map(|from| substance(&from.state()));
    let mut left: Option<Checkpoint> = None;
    let sink = Box::new(|checkpoint: &Checkpoint| {
        let is_new = before != Some(substance(&checkpoint.state()));
        if is_new && left.is_none() {
            left = Some(Checkpoint::decode(&checkpoint.encode()).unwrap());
            flag.store(true, Ordering::Relaxed);
        }
    });
    let mut run = Run::new(problem, &settings).save(Duration::ZERO, sink);
    if let Some(from) = from {
        run = run.resume(from.clone());
    }
    let found = run.solve().unwrap();
    match found.status {
        Status::Interrupted => Ok(left.unwrap()),
        _ => Err(Box::new(found)),
    }
}

/// Number of checkpoints of each kind seen in a run.
#[derive(Debug, Default)]
struct Seen {
    pursuits: usize,
    swaps: usize,
    greedy: usize,
    bands: usize,
    nodes: usize,
}

impl Seen {
    fn note(&mut self, before: Option<&State>, state: &State) {
        let gram = |state: &State| state.prepared.gram.as_ref().map_or(0, |gram| gram.count());
        match &state.prepared.heuristic {
            Some(Heuristic::Pursuit(_)) => self.pursuits += 1,
            Some(Heuristic::Swaps(_)) => self.swaps += 1,
            Some(Heuristic::Greedy(_)) => self.greedy += 1,
            None => {}
        }
        self.bands += usize::from(gram(state) > before.map_or(0, gram));
        self.nodes += usize::from(!state.open.is_empty());
    }
}

/// Kills a run at every checkpoint with new content until it completes; returns the kinds of checkpoints seen.
fn survives(problem: &Problem, settings: &Settings) -> Seen {
    let truth = solve(problem, settings).unwrap();
    assert_eq!(truth.status, Status::Optimal);
    let mut count = 0;
    let sink = Box::new(|_: &Checkpoint| count += 1);
    let whole = Run::new(problem, settings)
        .save(Duration::ZERO, sink)
        .solve()
        .unwrap();
    // Saving must not change the result.
    let same = Solution {
        seconds: truth.seconds,
        ..whole
    };
    assert_eq!(same, truth);
    let (mut seen, mut kills) = (Seen::default(), 0);
    let mut left: Option<Checkpoint> = None;
    let found = loop {
        match kill(problem, settings, left.as_ref()) {
            Ok(next) => {
                let before = left.as_ref().map(Checkpoint::state);
                seen.note(before.as_ref(), &next.state());
                left = Some(next);
            }
            Err(found) => break found,
        }
        kills += 1;
        // A run that repeated its steps would never finish.
        assert!(
            kills <= 2 * count + 50,
            "{kills} kills, {count} steps: {seen:?}"
        );
    };
    assert_eq!(found.status, Status::Optimal, "{seen:?}");
    assert_eq!(found.support, truth.support);
    assert!((found.objective - truth.objective).abs() <= 1e-12 * truth.objective);
    assert!(found.lower_bound.unwrap() <= truth.objective);
    assert!(kills > 2, "{kills} kills, {count} steps");
    seen
}

/// The work before an enumeration is kept; the enumeration itself is repeated.
#[test]
fn enumerations_go_on() {
    let settings = Settings {
        mechanisms: Default::default(),
        ..threads(1)
    };
    let seen = survives(&tall(), &settings);
    assert!(seen.bands == 3 && seen.nodes == 0, "{seen:?}");
}

#[test]
fn a_gram_matrix_and_its_root_go_on() {
    let seen = survives(&tall(), &threads(1));
    assert_eq!(seen.bands, 3, "{seen:?}");
    assert!(seen.swaps > 2 && seen.nodes > 0, "{seen:?}");
}

#[test]
fn a_pursuit_and_newton_on_the_rows_go_on() {
    let seen = survives(&logistic(), &threads(1));
    assert!(seen.pursuits >= 4 && seen.nodes > 1, "{seen:?}");
}

#[test]
fn huber_rows_in_a_frame_go_on() {
    let seen = survives(&huber(), &threads(1));
    assert!(seen.swaps > 2 && seen.nodes > 1, "{seen:?}");
}

/// Proofs about rows are not repeated: a run that resumes with them needs fewer solver calls than one without them.
#[test]
fn proofs_of_huber_rows_go_on() {
    let problem = huber();
    let mut saved: Vec<Checkpoint> = Vec::new();
    let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.clone()));
    let run = Run::new(&problem, &threads(1)).save(Duration::ZERO, sink);
    let truth = run.solve().unwrap();
    let is_proof = |saved: &&Checkpoint| {
        saved.state().prepared.quadratic.is_some() && !saved.state().is_over()
    };
    let proofs: Vec<&Checkpoint> = saved.iter().filter(is_proof).collect();
    let parts =
        proofs.chunk_by(|a, b| a.state().prepared.quadratic == b.state().prepared.quadratic);
    assert_eq!(parts.count(), 4);
    let (mut fewer, count) = (0, proofs.len());
    for saved in proofs {
        let go_on = |checkpoint: Checkpoint| {
            let run = Run::new(&problem, &threads(1)).resume(checkpoint);
            let found = run.solve().unwrap();
            assert_eq!(found.status, Status::Optimal);
            assert_eq!(found.support, truth.support);
            assert!((found.objective - truth.objective).abs() <= 1e-12 * truth.objective);
            assert!(found.lower_bound.unwrap() <= truth.objective);
            found.solver_calls
        };
        let mut without = saved.clone();
        let part = without.0.parts[0].as_mut().unwrap();
        part.states[0].as_mut().unwrap().prepared.quadratic = None;
        let (with, without) = (go_on(saved.clone()), go_on(without));
        assert!(with <= without, "{with} calls, {without}");
        fewer += usize::from(with < without);
    }
    // An extra round may be needed for the features that earlier rounds have ruled out.
    assert!(fewer + 1 >= count, "{fewer} of {count}");
}

#[test]
fn greedy_steps_and_structured_relaxations_go_on() {
    let seen = survives(&grouped("quadratic"), &threads(1));
    assert!(
        seen.greedy > 1 && seen.bands == 1 && seen.nodes > 0,
        "{seen:?}"
    );
    let seen = survives(&grouped("logistic"), &threads(1));
    assert!(seen.greedy > 1 && seen.nodes > 5, "{seen:?}");
}

#[test]
fn a_search_with_a_first_order_ascent_goes_on() {
    let seen = survives(&wide(), &threads(1));
    assert!(seen.nodes > 0, "{seen:?}");
}

#[test]
fn lists_go_on() {
    let settings = Settings {
        top: NonZeroUsize::new(4),
        ..threads(1)
    };
    survives(&logistic(), &settings);
    survives(&grouped("quadratic"), &settings);
}

/// One checkpoint of every kind.
fn kinds() -> Vec<(Problem, Vec<u8>)> {
    let mut kinds = Vec::new();
    for problem in [tall(), logistic(), grouped("quadratic"), huber()] {
        let mut saved: Vec<Checkpoint> = Vec::new();
        let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.clone()));
        let run = Run::new(&problem, &threads(1)).save(Duration::ZERO, sink);
        run.solve().unwrap();
        let is_heuristic = |state: &State| state.prepared.heuristic.is_some();
        let is_matrix = |state: &State| state.prepared.gram.is_some();
        let is_search = |state: &State| state.open.len() > 1;
        let is_proof = |state: &State| state.prepared.quadratic.is_some();
        for kind in [
            is_heuristic as fn(&State) -> bool,
            is_matrix,
            is_search,
            is_proof,
        ] {
            let found = saved.iter().find(|checkpoint| kind(&checkpoint.state()));
            kinds.extend(found.map(|found| (problem.clone(), found.encode())));
        }
    }
    assert!(kinds.len() >= 10, "{}", kinds.len());
    kinds
}

#[test]
fn damaged_preparations_are_refused() {
    for (_, saved) in kinds() {
        refuses_damage(&saved, Checkpoint::decode);
    }
}

#[test]
fn forged_preparations_do_no_harm() {
    let settings = Settings {
        node_limit: Some(2),
        ..threads(1)
    };
    let mut accepted = 0;
    for (problem, saved) in kinds() {
        let whole = payload(&saved);
        for i in 0..60 {
            // The prepared data come after the counters.
            let reach = if i % 2 == 0 { 400 } else { whole };
            let forged = forge(&saved, i, 0..whole.min(reach));
            if let Ok(checkpoint) = Checkpoint::decode(&forged) {
                let run = Run::new(&problem, &settings).resume(checkpoint);
                accepted += u32::from(run.solve().is_ok());
            }
        }
    }
    assert!(accepted > 0, "nothing was tried");
}
