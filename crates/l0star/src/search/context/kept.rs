//! What a [`Context`] keeps for checkpoints, what it hands out, and how it goes on from one.

use super::Context;
use crate::search::Source;
use crate::search::checkpoint::{Heuristic, QuadraticRows, State};
use crate::search::pool::Entry;
use crate::search::writer::Save;

impl<'p> Context<'p> {
    /// Resumes from a checkpoint: its best models, its bounds, its counters, its time.
    pub(crate) fn resume(&mut self, state: &State) {
        self.limits.resume(state.seconds, state.nodes);
        self.incumbents.resume(state);
        self.evidence.resume(state);
        self.reporter
            .resume(state.nodes, state.features_left as usize);
        self.counters = state.counters();
        self.prepared.clone_from(&state.prepared);
        self.awaits_nodes = state.started;
    }

    /// Checkpoints go there.
    pub(crate) fn save_to(&mut self, saver: Option<Box<dyn Save + 'p>>) {
        self.saver = saver;
    }

    /// Whether anybody wants checkpoints.
    pub(crate) fn saves(&self) -> bool {
        self.saver.is_some()
    }

    /// Whether it is time for one.
    pub(in crate::search) fn is_save_due(&self) -> bool {
        let saver = self.saver.as_ref();
        !self.awaits_nodes && saver.is_some_and(|saver| saver.is_due())
    }

    /// Whether anybody wants work of so many seconds to be kept.
    pub(crate) fn is_worth_keeping(&self, seconds: f64) -> bool {
        let saver = self.saver.as_ref();
        saver.is_some_and(|saver| saver.is_long(seconds))
    }

    /// Hands out a checkpoint, if someone wants it.
    pub(crate) fn save(&mut self, state: State) {
        if let Some(saver) = &mut self.saver {
            saver.save(state);
        }
    }

    /// The nodes of an earlier run are in the frontier from now on: checkpoints have them.
    pub(crate) fn receive_nodes(&mut self) {
        self.awaits_nodes = false;
    }

    /// Notes how far a heuristic has come.
    pub(crate) fn keep_heuristic(&mut self, stage: impl FnOnce() -> Heuristic) {
        if self.saves() {
            self.prepared.heuristic = Some(stage());
        }
    }

    /// Notes which rows of a Huber problem are known to be quadratic.
    pub(crate) fn keep_rows(&mut self, rows: &[bool]) {
        // What is proved for one decision is not for the whole problem.
        if self.saves() && self.incumbents.decision().is_none() {
            self.prepared.quadratic = Some(QuadraticRows::new(self.incumbents.reference(), rows));
        }
    }

    /// The rows that an earlier run has proved to be quadratic.
    pub(crate) fn kept_rows(&self) -> Option<Vec<bool>> {
        let kept = self.prepared.quadratic.as_ref()?;
        kept.below(self.incumbents.reference(), self.problem.rows())
    }

    /// The part of the state that subtrees are sent away with: the models, and what was proved of rows.
    pub(in crate::search) fn sent(&self) -> State {
        let mut state = State::fresh(self.problem);
        state.set_models(&self.incumbents.pool());
        state
            .prepared
            .quadratic
            .clone_from(&self.prepared.quadratic);
        state.started = true;
        state
    }

    /// Takes over what was made of subtrees elsewhere: models, what is proved of them, and what was discarded.
    pub(in crate::search) fn merge(&mut self, state: &State) {
        for Entry { model, evidence } in state.models() {
            let support = model.support;
            if self.incumbents.offer(&support, model.fit, Source::Search) {
                self.announce_incumbent(&support, Source::Search);
            }
            if let Some(evidence) = evidence {
                self.record_bound(&support, evidence);
            }
        }
        self.incumbents.evict(state.evicted());
        self.evidence.absorb(state.weakest());
    }

    /// A state with what it knows: all but the nodes.
    pub(crate) fn saved(&self, mut state: State) -> State {
        state.seconds = self.limits.seconds();
        state.features_left = self.reporter.features_left() as u64;
        state.set_models(&self.incumbents.pool());
        self.evidence.save(&mut state);
        state.prepared.clone_from(&self.prepared);
        state.set_counters(&self.counters);
        state
    }
}
