//! [`BatchCheckpoint`]: many paths as bytes.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::path::PathCheckpoint;
use crate::problem::Problem;
use crate::search::checkpoint::{Kind, Stamp, refuse};
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchCheckpoint {
    stamp: Stamp,
    parameters: Vec<String>,
    pub(super) seconds: f64,
    /// `None` for a path that has not begun.
    pub(super) paths: Vec<Option<PathCheckpoint>>,
}

impl BatchCheckpoint {
    /// Nothing is done yet (`method=best-first`).
    pub fn new(plan: &BatchPlan) -> Result<Self> {
        let values = plan.parameters.iter().map(|(_, value)| value.clone());
        Ok(Self {
            stamp: Stamp::new(plan.problem, plan.settings)?,
            parameters: values.collect(),
            seconds: 0.0,
            paths: vec![None; plan.paths],
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

    /// Whether it belongs to this batch. Paths are compared with their own problems when they go on.
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
        if self.paths.len() != plan.paths || !(0.0..1e15).contains(&self.seconds) {
            return refuse("it does not fit its own problem: the paths");
        }
        Ok(())
    }

    /// The searches that are over: the number of the path, and the size.
    pub fn finished(&self) -> Vec<(usize, usize)> {
        let paths = self.paths.iter().enumerate();
        let of = |(at, path): (usize, &Option<PathCheckpoint>)| {
            let sizes = path.as_ref().map(PathCheckpoint::finished);
            sizes.into_iter().flatten().map(move |k| (at, k))
        };
        paths.flat_map(of).collect()
    }

    /// Nodes that were looked at so far, of all searches together.
    pub fn nodes(&self) -> u64 {
        self.paths.iter().flatten().map(PathCheckpoint::nodes).sum()
    }
}
