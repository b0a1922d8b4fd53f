//! The part of a [`Context`] that is saved in checkpoints, and how a context resumes from one.

use super::Context;
use crate::search::Source;
use crate::search::checkpoint::{Heuristic, QuadraticRows, State};
use crate::search::pool::Entry;
use crate::search::writer::Save;

impl<'p> Context<'p> {
    /// Resumes from a checkpoint: its best models, bounds, counters and time.
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

    /// Sends checkpoints to `saver`.
    pub(crate) fn save_to(&mut self, saver: Option<Box<dyn Save + 'p>>) {
        self.saver = saver;
    }

    /// Whether checkpoints are wanted.
    pub(crate) fn saves(&self) -> bool {
        self.saver.is_some()
    }

    /// Whether a checkpoint is due.
    pub(in crate::search) fn is_save_due(&self) -> bool {
        let saver = self.saver.as_ref();
        !self.awaits_nodes && saver.is_some_and(|saver| saver.is_due())
    }

    /// Whether work that took this many seconds should be saved.
    pub(crate) fn is_worth_keeping(&self, seconds: f64) -> bool {
        let saver = self.saver.as_ref();
        saver.is_some_and(|saver| saver.is_long(seconds))
    }

    /// Hands out a checkpoint, if checkpoints are wanted.
    pub(crate) fn save(&mut self, state: State) {
        if let Some(saver) = &mut self.saver {
            saver.save(state);
        }
    }

    /// Notes that the frontier now has the nodes of the earlier run, so that checkpoints include them.
    pub(crate) fn receive_nodes(&mut self) {
        self.awaits_nodes = false;
    }

    /// Notes the progress of a heuristic.
    pub(crate) fn keep_heuristic(&mut self, stage: impl FnOnce() -> Heuristic) {
        if self.saves() {
            self.prepared.heuristic = Some(stage());
        }
    }

    /// Notes which rows of a Huber problem are known to be quadratic.
    pub(crate) fn keep_rows(&mut self, rows: &[bool]) {
        // Rows proved quadratic for one decision are not proved for the whole problem.
        if self.saves() && self.incumbents.decision().is_none() {
            self.prepared.quadratic = Some(QuadraticRows::new(self.incumbents.reference(), rows));
        }
    }

    /// The rows that an earlier run has proved to be quadratic.
    pub(crate) fn kept_rows(&self) -> Option<Vec<bool>> {
        let kept = self.prepared.quadratic.as_ref()?;
        kept.below(self.incumbents.reference(), self.problem.rows())
    }

    /// The state that accompanies subtrees to another process: the models, and the proofs about rows.
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

    /// Merges the result of subtrees explored elsewhere: models, their evidence, and what was discarded.
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

    /// Adds everything but the nodes to a state.
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
