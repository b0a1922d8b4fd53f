//! Tests of the module above.

use l0star::loss;

use super::*;

fn close(found: Option<f64>, expected: f64) {
    let found = found.expect("the measure is there");
    assert!((found - expected).abs() < 1e-9, "{found} and {expected}");
}

fn rows<'a>(z: &'a [f64], b: &'a [f64], weights: Option<&'a [f64]>) -> Rows<'a> {
    Rows {
        scores: z,
        response: b,
        weights,
        offset: None,
        times: Times::default(),
    }
}

#[test]
fn a_weight_of_two_is_a_row_given_twice() {
    let quadratic = loss::by_name("quadratic", 1.0).unwrap();
    let once = Metrics::of(
        &*quadratic,
        &rows(&[1.0, 2.5, 9.0], &[0.0, 3.0, 1.0], Some(&[2.0, 1.0, 0.0])),
    );
    let twice = Metrics::of(&*quadratic, &rows(&[1.0, 1.0, 2.5], &[0.0, 0.0, 3.0], None));
    assert_eq!((once.rows, twice.rows), (2, 3));
    close(once.rmse, 0.75f64.sqrt());
    close(once.r2, twice.r2.unwrap());
    close(once.deviance_explained, once.r2.unwrap());
    assert_eq!(once.auc, None);
}

#[test]
fn the_area_is_the_share_of_pairs_in_order() {
    let z = [3.0, 2.0, 1.0, 1.0, 0.0, 7.0];
    let b = [1.0, -1.0, 1.0, -1.0, -1.0, -1.0];
    // Positive 3 beats all 4; positive 1 beats 2, ties 1, loses 1.
    let area = auc(&z, &b, &[1.0, 1.0, 1.0, 1.0, 2.0, 0.0]);
    assert!((area - 6.5 / 8.0).abs() < 1e-15, "{area}");
    assert!(auc(&z[..1], &b[..1], &[1.0]).is_nan());
}

#[test]
fn a_constant_explains_nothing_and_an_offset_is_no_merit() {
    let logistic = loss::by_name("logistic", 1.0).unwrap();
    let (b, offset) = ([1.0, 1.0, -1.0, 1.0], [0.5, -2.0, 1.0, 40.0]);
    let (low, high) = bracket(&*logistic, &offset, &b, &[1.0; 4]).unwrap();
    assert!(low < high);
    let constant = best_constant(&*logistic, &offset, &b, &[1.0; 4]).unwrap();
    let scores = offset.map(|o| o + constant);
    let measured = Metrics::of(
        &*logistic,
        &Rows {
            offset: Some(&offset),
            ..rows(&scores, &b, None)
        },
    );
    close(measured.deviance_explained, 0.0);
    for shift in [-0.1, 0.1] {
        let worse = offset.map(|o| o + constant + shift);
        let measured = Metrics::of(
            &*logistic,
            &Rows {
                offset: Some(&offset),
                ..rows(&worse, &b, None)
            },
        );
        assert!(measured.deviance_explained.unwrap() < 0.0);
    }
}

#[test]
fn rows_that_cannot_tell_have_no_such_measure() {
    let logistic = loss::by_name("logistic", 1.0).unwrap();
    let one = Metrics::of(&*logistic, &rows(&[0.3, -0.2], &[1.0, 1.0], None));
    assert_eq!((one.auc, one.deviance_explained), (None, None));
    close(one.accuracy, 0.5);
    let hinge = loss::by_name("squared-hinge", 1.0).unwrap();
    let none = Metrics::of(&*hinge, &rows(&[0.3, -0.2], &[1.0, -1.0], None));
    assert_eq!((none.log_loss, none.brier), (None, None));
    assert_eq!(none.deviance_explained, None);
    let quadratic = loss::by_name("quadratic", 1.0).unwrap();
    let huge = Metrics::of(&*quadratic, &rows(&[1e200, 0.0], &[0.0, 1.0], None));
    assert_eq!((huge.rmse, huge.r2), (None, None));
    let empty = Metrics::of(&*quadratic, &rows(&[1.0], &[1.0], Some(&[0.0])));
    assert_eq!(empty, Metrics::default());
}

#[test]
fn tiny_units_change_nothing() {
    let huber = |delta| loss::by_name("huber", delta).unwrap();
    let (z, b) = ([1.0, 2.0, 3.5, 4.0], [1.5, 1.0, 3.0, 9.0]);
    let large = Metrics::of(&*huber(1.0), &rows(&z, &b, None));
    let (small_z, small_b) = (z.map(|v| v * 1e-60), b.map(|v| v * 1e-60));
    let small = Metrics::of(&*huber(1e-60), &rows(&small_z, &small_b, None));
    close(small.deviance_explained, large.deviance_explained.unwrap());
    close(small.r2, large.r2.unwrap());
}
