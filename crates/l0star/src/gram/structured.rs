//! Frames for problems with groups and bounds: the Gram form of the smooth part, with a lifted ridge.
//!
//! A [`Frame`] does not depend on groups or bounds: x is scaled column by column, and an atom is that of the
//! scaled bounds. Included columns without bounds are condensed. Those with bounds stay, as the minimum over them
//! is no longer a linear system.

use std::sync::Arc;

use super::condensed::Spread;
use super::frame::{Frame, FrameModel};
use super::root::Root;
use crate::bound::{Certified, Children, Subproblem};
use crate::limits::Limits;
use crate::linalg::select::top_sum;
use crate::problem::Problem;
use crate::relaxation::Task;
use crate::relaxation::model::{Model, Sets};
use crate::relaxation::structured::{ATOM, Backend, Blocks, Shape, Smooth};
use crate::settings::Mechanisms;
use crate::tuning::frames::{GROUP_SPREAD, REFRAME, SMALL};

/// A frame, and the places of the columns of the problem in it.
#[derive(Debug)]
pub(crate) struct Lifted {
    frame: Arc<Frame>,
    /// Place of each column of the problem; `None` where it is condensed or out.
    places: Vec<Option<u32>>,
    shape: Arc<Shape>,
    /// Whether the lift was spread by the gain of each column.
    spread: bool,
}

impl Lifted {
    /// Returns the number of bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.frame.g.len() * 8 + self.places.len() * 8 + self.shape.columns.len() * 48
    }
}

/// The quadratic of a problem, and the frame of the current node.
#[derive(Debug, Clone)]
pub(crate) struct GramBackend {
    root: Arc<Root>,
    /// Index of each column of the problem in the root.
    indices: Arc<Vec<Option<u32>>>,
    whole: Arc<Lifted>,
    current: Arc<Lifted>,
    model: FrameModel,
    /// Bound on the error of the root's floats.
    root_error: f64,
    reference: f64,
    mechanisms: Mechanisms,
}

impl GramBackend {
    /// Creates the backend for the quadratic of a problem, and models below `reference`. Returns `None` where
    /// rounding defeats it, and at a limit.
    pub(crate) fn new(
        problem: &Problem,
        root: Arc<Root>,
        mechanisms: Mechanisms,
        reference: f64,
        limits: &Limits,
    ) -> Option<Self> {
        let mut indices = vec![None; problem.design.columns()];
        for (i, j) in root.columns.iter().enumerate() {
            indices[*j] = Some(i as u32);
        }
        let node = Subproblem {
            included: &problem.penalised,
            free: &problem.selectable,
            budget: problem.support_size(),
        };
        let lift = if mechanisms.lifting {
            Lift::Evenly
        } else {
            Lift::None
        };
        let (mut frame, condensed) =
            build(problem, &root, &indices, &node, reference, &lift, limits)?;
        // H ⪰ diag(s²) is proved for the whole problem when nothing was condensed; otherwise only the ridge is certain.
        let squares: Vec<f64> = frame.scale.iter().map(|s| s * s * (1.0 - 1e-9)).collect();
        let in_order = frame
            .columns
            .iter()
            .enumerate()
            .all(|(i, j)| i == *j as usize);
        let proved = (condensed == 0 && in_order).then_some(&squares[..]);
        let root_error = root.error(frame.budget + condensed, proved, reference);
        frame.error += root_error;
        let whole = Arc::new(located(problem, &root, frame, false));
        Some(Self {
            model: FrameModel::new(Arc::clone(&whole.frame), f64::INFINITY),
            current: Arc::clone(&whole),
            root,
            indices: Arc::new(indices),
            whole,
            root_error,
            reference,
            mechanisms,
        })
    }

    fn change(&mut self, lifted: &Arc<Lifted>) {
        self.current = Arc::clone(lifted);
        self.model = FrameModel::new(Arc::clone(&lifted.frame), f64::INFINITY);
    }
}

/// How the lift of a frame is spread over its columns.
enum Lift<'a> {
    None,
    Evenly,
    /// By what a unit of lift of each column of the problem is worth.
    ByGain(&'a dyn Fn(usize) -> f64),
}

/// Builds the frame of a node, without the root's error, and returns how many columns are condensed in it.
fn build(
    problem: &Problem,
    root: &Root,
    indices: &[Option<u32>],
    node: &Subproblem,
    reference: f64,
    lift: &Lift,
    limits: &Limits,
) -> Option<(Frame, usize)> {
    let is_free = |j: &usize| problem.range(*j) == (f64::NEG_INFINITY, f64::INFINITY);
    let (condensed, kept): (Vec<usize>, Vec<usize>) = problem
        .expanded(node.included)
        .into_iter()
        .partition(is_free);
    let mut columns = kept.clone();
    let most = match &problem.structure {
        Some(structure) => structure.most_columns(node.free, node.budget),
        None => node.budget,
    };
    problem.expand_into(node.free, &mut columns);
    let place = |j: &usize| indices[*j];
    let inside: Option<Vec<u32>> = condensed.iter().map(place).collect();
    let mut columns: Vec<u32> = columns.iter().map(place).collect::<Option<_>>()?;
    columns.sort_unstable();
    let budget = kept.len() + most;
    if columns.is_empty() {
        return None;
    }
    let column = |i: &u32| root.columns[*i as usize];
    let spread = match lift {
        Lift::None => Spread::None,
        Lift::Evenly => Spread::Evenly,
        Lift::ByGain(gains) => Spread::ByGain(columns.iter().map(|i| gains(column(i))).collect()),
    };
    let frame = Frame::new(root, &inside?, &columns, budget, reference, &spread, limits)?;
    Some((frame, condensed.len()))
}

fn located(problem: &Problem, root: &Root, frame: Frame, spread: bool) -> Lifted {
    let columns: Vec<usize> = frame
        .columns
        .iter()
        .map(|i| root.columns[*i as usize])
        .collect();
    let mut places = vec![None; problem.design.columns()];
    for (i, j) in columns.iter().enumerate() {
        places[*j] = Some(i as u32);
    }
    let curvature = (0..frame.size()).map(|i| frame.row(i)[i]).collect();
    let scale = frame.scale.clone();
    let shape = Shape::new(problem, columns.iter().copied(), scale, curvature);
    Lifted {
        frame: Arc::new(frame),
        places,
        shape: Arc::new(shape),
        spread,
    }
}

impl Backend for GramBackend {
    fn place(&self, column: usize) -> Option<usize> {
        self.current.places[column].map(|place| place as usize)
    }

    fn shape(&self) -> &Arc<Shape> {
        &self.current.shape
    }

    fn smooth<'a>(
        &'a mut self,
        _problem: &'a Problem,
        _node: Subproblem<'a>,
    ) -> Box<dyn Smooth + 'a> {
        Box::new(FrameAt {
            model: &mut self.model,
            squares: Vec::new(),
            scratch: Vec::new(),
        })
    }

    fn children(
        &self,
        problem: &Problem,
        node: &Subproblem,
        blocks: &Blocks,
        u: &[f64],
    ) -> Children {
        blocks.children(node.free, u, |rise, rounding| {
            let bound = self.model.child(rise - rounding);
            self.claim(problem, node, bound)
        })
    }

    type Lift = Lifted;

    fn load(&mut self, _problem: &Problem, lift: Option<&Arc<Lifted>>) {
        let lifted = Arc::clone(lift.unwrap_or(&self.whole));
        self.change(&lifted);
    }

    fn lift(&self) -> Option<&Arc<Lifted>> {
        let own = !Arc::ptr_eq(&self.current, &self.whole);
        own.then_some(&self.current)
    }

    fn bytes(lift: &Lifted) -> usize {
        lift.bytes()
    }

    fn unpenalised<'a>(&self, _problem: &'a Problem) -> &'a [usize] {
        &[]
    }

    fn unpenalised_values(&self) -> &[f64] {
        &[]
    }

    /// Builds a separate frame for a node that has lost many columns, or lifts the root by what each column gains.
    fn tighten(
        &mut self,
        problem: &Problem,
        task: &Task,
        _blocks: &Blocks,
        _point: &[f64],
        gains: &dyn Fn(usize) -> f64,
    ) -> bool {
        let size = self.current.shape.columns.len();
        let left =
            problem.expanded(task.node.included).len() + problem.expanded(task.node.free).len();
        let smaller = left as f64 <= REFRAME * size as f64 && size > SMALL;
        let by_gain = self.mechanisms.spreading && left <= GROUP_SPREAD;
        let better = by_gain && !self.current.spread && Arc::ptr_eq(&self.current, &self.whole);
        if !(self.mechanisms.lifting && self.mechanisms.reframing && (smaller || better)) {
            return false;
        }
        let lift = if by_gain {
            Lift::ByGain(gains)
        } else {
            Lift::Evenly
        };
        let made = build(
            problem,
            &self.root,
            &self.indices,
            &task.node,
            self.reference,
            &lift,
            task.limits,
        );
        let Some((mut frame, _)) = made else {
            return false;
        };
        frame.error += self.root_error;
        let lifted = Arc::new(located(problem, &self.root, frame, true));
        self.change(&lifted);
        true
    }
}

/// A frame at one node.
struct FrameAt<'a> {
    model: &'a mut FrameModel,
    squares: Vec<f64>,
    scratch: Vec<f64>,
}

impl Smooth for FrameAt<'_> {
    fn evaluate(&mut self, x: &[f64], node: &Blocks, u: &mut [f64]) -> (f64, f64) {
        let support: Vec<usize> = node.columns().filter(|j| x[*j] != 0.0).collect();
        self.model.evaluate(x, &support, &Sets::default(), u)
    }

    /// Keeps the point evaluated last. The errors of D are those of the plain atoms `½u²` of as many columns as m
    /// features can have: |h'| ≤ |u|, so a change of u moves an atom with bounds no more than a plain one.
    fn keep(&mut self, x: &[f64], u: &[f64], node: &Blocks, dual: f64) {
        let support: Vec<usize> = node.columns().filter(|j| x[*j] != 0.0).collect();
        let sets = Sets {
            inside: node.inside.clone(),
            budget: node.most_columns() + ATOM,
            ..Sets::default()
        };
        self.squares.clear();
        self.squares.extend(node.free.iter().map(|j| u[*j] * u[*j]));
        let squares = self.squares.iter().copied();
        let top = top_sum(squares, sets.budget, &mut self.scratch);
        self.model.keep(x, &support, u, &sets, dual, top);
    }

    fn certify(&mut self, _node: &Blocks) -> Certified {
        self.model.certify(&Sets::default())
    }
}
