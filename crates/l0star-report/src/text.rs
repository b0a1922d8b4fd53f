//! Numbers and names as they stand in a text.

/// A name as it may stand in a table: short, without control characters.
pub fn clip(name: &str, longest: usize) -> String {
    let mut shown: String = name
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if let Some((end, _)) = shown.char_indices().nth(longest) {
        let last = shown[..end].char_indices().next_back();
        shown.truncate(last.map_or(0, |(start, _)| start));
        shown.push('…');
    }
    shown
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

/// How many percent of the whole a part is: 0 for nothing, whatever the whole.
pub fn percent(part: f64, whole: f64) -> f64 {
    if part == 0.0 {
        return 0.0;
    }
    100.0 * part / whole
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
    fn names_are_clipped_to_whole_characters() {
        assert_eq!(clip("short", 8), "short");
        assert_eq!(clip("exactly8", 8), "exactly8");
        assert_eq!(clip("much too long", 8), "much to…");
        assert_eq!(clip("ééééé", 3), "éé…");
        assert_eq!(clip("a\tb", 8), "a b");
    }
}
