//! Splits a text into blocks of whole records, and parses one block into columns.

use std::io::{self, Read};

use super::dialect::{Dialect, is_record_end, line_breaks, skip_blanks, skip_break, unquoted};
use crate::caps::LONGEST_RECORD;
use crate::column::{Cell, Dictionary};

/// Large enough to keep a core busy, small enough that a few blocks take little memory.
const BLOCK: usize = 2 << 20;

/// Splits a stream at record boundaries.
pub(super) struct Blocks<'a> {
    stream: Box<dyn Read + Send + 'a>,
    /// Bytes that were read but not handed out.
    pub(super) buffer: Vec<u8>,
    pub(super) at_end: bool,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(stream: Box<dyn Read + Send + 'a>) -> Blocks<'a> {
        Blocks {
            stream,
            buffer: Vec::new(),
            at_end: false,
        }
    }

    /// Doubles the buffer, by at least a block, in the hope that the record ends there.
    pub(super) fn fill(&mut self) -> Result<(), Failed> {
        let have = self.buffer.len();
        if have > LONGEST_RECORD {
            return Err(Failed::TooLong);
        }
        let more = have.clamp(BLOCK, LONGEST_RECORD + 1);
        self.buffer
            .try_reserve_exact(more)
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let read = (&mut self.stream)
            .take(more as u64)
            .read_to_end(&mut self.buffer)?;
        self.at_end = read < more;
        Ok(())
    }

    /// Returns the next whole records; at the end of the stream, all remaining bytes.
    pub(super) fn next(&mut self, dialect: Dialect) -> Result<Option<Vec<u8>>, Failed> {
        loop {
            if self.at_end {
                let rest = std::mem::take(&mut self.buffer);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            if self.buffer.len() >= BLOCK
                && let Some(end) = dialect.last_record_end(&self.buffer)
            {
                let rest = self.buffer[end..].to_vec();
                self.buffer.truncate(end);
                return Ok(Some(std::mem::replace(&mut self.buffer, rest)));
            }
            self.fill()?;
        }
    }

    /// Skips the first bytes of the stream.
    pub(super) fn skip(&mut self, bytes: u64) -> io::Result<()> {
        io::copy(&mut (&mut self.stream).take(bytes), &mut io::sink())?;
        Ok(())
    }
}

/// The reason why there is no next block.
#[derive(Debug)]
pub(super) enum Failed {
    Io(io::Error),
    /// The first record in the buffer does not end within [`LONGEST_RECORD`].
    TooLong,
}

impl From<io::Error> for Failed {
    fn from(reason: io::Error) -> Failed {
        Failed::Io(reason)
    }
}

/// How a column is parsed; the number is its position among the columns of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Number(usize),
    Text(usize),
    Skip,
}

/// The columns of a block.
pub(super) struct Parsed {
    pub(super) rows: usize,
    stride: usize,
    numbers: Vec<f64>,
    /// The first missing or infinite cell of each column of numbers.
    pub(super) gaps: Vec<Option<(usize, String)>>,
    /// Whether each column of numbers contains text.
    pub(super) has_text: Vec<bool>,
    pub(super) texts: Vec<(Dictionary, Vec<u32>)>,
    /// Rows at which line numbers jump, each with its line counted from 0 at the start of the block.
    pub(super) jumps: Vec<(usize, u64)>,
    pub(super) lines: u64,
    /// Whether a blank line follows the last record.
    pub(super) ends_blank: bool,
}

impl Parsed {
    /// Returns a column of numbers, `NaN` for a missing cell.
    pub(super) fn numbers(&self, slot: usize) -> &[f64] {
        &self.numbers[slot * self.stride..][..self.rows]
    }
}

/// An error in a block, with its line counted from 0 at the start of the block.
#[derive(Debug, PartialEq)]
pub(super) enum Wrong {
    Ragged { line: u64, found: usize },
    Unclosed { line: u64 },
    Blank { line: u64 },
    NotText,
}

/// Parses whole records. Numbers take the fast path: a numeric cell is parsed only once.
pub(super) fn parse(bytes: &[u8], dialect: Dialect, plan: &[Plan]) -> Result<Parsed, Wrong> {
    let (mut slots, mut texts) = (0, 0);
    for plan in plan {
        match *plan {
            Plan::Number(slot) => slots = slots.max(slot + 1),
            Plan::Text(slot) => texts = texts.max(slot + 1),
            Plan::Skip => {}
        }
    }
    // A record takes at least one byte per cell, counting its line break. This bounds the memory when
    // many lines have no cells.
    let stride = (line_breaks(bytes) as usize).min(bytes.len() / plan.len().max(1)) + 1;
    let mut parser = Parser {
        bytes,
        dialect,
        at: 0,
        line: 0,
        parsed: Parsed {
            rows: 0,
            stride,
            numbers: vec![0.0; slots * stride],
            gaps: vec![None; slots],
            has_text: vec![false; slots],
            texts: vec![Default::default(); texts],
            jumps: Vec::new(),
            lines: 0,
            ends_blank: false,
        },
    };
    let mut expected = None;
    loop {
        let blank = parser.skip_blank_lines();
        if parser.at >= bytes.len() {
            parser.parsed.ends_blank = blank;
            break;
        }
        let line = parser.line;
        if blank && plan.len() == 1 {
            // Skipping an empty cell would shift the rows.
            return Err(Wrong::Blank { line: line - 1 });
        }
        if expected != Some(line) {
            parser.parsed.jumps.push((parser.parsed.rows, line));
        }
        parser.record(plan)?;
        expected = Some(line + 1);
    }
    parser.parsed.lines = parser.line;
    Ok(parser.parsed)
}

struct Parser<'a> {
    bytes: &'a [u8],
    dialect: Dialect,
    at: usize,
    line: u64,
    parsed: Parsed,
}

impl Parser<'_> {
    /// Skips blank lines and returns whether there were any. In blank-delimited text, it
    /// also moves to the first cell.
    fn skip_blank_lines(&mut self) -> bool {
        let mut any = false;
        loop {
            let start = self.at;
            if matches!(self.bytes.get(start), Some(b' ' | b'\t')) {
                let after = skip_blanks(self.bytes, start);
                let tabs_are_cells =
                    self.dialect.delimiter == b'\t' && self.bytes[start..after].contains(&b'\t');
                if self.dialect.in_blanks() || (is_record_end(self.bytes, after) && !tabs_are_cells)
                {
                    self.at = after;
                }
            }
            let next = skip_break(self.bytes, self.at);
            if next == self.at {
                return any;
            }
            self.at = next;
            self.line += 1;
            any = true;
        }
    }

    fn record(&mut self, plan: &[Plan]) -> Result<(), Wrong> {
        let (start, line) = (self.at, self.line);
        let row = self.parsed.rows;
        for (j, plan) in plan.iter().enumerate() {
            if j > 0 && !self.next_cell() {
                return Err(self.ragged(start, line));
            }
            match *plan {
                Plan::Number(slot) => {
                    let value = match self.plain_number() {
                        Some(value) => value,
                        None => self.odd_number(slot, row)?,
                    };
                    self.parsed.numbers[slot * self.parsed.stride + row] = value;
                }
                Plan::Text(slot) => {
                    let (end, from) = self.cell_end()?;
                    let cell = unquoted(&self.bytes[from..end]);
                    let text = as_text(&cell)?;
                    let (dictionary, codes) = &mut self.parsed.texts[slot];
                    codes.push(dictionary.code(text));
                }
                Plan::Skip => {
                    self.cell_end()?;
                }
            }
        }
        if self.dialect.in_blanks() {
            self.at = skip_blanks(self.bytes, self.at);
        }
        if !is_record_end(self.bytes, self.at) {
            return Err(self.ragged(start, line));
        }
        if self.at < self.bytes.len() {
            self.at = skip_break(self.bytes, self.at);
            self.line += 1;
        }
        self.parsed.rows += 1;
        Ok(())
    }

    /// Moves past the delimiter; returns false at the end of the record.
    #[inline]
    fn next_cell(&mut self) -> bool {
        if self.dialect.in_blanks() {
            self.at = skip_blanks(self.bytes, self.at);
            return !is_record_end(self.bytes, self.at);
        }
        let more = self.bytes.get(self.at) == Some(&self.dialect.delimiter);
        self.at += usize::from(more);
        more
    }

    /// Parses a cell that holds nothing but a finite number, after optional leading blanks.
    #[inline]
    fn plain_number(&mut self) -> Option<f64> {
        let mut start = self.at;
        while self.bytes.get(start) == Some(&b' ') {
            start += 1;
        }
        let (value, length) = fast_float2::parse_partial::<f64, _>(&self.bytes[start..]).ok()?;
        let end = start + length;
        let ends = match self.bytes.get(end) {
            None | Some(b'\n' | b'\r') => true,
            Some(b'\t') if self.dialect.in_blanks() => true,
            Some(byte) => *byte == self.dialect.delimiter,
        };
        if !ends || !value.is_finite() {
            return None;
        }
        self.at = end;
        Some(value)
    }

    /// Parses any other cell: quoted, followed by blanks, missing, or text.
    #[cold]
    fn odd_number(&mut self, slot: usize, row: usize) -> Result<f64, Wrong> {
        let (end, from) = self.cell_end()?;
        let cell = unquoted(&self.bytes[from..end]);
        let mut text = as_text(&cell)?;
        let with_point;
        if self.dialect.decimal_comma && text.contains(',') && !text.contains('.') {
            with_point = text.replacen(',', ".", 1);
            text = &with_point;
        }
        let value = match Cell::of(text) {
            Cell::Number(value) => return Ok(value),
            Cell::Text => {
                self.parsed.has_text[slot] = true;
                return Ok(f64::NAN);
            }
            Cell::Missing => f64::NAN,
            Cell::NotFinite(value) => value,
        };
        self.parsed.gaps[slot].get_or_insert_with(|| (row, text.to_string()));
        Ok(value)
    }

    /// Moves to the end of the cell and returns (end, start). Line breaks in quotes are counted.
    fn cell_end(&mut self) -> Result<(usize, usize), Wrong> {
        let start = self.at;
        let (end, closed) = self.dialect.cell_end(self.bytes, start);
        if !closed {
            return Err(Wrong::Unclosed { line: self.line });
        }
        if self.bytes.get(start) == Some(&b'"') {
            self.line += line_breaks(&self.bytes[start..end]);
        }
        self.at = end;
        Ok((end, start))
    }

    fn ragged(&self, start: usize, line: u64) -> Wrong {
        match self.dialect.record(self.bytes, start) {
            Some((cells, _)) => Wrong::Ragged {
                line,
                found: cells.len(),
            },
            None => Wrong::Unclosed { line },
        }
    }
}

/// Returns a text cell without surrounding blanks.
pub(super) fn as_text(cell: &[u8]) -> Result<&str, Wrong> {
    match std::str::from_utf8(cell) {
        Ok(text) if !text.contains('\0') => Ok(text.trim()),
        _ => Err(Wrong::NotText),
    }
}
