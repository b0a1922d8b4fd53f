//! Dates as days since 1970-01-01: which columns hold them, and in which order year, month and day are written.

use serde::{Deserialize, Serialize};

use crate::column::{Cell, RawColumn};
use crate::error::DataError;
use crate::place::clip;
use crate::raw::RawTable;

/// Order of year, month and day in a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// `2024-03-01`, with or without a time.
    Ymd,
    /// `01.03.2024`, `1/3/2024`, `1 March 2024`.
    Dmy,
    /// `3/1/2024`, `March 1, 2024`.
    Mdy,
}

/// Classification of a column of text as dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dates {
    /// At least one text is not a date.
    None,
    /// Dates in one order.
    Ordered(DateOrder),
    /// Dates that can be read in either order of day and month.
    Ambiguous,
}

const SECONDS_A_DAY: f64 = 86_400.0;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns days since 1970-01-01, with the time of day as a fraction; `None` if the text is
/// not a date in this order.
pub fn days(text: &str, order: DateOrder) -> Option<f64> {
    let text = text.trim();
    let (date, time) = split_time(text);
    let date = civil(date, order)?;
    let seconds = match time {
        Some(time) => seconds(time)?,
        None => 0.0,
    };
    // Rounded once: the number of seconds is exact.
    Some((date as f64 * SECONDS_A_DAY + seconds) / SECONDS_A_DAY)
}

/// Classifies the texts of a column, without the missing ones.
pub(crate) fn of_texts<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Dates {
    let is = |order: DateOrder| texts.clone().all(|text| days(text, order).is_some());
    if texts.clone().next().is_none() {
        return Dates::None;
    }
    if is(DateOrder::Ymd) {
        return Dates::Ordered(DateOrder::Ymd);
    }
    match (is(DateOrder::Dmy), is(DateOrder::Mdy)) {
        (false, false) => Dates::None,
        (true, false) => Dates::Ordered(DateOrder::Dmy),
        (false, true) => Dates::Ordered(DateOrder::Mdy),
        (true, true) => {
            let same = |text: &str| days(text, DateOrder::Dmy) == days(text, DateOrder::Mdy);
            if texts.clone().all(same) {
                Dates::Ordered(DateOrder::Dmy)
            } else {
                Dates::Ambiguous
            }
        }
    }
}

/// Splits a text into the date and the time of day after a `T` or a blank.
fn split_time(text: &str) -> (&str, Option<&str>) {
    let starts_time = |at: usize| {
        let rest = &text.as_bytes()[at + 1..];
        rest.len() >= 4 && rest[0].is_ascii_digit() && rest[..3].contains(&b':')
    };
    let at = text
        .char_indices()
        .filter(|(_, letter)| matches!(letter, 'T' | ' '))
        .find(|(at, _)| starts_time(*at));
    match at {
        Some((at, _)) => (text[..at].trim_end(), Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// Returns the day number of a date without a time.
fn civil(date: &str, order: DateOrder) -> Option<i64> {
    let separators = ['-', '/', '.', ' ', ','];
    let parts: Vec<&str> = date
        .split(separators)
        .filter(|part| !part.is_empty())
        .collect();
    let [first, second, third] = parts[..] else {
        return None;
    };
    let between: Vec<&str> = date
        .split(|letter: char| !separators.contains(&letter))
        .filter(|part| !part.is_empty())
        .collect();
    // A month's name settles the order: 1 March 2024, March 1, 2024.
    for (month, day) in [(second, first), (first, second)] {
        if let Some(month) = named_month(month) {
            return day_number(number(third, 4, 4)?, month, number(day, 1, 2)?);
        }
    }
    let [one, two] = between[..] else {
        return None;
    };
    if one != two || !["-", "/", "."].contains(&one) {
        return None;
    }
    match order {
        DateOrder::Ymd => day_number(
            number(first, 4, 4)?,
            number(second, 1, 2)?,
            number(third, 1, 2)?,
        ),
        DateOrder::Dmy => day_number(
            number(third, 4, 4)?,
            number(second, 1, 2)?,
            number(first, 1, 2)?,
        ),
        // Points are used only in the order day, month, year.
        DateOrder::Mdy if one == "." => None,
        DateOrder::Mdy => day_number(
            number(third, 4, 4)?,
            number(first, 1, 2)?,
            number(second, 1, 2)?,
        ),
    }
}

fn named_month(word: &str) -> Option<i64> {
    let word = word.to_ascii_lowercase();
    let is = |name: &&str| word.len() >= 3 && (**name == word || name[..3] == word);
    MONTHS.iter().position(is).map(|at| at as i64 + 1)
}

/// Parses a number of `least` to `most` digits and nothing else.
fn number(part: &str, least: usize, most: usize) -> Option<i64> {
    let is_number =
        (least..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| part.parse().ok()).flatten()
}

/// Counts days from 1970-01-01 in the Gregorian calendar. Years begin in March, so
/// that the leap day comes last.
fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap),
        _ => 31,
    };
    if year == 0 || !(1..=12).contains(&month) || !(1..=length).contains(&day) {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let from_march = (month + 9) % 12;
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Returns the seconds of `12:30` or `12:30:15.25`. With `Z` or `+02:00` after it, the
/// time is converted to UTC.
fn seconds(time: &str) -> Option<f64> {
    let time = time.trim_end();
    let (clock, zone) = if let Some(clock) = time.strip_suffix('Z').or(time.strip_suffix("UTC")) {
        (clock.trim_end(), 0)
    } else if let Some(at) = time.rfind(['+', '-']) {
        let zone: String = time[at + 1..]
            .chars()
            .filter(|letter| *letter != ':')
            .collect();
        let (hours, minutes) = match zone.len() {
            2 => (number(&zone, 2, 2)?, 0),
            4 if zone.is_ascii() => (number(&zone[..2], 2, 2)?, number(&zone[2..], 2, 2)?),
            _ => return None,
        };
        let sign = if time[at..].starts_with('-') { -1 } else { 1 };
        (time[..at].trim_end(), sign * (hours * 60 + minutes) * 60)
    } else {
        (time, 0)
    };
    let mut parts = clock.split(':');
    let hours = number(parts.next()?, 1, 2)?;
    let minutes = number(parts.next()?, 2, 2)?;
    let seconds = match parts.next() {
        None => 0.0,
        Some(part) if part.starts_with(|letter: char| letter.is_ascii_digit()) => {
            part.parse().ok()?
        }
        Some(_) => return None,
    };
    let is_time = hours < 24 && minutes < 60 && (0.0..61.0).contains(&seconds);
    let whole = (hours * 60 + minutes) * 60 - zone;
    (is_time && parts.next().is_none()).then_some(whole as f64 + seconds)
}

impl RawTable {
    /// Replaces dates by days since 1970-01-01. A column of missing cells stays as it is; any other column is
    /// refused with its first cell that is not a date.
    pub fn dates_to_days(&mut self, column: &str, order: DateOrder) -> Result<(), DataError> {
        let j = self.position(column)?;
        let refuse = |row: usize, found: &str| {
            DataError::NotANumber {
            place: self.place(j, row),
            value: clip(found),
            advice: "the model needs a date here, written as the dates that it was fitted to; correct it, or drop the row".into(),
        }
        };
        let values = match &self.columns()[j] {
            RawColumn::Text { levels, codes } => {
                let of_level = |level: &String| match Cell::of(level) {
                    Cell::Missing => Some(f64::NAN),
                    _ => days(level, order),
                };
                let of_level: Vec<Option<f64>> = levels.iter().map(of_level).collect();
                let rows = codes.iter().enumerate().map(|(row, code)| {
                    let code = *code as usize;
                    of_level[code].ok_or_else(|| refuse(row, &levels[code]))
                });
                rows.collect::<Result<Vec<f64>, DataError>>()?
            }
            RawColumn::Gaps { values, .. } if values.iter().all(|value| value.is_nan()) => {
                return Ok(());
            }
            column => {
                let numbers = column.with_gaps().unwrap_or_default();
                let row = numbers
                    .iter()
                    .position(|value| !value.is_nan())
                    .unwrap_or(0);
                let found = numbers.get(row).map_or(String::new(), f64::to_string);
                return Err(refuse(row, &found));
            }
        };
        self.replace(j, RawColumn::from_numbers(values));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DateOrder::{Dmy, Mdy, Ymd};

    #[test]
    fn dates_are_days() {
        for (text, order, expected) in [
            ("1970-01-01", Ymd, 0.0),
            ("1969-12-31", Ymd, -1.0),
            ("2024-02-29", Ymd, 19_782.0),
            ("2024/3/1", Ymd, 19_783.0),
            ("0001-01-01", Ymd, -719_162.0),
            ("9999-12-31", Ymd, 2_932_896.0),
            ("01.03.2024", Dmy, 19_783.0),
            ("1/3/2024", Dmy, 19_783.0),
            ("3/1/2024", Mdy, 19_783.0),
            ("1 March 2024", Ymd, 19_783.0),
            ("Mar 1, 2024", Dmy, 19_783.0),
            ("01-MAR-2024", Mdy, 19_783.0),
            ("2024-03-01T12:00", Ymd, 19_783.5),
            ("2024-03-01 06:00:00", Ymd, 19_783.25),
            ("2024-03-01T12:00:00Z", Ymd, 19_783.5),
            ("2024-03-01T12:00:00.000+06:00", Ymd, 19_783.25),
            ("2024-03-01 12:00:00 -0600", Ymd, 19_783.75),
        ] {
            assert_eq!(days(text, order), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "1.2.3",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-01-32",
            "24-01-02",
            "2024-01",
            "2024-01-02 25:00",
            "2024-01-02T",
            "2024--01-02",
            "a-b-c",
            "2024-01/02",
            "2024-01-02-03",
            "1 Foo 2024",
            "March 2024",
            "１-1-2024",
            "2024-01-02 12:00:xx",
            "12.5",
            "2024-01-02 1:00+é",
        ] {
            for order in [Ymd, Dmy, Mdy] {
                assert_eq!(days(text, order), None, "{text}");
            }
        }
        assert_eq!(days("03.01.2024", Mdy), None);
    }

    #[test]
    fn the_order_is_that_of_all_dates() {
        let of = |texts: &[&'static str]| of_texts(texts.iter().copied());
        assert_eq!(of(&["2024-01-02", "2023-12-31"]), Dates::Ordered(Ymd));
        assert_eq!(of(&["1/2/2024", "13/2/2024"]), Dates::Ordered(Dmy));
        assert_eq!(of(&["1/2/2024", "2/13/2024"]), Dates::Ordered(Mdy));
        assert_eq!(of(&["1/2/2024", "3/4/2024"]), Dates::Ambiguous);
        assert_eq!(of(&["1/1/2024", "4/4/2024"]), Dates::Ordered(Dmy));
        assert_eq!(of(&["13/2/2024", "2/13/2024"]), Dates::None);
        assert_eq!(of(&["2024-01-02", "unknown"]), Dates::None);
        assert_eq!(of(&[]), Dates::None);
    }
}
