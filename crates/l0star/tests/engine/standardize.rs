//! `Builder::standardize`: one ridge for columns of every scale, and coefficients on the scale of the data.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::cases::cases;
use crate::common::{self, Form, Random};
use l0star::problem::Builder;
use l0star::{
    Checkpoint, Design, Error, Method, PathRun, Problem, Run, Settings, Solution, Status, loss,
    prices, solve,
};
use proptest::prelude::*;

/// A problem as a user states it, and an account of its objective that shares nothing with the engine's.
struct Case {
    columns: Vec<Vec<f64>>,
    form: Form,
    response: Vec<f64>,
    loss: &'static str,
    ridge: f64,
    k: usize,
    intercept: bool,
    weights: Vec<f64>,
    offset: Vec<f64>,
    factors: Vec<f64>,
    bounds: Vec<(f64, f64)>,
    groups: Vec<Vec<usize>>,
    words: String,
}

/// Draws columns of scales between 1e-6 and 1e6 (some far from zero), with zeros and constants among them.
fn draw(seed: u64, loss: &'static str) -> Case {
    let mut random = Random::new(seed);
    let (n, d) = (4 + random.below(20), 2 + random.below(6));
    let form = [Form::Dense, Form::Sparse, Form::Padded][random.below(3)];
    let mut columns = Vec::new();
    let mut signal = vec![0.0; n];
    for _ in 0..d {
        let thin = form != Form::Dense && random.chance(0.6);
        let shift = if random.chance(0.3) { 3.0 } else { 0.0 };
        let mut column: Vec<f64> = (0..n).map(|_| shift + random.normal()).collect();
        if thin {
            column.iter_mut().for_each(|v| {
                if random.chance(0.6) {
                    *v = 0.0;
                }
            });
        }
        match random.below(12) {
            0 => column.fill(0.0),
            1 => column.fill(2.0 + random.uniform()),
            _ => {}
        }
        let weight = if random.chance(0.5) {
            random.normal()
        } else {
            0.0
        };
        signal
            .iter_mut()
            .zip(&column)
            .for_each(|(s, v)| *s += weight * v);
        let unit = 10f64.powf(12.0 * random.uniform() - 6.0);
        column.iter_mut().for_each(|v| *v *= unit);
        columns.push(column);
    }
    let labels = matches!(loss, "logistic" | "squared-hinge");
    let mut response: Vec<f64> = signal.iter().map(|s| s + 0.3 * random.normal()).collect();
    if labels {
        response
            .iter_mut()
            .for_each(|b| *b = if *b > 0.0 { 1.0 } else { -1.0 });
        (response[0], response[1]) = (1.0, -1.0);
    }
    common::log_linked(&mut response, loss);
    let mut weights = vec![1.0; n];
    if random.chance(0.4) {
        // The first two rows have both labels.
        weights[2..].fill_with(|| {
            if random.chance(0.15) {
                0.0
            } else {
                0.1 + random.uniform()
            }
        });
    }
    let mut offset = vec![0.0; n];
    if random.chance(0.3) {
        offset.fill_with(|| random.normal());
    }
    let factors = (0..d).map(|_| {
        if random.chance(0.3) {
            0.1 + random.uniform()
        } else {
            1.0
        }
    });
    let factors: Vec<f64> = factors.collect();
    let sizes = columns
        .iter()
        .map(|c| c.iter().fold(1e-6, |m: f64, v| m.max(v.abs())));
    let bounded = random.chance(0.4);
    let bounds = sizes.map(|size| match random.below(4) {
        0 if bounded => (0.0, f64::INFINITY),
        1 if bounded => (-random.uniform() / size, random.uniform() / size),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    });
    let bounds: Vec<(f64, f64)> = bounds.collect();
    let groups = if random.chance(0.3) {
        vec![vec![0, d - 1]]
    } else {
        Vec::new()
    };
    let (k, ridge) = (1 + random.below(d), 10f64.powf(-4.0 * random.uniform()));
    let intercept = random.chance(0.6);
    let words = format!(
        "seed {seed}, {loss}, n {n}, d {d}, k {k}, ridge {ridge:e}, {form:?}, intercept {intercept}, {weights:?}, {bounds:?}, {groups:?}"
    );
    Case {
        columns,
        form,
        response,
        loss,
        ridge,
        k,
        intercept,
        weights,
        offset,
        factors,
        bounds,
        groups,
        words,
    }
}

impl Case {
    /// The problem with the columns multiplied by `by`, and the bounds adapted.
    fn builder(&self, by: &[f64]) -> Builder {
        let columns = self.columns.iter().zip(by);
        let columns = columns.map(|(column, by)| column.iter().map(|v| v * by).collect());
        let design = self.form.design(&columns.collect::<Vec<Vec<f64>>>(), 1);
        let mut builder = Problem::builder(design, self.response.clone())
            .standardize(false)
            .loss(loss::by_name(self.loss, 1.0).unwrap())
            .ridge(self.ridge)
            .k(self.k)
            .intercept(self.intercept)
            .weights(self.weights.clone())
            .offset(self.offset.clone())
            .groups(self.groups.clone());
        for (j, by) in by.iter().enumerate() {
            let (low, high) = self.bounds[j];
            builder = builder
                .ridge_factor(j, self.factors[j])
                .bounds(j, low / by, high / by);
        }
        builder
    }

    fn plain(&self) -> Builder {
        self.builder(&vec![1.0; self.columns.len()])
    }

    fn standardized(&self) -> Problem {
        self.plain().standardize(true).build().unwrap()
    }

    /// The standard deviation of each column by the textbook, with weights; for a constant its absolute value, 1 for
    /// zeros.
    fn deviations(&self) -> Vec<f64> {
        let total: f64 = self.weights.iter().sum();
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let weighed = values.zip(&self.weights).map(|(v, w)| v * w);
            weighed.sum::<f64>() / total
        };
        let deviation = |column: &Vec<f64>| {
            let centre = mean(&mut column.iter().copied());
            let sd = mean(&mut column.iter().map(|v| (v - centre).powi(2))).sqrt();
            let counted = column.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0);
            let (mut counted, first) = (counted.clone(), counted.clone().next().unwrap());
            let constant = counted.all(|(v, _)| v == first.0);
            if !constant {
                sd
            } else if *first.0 == 0.0 {
                1.0
            } else {
                first.0.abs()
            }
        };
        self.columns.iter().map(deviation).collect()
    }

    /// `Σ w l(Ax + o)/Σw + ½ Σ λ_j (s_j x_j)²`, term by term.
    fn objective(&self, x: &[f64], intercept: f64) -> f64 {
        let loss = loss::by_name(self.loss, 1.0).unwrap();
        let total: f64 = self.weights.iter().sum();
        let rows = (0..self.response.len()).map(|i| {
            let products = self.columns.iter().zip(x).map(|(column, x)| column[i] * x);
            let z = products.sum::<f64>() + intercept + self.offset[i];
            self.weights[i] / total * loss.value(z, self.response[i])
        });
        let terms = (0..x.len()).map(|j| {
            let scaled = self.deviations()[j] * x[j];
            0.5 * self.ridge * self.factors[j] * scaled * scaled
        });
        rows.sum::<f64>() + terms.sum::<f64>()
    }
}

fn losses() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(loss::NAMES)
}

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs()) + 1e-13
}

proptest! {
    #![proptest_config(cases(200, 31))]

    #[test]
    fn the_optimum_is_that_of_brute_force_and_the_objective_that_of_its_definition(
        seed in any::<u64>(), name in losses(),
    ) {
        let case = draw(seed, name);
        let words = &case.words;
        let problem = case.standardized();
        let truth = solve(&problem, &Settings::new(Method::Exhaustive)).unwrap();
        let slack = common::rounding(&problem, truth.objective);
        let list = Settings { top: NonZeroUsize::new(3), ..Settings::default() };
        for settings in [Settings::default(), list] {
            let found = solve(&problem, &settings).unwrap();
            prop_assert_eq!(found.status, Status::Optimal, "{}", words);
            prop_assert!(found.lower_bound.unwrap() <= truth.objective + slack, "{words}");
            prop_assert!(close(found.objective, truth.objective, 1e-9), "{words}");
            for model in &found.solutions {
                let own = case.objective(&model.coefficients, model.intercept);
                prop_assert!(close(own, model.objective, 1e-10), "{words}: {own} is not {}", model.objective);
                for (x, (low, high)) in model.coefficients.iter().zip(&case.bounds) {
                    prop_assert!(low <= x && x <= high, "{words}: {x} is not in {low}..{high}");
                }
            }
            // The objective that a user can compute for a solution agrees with it.
            let mut x: Vec<(usize, f64)> = found.coefficients.iter().copied().enumerate().collect();
            x.extend(case.intercept.then_some((case.columns.len(), found.intercept)));
            prop_assert!(close(problem.objective(&x), found.objective, 1e-10), "{words}");
            let mut z = vec![0.0; problem.rows()];
            problem.design().add_columns(x.iter().copied(), &mut z);
            let counted = (0..case.response.len()).filter(|i| case.weights[*i] > 0.0);
            for (i, z) in counted.zip(z) {
                let products = case.columns.iter().zip(&found.coefficients);
                let own: f64 = products.map(|(column, x)| column[i] * x).sum();
                prop_assert!((own + found.intercept - z).abs() <= 1e-9 * (1.0 + z.abs()), "{words}");
            }
        }
    }

    /// Units are powers of two here, which change no digit; other factors would only round.
    #[test]
    fn the_unit_of_a_column_changes_nothing(
        seed in any::<u64>(), name in losses(), exponents in proptest::collection::vec(-60i32..60, 8),
    ) {
        let case = Case { form: Form::Dense, ..draw(seed, name) };
        let words = &case.words;
        let units = exponents.iter().cycle().map(|exponent| 2f64.powi(*exponent));
        let units: Vec<f64> = units.take(case.columns.len()).collect();
        let scaled = case.builder(&units).standardize(true).build().unwrap();
        let plain = solve(&case.standardized(), &Settings::default()).unwrap();
        let found = solve(&scaled, &Settings::default()).unwrap();
        prop_assert_eq!(found.status, plain.status, "{}", words);
        prop_assert_eq!(&found.support, &plain.support, "{}", words);
        prop_assert_eq!(found.nodes, plain.nodes, "{}", words);
        prop_assert_eq!(found.objective, plain.objective, "{}", words);
        for (j, unit) in units.iter().enumerate() {
            prop_assert_eq!(found.coefficients[j] * unit, plain.coefficients[j], "{}", words);
        }
    }

    #[test]
    fn it_is_the_problem_with_columns_divided_by_hand(seed in any::<u64>(), name in losses()) {
        let case = draw(seed, name);
        let words = &case.words;
        let (problem, deviations) = (case.standardized(), case.deviations());
        for (own, sd) in problem.scales().unwrap().iter().zip(&deviations) {
            prop_assert!(close(own / sd, 1.0, 1e-12), "{words}: {own} is not {sd}");
        }
        let reciprocals: Vec<f64> = deviations.iter().map(|sd| 1.0 / sd).collect();
        let divided = case.builder(&reciprocals).build().unwrap();
        // Constants are equal once they are divided, and inexact methods may choose either of two that tie.
        let is_constant = |column: &&Vec<f64>| column.iter().all(|v| *v == column[0]);
        let tied = case.columns.iter().filter(is_constant).count() > 1;
        let unstructured = case.groups.is_empty() && case.bounds.iter().all(|b| b.0.is_infinite() && b.1.is_infinite());
        let methods = [Method::BestFirst, Method::Exhaustive, Method::Paper, Method::Omp, Method::Htp];
        let count = match (unstructured, tied) {
            (true, false) => 5,
            (true, true) => 3,
            (false, _) => 2,
        };
        let methods = &methods[..count];
        for method in methods.iter().filter(|method| common::suits(&problem, **method)) {
            let settings = Settings::new(*method);
            let (found, other) = (solve(&problem, &settings).unwrap(), solve(&divided, &settings).unwrap());
            prop_assert!(close(found.objective, other.objective, 2e-9), "{words}, {method}");
            if found.support != other.support {
                // The models tie, so only their objectives are compared.
                continue;
            }
            for (j, sd) in deviations.iter().enumerate() {
                let (own, scaled) = (found.coefficients[j] * sd, other.coefficients[j]);
                // A small ridge leaves the coefficients of nearly equal columns to rounding.
                prop_assert!((own - scaled).abs() <= 1e-5 * (1.0 + scaled.abs()), "{words}, {method}: {own} is not {scaled}");
            }
        }
    }

    #[test]
    fn paths_and_prices_are_those_of_brute_force(seed in any::<u64>(), name in losses()) {
        let case = draw(seed, name);
        let words = &case.words;
        let problem = case.standardized();
        for point in PathRun::new(&problem, &Settings::default(), 0..=case.k).solve().unwrap() {
            let alone = problem.with_k(point.k).unwrap();
            let truth = solve(&alone, &Settings::new(Method::Exhaustive)).unwrap();
            let Solution { objective, coefficients, intercept, lower_bound, .. } = point.solution;
            prop_assert!(close(objective, truth.objective, 2e-9), "{words}, k {}", point.k);
            let slack = common::rounding(&problem, truth.objective);
            prop_assert!(lower_bound.unwrap() <= truth.objective + slack, "{words}, k {}", point.k);
            let own = case.objective(&coefficients, intercept);
            prop_assert!(close(own, objective, 1e-10), "{words}, k {}: {own}", point.k);
        }
        let solution = solve(&problem, &Settings::default()).unwrap();
        let of = |method| prices(&problem, &Settings::new(method), &solution, None).unwrap();
        for (own, truth) in of(Method::BestFirst).iter().zip(of(Method::Exhaustive)) {
            prop_assert!(close(own.objective, truth.objective, 2e-9) || truth.objective.is_infinite(), "{words}");
            prop_assert!(own.lower_bound <= truth.objective * (1.0 + 1e-12) + 1e-20, "{words}");
        }
    }
}

/// Stops after this many nodes; returns the bytes of the checkpoint.
fn stopped(problem: &Problem, nodes: u64) -> Vec<u8> {
    let mut saved = Vec::new();
    let limited = Settings {
        node_limit: Some(nodes),
        ..Settings::default()
    };
    let keep = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
    let run = Run::new(problem, &limited).save(Duration::MAX, keep);
    assert_eq!(run.solve().unwrap().status, Status::NodeLimit);
    saved
}

fn resume(problem: &Problem, saved: &[u8]) -> l0star::Result<Solution> {
    let checkpoint = Checkpoint::decode(saved)?;
    let run = Run::new(problem, &Settings::default());
    run.resume(checkpoint).solve()
}

#[test]
fn a_checkpoint_belongs_to_the_standardized_problem_and_resumes_to_the_same() {
    for name in loss::NAMES {
        let plain = common::hard_draft(name).build().unwrap();
        let problem = common::hard_draft(name).standardize(true).build().unwrap();
        let saved = stopped(&problem, 1);
        let (found, whole) = (
            resume(&problem, &saved).unwrap(),
            solve(&problem, &Settings::default()).unwrap(),
        );
        assert_eq!(found.status, Status::Optimal);
        assert_eq!(found.support, whole.support);
        for (a, b) in found.coefficients.iter().zip(&whole.coefficients) {
            assert!(close(*a, *b, 1e-9), "{name}: {a} is not {b}");
        }
        let refused = |problem: &Problem, saved: &[u8]| {
            let error = resume(problem, saved).unwrap_err();
            matches!(error, Error::Checkpoint { .. })
        };
        assert!(refused(&plain, &saved) && refused(&problem, &stopped(&plain, 1)));
    }
}

#[test]
fn a_checkpoint_knows_deviations_of_one() {
    // The deviations are 1: columns, ridges and bounds are the same with and without standardising.
    let columns = vec![1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0];
    let builder = Problem::builder(
        Design::dense(4, 2, columns).unwrap(),
        vec![1.1, 1.9, 3.2, 3.9],
    )
    .standardize(false);
    let plain = builder.clone().build().unwrap();
    let problem = builder.standardize(true).build().unwrap();
    assert_eq!(problem.scales(), Some(&[1.0, 1.0][..]));
    for (from, to) in [(&plain, &problem), (&problem, &plain)] {
        let saved = stopped(from, 0);
        assert!(resume(from, &saved).is_ok());
        assert!(matches!(resume(to, &saved), Err(Error::Checkpoint { .. })));
    }
}

/// Standardising applies to a given view, and the coefficients are those of the view.
#[test]
fn a_view_is_standardized_as_it_is_seen() {
    let values = vec![11.0, 12.0, 13.0, 17.0];
    let problem = |design: Design| {
        Problem::builder(design, vec![2.0, 4.0, 6.0, 15.0])
            .standardize(false)
            .ridge(0.1)
            .standardize(true)
            .build()
            .unwrap()
    };
    let seen = problem(Design::dense(4, 1, vec![-2.0, -4.0, -6.0, -14.0]).unwrap());
    let view = Design::dense(4, 1, values).unwrap();
    let view = problem(view.with_view(vec![10.0], vec![-2.0]).unwrap());
    assert!(close(
        view.scales().unwrap()[0],
        seen.scales().unwrap()[0],
        1e-15
    ));
    let of = |problem: &Problem| solve(problem, &Settings::default()).unwrap();
    let (a, b) = (of(&view), of(&seen));
    assert!(close(a.objective, b.objective, 1e-12));
    assert!(close(a.coefficients[0], b.coefficients[0], 1e-12));
}

#[test]
fn bounds_and_scales_are_those_of_the_data() {
    let design = Design::dense(4, 2, vec![1e5, 2e5, 4e5, 3e5, 7.0, 7.0, 7.0, 7.0]).unwrap();
    let builder = Problem::builder(design, vec![1.0, 2.0, 4.0, 3.0])
        .standardize(false)
        .k(2)
        .ridge(1e-3)
        .bounds(0, 0.0, 0.3e-5);
    let plain = builder.clone().build().unwrap();
    assert_eq!(plain.scales(), None);
    let problem = builder.standardize(true).build().unwrap();
    assert_eq!(problem.bounds(0), (0.0, 0.3e-5));
    let scales = problem.scales().unwrap();
    assert!(close(scales[0], 1e5 * 1.25f64.sqrt(), 1e-15));
    // A constant is divided by its absolute value.
    assert_eq!(scales[1], 7.0);
    let found = solve(&problem, &Settings::default()).unwrap();
    // Equal to the last bit.
    assert_eq!(found.coefficients[0], 0.3e-5);
}

#[test]
fn columns_that_are_too_large_or_too_small_to_divide_are_refused() {
    let build = |size: f64| {
        let column = [1.0, 2.0, 4.0].map(|v| v * size).to_vec();
        let design = Design::dense(3, 1, column).unwrap();
        let builder = Problem::builder(design, vec![1.0, 2.0, 3.0]).standardize(false);
        builder.ridge(0.1).standardize(true).build()
    };
    for size in [1e200, 1e307] {
        assert!(matches!(build(size), Err(Error::TooLarge { .. })), "{size}");
    }
    assert!(matches!(build(1e-310), Err(Error::Overflow { .. })));
    let one = solve(&build(1.0).unwrap(), &Settings::default()).unwrap();
    for size in [1e140, 1e-200, 1e-140] {
        let found = solve(&build(size).unwrap(), &Settings::default()).unwrap();
        assert_eq!(found.status, Status::Optimal);
        assert!(close(found.objective, one.objective, 1e-12), "{size}");
        assert!(
            close(found.coefficients[0] * size, one.coefficients[0], 1e-12),
            "{size}"
        );
    }
}
