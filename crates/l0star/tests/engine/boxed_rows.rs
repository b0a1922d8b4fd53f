//! Logistic and Huber losses with more features than rows and a small ridge: proved boxes in matrix form.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::common::{Random, repeating_columns};
use l0star::internals::probe;
use l0star::{
    Checkpoint, Design, Mechanisms, Method, Problem, Run, Settings, Solution, Status, Use, loss,
    solve,
};

/// Boxes wherever they apply, even for small sizes.
fn with_boxes(boxes: Use) -> Settings {
    Settings {
        mechanisms: Mechanisms {
            boxes,
            enumeration: false,
            ..Mechanisms::default()
        },
        ..Settings::default()
    }
}

/// Columns that repeat or are constant now and then, in units that differ by powers of two, under one of three losses.
fn random_problem(seed: u64) -> Option<Problem> {
    let random = &mut Random::new(seed);
    let d = 5 + random.below(5);
    let n = 3 + random.below(d - 3);
    let columns = repeating_columns(d, n, random);
    let name = ["logistic", "huber", "squared-hinge"][random.below(3)];
    let unit = f64::powi(2.0, [0, 0, -10, 12][random.below(4)]);
    let response = |i: usize| {
        let signal = columns[0][i] - columns[d - 1][i] + random.normal();
        match name {
            "huber" => unit * signal,
            _ => signal.signum(),
        }
    };
    let b: Vec<f64> = (0..n).map(response).collect();
    let delta = unit * [0.1, 0.5, 3.0][random.below(3)];
    Problem::builder(Design::dense(n, d, columns.concat()).unwrap(), b)
        .loss(loss::by_name(name, delta).unwrap())
        .intercept(random.below(3) == 0)
        .standardize(random.below(3) == 0)
        .k(1 + random.below(4))
        .ridge([1e-5, 1e-3, 0.1][random.below(3)])
        .build()
        .ok()
}

fn check(problem: &Problem, found: &Solution, words: &str) {
    let optimum = solve(problem, &Settings::new(Method::Exhaustive)).unwrap();
    let optimum = optimum.objective;
    let room = 1e-9 * optimum + 1e-13 * found.empty_objective;
    let bound = found.lower_bound.unwrap();
    assert!(bound <= optimum + room, "{words}: {bound} > {optimum}");
    let objective = found.objective;
    assert!(
        (objective - optimum).abs() <= room,
        "{words}: {objective}, {optimum}"
    );
    assert_eq!(found.status, Status::Optimal, "{words}");
}

#[test]
fn the_search_with_boxes_equals_brute_force() {
    let mut seen = 0;
    for seed in 0..150 {
        let Some(problem) = random_problem(seed) else {
            continue;
        };
        seen += 1;
        for threads in [1, 2].into_iter().take(1 + usize::from(seed % 10 == 0)) {
            let settings = Settings {
                threads: NonZeroUsize::new(threads),
                ..with_boxes(Use::Always)
            };
            let found = solve(&problem, &settings).unwrap();
            check(&problem, &found, &format!("seed {seed}, {threads} threads"));
        }
    }
    assert!(seen > 100, "{seen}");
}

/// 40 rows, 60 columns, four of which matter, a ridge of 1e-4; one response in ten is far off under Huber's loss.
fn wide(name: &str) -> Problem {
    let mut random = Random::new(1);
    let (n, d) = (40, 60);
    let values: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
    let signal = |i: usize| {
        let chosen = [3, 20, 41, 57].iter();
        chosen.map(|j| values[j * n + i]).sum::<f64>()
    };
    let response = |i: usize| {
        let near = signal(i) + 0.5 * random.normal();
        match name {
            "huber" if i % 10 == 3 => near + 30.0,
            "huber" => near,
            _ => near.signum(),
        }
    };
    let b: Vec<f64> = (0..n).map(response).collect();
    Problem::builder(Design::dense(n, d, values.clone()).unwrap(), b)
        .loss(loss::by_name(name, 1.0).unwrap())
        .intercept(false)
        .standardize(false)
        .k(4)
        .ridge(1e-4)
        .build()
        .unwrap()
}

/// Boxes are used by default where the ridge is small compared with the curvature.
#[test]
fn boxes_solve_what_bounds_without_them_do_not() {
    let problem = wide("huber");
    let few = |boxes| Settings {
        node_limit: Some(50),
        ..with_boxes(boxes)
    };
    let found = solve(&problem, &few(Use::Auto)).unwrap();
    assert_eq!(found.status, Status::Optimal, "{} nodes", found.nodes);
    assert_eq!(found.support, [3, 20, 41, 57]);
    let stopped = solve(&problem, &few(Use::Never)).unwrap();
    assert_eq!(stopped.status, Status::NodeLimit);
}

/// Every box contains the best model; under Huber's loss some are narrower than what the ridge proves. (40 labels can
/// be separated, and then only the ridge limits the coefficients.)
#[test]
fn boxes_of_the_whole_problem_hold_the_best_model() {
    for name in ["huber", "logistic"] {
        let problem = wide(name);
        let best = solve(&problem, &with_boxes(Use::Always)).unwrap();
        assert_eq!(best.status, Status::Optimal, "{name}");
        let free: Vec<usize> = (0..60).collect();
        let whole = [(Vec::new(), free)];
        let found = probe(&problem, &whole, best.objective * 1.001).unwrap();
        let found = &found[0];
        assert!(found.bound <= best.objective, "{name}");
        let by_ridge = (2.0 * found.ceiling / 1e-4).sqrt();
        let mut narrow = 0;
        for (j, low, high) in &found.boxes {
            let x = best.coefficients[*j];
            assert!(*low <= x && x <= *high, "{name}: {j} {x} [{low}, {high}]");
            narrow += u32::from(high - low < by_ridge);
        }
        assert!(narrow > 0 || name == "logistic", "{name}: {narrow}");
    }
}

#[test]
fn a_search_with_boxes_resumes() {
    let problem = wide("huber");
    let whole = solve(&problem, &with_boxes(Use::Auto)).unwrap();
    for limit in [0, 1, 3] {
        let limited = Settings {
            node_limit: Some(limit),
            ..with_boxes(Use::Auto)
        };
        let mut saved = Vec::new();
        let keep = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
        let stopped = Run::new(&problem, &limited).save(Duration::ZERO, keep);
        stopped.solve().unwrap();
        let checkpoint = Checkpoint::decode(&saved).unwrap();
        let resumed = Run::new(&problem, &with_boxes(Use::Auto)).resume(checkpoint);
        let resumed = resumed.solve().unwrap();
        assert_eq!(resumed.status, Status::Optimal);
        assert_eq!(resumed.objective, whole.objective);
        assert!(resumed.lower_bound.unwrap() <= whole.objective);
    }
}
