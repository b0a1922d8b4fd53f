//! Which rows of a Huber problem are quadratic for every model that matters.

use std::sync::Arc;

use super::frame::{Frame, FrameModel, Spread};
use super::start::Common;
use super::tree::{GramTree, NodeModel, ROOT_TOLERANCE};
use crate::bound::{Certified, DualPoint, Subproblem};
use crate::problem::Problem;
use crate::relaxation::newton::{Goal, Sets};
use crate::relaxation::working::slopes_at;
use crate::search::Context;
use crate::search::screening::BriefPoint;

/// At most this share of the rows may stay explicit.
const MAX_EXPLICIT: f64 = 0.5;
/// Rounds of certifying rows.
const MAX_ROW_ROUNDS: usize = 5;

impl GramTree<'_> {
    /// Decides which rows of a Huber problem are quadratic for each x that is better than the incumbent, or of use for
    /// the list that is wanted; false when the Gram form does not pay.
    ///
    /// With the slopes α of one point and their bound D(β): if `D(β) + p_i(δ - |α_i|)²/2 ≥ P_ref`, then every x with
    /// `P(x) < P_ref` has `|residual_i| < δ`. When that holds for all rows, P is the quadratic for all that matters.
    /// Rows that fail are tried again with the tighter bound that the others make possible (see [`super::mixed`]).
    ///
    /// `fixing`: the first node of the search may do without the features that this rules out on the way. `point`: one that is
    /// known.
    pub(super) fn certify_rows(
        &mut self,
        chosen: &[usize],
        fixing: bool,
        point: Option<&BriefPoint>,
        context: &mut Context,
        common: &mut Common,
    ) -> bool {
        let problem = self.problem;
        let reference = context.reference();
        let certain = match context.kept_rows() {
            Some(rows) => Some(rows),
            None => match point {
                Some(BriefPoint { slopes, bound, .. }) => {
                    Some(quadratic_below(problem, slopes, *bound, reference))
                }
                None => self.first_rows(chosen, context, common),
            },
        };
        let Some(mut certain) = certain else {
            return false;
        };
        context.keep_rows(&certain);
        self.ceiling = reference;
        // With an intercept, or always-in columns, which frames eliminate, no row can stay explicit.
        if !problem.has_intercept && problem.penalised.is_empty() {
            self.certify_more_rows(&mut certain, chosen, fixing, context, common);
        }
        let open: Vec<usize> = (0..certain.len()).filter(|i| !certain[*i]).collect();
        if open.is_empty() {
            return true;
        }
        if problem.has_intercept
            || !problem.penalised.is_empty()
            || open.len() as f64 > MAX_EXPLICIT * certain.len() as f64
        {
            return false;
        }
        if self.mixed.is_none() {
            let Some(root) = self.root.without_rows(problem, &open, &context.limits) else {
                return false;
            };
            self.mixed = Some(Arc::new((root, open)));
        }
        true
    }

    /// The rows that a point of the quadratic without a lift certifies. `None` at a limit.
    fn first_rows(
        &mut self,
        chosen: &[usize],
        context: &mut Context,
        common: &mut Common,
    ) -> Option<Vec<bool>> {
        let reference = context.reference();
        // Without a lift: until the rows are certified, D(β) of Huber's own dual is all that holds.
        let limits = &context.limits.clone();
        let node = self.root_node(chosen, &Spread::Unproved, context, common)?;
        let goal = Goal {
            cut: reference,
            tolerance: ROOT_TOLERANCE * reference,
            share: None,
            tight: 1e-12 * reference,
        };
        context.counters.calls += 1;
        let sets = self.load(&node);
        let mut model = FrameModel::new(Arc::clone(&node.frame), f64::INFINITY);
        self.newton.solve(&mut model, &sets, &goal, limits);
        self.newton.restore_best(&sets);
        if limits.stop() {
            return None;
        }
        let frame = &node.frame;
        let mut x: Vec<(usize, f64)> = Vec::new();
        for j in sets.inside.iter().chain(&sets.free) {
            let value = self.newton.x[*j];
            if value != 0.0 {
                let column = self.root.columns[frame.columns[*j] as usize];
                x.push((column, value / frame.scale[*j]));
            }
        }
        Some(quadratic_rows(self.problem, &x, context))
    }

    /// Lifts the certified rows, keeps the others explicit, and certifies from there until nothing changes. Then the last
    /// frame is that of the search.
    fn certify_more_rows(
        &mut self,
        certain: &mut [bool],
        chosen: &[usize],
        fixing: bool,
        context: &mut Context,
        common: &mut Common,
    ) {
        let reference = context.reference();
        let limits = context.limits.clone();
        let goal = Goal {
            cut: f64::INFINITY,
            tolerance: ROOT_TOLERANCE * reference,
            share: None,
            tight: ROOT_TOLERANCE * reference,
        };
        let mut last: Option<(Arc<Frame>, Sets)> = None;
        for _ in 0..MAX_ROW_ROUNDS {
            let open: Vec<usize> = (0..certain.len()).filter(|i| !certain[*i]).collect();
            let explicit = open.len();
            if explicit as f64 > MAX_EXPLICIT * certain.len() as f64 {
                return;
            }
            self.mixed = None;
            if explicit > 0 {
                let Some(root) = self.root.without_rows(self.problem, &open, &limits) else {
                    return;
                };
                self.mixed = Some(Arc::new((root, open)));
            }
            // A smaller frame keeps the error of the first: it has more rows in it, so what was proved holds for it.
            let smaller = last.take().and_then(|(frame, sets)| {
                let (frame, sets) = self.reframe(&frame, &sets, context)?;
                Some((frame.share(&self.frames), sets))
            });
            let (frame, mut sets) = match smaller {
                Some((frame, sets)) if explicit == 0 => {
                    self.begin(Certified::TRIVIAL, &frame, &sets);
                    return;
                }
                Some(smaller) => smaller,
                None if explicit == 0 => return,
                None => {
                    let node = self.root_node(chosen, &Spread::Evenly, context, common);
                    let Some(node) = node else {
                        self.mixed = None;
                        return;
                    };
                    let sets = self.load(&node);
                    (node.frame, sets)
                }
            };
            context.counters.calls += 1;
            let mut model = self.model(&frame);
            let bound = self.newton.solve(model.as_model(), &sets, &goal, &limits);
            let proved = match &mut model {
                NodeModel::Mixed(model) => model.certified_rows(&sets, reference),
                NodeModel::Pure(_) => Vec::new(),
            };
            self.newton.restore_best(&sets);
            let cut = context.cut();
            let closed = bound.value() >= cut;
            if closed {
                context.counters.nodes += 1;
            } else if fixing {
                self.fix(&model, &frame, &mut sets, cut, context);
            }
            let decided = sets.budget == 0 || sets.free.len() <= sets.budget;
            if proved.is_empty() || closed || decided {
                self.begin(bound, &frame, &sets);
                return;
            }
            proved.iter().for_each(|i| certain[*i] = true);
            context.keep_rows(certain);
            last = Some((frame, sets));
        }
        self.mixed = None;
    }
}

/// The rows of a Huber problem that the slopes at x (an intercept is added to fit) prove to be quadratic for every x with
/// `P(x)` below what the context refers to.
fn quadratic_rows(problem: &Problem, x: &[(usize, f64)], context: &Context) -> Vec<bool> {
    let reference = context.reference();
    let mut z = vec![0.0; problem.rows()];
    let mut point = DualPoint::new(problem);
    slopes_at(problem, x, &mut z, &mut point);
    let (mut included, mut free) = (problem.penalised.clone(), problem.selectable.clone());
    let mut budget = problem.support_size();
    if let Some(decision) = context.decision() {
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

/// The rows that slopes α, with the bound D(β) that they give, prove to be quadratic for every x with `P(x) < reference`.
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
