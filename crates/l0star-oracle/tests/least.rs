//! Compares the oracle with known values, and with points that are unknown to it.
#![allow(missing_docs)]

use l0star_oracle::{Column, Dyadic, Exact, Least, Loss, Problem, Row};

const NONE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn column(entries: &[f64], ridge: f64, bounds: (f64, f64)) -> Column {
    Column {
        entries: entries.iter().map(|v| Dyadic::of(*v)).collect(),
        ridge,
        bounds,
    }
}

/// Creates a problem whose rows all have weight 1.
fn problem(loss: Loss, responses: &[f64], columns: Vec<Column>) -> Problem {
    let row = |b: &f64| Row {
        weight: 1.0,
        response: *b,
        offset: 0.0,
    };
    let rows: Vec<Row> = responses.iter().map(row).collect();
    Problem::new(loss, &rows, columns)
}

fn exactly(least: Option<Least>, value: f64) {
    let least = least.expect("a minimum");
    assert_eq!(least.low, least.high);
    assert_eq!(least.low, Exact::of(value));
}

#[test]
fn one_coefficient_by_hand() {
    let one = |bounds| vec![column(&[1.0], 1.0, bounds)];
    // ½(1 - x)² + ½x²: 1/4 at 1/2.
    exactly(
        problem(Loss::Quadratic, &[1.0], one(NONE)).least(&[0]),
        0.25,
    );
    exactly(
        problem(Loss::SquaredHinge, &[1.0], one(NONE)).least(&[0]),
        0.25,
    );
    // (10 - x) - ½ + ½x²: 9 at 1.
    exactly(
        problem(Loss::Huber(1.0), &[10.0], one(NONE)).least(&[0]),
        9.0,
    );
    // At its bound 1/4.
    exactly(
        problem(Loss::Quadratic, &[1.0], one((0.0, 0.25))).least(&[0]),
        0.3125,
    );
    exactly(
        problem(Loss::Quadratic, &[1.0], one((-1.0, 0.0))).least(&[0]),
        0.5,
    );
    // No free coefficient.
    exactly(problem(Loss::Quadratic, &[3.0], one(NONE)).least(&[]), 4.5);
    exactly(
        problem(Loss::Quadratic, &[3.0], one((0.0, 0.0))).least(&[0]),
        4.5,
    );
}

#[test]
fn an_intercept_without_a_curvature() {
    // Every constant between the two responses is equally good: 2 (50 - ½).
    let ones = vec![column(&[1.0, 1.0], 0.0, NONE)];
    exactly(
        problem(Loss::Huber(1.0), &[-50.0, 50.0], ones).least(&[0]),
        99.0,
    );
    // The third response is the best constant.
    let ones = vec![column(&[1.0; 3], 0.0, NONE)];
    exactly(
        problem(Loss::Huber(1.0), &[-1e6, 1e6, 7.0], ones).least(&[0]),
        2e6 - 1.0,
    );
}

#[test]
fn the_logistic_enclosure_is_narrow() {
    // The best constant of three labels and one: probabilities 3/4 and 1/4.
    let ones = vec![column(&[1.0; 4], 0.0, NONE)];
    let found = problem(Loss::Logistic, &[1.0, 1.0, 1.0, -1.0], ones).least(&[0]);
    let found = found.expect("an enclosure");
    let value = -3.0 * 0.75f64.ln() - 0.25f64.ln();
    assert!((found.low.value() - value).abs() < 1e-14);
    assert!(found.low < found.high);
    assert!(found.high.minus(&found.low).value() < 1e-60);
}

/// The best constant for counts is the logarithm of their mean, and the same holds for amounts.
#[test]
fn the_enclosures_of_a_log_link_are_narrow() {
    let ones = || vec![column(&[1.0; 3], 0.0, NONE)];
    let narrow = |found: Option<Least>, value: f64| {
        let found = found.expect("an enclosure");
        assert!((found.low.value() - value).abs() < 1e-14 * (1.0 + value));
        assert!(found.high.minus(&found.low).value() < 1e-60 * (1.0 + value));
    };
    // Σ y log(y / 3), 0 for a count of 0.
    let value = 2.0 * (2.0f64 / 3.0).ln() + 7.0 * (7.0f64 / 3.0).ln();
    narrow(
        problem(Loss::Poisson, &[0.0, 2.0, 7.0], ones()).least(&[0]),
        value,
    );
    // Σ -log(y / 2).
    let value = -(0.5f64.ln() + 1.0f64.ln() + 1.5f64.ln());
    narrow(
        problem(Loss::Gamma, &[1.0, 2.0, 3.0], ones()).least(&[0]),
        value,
    );
    // The objective of a perfect fit is 0.
    let same = problem(Loss::Poisson, &[1e12; 3], ones()).least(&[0]);
    assert!(same.expect("an enclosure").high.value().abs() < 1e-40);
    narrow(
        problem(Loss::Gamma, &[1e-150, 2e-150, 3e-150], ones()).least(&[0]),
        -(0.5f64.ln() + 1.5f64.ln()),
    );
}

/// Random numbers that depend on a seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A float search from point to point ends at the oracle's value, and never below it.
#[test]
fn no_point_is_below_and_some_come_close() {
    for seed in 0..36 {
        let mut numbers = Numbers(seed);
        let n = 6;
        let loss = match seed % 6 {
            0 => Loss::Quadratic,
            1 => Loss::Huber(0.3),
            2 => Loss::SquaredHinge,
            3 => Loss::Logistic,
            4 => Loss::Poisson,
            _ => Loss::Gamma,
        };
        let labels = matches!(seed % 6, 2 | 3);
        let mut draw = || -> Vec<f64> { (0..n).map(|_| numbers.next()).collect() };
        let (mut first, second, mut y) = (draw(), draw(), draw());
        if seed % 8 > 3 {
            first.iter_mut().for_each(|v| *v += 100.0);
        }
        if labels {
            y.iter_mut().for_each(|y| *y = y.signum());
            (y[0], y[1]) = (1.0, -1.0);
        } else if seed % 6 > 3 {
            y.iter_mut().for_each(|y| *y = (3.0 * *y).exp());
            y[0] = if seed % 6 == 4 { 0.0 } else { 1.0 };
        }
        let bounds = if seed % 3 == 0 { (-0.1, 0.05) } else { NONE };
        let columns = vec![
            column(&first, 0.1, NONE),
            column(&second, 0.01, bounds),
            column(&vec![1.0; n], 0.0, NONE),
        ];
        let problem = problem(loss, &y, columns);
        let least = problem.least(&[0, 1, 2]).expect("a minimum");
        let mut x = [0.0; 3];
        let at = |x: &[f64; 3]| problem.objective(&[(0, x[0]), (1, x[1]), (2, x[2])]);
        let mut best = at(&x).high;
        // The first column and the intercept move together.
        let middle = first.iter().sum::<f64>() / n as f64;
        let ways = [[1.0, 0.0, -middle], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut length = 1.0;
        while length > 1e-7 {
            let before = best.clone();
            for way in ways {
                for sign in [length, -length] {
                    let mut other = x;
                    (0..3).for_each(|j| other[j] += sign * way[j]);
                    if !(bounds.0..=bounds.1).contains(&other[1]) {
                        continue;
                    }
                    let value = at(&other);
                    assert!(least.low <= value.high, "seed {seed}");
                    if value.high < best {
                        (x, best) = (other, value.high);
                    }
                }
            }
            if best == before {
                length /= 2.0;
            }
        }
        let above = best.minus(&least.low).value() / best.value();
        assert!((0.0..1e-6).contains(&above), "seed {seed}: {above:e}");
    }
}

#[test]
fn units_do_not_matter() {
    for seed in 0..8 {
        let mut numbers = Numbers(seed);
        let mut draw = || -> Vec<f64> { (0..7).map(|_| numbers.next()).collect() };
        let (a, mut y) = (draw(), draw());
        let loss = if seed % 2 == 0 {
            Loss::SquaredHinge
        } else {
            Loss::Logistic
        };
        y.iter_mut().for_each(|y| *y = y.signum());
        (y[0], y[1]) = (1.0, -1.0);
        let of = |power: i32| {
            let scale = 2f64.powi(power);
            let entries: Vec<f64> = a.iter().map(|v| v * scale).collect();
            let columns = vec![column(
                &entries,
                1e-3 * scale * scale,
                (-0.5 / scale, 0.5 / scale),
            )];
            let least = problem(loss.clone(), &y, columns).least(&[0]);
            least.expect("a minimum")
        };
        let (near, far) = (of(0), of(-300));
        assert_eq!(near.low, far.low);
        assert_eq!(near.high, far.high);
    }
}

/// Full steps would alternate between pieces here.
#[test]
fn small_weights_and_many_pieces() {
    let rows = [
        (1e-12, 4.2269766560341715, 1.0129347396598556),
        (219.09527888390372, 5.1928434168047595, -1.030870036870887),
        (101.08664249698009, 4.083944164866346, 0.5234667441277185),
    ];
    let rows = rows.map(|(weight, response, offset)| Row {
        weight: weight / 320.0,
        response,
        offset,
    });
    for ridge in [24.95, 5.4, 1.0, 0.1, 1e-3] {
        let columns = vec![
            column(&[-1.0, 0.0, -1.0], ridge, NONE),
            column(&[1.0; 3], 0.0, NONE),
        ];
        let problem = Problem::new(Loss::Huber(0.01), &rows, columns);
        assert!(problem.least(&[0, 1]).is_some(), "{ridge}");
    }
}

/// Every model up to a ceiling is within its extents, and the ends are attained.
#[test]
fn extents_by_hand() {
    // ½(1 - x)² + ½x² ≤ ½ from 0 to 1, whatever the unit.
    for unit in [1.0, 0.125] {
        let one = vec![column(&[1.0 / unit], (1.0 / unit) / unit, NONE)];
        let problem = problem(Loss::Quadratic, &[1.0], one);
        let extents = problem.extents(&[0], 0.5).expect("models");
        assert!(extents[0].is_within(0.0, unit));
        assert!(!extents[0].is_within(0.0, unit.next_down()));
        assert!(!extents[0].is_within(f64::MIN_POSITIVE, unit));
        assert!(problem.extents(&[0], 0.25).unwrap()[0].is_within(unit / 2.0, unit / 2.0));
        assert!(problem.extents(&[0], 0.25f64.next_down()).is_none());
    }
}
