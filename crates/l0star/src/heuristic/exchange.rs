//! Swaps for any smooth loss: the best swaps in the quadratic model of P at the incumbent, refitted, until none helps.
//!
//! At the minimiser x of a support, with `W = ∇²L(z)`, P is `½ yᵀHy - cᵀy` up to a constant and third order in `y -
//! x`, where `H = AᵀWA + diag(λ)` and `c = Hx - ∇P(x)`. A swap that improves this model usually improves P.

use crate::gram::form::Form;
use crate::gram::swaps;
use crate::linalg::cholesky::mirror_up;
use crate::problem::Problem;
use crate::relaxation::largest;
use crate::search::stage::{self, Stage};
use crate::search::{Context, Progress};
use crate::tuning::models::{EXCHANGE_CANDIDATES, EXCHANGE_ROUNDS};

/// The share of P that a refit has to gain.
const WORTHWHILE: f64 = 1e-10;

/// Improves the incumbent, if there is one, until no swap helps or a limit is reached.
pub(super) fn improve(context: &mut Context) {
    let Some(support) = context.incumbents.first().map(|known| known.support) else {
        return;
    };
    let value = context.incumbents.best();
    let mut exchange = Exchange {
        support,
        value,
        single: false,
        rounds: EXCHANGE_ROUNDS,
    };
    stage::run(&mut exchange, context);
}

/// A support that is improved by exchanges; each step makes one model of P.
struct Exchange {
    support: Vec<usize>,
    value: f64,
    /// Whether one swap is made at a time.
    single: bool,
    /// Number of rounds left.
    rounds: usize,
}

impl<'p> Stage<'p> for Exchange {
    fn step(&mut self, context: &mut Context<'p>) -> Progress {
        if self.rounds == 0 {
            return Progress::Done;
        }
        self.rounds -= 1;
        let Some(next) = proposal(context, &self.support, self.single) else {
            return Progress::Done;
        };
        context.counters.calls += 1;
        let at = context.try_support(&next);
        if at < self.value - WORTHWHILE * self.value.abs() {
            (self.support, self.value) = (next, at);
            self.single = false;
        } else if self.single {
            return Progress::Done;
        } else {
            // Several swaps at once leave the region where the model of P is accurate.
            self.single = true;
        }
        Progress::Running
    }
}

/// The support after swaps (or one of them) in the quadratic model at its minimiser; `None` when it stays as it is.
fn proposal(context: &mut Context, support: &[usize], single: bool) -> Option<Vec<usize>> {
    let problem = context.problem;
    let limits = context.limits.clone();
    let fit = context.restricted().fit(support);
    let beta = context.restricted().beta().to_vec();
    let mut gradient = vec![0.0; problem.selectable.len()];
    let design = &problem.design;
    design.dots(&problem.selectable, &beta, &mut gradient);
    let mut columns = candidates(problem, support, &gradient);
    let selectable = columns.len();
    columns.extend_from_slice(&problem.penalised);
    columns.extend_from_slice(problem.unpenalised.columns());
    let d = columns.len();
    let mut x = vec![0.0; d];
    for (j, value) in &fit.x {
        if let Some(at) = columns.iter().position(|i| i == j) {
            x[at] = *value;
        }
    }
    let mut z = vec![0.0; problem.rows()];
    problem.predict_into(&fit.x, &mut z);
    let mut curvature = vec![0.0; problem.rows()];
    problem.curvatures_of(&z, &mut curvature);
    let mut h = vec![0.0; d * d];
    let stop = || limits.stop();
    design.weighted_gram(&columns, &curvature, &mut Vec::new(), &mut h, &stop);
    if limits.stop() {
        return None;
    }
    problem.couple_gram(&columns, &z, &mut h);
    for (i, j) in columns.iter().enumerate() {
        h[i * d + i] += problem.ridge[*j];
    }
    mirror_up(&mut h, d);
    // c = Hx - ∇P, ∇P = Aᵀβ + λx.
    let mut slopes = vec![0.0; d];
    design.dots(&columns, &beta, &mut slopes);
    let mut c = vec![0.0; d];
    for (i, j) in columns.iter().enumerate() {
        let row = &h[i * d..(i + 1) * d];
        let product: f64 = row.iter().zip(&x).map(|(h, x)| h * x).sum();
        c[i] = product - slopes[i] - problem.ridge[*j] * x[i];
    }
    // The constant affects no swap. It only sets the scale by which gains are measured.
    let form = Form {
        h: &h,
        c: &c,
        c0: fit.objective,
        selectable,
    };
    let is_in = |i: &usize| support.binary_search(&columns[*i]).is_ok();
    let mut chosen: Vec<usize> = (0..selectable).filter(is_in).collect();
    let most = if single { 1 } else { 2 * chosen.len() };
    swaps::improve(form, &mut chosen, most, None, &limits);
    let mut next: Vec<usize> = chosen.iter().map(|i| columns[*i]).collect();
    next.sort_unstable();
    (next != support).then_some(next)
}

/// The support and the most promising columns outside it, in order.
fn candidates(problem: &Problem, support: &[usize], gradient: &[f64]) -> Vec<usize> {
    let scored = problem.selectable.iter().zip(gradient).map(|(j, g)| {
        let size = problem.norms[*j];
        (*j, if size > 0.0 { g.abs() / size } else { 0.0 })
    });
    let outside = scored.filter(|(j, _)| support.binary_search(j).is_err());
    let mut columns = largest(outside, EXCHANGE_CANDIDATES);
    columns.extend_from_slice(support);
    columns.sort_unstable();
    columns
}
