//! The binary tree: a feature is in or out. The relaxation that bounds its nodes is a parameter.
//!
//! Before a node splits, its dual point, which bounds all children for free, decides every feature that it can. The
//! two children are pushed with the bound of their parent. They are solved only when they are taken from the frontier.

mod node;

use std::sync::Arc;

use super::checkpoint::{Draft, SavedNode, State, bits};
use super::{Context, Expansion, Restrict, Tree, handout, models};
use crate::bound::Certified;
use crate::limits::Limits;
use crate::problem::{Decision, Problem};
use crate::relaxation::{Exit, Known, Relaxation, Task};
use crate::settings::Status;
use crate::tuning::tree::{MOST_ROUNDS, SMALL_BUDGET};

pub use self::node::BinaryNode;
use self::node::Left;

/// The binary tree over a relaxation.
pub struct BinaryTree<R: Relaxation> {
    relaxation: R,
    /// The first node of the search, if it is not the node of all features.
    first: Option<BinaryNode<R::Start>>,
    /// Scratch space: whether a column was decided.
    decided: Vec<bool>,
}

impl<R: Relaxation> BinaryTree<R> {
    /// A tree with this relaxation.
    pub fn new(relaxation: R) -> Self {
        Self {
            relaxation,
            first: None,
            decided: Vec::new(),
        }
    }

    /// Makes the search begin with this node.
    pub(crate) fn begin_with(self, first: Option<BinaryNode<R::Start>>) -> Self {
        Self { first, ..self }
    }

    /// The open nodes of a checkpoint that fits the problem.
    pub(crate) fn restore(&self, problem: &Problem, state: &State) -> Vec<BinaryNode<R::Start>> {
        let starts = self.relaxation.restore(problem, &state.starts);
        let starts: Vec<_> = starts.into_iter().map(|own| own.map(Arc::new)).collect();
        let lists: Vec<Arc<[u32]>> = state.lists.iter().map(|list| list[..].into()).collect();
        let restored = state.open.iter().map(|saved| {
            let (inside, free) = state.sets(saved);
            let start = saved.start.and_then(|at| starts[at as usize].as_ref());
            let list = Some(&lists[saved.list as usize]);
            BinaryNode::within(list, saved.bound(), &inside, &free, start, saved.depth)
        });
        restored.collect()
    }

    /// Closes a node in which at most one support is left, with the bound of the relaxation or the optimum of that
    /// support. When a list is wanted, the proper subsets of the support become nodes.
    fn close_leaf(
        &mut self,
        node: &BinaryNode<R::Start>,
        left: &Left,
        task: &Task,
        context: &mut Context,
        children: &mut Vec<BinaryNode<R::Start>>,
    ) -> Expansion {
        let mut proved = Certified::TRIVIAL.tighter(node.bound);
        if let Some(bound) = self.relaxation.leaf_bound(context.problem, task) {
            context.counters.calls += 1;
            proved = proved.tighter(bound);
            if let Some(status) = context.limits.reached() {
                return Expansion::Stopped(status, proved);
            }
            if proved.value() >= context.incumbents.cut() {
                context.evidence.rule_out(proved);
                return Expansion::Split;
            }
        }
        let free = if left.budget > 0 { &left.free[..] } else { &[] };
        let mut support = [left.inside(), free].concat();
        support.sort_unstable();
        context.counters.calls += 1;
        context.try_support(&support);
        let evidence = context.certify_last().tighter(Certified::TRIVIAL);
        if !context.incumbents.wants_list() || evidence.value() >= context.incumbents.cut() {
            context.evidence.rule_out(evidence);
            return Expansion::Split;
        }
        context.record_bound(&support, evidence);
        // A child leaves out the i-th feature and has all before it: every proper subset is in one of these.
        let mut subset = left.clone();
        for (i, j) in free.iter().enumerate() {
            subset.free = free[i + 1..].to_vec();
            children.push(node.below(proved.tighter(evidence), &subset, node.start.as_ref()));
            subset.included.push(*j);
        }
        Expansion::Split
    }

    /// Closes a node with a small budget by enumerating its models, where that is worthwhile.
    fn enumerate(&mut self, task: &Task, context: &mut Context) -> bool {
        // A set that is handed out is certified together with its subsets. Where features have prices, that proves
        // nothing about these.
        if context.incumbents.wants_list() || context.problem.is_priced() {
            return false;
        }
        let (problem, relaxation) = (context.problem, &mut self.relaxation);
        handout::close(context, f64::INFINITY, <[usize]>::to_vec, |cut, watch| {
            relaxation.enumerate(problem, &Task { cut, ..*task }, watch)
        })
    }

    /// Tries the model that the relaxed point suggests.
    fn try_candidate(&mut self, left: &Left, context: &mut Context) {
        let problem = context.problem;
        let mut support = self.relaxation.candidate(problem, &left.node());
        models::suggest(context, &support);
        let structure = problem.structure.as_deref();
        if let Some(structure) = structure.filter(|structure| structure.heredity) {
            let allowed = |j: usize| left.free.binary_search(&j).is_ok();
            let k = problem.support_size();
            support = structure.close(left.inside(), support.into_iter(), allowed, k);
        }
        let limits = context.limits.clone();
        let known = Known {
            best: context.incumbents.best(),
            reference: context.incumbents.reference(),
            decision: context.incumbents.decision(),
            limits: &limits,
        };
        if self.relaxation.improve(problem, &mut support, &known) {
            context.propose(&support);
        }
    }

    /// Decides every free feature whose other side is ruled out; returns `None` when no model is left.
    fn fix(&mut self, mut left: Left, context: &mut Context) -> Option<Left> {
        let (problem, cut) = (context.problem, context.incumbents.cut());
        if !context.mechanisms.fixing {
            return Some(left);
        }
        let bounds = self.relaxation.children(problem, &left.node());
        let decided = &mut self.decided;
        decided.clear();
        decided.resize(problem.design.columns(), false);
        let ruled_out = |bound: Certified| bound.value() >= cut;
        for other in bounds
            .other_sides
            .iter()
            .filter(|other| ruled_out(other.bound))
        {
            context.evidence.rule_out(other.bound);
            decided[other.feature] = true;
            if other.is_out {
                left.included.push(other.feature);
            }
        }
        left.free.retain(|j| !decided[*j]);
        left.propagated(problem)
    }
}

impl<R: Relaxation + Clone + Send + Sync> Tree for BinaryTree<R> {
    type Node = BinaryNode<R::Start>;
    const PLUNGES: bool = true;

    fn root(&mut self, context: &mut Context, children: &mut Vec<Self::Node>) -> Expansion {
        let selectable = &context.problem.selectable;
        let whole = || BinaryNode::new(Certified::TRIVIAL, &[], selectable, None);
        children.push(self.first.take().unwrap_or_else(whole));
        Expansion::Split
    }

    fn finished(&self, node: &Self::Node, context: &Context) -> bool {
        node.bound.value() >= context.incumbents.cut()
    }

    fn save(&self, node: &Self::Node, draft: &mut Draft) {
        let list = draft.list(node.list.as_ptr() as usize, || node.list.to_vec());
        let start = node.start.as_ref();
        let start = start.map(|start| draft.start(Arc::as_ptr(start) as usize, &**start));
        let count = node.list.len();
        draft.state.open.push(SavedNode {
            bound: node.bound.value(),
            depth: node.depth,
            list,
            start,
            inside: bits(count, |i| node.inside.contains(i)),
            outside: bits(count, |i| node.outside.contains(i)),
        });
    }

    fn load(&self, problem: &Problem, draft: &Draft) -> Option<Vec<Self::Node>> {
        Some(self.restore(problem, &draft.state))
    }

    fn fork(&self) -> Option<Self> {
        Some(self.another())
    }

    fn work(&self, node: &Self::Node, problem: &Problem) -> u64 {
        self.relaxation.work(problem, node.list.len())
    }

    fn shared_bytes(&self) -> u64 {
        self.relaxation.shared_bytes()
    }

    fn expand(
        &mut self,
        node: &Self::Node,
        context: &mut Context,
        children: &mut Vec<Self::Node>,
    ) -> Expansion {
        let problem = context.problem;
        let Some(mut left) = Left::new(problem, node) else {
            return Expansion::Split;
        };
        let limits = context.limits.clone();
        let mut proved = node.bound;
        let start = node.start.as_deref();
        let first = task(node, &left, proved, context, &limits);
        self.relaxation.prepare(problem, &first, start);
        for round in 1.. {
            let now = task(node, &left, proved, context, &limits);
            if left.is_leaf(problem) {
                return self.close_leaf(node, &left, &now, context, children);
            }
            if left.budget <= SMALL_BUDGET && self.enumerate(&now, context) {
                return Expansion::Split;
            }
            context.counters.calls += 1;
            let (bound, exit) = self.relaxation.solve(problem, &now);
            proved = proved.tighter(bound);
            match exit {
                Exit::Quit => {
                    context.evidence.rule_out(proved);
                    return Expansion::Split;
                }
                Exit::Stopped => {
                    let status = limits.reached().unwrap_or(Status::TimeLimit);
                    return Expansion::Stopped(status, proved);
                }
                Exit::Converged => {}
            }
            self.try_candidate(&left, context);
            if proved.value() >= context.incumbents.cut() {
                context.evidence.rule_out(proved);
                return Expansion::Split;
            }
            left = match self.fix(left, context) {
                Some(left) => left,
                None => return Expansion::Split,
            };
            if node.depth == 0 {
                context.reporter.set_features_left(left.free.len());
            }
            if left.is_leaf(problem) {
                continue;
            }
            let now = task(node, &left, proved, context, &limits);
            if round > MOST_ROUNDS || !self.relaxation.tighten(problem, &now) {
                break;
            }
        }

        let gap = (context.incumbents.reference() - proved.value()).max(f64::MIN_POSITIVE);
        let split = self.relaxation.branch(problem, &left.node(), gap, &limits);
        let start = Arc::new(self.relaxation.start());
        left.free.retain(|j| *j != split);
        let without = node.below(proved, &left, Some(&start));
        left.included.push(split);
        let with = node.below(proved, &left, Some(&start));
        children.extend([with, without]);
        Expansion::Split
    }
}

/// The task of the relaxation for the undecided part of a node.
fn task<'a, S>(
    node: &BinaryNode<S>,
    left: &'a Left,
    proved: Certified,
    context: &Context,
    limits: &'a Limits,
) -> Task<'a> {
    Task {
        node: left.node(),
        cut: context.incumbents.cut(),
        scale: context
            .incumbents
            .reference()
            .min(context.problem.null_value),
        reference: context.incumbents.reference(),
        proved: proved.value(),
        allowed: context.incumbents.allowed(),
        is_root: node.depth == 0,
        limits,
    }
}

impl<R: Relaxation + Clone + Send + Sync> Restrict for BinaryTree<R> {
    fn another(&self) -> Self {
        Self::new(self.relaxation.clone())
    }

    fn restrict(
        &self,
        problem: &Problem,
        node: &Self::Node,
        decision: Decision,
    ) -> Option<Self::Node> {
        let mut inside = Vec::new();
        let mut free = node.sets(&mut inside);
        let j = decision.feature;
        let (is_in, is_free) = (inside.contains(&j), free.binary_search(&j).is_ok());
        let is_full = inside.len() >= problem.support_size();
        let follows = if decision.inside {
            is_in || (is_free && !is_full)
        } else {
            !is_in
        };
        if !follows {
            return None;
        }
        if decision.inside && !is_in {
            inside.push(j);
        }
        free.retain(|i| *i != j);
        let (list, start) = (Some(&node.list), node.start.as_ref());
        Some(BinaryNode::within(
            list, node.bound, &inside, &free, start, node.depth,
        ))
    }
}
