//! [`Explorer`]: explores the tasks of a [`Cluster`](crate::search::Cluster) in a process that has the data.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::bound::Certified;
use crate::error::Result;
use crate::prepare::shared::SharedWork;
use crate::problem::Problem;
use crate::search::checkpoint::{Stamp, State, refuse, wide};
use crate::search::{Context, Restrict, Search, Task, seal_answer};
use crate::settings::{Mechanisms, Settings, Status};
use crate::solve::{Driver, best_first};

/// Explores subtrees of searches that other processes own.
///
/// It keeps the data that the tasks of one search share, above all the Gram matrix. Tasks that belong to another
/// problem are refused.
///
/// ```
/// use l0star::search::{Answer, Broken, Budgets, Cluster};
/// use l0star::{Design, Explorer, Problem, Run, Settings, Status};
///
/// /// A cluster of one worker, in this process.
/// struct Here(Explorer, Vec<Answer>);
///
/// impl Cluster for Here {
///     fn workers(&mut self) -> usize {
///         1
///     }
///     fn submit(&mut self, id: u64, task: &[u8]) -> Result<(), Broken> {
///         let bytes = self.0.explore(task).ok();
///         self.1.push(Answer { id, bytes });
///         Ok(())
///     }
///     fn collect(&mut self) -> Result<Vec<Answer>, Broken> {
///         Ok(std::mem::take(&mut self.1))
///     }
///     fn finish(&mut self, _reason: Option<&str>) {}
/// }
///
/// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
/// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).k(1).build()?;
/// let settings = Settings::default();
/// let cluster = Here(Explorer::new(&problem, &settings), Vec::new());
/// let solution = Run::new(&problem, &settings).on_cluster(cluster).solve()?;
/// assert_eq!(solution.status, Status::Optimal);
/// # Ok::<(), l0star::Error>(())
/// ```
pub struct Explorer {
    problem: Problem,
    settings: Settings,
    known: Option<Known>,
}

/// Data that the tasks of one search share.
struct Known {
    stamp: Stamp,
    problem: Problem,
    columns: Vec<u32>,
    shared: SharedWork,
}

impl Explorer {
    /// An explorer for searches of this problem with any k. Threads, mechanisms, the memory limit and the interrupt
    /// are taken from `settings`; everything else comes with the tasks.
    pub fn new(problem: &Problem, settings: &Settings) -> Self {
        Self {
            problem: problem.clone(),
            settings: Settings {
                // The search that owns the subtrees also searches for models.
                mechanisms: Mechanisms {
                    primal: false,
                    ..settings.mechanisms
                },
                time_limit: None,
                search_time_limit: None,
                ..settings.clone()
            },
            known: None,
        }
    }

    /// Explores the subtrees of a task. Returns the remaining subtrees, the evidence of what was discarded, and the
    /// models found.
    pub fn explore(&mut self, task: &[u8]) -> Result<Vec<u8>> {
        let bytes = task;
        let mut task = Task::decode(bytes)?;
        let settings = Settings {
            gap: task.gap,
            relative_gap: task.relative_gap,
            top: task.top.and_then(NonZeroUsize::new),
            within: task.within,
            node_limit: task.nodes,
            ..self.settings.clone()
        };
        settings.check()?;
        // The columns are added as a list without nodes, so that every task of the search uses the same ones.
        task.state.lists.push(std::mem::take(&mut task.columns));
        let columns = task.state.alive();
        let Known {
            problem, shared, ..
        } = self.known(&task, &settings, &columns)?;
        task.state.check(problem)?;
        if !task.state.started {
            return refuse("a task without nodes");
        }
        let mut context = Context::new(problem, &settings);
        context.resume(&task.state);
        let driver = Exploring {
            settings: &settings,
            time: Duration::try_from_secs_f64(task.seconds).unwrap_or(Duration::MAX),
        };
        let left = best_first(context, Some(task.state), shared, driver);
        Ok(seal_answer(bytes, left))
    }

    /// The problem of a task, with its shared data.
    fn known(&mut self, task: &Task, settings: &Settings, columns: &[usize]) -> Result<&mut Known> {
        let narrow: Vec<u32> = columns.iter().map(|j| *j as u32).collect();
        let is_known = |known: &Known| known.stamp == task.stamp && known.columns == narrow;
        if !self.known.as_ref().is_some_and(is_known) {
            let same = self.known.take().filter(|known| known.stamp == task.stamp);
            let problem = match same {
                Some(known) => known.problem,
                None => find(&self.problem, task, settings)?,
            };
            self.known = Some(Known {
                stamp: task.stamp.clone(),
                problem,
                shared: SharedWork::about(wide(&narrow)),
                columns: narrow,
            });
        }
        match &mut self.known {
            Some(known) => Ok(known),
            None => refuse("a task of no problem"),
        }
    }
}

/// The problem of a task: the one with its k, or that of the leaders of twins.
fn find(problem: &Problem, task: &Task, settings: &Settings) -> Result<Problem> {
    let whole = problem.with_k(task.k)?;
    let difference = task.stamp.check(&Stamp::new(&whole, settings)?);
    let Err(difference) = difference else {
        return Ok(whole);
    };
    match whole.leading()? {
        Some(leading) if task.stamp.check(&Stamp::new(&leading, settings)?).is_ok() => Ok(leading),
        _ => Err(difference),
    }
}

/// Explores for a given time.
struct Exploring<'s> {
    settings: &'s Settings,
    time: Duration,
}

impl<'p> Driver<'p> for Exploring<'_> {
    type Outcome = State;

    fn drive<T: Restrict>(self, search: Search<'p, T>) -> State {
        search.explore(self.settings, self.time)
    }

    fn ended(
        self,
        context: Context<'p>,
        state: State,
        stopped: Option<Status>,
        _bound: Certified,
    ) -> State {
        let mut state = context.saved(state);
        if stopped.is_none() {
            state.close();
        }
        state
    }
}
