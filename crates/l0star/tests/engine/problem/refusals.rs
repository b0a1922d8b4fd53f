//! Invalid input is refused with a message that names the fault.

use l0star::problem::Builder;
use l0star::{Design, Error, Problem, loss};

use super::{LABELS, REAL, small};

fn labelled(response: &[f64], name: &str) -> Builder {
    small(response).loss(loss::by_name(name, 1.0).unwrap())
}

/// Asserts that a problem is refused with a message that contains every word; returns the error.
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
    // A product beyond usize does not bypass the check.
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
    // Responses of only zeros have no best intercept; rows without weight do not count.
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
            // The other class exists, but its rows have no weight.
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
    // The intercept is not a column that a message may name.
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
        // The columns are independent over all rows, but dependent over those with weight.
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
