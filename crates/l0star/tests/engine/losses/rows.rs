//! Functions of all rows are sums of the functions of one row.

use super::draws::{all, each, least, some_responses, wide};
use crate::common::Random;

#[test]
fn the_sums_over_rows_are_sums_of_the_scalar_functions() {
    for (words, loss) in all() {
        let mut random = Random::new(7);
        let n = 17;
        let draw = |random: &mut Random| (0..n).map(|_| random.normal()).collect::<Vec<f64>>();
        let p: Vec<f64> = (0..n).map(|_| 0.1 + random.uniform()).collect();
        let (z, dz, offset) = (draw(&mut random), draw(&mut random), draw(&mut random));
        let [first, second] = some_responses(&*loss);
        let response = |b: &f64| if *b < 0.0 { first } else { second };
        let b: Vec<f64> = draw(&mut random).iter().map(response).collect();
        let near = |found: f64, expected: f64, what: &str| {
            assert!(
                (found - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
                "{words}: {what} is {found}, not {expected}"
            );
        };
        let sum = |f: &dyn Fn(usize) -> f64| (0..n).map(f).sum::<f64>();
        near(
            loss.total(&p, &z, &b),
            sum(&|i| p[i] * loss.value(z[i], b[i])),
            "total",
        );
        near(
            loss.slope_along(&p, &z, &dz, 0.7, &b),
            sum(&|i| p[i] * loss.slope(z[i] + 0.7 * dz[i], b[i]) * dz[i]),
            "slope_along",
        );
        let mut alpha = vec![0.0; n];
        loss.slopes(&z, &b, &mut alpha);
        let mut curvatures = vec![0.0; n];
        loss.weighted_curvatures(&p, &z, &b, &mut curvatures);
        for i in 0..n {
            assert_eq!(alpha[i], loss.slope(z[i], b[i]), "{words}");
            assert_eq!(curvatures[i], p[i] * loss.curvature(z[i], b[i]), "{words}");
        }
        let conjugates = sum(&|i| p[i] * loss.conjugate(alpha[i], b[i]));
        near(
            loss.dual_total(&p, &alpha, &b, &[]).0,
            conjugates,
            "dual_total",
        );
        let shift = sum(&|i| p[i] * alpha[i] * offset[i]);
        let (total, size) = loss.dual_total(&p, &alpha, &b, &offset);
        near(total, conjugates - shift, "dual_total with an offset");
        assert!(
            size >= total.abs(),
            "{words}: size {size} of a sum of {total}"
        );

        let mut clipped: Vec<f64> = (0..n).map(|_| 5.0 * random.normal()).collect();
        let wild = clipped.clone();
        loss.clip(&mut clipped, &b);
        for i in 0..n {
            let (low, high) = loss.domain(b[i]);
            assert_eq!(clipped[i], wild[i].max(low).min(high), "{words}");
        }
    }
}

#[test]
fn the_row_wise_prox_solves_the_weighted_problem() {
    each(|words, loss, b, random| {
        let p = wide(random, -6.0, 0.0).abs();
        let tau = wide(random, -3.0, 3.0).abs();
        let w = wide(random, -6.0, 2.0);
        let mut alpha = [0.0];
        loss.prox_conjugate_rows(&[w], &[p], &[b], tau, &mut alpha);
        // p α is prox_{τ L*}(w) for L*(β) = p l*(β/p).
        let objective = |a: f64| tau * p * loss.conjugate(a, b) + 0.5 * (p * a - w).powi(2);
        let (low, high) = loss.domain(b);
        let reach = 10.0 * (w.abs() / p + b.abs() + 1.0);
        let best = least(low.max(-reach), high.min(reach), objective);
        let (first, second) = loss.conjugate_terms(alpha[0], b);
        let size = tau * p * (first.abs() + second.abs()) + 0.5 * (p * alpha[0] - w).powi(2);
        assert!(
            objective(alpha[0]) <= best + 1e-10 * size + 1e-25,
            "{words}: w {w}, p {p}, τ {tau}, b {b}: {} has {}, there is {best}",
            alpha[0],
            objective(alpha[0])
        );
    });
}
