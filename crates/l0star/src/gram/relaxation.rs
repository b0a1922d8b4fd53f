//! The relaxation of nodes in Gram form: quadratic problems, and Huber problems most of whose rows are proved to stay in
//! their quadratic part.
//!
//! A node is solved by Newton's method in a [`Frame`]. When fixing has removed enough columns, the node gets a smaller frame
//! with a larger lift, which its subtree inherits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::condensed::Spread;
use super::frame::{Frame, FrameModel};
use super::local::Pinned;
use super::mixed::MixedModel;
use super::root::Root;
use super::slot::{FrameSlot, GramStart};
use super::small::{self, LARGEST, square_bytes};
use super::swaps;
use crate::bound::{Certified, Children, Subproblem};
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::rounding::U;
use crate::problem::{Decision, Problem};
use crate::relaxation::model::{Goal, Model, Sets};
use crate::relaxation::newton::{Newton, whole_from};
use crate::relaxation::{
    Exit, Known, Relaxation, SavedStarts, Task, Watch, branching, gather, largest_model, lengthen,
    shorten,
};
use crate::settings::Mechanisms;
use crate::tuning::enumeration::{EASY_NODES, MANY_TRIPLES};
use crate::tuning::frames::{
    MOST_FRAMES, NEARLY, NODE_TOLERANCE, NODE_WORK, REFRAME, ROOT_TOLERANCE, SMALL,
};

/// A model of the quadratic is worth a fit when its value is below the incumbent by this share …
const BETTER: f64 = -1e-10;
/// The place of a column that is not in the frame.
const NOWHERE: u32 = u32::MAX;

/// The quadratic over the certified rows of a Huber problem, and the rows that stay explicit.
#[derive(Debug)]
pub(crate) struct Explicit {
    pub root: Root,
    pub rows: Vec<usize>,
}

/// The relaxation of one problem in Gram form.
pub(crate) struct GramRelaxation<'p> {
    pub(crate) problem: &'p Problem,
    pub(crate) mechanisms: Mechanisms,
    /// The quadratic over all rows: incumbents, and frames when no row is explicit.
    pub(crate) root: Arc<Root>,
    /// Set where rows of a Huber problem stay explicit.
    pub(crate) explicit: Option<Arc<Explicit>>,
    /// The frame of all columns.
    pub(crate) whole: Option<Arc<FrameSlot>>,
    /// A bound of the error of the root's floats.
    pub(crate) root_error: f64,
    /// Bounds are claimed up to this only (the incumbent at the time of a Huber certificate).
    pub(crate) ceiling: f64,
    /// The most features that a model better than the first incumbent can have.
    pub(crate) most: usize,
    pub(crate) newton: Newton,
    pub(crate) factor: Cholesky,
    /// Bytes of all frames that are alive.
    pub(crate) frames: Arc<AtomicU64>,
    last_candidate: Vec<usize>,
    current: Option<Current<'p>>,
    /// How often the node at hand was re-framed.
    reframed: usize,
    /// Nodes that this thread has looked at.
    expanded: u64,
}

/// The frame at hand.
struct Current<'p> {
    slot: Arc<FrameSlot>,
    frame: Arc<Frame>,
    model: NodeModel<'p>,
    /// The place of each column of the problem in the frame.
    places: Vec<u32>,
    /// The node solved last, by places.
    sets: Sets,
}

impl Current<'_> {
    fn place(&self, column: usize) -> Option<usize> {
        let place = self.places[column];
        (place != NOWHERE).then_some(place as usize)
    }

    fn sets(&self, problem: &Problem, node: &Subproblem) -> Sets {
        // What is in and has no place is condensed.
        let inside = node.included.iter().filter_map(|j| self.place(*j));
        let free = node.free.iter().filter_map(|j| self.place(*j));
        let mut costs = Vec::new();
        if let Some(prices) = problem.prices() {
            costs.resize(self.frame.size(), 0.0);
            for j in node.free {
                if let Some(place) = self.place(*j) {
                    costs[place] = prices[*j];
                }
            }
        }
        Sets {
            unpenalised: Vec::new(),
            inside: gather(inside),
            free: gather(free),
            budget: node.budget,
            costs,
        }
    }
}

/// The model of a node: its frame alone, or with explicit rows beside it.
pub(crate) enum NodeModel<'p> {
    Pure(FrameModel),
    Mixed(Box<MixedModel<'p>>),
}

impl NodeModel<'_> {
    fn as_model(&mut self) -> &mut dyn Model {
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

impl<'p> GramRelaxation<'p> {
    /// For the quadratic of a problem; no frame is built yet.
    pub(crate) fn new(problem: &'p Problem, mechanisms: Mechanisms, root: Arc<Root>) -> Self {
        Self {
            problem,
            mechanisms,
            root,
            explicit: None,
            whole: None,
            root_error: 0.0,
            ceiling: f64::INFINITY,
            most: problem.support_size(),
            newton: Newton::default(),
            factor: Cholesky::new(),
            frames: Arc::default(),
            last_candidate: Vec::new(),
            current: None,
            reframed: 0,
            expanded: 0,
        }
    }

    /// How frames are lifted whose gains are not known.
    pub(crate) fn spread(&self) -> &'static Spread {
        if self.mechanisms.lifting {
            &Spread::Evenly
        } else {
            &Spread::None
        }
    }

    /// The quadratic that frames are built from.
    pub(crate) fn frame_root(&self) -> &Root {
        let explicit = self.explicit.as_ref();
        explicit.map_or(&*self.root, |explicit| &explicit.root)
    }

    /// A feature that every model has to have, or to lack, by root index.
    pub(crate) fn pinned(&self, decision: Option<Decision>) -> Pinned {
        let Decision { feature, inside } = decision?;
        self.root.index(feature).map(|i| (i, inside))
    }

    /// The frame at hand.
    pub(crate) fn frame(&self) -> Option<&Frame> {
        self.current.as_ref().map(|current| &*current.frame)
    }

    /// Changes over to a frame; x is that of the old one.
    pub(crate) fn enter(&mut self, slot: &Arc<FrameSlot>, frame: Arc<Frame>) {
        let same = |current: &Current| Arc::ptr_eq(&current.frame, &frame);
        let places = match self.current.take() {
            // The point that was kept is not one of the node to come.
            Some(current) if same(&current) => current.places,
            Some(Current { mut places, .. }) => {
                places.fill(NOWHERE);
                self.locate(&frame, places)
            }
            None => self.locate(&frame, vec![NOWHERE; self.problem.design.columns()]),
        };
        let model = match &self.explicit {
            None => NodeModel::Pure(FrameModel::new(Arc::clone(&frame), self.ceiling)),
            Some(explicit) => NodeModel::Mixed(Box::new(MixedModel::new(
                self.problem,
                &explicit.root.columns,
                Arc::clone(&frame),
                explicit.rows.clone(),
                self.ceiling,
            ))),
        };
        self.current = Some(Current {
            slot: Arc::clone(slot),
            frame,
            model,
            places,
            sets: Sets::default(),
        });
    }

    fn locate(&self, frame: &Frame, mut places: Vec<u32>) -> Vec<u32> {
        for (place, i) in frame.columns.iter().enumerate() {
            places[self.root.columns[*i as usize]] = place as u32;
        }
        places
    }

    /// Solves a node from x, to a goal of its own.
    pub(crate) fn run(&mut self, node: &Subproblem, goal: &Goal, limits: &Limits) -> Certified {
        let Some(current) = &mut self.current else {
            return Certified::TRIVIAL;
        };
        current.sets = current.sets(self.problem, node);
        let bound = self
            .newton
            .solve(current.model.as_model(), &current.sets, goal, limits);
        self.newton.restore_best(&current.sets);
        bound
    }

    /// The explicit rows that the node solved last proves to be quadratic for every model below `reference`.
    pub(crate) fn certified_rows(&mut self, reference: f64) -> Vec<usize> {
        match &mut self.current {
            Some(Current {
                model: NodeModel::Mixed(model),
                sets,
                ..
            }) => model.certified_rows(sets, reference),
            _ => Vec::new(),
        }
    }

    /// The relaxed model: (column, coefficient).
    pub(crate) fn model(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let current = self.current.iter();
        current.flat_map(|current| {
            let (frame, x) = (&current.frame, &self.newton.x);
            let places = frame.columns.iter().zip(x).zip(&frame.scale);
            let active = places.filter(|((_, x), _)| **x != 0.0);
            active.map(|((i, x), scale)| (self.root.columns[*i as usize], x / scale))
        })
    }

    /// Goes to a point, zero outside the node: (column, coefficient).
    pub(crate) fn go_to(&mut self, node: &Subproblem, point: &[(usize, f64)]) {
        let Some(current) = &self.current else {
            return;
        };
        let x = &mut self.newton.x;
        x.clear();
        x.resize(current.frame.size(), 0.0);
        let is_in = |j: usize| node.included.contains(&j);
        for (j, value) in point {
            if let Some(place) = current.place(*j)
                && (node.free.binary_search(j).is_ok() || is_in(*j))
            {
                x[place] = value * current.frame.scale[place];
            }
        }
    }

    /// A smaller frame with a larger lift for what is left of a node, when that is worth its price; x is carried over.
    pub(crate) fn reframe(&mut self, node: &Subproblem, reference: f64, limits: &Limits) -> bool {
        let Some(current) = &self.current else {
            return false;
        };
        let (frame, left) = (&current.frame, node.free.len());
        let most = REFRAME * frame.size() as f64;
        if frame.size() < SMALL
            || !self.mechanisms.reframing
            || left as f64 > most
            || (left <= node.budget && !self.problem.is_priced())
        {
            return false;
        }
        // Explicit rows see the features that are in: those stay as columns. Else they are condensed away.
        let index = |j: &usize| Some(self.root.index(*j)? as u32);
        let decided = gather(node.included.iter().filter_map(index));
        let (condensed, explicit) = match self.explicit {
            Some(_) => (Vec::new(), decided),
            None => (decided, Vec::new()),
        };
        if (left + explicit.len()) as f64 > most {
            return false;
        }
        let always = self.root.selectable as u32..self.root.size() as u32;
        let inside: Vec<u32> = condensed.into_iter().chain(always).collect();
        let free = node.free.iter().filter_map(index);
        let columns = gather(explicit.iter().copied().chain(free));
        let budget = node.budget.min(self.most) + explicit.len();
        let sets = current.sets(self.problem, node);
        let mut gains = vec![0.0; explicit.len()];
        gains.extend(self.newton.gains(&sets));
        let place = |i: &u32| current.place(self.root.columns[*i as usize]);
        for (gain, i) in gains.iter_mut().zip(&columns) {
            *gain /= place(i).map_or(1.0, |at| frame.scale[at] * frame.scale[at]);
        }
        let spread = match self.mechanisms {
            Mechanisms { lifting: false, .. } => Spread::None,
            Mechanisms {
                spreading: false, ..
            } => Spread::Evenly,
            _ => Spread::ByGain(gains),
        };
        let root = self.frame_root();
        let made = Frame::new(root, &inside, &columns, budget, reference, &spread, limits);
        let Some(mut smaller) = made else {
            return false;
        };
        smaller.error += self.root_error;
        let carried = columns.iter().zip(&smaller.scale).map(|(i, scale)| {
            place(i).map_or(0.0, |at| self.newton.x[at] * (scale / frame.scale[at]))
        });
        let x: Vec<f64> = carried.collect();
        let frame = smaller.share(&self.frames);
        let slot = Arc::new(FrameSlot::built(&self.root, &frame));
        self.enter(&slot, frame);
        self.newton.x = x;
        true
    }

    /// The frame of a starting point; that of all columns where its own cannot be built.
    fn frame_of(&self, slot: &Arc<FrameSlot>, task: &Task) -> Option<Arc<Frame>> {
        slot.get_or_build(|plan| {
            let known = Spread::Known(plan.scales.clone());
            let spread = if plan.scales.is_empty() {
                self.spread()
            } else {
                &known
            };
            let (inside, columns) = (&plan.inside, &plan.columns);
            let (root, best) = (self.frame_root(), task.reference);
            let mut frame = Frame::new(
                root,
                inside,
                columns,
                plan.budget.min(self.most),
                best,
                spread,
                task.limits,
            )?;
            frame.error += self.root_error;
            Some(frame.share(&self.frames))
        })
    }
}

impl Clone for GramRelaxation<'_> {
    /// With buffers of its own.
    fn clone(&self) -> Self {
        Self {
            explicit: self.explicit.clone(),
            whole: self.whole.clone(),
            root_error: self.root_error,
            ceiling: self.ceiling,
            most: self.most,
            frames: Arc::clone(&self.frames),
            ..Self::new(self.problem, self.mechanisms, Arc::clone(&self.root))
        }
    }
}

impl Relaxation for GramRelaxation<'_> {
    type Start = GramStart;

    fn prepare(&mut self, _: &Problem, task: &Task, start: Option<&GramStart>) {
        self.reframed = 0;
        self.expanded += 1;
        let own = start.and_then(|start| {
            let frame = self.frame_of(&start.slot, task)?;
            Some((Arc::clone(&start.slot), frame))
        });
        let whole = || {
            let slot = self.whole.clone()?;
            let frame = self.frame_of(&slot, task)?;
            Some((slot, frame))
        };
        if let Some((slot, frame)) = own.or_else(whole) {
            self.enter(&slot, frame);
        }
        let point = start.map_or_else(Vec::new, |start| lengthen(&start.x));
        self.go_to(&task.node, &point);
    }

    fn initial_bound(&mut self, _: &Problem, _: &Subproblem) -> Certified {
        Certified::TRIVIAL
    }

    fn solve(&mut self, problem: &Problem, task: &Task) -> (Certified, Exit) {
        let bound = self.run(&task.node, &goal(problem, task), task.limits);
        let bound = task.node.with_cost(problem, bound);
        (bound, Exit::of(bound, task))
    }

    /// A smaller frame.
    fn tighten(&mut self, _: &Problem, task: &Task) -> bool {
        self.reframed += 1;
        self.reframed <= MOST_FRAMES && self.reframe(&task.node, task.reference, task.limits)
    }

    /// The bound of the frame with every feature in that may be in.
    fn leaf_bound(&mut self, problem: &Problem, task: &Task) -> Option<Certified> {
        let mut included = task.node.included.to_vec();
        if task.node.budget > 0 {
            included.extend_from_slice(task.node.free);
        } else {
            let current = self.current.as_ref()?;
            let free = task.node.free.iter().filter_map(|j| current.place(*j));
            free.for_each(|place| self.newton.x[place] = 0.0);
        }
        let settled = Subproblem {
            included: &included,
            free: &[],
            budget: 0,
        };
        let bound = self.run(&settled, &goal(problem, task), task.limits);
        Some(settled.with_cost(problem, bound))
    }

    fn enumerate(
        &mut self,
        problem: &Problem,
        task: &Task,
        watch: &mut dyn Watch,
    ) -> Option<Certified> {
        let Subproblem { free, budget, .. } = task.node;
        let is_short = budget < LARGEST || free.len() <= MANY_TRIPLES;
        let is_worthwhile = problem.has_weak_bounds() || (self.expanded > EASY_NODES && is_short);
        let bytes = square_bytes(free.len());
        if self.explicit.is_some()
            || !self.mechanisms.enumeration
            || !is_worthwhile
            || (budget == LARGEST && task.limits.is_too_much(bytes))
        {
            return None;
        }
        let bound = small::enumerate_node(&self.root, task, watch)?;
        Some(bound.at_most(self.ceiling))
    }

    fn candidate(&self, problem: &Problem, node: &Subproblem) -> Vec<usize> {
        let Some(current) = &self.current else {
            return Vec::new();
        };
        let size = |j: usize| current.place(j).map_or(0.0, |at| self.newton.x[at].abs());
        let Some(prices) = problem.prices() else {
            return largest_model(problem, node, size);
        };
        // As many as the shares add up to: more would cost more than the relaxed model pays.
        let share = |j: usize| match size(j) {
            0.0 => 0.0,
            size => (size / whole_from(prices[j])).min(1.0),
        };
        let used: f64 = node.free.iter().map(|j| share(*j)).sum();
        let budget = node.budget.min((used + 0.5) as usize);
        largest_model(problem, &Subproblem { budget, ..*node }, share)
    }

    /// Swaps in the quadratic, where no row is explicit.
    fn improve(&mut self, problem: &Problem, support: &mut Vec<usize>, known: &Known) -> bool {
        if *support == self.last_candidate {
            return false;
        }
        self.last_candidate.clone_from(support);
        let index = |j: &usize| self.root.index(*j);
        let Some(mut chosen) = support.iter().map(index).collect::<Option<Vec<usize>>>() else {
            return true;
        };
        let value = swaps::value(self.root.form(), &chosen, &mut self.factor);
        let value = value + problem.cost(support);
        let is_mixed = self.explicit.is_some();
        let margin = if is_mixed { NEARLY } else { BETTER };
        if value >= known.reference + margin * known.reference.abs() {
            return false;
        }
        // A swap looks at the quadratic alone.
        let is_swapped = !is_mixed && self.mechanisms.swaps && problem.has_one_price();
        if is_swapped && value < known.best {
            let pinned = self.pinned(known.decision);
            let (form, most) = (self.root.form(), 1000);
            swaps::improve(form, &mut chosen, most, pinned, known.limits);
            *support = chosen.iter().map(|i| self.root.columns[*i]).collect();
            support.sort_unstable();
        }
        true
    }

    fn children(&self, problem: &Problem, node: &Subproblem) -> Children {
        let u = &self.newton.best_u;
        let place = |j: usize| self.current.as_ref()?.place(j);
        let places = node.free.iter().filter_map(|j| Some((*j, place(*j)?)));
        let child = |rise| match &self.current {
            Some(current) => current.model.child(rise),
            None => Certified::TRIVIAL,
        };
        let atoms = places.map(|(j, at)| (0.5 * u[at] * u[at], j));
        let Some(prices) = problem.prices() else {
            return Children::from_atoms(atoms, node.budget, child);
        };
        let atoms = atoms.map(|(q, j)| (q - prices[j], j));
        Children::from_atoms(atoms, node.budget, |rise| {
            // A price that is far above all atoms rounds more than they do.
            node.with_cost(problem, child(rise - 8.0 * U * rise))
        })
    }

    fn branch(&mut self, _: &Problem, node: &Subproblem, gap: f64, limits: &Limits) -> usize {
        let Some(current) = &mut self.current else {
            return node.free[0];
        };
        let sets = current.sets(self.problem, node);
        let (x, u) = (&self.newton.x, &self.newton.best_u);
        let place = if self.mechanisms.gains {
            branching::choose(current.model.as_model(), &sets, x, u, gap, limits)
        } else {
            branching::steepest(&sets, x, u)
        };
        self.root.columns[current.frame.columns[place] as usize]
    }

    fn start(&self) -> GramStart {
        let slot = self.current.as_ref().map(|current| &current.slot);
        let slot = slot.or(self.whole.as_ref()).cloned();
        GramStart {
            x: shorten(self.model()),
            slot: slot.unwrap_or_default(),
        }
    }

    fn restore(&self, problem: &Problem, saved: &SavedStarts) -> Vec<Option<GramStart>> {
        let frames = saved.frames.iter();
        let slot = |shape| {
            let with_explicit_rows = self.explicit.is_some();
            FrameSlot::restored(problem, &self.root, shape, with_explicit_rows)
        };
        let whole = self.whole.as_ref();
        let slots: Vec<Option<Arc<FrameSlot>>> = frames
            .map(|shape| match whole {
                Some(whole) if whole.has_shape(shape) => Some(Arc::clone(whole)),
                _ => slot(shape).map(Arc::new),
            })
            .collect();
        let points = saved.points.iter().map(|point| {
            let own = point.frame.and_then(|at| slots[at as usize].as_ref());
            Some(GramStart {
                x: shorten(point.model().into_iter()),
                slot: Arc::clone(own.or(whole)?),
            })
        });
        points.collect()
    }

    fn work(&self, _: &Problem, columns: usize) -> u64 {
        NODE_WORK * (columns as u64).pow(2)
    }

    fn shared_bytes(&self) -> u64 {
        self.frames.load(Ordering::Relaxed)
    }
}

/// How well a node is solved.
fn goal(problem: &Problem, task: &Task) -> Goal {
    let best = task.reference;
    let share = if task.is_root {
        ROOT_TOLERANCE * best
    } else {
        NODE_TOLERANCE * (best - task.proved)
    };
    Goal {
        cut: task.cut_without_cost(problem),
        tolerance: share.max(1e-13 * best),
        share: None,
        tight: (0.3 * task.allowed).min(share).max(1e-14 * best),
    }
}
