//! A search on several threads: one frontier behind a lock, and an incumbent shared at once.
//!
//! A worker takes the best open node, expands it outside the lock and returns the result. A node in flight counts as
//! open, so that the bound is valid at any time. The calling thread does not search: it waits for news and reports to
//! the observer.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::checkpoint::{Draft, State};
use super::context::Context;
use super::frontier::{Frontier, Next};
use super::models;
use super::reporter::TICK;
use super::stage::{self, Stage};
use super::{Node, Phase, Progress, Tree};
use crate::bound::Certified;
use crate::settings::Status;

/// State that the threads share.
struct Pool<N> {
    state: Mutex<Queue<N>>,
    /// Signals that there is work, or that the search is over.
    work: Condvar,
    /// Signals that there is something to report.
    news: Condvar,
    /// Whether checkpoints are wanted as often as possible, so that every node is news.
    is_eager: bool,
}

struct Queue<N> {
    frontier: Frontier<N>,
    /// How the search ended.
    outcome: Option<Progress>,
    waiting: usize,
}

impl<N> Pool<N> {
    fn lock(&self) -> MutexGuard<'_, Queue<N>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Steps the search on this many threads until it is over or a limit is reached. `None`: the tree or the system does
/// not allow it, and nothing was done.
pub(super) fn run<T: Tree>(
    tree: &T,
    open: &mut Frontier<T::Node>,
    context: &mut Context,
    threads: usize,
) -> Option<Progress> {
    let mut trees = vec![tree.fork()?];
    // A fork copies the buffers that a worker writes to. When a limit is reached, the forks made so far are enough.
    while trees.len() < threads && !context.limits.stop() {
        trees.push(tree.fork()?);
    }
    let threads = trees.len();
    let mut frontier = std::mem::replace(open, Frontier::new());
    frontier.set_workers(threads);
    let pool = Pool {
        state: Mutex::new(Queue {
            frontier,
            outcome: None,
            waiting: 0,
        }),
        work: Condvar::new(),
        news: Condvar::new(),
        is_eager: context.is_worth_keeping(0.0),
    };
    let seed = context.seed();
    let mut own = context.models.take();
    let mut best = context.incumbents.best();
    let started = thread::scope(|scope| {
        let mut started = false;
        for (worker, mut tree) in trees.into_iter().enumerate() {
            let (pool, seed) = (&pool, &seed);
            let own = own.take();
            // If the system provides fewer threads, fewer are used.
            let spawned = thread::Builder::new()
                .name(format!("l0star-{worker}"))
                .spawn_scoped(scope, move || {
                    let mut context = seed.context();
                    context.models = own;
                    work(worker, &mut tree, &mut context, pool);
                });
            started |= spawned.is_ok();
        }
        if started {
            let mut listener = Listener {
                tree,
                pool: &pool,
                best,
            };
            stage::run(&mut listener, context);
            best = listener.best;
        }
        started
    });
    announce_incumbent(context, &mut best);
    let state = pool.state.into_inner();
    let state = state.unwrap_or_else(PoisonError::into_inner);
    *open = state.frontier;
    open.set_workers(1);
    started.then(|| state.outcome.unwrap_or(Progress::Done))
}

/// Guard that ends the search when a worker ends, even by a panic, so that the others need not wait for it.
struct Last<'a, N>(&'a Pool<N>);

impl<N> Drop for Last<'_, N> {
    fn drop(&mut self) {
        self.0.lock().outcome.get_or_insert(Progress::Done);
        self.0.work.notify_all();
        self.0.news.notify_one();
    }
}

/// Runs one worker until the search is over.
fn work<T: Tree>(worker: usize, tree: &mut T, context: &mut Context, pool: &Pool<T::Node>) {
    let _last = Last(pool);
    let looks_for_models = worker == 0;
    if looks_for_models {
        look_for_models(context, pool);
    }
    let mut children = Vec::new();
    let mut state = pool.lock();
    while state.outcome.is_none() {
        let node = match state.frontier.take(worker, tree, context) {
            Next::Node(node) => node,
            Next::Over(progress) => {
                state.outcome = Some(progress);
                break;
            }
            Next::Wait => {
                state.waiting += 1;
                let woken = pool.work.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                state.waiting -= 1;
                continue;
            }
        };
        let nodes = state.frontier.counters.nodes;
        drop(state);
        let before = context.incumbents.best();
        let expansion = tree.expand(&node, context, &mut children);
        if looks_for_models {
            let work = tree.work(&node, context.problem);
            models::beside(context, work, nodes, node.bound().value());
        }
        state = pool.lock();
        let frontier = &mut state.frontier;
        let progress = frontier.give(worker, node, expansion, &mut children, tree, context);
        if progress != Progress::Running {
            state.outcome.get_or_insert(progress);
        }
        if state.waiting > 0 {
            pool.work.notify_all();
        }
        if pool.is_eager || context.incumbents.best() < before {
            pool.news.notify_one();
        }
    }
}

/// Runs the search for models alone on this thread while there is much to find.
fn look_for_models<N: Node>(context: &mut Context, pool: &Pool<N>) {
    if !context.problem.has_weak_bounds() {
        return;
    }
    loop {
        let state = pool.lock();
        let bound = state
            .frontier
            .bound()
            .map_or(f64::INFINITY, Certified::value);
        if state.outcome.is_some() || context.limits.stop() {
            return;
        }
        drop(state);
        let before = context.incumbents.best();
        if !models::alone(context, bound) {
            return;
        }
        if context.incumbents.best() < before {
            pool.news.notify_one();
        }
    }
}

/// Tells the observer of a model better than `best`.
fn announce_incumbent(context: &mut Context, best: &mut f64) {
    if context.incumbents.best() < *best
        && let Some(incumbent) = context.incumbents.first()
    {
        *best = incumbent.fit.objective;
        context.announce_incumbent(&incumbent.support, incumbent.source);
    }
}

/// The calling thread: it waits for news, for a short time in each step, while the others search.
struct Listener<'s, T: Tree> {
    tree: &'s T,
    pool: &'s Pool<T::Node>,
    /// The objective that the observer was told last.
    best: f64,
}

impl<'p, T: Tree> Stage<'p> for Listener<'_, T> {
    fn step(&mut self, _context: &mut Context<'p>) -> Progress {
        let state = self.pool.lock();
        if state.outcome.is_some() {
            return Progress::Done;
        }
        let tick = Duration::from_secs_f64(TICK / 2.0);
        let woken = self.pool.news.wait_timeout(state, tick);
        let state = woken.unwrap_or_else(PoisonError::into_inner).0;
        match state.outcome {
            Some(_) => Progress::Done,
            None => Progress::Running,
        }
    }

    fn save(&self, context: &Context<'p>) -> State {
        // The lock keeps nodes from being returned in between, so the evidence holds for the models that the context
        // has by now.
        let shared = self.pool.lock();
        let mut draft = Draft::new(context.saved(State::default()));
        shared.frontier.save(self.tree, &mut draft);
        draft.state
    }

    fn tell(&mut self, context: &mut Context<'p>) {
        let state = self.pool.lock();
        let frontier = &state.frontier;
        let (open, nodes) = (frontier.open(), frontier.counters.nodes);
        let bounds = frontier.bound().into_iter().chain(frontier.discarded());
        let bound = bounds.reduce(Certified::weaker);
        drop(state);
        context.enter(Phase::Search);
        announce_incumbent(context, &mut self.best);
        let bound = context.lower_bound(bound);
        context.announce_progress(open, nodes, Some(bound));
    }

    /// The workers check the limits.
    fn limit(&self, _context: &Context<'p>) -> Option<Status> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::problem::{Design, Problem};
    use crate::search::{Event, News};
    use crate::settings::Settings;

    /// Regression test: on several threads an event named the features of a model instead of its columns.
    #[test]
    fn the_incumbent_of_another_thread_is_told_by_its_columns() {
        let values = vec![1.0, 2.0, 0.5, 4.0, 0.5, 1.0, 2.0, -1.0, 0.0, 1.0, 0.0, 1.0];
        let design = Design::dense(4, 3, values).unwrap();
        let builder = Problem::builder(design, vec![1.0, 2.1, 0.4, 3.9]).k(1);
        let problem = builder.groups(vec![vec![0, 1]]).build().unwrap();
        let told = RefCell::new(Vec::new());
        let mut context = Context::new(&problem, &Settings::default());
        context.observe(Box::new(|event: &Event| {
            if let News::Incumbent { support, .. } = event.news {
                told.borrow_mut().push(support.to_vec());
            }
        }));
        context.seed().context().try_support(&[0]);
        let mut best = f64::INFINITY;
        announce_incumbent(&mut context, &mut best);
        assert_eq!(*told.borrow(), [[0, 1]]);
    }
}
