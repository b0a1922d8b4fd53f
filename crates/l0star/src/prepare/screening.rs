//! Drops features that no better model can use, before anything of size d² is formed.
//!
//! The root is relaxed at O(nd) per step, and every dual point bounds, for each feature, all models that use it.
//! Features whose bound reaches the incumbent are out for good. Wide problems are screened until few enough are left
//! ([`screen`]); others by one point that costs much less than their Gram matrix ([`briefly`]).

use std::sync::Arc;

use crate::bound::{Certified, Children};
use crate::gram::root::Root;
use crate::gram::working::Working;
use crate::heuristic::{fill_list, first_incumbent};
use crate::problem::Problem;
use crate::relaxation::pdal::Pdal;
use crate::relaxation::{Exit, Relaxation, Task};
use crate::search::checkpoint::Screening;
use crate::search::stage::{self, Stage};
use crate::search::{Context, Phase, Progress, models};
use crate::tuning::prepare::{BRIEF_ROUNDS, COARSE, SCREENING_ROUNDS};
use crate::tuning::working::BATCH;

/// Finds an incumbent, and candidates for a list, unless a checkpoint has a screening that had begun.
pub(crate) fn begin(context: &mut Context) {
    if context.prepared.screening.is_none() {
        first_incumbent(context);
        models::first(context);
        fill_list(context);
    }
    context.enter(Phase::Root);
}

/// Result of [`briefly`].
#[derive(Debug)]
pub(crate) struct Brief {
    /// The quadratic of these columns.
    pub root: Arc<Root>,
    pub point: Option<BriefPoint>,
}

/// A dual point of the problem with all columns.
#[derive(Debug)]
pub(crate) struct BriefPoint {
    /// The features that its bounds leave.
    pub free: Vec<usize>,
    /// Slopes of the point; `bound` is its bound.
    pub slopes: Vec<f64>,
    pub bound: Certified,
}

/// Screens by one dual point, that of a few columns in Gram form, before the Gram matrix of all columns is made, and
/// finds a first model. The result has no point where nothing could be ruled out. `None` where screening does not
/// apply, and at a limit.
pub(crate) fn briefly(context: &mut Context) -> Option<Brief> {
    let (problem, limits) = (context.problem, context.limits.clone());
    let (k, swaps) = (problem.support_size(), context.mechanisms.swaps);
    context.enter(Phase::Heuristic);
    let known = context.incumbents.first().map(|known| known.support);
    let known = known.unwrap_or_default();
    let batch = BATCH.min(problem.selectable.len() / 2);
    let working = Working::of_form(problem, batch.max(2 * k), &known, &limits)?;
    let mut working = working.rounds(BRIEF_ROUNDS);
    let (_, objective) = working.choose(k, swaps, &limits);
    context.enter(Phase::Root);
    let task = Task::whole(problem, &problem.selectable, objective, &limits);
    context.counters.calls += 1;
    if !working.is_promising(&task, objective) {
        let (_, _, root) = working.into_parts();
        return Some(Brief { root, point: None });
    }
    let (bound, exit) = working.solve(problem, &task);
    context.raise(bound);
    let (support, _) = working.choose(k, swaps, &limits);
    context.try_support_from(&support, working.model());
    if exit == Exit::Stopped {
        return None;
    }
    let bounds = working.children(problem, &task.node);
    let free = left(problem, &problem.selectable, &bounds, context);
    if context.saves() {
        context.prepared.screening = Some(Screening::new(&free, true));
    }
    let (slopes, bound, root) = working.into_parts();
    let point = Some(BriefPoint {
        free,
        slopes,
        bound,
    });
    Some(Brief { root, point })
}

/// The features of `free` that the bounds of a point do not rule out. Evidence of the others is recorded in the
/// context.
fn left(problem: &Problem, free: &[usize], bounds: &Children, context: &mut Context) -> Vec<usize> {
    let cut = context.incumbents.cut();
    let mut out = vec![false; problem.design.columns()];
    for other in bounds.other_sides.iter().filter(|other| !other.is_out) {
        if other.bound.value() >= cut {
            context.evidence.rule_out(other.bound);
            out[other.feature] = true;
        }
    }
    let left: Vec<usize> = free.iter().copied().filter(|j| !out[*j]).collect();
    context.reporter.set_features_left(left.len());
    left
}

/// Screens with the paper's ascent, which is made finer as long as that helps.
pub(crate) fn by_ascent(context: &mut Context, enough: usize) -> Vec<usize> {
    let mut ascent = Pdal::within(context.problem, COARSE, &context.limits);
    screen(context, enough, &mut ascent)
}

/// The selectable features that are left, once at most `enough` are or nothing more can be dropped.
///
/// Evidence of all others is recorded in the context, and the features left after each round are kept for checkpoints.
pub(crate) fn screen<R: Relaxation>(
    context: &mut Context,
    enough: usize,
    relaxation: &mut R,
) -> Vec<usize> {
    let free = match &context.prepared.screening {
        Some(known) => known.free(),
        None => context.problem.selectable.clone(),
    };
    let mut rounds = Rounds {
        relaxation,
        free,
        start: None,
        enough: enough.max(context.problem.support_size() + 1),
        left: SCREENING_ROUNDS,
    };
    if stage::run(&mut rounds, context) == Progress::Done {
        context.prepared.screening = Some(Screening::new(&rounds.free, true));
    }
    rounds.free
}

/// Rounds of ascent and screening, each a step.
struct Rounds<'r, R: Relaxation> {
    relaxation: &'r mut R,
    /// The remaining features.
    free: Vec<usize>,
    start: Option<R::Start>,
    /// Number of features at which screening stops.
    enough: usize,
    /// Number of rounds left.
    left: usize,
}

impl<'p, R: Relaxation> Stage<'p> for Rounds<'_, R> {
    fn step(&mut self, context: &mut Context<'p>) -> Progress {
        let problem = context.problem;
        if self.left == 0 || self.free.len() <= self.enough || problem.support_size() == 0 {
            return Progress::Done;
        }
        self.left -= 1;
        let limits = context.limits.clone();
        let task = Task::whole(problem, &self.free, context.incumbents.reference(), &limits);
        let relaxation = &mut *self.relaxation;
        relaxation.prepare(problem, &task, self.start.as_ref());
        context.counters.calls += 1;
        let (bound, exit) = relaxation.solve(problem, &task);
        context.raise(bound);
        if exit == Exit::Stopped {
            // The limit ends the stage.
            return Progress::Running;
        }
        self.start = Some(relaxation.start());
        let support = relaxation.candidate(problem, &task.node);
        context.propose(&support);
        let bounds = relaxation.children(problem, &task.node);
        let before = self.free.len();
        self.free = left(problem, &self.free, &bounds, context);
        context.prepared.screening = Some(Screening::new(&self.free, false));
        // When little was gained, only a sharper bound can do more.
        let gained = self.free.len() * 10 <= before * 9;
        if gained || relaxation.sharpen() {
            Progress::Running
        } else {
            Progress::Done
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::search::checkpoint::{Archive, Checkpoint, Part, Stamp};
    use crate::search::{Slot, Writer};
    use crate::{Design, Problem, Settings};

    /// A problem in which three columns explain the response, and the others hardly.
    fn problem() -> Problem {
        let (rows, columns) = (30, 400);
        let wave = |i: usize, j: usize| ((i * 37 + j * 11 + i * j * 7 + j * j * 3) as f64).sin();
        let value = |at: usize| wave(at % rows, at / rows);
        let values = (0..rows * columns).map(value).collect();
        let response = (0..rows)
            .map(|i| 3.0 * wave(i, 5) - 2.0 * wave(i, 100) + wave(i, 300) + 0.05 * (i as f64).cos())
            .collect();
        let design = Design::dense(rows, columns, values).unwrap();
        let builder = Problem::builder(design, response)
            .standardize(false)
            .k(3)
            .ridge(0.05);
        builder.intercept(true).build().unwrap()
    }

    fn ascend(context: &mut Context) -> Vec<usize> {
        begin(context);
        by_ascent(context, 4)
    }

    fn work(context: &mut Context) -> Vec<usize> {
        begin(context);
        // The set is so small that it grows often.
        let mut working = Working::new(context.problem, 4).unwrap();
        screen(context, 4, &mut working)
    }

    #[test]
    fn an_ascent_goes_on_from_every_checkpoint() {
        goes_on_from_every_checkpoint(ascend);
    }

    #[test]
    fn working_sets_go_on_from_every_checkpoint() {
        goes_on_from_every_checkpoint(work);
    }

    fn goes_on_from_every_checkpoint(screen: fn(&mut Context) -> Vec<usize>) {
        let problem = problem();
        let settings = Settings::default();
        let stamp = Stamp::new(&problem, &settings).unwrap();
        let mut saved: Vec<Checkpoint> = Vec::new();
        let mut context = Context::new(&problem, &settings);
        let mut archive = Archive::of_one(None).unwrap();
        archive.take_up(0, Part::new(stamp, &[3])).unwrap();
        let sink = |archive: &mut Archive| saved.push(Checkpoint(archive.clone()));
        let writer = Writer::new(archive, Some((Duration::ZERO, Box::new(sink))));
        context.save_to(Slot::open(&writer, 0, |part, state| part.enter(0, state)));
        let left = screen(&mut context);
        let calls = context.counters.calls;
        let proved = |context: &Context| context.lower_bound(Some(Certified::TRIVIAL)).value();
        let (bound, best) = (proved(&context), context.incumbents.best());
        assert!(0.0 < bound && bound <= best);
        assert!(left.len() < problem.selectable.len(), "nothing was dropped");
        drop((context, writer));
        let is_round = |checkpoint: &&Checkpoint| checkpoint.state().prepared.screening.is_some();
        assert!(saved.iter().filter(is_round).count() > 0);
        assert!(!is_round(&&saved[0]), "the first one has a model alone");
        let mut sizes = Vec::new();
        for checkpoint in &saved {
            let restored = Checkpoint::decode(&checkpoint.encode()).unwrap();
            assert_eq!(restored, *checkpoint);
            let state = &restored.state();
            state.check(&problem).unwrap();
            let mut context = Context::new(&problem, &settings);
            context.resume(state);
            let has_model = context.incumbents.first().is_some();
            assert!(has_model || state.prepared.screening.is_none());
            let again = screen(&mut context);
            // The bound and the objective hold for the same problem, wherever the ascent was interrupted.
            assert!(proved(&context) <= best && bound <= context.incumbents.best());
            assert!(proved(&context) >= state.base);
            let rest = context.counters.calls - state.calls;
            assert!(rest <= calls + 2, "{rest} rounds more, {calls} in all");
            if let Some(screening) = &state.prepared.screening {
                let free = screening.free();
                assert!(again.iter().all(|j| free.binary_search(j).is_ok()));
                sizes.push(free.len());
            }
        }
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
        assert!(
            sizes[sizes.len() - 1] < problem.selectable.len(),
            "{sizes:?}"
        );
    }

    /// The best model uses only the remaining features, and the bound is valid.
    #[test]
    fn a_brief_look_keeps_the_best_model() {
        for loss in ["quadratic", "huber"] {
            let wide = problem();
            let (design, response) = (wide.design().clone(), wide.b.clone());
            let builder = Problem::builder(design, response)
                .standardize(false)
                .k(3)
                .ridge(0.05);
            let loss = crate::loss::by_name(loss, 1.0).unwrap();
            let problem = builder.loss(loss).intercept(true).build().unwrap();
            let plain = Settings {
                mechanisms: crate::Mechanisms {
                    screen_from: u64::MAX,
                    ..Default::default()
                },
                ..Settings::default()
            };
            let best = crate::solve(&problem, &plain).unwrap();
            let mut context = Context::new(&problem, &plain);
            let point = briefly(&mut context).unwrap().point.unwrap();
            assert!(point.free.len() < problem.selectable.len() / 2);
            let is_left = |j: &usize| point.free.binary_search(j).is_ok();
            assert!(best.support.iter().all(is_left), "{:?}", point.free);
            assert!(0.0 < point.bound.value() && point.bound.value() <= best.objective);
            assert!(context.incumbents.best() >= best.objective * (1.0 - 1e-9));
        }
    }

    #[test]
    fn what_no_screening_leaves_is_refused() {
        let problem = problem();
        let settings = Settings::default();
        for (free, is_good) in [
            (vec![1, 2, 7], true),
            (vec![2, 1], false),
            (vec![1, 1], false),
            (vec![1, 400], false),
        ] {
            let mut context = Context::new(&problem, &settings);
            context.prepared.screening = Some(Screening::new(&free, false));
            let checked = context.saved(Default::default()).check(&problem);
            assert_eq!(checked.is_ok(), is_good, "{free:?}: {checked:?}");
        }
    }
}
