//! The binary tree for any loss: a feature is in or out. Bounds in matrix form, from a first-order relaxation.
//!
//! Children are pushed with the bounds that their parent's dual point gives them for free, and solved only when they
//! are taken from the frontier. Before a node splits, the same dual point decides every feature it can.

use std::sync::Arc;

use super::checkpoint::{Draft, ListedNode, State};
use super::{Context, Expansion, Node, Tree};
use crate::bound::{Certified, Subproblem};
use crate::problem::Problem;
use crate::relaxation::{Exit, Relaxation, Task, WarmStart};
use crate::settings::Status;

/// A node that is bounded but not yet solved.
#[derive(Debug)]
pub struct Lazy {
    low: Certified,
    /// Always-in columns and decided features.
    included: Box<[usize]>,
    free: Box<[usize]>,
    warm: Option<Arc<WarmStart>>,
    bytes: usize,
}

impl Lazy {
    fn new(
        low: Certified,
        included: &[usize],
        free: &[usize],
        warm: Option<&Arc<WarmStart>>,
    ) -> Self {
        // Counted once: what is shared is charged to the first of those that share it.
        let shared = warm.map_or(0, |warm| match Arc::strong_count(warm) {
            1 => warm.bytes(),
            _ => 0,
        });
        Self {
            low,
            included: included.into(),
            free: free.into(),
            warm: warm.cloned(),
            bytes: size_of::<Self>() + size_of_val(included) + size_of_val(free) + shared,
        }
    }
}

impl Node for Lazy {
    fn low(&self) -> Certified {
        self.low
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn depth(&self) -> usize {
        self.included.len()
    }

    fn raise(&mut self, low: Certified) {
        self.low = self.low.or(low);
    }
}

/// The binary tree over a relaxation.
pub struct BinaryTree<R> {
    relaxation: R,
}

impl<R: Relaxation> BinaryTree<R> {
    /// With a relaxation that bounds its nodes.
    pub fn new(relaxation: R) -> Self {
        Self { relaxation }
    }

    /// The open nodes of a checkpoint that was found to fit the problem.
    pub(crate) fn restore(&self, problem: &Problem, state: &State) -> Vec<Lazy> {
        let starts = state.warm_starts().map(|x| self.relaxation.restored(x));
        let starts: Vec<_> = starts.map(|warm| warm.map(Arc::new)).collect();
        let restored = state.open.iter().map(|saved| {
            let (inside, free) = state.sets(saved);
            let always = problem.penalised.iter().copied();
            let included: Vec<usize> = always.chain(inside).collect();
            let warm = saved.warm.and_then(|at| starts[at as usize].as_ref());
            Lazy::new(saved.low(), &included, &free, warm)
        });
        restored.collect()
    }

    /// A node in which at most one support is left, subsets aside: its own optimum closes it, or, when a list is wanted,
    /// leaves its proper subsets.
    fn close_leaf(
        node: &Subproblem,
        origin: &Lazy,
        context: &mut Context,
        children: &mut Vec<Lazy>,
    ) {
        let always = context.problem.penalised.len();
        let free = if node.budget > 0 { node.free } else { &[] };
        let mut support = node.included[always..].to_vec();
        support.extend_from_slice(free);
        support.sort_unstable();
        context.counters.calls += 1;
        context.try_support(&support);
        let evidence = context.certify_last().or(Certified::TRIVIAL);
        if !context.wants_list() || evidence.value() >= context.cut() {
            context.discard(evidence);
            return;
        }
        context.settle(&support, evidence);
        // Without the i-th, with all before it: every proper subset is in one of these.
        let mut included = node.included.to_vec();
        for (i, j) in free.iter().enumerate() {
            let low = evidence.or(origin.low);
            let left = &free[i + 1..];
            children.push(Lazy::new(low, &included, left, origin.warm.as_ref()));
            included.push(*j);
        }
    }
}

impl<R: Relaxation + Clone + Send> Tree for BinaryTree<R> {
    type Node = Lazy;
    const PLUNGES: bool = true;

    fn root(&mut self, context: &mut Context, children: &mut Vec<Lazy>) -> Expansion {
        let problem = context.problem;
        children.push(Lazy::new(
            Certified::TRIVIAL,
            &problem.penalised,
            &problem.selectable,
            None,
        ));
        Expansion::Split
    }

    fn finished(&self, node: &Lazy, context: &Context) -> bool {
        node.low.value() >= context.cut()
    }

    fn save(&self, problem: &Problem, node: &Lazy, draft: &mut Draft) {
        // Slopes are not kept: a relaxation that needs them starts cold.
        let warm = node.warm.as_ref().filter(|warm| warm.alpha.is_empty());
        let warm = warm.map(|warm| draft.warm(Arc::as_ptr(warm) as usize, || warm.x.clone()));
        let narrow = |columns: &[usize]| columns.iter().map(|j| *j as u32).collect();
        draft.add(ListedNode {
            low: node.low,
            depth: node.depth(),
            inside: narrow(&node.included[problem.penalised.len()..]),
            free: narrow(&node.free),
            warm,
        });
    }

    fn fork(&self) -> Option<Self> {
        Some(Self::new(self.relaxation.clone()))
    }

    fn expand(
        &mut self,
        node: &Lazy,
        context: &mut Context,
        children: &mut Vec<Lazy>,
    ) -> Expansion {
        let problem = context.problem;
        let k = problem.support_size();
        let mut included = node.included.to_vec();
        let mut free = node.free.to_vec();
        let mut budget = k - (included.len() - problem.penalised.len());
        if budget == 0 || free.len() <= budget {
            let left = Subproblem {
                included: &included,
                free: &free,
                budget,
            };
            Self::close_leaf(&left, node, context, children);
            return Expansion::Split;
        }
        let limits = context.limits.clone();
        let mut low = node.low;
        let mut prepared = false;
        let mut decided = Vec::new();
        let bounds = loop {
            let task = Task {
                node: Subproblem {
                    included: &included,
                    free: &free,
                    budget,
                },
                cut: context.cut(),
                scale: context.reference().min(problem.null_value),
                low: low.value(),
                limits: &limits,
            };
            if !prepared {
                self.relaxation
                    .prepare(problem, &task.node, node.warm.as_deref());
                prepared = true;
            }
            context.counters.calls += 1;
            let (bound, exit) = self.relaxation.solve(problem, &task);
            low = low.or(bound);
            match exit {
                Exit::Quit => {
                    context.discard(low);
                    return Expansion::Split;
                }
                Exit::Stopped => {
                    let status = limits.reached().unwrap_or(Status::TimeLimit);
                    return Expansion::Stopped(status, low);
                }
                Exit::Converged => {}
            }
            let support = self.relaxation.candidate(problem, k);
            context.propose(&support);
            let cut = context.cut();
            if low.value() >= cut {
                context.discard(low);
                return Expansion::Split;
            }

            let bounds = self.relaxation.children(problem, &task.node);
            decided.clear();
            decided.resize(problem.design.columns(), false);
            for (j, inside, bound) in &bounds.other_side {
                if bound.value() < cut || !context.ideas.fixing {
                    continue;
                }
                context.discard(*bound);
                decided[*j] = true;
                if *inside {
                    included.push(*j);
                    budget -= 1;
                }
            }
            free.retain(|j| !decided[*j]);
            if node.free.len() == problem.selectable.len() {
                context.set_features_left(free.len());
            }
            let left = Subproblem {
                included: &included,
                free: &free,
                budget,
            };
            if budget == 0 || free.len() <= budget {
                Self::close_leaf(&left, node, context, children);
                return Expansion::Split;
            }
            let task = Task {
                node: left,
                cut,
                scale: context.reference(),
                low: low.value(),
                limits: &limits,
            };
            if !self.relaxation.tighten(problem, &task) {
                break bounds;
            }
        };

        let left = Subproblem {
            included: &included,
            free: &free,
            budget,
        };
        let gap = (context.reference() - low.value()).max(f64::MIN_POSITIVE);
        let split = self.relaxation.branch(problem, &left, gap);
        let (inside, outside) = match context.ideas.inheriting {
            true => bounds.of(split),
            false => (low, low),
        };
        let warm = Arc::new(self.relaxation.warm_start());
        free.retain(|j| *j != split);
        let mut with = included.clone();
        with.push(split);
        children.push(Lazy::new(low.or(inside), &with, &free, Some(&warm)));
        children.push(Lazy::new(low.or(outside), &included, &free, Some(&warm)));
        Expansion::Split
    }
}
