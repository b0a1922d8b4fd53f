//! All searches by their numbers, and the file that their checkpoints go to, if there is one.

use std::path::PathBuf;

use l0star::{Batch, BatchCheckpoint, BatchPlan, Problem, Settings, Solution};

use crate::checkpoint::{self, Checkpoints};
use crate::failure::Failure;

/// Searches whose checkpoints are kept, or are not.
pub struct Searches {
    batch: Option<Batch<'static>>,
    /// Where they go on from.
    source: Option<PathBuf>,
}

impl Searches {
    /// Nobody wants checkpoints.
    pub fn unkept() -> Self {
        Self {
            batch: None,
            source: None,
        }
    }

    /// Goes on from the file to resume, if it belongs to the plan, and writes further checkpoints.
    pub fn kept(
        mut checkpoints: Checkpoints<BatchCheckpoint>,
        plan: &BatchPlan,
    ) -> Result<Self, Failure> {
        let source = checkpoints.source.take();
        let saved = match checkpoints.resume.take() {
            Some(saved) => saved.check(plan).map(|()| saved),
            None => BatchCheckpoint::new(plan),
        };
        let saved = saved.map_err(|error| checkpoint::explain(source.clone(), error))?;
        let every = checkpoints.every;
        let sink = Box::new(move |checkpoint: &BatchCheckpoint| checkpoints.write(checkpoint));
        Ok(Self {
            batch: Some(Batch::new(saved, every, sink)),
            source,
        })
    }

    /// Solves one, from where it was left.
    pub fn solve(
        &self,
        at: usize,
        problem: &Problem,
        settings: &Settings,
    ) -> Result<Solution, Failure> {
        let solution = match &self.batch {
            Some(batch) => batch.solve(at, problem, settings),
            None => l0star::solve(problem, settings),
        };
        solution.map_err(|error| checkpoint::explain(self.source.clone(), error))
    }

    /// The score of one that was done before.
    pub fn score(&self, at: usize) -> Option<f64> {
        self.batch.as_ref().and_then(|batch| batch.value(at))
    }

    /// One is done.
    pub fn finish(&self, at: usize, score: f64) {
        if let Some(batch) = &self.batch {
            batch.finish(at, score);
        }
    }

    /// Writes the last checkpoint of some work.
    pub fn save(&self) {
        if let Some(batch) = &self.batch {
            batch.save();
        }
    }

    /// Seconds of all runs, if they are kept.
    pub fn seconds(&self) -> Option<f64> {
        self.batch.as_ref().map(Batch::seconds)
    }
}
