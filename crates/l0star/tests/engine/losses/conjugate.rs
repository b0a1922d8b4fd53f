//! The conjugate is the supremum of its definition.

use super::draws::{DRAWS, all, dual, each, least, prediction, some_responses, wide};

#[test]
fn the_conjugate_is_the_supremum_of_its_definition() {
    each(|words, loss, b, random| {
        let alpha = dual(random, loss, b);
        let supremum = -least(-1e5, 1e5, |z| loss.value(z, b) - alpha * z);
        let conjugate = loss.conjugate(alpha, b);
        let size = 1.0 + conjugate.abs() + (alpha * b).abs();
        assert!(
            (conjugate - supremum).abs() <= 1e-9 * size,
            "{words}: l*({alpha}, {b}) = {conjugate}, the supremum is {supremum}"
        );
    });
}

#[test]
fn outside_its_domain_the_conjugate_is_infinite_and_so_is_the_supremum() {
    let mut outside = 0;
    each(|words, loss, b, random| {
        let (low, high) = loss.domain(b);
        let step = wide(random, -3.0, 3.0).abs();
        for alpha in [low - step, high + step] {
            if !alpha.is_finite() {
                continue;
            }
            outside += 1;
            assert_eq!(loss.conjugate(alpha, b), f64::INFINITY, "{words}: {alpha}");
            let z = alpha.signum() * 1e9;
            let far = alpha * z - loss.value(z, b);
            let near = alpha * 0.5 * z - loss.value(0.5 * z, b);
            // The supremum is infinite: the difference still grows as fast as step · z out there.
            assert!(
                far - near >= 0.4 * step * 1e9,
                "{words}: {near} then {far} at α = {alpha}, b = {b}"
            );
            let (total, size) = loss.dual_total(&[1.0], &[alpha], &[b], &[]);
            assert_eq!((total, size), (f64::INFINITY, f64::INFINITY), "{words}");
        }
        assert!(
            loss.conjugate(f64::NAN, b) == f64::INFINITY,
            "{words}: NaN passes"
        );
    });
    // Huber and logistic are bounded on both sides, the squared hinge on one.
    assert!(outside as u64 > 10 * DRAWS);
}

#[test]
fn fenchel_young_is_an_equality_at_the_slope_and_an_inequality_elsewhere() {
    each(|words, loss, b, random| {
        let z = prediction(random, loss, b);
        let alpha = loss.slope(z, b);
        let (value, conjugate) = (loss.value(z, b), loss.conjugate(alpha, b));
        let (first, second) = loss.conjugate_terms(alpha, b);
        let size = value + first.abs() + second.abs() + (alpha * z).abs();
        assert!(
            (value + conjugate - alpha * z).abs() <= 1e-13 * size,
            "{words}: l({z}, {b}) + l*({alpha}) - αz = {}",
            value + conjugate - alpha * z
        );
        let other = dual(random, loss, b);
        let conjugate = loss.conjugate(other, b);
        let size = value + conjugate.abs() + (other * z).abs() + (other * b).abs() + other.powi(2);
        assert!(
            value + conjugate - other * z >= -1e-13 * size,
            "{words}: l({z}, {b}) + l*({other}) < αz"
        );
    });
}

#[test]
fn the_slope_of_the_conjugate_inverts_the_slope_in_the_interior() {
    each(|words, loss, b, random| {
        let (low, high) = loss.domain(b);
        let (low, high) = (low.max(-1e3), high.min(1e3));
        let alpha = low + (high - low) * (1e-6 + (1.0 - 2e-6) * random.uniform());
        let z = loss.conjugate_slope(alpha, b);
        let back = loss.slope(z, b);
        // A logarithm with many digits before the point has fewer after it.
        let digits = if loss.has_log_link() { 1e-14 } else { 1e-15 };
        assert!(
            (back - alpha).abs() <= 1e-13 * alpha.abs() + digits * (1.0 + b.abs()),
            "{words}: {alpha} → {z} → {back}"
        );
    });
}

#[test]
fn the_slope_of_the_conjugate_is_finite_at_the_ends_of_the_domain() {
    for (words, loss) in all() {
        for b in some_responses(&*loss) {
            let (low, high) = loss.domain(b);
            for alpha in [low, high].into_iter().filter(|end| end.is_finite()) {
                let z = loss.conjugate_slope(alpha, b);
                assert!(z.is_finite(), "{words}: {z} at {alpha}");
                assert!(
                    (loss.slope(z, b) - alpha).abs() <= 1e-14,
                    "{words}: {z} at {alpha}"
                );
            }
        }
    }
}

/// `l*(α + wt) ≤ l*(α) + z wt + ½wt²` wherever the parabola is defined, including its ends, and the slope stays in the
/// domain.
#[test]
fn parabolas_are_above_the_conjugate() {
    let mut steep = 0;
    each(|words, loss, b, random| {
        let z = prediction(random, loss, b);
        let alpha = loss.slope(z, b);
        let (w, low, high) = loss.parabola(alpha, b);
        assert!(
            w >= 0.0 && low <= 0.0 && high >= 0.0,
            "{words}: {w} {low} {high}"
        );
        if w == 0.0 {
            return;
        }
        steep += 1;
        assert!(w <= loss.smoothness(), "{words}: {w}");
        let ends = [low, high].map(|end| end.clamp(-1e3, 1e3));
        let inner = (0..8).map(|_| ends[0] + (ends[1] - ends[0]) * random.uniform());
        for t in inner.chain(ends) {
            let there = loss.conjugate(alpha + w * t, b);
            let parabola = loss.conjugate(alpha, b) + z * w * t + 0.5 * w * t * t;
            let sizes = there.abs() + (z * w * t).abs() + 0.5 * w * t * t;
            let rounding = 1e-13 * (sizes + loss.conjugate(alpha, b).abs());
            assert!(
                there <= parabola + rounding,
                "{words}: {t}: {there} {parabola}"
            );
        }
    });
    assert!(steep > 1000, "{steep}");
}
