//! Every loss is what its definition says, checked against plain numerical minimisation.
#![allow(missing_docs)]

mod common;

use std::sync::Arc;

use common::Random;
use l0star::loss::{self, Loss, ResponseKind};

const DRAWS: u64 = 1000;

/// Every name, Huber with corners far inside, near and far outside the draws.
fn all() -> Vec<(String, Arc<dyn Loss>)> {
    let mut losses = Vec::new();
    for name in loss::NAMES {
        let deltas: &[f64] = if *name == "huber" {
            &[1e-3, 0.1, 1.0, 1.345, 10.0, 1e3]
        } else {
            &[1.0]
        };
        for delta in deltas {
            let loss = loss::by_name(name, *delta).unwrap();
            losses.push((format!("{name} (δ {delta})"), loss));
        }
    }
    losses
}

/// A loss, a response and randomness to draw the rest from.
fn each(mut check: impl FnMut(&str, &dyn Loss, f64, &mut Random)) {
    for (words, loss) in all() {
        for seed in 0..DRAWS {
            let mut random = Random::new(seed);
            let b = match loss.response() {
                ResponseKind::Label => f64::from(i8::from(random.chance(0.5))) * 2.0 - 1.0,
                ResponseKind::Real if random.chance(0.2) => 0.0,
                ResponseKind::Real => wide(&mut random, -3.0, 3.0),
                ResponseKind::Count if random.chance(0.2) => 0.0,
                ResponseKind::Count if random.chance(0.5) => random.below(20) as f64,
                ResponseKind::Class => random.below(3) as f64,
                ResponseKind::Count | ResponseKind::Positive | ResponseKind::Time => {
                    wide(&mut random, -6.0, 6.0).abs()
                }
            };
            check(&format!("{words}, seed {seed}"), &*loss, b, &mut random);
        }
    }
}

/// Two responses that the loss can have.
fn some_responses(loss: &dyn Loss) -> [f64; 2] {
    match loss.response() {
        ResponseKind::Real | ResponseKind::Label => [-1.0, 1.0],
        ResponseKind::Count => [0.0, 3.0],
        ResponseKind::Class => [0.0, 1.0],
        ResponseKind::Positive | ResponseKind::Time => [0.5, 1.0],
    }
}

/// Either sign, the size anywhere between the powers of ten.
fn wide(random: &mut Random, low: f64, high: f64) -> f64 {
    let size = 10f64.powf(low + (high - low) * random.uniform());
    if random.chance(0.5) { size } else { -size }
}

/// Predictions of every size, and some around the response, where the loss bends.
fn prediction(random: &mut Random, loss: &dyn Loss, b: f64) -> f64 {
    let b = loss.anchor(b).1;
    match random.below(3) {
        0 => wide(random, -8.0, 6.0),
        1 => b + wide(random, -8.0, 2.0),
        _ => 3.0 * random.normal(),
    }
}

/// The least value of a convex function over `[low, high]`, by ternary search.
fn least(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let mut best = f(low).min(f(high));
    for _ in 0..300 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        let (at_left, at_right) = (f(left), f(right));
        best = best.min(at_left).min(at_right);
        if at_left <= at_right {
            high = right;
        } else {
            low = left;
        }
    }
    best
}

/// The root of a non-decreasing function, by bisection.
fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..400 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        if f(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// A slope in the domain: its ends, and what lies between (up to a finite size where the domain is unbounded).
fn dual(random: &mut Random, loss: &dyn Loss, b: f64) -> f64 {
    let (low, high) = loss.domain(b);
    let (low, high) = (low.max(-50.0), high.min(50.0));
    match random.below(6) {
        0 => low,
        1 => high,
        _ => low + (high - low) * random.uniform(),
    }
}

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
            // Beyond any finite value: it still grows as fast as step · z out there.
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
fn the_prox_minimises_its_objective() {
    each(|words, loss, b, random| {
        let z = prediction(random, loss, b);
        let t = wide(random, -8.0, 8.0).abs();
        let y = loss.prox(z, b, t);
        let objective = |y: f64| t * loss.value(y, b) + 0.5 * (y - z) * (y - z);
        let reach = (1.0 + t) * (z.abs() + b.abs() + 1.0);
        let best = least(z - reach, z + reach, objective);
        let rounding = 4e-16 * (z.abs() + b.abs() + 1.0);
        assert!(
            objective(y) <= best * (1.0 + 1e-10) + 4.0 * (1.0 + t) * rounding * rounding,
            "{words}: prox({z}, {b}, {t}) = {y} has {}, there is {best}",
            objective(y)
        );
    });
}

#[test]
fn the_prox_is_the_point_where_its_derivative_vanishes() {
    each(|words, loss, b, random| {
        let z = prediction(random, loss, b);
        let t = wide(random, -8.0, 8.0).abs();
        let y = loss.prox(z, b, t);
        let reach = (1.0 + t) * (z.abs() + b.abs() + 1.0);
        let exact = root(z - reach, z + reach, |y| t * loss.slope(y, b) + (y - z));
        // Where a bend amplifies the rounding of z - b, the derivative of the root itself is at most 1.
        let tolerance = 1e-8 * (1.0 + exact.abs()) + 1e-14 * (z.abs() + b.abs());
        assert!(
            (y - exact).abs() <= tolerance,
            "{words}: prox({z}, {b}, {t}) = {y}, bisection says {exact}"
        );
    });
}

#[test]
fn the_prox_of_the_conjugate_minimises_its_objective_inside_the_domain() {
    each(|words, loss, b, random| {
        let v = wide(random, -8.0, 6.0);
        let t = wide(random, -8.0, 8.0).abs();
        let alpha = loss.prox_conjugate(v, b, t);
        let (low, high) = loss.domain(b);
        assert!(
            (low..=high).contains(&alpha),
            "{words}: {alpha} outside the domain"
        );
        let objective = |alpha: f64| t * loss.conjugate(alpha, b) + 0.5 * (alpha - v) * (alpha - v);
        let reach = 10.0 * (v.abs() + b.abs() + 1.0);
        let best = least(low.max(-reach), high.min(reach), objective);
        let (first, second) = loss.conjugate_terms(alpha, b);
        let size = t * (first.abs() + second.abs()) + 0.5 * (alpha - v) * (alpha - v);
        let units = if loss.has_log_link() { 2e-15 } else { 4e-16 };
        let rounding = units * (alpha.abs() + b.abs() + 1.0);
        assert!(
            objective(alpha) <= best + 1e-10 * size + 4.0 * (1.0 + t) * rounding * rounding,
            "{words}: prox_conjugate({v}, {b}, {t}) = {alpha} has {}, there is {best}",
            objective(alpha)
        );
    });
}

#[test]
fn the_prox_of_the_conjugate_is_the_slope_of_the_moreau_point() {
    each(|words, loss, b, random| {
        let v = wide(random, -8.0, 6.0);
        let t = wide(random, -8.0, 8.0).abs();
        let alpha = loss.prox_conjugate(v, b, t);
        // t z + l'(z) = v, α = l'(z).
        let (low, high) = loss.domain(b);
        let bounded = low.abs().max(high.abs());
        let widest = if bounded.is_finite() { bounded } else { 0.0 };
        let reach = (v.abs() + widest + 1.0) / t + b.abs() + 1.0;
        let z = root(-reach, reach, |z| t * z + loss.slope(z, b) - v);
        let exact = loss.slope(z, b);
        let tolerance = 1e-8 * exact.abs() + 1e-14 * (1.0 + b.abs() + z.abs().min(v.abs()));
        assert!(
            (alpha - exact).abs() <= tolerance,
            "{words}: prox_conjugate({v}, {b}, {t}) = {alpha}, bisection says {exact}"
        );
    });
}

#[test]
fn moreaus_identity_holds() {
    each(|words, loss, b, random| {
        let v = wide(random, -3.0, 3.0);
        let t = wide(random, -3.0, 3.0).abs();
        let alpha = loss.prox_conjugate(v, b, t);
        let y = loss.prox(v / t, b, 1.0 / t);
        let size = v.abs() + t * (y.abs() + b.abs());
        assert!(
            (alpha - (v - t * y)).abs() <= 1e-9 * (t + size),
            "{words}: prox_conjugate({v}, {b}, {t}) = {alpha}, v - t prox = {}",
            v - t * y
        );
    });
}

#[test]
fn the_slope_is_the_derivative_of_the_value() {
    each(|words, loss, b, random| {
        let z = loss.anchor(b).1 + wide(random, -3.0, 1.5);
        let h = 1e-5;
        // One-sided secants enclose the slope of a convex function, bends included.
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
        // l above its tangent, and the rounding of that.
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
        // Where each loss bends most: at the response, at the class boundary.
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
        // A count of 0 says nothing.
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

#[test]
fn the_slope_of_the_conjugate_inverts_the_slope_in_the_interior() {
    each(|words, loss, b, random| {
        let (low, high) = loss.domain(b);
        let (low, high) = (low.max(-1e3), high.min(1e3));
        let alpha = low + (high - low) * (1e-6 + (1.0 - 2e-6) * random.uniform());
        let z = loss.conjugate_slope(alpha, b);
        let back = loss.slope(z, b);
        // A logarithm of many digits before the point has fewer behind it.
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

/// `l*(α + wt) ≤ l*(α) + z wt + ½wt²` wherever the parabola reaches, its ends included, and the slope stays in the domain.
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
