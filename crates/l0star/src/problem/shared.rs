//! Columns that lie in memory which somebody else keeps, such as a memory map: read in place, never copied as a whole.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};

/// Entries that are converted or gathered at a time: they stay in the cache.
const BLOCK: usize = 1024;

/// The owner of columns for [`Design::shared`](super::Design::shared): a memory map, an array of another language.
///
/// Entries must not change as long as the design is used, and every call must give the same ones.
pub trait SharedColumns: fmt::Debug + Send + Sync {
    /// The entries of a column, one for each row.
    fn column(&self, index: usize) -> Numbers<'_>;
}

/// The entries of a column, in double or in single precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Numbers<'a> {
    /// 64 bits each.
    Double(&'a [f64]),
    /// 32 bits each; every one of them is a double, too.
    Single(&'a [f32]),
}

impl Numbers<'_> {
    fn len(self) -> usize {
        match self {
            Self::Double(values) => values.len(),
            Self::Single(values) => values.len(),
        }
    }
}

/// Some rows of a column, all of whose entries are stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Full<'a> {
    numbers: Numbers<'a>,
    /// Where the rows are among the entries; all of them, where nothing is said.
    rows: Option<&'a [u32]>,
}

impl<'a> Full<'a> {
    /// From the entries themselves.
    #[inline]
    pub(crate) fn of(values: &'a [f64]) -> Self {
        Self {
            numbers: Numbers::Double(values),
            rows: None,
        }
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.rows.map_or(self.numbers.len(), <[u32]>::len)
    }

    /// The entries as they lie in memory, if these are they.
    #[inline]
    pub(crate) fn plain(self) -> Option<&'a [f64]> {
        match (self.numbers, self.rows) {
            (Numbers::Double(values), None) => Some(values),
            _ => None,
        }
    }

    /// The entry in a row.
    #[inline]
    pub(crate) fn value(self, row: usize) -> f64 {
        let at = self.rows.map_or(row, |rows| rows[row] as usize);
        match self.numbers {
            Numbers::Double(values) => values[at],
            Numbers::Single(values) => f64::from(values[at]),
        }
    }

    /// All entries, in the order of the rows.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = f64> + use<'a> {
        // One of the two is empty: entries in memory are passed over as fast as a slice is.
        let plain = self.plain();
        let others = if plain.is_some() { 0 } else { self.len() };
        let others = (0..others).map(move |row| self.value(row));
        plain.unwrap_or_default().iter().copied().chain(others)
    }

    /// Takes the entries of some rows in pieces, in order: all at once where they lie in memory like that.
    #[inline]
    pub(crate) fn each(self, rows: Range<usize>, mut take: impl FnMut(Range<usize>, &[f64])) {
        match self.plain() {
            Some(values) => take(rows.clone(), &values[rows]),
            None => self.each_block(rows, &mut take),
        }
    }

    fn each_block(self, rows: Range<usize>, take: &mut dyn FnMut(Range<usize>, &[f64])) {
        let mut block = [0.0; BLOCK];
        for start in rows.clone().step_by(BLOCK) {
            let part = start..(start + BLOCK).min(rows.end);
            let block = &mut block[..part.len()];
            match (self.numbers, self.rows) {
                (Numbers::Double(values), None) => block.copy_from_slice(&values[part.clone()]),
                (Numbers::Single(values), None) => {
                    let pairs = block.iter_mut().zip(&values[part.clone()]);
                    pairs.for_each(|(out, value)| *out = f64::from(*value));
                }
                (Numbers::Double(values), Some(rows)) => {
                    let pairs = block.iter_mut().zip(&rows[part.clone()]);
                    pairs.for_each(|(out, row)| *out = values[*row as usize]);
                }
                (Numbers::Single(values), Some(rows)) => {
                    let pairs = block.iter_mut().zip(&rows[part.clone()]);
                    pairs.for_each(|(out, row)| *out = f64::from(values[*row as usize]));
                }
            }
            take(part, block);
        }
    }

    /// The sum of what each piece of the column gives.
    #[inline]
    pub(crate) fn sum(self, mut of: impl FnMut(Range<usize>, &[f64]) -> f64) -> f64 {
        let mut sum = 0.0;
        self.each(0..self.len(), |rows, values| sum += of(rows, values));
        sum
    }

    /// Appends the entries of some rows.
    #[inline]
    pub(crate) fn append(self, rows: Range<usize>, seen: impl Fn(f64) -> f64, out: &mut Vec<f64>) {
        self.each(rows, |_, values| {
            out.extend(values.iter().map(|v| seen(*v)))
        });
    }
}

/// The columns of a design that somebody else owns, and those that came later.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    owner: Arc<dyn SharedColumns>,
    places: Vec<Place>,
    /// The rows of the owner that count; all of them, where nothing is said.
    rows: Option<Arc<[u32]>>,
}

#[derive(Debug, Clone)]
enum Place {
    Owner(usize),
    /// In memory, only the rows that count.
    Own(Arc<[f64]>),
}

impl Shared {
    /// Some columns of the owner, each of so many rows.
    pub(super) fn new(
        rows: usize,
        columns: &[usize],
        owner: Arc<dyn SharedColumns>,
    ) -> Result<Self> {
        if u32::try_from(rows).is_err() {
            return Err(Error::Setting {
                name: "the number of rows of a shared design matrix",
                value: rows.to_string(),
                range: "row indices have 32 bits, so at most 4294967295 rows fit",
            });
        }
        for index in columns {
            let found = owner.column(*index).len();
            if found != rows {
                return Err(Error::Shape {
                    what: format!("column {} of a shared design matrix", index + 1),
                    expected: rows,
                    found,
                });
            }
        }
        Ok(Self {
            owner,
            places: columns.iter().copied().map(Place::Owner).collect(),
            rows: None,
        })
    }

    #[inline]
    pub(super) fn column(&self, j: usize) -> Full<'_> {
        match &self.places[j] {
            Place::Own(values) => Full::of(values),
            Place::Owner(index) => Full {
                numbers: self.owner.column(*index),
                rows: self.rows.as_deref(),
            },
        }
    }

    /// How many entries are not those of the owner.
    pub(super) fn own_count(&self) -> usize {
        let own = self.places.iter().map(|place| match place {
            Place::Owner(_) => 0,
            Place::Own(values) => values.len(),
        });
        own.sum()
    }

    pub(super) fn push(&mut self, column: &[f64]) {
        self.places.push(Place::Own(column.into()));
    }

    /// The rows that `keep` marks, of those that count now: only their numbers are written down.
    pub(super) fn keep_rows(&self, keep: &[bool]) -> Self {
        let kept = || (0..keep.len()).filter(|row| keep[*row]);
        let own = |place: &Place| match place {
            Place::Owner(index) => Place::Owner(*index),
            Place::Own(values) => Place::Own(kept().map(|row| values[row]).collect()),
        };
        let rows = match &self.rows {
            None => kept().map(|row| row as u32).collect(),
            Some(rows) => kept().map(|row| rows[row]).collect(),
        };
        Self {
            owner: Arc::clone(&self.owner),
            places: self.places.iter().map(own).collect(),
            rows: Some(rows),
        }
    }
}
