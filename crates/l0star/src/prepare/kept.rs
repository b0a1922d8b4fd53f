//! [`Kept`]: the Gram matrix of a run in its checkpoints.

use std::sync::Arc;
use std::time::Instant;

use crate::gram::product::{Band, Keep};
use crate::gram::triangle::Triangle;
use crate::search::Context;

/// Hands out the bands that are done when a checkpoint is due, and leaves the matrix in later ones if it took long.
pub(super) struct Kept<'c, 'p> {
    context: &'c mut Context<'p>,
    start: Instant,
    /// What an earlier run took.
    before: f64,
    /// The rows that were handed out, or came from an earlier run.
    triangle: Option<Arc<Triangle>>,
}

impl<'c, 'p> Kept<'c, 'p> {
    pub(super) fn new(context: &'c mut Context<'p>) -> Self {
        Self {
            context,
            start: Instant::now(),
            before: 0.0,
            triangle: None,
        }
    }

    fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }
}

impl Kept<'_, '_> {
    /// `whole`: whether the matrix is there.
    pub(super) fn finish(self, whole: bool) {
        let is_kept = !whole || self.context.is_worth_keeping(self.seconds());
        self.context.prepared.gram = self.triangle.filter(|_| is_kept);
    }
}

impl Keep for Kept<'_, '_> {
    fn known(&mut self, columns: &[usize]) -> Option<Triangle> {
        if !self.context.saves() && self.context.prepared.gram.is_none() {
            return None;
        }
        let known = self.context.prepared.gram.take();
        let known = known.and_then(|known| known.over(columns));
        self.before = known.as_ref().map_or(0.0, |known| known.seconds);
        // Rows that turn out to be wrong are made again.
        self.triangle = Some(Arc::new(Triangle::new(columns)));
        known
    }

    fn done(&mut self, bands: &[Band]) {
        let seconds = self.seconds();
        let context = &mut *self.context;
        if !context.saves() {
            return;
        }
        if let Some(triangle) = &mut self.triangle {
            // It is nobody else's by now: nothing is copied.
            context.prepared.gram = None;
            let own = Arc::make_mut(triangle);
            bands.iter().for_each(|band| band.add_to(own));
            own.seconds = seconds;
            if context.is_save_due() {
                context.prepared.gram = Some(Arc::clone(triangle));
                context.save_preparation();
            }
        }
    }
}
