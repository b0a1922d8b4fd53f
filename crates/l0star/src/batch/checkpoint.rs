//! [`BatchCheckpoint`]: many paths as bytes.

use crate::error::Result;
use crate::problem::Problem;
use crate::search::checkpoint::{Archive, Kind, Stamp};
use crate::settings::Settings;

/// The definition of a batch: its checkpoints belong to no other.
#[derive(Debug, Clone, Copy)]
pub struct BatchPlan<'a> {
    /// The problem with all of the data; the paths may leave out some.
    pub problem: &'a Problem,
    /// The settings of each path. Limits and threads may change from run to run.
    pub settings: &'a Settings,
    /// Names and values of the other parameters that determine the paths and their results.
    pub parameters: &'a [(&'static str, String)],
    /// Number of paths.
    pub paths: usize,
}

/// The state of a batch: the progress of each of its paths.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchCheckpoint(pub(crate) Archive);

impl BatchCheckpoint {
    /// A checkpoint with nothing done (`method=best-first`).
    pub fn new(plan: &BatchPlan) -> Result<Self> {
        let stamp = Stamp::new(plan.problem, plan.settings)?;
        let values = plan.parameters.iter().map(|(_, value)| value.clone());
        Ok(Self(Archive::new(stamp, values.collect(), plan.paths)))
    }

    /// Encodes the checkpoint as bytes with a checksum.
    pub fn encode(&self) -> Vec<u8> {
        Kind::Batch.encode(&self.0)
    }

    /// Decodes a checkpoint; refuses anything but the complete, unchanged output of [`BatchCheckpoint::encode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Ok(Self(Kind::Batch.decode(bytes)?))
    }

    /// Checks that it belongs to this batch. Paths are compared with their own problems when they are resumed.
    pub fn check(&self, plan: &BatchPlan) -> Result<()> {
        let names: Vec<&'static str> = plan.parameters.iter().map(|(name, _)| *name).collect();
        self.0.check(&Self::new(plan)?.0, &names)
    }

    /// The searches that are over: the number of the path, and the size.
    pub fn finished(&self) -> Vec<(usize, usize)> {
        self.0.finished()
    }

    /// Number of nodes expanded so far in all searches.
    pub fn nodes(&self) -> u64 {
        self.0.nodes()
    }
}
