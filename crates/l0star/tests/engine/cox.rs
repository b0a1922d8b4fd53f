//! Cox's proportional hazards against their definition and brute force, and data that are refused.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::cases::cases;
use crate::common::survival::Data;
use crate::common::{self, Random, random_case};
use l0star::loss::{Cox, Ties};
use l0star::{
    Checkpoint, Design, Error, Method, PathRun, Problem, Run, Settings, Status, prices, refit,
    solve, standard_errors,
};
use proptest::prelude::*;

/// Compares a solution with the definition; returns the optimum.
fn check(data: &Data, settings: &Settings) -> Result<f64, String> {
    let problem = data.builder().build().map_err(|error| error.to_string())?;
    let found = solve(&problem, settings).map_err(|error| error.to_string())?;
    let optimum = data.optimum();
    let slack = 1e-12 * optimum + 1e-14;
    let bound = found.lower_bound.unwrap_or(f64::NAN);
    let own = data
        .evaluate(&found.support, &at(&found.coefficients, &found.support))
        .0;
    let is_right = bound <= optimum + slack
        && (found.objective - optimum).abs() <= 1e-9 * optimum + slack
        && (own - found.objective).abs() <= 1e-11 * optimum + slack
        && found.status == Status::Optimal;
    if is_right {
        Ok(optimum)
    } else {
        Err(format!(
            "{}: bound {bound:e}, objective {:e} ({own:e} by the definition), optimum {optimum:e}",
            found.status, found.objective
        ))
    }
}

fn at(coefficients: &[f64], support: &[usize]) -> Vec<f64> {
    support.iter().map(|j| coefficients[*j]).collect()
}

proptest! {
    #![proptest_config(cases(150, 3))]

    #[test]
    fn it_finds_the_optimum_of_the_definition(seed in any::<u64>()) {
        let data = Data::draw(seed);
        let two = Settings { threads: NonZeroUsize::new(2), ..Settings::default() };
        for settings in [Settings::default(), two, Settings::new(Method::Exhaustive)] {
            let outcome = check(&data, &settings);
            prop_assert!(outcome.is_ok(), "seed {seed}, {}: {outcome:?}", settings.method);
        }
    }

    /// Lists, paths, prices and resumed runs equal brute force.
    #[test]
    fn every_question_has_the_answer_of_brute_force(seed in any::<u64>()) {
        let case = random_case(seed, "cox");
        let (problem, words) = (&case.problem, &case.words);
        let top = |method| Settings { top: NonZeroUsize::new(3), ..Settings::new(method) };
        let found = solve(problem, &top(Method::BestFirst)).unwrap();
        let truth = solve(problem, &top(Method::Exhaustive)).unwrap();
        prop_assert_eq!(found.solutions.len(), truth.solutions.len(), "{}", words);
        for (own, other) in found.solutions.iter().zip(&truth.solutions) {
            let room = common::proved(problem, other.objective);
            prop_assert!((own.objective - other.objective).abs() <= room, "{words}");
        }
        let path = PathRun::new(problem, &Settings::default(), 0..=problem.k()).solve().unwrap();
        for point in path {
            let alone = problem.with_k(point.k).unwrap();
            let truth = solve(&alone, &Settings::new(Method::Exhaustive)).unwrap().objective;
            let room = common::proved(problem, truth);
            prop_assert!((point.solution.objective - truth).abs() <= room, "{words}, k {}", point.k);
            prop_assert!(point.criteria.is_some());
        }
        let own = prices(problem, &Settings::default(), &found, None).unwrap();
        let brute = prices(problem, &Settings::new(Method::Exhaustive), &found, None).unwrap();
        for (own, other) in own.iter().zip(&brute) {
            let room = common::proved(problem, other.objective);
            let is_same = own.objective == other.objective;
            prop_assert!(is_same || (own.objective - other.objective).abs() <= room, "{words}");
        }
        let mut saved = Vec::new();
        let few = Settings { node_limit: Some(1), ..Settings::default() };
        let sink = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
        Run::new(problem, &few).save(std::time::Duration::MAX, sink).solve().unwrap();
        let checkpoint = Checkpoint::decode(&saved).unwrap();
        let resumed = Run::new(problem, &Settings::default()).resume(checkpoint).solve().unwrap();
        prop_assert_eq!(resumed.status, Status::Optimal, "{}", words);
        let best = truth.objective;
        prop_assert!((resumed.objective - best).abs() <= common::proved(problem, best), "{words}");
    }
}

/// Three columns, the first of which falls as the event time rises.
fn small(n: usize, seed: u64) -> Data {
    let random = &mut Random::new(seed);
    let mut data = Data::draw(1);
    data.columns = vec![
        (0..n).map(|i| (n - i) as f64).collect(),
        (0..n).map(|_| random.normal()).collect(),
        (0..n).map(|_| random.normal()).collect(),
    ];
    data.rows.times = (0..n).map(|i| 1.0 + i as f64).collect();
    data.rows.events = vec![true; n];
    data.rows.strata = Vec::new();
    data.rows.entry = Vec::new();
    data.rows.ties = Ties::Efron;
    data.weights = Vec::new();
    data.offset = Vec::new();
    data.ridge = 1e-3;
    data.k = 2;
    data
}

#[test]
fn degenerate_problems_are_solved() {
    let mut cases: Vec<(&str, Data)> = Vec::new();
    let mut add = |words, change: &dyn Fn(&mut Data)| {
        let mut data = small(12, 5);
        change(&mut data);
        cases.push((words, data));
    };
    add("all events tied", &|data| data.rows.times.fill(2.0));
    add("all events tied, Breslow", &|data| {
        data.rows.times.fill(2.0);
        data.rows.ties = Ties::Breslow;
    });
    add("no event in a stratum", &|data| {
        data.rows.strata = (0..12).map(|i| i / 4).collect();
        data.rows.events[4..8].fill(false);
    });
    add("each event alone", &|data| {
        data.rows.strata = (0..12).collect();
    });
    add("the last row alone has an event", &|data| {
        data.rows.events.fill(false);
        data.rows.events[11] = true;
    });
    add("twins", &|data| data.columns[1] = data.columns[0].clone());
    add("a monotone likelihood with a small ridge", &|data| {
        data.ridge = 1e-8;
    });
    add("a time of 0", &|data| data.rows.times[0] = 0.0);
    add("huge units", &|data| {
        data.columns[0].iter_mut().for_each(|a| *a *= 1e12);
        data.rows.times.iter_mut().for_each(|t| *t *= 1e100);
    });
    add("tiny units", &|data| {
        data.columns[0].iter_mut().for_each(|a| *a *= 1e-9);
        data.rows.times.iter_mut().for_each(|t| *t *= 1e-100);
    });
    add("a column far from 0", &|data| {
        data.columns[1].iter_mut().for_each(|a| *a += 1e6);
    });
    add("offsets that no exponential holds", &|data| {
        data.offset = (0..12).map(|i| 300.0 * i as f64).collect();
    });
    for (words, data) in cases {
        if let Err(message) = check(&data, &Settings::default()) {
            panic!("{words}: {message}");
        }
    }
    // Fewer rows than columns.
    let mut wide = small(3, 2);
    let random = &mut Random::new(3);
    for _ in 0..6 {
        wide.columns.push((0..3).map(|_| random.normal()).collect());
    }
    wide.k = 3;
    check(&wide, &Settings::default()).unwrap();
}

/// A row of weight 2 equals two rows; with Efron's ties it would not.
#[test]
fn weights_are_copies() {
    let mut weighted = small(10, 3);
    weighted.rows.ties = Ties::Breslow;
    weighted.rows.events[3] = false;
    weighted.weights = (0..10)
        .map(|i| if i % 3 == 0 { 2.0 } else { 1.0 })
        .collect();
    let mut copied = weighted.clone();
    copied.weights = Vec::new();
    for i in (0..10).filter(|i| i % 3 == 0) {
        copied
            .columns
            .iter_mut()
            .for_each(|column| column.push(column[i]));
        copied.rows.times.push(weighted.rows.times[i]);
        copied.rows.events.push(weighted.rows.events[i]);
    }
    let solved = |data: &Data| {
        let problem = data.builder().build().unwrap();
        solve(&problem, &Settings::default()).unwrap()
    };
    let (one, other) = (solved(&weighted), solved(&copied));
    assert_eq!(one.support, other.support);
    assert!((one.objective - other.objective).abs() <= 1e-9 * one.objective);
    for (a, b) in one.coefficients.iter().zip(&other.coefficients) {
        assert!((a - b).abs() <= 1e-6 * (1.0 + a.abs()), "{a} {b}");
    }
}

#[test]
fn an_inexact_method_finds_a_model_and_the_papers_is_refused() {
    let problem = small(30, 9).builder().build().unwrap();
    let best = solve(&problem, &Settings::default()).unwrap().objective;
    for method in [Method::Omp, Method::Iht, Method::Htp] {
        let found = solve(&problem, &Settings::new(method)).unwrap();
        assert_eq!(found.status, Status::Heuristic);
        assert!(found.objective >= best * (1.0 - 1e-9), "{method}");
        assert!(found.objective <= problem.objective(&[]), "{method}");
    }
    for method in [Method::Paper, Method::Diht] {
        let error = solve(&problem, &Settings::new(method)).unwrap_err();
        let expected = Error::Coupled {
            method: method.as_str(),
            loss: "cox",
        };
        assert_eq!(error, expected);
    }
}

/// Without the ridge, the gradient of the definition is 0, and standard errors come from its Hessian.
#[test]
fn a_refit_and_its_errors_are_those_of_the_likelihood() {
    let mut data = small(40, 4);
    let random = &mut Random::new(8);
    data.columns[0] = (0..40).map(|_| random.normal()).collect();
    data.ridge = 0.1;
    let problem = data.builder().build().unwrap();
    let mut solution = solve(&problem, &Settings::default()).unwrap();
    let support = solution.support.clone();
    let (coefficients, intercepts) = refit(&problem, &solution).unwrap();
    assert_eq!(intercepts, [0.0]);
    data.ridge = 0.0;
    let x = at(&coefficients, &support);
    let (_, gradient, hessian) = data.evaluate(&support, &x);
    assert!(gradient.iter().all(|g| g.abs() < 1e-9), "{gradient:?}");
    solution.coefficients = coefficients;
    let errors = standard_errors(&problem, &solution, false).unwrap();
    assert_eq!((errors.columns.len(), errors.freedom), (2, None));
    let determinant = hessian[0][0] * hessian[1][1] - hessian[0][1] * hessian[1][0];
    for (i, error) in errors.errors.iter().enumerate() {
        let variance = hessian[1 - i][1 - i] / determinant / 40.0;
        assert!((error.unwrap() - variance.sqrt()).abs() < 1e-9);
    }
}

#[test]
fn a_shift_of_a_column_changes_nothing() {
    let mut data = small(25, 6);
    let near = solve(&data.builder().build().unwrap(), &Settings::default()).unwrap();
    data.columns[1].iter_mut().for_each(|a| *a += 4096.0);
    let far = solve(&data.builder().build().unwrap(), &Settings::default()).unwrap();
    assert_eq!((near.intercept, far.intercept), (0.0, 0.0));
    assert!((near.objective - far.objective).abs() <= 1e-9 * near.objective);
}

#[test]
fn what_cannot_be_is_refused_by_row() {
    let built = |times: Vec<f64>, cox: Cox| {
        let design = Design::dense(3, 1, vec![1.0, 2.0, 4.0]).unwrap();
        let builder = Problem::builder(design, times).loss(Arc::new(cox));
        builder.build().map(|_| ()).unwrap_err()
    };
    let times = vec![1.0, 2.0, 3.0];
    let cox = || Cox::new(vec![true, true, false]);
    assert_eq!(
        built(times.clone(), Cox::new(vec![false; 3])),
        Error::NoEvents
    );
    let message = built(vec![1.0, -2.0, 3.0], cox()).to_string();
    assert!(
        message.contains("row 2") && message.contains("-2"),
        "{message}"
    );
    let message = built(vec![1.0, f64::NAN, 3.0], cox()).to_string();
    assert!(
        message.contains("row 2") && message.contains("NaN"),
        "{message}"
    );
    let error = built(times.clone(), cox().entry(vec![0.0, 2.0, 1.0]));
    let (row, entry, time) = (2, 2.0, 2.0);
    assert_eq!(error, Error::LateEntry { row, entry, time });
    let message = built(times.clone(), cox().entry(vec![0.0, 1.0, f64::NAN])).to_string();
    assert!(
        message.contains("entry") && message.contains("row 3"),
        "{message}"
    );
    for short in [
        Cox::new(vec![true]),
        cox().strata(vec![1, 2]),
        cox().entry(vec![0.0]),
    ] {
        let error = built(times.clone(), short);
        assert!(matches!(error, Error::Shape { expected: 3, .. }), "{error}");
    }
    let design = Design::dense(3, 1, vec![1.0, 2.0, 4.0]).unwrap();
    let builder = Problem::builder(design, times).loss(Arc::new(cox()));
    let error = builder.clone().intercept(true).build().unwrap_err();
    assert_eq!(error, Error::Intercept { loss: "cox" });
    // An event whose row has no weight does not count.
    let weightless = builder.clone().weights(vec![0.0, 0.0, 1.0]).build();
    assert_eq!(weightless.unwrap_err(), Error::NoEvents);
    let free = builder.always_in(0, 0.0).build().unwrap_err();
    assert!(matches!(free, Error::Unpenalised { .. }), "{free}");
    assert!("exact".parse::<Ties>().is_err());
    assert_eq!("breslow".parse(), Ok(Ties::Breslow));
}

/// A checkpoint belongs to its events.
#[test]
fn a_checkpoint_of_other_events_is_refused() {
    let mut data = small(20, 7);
    data.rows
        .times
        .iter_mut()
        .for_each(|t| *t = (*t / 3.0).ceil());
    let few = Settings {
        node_limit: Some(0),
        ..Settings::default()
    };
    let mut saved = Vec::new();
    let sink = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
    let problem = data.builder().build().unwrap();
    let run = Run::new(&problem, &few).save(std::time::Duration::MAX, sink);
    run.solve().unwrap();
    let resume = |data: &Data| {
        let problem = data.builder().build().unwrap();
        let run = Run::new(&problem, &Settings::default());
        run.resume(Checkpoint::decode(&saved).unwrap()).solve()
    };
    assert!(resume(&data).is_ok());
    let mut other = data.clone();
    other.rows.events[4] = false;
    assert!(matches!(resume(&other), Err(Error::Checkpoint { .. })));
    let mut other = data;
    other.rows.ties = Ties::Breslow;
    assert!(matches!(resume(&other), Err(Error::Checkpoint { .. })));
}
