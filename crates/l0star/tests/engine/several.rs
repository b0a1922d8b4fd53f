//! Several responses that share their features, against their definition and brute force, and data that are refused.

use std::num::NonZeroUsize;

use crate::cases::cases;
use crate::common::several::{Data, Target, check, check_answers};
use l0star::{Design, Error, Method, Problem, Settings, Status, solve};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(300, 5))]

    #[test]
    fn it_finds_the_optimum_of_the_definition(seed in any::<u64>()) {
        let data = Data::draw(seed);
        let two = Settings { threads: NonZeroUsize::new(2), ..Settings::default() };
        let mut rows = Settings::default();
        rows.mechanisms.gram = false;
        for settings in [Settings::default(), two, rows, Settings::new(Method::Exhaustive)] {
            let outcome = check(&data, &settings);
            prop_assert!(outcome.is_ok(), "seed {seed}, {}: {outcome:?}\n{data:?}", settings.method);
        }
    }

    /// The search leaves copies of columns out; every answer is still that of all columns.
    #[test]
    fn copies_cost_no_exactness(seed in any::<u64>()) {
        let mut data = Data::draw(seed);
        data.add_copies(seed);
        let outcome = check(&data, &Settings::default());
        prop_assert!(outcome.is_ok(), "seed {seed}: {outcome:?}\n{data:?}");
        let outcome = check_answers(&data.builder().build().unwrap());
        prop_assert!(outcome.is_ok(), "seed {seed}: {outcome:?}\n{data:?}");
    }

    /// With groups, bounds, heredity, forced features and prices, lists, paths and resumed runs equal brute force.
    #[test]
    fn every_question_has_the_answer_of_brute_force(seed in any::<u64>()) {
        if let Ok(problem) = Data::draw(seed).ruled(seed).build() {
            let outcome = check_answers(&problem);
            prop_assert!(outcome.is_ok(), "seed {seed}: {outcome:?}");
        }
    }
}

/// Twelve rows of three columns, and two responses of the first two.
fn small() -> Data {
    let wave = |at: usize| ((at * at % 97) as f64 * 0.7).sin();
    let columns: Vec<Vec<f64>> = (0..3)
        .map(|j| (0..12).map(|i| wave(13 * j + i + 1)).collect())
        .collect();
    let sum = |a: usize, b: usize| -> Vec<f64> {
        (0..12)
            .map(|i| columns[a][i] - 0.5 * columns[b][i] + 0.1 * wave(i + 50))
            .collect()
    };
    let mut data = Data::draw(1);
    data.target = Target::Responses(vec![sum(0, 1), sum(1, 0)]);
    data.columns = columns;
    data.weights = Vec::new();
    (data.intercept, data.standardize, data.ridge, data.k) = (true, true, 1e-3, 2);
    data
}

fn change(data: &mut Data, change: impl Fn(&mut Vec<Vec<f64>>)) {
    if let Target::Responses(responses) = &mut data.target {
        change(responses);
    }
}

#[test]
fn degenerate_problems_are_solved() {
    let mut cases: Vec<(&str, Data)> = Vec::new();
    let mut add = |words, alter: &dyn Fn(&mut Data)| {
        let mut data = small();
        alter(&mut data);
        cases.push((words, data));
    };
    add("twins", &|data| data.columns[1] = data.columns[0].clone());
    add("a constant response", &|data| {
        change(data, |all| all[1].fill(3.0))
    });
    add("a response of zeros", &|data| {
        change(data, |all| all[1].fill(0.0))
    });
    add("the same response twice", &|data| {
        change(data, |all| all[1] = all[0].clone())
    });
    add("an exact fit", &|data| {
        let columns = data.columns.clone();
        change(data, |all| *all = columns[..2].to_vec());
    });
    add("units far apart", &|data| {
        change(data, |all| {
            all[0].iter_mut().for_each(|b| *b *= 1e40);
            all[1].iter_mut().for_each(|b| *b *= 1e-40);
        });
    });
    add("far from 0", &|data| {
        change(data, |all| all[0].iter_mut().for_each(|b| *b += 1e6));
        data.columns[1].iter_mut().for_each(|a| *a += 1e6);
    });
    add("no intercept", &|data| data.intercept = false);
    add("the paper's ridge", &|data| data.standardize = false);
    add("a tiny ridge", &|data| data.ridge = 1e-9);
    add("no feature", &|data| data.k = 0);
    for (words, data) in cases {
        if let Err(message) = check(&data, &Settings::default()) {
            panic!("{words}: {message}");
        }
    }
}

/// Columns that are always in have a coefficient for each response, too.
#[test]
fn columns_that_are_always_in() {
    let data = small();
    let all = (0..3).fold(data.builder(), |builder, j| builder.include_free(j));
    let found = solve(&all.build().unwrap(), &Settings::default()).unwrap();
    let least = data.least(&[0, 1, 2]);
    assert_eq!(found.status, Status::Optimal);
    assert!((found.objective - least).abs() <= 1e-9 * least);
    let free = data.builder().always_in(2, 0.0).build().unwrap();
    check_answers(&free).unwrap();
    let none = (0..3).fold(data.builder(), |builder, j| builder.exclude(j));
    let found = solve(&none.build().unwrap(), &Settings::default()).unwrap();
    assert!((found.objective - data.least(&[])).abs() <= 1e-9 * found.objective);
}

/// Responses that differ only in their last digits are fitted like their differences from a constant, which the
/// intercepts absorb.
#[test]
fn responses_far_from_0_keep_their_digits() {
    for (far, step) in [(1e9, 1.0), (3.0, 1e-9), (-1e6, 1e-3), (50.0, 1.0)] {
        for standardize in [true, false] {
            let mut data = small();
            data.standardize = standardize;
            // With whole steps, the remainder without the mean is exact.
            let step = 2f64.powi(f64::log2(step).round() as i32);
            change(&mut data, |all| {
                let round = |b: &mut f64| *b = (*b * 4096.0).round() / 4096.0 * step;
                all.iter_mut().flatten().for_each(round);
            });
            let mut other = data.clone();
            change(&mut other, |all| {
                all[0].iter_mut().for_each(|b| *b += far);
                all[1].iter_mut().for_each(|b| *b += 2.0 * far);
            });
            let same = |all: &Data| match &all.target {
                Target::Responses(all) => all.clone(),
                Target::Classes(..) => Vec::new(),
            };
            // The addition rounds, so the near responses are computed back from the far ones.
            let mut near = data.clone();
            let moved = same(&other);
            change(&mut near, |all| {
                for (r, own) in all.iter_mut().enumerate() {
                    let by = far * (r + 1) as f64;
                    *own = moved[r].iter().map(|b| b - by).collect();
                }
            });
            let mut rows = Settings::default();
            rows.mechanisms.gram = false;
            for settings in [Settings::default(), rows] {
                let solved = |data: &Data| {
                    let problem = data.builder().build().unwrap();
                    solve(&problem, &settings).unwrap()
                };
                let (one, two) = (solved(&near), solved(&other));
                assert_eq!(two.status, Status::Optimal, "{far} {step}");
                assert_eq!(one.support, two.support);
                let most = 1e-9 * one.objective;
                assert!(
                    (one.objective - two.objective).abs() <= most,
                    "{far} {step}"
                );
                assert!(two.lower_bound.unwrap() >= two.objective - most);
                for (a, b) in one.coefficients.iter().zip(&two.coefficients) {
                    assert!((a - b).abs() <= 1e-9 * (a.abs() + step), "{a} {b}");
                }
                // An offset of another response changes nothing about it.
                let mut offset = other.clone();
                offset.offsets = vec![vec![0.0; 12], vec![step; 12]];
                let three = solved(&offset);
                assert_eq!(three.status, Status::Optimal, "{far} {step}");
                assert_eq!(one.support, three.support);
                assert!((one.objective - three.objective).abs() <= most);
            }
        }
    }
    let mut data = small();
    change(&mut data, |all| all[1].fill(3e9));
    let problem = data.builder().build().unwrap();
    assert_eq!(problem.response_of(1), [3e9; 12]);
    let found = solve(&problem, &Settings::default()).unwrap();
    assert_eq!(found.intercepts().nth(1), Some(3e9));
    assert!(found.coefficients[3..].iter().all(|x| *x == 0.0));
}

/// The model with offsets is that of the responses minus the offsets.
#[test]
fn offsets_are_taken_off_the_responses() {
    let plain = small();
    let mut data = small();
    let wave = |r: usize, i: usize| ((7 * i + 3 * r) % 11) as f64;
    data.offsets = (0..2)
        .map(|r| (0..12).map(|i| wave(r, i)).collect())
        .collect();
    change(&mut data, |all| {
        for (r, own) in all.iter_mut().enumerate() {
            own.iter_mut()
                .enumerate()
                .for_each(|(i, b)| *b += wave(r, i));
        }
    });
    for standardize in [false, true] {
        let solved = |data: &Data| {
            let problem = data.builder().standardize(standardize).build().unwrap();
            solve(&problem, &Settings::default()).unwrap()
        };
        let (one, two) = (solved(&plain), solved(&data));
        assert_eq!(two.status, Status::Optimal);
        assert_eq!(one.support, two.support);
        assert!((one.objective - two.objective).abs() <= 1e-12 * one.objective);
        let both = one.coefficients.iter().chain(one.more_intercepts.iter());
        let both = both.zip(two.coefficients.iter().chain(two.more_intercepts.iter()));
        for (a, b) in both {
            assert!((a - b).abs() <= 1e-10 * (1.0 + a.abs()), "{a} {b}");
        }
    }
}

/// A model does not depend on the unit of a response.
#[test]
fn units_of_responses_do_not_matter() {
    let data = small();
    let mut other = small();
    change(&mut other, |all| {
        all[1].iter_mut().for_each(|b| *b *= 1000.0)
    });
    let solved =
        |data: &Data| solve(&data.builder().build().unwrap(), &Settings::default()).unwrap();
    let (one, other) = (solved(&data), solved(&other));
    assert_eq!(one.support, other.support);
    assert!((one.objective - other.objective).abs() <= 1e-12 * one.objective);
    for j in 0..3 {
        assert!((1000.0 * one.coefficients[3 + j] - other.coefficients[3 + j]).abs() <= 1e-9);
        assert!((one.coefficients[j] - other.coefficients[j]).abs() <= 1e-12);
    }
}

/// Sparse columns are never made dense, and give the same model.
#[test]
fn sparse_columns_have_the_same_model() {
    let mut data = small();
    data.columns[2] = (0..12).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    data.k = 3;
    let Target::Responses(responses) = &data.target else {
        return;
    };
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in &data.columns {
        for (i, v) in column.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            indices.push(i as u32);
            values.push(*v);
        }
        indptr.push(values.len());
    }
    let sparse = Design::sparse(12, 3, indptr, indices, values).unwrap();
    for centred in [false, true] {
        let design = if !centred {
            sparse.clone()
        } else {
            sparse
                .clone()
                .with_view(vec![0.5; 3], vec![2.0; 3])
                .unwrap()
        };
        let builder = Problem::builder(design, responses[0].clone());
        let problem = builder
            .more_responses(responses[1..].to_vec())
            .intercept(true)
            .k(3);
        let found = solve(&problem.build().unwrap(), &Settings::default()).unwrap();
        let dense = solve(&data.builder().build().unwrap(), &Settings::default()).unwrap();
        assert_eq!(found.status, Status::Optimal);
        assert!((found.objective - dense.objective).abs() <= 1e-9 * dense.objective);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let data = small();
    let wrong = data.builder().more_responses(vec![vec![1.0; 11]]).build();
    assert!(
        matches!(
            wrong,
            Err(Error::Shape {
                expected: 12,
                found: 11,
                ..
            })
        ),
        "{wrong:?}"
    );
    let wrong = data
        .builder()
        .more_responses(vec![vec![f64::NAN; 12]])
        .build();
    assert!(matches!(wrong, Err(Error::NotFinite { .. })));
    let wrong = data.builder().offset(vec![1.0; 12]).build();
    let is_one = |e: &Error| {
        matches!(
            e,
            Error::Offsets {
                scores: 2,
                offsets: 1
            }
        )
    };
    assert!(wrong.is_err_and(|e| is_one(&e)));
    let wrong = data.builder().offsets(vec![vec![1.0; 12], vec![1.0; 11]]);
    assert!(matches!(wrong.build(), Err(Error::Shape { .. })));
    let huber = l0star::loss::by_name("huber", 1.0).unwrap();
    let wrong = data.builder().loss(huber).build();
    assert!(matches!(wrong, Err(Error::SeveralResponses { .. })));
    let problem = data.builder().build().unwrap();
    for method in [
        Method::Paper,
        Method::Omp,
        Method::Iht,
        Method::Htp,
        Method::Diht,
    ] {
        let found = solve(&problem, &Settings::new(method));
        assert!(matches!(
            found,
            Err(Error::Structured {
                what: "several responses",
                ..
            })
        ));
    }
}
