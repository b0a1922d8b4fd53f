//! A problem that cannot be solved is refused with a message that says what to mend, and the parts of one that can
//! mean what their documentation says.
#![allow(missing_docs)]

mod common;

use common::Random;
use l0star::problem::Builder;
use l0star::{Design, Error, Method, Problem, Settings, Solution, loss, solve};

const REAL: &[&str] = &["quadratic", "huber"];
const LABELS: &[&str] = &["logistic", "squared-hinge"];

/// Three rows, two columns called `age` and `height`.
fn small(response: &[f64]) -> Builder {
    let design = Design::dense(3, 2, vec![1.0, 2.0, 4.0, -1.0, 0.5, 2.0]).unwrap();
    Problem::builder(design, response.to_vec())
        .standardize(false)
        .names(vec!["age".to_owned(), "height".to_owned()])
}

fn labelled(response: &[f64], name: &str) -> Builder {
    small(response).loss(loss::by_name(name, 1.0).unwrap())
}

/// The message, which has to contain every word.
fn refused(builder: Builder, words: &[&str]) -> Error {
    let error = builder
        .build()
        .expect_err(&format!("built, but {words:?} were expected"));
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "'{word}' is not in: {message}");
    }
    error
}

/// The numbers of a random problem, for tests that build it in two ways.
#[derive(Clone)]
struct Data {
    columns: Vec<Vec<f64>>,
    b: Vec<f64>,
    loss: &'static str,
}

impl Data {
    fn new(seed: u64, loss: &'static str) -> Self {
        let mut random = Random::new(seed);
        let (n, d) = (12, 6);
        let columns: Vec<Vec<f64>> = (0..d)
            .map(|_| (0..n).map(|_| random.normal()).collect())
            .collect();
        let mut b: Vec<f64> = (0..n)
            .map(|i| columns[1][i] - 0.7 * columns[4][i] + 0.5 * random.normal())
            .collect();
        if LABELS.contains(&loss) {
            b.iter_mut().for_each(|b| *b = b.signum());
            (b[0], b[1]) = (1.0, -1.0);
        }
        common::log_linked(&mut b, loss);
        Self { columns, b, loss }
    }

    fn rows(&self) -> usize {
        self.b.len()
    }

    fn builder(&self) -> Builder {
        let design = Design::dense(self.rows(), self.columns.len(), self.columns.concat()).unwrap();
        Problem::builder(design, self.b.clone())
            .standardize(false)
            .loss(loss::by_name(self.loss, 0.7).unwrap())
            .ridge(0.01)
            .k(3)
    }

    /// Each row as often as `times` says.
    fn repeated(&self, times: &[usize]) -> Self {
        let repeat = |v: &Vec<f64>| -> Vec<f64> {
            v.iter()
                .zip(times)
                .flat_map(|(v, times)| vec![*v; *times])
                .collect()
        };
        Self {
            columns: self.columns.iter().map(repeat).collect(),
            b: repeat(&self.b),
            loss: self.loss,
        }
    }
}

fn solved(builder: Builder) -> Solution {
    let problem = builder.build().unwrap();
    solve(&problem, &settings(&problem)).unwrap()
}

/// The plainest of the exact methods that can solve a problem.
fn settings(problem: &Problem) -> Settings {
    Settings::new(if common::suits(problem, Method::Paper) {
        Method::Paper
    } else {
        Method::BestFirst
    })
}

/// All but the clock.
fn assert_identical(found: &Solution, expected: &Solution, words: &str) {
    let found = Solution {
        seconds: expected.seconds,
        ..found.clone()
    };
    assert_eq!(&found, expected, "{words}");
}

fn assert_equivalent(found: &Solution, expected: &Solution, words: &str) {
    assert_eq!(found.support, expected.support, "{words}");
    assert!(
        (found.objective - expected.objective).abs() <= 1e-12 * expected.objective,
        "{words}: objectives {} and {}",
        found.objective,
        expected.objective
    );
    let coefficients = found.coefficients.iter().zip(&expected.coefficients);
    for (found, expected) in coefficients.chain([(&found.intercept, &expected.intercept)]) {
        assert!(
            (found - expected).abs() <= 1e-6,
            "{words}: coefficients {found} and {expected}"
        );
    }
}

#[test]
fn a_design_that_is_not_finite_names_row_column_and_value() {
    for (value, word) in [
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        let design = Design::dense(3, 2, vec![1.0, 2.0, 4.0, -1.0, value, 2.0]).unwrap();
        let named = Problem::builder(design.clone(), vec![1.0; 3])
            .standardize(false)
            .names(vec!["age".to_owned(), "height".to_owned()]);
        let error = refused(
            named,
            &["row 2", "column 'height'", &format!("is {word}"), "finite"],
        );
        let Error::NotFinite { row, column, .. } = error else {
            panic!("{error:?}");
        };
        assert_eq!((row, column.as_str()), (2, "height"));
        refused(
            Problem::builder(design, vec![1.0; 3]).standardize(false),
            &["row 2", "column 'x2'"],
        );
    }
}

#[test]
fn a_design_of_the_wrong_size_is_refused() {
    for make in [
        |values: Vec<f64>| Design::dense(3, 2, values),
        |values: Vec<f64>| Design::from_rows(3, 2, &values),
    ] {
        for found in [0, 5, 7] {
            let error = make(vec![1.0; found]).unwrap_err();
            let message = error.to_string();
            for word in [
                "3 rows",
                "2 columns",
                &format!("{found} entries"),
                "the data need 6",
            ] {
                assert!(message.contains(word), "'{word}' is not in: {message}");
            }
        }
    }
    // A product beyond usize is no way around the check.
    assert!(matches!(
        Design::dense(usize::MAX, 2, vec![]),
        Err(Error::Shape { .. })
    ));
}

#[test]
fn data_without_rows_or_columns_are_refused() {
    let message = Design::dense(0, 3, vec![]).unwrap_err().to_string();
    assert!(message.contains("no rows"), "{message}");
    let message = Design::from_rows(0, 3, &[]).unwrap_err().to_string();
    assert!(message.contains("no rows"), "{message}");
    let design = Design::dense(3, 0, vec![]).unwrap();
    refused(
        Problem::builder(design, vec![1.0; 3])
            .standardize(false)
            .intercept(true),
        &["no columns"],
    );
}

#[test]
fn vectors_of_the_wrong_length_are_refused_by_name() {
    let good = [1.0, 2.0, 3.0];
    for length in [0, 2, 4] {
        let found = format!("{length} entries");
        let words = |what: &'static str| [what, &found, "the data need 3"];
        refused(small(&vec![1.0; length]), &words("the response"));
        refused(
            small(&good).weights(vec![1.0; length]),
            &words("the weights"),
        );
        refused(small(&good).offset(vec![1.0; length]), &words("the offset"));
    }
    refused(
        small(&good).names(vec!["age".to_owned()]),
        &["column names", "1 entries", "need 2"],
    );
}

#[test]
fn vectors_that_are_not_finite_are_refused_by_name_and_row() {
    let good = vec![1.0, 2.0, 3.0];
    for (value, word) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let bad = vec![1.0, 2.0, value];
        let words = |what: &'static str| ["row 3", what, word];
        refused(small(&bad), &words("'response'"));
        refused(small(&good).weights(bad.clone()), &words("'weights'"));
        refused(small(&good).offset(bad), &words("'offset'"));
    }
}

#[test]
fn a_negative_weight_is_refused_with_its_row() {
    let builder = small(&[1.0, 2.0, 3.0]).weights(vec![1.0, -0.25, 1.0]);
    let error = refused(builder, &["row 2", "-0.25", "negative"]);
    assert!(matches!(error, Error::NegativeWeight { row: 2, .. }));
}

#[test]
fn weights_that_are_all_zero_are_refused() {
    refused(
        small(&[1.0, 2.0, 3.0]).weights(vec![0.0; 3]),
        &["no rows of positive weight"],
    );
}

#[test]
fn responses_that_are_no_labels_are_refused_with_row_value_and_loss() {
    for name in LABELS {
        for value in [0.0, 2.0, 0.5, -1.5] {
            let builder = labelled(&[1.0, -1.0, value], name);
            refused(builder, &["row 3", &format!("response {value}"), name]);
        }
    }
}

#[test]
fn responses_that_are_no_counts_or_amounts_are_refused_with_row_value_and_loss() {
    for name in ["poisson", "gamma"] {
        let refuse = |value: f64, words: &[&str]| {
            refused(
                labelled(&[1.0, 2.5, value], name),
                &[&["row 3"], words].concat(),
            );
        };
        refuse(-1.0, &["response -1", name]);
        refuse(1e130, &["response"]);
    }
    refused(
        labelled(&[1.0, 0.0, 3.0], "gamma"),
        &["row 2", "response 0", "greater than 0"],
    );
    refused(labelled(&[1.0, 1e-250, 3.0], "gamma"), &["row 2", "1e-250"]);
    refused(labelled(&[1.0, 2.0, 1e70], "poisson"), &["row 3", "1e70"]);
    // Zeros and fractions are counts.
    assert!(labelled(&[0.0, 0.5, 3.0], "poisson").build().is_ok());
    // All zeros have no best intercept, whatever the weights hide.
    assert!(labelled(&[0.0; 3], "poisson").build().is_ok());
    let zeros = || labelled(&[0.0; 3], "poisson").intercept(true);
    refused(zeros(), &["every response", "is 0", "intercept"]);
    let hidden = labelled(&[0.0, 4.0, 0.0], "poisson").intercept(true);
    refused(hidden.weights(vec![1.0, 0.0, 1.0]), &["every response"]);
}

#[test]
fn one_class_is_refused_with_its_label_and_the_loss() {
    for name in LABELS {
        for label in [1.0, -1.0] {
            let words = [format!("label {label}"), (*name).to_owned()];
            let words = [words[0].as_str(), words[1].as_str(), "both classes"];
            refused(labelled(&[label; 3], name), &words);
            // The other class is there, but nothing weighs it.
            let response = [label, -label, label];
            refused(
                labelled(&response, name).weights(vec![1.0, 0.0, 1.0]),
                &words,
            );
            assert!(labelled(&response, name).build().is_ok());
        }
    }
}

#[test]
fn a_ridge_that_is_no_positive_number_is_refused() {
    for ridge in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let words = ["ridge", &format!("= {ridge}"), "> 0"];
        refused(small(&[1.0, 2.0, 3.0]).ridge(ridge), &words);
    }
    for ridge in [-1.0, f64::NAN, f64::INFINITY] {
        let words = ["always-in", &format!("= {ridge}"), ">= 0"];
        refused(small(&[1.0, 2.0, 3.0]).always_in(0, ridge), &words);
    }
}

#[test]
fn columns_that_do_not_exist_are_refused() {
    let words = ["no column 2", "the last one is 1"];
    refused(small(&[1.0, 2.0, 3.0]).exclude(2), &words);
    refused(small(&[1.0, 2.0, 3.0]).always_in(2, 1.0), &words);
    // The intercept is no column to be named.
    refused(
        small(&[1.0, 2.0, 3.0]).intercept(true).always_in(2, 1.0),
        &words,
    );
}

#[test]
fn a_column_both_excluded_and_always_in_is_refused_by_name() {
    let words = ["'height'", "excluded", "always in"];
    refused(small(&[1.0, 2.0, 3.0]).exclude(1).always_in(1, 1.0), &words);
    refused(small(&[1.0, 2.0, 3.0]).always_in(1, 1.0).exclude(1), &words);
}

#[test]
fn a_free_column_of_a_classification_is_refused_by_name() {
    let counts = small(&[1.0, 0.0, 2.0]).loss(loss::by_name("poisson", 1.0).unwrap());
    refused(
        counts.always_in(1, 0.0),
        &["'height'", "poisson", "ridge > 0"],
    );
    for name in LABELS {
        for intercept in [false, true] {
            let builder = labelled(&[1.0, -1.0, 1.0], name).intercept(intercept);
            refused(
                builder.always_in(1, 0.0),
                &["'height'", name, "ridge > 0", "intercept"],
            );
        }
        assert!(
            labelled(&[1.0, -1.0, 1.0], name)
                .intercept(true)
                .always_in(1, 1e-3)
                .build()
                .is_ok()
        );
    }
}

#[test]
fn dependent_free_columns_are_refused_by_name() {
    for name in REAL {
        let builder = |columns: Vec<f64>| {
            let design = Design::dense(3, 3, columns).unwrap();
            Problem::builder(design, vec![1.0, 2.0, 3.0])
                .standardize(false)
                .loss(loss::by_name(name, 1.0).unwrap())
        };
        let twice = builder(vec![1.0, 2.0, 4.0, -2.0, -4.0, -8.0, 1.0, 0.0, 0.0]);
        let words = ["'x1', 'x2'", "linearly dependent", "ridge > 0"];
        refused(twice.always_in(0, 0.0).always_in(1, 0.0), &words);
        let constant = builder(vec![3.0, 3.0, 3.0, 1.0, 2.0, 4.0, 1.0, 0.0, 0.0]);
        refused(
            constant.intercept(true).always_in(0, 0.0),
            &["'x1', '(intercept)'", "dependent"],
        );
        let zero = builder(vec![0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 1.0, 0.0, 0.0]);
        refused(zero.always_in(0, 0.0), &["'x1'", "zero"]);
        // Independent over all rows, dependent over those that count.
        let hidden = builder(vec![1.0, 2.0, 4.0, 1.0, 2.0, 5.0, 1.0, 0.0, 0.0]);
        let hidden = hidden.always_in(0, 0.0).always_in(1, 0.0);
        assert!(hidden.clone().build().is_ok());
        refused(hidden.weights(vec![1.0, 1.0, 0.0]), &["'x1', 'x2'"]);
    }
}

#[test]
fn more_free_columns_than_rows_are_refused() {
    let design = Design::dense(2, 3, vec![1.0, 2.0, 3.0, 5.0, -1.0, 1.0]).unwrap();
    let builder = Problem::builder(design, vec![1.0, 2.0])
        .standardize(false)
        .always_in(0, 0.0)
        .always_in(1, 0.0)
        .always_in(2, 0.0);
    refused(builder, &["'x1', 'x2', 'x3'", "dependent"]);
}

#[test]
fn numbers_too_large_to_square_are_refused() {
    for large in [1e200, 1.2e154] {
        let design = Design::dense(2, 1, vec![1.0, large]).unwrap();
        let builder = Problem::builder(design, vec![1.0, 2.0]);
        refused(builder, &["row 2, column 'x1'", "double precision"]);
    }
    refused(
        small(&[1e200, 1.0, 2.0]),
        &["row 1, column 'response' is 1e200", "double precision"],
    );
    refused(
        small(&[1.0, 1.0, 2.0]).offset(vec![0.0, -1e200, 0.0]),
        &["row 2, column 'offset' is -1e200"],
    );
    refused(
        small(&[1e-200, 0.0, 2e-200]),
        &["larger than 2e-200", "multiply"],
    );
}

#[test]
fn the_defaults_are_those_of_the_table() {
    let problem = small(&[1.0, 2.0, 3.0]).build().unwrap();
    assert_eq!(problem.k(), 1);
    assert_eq!(problem.loss().name(), "quadratic");
    assert_eq!((problem.ridge(0), problem.ridge(1)), (1e-3, 1e-3));
    assert!(!problem.has_intercept());
    assert_eq!(problem.selectable(), [0, 1]);
    assert_eq!(problem.names(), ["age", "height"]);
    assert!((problem.objective(&[]) - 14.0 / 6.0).abs() <= 1e-15 * 14.0);
}

#[test]
fn the_objective_is_the_weighted_mean_loss_and_the_ridge() {
    let problem = small(&[1.0, 2.0, 3.0])
        .weights(vec![1.0, 3.0, 0.0])
        .offset(vec![0.5, -0.5, 100.0])
        .ridge(0.2)
        .always_in(1, 0.4)
        .intercept(true)
        .build()
        .unwrap();
    assert_eq!((problem.rows(), problem.columns()), (2, 2));
    assert_eq!(problem.selectable(), [0]);
    // z = o + 2 age - height + 0.25, the residuals are 2.75 and 0.75 + 0.5.
    let residuals = [0.5 + 2.0 + 1.0 + 0.25 - 1.0, -0.5 + 4.0 - 0.5 + 0.25 - 2.0];
    let expected = 0.25 * 0.5 * residuals[0] * residuals[0]
        + 0.75 * 0.5 * residuals[1] * residuals[1]
        + 0.5 * 0.2 * 4.0
        + 0.5 * 0.4;
    let found = problem.objective(&[(0, 2.0), (1, -1.0), (2, 0.25)]);
    assert!(
        (found - expected).abs() <= 1e-15 * expected,
        "{found}, not {expected}"
    );
}

#[test]
fn rows_of_weight_zero_are_as_if_deleted() {
    for name in loss::NAMES {
        for seed in 0..5 {
            let data = Data::new(seed, name);
            let mut random = Random::new(seed + 100);
            let times: Vec<usize> = (0..data.rows())
                .map(|i| usize::from(i < 2 || random.chance(0.7)))
                .collect();
            let weights: Vec<f64> = times.iter().map(|times| *times as f64).collect();
            let offset: Vec<f64> = (0..data.rows()).map(|_| random.normal()).collect();
            let left: Vec<f64> = offset
                .iter()
                .zip(&times)
                .filter_map(|(o, times)| (*times > 0).then_some(*o))
                .collect();
            for intercept in [false, true] {
                let weighted = data.builder().weights(weights.clone());
                let deleted = data.repeated(&times).builder();
                assert_identical(
                    &solved(weighted.offset(offset.clone()).intercept(intercept)),
                    &solved(deleted.offset(left.clone()).intercept(intercept)),
                    &format!("{name}, seed {seed}, intercept {intercept}"),
                );
            }
        }
    }
}

#[test]
fn integer_weights_are_repeated_rows() {
    for name in loss::NAMES {
        for seed in 0..5 {
            let data = Data::new(seed, name);
            let mut random = Random::new(seed + 200);
            let times: Vec<usize> = (0..data.rows())
                .map(|i| random.below(4) + usize::from(i < 2))
                .collect();
            let weights = times.iter().map(|times| *times as f64).collect();
            let repeated = data.repeated(&times).builder();
            assert_equivalent(
                &solved(data.builder().weights(weights)),
                &solved(repeated),
                &format!("{name}, seed {seed}"),
            );
        }
    }
}

#[test]
fn a_constant_offset_is_a_shift_of_real_responses() {
    for name in REAL {
        for c in [0.3, -2.0] {
            let data = Data::new(3, name);
            let mut shifted = data.clone();
            shifted.b.iter_mut().for_each(|b| *b -= c);
            assert_equivalent(
                &solved(data.builder().offset(vec![c; data.rows()])),
                &solved(shifted.builder()),
                &format!("{name}, {c}"),
            );
        }
    }
}

#[test]
fn an_intercept_takes_up_a_constant_offset() {
    for name in loss::NAMES {
        let data = Data::new(4, name);
        let plain = solved(data.builder().intercept(true));
        let offset = vec![0.8; data.rows()];
        let mut moved = solved(data.builder().intercept(true).offset(offset));
        assert!((moved.intercept + 0.8 - plain.intercept).abs() <= 1e-6);
        moved.intercept = plain.intercept;
        assert_equivalent(&moved, &plain, name);
    }
}

#[test]
fn an_intercept_is_a_free_column_of_ones() {
    for name in REAL {
        for seed in 0..5 {
            let data = Data::new(seed, name);
            let mut with_ones = data.clone();
            with_ones.columns.push(vec![1.0; data.rows()]);
            let d = data.columns.len();
            let expected = solved(data.builder().intercept(true));
            let mut found = solved(with_ones.builder().always_in(d, 0.0));
            assert_eq!(found.intercept, 0.0);
            found.intercept = found.coefficients.pop().unwrap();
            assert_equivalent(&found, &expected, &format!("{name}, seed {seed}"));
        }
    }
}

#[test]
fn a_larger_k_than_there_are_features_means_all_of_them() {
    for name in loss::NAMES {
        let data = Data::new(6, name);
        let d = data.columns.len();
        let all = solved(data.builder().k(d));
        assert_eq!(all.support.len(), d, "{name}");
        for k in [d + 1, 1000, usize::MAX] {
            assert_identical(&solved(data.builder().k(k)), &all, name);
        }
    }
}

#[test]
fn another_k_for_a_problem_is_a_problem_built_with_it() {
    for name in loss::NAMES {
        let data = Data::new(8, name);
        let builder = data.builder().intercept(true);
        let one = builder.clone().k(1).build().unwrap();
        for k in [0, 2, 5] {
            let found = solve(&one.with_k(k).unwrap(), &settings(&one)).unwrap();
            assert_identical(&found, &solved(builder.clone().k(k)), name);
        }
    }
}

#[test]
fn the_scale_of_the_weights_does_not_matter() {
    for name in loss::NAMES {
        let data = Data::new(7, name);
        let mut random = Random::new(300);
        let weights: Vec<f64> = (0..data.rows()).map(|_| 0.1 + random.uniform()).collect();
        let scaled = |scale: f64| {
            let weights = weights.iter().map(|w| w * scale).collect();
            solved(data.builder().weights(weights).intercept(true))
        };
        let plain = scaled(1.0);
        // A power of two leaves every digit as it is.
        for power in [300, -300] {
            assert_identical(&scaled(2f64.powi(power)), &plain, name);
        }
        for scale in [1e100, 1e-100, 1e305] {
            assert_equivalent(&scaled(scale), &plain, &format!("{name}, {scale:e}"));
        }
    }
}

#[test]
fn excluded_columns_stay_out_and_always_in_columns_stay_in() {
    for name in loss::NAMES {
        for seed in 0..5 {
            let data = Data::new(seed, name);
            let found = solved(data.builder().k(2).exclude(1).always_in(3, 0.05));
            let words = format!("{name}, seed {seed}");
            assert_eq!(found.coefficients[1], 0.0, "{words}");
            assert_ne!(found.coefficients[3], 0.0, "{words}");
            assert!(!found.support.contains(&3), "{words}: k counts column 3");
            assert_eq!(found.support.len(), 2, "{words}");
            // Leaving the column out of the data is the same as excluding it.
            let mut without = data.clone();
            without.columns.remove(1);
            let mut expected = solved(without.builder().k(2).always_in(2, 0.05));
            expected.coefficients.insert(1, 0.0);
            for j in &mut expected.support {
                *j += usize::from(*j >= 1);
            }
            assert_equivalent(&found, &expected, &words);
        }
    }
}
