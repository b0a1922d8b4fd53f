//! [`Evidence`]: the record of what was discarded, and with which bounds.

use super::checkpoint::State;
use crate::bound::Certified;

/// The record of everything that was discarded: nodes that were closed, features that were fixed.
///
/// The reported bound is never above the weakest evidence. A proof log would be written here.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// A bound of the whole problem, proved before there were nodes.
    whole: Certified,
    /// The smallest bound that was used to discard anything.
    weakest: Option<Certified>,
}

impl Default for Evidence {
    fn default() -> Self {
        Self {
            whole: Certified::TRIVIAL,
            weakest: None,
        }
    }
}

impl Evidence {
    /// Records the bound by which a part of the search space was discarded.
    pub fn rule_out(&mut self, bound: Certified) {
        self.weakest = Some(self.weakest.map_or(bound, |weakest| weakest.weaker(bound)));
    }

    /// Records what another part of the run has discarded.
    pub(super) fn absorb(&mut self, other: Option<Certified>) {
        if let Some(bound) = other {
            self.rule_out(bound);
        }
    }

    /// Takes the weakest evidence since the last call, to move it to another record.
    pub(crate) fn take(&mut self) -> Option<Certified> {
        self.weakest.take()
    }

    /// The weakest evidence so far, also as a mark for [`Evidence::rewind`].
    pub(crate) fn mark(&self) -> Option<Certified> {
        self.weakest
    }

    /// Forgets what was discarded since `mark`: its search space is open again.
    pub(crate) fn rewind(&mut self, mark: Option<Certified>) {
        self.weakest = mark;
    }

    /// The bound of the whole problem that was proved before there were nodes.
    pub(super) fn whole(&self) -> Certified {
        self.whole
    }

    /// Replaces the bound of the whole problem by a tighter one.
    pub(super) fn raise_whole(&mut self, bound: Certified) {
        self.whole = self.whole.tighter(bound);
    }

    /// Takes over the evidence in a checkpoint.
    pub(super) fn resume(&mut self, state: &State) {
        self.raise_whole(state.lower_bound());
        self.weakest = state.weakest();
    }

    /// Writes the evidence to a checkpoint.
    pub(super) fn save(&self, state: &mut State) {
        state.base = self.whole.value();
        state.weakest = self.weakest.map(Certified::value);
    }
}
