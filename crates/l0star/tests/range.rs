//! Numbers that cannot be squared and summed are refused by row and column, and nothing loops for ever on large ones.
#![allow(missing_docs)]

mod common;

use common::Random;
use l0star::problem::Builder;
use l0star::{Design, Error, Problem, Settings, Status, solve};

/// 40 rows: a text column of four levels as a group of indicators, two numbers, and one large cell.
fn with_text(cell: f64) -> Builder {
    let (n, mut random) = (40, Random::new(9));
    let mut columns: Vec<Vec<f64>> = (0..4)
        .map(|level| {
            (0..n)
                .map(|i| f64::from(u8::from(i % 4 == level)))
                .collect()
        })
        .collect();
    columns.extend((0..2).map(|_| (0..n).map(|_| random.normal()).collect::<Vec<f64>>()));
    columns[4][7] = cell;
    let response = (0..n)
        .map(|i| columns[5][i] + columns[1][i] + 0.1 * random.normal())
        .collect();
    let names = ["red", "green", "blue", "grey", "large", "small"].map(str::to_owned);
    let design = Design::dense(n, columns.len(), columns.concat()).unwrap();
    Problem::builder(design, response)
        .names(names.to_vec())
        .groups(vec![vec![0, 1, 2, 3]])
        .intercept(true)
        .k(2)
}

#[test]
fn a_cell_of_1e98_beside_a_text_column_comes_to_an_end() {
    let refused = with_text(1e98).standardize(false).build().unwrap_err();
    let expected = Error::TooLarge {
        row: 8,
        column: "large".to_owned(),
        value: 1e98,
    };
    assert_eq!(refused, expected);
    assert!(
        refused
            .to_string()
            .contains("row 8, column 'large' is 1e98")
    );
    // Divided by its deviation the column is one like others.
    let problem = with_text(1e98).standardize(true).build().unwrap();
    let found = solve(&problem, &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Optimal);
    assert_eq!(found.support, [0, 1, 2, 3, 5]);
    // As large as is taken.
    let problem = with_text(1e60).standardize(false).build().unwrap();
    let found = solve(&problem, &Settings::default()).unwrap();
    assert!(found.lower_bound.unwrap() <= found.objective);
}

#[test]
fn numbers_too_large_are_refused_where_they_are() {
    let at = |row: usize, column: &str, value: f64| Error::TooLarge {
        row,
        column: column.to_owned(),
        value,
    };
    assert_eq!(
        with_text(-1e150).standardize(true).build().unwrap_err(),
        at(8, "large", -1e150)
    );
    let values = |row: usize, value: f64| -> Vec<f64> {
        let mut values: Vec<f64> = (0..40).map(f64::from).collect();
        values[row] = value;
        values
    };
    let refused = with_text(1.0).offset(values(3, 1e130)).build().unwrap_err();
    assert_eq!(refused, at(4, "offset", 1e130));
    let design = Design::dense(40, 1, values(0, 0.0)).unwrap();
    let refused = Problem::builder(design, values(5, -1e121))
        .build()
        .unwrap_err();
    assert_eq!(refused, at(6, "response", -1e121));
    // Rows without weight are not among those that are fitted, but are counted.
    let weights: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i != 2))).collect();
    let refused = with_text(1e98).standardize(false).weights(weights).build();
    assert_eq!(refused.unwrap_err(), at(8, "large", 1e98));
}

#[test]
fn weights_too_far_apart_are_refused() {
    let weights = |row: usize, value: f64| -> Vec<f64> {
        let mut weights = vec![2.0; 40];
        weights[row] = value;
        weights
    };
    let refused = with_text(1.0)
        .weights(weights(6, 1e-152))
        .build()
        .unwrap_err();
    let expected = Error::SmallWeight {
        row: 7,
        value: 1e-152,
        largest: 2.0,
    };
    assert_eq!(refused, expected);
    with_text(1.0).weights(weights(6, 0.0)).build().unwrap();
    with_text(1.0).weights(weights(6, 1e-149)).build().unwrap();
}
