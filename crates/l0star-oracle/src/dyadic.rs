//! Dyadic numbers: integers times powers of two. Every float is one, and so are their sums and products.

use std::cmp::Ordering;
use std::iter::Sum;
use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::{BigInt, BigUint, Sign};

/// The number `mantissa 2^exponent`; the mantissa is odd, or both are 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dyadic {
    mantissa: BigInt,
    exponent: i64,
}

impl Dyadic {
    /// Converts a float exactly.
    ///
    /// # Panics
    ///
    /// If it is not finite.
    pub fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let (field, fraction) = ((bits >> 52 & 0x7ff) as i64, (bits & ((1 << 52) - 1)) as i64);
        assert!(field < 0x7ff, "{value} is not finite");
        let (mantissa, exponent) = match field {
            0 => (fraction, -1074),
            _ => (fraction | 1 << 52, field - 1075),
        };
        let mantissa = if value < 0.0 { -mantissa } else { mantissa };
        Self::new(BigInt::from(mantissa), exponent)
    }

    pub(crate) fn new(mantissa: BigInt, exponent: i64) -> Self {
        let Some(zeros) = mantissa.trailing_zeros() else {
            return Self::zero();
        };
        Self {
            mantissa: mantissa >> zeros,
            exponent: exponent + zeros as i64,
        }
    }

    pub(crate) fn zero() -> Self {
        Self {
            mantissa: BigInt::ZERO,
            exponent: 0,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.mantissa.sign() == Sign::NoSign
    }

    pub(crate) fn sign(&self) -> Ordering {
        match self.mantissa.sign() {
            Sign::Minus => Ordering::Less,
            Sign::NoSign => Ordering::Equal,
            Sign::Plus => Ordering::Greater,
        }
    }

    pub(crate) fn abs(&self) -> Self {
        Self {
            mantissa: BigInt::from(self.mantissa.magnitude().clone()),
            exponent: self.exponent,
        }
    }

    /// Computes `self · 2^by`.
    pub(crate) fn shifted(&self, by: i64) -> Self {
        if self.is_zero() {
            Self::zero()
        } else {
            Self {
                mantissa: self.mantissa.clone(),
                exponent: self.exponent + by,
            }
        }
    }

    /// Returns the least e with `|self| < 2^e`; `None` for 0.
    pub(crate) fn size(&self) -> Option<i64> {
        (!self.is_zero()).then(|| self.mantissa.bits() as i64 + self.exponent)
    }

    /// Keeps the first `bits` binary digits, rounded down.
    pub(crate) fn rounded(&self, bits: u64) -> Self {
        let more = self.mantissa.bits().saturating_sub(bits);
        Self::new(&self.mantissa >> more, self.exponent + more as i64)
    }

    /// Returns the largest integer up to `self · 2^bits`.
    pub(crate) fn fixed(&self, bits: u64) -> BigInt {
        self.units(-(bits as i64))
    }

    /// Returns the number of units `2^exponent`, rounded down.
    fn units(&self, exponent: i64) -> BigInt {
        match self.exponent - exponent {
            by @ 0.. => &self.mantissa << by,
            by => &self.mantissa >> -by,
        }
    }

    /// Computes `self / by`, which must be dyadic.
    pub(crate) fn exactly_over(&self, by: &Self) -> Self {
        let quotient = &self.mantissa / &by.mantissa;
        debug_assert_eq!(&quotient * &by.mantissa, self.mantissa, "not a divisor");
        Self::new(quotient, self.exponent - by.exponent)
    }

    /// Computes `self / by` to `bits` binary digits, or a few more.
    pub(crate) fn over(&self, by: &Self, bits: u64) -> Self {
        let more = (bits + by.mantissa.bits()).saturating_sub(self.mantissa.bits());
        let quotient = (&self.mantissa << more) / &by.mantissa;
        Self::new(quotient, self.exponent - by.exponent - more as i64)
    }

    /// Returns a nearby float: cut to about 62 binary digits, then rounded.
    pub fn value(&self) -> f64 {
        let more = self.mantissa.bits().saturating_sub(62);
        let digits = (&self.mantissa >> more).magnitude().clone();
        let digits: u64 = BigUint::try_into(digits).expect("62 binary digits");
        let exponent = self.exponent + more as i64;
        // In two steps, because the power alone may leave the range of the product.
        let half = exponent.clamp(-2000, 2000) as i32 / 2;
        let rest = exponent.clamp(-2000, 2000) as i32 - half;
        let value = digits as f64 * 2f64.powi(half) * 2f64.powi(rest);
        match self.mantissa.sign() {
            Sign::Minus => -value,
            _ => value,
        }
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;
    fn add(self, other: Self) -> Dyadic {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let exponent = self.exponent.min(other.exponent);
        Dyadic::new(self.units(exponent) + other.units(exponent), exponent)
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;
    fn neg(self) -> Dyadic {
        Dyadic {
            mantissa: -&self.mantissa,
            exponent: self.exponent,
        }
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;
    fn sub(self, other: Self) -> Dyadic {
        self + &-other
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;
    fn mul(self, other: Self) -> Dyadic {
        // The product of odd numbers is odd.
        Dyadic {
            mantissa: &self.mantissa * &other.mantissa,
            exponent: if self.is_zero() || other.is_zero() {
                0
            } else {
                self.exponent + other.exponent
            },
        }
    }
}

impl Sum for Dyadic {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::zero(), |sum, term| &sum + &term)
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        (self - other).sign()
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_dyadic_and_come_back() {
        for value in [0.0, 1.0, -0.1, 1e300, -1e-300, 5e-324, 3e-310, f64::MAX] {
            assert_eq!(Dyadic::of(value).value(), value);
        }
    }

    #[test]
    fn sums_and_products_are_exact() {
        let (a, b) = (Dyadic::of(0.1), Dyadic::of(1e200));
        let sum = &a + &b;
        assert_eq!(&sum - &b, a);
        assert_eq!((&sum * &sum).exactly_over(&sum), sum);
        assert!(sum > b && -&sum < a);
        assert_eq!(sum.size(), b.size());
        assert!((&a * &Dyadic::zero()).is_zero());
    }

    #[test]
    fn rounding_keeps_the_leading_digits() {
        let third = Dyadic::of(1.0).over(&Dyadic::of(3.0), 200);
        let error = &(&third * &Dyadic::of(3.0)) - &Dyadic::of(1.0);
        assert!(error.abs() < Dyadic::of(1.0).shifted(-198) && !error.is_zero());
        assert_eq!(third.rounded(60).value(), 1.0 / 3.0);
        assert_eq!(Dyadic::of(-2.5).fixed(0), BigInt::from(-3));
        assert_eq!(Dyadic::of(-2.5).fixed(1), BigInt::from(-5));
    }
}
