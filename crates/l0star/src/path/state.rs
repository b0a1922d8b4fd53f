//! [`PathState`]: a path whose sizes are solved one at a time.

use std::sync::Arc;

use super::saved::SavedPath;
use super::{PathObserver, PathSize, best_of, share_bounds, share_models};
use crate::error::Result;
use crate::prepare::shared::SharedWork;
use crate::problem::Problem;
use crate::search::checkpoint::{Part, Stamp};
use crate::search::{Event, SharedCluster, Writer};
use crate::settings::{Settings, Solution};
use crate::solve::Run;

/// A path between two of its sizes: the solved ones, and the data shared with the remaining ones.
///
/// Several paths can take turns on any threads. [`Batch::path`](crate::Batch::path) begins one.
pub struct PathState<'p> {
    /// The problem; its own k does not matter.
    problem: Problem,
    /// The sizes, in increasing order.
    pub(super) sizes: Vec<usize>,
    pub(super) shared: SharedWork,
    pub(super) solved: Vec<Option<Solution>>,
    /// Whether a search has made the data that the sizes share.
    pub(super) is_prepared: bool,
    /// Set where checkpoints are wanted, or there is one to resume from.
    pub(super) saved: Option<SavedPath<'p>>,
    /// The position of the size that [`PathState::step`] solves next.
    next: usize,
    cluster: Option<SharedCluster>,
}

impl<'p> PathState<'p> {
    /// A path. `writer`: the receiver of its checkpoints, and the number of its part there.
    pub(crate) fn new(
        problem: &Problem,
        settings: &Settings,
        sizes: Vec<usize>,
        writer: Option<(Arc<Writer<'p>>, usize)>,
    ) -> Result<Self> {
        if let Some(smallest) = sizes.first() {
            problem.with_k(*smallest)?;
        }
        let saved = match (writer, sizes.last()) {
            (Some((writer, part)), Some(largest)) => {
                let stamp = Stamp::new(&problem.with_k(*largest)?, settings)?;
                let new = Part::new(stamp, &sizes);
                Some(SavedPath::open(writer, part, new, problem)?)
            }
            _ => None,
        };
        // A single size has nothing to share.
        let shared = match sizes.len() {
            1 => SharedWork::single(),
            _ => SharedWork::default(),
        };
        Ok(Self {
            problem: problem.clone(),
            shared,
            solved: vec![None; sizes.len()],
            sizes,
            is_prepared: false,
            saved,
            next: 0,
            cluster: None,
        })
    }

    /// Lets other processes explore subtrees of every size.
    pub(super) fn share_out(&mut self, cluster: Option<SharedCluster>) {
        self.cluster = cluster;
    }

    pub(super) fn has_cluster(&self) -> bool {
        self.cluster.is_some()
    }

    /// The sizes, in increasing order.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Number of sizes that have had their turn.
    pub fn done(&self) -> usize {
        self.next
    }

    /// A ridge with which the proofs are much easier than with the path's own; see [`Problem::stronger_ridge`].
    pub fn stronger_ridge(&self, ridge: f64) -> f64 {
        self.problem.stronger_ridge(ridge)
    }

    /// Whether all sizes have had their turn.
    pub fn is_done(&self) -> bool {
        self.next == self.sizes.len()
    }

    /// Solves the next size within the limits of `settings`, which are those of one search; `None` when all have had
    /// their turn. A size whose search was over in an earlier run is returned at once.
    pub fn step(&mut self, settings: &Settings) -> Result<Option<PathSize>> {
        self.step_observed(settings, None)
    }

    /// Like [`PathState::step`], with every event sent to `observer`.
    pub fn step_observed(
        &mut self,
        settings: &Settings,
        observer: Option<&mut PathObserver<'_>>,
    ) -> Result<Option<PathSize>> {
        let at = self.next;
        if self.is_done() {
            return Ok(None);
        }
        settings.check()?;
        if at == 0 {
            self.restore(settings)?;
        }
        self.next += 1;
        if self.solved[at].is_none() {
            self.solve(at, settings, observer)?;
        }
        Ok(self.point(at))
    }

    /// The solved sizes, with the bounds that they share. Ends the path's checkpoints.
    pub fn finish(&mut self, settings: &Settings) -> Vec<PathSize> {
        if let Some(saved) = &self.saved {
            saved.finish();
        }
        let found = self.sizes.iter().zip(&self.solved);
        let found = found.filter_map(|(k, found)| Some((*k, found.clone()?)));
        let (sizes, mut solutions): (Vec<usize>, Vec<Solution>) = found.unzip();
        share_models(&mut solutions);
        share_bounds(&mut solutions, settings);
        let points = sizes.into_iter().zip(solutions);
        points
            .map(|(k, solution)| PathSize::new(&self.problem, k, solution))
            .collect()
    }

    pub(super) fn problem(&self, at: usize) -> Result<Problem> {
        self.problem.with_k(self.sizes[at])
    }

    pub(super) fn point(&self, at: usize) -> Option<PathSize> {
        let solution = self.solved[at].clone()?;
        Some(PathSize::new(&self.problem, self.sizes[at], solution))
    }

    /// Restores the sizes whose search was over in an earlier run.
    pub(super) fn restore(&mut self, settings: &Settings) -> Result<()> {
        let Some(saved) = &self.saved else {
            return Ok(());
        };
        for at in (0..self.sizes.len()).filter(|at| saved.is_over(*at)) {
            let problem = self.problem(at)?;
            let run = saved.attach(at, &problem, Run::new(&problem, settings));
            self.solved[at] = Some(run.solve()?);
        }
        Ok(())
    }

    /// Searches one size.
    pub(super) fn solve(
        &mut self,
        at: usize,
        settings: &Settings,
        observer: Option<&mut PathObserver<'_>>,
    ) -> Result<()> {
        let problem = self.problem(at)?;
        let settings = self.limited(settings, at);
        let mut run = Run::new(&problem, &settings).share_out(self.cluster.clone());
        if let Some(observer) = observer {
            let k = problem.k();
            run = run.observe(Box::new(move |event: &Event| observer(k, event)));
        }
        let known = best_of(&self.solved[..at]).cloned();
        let goes_on = self.saved.as_ref().is_some_and(|saved| saved.has_nodes(at));
        if let Some(saved) = &self.saved {
            saved.take_up(self.shared.kept.as_ref());
            run = saved.attach(at, &problem, run);
        }
        self.solved[at] = Some(run.solve_next(&mut self.shared, known.as_ref())?);
        if let Some(saved) = &self.saved {
            saved.leave(self.shared.kept.as_ref());
        }
        // A search that already has nodes makes its own data.
        self.is_prepared |= problem.support_size() > 0 && !goes_on;
        Ok(())
    }

    /// The settings with the node limit that remains for a size, which applies to all its searches together.
    pub(super) fn limited(&self, settings: &Settings, at: usize) -> Settings {
        let done = self.saved.as_ref().map_or(0, |saved| saved.nodes(at));
        Settings {
            node_limit: settings.node_limit.map(|limit| limit.saturating_sub(done)),
            ..settings.clone()
        }
    }
}
