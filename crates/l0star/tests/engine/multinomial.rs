//! The multinomial loss against its definition and brute force, and data that are refused.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::cases::cases;
use crate::common::several::{Data, Target, check, check_answers};
use l0star::loss::Multinomial;
use l0star::{Error, Method, Settings, solve};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(150, 6))]

    #[test]
    fn it_finds_the_optimum_of_the_definition(seed in any::<u64>()) {
        let data = Data::draw_classes(seed);
        let two = Settings { threads: NonZeroUsize::new(2), ..Settings::default() };
        for settings in [Settings::default(), two, Settings::new(Method::Exhaustive)] {
            let outcome = check(&data, &settings);
            prop_assert!(outcome.is_ok(), "seed {seed}, {}: {outcome:?}\n{data:?}", settings.method);
        }
    }

    /// The search leaves copies of columns out; every answer is still that of all columns.
    #[test]
    fn copies_cost_no_exactness(seed in any::<u64>()) {
        let mut data = Data::draw_classes(seed);
        data.add_copies(seed);
        let outcome = check(&data, &Settings::default());
        prop_assert!(outcome.is_ok(), "seed {seed}: {outcome:?}\n{data:?}");
        let outcome = check_answers(&data.builder().build().unwrap());
        prop_assert!(outcome.is_ok(), "seed {seed}: {outcome:?}\n{data:?}");
    }

    /// With groups, bounds, heredity, forced features and prices, lists, paths and resumed runs equal brute force.
    #[test]
    fn every_question_has_the_answer_of_brute_force(seed in any::<u64>()) {
        if let Ok(problem) = Data::draw_classes(seed).ruled(seed).build() {
            let outcome = check_answers(&problem);
            prop_assert!(outcome.is_ok(), "seed {seed}: {outcome:?}");
        }
    }
}

/// An offset that settles the classes of all rows leaves next to no curvature at the start.
#[test]
fn offsets_that_settle_all_classes() {
    let data = Data::draw_classes(679);
    assert!(data.offsets.iter().flatten().any(|o| o.abs() > 10.0));
    check(&data, &Settings::default()).unwrap();
}

/// Fifteen rows of three columns, the first of which separates three classes.
fn small() -> Data {
    let wave = |at: usize| ((at * at % 97) as f64 * 0.7).sin();
    let mut data = Data::draw_classes(1);
    data.columns = (0..3)
        .map(|j| (0..15).map(|i| wave(13 * j + i + 1)).collect())
        .collect();
    data.columns[0] = (0..15).map(|i| i as f64 / 5.0).collect();
    data.target = Target::Classes((0..15).map(|i| i / 5).collect(), 3);
    data.weights = Vec::new();
    (data.intercept, data.standardize, data.ridge, data.k) = (true, true, 1e-3, 2);
    data
}

#[test]
fn degenerate_problems_are_solved() {
    let mut cases: Vec<(&str, Data)> = Vec::new();
    let mut add = |words, alter: &dyn Fn(&mut Data)| {
        let mut data = small();
        alter(&mut data);
        cases.push((words, data));
    };
    add("classes apart", &|_| {});
    add("classes apart with a small ridge", &|data| {
        data.ridge = 1e-7
    });
    add("a class with one row", &|data| {
        let classes = (0..15).map(|i| if i == 7 { 2 } else { i % 2 }).collect();
        data.target = Target::Classes(classes, 3);
    });
    add("a class for each row", &|data| {
        data.target = Target::Classes((0..15).collect(), 15);
        data.ridge = 0.1;
    });
    add("twins", &|data| data.columns[1] = data.columns[0].clone());
    add("no intercept", &|data| data.intercept = false);
    add("no feature", &|data| data.k = 0);
    add("a column far from 0", &|data| {
        data.columns[0].iter_mut().for_each(|a| *a += 1e6);
    });
    add("huge units", &|data| {
        data.columns[0].iter_mut().for_each(|a| *a *= 1e12);
    });
    add("offsets far from 0", &|data| {
        let wave = |c: usize, i: usize| 300.0 + ((7 * i + 3 * c) % 11) as f64;
        data.offsets = (0..3)
            .map(|c| (0..15).map(|i| wave(c, i)).collect())
            .collect();
    });
    add("offsets that tell the classes apart", &|data| {
        let own = |c: usize, i: usize| 30.0 * f64::from(u8::from(i / 5 == c));
        data.offsets = (0..3)
            .map(|c| (0..15).map(|i| own(c, i)).collect())
            .collect();
    });
    add("rows without weight", &|data| {
        data.weights = (0..15).map(|i| f64::from(u8::from(i % 4 > 0))).collect();
    });
    for (words, data) in cases {
        if let Err(message) = check(&data, &Settings::default()) {
            panic!("{words}: {message}");
        }
    }
}

#[test]
fn columns_that_are_always_in() {
    let data = small();
    let all = (0..3).fold(data.builder(), |builder, j| builder.include_free(j));
    let found = solve(&all.build().unwrap(), &Settings::default()).unwrap();
    let least = data.least(&[0, 1, 2]);
    assert!((found.objective - least).abs() <= 1e-8 * least);
    let none = (0..3).fold(data.builder(), |builder, j| builder.exclude(j));
    let found = solve(&none.build().unwrap(), &Settings::default()).unwrap();
    assert!((found.objective - 3f64.ln()).abs() <= 1e-9);
}

#[test]
fn what_cannot_be_is_refused() {
    let data = small();
    let builder = |classes| data.builder().loss(Arc::new(Multinomial::new(classes)));
    assert!(matches!(
        builder(4).build(),
        Err(Error::EmptyClass { class: 3 })
    ));
    assert!(matches!(
        builder(2).build(),
        Err(Error::NoSuchClass { classes: 2 })
    ));
    assert!(matches!(builder(1).build(), Err(Error::NoSuchClass { .. })));
    let wrong = data.builder().offset(vec![1.0; 15]).build();
    assert!(matches!(wrong, Err(Error::Offsets { scores: 3, .. })));
    let wrong = data.builder().nonnegative([0]).build();
    assert!(matches!(wrong, Err(Error::SeveralScores { .. })));
    let wrong = data.builder().always_in(1, 0.0).build();
    assert!(matches!(wrong, Err(Error::Unpenalised { .. })));
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
                what: "several classes",
                ..
            })
        ));
    }
}
