//! [`Prepared`]: how far the work had come that is done before there are nodes, and what nodes are made from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bit;
use super::triangle::Triangle;
use crate::problem::Problem;
use crate::relaxation::WarmStart;

/// What was prepared, each part as far as it had come.
///
/// Sets and points are places to go on from, whose bounds are certified anew, and a Gram matrix is compared with the data before
/// it is used. What is taken as it is, as the bounds of nodes are: which rows were proved quadratic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Prepared {
    /// The heuristic that has not handed its model over yet.
    pub heuristic: Option<Heuristic>,
    pub screening: Option<Screening>,
    /// The rows of the Gram matrix that are there, where it takes long to make them.
    #[serde(with = "shared")]
    pub gram: Option<Arc<Triangle>>,
    /// Where the relaxation of the only open node stands …
    pub point: Option<Point>,
    /// … and once its problem was made tighter: another run makes it tighter again, from the point before.
    pub tighter: Option<Point>,
    /// Of Huber's loss.
    pub quadratic: Option<QuadraticRows>,
}

/// Rows of a Huber problem that are quadratic for every model with an objective below the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct QuadraticRows {
    reference: f64,
    /// One bit a row, in words of eight.
    bits: Vec<u8>,
}

impl QuadraticRows {
    pub(crate) fn new(reference: f64, rows: &[bool]) -> Self {
        let word = |rows: &[bool]| {
            let bits = rows.iter().enumerate();
            bits.fold(0, |word, (i, is)| word | u8::from(*is) << i)
        };
        let bits = rows.chunks(8).map(word).collect();
        Self { reference, bits }
    }

    /// Those of `count` rows that are quadratic below `reference`; none when more models are below it than were then.
    pub(crate) fn below(&self, reference: f64, count: usize) -> Option<Vec<bool>> {
        let rows = (0..count).map(|i| bit(&self.bits, i));
        (reference <= self.reference).then(|| rows.collect())
    }

    fn fits(&self, problem: &Problem) -> bool {
        self.bits.len() == problem.rows().div_ceil(8)
            && problem.loss.quadratic_within().is_some()
            && self.reference.is_finite()
    }
}

/// A heuristic in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Heuristic {
    /// Matching pursuit: the features that are in.
    Pursuit(Vec<u32>),
    /// Greedy steps, then swaps, in Gram form: the features that are in.
    Swaps(Vec<u32>),
    /// The same by refitting, with groups, bounds and heredity.
    Greedy(Greedy),
}

/// Greedy steps, then rounds of swaps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Greedy {
    /// The features that are in.
    pub support: Vec<u32>,
    /// The rounds of swaps that were begun; none while it grows.
    pub rounds: u32,
    /// The features that this round has still to try without.
    pub left: Vec<u32>,
    /// Whether this round has found anything.
    pub improved: bool,
}

/// A screening of wide data: the features that are left, and where its ascent stands.
///
/// That the others are out is proved by the evidence that is kept with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Screening {
    free: Vec<u32>,
    pub point: Point,
    pub epsilon: f64,
    /// Whether nothing more is to be dropped.
    pub done: bool,
}

/// A point of a relaxation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// Slopes, one a row; none where the model is enough to go on from.
    alpha: Vec<f64>,
    x: Vec<(u32, f64)>,
    steps: (f64, f64),
}

impl Prepared {
    /// What is of use beside nodes; where the only one stands, too, if there is only one.
    pub(crate) fn beside_nodes(&mut self, count: usize) {
        (self.heuristic, self.screening) = (None, None);
        if count != 1 {
            self.forget_points();
        }
    }

    /// The only open node is another one.
    pub(crate) fn forget_points(&mut self) {
        (self.point, self.tighter) = (None, None);
    }

    /// Notes where the relaxation of the only open node stands; false while it makes its way back to a tighter problem that
    /// an earlier run was at: then nothing is new.
    pub(crate) fn set_point(&mut self, point: Point, is_tight: bool) -> bool {
        let is_new = is_tight || self.tighter.is_none();
        match is_tight {
            true => self.tighter = Some(point),
            false if is_new => self.point = Some(point),
            false => {}
        }
        is_new
    }

    /// Whether it says where the relaxation of the only open node stands.
    pub(crate) fn has_point(&self) -> bool {
        self.point.is_some() || self.tighter.is_some()
    }

    /// Whether it could be of this problem.
    pub(super) fn fits(&self, problem: &Problem) -> bool {
        self.heuristic.as_ref().is_none_or(|own| own.fits(problem))
            && self.screening.as_ref().is_none_or(|own| own.fits(problem))
            && self.gram.as_ref().is_none_or(|own| own.fits(problem))
            && self.point.as_ref().is_none_or(|own| own.fits(problem))
            && self.tighter.as_ref().is_none_or(|own| own.fits(problem))
            && self.quadratic.as_ref().is_none_or(|own| own.fits(problem))
    }
}

impl Heuristic {
    /// Whether it could be of this problem.
    pub(crate) fn fits(&self, problem: &Problem) -> bool {
        let is_set = |set: &[u32]| {
            set.len() <= problem.support_size()
                && set.is_sorted_by(|a, b| a < b)
                && set.iter().all(|j| is_selectable(problem, *j))
        };
        match self {
            Self::Pursuit(support) | Self::Swaps(support) => is_set(support),
            Self::Greedy(greedy) => {
                let set: Vec<usize> = wide(&greedy.support);
                let structure = problem.structure.as_ref();
                let is_closed = || structure.is_some_and(|structure| structure.is_closed(&set));
                is_set(&greedy.support) && is_closed() && is_set(&greedy.left)
            }
        }
    }
}

impl Screening {
    pub(crate) fn new(free: &[usize], warm: WarmStart, epsilon: f64) -> Self {
        Self {
            free: narrow(free),
            point: Point::new(warm),
            epsilon,
            done: false,
        }
    }

    /// The features that are left, in order.
    pub(crate) fn free(&self) -> Vec<usize> {
        wide(&self.free)
    }

    fn fits(&self, problem: &Problem) -> bool {
        self.free.is_sorted_by(|a, b| a < b)
            && self.free.iter().all(|j| is_selectable(problem, *j))
            && self.point.has_slopes()
            && self.point.fits(problem)
            && is_step(self.epsilon)
    }
}

impl Point {
    pub(crate) fn new(warm: WarmStart) -> Self {
        let x = warm.model().into_iter().map(|(j, x)| (j as u32, x));
        let mut x: Vec<(u32, f64)> = x.filter(|(_, x)| x.is_finite()).collect();
        x.sort_unstable_by_key(|(j, _)| *j);
        let steps = match warm.alpha.is_empty() {
            true => (1.0, 1.0),
            false => warm.steps,
        };
        Self {
            alpha: warm.alpha,
            x,
            steps,
        }
    }

    /// Whether it has the slopes that a first-order ascent goes on from.
    pub(crate) fn has_slopes(&self) -> bool {
        !self.alpha.is_empty()
    }

    /// (column, coefficient), in order.
    pub(crate) fn model(&self) -> Vec<(usize, f64)> {
        self.x.iter().map(|(j, x)| (*j as usize, *x)).collect()
    }

    /// Where the ascent goes on.
    pub(crate) fn warm_start(&self, problem: &Problem) -> WarmStart {
        let mut alpha = self.alpha.clone();
        problem.loss.clip(&mut alpha, &problem.b);
        WarmStart {
            alpha,
            x: self.model(),
            steps: self.steps,
            ..WarmStart::default()
        }
    }

    fn fits(&self, problem: &Problem) -> bool {
        let is_column = |j: u32| (j as usize) < problem.design.columns();
        (self.alpha.is_empty() || self.alpha.len() == problem.rows())
            && self.alpha.iter().all(|slope| slope.is_finite())
            && self.x.is_sorted_by(|a, b| a.0 < b.0)
            && self.x.iter().all(|(j, x)| is_column(*j) && x.is_finite())
            && is_step(self.steps.0)
            && is_step(self.steps.1)
    }
}

/// What is shared in memory is written once, and belongs to nobody else when it is read.
pub(crate) mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T, S>(value: &Option<Arc<T>>, serializer: S) -> Result<S::Ok, S::Error>
    where
        T: Serialize,
        S: Serializer,
    {
        value.as_deref().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<Arc<T>>, D::Error>
    where
        T: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Option::<T>::deserialize(deserializer)?.map(Arc::new))
    }
}

/// Columns as they are written.
pub(crate) fn narrow(columns: &[usize]) -> Vec<u32> {
    columns.iter().map(|j| *j as u32).collect()
}

/// Columns as they were written.
pub(crate) fn wide(columns: &[u32]) -> Vec<usize> {
    columns.iter().map(|j| *j as usize).collect()
}

fn is_selectable(problem: &Problem, j: u32) -> bool {
    problem.selectable.binary_search(&(j as usize)).is_ok()
}

fn is_step(step: f64) -> bool {
    step.is_finite() && step > 0.0
}
