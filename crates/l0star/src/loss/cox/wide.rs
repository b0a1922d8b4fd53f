//! Numbers with a wide range of exponents: exponentials of predictions that lie thousands apart, and their sums.

use std::ops::{Add, Div, Mul};

use crate::linalg::double::Double;

/// Exponents are multiples of this: most predictions share one.
const UNIT: i32 = 256;
/// `ln 2^UNIT`.
const LN_UNIT: f64 = UNIT as f64 * std::f64::consts::LN_2;
/// Number of units beyond which a summand has no effect.
const FAR: i32 = 4;

/// The mantissas that sums are made of: doubles, or pairs of them.
pub(super) trait Part:
    Copy
    + Default
    + From<f64>
    + Add<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + std::fmt::Debug
{
    /// `self · 2^by`, exact unless it underflows.
    fn shifted(self, by: i32) -> Self;

    /// Returns the nearest double.
    fn near(self) -> f64;
}

impl Part for f64 {
    fn shifted(self, by: i32) -> Self {
        let half = by / 2;
        self * 2f64.powi(half) * 2f64.powi(by - half)
    }

    fn near(self) -> f64 {
        self
    }
}

impl Part for Double {
    fn shifted(self, by: i32) -> Self {
        self.times_power(by)
    }

    fn near(self) -> f64 {
        self.high
    }
}

/// `part · 2^(256 units)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wide<T> {
    part: T,
    units: i32,
}

impl<T: Part> Default for Wide<T> {
    /// Zero, with an exponent below all others.
    fn default() -> Self {
        Self {
            part: T::default(),
            units: -(1 << 20),
        }
    }
}

impl<T: Part> From<f64> for Wide<T> {
    fn from(value: f64) -> Self {
        Self {
            part: value.into(),
            units: 0,
        }
    }
}

impl Wide<f64> {
    /// `scale · e^(high + low)`, `|low|` at most half a unit in the last place of `high`.
    ///
    /// With its real logarithm ζ, `|ζ - ln scale - high - low| ≤ 8u`: two units in the last place of an exponential, three
    /// products, and what `units · ln 2` leaves.
    pub(super) fn exp(high: f64, low: f64, scale: f64) -> Self {
        let units = (high / LN_UNIT).round();
        if units == 0.0 {
            let part = high.exp();
            return Self {
                part: scale * (part + part * low),
                units: 0,
            };
        }
        // Twice the range of any finite sum of products.
        let units = units.clamp(-1e6, 1e6);
        let rest = Double::new(high, low) - Double::from(units * f64::from(UNIT)) * Double::LN_2;
        let part = rest.high.exp();
        Self {
            part: scale * (part + part * rest.low),
            units: units as i32,
        }
    }

    pub(super) fn widened<T: Part>(self) -> Wide<T> {
        Wide {
            part: self.part.into(),
            units: self.units,
        }
    }
}

impl<T: Part> Wide<T> {
    /// Returns the value, which is 0 or infinite beyond the range of floats.
    pub(super) fn value(self) -> T {
        match self.units {
            0 => self.part,
            units => self.part.shifted(UNIT * units.clamp(-8, 8)),
        }
    }

    /// `(ln |self|, size)`: the logarithm, within `8u · size + 2u`.
    pub(super) fn ln(self) -> (f64, f64) {
        let (own, power) = (self.part.near().ln(), LN_UNIT * f64::from(self.units));
        (own + power, own.abs() + power.abs())
    }

    pub(super) fn times(self, factor: T) -> Self {
        Self {
            part: self.part * factor,
            units: self.units,
        }
    }
}

impl<T: Part> Add for Wide<T> {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        if self.units == other.units {
            return Self {
                part: self.part + other.part,
                units: self.units,
            };
        }
        let (large, small) = if self.units > other.units {
            (self, other)
        } else {
            (other, self)
        };
        let apart = large.units - small.units;
        if apart >= FAR {
            return large;
        }
        Self {
            part: large.part + small.part.shifted(-UNIT * apart),
            units: large.units,
        }
    }
}

impl<T: Part> Mul for Wide<T> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            part: self.part * other.part,
            units: self.units + other.units,
        }
    }
}

impl<T: Part> Div for Wide<T> {
    type Output = Self;

    #[inline]
    fn div(self, other: Self) -> Self {
        Self {
            part: self.part / other.part,
            units: self.units - other.units,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_quotients_of_exponentials_that_no_float_holds() {
        for base in [-3000.0, -5.0, 0.0, 88.9, 1234.5] {
            let terms = [base, base + 1.0, base - 2.0, base - 400.0];
            let sum = terms
                .iter()
                .map(|z| Wide::exp(*z, 0.0, 1.0).widened::<Double>())
                .fold(Wide::default(), Add::add);
            let expected = base + (1.0 + 1f64.exp() + (-2f64).exp()).ln();
            assert!((sum.ln().0 - expected).abs() <= 1e-15 * (10.0 + expected.abs()));
            let share = Wide::exp(base, 0.0, 1.0).widened() / sum;
            let expected = 1.0 / (1.0 + 1f64.exp() + (-2f64).exp());
            assert!((share.value().high - expected).abs() < 1e-15);
        }
        // Summands that have no effect are dropped, whichever comes first.
        let (large, small) = (
            Wide::<f64>::exp(2000.0, 0.0, 1.0),
            Wide::exp(-2000.0, 0.0, 1.0),
        );
        assert_eq!((large + small).ln(), (small + large).ln());
        assert_eq!((small / large).value(), 0.0);
        assert_eq!((Wide::<f64>::default() + Wide::from(2.0)).value(), 2.0);
    }

    #[test]
    fn the_logarithm_of_an_exponential_is_where_it_began() {
        for i in -4000..4000 {
            let z = f64::from(i) * 0.7309;
            let log = Double::ln(Wide::exp(z, 1e-18, 1.0).part);
            let units = (z / LN_UNIT).round();
            let found = log + Double::from(units * f64::from(UNIT)) * Double::LN_2;
            let error = (found - Double::new(z, 1e-18)).high.abs();
            assert!(error <= 8.0 * f64::EPSILON / 2.0, "{z}: {error}");
        }
    }
}
