//! Solves a problem in one call.

mod best_first;
pub(crate) mod twins;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use best_first::{Driver, best_first};

use self::best_first::closes_root;
use crate::bound::Certified;
use crate::error::{Error, Result};
use crate::heuristic;
use crate::prepare::shared::SharedWork;
use crate::problem::Problem;
use crate::relaxation::pdal::{self, Pdal};
use crate::relaxation::sga::Sga;
use crate::search::checkpoint::{Archive, Part, Stamp, State};
use crate::search::paper::OrderedTree;
use crate::search::{
    ArchiveSink, Checkpoint, Cluster, Context, Observer, Phase, Progress, Restrict, Save, Search,
    SharedCluster, Sink, Slot, Source, Tree, Writer, exhaustive,
};
use crate::settings::{Method, Model, RelaxationKind, Settings, Solution, Status};

/// Solves a problem.
///
/// ```
/// use l0star::{Design, Method, Problem, Settings, Status};
///
/// // Two columns; the response is the second one, nearly.
/// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
/// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).k(1).ridge(1e-4).build()?;
/// let solution = l0star::solve(&problem, &Settings::new(Method::Paper))?;
/// assert_eq!(solution.status, Status::Optimal);
/// assert_eq!(solution.support, [1]);
/// # Ok::<(), l0star::Error>(())
/// ```
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution> {
    Run::new(problem, settings).solve()
}

/// Like [`solve`], with every event sent to `observer`.
pub fn solve_observed<'p>(
    problem: &'p Problem,
    settings: &Settings,
    observer: Observer<'p>,
) -> Result<Solution> {
    Run::new(problem, settings).observe(observer).solve()
}

/// A run to be made: a problem, settings, an observer and checkpoints.
///
/// ```
/// use std::time::{Duration, Instant};
/// use l0star::{Checkpoint, Design, Problem, Run, Settings, Status};
///
/// let design = Design::dense(4, 2, vec![1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
/// let problem = Problem::builder(design, vec![1.1, 1.9, 3.2, 3.9]).k(1).build()?;
/// let mut saved = Vec::new();
/// let limited = Settings { node_limit: Some(0), ..Settings::default() };
/// let keep = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
/// let stopped = Run::new(&problem, &limited).save(Duration::from_secs(60), keep).solve()?;
/// assert_eq!(stopped.status, Status::NodeLimit);
/// // Perhaps in another process:
/// let checkpoint = Checkpoint::decode(&saved)?;
/// let solution = Run::new(&problem, &Settings::default()).resume(checkpoint).solve()?;
/// assert_eq!(solution.status, Status::Optimal);
/// # Ok::<(), l0star::Error>(())
/// ```
pub struct Run<'p> {
    problem: &'p Problem,
    settings: Settings,
    observer: Option<Observer<'p>>,
    sink: Option<(Duration, Sink<'p>)>,
    resume: Option<Checkpoint>,
    start: Vec<Vec<usize>>,
    /// Stamp of the problem and the settings, if it is known.
    stamp: Option<Stamp>,
    /// Set for one of several searches whose checkpoints are kept together: its state, and the saver of its states.
    taken_up: Option<TakenUp<'p>>,
    cluster: Option<SharedCluster>,
}

struct TakenUp<'p> {
    state: Option<State>,
    saver: Option<Box<dyn Save + 'p>>,
}

impl<'p> Run<'p> {
    /// A run in which nothing is done yet.
    pub fn new(problem: &'p Problem, settings: &Settings) -> Self {
        Self {
            problem,
            settings: settings.clone(),
            observer: None,
            sink: None,
            resume: None,
            start: Vec::new(),
            stamp: None,
            taken_up: None,
            cluster: None,
        }
    }

    /// Makes this one of several runs whose checkpoints are kept together. It resumes from a state that belongs to it,
    /// and its states go to a saver.
    pub(crate) fn take_up(
        mut self,
        state: Option<State>,
        saver: Option<Box<dyn Save + 'p>>,
    ) -> Self {
        self.taken_up = Some(TakenUp { state, saver });
        self
    }

    /// The state to resume from, the saver of the run's states, and the writer that hands out the last checkpoint.
    fn open(&mut self) -> Result<(TakenUp<'p>, Option<Arc<Writer<'p>>>)> {
        let mut none = TakenUp {
            state: None,
            saver: None,
        };
        let (problem, sink) = (self.problem, self.sink.take());
        let (taken_up, writer) = match self.taken_up.take() {
            Some(taken_up) => (taken_up, None),
            None if sink.is_none() && self.resume.is_none() => (none, None),
            None => {
                let stamp = match self.stamp.take() {
                    Some(stamp) => stamp,
                    None => Stamp::new(problem, &self.settings)?,
                };
                let new = Part::new(stamp, &[problem.k()]);
                let saved = self.resume.take().map(|Checkpoint(archive)| archive);
                let mut archive = Archive::of_one(saved)?;
                none.state = archive.take_up(0, new)?.resume(0, problem);
                let sink = sink.map(|(every, mut sink)| -> (_, ArchiveSink<'p>) {
                    let hand_out = move |archive: &mut Archive| {
                        let checkpoint = Checkpoint(std::mem::take(archive));
                        sink(&checkpoint);
                        *archive = checkpoint.0;
                    };
                    (every, Box::new(hand_out))
                });
                let writer = Writer::new(archive, sink);
                none.saver = Slot::open(&writer, 0, |part, state| part.enter(0, state));
                (none, Some(writer))
            }
        };
        if let Some(state) = &taken_up.state {
            state.check(problem)?;
        }
        Ok((taken_up, writer))
    }

    /// Tries these sets of features first; features that the problem does not have are left out.
    pub fn start(mut self, sets: Vec<Vec<usize>>) -> Self {
        self.start = sets;
        self
    }

    /// Sends every event to `observer`.
    pub fn observe(mut self, observer: Observer<'p>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Hands out a checkpoint at this interval (zero: at every step), and one at the end, however the run ends
    /// (`method=best-first`).
    ///
    /// A step is a node. Before there are nodes, it is a step of the heuristic, a round of screening, a band of the
    /// Gram matrix or a round of row proofs. A Gram matrix that took more than a twentieth of the interval is part of
    /// all later checkpoints and makes them large (4 d² bytes). The interval is then stretched so that writing takes
    /// at most a twentieth of the time.
    pub fn save(mut self, every: Duration, sink: Sink<'p>) -> Self {
        self.sink = Some((every, sink));
        self
    }

    /// Resumes from a checkpoint. The limits are those of this run; counters and seconds continue.
    pub fn resume(mut self, checkpoint: Checkpoint) -> Self {
        self.resume = Some(checkpoint);
        self
    }

    /// Lets other processes explore subtrees, as soon as there are enough of them (`method=best-first`). The result is
    /// certified like that of a run on one machine, and limits and checkpoints are those of this run.
    pub fn on_cluster(self, cluster: impl Cluster) -> Self {
        self.share_out(Some(SharedCluster::new(cluster)))
    }

    /// Like [`Run::on_cluster`], with a cluster that other runs use, too.
    pub(crate) fn share_out(mut self, cluster: Option<SharedCluster>) -> Self {
        self.cluster = cluster;
        self
    }

    /// Solves the problem.
    pub fn solve(self) -> Result<Solution> {
        self.solve_next(&mut SharedWork::single(), None)
    }

    /// Solves the problem after runs on problems that differ only in k, and shares their data. `known`: the best model
    /// of a smaller k.
    pub(crate) fn solve_next(
        self,
        shared: &mut SharedWork,
        known: Option<&Model>,
    ) -> Result<Solution> {
        let is_best_first = self.settings.method == Method::BestFirst;
        match self.problem.leading()?.filter(|_| is_best_first) {
            Some(leading) => twins::solve(self, &leading, shared, known),
            None => self.solve_whole(shared, known),
        }
    }

    /// Solves the problem as given, including its twins.
    fn solve_whole(mut self, shared: &mut SharedWork, known: Option<&Model>) -> Result<Solution> {
        self.settings.check()?;
        let problem = self.problem;
        let settings = &self.settings.clone();
        let exact = matches!(settings.method, Method::BestFirst | Method::Exhaustive);
        if let (Some(structure), false) = (&problem.structure, exact) {
            let what = match (problem.outputs(), problem.loss.classes()) {
                (1, _) => structure.name(),
                (_, None) => "several responses",
                (_, Some(_)) => "several classes",
            };
            let method = settings.method.as_str();
            return Err(Error::Structured { method, what });
        }
        let is_dual = matches!(settings.method, Method::Paper | Method::Diht);
        if is_dual && problem.joint().is_some() {
            return Err(Error::Coupled {
                method: settings.method.as_str(),
                loss: problem.loss.name(),
            });
        }
        if settings.method == Method::Paper && problem.is_steep() {
            return Err(Error::Steep {
                method: settings.method.as_str(),
                loss: problem.loss.name(),
            });
        }
        let (taken_up, writer) = self.open()?;
        let resumed = taken_up.state;
        // The clock starts here.
        let mut context = Context::new(problem, settings);
        if let Some(observer) = self.observer {
            context.observe(observer);
        }
        if let Some(state) = &resumed {
            context.resume(state);
        }
        if let Some(known) = known.filter(|_| settings.method == Method::BestFirst) {
            context.adopt(known);
        }
        context.source = Source::Given;
        for set in self.start {
            let known = |j: &usize| problem.selectable.binary_search(j).is_ok();
            let wanted = set.into_iter().filter(known);
            let room = problem.support_size();
            let support = match &problem.structure {
                Some(structure) => structure.close(&[], wanted, |_| true, room),
                None => {
                    let mut support: Vec<usize> = wanted.collect();
                    support.sort_unstable();
                    support.dedup();
                    support.truncate(room);
                    support
                }
            };
            context.try_support(&support);
        }
        context.save_to(taken_up.saver);
        context.cluster = self.cluster;
        let found = match settings.method {
            Method::BestFirst => best_first(context, resumed, shared, ToTheEnd { settings }),
            Method::Paper => paper(context, settings),
            Method::Exhaustive => {
                context.enter(Phase::Search);
                let (bound, stopped) = exhaustive::run(&mut context)?;
                context.solution(settings, stopped, bound)
            }
            Method::Omp | Method::Iht | Method::Htp | Method::Diht => inexact(context, settings),
        };
        if let Some(writer) = writer {
            writer.finish();
        }
        Ok(found)
    }
}

/// Runs one search until it is over or a limit is reached.
struct ToTheEnd<'s> {
    settings: &'s Settings,
}

impl<'p> Driver<'p> for ToTheEnd<'_> {
    type Outcome = Solution;

    fn drive<T: Restrict>(self, search: Search<'p, T>) -> Solution {
        run(search, self.settings)
    }

    fn ended(
        self,
        mut context: Context<'p>,
        state: State,
        stopped: Option<Status>,
        bound: Certified,
    ) -> Solution {
        context.save(context.saved(state));
        context.solution(self.settings, stopped, Some(bound))
    }
}

fn paper(context: Context, settings: &Settings) -> Solution {
    let problem = context.problem;
    let (warm, pruning) = (settings.warm_start, settings.pruning);
    match settings.relaxation {
        RelaxationKind::Pdal => {
            let relaxation = Pdal::within(problem, pdal::EPSILON, &context.limits);
            let tree = OrderedTree::new(relaxation, warm, pruning).closing_root(closes_root);
            run(Search::new(context, tree), settings)
        }
        RelaxationKind::Sga => {
            let relaxation = Sga::new(problem, heuristic::EPSILON);
            let tree = OrderedTree::new(relaxation, warm, pruning).closing_root(closes_root);
            run(Search::new(context, tree), settings)
        }
    }
}

pub(crate) fn run<T: Tree>(mut search: Search<T>, settings: &Settings) -> Solution {
    let stopped = match search.run(settings) {
        Progress::Stopped(status) => Some(status),
        Progress::Running | Progress::Done => None,
    };
    search.save(stopped.is_none());
    let bound = search.lower_bound();
    search
        .into_context()
        .solution(settings, stopped, Some(bound))
}

/// The paper counts an inexact method as one solver call.
fn inexact(mut context: Context, settings: &Settings) -> Solution {
    context.enter(Phase::Heuristic);
    let supports = heuristic::supports_within(settings.method, context.problem, &context.limits);
    let mut last = Vec::new();
    let mut stopped = None;
    for support in supports.into_iter().flatten() {
        last = support;
        stopped = context.limits.reached();
        if stopped.is_some() {
            break;
        }
    }
    context.try_support(&last);
    context.counters.calls = 1;
    context.solution(settings, stopped, None)
}
