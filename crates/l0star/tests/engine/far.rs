//! Columns whose mean is far larger than their spread: with an intercept they are solved like any others, up to 1e12.

use crate::common::{Form, Random};
use l0star::{Design, Method, Problem, Settings, Solution, Status, loss, prices, solve};
use l0star_oracle::{Column, Dyadic, Exact, Loss, Row};

/// Columns of spread 1 whose means are about `ratio`, except for the last one, and a response of the first two.
fn drawn(seed: u64, n: usize, ratio: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut random = Random::new(seed);
    let mut columns: Vec<Vec<f64>> = (0..4)
        .map(|j| {
            let mean = if j == 3 {
                0.0
            } else {
                ratio * (1.0 + random.uniform())
            };
            (0..n).map(|_| mean + random.normal()).collect()
        })
        .collect();
    // The second resembles the third.
    let middle = columns[1][0] - columns[2][0];
    columns[1] = (0..n)
        .map(|i| columns[2][i] + middle + 0.8 * random.normal())
        .collect();
    let start = [columns[0][0], columns[1][0]];
    let response = (0..n)
        .map(|i| (columns[0][i] - start[0]) - (columns[1][i] - start[1]) + 0.5 * random.normal())
        .collect();
    (columns, response)
}

/// The exact least objective of a set of columns, with the intercept.
fn exact(problem: &Problem, columns: &[Vec<f64>], y: &[f64], ridge: f64, set: &[usize]) -> Exact {
    let n = y.len();
    let row = |y: &f64| Row {
        weight: 1.0 / n as f64,
        response: *y,
        offset: 0.0,
    };
    let rows: Vec<Row> = y.iter().map(row).collect();
    // The engine's columns are multiplied by the float 1/s.
    let column = |entries: &[f64], ridge: f64, scale: f64| {
        let entries = entries.iter().map(|v| &Dyadic::of(*v) * &Dyadic::of(scale));
        Column {
            entries: entries.collect(),
            ridge,
            bounds: (f64::NEG_INFINITY, f64::INFINITY),
        }
    };
    let scale = |j: usize| problem.scales().map_or(1.0, |scales| 1.0 / scales[j]);
    let all = columns.iter().enumerate();
    let mut all: Vec<Column> = all.map(|(j, own)| column(own, ridge, scale(j))).collect();
    all.push(column(&vec![1.0; n], 0.0, 1.0));
    let all = l0star_oracle::Problem::new(Loss::Quadratic, &rows, all);
    let least = all.least(&[set, &[columns.len()]].concat());
    least.expect("a minimum").low
}

fn sets(d: usize, k: usize) -> impl Iterator<Item = Vec<usize>> {
    let bits = (0u32..1 << d).filter(move |bits| bits.count_ones() as usize == k);
    bits.map(move |bits| (0..d).filter(|j| bits >> j & 1 == 1).collect())
}

fn solved(problem: &Problem, method: Method) -> Solution {
    solve(problem, &Settings::new(method)).unwrap()
}

#[test]
fn the_optimum_is_that_of_exact_arithmetic() {
    let k = 2;
    for (at, power) in [0, 3, 6, 7, 8, 9, 10, 11, 12].into_iter().enumerate() {
        for standardize in [false, true] {
            for form in [Form::Dense, Form::Sparse, Form::Shared] {
                let seed = 10 * at as u64 + u64::from(standardize);
                let (columns, y) = drawn(seed, 12, 10f64.powi(power));
                let design = form.design(&columns, seed);
                let problem = Problem::builder(design, y.clone())
                    .k(k)
                    .ridge(1e-2)
                    .intercept(true)
                    .standardize(standardize)
                    .build()
                    .unwrap();
                let of = |set: &[usize]| exact(&problem, &columns, &y, 1e-2, set);
                let best = sets(4, k).map(|set| (of(&set), set));
                let (optimum, support) = best
                    .reduce(|a, b| if a.0.at_most(&b.0) { a } else { b })
                    .unwrap();
                for method in [Method::BestFirst, Method::Exhaustive] {
                    let words = format!("1e{power}, {standardize}, {form:?}, {method}");
                    let found = solved(&problem, method);
                    assert_eq!(found.status, Status::Optimal, "{words}");
                    assert_eq!(found.support, support, "{words}");
                    let bound = Exact::of(found.lower_bound.unwrap());
                    assert!(bound.at_most(&optimum), "{words}");
                    let error = found.objective - optimum.value();
                    assert!(error.abs() <= 1e-9 * found.objective, "{words}: {error:e}");
                    // The result is a model of the data.
                    let mut x: Vec<(usize, f64)> =
                        found.coefficients.iter().copied().enumerate().collect();
                    x.push((4, found.intercept));
                    let value = problem.objective(&x);
                    let rounding = (1e-16 * 10f64.powi(power) * 4.0).powi(2);
                    assert!(
                        (value - found.objective).abs() <= 1e-9 * value + rounding,
                        "{words}"
                    );
                }
            }
        }
    }
}

/// Each price encloses the exact cost between its bounds.
#[test]
fn prices_enclose_the_exact_costs() {
    for seed in 0..12 {
        let (columns, y) = drawn(seed, 10, if seed % 2 == 0 { 1.0 } else { 1e6 });
        let design = Design::dense(10, 4, columns.concat()).unwrap();
        let builder = Problem::builder(design, y.clone()).k(2).ridge(0.1);
        let problem = builder.intercept(true).standardize(false).build().unwrap();
        let settings = Settings::default();
        let found = solved(&problem, Method::BestFirst);
        let of = |set: &[usize]| exact(&problem, &columns, &y, 0.1, set);
        let all: Vec<(Exact, Vec<usize>)> = sets(4, 2).map(|set| (of(&set), set)).collect();
        let least = |keep: &dyn Fn(&[usize]) -> bool| -> Exact {
            let kept = all
                .iter()
                .filter(|(_, set)| keep(set))
                .map(|(value, _)| value);
            kept.reduce(|a, b| if a.at_most(b) { a } else { b })
                .unwrap()
                .clone()
        };
        let optimum = least(&|_| true);
        for price in prices(&problem, &settings, &found, None).unwrap() {
            let other = least(&|set| set.contains(&price.feature) != price.chosen);
            let cost = other.minus(&optimum);
            let (low, high) = price.cost_bounds;
            assert!(Exact::of(low).at_most(&cost), "{seed}: {price:?}");
            assert!(cost.at_most(&Exact::of(high)), "{seed}: {price:?}");
        }
    }
}

/// Under any loss, shifting a column by an exact number changes only the intercept.
#[test]
fn a_column_far_from_zero_is_like_one_that_is_not() {
    for name in ["quadratic", "huber", "logistic", "squared-hinge"] {
        for power in [7, 20, 30, 38] {
            for standardize in [false, true] {
                let mut random = Random::new(power as u64);
                let n = 40;
                // Multiples of 2^-12, so that 2^38 more of them are floats.
                let grid = |v: f64| (v * 4096.0).round() / 4096.0;
                let near: Vec<Vec<f64>> = (0..5)
                    .map(|_| (0..n).map(|_| grid(random.normal())).collect())
                    .collect();
                let score = |i: usize, noise: f64| near[0][i] - near[3][i] + 0.7 * noise;
                let mut y: Vec<f64> = (0..n).map(|i| score(i, random.normal())).collect();
                if !matches!(name, "quadratic" | "huber") {
                    y.iter_mut().for_each(|y| *y = y.signum());
                }
                let far: Vec<Vec<f64>> = near
                    .iter()
                    .enumerate()
                    .map(|(j, column)| {
                        let by = if j == 4 { 0.0 } else { 2f64.powi(power) };
                        column.iter().map(|v| v + by).collect()
                    })
                    .collect();
                let [near, far] = [near, far].map(|columns| {
                    let design = Design::dense(n, 5, columns.concat()).unwrap();
                    let problem = Problem::builder(design, y.clone())
                        .k(2)
                        .ridge(1e-2)
                        .loss(loss::by_name(name, 0.4).unwrap())
                        .intercept(true)
                        .standardize(standardize)
                        .build()
                        .unwrap();
                    solved(&problem, Method::BestFirst)
                });
                let words = format!("{name}, 2^{power}, {standardize}");
                assert_eq!(far.status, Status::Optimal, "{words}");
                assert_eq!(far.support, near.support, "{words}");
                let error = (far.objective - near.objective).abs();
                assert!(error <= 2e-9 * near.objective, "{words}: {error:e}");
                let moved: f64 = far.coefficients[..4].iter().sum::<f64>() * 2f64.powi(power);
                let error = (far.intercept + moved - near.intercept).abs();
                assert!(error <= 1e-6 + 1e-15 * moved.abs(), "{words}: {error:e}");
            }
        }
    }
}
