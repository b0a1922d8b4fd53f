use l0star_oracle::{Dyadic, Exact};

use super::*;

/// Numbers that look random.
fn noise(i: usize, j: usize) -> f64 {
    let x = ((i * 7919 + j * 104_729 + 13) as f64 * 0.618_033_988_75).fract() - 0.5;
    x + 0.1 * (i as f64 * 0.7 + j as f64).sin()
}

/// `w Σ w a a' - Σ w a Σ w a'`, which is w times a product.
fn exact(a: &[f64], other: &[f64], weights: &[f64]) -> Exact {
    let of = |v: &dyn Fn(usize) -> Dyadic| -> Dyadic { (0..weights.len()).map(v).sum() };
    let w = |i: usize| Dyadic::of(weights[i]);
    let weight = of(&w);
    let product = of(&|i| &(&w(i) * &Dyadic::of(a[i])) * &Dyadic::of(other[i]));
    let one = of(&|i| &w(i) * &Dyadic::of(a[i]));
    let two = of(&|i| &w(i) * &Dyadic::of(other[i]));
    (&(&weight * &product) - &(&one * &two)).into()
}

/// The claim of docs/numerics.md, section 18, in exact arithmetic: means far away, huge and tiny units, copies, constants.
#[test]
fn products_are_within_their_error() {
    for (mean, unit) in [
        (0.0, 1.0),
        (1e6, 1.0),
        (1e6, 1e-30),
        (1e12, 1e50),
        (3e15, 1.0),
    ] {
        for is_weighted in [false, true] {
            let n = 2 * BLOCK + 345;
            let column = |j: usize| -> Vec<f64> {
                let value = |i: usize| match j {
                    0 => unit * (mean + noise(i, j)),
                    // A trend, so that the means of blocks are far apart.
                    1 => noise(i, j) + i as f64,
                    2 => unit * (mean + noise(i, 0)),
                    3 => 0.1 * unit,
                    _ => mean - 2.0 * noise(i, 0) + noise(i, j),
                };
                (0..n).map(value).collect()
            };
            let columns: Vec<Vec<f64>> = (0..5).map(column).collect();
            let weight = |i: usize| {
                if is_weighted {
                    (i % 5) as f64 * 0.37
                } else {
                    1.0
                }
            };
            let weights: Vec<f64> = (0..n).map(weight).collect();
            let names = (0..4).map(|j| format!("x{j}")).collect();
            let mut moments = Moments::new(names).unwrap();
            for (from, to) in [(0, 3), (3, 700), (700, 2000), (2000, n)] {
                let values = columns[..4].iter().flat_map(|c| &c[from..to]).copied();
                let design = Design::dense(to - from, 4, values.collect()).unwrap();
                let weights = Some(&weights[from..to]);
                moments
                    .add(&design, &columns[4][from..to], weights)
                    .unwrap();
            }
            for i in 0..5 {
                for j in 0..=i {
                    let found = moments.products[place(i, j)];
                    let units = moments.exponents[i] + moments.exponents[j];
                    let (high, low) = (found.times_power(units).high, found.times_power(units).low);
                    let total = Exact::of(moments.weight.high).plus(&Exact::of(moments.weight.low));
                    let found = Exact::of(high).plus(&Exact::of(low)).times(&total);
                    let exact = exact(&columns[i], &columns[j], &weights);
                    let away = found.minus(&exact).value().abs();
                    let size = |i: usize| scaled(moments.sizes[i].sqrt(), moments.exponents[i]);
                    let room = moments.error * size(i) * size(j) * total.value();
                    assert!(
                        away <= room,
                        "{mean:e} {unit:e} ({i}, {j}): {away:e} > {room:e}"
                    );
                }
            }
            if mean <= 1e6 {
                // Centring loses nothing: sizes are the squares themselves.
                let square = moments.products[place(0, 0)].high;
                assert!(moments.sizes[0] <= square * (1.0 + 1e-2));
            }
        }
    }
}

/// Ten million rows whose means are a million times their spread, batch by batch: what is lost is within the stated error, and the
/// sizes that it is relative to are still the squares themselves.
#[test]
fn ten_million_rows_far_from_zero_lose_no_digits() {
    let (n, repeats) = (100_000, 100);
    let columns: Vec<Vec<f64>> = (0..3)
        .map(|j| (0..n).map(|i| 1e6 + noise(i, j) + noise(i, 0)).collect())
        .collect();
    let design = Design::dense(n, 2, columns[..2].concat()).unwrap();
    let mut moments = Moments::new(vec!["a".into(), "b".into()]).unwrap();
    for _ in 0..repeats {
        moments.add(&design, &columns[2], None).unwrap();
    }
    assert_eq!(moments.rows(), (n * repeats) as u64);
    let weights = vec![1.0; n];
    let whole = Exact::of(n as f64);
    for (i, j) in [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)] {
        // Every batch has the same mean, so that products add up.
        let exact = exact(&columns[i], &columns[j], &weights).times(&Exact::of(repeats as f64));
        let found = Exact::of(moments.product(i, j)).times(&whole);
        let away = found.minus(&exact).value().abs() / n as f64;
        let size = (moments.product(i, i) * moments.product(j, j)).sqrt();
        // The product is rounded to a double here.
        assert!(
            away <= (moments.error() + U) * size,
            "({i}, {j}): {:e}",
            away / size
        );
        assert!(scaled(moments.sizes[i], 2 * moments.exponents[i]) <= 1.01 * moments.product(i, i));
    }
}

/// Rows that stand for moments have them, to a few units in the last place.
#[test]
fn a_surrogate_has_the_moments() {
    let n = 500;
    let values = (0..6).flat_map(|j| (0..n).map(move |i| 1e5 + noise(i, j % 4)));
    let design = Design::dense(n, 6, values.collect()).unwrap();
    let b: Vec<f64> = (0..n).map(|i| noise(i, 1) + noise(i, 9)).collect();
    let mut moments = Moments::new((0..6).map(|j| format!("x{j}")).collect()).unwrap();
    moments.add(&design, &b, None).unwrap();
    for centred in [true, false] {
        let surrogate = Surrogate::new(&moments, centred).unwrap();
        assert!(
            surrogate.summary.error <= 16.0 * U,
            "{}",
            surrogate.summary.error / U
        );
        // Two columns are copies of others.
        let times = if centred { 2 } else { 1 };
        assert!(surrogate.design.rows() <= times * 6);
    }
}

#[test]
fn some_features_have_the_moments_of_those() {
    let values: Vec<f64> = (0..3)
        .flat_map(|j| (0..40).map(move |i| noise(i, j)))
        .collect();
    let b: Vec<f64> = (0..40).map(|i| noise(i, 7)).collect();
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let mut all = Moments::new(names).unwrap();
    all.add(&Design::dense(40, 3, values.clone()).unwrap(), &b, None)
        .unwrap();
    let mut some = Moments::new(vec!["a".into(), "c".into()]).unwrap();
    let kept = [&values[..40], &values[80..]].concat();
    some.add(&Design::dense(40, 2, kept).unwrap(), &b, None)
        .unwrap();
    assert_eq!(all.select(&[0, 2]).unwrap(), some);
    assert!(all.select(&[3]).is_err());
}
