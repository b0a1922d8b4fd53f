//! The inexact methods that the paper compares with, for every loss. Each is an iterator over supports.
//!
//! | method | one iteration | it ends when |
//! |---|---|---|
//! | [`Omp`] | adds the feature of largest gradient, refits | k features are in, or no gradient is left |
//! | [`Iht`] | a gradient step, then the k largest entries | P falls by less than ε P(0), or 10,000 iterations |
//! | [`Htp`] | as IHT, then a full refit | a support comes back, or P does not fall |
//! | [`Diht`] | a dual supergradient step (Algorithm 5 at the root) | D rises by less than ε P(0) |
//!
//! ε = 1e-5, as in the paper. Always-in columns take part in every refit and gradient step and are never dropped.
//! The model of a support is its exact refit.

mod diht;
mod exchange;
pub(crate) mod greedy;
mod neighbours;
mod omp;
mod thresholding;

pub use diht::Diht;
pub(crate) use neighbours::fill_list;
pub use omp::Omp;
pub use thresholding::{Htp, Iht};

use crate::limits::Limits;
use crate::problem::Problem;
use crate::search::checkpoint::{Heuristic, narrow, wide};
use crate::search::stage::{self, Stage};
use crate::search::{Context, Phase, Progress};
use crate::settings::Method;

/// The paper's ε for IHT, HTP, DIHT and SGA.
pub const EPSILON: f64 = 1e-5;

/// The supports that an inexact method visits. `None` when `method` is exact or does not apply: dual steps need a loss
/// that is a sum over rows.
pub fn supports<'p>(
    method: Method,
    problem: &'p Problem,
) -> Option<Box<dyn Iterator<Item = Vec<usize>> + 'p>> {
    supports_within(method, problem, &Limits::none())
}

/// Like [`supports`]; a limit shortens an iteration, and the caller checks the limits between supports.
pub(crate) fn supports_within<'p>(
    method: Method,
    problem: &'p Problem,
    limits: &Limits,
) -> Option<Box<dyn Iterator<Item = Vec<usize>> + 'p>> {
    Some(match method {
        Method::Omp => Box::new(Omp::new(problem)),
        Method::Iht => Box::new(Iht::within(problem, limits)),
        Method::Htp => Box::new(Htp::within(problem, limits)),
        Method::Diht if problem.joint().is_some() => return None,
        Method::Diht => Box::new(Diht::within(problem, limits)),
        Method::BestFirst | Method::Paper | Method::Exhaustive => return None,
    })
}

/// Finds a first model by matching pursuit and then swaps, from the known model if there is one. With groups, bounds
/// or heredity it uses greedy steps and swaps. Resumes from a checkpoint's progress, if there is any.
pub(crate) fn first_incumbent(context: &mut Context) {
    context.enter(Phase::Heuristic);
    if context.problem.structure.is_some() {
        greedy::run(context);
        return;
    }
    let begun = match &context.prepared.heuristic {
        Some(Heuristic::Pursuit(support)) => Some(wide(support)),
        _ => None,
    };
    let known = context.incumbents.first().map(|known| known.support);
    let start = begun.clone().or(known);
    let mut pursuit = Pursuit {
        supports: Omp::from(context.problem, start.unwrap_or_default()),
        last: begun,
    };
    stage::run(&mut pursuit, context);
    if let Some(support) = pursuit.last {
        context.counters.calls += 1;
        context.try_support(&support);
    }
    if context.mechanisms.swaps {
        exchange::improve(context);
    }
    // From here on checkpoints contain the model of the pursuit. Progress in Gram form stays, so that it is not
    // repeated.
    if matches!(context.prepared.heuristic, Some(Heuristic::Pursuit(_))) {
        context.prepared.heuristic = None;
    }
}

/// Matching pursuit; a step adds a feature.
struct Pursuit<'p> {
    supports: Omp<'p>,
    last: Option<Vec<usize>>,
}

impl<'p> Stage<'p> for Pursuit<'p> {
    fn step(&mut self, context: &mut Context<'p>) -> Progress {
        let Some(support) = self.supports.next() else {
            return Progress::Done;
        };
        context.keep_heuristic(|| Heuristic::Pursuit(narrow(&support)));
        self.last = Some(support);
        Progress::Running
    }
}
