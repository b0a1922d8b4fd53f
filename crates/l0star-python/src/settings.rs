//! Settings of a search as Python passes them.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::refuse;
use crate::run::Saving;

/// Settings of a search: the fields of `l0star::Settings` that Python knows, in the engine's words.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    method: String,
    relaxation: String,
    gap: f64,
    relative_gap: f64,
    threads: usize,
    top: Option<usize>,
    within: Option<f64>,
    time_limit: Option<f64>,
    search_time_limit: Option<f64>,
    node_limit: Option<u64>,
    memory_limit: Option<u64>,
}

impl Settings {
    /// Returns the engine's settings, with the flag that stops a search.
    pub fn ready(self) -> PyResult<(l0star::Settings, Arc<AtomicBool>)> {
        let flag = Arc::new(AtomicBool::new(false));
        let settings = l0star::Settings {
            method: self.method.parse().map_err(refuse)?,
            relaxation: self.relaxation.parse().map_err(refuse)?,
            gap: self.gap,
            relative_gap: self.relative_gap,
            threads: NonZeroUsize::new(self.threads),
            top: self.top.and_then(NonZeroUsize::new),
            within: self.within,
            // A limit too long for a duration is no limit.
            time_limit: self.time_limit.and_then(duration),
            search_time_limit: self.search_time_limit.and_then(duration),
            node_limit: self.node_limit,
            memory_limit: self.memory_limit,
            interrupt: Some(Arc::clone(&flag)),
            ..l0star::Settings::default()
        };
        Ok((settings, flag))
    }
}

fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns how a search is saved, and the decoded checkpoint from which it resumes.
pub fn kept<T>(
    save_every: f64,
    resume: Option<&[u8]>,
    decode: impl FnOnce(&[u8]) -> l0star::Result<T>,
) -> PyResult<Saving<T>> {
    Ok(Saving {
        every: duration(save_every).unwrap_or(Duration::MAX),
        resume: resume.map(decode).transpose().map_err(refuse)?,
    })
}
