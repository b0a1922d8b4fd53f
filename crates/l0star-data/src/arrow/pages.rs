//! Parquet: compares the lengths in the footer and in the page headers with the file
//! before anything is decoded.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::fault::Fault;
use super::thrift::{At, Walk};
use crate::caps::{Allowance, DENSEST};

/// Upper limits on the rows decoded at a time, and on their memory if every text is as long as its page.
const ROWS: u64 = 8192;
const BATCH: u64 = 1 << 30;

/// Bytes of the footer's length and the magic word, which end a file.
const TAIL: u64 = 8;

/// A column of byte values up to this length may consist of nulls only.
const SHORT: u64 = 4096;

/// Checks the tree of columns in the footer, because the reader reserves memory for as many
/// children as each node claims.
pub(super) fn check_footer(file: &impl ChunkReader) -> Result<(), Fault> {
    let beyond = || Fault::damaged("its footer is longer than the file");
    let tail_at = file.len().checked_sub(TAIL).ok_or_else(beyond)?;
    let tail = file.get_bytes(tail_at, 4).map_err(Fault::damaged)?;
    let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let footer_at = tail_at.checked_sub(length).ok_or_else(beyond)?;
    let footer = file.get_read(footer_at).map_err(Fault::damaged)?;
    let mut children = 0i64;
    Walk::new(footer, length).structure(|at, value| {
        if at == (At { outer: 2, field: 5 }) {
            children = children.saturating_add(value.max(0));
        }
    })?;
    if children as u64 <= length {
        Ok(())
    } else {
        Err(Fault::damaged(
            "its columns are more than its footer has room for",
        ))
    }
}

/// Checks the pages of all columns, and returns the number of rows that may be decoded at a time.
pub(super) fn check(
    file: &impl ChunkReader,
    metadata: &ParquetMetaData,
    mut allowance: Allowance,
) -> Result<usize, Fault> {
    let schema = metadata.file_metadata().schema_descr();
    // The largest size of a value in each column.
    let mut widest = vec![8u64; schema.num_columns()];
    for group in metadata.row_groups() {
        for (column, widest) in group.columns().iter().zip(&mut widest) {
            let chunk = Chunk::of(file, column, &mut allowance)?;
            if column.column_type() == Type::BYTE_ARRAY {
                *widest = (*widest).max(chunk.largest);
            } else if column.column_type() == Type::FIXED_LEN_BYTE_ARRAY {
                let length = u64::try_from(column.column_descr().type_length()).unwrap_or(0);
                if length > chunk.largest.max(SHORT) {
                    return Err(Fault::damaged(format!(
                        "values of {length} bytes do not fit in pages of {}",
                        chunk.largest
                    )));
                }
                *widest = (*widest).max(length);
            }
            if chunk.has_lengths {
                check_lengths(file, column)?;
            }
        }
    }
    let row: u64 = widest.iter().sum();
    Ok((BATCH / row.max(1)).clamp(1, ROWS) as usize)
}

/// Facts from the headers of a column's pages.
struct Chunk {
    /// Unpacked size of the largest page.
    largest: u64,
    /// Whether texts are stored separately from their lengths.
    has_lengths: bool,
}

impl Chunk {
    fn of(
        file: &impl ChunkReader,
        column: &ColumnChunkMetaData,
        allowance: &mut Allowance,
    ) -> Result<Chunk, Fault> {
        let (mut at, length) = column.byte_range();
        let end = at.checked_add(length).filter(|end| *end <= file.len());
        let end = end.ok_or_else(|| Fault::damaged("a column would be beyond its end"))?;
        let mut chunk = Chunk {
            largest: 0,
            has_lengths: false,
        };
        while at < end {
            let (mut unpacked, mut packed, mut values, mut entries) = (0, 0, 0, 0);
            let header = file.get_read(at).map_err(Fault::damaged)?;
            at += Walk::new(header, end - at).structure(|at, value| {
                match (at.outer, at.field) {
                    (0, 2) => unpacked = value,
                    (0, 3) => packed = value,
                    (5 | 8, 1) => values = value,
                    (7, 1) => entries = value,
                    // DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY.
                    (5, 2) | (8, 4) => chunk.has_lengths |= (6..=7).contains(&value),
                    _ => {}
                }
            })?;
            let natural = |number: i64| {
                u64::try_from(number).map_err(|_| Fault::damaged("a page has a negative length"))
            };
            let (unpacked, packed) = (natural(unpacked)?, natural(packed)?);
            let (values, entries) = (natural(values)?, natural(entries)?);
            at = at
                .checked_add(packed)
                .filter(|at| *at <= end)
                .ok_or_else(|| Fault::damaged("a page would be beyond the end of its column"))?;
            if unpacked > packed.saturating_mul(DENSEST) || entries > unpacked {
                return Err(Fault::damaged(format!(
                    "a page of {packed} bytes claims to hold {}",
                    unpacked.max(entries)
                )));
            }
            allowance.take(values.saturating_mul(8))?;
            chunk.largest = chunk.largest.max(unpacked);
        }
        Ok(chunk)
    }
}

/// Checks the number of texts that a column's pages claim, because the reader reserves
/// memory for their lengths.
fn check_lengths(file: &impl ChunkReader, column: &ColumnChunkMetaData) -> Result<(), Fault> {
    let mut pages = SerializedPageReader::new(Arc::new(Borrowed(file)), column, 0, None)
        .map_err(Fault::damaged)?;
    while let Some(page) = pages.get_next_page().map_err(Fault::damaged)? {
        let lists = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => continue,
        };
        let wrong = || Fault::damaged("a page claims to have more texts than values");
        let mut rest = values(&page, column).ok_or_else(wrong)?;
        for _ in 0..lists {
            rest = after_lengths(rest, page.num_values().into()).ok_or_else(wrong)?;
        }
    }
    Ok(())
}

/// Returns the bytes of a page after its levels, which tell how deep values are nested and which are null.
fn values<'a>(page: &'a Page, column: &ColumnChunkMetaData) -> Option<&'a [u8]> {
    let described = column.column_descr();
    match page {
        Page::DataPage { buf, .. } => {
            let levels = [described.max_rep_level(), described.max_def_level()];
            let mut rest = &buf[..];
            for _ in levels.iter().filter(|level| **level > 0) {
                let (length, after) = rest.split_first_chunk()?;
                rest = after.get(u32::from_le_bytes(*length) as usize..)?;
            }
            Some(rest)
        }
        Page::DataPageV2 {
            buf,
            def_levels_byte_len,
            rep_levels_byte_len,
            ..
        } => buf.get((*def_levels_byte_len as usize).checked_add(*rep_levels_byte_len as usize)?..),
        Page::DictionaryPage { .. } => None,
    }
}

/// Skips a list of up to `most` integers in DELTA_BINARY_PACKED and returns the bytes after it.
///
/// The list starts with the block size, the number of miniblocks per block, the number of values and the first
/// value. A block consists of the least difference, the bit width of each miniblock, and the miniblocks.
fn after_lengths(bytes: &[u8], most: u64) -> Option<&[u8]> {
    let mut rest = bytes;
    let block = varint(&mut rest)?;
    let miniblocks = usize::try_from(varint(&mut rest)?).ok()?;
    let count = varint(&mut rest)?;
    varint(&mut rest)?;
    if count > most || block == 0 || miniblocks == 0 {
        return None;
    }
    let each = block / miniblocks as u64;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        varint(&mut rest)?;
        let (widths, mut after) = rest.split_at_checked(miniblocks)?;
        for width in widths {
            if left > 0 {
                let size = u64::from(*width).checked_mul(each)? / 8;
                after = after.get(usize::try_from(size).ok()?..)?;
            }
            left = left.saturating_sub(each);
        }
        rest = after;
    }
    Some(rest)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 127) << shift;
        if *byte < 128 {
            return Some(value);
        }
    }
    None
}

/// A borrowed file, so that the page reader can share it.
struct Borrowed<'a, F>(&'a F);

impl<F: ChunkReader> Length for Borrowed<'_, F> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<F: ChunkReader> ChunkReader for Borrowed<'_, F> {
    type T = F::T;

    fn get_read(&self, start: u64) -> Result<F::T, ParquetError> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.0.get_bytes(start, length)
    }
}
