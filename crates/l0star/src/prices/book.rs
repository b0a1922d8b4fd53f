//! [`Book`]: prices in checkpoints, on their way in and back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::bound::Certified;
use crate::gram::triangle::Triangle;
use crate::problem::{Decision, Problem};
use crate::search::checkpoint::{
    Checkpoint, Heuristic, Priced, Settled, Stamp, State, narrow, wide,
};
use crate::search::ledger::Ledger;
use crate::search::{Interval, Save};
use crate::settings::Solution;

/// Takes the checkpoints of prices, from whichever thread has made one.
pub type PriceSink<'p> = Box<dyn FnMut(&Checkpoint) + Send + 'p>;

/// Where the checkpoints of prices come from, and who takes them.
pub(super) struct Keeping<'p> {
    pub stamp: Stamp,
    pub resume: Option<Checkpoint>,
    pub sink: Option<(Duration, PriceSink<'p>)>,
}

/// What there is to write, and who takes it.
pub(super) struct Book<'p> {
    stamp: Stamp,
    /// The search before.
    search: State,
    /// Whether an earlier run has filled it.
    is_resumed: bool,
    ledger: Arc<Ledger>,
    known: Mutex<Arc<Priced>>,
    writer: Option<Mutex<Writer<'p>>>,
}

struct Writer<'p> {
    sink: PriceSink<'p>,
    interval: Interval,
    last: Instant,
}

/// What a state is the state of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The search for a first model.
    Heuristic,
    /// The search for one decision.
    Alone(usize),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'p> Book<'p> {
    pub(super) fn new(
        keeping: Keeping<'p>,
        chosen: &[usize],
        ledger: Arc<Ledger>,
        decisions: &[Decision],
    ) -> Self {
        let Keeping {
            stamp,
            resume,
            sink,
        } = keeping;
        let (search, old) = match resume {
            Some(checkpoint) => (checkpoint.state, checkpoint.prices),
            None => (State::default(), None),
        };
        let decision = |own: &Decision| (own.feature as u32, own.inside);
        let decisions = decisions.iter().map(decision).collect();
        let chosen = narrow(chosen);
        let known = match &old {
            Some(old) => old.for_others(chosen, decisions),
            None => Priced::new(chosen, decisions),
        };
        let writer = sink.map(|(every, sink)| {
            Mutex::new(Writer {
                sink,
                interval: Interval::new(every),
                last: Instant::now(),
            })
        });
        Self {
            stamp,
            search,
            is_resumed: old.is_some(),
            ledger,
            known: Mutex::new(Arc::new(known)),
            writer,
        }
    }

    /// What is known, of this run and of earlier ones.
    pub(super) fn known(&self) -> Arc<Priced> {
        Arc::clone(&lock(&self.known))
    }

    /// The Gram matrix of an earlier run.
    pub(super) fn gram(&self) -> Option<Arc<Triangle>> {
        let known = self.is_resumed.then(|| self.known());
        known.and_then(|known| known.gram.clone())
    }

    fn change(&self, change: impl FnOnce(&mut Priced)) {
        change(Arc::make_mut(&mut lock(&self.known)));
    }

    /// For so many of the chosen features a first model was looked for.
    pub(super) fn set_tried(&self, count: usize) {
        self.change(|known| {
            known.tried = count as u32;
            known.heuristic = None;
        });
    }

    /// The search of a decision is over.
    pub(super) fn settle(&self, at: usize, problem: &Problem, found: &Solution) {
        self.change(|known| {
            let (feature, inside) = known.decisions[at];
            let features = problem.selectable.iter().copied();
            let mut support: Vec<usize> = features
                .filter(|j| found.support.binary_search(j).is_ok())
                .collect();
            if inside {
                // It is in even where its coefficient is 0, and so is what it needs.
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

    /// Whether anybody wants checkpoints.
    pub(super) fn is_kept(&self) -> bool {
        self.writer.is_some()
    }

    /// Whether it is time for one.
    pub(super) fn is_due(&self) -> bool {
        let writer = self.writer.as_ref().map(lock);
        writer.is_some_and(|writer| writer.interval.is_over(writer.last))
    }

    /// Hands out a checkpoint, if someone wants it.
    pub(super) fn write(&self) {
        let Some(writer) = &self.writer else {
            return;
        };
        let writer = &mut *lock(writer);
        let start = Instant::now();
        let models = self.ledger.supports();
        self.change(|known| known.models = models);
        let known = self.known();
        let is_large = known.is_large();
        let checkpoint = Checkpoint::new(&self.stamp, self.search.clone(), Some(known));
        (writer.sink)(&checkpoint);
        writer.last = Instant::now();
        writer.interval.note(start, is_large);
    }

    /// Where the states of a search go.
    pub(super) fn page(self: &Arc<Self>, part: Part) -> Option<Box<dyn Save + 'p>> {
        let last = lock(self.writer.as_ref()?).last;
        let book = Arc::clone(self);
        Some(Box::new(Page { book, part, last }))
    }
}

impl Priced {
    fn enter(&mut self, part: Part, mut state: State) {
        // One matrix is for all of them.
        if let Some(gram) = state.prepared.gram.take()
            && self.gram.as_ref().is_none_or(|own| gram.covers(own))
        {
            self.gram = Some(gram);
        }
        match part {
            Part::Heuristic => self.heuristic = state.prepared.heuristic,
            Part::Alone(at) => self.begun[at] = Some(state),
        }
    }
}

/// The states of one search, for a [`Book`].
struct Page<'p> {
    book: Arc<Book<'p>>,
    part: Part,
    /// Searches go side by side, and each has to come in so often.
    last: Instant,
}

impl Save for Page<'_> {
    fn is_due(&self) -> bool {
        let writer = self.book.writer.as_ref().map(lock);
        writer.is_some_and(|writer| writer.interval.is_over(self.last))
    }

    fn is_long(&self, seconds: f64) -> bool {
        let writer = self.book.writer.as_ref().map(lock);
        writer.is_some_and(|writer| writer.interval.is_long(seconds))
    }

    fn save(&mut self, state: State) {
        self.book.change(|known| known.enter(self.part, state));
        // What ends before its time is written with what comes next.
        if self.is_due() {
            self.book.write();
            self.last = Instant::now();
        }
    }
}

impl Settled {
    /// Its model, and what is proved of its decision.
    pub(super) fn proof(&self) -> (Vec<usize>, Certified) {
        (wide(&self.support), Certified::restored(self.bound))
    }
}

/// How far the search for a first model has come, if it could be of this problem.
pub(super) fn heuristic(known: &Priced, problem: &Problem) -> Option<Heuristic> {
    known.heuristic.clone().filter(|own| own.fits(problem))
}
