//! A node with boxes while it is worked on, and the part of it that is kept for the nodes below.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bound::Certified;
use crate::boxes::ascent::Bounded;
use crate::boxes::{Boxes, Choice, Quadratic};
use crate::tuning::boxes::SMALLER;

/// The boxes of a node, for those below it.
#[derive(Debug)]
pub(crate) struct Held {
    pub columns: Vec<usize>,
    pub boxes: Boxes,
    /// Whether the boxes have been shrunk, and will be further.
    pub is_begun: bool,
}

/// The current node.
#[derive(Debug, Clone)]
pub(super) struct Current {
    pub included: Vec<usize>,
    /// The columns of the quadratic.
    pub columns: Vec<usize>,
    pub choice: Choice,
    pub quadratic: Quadratic<'static>,
    pub boxes: Boxes,
    /// Columns whose box was found to be zero.
    pub gone: Vec<usize>,
    /// With a small budget: the best choice, by column.
    pub best: Option<(Vec<usize>, Certified)>,
}

impl Current {
    pub fn bounded(&self) -> Bounded<'_> {
        Bounded {
            quadratic: &self.quadratic,
            boxes: self.boxes.boxes(),
            choice: self.choice,
            ceiling: self.boxes.ceiling(),
        }
    }

    /// Returns what is proved about models outside the boxes.
    pub fn outside(&self) -> Certified {
        let ceiling = self.boxes.ceiling();
        Certified::from_frame(ceiling, ceiling, 0.0)
    }

    /// Keeps only these columns.
    pub fn keep(&mut self, kept: &[usize]) {
        self.quadratic = self.quadratic.restricted(kept);
        self.boxes.keep(kept);
        self.columns = kept.iter().map(|i| self.columns[*i]).collect();
    }

    /// Drops columns whose box is zero, if that makes a difference.
    pub fn drop_zeros(&mut self) {
        let boxes = self.boxes.boxes();
        let (kept, zeros): (Vec<usize>, Vec<usize>) =
            (0..boxes.len()).partition(|i| !boxes[*i].is_zero());
        if kept.len() as f64 <= SMALLER * boxes.len() as f64 {
            self.gone.extend(zeros.iter().map(|i| self.columns[*i]));
            self.keep(&kept);
        }
    }
}

/// Bytes that a worker holds, as part of the sum of all workers. Clones share the sum and start with none of their own.
#[derive(Debug, Default)]
pub(super) struct Counted {
    total: Arc<AtomicU64>,
    own: u64,
}

impl Counted {
    pub fn set(&mut self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
        self.total.fetch_sub(self.own, Ordering::Relaxed);
        self.own = bytes;
    }

    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Self {
            total: Arc::clone(&self.total),
            own: 0,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_count_together_and_leave_nothing_behind() {
        let mut first = Counted::default();
        first.set(100);
        let mut second = first.clone();
        assert_eq!(second.total(), 100);
        second.set(30);
        first.set(20);
        assert_eq!((first.total(), second.total()), (50, 50));
        drop(second);
        assert_eq!(first.total(), 20);
    }
}
