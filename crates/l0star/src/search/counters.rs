//! [`Counters`]: what is counted in a run.

/// Counters of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Relaxations and restricted problems solved.
    pub calls: u64,
    /// Nodes taken from the frontier, and a root that was closed before it.
    pub nodes: u64,
    /// Most nodes open at any time.
    pub peak_open: u64,
}
