//! One call from a problem to a solution.

use crate::bound::Certified;
use crate::error::Result;
use crate::gram::root::MAX_COLUMNS;
use crate::gram::tree::GramTree;
use crate::heuristic;
use crate::problem::Problem;
use crate::relaxation::pdal::{self, Pdal};
use crate::relaxation::rows::NewtonRows;
use crate::relaxation::sga::Sga;
use crate::search::binary::BinaryTree;
use crate::search::context::Observer;
use crate::search::paper::OrderedTree;
use crate::search::{Context, Phase, Progress, Search, Tree, exhaustive};
use crate::settings::{Method, RelaxationKind, Settings, Solution};

/// Solves a problem.
///
/// ```
/// use l0star::{Design, Method, Problem, Settings, Status};
///
/// // Two columns; the response is the second one, nearly.
/// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
/// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).k(1).ridge(1e-4).build()?;
/// let solution = l0star::solve(&problem, &Settings::new(Method::Paper))?;
/// assert_eq!(solution.status, Status::Optimal);
/// assert_eq!(solution.support, [1]);
/// # Ok::<(), l0star::Error>(())
/// ```
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution> {
    run(problem, settings, None)
}

/// [`solve`], with every new incumbent and every rise of the bound sent to `observer`.
pub fn solve_observed<'p>(
    problem: &'p Problem,
    settings: &Settings,
    observer: Observer<'p>,
) -> Result<Solution> {
    run(problem, settings, Some(observer))
}

fn run<'p>(
    problem: &'p Problem,
    settings: &Settings,
    observer: Option<Observer<'p>>,
) -> Result<Solution> {
    settings.check()?;
    let mut context = Context::new(problem, settings);
    if let Some(observer) = observer {
        context.observe(observer);
    }
    if let Some(supports) = heuristic::supports_within(settings.method, problem, &context.limits) {
        return Ok(inexact(context, settings, supports));
    }
    if settings.method == Method::Exhaustive {
        context.enter(Phase::Search);
        let (bound, stopped) = exhaustive::run(&mut context)?;
        return Ok(context.solution(settings, stopped, Some(bound)));
    }
    if settings.method == Method::BestFirst {
        if let Some(tree) = GramTree::prepare(problem, &mut context) {
            return Ok(search(context, settings, tree));
        }
        if context.incumbent().is_none() {
            heuristic::first_incumbent(&mut context);
        }
        if let Some(status) = context.limits.reached() {
            // What comes next would only be prepared in vain.
            let bound = context.lower_bound(Some(Certified::TRIVIAL));
            return Ok(context.solution(settings, Some(status), Some(bound)));
        }
        // Where the Gram form does not apply to a quadratic there are many columns, and more of them are active at the
        // root than a Newton system should have.
        if problem.loss.is_quadratic() && problem.selectable.len() > MAX_COLUMNS {
            let relaxation = Pdal::within(problem, pdal::EPSILON, &context.limits);
            let tree = BinaryTree::new(relaxation);
            return Ok(search(context, settings, tree));
        }
        let mut relaxation = NewtonRows::within(problem, settings.ideas, &context.limits);
        if let Some(incumbent) = context.incumbent() {
            relaxation.start_at(&incumbent.fit.x);
        }
        return Ok(search(context, settings, BinaryTree::new(relaxation)));
    }
    let (warm, pruning) = (settings.warm_start, settings.pruning);
    Ok(match settings.relaxation {
        RelaxationKind::Pdal => {
            let relaxation = Pdal::within(problem, pdal::EPSILON, &context.limits);
            search(
                context,
                settings,
                OrderedTree::new(relaxation, warm, pruning),
            )
        }
        RelaxationKind::Sga => {
            let relaxation = Sga::new(problem, heuristic::EPSILON);
            search(
                context,
                settings,
                OrderedTree::new(relaxation, warm, pruning),
            )
        }
    })
}

fn search<T: Tree>(context: Context, settings: &Settings, tree: T) -> Solution {
    let mut search = Search::new(context, tree);
    let stopped = match search.run(settings) {
        Progress::Stopped(status) => Some(status),
        Progress::Running | Progress::Done => None,
    };
    let bound = search.lower_bound();
    search
        .into_context()
        .solution(settings, stopped, Some(bound))
}

/// The paper counts an inexact method as one solver call.
fn inexact(
    mut context: Context,
    settings: &Settings,
    supports: impl Iterator<Item = Vec<usize>>,
) -> Solution {
    context.enter(Phase::Heuristic);
    let mut last = Vec::new();
    let mut stopped = None;
    for support in supports {
        last = support;
        stopped = context.limits.reached();
        if stopped.is_some() {
            break;
        }
    }
    context.try_support(&last);
    context.counters.calls = 1;
    context.solution(settings, stopped, None)
}
