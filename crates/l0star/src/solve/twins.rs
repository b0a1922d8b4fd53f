//! Solves problems with duplicate columns (twins) without the copies.
//!
//! Copies leave no curvature between them, so that nothing can be lifted, and they double every branch of a tree.
//! Members of a class are interchangeable, so the search uses only their leaders. The remaining models use a class
//! twice, and another problem bounds all of them ([`Problem::doubling`]). It has one feature less, and its root is
//! usually enough. Where its optimum is below the best model found, the whole problem is searched. A list of the
//! leaders represents one of all columns in the same way ([`lists`]). Prices use the parts of this module.
//!
//! Checkpoints are those of the search of the leaders; a resumed run bounds the other models again.

mod lists;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Run;
use crate::error::Result;
use crate::prepare::shared::SharedWork;
use crate::problem::Problem;
use crate::search::checkpoint::Stamp;
use crate::search::incumbents::{PROMISE, WORKING};
use crate::search::{Event, Observer};
use crate::settings::{Mechanisms, Model, Settings, Solution, Status, Use, scale_of};
use lists::Expanded;

/// Nodes, calls and time that the searches have used so far.
struct Spent {
    begun: Instant,
    nodes: u64,
    calls: u64,
    seconds: f64,
}

impl Spent {
    fn new() -> Self {
        Self {
            begun: Instant::now(),
            nodes: 0,
            calls: 0,
            seconds: 0.0,
        }
    }

    /// The settings with the remaining time.
    fn left(&self, settings: &Settings) -> Settings {
        let elapsed = self.begun.elapsed();
        Settings {
            time_limit: settings
                .time_limit
                .map(|limit| limit.saturating_sub(elapsed)),
            ..settings.clone()
        }
    }

    /// The settings with the remaining time and without a node limit, which applies to the search that checkpoints can
    /// resume.
    fn left_aside(&self, settings: &Settings) -> Settings {
        Settings {
            node_limit: None,
            ..self.left(settings)
        }
    }

    fn count(&mut self, found: &Solution) {
        self.nodes += found.nodes;
        self.calls += found.solver_calls;
        self.seconds += found.seconds;
    }

    fn total(&self, found: Solution) -> Solution {
        Solution {
            nodes: self.nodes,
            solver_calls: self.calls,
            seconds: self.seconds,
            ..found
        }
    }
}

/// The models that use a class twice, as a problem of their own, and what is proved of them.
struct Doubled<'s> {
    problem: Option<Problem>,
    found: Option<Solution>,
    /// No such model has a smaller objective; infinite if there is none.
    bound: f64,
    shared: &'s mut SharedWork,
}

impl<'s> Doubled<'s> {
    /// Bounds them at the root of their search.
    fn new(
        problem: Option<Problem>,
        settings: &Settings,
        spent: &mut Spent,
        shared: &'s mut SharedWork,
    ) -> Result<Self> {
        let mut doubled = Self {
            problem,
            found: None,
            bound: f64::INFINITY,
            shared,
        };
        if let Some(problem) = &doubled.problem {
            let found = Run::new(problem, &root(settings)).solve_whole(doubled.shared, None)?;
            spent.count(&found);
            doubled.bound = proved(&found);
            doubled.found = Some(found);
        }
        Ok(doubled)
    }

    /// Searches them until their bound reaches `enough`, unless a model below it is known. Returns the limit that ended
    /// the search before that.
    fn raise(
        &mut self,
        enough: f64,
        settings: &Settings,
        spent: &mut Spent,
    ) -> Result<Option<Status>> {
        let (Some(problem), Some(root)) = (&self.problem, &self.found) else {
            return Ok(None);
        };
        if self.bound >= enough || root.objective < enough {
            return Ok(None);
        }
        let more = until(problem, &spent.left_aside(settings), enough, self.shared)?;
        spent.count(&more);
        self.bound = self.bound.max(proved(&more));
        let limit = stopped(settings, &more, enough);
        self.found = Some(more);
        Ok(limit)
    }
}

/// Solves a problem by means of its leaders.
pub(super) fn solve<'p>(
    mut run: Run<'p>,
    leading: &Problem,
    shared: &mut SharedWork,
    known: Option<&Model>,
) -> Result<Solution> {
    let (whole, settings) = (run.problem, run.settings.clone());
    let [shared, others] = shared.of_twins();
    let mut spent = Spent::new();
    // Checkpoints belong to the whole problem.
    if run.stamp.is_none() && (run.sink.is_some() || run.resume.is_some()) {
        run.stamp = Some(Stamp::new(whole, &settings)?);
    }
    for set in &mut run.start {
        set.iter_mut().for_each(|j| *j = whole.leader(*j));
    }
    let narrow = narrowed(whole, &settings);
    let mut doubled = Doubled::new(whole.doubling(leading)?, &settings, &mut spent, others)?;
    let cluster = run.cluster.clone();
    let observer = run.observer.take().map(|own| Rc::new(RefCell::new(own)));
    // A model of a smaller size that uses followers does not exist among the leaders.
    let is_leading = |j: &usize| whole.leader(*j) == *j;
    let known = known.filter(|model| model.support.iter().all(is_leading));
    let found = Run {
        problem: leading,
        settings: spent.left(&narrow),
        observer: observer
            .as_ref()
            .map(|own| below(own, doubled.bound, whole.twin_loss())),
        ..run
    }
    .solve_whole(shared, known)?;
    spent.count(&found);
    let list = settings
        .wants_list()
        .then(|| Expanded::new(whole, &spent.left(&settings), &found));
    if found.status.stopped_early() {
        let all = with_copies(whole, &settings, list.as_ref(), found, doubled.bound);
        return Ok(spent.total(all));
    }

    let highest = list
        .as_ref()
        .map_or(found.objective, |list| list.promise(&settings));
    let enough = sufficient(&narrow, highest, found.empty_objective);
    let limit = doubled.raise(enough, &settings, &mut spent)?;
    if doubled.bound >= enough || limit.is_some() {
        let status = limit.unwrap_or(found.status);
        let leaders = Solution {
            status,
            ..found.clone()
        };
        let all = with_copies(whole, &settings, list.as_ref(), leaders, doubled.bound);
        // A list with very many substitutes omits some of them.
        let is_enough = !all.status.falls_short() || found.status.falls_short();
        if list.is_none() || limit.is_some() || is_enough {
            return Ok(spent.total(all));
        }
    }
    // A second member may be worth more than another feature: the whole problem decides.
    let sets = [Some(&found), doubled.found.as_ref()];
    let sets = sets
        .into_iter()
        .flatten()
        .map(|found| found.support.clone());
    let settings = spent.left_aside(&settings);
    let mut run = Run::new(whole, &settings).start(sets.collect());
    run = run.share_out(cluster);
    run.observer = observer.as_ref().map(|own| below(own, f64::INFINITY, 0.0));
    let found = run.solve_whole(&mut SharedWork::single(), None)?;
    spent.count(&found);
    Ok(spent.total(found))
}

/// Converts the solution of the leaders, or the list expanded from it, to one of the whole problem; `bound`: that of the
/// models that use a class twice.
fn with_copies(
    whole: &Problem,
    settings: &Settings,
    list: Option<&Expanded>,
    found: Solution,
    bound: f64,
) -> Solution {
    let Some(list) = list else {
        return concluded(whole, settings, found, bound);
    };
    let stopped = found.status.stopped_early().then_some(found.status);
    let doubled = lowered(bound, whole.twin_loss(), bound.max(found.objective));
    Solution {
        peak_open_nodes: found.peak_open_nodes,
        ..list.conclude(settings, doubled, stopped)
    }
}

/// The settings of a search that only needs the bound of its root. They keep it short, since nothing else has begun
/// yet: boxes of wide data would take seconds.
pub(crate) fn root(settings: &Settings) -> Settings {
    Settings {
        node_limit: Some(1),
        mechanisms: Mechanisms {
            primal: false,
            boxes: Use::Never,
            ..settings.mechanisms
        },
        ..exact(settings)
    }
}

/// The bound that all models that use a class twice need for `highest` to be proved. `narrow`: see [`narrowed`].
pub(crate) fn sufficient(narrow: &Settings, highest: f64, empty_objective: f64) -> f64 {
    let scale = scale_of(highest, empty_objective);
    let allowed = narrow.gap.max(narrow.relative_gap * scale);
    highest - allowed.max(WORKING * scale)
}

/// The settings with smaller gaps: a bound of the leaders loses the difference when it becomes one of the whole
/// problem.
pub(crate) fn narrowed(whole: &Problem, settings: &Settings) -> Settings {
    let share = 2.0 * whole.twin_loss();
    let left = |gap: f64, lost: f64| (gap - lost).max(0.0);
    Settings {
        gap: left(settings.gap, share * whole.empty_objective()),
        relative_gap: left(settings.relative_gap, share),
        ..settings.clone()
    }
}

/// Settings for the best model alone, without an allowed gap.
pub(crate) fn exact(settings: &Settings) -> Settings {
    Settings {
        gap: 0.0,
        relative_gap: 0.0,
        top: None,
        within: None,
        ..settings.clone()
    }
}

/// Searches until the bound reaches `enough`, or a model falls below it.
fn until(
    problem: &Problem,
    settings: &Settings,
    enough: f64,
    shared: &mut SharedWork,
) -> Result<Solution> {
    let (own, watch) = ending(&exact(settings), enough);
    let run = Run::new(problem, &own).observe(watch);
    run.solve_whole(shared, None)
}

/// Settings and an observer that interrupt a search as soon as its bound reaches `enough`, or a model falls below it.
pub(crate) fn ending<'o>(settings: &Settings, enough: f64) -> (Settings, Observer<'o>) {
    let flag = Arc::new(AtomicBool::new(false));
    let own = Settings {
        interrupt: Some(Arc::clone(&flag)),
        ..settings.clone()
    };
    let user = settings.interrupt.clone();
    let watch = move |event: &Event| {
        let is_interrupted = user
            .as_ref()
            .is_some_and(|user| user.load(Ordering::Relaxed));
        if is_interrupted || event.lower_bound >= enough || event.objective < enough {
            flag.store(true, Ordering::Relaxed);
        }
    };
    (own, Box::new(watch))
}

/// The limit that ended a search before it had an answer for `enough`; an interrupt by the observer of [`ending`] is
/// not one.
pub(crate) fn stopped(settings: &Settings, more: &Solution, enough: f64) -> Option<Status> {
    let is_interrupted = settings.interrupt.as_ref();
    let is_interrupted = is_interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed));
    match more.status {
        _ if proved(more) >= enough || more.objective < enough => None,
        Status::Interrupted if !is_interrupted => None,
        status => status.stopped_early().then_some(status),
    }
}

/// An observer that receives bounds of the whole problem. They are at most `bound`, and lose a share of the objective.
fn below<'o>(observer: &Rc<RefCell<Observer<'o>>>, bound: f64, share: f64) -> Observer<'o> {
    let observer = Rc::clone(observer);
    Box::new(move |event: &Event| {
        let lower_bound = lowered(event.lower_bound.min(bound), share, event.objective);
        let event = Event {
            lower_bound,
            ..*event
        };
        (observer.borrow_mut())(&event);
    })
}

/// Converts a bound of the leaders to one of the whole problem, which may lose a share of the objective of a known
/// model.
fn lowered(bound: f64, share: f64, objective: f64) -> f64 {
    if share == 0.0 || bound == f64::INFINITY {
        return bound;
    }
    // The subtraction rounds down.
    (bound - share * objective * (1.0 + 1e-12))
        .next_down()
        .max(0.0)
}

/// The lower bound that a search has proved.
pub(crate) fn proved(found: &Solution) -> f64 {
    found.lower_bound.unwrap_or(0.0)
}

/// Converts the solution of the leaders to one of the whole problem; `bound`: that of the models that use a class
/// twice.
pub(crate) fn concluded(
    whole: &Problem,
    settings: &Settings,
    mut found: Solution,
    bound: f64,
) -> Solution {
    let least = lowered(
        proved(&found).min(bound),
        whole.twin_loss(),
        found.objective,
    );
    found.lower_bound = Some(least);
    found.rest_bound = found.rest_bound.map(|rest| rest.min(least));
    let promised = PROMISE * scale_of(found.objective, found.empty_objective);
    let gap = found.objective - least;
    if matches!(found.status, Status::Optimal | Status::GapReached) && gap > promised {
        found.status = if gap <= settings.asked_gap(found.objective) {
            Status::GapReached
        } else {
            Status::Precision
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::search::{News, Phase};

    /// Announced bounds hold for the whole problem, like the final one.
    #[test]
    fn bounds_on_the_way_pay_for_the_copies() {
        let heard = Cell::new(f64::NAN);
        let own: Observer = Box::new(|event: &Event| heard.set(event.lower_bound));
        let own = Rc::new(RefCell::new(own));
        let tell = |lower_bound, objective, share| {
            let event = Event {
                news: News::Bound,
                phase: Phase::Search,
                seconds: 0.0,
                nodes: 0,
                open: 0,
                lower_bound,
                objective,
                empty_objective: 2.0,
                features_left: 1,
            };
            below(&own, 0.9, share)(&event);
            heard.get()
        };
        assert_eq!(tell(0.5, 1.0, 0.0), 0.5);
        assert_eq!(tell(1.0, 1.0, 0.0), 0.9);
        assert!((0.399..0.4).contains(&tell(0.5, 1.0, 0.1)));
        assert_eq!(tell(0.5, f64::INFINITY, 0.1), 0.0);
        assert_eq!(tell(0.5, f64::INFINITY, 0.0), 0.5);
    }
}
