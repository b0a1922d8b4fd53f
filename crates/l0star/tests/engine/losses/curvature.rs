//! Slopes and curvatures are derivatives, and the bounds of both hold.

use l0star::loss::ResponseKind;

use super::draws::{DRAWS, all, each, prediction, some_responses, wide};

#[test]
fn the_slope_is_the_derivative_of_the_value() {
    each(|words, loss, b, random| {
        let z = loss.anchor(b).1 + wide(random, -3.0, 1.5);
        let h = 1e-5;
        // One-sided secants enclose the slope of a convex function, even at kinks.
        let left = (loss.value(z, b) - loss.value(z - h, b)) / h;
        let right = (loss.value(z + h, b) - loss.value(z, b)) / h;
        let slope = loss.slope(z, b);
        let rounding = 1e-15 * (1.0 + loss.value(z, b) + slope.abs() * (1.0 + b.abs())) / h;
        assert!(
            (left - rounding..=right + rounding).contains(&slope),
            "{words}: l'({z}, {b}) = {slope}, secants {left}, {right}"
        );
        assert!(
            right - left <= loss.smoothness() * h + 2.0 * rounding,
            "{words}: the secants {left}, {right} at ({z}, {b}) are further apart than the smoothness allows"
        );
    });
}

#[test]
fn the_curvature_is_the_derivative_of_the_slope_away_from_bends() {
    let mut compared = 0;
    each(|words, loss, b, random| {
        let z = loss.anchor(b).1 + wide(random, -3.0, 1.5);
        let h = 1e-5;
        let curvature = loss.curvature(z, b);
        let near = [z - h, z + h].map(|z| loss.curvature(z, b));
        if near.iter().any(|c| (c - curvature).abs() > 0.1) {
            return;
        }
        compared += 1;
        let secant = (loss.slope(z + h, b) - loss.slope(z - h, b)) / (2.0 * h);
        let rounding = 1e-15 * (1.0 + b.abs() + z.abs() + curvature) / h;
        assert!(
            (secant - curvature).abs() <= 1e-8 * curvature.max(1.0) + rounding,
            "{words}: l''({z}, {b}) = {curvature}, secant {secant}"
        );
    });
    assert!(compared > 8 * DRAWS);
}

#[test]
fn least_curvatures_and_secants_are_lower_bounds() {
    each(|words, loss, b, random| {
        let z = loss.anchor(b).1 + wide(random, -3.0, 1.5);
        let radius = wide(random, -3.0, 1.0).abs();
        let error = 1e-3 * radius;
        let least = loss.least_curvature(z - radius, z + radius, b);
        let secant = loss.secant(z, b, radius);
        let near = loss.secant_near(z, b, radius, error);
        assert!(near <= secant, "{words}: {near} near z, {secant} at z");
        // The height of l above its tangent, and its rounding error.
        let above = |z: f64, t: f64| {
            let (here, there) = (loss.value(z, b), loss.value(z + t, b));
            let line = loss.slope(z, b) * t;
            let steepest = loss.slope(z, b).abs().max(loss.slope(z + t, b).abs());
            let size = here + there + line.abs() + steepest * (z.abs() + b.abs());
            ((there - here - line) / (t * t), 4e-15 * size / (t * t))
        };
        for step in [-1.0, -0.7, -0.3, 0.3, 0.7, 1.0] {
            let curvature = loss.curvature(z + step * radius, b);
            assert!(
                least <= curvature,
                "{words}: at least {least} within {radius} of {z}, b = {b}, but {curvature} at {step}"
            );
            for (bound, z) in [(secant, z), (near, z - error), (near, z + error)] {
                let (rise, rounding) = above(z, step * radius);
                assert!(
                    bound <= rise + rounding,
                    "{words}: secant {bound} within {radius} of {z}, b = {b}, but {rise} at {step}"
                );
            }
        }
        if loss.name() == "logistic" && z.abs() < 30.0 {
            let (rise, rounding) = above(z, radius);
            let least = rise.min(above(z, -radius).0);
            assert!(
                secant >= 0.99 * least - rounding,
                "{words}: secant {secant} within {radius} of {z}, but {least} is the least"
            );
        }
    });
}

#[test]
fn the_smoothness_is_the_least_bound_of_the_curvature() {
    each(|words, loss, b, random| {
        let z = prediction(random, loss, b);
        let curvature = loss.curvature(z, b);
        assert!(
            (0.0..=loss.smoothness() * (1.0 + 1e-15)).contains(&curvature),
            "{words}: l''({z}, {b}) = {curvature}"
        );
        let other = prediction(random, loss, b);
        let change = (loss.slope(z, b) - loss.slope(other, b)).abs();
        let rounding = 1e-15 * (z.abs() + other.abs() + b.abs() + 1.0);
        assert!(
            change <= loss.smoothness() * (z - other).abs() + rounding,
            "{words}: the slope moves by {change} between {z} and {other}"
        );
    });
    for (words, loss) in all() {
        // Each loss has its largest curvature at the response or at the class boundary.
        let at = match loss.response() {
            ResponseKind::Real => 1.0,
            ResponseKind::Label => 0.0,
            _ => continue,
        };
        assert_eq!(loss.curvature(at, 1.0), loss.smoothness(), "{words}");
    }
}

#[test]
fn slopes_never_decrease_and_never_leave_the_domain() {
    each(|words, loss, b, random| {
        let (x, y) = (prediction(random, loss, b), prediction(random, loss, b));
        let (x, y) = (x.min(y), x.max(y));
        let slopes = [x, y].map(|z| loss.slope(z, b));
        assert!(slopes[0] <= slopes[1], "{words}: {slopes:?} at {x}, {y}");
        let (low, high) = loss.domain(b);
        for z in [x, y, -1e300, 1e300, 0.0, b] {
            let slope = loss.slope(z, b);
            assert!(
                slope.is_finite() && (low..=high).contains(&slope),
                "{words}: l'({z}, {b}) = {slope}"
            );
            if z.abs() < 1e100 {
                assert!(loss.conjugate(slope, b).is_finite(), "{words}: {slope}");
            }
        }
    });
}

#[test]
fn enormous_predictions_overflow_only_where_the_loss_itself_does() {
    for (words, loss) in all() {
        for b in some_responses(&*loss) {
            for z in [-1e300, 1e300] {
                let value = loss.value(z, b);
                let squares = match loss.name() {
                    "quadratic" => true,
                    "squared-hinge" => z * b < 0.0,
                    "poisson" => z > 0.0,
                    "gamma" => z < 0.0,
                    _ => false,
                };
                if squares {
                    assert_eq!(value, f64::INFINITY, "{words} at ({z}, {b})");
                } else {
                    assert!(
                        (0.0..=1e304).contains(&value),
                        "{words} at ({z}, {b}): {value}"
                    );
                }
                let curvature = loss.curvature(z, b);
                let most = if loss.has_log_link() { 1e80 } else { 1.0 };
                assert!(
                    (0.0..=most).contains(&curvature),
                    "{words} at ({z}, {b}): {curvature}"
                );
                for t in [1e-8, 1.0, 1e8] {
                    let y = loss.prox(z, b, t);
                    assert!(y.is_finite(), "{words}: prox({z}, {b}, {t}) = {y}");
                    let alpha = loss.prox_conjugate(z, b, t);
                    let (low, high) = loss.domain(b);
                    assert!(
                        (low..=high).contains(&alpha) && alpha.is_finite(),
                        "{words}: prox_conjugate({z}, {b}, {t}) = {alpha}"
                    );
                }
            }
        }
    }
}

#[test]
fn reach_bounds_every_prediction_of_at_most_that_loss() {
    each(|words, loss, b, random| {
        let z = prediction(random, loss, b);
        let (mass, centre) = loss.anchor(b);
        // A count of 0 gives no information.
        if mass == 0.0 {
            return;
        }
        let value = loss.value(z, b) / mass;
        let distance = match loss.response() {
            ResponseKind::Label => -b * z,
            _ => (z - centre).abs(),
        };
        if !value.is_finite() {
            return;
        }
        for v in [value, value * (1.0 + random.uniform())] {
            let reach = loss.reach(v);
            assert!(
                distance <= reach * (1.0 + 1e-14),
                "{words}: l({z}, {b}) = {value} <= {v}, but reach {reach}"
            );
            assert!(reach.is_finite(), "{words}: reach({v}) = {reach}");
        }
    });
}
