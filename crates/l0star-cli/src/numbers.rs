//! Parsers of numeric options, each with its range.

use std::num::NonZeroUsize;

pub fn count(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "it must be a whole number, zero or more".into())
}

pub fn node_count(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "it must be a whole number, zero or more".into())
}

pub fn one_or_more(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "it must be a whole number, one or more".into())
}

pub fn share(text: &str) -> Result<f64, String> {
    in_range(text, |value| (0.0..1.0).contains(&value))
        .ok_or_else(|| "it must be a number, zero or more and less than 1".into())
}

pub fn positive(text: &str) -> Result<f64, String> {
    in_range(text, |value| value > 0.0)
        .ok_or_else(|| "it must be a finite number greater than 0".into())
}

pub fn non_negative(text: &str) -> Result<f64, String> {
    in_range(text, |value| value >= 0.0)
        .ok_or_else(|| "it must be a finite number, zero or more".into())
}

fn in_range(text: &str, allowed: impl FnOnce(f64) -> bool) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (value.is_finite() && allowed(value)).then_some(value)
}
