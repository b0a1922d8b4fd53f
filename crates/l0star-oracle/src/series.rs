//! Computes `exp` and `log` in fixed point, each with an error of less than `2^-DIGITS` ([`error`]).
//!
//! A number is an integer count of units `2^-WORK`. Every product, quotient and shift rounds
//! down, by less than one unit.

use std::sync::OnceLock;

use num_bigint::BigInt;

use crate::Dyadic;

/// The slope of a loss and its curvature.
pub(crate) struct Slope {
    pub slope: Dyadic,
    pub curvature: Dyadic,
    /// A bound on the error of the slope.
    pub error: Dyadic,
}

/// Binary digits that are correct: every result has an error below `2^-DIGITS`.
const DIGITS: u64 = 512;
/// Binary digits that are carried.
const WORK: u64 = DIGITS + 64;
/// Bound beyond which `exp(-m)` is less than `2^-DIGITS`.
const FAR: f64 = 400.0;
/// Largest size of exponents for [`exp`]; below the negative of it, the result is 0 up to its error.
const LARGEST: f64 = 2048.0;

/// Returns an upper bound on the error of every function in this module.
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

/// Computes `exp(-m)` for m ≥ 0, in units.
///
/// With `r = m 2^-25 < 2^-16`, the series is cut after 40 terms, `r^41 < 2^-656`. Its terms round by less than
/// 2 units each, so its error is below 2^7. Squaring a number of at most 1 doubles its error and adds a unit.
/// After 25 squarings, that is less than 2^33 units, far below the allowed 2^64.
fn exp_below(m: &Dyadic) -> BigInt {
    if *m > Dyadic::of(FAR) {
        return BigInt::ZERO;
    }
    exp_fixed(&m.fixed(WORK))
}

/// Computes [`exp_below`] of a number given in units.
fn exp_fixed(m: &BigInt) -> BigInt {
    let r = m >> 25;
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

/// Computes `log(1 + e)` for 0 ≤ e ≤ 1, in units.
///
/// The series of `2 atanh(u)` with `u = e/(2 + e) ≤ 1/3` is cut after 190 terms: the rest is below `3^-381 <
/// 2^-600`. Terms round by less than 2 units each.
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

/// Returns `log 2`, in units.
fn log_two() -> &'static BigInt {
    static LOG_TWO: OnceLock<BigInt> = OnceLock::new();
    LOG_TWO.get_or_init(|| log_above(&one()))
}

/// Computes `exp(z)` and a bound on its error, which is relative up to a factor of 2. z is
/// assumed to be at most 2048.
///
/// With `z = k log 2 - m`, `0 ≤ m ≤ log 2`, it is `2^k exp(-m)`. log 2 has an error of less than 2^9 units, and
/// k times that is less than 2^21: the total is still far below the allowed 2^64.
pub(crate) fn exp(z: &Dyadic) -> (Dyadic, Dyadic) {
    if -z > Dyadic::of(LARGEST) {
        return (Dyadic::zero(), Dyadic::of(1.0).shifted(-2048));
    }
    let z = z.clone().min(Dyadic::of(LARGEST)).fixed(WORK);
    let mut k = i64::try_from(&z / log_two()).expect("a small quotient");
    while log_two() * k < z {
        k += 1;
    }
    let m: BigInt = log_two() * k - z;
    (number(exp_fixed(&m)).shifted(k), error().shifted(k))
}

/// Computes `log y` for y > 0, up to [`error`]; y is assumed to be between `2^-2048` and `2^2048`.
pub(crate) fn log(y: &Dyadic) -> Dyadic {
    let mut k = y.size().expect("a positive number");
    while y.shifted(-k) < Dyadic::of(1.0) {
        k -= 1;
    }
    while y.shifted(-k) >= Dyadic::of(2.0) {
        k += 1;
    }
    let rest = y.shifted(-k).fixed(WORK) - one();
    number(log_two() * k + log_above(&rest))
}

/// Computes `log(1 + exp(-m))`, the logistic loss at a margin.
pub(crate) fn logistic(m: &Dyadic) -> Dyadic {
    // log is 1-Lipschitz here, so both errors together are still far below the allowed one.
    let rest = number(log_above(&exp_below(&m.abs())));
    if *m < Dyadic::zero() { &rest - m } else { rest }
}

/// Computes `1/(1 + exp(m))`, which is minus the slope of the logistic loss, and its curvature `q(1 - q)`.
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

    /// Checks `|value - digits| < 1e-49` for a number between 0 and 10 that is given by 50 decimals.
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

    /// Checks `exp(-a) exp(-b) = exp(-a - b)`, to all digits.
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

    #[test]
    fn logarithms_undo_exponentials() {
        for z in [0.0, 1.0, -1.0, 0.3, 41.5, -41.5, 700.0, -700.0, 1e-20] {
            let (e, within) = exp(&Dyadic::of(z));
            assert!((e.value() / f64::exp(z) - 1.0).abs() < 1e-13, "{z}");
            assert!(within < e.shifted(-400));
            // exp has a relative error of less than 2^-511, and log has an error of less than 2^-512.
            let back = &log(&e) - &Dyadic::of(z);
            assert!(back.abs() < error().shifted(3), "{z}: {}", back.value());
            let product = &(&e * &exp(&Dyadic::of(-z)).0) - &Dyadic::of(1.0);
            assert!(product.abs() < error().shifted(3), "{z}");
        }
        agrees(
            &log(&Dyadic::of(10.0)),
            "2.30258509299404568401799145468436420760110148862877",
        );
        assert!(exp(&Dyadic::of(-1e9)).0.is_zero());
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
