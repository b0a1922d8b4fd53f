//! A run as bytes: its open nodes, the evidence of what was discarded and the best models, from which a run can
//! resume.
//!
//! A checkpoint records which problem and settings it belongs to. Nodes are in the problem's own columns, so that any
//! tree can resume from them. Of a frame only its columns are kept, and of a Gram matrix its rows where they are
//! costly. A node's bound holds for models no worse than the incumbents of its time, and so for models no worse than
//! the saved incumbent.
//!
//! | module | its one job |
//! |---|---|
//! | `archive` | the saved state of a run of any kind; one check for all of it |
//! | `draft` | nodes being written |
//! | `subtrees` | open nodes sent to other processes |
//! | `prepared` | the work that precedes the nodes |
//! | `priced` | the work that follows a search: prices |
//! | `format` | encoding and decoding |
//! | `origin` | the problem and settings that it belongs to |
//! | `fault` | checks for impossible states |

mod archive;
mod draft;
mod fault;
mod format;
mod narrow;
mod origin;
mod prepared;
mod priced;
mod subtrees;

use serde::{Deserialize, Serialize};

use super::counters::Counters;
use super::event::Source;
use super::pool::{Entry, Incumbent, Pool};
use crate::bound::Certified;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::relaxation::SavedStarts;
use crate::restricted::Fit;
pub(crate) use archive::{Archive, Part};
pub use draft::Draft;
pub(crate) use draft::bits;
pub(crate) use format::Kind;
pub(crate) use narrow::{narrow, wide};
pub(crate) use origin::Stamp;
pub(crate) use prepared::{Greedy, Heuristic, Prepared, QuadraticRows, Screening};
pub(crate) use priced::{Priced, Settled};
pub(crate) use subtrees::{Subtree, split};

/// The state of a search between two steps, and of the prices that come after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint(pub(crate) Archive);

/// The state from which a search resumes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub seconds: f64,
    pub calls: u64,
    pub nodes: u64,
    pub peak_open: u64,
    pub features_left: u64,
    /// Whether there were nodes yet. If not, the search starts anew, with the incumbent and the prepared data.
    pub started: bool,
    pub prepared: Prepared,
    pub base: f64,
    pub weakest: Option<f64>,
    /// The best models, best first.
    models: Vec<SavedModel>,
    evicted: Option<f64>,
    /// The lists of columns that the bits of nodes refer to; all other columns are out.
    pub lists: Vec<Vec<u32>>,
    pub starts: SavedStarts,
    pub open: Vec<SavedNode>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedModel {
    support: Vec<u32>,
    x: Vec<(u32, f64)>,
    objective: f64,
    evidence: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedNode {
    pub bound: f64,
    pub depth: u32,
    pub list: u32,
    pub start: Option<u32>,
    /// One bit per column of the list, packed into bytes.
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

    pub(crate) fn bound(&self) -> Certified {
        Certified::restored(self.bound)
    }
}

fn bit(bits: &[u8], i: usize) -> bool {
    bits[i / 8] >> (i % 8) & 1 == 1
}

impl State {
    /// Checks that a search of this problem could have left this state behind.
    pub(crate) fn check(&self, problem: &Problem) -> Result<()> {
        match self.find_fault(problem) {
            None => Ok(()),
            Some(fault) => refuse(&format!("it does not fit its own problem: {fault}")),
        }
    }

    /// A state with nothing done.
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

    /// The evidence of models that were dropped from the list.
    pub(crate) fn evicted(&self) -> Option<Certified> {
        self.evicted.map(Certified::restored)
    }

    /// The selectable columns that are in and those that are free in a node, the free ones in order.
    pub(crate) fn sets(&self, node: &SavedNode) -> (Vec<usize>, Vec<usize>) {
        let list = &self.lists[node.list as usize];
        let (mut inside, mut free) = (Vec::new(), Vec::new());
        for (i, j) in list.iter().enumerate() {
            if node.is_inside(i) {
                inside.push(*j as usize);
            } else if !node.is_outside(i) {
                free.push(*j as usize);
            }
        }
        (inside, free)
    }

    /// Whether no open node is left.
    pub(crate) fn is_over(&self) -> bool {
        self.started && self.open.is_empty()
    }

    /// The weakest evidence of what was discarded.
    pub(crate) fn weakest(&self) -> Option<Certified> {
        self.weakest.map(Certified::restored)
    }

    /// The bound of the whole problem.
    pub(crate) fn lower_bound(&self) -> Certified {
        let bounds = self.open.iter().map(SavedNode::bound).chain(self.weakest());
        let bound = bounds.chain(self.evicted()).reduce(Certified::weaker);
        let bound = bound.filter(|_| self.started);
        bound
            .unwrap_or(Certified::TRIVIAL)
            .tighter(Certified::restored(self.base))
    }

    /// Ends the search: no open node can be better, and its bound becomes evidence.
    pub(crate) fn close(&mut self) {
        let bounds = self.open.iter().map(SavedNode::bound).chain(self.weakest());
        self.weakest = bounds.reduce(Certified::weaker).map(Certified::value);
        self.prepared = Prepared::default();
        self.open.clear();
        self.lists.clear();
        self.starts = SavedStarts::default();
    }

    /// All columns that are not out in every open node, in order.
    pub(crate) fn alive(&self) -> Vec<usize> {
        let frames = self.starts.frames.iter();
        let frames = frames.flat_map(|frame| frame.inside.iter().chain(&frame.columns));
        let columns = self.lists.iter().flatten().chain(frames);
        let mut columns: Vec<usize> = columns.map(|j| *j as usize).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

impl Checkpoint {
    /// Encodes the checkpoint as bytes with a checksum.
    pub fn encode(&self) -> Vec<u8> {
        Kind::Search.encode(&self.0)
    }

    /// Decodes a checkpoint; refuses anything but the complete, unchanged output of [`Checkpoint::encode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Ok(Self(Kind::Search.decode(bytes)?))
    }

    #[cfg(test)]
    fn part(&self) -> &Part {
        self.0.parts[0].as_ref().unwrap()
    }

    /// The state of the search, with its Gram matrix.
    #[cfg(test)]
    pub(crate) fn state(&self) -> State {
        let mut state = self.part().states[0].clone().unwrap_or_default();
        state.prepared.gram.clone_from(&self.part().gram);
        state
    }

    /// The prices that come after the search.
    #[cfg(test)]
    pub(crate) fn prices(&self) -> Option<std::sync::Arc<Priced>> {
        self.part().prices.clone()
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
