//! [`Reading`]: columns that are not read as they look: dates as days, amounts as numbers, codes as text.

use serde::{Deserialize, Serialize};

use crate::amounts::{self, amount};
use crate::column::{Cell, RawColumn};
use crate::dates::DateOrder;
use crate::error::DataError;
use crate::raw::RawTable;
use crate::troubles::{Problem, Trouble};

/// How columns of a file are converted before anything else is done with them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// Whether decimals in delimited text are written with a comma.
    #[serde(skip_serializing_if = "is_false")]
    pub decimal_comma: bool,
    /// Dates that are converted to days since 1970-01-01.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<DateColumn>,
    /// Amounts that are converted to numbers; any other text in them is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<NumberColumn>,
    /// Columns that are converted to text, numbers included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
}

/// A column of dates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DateColumn {
    /// Name of the column.
    pub column: String,
    /// Order of year, month and day.
    pub order: DateOrder,
}

/// A column of amounts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberColumn {
    /// Name of the column.
    pub column: String,
    /// Whether its decimals are written with a comma.
    #[serde(default, skip_serializing_if = "is_false")]
    pub decimal_comma: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Reading {
    /// Whether every column is read as it looks.
    pub fn is_empty(&self) -> bool {
        *self == Reading::default()
    }

    /// Returns the part that concerns some columns.
    pub fn only(&self, columns: &[&str]) -> Reading {
        let is = |name: &str| columns.contains(&name);
        let dates = self.dates.iter().filter(|own| is(&own.column));
        let numbers = self.numbers.iter().filter(|own| is(&own.column));
        let texts = self.texts.iter().filter(|own| is(own));
        Reading {
            decimal_comma: self.decimal_comma,
            dates: dates.cloned().collect(),
            numbers: numbers.cloned().collect(),
            texts: texts.cloned().collect(),
        }
    }

    /// Converts the columns of a table; columns that the table does not have are skipped.
    pub fn apply(&self, table: &mut RawTable) -> Result<(), DataError> {
        let has = |table: &RawTable, name: &str| table.names().iter().any(|own| own == name);
        for NumberColumn {
            column,
            decimal_comma,
        } in &self.numbers
        {
            if has(table, column) {
                table.as_number(column, *decimal_comma)?;
            }
        }
        for DateColumn { column, order } in &self.dates {
            if has(table, column) {
                table.dates_to_days(column, *order)?;
            }
        }
        for column in &self.texts {
            if has(table, column) {
                table.as_text(column)?;
            }
        }
        Ok(())
    }
}

/// A user's request: which columns are to be read as what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Whether decimals are written with a comma.
    pub decimal_comma: bool,
    /// Columns to read as numbers.
    pub numbers: Vec<String>,
    /// Columns to read as categories.
    pub texts: Vec<String>,
    /// Treatment of dates; if absent, they are left as they are.
    pub dates: Option<DatesAs>,
    /// Order of year, month and day for columns that do not determine it.
    pub order: Option<DateOrder>,
}

/// Treatment of columns of dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatesAs {
    /// Convert dates to days since 1970-01-01.
    Days,
    /// Drop columns of dates from the features.
    Dropped,
}

/// A column, with the texts among its numbers that count as missing and how many rows have each.
pub type Words = (String, Vec<(String, usize)>);

/// The reason why a request cannot be fulfilled.
#[derive(Debug)]
pub enum Unsettled {
    /// A column that does not exist, or a cell of the wrong kind.
    Data(DataError),
    /// A column that is requested both as numbers and as categories.
    Both(String),
    /// Dates that may begin with the day or with the month.
    Ambiguous(Trouble),
    /// All features were dates.
    NothingLeft,
}

impl From<DataError> for Unsettled {
    fn from(error: DataError) -> Unsettled {
        Unsettled::Data(error)
    }
}

impl Wish {
    /// Converts the columns of a table as requested, and removes dates from the features if they are to be
    /// dropped. Returns the conversion, and the words that became missing cells in each column.
    pub fn settle(
        &self,
        table: &mut RawTable,
        features: &mut Vec<String>,
    ) -> Result<(Reading, Vec<Words>), Unsettled> {
        let mut reading = Reading {
            decimal_comma: self.decimal_comma,
            texts: self.texts.clone(),
            ..Reading::default()
        };
        let mut words = Vec::new();
        for column in &self.numbers {
            if self.texts.contains(column) {
                return Err(Unsettled::Both(column.clone()));
            }
            let decimal_comma = table.amounts_have_comma(column, self.decimal_comma)?;
            words.push((column.clone(), table.as_number(column, decimal_comma)?));
            reading.numbers.push(NumberColumn {
                column: column.clone(),
                decimal_comma,
            });
        }
        for column in &self.texts {
            table.as_text(column)?;
        }
        if self.dates.is_some() {
            self.settle_dates(table, features, &mut reading)?;
        }
        words.retain(|(_, words)| !words.is_empty());
        Ok((reading, words))
    }

    fn settle_dates(
        &self,
        table: &mut RawTable,
        features: &mut Vec<String>,
        reading: &mut Reading,
    ) -> Result<(), Unsettled> {
        for trouble in table.troubles(features, 0, &reading.texts)? {
            let Problem::Dates { order } = trouble.problem else {
                continue;
            };
            if self.dates == Some(DatesAs::Dropped) {
                features.retain(|name| *name != trouble.column);
                continue;
            }
            let Some(order) = order.or(self.order) else {
                return Err(Unsettled::Ambiguous(trouble));
            };
            let column = trouble.column;
            table.dates_to_days(&column, order)?;
            reading.dates.push(DateColumn { column, order });
        }
        if features.is_empty() {
            Err(Unsettled::NothingLeft)
        } else {
            Ok(())
        }
    }
}

impl RawTable {
    /// Whether the amounts of a column use a decimal comma; `hint` decides if they do not show it.
    pub fn amounts_have_comma(&self, column: &str, hint: bool) -> Result<bool, DataError> {
        Ok(match self.column(column)? {
            RawColumn::Text { levels, .. } => {
                amounts::of_texts(levels.iter().map(String::as_str), hint).decimal_comma
            }
            _ => hint,
        })
    }

    /// Replaces amounts (`$1,200`, `12 %`) by numbers. Any other text becomes a missing cell; returns these
    /// texts with their row counts.
    pub fn as_number(
        &mut self,
        column: &str,
        decimal_comma: bool,
    ) -> Result<Vec<(String, usize)>, DataError> {
        let j = self.position(column)?;
        let own = &self.columns()[j];
        let RawColumn::Text { levels, codes } = own else {
            return Ok(Vec::new());
        };
        if own.is_boolean() {
            return Ok(Vec::new());
        }
        let value = |level: &String| {
            let grouped = amount(level, decimal_comma);
            match (grouped, Cell::of(level)) {
                (Some(value), _) | (None, Cell::Number(value) | Cell::NotFinite(value)) => {
                    Some(value)
                }
                (None, Cell::Missing) => Some(f64::NAN),
                (None, Cell::Text) => None,
            }
        };
        let of_level: Vec<Option<f64>> = levels.iter().map(value).collect();
        let mut counts = vec![0; levels.len()];
        codes.iter().for_each(|code| counts[*code as usize] += 1);
        let words = levels.iter().zip(counts).zip(&of_level);
        let words = words
            .filter(|(_, value)| value.is_none())
            .map(|((level, count), _)| (level.clone(), count))
            .collect();
        let values = codes
            .iter()
            .map(|code| of_level[*code as usize].unwrap_or(f64::NAN));
        let values = values.collect();
        self.replace(j, RawColumn::from_numbers(values));
        Ok(words)
    }

    /// Converts a column to text. A number becomes its shortest decimal form, so that `7`,
    /// `7.0` and `007` are one text.
    pub fn as_text(&mut self, column: &str) -> Result<(), DataError> {
        let j = self.position(column)?;
        let shown = |value: f64| {
            if value.is_nan() {
                String::new()
            } else {
                (value + 0.0).to_string()
            }
        };
        let texts: Vec<String> = match &self.columns()[j] {
            RawColumn::Text { levels, codes } => {
                let plain = |level: &String| match Cell::of(level) {
                    Cell::Number(value) => shown(value),
                    _ => level.clone(),
                };
                let levels: Vec<String> = levels.iter().map(plain).collect();
                codes
                    .iter()
                    .map(|code| levels[*code as usize].clone())
                    .collect()
            }
            RawColumn::Number(values) | RawColumn::Gaps { values, .. } => {
                values.iter().map(|value| shown(*value)).collect()
            }
            sparse @ RawColumn::Sparse { .. } => {
                let dense = sparse.numbers(self.rows()).unwrap_or_default();
                dense.iter().map(|value| shown(*value)).collect()
            }
        };
        let column = RawColumn::from_texts(texts.iter().map(String::as_str));
        self.replace(j, column);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::csv::parse_csv;

    const DATA: &str = "\
price;when;code;x
$1,200;2024-01-02;007;1
n/a;;7;2
cheap;2024-01-03;7.0;3
$3.50;2024-01-04;x;4
";

    fn table() -> RawTable {
        parse_csv(Path::new("t.csv"), DATA.as_bytes()).unwrap()
    }

    fn reading() -> Reading {
        Reading {
            decimal_comma: false,
            dates: vec![DateColumn {
                column: "when".into(),
                order: DateOrder::Ymd,
            }],
            numbers: vec![NumberColumn {
                column: "price".into(),
                decimal_comma: false,
            }],
            texts: vec!["code".into(), "x".into(), "absent".into()],
        }
    }

    #[test]
    fn columns_are_what_they_are_read_as() {
        let mut table = table();
        reading().apply(&mut table).unwrap();
        let gaps = |name: &str| table.column(name).unwrap().with_gaps().unwrap();
        assert_eq!(gaps("price")[0], 1200.0);
        assert!(gaps("price")[1].is_nan() && gaps("price")[2].is_nan());
        assert_eq!(gaps("when")[3], 19_726.0);
        assert!(gaps("when")[1].is_nan());
        let texts = |name: &str| match table.column(name).unwrap() {
            RawColumn::Text { levels, codes } => (levels.clone(), codes.clone()),
            other => panic!("{other:?}"),
        };
        let expected = (vec!["7".to_string(), "x".into()], vec![0, 0, 0, 1]);
        assert_eq!(texts("code"), expected);
        assert_eq!(texts("x").0, ["1", "2", "3", "4"]);
    }

    #[test]
    fn words_among_amounts_are_counted() {
        let words = table().as_number("price", false).unwrap();
        assert_eq!(words, [("cheap".to_string(), 1)]);
        assert!(table().as_number("nothing", false).is_err());
    }

    #[test]
    fn a_word_among_dates_is_refused_with_its_line() {
        let text = "d,y\n2024-01-02,1\n,2\nsoon,3\n";
        let mut table = parse_csv(Path::new("t.csv"), text.as_bytes()).unwrap();
        let error = table.dates_to_days("d", DateOrder::Ymd).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("column 'd', line 4: 'soon'"), "{error}");
        let mut numbers = parse_csv(Path::new("t.csv"), b"d,y\n,1\n19000,2\n").unwrap();
        let error = numbers.dates_to_days("d", DateOrder::Ymd).unwrap_err();
        assert!(error.to_string().contains("line 3: '19000'"), "{error}");
    }

    #[test]
    fn only_what_is_used_is_kept() {
        let kept = reading().only(&["when", "x"]);
        assert_eq!((kept.dates.len(), kept.numbers.len()), (1, 0));
        assert_eq!(kept.texts, ["x"]);
        assert!(!kept.is_empty() && Reading::default().is_empty());
    }
}
