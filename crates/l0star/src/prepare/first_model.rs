//! The first model of a problem in Gram form: greedy steps, then swaps.

use crate::gram::local::Pinned;
use crate::gram::root::Root;
use crate::gram::swaps::{self, Climb};
use crate::linalg::cholesky::Cholesky;
use crate::search::checkpoint::{Heuristic, narrow, wide};
use crate::search::stage::{self, Stage};
use crate::search::{Context, Progress};

/// Finds a first model, by root indices. Unless a known model is good, the better of two greedy starts is taken: from
/// nothing and from the known model. Swaps follow. Resumes from a checkpoint's progress, if there is any.
pub(super) fn first_support(
    root: &Root,
    k: usize,
    known: Option<&[usize]>,
    is_good: bool,
    pinned: Pinned,
    context: &mut Context,
) -> Vec<usize> {
    let columns = &root.columns[..root.selectable];
    let indices = |support: &[usize]| -> Vec<usize> {
        let known = support.iter().filter_map(|j| columns.binary_search(j).ok());
        known.collect()
    };
    let start = match (known, &context.prepared.heuristic) {
        (Some(known), _) if is_good => indices(known),
        (_, Some(Heuristic::Swaps(support))) => indices(&wide(support)),
        _ => Vec::new(),
    };
    let grow = |start: &[usize]| Steps {
        climb: Climb::new(root.form(), start, k, pinned),
        swaps: None,
        columns,
    };
    let mut steps = grow(&start);
    stage::run(&mut steps, context);
    let mut chosen = steps.climb.chosen().to_vec();
    if let Some(known) = known.filter(|_| !is_good) {
        let limits = &context.limits;
        let other = swaps::greedy(root.form(), &indices(known), k, pinned, limits);
        let mut factor = Cholesky::new();
        let mut value = |chosen: &[usize]| swaps::value(root.form(), chosen, &mut factor);
        if value(&other) < value(&chosen) {
            chosen = other;
        }
    }
    if context.mechanisms.swaps {
        let climb = Climb::new(root.form(), &chosen, chosen.len(), pinned);
        if climb.is_full() {
            let swaps = Some(10 * k + 20);
            let mut steps = Steps {
                climb,
                swaps,
                columns,
            };
            stage::run(&mut steps, context);
            chosen.copy_from_slice(steps.climb.chosen());
        }
        chosen.sort_unstable();
    }
    chosen
}

/// The climb as a stage; a step adds a feature or makes a swap.
struct Steps<'f> {
    climb: Climb<'f>,
    /// Number of swaps left; `None` while features are added.
    swaps: Option<usize>,
    /// The column of each index.
    columns: &'f [usize],
}

impl<'p> Stage<'p> for Steps<'_> {
    fn step(&mut self, context: &mut Context<'p>) -> Progress {
        let goes_on = match &mut self.swaps {
            None => self.climb.grow(),
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                self.climb.swap()
            }
        };
        if !goes_on {
            return Progress::Done;
        }
        context.keep_heuristic(|| {
            let chosen = self.climb.chosen().iter();
            let mut support: Vec<usize> = chosen.map(|i| self.columns[*i]).collect();
            support.sort_unstable();
            Heuristic::Swaps(narrow(&support))
        });
        Progress::Running
    }
}
