//! One search on a cluster: tasks are answered in any order and some are lost, but the answer is the same.

use crate::copies;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::stopped::{NEVER, check_stopped, refuses_damage, unlimited};
use crate::common::{Random, hard, hard_draft};
use l0star::search::{Answer, Broken, Budgets, Cluster, Event};
use l0star::{
    Checkpoint, Design, Error, Explorer, PathRun, Problem, Run, Settings, Solution, Status, loss,
    solve,
};

/// What a [`Fake`] has received.
#[derive(Debug, Default, Clone)]
struct Seen {
    /// Every task, once for each time it was submitted.
    tasks: Vec<Vec<u8>>,
    answers: Vec<Vec<u8>>,
    lost: usize,
    most: usize,
    recalled: usize,
    finished: usize,
    reason: Option<String>,
}

/// The faults of a [`Fake`].
#[derive(Debug, Clone, Copy, Default)]
struct Trouble {
    /// The share of tasks that are lost; `twice` is the share of answers that come twice.
    lost: f64,
    twice: f64,
    /// How often it has no workers when asked; `gone_after` is the number of tasks after which it has none for good.
    absent: f64,
    gone_after: Option<usize>,
    /// Whether the first task is lost whenever it is explored, until there is no other.
    deadly: bool,
    /// The number of tasks after which it accepts no more.
    breaks_after: Option<usize>,
    /// Whether a bit of each answer is changed.
    damaged: bool,
    /// Whether every answer is that to the first task.
    stale: bool,
}

/// A cluster in this process: it explores the waiting tasks in any order, and loses some.
struct Fake {
    explorers: Vec<Explorer>,
    waiting: Vec<(u64, Vec<u8>)>,
    again: Vec<Answer>,
    nodes: u64,
    ramp: usize,
    trouble: Trouble,
    random: Random,
    seen: Arc<Mutex<Seen>>,
}

impl Fake {
    fn new(problem: &Problem, settings: &Settings, workers: usize, seed: u64) -> Self {
        let own = |_| Explorer::new(problem, settings);
        Self {
            explorers: (0..workers).map(own).collect(),
            waiting: Vec::new(),
            again: Vec::new(),
            nodes: 3,
            ramp: 2,
            trouble: Trouble::default(),
            random: Random::new(seed),
            seen: Arc::default(),
        }
    }

    fn with(mut self, trouble: Trouble) -> Self {
        self.trouble = trouble;
        self
    }

    fn seen(&self) -> Arc<Mutex<Seen>> {
        Arc::clone(&self.seen)
    }
}

impl Cluster for Fake {
    fn workers(&mut self) -> usize {
        let submitted = self.seen.lock().unwrap().tasks.len();
        let is_gone = self
            .trouble
            .gone_after
            .is_some_and(|last| submitted >= last);
        if is_gone || self.random.chance(self.trouble.absent) {
            return 0;
        }
        self.explorers.len()
    }

    fn budgets(&self) -> Budgets {
        Budgets {
            full: Duration::MAX,
            hungry: Duration::MAX,
            nodes: Some(self.nodes),
            ramp: self.ramp,
        }
    }

    fn submit(&mut self, id: u64, task: &[u8]) -> Result<(), Broken> {
        let mut seen = self.seen.lock().unwrap();
        if Some(seen.tasks.len()) == self.trouble.breaks_after {
            return Err(Broken);
        }
        seen.tasks.push(task.to_vec());
        self.waiting.push((id, task.to_vec()));
        seen.most = seen.most.max(self.waiting.len());
        Ok(())
    }

    fn collect(&mut self) -> Result<Vec<Answer>, Broken> {
        let mut answers = std::mem::take(&mut self.again);
        if self.waiting.is_empty() {
            return Ok(answers);
        }
        let at = self.random.below(self.waiting.len());
        let (id, task) = self.waiting.swap_remove(at);
        let mut seen = self.seen.lock().unwrap();
        let is_deadly = self.trouble.deadly && task == seen.tasks[0];
        if is_deadly && !self.waiting.is_empty() || self.random.chance(self.trouble.lost) {
            seen.lost += 1;
            answers.push(Answer { id, bytes: None });
            return Ok(answers);
        }
        let worker = self.random.below(self.explorers.len());
        let mut bytes = self.explorers[worker].explore(&task).unwrap();
        if self.trouble.damaged {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
        }
        seen.answers.push(bytes);
        let said = if self.trouble.stale {
            0
        } else {
            seen.answers.len() - 1
        };
        let bytes = Some(seen.answers[said].clone());
        let answer = Answer { id, bytes };
        if self.random.chance(self.trouble.twice) {
            self.again.push(answer.clone());
        }
        answers.push(answer);
        Ok(answers)
    }

    fn recall(&mut self) {
        self.seen.lock().unwrap().recalled += 1;
        self.waiting.clear();
        self.again.clear();
    }

    fn finish(&mut self, reason: Option<&str>) {
        let mut seen = self.seen.lock().unwrap();
        seen.finished += 1;
        seen.reason = reason.map(str::to_owned);
        self.waiting.clear();
    }
}

/// Runs a search on a fake cluster; returns the result and what the cluster has received.
fn run_on(problem: &Problem, settings: &Settings, cluster: Fake) -> (Solution, Seen) {
    let seen = cluster.seen();
    let run = Run::new(problem, settings).on_cluster(cluster);
    let found = run.solve().unwrap();
    let seen = seen.lock().unwrap().clone();
    (found, seen)
}

fn check(found: &Solution, truth: &Solution, what: &str) {
    assert_eq!(found.status, Status::Optimal, "{what}");
    assert_eq!(found.support, truth.support, "{what}");
    let close = 1e-12 * truth.objective;
    assert!((found.objective - truth.objective).abs() <= close, "{what}");
    let bound = found.lower_bound.unwrap();
    assert!(bound <= truth.objective, "{what}");
    assert!(found.objective - bound <= 1e-9 * truth.objective, "{what}");
}

#[test]
fn every_loss_is_proved_on_any_number_of_workers() {
    let settings = Settings::default();
    for (seed, name) in loss::NAMES.iter().enumerate() {
        let problem = hard(name);
        let truth = unlimited(&problem, &settings);
        for workers in [1, 2, 7] {
            let cluster = Fake::new(&problem, &settings, workers, seed as u64);
            let (found, seen) = run_on(&problem, &settings, cluster);
            check(&found, &truth, &format!("{name}, {workers} workers"));
            assert!(seen.tasks.len() >= 5, "{name}: {} tasks", seen.tasks.len());
            assert!(seen.most <= workers, "{name}: {}", seen.most);
            assert_eq!((seen.finished, seen.reason), (1, None));
        }
    }
}

#[test]
fn tasks_that_are_lost_are_submitted_again_with_the_same_bytes() {
    let settings = Settings::default();
    for name in ["quadratic", "huber", "logistic", "poisson"] {
        let problem = hard(name);
        let truth = unlimited(&problem, &settings);
        for seed in 0..4 {
            let cluster = Fake::new(&problem, &settings, 3, seed).with(Trouble {
                lost: 0.3,
                twice: 0.3,
                ..Trouble::default()
            });
            let (found, seen) = run_on(&problem, &settings, cluster);
            check(&found, &truth, &format!("{name}, seed {seed}"));
            let mut distinct = seen.tasks.clone();
            distinct.sort();
            distinct.dedup();
            assert!(seen.lost > 0, "{name}, seed {seed}");
            assert_eq!(distinct.len() + seen.lost, seen.tasks.len());
        }
    }
}

/// Nodes that were sent away are in every checkpoint and in every bound.
#[test]
fn a_driver_that_dies_is_resumed_from_any_checkpoint() {
    let settings = Settings::default();
    for name in ["quadratic", "logistic"] {
        let problem = hard(name);
        let truth = unlimited(&problem, &settings);
        let mut saved = Vec::new();
        let told = RefCell::new(Vec::new());
        let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.encode()));
        let observer = Box::new(|event: &Event| told.borrow_mut().push(event.lower_bound));
        let cluster = Fake::new(&problem, &settings, 4, 9).with(Trouble {
            lost: 0.1,
            ..Trouble::default()
        });
        let run = Run::new(&problem, &settings).on_cluster(cluster);
        let run = run.save(Duration::ZERO, sink).observe(observer);
        check(&run.solve().unwrap(), &truth, name);
        let told = told.into_inner();
        assert!(told.is_sorted(), "{name}: {told:?}");
        assert!(told.iter().all(|bound| *bound <= truth.objective));
        assert!(saved.len() > 20, "{name}: {} checkpoints", saved.len());
        for (at, bytes) in saved.iter().enumerate().step_by(3) {
            let what = format!("{name}, checkpoint {at}");
            let resume = || Checkpoint::decode(bytes).unwrap();
            // The bound proved so far holds …
            let at_once = Settings {
                node_limit: Some(0),
                ..settings.clone()
            };
            let run = Run::new(&problem, &at_once).resume(resume());
            assert!(
                run.solve().unwrap().lower_bound.unwrap() <= truth.objective,
                "{what}"
            );
            // … and the rest is not lost, on one machine or on several.
            let run = Run::new(&problem, &settings).resume(resume());
            check(&run.solve().unwrap(), &truth, &what);
            let cluster = Fake::new(&problem, &settings, 2, at as u64);
            let run = Run::new(&problem, &settings).resume(resume());
            check(&run.on_cluster(cluster).solve().unwrap(), &truth, &what);
        }
    }
}

#[test]
fn an_interrupt_leaves_a_whole_checkpoint() {
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &Settings::default());
    for nodes in [10, 20, 40] {
        let flag = Arc::new(AtomicBool::new(false));
        let settings = Settings {
            interrupt: Some(Arc::clone(&flag)),
            ..Settings::default()
        };
        let mut saved = Vec::new();
        let sink = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
        let stop = Box::new(|event: &Event| {
            if event.nodes >= nodes {
                flag.store(true, Ordering::Relaxed);
            }
        });
        let cluster = Fake::new(&problem, &Settings::default(), 3, nodes);
        let run = Run::new(&problem, &settings).on_cluster(cluster);
        let found = run.save(NEVER, sink).observe(stop).solve().unwrap();
        check_stopped(&problem, &found, &truth, Status::Interrupted);
        let checkpoint = Checkpoint::decode(&saved).unwrap();
        let run = Run::new(&problem, &Settings::default()).resume(checkpoint);
        check(&run.solve().unwrap(), &truth, "resumed");
    }
}

#[test]
fn a_cluster_that_breaks_costs_nothing_that_was_done() {
    let settings = Settings::default();
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &settings);
    for breaks_after in [0, 1, 5, 9] {
        let cluster = Fake::new(&problem, &settings, 3, 5).with(Trouble {
            breaks_after: Some(breaks_after),
            ..Trouble::default()
        });
        let mut saved = Vec::new();
        let sink = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
        let run = Run::new(&problem, &settings).on_cluster(cluster);
        let found = run.save(NEVER, sink).solve().unwrap();
        check_stopped(&problem, &found, &truth, Status::Interrupted);
        let checkpoint = Checkpoint::decode(&saved).unwrap();
        let run = Run::new(&problem, &settings).resume(checkpoint);
        check(&run.solve().unwrap(), &truth, "resumed");
    }
}

#[test]
fn a_task_that_ends_every_process_is_given_up() {
    let settings = Settings::default();
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &settings);
    let cluster = Fake::new(&problem, &settings, 2, 1).with(Trouble {
        lost: 1.0,
        ..Trouble::default()
    });
    let (found, seen) = run_on(&problem, &settings, cluster);
    check_stopped(&problem, &found, &truth, Status::Interrupted);
    assert!(seen.reason.unwrap().contains("11 times"));
}

/// A task is submitted again, however often it is lost, as long as others are answered.
#[test]
fn a_task_may_be_lost_however_often_while_others_are_answered() {
    let settings = Settings::default();
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &settings);
    let mut cluster = Fake::new(&problem, &settings, 2, 1).with(Trouble {
        deadly: true,
        ..Trouble::default()
    });
    cluster.nodes = 1;
    let (found, seen) = run_on(&problem, &settings, cluster);
    check(&found, &truth, "deadly");
    assert!(seen.lost > 20, "lost {} times", seen.lost);
}

#[test]
fn a_search_without_workers_continues_by_itself() {
    let settings = Settings::default();
    for name in ["quadratic", "huber", "logistic", "poisson"] {
        let problem = hard(name);
        let truth = unlimited(&problem, &settings);
        for gone_after in [0, 1, 6] {
            let cluster = Fake::new(&problem, &settings, 3, 1).with(Trouble {
                gone_after: Some(gone_after),
                ..Trouble::default()
            });
            let (found, seen) = run_on(&problem, &settings, cluster);
            check(&found, &truth, &format!("{name}, {gone_after} tasks"));
            let most = gone_after.next_multiple_of(3);
            assert!(seen.tasks.len() <= most, "{name}: {}", seen.tasks.len());
            assert!(seen.recalled >= 1, "{name}");
            assert_eq!(seen.reason, None);
        }
    }
}

#[test]
fn workers_come_and_go() {
    let settings = Settings::default();
    for name in ["quadratic", "logistic"] {
        let problem = hard(name);
        let truth = unlimited(&problem, &settings);
        for seed in 0..3 {
            let what = format!("{name}, seed {seed}");
            let mut cluster = Fake::new(&problem, &settings, 3, seed).with(Trouble {
                absent: 0.3,
                lost: 0.2,
                twice: 0.2,
                ..Trouble::default()
            });
            cluster.nodes = 2;
            let seen = cluster.seen();
            let mut saved = Vec::new();
            let told = RefCell::new(Vec::new());
            let sink = Box::new(|checkpoint: &Checkpoint| saved.push(checkpoint.encode()));
            let observer = Box::new(|event: &Event| told.borrow_mut().push(event.lower_bound));
            let run = Run::new(&problem, &settings).on_cluster(cluster);
            let run = run.save(Duration::ZERO, sink).observe(observer);
            check(&run.solve().unwrap(), &truth, &what);
            let told = told.into_inner();
            assert!(told.is_sorted(), "{what}: {told:?}");
            assert!(told.iter().all(|bound| *bound <= truth.objective), "{what}");
            let seen = seen.lock().unwrap().clone();
            assert!(seen.recalled >= 1 && seen.tasks.len() > 3, "{what}");
            for bytes in saved.iter().step_by(1 + saved.len() / 4) {
                let resume = Checkpoint::decode(bytes).unwrap();
                let run = Run::new(&problem, &settings).resume(resume);
                check(&run.solve().unwrap(), &truth, &what);
            }
        }
    }
}

#[test]
fn answers_that_are_none_are_refused() {
    let settings = Settings::default();
    let problem = hard("quadratic");
    let truth = unlimited(&problem, &settings);
    let damaged = Trouble {
        damaged: true,
        ..Trouble::default()
    };
    let stale = Trouble {
        stale: true,
        ..Trouble::default()
    };
    for (trouble, words) in [(damaged, "checksum"), (stale, "another task")] {
        let cluster = Fake::new(&problem, &settings, 2, 1).with(trouble);
        let (found, seen) = run_on(&problem, &settings, cluster);
        check_stopped(&problem, &found, &truth, Status::Interrupted);
        let reason = seen.reason.unwrap();
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn an_explorer_refuses_what_is_no_task_of_its_problem() {
    let settings = Settings::default();
    let problem = hard("quadratic");
    let cluster = Fake::new(&problem, &settings, 2, 1);
    let (_, seen) = run_on(&problem, &settings, cluster);
    let task = &seen.tasks[0];
    let mut own = Explorer::new(&problem, &settings);
    assert_eq!(own.explore(task).unwrap(), own.explore(task).unwrap());
    let own = RefCell::new(own);
    refuses_damage(task, 50, |bytes| own.borrow_mut().explore(bytes));
    let answer = own.borrow_mut().explore(&seen.answers[0]);
    let Err(Error::Checkpoint { reason }) = answer else {
        panic!("{answer:?}");
    };
    assert!(reason.contains("the answer to a task"), "{reason}");
    let other = hard_draft("quadratic").ridge(0.02).build().unwrap();
    let refused = Explorer::new(&other, &settings).explore(task).unwrap_err();
    assert!(refused.to_string().contains("other data"), "{refused}");
    let other = hard("huber");
    let refused = Explorer::new(&other, &settings).explore(task).unwrap_err();
    assert!(matches!(refused, Error::OtherSearch { what: "loss", .. }));
}

#[test]
fn lists_have_the_same_models() {
    let lists = [(Some(6), None), (None, Some(0.05)), (Some(3), Some(0.2))];
    for name in ["quadratic", "logistic"] {
        let problem = hard(name).with_k(4).unwrap();
        for (top, within) in lists {
            let settings = Settings {
                top: top.and_then(NonZeroUsize::new),
                within,
                ..Settings::default()
            };
            let truth = solve(&problem, &settings).unwrap();
            for seed in 0..3 {
                let what = format!("{name}, top {top:?}, within {within:?}, seed {seed}");
                let cluster = Fake::new(&problem, &settings, 3, seed).with(Trouble {
                    lost: 0.2,
                    twice: 0.2,
                    ..Trouble::default()
                });
                let (found, seen) = run_on(&problem, &settings, cluster);
                assert!(seen.tasks.len() > 3, "{what}");
                check(&found, &truth, &what);
                assert_eq!(found.truncated, truth.truncated, "{what}");
                assert_eq!(found.solutions.len(), truth.solutions.len(), "{what}");
                for (own, other) in found.solutions.iter().zip(&truth.solutions) {
                    assert_eq!(own.support, other.support, "{what}");
                }
                let (rest, last) = (found.rest_bound.unwrap(), found.solutions.last().unwrap());
                let promise = match within {
                    Some(share) if !found.truncated => found.objective * (1.0 + share),
                    _ => last.objective,
                };
                assert!(rest >= promise * (1.0 - 1e-9), "{what}: {rest}, {promise}");
            }
        }
    }
}

#[test]
fn groups_bounds_prices_and_copies_are_searched_too() {
    let settings = Settings::default();
    let mut cases = Vec::new();
    for name in ["quadratic", "logistic"] {
        let draft = || hard_draft(name).k(4);
        let grouped = draft().groups(vec![vec![0, 1], vec![5, 6, 7]]);
        cases.push(grouped.nonnegative(vec![11, 12]).build().unwrap());
        cases.push(draft().l0_penalty(0.003).build().unwrap());
        cases.push(copies::hard(name).0.problem(name, 4));
    }
    for (at, problem) in cases.iter().enumerate() {
        let truth = solve(problem, &settings).unwrap();
        let mut cluster = Fake::new(problem, &settings, 2, at as u64);
        (cluster.ramp, cluster.nodes) = (1, 1);
        let (found, seen) = run_on(problem, &settings, cluster);
        check(&found, &truth, &format!("case {at}"));
        assert!(seen.tasks.len() > 1, "case {at}: {}", seen.tasks.len());
    }
}

#[test]
fn every_size_of_a_path_is_searched_on_the_cluster() {
    let problem = hard("quadratic");
    let settings = Settings::default();
    let truth = PathRun::new(&problem, &settings, 0..=6).solve().unwrap();
    let cluster = Fake::new(&problem, &settings, 3, 2);
    let seen = cluster.seen();
    let run = PathRun::new(&problem, &settings, 0..=6).on_cluster(cluster);
    let found = run.solve().unwrap();
    assert_eq!(found.len(), truth.len());
    for (own, other) in found.iter().zip(&truth) {
        check(&own.solution, &other.solution, &format!("k = {}", own.k));
    }
    assert!(seen.lock().unwrap().finished >= 3);
}

#[test]
fn limits_of_nodes_are_kept_exactly() {
    for name in ["quadratic", "logistic"] {
        let problem = hard(name);
        let truth = unlimited(&problem, &Settings::default());
        for limit in [0, 1, 7, truth.nodes / 2] {
            let settings = Settings {
                node_limit: Some(limit),
                ..Settings::default()
            };
            let cluster = Fake::new(&problem, &settings, 3, limit);
            let (found, _) = run_on(&problem, &settings, cluster);
            check_stopped(&problem, &found, &truth, Status::NodeLimit);
            assert_eq!(found.nodes, limit, "{name}");
        }
        let settings = Settings {
            time_limit: Some(Duration::ZERO),
            ..Settings::default()
        };
        let cluster = Fake::new(&problem, &settings, 3, 0);
        let (found, _) = run_on(&problem, &settings, cluster);
        check_stopped(&problem, &found, &truth, Status::TimeLimit);
    }
}

#[test]
fn problems_of_moments_are_searched_too() {
    let mut random = Random::new(3);
    let (n, d) = (40, 14);
    let values: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
    let response: Vec<f64> = (0..n).map(|i| values[i] + random.normal()).collect();
    let design = Design::dense(n, d, values).unwrap();
    let names = (0..d).map(|j| format!("x{j}")).collect();
    let mut moments = l0star::problem::Moments::new(names).unwrap();
    moments.add(&design, &response, None).unwrap();
    let problem = Problem::from_moments(moments)
        .k(5)
        .ridge(0.01)
        .build()
        .unwrap();
    let settings = Settings::default();
    let truth = solve(&problem, &settings).unwrap();
    let mut cluster = Fake::new(&problem, &settings, 2, 1);
    (cluster.ramp, cluster.nodes) = (1, 1);
    let (found, seen) = run_on(&problem, &settings, cluster);
    check(&found, &truth, "moments");
    assert!(seen.tasks.len() > 1, "{}", seen.tasks.len());
}
