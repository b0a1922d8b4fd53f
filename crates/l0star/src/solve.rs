//! One call from a problem to a solution.

pub(crate) mod twins;

use std::sync::Arc;
use std::time::Duration;

use crate::bound::Certified;
use crate::error::{Error, Result};
use crate::gram::relaxation::GramRelaxation;
use crate::heuristic;
use crate::prepare::enumeration;
use crate::prepare::shared::SharedWork;
use crate::prepare::start::{self, Prepared};
use crate::primal;
use crate::problem::{Problem, Structure};
use crate::relaxation::Relaxation;
use crate::relaxation::boxed::BoxedRows;
use crate::relaxation::pdal::{self, Pdal};
use crate::relaxation::rows::NewtonRows;
use crate::relaxation::sga::Sga;
use crate::relaxation::structured::{Rows, Structured};
use crate::search::binary::{BinaryNode, BinaryTree};
use crate::search::checkpoint::{Archive, Part, Stamp, State};
use crate::search::paper::OrderedTree;
use crate::search::{
    ArchiveSink, Checkpoint, Cluster, Context, Expansion, Observer, Phase, Progress, Restrict,
    Save, Search, SharedCluster, Sink, Slot, Source, Tree, Writer, exhaustive, models,
};
use crate::settings::{Method, Model, RelaxationKind, Settings, Solution, Status};
use crate::tuning::frames::MAX_COLUMNS;

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

/// [`solve`], with every event sent to `observer`.
pub fn solve_observed<'p>(
    problem: &'p Problem,
    settings: &Settings,
    observer: Observer<'p>,
) -> Result<Solution> {
    Run::new(problem, settings).observe(observer).solve()
}

/// A run to come: a problem, settings, and who listens.
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
    /// Of the problem and the settings, if it is known.
    stamp: Option<Stamp>,
    /// One of several searches whose checkpoints are kept together: where it stands, and where its states go.
    taken_up: Option<TakenUp<'p>>,
    cluster: Option<SharedCluster>,
}

struct TakenUp<'p> {
    state: Option<State>,
    saver: Option<Box<dyn Save + 'p>>,
}

impl<'p> Run<'p> {
    /// Nothing is done yet.
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

    /// One of several runs whose checkpoints are kept together: it resumes from a state that belongs to it, and its states go to a
    /// saver.
    pub(crate) fn take_up(
        mut self,
        state: Option<State>,
        saver: Option<Box<dyn Save + 'p>>,
    ) -> Self {
        self.taken_up = Some(TakenUp { state, saver });
        self
    }

    /// Where the run stands, where its states go, and who hands them out in the end.
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

    /// Tries these sets of features first, as far as the problem has them: a good model that is known already.
    pub fn start(mut self, sets: Vec<Vec<usize>>) -> Self {
        self.start = sets;
        self
    }

    /// Sends every event there.
    pub fn observe(mut self, observer: Observer<'p>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Hands out a checkpoint at this interval (zero: at every step), and one at the end, however that comes
    /// (`method=best-first`).
    ///
    /// A step is a node, or before there are nodes a step of the heuristic, a round of screening, a band of the Gram matrix, a round
    /// of row proofs. A Gram matrix that took more than a twentieth of the interval stays in all later checkpoints and makes
    /// them large (4 d² bytes); they are then handed out so seldom that this takes at most that share of the time.
    pub fn save(mut self, every: Duration, sink: Sink<'p>) -> Self {
        self.sink = Some((every, sink));
        self
    }

    /// Goes on where a checkpoint was made. Limits are those of this run; counters and seconds go on.
    pub fn resume(mut self, checkpoint: Checkpoint) -> Self {
        self.resume = Some(checkpoint);
        self
    }

    /// Lets other processes explore subtrees, as soon as there are enough of them (`method=best-first`). The result is certified as
    /// that of a run on one machine is, and limits and checkpoints are those of this run.
    pub fn on_cluster(self, cluster: impl Cluster) -> Self {
        self.share_out(Some(SharedCluster::new(cluster)))
    }

    /// [`Run::on_cluster`], with one that other runs use, too.
    pub(crate) fn share_out(mut self, cluster: Option<SharedCluster>) -> Self {
        self.cluster = cluster;
        self
    }

    /// Solves.
    pub fn solve(self) -> Result<Solution> {
        self.solve_next(&mut SharedWork::single(), None)
    }

    /// Solves after runs on problems that differ in k alone, with what they have in common; `known`: the best model of a
    /// smaller k.
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

    /// Solves the problem as it is, twins included.
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

/// What becomes of a search of the default method, whichever tree it has.
pub(crate) trait Driver<'p> {
    type Outcome;

    /// It is prepared.
    fn drive<T: Restrict>(self, search: Search<'p, T>) -> Self::Outcome;

    /// It is prepared to go on with the nodes of an earlier run, in their order.
    fn go_on<T: Restrict>(self, context: Context<'p>, tree: T, nodes: Vec<T::Node>) -> Self::Outcome
    where
        Self: Sized,
    {
        self.drive(Search::resumed(context, tree, nodes))
    }

    /// Whether nothing of what is open in `state` has to be looked at, with this to beat.
    fn is_over(&self, state: &State, cut: f64) -> bool {
        state.open.iter().all(|node| node.bound >= cut)
    }

    /// It ended before there were nodes, or all of the nodes of `state` were done with.
    fn ended(
        self,
        context: Context<'p>,
        state: State,
        stopped: Option<Status>,
        bound: Certified,
    ) -> Self::Outcome;
}

/// One search until it is over, or a limit is reached.
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

/// Prepares the search of a problem in the form that suits it.
pub(crate) fn best_first<'p, D: Driver<'p>>(
    mut context: Context<'p>,
    resumed: Option<State>,
    shared: &mut SharedWork,
    driver: D,
) -> D::Outcome {
    let problem = context.problem;
    context.model_searches = Some(primal::for_problem);
    context.optima = shared.optima();
    // Before there were nodes there is nothing to go on from but the incumbent, and what the context has prepared.
    let started = resumed.filter(|state| state.started);
    let cut = context.incumbents.cut();
    if let Some(state) = &started
        && driver.is_over(state, cut)
    {
        let bound = state.lower_bound();
        context.prepared = Default::default();
        return driver.ended(context, started.unwrap_or_default(), None, bound);
    }
    if started.is_none() && enumeration::settle_first(&mut context) {
        return enumerated(context, driver);
    }
    let alive = started.as_ref().map(State::alive);
    // Sets to start from need not be good ones.
    let given = started.is_none() && context.incumbents.first().is_some();
    if let Some(prepared) = Prepared::new(problem, &mut context, alive.as_deref(), shared) {
        if prepared.first.is_none() && started.is_none() {
            return enumerated(context, driver);
        }
        let is_plain = context.incumbents.decision().is_none() && !context.incumbents.wants_list();
        if let Some(boxed) = prepared.relaxation.boxed().filter(|_| is_plain) {
            return binary(context, boxed, started, driver);
        }
        if prepared.relaxation.explicit.is_some()
            && let Some(boxed) = boxed_rows(&context)
        {
            return binary(context, boxed, started, driver);
        }
        return begin(context, gram_tree(prepared), started, driver);
    }
    if let Some(boxed) = start::boxed(&mut context, alive.as_deref(), shared) {
        return binary(context, boxed, started, driver);
    }
    // For a decision the best model that is known is given, and heuristics know nothing of decisions.
    if context.incumbents.first().is_none() || (given && context.incumbents.decision().is_none()) {
        heuristic::first_incumbent(&mut context);
    }
    models::first(&mut context);
    heuristic::fill_list(&mut context);
    if let Some(status) = context.limits.reached() {
        // What comes next would only be prepared in vain.
        let bound = context.lower_bound(Some(Certified::TRIVIAL));
        return driver.ended(context, started.unwrap_or_default(), Some(status), bound);
    }
    // With heredity alone the tree does all the work.
    let tree_only = |structure: &Structure| structure.is_plain() && !problem.loss.is_quadratic();
    if problem
        .structure
        .as_ref()
        .is_some_and(|structure| !tree_only(structure))
    {
        context.enter(Phase::Root);
        let start = context.incumbents.first().map(|incumbent| incumbent.fit.x);
        let start = start.unwrap_or_default();
        if let Some(backend) = start::structured(&mut context, shared) {
            let relaxation = Structured::new(backend, &start);
            return binary(context, relaxation, started, driver);
        }
        let rows = Rows::new(problem, context.mechanisms, &context.limits);
        let relaxation = Structured::new(rows, &start);
        return binary(context, relaxation, started, driver);
    }
    // Where the Gram form does not apply to a quadratic there are many columns, and more of them are active at the root
    // than a Newton system should have.
    if problem.loss.is_quadratic() && problem.selectable.len() > MAX_COLUMNS {
        if let Some(relaxation) = shared.working(&context).cloned() {
            return binary(context, relaxation, started, driver);
        }
        let relaxation = Pdal::within(problem, pdal::FINE, &context.limits);
        return binary(context, relaxation, started, driver);
    }
    if let Some(boxed) = boxed_rows(&context) {
        return binary(context, boxed, started, driver);
    }
    let mut relaxation = NewtonRows::within(problem, context.mechanisms, &context.limits);
    if let Some(incumbent) = context.incumbents.first() {
        relaxation.start_at(&incumbent.fit.x);
    }
    binary(context, relaxation, started, driver)
}

/// The relaxation with boxes in matrix form, where the search for the best model should rather have it.
fn boxed_rows(context: &Context) -> Option<BoxedRows> {
    let (problem, mechanisms) = (context.problem, context.mechanisms);
    let is_plain = context.incumbents.decision().is_none() && !context.incumbents.wants_list();
    let is_wanted = is_plain && BoxedRows::is_wanted(problem, mechanisms, &context.limits);
    is_wanted.then(|| {
        let known = context.incumbents.first().map(|known| known.fit.x);
        BoxedRows::new(problem, &known.unwrap_or_default())
    })
}

/// The tree in Gram form.
fn gram_tree(prepared: Prepared<'_>) -> BinaryTree<GramRelaxation<'_>> {
    let Prepared { relaxation, first } = prepared;
    let first = first.map(|first| {
        let start = Arc::new(relaxation.start());
        BinaryNode::new(first.low, &first.inside, &first.free, Some(&start))
    });
    BinaryTree::new(relaxation).begin_with(first)
}

/// Whether the root of the default method alone proves the incumbent within the allowed gap. Nothing is left behind unless it
/// does, and nothing is counted: it is part of the caller's own call.
fn closes_root(context: &mut Context) -> bool {
    let (mark, counters) = (context.evidence.mark(), context.counters);
    let problem = context.problem;
    let prepared = Prepared::new(problem, context, None, &mut SharedWork::single());
    let closed = prepared.is_some_and(|prepared| {
        let is_empty = prepared.first.is_none();
        let mut tree = gram_tree(prepared);
        let (mut root, mut children) = (Vec::new(), Vec::new());
        if !is_empty {
            tree.root(context, &mut root);
        }
        let mut closes = |node| tree.expand(node, context, &mut children) == Expansion::Split;
        root.iter().all(&mut closes) && children.is_empty()
    });
    context.counters = counters;
    context.prepared = Default::default();
    if !closed {
        context.evidence.rewind(mark);
        context.reporter.set_features_left(problem.selectable.len());
    }
    closed
}

/// All models were enumerated: the search is over before it begins.
fn enumerated<'p, D: Driver<'p>>(mut context: Context<'p>, driver: D) -> D::Outcome {
    let bound = context.lower_bound(None);
    context.prepared = Default::default();
    let mut over = State::default();
    over.started = true;
    driver.ended(context, over, None, bound)
}

fn binary<'p, R: Relaxation + Clone + Send + Sync, D: Driver<'p>>(
    context: Context<'p>,
    relaxation: R,
    started: Option<State>,
    driver: D,
) -> D::Outcome {
    begin(context, BinaryTree::new(relaxation), started, driver)
}

/// Hands a search to its driver: a new one, or one with the nodes of an earlier run.
fn begin<'p, R: Relaxation + Clone + Send + Sync, D: Driver<'p>>(
    context: Context<'p>,
    tree: BinaryTree<R>,
    started: Option<State>,
    driver: D,
) -> D::Outcome {
    match started {
        None => driver.drive(Search::new(context, tree)),
        Some(state) => {
            let nodes = tree.restore(context.problem, &state);
            driver.go_on(context, tree, nodes)
        }
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
