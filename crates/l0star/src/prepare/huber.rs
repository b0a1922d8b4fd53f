//! Proves which rows of a Huber problem are quadratic for every model that matters.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::screening::BriefPoint;
use super::shared::SharedWork;
use super::start::First;
use crate::bound::{Certified, DualPoint, Subproblem};
use crate::gram::condensed::Spread;
use crate::gram::relaxation::{Explicit, GramRelaxation};
use crate::gram::working::slopes_at;
use crate::problem::Problem;
use crate::relaxation::Relaxation;
use crate::relaxation::model::Goal;
use crate::search::stage::{self, Stage};
use crate::search::{Context, Progress};
use crate::tuning::frames::ROOT_TOLERANCE;
use crate::tuning::prepare::{MAX_EXPLICIT, ROW_ROUNDS};

impl<'p> GramRelaxation<'p> {
    /// Decides which rows of a Huber problem are quadratic for each x that is better than the incumbent, or good
    /// enough for the requested list. Returns the node that the proofs have reached, if any; `None` when the Gram form
    /// is not worthwhile.
    ///
    /// Take the slopes α of one point and their bound D(β). If `D(β) + p_i(δ - |α_i|)²/2 ≥ P_ref`, then every x with
    /// `P(x) < P_ref` has `|residual_i| < δ`. When that holds for all rows, P is quadratic for every model that
    /// matters. Rows that fail are tried again with the tighter bound that the others make possible (see
    /// [`crate::gram::mixed`]).
    ///
    /// `fixing`: whether the first node of the search may omit the features that the proofs rule out. `point`: a known
    /// dual point.
    pub(super) fn certify_rows(
        &mut self,
        chosen: &[usize],
        fixing: bool,
        point: Option<&BriefPoint>,
        context: &mut Context<'p>,
        shared: &mut SharedWork,
    ) -> Option<Option<First>> {
        let problem = self.problem;
        let reference = context.incumbents.reference();
        let mut certain = match (context.kept_rows(), point) {
            (Some(rows), _) => rows,
            (None, Some(BriefPoint { slopes, bound, .. })) => {
                quadratic_below(problem, slopes, *bound, reference)
            }
            (None, None) => self.first_rows(chosen, context, shared)?,
        };
        context.keep_rows(&certain);
        self.ceiling = reference;
        // Frames eliminate the intercept and always-in columns. With these, no row can stay explicit.
        let can_be_explicit = !problem.has_intercept && problem.penalised.is_empty();
        let mut first = None;
        if can_be_explicit {
            let mut proofs = RowProofs {
                relaxation: self,
                certain,
                chosen,
                fixing,
                shared,
                last: None,
                rounds: ROW_ROUNDS,
            };
            let is_done = stage::run(&mut proofs, context) == Progress::Done;
            first = proofs.last.filter(|_| is_done);
            certain = proofs.certain;
        }
        let rows = open_rows(&certain);
        if rows.is_empty() {
            return Some(first);
        }
        if !can_be_explicit || rows.len() as f64 > MAX_EXPLICIT * certain.len() as f64 {
            return None;
        }
        if self.explicit.is_none() {
            let root = self.root.without_rows(problem, &rows, &context.limits)?;
            self.explicit = Some(Arc::new(Explicit { root, rows }));
        }
        Some(first)
    }

    /// The rows that a point of the quadratic without a lift certifies. `None` at a limit.
    fn first_rows(
        &mut self,
        chosen: &[usize],
        context: &mut Context,
        shared: &mut SharedWork,
    ) -> Option<Vec<bool>> {
        let reference = context.incumbents.reference();
        // There is no lift: until the rows are certified, only D(β) of Huber's own dual holds.
        let limits = &context.limits.clone();
        let first = self.first_node(chosen, &Spread::Unproved, context, shared)?;
        let goal = Goal {
            cut: reference,
            tolerance: ROOT_TOLERANCE * reference,
            share: None,
            tight: 1e-12 * reference,
        };
        context.counters.calls += 1;
        self.run(&first.node(self.problem.support_size()), &goal, limits);
        if limits.stop() {
            return None;
        }
        let x: Vec<(usize, f64)> = self.model().collect();
        Some(quadratic_rows(self.problem, &x, context))
    }

    /// Decides every free feature of the first node whose other side is ruled out.
    fn fix_first(&self, first: &mut First, context: &mut Context) {
        let node = first.node(self.problem.support_size());
        if !self.mechanisms.fixing || node.budget == 0 || node.budget >= node.free.len() {
            return;
        }
        let (bounds, cut) = (self.children(self.problem, &node), context.incumbents.cut());
        for other in bounds.other_sides {
            if other.bound.value() >= cut {
                context.evidence.rule_out(other.bound);
                first.free.retain(|j| *j != other.feature);
                first.inside.extend(other.is_out.then_some(other.feature));
            }
        }
    }
}

/// Lifts the certified rows, keeps the others explicit, and certifies again until nothing changes. A step is a round.
struct RowProofs<'s, 'p> {
    relaxation: &'s mut GramRelaxation<'p>,
    certain: Vec<bool>,
    chosen: &'s [usize],
    fixing: bool,
    shared: &'s mut SharedWork,
    /// The node that the proofs have reached; at the end, the first node of the search.
    last: Option<First>,
    /// Number of rounds left.
    rounds: usize,
}

impl<'p> Stage<'p> for RowProofs<'_, 'p> {
    fn step(&mut self, context: &mut Context<'p>) -> Progress {
        match self.round(context) {
            ControlFlow::Continue(node) => {
                self.last = Some(node);
                Progress::Running
            }
            ControlFlow::Break(first) => {
                self.last = first;
                Progress::Done
            }
        }
    }
}

impl<'p> RowProofs<'_, 'p> {
    /// Makes one round; returns the node reached or, at the end, the first node of the search, if there is one.
    fn round(&mut self, context: &mut Context<'p>) -> ControlFlow<Option<First>, First> {
        let relaxation = &mut *self.relaxation;
        if self.rounds == 0 {
            relaxation.explicit = None;
            return ControlFlow::Break(None);
        }
        self.rounds -= 1;
        let (problem, reference) = (relaxation.problem, context.incumbents.reference());
        let (limits, k) = (context.limits.clone(), problem.support_size());
        let rows = open_rows(&self.certain);
        let all_are_certain = rows.is_empty();
        if rows.len() as f64 > MAX_EXPLICIT * self.certain.len() as f64 {
            return ControlFlow::Break(None);
        }
        relaxation.explicit = None;
        if !all_are_certain {
            let Some(root) = relaxation.root.without_rows(problem, &rows, &limits) else {
                return ControlFlow::Break(None);
            };
            relaxation.explicit = Some(Arc::new(Explicit { root, rows }));
        }
        // A smaller frame keeps the error of the first. That frame contains more rows, so its proof holds for the
        // smaller one.
        let last = self.last.take();
        let smaller = last.filter(|last| relaxation.reframe(&last.node(k), reference, &limits));
        let mut first = match smaller {
            Some(smaller) if all_are_certain => return ControlFlow::Break(Some(smaller)),
            Some(smaller) => smaller,
            None if all_are_certain => return ControlFlow::Break(None),
            None => {
                let spread = &Spread::Evenly;
                match relaxation.first_node(self.chosen, spread, context, self.shared) {
                    Some(first) => first,
                    None => {
                        relaxation.explicit = None;
                        return ControlFlow::Break(None);
                    }
                }
            }
        };
        let goal = Goal {
            cut: f64::INFINITY,
            tolerance: ROOT_TOLERANCE * reference,
            share: None,
            tight: ROOT_TOLERANCE * reference,
        };
        context.counters.calls += 1;
        first.low = relaxation.run(&first.node(k), &goal, &limits);
        let proved = relaxation.certified_rows(reference);
        let is_closed = first.low.value() >= context.incumbents.cut();
        if self.fixing {
            if is_closed {
                // It takes the place of the first node. A resumed search has nodes of its own, and counts these.
                context.counters.nodes += 1;
            } else {
                relaxation.fix_first(&mut first, context);
            }
        }
        let node = first.node(k);
        let is_leaf = node.budget == 0 || node.free.len() <= node.budget;
        if proved.is_empty() || is_closed || is_leaf {
            return ControlFlow::Break(Some(first));
        }
        proved.iter().for_each(|i| self.certain[*i] = true);
        context.keep_rows(&self.certain);
        first.low = Certified::TRIVIAL;
        ControlFlow::Continue(first)
    }
}

/// The rows that are not certain.
fn open_rows(certain: &[bool]) -> Vec<usize> {
    (0..certain.len()).filter(|i| !certain[*i]).collect()
}

/// The rows of a Huber problem that the slopes at x (plus a fitted intercept) prove to be quadratic for every x with
/// `P(x)` below the reference of the context.
fn quadratic_rows(problem: &Problem, x: &[(usize, f64)], context: &Context) -> Vec<bool> {
    let reference = context.incumbents.reference();
    let mut z = vec![0.0; problem.rows()];
    let mut point = DualPoint::new(problem);
    slopes_at(problem, x, &mut z, &mut point);
    let (mut included, mut free) = (problem.penalised.clone(), problem.selectable.clone());
    let mut budget = problem.support_size();
    if let Some(decision) = context.incumbents.decision() {
        free.retain(|j| *j != decision.feature);
        if decision.inside {
            included.push(decision.feature);
            budget -= 1;
        }
    }
    let whole = Subproblem {
        included: &included,
        free: &free,
        budget,
    };
    point.dots(problem, &whole);
    let bound = point.bound(problem, &whole, &mut Vec::new());
    quadratic_below(problem, &point.alpha, bound, reference)
}

/// The rows that slopes α and their bound D(β) prove to be quadratic for every x with `P(x) < reference`.
fn quadratic_below(
    problem: &Problem,
    alpha: &[f64],
    bound: Certified,
    reference: f64,
) -> Vec<bool> {
    let rows = alpha.iter().zip(&problem.b).zip(&problem.p);
    rows.map(|((alpha, b), p)| {
        let room = problem.loss.domain(*b).1 - alpha.abs();
        bound.value() + 0.5 * p * room * room * (1.0 - 1e-12) >= reference
    })
    .collect()
}
