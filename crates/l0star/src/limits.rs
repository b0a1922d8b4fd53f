//! Limits that stop a search: wall-clock time, nodes, memory, an interrupt flag.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::settings::{Settings, Status};

/// The limits of one search. Checking them is cheap enough for every iteration of a relaxation.
#[derive(Debug, Clone)]
pub struct Limits {
    start: Instant,
    /// Time spent by earlier runs of the same search.
    before: Duration,
    deadline: Option<Instant>,
    nodes: u64,
    bytes: u64,
    interrupt: Option<Arc<AtomicBool>>,
    /// Time after which no node is begun once there were this many nodes. A node that has begun is finished.
    pause: Option<(Instant, u64)>,
}

impl Limits {
    /// Creates the limits of these settings and starts the clock.
    pub fn new(settings: &Settings) -> Self {
        let start = Instant::now();
        let times = [settings.time_limit, settings.search_time_limit];
        let time = times.into_iter().flatten().min();
        Self {
            start,
            before: Duration::ZERO,
            // A limit too far away to be represented is no limit.
            deadline: time.and_then(|limit| start.checked_add(limit)),
            nodes: settings.node_limit.unwrap_or(u64::MAX),
            bytes: settings.memory_limit.unwrap_or(u64::MAX),
            interrupt: settings.interrupt.clone(),
            pause: None,
        }
    }

    /// Ends the search between two nodes once this much time has passed from now and there were at least this many
    /// nodes. Unlike at the time limit, the current node is finished, so that every run makes progress, however short
    /// its time.
    pub(crate) fn pause_after(&mut self, time: Duration, nodes: u64) {
        let end = Instant::now().checked_add(time);
        self.pause = end.map(|end| (end, nodes));
    }

    /// Resumes the counts of an earlier run of the same search. The limits themselves are those of this run.
    pub(crate) fn resume(&mut self, seconds: f64, nodes: u64) {
        self.before = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        self.nodes = self.nodes.saturating_add(nodes);
    }

    /// Returns limits that never stop a search.
    pub fn none() -> Self {
        Self::new(&Settings::default())
    }

    /// Whether the search has to end at once.
    #[inline]
    pub fn stop(&self) -> bool {
        self.reached().is_some()
    }

    /// Returns the limit that ends the search at once, even in the middle of a relaxation.
    #[inline]
    pub fn reached(&self) -> Option<Status> {
        if let Some(flag) = &self.interrupt
            && flag.load(Ordering::Relaxed)
        {
            return Some(Status::Interrupted);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Some(Status::TimeLimit),
            _ => None,
        }
    }

    /// Returns the limit reached, including those that are checked only between nodes.
    pub fn reached_between(&self, nodes: u64, bytes: u64) -> Option<Status> {
        let is_over = |(end, least): (Instant, u64)| nodes >= least && Instant::now() >= end;
        let is_time = || self.pause.is_some_and(is_over);
        self.reached().or(if nodes >= self.nodes {
            Some(Status::NodeLimit)
        } else if bytes > self.bytes {
            Some(Status::MemoryLimit)
        } else {
            is_time().then_some(Status::TimeLimit)
        })
    }

    /// Number of nodes that may still be expanded after this many; `None` if there is no limit.
    pub(crate) fn nodes_left(&self, nodes: u64) -> Option<u64> {
        (self.nodes < u64::MAX).then(|| self.nodes.saturating_sub(nodes))
    }

    /// Whether this many bytes exceed the memory limit.
    pub(crate) fn is_too_much(&self, bytes: u64) -> bool {
        bytes > self.bytes
    }

    /// Whether this many bytes of open nodes are at least half of the memory limit, so that memory must be saved.
    pub fn is_short(&self, bytes: u64) -> bool {
        bytes >= self.bytes / 2
    }

    /// Time left, if time is limited.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let deadline = self.deadline?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Seconds since the start, including earlier runs of the same search.
    pub fn seconds(&self) -> f64 {
        (self.before + self.start.elapsed()).as_secs_f64()
    }
}
