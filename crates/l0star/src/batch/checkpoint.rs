//! [`BatchCheckpoint`]: many searches as bytes.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::search::Checkpoint;
use crate::search::checkpoint::{Kind, Stamp, refuse};
use crate::settings::Settings;

/// What a batch is about: its checkpoints belong to no other.
#[derive(Debug, Clone, Copy)]
pub struct BatchPlan<'a> {
    /// All of the data; the searches may leave out some.
    pub problem: &'a Problem,
    /// How each is solved. Limits and threads may change from run to run.
    pub settings: &'a Settings,
    /// What else makes the searches and what comes of them: names and values.
    pub parameters: &'a [(&'static str, String)],
    /// How many searches there are.
    pub searches: usize,
}

/// The state of a batch: what came of the searches that are done, and how far the others are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchCheckpoint {
    stamp: Stamp,
    parameters: Vec<String>,
    pub(super) seconds: f64,
    searches: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Entry {
    Waiting,
    AtHand(Box<Checkpoint>),
    Done { value: f64, nodes: u64 },
}

impl Entry {
    fn nodes(&self) -> u64 {
        match self {
            Self::Waiting => 0,
            Self::AtHand(checkpoint) => checkpoint.state.nodes,
            Self::Done { nodes, .. } => *nodes,
        }
    }
}

impl BatchCheckpoint {
    /// Nothing is done yet (`method=best-first`).
    pub fn new(plan: &BatchPlan) -> Result<Self> {
        let values = plan.parameters.iter().map(|(_, value)| value.clone());
        Ok(Self {
            stamp: Stamp::new(plan.problem, plan.settings)?,
            parameters: values.collect(),
            seconds: 0.0,
            searches: vec![Entry::Waiting; plan.searches],
        })
    }

    /// The bytes, checksum included.
    pub fn encode(&self) -> Vec<u8> {
        Kind::Batch.encode(self)
    }

    /// Refuses whatever [`BatchCheckpoint::encode`] has not written, whole and unchanged.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Kind::Batch.decode(bytes)
    }

    /// Whether it belongs to this batch. Searches at hand are compared with their own problems when they go on.
    pub fn check(&self, plan: &BatchPlan) -> Result<()> {
        let now = Self::new(plan)?;
        if self.parameters.len() != now.parameters.len() {
            return refuse("it belongs to searches of another kind");
        }
        for ((what, now), saved) in plan.parameters.iter().zip(&self.parameters) {
            if saved != now {
                return Err(Error::OtherSearch {
                    what,
                    saved: saved.clone(),
                    now: now.clone(),
                });
            }
        }
        self.stamp.check(&now.stamp)?;
        if self.searches.len() != plan.searches || !(0.0..1e15).contains(&self.seconds) {
            return refuse("it does not fit its own problem: the searches");
        }
        Ok(())
    }

    /// The searches that are done.
    pub fn finished(&self) -> Vec<usize> {
        let all = 0..self.searches.len();
        all.filter(|at| self.value(*at).is_some()).collect()
    }

    /// Nodes that were looked at so far, of all searches together.
    pub fn nodes(&self) -> u64 {
        self.searches.iter().map(Entry::nodes).sum()
    }

    pub(super) fn value(&self, at: usize) -> Option<f64> {
        match self.searches.get(at) {
            Some(Entry::Done { value, .. }) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn search(&self, at: usize) -> Option<&Checkpoint> {
        match &self.searches[at] {
            Entry::AtHand(checkpoint) => Some(checkpoint),
            _ => None,
        }
    }

    pub(super) fn set_search(&mut self, at: usize, checkpoint: Checkpoint) {
        self.searches[at] = Entry::AtHand(Box::new(checkpoint));
    }

    /// A limit has stopped a search. Its Gram matrix would stay in all checkpoints to come, with those of all others that are
    /// stopped: whoever goes on makes it anew.
    pub(super) fn set_aside(&mut self, at: usize) {
        if let Entry::AtHand(checkpoint) = &mut self.searches[at] {
            checkpoint.state.prepared.gram = None;
        }
    }

    pub(super) fn finish(&mut self, at: usize, value: f64) {
        let nodes = self.searches[at].nodes();
        self.searches[at] = Entry::Done { value, nodes };
    }
}
