//! The least objective of a set of columns with the quadratic loss, in exact arithmetic. It shares no code with the engine.
//!
//! Floats are whole numbers times powers of two. With the columns A (the ones of an intercept among them), row weights p and
//! ridges λ, the minimum is `½ det [[M, c], [cᵀ, s]] / det M`, `M = Aᵀ diag(p) A + diag(λ)`, `c = Aᵀ diag(p) y`,
//! `s = yᵀ diag(p) y`: two determinants of fractions.

use num_bigint::{BigInt, BigUint, Sign};

/// A fraction of whole numbers; the denominator positive.
#[derive(Debug, Clone)]
pub struct Exact {
    numerator: BigInt,
    denominator: BigInt,
}

/// `value = mantissa 2^exponent`.
fn parts(value: f64) -> (i64, i64) {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i64, (bits & ((1 << 52) - 1)) as i64);
    assert!(field < 0x7ff, "{value} is not finite");
    let (mantissa, exponent) = match field {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, field - 1075),
    };
    (if value < 0.0 { -mantissa } else { mantissa }, exponent)
}

impl Exact {
    pub fn of(value: f64) -> Self {
        let (mantissa, exponent) = parts(value);
        let power = BigInt::from(1) << exponent.unsigned_abs();
        match exponent >= 0 {
            true => Self::new(BigInt::from(mantissa) * power, BigInt::from(1)),
            false => Self::new(BigInt::from(mantissa), power),
        }
    }

    fn new(numerator: BigInt, denominator: BigInt) -> Self {
        // Common powers of two: most of what there is to cancel.
        let zeros = |n: &BigInt| n.trailing_zeros().unwrap_or(u64::MAX);
        let common = zeros(&numerator).min(zeros(&denominator));
        let (numerator, denominator) = (numerator >> common, denominator >> common);
        match denominator.sign() {
            Sign::Minus => Self {
                numerator: -numerator,
                denominator: -denominator,
            },
            _ => Self {
                numerator,
                denominator,
            },
        }
    }

    pub fn minus(&self, other: &Self) -> Self {
        let cross = &self.numerator * &other.denominator - &other.numerator * &self.denominator;
        Self::new(cross, &self.denominator * &other.denominator)
    }

    pub fn times(&self, other: &Self) -> Self {
        Self::new(
            &self.numerator * &other.numerator,
            &self.denominator * &other.denominator,
        )
    }

    pub fn plus(&self, other: &Self) -> Self {
        let cross = &self.numerator * &other.denominator + &other.numerator * &self.denominator;
        Self::new(cross, &self.denominator * &other.denominator)
    }

    pub fn divided_by(&self, other: &Self) -> Self {
        Self::new(
            &self.numerator * &other.denominator,
            &self.denominator * &other.numerator,
        )
    }

    pub fn at_most(&self, other: &Self) -> bool {
        self.minus(other).numerator.sign() != Sign::Plus
    }

    /// To about 60 digits of binary.
    pub fn value(&self) -> f64 {
        let size = |n: &BigInt| n.magnitude().bits() as i64;
        let shift = 62 - (size(&self.numerator) - size(&self.denominator));
        let power = |by: i64| BigInt::from(1) << by.max(0).unsigned_abs();
        let quotient: BigInt = &self.numerator * power(shift) / (&self.denominator * power(-shift));
        let digits: u64 = BigUint::try_into(quotient.magnitude().clone()).unwrap();
        let sign = if quotient.sign() == Sign::Minus {
            -1.0
        } else {
            1.0
        };
        sign * digits as f64
            * 2f64.powi((-shift / 2) as i32)
            * 2f64.powi((-shift + shift / 2) as i32)
    }
}

/// `Σ p u v`.
fn product(p: &[Exact], u: &[Exact], v: &[Exact]) -> Exact {
    let terms = p
        .iter()
        .zip(u)
        .zip(v)
        .map(|((p, u), v)| p.times(u).times(v));
    terms.fold(Exact::of(0.0), |sum, term| sum.plus(&term))
}

/// The determinant of a matrix of fractions, by elimination.
fn determinant(mut rows: Vec<Vec<Exact>>) -> Exact {
    let mut value = Exact::of(1.0);
    for at in 0..rows.len() {
        let is_pivot = |r: &usize| rows[*r][at].numerator.sign() != Sign::NoSign;
        let Some(pivot) = (at..rows.len()).find(is_pivot) else {
            return Exact::of(0.0);
        };
        if pivot != at {
            rows.swap(pivot, at);
            value = value.times(&Exact::of(-1.0));
        }
        value = value.times(&rows[at][at]);
        let (above, below) = rows.split_at_mut(at + 1);
        let own = &above[at];
        for row in below {
            let factor = row[at].divided_by(&own[at]);
            for (value, pivot) in row.iter_mut().zip(own).skip(at) {
                *value = value.minus(&factor.times(pivot));
            }
        }
    }
    value
}

/// The least objective over the columns given: (entries, λ), the intercept's included.
pub fn least(p: &[f64], y: &[f64], columns: &[(Vec<f64>, Exact)]) -> Exact {
    let exact = |v: &[f64]| -> Vec<Exact> { v.iter().map(|v| Exact::of(*v)).collect() };
    let (p, y) = (exact(p), exact(y));
    let a: Vec<Vec<Exact>> = columns.iter().map(|(column, _)| exact(column)).collect();
    let mut rows: Vec<Vec<Exact>> = Vec::new();
    for (i, u) in a.iter().enumerate() {
        let mut row: Vec<Exact> = a.iter().map(|v| product(&p, u, v)).collect();
        row[i] = row[i].plus(&columns[i].1);
        rows.push(row);
    }
    let inner = determinant(rows.clone());
    let c: Vec<Exact> = a.iter().map(|u| product(&p, u, &y)).collect();
    for (row, c) in rows.iter_mut().zip(&c) {
        row.push(c.clone());
    }
    let mut last = c;
    last.push(product(&p, &y, &y));
    rows.push(last);
    determinant(rows).divided_by(&inner).times(&Exact::of(0.5))
}
