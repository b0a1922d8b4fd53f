//! The rule that decides when nodes get boxes.

use std::sync::Arc;

use super::Boxed;
use crate::gram::frame::Frame;
use crate::gram::relaxation::GramRelaxation;
use crate::gram::root::Root;
use crate::problem::Problem;
use crate::settings::{Mechanisms, Use};
use crate::tuning::boxes::{MOST_PRICED, SMALL_LIFT};

impl GramRelaxation<'_> {
    /// Returns the relaxation with boxes, where a search for the best model should use it instead.
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

impl Boxed {
    /// Sets the number of threads of the root.
    pub(crate) fn on_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Creates the relaxation for a problem with bounds.
    pub(crate) fn within_bounds(
        problem: &Problem,
        root: &Arc<Root>,
        mechanisms: Mechanisms,
    ) -> Self {
        Self {
            enumerates: mechanisms.enumeration,
            ..Self::new(problem, root)
        }
    }

    /// Whether a problem with bounds should use boxes.
    pub(crate) fn suits(problem: &Problem, root: &Root, mechanisms: Mechanisms) -> bool {
        match mechanisms.boxes {
            Use::Never => false,
            Use::Auto => is_hardly_ridged(root, problem.rows()),
            Use::Always => true,
        }
    }

    /// Whether models below `reference` have few enough features for boxes to shrink.
    pub(crate) fn can_shrink(problem: &Problem, reference: f64) -> bool {
        let is_few = problem.most_features(reference) <= MOST_PRICED;
        !problem.is_priced() || is_few && problem.has_one_price()
    }
}

/// Whether there are at least as many columns as rows, so that there is hardly a lift, and the ridge is small compared
/// with the curvature in most columns.
fn is_hardly_ridged(root: &Root, rows: usize) -> bool {
    let size = root.selectable;
    let is_small = |i: &usize| root.row(*i)[*i] > root.ridge[*i] * (1.0 + 1.0 / SMALL_LIFT);
    let small = (0..size).filter(is_small).count();
    size >= rows && 2 * small > size
}

/// Whether there are at least as many columns as rows, and the lifted ridge is small compared with
/// the curvature in most columns.
fn is_hardly_lifted(frame: &Frame, rows: usize) -> bool {
    // In the coordinates of a frame the ridge is 1.
    let is_small = |i: &usize| frame.row(*i)[*i] > 1.0 / SMALL_LIFT;
    let small = (0..frame.size()).filter(is_small).count();
    frame.size() >= rows && 2 * small > frame.size()
}
