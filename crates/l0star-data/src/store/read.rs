//! Reads a column store like any other file: as a whole, or piece by piece.

use std::ops::Range;

use super::ColumnStore;
use super::layout::damaged;
use crate::column::RawColumn;
use crate::error::DataError;
use crate::format::Format;
use crate::pieces::{Each, Kind, Wanted, piece_rows};
use crate::raw::RawTable;
use crate::source::Source;

/// Approximate number of cells in a piece.
const CELLS: usize = 1 << 19;

pub(crate) fn read(source: &Source<'_>) -> Result<RawTable, DataError> {
    let store = open(source)?;
    let all: Vec<usize> = (0..store.columns()).collect();
    Ok(rows(source, &store, &all, 0..store.rows()))
}

pub(crate) fn stream(
    source: &Source<'_>,
    wanted: &Wanted<'_>,
    each: Each<'_>,
) -> Result<(), DataError> {
    let store = open(source)?;
    let names = store.names();
    let is_wanted = |j: &usize| wanted.kind(&names[*j]) != Kind::Skipped;
    let columns: Vec<usize> = (0..names.len()).filter(is_wanted).collect();
    let most = piece_rows(columns.len(), CELLS);
    for start in (0..store.rows()).step_by(most) {
        let part = start..(start + most).min(store.rows());
        if !each(rows(source, &store, &columns, part))? {
            break;
        }
    }
    Ok(())
}

fn open(source: &Source<'_>) -> Result<ColumnStore, DataError> {
    match source.plain_file() {
        Some(path) => ColumnStore::open(path, &|read, of| source.tell_bytes(read, of)),
        None => Err(damaged(
            source.name(),
            "it can be mapped only as a file on a disk, as it was written".into(),
        )),
    }
}

fn rows(
    source: &Source<'_>,
    store: &ColumnStore,
    columns: &[usize],
    part: Range<usize>,
) -> RawTable {
    let names = columns.iter().map(|j| store.names()[*j].clone());
    let values = columns
        .iter()
        .map(|j| RawColumn::from_numbers(store.some_numbers(*j, part.clone())));
    let (name, rows) = (source.name(), part.len());
    let table = RawTable::new(name, Format::Store, names.collect(), rows, values.collect());
    table.starting_at(part.start as u64 + 1)
}
