//! The relaxation of nodes in Gram form.
//!
//! It serves quadratic problems, and Huber problems most of whose rows are proved to stay in their quadratic part.
//!
//! A node is solved by Newton's method in a [`Frame`]. When fixing has removed enough columns, the node gets a smaller frame
//! with a larger lift, which its subtree inherits.

mod nodes;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::condensed::Spread;
use super::frame::{Frame, FrameModel};
use super::local::Pinned;
use super::mixed::MixedModel;
use super::root::Root;
use super::slot::FrameSlot;
use crate::bound::{Certified, Subproblem};
use crate::limits::Limits;
use crate::linalg::cholesky::Cholesky;
use crate::problem::{Decision, Problem};
use crate::relaxation::model::{Goal, Model, Sets};
use crate::relaxation::newton::Newton;
use crate::relaxation::{Task, gather};
use crate::settings::Mechanisms;
use crate::tuning::frames::{REFRAME, SMALL};

/// Place of a column that is not in the frame.
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
    /// Bound on the error of the root's floats.
    pub(crate) root_error: f64,
    /// Bounds are claimed only up to this (the incumbent at the time of a Huber certificate).
    pub(crate) ceiling: f64,
    /// Maximum number of features of a model better than the first incumbent.
    pub(crate) most: usize,
    pub(crate) newton: Newton,
    pub(crate) factor: Cholesky,
    /// Number of bytes of all live frames.
    pub(crate) frames: Arc<AtomicU64>,
    last_candidate: Vec<usize>,
    current: Option<Current<'p>>,
    /// Number of times that the current node was re-framed.
    reframed: usize,
    /// Number of nodes that this thread has expanded.
    expanded: u64,
    /// Whether this thread has enumerated a node with four features left.
    has_tried_fours: bool,
}

/// The current frame, with the node solved in it.
struct Current<'p> {
    slot: Arc<FrameSlot>,
    frame: Arc<Frame>,
    model: NodeModel<'p>,
    /// Place of each column of the problem in the frame.
    places: Vec<u32>,
    /// The node solved last, by places.
    sets: Sets,
}

impl Current<'_> {
    fn place(&self, column: usize) -> Option<usize> {
        let place = self.places[column];
        (place != NOWHERE).then_some(place as usize)
    }

    /// Sets `sets` to those of a node, in the memory of the last node.
    fn set_node(&mut self, problem: &Problem, node: &Subproblem) {
        let mut sets = std::mem::take(&mut self.sets);
        // Included columns without a place are condensed.
        refill(&mut sets.inside, node.included, |j| self.place(j));
        refill(&mut sets.free, node.free, |j| self.place(j));
        sets.budget = node.budget;
        if let Some(prices) = problem.prices() {
            sets.costs.clear();
            sets.costs.resize(self.frame.size(), 0.0);
            for j in node.free {
                if let Some(place) = self.place(*j) {
                    sets.costs[place] = prices[*j];
                }
            }
        }
        self.sets = sets;
    }
}

/// Fills `places` with the places of columns that have one.
fn refill(places: &mut Vec<usize>, columns: &[usize], place: impl Fn(usize) -> Option<usize>) {
    places.clear();
    places.reserve(columns.len());
    places.extend(columns.iter().filter_map(|j| place(*j)));
}

/// The model of a node: its frame alone, or its frame with explicit rows.
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

    /// Returns the bound of a child whose D is higher by `rise`.
    fn child(&self, rise: f64) -> Certified {
        match self {
            Self::Pure(model) => model.child(rise),
            Self::Mixed(model) => model.child(rise),
        }
    }
}

impl<'p> GramRelaxation<'p> {
    /// Creates the relaxation for the quadratic of a problem; no frame is built yet.
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
            has_tried_fours: false,
        }
    }

    /// Returns how frames are lifted when the gains are not known.
    pub(crate) fn spread(&self) -> &'static Spread {
        if self.mechanisms.lifting {
            &Spread::Evenly
        } else {
            &Spread::None
        }
    }

    /// Returns the quadratic from which frames are built.
    pub(crate) fn frame_root(&self) -> &Root {
        let explicit = self.explicit.as_ref();
        explicit.map_or(&*self.root, |explicit| &explicit.root)
    }

    /// Returns a feature that every model must have, or must lack, by root index.
    pub(crate) fn pinned(&self, decision: Option<Decision>) -> Pinned {
        let Decision { feature, inside } = decision?;
        self.root.index(feature).map(|i| (i, inside))
    }

    /// Returns the current frame.
    pub(crate) fn frame(&self) -> Option<&Frame> {
        self.current.as_ref().map(|current| &*current.frame)
    }

    /// Switches to a frame; x is still that of the old one.
    pub(crate) fn enter(&mut self, slot: &Arc<FrameSlot>, frame: Arc<Frame>) {
        let same = |current: &Current| Arc::ptr_eq(&current.frame, &frame);
        let places = match self.current.take() {
            // The point kept there does not belong to the next node.
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

    /// Solves a node from x, to the given goal.
    pub(crate) fn run(&mut self, node: &Subproblem, goal: &Goal, limits: &Limits) -> Certified {
        let Some(current) = &mut self.current else {
            return Certified::TRIVIAL;
        };
        current.set_node(self.problem, node);
        let bound = self
            .newton
            .solve(current.model.as_model(), &current.sets, goal, limits);
        self.newton.restore_best(&current.sets);
        bound
    }

    /// Returns the explicit rows that the node solved last proves to be quadratic for every model below `reference`.
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

    /// Returns the relaxed model: (column, coefficient).
    pub(crate) fn model(&self) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        let current = self.current.iter();
        current.flat_map(|current| {
            let (frame, x) = (&current.frame, &self.newton.x);
            let places = frame.columns.iter().zip(x).zip(&frame.scale);
            let active = places.filter(|((_, x), _)| **x != 0.0);
            active.map(|((i, x), scale)| (self.root.columns[*i as usize], x / scale))
        })
    }

    /// Moves to a point, zero outside the node: (column, coefficient).
    pub(crate) fn go_to(
        &mut self,
        node: &Subproblem,
        point: impl IntoIterator<Item = (usize, f64)>,
    ) {
        let Some(current) = &self.current else {
            return;
        };
        let x = &mut self.newton.x;
        x.clear();
        x.resize(current.frame.size(), 0.0);
        let is_in = |j: usize| node.included.contains(&j);
        for (j, value) in point {
            if let Some(place) = current.place(j)
                && (node.free.binary_search(&j).is_ok() || is_in(j))
            {
                x[place] = value * current.frame.scale[place];
            }
        }
    }

    /// Switches to a smaller frame with a larger lift for the rest of a node, when that is worth
    /// its price; x is carried over.
    pub(crate) fn reframe(&mut self, node: &Subproblem, reference: f64, limits: &Limits) -> bool {
        let Some(current) = &mut self.current else {
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
        current.set_node(self.problem, node);
        let Some(current) = &self.current else {
            return false;
        };
        let frame = &current.frame;
        // Explicit rows depend on the included features, which therefore stay as columns.
        // Otherwise they are condensed away.
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
        let mut gains = vec![0.0; explicit.len()];
        gains.extend(self.newton.gains(&current.sets));
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

    /// Returns the frame of a starting point, or `None` where it cannot be built.
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
    /// Clones the relaxation with its own buffers.
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
