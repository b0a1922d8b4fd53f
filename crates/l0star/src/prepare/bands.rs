//! [`GramBands`]: makes the Gram matrix of a run, one band per step, and adds its rows to checkpoints.

use std::sync::Arc;
use std::time::Instant;

use crate::gram::product::{BandDriver, Bands};
use crate::gram::triangle::Triangle;
use crate::search::checkpoint::State;
use crate::search::stage::{self, Stage};
use crate::search::{Context, Progress};

/// Makes the Gram matrix of a run as one of its stages. A matrix that took long is kept in later checkpoints.
pub(super) struct GramBands<'c, 'p> {
    context: &'c mut Context<'p>,
    columns: Vec<usize>,
    start: Instant,
    /// Time that earlier runs took, in seconds.
    before: f64,
}

impl<'c, 'p> GramBands<'c, 'p> {
    pub(super) fn new(context: &'c mut Context<'p>) -> Self {
        Self {
            context,
            columns: Vec::new(),
            start: Instant::now(),
            before: 0.0,
        }
    }
}

impl BandDriver for GramBands<'_, '_> {
    fn known(&mut self, columns: &[usize]) -> Option<Triangle> {
        self.columns = columns.to_vec();
        let known = self.context.prepared.gram.take();
        let known = known.and_then(|known| known.over(columns));
        self.before = known.as_ref().map_or(0.0, |known| known.seconds);
        known
    }

    fn drive(&mut self, bands: &mut Bands) {
        let mut made = Made {
            bands,
            columns: &self.columns,
            start: self.start,
            before: self.before,
        };
        stage::run(&mut made, self.context);
        let is_kept = !made.bands.is_whole() || self.context.is_worth_keeping(made.seconds());
        if self.context.saves() && is_kept {
            self.context.prepared.gram = Some(made.triangle());
        }
    }
}

/// The stage that makes the bands.
struct Made<'s, 'b, 'a> {
    bands: &'s mut Bands<'b, 'a>,
    columns: &'s [usize],
    start: Instant,
    before: f64,
}

impl Made<'_, '_, '_> {
    fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }

    fn triangle(&self) -> Arc<Triangle> {
        let mut triangle = Triangle::new(self.columns);
        self.bands.add_to(&mut triangle);
        triangle.seconds = self.seconds();
        Arc::new(triangle)
    }
}

impl<'p> Stage<'p> for Made<'_, '_, '_> {
    fn step(&mut self, _context: &mut Context<'p>) -> Progress {
        if self.bands.step() {
            Progress::Running
        } else {
            Progress::Done
        }
    }

    fn save(&self, context: &Context<'p>) -> State {
        let mut state = context.saved(State::default());
        state.prepared.gram = Some(self.triangle());
        state
    }
}
