//! Reads delimited text into a [`RawTable`]: one thread reads and all cores parse. A column is taken for
//! numbers until a cell is text.

use std::collections::TryReserveError;
use std::io;
use std::sync::mpsc;
use std::thread;

use rayon::prelude::*;

use super::block::{Blocks, Parsed, Plan, Wrong, parse};
use super::dialect::line_breaks;
use super::plan::{Use, planned};
use super::start::{Start, not_text, refuse};
use crate::column::{Dictionary, RawColumn};
use crate::error::DataError;
use crate::format::{Format, ReadOptions};
use crate::lines::Lines;
use crate::pieces::{Each, Kind, Wanted};
use crate::place::{Place, Position, clip};
use crate::raw::RawTable;
use crate::source::Source;

/// Reads the whole source.
pub(crate) fn read(source: &Source<'_>, options: &ReadOptions) -> Result<RawTable, DataError> {
    let mut blocks = Blocks::new(source.stream()?);
    let start = Start::read(source, options, &mut blocks)?;
    let width = start.names.len();

    let guess = start.sample(&blocks.buffer);
    let mut plan = planned(width, |j| if guess[j] { Use::Text } else { Use::Number });
    let mut pass = Pass::new(source, &start, &plan);
    pass.run(blocks, &mut plan, None)?;
    if pass.rows == 0 {
        return Err(DataError::NoRows {
            path: source.name().to_path_buf(),
        });
    }
    let (rows, lines) = (pass.rows, std::mem::take(&mut pass.lines));
    let mut columns = pass.columns();

    // Columns whose first text comes late in the file: their cells are read again, as text.
    if columns.iter().any(Option::is_none) {
        let late = |j: usize| match columns[j] {
            None => Use::Text,
            Some(_) => Use::Skip,
        };
        let mut plan = planned(width, late);
        let mut blocks = Blocks::new(source.stream()?);
        blocks
            .skip(start.offset)
            .map_err(|reason| source.failed(reason))?;
        let mut pass = Pass::new(source, &start, &plan);
        pass.run(blocks, &mut plan, None)?;
        for (column, again) in columns.iter_mut().zip(pass.columns()) {
            *column = column.take().or(again);
        }
    }
    let columns: Option<Vec<RawColumn>> = columns.into_iter().collect();
    let columns = columns
        .filter(|_| rows <= u32::MAX as usize)
        .ok_or_else(|| DataError::Unreadable {
            path: source.name().to_path_buf(),
            format: Format::Csv.described().into(),
            reason: "it changed while it was read, or has too many rows; try again".into(),
        })?;
    let table = RawTable::new(source.name(), Format::Csv, start.names, rows, columns);
    let is_free = start.dialect.delimiter != b',' && !start.dialect.decimal_comma;
    let table = table
        .with_lines(lines)
        .with_notes(start.notes)
        .with_free_comma(is_free);
    Ok(if start.has_names {
        table
    } else {
        table.without_names()
    })
}

/// Reads the source piece by piece, in bounded memory; `each` decides whether to continue.
///
/// The kind of a column is given, or follows from the first rows. Text that comes later in a
/// column of numbers is an error.
pub(crate) fn stream(
    source: &Source<'_>,
    options: &ReadOptions,
    wanted: &Wanted<'_>,
    each: Each<'_>,
) -> Result<(), DataError> {
    let mut blocks = Blocks::new(source.stream()?);
    let start = Start::read(source, options, &mut blocks)?;
    let guess = start.sample(&blocks.buffer);
    let used = |j: usize| {
        let name = &start.names[j];
        match wanted.kind(name) {
            Kind::Skipped => Use::Skip,
            Kind::Text => Use::Text,
            Kind::Any if guess[j] => Use::Text,
            Kind::Any => Use::Number,
        }
    };
    let mut plan = planned(start.names.len(), used);
    let mut pass = Pass::new(source, &start, &plan);
    let mut rows = 0;
    let mut counted = |table: RawTable| {
        rows += table.rows();
        each(table)
    };
    pass.run(blocks, &mut plan, Some(&mut counted))?;
    match rows {
        0 => Err(DataError::NoRows {
            path: source.name().to_path_buf(),
        }),
        _ => Ok(()),
    }
}

/// The columns read so far.
struct Pass<'a> {
    source: &'a Source<'a>,
    start: &'a Start,
    columns: Vec<Column>,
    rows: usize,
    line: u64,
    bytes: u64,
    lines: Lines,
    ends_blank: bool,
    /// Whether the rows are handed out as they are read.
    is_stream: bool,
}

enum Column {
    Number {
        slot: usize,
        values: Vec<f64>,
        gap: Option<(usize, String)>,
        has_text: bool,
    },
    Text {
        slot: usize,
        dictionary: Dictionary,
        codes: Vec<u32>,
    },
    Skip,
}

impl<'a> Pass<'a> {
    fn new(source: &'a Source<'a>, start: &'a Start, plan: &[Plan]) -> Pass<'a> {
        let column = |plan: &Plan| match *plan {
            Plan::Number(slot) => Column::Number {
                slot,
                values: Vec::new(),
                gap: None,
                has_text: false,
            },
            Plan::Text(slot) => Column::Text {
                slot,
                dictionary: Dictionary::default(),
                codes: Vec::new(),
            },
            Plan::Skip => Column::Skip,
        };
        Pass {
            source,
            start,
            columns: plan.iter().map(column).collect(),
            rows: 0,
            line: start.lines + 1,
            bytes: start.offset,
            lines: Lines::default(),
            ends_blank: false,
            is_stream: false,
        }
    }

    /// Reads to the end. A column of numbers that turns out to contain text is skipped from there on.
    ///
    /// With `each`, the rows are handed out as they are read, and are not kept.
    fn run(
        &mut self,
        mut blocks: Blocks<'_>,
        plan: &mut [Plan],
        mut each: Option<Each<'_>>,
    ) -> Result<(), DataError> {
        self.is_stream = each.is_some();
        let dialect = self.start.dialect;
        let batch = rayon::current_num_threads();
        let (sender, receiver) = mpsc::sync_channel(batch);
        thread::scope(|scope| {
            scope.spawn(move || {
                while let Some(block) = blocks.next(dialect).transpose() {
                    let is_last = block.is_err();
                    // After an error in the other thread, nobody receives.
                    if sender.send(block).is_err() || is_last {
                        return;
                    }
                }
            });
            // Dropped at the end of this closure, before the threads are joined, because the other thread
            // may be blocked on sending.
            let receiver = receiver;
            while let Ok(first) = receiver.recv() {
                let rest = (1..batch).map_while(|_| receiver.recv().ok());
                let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(batch);
                for block in std::iter::once(first).chain(rest) {
                    blocks.push(block.map_err(|failed| {
                        let above: u64 = blocks.iter().map(|block| line_breaks(block)).sum();
                        refuse(self.source, failed, self.line + above)
                    })?);
                }
                let parsed: Vec<Result<Parsed, Wrong>> = blocks
                    .par_iter()
                    .map(|block| parse(block, dialect, plan))
                    .collect();
                let line = self.line;
                self.append(&blocks, parsed)?;
                if let Some(each) = &mut each {
                    let piece = self.piece(plan, line)?;
                    if let Some(piece) = piece
                        && !each(piece)?
                    {
                        return Ok(());
                    }
                    continue;
                }
                for (plan, column) in plan.iter_mut().zip(&self.columns) {
                    if let Column::Number { has_text: true, .. } = column {
                        *plan = Plan::Skip;
                    }
                }
            }
            Ok(())
        })
    }

    fn append(
        &mut self,
        blocks: &[Vec<u8>],
        parsed: Vec<Result<Parsed, Wrong>>,
    ) -> Result<(), DataError> {
        let (first_row, first_byte) = (self.rows, self.bytes);
        let mut whole = Vec::with_capacity(parsed.len());
        for (block, parsed) in blocks.iter().zip(parsed) {
            let parsed = parsed.map_err(|wrong| self.refuse(block, wrong))?;
            if self.columns.len() == 1 && self.ends_blank && parsed.rows > 0 {
                return Err(self.refuse(block, Wrong::Blank { line: 0 }));
            }
            for (row, line) in &parsed.jumps {
                self.lines.put(self.rows + row, self.line + line);
            }
            let base = self.rows;
            self.rows += parsed.rows;
            self.line += parsed.lines;
            self.bytes += block.len() as u64;
            self.ends_blank = parsed.ends_blank;
            whole.push((base, parsed));
        }
        let expected = match self.source.length() {
            Some(length) if first_row == 0 && !self.is_stream => {
                let share = length as f64 / (self.bytes - first_byte) as f64;
                (1.02 * share * self.rows as f64) as usize
            }
            _ => 0,
        };
        let appended = self.columns.par_iter_mut().try_for_each(|column| {
            // If there is no memory for all rows at once, growing step by step may still work.
            let _ = column.reserve_exact(expected);
            whole.iter().try_for_each(|(base, parsed)| {
                column.reserve(parsed.rows)?;
                column.append(*base, parsed);
                Ok(())
            })
        });
        appended.map_err(|_: TryReserveError| {
            DataError::reading(self.source.name(), io::ErrorKind::OutOfMemory.into())
        })
    }

    /// Hands out the collected rows, which begin after `line`.
    fn piece(&mut self, plan: &[Plan], line: u64) -> Result<Option<RawTable>, DataError> {
        let fresh = Pass::new(self.source, self.start, plan).columns;
        let columns = std::mem::replace(&mut self.columns, fresh);
        let (rows, lines) = (
            std::mem::take(&mut self.rows),
            std::mem::take(&mut self.lines),
        );
        if rows == 0 {
            return Ok(None);
        }
        let (mut names, mut kept) = (Vec::new(), Vec::new());
        for (name, column) in self.start.names.iter().zip(columns) {
            if matches!(column, Column::Skip) {
                continue;
            }
            kept.push(column.finished().ok_or_else(|| DataError::WrongFormat {
                path: self.source.name().to_path_buf(),
                what: format!(
                    "has numbers in column '{}' and text at some place below line {line}; correct the cell, take the column for \
                     categories with --as-text, or count other text as missing with --as-number",
                    clip(name)
                ),
            })?);
            names.push(name.clone());
        }
        let table = RawTable::new(self.source.name(), Format::Csv, names, rows, kept);
        let is_free = self.start.dialect.delimiter != b',' && !self.start.dialect.decimal_comma;
        let table = table
            .with_lines(lines)
            .with_notes(self.start.notes.clone())
            .with_free_comma(is_free);
        Ok(Some(if self.start.has_names {
            table
        } else {
            table.without_names()
        }))
    }

    /// Returns the columns; `None` for each column of numbers that turned out to be text.
    fn columns(self) -> Vec<Option<RawColumn>> {
        self.columns.into_iter().map(Column::finished).collect()
    }

    /// Returns the error for a block that starts at the current position of the pass.
    fn refuse(&self, block: &[u8], wrong: Wrong) -> DataError {
        let path = self.source.name().to_path_buf();
        match wrong {
            Wrong::Ragged { line, found } => DataError::Ragged {
                path,
                line: self.line + line,
                expected: self.columns.len(),
                found,
            },
            Wrong::Unclosed { line } => DataError::UnclosedQuote {
                path,
                line: self.line + line,
            },
            Wrong::Blank { line } => DataError::MissingValue {
                place: Place {
                    file: Some(path),
                    column: self.start.names[0].clone(),
                    position: Position::Line(self.line + line),
                },
                value: String::new(),
            },
            Wrong::NotText => not_text(&path, block, self.bytes),
        }
    }
}

impl Column {
    /// Reserves memory for exactly this many more rows. Columns that double as they grow would
    /// take up to twice the memory.
    fn reserve_exact(&mut self, rows: usize) -> Result<(), TryReserveError> {
        match self {
            Column::Number { values, .. } => values.try_reserve_exact(rows),
            Column::Text { codes, .. } => codes.try_reserve_exact(rows),
            Column::Skip => Ok(()),
        }
    }

    /// Reserves memory for this many more rows, with room to grow.
    fn reserve(&mut self, rows: usize) -> Result<(), TryReserveError> {
        match self {
            Column::Number { has_text: true, .. } | Column::Skip => Ok(()),
            Column::Number { values, .. } => values.try_reserve(rows),
            Column::Text { codes, .. } => codes.try_reserve(rows),
        }
    }

    fn append(&mut self, base: usize, parsed: &Parsed) {
        match self {
            Column::Number { has_text: true, .. } | Column::Skip => {}
            Column::Number {
                slot,
                has_text,
                values,
                ..
            } if parsed.has_text[*slot] => {
                *has_text = true;
                *values = Vec::new();
            }
            Column::Number {
                slot, values, gap, ..
            } => {
                if let (None, Some((row, shown))) = (&gap, &parsed.gaps[*slot]) {
                    *gap = Some((base + row, shown.clone()));
                }
                values.extend_from_slice(parsed.numbers(*slot));
            }
            Column::Text {
                slot,
                dictionary,
                codes,
            } => {
                let (local, cells) = &parsed.texts[*slot];
                let global: Vec<u32> = local
                    .levels
                    .iter()
                    .map(|text| dictionary.code(text))
                    .collect();
                codes.extend(cells.iter().map(|code| global[*code as usize]));
            }
        }
    }

    fn finished(self) -> Option<RawColumn> {
        match self {
            Column::Number { has_text: true, .. } | Column::Skip => None,
            Column::Number {
                values,
                gap: Some((first, shown)),
                ..
            } => Some(RawColumn::Gaps {
                values,
                first,
                shown,
            }),
            Column::Number { values, .. } => Some(RawColumn::Number(values)),
            Column::Text {
                dictionary, codes, ..
            } => Some(RawColumn::Text {
                levels: dictionary.levels,
                codes,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
