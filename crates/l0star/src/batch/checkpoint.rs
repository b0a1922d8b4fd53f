//! [`BatchCheckpoint`]: many paths as bytes.

use crate::error::Result;
use crate::problem::Problem;
use crate::search::checkpoint::{Archive, Kind, Stamp};
use crate::settings::Settings;

/// What a batch is about: its checkpoints belong to no other.
#[derive(Debug, Clone, Copy)]
pub struct BatchPlan<'a> {
    /// All of the data; the paths may leave out some.
    pub problem: &'a Problem,
    /// How each is solved. Limits and threads may change from run to run.
    pub settings: &'a Settings,
    /// What else makes the paths and what comes of them: names and values.
    pub parameters: &'a [(&'static str, String)],
    /// How many paths there are.
    pub paths: usize,
}

/// The state of a batch: how far each of its paths is.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchCheckpoint(pub(crate) Archive);

impl BatchCheckpoint {
    /// Nothing is done yet (`method=best-first`).
    pub fn new(plan: &BatchPlan) -> Result<Self> {
        let stamp = Stamp::new(plan.problem, plan.settings)?;
        let values = plan.parameters.iter().map(|(_, value)| value.clone());
        Ok(Self(Archive::new(stamp, values.collect(), plan.paths)))
    }

    /// The bytes, checksum included.
    pub fn encode(&self) -> Vec<u8> {
        Kind::Batch.encode(&self.0)
    }

    /// Refuses whatever [`BatchCheckpoint::encode`] has not written, whole and unchanged.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Ok(Self(Kind::Batch.decode(bytes)?))
    }

    /// Whether it belongs to this batch. Paths are compared with their own problems when they are resumed.
    pub fn check(&self, plan: &BatchPlan) -> Result<()> {
        let names: Vec<&'static str> = plan.parameters.iter().map(|(name, _)| *name).collect();
        self.0.check(&Self::new(plan)?.0, &names)
    }

    /// The searches that are over: the number of the path, and the size.
    pub fn finished(&self) -> Vec<(usize, usize)> {
        self.0.finished()
    }

    /// Nodes that were looked at so far, of all searches together.
    pub fn nodes(&self) -> u64 {
        self.0.nodes()
    }
}
