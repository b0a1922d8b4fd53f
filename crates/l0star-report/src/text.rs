//! Numbers and names as they stand in a text.

use crate::width::cut;

/// A name as it may stand in a line: without control characters.
pub fn plain(name: &str) -> String {
    let shown = name.chars();
    shown
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// A name as it may stand in a message: [`plain`], and in so many columns at most.
pub fn clip(name: &str, longest: usize) -> String {
    cut(&plain(name), longest)
}

/// The decimal exponent of a number.
pub fn exponent(value: f64) -> i32 {
    let text = format!("{value:e}");
    text.split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0)
}

/// A number to so many significant digits, scientific when it is very small or very large.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let precision = digits - 1;
    let rounded = format!("{value:.precision$e}");
    let power = exponent(rounded.parse().unwrap_or(value));
    if !(-5..digits as i32).contains(&power) {
        return rounded;
    }
    let decimals = (precision as i32 - power) as usize;
    format!("{value:.decimals$}")
}

/// A share in percent to two digits, rounded up, so that "within" stays true.
pub fn percent_above(share: f64) -> String {
    let percent = 100.0 * share;
    if percent == 0.0 || !percent.is_finite() {
        return percent.to_string();
    }
    let unit = 10f64.powi(exponent(percent) - 1);
    significant((percent / unit).ceil() * unit, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_are_kept() {
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(significant(1234.5678, 6), "1234.57");
        assert_eq!(significant(999.9999, 3), "1.00e3");
        assert_eq!(significant(2.967405555892e-4, 10), "0.0002967405556");
        assert_eq!(significant(1.5e-9, 3), "1.50e-9");
        assert_eq!(significant(-12.0, 3), "-12.0");
    }

    #[test]
    fn percentages_are_rounded_up() {
        assert_eq!(percent_above(0.0), "0");
        assert_eq!(percent_above(0.01234), "1.3");
        assert_eq!(percent_above(0.5), "50");
        assert_eq!(percent_above(1.23e-12), "1.3e-10");
    }

    #[test]
    fn names_stay_in_their_line() {
        assert_eq!(clip("much too long", 8), "much to…");
        assert_eq!(clip("a\tb", 8), "a b");
    }
}
