//! Counts and amounts that are hard for floating point, compared with every set of columns in exact arithmetic; and
//! properties that only losses with a log link have.

use std::num::NonZeroUsize;

use crate::common::{self, Random};
use l0star::{
    Design, Error, Method, PathRun, Problem, Settings, Solution, Status, loss, refit, solve,
    standard_errors,
};
use l0star_oracle::{Column, Dyadic, Exact, Loss, Row};

/// A problem in plain numbers.
#[derive(Debug, Clone)]
struct Data {
    loss: &'static str,
    columns: Vec<Vec<f64>>,
    b: Vec<f64>,
    offset: Vec<f64>,
    ridge: f64,
    intercept: bool,
    k: usize,
}

impl Data {
    fn draw(seed: u64, loss: &'static str, (n, d): (usize, usize)) -> Self {
        let mut random = Random::new(seed);
        let columns: Vec<Vec<f64>> = (0..d)
            .map(|_| (0..n).map(|_| random.normal()).collect())
            .collect();
        let mut b: Vec<f64> = (0..n)
            .map(|i| columns[0][i] - 0.7 * columns[1 % d][i] + 0.5 * random.normal())
            .collect();
        common::log_linked(&mut b, loss);
        Self {
            loss,
            columns,
            b,
            offset: vec![0.0; n],
            ridge: 0.01,
            intercept: seed.is_multiple_of(2),
            k: 2,
        }
    }

    fn problem(&self) -> Problem {
        let (n, d) = (self.b.len(), self.columns.len());
        let design = Design::dense(n, d, self.columns.concat()).unwrap();
        Problem::builder(design, self.b.clone())
            .loss(loss::by_name(self.loss, 1.0).unwrap())
            .standardize(false)
            .offset(self.offset.clone())
            .ridge(self.ridge)
            .intercept(self.intercept)
            .k(self.k)
            .build()
            .unwrap()
    }

    /// The least objective of all sets, enclosed.
    fn truth(&self) -> (Exact, Exact) {
        let n = self.b.len();
        let row = |i: usize| Row {
            weight: 1.0 / n as f64,
            response: self.b[i],
            offset: self.offset[i],
        };
        let rows: Vec<Row> = (0..n).map(row).collect();
        let column = |entries: &[f64], ridge: f64| Column {
            entries: entries.iter().map(|v| Dyadic::of(*v)).collect(),
            ridge,
            bounds: (f64::NEG_INFINITY, f64::INFINITY),
        };
        let own = self
            .columns
            .iter()
            .map(|entries| column(entries, self.ridge));
        let mut columns: Vec<Column> = own.collect();
        columns.push(column(&vec![1.0; n], 0.0));
        let loss = match self.loss {
            "poisson" => Loss::Poisson,
            _ => Loss::Gamma,
        };
        let oracle = l0star_oracle::Problem::new(loss, &rows, columns);
        let d = self.columns.len();
        let sets = (0u32..1 << d).filter(|bits| bits.count_ones() as usize <= self.k);
        let minima = sets.map(|bits| {
            let mut set: Vec<usize> = (0..d).filter(|j| bits >> j & 1 == 1).collect();
            set.extend(self.intercept.then_some(d));
            let least = oracle.least(&set).expect("an enclosure");
            (least.low, least.high)
        });
        let smaller =
            |one: (Exact, Exact), other: (Exact, Exact)| if one.0 <= other.0 { one } else { other };
        minima.reduce(smaller).unwrap()
    }

    /// Checks every exact method against the truth; returns whether all of them proved it up to 1e-9.
    fn check(&self, words: &str) -> bool {
        let problem = self.problem();
        let (low, high) = self.truth();
        let mut proved = true;
        let two = Settings {
            threads: NonZeroUsize::new(2),
            ..Settings::default()
        };
        for settings in [Settings::new(Method::Exhaustive), Settings::default(), two] {
            let found = solve(&problem, &settings).unwrap();
            let bound = found.lower_bound.unwrap();
            assert!(
                Exact::of(bound) <= high,
                "{words}: bound {bound} above {}",
                high.value()
            );
            assert!(found.objective.is_finite() && bound.is_finite(), "{words}");
            // The objective is that of a model, rounded.
            let room = 1e-13 * high.value() + 1e-26 * problem.objective(&[]);
            assert!(
                found.objective >= low.value() - room,
                "{words}: {}",
                found.objective
            );
            assert!(
                matches!(found.status, Status::Optimal | Status::Precision),
                "{words}: {}",
                found.status
            );
            let gap = found.objective - high.value();
            if found.status == Status::Optimal {
                let scale = found.objective.max(1e-12 * problem.empty_objective());
                assert!(gap <= 1e-9 * scale + room, "{words}: {gap:e} above");
            } else {
                proved = false;
                // The remaining gap is rounding.
                assert!(gap <= 1e-6 * found.objective, "{words}: {gap:e} above");
            }
        }
        proved
    }
}

const BOTH: [&str; 2] = ["poisson", "gamma"];

#[test]
fn problems_of_every_kind_have_the_optimum_of_exact_arithmetic() {
    for loss in BOTH {
        for seed in 0..12 {
            let data = Data::draw(seed, loss, (10, 4));
            assert!(data.check(&format!("{loss}, {seed}")));
            let mut random = Random::new(seed);
            let offset = data.offset.iter().map(|_| 2.0 * random.normal()).collect();
            let shifted = Data { offset, ..data };
            assert!(shifted.check(&format!("{loss}, {seed}, offset")));
        }
    }
}

#[test]
fn more_columns_than_rows_and_copies() {
    for loss in BOTH {
        for seed in 0..6 {
            let mut data = Data::draw(seed, loss, (4, 6));
            data.columns[3] = data.columns[0].clone();
            data.columns[4] = data.columns[1].iter().map(|v| -2.0 * v).collect();
            data.ridge = [0.1, 1e-3, 1e-6][seed as usize % 3];
            data.check(&format!("{loss}, {seed}"));
        }
    }
}

#[test]
fn counts_of_zero_only_have_a_best_model_without_an_intercept() {
    let mut data = Data::draw(1, "poisson", (8, 4));
    data.b.fill(0.0);
    assert!(data.check("zeros"));
    // Zeros where a column is 1, and counts elsewhere: only the ridge keeps its coefficient finite.
    for ridge in [0.1, 1e-4, 1e-8] {
        let mut data = Data::draw(2, "poisson", (9, 3));
        data.columns[2] = (0..9).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
        (0..9).for_each(|i| data.b[i] = if i % 3 == 0 { 0.0 } else { (i + 1) as f64 });
        data.ridge = ridge;
        data.check(&format!("apart, {ridge}"));
    }
}

#[test]
fn huge_counts_and_tiny_amounts() {
    for seed in 0..6 {
        for unit in [1e3, 1e6, 1e9, 1e12] {
            let mut data = Data::draw(seed, "poisson", (9, 3));
            data.b
                .iter_mut()
                .for_each(|b| *b = (unit * (*b + 0.37)).floor());
            assert!(data.check(&format!("counts of {unit:e}, {seed}")));
        }
        for unit in [1e-190, 1e-150, 1e-9, 1e90] {
            let mut data = Data::draw(2 * seed, "gamma", (9, 3));
            data.b.iter_mut().for_each(|b| *b *= unit);
            assert!(data.check(&format!("amounts of {unit:e}, {seed}")));
        }
    }
}

/// Slopes are then tiny beside the logarithms of the counts, and the terms of a bound cancel.
#[test]
fn counts_that_a_model_explains_up_to_whole_numbers_are_proved() {
    for seed in 0..4 {
        for unit in [1e3, 1e5, 1e7] {
            let mut data = Data::draw(seed, "poisson", (12, 3));
            for (i, b) in data.b.iter_mut().enumerate() {
                *b = (unit * (0.2 * data.columns[0][i]).exp()).round();
            }
            (data.ridge, data.k, data.intercept) = (1e-4, 1, true);
            assert!(data.check(&format!("counts of {unit:e}, {seed}")));
        }
    }
}

#[test]
fn counts_that_are_all_the_same_have_nothing_to_explain() {
    for loss in BOTH {
        for value in [1.0, 3.0, 1e6] {
            let mut data = Data::draw(4, loss, (7, 3));
            data.b.fill(value);
            data.check(&format!("{loss}, all {value}"));
            let found = solve(&data.problem(), &Settings::default()).unwrap();
            assert!(
                found.objective < 1e-25 * value,
                "{loss} {value}: {}",
                found.objective
            );
            assert!((found.intercept - value.ln()).abs() < 1e-12);
        }
    }
}

#[test]
fn predictions_that_overflow_end_somewhere() {
    // Entries so large that a step from 0 would leave the range of exp.
    for loss in BOTH {
        for scale in [1e3, 1e6, 1e-6] {
            let mut data = Data::draw(3, loss, (8, 3));
            for column in &mut data.columns {
                column.iter_mut().for_each(|v| *v *= scale);
            }
            data.ridge = 1e-2 * scale * scale;
            assert!(data.check(&format!("{loss}, {scale:e}")));
            for method in [Method::Omp, Method::Iht, Method::Htp, Method::Diht] {
                let found = solve(&data.problem(), &Settings::new(method)).unwrap();
                assert!(found.objective.is_finite(), "{loss}, {scale:e}, {method}");
            }
        }
    }
}

#[test]
fn responses_that_nothing_can_reach_are_refused() {
    let mut data = Data::draw(1, "gamma", (8, 3));
    data.b.iter_mut().for_each(|b| *b *= 1e97);
    let design = Design::dense(8, 3, data.columns.concat()).unwrap();
    let builder = Problem::builder(design, data.b.clone());
    let builder = builder.loss(loss::by_name("gamma", 1.0).unwrap());
    let error = builder.clone().build().unwrap_err();
    assert!(matches!(error, Error::FarResponse { .. }));
    assert!(error.to_string().contains("intercept"), "{error}");
    assert!(builder.intercept(true).build().is_ok());
}

#[test]
fn inexact_methods_improve_on_the_null_model() {
    for loss in BOTH {
        for seed in 0..20 {
            let data = Data {
                k: 3,
                ..Data::draw(seed, loss, (60, 12))
            };
            let problem = data.problem();
            let best = solve(&problem, &Settings::default()).unwrap();
            for method in [Method::Omp, Method::Iht, Method::Htp] {
                let found = solve(&problem, &Settings::new(method)).unwrap();
                assert!(found.objective >= best.objective * (1.0 - 1e-9));
                let closed = problem.empty_objective() - found.objective;
                let all = problem.empty_objective() - best.objective;
                assert!(
                    closed >= 0.5 * all,
                    "{loss}, {seed}, {method}: {closed} of {all}"
                );
            }
        }
    }
}

#[test]
fn the_papers_method_is_refused() {
    for loss in BOTH {
        let problem = Data::draw(1, loss, (8, 3)).problem();
        let error = solve(&problem, &Settings::new(Method::Paper)).unwrap_err();
        assert!(matches!(error, Error::Steep { .. }));
        let words = error.to_string();
        assert!(words.contains("'paper'") && words.contains(loss) && words.contains("best-first"));
    }
}

#[test]
fn without_features_the_mean_is_predicted() {
    for loss in BOTH {
        let mut data = Data::draw(2, loss, (20, 2));
        data.k = 0;
        let mean = data.b.iter().sum::<f64>() / 20.0;
        let found = solve(&data.problem(), &Settings::default()).unwrap();
        assert!((found.intercept - mean.ln()).abs() < 1e-12, "{loss}");
        // With an exposure, it is the rate, for counts.
        if loss == "poisson" {
            let exposure: Vec<f64> = (0..20).map(|i| 0.5 + 0.1 * f64::from(i)).collect();
            data.offset = exposure.iter().map(|t| t.ln()).collect();
            let rate = data.b.iter().sum::<f64>() / exposure.iter().sum::<f64>();
            let found = solve(&data.problem(), &Settings::default()).unwrap();
            assert!((found.intercept - rate.ln()).abs() < 1e-12);
        }
    }
}

/// `ln Γ(x)` by Stirling's series.
fn ln_gamma(x: f64) -> f64 {
    if x < 40.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + 1.0 / (12.0 * x)
        - 1.0 / (360.0 * x.powi(3))
}

/// The log-likelihood of a solution; for amounts with the best of many shapes.
fn log_likelihood(data: &Data, found: &Solution) -> f64 {
    let means: Vec<f64> = (0..data.b.len())
        .map(|i| {
            let columns = data.columns.iter().zip(&found.coefficients);
            let z: f64 = columns.map(|(column, x)| column[i] * x).sum();
            (z + found.intercept + data.offset[i]).exp()
        })
        .collect();
    let rows = || data.b.iter().zip(&means);
    if data.loss == "poisson" {
        return rows()
            .map(|(y, m)| y * m.ln() - m - ln_gamma(y + 1.0))
            .sum();
    }
    let at = |shape: f64| -> f64 {
        let row = |(y, m): (&f64, &f64)| {
            shape * (shape / m).ln() + (shape - 1.0) * y.ln() - shape * y / m - ln_gamma(shape)
        };
        rows().map(row).sum()
    };
    let shapes = (0..200_000).map(|i| 1e-2 * 1.000_05f64.powi(i));
    shapes.map(at).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn differences_of_aic_are_those_of_the_likelihood() {
    for loss in BOTH {
        let data = Data {
            k: 4,
            intercept: true,
            ..Data::draw(2, loss, (40, 5))
        };
        let points = PathRun::new(&data.problem(), &Settings::default(), 0..=4).solve();
        let points = points.unwrap();
        let aic = |k: usize| points[k].criteria.unwrap().aic;
        let parameters = |k: usize| 1.0 + points[k].solution.support.len() as f64;
        let own = |k: usize| 2.0 * parameters(k) - 2.0 * log_likelihood(&data, &points[k].solution);
        for k in 1..=4 {
            let (found, truth) = (aic(k) - aic(0), own(k) - own(0));
            assert!(
                (found - truth).abs() < 1e-4,
                "{loss}, {k}: {found} and {truth}"
            );
        }
    }
}

/// The formulas of a textbook: `(AᵀWA)⁻¹`, W the means for counts, 1/dispersion for amounts.
#[test]
fn standard_errors_are_those_of_a_generalised_linear_model() {
    for loss in BOTH {
        let data = Data {
            k: 1,
            intercept: true,
            ridge: 1e-9,
            ..Data::draw(6, loss, (50, 1))
        };
        let problem = data.problem();
        let found = solve(&problem, &Settings::default()).unwrap();
        let (coefficients, intercepts) = refit(&problem, &found).unwrap();
        let found = Solution {
            coefficients,
            intercept: intercepts[0],
            ..found
        };
        let errors = standard_errors(&problem, &found, false).unwrap();
        let a = &data.columns[0];
        let means: Vec<f64> = a
            .iter()
            .map(|a| (a * found.coefficients[0] + found.intercept).exp())
            .collect();
        let weights: Vec<f64> = match loss {
            "poisson" => means.clone(),
            _ => {
                let squares = data
                    .b
                    .iter()
                    .zip(&means)
                    .map(|(y, m)| (y / m - 1.0).powi(2));
                vec![48.0 / squares.sum::<f64>(); 50]
            }
        };
        let sum = |of: &dyn Fn(usize) -> f64| (0..50).map(|i| weights[i] * of(i)).sum::<f64>();
        let (zero, one, two) = (sum(&|_| 1.0), sum(&|i| a[i]), sum(&|i| a[i] * a[i]));
        let determinant = zero * two - one * one;
        let near = |found: f64, truth: f64| assert!((found / truth - 1.0).abs() < 1e-6, "{loss}");
        near(errors.errors[0].unwrap(), (zero / determinant).sqrt());
        near(errors.intercepts[0], (two / determinant).sqrt());
        assert_eq!(errors.freedom, (loss == "gamma").then_some(48));
    }
}

#[test]
fn copies_stand_for_each_other() {
    for loss in BOTH {
        let mut data = Data::draw(8, loss, (30, 5));
        data.columns[4] = data.columns[0].clone();
        data.intercept = true;
        let problem = data.problem();
        assert_eq!(problem.twins(0), [4], "{loss}");
        assert_eq!(problem.twins(1), [], "{loss}");
        assert!(data.check(loss));
    }
}
