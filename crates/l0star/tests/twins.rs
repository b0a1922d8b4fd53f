//! Columns that say the same: the answer is that of all columns, the search that of the data without the copies.
#![allow(missing_docs)]

#[path = "common/cases.rs"]
mod cases;
mod common;

use std::collections::HashSet;
use std::num::NonZeroUsize;

use cases::cases;
use common::Random;
use l0star::{Design, Method, PathRun, Problem, Settings, Solution, Status, loss, solve};
use proptest::prelude::*;

/// Columns, a response and what is asked.
#[derive(Debug, Clone)]
struct Data {
    columns: Vec<Vec<f64>>,
    response: Vec<f64>,
    ridge: f64,
    intercept: bool,
    standardize: bool,
}

impl Data {
    fn problem(&self, loss: &str, k: usize) -> Problem {
        let rows = self.response.len();
        let design = Design::dense(rows, self.columns.len(), self.columns.concat()).unwrap();
        Problem::builder(design, self.response.clone())
            .loss(loss::by_name(loss, 1.0).unwrap())
            .k(k)
            .ridge(self.ridge)
            .intercept(self.intercept)
            .standardize(self.standardize)
            .build()
            .unwrap()
    }

    /// The least objective of the quadratic loss with at most k columns.
    fn optimum(&self, k: usize) -> f64 {
        let all = self.sets(k).into_iter().map(|(value, _)| value);
        all.fold(f64::INFINITY, f64::min)
    }

    /// Every set of at most k columns with the least objective of the quadratic loss, by enumeration and elimination;
    /// nothing of it is the engine's.
    fn sets(&self, k: usize) -> Vec<(f64, Vec<usize>)> {
        let n = self.response.len() as f64;
        let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
        let centred = |v: &Vec<f64>| -> Vec<f64> {
            let centre = if self.intercept { mean(v) } else { 0.0 };
            v.iter().map(|v| v - centre).collect()
        };
        let y = centred(&self.response);
        let columns: Vec<Vec<f64>> = self
            .columns
            .iter()
            .map(|column| {
                let m = mean(column);
                let sd = mean(&column.iter().map(|v| (v - m).powi(2)).collect::<Vec<_>>()).sqrt();
                let scale = if self.standardize { sd } else { 1.0 };
                centred(column).iter().map(|v| v / scale).collect()
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / n;
        let mut all = vec![(0.5 * dot(&y, &y), Vec::new())];
        for set in 1u32..1 << columns.len() {
            if set.count_ones() as usize > k {
                continue;
            }
            let names: Vec<usize> = (0..columns.len()).filter(|j| set >> j & 1 == 1).collect();
            let chosen: Vec<&Vec<f64>> = names.iter().map(|j| &columns[*j]).collect();
            let size = chosen.len();
            let mut rows: Vec<Vec<f64>> = (0..size)
                .map(|i| {
                    let mut row: Vec<f64> = (0..size).map(|j| dot(chosen[i], chosen[j])).collect();
                    row[i] += self.ridge;
                    row.push(dot(chosen[i], &y));
                    row
                })
                .collect();
            for i in 0..size {
                let pivot = rows[i].clone();
                for row in rows.iter_mut().skip(i + 1) {
                    let factor = row[i] / pivot[i];
                    row.iter_mut()
                        .zip(&pivot)
                        .for_each(|(v, p)| *v -= factor * p);
                }
            }
            let mut x = vec![0.0; size];
            for i in (0..size).rev() {
                let known: f64 = (i + 1..size).map(|j| rows[i][j] * x[j]).sum();
                x[i] = (rows[i][size] - known) / rows[i][i];
            }
            let residual: Vec<f64> = (0..y.len())
                .map(|row| y[row] - (0..size).map(|i| chosen[i][row] * x[i]).sum::<f64>())
                .collect();
            let value = 0.5 * dot(&residual, &residual)
                + 0.5 * self.ridge * x.iter().map(|x| x * x).sum::<f64>();
            all.push((value, names));
        }
        all
    }
}

/// Few columns, and copies of some of them: multiplied, negated, moved where there is an intercept.
fn draw(seed: u64) -> (Data, usize) {
    let mut random = Random::new(seed);
    let (n, d) = (4 + random.below(16), 2 + random.below(4));
    let mut columns: Vec<Vec<f64>> = (0..d)
        .map(|_| (0..n).map(|_| random.normal()).collect())
        .collect();
    let signal: Vec<f64> = (0..n)
        .map(|i| {
            columns
                .iter()
                .enumerate()
                .map(|(j, c)| c[i] / (1.0 + j as f64))
                .sum()
        })
        .collect();
    let response = signal.iter().map(|s| s + 0.4 * random.normal()).collect();
    let (intercept, standardize) = (random.chance(0.6), random.chance(0.7));
    // Raw columns of such different sizes would leave nothing to prove in double precision.
    let unit = if standardize { 1e6 } else { 3.0 };
    for _ in 0..1 + random.below(3) {
        let from = random.below(columns.len());
        let factor = [1.0, -1.0, 2.54, -0.25, unit][random.below(5)];
        let shift = if intercept {
            [0.0, 32.0][random.below(2)]
        } else {
            0.0
        };
        let copy = columns[from].iter().map(|v| factor * v + shift).collect();
        let at = random.below(columns.len() + 1);
        columns.insert(at, copy);
    }
    let data = Data {
        ridge: 10f64.powf(-4.0 * random.uniform()),
        standardize,
        intercept,
        columns,
        response,
    };
    let k = 1 + random.below(data.columns.len());
    (data, k)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 2e-9 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(cases(400, 81))]

    #[test]
    fn copies_cost_no_exactness(seed in any::<u64>(), threads in 1usize..3) {
        let (data, k) = draw(seed);
        let truth = data.optimum(k);
        let settings = Settings { threads: NonZeroUsize::new(threads), ..Settings::default() };
        let found = solve(&data.problem("quadratic", k), &settings).unwrap();
        prop_assert_eq!(found.status, Status::Optimal, "{:?}, k {}", data, k);
        prop_assert!(close(found.objective, truth), "{data:?}, k {k}: {} is not {truth}", found.objective);
        prop_assert!(found.lower_bound.unwrap() <= truth * (1.0 + 1e-11), "{data:?}, k {k}");
        prop_assert!(found.support.len() <= k);
    }

    #[test]
    fn every_size_of_a_path_is_exact(seed in any::<u64>()) {
        let (data, k) = draw(seed);
        let problem = data.problem("quadratic", k);
        for point in PathRun::new(&problem, &Settings::default(), 0..=k).solve().unwrap() {
            let truth = data.optimum(point.k);
            prop_assert_eq!(point.solution.status, Status::Optimal, "{:?}, k {}", data, point.k);
            prop_assert!(close(point.solution.objective, truth), "{data:?}, k {}", point.k);
            prop_assert!(point.solution.lower_bound.unwrap() <= truth * (1.0 + 1e-11));
        }
    }

    #[test]
    fn a_bound_of_a_search_that_was_stopped_holds_for_all_columns(seed in any::<u64>(), limit in 0u64..4) {
        let (data, k) = draw(seed);
        let settings = Settings { node_limit: Some(limit), ..Settings::default() };
        let found = solve(&data.problem("quadratic", k), &settings).unwrap();
        let truth = data.optimum(k);
        prop_assert!(found.lower_bound.unwrap() <= truth * (1.0 + 1e-11), "{data:?}, k {k}");
        prop_assert!(found.objective >= truth * (1.0 - 1e-11));
    }
}

proptest! {
    #![proptest_config(cases(300, 83))]

    /// A list has every set of columns, copies in the place of each other and beside each other.
    #[test]
    fn lists_are_exact(
        seed in any::<u64>(),
        top in proptest::option::of(1usize..12),
        within in proptest::option::of(0.0..0.5),
        limit in proptest::option::weighted(0.2, 0u64..4),
    ) {
        let (data, k) = draw(seed);
        let mut truth = data.sets(k);
        truth.sort_by(|a, b| a.0.total_cmp(&b.0));
        let settings = Settings {
            top: top.and_then(NonZeroUsize::new),
            within,
            node_limit: limit,
            ..Settings::default()
        };
        let found = solve(&data.problem("quadratic", k), &settings).unwrap();
        let words = format!("{data:?}, k {k}, top {top:?}, within {within:?}, limit {limit:?}: {found:?}");
        let listed: HashSet<&[usize]> = found.solutions.iter().map(|model| &model.support[..]).collect();
        prop_assert_eq!(listed.len(), found.solutions.len(), "{}", words);
        for model in &found.solutions {
            let same = truth.iter().find(|(_, set)| *set == model.support).unwrap();
            prop_assert!(close(model.objective, same.0), "{words}");
        }
        prop_assert!(found.lower_bound.unwrap() <= truth[0].0 * (1.0 + 1e-11), "{words}");
        let rest = truth.iter().find(|(_, set)| !listed.contains(&set[..]));
        if settings.top.is_some() || within.is_some() {
            match (found.rest_bound, rest) {
                (Some(bound), Some((value, _))) => prop_assert!(bound <= value * (1.0 + 1e-11), "{words}"),
                (None, rest) => prop_assert!(rest.is_none(), "{words}"),
                (Some(_), None) => {}
            }
        }
        if limit.is_some() && found.status == Status::NodeLimit {
            return Ok(());
        }
        prop_assert_eq!(found.status, Status::Optimal, "{}", words);
        for (model, (value, _)) in found.solutions.iter().zip(&truth) {
            prop_assert!(close(model.objective, *value), "{words}: not the next best, {value}");
        }
        let most = top.unwrap_or(if within.is_some() { 1000 } else { 1 });
        let near = |room: f64| {
            let high = within.map_or(f64::INFINITY, |within| truth[0].0 * (1.0 + within) * (1.0 + room));
            truth.iter().filter(|(value, _)| *value <= high).count()
        };
        let (low, high) = (near(-4e-9), near(4e-9));
        prop_assert!((low.min(most)..=high.min(most)).contains(&listed.len()), "{words}");
        if low > most || high <= most {
            prop_assert_eq!(found.truncated, within.is_some() && low > most, "{}", words);
        }
    }
}

proptest! {
    #![proptest_config(cases(60, 82))]

    /// The other losses against the same problem solved as it is.
    #[test]
    fn other_losses_are_exact_too(seed in any::<u64>(), name in proptest::sample::select(loss::NAMES)) {
        let (mut data, k) = draw(seed);
        if matches!(name, "logistic" | "squared-hinge") {
            data.response.iter_mut().for_each(|b| *b = if *b > 0.0 { 1.0 } else { -1.0 });
            (data.response[0], data.response[1]) = (1.0, -1.0);
        }
        let problem = data.problem(name, k);
        for top in [1, 6] {
            let list = |method| {
                let top = NonZeroUsize::new(top);
                solve(&problem, &Settings { top, ..Settings::new(method) }).unwrap()
            };
            let (truth, found) = (list(Method::Exhaustive), list(Method::BestFirst));
            prop_assert_eq!(found.status, Status::Optimal, "{}: {:?}, k {}", name, data, k);
            prop_assert_eq!(found.solutions.len(), truth.solutions.len());
            for (found, truth) in found.solutions.iter().zip(&truth.solutions) {
                prop_assert!(close(found.objective, truth.objective), "{name}: {data:?}, k {k}");
            }
        }
    }
}

/// A problem that takes a tree, and the same with copies of three of its columns.
fn hard(loss: &str) -> (Data, Data) {
    let mut random = Random::new(7);
    let (n, d) = (60, 24);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for _ in 0..d {
        let before = columns.last().cloned();
        let column = (0..n).map(|i| {
            let known = before.as_ref().map_or(0.0, |before| 0.8 * before[i]);
            known + 0.6 * random.normal()
        });
        let column = column.collect();
        columns.push(column);
    }
    let mut response: Vec<f64> = (0..n)
        .map(|i| (0..d).step_by(4).map(|j| columns[j][i]).sum::<f64>() + random.normal())
        .collect();
    if loss == "logistic" {
        response
            .iter_mut()
            .for_each(|b| *b = if *b > 0.0 { 1.0 } else { -1.0 });
    }
    let plain = Data {
        columns,
        response,
        ridge: 1e-3,
        intercept: true,
        standardize: true,
    };
    let mut copied = plain.clone();
    for (from, factor, shift) in [(0, 2.54, 0.0), (8, 1.0, 0.0), (12, -1.8, 32.0)] {
        let copy = plain.columns[from].iter().map(|v| factor * v + shift);
        copied.columns.push(copy.collect());
    }
    (plain, copied)
}

#[test]
fn copies_at_most_double_the_nodes() {
    for name in ["quadratic", "huber", "logistic"] {
        let (plain, copied) = hard(name);
        let run = |data: &Data| -> Solution {
            solve(&data.problem(name, 6), &Settings::default()).unwrap()
        };
        let (without, with) = (run(&plain), run(&copied));
        assert_eq!(with.status, Status::Optimal, "{name}");
        assert!(
            without.nodes > 3,
            "{name}: {} nodes show nothing",
            without.nodes
        );
        assert!(
            with.nodes <= 2 * without.nodes,
            "{name}: {} nodes, {} without copies",
            with.nodes,
            without.nodes
        );
        // Ties go to the first column.
        assert_eq!(with.support, without.support, "{name}");
        assert!(close(with.objective, without.objective), "{name}");
    }
}

/// The models of a list with other members of the same classes need no search of their own.
#[test]
fn copies_at_most_double_the_nodes_of_a_list() {
    for name in ["quadratic", "huber", "logistic"] {
        let (plain, copied) = hard(name);
        let settings = Settings {
            top: NonZeroUsize::new(8),
            ..Settings::default()
        };
        let run = |data: &Data| -> Solution { solve(&data.problem(name, 6), &settings).unwrap() };
        let (without, with) = (run(&plain), run(&copied));
        assert_eq!(with.status, Status::Optimal, "{name}");
        assert_eq!(with.solutions.len(), 8, "{name}");
        assert!(
            with.nodes <= 2 * without.nodes,
            "{name}: {} nodes, {} without copies",
            with.nodes,
            without.nodes
        );
    }
}

#[test]
fn twins_are_named_both_ways() {
    let (_, copied) = hard("quadratic");
    let problem = copied.problem("quadratic", 3);
    assert_eq!(problem.twins(0), [24]);
    assert_eq!(problem.twins(24), [0]);
    assert_eq!(problem.twins(12), [26]);
    assert_eq!(problem.twins(1), Vec::<usize>::new());
    // Without an intercept a shift makes another column; without scaling a factor does.
    let other = Data {
        intercept: false,
        ..copied.clone()
    };
    assert_eq!(other.problem("quadratic", 3).twins(12), Vec::<usize>::new());
    let other = Data {
        standardize: false,
        ..copied
    };
    assert_eq!(other.problem("quadratic", 3).twins(0), Vec::<usize>::new());
    assert_eq!(other.problem("quadratic", 3).twins(8), [25]);
}

/// Without scaling the ridge holds back the shorter of two proportional columns more.
#[test]
fn the_longer_of_two_proportional_columns_is_chosen() {
    let (plain, _) = hard("quadratic");
    let mut data = Data {
        standardize: false,
        ..plain
    };
    let longer = data.columns[0].iter().map(|v| 3.0 * v).collect();
    data.columns.push(longer);
    let found = solve(&data.problem("quadratic", 6), &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Optimal);
    assert!(
        found.support.contains(&24) && !found.support.contains(&0),
        "{:?}",
        found.support
    );
}
