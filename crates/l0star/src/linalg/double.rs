//! Double-double arithmetic: numbers with about 32 digits, for the few places where a double is not enough.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::rounding::{two_product, two_sum};

/// Relative length below which the rest of a column counts as dependent on others.
const DEPENDENT: f64 = 1e-29;

/// The sum of two doubles that do not overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Double {
    pub high: f64,
    pub low: f64,
}

impl Double {
    pub(crate) const LN_2: Self = Self {
        high: std::f64::consts::LN_2,
        low: 2.319_046_813_846_299_6e-17,
    };

    pub(crate) fn new(high: f64, low: f64) -> Self {
        let (high, low) = two_sum(high, low);
        Self { high, low }
    }

    /// `self · 2^by`, for exponents beyond those of floats too.
    pub(crate) fn times_power(self, by: i32) -> Self {
        let half = by / 2;
        let (one, other) = (2f64.powi(half), 2f64.powi(by - half));
        Self {
            high: self.high * one * other,
            low: self.low * one * other,
        }
    }

    pub(crate) fn sqrt(self) -> Self {
        let root = self.high.sqrt();
        if root == 0.0 {
            return Self::default();
        }
        let rest = self - Self::from(root) * Self::from(root);
        Self::new(root, rest.high / (2.0 * root))
    }

    /// `ln x` for `x > 0`: the nearest double, and the relative excess of x over the exponential of that.
    pub(crate) fn ln(x: f64) -> Self {
        let high = x.ln();
        let twos = (high / Self::LN_2.high).round();
        let rest = Self::from(high) - Self::from(twos) * Self::LN_2;
        // The series for 1/32 of the rest, then five squarings.
        let part = Self::new(rest.high / 32.0, rest.low / 32.0);
        let mut power = Self::from(1.0);
        for k in (1..=14).rev() {
            power = Self::from(1.0) + part * power / Self::from(f64::from(k));
        }
        for _ in 0..5 {
            power = power * power;
        }
        // Two factors, so that neither overflows.
        let half = (-0.5 * twos).trunc();
        let scaled = x * half.exp2() * (-twos - half).exp2();
        let ratio = Self::from(scaled) / power - Self::from(1.0);
        Self::new(high, ratio.high)
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

fn dot(a: &[Double], b: &[Double]) -> Double {
    let pairs = a.iter().zip(b);
    pairs.fold(Double::default(), |sum, (a, b)| sum + *a * *b)
}

/// `v ← v - s q`.
fn subtract(v: &mut [Double], s: Double, q: &[Double]) {
    v.iter_mut().zip(q).for_each(|(v, q)| *v = *v - s * *q);
}

/// The x with the smallest `|Wx - t|`, for a W given by its columns.
///
/// It uses a QR factorisation, because normal equations would square the condition number. A column in the span of
/// those before it gets the coefficient 0.
pub(crate) fn least_squares(mut columns: Vec<Vec<Double>>, mut t: Vec<Double>) -> Vec<Double> {
    let size = columns.len();
    // R by columns; a diagonal of 0 marks a column that depends on others.
    let mut r = vec![vec![Double::default(); size]; size];
    let mut x = vec![Double::default(); size];
    for c in 0..size {
        let (before, rest) = columns.split_at_mut(c);
        let own = &mut rest[0];
        let whole = dot(own, own).sqrt();
        for _ in 0..2 {
            for (k, q) in before.iter().enumerate() {
                let part = dot(q, own);
                subtract(own, part, q);
                r[c][k] = r[c][k] + part;
            }
        }
        let length = dot(own, own).sqrt();
        if length.high > DEPENDENT * whole.high {
            own.iter_mut().for_each(|v| *v = *v / length);
            r[c][c] = length;
            x[c] = dot(own, &t);
            subtract(&mut t, x[c], own);
        } else {
            own.fill(Double::default());
        }
    }
    for c in (0..size).rev() {
        if r[c][c].high == 0.0 {
            x[c] = Double::default();
            continue;
        }
        x[c] = x[c] / r[c][c];
        let (before, own) = x.split_at_mut(c);
        subtract(before, own[0], &r[c][..c]);
    }
    x
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

    #[test]
    fn logarithms_have_thirty_digits() {
        // `low` is the part that the first sixteen digits lack.
        let of = |x: f64, high: f64, low: f64| {
            let found = Double::ln(x) - Double::new(high, low);
            assert!(found.high.abs() <= 1e-30 * high.abs(), "{x}: {found:?}");
        };
        of(2.0, std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
        of(10.0, std::f64::consts::LN_10, -2.170_756_223_382_249_4e-16);
        assert_eq!(Double::ln(1.0), Double::default());
        for (x, y) in [(3.0, 7.0), (1e12, 3.0), (1e-200, 0.7), (1e100, 1e-50)] {
            let (product, _) = two_product(x, y);
            let lost = Double::new(x, 0.0) * Double::from(y) - Double::from(product);
            let sum = Double::ln(x) + Double::ln(y) - Double::ln(product);
            let rest = sum.high - lost.high / product;
            assert!(
                rest.abs() <= 1e-29 * (1.0 + x.ln().abs()),
                "{x} {y}: {rest:e}"
            );
        }
    }

    /// Columns that are the same in doubles once they are squared.
    #[test]
    fn nearly_collinear_columns_are_told_apart() {
        let column = |values: [f64; 3]| values.map(Double::from).to_vec();
        let tiny = 2f64.powi(-40);
        let columns = vec![column([1.0, 1.0, 0.0]), column([1.0, 1.0, tiny])];
        // Four times the first less the second.
        let t = column([3.0, 3.0, -tiny]);
        let x = least_squares(columns.clone(), t);
        assert!(
            (x[0].high - 4.0).abs() < 1e-6 && (x[1].high + 1.0).abs() < 1e-6,
            "{x:?}"
        );
        // A copy gets the coefficient 0.
        let same = vec![columns[0].clone(), columns[0].clone()];
        let x = least_squares(same, column([2.0, 2.0, 0.0]));
        assert!((x[0].high - 2.0).abs() < 1e-12 && x[1].high == 0.0, "{x:?}");
    }
}
