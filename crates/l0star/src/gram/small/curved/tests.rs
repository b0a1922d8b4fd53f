//! Checks bounds of a few features against minima proved in exact arithmetic, whatever model and step they are made
//! from.

use l0star_oracle::{Dyadic, Row};

use super::super::tests::Random;
use super::bound::MOST;
use super::*;
use crate::loss::by_name;
use crate::{Design, Problem};

const LOSSES: [(&str, l0star_oracle::Loss); 5] = [
    ("logistic", l0star_oracle::Loss::Logistic),
    ("huber", l0star_oracle::Loss::Huber(0.75)),
    ("squared-hinge", l0star_oracle::Loss::SquaredHinge),
    ("poisson", l0star_oracle::Loss::Poisson),
    ("gamma", l0star_oracle::Loss::Gamma),
];

/// Returns a problem of one of several degenerate kinds, and its columns.
fn problem(seed: u64, loss: &str) -> (Problem, Vec<Vec<f64>>) {
    let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95));
    let (n, d) = (4 + random.below(6), 5 + random.below(4));
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..d {
        let mut column: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        match random.below(8) {
            0 if j > 0 => column.clone_from(&columns[j - 1]),
            1 if j > 0 => {
                let close = columns[j - 1].iter().zip(&column);
                column = close.map(|(v, e)| v + 1e-6 * e).collect();
            }
            2 => column.iter_mut().for_each(|v| *v += 20.0),
            3 => column.iter_mut().for_each(|v| *v *= 1e4),
            4 => column.iter_mut().for_each(|v| *v *= 1e-4),
            _ => {}
        }
        columns.push(column);
    }
    let mut response: Vec<f64> = (0..n)
        .map(|i| columns[0][i] - columns[2][i] + 0.5 * random.normal())
        .collect();
    if matches!(loss, "poisson" | "gamma") {
        for b in &mut response {
            *b = b.clamp(-3.0, 6.0).exp();
            if loss == "poisson" {
                *b = (2.0 * *b).floor();
            }
        }
        response[0] = response[0].max(1.0);
    } else if loss != "huber" {
        response
            .iter_mut()
            .for_each(|b| *b = if *b > 0.0 { 1.0 } else { -1.0 });
        (response[0], response[1]) = (1.0, -1.0);
    }
    let design = Design::dense(n, d, columns.concat()).unwrap();
    let ridge = 10f64.powf(-7.0 * random.uniform());
    let mut builder = Problem::builder(design, response)
        .loss(by_name(loss, 0.75).unwrap())
        .standardize(false)
        .ridge(ridge)
        .k(2)
        .intercept(random.below(2) == 0);
    if random.below(3) == 0 {
        builder = builder.weights((0..n).map(|_| 0.1 + random.uniform()).collect());
    }
    if random.below(3) == 0 {
        builder = builder.offset((0..n).map(|_| random.normal()).collect());
    }
    if random.below(3) == 0 {
        builder = builder.always_in(1, 0.1 * ridge);
    }
    (builder.build().unwrap(), columns)
}

/// Returns the problem for the oracle, its columns in the order of [`Data`].
fn exact(
    problem: &Problem,
    columns: &[Vec<f64>],
    loss: l0star_oracle::Loss,
) -> l0star_oracle::Problem {
    let rows: Vec<Row> = (0..problem.rows())
        .map(|i| Row {
            weight: problem.p[i],
            response: problem.b[i],
            offset: problem.offset.get(i).copied().unwrap_or(0.0),
        })
        .collect();
    let column = |entries: &[f64], ridge: f64| l0star_oracle::Column {
        entries: entries.iter().map(|v| Dyadic::of(*v)).collect(),
        ridge,
        bounds: (f64::NEG_INFINITY, f64::INFINITY),
    };
    let used = problem.selectable.iter().chain(&problem.penalised);
    let mut all: Vec<l0star_oracle::Column> = used
        .map(|j| column(&columns[*j], problem.ridge[*j]))
        .collect();
    if problem.has_intercept {
        all.push(column(&vec![1.0; problem.rows()], 0.0));
    }
    l0star_oracle::Problem::new(loss, &rows, all)
}

#[test]
fn no_bound_of_a_pair_is_above_its_minimum() {
    let (mut bounds, mut close, mut pairs, mut yielded) = (0, 0, 0, 0);
    for (name, loss) in LOSSES {
        let is_slow = matches!(name, "logistic" | "poisson" | "gamma");
        for seed in 0..if is_slow { 15 } else { 60 } {
            let (problem, columns) = problem(seed, name);
            // Columns far from their means have a view, whose entries are not the oracle's.
            if problem.design.has_view() {
                continue;
            }
            let data = Data::new(&problem, 3).unwrap();
            let oracle = exact(&problem, &columns, loss.clone());
            let mut random = Random(seed);
            let d = data.features.len();
            let mut point = RowPoint::new(&data);
            for (i, j) in (0..d).flat_map(|i| (i + 1..d).map(move |j| (i, j))) {
                let set = [&data.fixed[..], &[i, j]].concat();
                let Some(least) = oracle.least(&set).map(|least| least.low) else {
                    continue;
                };
                let cap = l0star_oracle::Exact::of(problem.null_value);
                pairs += 1;
                // From the base, from a random point, and from the fit, with the step of the model or another.
                for start in 0..3 {
                    let from: Vec<f64> = (set.iter())
                        .map(|_| if start == 1 { random.normal() } else { 0.0 })
                        .collect();
                    point.start(&set, &from);
                    point.evaluate();
                    if start == 2 {
                        point.fit();
                    }
                    for share in [1.0, 0.5, 0.0] {
                        let Some(step) = point.products.step() else {
                            continue;
                        };
                        let bound = point.bound_of(&step.map(|d| share * d));
                        if bound.is_finite() {
                            let words = format!("{name}, seed {seed}, {i} {j}, {start} {share}");
                            let claim = l0star_oracle::Exact::of(bound);
                            let is_fine = claim.at_most(&least) || cap.at_most(&claim);
                            assert!(is_fine, "{words}: {bound} {}", least.value());
                            bounds += 1;
                            let lost = least.value() - bound;
                            close += usize::from(start == 2 && lost <= 1e-6 * least.value());
                        }
                    }
                    // The parabolas of rows that a step would take too far are narrowed.
                    let bound = point.bound(f64::NEG_INFINITY);
                    if bound.is_finite() {
                        let claim = l0star_oracle::Exact::of(bound);
                        let is_fine = claim.at_most(&least) || cap.at_most(&claim);
                        assert!(is_fine, "{name}, seed {seed}, {i} {j}, {start}: {bound}");
                        yielded += 1;
                    }
                }
            }
        }
    }
    assert!(bounds > 4 * pairs, "{bounds} of {pairs}");
    assert!(2 * close > pairs, "{close} of {pairs}");
    assert!(2 * yielded > 3 * pairs, "{yielded} of {pairs}");
}

#[test]
fn what_a_pass_does_not_hand_out_is_no_better_than_its_target() {
    for m in [2, 3] {
        let (mut proved, mut handed) = (0, 0);
        for (name, loss) in LOSSES {
            let seeds = match (name, m) {
                ("logistic" | "poisson" | "gamma", 2) => 10,
                ("logistic" | "poisson" | "gamma", _) => 4,
                (_, 2) => 40,
                _ => 15,
            };
            for seed in 100..100 + seeds {
                let (problem, columns) = problem(seed, name);
                if problem.design.has_view() {
                    continue;
                }
                let oracle = exact(&problem, &columns, loss.clone());
                let (some, others) = compare(&problem, &oracle, m, &format!("{name}, {seed}"));
                proved += some;
                handed += others;
            }
        }
        assert!(proved > 2 * handed, "{m}: {proved} {handed}");
    }
}

/// Checks passes over all sets of m features with several targets; returns how many sets were proved, and handed out.
fn compare(
    problem: &Problem,
    oracle: &l0star_oracle::Problem,
    m: usize,
    words: &str,
) -> (usize, usize) {
    let mut data = Data::new(problem, m).unwrap();
    let places = problem.selectable.clone();
    let Some(starts) = singles(&mut data, &Limits::none()) else {
        panic!("no limit was set");
    };
    let place = |i: &usize| places.binary_search(&data.features[*i]).unwrap();
    let d = starts.len();
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..m {
        let longer = sets.iter().flat_map(|set| {
            let after = set.last().map_or(0, |last| last + 1);
            (after..d).map(move |i| [&set[..], &[i]].concat())
        });
        sets = longer.collect();
    }
    let least = sets.into_iter().filter_map(|set| {
        let columns: Vec<usize> = data
            .fixed
            .iter()
            .copied()
            .chain(set.iter().map(place))
            .collect();
        let least = oracle.least(&columns)?.low;
        Some((set, least))
    });
    let all: Vec<(Vec<usize>, l0star_oracle::Exact)> = least.collect();
    let best = all.iter().map(|(_, least)| least.value());
    let best = best.fold(f64::INFINITY, f64::min);
    let (mut proved, mut handed) = (0, 0);
    for share in [0.9, 1.0, 1.01, 1.3] {
        let target = (share * best).min(problem.null_value);
        for threads in [1, 2] {
            let mut nobody = |_: &[usize]| f64::NAN;
            let limits = Limits::none();
            let found = pass(&data, &starts, m, target, &limits, threads, &mut nobody);
            let Ok(found) = found else {
                panic!("no limit was set");
            };
            assert!(found.is_complete);
            for (set, least) in &all {
                let is_handed = found.sets.contains(set);
                let claim = l0star_oracle::Exact::of(target);
                let is_fine = is_handed || claim.at_most(least);
                assert!(is_fine, "{words}, {share}: {set:?}");
                handed += usize::from(is_handed);
                proved += usize::from(!is_handed);
            }
        }
    }
    (proved, handed)
}

#[test]
fn limits_stop_it() {
    let (problem, _) = problem(3, "logistic");
    let mut data = Data::new(&problem, 3).unwrap();
    let starts = vec![[0.0; MOST]; data.features.len()];
    let settings = crate::Settings {
        interrupt: Some(std::sync::Arc::new(true.into())),
        ..Default::default()
    };
    let limits = Limits::new(&settings);
    let mut nobody = |_: &[usize]| f64::NAN;
    for m in [2, 3] {
        let found = pass(&data, &starts, m, 0.1, &limits, 1, &mut nobody);
        assert!(matches!(found, Err(Failure::Stopped)));
    }
    assert!(singles(&mut data, &limits).is_none());
}
