//! Wide problems: features that no better model can use are dropped before anything of size d² is formed.
//!
//! A first-order ascent at the root costs O(nd) a step, and every dual point bounds, for each feature, all models that
//! use it. Those at or above the incumbent are out for good.

use super::checkpoint::Prepared;
use super::{Context, Phase};
use crate::bound::Subproblem;
use crate::heuristic::{fill_list, first_incumbent};
use crate::relaxation::pdal::{self, Pdal};
use crate::relaxation::{Exit, Relaxation, Task};

/// Rounds of ascent and screening.
const MAX_ROUNDS: usize = 12;

/// The selectable features that are left, once at most `enough` are or nothing more can be dropped.
///
/// Everything dropped is recorded in the context, and so is how far it has come, for checkpoints: it goes on from there. An
/// incumbent is found first.
pub(crate) fn screen(context: &mut Context, enough: usize) -> Vec<usize> {
    let problem = context.problem;
    let budget = problem.support_size();
    let mut free = problem.selectable.clone();
    let mut epsilon = 1e-3;
    let mut warm = None;
    match &context.prepared {
        Some(prepared) => {
            free = prepared.free();
            epsilon = prepared.epsilon;
            warm = Some(prepared.warm_start(problem));
        }
        None => {
            first_incumbent(context);
            fill_list(context);
            context.save_preparation();
        }
    }
    let limits = context.limits.clone();
    context.enter(Phase::Root);
    let mut relaxation = Pdal::within(problem, epsilon, &limits);
    for _ in 0..MAX_ROUNDS {
        if free.len() <= enough.max(budget + 1) || budget == 0 || limits.stop() {
            break;
        }
        let task = Task {
            node: Subproblem {
                included: &problem.penalised,
                free: &free,
                budget,
            },
            cut: f64::INFINITY,
            scale: context.reference().min(problem.null_value),
            low: 0.0,
            limits: &limits,
        };
        relaxation.prepare(problem, &task.node, warm.as_ref());
        context.counters.calls += 1;
        let (bound, exit) = relaxation.solve_watched(problem, &task, |ascent, bound| {
            if context.is_save_due() {
                context.raise(bound);
                context.prepared = Some(Prepared::new(&free, ascent.warm_start(), epsilon));
                context.save_preparation();
            }
        });
        context.raise(bound);
        warm = Some(relaxation.warm_start());
        if exit == Exit::Stopped {
            context.prepared = Some(Prepared::new(&free, relaxation.warm_start(), epsilon));
            break;
        }
        let support = relaxation.candidate(problem, budget);
        context.propose(&support);
        let cut = context.cut();
        let bounds = relaxation.children(problem, &task.node);
        let mut out = vec![false; problem.design.columns()];
        for (j, inside, bound) in &bounds.other_side {
            if !inside && bound.value() >= cut {
                context.discard(*bound);
                out[*j] = true;
            }
        }
        let before = free.len();
        free.retain(|j| !out[*j]);
        context.set_features_left(free.len());
        // When little was gained, only a sharper bound can do more.
        let (gained, is_sharp) = (free.len() * 10 <= before * 9, epsilon <= pdal::FINE);
        if !gained && !is_sharp {
            epsilon *= 0.1;
            relaxation.set_epsilon(epsilon);
        }
        context.prepared = Some(Prepared::new(&free, relaxation.warm_start(), epsilon));
        if !gained && is_sharp {
            break;
        }
    }
    free
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bound::Certified;
    use crate::search::Saver;
    use crate::search::checkpoint::{Checkpoint, Stamp};
    use crate::{Design, Problem, Settings};

    /// Three columns explain the response, the others hardly.
    fn problem() -> Problem {
        let (rows, columns) = (30, 400);
        let wave = |i: usize, j: usize| ((i * 37 + j * 11 + i * j * 7 + j * j * 3) as f64).sin();
        let value = |at: usize| wave(at % rows, at / rows);
        let values = (0..rows * columns).map(value).collect();
        let response = (0..rows)
            .map(|i| 3.0 * wave(i, 5) - 2.0 * wave(i, 100) + wave(i, 300) + 0.05 * (i as f64).cos())
            .collect();
        let design = Design::dense(rows, columns, values).unwrap();
        let builder = Problem::builder(design, response).k(3).ridge(0.05);
        builder.intercept(true).build().unwrap()
    }

    #[test]
    fn it_goes_on_from_every_checkpoint() {
        let problem = problem();
        let settings = Settings::default();
        let stamp = Stamp::new(&problem, &settings).unwrap();
        let mut saved: Vec<Checkpoint> = Vec::new();
        let mut context = Context::new(&problem, &settings);
        let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.clone()));
        context.save_to(Some(Saver::new(stamp.clone(), Duration::ZERO, sink)));
        let left = screen(&mut context, 4);
        let calls = context.counters.calls;
        let proved = |context: &Context| context.lower_bound(Some(Certified::TRIVIAL)).value();
        let (bound, best) = (proved(&context), context.best());
        assert!(0.0 < bound && bound <= best);
        assert!(left.len() < problem.selectable.len(), "nothing was dropped");
        drop(context);
        let is_ascent = |checkpoint: &&Checkpoint| checkpoint.state.prepared.is_some();
        assert!(saved.iter().filter(is_ascent).count() > 10);
        assert!(!is_ascent(&&saved[0]), "the first one has a model alone");
        let mut sizes = Vec::new();
        for checkpoint in &saved {
            let restored = Checkpoint::decode(&checkpoint.encode()).unwrap();
            assert_eq!(restored, *checkpoint);
            restored.check(&stamp, &problem).unwrap();
            let state = &restored.state;
            let mut context = Context::new(&problem, &settings);
            context.resume(state);
            assert!(context.incumbent().is_some());
            let again = screen(&mut context, 4);
            // Bounds of the same problem and values of its models, wherever the ascent was interrupted.
            assert!(proved(&context) <= best && bound <= context.best());
            assert!(proved(&context) >= state.base);
            let rest = context.counters.calls - state.calls;
            assert!(rest <= calls + 2, "{rest} rounds more, {calls} in all");
            if let Some(prepared) = &state.prepared {
                let free = prepared.free();
                assert!(again.iter().all(|j| free.binary_search(j).is_ok()));
                sizes.push(free.len());
            }
        }
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
        assert!(sizes[sizes.len() - 1] < sizes[0], "{sizes:?}");
    }

    #[test]
    fn what_no_screening_leaves_is_refused() {
        let problem = problem();
        let settings = Settings::default();
        let stamp = Stamp::new(&problem, &settings).unwrap();
        let warm = |slope: f64, rows: usize, step: f64| crate::relaxation::WarmStart {
            alpha: vec![slope; rows],
            x: vec![(1, 0.5)],
            steps: (step, 1.0),
            ..Default::default()
        };
        for (free, warm, epsilon, is_good) in [
            (vec![1, 2, 7], warm(0.1, 30, 1.0), 1e-3, true),
            (vec![2, 1], warm(0.1, 30, 1.0), 1e-3, false),
            (vec![1, 1], warm(0.1, 30, 1.0), 1e-3, false),
            (vec![1, 400], warm(0.1, 30, 1.0), 1e-3, false),
            (vec![1, 2], warm(0.1, 29, 1.0), 1e-3, false),
            (vec![1, 2], warm(f64::NAN, 30, 1.0), 1e-3, false),
            (vec![1, 2], warm(0.1, 30, 0.0), 1e-3, false),
            (vec![1, 2], warm(0.1, 30, 1.0), f64::INFINITY, false),
        ] {
            let mut context = Context::new(&problem, &settings);
            context.prepared = Some(Prepared::new(&free, warm, epsilon));
            let checkpoint = Checkpoint::new(&stamp, context.saved(Default::default()));
            let checked = checkpoint.check(&stamp, &problem);
            assert_eq!(checked.is_ok(), is_good, "{free:?} {epsilon}: {checked:?}");
        }
    }
}
