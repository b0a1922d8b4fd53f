//! The inexact methods: they return a model of the right size, and claim no proof.

use std::collections::HashSet;

use crate::common::{Case, Random, random_case};
use l0star::heuristic::{Omp, supports};
use l0star::internals::Restricted;
use l0star::{Design, Mechanisms, Method, Problem, Settings, Solution, Status, loss, solve};

const METHODS: [Method; 4] = [Method::Omp, Method::Iht, Method::Htp, Method::Diht];

/// Checks problems of every kind under every loss.
fn each_case(mut check: impl FnMut(&Case)) {
    for name in loss::NAMES {
        for seed in 0..80 {
            check(&random_case(seed, name));
        }
    }
}

fn solved(problem: &Problem, method: Method) -> Solution {
    solve(problem, &Settings::new(method)).unwrap()
}

/// Whether two objectives are equal up to rounding: incumbents are evaluated in doubled precision, a fit in plain
/// floats. Where a model fits exactly, its objective is the square of a rounding error.
fn close(problem: &Problem, a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b + 1e-26 * problem.objective(&[]) + 1e-28
}

#[test]
fn an_inexact_solution_claims_no_more_than_it_knows() {
    each_case(|case| {
        for method in METHODS {
            let found = solved(&case.problem, method);
            let words = format!("{method}, {}", case.words);
            assert_eq!(found.status, Status::Heuristic, "{words}");
            assert_eq!(found.method, method, "{words}");
            assert_eq!(found.lower_bound, None, "{words}");
            assert_eq!((found.gap(), found.relative_gap()), (None, None), "{words}");
            assert_eq!(found.solver_calls, 1, "{words}");
            assert_eq!((found.nodes, found.peak_open_nodes), (0, 0), "{words}");
        }
    });
}

#[test]
fn an_inexact_solution_is_a_model_of_at_most_k_features() {
    each_case(|case| {
        let problem = &case.problem;
        for method in METHODS {
            let found = solved(problem, method);
            let words = format!("{method}, {}", case.words);
            assert!(found.support.len() <= problem.k(), "{words}");
            let mut nonzero = found
                .coefficients
                .iter()
                .enumerate()
                .filter(|(j, x)| **x != 0.0 && problem.selectable().contains(j))
                .map(|(j, _)| j);
            assert!(
                nonzero.by_ref().eq(found.support.iter().copied()),
                "{words}"
            );
            let mut x: Vec<(usize, f64)> = found.coefficients.iter().copied().enumerate().collect();
            if problem.has_intercept() {
                x.push((problem.columns(), found.intercept));
            } else {
                assert_eq!(found.intercept, 0.0, "{words}");
            }
            let objective = problem.objective(&x);
            assert!(
                close(problem, found.objective, objective),
                "{words}: reports {}, has {objective}",
                found.objective
            );
        }
    });
}

#[test]
fn no_inexact_method_beats_brute_force_or_is_worse_than_the_null_model() {
    each_case(|case| {
        let problem = &case.problem;
        let optimum = solved(problem, Method::Exhaustive).objective;
        let null = Restricted::new(problem).fit(&[]).objective;
        // Where a model fits exactly, its objective is the square of a rounding error.
        let tiny = 1e-26 * problem.objective(&[]) + 1e-280;
        for method in METHODS {
            let objective = solved(problem, method).objective;
            let words = format!("{method}, {}", case.words);
            assert!(
                objective >= optimum * (1.0 - 1e-12) - tiny,
                "{words}: {objective} below the optimum {optimum}"
            );
            assert!(
                objective <= null * (1.0 + 1e-12) + tiny,
                "{words}: {objective} above the null model's {null}"
            );
        }
    });
}

#[test]
fn an_inexact_solution_is_the_refit_of_its_support() {
    each_case(|case| {
        let problem = &case.problem;
        for method in METHODS {
            let found = solved(problem, method);
            let fit = Restricted::new(problem).fit(&found.support);
            assert!(
                close(problem, found.objective, fit.objective),
                "{method}, {}: {} is not the refit's {}",
                case.words,
                found.objective,
                fit.objective
            );
        }
    });
}

#[test]
fn the_solution_is_the_refit_of_the_last_support_visited() {
    each_case(|case| {
        let problem = &case.problem;
        for method in METHODS {
            let last = supports(method, problem).unwrap().last();
            let fit = Restricted::new(problem).fit(&last.unwrap_or_default());
            let objective = solved(problem, method).objective;
            assert!(
                close(problem, objective, fit.objective),
                "{method}, {}",
                case.words
            );
        }
    });
}

#[test]
fn supports_are_sets_of_at_most_k_selectable_features_and_come_to_an_end() {
    each_case(|case| {
        let problem = &case.problem;
        for method in METHODS {
            let words = format!("{method}, {}", case.words);
            let mut count = 0;
            for support in supports(method, problem).unwrap() {
                count += 1;
                assert!(count <= 20_001, "{words}: no end");
                assert!(support.len() <= problem.k(), "{words}: {support:?}");
                assert!(support.is_sorted_by(|a, b| a < b), "{words}: {support:?}");
                assert!(
                    support.iter().all(|j| problem.selectable().contains(j)),
                    "{words}: {support:?}"
                );
            }
        }
    });
}

#[test]
fn exact_methods_have_no_supports_to_offer() {
    let case = random_case(1, "quadratic");
    for method in [Method::BestFirst, Method::Paper, Method::Exhaustive] {
        assert!(supports(method, &case.problem).is_none(), "{method}");
    }
}

#[test]
fn a_run_is_repeated_exactly() {
    each_case(|case| {
        for method in METHODS {
            let one: Vec<_> = supports(method, &case.problem).unwrap().collect();
            let two: Vec<_> = supports(method, &case.problem).unwrap().collect();
            assert_eq!(one, two, "{method}, {}", case.words);
        }
    });
}

#[test]
fn matching_pursuit_adds_one_feature_at_a_time_and_never_gets_worse() {
    let mut steps = 0;
    each_case(|case| {
        let problem = &case.problem;
        let mut restricted = Restricted::new(problem);
        let mut before = Vec::new();
        let mut value = restricted.fit(&before).objective;
        for support in Omp::new(problem) {
            assert_eq!(support.len(), before.len() + 1, "{}", case.words);
            assert!(
                before.iter().all(|j| support.contains(j)),
                "{}: {before:?} then {support:?}",
                case.words
            );
            let next = restricted.fit(&support).objective;
            assert!(
                next <= value * (1.0 + 1e-13),
                "{}: {value} then {next}",
                case.words
            );
            (before, value) = (support, next);
            steps += 1;
        }
    });
    assert!(steps > 300, "only {steps} steps were looked at");
}

#[test]
fn matching_pursuit_starts_with_the_largest_gradient() {
    for name in loss::NAMES {
        for seed in 0..20 {
            let case = random_case(seed, name);
            let problem = &case.problem;
            let Some(first) = Omp::new(problem).next() else {
                continue;
            };
            // The gradient at the null model, by differences of P along each column.
            let sd = |j: usize| problem.scales().and_then(|s| s.get(j).copied());
            let sd = |j: usize| sd(j).unwrap_or(1.0);
            let null = Restricted::new(problem).fit(&[]).x.into_iter();
            let null: Vec<(usize, f64)> = null.map(|(j, x)| (j, x / sd(j))).collect();
            let slope = |j: usize| {
                let mut column = vec![0.0; problem.rows()];
                problem.design().column_into(j, &mut column);
                let scale = column.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                if scale == 0.0 {
                    return 0.0;
                }
                let h = 1e-6 / scale;
                let at = |step: f64| {
                    let mut x = null.clone();
                    x.push((j, step));
                    problem.objective(&x)
                };
                // The slope is that of the method's coefficients, those of standardised columns.
                ((at(h) - at(-h)) / (2.0 * h)).abs() / sd(j)
            };
            let largest = problem
                .selectable()
                .iter()
                .map(|j| slope(*j))
                .fold(0.0, f64::max);
            assert!(
                slope(first[0]) >= largest * (1.0 - 1e-4) - 1e-7,
                "{}: {first:?} has {}, the largest is {largest}",
                case.words,
                slope(first[0])
            );
        }
    }
}

#[test]
fn hard_thresholding_pursuit_never_visits_a_support_twice_and_always_improves() {
    each_case(|case| {
        let mut restricted = Restricted::new(&case.problem);
        let mut seen = HashSet::new();
        let mut value = f64::INFINITY;
        for support in supports(Method::Htp, &case.problem).unwrap() {
            let next = restricted.fit(&support).objective;
            assert!(next < value, "{}: {value} then {next}", case.words);
            assert!(seen.insert(support.clone()), "{}: {support:?}", case.words);
            value = next;
        }
        assert!(!seen.is_empty(), "{}", case.words);
    });
}

#[test]
fn with_k_zero_every_method_returns_the_null_model() {
    for name in loss::NAMES {
        for seed in 0..20 {
            let case = random_case(seed, name);
            let problem = case.problem.with_k(0).unwrap();
            let null = Restricted::new(&problem).fit(&[]);
            for method in METHODS {
                let found = solved(&problem, method);
                let words = format!("{method}, {}", case.words);
                assert!(found.support.is_empty(), "{words}");
                assert!(close(&problem, found.objective, null.objective), "{words}");
            }
        }
    }
}

/// Columns of ±1, orthogonal (Sylvester–Hadamard), in which the quadratic problem separates; its coefficients are a
/// geometric sequence. Returns the support of the k largest too.
fn orthogonal(seed: u64, name: &str, ratio: f64, ridge: f64) -> (Problem, Vec<usize>) {
    let mut random = Random::new(seed);
    let (n, d, k) = (16usize, 10usize, 1 + random.below(6));
    let entry = |i: usize, j: usize| {
        let odd = (i & j).count_ones() % 2 == 1;
        if odd { -1.0 } else { 1.0 }
    };
    // The sequence is put in random places, with random signs.
    let mut rank: Vec<usize> = (0..d).collect();
    for i in (1..d).rev() {
        rank.swap(i, random.below(i + 1));
    }
    let best = (0..d).filter(|j| rank[*j] < k).collect();
    let truth: Vec<f64> = rank
        .iter()
        .map(|rank| ratio.powi(*rank as i32))
        .map(|size| if random.chance(0.5) { size } else { -size })
        .collect();
    let b = (0..n)
        .map(|i| (0..d).map(|j| entry(i, j + 1) * truth[j]).sum())
        .collect();
    let columns = (0..d)
        .flat_map(|j| (0..n).map(move |i| entry(i, j + 1)))
        .collect();
    let problem = Problem::builder(Design::dense(n, d, columns).unwrap(), b)
        .standardize(false)
        .loss(loss::by_name(name, 1e6).unwrap())
        .ridge(ridge)
        .k(k)
        .intercept(random.chance(0.5))
        .build()
        .unwrap();
    (problem, best)
}

fn finds_the_optimum(methods: &[Method], ratio: f64, ridge: f64) {
    for name in ["quadratic", "huber"] {
        for seed in 0..40 {
            let (problem, best) = orthogonal(seed, name, ratio, ridge);
            let optimum = solved(&problem, Method::Exhaustive);
            assert_eq!(optimum.support, best, "{name}, seed {seed}");
            for method in methods {
                let found = solved(&problem, *method);
                assert_eq!(found.support, best, "{method}, {name}, seed {seed}");
                assert!(
                    (found.objective - optimum.objective).abs() <= 1e-12 * optimum.objective,
                    "{method}, {name}, seed {seed}: {} is not {}",
                    found.objective,
                    optimum.objective
                );
            }
        }
    }
}

#[test]
fn on_an_orthogonal_design_every_primal_method_finds_the_optimum() {
    finds_the_optimum(&METHODS[..3], 0.8, 0.1);
}

/// The dual gap closes only if the features left out are below λ/(1 + λ) times those chosen.
#[test]
fn on_an_orthogonal_design_without_a_dual_gap_the_dual_method_does_too() {
    finds_the_optimum(&METHODS, 0.6, 10.0);
}

/// The first model of a search, on correlated columns where matching pursuit alone goes wrong.
#[test]
fn swaps_improve_the_first_model_of_every_smooth_loss() {
    let first = |problem: &Problem, swaps: bool| {
        let settings = Settings {
            mechanisms: Mechanisms {
                swaps,
                gram: false,
                ..Mechanisms::default()
            },
            node_limit: Some(0),
            ..Settings::new(Method::BestFirst)
        };
        solve(problem, &settings).unwrap().objective
    };
    for name in ["logistic", "huber", "quadratic"] {
        let (mut better, mut best) = (0, 0);
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let (n, d, k) = (80, 16, 4);
            // Neighbouring columns are correlated, and the signs of the model alternate.
            let mut data: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
            for at in n..n * d {
                data[at] = 0.8 * data[at - n] + 0.6 * data[at];
            }
            let label = |z: f64| if name == "logistic" { z.signum() } else { z };
            let response = (0..n).map(|i| {
                let z: f64 = (0..k)
                    .map(|j| data[2 * j * n + i] * if j % 2 == 0 { 1.0 } else { -1.0 })
                    .sum();
                label(z + 0.5 * random.normal())
            });
            let response: Vec<f64> = response.collect();
            let problem = Problem::builder(Design::dense(n, d, data).unwrap(), response)
                .standardize(false)
                .loss(loss::by_name(name, 1.0).unwrap())
                .k(k)
                .build()
                .unwrap();
            let (plain, swapped) = (first(&problem, false), first(&problem, true));
            assert!(
                swapped <= plain,
                "{name}, seed {seed}: {swapped} above {plain}"
            );
            better += usize::from(swapped < plain * (1.0 - 1e-9));
            let optimum = solve(&problem, &Settings::new(Method::Exhaustive)).unwrap();
            best += usize::from(swapped <= optimum.objective * (1.0 + 1e-9));
        }
        assert!(better >= 3, "{name}: better on {better} of 20");
        assert!(best >= 15, "{name}: the best model on {best} of 20");
    }
}
