//! Quotients of dyadic numbers, which are the solutions of linear equations.

use std::cmp::Ordering;

use crate::Dyadic;

/// A fraction; the denominator is positive.
#[derive(Debug, Clone)]
pub struct Exact {
    numerator: Dyadic,
    denominator: Dyadic,
}

impl Exact {
    /// Converts a float exactly.
    pub fn of(value: f64) -> Self {
        Dyadic::of(value).into()
    }

    pub(crate) fn new(numerator: Dyadic, denominator: Dyadic) -> Self {
        match denominator.sign() {
            Ordering::Less => Self {
                numerator: -&numerator,
                denominator: -&denominator,
            },
            Ordering::Equal => panic!("a fraction over 0"),
            Ordering::Greater => Self {
                numerator,
                denominator,
            },
        }
    }

    /// Computes `self + other`.
    pub fn plus(&self, other: &Self) -> Self {
        let cross =
            &(&self.numerator * &other.denominator) + &(&other.numerator * &self.denominator);
        Self::new(cross, &self.denominator * &other.denominator)
    }

    /// Computes `self - other`.
    pub fn minus(&self, other: &Self) -> Self {
        let cross =
            &(&self.numerator * &other.denominator) - &(&other.numerator * &self.denominator);
        Self::new(cross, &self.denominator * &other.denominator)
    }

    /// Computes `self · other`.
    pub fn times(&self, other: &Self) -> Self {
        Self::new(
            &self.numerator * &other.numerator,
            &self.denominator * &other.denominator,
        )
    }

    /// Whether `self <= other`.
    pub fn at_most(&self, other: &Self) -> bool {
        self <= other
    }

    /// Returns a nearby float.
    pub fn value(&self) -> f64 {
        self.numerator.over(&self.denominator, 64).value()
    }
}

impl From<Dyadic> for Exact {
    fn from(value: Dyadic) -> Self {
        Self {
            numerator: value,
            denominator: Dyadic::of(1.0),
        }
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Exact {}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, others) = (
            &self.numerator * &other.denominator,
            &other.numerator * &self.denominator,
        );
        own.cmp(&others)
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_not_rounded() {
        let third = Exact::new(Dyadic::of(-1.0), Dyadic::of(-3.0));
        let sum = third.plus(&third).plus(&third);
        assert_eq!(sum, Exact::of(1.0));
        assert_eq!(third.value(), 1.0 / 3.0);
        assert!(Exact::of(1.0 / 3.0) < third && third < Exact::of((1.0f64 / 3.0).next_up()));
        assert_eq!(sum.minus(&third).times(&Exact::of(3.0)), Exact::of(2.0));
        assert!(Exact::of(0.0).at_most(&third));
    }
}
