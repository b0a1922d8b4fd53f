//! Parsers for durations such as `30s`, sizes such as `4GB` and shares such as `1%`.

use std::time::Duration;

const DURATIONS: &[(&str, f64)] = &[
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("m", 60.0),
    ("h", 3600.0),
];

const SIZES: &[(&str, f64)] = &[
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("B", 1.0),
];

/// Parses `500ms`, `30s`, `2m`, `1h`, or a plain number of seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    scaled(text, DURATIONS)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            "it must be a duration such as 500ms, 30s, 2m or 1h (a plain number is seconds)".into()
        })
}

/// Parses `500MB`, `4GB`, `2GiB`, or a plain number of bytes.
pub fn size(text: &str) -> Result<u64, String> {
    scaled(text, SIZES)
        .filter(|bytes| (0.0..1.8e19).contains(bytes))
        .map(|bytes| bytes as u64)
        .ok_or_else(|| {
            "it must be a size such as 500MB, 4GB or 2GiB (a plain number is bytes)".into()
        })
}

/// Formats a size in a readable unit: `1.5 GB`.
pub fn words(bytes: u64) -> String {
    let (unit, size) = match bytes {
        0..10_000 => ("B", 1.0),
        10_000..1_000_000 => ("kB", 1e3),
        1_000_000..1_000_000_000 => ("MB", 1e6),
        1_000_000_000.. => ("GB", 1e9),
    };
    let number = bytes as f64 / size;
    let digits = usize::from(number < 100.0 && size > 1.0);
    format!("{number:.digits$} {unit}")
}

/// Parses `1%`, `0.5 %`, or a plain share such as 0.01; zero or more.
pub fn share(text: &str) -> Result<f64, String> {
    scaled(text, &[("%", 0.01)])
        .filter(|share| *share >= 0.0 && share.is_finite())
        .ok_or_else(|| "it must be a share such as 1% or 0.01, zero or more".into())
}

/// Parses `20%`, or a plain share such as 0.2; above 0 and below 1.
pub fn part(text: &str) -> Result<f64, String> {
    scaled(text, &[("%", 0.01)])
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "it must be a share between 0 and 1, such as 20% or 0.2".into())
}

/// Multiplies the number by the factor of its unit, whose letters may be of either case.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| {
            let at = text.len().checked_sub(unit.len())?;
            let end = text.get(at..)?;
            end.eq_ignore_ascii_case(unit)
                .then(|| (&text[..at], *factor))
        })
        .unwrap_or((text, 1.0));
    Some(number.trim_end().parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_a_unit_or_are_seconds() {
        for (text, milliseconds) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("2m", 120_000),
            ("2min", 120_000),
            ("1.5h", 5_400_000),
            ("0.25", 250),
            ("0", 0),
            ("10 S", 10_000),
        ] {
            assert_eq!(
                duration(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn sizes_take_a_unit_or_are_bytes() {
        for (text, bytes) in [
            ("4GB", 4_000_000_000),
            ("500MB", 500_000_000),
            ("1.5kb", 1500),
            ("2GiB", 2_147_483_648),
            ("1000", 1000),
            ("12B", 12),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn shares_are_percentages_or_plain_numbers() {
        for (text, value) in [("1%", 0.01), ("50 %", 0.5), ("0.25", 0.25), ("0", 0.0)] {
            assert_eq!(share(text), Ok(value), "{text}");
        }
        for text in ["", "%", "-1%", "nan", "inf", "1%%", "one"] {
            assert!(share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn parts_are_neither_nothing_nor_all() {
        assert_eq!(part("25%"), Ok(0.25));
        assert_eq!(part("0.2"), Ok(0.2));
        for text in ["0", "0%", "1", "100%", "20", "-0.1", "nan", "x"] {
            assert!(part(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "s",
            "abc",
            "-1s",
            "nan",
            "inf",
            "1e300h",
            "5 parsecs",
            "é",
            "1e20",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
        for text in ["", "GB", "-1", "nan", "inf", "1e30", "4 G B", "Ä"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
