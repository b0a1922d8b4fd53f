//! When nodes get boxes.

use super::Boxed;
use crate::gram::frame::Frame;
use crate::gram::relaxation::GramRelaxation;
use crate::settings::Use;
use crate::tuning::boxes::{MOST_PRICED, SMALL_LIFT};

impl GramRelaxation<'_> {
    /// The relaxation with boxes, where a search for the best model should rather have it.
    pub(crate) fn boxed(&self) -> Option<Boxed> {
        let is_few = self.most <= MOST_PRICED && self.problem.has_one_price();
        let is_known = is_few || !self.problem.is_priced();
        if self.explicit.is_some() || !self.mechanisms.fixing || !is_known {
            return None;
        }
        let is_wanted = match self.mechanisms.boxes {
            Use::Never => false,
            Use::Auto => is_hardly_lifted(self.frame()?, self.problem.rows()),
            Use::Always => true,
        };
        is_wanted.then(|| Boxed {
            ceiling: self.ceiling,
            enumerates: self.mechanisms.enumeration,
            ..Boxed::new(self.problem, &self.root)
        })
    }
}

/// Whether there are as many columns as rows, and the ridge, lifted, is small beside the curvature in most of them.
fn is_hardly_lifted(frame: &Frame, rows: usize) -> bool {
    // In the coordinates of a frame the ridge is 1.
    let is_small = |i: &usize| frame.row(*i)[*i] > 1.0 / SMALL_LIFT;
    let small = (0..frame.size()).filter(is_small).count();
    frame.size() >= rows && 2 * small > frame.size()
}
