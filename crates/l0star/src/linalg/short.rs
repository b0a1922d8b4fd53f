//! Numbers in four bytes, for warm starts.

use serde::{Deserialize, Serialize};

/// The upper half of a double: its whole range and twenty binary digits. Unlike a single-precision number, it neither
/// overflows nor underflows where a double does not, so that the unit of the response does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Short(u32);

impl Short {
    /// Rounds a double to the nearest short number (ties away from 0).
    #[inline]
    pub(crate) fn new(value: f64) -> Self {
        let half = 1 << 31;
        Self((value.to_bits().saturating_add(half) >> 32) as u32)
    }

    #[inline]
    pub(crate) fn value(self) -> f64 {
        f64::from_bits(u64::from(self.0) << 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_digits_in_every_unit() {
        for value in [1.0, -1.7, std::f64::consts::PI, 0.999_999_999, 1e-3] {
            for exponent in [-900, -130, 0, 130, 900] {
                let unit = 2f64.powi(exponent);
                let short = Short::new(value * unit).value();
                assert!((short / unit - value).abs() <= value.abs() * 2f64.powi(-21));
                assert_eq!(short, Short::new(value).value() * unit);
            }
        }
        assert_eq!(Short::new(0.0).value(), 0.0);
        assert!(!Short::new(f64::INFINITY).value().is_finite());
        assert!(!Short::new(f64::MAX).value().is_finite());
    }
}
