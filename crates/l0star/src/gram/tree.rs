//! The binary tree over frames: solve, fix, re-frame, split.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::frame::{Frame, FrameModel, Spread};
use super::mixed::MixedModel;
use super::resume::{Pending, save_node};
use super::root::Root;
use super::swaps::{self, Pinned};
use crate::bound::Certified;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::short::Short;
use crate::problem::Problem;
use crate::relaxation::newton::{Goal, Model, Newton, Sets};
use crate::relaxation::{branching, start_at};
use crate::search::bits::Bits;
use crate::search::checkpoint::{Draft, Point};
use crate::search::decision::Decision;
use crate::search::{Context, Expansion, Node, Restrict, Tree};
use crate::settings::Ideas;

/// Re-frame when at most this share of a frame's columns is left.
const REFRAME: f64 = 0.87;
/// Frames of fewer columns are left as they are.
const SMALL: usize = 8;
/// A node is solved to this share of its gap.
const NODE_TOLERANCE: f64 = 1e-3;
/// The root to this share of the incumbent.
pub(super) const ROOT_TOLERANCE: f64 = 1e-7;
/// Multiplications of a node for each entry of its frame's matrix: about what was counted, lifts of frames included.
const NODE_WORK: u64 = 40;
/// Rounds of solve, fix and re-frame at one node.
const MAX_FRAMES: usize = 6;

/// A node: a frame, what is decided in it, an inherited bound, a rounded warm start shared with its sibling.
#[derive(Debug)]
pub(crate) struct GramNode {
    pub(super) low: Certified,
    pub(super) frame: Arc<Frame>,
    pub(super) inside: Bits,
    pub(super) outside: Bits,
    pub(super) warm: Arc<[(u32, Short)]>,
    pub(super) depth: u32,
    bytes: u32,
    /// From a checkpoint: the sets and the (unscaled) warm start are about this frame, which is not built yet.
    pub(super) pending: Option<Arc<Pending>>,
}

impl GramNode {
    pub(super) fn new(
        low: Certified,
        frame: &Arc<Frame>,
        inside: Bits,
        outside: Bits,
        warm: &Arc<[(u32, Short)]>,
        depth: u32,
    ) -> Self {
        // The warm start is shared with the sibling; frames are counted by themselves.
        let bytes = size_of::<Self>() + 2 * inside.bytes() + warm.len() * 4;
        Self {
            low,
            frame: Arc::clone(frame),
            inside,
            outside,
            warm: Arc::clone(warm),
            depth,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            pending: None,
        }
    }
}

impl Node for GramNode {
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

/// The engine's tree for one quadratic problem, or for a Huber problem most of whose rows are proved to stay in their
/// quadratic part.
pub(crate) struct GramTree<'p> {
    pub(super) problem: &'p Problem,
    pub(super) ideas: Ideas,
    /// The quadratic over all rows: incumbents, and frames when no row is explicit.
    pub(super) root: Arc<Root>,
    /// The quadratic over the certified rows, and the rows that stay explicit (Huber).
    pub(super) mixed: Option<Arc<(Root, Vec<usize>)>>,
    pub(super) first: Option<GramNode>,
    pub(super) newton: Newton,
    pub(super) root_error: f64,
    /// Bounds are claimed up to this only (the incumbent at the time of a Huber certificate).
    pub(super) ceiling: f64,
    pub(super) last_candidate: Vec<usize>,
    /// Nodes expanded by this thread.
    pub(super) expanded: u64,
    pub(super) factor: Cholesky,
    /// Bytes of all frames that are alive.
    pub(super) frames: Arc<AtomicU64>,
}

/// The model of a node: its frame alone, or with explicit rows beside it.
pub(super) enum NodeModel<'p> {
    Pure(FrameModel),
    Mixed(Box<MixedModel<'p>>),
}

impl NodeModel<'_> {
    pub(super) fn as_model(&mut self) -> &mut dyn Model {
        match self {
            Self::Pure(model) => model,
            Self::Mixed(model) => &mut **model,
        }
    }

    /// The bound of a child whose D is higher by `rise`.
    fn child(&self, rise: f64) -> Certified {
        match self {
            Self::Pure(model) => model.child(rise),
            Self::Mixed(model) => model.child(rise),
        }
    }
}

impl<'p> GramTree<'p> {
    /// Without a node yet.
    pub(super) fn bare(problem: &'p Problem, ideas: Ideas, root: Arc<Root>) -> Self {
        Self {
            problem,
            ideas,
            root,
            mixed: None,
            first: None,
            newton: Newton::default(),
            root_error: 0.0,
            ceiling: f64::INFINITY,
            last_candidate: Vec::new(),
            expanded: 0,
            factor: Cholesky::new(),
            frames: Arc::default(),
        }
    }

    /// How frames are lifted whose gains are not known.
    pub(super) fn spread(&self) -> &'static Spread {
        match self.ideas.lifting {
            true => &Spread::Evenly,
            false => &Spread::None,
        }
    }

    /// The quadratic that frames are built from.
    pub(super) fn frame_root(&self) -> &Root {
        self.mixed.as_ref().map_or(&*self.root, |mixed| &mixed.0)
    }

    pub(super) fn model(&self, frame: &Arc<Frame>) -> NodeModel<'p> {
        match &self.mixed {
            None => NodeModel::Pure(FrameModel::new(Arc::clone(frame), self.ceiling)),
            Some(mixed) => NodeModel::Mixed(Box::new(MixedModel::new(
                self.problem,
                &mixed.0.columns,
                Arc::clone(frame),
                mixed.1.clone(),
                self.ceiling,
            ))),
        }
    }

    /// The decision that a search is about, by root index.
    pub(super) fn pinned(&self, context: &Context) -> Pinned {
        let Decision { feature, inside } = context.decision()?;
        let selectable = &self.root.columns[..self.root.selectable];
        selectable.binary_search(&feature).ok().map(|i| (i, inside))
    }

    /// Tries a support given by root indices; makes it the incumbent when it is better. Returns it in columns.
    pub(super) fn offer(&mut self, chosen: &[usize], context: &mut Context) -> Vec<usize> {
        let mut support: Vec<usize> = chosen.iter().map(|i| self.root.columns[*i]).collect();
        support.sort_unstable();
        context.counters.calls += 1;
        context.try_support(&support);
        support
    }

    /// The node's sets, its warm start in the solver.
    pub(super) fn load(&mut self, node: &GramNode) -> Sets {
        let d = node.frame.size();
        let mut sets = Sets::default();
        for i in 0..d {
            if node.inside.contains(i) {
                sets.inside.push(i);
            } else if !node.outside.contains(i) {
                sets.free.push(i);
            }
        }
        sets.budget = node.frame.budget - sets.inside.len();
        self.newton.x.clear();
        self.newton.x.resize(d, 0.0);
        for (i, x) in &*node.warm {
            if !node.outside.contains(*i as usize) {
                self.newton.x[*i as usize] = x.value();
            }
        }
        sets
    }

    /// The iterate as a warm start.
    pub(super) fn warm(&self, sets: &Sets) -> Arc<[(u32, Short)]> {
        let x = &self.newton.x;
        let columns = sets.inside.iter().chain(&sets.free);
        let active = columns.filter(|i| x[**i] != 0.0);
        active.map(|i| (*i as u32, Short::new(x[*i]))).collect()
    }

    /// The candidate of a relaxed point: S and the m largest free coefficients, refitted if it looks better.
    fn candidate(&mut self, frame: &Frame, sets: &Sets, context: &mut Context) {
        let x = &self.newton.x;
        let mut order: Vec<usize> = sets.free.clone();
        let m = sets.budget.min(order.len());
        if m > 0 && m < order.len() {
            order.select_nth_unstable_by(m - 1, |i, j| x[*j].abs().total_cmp(&x[*i].abs()));
        }
        order.truncate(m);
        let always = self.root.selectable;
        let mut chosen: Vec<usize> = frame
            .inside
            .iter()
            .map(|i| *i as usize)
            .filter(|i| *i < always)
            .chain(
                sets.inside
                    .iter()
                    .chain(&order)
                    .map(|i| frame.columns[*i] as usize),
            )
            .collect();
        chosen.sort_unstable();
        if chosen == self.last_candidate {
            return;
        }
        self.last_candidate.clone_from(&chosen);
        let value = swaps::value(self.root.form(), &chosen, &mut self.factor);
        let best = context.reference();
        // With rows beyond ±δ the quadratic is above P: a candidate a little too high may still be better.
        let margin = if self.mixed.is_some() { 0.02 } else { -1e-10 };
        if value < best + margin * best.abs() {
            if self.mixed.is_none() && self.ideas.swaps && value < context.best() {
                let pinned = self.pinned(context);
                let limits = &context.limits;
                swaps::improve(
                    self.root.form(),
                    &mut chosen,
                    1000,
                    pinned,
                    limits,
                    &mut |_| {},
                );
            }
            self.offer(&chosen, context);
        }
    }

    /// Root indices of everything that is in.
    pub(super) fn decided(frame: &Frame, sets: &Sets) -> Vec<u32> {
        let mut inside = frame.inside.clone();
        inside.extend(sets.inside.iter().map(|i| frame.columns[*i]));
        inside
    }

    /// The search begins with what is left of a frame, whose bound is `low`.
    pub(super) fn begin(&mut self, low: Certified, frame: &Arc<Frame>, sets: &Sets) {
        let warm = self.warm(sets);
        let (inside, outside) = decided_bits(sets, frame.size());
        self.first = Some(GramNode::new(low, frame, inside, outside, &warm, 0));
    }

    /// Decides every free feature whose other side is ruled out.
    pub(super) fn fix(
        &mut self,
        model: &NodeModel,
        frame: &Frame,
        sets: &mut Sets,
        cut: f64,
        context: &mut Context,
    ) {
        let m = sets.budget;
        if m == 0 || m >= sets.free.len() || !self.ideas.fixing {
            return;
        }
        let u = &self.newton.best_u;
        let atom = |i: usize| 0.5 * u[i] * u[i];
        let mut order: Vec<(f64, usize)> = sets.free.iter().map(|i| (atom(*i), *i)).collect();
        order.select_nth_unstable_by(m - 1, |a, b| b.0.total_cmp(&a.0));
        let last_in = order[m - 1].0;
        let first_out = order[m..].iter().map(|(q, _)| *q).fold(0.0, f64::max);
        let mut free = Vec::with_capacity(sets.free.len());
        for (rank, (q, i)) in order.iter().enumerate() {
            let rise = if rank < m { q - first_out } else { last_in - q };
            let child = model.child(rise);
            if let Some(survey) = context.survey() {
                let column = self.root.columns[frame.columns[*i] as usize];
                if rank >= m {
                    survey.note(column, child, cut);
                }
            }
            if child.value() < cut {
                free.push(*i);
                continue;
            }
            context.discard(child);
            if rank < m {
                sets.inside.push(*i);
                sets.budget -= 1;
            }
        }
        free.sort_unstable();
        sets.free = free;
    }

    /// A smaller frame with a larger lift, when that is worth its price, and the node's sets in it; x is carried over.
    pub(super) fn reframe(
        &mut self,
        frame: &Frame,
        sets: &Sets,
        context: &Context,
    ) -> Option<(Frame, Sets)> {
        let left = sets.free.len();
        if frame.size() < SMALL
            || !self.ideas.reframing
            || left as f64 > REFRAME * frame.size() as f64
            || left <= sets.budget
        {
            return None;
        }
        // Explicit rows see the features that are in: those stay as columns. Else they are condensed away.
        let explicit = if self.mixed.is_some() {
            &sets.inside[..]
        } else {
            &[]
        };
        if (left + explicit.len()) as f64 > REFRAME * frame.size() as f64 {
            return None;
        }
        let kept: Vec<usize> = explicit.iter().chain(&sets.free).copied().collect();
        let columns: Vec<u32> = kept.iter().map(|i| frame.columns[*i]).collect();
        let inside = if self.mixed.is_some() {
            Vec::new()
        } else {
            Self::decided(frame, sets)
        };
        let budget = sets.budget + explicit.len();
        let mut gains = vec![0.0; explicit.len()];
        gains.extend(self.newton.gains(sets));
        for (gain, i) in gains.iter_mut().zip(&kept) {
            *gain /= frame.scale[*i] * frame.scale[*i];
        }
        let root = self.frame_root();
        let spread = match self.ideas {
            Ideas { lifting: false, .. } => Spread::None,
            Ideas {
                spreading: false, ..
            } => Spread::Evenly,
            _ => Spread::ByGain(gains),
        };
        let (best, limits) = (context.reference(), &context.limits);
        let mut smaller = Frame::new(root, &inside, &columns, budget, best, &spread, limits)?;
        smaller.error += self.root_error;
        let scales = kept.iter().zip(&smaller.scale);
        let x: Vec<f64> = scales
            .map(|(i, scale)| self.newton.x[*i] * (scale / frame.scale[*i]))
            .collect();
        self.newton.x = x;
        let sets = Sets {
            inside: (0..explicit.len()).collect(),
            free: (explicit.len()..smaller.size()).collect(),
            budget: sets.budget,
            ..Sets::default()
        };
        Some((smaller, sets))
    }
}

impl Tree for GramTree<'_> {
    type Node = GramNode;
    const PLUNGES: bool = true;

    fn root(&mut self, _context: &mut Context, children: &mut Vec<GramNode>) -> Expansion {
        children.extend(self.first.take());
        Expansion::Split
    }

    fn finished(&self, node: &GramNode, context: &Context) -> bool {
        node.low.value() >= context.cut()
    }

    fn save(&self, _: &Problem, node: &GramNode, draft: &mut Draft) {
        save_node(&self.root, node, draft);
    }

    fn fork(&self) -> Option<Self> {
        Some(self.another())
    }

    fn work(&self, node: &GramNode, _: &Problem) -> u64 {
        NODE_WORK * (node.frame.size() as u64).pow(2)
    }

    fn shared_bytes(&self) -> u64 {
        self.frames.load(Ordering::Relaxed)
    }

    fn expand(
        &mut self,
        node: &GramNode,
        context: &mut Context,
        children: &mut Vec<GramNode>,
    ) -> Expansion {
        let resolved = self.resolve(node, context);
        if resolved.is_some()
            && let Some(status) = context.limits.reached()
        {
            return Expansion::Stopped(status, node.low);
        }
        let (origin, node) = (node, resolved.as_ref().unwrap_or(node));
        let mut sets = self.load(node);
        self.go_back(origin, node);
        let mut frame = Arc::clone(&node.frame);
        let mut model = self.model(&frame);
        let mut low = node.low;
        self.expanded += 1;
        for round in 0..MAX_FRAMES {
            if self.enumerate(&frame, &sets, context) {
                return Expansion::Split;
            }
            let leaf = sets.budget == 0 || sets.free.len() <= sets.budget;
            if leaf && context.survey().is_some() {
                break;
            }
            let mut optional = Vec::new();
            if leaf {
                if context.wants_list() && sets.budget > 0 {
                    optional.clone_from(&sets.free);
                }
                self.settle(&mut sets);
            }
            let best = context.reference();
            let share = if node.depth == 0 {
                ROOT_TOLERANCE * best
            } else {
                NODE_TOLERANCE * (best - low.value())
            };
            let goal = Goal {
                cut: context.cut(),
                tolerance: share.max(1e-13 * best),
                share: None,
                tight: (0.3 * context.allowed()).min(share).max(1e-14 * best),
            };
            context.counters.calls += 1;
            // A leaf is soon done, and what is settled in it is not decided.
            let bound = if context.is_lone() && !leaf {
                let left = || {
                    let (inside, outside) = decided_bits(&sets, frame.size());
                    let warm = Arc::default();
                    GramNode::new(low, &frame, inside, outside, &warm, node.depth)
                };
                let (root, limits) = (&self.root, context.limits.clone());
                let newton = &mut self.newton;
                newton.solve_watched(model.as_model(), &sets, &goal, &limits, &mut |x| {
                    if context.is_save_due() {
                        let point = point(root, &frame, x);
                        context.save_lone(false, point, |draft| save_node(root, &left(), draft));
                    }
                })
            } else {
                let limits = &context.limits;
                self.newton.solve(model.as_model(), &sets, &goal, limits)
            };
            low = low.or(bound);
            if let Some(status) = context.limits.reached() {
                context.keep_point(false, || point(&self.root, &frame, &self.newton.x));
                return Expansion::Stopped(status, low);
            }
            if low.value() >= goal.cut {
                context.discard(low);
                return Expansion::Split;
            }
            if leaf {
                if let Some(evidence) = self.close_leaf(&frame, &sets, context) {
                    let depth = node.depth + 1;
                    children.extend(self.subsets(
                        low.or(evidence),
                        &frame,
                        &sets,
                        &optional,
                        depth,
                    ));
                }
                return Expansion::Split;
            }
            self.newton.restore_best(&sets);
            self.candidate(&frame, &sets, context);
            let cut = context.cut();
            if low.value() >= cut {
                context.discard(low);
                return Expansion::Split;
            }
            if let Some(survey) = context.survey() {
                survey.note_all(low, cut);
            }
            self.fix(&model, &frame, &mut sets, cut, context);
            if node.depth == 0 {
                context.set_features_left(sets.free.len());
            }
            if sets.budget == 0 || sets.free.len() <= sets.budget {
                // One support is left: once more through the loop, which closes it.
                continue;
            }
            if round + 2 >= MAX_FRAMES {
                break;
            }
            let Some((smaller, left)) = self.reframe(&frame, &sets, context) else {
                break;
            };
            sets = left;
            frame = smaller.share(&self.frames);
            model = self.model(&frame);
        }
        let warm = self.warm(&sets);
        if context.survey().is_some() {
            let (inside, outside) = decided_bits(&sets, frame.size());
            let depth = node.depth + 1;
            children.push(GramNode::new(low, &frame, inside, outside, &warm, depth));
            if sets.budget == 0 || sets.free.len() <= sets.budget {
                return Expansion::Split;
            }
        }
        let gap = (context.reference() - low.value()).max(1e-300);
        let (x, u) = (&self.newton.x, &self.newton.best_u);
        let limits = &context.limits;
        let split = match self.ideas.gains {
            true => branching::choose(model.as_model(), &sets, x, u, gap, limits),
            false => branching::steepest(&sets, x, u),
        };
        let (inside, mut outside) = decided_bits(&sets, frame.size());
        // On a feature that is shared the dual point raises neither side: both begin with the bound of their parent.
        let child = |inside: Bits, outside: Bits| {
            GramNode::new(low, &frame, inside, outside, &warm, node.depth + 1)
        };
        let mut with_split = inside.clone();
        with_split.insert(split);
        children.push(child(with_split, outside.clone()));
        outside.insert(split);
        children.push(child(inside, outside));
        Expansion::Split
    }
}

/// An iterate of a frame on the columns of the data.
pub(super) fn point(root: &Root, frame: &Frame, x: &[f64]) -> Point {
    let column = |i: usize| root.columns[frame.columns[i] as usize];
    Point::new(start_at(x, &frame.scale, column))
}

/// What is in, and what is out, of the columns of a frame.
fn decided_bits(sets: &Sets, size: usize) -> (Bits, Bits) {
    let (mut inside, mut outside) = (Bits::new(size), Bits::new(size));
    let mut free = vec![false; size];
    sets.inside.iter().for_each(|i| inside.insert(*i));
    sets.free.iter().for_each(|i| free[*i] = true);
    for (i, free) in free.iter().enumerate() {
        if !free && !inside.contains(i) {
            outside.insert(i);
        }
    }
    (inside, outside)
}
