//! [`PriceArchive`]: writes prices to checkpoints and resumes from them.

use std::sync::Arc;
use std::time::Duration;

use crate::bound::Certified;
use crate::error::Result;
use crate::gram::triangle::Triangle;
use crate::problem::{Decision, Problem};
use crate::search::checkpoint::{
    Archive, Checkpoint, Heuristic, Part, Priced, Settled, Stamp, State, narrow, wide,
};
use crate::search::decision_models::DecisionModels;
use crate::search::{ArchiveSink, Save, Slot, Writer};
use crate::settings::Solution;

/// Receives the checkpoints of prices, on the thread that makes them.
pub type PriceSink<'p> = Box<dyn FnMut(&Checkpoint) + Send + 'p>;

/// The checkpoint to resume from, and the receiver of new ones.
pub(super) struct Keeping<'p> {
    pub stamp: Stamp,
    pub resume: Option<Checkpoint>,
    pub sink: Option<(Duration, PriceSink<'p>)>,
}

/// The prices in an archive, whose only part also has the search of the problem.
pub(super) struct PriceArchive<'p> {
    writer: Arc<Writer<'p>>,
    /// Whether the prices resume from an earlier run.
    is_resumed: bool,
    known_models: Arc<DecisionModels>,
}

/// The kind of search that a state belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PriceStage {
    /// The search for a first model.
    Heuristic,
    /// The search for one decision.
    Alone(usize),
}

/// The prices in a part.
fn prices(part: &mut Part) -> &mut Priced {
    Arc::make_mut(part.prices.get_or_insert_default())
}

impl<'p> PriceArchive<'p> {
    pub(super) fn new(
        problem: &Problem,
        keeping: Keeping<'p>,
        chosen: &[usize],
        known_models: Arc<DecisionModels>,
        decisions: &[Decision],
    ) -> Result<Self> {
        let Keeping {
            stamp,
            resume,
            sink,
        } = keeping;
        let mut archive = Archive::of_one(resume.map(|Checkpoint(archive)| archive))?;
        let part = archive.take_up(0, Part::new(stamp, &[problem.k()]))?;
        if let Some(search) = part.resume(0, problem) {
            search.check(problem)?;
        }
        let decision = |own: &Decision| (own.feature as u32, own.inside);
        let decisions = decisions.iter().map(decision).collect();
        let chosen = narrow(chosen);
        let old = part.prices.take();
        let known = match &old {
            Some(old) => {
                old.check(problem)?;
                old.for_others(chosen, decisions)
            }
            None => Priced::new(chosen, decisions),
        };
        part.prices = Some(Arc::new(known));
        let sink = sink.map(|(every, mut sink)| -> (_, ArchiveSink<'p>) {
            let hand_out = move |archive: &mut Archive| {
                let checkpoint = Checkpoint(std::mem::take(archive));
                sink(&checkpoint);
                *archive = checkpoint.0;
            };
            (every, Box::new(hand_out))
        });
        Ok(Self {
            writer: Writer::new(archive, sink),
            is_resumed: old.is_some(),
            known_models,
        })
    }

    /// Reads or changes the part of the archive.
    fn with<T>(&self, work: impl FnOnce(&mut Part) -> T) -> T {
        self.writer.with(|archive| {
            let part = archive.parts[0].as_mut();
            work(part.expect("the part is taken up first"))
        })
    }

    /// The results of this run and of earlier ones.
    pub(super) fn known(&self) -> Arc<Priced> {
        self.with(|part| Arc::clone(part.prices.get_or_insert_default()))
    }

    /// The Gram matrix of an earlier run.
    pub(super) fn gram(&self) -> Option<Arc<Triangle>> {
        let known = self.is_resumed.then(|| self.known());
        known.and_then(|known| known.gram.clone())
    }

    fn change(&self, change: impl FnOnce(&mut Priced)) {
        self.with(|part| change(prices(part)));
    }

    /// Records that a first model was sought for this many of the chosen features.
    pub(super) fn set_tried(&self, count: usize) {
        self.change(|known| {
            known.tried = count as u32;
            known.heuristic = None;
        });
    }

    /// Records that the search of a decision is over.
    pub(super) fn finish(&self, at: usize, problem: &Problem, found: &Solution) {
        self.change(|known| {
            let (feature, inside) = known.decisions[at];
            let features = problem.selectable.iter().copied();
            let mut support: Vec<usize> = features
                .filter(|j| found.support.binary_search(j).is_ok())
                .collect();
            if inside {
                // The feature is in even when its coefficient is 0, and so are those that it requires.
                let feature = feature as usize;
                let needs = problem.structure.as_ref();
                let needs = needs.map_or(&[][..], |structure| &structure.ancestors[feature]);
                support.extend_from_slice(needs);
                support.push(feature);
                support.sort_unstable();
                support.dedup();
            }
            known.begun[at] = None;
            known.done[at] = Some(Settled {
                support: narrow(&support),
                bound: found.lower_bound.unwrap_or(0.0),
                calls: found.solver_calls,
                nodes: found.nodes,
                peak_open: found.peak_open_nodes,
                seconds: found.seconds,
            });
        });
    }

    /// Whether checkpoints are wanted.
    pub(super) fn is_kept(&self) -> bool {
        self.writer.is_wanted()
    }

    /// Hands out a checkpoint if one is due.
    pub(super) fn write_if_due(&self) {
        self.change(|known| known.models = self.known_models.supports());
        self.writer.write_if_due();
    }

    /// Hands out a checkpoint, if checkpoints are wanted.
    pub(super) fn write(&self) {
        self.change(|known| known.models = self.known_models.supports());
        self.writer.write();
    }

    /// The saver of a search's states.
    pub(super) fn slot(&self, stretch: PriceStage) -> Option<Box<dyn Save + 'p>> {
        let models = Arc::clone(&self.known_models);
        Slot::open(&self.writer, 0, move |part, state| {
            let known = prices(part);
            known.enter(stretch, state);
            known.models = models.supports();
        })
    }
}

impl Priced {
    fn enter(&mut self, stretch: PriceStage, mut state: State) {
        // All searches share one matrix.
        if let Some(gram) = state.prepared.gram.take()
            && self.gram.as_ref().is_none_or(|own| gram.covers(own))
        {
            self.gram = Some(gram);
        }
        match stretch {
            PriceStage::Heuristic => self.heuristic = state.prepared.heuristic,
            PriceStage::Alone(at) => self.begun[at] = Some(state),
        }
    }
}

impl Settled {
    /// The model, and the proved bound of its decision.
    pub(super) fn proof(&self) -> (Vec<usize>, Certified) {
        (wide(&self.support), Certified::restored(self.bound))
    }
}

/// Progress of the search for a first model, if it could belong to this problem.
pub(super) fn heuristic(known: &Priced, problem: &Problem) -> Option<Heuristic> {
    known.heuristic.clone().filter(|own| own.fits(problem))
}
