//! Text columns as features: one indicator column per level.
//!
//! Rare levels are merged into one, and missing cells can be a level. A column of two levels needs only the
//! indicator of the second level, because it determines the first.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::column::{Cell, Dictionary, RawColumn};
use crate::error::DataError;
use crate::raw::RawTable;

/// The level into which rare levels are merged.
pub const OTHER: &str = "(other)";
/// The level of missing cells.
pub const MISSING: &str = "(missing)";
/// Upper limit on the levels of a column; a column with more is refused.
pub const MOST_LEVELS: usize = 100;

/// The distinct texts of a column, and the index of each row's text.
type Texts<'a> = (Cow<'a, [String]>, Cow<'a, [u32]>);

/// A level of a text column, and the name of its indicator column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Indicator {
    /// The name of the indicator column: `city=Paris`.
    pub name: String,
    /// The text column.
    pub column: String,
    /// The level: a text, [`OTHER`] or [`MISSING`].
    pub level: String,
    /// For [`OTHER`]: the levels that are merged into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

impl Indicator {
    fn new(column: &str, level: &str, others: Vec<String>) -> Indicator {
        Indicator {
            name: format!("{column}={level}"),
            column: column.to_owned(),
            level: level.to_owned(),
            others,
        }
    }
}

/// Returns the levels of one column that become features: all, or the second of two.
pub fn features(levels: &[Indicator]) -> &[Indicator] {
    match levels {
        [_, second] => std::slice::from_ref(second),
        all => all,
    }
}

/// Returns the level of a cell; `None` for a text that is not a level, if there is no level [`OTHER`].
fn level_of(levels: &[&Indicator], text: &str) -> Option<usize> {
    let find = |wanted: &str| levels.iter().position(|own| own.level == wanted);
    match Cell::of(text) {
        Cell::Missing => find(MISSING),
        _ => find(text).or_else(|| find(OTHER)),
    }
}

/// Returns the levels of a column from its texts with their row counts, as [`RawTable::levels`] does.
pub fn levels(
    column: &str,
    texts: impl IntoIterator<Item = (String, usize)>,
    rare: usize,
) -> Vec<Indicator> {
    let is_missing = |level: &str| Cell::of(level) == Cell::Missing || level == MISSING;
    let (mut kept, mut others) = (Vec::new(), Vec::new());
    let mut misses = false;
    for (level, count) in texts {
        if is_missing(&level) {
            misses = true;
        } else if count < rare || level == OTHER {
            others.push(level);
        } else {
            kept.push(level);
        }
    }
    others.sort_unstable();
    kept.sort_unstable();
    let mut found: Vec<Indicator> = kept
        .iter()
        .map(|level| Indicator::new(column, level, Vec::new()))
        .collect();
    if !others.is_empty() {
        found.push(Indicator::new(column, OTHER, others));
    }
    if misses {
        found.push(Indicator::new(column, MISSING, Vec::new()));
    }
    found
}

impl RawTable {
    /// Returns the levels of a text column: its texts in alphabetical order, then [`OTHER`] if some texts have
    /// fewer than `rare` rows, then [`MISSING`] if there are missing cells. [`RawTable::troubles`] checks
    /// beforehand whether the column can be a feature.
    pub fn levels(&self, column: &str, rare: usize) -> Result<Vec<Indicator>, DataError> {
        let RawColumn::Text { levels, codes } = self.column(column)? else {
            return Ok(Vec::new());
        };
        let mut counts = vec![0usize; levels.len()];
        codes.iter().for_each(|code| counts[*code as usize] += 1);
        let counts = levels.iter().cloned().zip(counts);
        Ok(self::levels(column, counts, rare))
    }

    /// Adds the indicator columns of `features`, which are levels of one column, and returns the number of rows
    /// that have none of `levels`.
    pub fn add_indicators(
        &mut self,
        column: &str,
        levels: &[&Indicator],
        features: &[&Indicator],
    ) -> Result<usize, DataError> {
        let (texts, codes) = self.texts(column)?;
        let level_of_code: Vec<Option<usize>> =
            texts.iter().map(|text| level_of(levels, text)).collect();
        let of_row: Vec<Option<usize>> = codes
            .iter()
            .map(|code| level_of_code[*code as usize])
            .collect();
        for feature in features {
            let own = levels.iter().position(|level| level.level == feature.level);
            let values = of_row.iter().map(|level| f64::from(*level == own));
            self.add(&feature.name, RawColumn::Number(values.collect()))?;
        }
        Ok(of_row.iter().filter(|level| level.is_none()).count())
    }

    /// Returns the distinct texts of a column and the index of each row's text; numbers are converted to text.
    fn texts(&self, column: &str) -> Result<Texts<'_>, DataError> {
        let column = self.column(column)?;
        if let RawColumn::Text { levels, codes } = column {
            return Ok((levels.into(), codes.into()));
        }
        let values = match column.with_gaps() {
            Some(values) => values.into(),
            None => column.numbers(self.rows()).unwrap_or_default(),
        };
        let mut dictionary = Dictionary::default();
        let codes = values
            .iter()
            .map(|value| dictionary.code(&value.to_string()));
        let codes: Vec<u32> = codes.collect();
        Ok((dictionary.levels.into(), codes.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::parse_csv;
    use std::path::Path;

    fn table(cells: &[&str]) -> RawTable {
        let text = format!(
            "n,city\n{}\n",
            cells
                .iter()
                .map(|cell| format!("1,{cell}"))
                .collect::<Vec<_>>()
                .join("\n")
        );
        parse_csv(Path::new("t.csv"), text.as_bytes()).unwrap()
    }

    fn names(levels: &[Indicator]) -> Vec<&str> {
        levels.iter().map(|level| level.level.as_str()).collect()
    }

    #[test]
    fn rare_levels_are_put_together_and_missing_ones_come_last() {
        let table = table(&["b", "a", "b", "z", "NA", "a", "(other)", "y"]);
        let levels = table.levels("city", 2).unwrap();
        assert_eq!(names(&levels), ["a", "b", OTHER, MISSING]);
        assert_eq!(levels[2].others, [OTHER, "y", "z"]);
        assert_eq!(features(&levels).len(), 4);
        let all = table.levels("city", 1).unwrap();
        assert_eq!(names(&all), ["a", "b", "y", "z", OTHER, MISSING]);
    }

    #[test]
    fn of_two_levels_the_second_is_the_feature() {
        let table = table(&["no", "yes", "no"]);
        let levels = table.levels("city", 1).unwrap();
        assert_eq!(features(&levels), &levels[1..]);
        assert_eq!(levels[1].name, "city=yes");
    }

    #[test]
    fn rows_of_no_level_are_counted() {
        let known = table(&["a", "b", "c"]).levels("city", 1).unwrap();
        let levels: Vec<&Indicator> = known.iter().collect();
        let mut new = table(&["c", "d", "a", "e"]);
        assert_eq!(new.add_indicators("city", &levels, &levels).unwrap(), 2);
        assert_eq!(new.number("city=a").unwrap(), [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(new.number("city=c").unwrap(), [1.0, 0.0, 0.0, 0.0]);
        let error = new.add_indicators("city", &levels, &levels).unwrap_err();
        assert!(error.to_string().contains("both named 'city=a'"), "{error}");
    }

    #[test]
    fn numbers_are_levels_by_how_they_are_written() {
        let known = table(&["a", "b", "2", "c"]).levels("city", 1).unwrap();
        let levels: Vec<&Indicator> = known.iter().collect();
        let mut new = table(&["2", "3"]);
        assert_eq!(new.add_indicators("city", &levels, &levels).unwrap(), 1);
        assert_eq!(new.number("city=2").unwrap(), [1.0, 0.0]);
    }
}
