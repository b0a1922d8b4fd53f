//! `exp` and `log` in fixed point, each with an error of less than `2^-DIGITS` ([`error`]).
//!
//! A number is a whole number of units `2^-WORK`. Every product, quotient and shift rounds down, by less than one unit.

use num_bigint::BigInt;

use crate::Dyadic;

/// Digits that count: what is computed here errs by less than `2^-DIGITS`.
const DIGITS: u64 = 512;
/// Digits that are carried.
const WORK: u64 = DIGITS + 64;
/// Beyond this `exp(-m)` is less than `2^-DIGITS`.
const FAR: f64 = 400.0;

/// An upper bound of the error of every function here.
pub(crate) fn error() -> Dyadic {
    Dyadic::of(1.0).shifted(-(DIGITS as i64))
}

fn one() -> BigInt {
    BigInt::from(1) << WORK
}

fn number(fixed: BigInt) -> Dyadic {
    Dyadic::new(fixed, -(WORK as i64))
}

fn product(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) >> WORK
}

/// `exp(-m)` for m ≥ 0, in units.
///
/// With `r = m 2^-25 < 2^-16` the series is cut after 40 terms, `r^41 < 2^-656`; its terms round by less than 2 units each, so
/// that it errs by less than 2^7. Squaring a number of at most 1 doubles its error and adds a unit: after 25 times that is less
/// than 2^33 units, far less than the 2^64 that are allowed.
fn exp_below(m: &Dyadic) -> BigInt {
    if *m > Dyadic::of(FAR) {
        return BigInt::ZERO;
    }
    let r = m.fixed(WORK) >> 25;
    let (mut sum, mut term) = (one(), one());
    for i in 1..=40 {
        term = -product(&term, &r) / i;
        sum += &term;
    }
    for _ in 0..25 {
        sum = product(&sum, &sum);
    }
    sum
}

/// `log(1 + e)` for 0 ≤ e ≤ 1, in units.
///
/// `2 atanh(u)` with `u = e/(2 + e) ≤ 1/3`, cut after 190 terms: the rest is below `3^-381 < 2^-600`. Terms round by less than
/// 2 units each.
fn log_above(e: &BigInt) -> BigInt {
    let u = (e << WORK) / (e + 2 * one());
    let square = product(&u, &u);
    let (mut sum, mut power) = (u.clone(), u);
    for i in 1..190 {
        power = product(&power, &square);
        sum += &power / (2 * i + 1);
    }
    2 * sum
}

/// `log(1 + exp(-m))`, the logistic loss at a margin.
pub(crate) fn logistic(m: &Dyadic) -> Dyadic {
    // log is 1-Lipschitz here: both errors together are still far below the one allowed.
    let rest = number(log_above(&exp_below(&m.abs())));
    if *m < Dyadic::zero() { &rest - m } else { rest }
}

/// `1/(1 + exp(m))`: minus the slope of the logistic loss, and its curvature `q(1 - q)`.
pub(crate) fn wrong(m: &Dyadic) -> (Dyadic, Dyadic) {
    let e = exp_below(&m.abs());
    let all = &e + one();
    let less = (&e << WORK) / &all;
    let more = one() - &less;
    let curvature = number(product(&less, &more));
    if *m < Dyadic::zero() {
        (number(more), curvature)
    } else {
        (number(less), curvature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `|value - digits| < 1e-49` for a number between 0 and 10 that is given by 50 decimals.
    fn agrees(value: &Dyadic, digits: &str) {
        let all: BigInt = digits.replace('.', "").parse().unwrap();
        let decimals = digits.len() - digits.find('.').unwrap() - 1;
        let power = BigInt::from(10).pow(decimals as u32);
        let exact = number((all << WORK) / power);
        let error = (value - &exact).abs().value();
        assert!(error < 1e-49, "{digits}: {error:e}");
    }

    #[test]
    fn known_values_to_fifty_digits() {
        let of = Dyadic::of;
        agrees(
            &number(exp_below(&of(1.0))),
            "0.36787944117144232159552377016146086744581113103177",
        );
        agrees(
            &number(exp_below(&of(0.0))),
            "1.00000000000000000000000000000000000000000000000000",
        );
        agrees(
            &logistic(&of(0.0)),
            "0.69314718055994530941723212145817656807550013436026",
        );
        agrees(
            &logistic(&of(1.0)),
            "0.31326168751822283404899549496785564191528008567034",
        );
        agrees(
            &logistic(&of(-1.0)),
            "1.31326168751822283404899549496785564191528008567034",
        );
        agrees(
            &wrong(&of(0.0)).0,
            "0.50000000000000000000000000000000000000000000000000",
        );
    }

    /// `exp(-a) exp(-b) = exp(-a - b)`, to all digits.
    #[test]
    fn exponentials_multiply() {
        for (a, b) in [(0.3, 1.7), (20.0, 41.5), (100.0, 250.0), (1e-30, 3.0)] {
            let of = |v: f64| number(exp_below(&Dyadic::of(v)));
            let sum = &Dyadic::of(a) + &Dyadic::of(b);
            let error = &(&of(a) * &of(b)) - &number(exp_below(&sum));
            assert!(error.abs() < error_of_three(), "{a} {b}");
            assert!((of(a).value() / (-a).exp() - 1.0).abs() < 1e-14);
        }
    }

    fn error_of_three() -> Dyadic {
        &error() * &Dyadic::of(3.0)
    }

    #[test]
    fn both_signs_of_a_margin_agree() {
        for m in [0.0, 0.7, 30.0, 399.0, 401.0, 1e5] {
            let (right, left) = (Dyadic::of(m), Dyadic::of(-m));
            // l(-m) - l(m) = m, q(m) + q(-m) = 1.
            let rise = &logistic(&left) - &logistic(&right);
            assert!((&rise - &right).abs() <= error_of_three());
            let both = &wrong(&left).0 + &wrong(&right).0;
            assert!((&both - &Dyadic::of(1.0)).abs() <= error_of_three());
            let double = wrong(&right).0.value();
            let float = 1.0 / (1.0 + m.exp());
            assert!((double - float).abs() <= 1e-15 * float + 1e-170, "{m}");
        }
    }
}
