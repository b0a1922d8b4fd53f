//! The one loop of a run.
//!
//! A run is a sequence of stages: a first model, screening, the bands of a Gram matrix, proofs of rows, the search.
//! This loop steps each of them. Limits are checked, events sent and checkpoints handed out only between two steps. A
//! step is a feature that is added, a round, a band or a node. A step is never saved in the middle: a kill costs the
//! last interval and the current step.

use super::checkpoint::State;
use super::{Context, Progress};
use crate::settings::Status;

/// A part of a run that is done in steps.
///
/// After every step its progress is in the context, or [`Stage::save`] adds it.
pub(crate) trait Stage<'p> {
    /// Makes a step.
    fn step(&mut self, context: &mut Context<'p>) -> Progress;

    /// State of the run, for a checkpoint.
    fn save(&self, context: &Context<'p>) -> State {
        context.saved(State::default())
    }

    /// Reports the progress to the observer, who is known to exist.
    fn tell(&mut self, context: &mut Context<'p>) {
        context.announce_tick();
    }

    /// The limit that ends the stage before its next step.
    fn limit(&self, context: &Context<'p>) -> Option<Status> {
        context.limits.reached()
    }
}

/// Steps a stage to its end, or to a limit.
pub(crate) fn run<'p>(stage: &mut dyn Stage<'p>, context: &mut Context<'p>) -> Progress {
    loop {
        if context.reporter.is_observed() {
            stage.tell(context);
        }
        if context.is_save_due() {
            let state = stage.save(context);
            context.save(state);
        }
        if let Some(status) = stage.limit(context) {
            return Progress::Stopped(status);
        }
        let progress = stage.step(context);
        if progress != Progress::Running {
            return progress;
        }
    }
}
