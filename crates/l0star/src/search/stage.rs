//! The one loop of a run.
//!
//! A run is a sequence of stages: a first model, screening, the bands of a Gram matrix, proofs of rows, the search. Each of them
//! is stepped here, and only between two steps are limits looked at, events sent and checkpoints handed out. A step is a feature
//! that is added, a round, a band, a node. It is not saved in the middle: a kill costs the last interval and the step at hand.

use super::checkpoint::State;
use super::{Context, Progress};
use crate::settings::Status;

/// A part of a run that is done in steps.
///
/// What it has done so far is in the context after every step, or [`Stage::save`] adds it.
pub(crate) trait Stage<'p> {
    /// Makes a step.
    fn step(&mut self, context: &mut Context<'p>) -> Progress;

    /// Where the run stands.
    fn save(&self, context: &Context<'p>) -> State {
        context.saved(State::default())
    }

    /// Tells the observer, who is there, how far it has come.
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
