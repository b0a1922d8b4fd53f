//! The best model of every size in one run.
//!
//! Sizes are solved in increasing order. They share the Gram matrix and the lifted frame of all columns. Each size
//! starts from the best model of the size before, extended by one feature. The optimum does not increase with k, so a
//! bound of one size holds for every smaller one.

mod checkpoint;
mod saved;
mod state;
#[cfg(test)]
mod tests;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

pub use self::checkpoint::PathCheckpoint;
pub use self::state::PathState;
use crate::error::Result;
use crate::loss::{ResponseKind, gamma_deviance};
use crate::problem::Problem;
use crate::search::checkpoint::Archive;
use crate::search::incumbents::PROMISE;
use crate::search::{ArchiveSink, Cluster, Event, SharedCluster, Writer};
use crate::settings::{Model, Settings, Solution, Status, scale_of};
use crate::solve::Run;
use crate::tuning::prepare::LONG_SIZE;

/// A path to be solved: a problem whose own k does not matter, settings, sizes and observers.
///
/// `time_limit` applies to the whole path: every size gets an equal share of the remaining time, so that each has a
/// model and a bound. `search_time_limit`, `node_limit` and `memory_limit` apply to each size. With several threads
/// and no observer, sizes are solved side by side. Sizes that take long are then solved one after the other, with all
/// threads.
///
/// Sizes need not be consecutive; they are solved in increasing order, each once.
///
/// ```
/// use l0star::{Design, PathRun, Problem, Settings, Status};
///
/// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
/// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).build()?;
/// let path = PathRun::new(&problem, &Settings::default(), 0..=2).solve()?;
/// assert_eq!(path[1].solution.support, [1]);
/// assert!(path.windows(2).all(|pair| pair[1].solution.objective <= pair[0].solution.objective));
/// # Ok::<(), l0star::Error>(())
/// ```
pub struct PathRun<'p> {
    problem: &'p Problem,
    settings: Settings,
    sizes: Vec<usize>,
    observer: Option<PathObserver<'p>>,
    done: Option<PathSizeTaker<'p>>,
    sink: Option<(Duration, PathSink<'p>)>,
    resume: Option<PathCheckpoint>,
    cluster: Option<SharedCluster>,
}

/// A listener to the events of a path; it receives the current size and the event.
pub type PathObserver<'p> = Box<dyn FnMut(usize, &Event) + 'p>;

/// Receives the solved sizes of a path, one after the other.
pub type PathSizeTaker<'p> = Box<dyn FnMut(&PathSize) + 'p>;

/// Receives the checkpoints of a path, on the thread that makes them.
pub type PathSink<'p> = Box<dyn FnMut(&PathCheckpoint) + Send + 'p>;

/// One size of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathSize {
    /// Limit on the number of selectable features.
    pub k: usize,
    /// The best model of that size, with its proof.
    pub solution: Solution,
    /// Information criteria of the model; `None` for a loss that is not a likelihood.
    pub criteria: Option<Criteria>,
}

/// Information criteria: smaller is better, and only differences between models of the same data are meaningful.
///
/// `-2 log likelihood + penalty · parameters`. Parameters are the nonzero coefficients, including always-in ones and
/// the intercept. Logistic: the likelihood of the labels. Poisson: that of the counts, less that of a perfect fit.
/// Gamma: that of the amounts, with the dispersion that is most likely. Quadratic: that of normal errors of unknown
/// variance, `n log(2 L)`; with Huber's loss in place of the quadratic one, it is a quasi-likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Criteria {
    /// Akaike's criterion, with a penalty of 2.
    pub aic: f64,
    /// The Bayesian criterion, with a penalty of log n.
    pub bic: f64,
    /// The extended Bayesian criterion (Chen and Chen 2008, γ = 1): BIC + 2 log C(features, size), for problems with
    /// many features.
    pub ebic: f64,
}

impl<'p> PathRun<'p> {
    /// A path over these sizes, with nothing done yet.
    pub fn new(
        problem: &'p Problem,
        settings: &Settings,
        sizes: impl IntoIterator<Item = usize>,
    ) -> Self {
        let mut sizes: Vec<usize> = sizes.into_iter().collect();
        sizes.sort_unstable();
        sizes.dedup();
        Self {
            problem,
            settings: settings.clone(),
            sizes,
            observer: None,
            done: None,
            sink: None,
            resume: None,
            cluster: None,
        }
    }

    /// Sends every event to `observer`, with its size.
    pub fn observe(mut self, observer: PathObserver<'p>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Hands out every size when its search has ended. Its bound can still improve.
    pub fn each(mut self, done: PathSizeTaker<'p>) -> Self {
        self.done = Some(done);
        self
    }

    /// Hands out a checkpoint at this interval (zero: at every step), and one at the end, however the run ends
    /// (`method=best-first`).
    ///
    /// A checkpoint holds the finished sizes and the current searches, each as in [`Run::save`]. A Gram matrix that
    /// takes long to make is in it once, for all of them.
    pub fn save(mut self, every: Duration, sink: PathSink<'p>) -> Self {
        self.sink = Some((every, sink));
        self
    }

    /// Resumes from a checkpoint of the same path: finished sizes are not searched again, and those that a limit
    /// stopped continue. The limits are those of this run; counters and seconds continue.
    pub fn resume(mut self, checkpoint: PathCheckpoint) -> Self {
        self.resume = Some(checkpoint);
        self
    }

    /// Lets other processes explore subtrees of every size ([`Run::on_cluster`]); sizes are solved one after the
    /// other.
    pub fn on_cluster(mut self, cluster: impl Cluster) -> Self {
        self.cluster = Some(SharedCluster::new(cluster));
        self
    }

    /// Solves every size. When a limit stops one size, the later ones are still solved within the remaining limits.
    pub fn solve(mut self) -> Result<Vec<PathSize>> {
        self.settings.check()?;
        let start = Instant::now();
        let mut path = self.begin()?;
        path.restore(&self.settings)?;
        path.share_out(self.cluster.take());
        let mut side_by_side =
            self.settings.thread_count() > 1 && self.observer.is_none() && !path.has_cluster();
        for at in 0..path.sizes.len() {
            // The first size that needs a search prepares the shared data.
            if side_by_side && path.is_prepared {
                self.solve_aside(&mut path)?;
                side_by_side = false;
            }
            if path.solved[at].is_none() {
                let limit = self.settings.time_limit;
                let settings = Settings {
                    time_limit: limit.map(|limit| {
                        let left = path.solved[at..].iter().filter(|found| found.is_none());
                        share(limit, start, left.count())
                    }),
                    ..self.settings.clone()
                };
                path.solve(at, &settings, self.observer.as_mut())?;
            }
            if let (Some(done), Some(point)) = (&mut self.done, path.point(at)) {
                done(&point);
            }
        }
        Ok(path.finish(&self.settings))
    }

    /// The path with its checkpoints, if they are wanted.
    fn begin(&mut self) -> Result<PathState<'p>> {
        let (sink, resume) = (self.sink.take(), self.resume.take());
        let is_kept = sink.is_some() || resume.is_some();
        let archive = Archive::of_one(resume.map(|PathCheckpoint(archive)| archive))?;
        let sink = sink.map(|(every, mut sink)| -> (_, ArchiveSink<'p>) {
            let hand_out = move |archive: &mut Archive| {
                let checkpoint = PathCheckpoint(std::mem::take(archive));
                sink(&checkpoint);
                *archive = checkpoint.0;
            };
            (every, Box::new(hand_out))
        });
        let writer = is_kept.then(|| (Writer::new(archive, sink), 0));
        PathState::new(self.problem, &self.settings, self.sizes.clone(), writer)
    }

    /// Solves the remaining sizes side by side, each on one thread. Sizes that take long are left for later.
    fn solve_aside(&self, path: &mut PathState<'p>) -> Result<()> {
        let limit = self.settings.time_limit.map(|limit| limit / 4);
        let aside = limit.map_or(LONG_SIZE, |limit| limit.min(LONG_SIZE));
        let settings = Settings {
            threads: None,
            time_limit: Some(aside),
            ..self.settings.clone()
        };
        // A search that was stopped by its own limit would be stopped by it again.
        let own = self.settings.search_time_limit;
        let is_left =
            |status: Status| status == Status::TimeLimit && own.is_none_or(|own| own > aside);
        let next = AtomicUsize::new(0);
        let mut solved = std::mem::take(&mut path.solved);
        let solutions = Mutex::new(&mut solved);
        let solutions = || solutions.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || -> Result<()> {
            let mut shared = path.shared.clone();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= path.sizes.len() {
                    return Ok(());
                }
                let known = {
                    let solved = solutions();
                    if solved[at].is_some() {
                        continue;
                    }
                    best_of(&solved[..at]).cloned()
                };
                let problem = path.problem(at)?;
                let settings = path.limited(&settings, at);
                let mut run = Run::new(&problem, &settings);
                if let Some(saved) = &path.saved {
                    run = saved.attach(at, &problem, run);
                }
                let found = run.solve_next(&mut shared, known.as_ref())?;
                if let Some(saved) = &path.saved {
                    saved.leave(None);
                }
                if !is_left(found.status) {
                    solutions()[at] = Some(found);
                }
            }
        };
        let outcome = thread::scope(|scope| {
            let threads = 1..self.settings.thread_count().min(path.sizes.len());
            let others: Vec<_> = threads.map(|_| scope.spawn(work)).collect();
            let own = work();
            // The panic of a worker becomes a panic of the whole path.
            let others = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            others.fold(own, |first, other| first.and(other))
        });
        path.solved = solved;
        outcome
    }
}

/// The share of the remaining time for each of this many sizes.
fn share(limit: Duration, start: Instant, sizes: usize) -> Duration {
    limit.saturating_sub(start.elapsed()).div_f64(sizes as f64)
}

/// The best model of the largest solved size.
fn best_of(solved: &[Option<Solution>]) -> Option<&Model> {
    let last = solved.iter().rev().flatten().next();
    last.and_then(|solution| solution.solutions.first())
}

/// Makes the objective non-increasing: a model of one size is also one of every larger size, and may win a tie.
fn share_models(solutions: &mut [Solution]) {
    for at in 1..solutions.len() {
        let (before, after) = solutions.split_at_mut(at);
        let (known, own) = (&before[at - 1], &mut after[0]);
        if own.lower_bound.is_some() && own.solutions.len() <= 1 && known.objective < own.objective
        {
            own.objective = known.objective;
            own.support.clone_from(&known.support);
            own.coefficients.clone_from(&known.coefficients);
            own.intercept = known.intercept;
            own.solutions.clone_from(&known.solutions);
            own.lower_bound = own.lower_bound.map(|bound| bound.min(own.objective));
        }
    }
}

/// Makes the bounds consistent: the optimum does not increase with k, so a bound of one size bounds every smaller one.
fn share_bounds(solutions: &mut [Solution], settings: &Settings) {
    let mut known: f64 = 0.0;
    for solution in solutions.iter_mut().rev() {
        let Some(bound) = solution.lower_bound else {
            continue;
        };
        known = known.max(bound);
        solution.lower_bound = Some(known.min(solution.objective));
        let gap = solution.objective - known;
        let size = scale_of(solution.objective, solution.empty_objective);
        if solution.status.falls_short() && !settings.wants_list() {
            if gap <= PROMISE * size {
                solution.status = Status::Optimal;
            } else if gap <= settings.asked_gap(solution.objective) {
                solution.status = Status::GapReached;
            }
        }
    }
}

impl PathSize {
    fn new(problem: &Problem, k: usize, solution: Solution) -> Self {
        Self {
            k,
            criteria: Criteria::new(problem, &solution),
            solution,
        }
    }
}

impl Criteria {
    /// The criteria of a model; `None` for a loss that is not a likelihood.
    pub fn new(problem: &Problem, solution: &Solution) -> Option<Self> {
        if !problem.loss().is_likelihood() {
            return None;
        }
        let n = problem.observations() as f64;
        let columns = problem.columns();
        let mut x: Vec<(usize, f64)> = solution.coefficients.iter().copied().enumerate().collect();
        x.retain(|(_, x)| *x != 0.0);
        let mut parameters = x.len() as f64;
        if problem.has_intercept() {
            // The intercepts of classes sum to 0, and so do the coefficients of a feature.
            parameters += problem.outputs() as f64;
            x.extend((columns..).zip(solution.intercepts()));
        }
        if let Some(classes) = problem.loss().classes() {
            parameters *= 1.0 - 1.0 / classes as f64;
        }
        let loss = problem.mean_loss(&x);
        let deviance = match problem.loss().response() {
            ResponseKind::Real if problem.outputs() > 1 => {
                // Each response has its own variance.
                let squares = problem.mean_squares(&x);
                let logarithms = squares.iter().map(|s| s.max(f64::MIN_POSITIVE).ln());
                n * logarithms.sum::<f64>()
            }
            ResponseKind::Class
            | ResponseKind::Label
            | ResponseKind::Count
            | ResponseKind::Time => 2.0 * n * loss,
            ResponseKind::Positive => n * gamma_deviance(loss),
            // A perfect fit has no finite likelihood.
            ResponseKind::Real => n * (2.0 * loss).max(f64::MIN_POSITIVE).ln(),
        };
        let bic = deviance + problem.informative().ln() * parameters;
        let is_in = |leader: &&usize| {
            let mut columns = problem.members(**leader).into_iter();
            columns.any(|j| solution.coefficients[j] != 0.0)
        };
        let size = problem.selectable().iter().filter(is_in).count();
        let choices = ln_choose(problem.selectable().len(), size);
        Some(Self {
            aic: deviance + 2.0 * parameters,
            bic,
            ebic: bic + 2.0 * choices,
        })
    }
}

/// `log C(n, k)`.
fn ln_choose(n: usize, k: usize) -> f64 {
    let factors = (0..k.min(n - k)).map(|i| ((n - i) as f64 / (i + 1) as f64).ln());
    factors.sum()
}
