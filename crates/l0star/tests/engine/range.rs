//! Numbers that cannot be squared and summed are refused by row and column, and no loop runs forever on large ones.

use crate::common::Random;
use l0star::problem::Builder;
use l0star::{Design, Error, Problem, Settings, Status, solve};

/// 40 rows: a text column with four categories as a group of indicators, two numbers, and one large cell.
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
    // Divided by its deviation, the column is like any other.
    let problem = with_text(1e98).standardize(true).build().unwrap();
    let found = solve(&problem, &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Optimal);
    assert_eq!(found.support, [0, 1, 2, 3, 5]);
    // The largest accepted size.
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
    // Rows without weight are not fitted, but still count in row numbers.
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

/// Regression test: the bound of this problem was above its optimum, because products of entries and slopes
/// underflowed before they were scaled.
#[test]
fn columns_whose_products_underflow_are_refused() {
    let build = |size: f64, response: f64, sparse: bool| {
        let column = [1.0, -2.0, 4.0, 0.5].map(|v| v * size).to_vec();
        let design = if sparse {
            Design::sparse(4, 1, vec![0, 4], vec![0, 1, 2, 3], column)
        } else {
            Design::dense(4, 1, column)
        };
        let response = [1.0, 2.0, 3.0, -1.0].map(|v| v * response).to_vec();
        let builder = Problem::builder(design.unwrap(), response);
        builder.names(vec!["dose".into()]).ridge(0.1).build()
    };
    for (size, response, sparse) in [
        (1e-296, 1e-38, false),
        (1e-180, 1e-100, false),
        (1e-150, 1.0, true),
    ] {
        let refused = build(size, response, sparse).unwrap_err();
        assert!(matches!(refused, Error::SmallColumn { .. }), "{refused}");
        assert!(
            refused
                .to_string()
                .contains("no number of column 'dose' is larger than 4e-")
        );
    }
    let one = solve(&build(1.0, 1.0, false).unwrap(), &Settings::default()).unwrap();
    for (size, response, sparse) in [
        (1e-200, 1.0, false),
        (1e-140, 1e-100, false),
        (1e-130, 1.0, true),
    ] {
        let found = solve(
            &build(size, response, sparse).unwrap(),
            &Settings::default(),
        )
        .unwrap();
        assert_eq!(found.status, Status::Optimal);
        let ratio = found.objective / response / response / one.objective;
        assert!((ratio - 1.0).abs() <= 1e-12, "{size} {response}: {ratio}");
        assert!(found.lower_bound.unwrap() <= found.objective);
    }
}
