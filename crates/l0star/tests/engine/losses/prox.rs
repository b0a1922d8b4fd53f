//! The prox of a loss and that of its conjugate minimise their objectives.

use super::draws::{each, least, prediction, root, wide};

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
        // Where a kink amplifies the rounding of z - b, the derivative of the root itself is at most 1.
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
