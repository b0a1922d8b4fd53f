//! [`RawTable`]: a file as it was read, before anybody says which columns are used.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::place::{Place, Position, clip};
use crate::suggest::no_such_column;
use crate::table::Table;

/// One column of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum RawColumn {
    /// Every cell is a finite number.
    Number(Vec<f64>),
    /// Some cell is not.
    Text {
        /// Line and content of the cell to complain about: the first text, or else the first
        /// missing or infinite value.
        first_bad: (u64, String),
        /// Every cell, without blanks around it.
        values: Vec<String>,
    },
}

/// The columns of a file. Text is an error only in a column that is used as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTable {
    file: PathBuf,
    names: Vec<String>,
    rows: usize,
    /// The physical line of each row; empty for a file without lines.
    lines: Vec<u64>,
    columns: Vec<RawColumn>,
}

impl RawTable {
    pub(crate) fn new(
        file: &Path,
        names: Vec<String>,
        lines: Vec<u64>,
        columns: Vec<RawColumn>,
    ) -> RawTable {
        RawTable {
            file: file.to_path_buf(),
            names,
            rows: lines.len(),
            lines,
            columns,
        }
    }

    pub(crate) fn from_table(file: &Path, table: Table) -> RawTable {
        let columns = (0..table.columns())
            .map(|j| RawColumn::Number(table.column(j).to_vec()))
            .collect();
        let (names, rows, _) = table.into_parts();
        RawTable {
            file: file.to_path_buf(),
            names,
            rows,
            lines: Vec::new(),
            columns,
        }
    }

    /// The file that was read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The names of the columns, left to right.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// All columns, left to right.
    pub fn columns(&self) -> &[RawColumn] {
        &self.columns
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Result<&RawColumn, DataError> {
        let j = self.names.iter().position(|own| own == name);
        j.map(|j| &self.columns[j])
            .ok_or_else(|| no_such_column(name, &self.names))
    }

    /// The features called `columns`, in that order, as numbers.
    pub fn numeric<N: AsRef<str>>(&self, columns: &[N]) -> Result<Table, DataError> {
        let mut values = Vec::with_capacity(columns.len().saturating_mul(self.rows));
        for name in columns.iter().map(N::as_ref) {
            let advice = || {
                format!(
                    "drop the column with --exclude {} or encode it as numbers",
                    clip(name)
                )
            };
            values.extend_from_slice(self.numbers(name, advice)?);
        }
        let names = columns
            .iter()
            .map(|name| name.as_ref().to_string())
            .collect();
        Table::new(names, self.rows, values).map_err(|error| error.in_file(&self.file))
    }

    /// A target, weights or offset column as numbers.
    pub fn number(&self, column: &str) -> Result<Vec<f64>, DataError> {
        let advice = || "this column has to hold numbers, so choose another or encode it".into();
        self.numbers(column, advice).map(<[f64]>::to_vec)
    }

    /// Every column as numbers.
    pub fn into_table(self) -> Result<Table, DataError> {
        self.numeric(&self.names)
    }

    /// A binary target as −1 and +1, with the labels that these stand for. Two numbers are
    /// ordered as numbers, other labels by their letters; the larger is +1.
    pub fn labels(&self, column: &str) -> Result<(Vec<f64>, [String; 2]), DataError> {
        match self.column(column)? {
            RawColumn::Number(values) => {
                let distinct = distinct(values, f64::total_cmp, |a, b| a == b);
                let shown: Vec<String> = distinct.iter().map(|label| label.to_string()).collect();
                let names = two_labels(column, &shown)?;
                let signs = values
                    .iter()
                    .map(|value| sign(*value == distinct[1]))
                    .collect();
                Ok((signs, names))
            }
            RawColumn::Text { values, .. } => {
                if let Some(row) = values
                    .iter()
                    .position(|value| Cell::of(value) == Cell::Missing)
                {
                    return Err(DataError::MissingValue {
                        place: self.place(column, self.lines[row]),
                        value: clip(&values[row]),
                    });
                }
                let distinct = distinct(values, Ord::cmp, |a, b| a == b);
                let names = two_labels(column, &distinct)?;
                let signs = values
                    .iter()
                    .map(|value| sign(*value == distinct[1]))
                    .collect();
                Ok((signs, names))
            }
        }
    }

    fn numbers(&self, name: &str, advice: impl FnOnce() -> String) -> Result<&[f64], DataError> {
        match self.column(name)? {
            RawColumn::Number(values) => Ok(values),
            RawColumn::Text {
                first_bad: (line, value),
                ..
            } => {
                let place = self.place(name, *line);
                let shown = clip(value);
                Err(match Cell::of(value) {
                    Cell::Missing => DataError::MissingValue {
                        place,
                        value: shown,
                    },
                    Cell::NotFinite => DataError::NotFinite {
                        place,
                        value: shown,
                    },
                    _ if value.contains(',') && is_number(&value.replace(',', ".")) => {
                        let advice = "write decimals with a point".into();
                        DataError::NotANumber {
                            place,
                            value: shown,
                            advice,
                        }
                    }
                    _ => DataError::NotANumber {
                        place,
                        value: shown,
                        advice: advice(),
                    },
                })
            }
        }
    }

    fn place(&self, column: &str, line: u64) -> Place {
        Place {
            file: Some(self.file.clone()),
            column: column.to_string(),
            position: Position::Line(line),
        }
    }
}

/// What a trimmed cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Missing,
    NotFinite,
    Text,
}

impl Cell {
    /// `NaN` is how many programs write a missing value; `inf`, or `1e999`, is a value, though
    /// none that can be used.
    pub(crate) fn of(value: &str) -> Cell {
        match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Cell::Number(number),
            Ok(number) if number.is_nan() => Cell::Missing,
            Ok(_) => Cell::NotFinite,
            Err(_) => {
                let missing = ["", "na", "n/a", "null"];
                if missing.iter().any(|word| value.eq_ignore_ascii_case(word)) {
                    Cell::Missing
                } else {
                    Cell::Text
                }
            }
        }
    }
}

fn is_number(value: &str) -> bool {
    matches!(Cell::of(value), Cell::Number(_))
}

fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

/// The distinct values in ascending order.
fn distinct<T: Clone>(
    values: &[T],
    order: impl FnMut(&T, &T) -> Ordering,
    mut same: impl FnMut(&T, &T) -> bool,
) -> Vec<T> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(order);
    sorted.dedup_by(|a, b| same(a, b));
    sorted
}

fn two_labels(column: &str, labels: &[String]) -> Result<[String; 2], DataError> {
    const SHOWN: usize = 5;
    match labels {
        [negative, positive] => Ok([negative.clone(), positive.clone()]),
        [] | [_] => Err(DataError::OneLabel {
            column: clip(column),
            label: labels.first().map_or(String::new(), |label| clip(label)),
        }),
        _ => {
            let mut first: Vec<String> =
                labels.iter().take(SHOWN).map(|label| clip(label)).collect();
            if labels.len() > SHOWN {
                first.push("…".into());
            }
            Err(DataError::ManyLabels {
                column: clip(column),
                count: labels.len(),
                first: first.join(", "),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_told_apart() {
        assert_eq!(Cell::of("1.5e3"), Cell::Number(1500.0));
        for missing in ["", "NA", "n/a", "NaN", "-nan", "null"] {
            assert_eq!(Cell::of(missing), Cell::Missing, "{missing}");
        }
        for infinite in ["inf", "-Infinity", "1e999"] {
            assert_eq!(Cell::of(infinite), Cell::NotFinite, "{infinite}");
        }
        for text in ["none", "Paris", "1,5", "1 2", "0x10"] {
            assert_eq!(Cell::of(text), Cell::Text, "{text}");
        }
    }

    #[test]
    fn zero_of_either_sign_is_one_label() {
        assert_eq!(
            distinct(&[0.0, -0.0, 1.0], f64::total_cmp, |a, b| a == b).len(),
            2
        );
    }
}
