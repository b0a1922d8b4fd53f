//! The unit of the response does not matter: nothing is compared with an absolute number.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::cases::cases;
use crate::common::Random;
use l0star::loss::{Huber, Quadratic};
use l0star::problem::Builder;
use l0star::{Design, Error, Problem, Settings, Status, prices, solve};
use proptest::prelude::*;

/// A problem whose response, offset and δ are in another unit.
struct Drawn {
    rows: usize,
    columns: Vec<Vec<f64>>,
    response: Vec<f64>,
    offset: Option<Vec<f64>>,
    delta: Option<f64>,
    is_grouped: bool,
    k: usize,
    ridge: f64,
    intercept: bool,
    standardize: bool,
    weights: Option<Vec<f64>>,
}

impl Drawn {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (rows, d) = (12 + random.below(20), 4 + random.below(5));
        let column = |random: &mut Random| -> Vec<f64> {
            (0..rows).map(|_| random.normal() + 0.3).collect()
        };
        let mut columns: Vec<Vec<f64>> = (0..d).map(|_| column(&mut random)).collect();
        if random.chance(0.5) {
            columns[1] = (0..rows)
                .map(|i| columns[0][i] + 0.1 * columns[1][i])
                .collect();
        }
        let mut response = column(&mut random);
        for (i, b) in response.iter_mut().enumerate() {
            *b = 0.3 * *b + columns[0][i] - columns[2][i];
        }
        let offset = random.chance(0.3).then(|| column(&mut random));
        Self {
            rows,
            offset,
            delta: random.chance(0.4).then_some(0.7),
            is_grouped: random.chance(0.3),
            k: 1 + random.below(3),
            ridge: [1e-6, 1e-3, 0.1][random.below(3)],
            intercept: random.chance(0.5),
            standardize: random.chance(0.5),
            weights: random
                .chance(0.3)
                .then(|| (0..rows).map(|i| 1.0 + (i % 3) as f64).collect()),
            columns,
            response,
        }
    }

    fn in_unit(&self, unit: f64) -> Result<Problem, Error> {
        let scaled = |v: &[f64]| -> Vec<f64> { v.iter().map(|v| v * unit).collect() };
        let design = Design::dense(self.rows, self.columns.len(), self.columns.concat())?;
        let mut builder: Builder = Problem::builder(design, scaled(&self.response))
            .k(self.k)
            .ridge(self.ridge)
            .intercept(self.intercept)
            .standardize(self.standardize);
        builder = match self.delta {
            Some(delta) => builder.loss(Arc::new(Huber::new(delta * unit)?)),
            None => builder.loss(Arc::new(Quadratic)),
        };
        if let Some(offset) = &self.offset {
            builder = builder.offset(scaled(offset));
        }
        if let Some(weights) = &self.weights {
            builder = builder.weights(weights.clone());
        }
        if self.is_grouped {
            builder = builder.groups(vec![vec![0, 3]]);
        }
        builder.build()
    }
}

/// The result as a string, so that every digit counts.
fn digits(solution: &l0star::Solution, unit: f64) -> String {
    let coefficients = solution.coefficients.iter().map(|x| x / unit);
    format!(
        "{:?} {} {:?} {} {} {:?} {:?}",
        solution.support,
        solution.status,
        solution.relative_gap(),
        solution.nodes,
        solution.solver_calls,
        coefficients.collect::<Vec<_>>(),
        solution.intercept / unit,
    )
}

proptest! {
    #![proptest_config(cases(60, 20))]

    /// Units from 2^-600 to 2^400 give the same digits, or an error that says why.
    #[test]
    fn a_power_of_two_changes_no_digit(seed in any::<u64>(), exponent in -600i32..=400) {
        let drawn = Drawn::new(seed);
        let settings = Settings::default();
        let one = solve(&drawn.in_unit(1.0).unwrap(), &settings).unwrap();
        prop_assert_eq!(one.status, Status::Optimal);
        let expected = digits(&one, 1.0);
        for exponent in [exponent, -600, -360, -33, 390, 400] {
            let unit = 2f64.powi(exponent);
            match drawn.in_unit(unit) {
                Ok(problem) => {
                    let found = digits(&solve(&problem, &settings).unwrap(), unit);
                    prop_assert_eq!(&found, &expected, "2^{}", exponent);
                }
                Err(Error::TooSmall { .. }) => prop_assert!(exponent < -360, "{}", exponent),
                Err(Error::TooLarge { .. }) => prop_assert!(exponent > 390, "{}", exponent),
                Err(error) => prop_assert!(false, "2^{exponent}: {error}"),
            }
        }
    }

    #[test]
    fn prices_and_lists_and_gaps_do_not_depend_on_the_unit(seed in any::<u64>()) {
        let drawn = Drawn::new(seed);
        let problems = [1.0, 2f64.powi(-40)].map(|unit| (drawn.in_unit(unit).unwrap(), unit));
        let told = problems.map(|(problem, unit)| {
            let square = unit * unit;
            let plain = Settings::default();
            let best = solve(&problem, &plain).unwrap();
            let costs: Vec<(f64, Status)> = prices(&problem, &plain, &best, None)
                .unwrap()
                .iter()
                .map(|price| (price.cost / square, price.status))
                .collect();
            let near = solve(&problem, &Settings { within: Some(0.2), ..plain.clone() }).unwrap();
            let near: Vec<f64> = near.solutions.iter().map(|model| model.objective / square).collect();
            let list = Settings { top: NonZeroUsize::new(4), ..plain.clone() };
            let list = solve(&problem, &list).unwrap();
            let loose = solve(&problem, &Settings { relative_gap: 0.1, ..plain }).unwrap();
            let gap = loose.relative_gap().unwrap();
            assert!(gap <= 0.1 && loose.lower_bound.unwrap() > 0.0, "{gap}");
            (costs, near, list.status, gap)
        });
        prop_assert_eq!(&told[0], &told[1]);
    }
}

#[test]
fn a_response_that_is_constant_or_zero_is_fitted_up_to_rounding() {
    for value in [0.0, 0.1, 1e-90, -7e80] {
        let column = vec![1.0, 3.0, 2.0, 7.0, 5.0, 4.0];
        let problem = Problem::builder(Design::dense(6, 1, column).unwrap(), vec![value; 6])
            .intercept(true)
            .build()
            .unwrap();
        let found = solve(&problem, &Settings::default()).unwrap();
        assert_eq!(found.status, Status::Optimal);
        assert!(found.objective <= 1e-30 * value * value);
        assert!((found.intercept - value).abs() <= 1e-15 * value.abs());
    }
}

/// A wrong feature must not pass for the optimum because the objective is small.
#[test]
fn small_units_prove_nothing_by_themselves() {
    for seed in 0..30 {
        let drawn = Drawn::new(seed);
        let problem = drawn.in_unit(2f64.powi(-50)).unwrap();
        let found = solve(&problem, &Settings::default()).unwrap();
        let bound = found.lower_bound.unwrap();
        assert_eq!(found.status, Status::Optimal);
        assert!(
            found.objective - bound <= 1e-9 * found.objective.max(1e-12 * found.empty_objective)
        );
        assert!(
            bound > 0.5 * found.objective,
            "{seed}: {bound} of {}",
            found.objective
        );
    }
}
