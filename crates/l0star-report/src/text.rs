//! Numbers and names as they appear in a text.

pub use l0star_data::text::printable;

use crate::width::cut;

/// Formats a name for a message: [`printable`], in up to `longest` terminal columns.
pub fn clip(name: &str, longest: usize) -> String {
    cut(&printable(name), longest)
}

/// Returns the decimal exponent of a number.
pub fn exponent(value: f64) -> i32 {
    let text = format!("{value:e}");
    text.split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0)
}

/// Power of ten from which numbers are written with an exponent.
const LARGE: i32 = 7;

/// Formats a number to this many significant digits, in scientific notation if it is very small or very large.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let precision = digits - 1;
    let rounded = format!("{value:.precision$e}");
    let power = exponent(rounded.parse().unwrap_or(value));
    if !(-5..LARGE.max(digits as i32)).contains(&power) {
        return rounded;
    }
    let decimals = (precision as i32 - power).max(0) as usize;
    format!("{value:.decimals$}")
}

/// Formats a lower bound to this many significant digits, rounded down so that it stays a lower bound.
pub fn at_least(bound: f64, digits: usize) -> String {
    let text = significant(bound, digits);
    match text.parse() {
        Ok::<f64, _>(rounded) if rounded > bound => {
            let unit = 10f64.powi(exponent(bound) - digits as i32 + 1);
            significant(bound - 0.5 * unit, digits)
        }
        _ => text,
    }
}

/// Returns a part as a share of the whole; 0 for an empty part, whatever the whole.
pub fn share(part: f64, whole: f64) -> f64 {
    if part == 0.0 {
        return 0.0;
    }
    part / whole
}

/// Formats a share in percent to three digits, without the percent sign.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    in_percent(percent, 3)
}

/// Formats a share in percent to two digits, rounded up, so that "at most" stays true.
pub fn percent_up(share: f64) -> String {
    // The rounding error of the division by the unit is no reason to round up.
    rounded(100.0 * share, |units| (units * (1.0 - f64::EPSILON)).ceil())
}

/// Formats a share in percent to two digits, rounded down, so that "has reached" stays true.
pub fn percent_down(share: f64) -> String {
    rounded(100.0 * share, |units| {
        (units * (1.0 + f64::EPSILON)).floor()
    })
}

fn rounded(percent: f64, round: fn(f64) -> f64) -> String {
    if percent == 0.0 || !percent.is_finite() {
        return percent.to_string();
    }
    let unit = 10f64.powi(exponent(percent) - 1);
    in_percent(round(percent / unit) * unit, 2)
}

/// Formats a percentage: without an exponent from 0.01 to 10,000 %, with one outside this range.
fn in_percent(percent: f64, digits: usize) -> String {
    if percent == 0.0 || !percent.is_finite() {
        return percent.to_string();
    }
    let precision = digits - 1;
    let rounded = format!("{percent:.precision$e}");
    let value: f64 = rounded.parse().unwrap_or(percent);
    if (0.01..=1e4).contains(&value.abs()) {
        let decimals = (precision as i32 - exponent(value)).max(0) as usize;
        format!("{value:.decimals$}")
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_are_kept() {
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(significant(1234.5678, 6), "1234.57");
        assert_eq!(significant(999.9999, 3), "1000");
        assert_eq!(significant(1457.7, 3), "1458");
        assert_eq!(significant(1.46e8, 3), "1.46e8");
        assert_eq!(significant(2.967405555892e-4, 10), "0.0002967405556");
        assert_eq!(significant(1.5e-9, 3), "1.50e-9");
        assert_eq!(significant(-12.0, 3), "-12.0");
    }

    #[test]
    fn lower_bounds_are_rounded_down() {
        let mut bound = 1.234_567_891_234_5e-9;
        while bound < 1e12 {
            for digits in [3, 8, 12] {
                let text = at_least(bound, digits);
                let value: f64 = text.parse().unwrap();
                let unit = 10f64.powi(exponent(bound) - digits as i32 + 1);
                assert!(
                    value <= bound && value > bound - 1.01 * unit,
                    "{bound}: {text}"
                );
            }
            bound *= 1.717;
        }
        assert_eq!(at_least(1572.99488, 8), "1572.9948");
        assert_eq!(at_least(0.0, 8), "0");
        assert_eq!(at_least(0.5, 3), "0.500");
    }

    #[test]
    fn percentages_are_rounded_to_the_side_of_the_claim() {
        assert_eq!(percent_up(0.0), "0");
        assert_eq!(percent_up(0.01234), "1.3");
        assert_eq!(percent_up(0.07), "7.0");
        assert_eq!(percent_up(0.5), "50");
        assert_eq!(percent_up(0.9653), "97");
        assert_eq!(percent_up(0.996), "100");
        assert_eq!(percent_up(1.0), "100");
        assert_eq!(percent_up(27.75), "2800");
        assert_eq!(percent_up(1.23e-12), "1.3e-10");
        assert_eq!(percent_down(0.0347), "3.4");
        assert_eq!(percent_down(0.00999), "0.99");
        assert_eq!(percent(0.123456), "12.3");
        assert_eq!(percent(27.75), "2780");
        assert_eq!(percent(f64::INFINITY), "inf");
    }

    #[test]
    fn percentages_have_no_exponent_from_a_hundredth_to_ten_thousand() {
        let mut share = 1.0000001e-4;
        while share < 99.0 {
            for text in [percent(share), percent_up(share), percent_down(share)] {
                assert!(!text.contains('e'), "{share}: {text}");
                let value: f64 = text.parse().unwrap();
                assert!(
                    (value - 100.0 * share).abs() <= 11.0 * share,
                    "{share}: {text}"
                );
            }
            assert!(percent_up(share).parse::<f64>().unwrap() >= 100.0 * share * (1.0 - 1e-15));
            assert!(percent_down(share).parse::<f64>().unwrap() <= 100.0 * share * (1.0 + 1e-15));
            share *= 1.0137;
        }
        assert_eq!(percent(100.0), "10000");
        assert_eq!(percent(1e5), "1.00e7");
        assert_eq!(percent(1e-6), "1.00e-4");
        assert_eq!(percent_up(8.76e-7), "8.8e-5");
    }

    #[test]
    fn names_stay_in_their_line() {
        assert_eq!(clip("much too long", 8), "much to…");
        assert_eq!(clip("a\tb", 8), r"a\tb");
    }
}
