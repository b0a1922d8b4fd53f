//! The fit of a support is a minimum, by a gradient computed here from the raw data, and its certificate is tight.

use crate::common::{self, Random};
use l0star::internals::{Fit, Restricted};
use l0star::{Design, Problem, loss};

/// The raw numbers of a problem and the problem itself.
struct Case {
    columns: Vec<Vec<f64>>,
    b: Vec<f64>,
    weights: Vec<f64>,
    offset: Vec<f64>,
    ridge: f64,
    intercept: bool,
    problem: Problem,
    words: String,
}

/// Options of a random case.
#[derive(Clone, Copy)]
struct Draw {
    noise: f64,
    ridge: f64,
    /// Whether there are duplicate, opposite and zero columns.
    degenerate: bool,
}

impl Draw {
    const PLAIN: Self = Self {
        noise: 0.5,
        ridge: 1e-2,
        degenerate: false,
    };
}

impl Case {
    fn new(seed: u64, name: &str, draw: Draw) -> Self {
        let mut random = Random::new(seed);
        let (n, d) = (10 + random.below(30), 8);
        let mut columns: Vec<Vec<f64>> = (0..d)
            .map(|_| (0..n).map(|_| random.normal()).collect())
            .collect();
        let truth: Vec<f64> = (0..d).map(|_| random.normal()).collect();
        let mut b: Vec<f64> = (0..n)
            .map(|i| {
                let signal: f64 = (0..d).map(|j| columns[j][i] * truth[j]).sum();
                signal + draw.noise * random.normal()
            })
            .collect();
        if draw.degenerate {
            columns[3] = columns[0].clone();
            columns[4] = columns[1].iter().map(|v| -v).collect();
            columns[5] = vec![0.0; n];
            columns[6] = vec![1.0; n];
        }
        if matches!(name, "logistic" | "squared-hinge") {
            b.iter_mut().for_each(|b| *b = b.signum());
            (b[0], b[1]) = (1.0, -1.0);
        }
        common::log_linked(&mut b, name);
        let plain = random.chance(0.3);
        let intercept = random.chance(0.5);
        let delta = [0.1, 1.0, 10.0][random.below(3)];
        let (mut weights, mut offset) = (vec![1.0; n], vec![0.0; n]);
        let design = Design::dense(n, d, columns.concat()).unwrap();
        let mut builder = Problem::builder(design, b.clone())
            .standardize(false)
            .loss(loss::by_name(name, delta).unwrap())
            .ridge(draw.ridge)
            .k(d)
            .intercept(intercept);
        if !plain {
            weights = (0..n).map(|_| 0.1 + random.uniform()).collect();
            // An offset adds noise to a response that is nearly fitted.
            offset = (0..n)
                .map(|_| draw.noise.min(1.0) * random.normal())
                .collect();
            builder = builder.weights(weights.clone()).offset(offset.clone());
        }
        let words = format!(
            "{name} (δ {delta}), seed {seed}, n {n}, plain {plain}, intercept {intercept}, ridge {:e}",
            draw.ridge
        );
        Self {
            columns,
            b,
            weights,
            offset,
            ridge: draw.ridge,
            intercept,
            problem: builder.build().unwrap(),
            words,
        }
    }

    /// P and its gradient at a model, with entries in the order of `x`; only the scalar loss is the engine's.
    fn gradient(&self, x: &[(usize, f64)]) -> (f64, Vec<f64>) {
        let loss = self.problem.loss();
        let d = self.columns.len();
        let entry = |i: usize, j: usize| if j < d { self.columns[j][i] } else { 1.0 };
        let ridge = |j: usize| if j < d { self.ridge } else { 0.0 };
        let mass: f64 = self.weights.iter().sum();
        let mut value: f64 = x.iter().map(|(j, x)| 0.5 * ridge(*j) * x * x).sum();
        let mut gradient: Vec<f64> = x.iter().map(|(j, x)| ridge(*j) * x).collect();
        for i in 0..self.b.len() {
            let z = self.offset[i] + x.iter().map(|(j, x)| entry(i, *j) * x).sum::<f64>();
            let p = self.weights[i] / mass;
            value += p * loss.value(z, self.b[i]);
            let slope = p * loss.slope(z, self.b[i]);
            for (g, (j, _)) in gradient.iter_mut().zip(x) {
                *g += slope * entry(i, *j);
            }
        }
        (value, gradient)
    }

    /// Asserts that the reported value is P, that the gap `Σ g²/2λ` is at most `tolerance · P`, and that the intercept
    /// is stationary.
    fn check(&self, fit: &Fit, support: &[usize], tolerance: f64) {
        let words = format!("{}, support {support:?}", self.words);
        let mut columns: Vec<usize> = fit.x.iter().map(|(j, _)| *j).collect();
        columns.sort_unstable();
        let mut expected = support.to_vec();
        if self.intercept {
            expected.push(self.columns.len());
        }
        assert_eq!(columns, expected, "{words}");
        let (value, gradient) = self.gradient(&fit.x);
        assert!(
            (value - fit.objective).abs() <= 1e-13 * value,
            "{words}: reports {}, has {value}",
            fit.objective
        );
        let mut gap = 0.0;
        for ((j, x), g) in fit.x.iter().zip(&gradient) {
            assert!(x.is_finite(), "{words}: x = {:?}", fit.x);
            if *j < self.columns.len() {
                gap += g * g / (2.0 * self.ridge);
            } else {
                assert!(
                    g.abs() <= 1e-8 * (1.0 + value),
                    "{words}: the derivative in the intercept is {g}"
                );
            }
        }
        assert!(
            gap <= tolerance * value,
            "{words}: gap {gap:e} of {value}, gradient {gradient:?}"
        );
    }
}

fn supports(seed: u64) -> Vec<Vec<usize>> {
    let mut random = Random::new(seed + 1000);
    let mut supports = vec![vec![], (0..8).collect()];
    for _ in 0..4 {
        supports.push((0..8).filter(|_| random.chance(0.5)).collect());
    }
    supports
}

#[test]
fn the_gradient_vanishes_at_the_fit() {
    for name in loss::NAMES {
        for seed in 0..60 {
            for ridge in [1.0, 1e-2, 1e-4] {
                let case = Case::new(
                    seed,
                    name,
                    Draw {
                        ridge,
                        ..Draw::PLAIN
                    },
                );
                let mut restricted = Restricted::new(&case.problem);
                for support in supports(seed) {
                    case.check(&restricted.fit(&support), &support, 1e-13);
                }
            }
        }
    }
}

#[test]
fn a_fit_does_not_depend_on_what_was_fitted_before() {
    for name in loss::NAMES {
        let case = Case::new(5, name, Draw::PLAIN);
        let mut restricted = Restricted::new(&case.problem);
        for support in supports(5) {
            let again = restricted.fit(&support);
            let fresh = Restricted::new(&case.problem).fit(&support);
            assert_eq!(again, fresh, "{}", case.words);
        }
    }
}

#[test]
fn duplicate_opposite_constant_and_zero_columns_are_fitted_like_any_other() {
    let draw = Draw {
        degenerate: true,
        ..Draw::PLAIN
    };
    for name in loss::NAMES {
        for seed in 0..60 {
            let case = Case::new(seed, name, draw);
            let mut restricted = Restricted::new(&case.problem);
            for support in supports(seed) {
                let fit = restricted.fit(&support);
                case.check(&fit, &support, 1e-13);
                let coefficient = |j: usize| fit.x.iter().find(|(at, _)| *at == j).map(|(_, x)| *x);
                // The ridge divides a coefficient equally between a column and its copy, and leaves a zero column at
                // zero.
                if let (Some(one), Some(copy)) = (coefficient(0), coefficient(3)) {
                    assert!(
                        (one - copy).abs() <= 1e-6 * (1.0 + one.abs()),
                        "{}: {one} and {copy}",
                        case.words
                    );
                }
                if let (Some(one), Some(opposite)) = (coefficient(1), coefficient(4)) {
                    assert!(
                        (one + opposite).abs() <= 1e-6 * (1.0 + one.abs()),
                        "{}: {one} and {opposite}",
                        case.words
                    );
                }
                assert!(
                    coefficient(5).is_none_or(|x| x == 0.0),
                    "{}: the zero column has {:?}",
                    case.words,
                    coefficient(5)
                );
            }
        }
    }
}

#[test]
fn collinear_columns_with_a_tiny_ridge_leave_a_finite_minimum() {
    let draw = Draw {
        ridge: 1e-12,
        degenerate: true,
        ..Draw::PLAIN
    };
    for name in loss::NAMES {
        for seed in 0..20 {
            let case = Case::new(seed, name, draw);
            let support: Vec<usize> = (0..8).collect();
            let fit = Restricted::new(&case.problem).fit(&support);
            let (value, _) = case.gradient(&fit.x);
            assert!(
                value.is_finite() && (value - fit.objective).abs() <= 1e-12 * value,
                "{}: reports {}, has {value}",
                case.words,
                fit.objective
            );
            let mut random = Random::new(seed);
            for _ in 0..100 {
                let size = 10f64.powf(-8.0 * random.uniform());
                let moved: Vec<(usize, f64)> = fit
                    .x
                    .iter()
                    .map(|(j, x)| (*j, x + size * (1.0 + x.abs()) * random.normal()))
                    .collect();
                let (other, _) = case.gradient(&moved);
                assert!(
                    value <= other * (1.0 + 1e-12) + 1e-15,
                    "{}: {value} at the fit, {other} at a distance of about {size:e}",
                    case.words
                );
            }
        }
    }
}

/// Asserts that the certificate is below the objective by at most 1e-9 of it.
fn certificate_is_tight(draw: Draw) {
    for name in loss::NAMES {
        for seed in 0..250 {
            let case = Case::new(seed, name, draw);
            let mut restricted = Restricted::new(&case.problem);
            for support in supports(seed) {
                let fit = restricted.fit(&support);
                let bound = restricted.certify().value();
                let words = format!("{}, support {support:?}", case.words);
                assert!(
                    bound <= fit.objective,
                    "{words}: certified {bound} above {}",
                    fit.objective
                );
                assert!(
                    fit.objective - bound <= 1e-9 * fit.objective,
                    "{words}: certified {bound} of {}, {:e} below",
                    fit.objective,
                    (fit.objective - bound) / fit.objective
                );
            }
        }
    }
}

#[test]
fn the_certificate_of_a_fit_is_below_it_and_tight() {
    certificate_is_tight(Draw::PLAIN);
}

#[test]
fn the_certificate_of_a_nearly_perfect_fit_is_below_it_and_tight() {
    certificate_is_tight(Draw {
        noise: 1e-4,
        ridge: 1e-6,
        degenerate: false,
    });
}

#[test]
fn the_certificate_of_a_fit_with_a_tiny_ridge_is_below_it_and_tight() {
    for ridge in [1e-6, 1e-8] {
        certificate_is_tight(Draw {
            ridge,
            ..Draw::PLAIN
        });
    }
}

#[test]
fn the_certificate_of_a_fit_with_degenerate_columns_is_below_it_and_tight() {
    certificate_is_tight(Draw {
        degenerate: true,
        ..Draw::PLAIN
    });
}

#[test]
fn the_fit_of_a_larger_support_is_no_worse() {
    for name in loss::NAMES {
        for seed in 0..30 {
            let case = Case::new(seed, name, Draw::PLAIN);
            let mut restricted = Restricted::new(&case.problem);
            let mut before = f64::INFINITY;
            for size in 0..=8 {
                let support: Vec<usize> = (0..size).collect();
                let objective = restricted.fit(&support).objective;
                assert!(
                    objective <= before * (1.0 + 1e-14),
                    "{}: {objective} with {size} columns, {before} with one less",
                    case.words
                );
                before = objective;
            }
        }
    }
}

#[test]
fn a_quadratic_fit_of_one_column_is_the_textbook_formula() {
    let (a, b) = ([1.0, -2.0, 0.5, 3.0], [0.7, 1.0, -0.4, 2.0]);
    let design = Design::dense(4, 1, a.to_vec()).unwrap();
    let problem = Problem::builder(design, b.to_vec())
        .standardize(false)
        .ridge(0.3)
        .build()
        .unwrap();
    let fit = Restricted::new(&problem).fit(&[0]);
    let (ab, aa) = (0.7 - 2.0 - 0.2 + 6.0, 1.0 + 4.0 + 0.25 + 9.0);
    let bb = 0.49 + 1.0 + 0.16 + 4.0;
    let x = (ab / 4.0) / (aa / 4.0 + 0.3);
    let objective = 0.5 * (bb / 4.0 - (ab / 4.0) * x);
    assert_eq!(fit.x.len(), 1);
    assert!((fit.x[0].1 - x).abs() <= 1e-15 * x, "{:?}, not {x}", fit.x);
    assert!((fit.objective - objective).abs() <= 1e-15 * objective);
}

/// Tolerances are relative to P(0), so it has to be the minimum even where doubles do not find that: always-in columns
/// a and a + εe whose Gram matrix is singular in doubles, and the response e.
#[test]
fn the_empty_model_of_nearly_collinear_columns_is_at_its_minimum() {
    let (a, e) = ([1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]);
    let other = [1.0, 0.0, 2.0, 5.0];
    for (epsilon, ridge) in [
        (2f64.powi(-27), 2f64.powi(-74)),
        (2f64.powi(-25), 2f64.powi(-62)),
    ] {
        let near: Vec<f64> = a.iter().zip(e).map(|(a, e)| a + epsilon * e).collect();
        let design = Design::dense(4, 3, [&a[..], &near, &other].concat()).unwrap();
        let problem = Problem::builder(design, e.to_vec())
            .standardize(false)
            .always_in(0, ridge)
            .always_in(1, ridge)
            .k(1)
            .build()
            .unwrap();
        // With x₀ + x₁ = p and x₁ = q: p²/2 + (1 − εq)²/2 + ridge ((p − q)² + q²)/2.
        let weight = ridge * (2.0 - ridge / (1.0 + ridge));
        let size = epsilon * epsilon + weight;
        let (q, left) = (epsilon / size, weight / size);
        let p = ridge * q / (1.0 + ridge);
        let least = 0.5 * (p * p + left * left + ridge * ((p - q).powi(2) + q * q));
        let found = problem.empty_objective();
        assert!(
            (found - least).abs() <= 1e-6 * least,
            "{found:e} is not {least:e}"
        );
    }
}

/// Only the intercept is fitted. Rows of weight 1 leave it an interval, within which rows of weight 1e-17 decide.
#[test]
fn the_empty_model_of_very_different_weights_is_at_its_minimum() {
    let design = Design::dense(4, 1, vec![-4.0, 1.0, 3.0, 2.0]).unwrap();
    let problem = Problem::builder(design, vec![1.0, -1.0, -1.0, -1.0])
        .loss(loss::by_name("squared-hinge", 1.0).unwrap())
        .weights(vec![1.0, 1e-3, 1e-21, 1e-17])
        .offset(vec![2.5, -1.5, 0.75, 1.0])
        .intercept(true)
        .k(1)
        .build()
        .unwrap();
    // The first row requires x ≥ -1.5, the last one x ≤ -2: near -1.5 its loss is 0.5²/2.
    let total = 1.0 + 1e-3;
    let least = (0.125 * 1e-17 + 0.5 * 0.25f64.powi(2) * 1e-21) / total;
    let found = problem.empty_objective();
    assert!(
        (0.999..1.001).contains(&(found / least)),
        "{found:e} is not {least:e}"
    );
}
