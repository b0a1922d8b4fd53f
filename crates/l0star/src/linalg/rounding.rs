//! Constants and building blocks of rigorous rounding-error bounds.

/// Unit round-off, 2⁻⁵³.
pub const U: f64 = f64::EPSILON / 2.0;

/// `γ_j = j u / (1 - j u)`: the relative error of a sum or product of `j` rounded operations, rounded up.
#[inline]
pub fn gamma(j: usize) -> f64 {
    let ju = j as f64 * U;
    ju / (1.0 - ju) * (1.0 + 4.0 * U)
}

/// `(s, e)` with `s = fl(a + b)` and `s + e = a + b` exactly (Knuth).
#[inline]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// `(q, e)` with `q = fl(ab)` and `q + e = ab` exactly, barring underflow.
#[inline]
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let q = a * b;
    (q, a.mul_add(b, -q))
}

/// A sum kept in two doubles, with a bound of its own error.
///
/// `|value() - exact| ≤ error()`: after `m` additions the correction term has been rounded `m` times, so the error is
/// at most `u |value| + γ_m² Σ|terms|` (Ogita, Rump and Oishi 2005), here taken twice as large.
#[derive(Debug, Clone, Copy, Default)]
pub struct Doubled {
    sum: f64,
    correction: f64,
    size: f64,
    terms: usize,
}

impl Doubled {
    /// Adds one number.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let (sum, error) = two_sum(self.sum, term);
        self.sum = sum;
        self.correction += error;
        self.size += term.abs();
        self.terms += 1;
    }

    /// Adds `a b`, without losing the low half of the product.
    #[inline]
    pub fn add_product(&mut self, a: f64, b: f64) {
        let (product, low) = two_product(a, b);
        self.add(product);
        self.correction += low;
        self.terms += 1;
    }

    /// Multiplies the sum by `s`: the high part exactly, so that the error stays that of the low part.
    ///
    /// With `|correction| ≤ γ_m size` the two roundings of the new correction cost at most `3u γ_m |s| size`, as much as
    /// three more terms.
    #[inline]
    pub fn scale(&mut self, s: f64) {
        let (product, low) = two_product(self.sum, s);
        self.sum = product;
        self.correction = self.correction * s + low;
        self.size *= s.abs();
        self.terms += 3;
    }

    /// The sum, rounded once.
    #[inline]
    pub fn value(&self) -> f64 {
        self.sum + self.correction
    }

    /// A bound of `|value() - exact sum|`.
    #[inline]
    pub fn error(&self) -> f64 {
        let gamma = gamma(self.terms + 4);
        2.0 * (U * self.value().abs() + gamma * gamma * self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_sum_survives_cancellation() {
        let mut sum = Doubled::default();
        sum.add(1e16);
        sum.add(1.0);
        sum.add(-1e16);
        sum.add_product(1.0 + f64::EPSILON, 1.0 - f64::EPSILON);
        assert!((sum.value() - 2.0).abs() <= sum.error());
        assert!(sum.error() < 1e-12);
    }

    #[test]
    fn a_scaled_sum_keeps_its_low_part() {
        let mut sum = Doubled::default();
        sum.add(1e16);
        sum.add(1.25);
        sum.add(-1e16);
        sum.scale(3.0);
        assert_eq!(sum.value(), 3.75);
        sum.add(-3.75);
        assert!(sum.value().abs() <= sum.error());
    }

    #[test]
    fn gamma_is_above_its_formula() {
        assert!(gamma(100) >= 100.0 * U);
        assert!(gamma(100) < 100.1 * U);
    }
}
