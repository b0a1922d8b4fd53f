//! Losses with a log link: the prediction is the logarithm of the expected response.
//!
//! With `c = ln b`, `r = ±(z - c)` and a mass `m ≥ 0`, both are the same function of `r`:
//!
//! ```text
//! l(z, b) = m φ(r),   φ(r) = e^r - 1 - r ≥ 0,   s = m e^r:   l' = ±(s - m),   l'' = s,
//! l*(α, b) = m ψ(±α/m) + αc,   ψ(u) = (1 + u) ln(1 + u) - u ≥ 0   for ±α ≥ -m.
//! ```
//!
//! That is half of the deviance: the negative log-likelihood less that of a perfect fit, which depends on the data alone.
//! Poisson: `m = b`, `r = z - c`; a count of 0 has `l = e^z`. Gamma: `m = 1`, `r = c - z`.
//!
//! The curvature s is not bounded. Where s would be above `e^180`, the loss is continued by a straight line. The
//! result is convex and no larger, so that a bound of it is a bound of the loss itself, and nothing overflows.
//! `docs/numerics.md`, section 19, derives the rounding errors.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::{Loss, ResponseKind};
use crate::linalg::double::Double;
use crate::linalg::rounding::{U, two_product};

/// Logarithm of s from which the exponential is continued by its tangent.
const CAP: f64 = 180.0;
/// Slopes whose s is smaller than this do not determine their prediction …
const LEAST: f64 = 1e-290;
/// … which is the case for predictions whose logarithm of s is below this.
const LEAST_LOG: f64 = -660.0;
/// A factor that covers a few roundings.
const SAFE: f64 = 1.0 - 1e-12;

/// `2/k!` from k = 2 on. The remainder after the last is below 1e-19 of the first where `|r| ≤ 1`.
const RISE: [f64; 19] = {
    let (mut coefficients, mut k) = ([1.0; 19], 1);
    while k < 19 {
        coefficients[k] = coefficients[k - 1] / (k + 2) as f64;
        k += 1;
    }
    coefficients
};
/// `1/3`, `1/5`, …: the remainder after the last is below 1e-18 of the first where `|v| ≤ 1/5`.
const FALL: [f64; 12] = {
    let (mut coefficients, mut k) = ([0.0; 12], 0);
    while k < 12 {
        coefficients[k] = 1.0 / (2 * k + 3) as f64;
        k += 1;
    }
    coefficients
};

/// A family of responses whose loss has a log link.
pub trait Family: Debug + Default + Copy + Send + Sync + 'static {
    /// Name of the loss.
    const NAME: &'static str;
    /// Kind of responses of the loss.
    const RESPONSE: ResponseKind;
    /// The sign of `z` in `r`.
    const SIGN: f64;
    /// The cost of a row, in words.
    const FORMULA: &'static str;

    /// The mass m of a response.
    fn mass(b: f64) -> f64;

    /// `s = m e^r`; it may be infinite.
    fn expected(z: f64, b: f64) -> f64;
}

/// Counts: `e^z - bz + b ln b - b`, `b ≥ 0`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts;

impl Family for Counts {
    const NAME: &'static str = "poisson";
    const RESPONSE: ResponseKind = ResponseKind::Count;
    const SIGN: f64 = 1.0;
    const FORMULA: &'static str = "half the Poisson deviance of the count, the prediction being the logarithm of the expected count";

    #[inline]
    fn mass(b: f64) -> f64 {
        b
    }

    #[inline]
    fn expected(z: f64, _b: f64) -> f64 {
        z.exp()
    }
}

/// Amounts: `b e^{-z} + z - ln b - 1`, `b > 0`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Amounts;

impl Family for Amounts {
    const NAME: &'static str = "gamma";
    const RESPONSE: ResponseKind = ResponseKind::Positive;
    const SIGN: f64 = -1.0;
    const FORMULA: &'static str = "half the gamma deviance of the response, the prediction being the logarithm of its expectation";

    #[inline]
    fn mass(_b: f64) -> f64 {
        1.0
    }

    #[inline]
    fn expected(z: f64, b: f64) -> f64 {
        // 0·∞ would be NaN; both factors are finite or the product is large.
        let e = (-z).exp();
        if e == 0.0 { 0.0 } else { b * e }
    }
}

/// Loss with a log link for a [`Family`] of responses.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exponential<F>(PhantomData<F>);

/// `l(z, b) = e^z - bz + b ln b - b`, `b ≥ 0`: Poisson regression with a log link.
pub type Poisson = Exponential<Counts>;

/// `l(z, b) = b e^{-z} + z - ln b - 1`, `b > 0`: gamma regression with a log link.
pub type Gamma = Exponential<Amounts>;

/// `φ(r) = e^r - 1 - r` for `r ≤ 2`, to a relative 12u.
#[inline]
fn rise(r: f64) -> f64 {
    if r.abs() >= 1.0 {
        return r.exp_m1() - r;
    }
    let terms = RISE.iter().rev();
    0.5 * r * r * terms.fold(0.0, |sum, coefficient| sum * r + coefficient)
}

/// `ψ(u) = (1 + u) ln(1 + u) - u`, to 14u where `-1/3 ≤ u ≤ 1/2`.
///
/// Elsewhere the result is at most `20u(|ψ| + |u|)` above ψ; it is never below by more than 14u. `s = 1 + u` is given
/// too, because it has more digits than u where it is small.
#[inline]
fn fall(u: f64, s: f64) -> f64 {
    if !(-1.0 / 3.0..=0.5).contains(&u) {
        let first = if s > 0.0 { s * s.ln() } else { 0.0 };
        return (first - u) + 10.0 * U * (first.abs() + u.abs());
    }
    // With v = u/(2 + u): ψ = 2(v² + (1 + v)(v³/3 + v⁵/5 + …))/(1 - v), |v| ≤ 1/5.
    let v = u / (2.0 + u);
    let square = v * v;
    let terms = FALL.iter().rev();
    let sum = terms.fold(0.0, |sum, coefficient| sum * square + coefficient);
    2.0 * square * (1.0 + (1.0 + v) * v * sum) / (1.0 - v)
}

/// The root w of `w + t e^w = a`, `t > 0`, from Lambert's function of `e^L`, `L = a + ln t`.
fn balance(a: f64, t: f64) -> f64 {
    let log = a + t.ln();
    if log > 1.0 {
        // W + ln W = L, and t e^w = W.
        let mut w = log - log.ln();
        for _ in 0..50 {
            let next = w * (1.0 + log - w.ln()) / (1.0 + w);
            let change = (next - w).abs();
            w = next;
            if change <= 1e-9 * w {
                break;
            }
        }
        return w.ln() - t.ln();
    }
    // W e^W = e^L ≤ e.
    let x = log.exp();
    let mut w = x / (1.0 + x);
    for _ in 0..50 {
        let next = (w * w + x * (-w).exp()) / (1.0 + w);
        let change = (next - w).abs();
        w = next;
        if change <= 1e-9 * w {
            break;
        }
    }
    a - w
}

impl<F: Family> Exponential<F> {
    /// `c = ln b`; 0 for a count of 0, whose mass is 0.
    #[inline]
    fn centre(b: f64) -> f64 {
        if b > 0.0 { b.ln() } else { 0.0 }
    }

    /// `r = ±(z - c)`.
    #[inline]
    fn way(z: f64, c: f64) -> f64 {
        F::SIGN * (z - c)
    }

    /// `ln s`, before the cap.
    #[inline]
    fn logarithm(z: f64, b: f64) -> f64 {
        // m e^r is e^z for counts and b e^{-z} for amounts.
        if F::SIGN > 0.0 {
            z
        } else {
            Self::centre(b) - z
        }
    }

    /// s, capped at `e^CAP`.
    #[inline]
    fn bend(z: f64, b: f64) -> f64 {
        F::expected(z, b).min(CAP.exp())
    }

    /// s as a function of the slope, exact up to one rounding.
    #[inline]
    fn bend_of(alpha: f64, b: f64) -> f64 {
        F::mass(b) + F::SIGN * alpha
    }
}

impl<F: Family> Loss for Exponential<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn response(&self) -> ResponseKind {
        F::RESPONSE
    }

    fn is_likelihood(&self) -> bool {
        true
    }

    fn has_log_link(&self) -> bool {
        true
    }

    fn formula(&self) -> String {
        F::FORMULA.to_owned()
    }

    #[inline]
    fn value(&self, z: f64, b: f64) -> f64 {
        let (m, log) = (F::mass(b), Self::logarithm(z, b));
        if m > 0.0 {
            let r = Self::way(z, Self::centre(b));
            if r <= 2.0 {
                return m * rise(r);
            }
            if log <= CAP {
                return F::expected(z, b) - m * (1.0 + r);
            }
            return CAP.exp() * (1.0 + (log - CAP)) - m * (1.0 + r);
        }
        if log <= CAP {
            F::expected(z, b)
        } else {
            CAP.exp() * (1.0 + (log - CAP))
        }
    }

    /// The loss itself, without a cap, with `ln b` in two doubles: the residual is rounded once, however large b is.
    fn value_near(&self, high: f64, low: f64, b: f64) -> f64 {
        let m = F::mass(b);
        let here = F::expected(high, b);
        if here == f64::INFINITY {
            return here;
        }
        let moved = here + here * (F::SIGN * low).exp_m1();
        if m == 0.0 {
            return moved;
        }
        let c = Double::ln(b);
        let r = F::SIGN * ((high - c.high) + (low - c.low));
        if r <= 2.0 {
            m * rise(r)
        } else {
            moved - m * (1.0 + r)
        }
    }

    #[inline]
    fn slope(&self, z: f64, b: f64) -> f64 {
        F::SIGN * (Self::bend(z, b) - F::mass(b))
    }

    /// Beyond the cap the curvature keeps its value there, so that a step can lead back.
    #[inline]
    fn curvature(&self, z: f64, b: f64) -> f64 {
        Self::bend(z, b)
    }

    /// Infinite: the curvature has no bound.
    fn smoothness(&self) -> f64 {
        f64::INFINITY
    }

    /// The mean curvature if predictions are as large as the responses.
    fn usual_curvature(&self, p: &[f64], b: &[f64]) -> f64 {
        let rows = p.iter().zip(b);
        let (sum, all) = rows.fold((0.0, 0.0), |(sum, all), (p, b)| {
            (sum + p * F::mass(*b), all + p)
        });
        if sum > 0.0 { sum / all } else { 1.0 }
    }

    fn most_curvature(&self, low: f64, high: f64, b: f64) -> f64 {
        let steepest = if F::SIGN > 0.0 { high } else { low };
        Self::bend(steepest, b) * (1.0 + 1e-12)
    }

    #[inline]
    fn domain(&self, b: f64) -> (f64, f64) {
        if F::SIGN > 0.0 {
            (-F::mass(b), f64::INFINITY)
        } else {
            (f64::NEG_INFINITY, F::mass(b))
        }
    }

    /// `m ψ(±α/m)` and `αc`; for a count of 0 `α ln α` and `-α`.
    #[inline]
    fn conjugate_terms(&self, alpha: f64, b: f64) -> (f64, f64) {
        let m = F::mass(b);
        let s = Self::bend_of(alpha, b);
        if m == 0.0 {
            let first = if s > 0.0 { s * s.ln() } else { 0.0 };
            return (first, -s);
        }
        (
            m * fall(F::SIGN * alpha / m, s / m),
            alpha * Self::centre(b),
        )
    }

    /// With `ln b` in two doubles. A count of 0 has no term in c.
    fn conjugate_rest(&self, alpha: f64, b: f64) -> Option<f64> {
        if F::mass(b) == 0.0 {
            return None;
        }
        let c = Double::ln(b);
        Some(two_product(alpha, c.high).1 + alpha * c.low)
    }

    /// `ln s` for counts, `c - ln s` for amounts.
    #[inline]
    fn conjugate_slope(&self, alpha: f64, b: f64) -> f64 {
        let log = Self::bend_of(alpha, b).max(LEAST).ln();
        if F::SIGN > 0.0 {
            log
        } else {
            Self::centre(b) - log
        }
    }

    /// With `w = ln s`: `w + t e^w = ±z + …`.
    fn prox(&self, z: f64, b: f64, t: f64) -> f64 {
        let log = Self::logarithm(z, b);
        let a = log + t * F::mass(b);
        let w = balance(a, t);
        let w = if w > CAP || w.is_nan() {
            (a - t * CAP.exp()).max(CAP)
        } else {
            w
        };
        if F::SIGN > 0.0 {
            w
        } else {
            Self::centre(b) - w
        }
    }

    /// `m φ(r) ≥ m(|r| - 1)`: per unit of mass.
    fn reach(&self, v: f64) -> f64 {
        v + 1.0
    }

    #[inline]
    fn anchor(&self, b: f64) -> (f64, f64) {
        (F::mass(b), Self::centre(b))
    }

    fn best_constant(&self, p: &[f64], b: &[f64], offset: &[f64]) -> Option<f64> {
        let at = |i: usize| offset.get(i).copied().unwrap_or(0.0);
        // Σ p s = Σ p m at the best constant; sums of exponentials are taken relative to the largest.
        let logs = || (0..b.len()).map(|i| Self::logarithm(at(i), b[i]));
        let largest = logs().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs()
            .zip(p)
            .map(|(log, p)| p * (log - largest).exp())
            .sum();
        let mass: f64 = p.iter().zip(b).map(|(p, b)| p * F::mass(*b)).sum();
        let constant = F::SIGN * (mass.ln() - sum.ln() - largest);
        constant.is_finite().then_some(constant)
    }

    fn noise(&self, z: f64, b: f64) -> Option<(f64, f64)> {
        let s = Self::bend(z, b);
        let alpha = (s - F::mass(b)).abs();
        Some((alpha * Self::centre(b).abs() + s + alpha, s))
    }

    fn can_lift(&self) -> bool {
        true
    }

    /// s is monotone, so it is smallest at one end. The straight line has no curvature.
    fn least_curvature(&self, low: f64, high: f64, b: f64) -> f64 {
        let (flattest, steepest) = if F::SIGN > 0.0 {
            (low, high)
        } else {
            (high, low)
        };
        if Self::logarithm(steepest, b) < CAP {
            Self::bend(flattest, b) * SAFE
        } else {
            0.0
        }
    }

    /// The quotient is `s φ(τ)/τ²` with `τ = ±t`, which grows with τ: it is smallest at `τ = -radius`.
    fn secant(&self, z: f64, b: f64, radius: f64) -> f64 {
        let log = Self::logarithm(z, b);
        if !(log + radius < CAP && log > LEAST_LOG) {
            return 0.0;
        }
        let least = if radius < 1e-3 {
            0.5 - radius / 6.0
        } else {
            rise(-radius) / (radius * radius)
        };
        (Self::bend(z, b) * least * SAFE).max(0.0)
    }

    /// s changes by a factor of at least `e^{-error}`.
    fn secant_near(&self, z: f64, b: f64, radius: f64, error: f64) -> f64 {
        (self.secant(z, b, radius + error) * (1.0 - error)).max(0.0)
    }

    /// The divergence of the conjugate is `s ψ(η)` with `η = ±wt/s ≥ -1`, and `ψ(η) ≤ η²`: half of the curvature is
    /// valid for every slope of the domain. Where s is small compared with m, a slope has too few of its digits.
    #[inline]
    fn parabola(&self, alpha: f64, b: f64) -> (f64, f64, f64) {
        const SAFE: f64 = 1.0 - 1e-9;
        let s = Self::bend_of(alpha, b);
        if !(s > LEAST && s >= 0.125 * F::mass(b) && s < 1e70) {
            return (0.0, f64::NEG_INFINITY, f64::INFINITY);
        }
        let way = 2.0 * SAFE;
        let (low, high) = if F::SIGN > 0.0 {
            (-way, f64::INFINITY)
        } else {
            (f64::NEG_INFINITY, way)
        };
        (0.5 * s * SAFE, low, high)
    }
}
