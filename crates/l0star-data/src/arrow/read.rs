//! Reads Parquet and Arrow files into tables.

use std::fs::File;
use std::io::{self, BufReader, Cursor};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;

use super::columns::Columns;
use super::fault::Fault;
use super::{messages, pages};
use crate::caps::Allowance;
use crate::error::DataError;
use crate::format::Format;
use crate::names::unique;
use crate::raw::RawTable;
use crate::source::Source;

pub(crate) fn read_parquet(source: &Source<'_>) -> Result<RawTable, DataError> {
    fn columns(
        input: impl ChunkReader + 'static,
        allowance: Allowance,
        source: &Source<'_>,
    ) -> Result<Columns, Fault> {
        pages::check_footer(&input)?;
        let metadata =
            ArrowReaderMetadata::load(&input, ArrowReaderOptions::new()).map_err(Fault::damaged)?;
        let rows = pages::check(&input, metadata.metadata(), allowance)?;
        let all = metadata.metadata().file_metadata().num_rows();
        let mut columns = Columns::new(metadata.schema(), allowance);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(input, metadata);
        let reader = builder.with_batch_size(rows).build();
        for batch in reader.map_err(Fault::damaged)? {
            columns.append(&batch.map_err(Fault::damaged)?)?;
            source.tell(columns.rows, usize::try_from(all).unwrap_or(0));
        }
        Ok(columns)
    }
    read(source, Format::Parquet, |allowance| {
        Ok(match source.plain_file() {
            Some(path) => {
                let input = File::open(path).map_err(|reason| source.failed(reason))?;
                columns(input, allowance, source)
            }
            None => columns(bytes::Bytes::from(source.bytes()?), allowance, source),
        })
    })
}

pub(crate) fn read_ipc(source: &Source<'_>) -> Result<RawTable, DataError> {
    fn columns(
        schema: &Schema,
        reader: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
        allowance: Allowance,
    ) -> Result<Columns, Fault> {
        let mut columns = Columns::new(schema, allowance);
        for batch in reader {
            columns.append(&batch.map_err(Fault::damaged)?)?;
        }
        Ok(columns)
    }
    fn file(mut input: impl io::Read + io::Seek, allowance: Allowance) -> Result<Columns, Fault> {
        messages::check_file(&mut input, allowance)?;
        let reader = FileReader::try_new(input, None).map_err(Fault::damaged)?;
        columns(&reader.schema(), reader, allowance)
    }
    read(source, Format::Arrow, |allowance| {
        Ok(if !source.head()?.starts_with(b"ARROW1") {
            let input = BufReader::new(source.stream()?);
            messages::check_stream(BufReader::new(source.stream()?), allowance).and_then(|()| {
                let reader = StreamReader::try_new(input, None).map_err(Fault::damaged)?;
                columns(&reader.schema(), reader, allowance)
            })
        } else if let Some(path) = source.plain_file() {
            let input = File::open(path).map_err(|reason| source.failed(reason))?;
            file(BufReader::new(input), allowance)
        } else {
            file(Cursor::new(source.bytes()?), allowance)
        })
    })
}

/// Reads a table, or returns the error of the format's own reader. Those readers are made for intact files and
/// may panic on a damaged one.
fn read(
    source: &Source<'_>,
    format: Format,
    columns: impl FnOnce(Allowance) -> Result<Result<Columns, Fault>, DataError>,
) -> Result<RawTable, DataError> {
    let columns = guarded(source, format, || columns(source.allowance()))?;
    let rows = columns.rows;
    let (names, columns) = columns.finish();
    if names.is_empty() {
        return Err(no_columns(source, format));
    }
    let (names, notes) = unique(names);
    if rows == 0 {
        return Err(DataError::NoRows {
            path: source.name().to_path_buf(),
        });
    }
    let table = RawTable::new(source.name(), format, names, rows, columns);
    Ok(table.with_notes(notes))
}

/// Runs a format's own reader and turns its errors and panics into a [`DataError`].
pub(super) fn guarded<T>(
    source: &Source<'_>,
    format: Format,
    read: impl FnOnce() -> Result<Result<T, Fault>, DataError>,
) -> Result<T, DataError> {
    let damaged = |reason: &str| {
        let reason =
            format!("{reason}; it is damaged, cut short or of another kind, so write it again");
        unreadable(source, format, reason)
    };
    catch_unwind(AssertUnwindSafe(read))
        .map_err(|_| damaged("its parts contradict each other"))??
        .map_err(|fault| match fault {
            Fault::Damaged(reason) => damaged(reason.trim_end_matches('.')),
            Fault::TooLarge(cap) => unreadable(source, format, cap.to_string()),
        })
}

pub(super) fn no_columns(source: &Source<'_>, format: Format) -> DataError {
    unreadable(source, format, "it has no columns; write a table".into())
}

fn unreadable(source: &Source<'_>, format: Format, reason: String) -> DataError {
    DataError::Unreadable {
        path: source.name().to_path_buf(),
        format: format.described().into(),
        reason,
    }
}
