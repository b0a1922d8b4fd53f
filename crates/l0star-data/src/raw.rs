//! [`RawTable`]: a file as it was read, before the columns to use are chosen.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::column::{BadCell, Cell, RawColumn, has_decimal_comma};
use crate::error::DataError;
use crate::format::Format;
use crate::lines::Lines;
use crate::place::{Place, Position, clip};
use crate::sparse::SparseTable;
use crate::suggest::no_such_column;
use crate::table::{Table, check_names};

/// The columns of a file. Text is an error only in a column that is used as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTable {
    file: PathBuf,
    format: Format,
    names: Vec<String>,
    has_names: bool,
    rows: usize,
    lines: Option<Lines>,
    /// The remaining rows of the file, if some were dropped; the first is 1.
    kept: Option<Lines>,
    columns: Vec<RawColumn>,
    /// Notes on decisions of the reader.
    notes: Vec<String>,
    /// Whether a comma may be part of a number: in delimited text with another delimiter.
    comma_is_free: bool,
}

impl RawTable {
    /// Creates a table from columns of `rows` cells each, with unique names.
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
            notes: Vec::new(),
            comma_is_free: false,
        }
    }

    /// Adds notes on decisions of the reader.
    pub(crate) fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> RawTable {
        self.notes.extend(notes);
        self
    }

    /// Records that commas do not separate the cells.
    pub(crate) fn with_free_comma(mut self, is_free: bool) -> RawTable {
        self.comma_is_free = is_free;
        self
    }

    /// Whether the file can be read with decimal commas.
    pub(crate) fn comma_is_free(&self) -> bool {
        self.comma_is_free
    }

    /// Returns notes on decisions of the reader that the user should know, such as invented
    /// names or a detected encoding.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Creates a table from columns in memory with unique names; messages call the table `source`. A
    /// missing number may be `NaN`.
    pub fn in_memory(
        source: &str,
        names: Vec<String>,
        columns: Vec<RawColumn>,
    ) -> Result<RawTable, DataError> {
        check_names(Some(Path::new(source)), &names)?;
        let length = |column: &RawColumn| match column {
            RawColumn::Number(values) | RawColumn::Gaps { values, .. } => Some(values.len()),
            RawColumn::Text { levels, codes } => {
                let is_level = |code: &u32| (*code as usize) < levels.len();
                codes.iter().all(is_level).then_some(codes.len())
            }
            RawColumn::Sparse { .. } => None,
        };
        let rows = columns.first().and_then(length).unwrap_or(0);
        let fits = |column: &RawColumn| length(column) == Some(rows);
        if rows == 0 || names.len() != columns.len() || !columns.iter().all(fits) {
            return Err(DataError::Shape {
                what: format!(
                    "{} columns do not make a table of {rows} rows",
                    columns.len()
                ),
            });
        }
        let whole = columns.into_iter().map(|column| match column {
            RawColumn::Number(values) => RawColumn::from_numbers(values),
            other => other,
        });
        let whole = whole.collect();
        Ok(RawTable::new(
            Path::new(source),
            Format::Arrow,
            names,
            rows,
            whole,
        ))
    }

    /// Adds the physical line of each row.
    pub(crate) fn with_lines(mut self, lines: Lines) -> RawTable {
        self.lines = Some(lines);
        self
    }

    /// Records which row of the file the first row is; the first row of the file is 1.
    pub(crate) fn starting_at(mut self, row: u64) -> RawTable {
        let mut kept = Lines::default();
        kept.put(0, row);
        self.kept = Some(kept);
        self
    }

    /// Records that the names are not in the file.
    pub(crate) fn without_names(mut self) -> RawTable {
        self.has_names = false;
        self
    }

    /// Returns the file that was read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the detected format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the names of the columns, left to right.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the names are in the file; otherwise they were invented.
    pub fn has_names(&self) -> bool {
        self.has_names
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns all columns, left to right.
    pub fn columns(&self) -> &[RawColumn] {
        &self.columns
    }

    /// Returns the number of bytes that the columns take.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(RawColumn::bytes).sum()
    }

    /// Whether some column stores only non-zero cells.
    pub fn is_sparse(&self) -> bool {
        let sparse = |column: &RawColumn| matches!(column, RawColumn::Sparse { .. });
        self.columns.iter().any(sparse)
    }

    /// Returns the column called `name`.
    pub fn column(&self, name: &str) -> Result<&RawColumn, DataError> {
        Ok(&self.columns[self.position(name)?])
    }

    /// Returns the position of the column called `name`, counted from 0.
    pub fn position(&self, name: &str) -> Result<usize, DataError> {
        let found = self.names.iter().position(|own| own == name);
        found.ok_or_else(|| self.unknown(name))
    }

    /// Creates the error for a column that does not exist.
    pub(crate) fn unknown(&self, name: &str) -> DataError {
        let mut error = no_such_column(name, &self.names).in_file(&self.file);
        if let (DataError::NoSuchColumn { available, .. }, false) = (&mut error, self.has_names) {
            *available += " (the file has no names)";
        }
        error
    }

    /// Returns the features called `columns`, in that order, as numbers.
    pub fn numeric<N: AsRef<str>>(&self, columns: &[N]) -> Result<Table, DataError> {
        let places = self.places(columns)?;
        let mut values = Vec::with_capacity(places.len().saturating_mul(self.rows));
        for &j in &places {
            values.extend_from_slice(&self.feature(j)?);
        }
        self.table(&places, values)
    }

    /// Returns the columns as [`RawTable::numeric`] does, but drops each one once it is copied, so that the
    /// whole table is never in memory twice.
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

    /// Returns the features called `columns`, in that order, without their zeros.
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

    /// Returns a target, weights or offset column as numbers.
    pub fn number(&self, column: &str) -> Result<Vec<f64>, DataError> {
        let j = self.position(column)?;
        let advice = || "this column has to hold numbers, so choose another or encode it".into();
        let numbers = self.columns[j].numbers(self.rows);
        let numbers = numbers.map_err(|bad| self.refuse(j, bad, advice))?;
        Ok(numbers.into_owned())
    }

    /// Returns every column as numbers.
    pub fn into_table(self) -> Result<Table, DataError> {
        let names = self.names.clone();
        self.into_numeric(&names)
    }

    /// Returns the location of row `row` (counted from 0) of column `j`.
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

    /// Returns a table with only the given columns.
    pub fn only<N: AsRef<str>>(&self, columns: &[N]) -> Result<RawTable, DataError> {
        let places = self.places(columns)?;
        Ok(RawTable {
            file: self.file.clone(),
            names: places.iter().map(|&j| self.names[j].clone()).collect(),
            columns: places.iter().map(|&j| self.columns[j].clone()).collect(),
            lines: self.lines.clone(),
            kept: self.kept.clone(),
            notes: self.notes.clone(),
            ..*self
        })
    }

    /// Splits the table into the rows that are not marked and those that are; messages about either
    /// name the lines of the file.
    pub fn split_rows(mut self, marked: &[bool]) -> (RawTable, RawTable) {
        let mut others = self.clone();
        others.keep_rows(marked);
        let unmarked: Vec<bool> = marked.iter().map(|is| !is).collect();
        self.keep_rows(&unmarked);
        (self, others)
    }

    /// Keeps the rows that `keep` marks; messages still name the lines of the file.
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

    /// Replaces the cells of column `j`.
    pub(crate) fn replace(&mut self, j: usize, column: RawColumn) {
        self.columns[j] = column;
    }

    /// Adds a column after the others.
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

    pub(crate) fn refuse(
        &self,
        j: usize,
        bad: BadCell<'_>,
        advice: impl FnOnce() -> String,
    ) -> DataError {
        let place = self.place(j, bad.row);
        let value = clip(bad.text);
        match Cell::of(bad.text) {
            Cell::Missing => DataError::MissingValue { place, value },
            Cell::NotFinite(_) => DataError::NotFinite { place, value },
            _ if has_decimal_comma(bad.text) => DataError::NotANumber {
                place,
                value,
                advice: "write decimals with a point, or read the file with --decimal ,".into(),
            },
            _ => DataError::NotANumber {
                place,
                value,
                advice: advice(),
            },
        }
    }
}
