//! A node with boxes while it is worked on, and what is kept of it for the nodes below.

use crate::bound::Certified;
use crate::boxes::ascent::Bounded;
use crate::boxes::{Boxes, Quadratic};

/// A node is made smaller when at most this share of its columns is left.
const SMALLER: f64 = 0.9;

/// The boxes of a node, for those below it.
#[derive(Debug)]
pub(crate) struct Held {
    pub columns: Vec<usize>,
    pub boxes: Boxes,
}

/// The node at hand.
#[derive(Debug, Clone)]
pub(super) struct Current {
    pub included: Vec<usize>,
    /// The columns of the quadratic.
    pub columns: Vec<usize>,
    pub budget: usize,
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
            budget: self.budget,
            ceiling: self.boxes.ceiling(),
        }
    }

    /// What is proved of models outside the boxes.
    pub fn outside(&self) -> Certified {
        let ceiling = self.boxes.ceiling();
        Certified::from_frame(ceiling, ceiling, 0.0)
    }

    /// Keeps these columns alone.
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
