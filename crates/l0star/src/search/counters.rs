//! [`Counters`]: counts of nodes and solver calls.

/// Counters of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of relaxations and restricted problems solved.
    pub calls: u64,
    /// Number of nodes taken from the frontier, including a root that was closed before it.
    pub nodes: u64,
    /// Largest number of nodes open at any time.
    pub peak_open: u64,
}
