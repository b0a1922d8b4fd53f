//! A search as bytes: what is open, what was discarded, the best model; to be written somewhere and taken up again.
//!
//! It says which problem and settings it belongs to. Nodes are in the problem's own columns, so that any tree
//! can take them up: nothing of a frame is kept but which columns it had, and of a Gram matrix its rows where it takes long
//! to make them. A node's bound holds for models no worse than the incumbents of its time, and so for those no worse than
//! the incumbent that is kept.
//!
//! | module | its one job |
//! |---|---|
//! | `draft` | nodes on their way in |
//! | `prepared` | what is done before there are nodes |
//! | `triangle` | the rows of a Gram matrix |
//! | `priced` | what comes after a search: prices |
//! | `format` | bytes, and back |
//! | `origin` | which problem and settings it belongs to |
//! | `fault` | what it cannot hold |

mod draft;
mod fault;
mod format;
mod origin;
mod prepared;
mod priced;
mod triangle;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::context::Counters;
use super::pool::{Entry, Pool};
use super::{Incumbent, Source};
use crate::bound::Certified;
use crate::error::{Error, Result};
use crate::linalg::short::Short;
use crate::problem::Problem;
use crate::restricted::Fit;
pub use draft::Draft;
pub(crate) use draft::{ListedNode, bits};
pub(crate) use format::Kind;
use origin::Origin;
pub(crate) use origin::Stamp;
pub(crate) use prepared::{Greedy, Heuristic, Point, Prepared, QuadraticRows, Screening};
pub(crate) use prepared::{narrow, shared, wide};
pub(crate) use priced::{Priced, Settled, SharedTree};
pub(crate) use triangle::{Triangle, TriangleRow};

/// The state of a search between two nodes, and of the prices that come after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    origin: Origin,
    pub(crate) state: State,
    #[serde(with = "prepared::shared")]
    pub(crate) prices: Option<Arc<Priced>>,
}

/// What has to be known to go on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub seconds: f64,
    pub calls: u64,
    pub nodes: u64,
    pub peak_open: u64,
    pub features_left: u64,
    /// Whether there were nodes yet. If not, the search starts anew, with the incumbent and with what is prepared.
    pub started: bool,
    pub prepared: Prepared,
    pub base: f64,
    pub floor: Option<f64>,
    /// The best models, best first.
    models: Vec<SavedModel>,
    evicted: Option<f64>,
    pub frames: Vec<SavedFrame>,
    warm_starts: Vec<Vec<(u32, Short)>>,
    pub open: Vec<SavedNode>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedModel {
    support: Vec<u32>,
    x: Vec<(u32, f64)>,
    objective: f64,
    evidence: Option<f64>,
}

/// A set of columns that nodes have in common: those that are in, and those that their bits are about. All others are
/// out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedFrame {
    pub inside: Vec<u32>,
    pub columns: Vec<u32>,
    /// How far each column was lifted, as its scale; empty where nobody needs to know.
    pub scales: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedNode {
    pub low: f64,
    pub depth: u32,
    pub frame: u32,
    pub warm: Option<u32>,
    /// One bit a column of the frame, in words of eight.
    pub inside: Vec<u8>,
    pub outside: Vec<u8>,
}

impl SavedNode {
    pub(crate) fn is_inside(&self, i: usize) -> bool {
        bit(&self.inside, i)
    }

    pub(crate) fn is_outside(&self, i: usize) -> bool {
        bit(&self.outside, i)
    }

    pub(crate) fn low(&self) -> Certified {
        Certified::restored(self.low)
    }
}

fn bit(bits: &[u8], i: usize) -> bool {
    bits[i / 8] >> (i % 8) & 1 == 1
}

impl State {
    /// Nothing is done yet.
    pub(crate) fn fresh(problem: &Problem) -> Self {
        Self {
            features_left: problem.selectable.len() as u64,
            ..Self::default()
        }
    }

    pub(crate) fn set_counters(&mut self, counters: &Counters) {
        self.calls = counters.calls;
        self.nodes = counters.nodes;
        self.peak_open = counters.peak_open;
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            calls: self.calls,
            nodes: self.nodes,
            peak_open: self.peak_open,
        }
    }

    pub(crate) fn set_models(&mut self, pool: &Pool) {
        let entries = pool.entries.iter();
        let saved = entries.map(|Entry { model, evidence }| SavedModel {
            support: model.support.iter().map(|j| *j as u32).collect(),
            x: model.fit.x.iter().map(|(j, x)| (*j as u32, *x)).collect(),
            objective: model.fit.objective,
            evidence: evidence.map(Certified::value),
        });
        self.models = saved.collect();
        self.evicted = pool.evicted.map(Certified::value);
    }

    pub(crate) fn models(&self) -> impl Iterator<Item = Entry> + '_ {
        self.models.iter().map(|saved| Entry {
            model: Incumbent {
                support: saved.support.iter().map(|j| *j as usize).collect(),
                fit: Fit {
                    x: saved.x.iter().map(|(j, x)| (*j as usize, *x)).collect(),
                    objective: saved.objective,
                },
                source: Source::Given,
            },
            evidence: saved.evidence.map(Certified::restored),
        })
    }

    /// The evidence of models that lost their place in the list.
    pub(crate) fn evicted(&self) -> Option<Certified> {
        self.evicted.map(Certified::restored)
    }

    /// The warm starts: (column, coefficient).
    pub(crate) fn warm_starts(&self) -> impl Iterator<Item = Vec<(usize, f64)>> + '_ {
        let wide = |(j, x): &(u32, Short)| (*j as usize, x.value());
        let starts = self.warm_starts.iter();
        starts.map(move |start| start.iter().map(wide).collect())
    }

    /// The selectable columns that are in and free in a node, the free ones in order.
    pub(crate) fn sets(&self, node: &SavedNode) -> (Vec<usize>, Vec<usize>) {
        let frame = &self.frames[node.frame as usize];
        let mut inside: Vec<usize> = frame.inside.iter().map(|j| *j as usize).collect();
        let mut free = Vec::new();
        for (i, j) in frame.columns.iter().enumerate() {
            if node.is_inside(i) {
                inside.push(*j as usize);
            } else if !node.is_outside(i) {
                free.push(*j as usize);
            }
        }
        free.sort_unstable();
        (inside, free)
    }

    /// Whether nothing is left to be looked at.
    pub(crate) fn is_over(&self) -> bool {
        self.started && self.open.is_empty()
    }

    /// The evidence of what was discarded.
    pub(crate) fn floor(&self) -> Option<Certified> {
        self.floor.map(Certified::restored)
    }

    /// The bound of the whole problem.
    pub(crate) fn lower_bound(&self) -> Certified {
        let lows = self.open.iter().map(SavedNode::low).chain(self.floor());
        let bound = lows.chain(self.evicted()).reduce(Certified::and);
        let bound = bound.filter(|_| self.started);
        bound
            .unwrap_or(Certified::TRIVIAL)
            .or(Certified::restored(self.base))
    }

    /// Nothing of what is open can be better: its bounds are evidence.
    pub(crate) fn close(&mut self) {
        let lows = self.open.iter().map(SavedNode::low).chain(self.floor());
        self.floor = lows.reduce(Certified::and).map(Certified::value);
        self.prepared = Prepared::default();
        self.open.clear();
        self.frames.clear();
        self.warm_starts.clear();
    }

    /// Every column that is not out in all open nodes, in order.
    pub(crate) fn alive(&self) -> Vec<usize> {
        let frames = self.frames.iter();
        let columns = frames.flat_map(|frame| frame.inside.iter().chain(&frame.columns));
        let mut columns: Vec<usize> = columns.map(|j| *j as usize).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

impl Checkpoint {
    pub(crate) fn new(origin: &Stamp, state: State, prices: Option<Arc<Priced>>) -> Self {
        Self {
            origin: origin.0.clone(),
            state,
            prices,
        }
    }
}

pub(crate) fn refuse<T>(reason: &str) -> Result<T> {
    Err(Error::Checkpoint {
        reason: reason.to_owned(),
    })
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
