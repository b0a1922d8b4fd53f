//! The paper's search exactly (Algorithms 1 and 2): the ordered state-space tree, children solved before they are
//! pushed.
//!
//! A node is a set S; its children add one feature behind `max S`. Every execution of SubtreeSolver counts as one
//! solver call, force-quit or not, as in the paper.

use std::sync::Arc;

use super::checkpoint::Draft;
use super::{Context, Expansion, Node, Tree};
use crate::bound::{Certified, Subproblem};
use crate::gram::tree::GramTree;
use crate::problem::Problem;
use crate::relaxation::{Exit, Relaxation, Task, WarmStart};
use crate::settings::Status;

/// A node that was solved: `⟨Low_S, Sol_S, S⟩`, the solution by its value.
#[derive(Debug)]
pub struct Ordered {
    low: Certified,
    /// P(Sol_S).
    value: f64,
    /// S, as positions among the selectable features.
    set: Box<[u32]>,
    /// What the children start from; `None` for a leaf, or with cold starts.
    warm: Option<Arc<WarmStart>>,
    leaf: bool,
}

impl Node for Ordered {
    fn low(&self) -> Certified {
        self.low
    }

    fn bytes(&self) -> usize {
        let warm = self
            .warm
            .as_ref()
            .map_or(0, |warm| warm.bytes() + size_of::<WarmStart>() + 16);
        size_of::<Self>() + self.set.len() * 4 + warm
    }

    fn depth(&self) -> usize {
        self.set.len()
    }

    fn raise(&mut self, low: Certified) {
        self.low = self.low.or(low);
    }
}

/// The ordered tree with a relaxation and the paper's two accelerations, each of which can be switched off.
pub struct OrderedTree<R> {
    relaxation: R,
    warm_start: bool,
    pruning: bool,
}

impl<R: Relaxation> OrderedTree<R> {
    /// `warm_start`: children inherit the dual point; `pruning`: nodes above the incumbent are left at once.
    pub fn new(relaxation: R, warm_start: bool, pruning: bool) -> Self {
        Self {
            relaxation,
            warm_start,
            pruning,
        }
    }

    /// SubtreeSolver(S), Algorithm 2, below a node with the bound `parent`. `None`: force-quit, the node is discarded;
    /// `Err`: a limit was reached.
    fn solve(
        &mut self,
        set: &[u32],
        parent: Certified,
        context: &mut Context,
    ) -> std::result::Result<Option<Ordered>, Expansion> {
        let problem = context.problem;
        let k = problem.support_size();
        context.counters.calls += 1;
        let (included, free) = split(problem, set);
        let node = Subproblem {
            included: &included,
            free,
            budget: k - set.len(),
        };
        // "Numerical errors are regarded as 0": a bound that ties with the incumbent passes it.
        let cut = if self.pruning {
            context.best() - context.tie()
        } else {
            f64::INFINITY
        };
        let leaf = set.len() == k || set.len() + free.len() <= k;
        if leaf {
            let bound = self.relaxation.initial_bound(problem, &node);
            if bound.value() > cut {
                context.discard(bound);
                return Ok(None);
            }
            let always = problem.penalised.len();
            let mut support: Vec<usize> = included[always..].to_vec();
            if set.len() < k {
                support.extend_from_slice(free);
            }
            let value = context.try_support(&support);
            let low = context.certify_last().or(bound).or(parent);
            if low.value() > cut && value > context.best() {
                context.discard(low);
                return Ok(None);
            }
            return Ok(Some(Ordered {
                low,
                value,
                set: set.into(),
                warm: None,
                leaf,
            }));
        }
        let scale = context.best().min(problem.null_value);
        let limits = context.limits.clone();
        let task = Task {
            node,
            cut,
            scale,
            low: parent.value(),
            limits: &limits,
        };
        let (low, exit) = self.relaxation.solve(problem, &task);
        match exit {
            Exit::Quit => {
                context.discard(low);
                Ok(None)
            }
            Exit::Stopped => {
                let status = limits.reached().unwrap_or(Status::TimeLimit);
                // At the root the bound reached so far is worth keeping; a child's is not one of its parent.
                let low = if set.is_empty() { low } else { parent };
                Err(Expansion::Stopped(status, low))
            }
            Exit::Converged => {
                let support = self.relaxation.candidate(problem, k);
                let value = context.try_support(&support);
                let warm = self
                    .warm_start
                    .then(|| Arc::new(self.relaxation.warm_start()));
                Ok(Some(Ordered {
                    low: low.or(parent),
                    value,
                    set: set.into(),
                    warm,
                    leaf,
                }))
            }
        }
    }
}

/// The end of SubtreeSolver(∅) when an error Δ > 0 is allowed: whether lifting closes the root within it.
///
/// The paper reports that Δ = 4e-6 ends its Diabetes search after the first call. The largest D(β; ∅) of that instance
/// is 4.37e-6 below the optimum, so Algorithm 3 alone cannot do it; the lifted bound of the same node can. With Δ = 0 the
/// search is the paper's alone.
fn closes_within_gap(context: &mut Context) -> bool {
    context.allowed() > context.tie() && GramTree::closes_root(context)
}

/// S (with the always-in columns before it) and `S_>`.
fn split<'p>(problem: &'p Problem, set: &[u32]) -> (Vec<usize>, &'p [usize]) {
    let selectable = &problem.selectable;
    let mut included = problem.penalised.clone();
    included.extend(set.iter().map(|at| selectable[*at as usize]));
    let next = set.last().map_or(0, |last| *last as usize + 1);
    (included, &selectable[next..])
}

impl<R: Relaxation + Send> Tree for OrderedTree<R> {
    type Node = Ordered;
    const PLUNGES: bool = false;

    fn root(&mut self, context: &mut Context, children: &mut Vec<Ordered>) -> Expansion {
        let problem = context.problem;
        let (included, free) = split(problem, &[]);
        let node = Subproblem {
            included: &included,
            free,
            budget: problem.support_size(),
        };
        self.relaxation.prepare(problem, &node, None);
        match self.solve(&[], Certified::TRIVIAL, context) {
            Ok(Some(node)) => {
                let open = !self.finished(&node, context);
                if !(open && self.pruning && closes_within_gap(context)) {
                    children.push(node);
                }
                Expansion::Split
            }
            Ok(None) => Expansion::Split,
            Err(stopped) => stopped,
        }
    }

    /// Never called: only `method=best-first` hands out checkpoints.
    fn save(&self, _: &Problem, _: &Ordered, _: &mut Draft) {}

    /// Step 6 of Algorithm 1, `P(Sol_S) - Low_S ≤ Δ`; or the frontier has reached the incumbent itself.
    fn finished(&self, node: &Ordered, context: &Context) -> bool {
        let low = node.low.value();
        node.value - low <= context.allowed() || context.best() - low <= context.tie()
    }

    fn expand(
        &mut self,
        node: &Ordered,
        context: &mut Context,
        children: &mut Vec<Ordered>,
    ) -> Expansion {
        if node.leaf {
            // Its own optimum is known; only rounding separates it from its bound.
            context.discard(node.low);
            return Expansion::Split;
        }
        let problem = context.problem;
        let k = problem.support_size();
        let (included, free) = split(problem, &node.set);
        let parent = Subproblem {
            included: &included,
            free,
            budget: k - node.set.len(),
        };
        self.relaxation
            .prepare(problem, &parent, node.warm.as_deref());
        let first = problem.selectable.len() - free.len();
        // A child needs enough features behind it to reach size k.
        let last = problem.selectable.len() - (k - node.set.len() - 1);
        let mut set = node.set.to_vec();
        for at in first..last {
            set.push(at as u32);
            match self.solve(&set, node.low, context) {
                Ok(child) => children.extend(child),
                Err(stopped) => return stopped,
            }
            set.pop();
        }
        Expansion::Split
    }
}
