//! The binary tree for any loss: a feature is in or out. Bounds in matrix form.
//!
//! Before a node splits, its dual point, which bounds all children for free, decides every feature that it can. The two
//! children are pushed with the bound of their parent, and solved only when they are taken from the frontier.

use std::sync::Arc;

use super::bits::Bits;
use super::checkpoint::{Draft, ListedNode, Point, Prepared, State, narrow};
use super::decision::Decision;
use super::{Context, Expansion, Node, Restrict, Tree};
use crate::bound::{Certified, Subproblem};
use crate::problem::Problem;
use crate::relaxation::{Exit, Relaxation, Task, WarmStart};
use crate::settings::Status;

/// Columns are listed anew when at most this share of the last list is left.
const RELIST: f64 = 0.8;
/// Passes over the columns of a node that its expansion takes: about what was counted.
const NODE_PASSES: u64 = 100;
/// The relaxation of a node is tightened at most so often; two or three times are usual.
const MOST_LIFTS: usize = 32;

/// A node that is bounded but not yet solved: two bits for each column of a list that it shares with its relatives.
#[derive(Debug)]
pub struct Lazy {
    low: Certified,
    /// The selectable columns that were not out when the list was made.
    list: Arc<[u32]>,
    inside: Bits,
    outside: Bits,
    warm: Option<Arc<WarmStart>>,
    depth: u32,
    bytes: u32,
}

impl Lazy {
    /// `inside` and `free` are selectable columns; `list` a parent's, which covers them.
    fn new(
        low: Certified,
        inside: &[usize],
        free: &[usize],
        list: Option<&Arc<[u32]>>,
        warm: Option<&Arc<WarmStart>>,
    ) -> Self {
        let left = inside.len() + free.len();
        let (list, own) = match list {
            Some(list) if left as f64 > RELIST * list.len() as f64 => (Arc::clone(list), 0),
            _ => {
                let mut list: Vec<u32> = inside.iter().chain(free).map(|j| *j as u32).collect();
                list.sort_unstable();
                (list.into(), left * size_of::<u32>())
            }
        };
        let mut bits = Bits::new(list.len());
        let mut outside = Bits::new(list.len());
        let mut alive = Bits::new(list.len());
        let place = |j: &usize| list.partition_point(|i| (*i as usize) < *j);
        inside.iter().for_each(|j| bits.insert(place(j)));
        free.iter().for_each(|j| alive.insert(place(j)));
        for i in 0..list.len() {
            if !bits.contains(i) && !alive.contains(i) {
                outside.insert(i);
            }
        }
        // Counted once: what is shared is charged to the first of those that share it.
        let shared = warm.map_or(0, |warm| match Arc::strong_count(warm) {
            1 => warm.bytes(),
            _ => 0,
        });
        let bytes = size_of::<Self>() + 2 * bits.bytes() + own + shared;
        Self {
            low,
            list,
            inside: bits,
            outside,
            warm: warm.cloned(),
            depth: inside.len() as u32,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        }
    }

    /// The features that are in, and those that are free.
    fn sets(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut inside, mut free) = (Vec::new(), Vec::new());
        for (i, j) in self.list.iter().enumerate() {
            if self.inside.contains(i) {
                inside.push(*j as usize);
            } else if !self.outside.contains(i) {
                free.push(*j as usize);
            }
        }
        (inside, free)
    }
}

impl Node for Lazy {
    fn low(&self) -> Certified {
        self.low
    }

    fn bytes(&self) -> usize {
        self.bytes as usize
    }

    fn depth(&self) -> usize {
        self.depth as usize
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
        let Prepared { point, tighter, .. } = &state.prepared;
        if let ([saved], Some(point)) = (&state.open[..], point.as_ref().or(tighter.as_ref())) {
            let mut warm = match point.has_slopes() {
                true => Some(point.warm_start(problem)),
                false => self.relaxation.restored(point.model()),
            };
            if let (Some(warm), Some(tighter)) = (&mut warm, tighter) {
                warm.tighter = tighter.model();
            }
            let (inside, free) = state.sets(saved);
            let warm = warm.map(Arc::new);
            return vec![Lazy::new(saved.low(), &inside, &free, None, warm.as_ref())];
        }
        let starts = state.warm_starts().map(|x| self.relaxation.restored(x));
        let starts: Vec<_> = starts.map(|warm| warm.map(Arc::new)).collect();
        let restored = state.open.iter().map(|saved| {
            let (inside, free) = state.sets(saved);
            let warm = saved.warm.and_then(|at| starts[at as usize].as_ref());
            Lazy::new(saved.low(), &inside, &free, None, warm)
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
            let (list, warm) = (Some(&origin.list), origin.warm.as_ref());
            children.push(Lazy::new(low, &included[always..], left, list, warm));
            included.push(*j);
        }
    }
}

impl<R: Relaxation + Clone + Send + Sync> Tree for BinaryTree<R> {
    type Node = Lazy;
    const PLUNGES: bool = true;

    fn root(&mut self, context: &mut Context, children: &mut Vec<Lazy>) -> Expansion {
        let problem = context.problem;
        children.push(Lazy::new(
            Certified::TRIVIAL,
            &[],
            &problem.selectable,
            None,
            None,
        ));
        Expansion::Split
    }

    fn finished(&self, node: &Lazy, context: &Context) -> bool {
        node.low.value() >= context.cut()
    }

    fn save(&self, _problem: &Problem, node: &Lazy, draft: &mut Draft) {
        // Slopes are not kept: a relaxation that needs them starts cold.
        let warm = node.warm.as_ref().filter(|warm| warm.alpha.is_empty());
        let warm = warm.map(|warm| draft.warm(Arc::as_ptr(warm) as usize, || warm.model()));
        let (inside, free) = node.sets();
        draft.add(ListedNode {
            low: node.low,
            depth: node.depth(),
            inside: narrow(&inside),
            free: narrow(&free),
            warm,
        });
    }

    fn fork(&self) -> Option<Self> {
        Some(self.another())
    }

    fn work(&self, node: &Lazy, problem: &Problem) -> u64 {
        NODE_PASSES * (problem.rows() * node.list.len()) as u64
    }

    fn expand(
        &mut self,
        node: &Lazy,
        context: &mut Context,
        children: &mut Vec<Lazy>,
    ) -> Expansion {
        let problem = context.problem;
        let k = problem.support_size();
        let (mut decided_in, mut free) = node.sets();
        let structure = problem.structure.as_deref();
        if let Some(structure) = structure {
            match structure.propagate(&decided_in, &free, k) {
                Some(sets) => (decided_in, free) = sets,
                // No model is left in here.
                None => return Expansion::Split,
            }
        }
        let mut included = problem.penalised.clone();
        included.extend(decided_in);
        let whole = free.len() == problem.selectable.len();
        let mut budget = k - (included.len() - problem.penalised.len());
        let always = problem.penalised.len();
        // What a survey leaves of the root: the node that other searches begin at.
        let whole_left =
            |low, included: &[usize], free: &[usize], warm: Option<&Arc<WarmStart>>| {
                Lazy::new(low, &included[always..], free, Some(&node.list), warm)
            };
        if budget == 0 || free.len() <= budget {
            if context.survey().is_some() {
                children.push(whole_left(node.low, &included, &free, node.warm.as_ref()));
                return Expansion::Split;
            }
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
        let mut is_tight = node.warm.as_ref().is_some_and(|warm| warm.is_tight());
        let mut decided = Vec::new();
        for round in 1.. {
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
            let (bound, exit) = if context.is_lone() {
                let left = || ListedNode {
                    low,
                    depth: included.len() - always,
                    inside: narrow(&included[always..]),
                    free: narrow(&free),
                    warm: None,
                };
                self.relaxation.solve_watched(problem, &task, &mut |point| {
                    if context.is_save_due() {
                        let point = Point::new(point());
                        context.save_lone(is_tight, point, |draft| draft.add(left()));
                    }
                })
            } else {
                self.relaxation.solve(problem, &task)
            };
            low = low.or(bound);
            match exit {
                Exit::Quit => {
                    context.discard(low);
                    return Expansion::Split;
                }
                Exit::Stopped => {
                    context.keep_point(is_tight, || Point::new(self.relaxation.warm_start()));
                    let status = limits.reached().unwrap_or(Status::TimeLimit);
                    return Expansion::Stopped(status, low);
                }
                Exit::Converged => {}
            }
            let mut support = self.relaxation.candidate(problem, k);
            if let Some(Decision {
                feature,
                inside: true,
            }) = context.decision()
                && !support.contains(&feature)
            {
                support = self.relaxation.candidate(problem, k - 1);
                support.push(feature);
                support.sort_unstable();
            }
            if let Some(structure) = structure.filter(|structure| structure.heredity) {
                let wanted = support.into_iter();
                let allowed = |j: usize| free.contains(&j);
                support = structure.close(&included[always..], wanted, allowed, k);
            }
            context.propose(&support);
            let cut = context.cut();
            if low.value() >= cut {
                context.discard(low);
                return Expansion::Split;
            }

            let bounds = self.relaxation.children(problem, &task.node);
            if let Some(survey) = context.survey() {
                survey.note_all(low, cut);
                for (j, _, bound) in bounds.other_side.iter().filter(|side| !side.1) {
                    survey.note(*j, *bound, cut);
                }
            }
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
            if let Some(structure) = structure {
                let Some((inside, left)) = structure.propagate(&included[always..], &free, k)
                else {
                    return Expansion::Split;
                };
                budget = k - inside.len();
                included.truncate(always);
                included.extend(inside);
                free = left;
            }
            if whole {
                context.set_features_left(free.len());
            }
            let left = Subproblem {
                included: &included,
                free: &free,
                budget,
            };
            if budget == 0 || free.len() <= budget {
                if context.survey().is_some() {
                    children.push(whole_left(low, &included, &free, None));
                    return Expansion::Split;
                }
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
            if round > MOST_LIFTS || !self.relaxation.tighten(problem, &task) {
                break;
            }
            if !is_tight
                && let Some(warm) = &node.warm
                && !warm.tighter.is_empty()
            {
                self.relaxation.go_to(problem, &left, &warm.tighter);
            }
            is_tight = true;
        }

        if context.survey().is_some() {
            let warm = Arc::new(self.relaxation.warm_start());
            children.push(whole_left(low, &included, &free, Some(&warm)));
        }
        let left = Subproblem {
            included: &included,
            free: &free,
            budget,
        };
        let gap = (context.reference() - low.value()).max(f64::MIN_POSITIVE);
        let split = self.relaxation.branch(problem, &left, gap);
        let warm = Arc::new(self.relaxation.warm_start());
        free.retain(|j| *j != split);
        let mut with = included.clone();
        with.push(split);
        let list = Some(&node.list);
        let first = Lazy::new(low, &with[always..], &free, list, Some(&warm));
        // Its sibling has the same list, one feature less.
        let list = Some(&first.list);
        let second = Lazy::new(low, &included[always..], &free, list, Some(&warm));
        children.extend([first, second]);
        Expansion::Split
    }
}

impl<R: Relaxation + Clone + Send + Sync> Restrict for BinaryTree<R> {
    fn another(&self) -> Self {
        Self::new(self.relaxation.clone())
    }

    fn follows(&self, problem: &Problem, node: &Lazy, decision: Decision) -> bool {
        let place = node.list.binary_search(&(decision.feature as u32)).ok();
        let is_in = place.is_some_and(|i| node.inside.contains(i));
        let is_free = place.is_some_and(|i| !node.outside.contains(i));
        let is_full = node.depth() >= problem.support_size();
        match decision.inside {
            true => is_in || (is_free && !is_full),
            false => !is_in,
        }
    }

    fn restrict(&self, problem: &Problem, node: &Lazy, decision: Decision) -> Option<Lazy> {
        if !self.follows(problem, node, decision) {
            return None;
        }
        let (mut inside, mut free) = node.sets();
        let j = decision.feature;
        if decision.inside && !inside.contains(&j) {
            inside.push(j);
        }
        free.retain(|i| *i != j);
        let (list, warm) = (Some(&node.list), node.warm.as_ref());
        Some(Lazy::new(node.low, &inside, &free, list, warm))
    }
}
