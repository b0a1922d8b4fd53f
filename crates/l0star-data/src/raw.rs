//! [`RawTable`]: a file as it was read, before anybody says which columns are used.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::column::{BadCell, Cell, RawColumn, has_decimal_comma};
use crate::error::DataError;
use crate::format::Format;
use crate::place::{Place, Position, clip};
use crate::sparse::SparseTable;
use crate::suggest::no_such_column;
use crate::table::Table;

/// The columns of a file. Text is an error only in a column that is used as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTable {
    file: PathBuf,
    format: Format,
    names: Vec<String>,
    has_names: bool,
    rows: usize,
    lines: Option<Lines>,
    /// The rows of the file that are left, when some were dropped; the first is 1.
    kept: Option<Lines>,
    columns: Vec<RawColumn>,
}

impl RawTable {
    /// Columns of `rows` cells each, under unique names.
    pub(crate) fn new(
        file: &Path,
        format: Format,
        names: Vec<String>,
        rows: usize,
        columns: Vec<RawColumn>,
    ) -> RawTable {
        RawTable {
            file: file.to_path_buf(),
            format,
            names,
            has_names: true,
            rows,
            lines: None,
            kept: None,
            columns,
        }
    }

    /// Adds the physical line of each row.
    pub(crate) fn with_lines(mut self, lines: Lines) -> RawTable {
        self.lines = Some(lines);
        self
    }

    /// Notes that the names do not stand in the file.
    pub(crate) fn without_names(mut self) -> RawTable {
        self.has_names = false;
        self
    }

    /// The file that was read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What the file turned out to be.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The names of the columns, left to right.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the names stand in the file; otherwise they were made up.
    pub fn has_names(&self) -> bool {
        self.has_names
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// All columns, left to right.
    pub fn columns(&self) -> &[RawColumn] {
        &self.columns
    }

    /// The bytes that the columns take.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(RawColumn::bytes).sum()
    }

    /// Whether some column stores only what is not zero.
    pub fn is_sparse(&self) -> bool {
        let sparse = |column: &RawColumn| matches!(column, RawColumn::Sparse { .. });
        self.columns.iter().any(sparse)
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Result<&RawColumn, DataError> {
        Ok(&self.columns[self.position(name)?])
    }

    /// The position of the column called `name`, counted from 0.
    pub fn position(&self, name: &str) -> Result<usize, DataError> {
        let found = self.names.iter().position(|own| own == name);
        found.ok_or_else(|| self.unknown(name))
    }

    /// The error for a column that does not exist.
    pub(crate) fn unknown(&self, name: &str) -> DataError {
        let mut error = no_such_column(name, &self.names).in_file(&self.file);
        if let (DataError::NoSuchColumn { available, .. }, false) = (&mut error, self.has_names) {
            *available += " (the file has no names)";
        }
        error
    }

    /// The features called `columns`, in that order, as numbers.
    pub fn numeric<N: AsRef<str>>(&self, columns: &[N]) -> Result<Table, DataError> {
        let places = self.places(columns)?;
        let mut values = Vec::with_capacity(places.len().saturating_mul(self.rows));
        for &j in &places {
            values.extend_from_slice(&self.feature(j)?);
        }
        self.table(&places, values)
    }

    /// As [`RawTable::numeric`], giving up each column as it is copied: never are there two
    /// copies of the whole table.
    pub fn into_numeric<N: AsRef<str>>(mut self, columns: &[N]) -> Result<Table, DataError> {
        let places = self.places(columns)?;
        let mut wanted = vec![false; self.columns.len()];
        for &j in &places {
            wanted[j] = true;
        }
        for (column, wanted) in self.columns.iter_mut().zip(wanted) {
            if !wanted {
                *column = RawColumn::Number(Vec::new());
            }
        }
        let mut values = Vec::with_capacity(places.len().saturating_mul(self.rows));
        for &j in &places {
            values.extend_from_slice(&self.feature(j)?);
            self.columns[j] = RawColumn::Number(Vec::new());
        }
        self.table(&places, values)
    }

    /// The features called `columns`, in that order, without their zeros.
    pub fn sparse<N: AsRef<str>>(&self, columns: &[N]) -> Result<SparseTable, DataError> {
        let places = self.places(columns)?;
        let mut indptr = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for &j in &places {
            if let RawColumn::Sparse {
                rows,
                values: entries,
            } = &self.columns[j]
            {
                indices.extend_from_slice(rows);
                values.extend_from_slice(entries);
            } else {
                for (row, value) in self.feature(j)?.iter().enumerate() {
                    if *value != 0.0 {
                        indices.push(row as u32);
                        values.push(*value);
                    }
                }
            }
            indptr.push(values.len());
        }
        let names = places.iter().map(|&j| self.names[j].clone()).collect();
        SparseTable::new(names, self.rows, indptr, indices, values)
    }

    /// A target, weights or offset column as numbers.
    pub fn number(&self, column: &str) -> Result<Vec<f64>, DataError> {
        let j = self.position(column)?;
        let advice = || "this column has to hold numbers, so choose another or encode it".into();
        let numbers = self.columns[j].numbers(self.rows);
        let numbers = numbers.map_err(|bad| self.refuse(j, bad, advice))?;
        Ok(numbers.into_owned())
    }

    /// Every column as numbers.
    pub fn into_table(self) -> Result<Table, DataError> {
        let names = self.names.clone();
        self.into_numeric(&names)
    }

    /// A binary target as −1 and +1, with the labels that these stand for. Two numbers are
    /// ordered as numbers, other labels by their letters; the larger is +1.
    pub fn labels(&self, column: &str) -> Result<(Vec<f64>, [String; 2]), DataError> {
        let j = self.position(column)?;
        if let Some((row, text)) = self.columns[j].first_missing() {
            let advice = String::new;
            return Err(self.refuse(j, BadCell { row, text }, advice));
        }
        if let RawColumn::Text { levels, codes } = &self.columns[j] {
            let mut sorted: Vec<&String> = levels.iter().collect();
            sorted.sort_unstable();
            let names = two_labels(
                &self.file,
                column,
                sorted.len(),
                &mut sorted.iter().copied().cloned(),
            )?;
            let positive = levels.iter().position(|level| *level == names[1]);
            let is_positive = |code: &u32| Some(*code as usize) == positive;
            let signs = codes.iter().map(|code| sign(is_positive(code))).collect();
            return Ok((signs, names));
        }
        let values = self.number(column)?;
        let distinct = distinct(&values);
        let mut shown = distinct.iter().map(|value| (value + 0.0).to_string());
        let names = two_labels(&self.file, column, distinct.len(), &mut shown)?;
        let signs = values.iter().map(|value| sign(*value == distinct[1]));
        Ok((signs.collect(), names))
    }

    /// Which rows have the second of two labels, as [`RawTable::labels`] named them; any other label is an error.
    pub fn labelled(&self, column: &str, labels: &[String; 2]) -> Result<Vec<bool>, DataError> {
        let j = self.position(column)?;
        let refuse = |row: usize, found: &str| DataError::OtherLabel {
            place: self.place(j, row),
            value: clip(found),
            labels: Box::new(labels.each_ref().map(|label| clip(label))),
        };
        let is = |row: usize, found: &str| match labels.iter().position(|label| label == found) {
            Some(at) => Ok(at == 1),
            None => Err(refuse(row, found)),
        };
        if let RawColumn::Text { levels, codes } = &self.columns[j] {
            let codes = codes.iter().enumerate();
            return codes
                .map(|(row, code)| is(row, &levels[*code as usize]))
                .collect();
        }
        let values = self.number(column)?.into_iter().enumerate();
        // Zero of either sign is one label.
        values
            .map(|(row, value)| is(row, &(value + 0.0).to_string()))
            .collect()
    }

    /// Where row `row` (counted from 0) of column `j` stands.
    pub fn place(&self, j: usize, row: usize) -> Place {
        Place {
            file: Some(self.file.clone()),
            column: self.names[j].clone(),
            position: match (&self.lines, &self.kept) {
                (Some(lines), _) => Position::Line(lines.of(row)),
                (None, Some(kept)) => Position::Row(kept.of(row) as usize),
                (None, None) => Position::Row(row + 1),
            },
        }
    }

    /// The table of the columns given.
    pub fn only<N: AsRef<str>>(&self, columns: &[N]) -> Result<RawTable, DataError> {
        let places = self.places(columns)?;
        Ok(RawTable {
            file: self.file.clone(),
            names: places.iter().map(|&j| self.names[j].clone()).collect(),
            columns: places.iter().map(|&j| self.columns[j].clone()).collect(),
            lines: self.lines.clone(),
            kept: self.kept.clone(),
            ..*self
        })
    }

    /// The rows that are not marked, and those that are; messages about either name the lines of the file.
    pub fn split_rows(mut self, marked: &[bool]) -> (RawTable, RawTable) {
        let mut others = self.clone();
        others.keep_rows(marked);
        let unmarked: Vec<bool> = marked.iter().map(|is| !is).collect();
        self.keep_rows(&unmarked);
        (self, others)
    }

    /// The rows that `keep` marks; messages go on naming the lines of the file.
    pub(crate) fn keep_rows(&mut self, keep: &[bool]) {
        let marked = || (0..self.rows).filter(|row| keep[*row]);
        let renumbered = |line: &dyn Fn(usize) -> u64| {
            let mut lines = Lines::default();
            marked()
                .enumerate()
                .for_each(|(row, old)| lines.put(row, line(old)));
            lines
        };
        self.kept = Some(renumbered(&|old| match &self.kept {
            Some(kept) => kept.of(old),
            None => old as u64 + 1,
        }));
        self.lines = self
            .lines
            .as_ref()
            .map(|lines| renumbered(&|old| lines.of(old)));
        self.rows = marked().count();
        for column in &mut self.columns {
            column.keep_rows(keep);
        }
    }

    /// Puts other cells into column `j`.
    pub(crate) fn replace(&mut self, j: usize, column: RawColumn) {
        self.columns[j] = column;
    }

    /// One more column, behind the others.
    pub(crate) fn add(&mut self, name: &str, column: RawColumn) -> Result<(), DataError> {
        if let Ok(first) = self.position(name) {
            return Err(DataError::DuplicateName {
                file: Some(self.file.clone()),
                name: clip(name),
                first: first + 1,
                second: self.names.len() + 1,
            });
        }
        self.names.push(name.to_owned());
        self.columns.push(column);
        Ok(())
    }

    pub(crate) fn places<N: AsRef<str>>(&self, columns: &[N]) -> Result<Vec<usize>, DataError> {
        let own: HashMap<&str, usize> = self
            .names
            .iter()
            .enumerate()
            .map(|(j, name)| (name.as_str(), j))
            .collect();
        let place = |name: &N| {
            let found = own.get(name.as_ref()).copied();
            found.ok_or_else(|| self.unknown(name.as_ref()))
        };
        columns.iter().map(place).collect()
    }

    fn feature(&self, j: usize) -> Result<std::borrow::Cow<'_, [f64]>, DataError> {
        let advice = || {
            format!(
                "drop the column with --exclude {} or encode it as numbers",
                clip(&self.names[j])
            )
        };
        self.columns[j]
            .numbers(self.rows)
            .map_err(|bad| self.refuse(j, bad, advice))
    }

    fn table(&self, places: &[usize], values: Vec<f64>) -> Result<Table, DataError> {
        let names = places.iter().map(|&j| self.names[j].clone()).collect();
        Table::new(names, self.rows, values).map_err(|error| error.in_file(&self.file))
    }

    fn refuse(&self, j: usize, bad: BadCell<'_>, advice: impl FnOnce() -> String) -> DataError {
        let place = self.place(j, bad.row);
        let value = clip(bad.text);
        match Cell::of(bad.text) {
            Cell::Missing => DataError::MissingValue { place, value },
            Cell::NotFinite(_) => DataError::NotFinite { place, value },
            _ if has_decimal_comma(bad.text) => DataError::NotANumber {
                place,
                value,
                advice: "write decimals with a point, or read the file with --decimal-comma".into(),
            },
            _ => DataError::NotANumber {
                place,
                value,
                advice: advice(),
            },
        }
    }
}

/// The physical line of each row: the rows at which the lines jump, and where to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lines {
    jumps: Vec<(usize, u64)>,
}

impl Lines {
    /// Says that `row` starts on `line`; rows come in order.
    pub(crate) fn put(&mut self, row: usize, line: u64) {
        let follows = self
            .jumps
            .last()
            .is_some_and(|(first, start)| start + (row - first) as u64 == line);
        if !follows {
            self.jumps.push((row, line));
        }
    }

    pub(crate) fn of(&self, row: usize) -> u64 {
        let after = self.jumps.partition_point(|(first, _)| *first <= row);
        match after.checked_sub(1).map(|at| self.jumps[at]) {
            Some((first, line)) => line + (row - first) as u64,
            None => row as u64 + 1,
        }
    }
}

fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

/// The distinct values in ascending order; the zeros of both signs are one.
fn distinct(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    sorted.dedup();
    sorted
}

fn two_labels(
    file: &Path,
    column: &str,
    count: usize,
    labels: &mut dyn Iterator<Item = String>,
) -> Result<[String; 2], DataError> {
    const SHOWN: usize = 5;
    let mut first: Vec<String> = labels.take(SHOWN).collect();
    match (count, first.as_mut_slice()) {
        (2, [negative, positive]) => Ok([std::mem::take(negative), std::mem::take(positive)]),
        (0 | 1, _) => Err(DataError::OneLabel {
            file: Some(file.to_path_buf()),
            column: clip(column),
            label: first.first().map_or(String::new(), |label| clip(label)),
        }),
        _ => {
            let mut shown: Vec<String> = first.iter().map(|label| clip(label)).collect();
            if count > SHOWN {
                shown.push("…".into());
            }
            Err(DataError::ManyLabels {
                file: Some(file.to_path_buf()),
                column: clip(column),
                count,
                first: shown.join(", "),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_of_either_sign_is_one_label() {
        assert_eq!(distinct(&[0.0, -0.0, 1.0]).len(), 2);
    }

    #[test]
    fn lines_are_kept_by_their_jumps() {
        let mut lines = Lines::default();
        for (row, line) in [2u64, 3, 4, 7, 8, 20].into_iter().enumerate() {
            lines.put(row, line);
        }
        assert_eq!(lines.jumps.len(), 3);
        let shown: Vec<u64> = (0..6).map(|row| lines.of(row)).collect();
        assert_eq!(shown, [2, 3, 4, 7, 8, 20]);
    }
}
