//! Double-double arithmetic: numbers with about 32 digits, for the few places where a double is not enough.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::rounding::{two_product, two_sum};

/// The sum of two doubles that do not overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Double {
    pub high: f64,
    pub low: f64,
}

impl Double {
    pub(crate) fn new(high: f64, low: f64) -> Self {
        let (high, low) = two_sum(high, low);
        Self { high, low }
    }

    fn sqrt(self) -> Self {
        let root = self.high.sqrt();
        if root == 0.0 {
            return Self::default();
        }
        let rest = self - Self::from(root) * Self::from(root);
        Self::new(root, rest.high / (2.0 * root))
    }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Neg for Double {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            high: -self.high,
            low: -self.low,
        }
    }
}

impl Add for Double {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.high, other.high);
        let (low, rest) = two_sum(self.low, other.low);
        let (sum, error) = two_sum(sum, error + low);
        Self::new(sum, error + rest)
    }
}

impl Sub for Double {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let (product, error) = two_product(self.high, other.high);
        Self::new(
            product,
            error + self.high * other.low + self.low * other.high,
        )
    }
}

impl Div for Double {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::from(second);
        Self::new(first, second) + Self::from(rest.high / other.high)
    }
}

/// Solves `Hx = v` in place by Cholesky's factorisation; `entries` are the rows of H up to the diagonal. `false` where H is
/// not positive definite in this precision.
pub(crate) fn solve(entries: &mut [Vec<Double>], v: &mut [Double]) -> bool {
    let size = v.len();
    for r in 0..size {
        for c in 0..=r {
            let mut sum = entries[r][c];
            for i in 0..c {
                sum = sum - entries[r][i] * entries[c][i];
            }
            if c < r {
                entries[r][c] = sum / entries[c][c];
            } else if sum.high > 0.0 && sum.high.is_finite() {
                entries[r][r] = sum.sqrt();
            } else {
                return false;
            }
        }
    }
    for r in 0..size {
        for c in 0..r {
            v[r] = v[r] - entries[r][c] * v[c];
        }
        v[r] = v[r] / entries[r][r];
    }
    for r in (0..size).rev() {
        for c in r + 1..size {
            v[r] = v[r] - entries[c][r] * v[c];
        }
        v[r] = v[r] / entries[r][r];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_keeps_thirty_digits() {
        let third = Double::from(1.0) / Double::from(3.0);
        let one = third * Double::from(3.0);
        assert!((one - Double::from(1.0)).high.abs() < 1e-31);
        let root = Double::from(2.0).sqrt();
        assert!((root * root - Double::from(2.0)).high.abs() < 1e-31);
        let sum = Double::from(1e20) + Double::from(1.0) - Double::from(1e20);
        assert_eq!(sum.high, 1.0);
    }

    /// A matrix that is not positive definite in doubles.
    #[test]
    fn nearly_singular_systems_are_solved() {
        let tiny = 1e-20;
        let diagonal = Double::from(1.0) + Double::from(tiny);
        let mut entries = vec![vec![diagonal], vec![Double::from(1.0), diagonal]];
        // (1, 0) times the matrix.
        let mut v = [diagonal, Double::from(1.0)];
        assert!(solve(&mut entries, &mut v));
        assert!(
            (v[0].high - 1.0).abs() < 1e-9 && v[1].high.abs() < 1e-9,
            "{v:?}"
        );
        let mut singular = vec![vec![Double::from(1.0)], vec![Double::from(1.0); 2]];
        assert!(!solve(&mut singular, &mut [Double::from(1.0); 2]));
    }
}
