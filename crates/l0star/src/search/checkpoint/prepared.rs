//! [`Prepared`]: progress of the work that precedes the nodes, and the data that nodes are made from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bit;
use super::narrow::{narrow, wide};
use crate::gram::triangle::Triangle;
use crate::problem::Problem;

/// The prepared data, and the progress of each part.
///
/// Saved sets only serve as starting points, and a Gram matrix is compared with the data before it is used. Rows that
/// were proved quadratic are trusted, like the bounds of nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Prepared {
    /// The heuristic that has not delivered its model yet.
    pub heuristic: Option<Heuristic>,
    pub screening: Option<Screening>,
    /// The rows of the Gram matrix that exist, where they are costly.
    #[serde(with = "shared")]
    pub gram: Option<Arc<Triangle>>,
    /// The proved rows of Huber's loss.
    pub quadratic: Option<QuadraticRows>,
}

/// Rows of a Huber problem that are quadratic for every model with an objective below the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct QuadraticRows {
    reference: f64,
    /// One bit per row, packed into bytes.
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

    /// The rows of `count` that are quadratic below `reference`; `None` when `reference` is higher than the saved one.
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
    /// Greedy steps, then swaps, by refitting; used with groups, bounds and heredity.
    Greedy(Greedy),
}

/// Greedy steps, then rounds of swaps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Greedy {
    /// The features that are in.
    pub support: Vec<u32>,
    /// Number of rounds of swaps that were begun; 0 during greedy steps.
    pub rounds: u32,
    /// The features that this round has not yet tried to remove.
    pub left: Vec<u32>,
    /// Whether this round has found an improvement.
    pub improved: bool,
}

/// A screening of wide data: the remaining features.
///
/// The evidence saved with it proves that the other features are out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Screening {
    free: Vec<u32>,
    /// Whether the screening is complete.
    pub done: bool,
}

impl Prepared {
    /// Drops the parts that are of no use once there are nodes.
    pub(crate) fn beside_nodes(&mut self) {
        (self.heuristic, self.screening) = (None, None);
    }

    /// Whether it could belong to this problem.
    pub(super) fn fits(&self, problem: &Problem) -> bool {
        self.heuristic.as_ref().is_none_or(|own| own.fits(problem))
            && self.screening.as_ref().is_none_or(|own| own.fits(problem))
            && self.gram.as_ref().is_none_or(|own| own.fits(problem))
            && self.quadratic.as_ref().is_none_or(|own| own.fits(problem))
    }
}

impl Heuristic {
    /// Whether it could belong to this problem.
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
    pub(crate) fn new(free: &[usize], done: bool) -> Self {
        let free = narrow(free);
        Self { free, done }
    }

    /// The remaining features, in order.
    pub(crate) fn free(&self) -> Vec<usize> {
        wide(&self.free)
    }

    fn fits(&self, problem: &Problem) -> bool {
        self.free.is_sorted_by(|a, b| a < b) && self.free.iter().all(|j| is_selectable(problem, *j))
    }
}

/// Serialises shared data once; after reading, they are no longer shared.
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

fn is_selectable(problem: &Problem, j: u32) -> bool {
    problem.selectable.binary_search(&(j as usize)).is_ok()
}
