//! Reads Parquet and Arrow files piece by piece.

use std::fs::File;
use std::io::{BufReader, Cursor};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;

use super::columns::Columns;
use super::fault::Fault;
use super::read::{guarded, no_columns};
use super::{messages, pages};
use crate::caps::Allowance;
use crate::error::DataError;
use crate::format::Format;
use crate::names::unique;
use crate::pieces::{Each, Kind, Wanted, piece_rows};
use crate::raw::RawTable;
use crate::source::Source;

/// Approximate number of cells in a piece.
const CELLS: usize = 1 << 21;

pub(crate) fn stream_parquet(
    source: &Source<'_>,
    wanted: &Wanted<'_>,
    each: Each<'_>,
) -> Result<(), DataError> {
    fn run(input: impl ChunkReader + 'static, pieces: &mut Pieces<'_, '_>) -> Result<(), Fault> {
        let source = pieces.source;
        pages::check_footer(&input)?;
        let metadata =
            ArrowReaderMetadata::load(&input, ArrowReaderOptions::new()).map_err(Fault::damaged)?;
        let rows = pages::check(&input, metadata.metadata(), source.allowance())?;
        let all = metadata.metadata().file_metadata().num_rows();
        let places = pieces.start(metadata.schema());
        let schema = metadata.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::roots(schema, places);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(input, metadata);
        let reader = builder.with_batch_size(rows).with_projection(mask).build();
        for batch in reader.map_err(Fault::damaged)? {
            if !pieces.put(&batch.map_err(Fault::damaged)?)? {
                return Ok(());
            }
            source.tell(pieces.rows as usize, usize::try_from(all).unwrap_or(0));
        }
        pieces.end();
        Ok(())
    }
    Pieces::read(source, Format::Parquet, wanted, each, |pieces| {
        Ok(match source.plain_file() {
            Some(path) => {
                let input = File::open(path).map_err(|reason| source.failed(reason))?;
                run(input, pieces)
            }
            None => run(bytes::Bytes::from(source.bytes()?), pieces),
        })
    })
}

pub(crate) fn stream_ipc(
    source: &Source<'_>,
    wanted: &Wanted<'_>,
    each: Each<'_>,
) -> Result<(), DataError> {
    fn run(
        schema: &Schema,
        reader: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
        pieces: &mut Pieces<'_, '_>,
    ) -> Result<(), Fault> {
        let places = pieces.start(schema);
        for batch in reader {
            let batch = batch.map_err(Fault::damaged)?;
            let batch = batch.project(&places).map_err(Fault::damaged)?;
            if !pieces.put(&batch)? {
                return Ok(());
            }
        }
        pieces.end();
        Ok(())
    }
    fn file(
        mut input: impl std::io::Read + std::io::Seek,
        pieces: &mut Pieces<'_, '_>,
    ) -> Result<(), Fault> {
        messages::check_file(&mut input, pieces.source.allowance())?;
        let reader = FileReader::try_new(input, None).map_err(Fault::damaged)?;
        run(&reader.schema(), reader, pieces)
    }
    Pieces::read(source, Format::Arrow, wanted, each, |pieces| {
        Ok(if !source.head()?.starts_with(b"ARROW1") {
            let checked =
                messages::check_stream(BufReader::new(source.stream()?), source.allowance());
            let input = BufReader::new(source.stream()?);
            checked.and_then(|()| {
                let reader = StreamReader::try_new(input, None).map_err(Fault::damaged)?;
                run(&reader.schema(), reader, pieces)
            })
        } else if let Some(path) = source.plain_file() {
            let input = File::open(path).map_err(|reason| source.failed(reason))?;
            file(BufReader::new(input), pieces)
        } else {
            file(Cursor::new(source.bytes()?), pieces)
        })
    })
}

/// Rows on their way from the decoder to the caller.
struct Pieces<'a, 'e> {
    source: &'a Source<'a>,
    format: Format,
    wanted: &'a Wanted<'a>,
    each: Each<'e>,
    /// Names of the wanted columns.
    names: Vec<String>,
    notes: Vec<String>,
    schema: Schema,
    columns: Option<Columns>,
    /// Number of rows read so far.
    rows: u64,
    /// The error that the caller returned for a piece.
    refused: Option<DataError>,
}

impl<'a, 'e> Pieces<'a, 'e> {
    fn read(
        source: &'a Source<'a>,
        format: Format,
        wanted: &'a Wanted<'a>,
        each: Each<'e>,
        run: impl FnOnce(&mut Self) -> Result<Result<(), Fault>, DataError>,
    ) -> Result<(), DataError> {
        let mut pieces = Self {
            source,
            format,
            wanted,
            each,
            names: Vec::new(),
            notes: Vec::new(),
            schema: Schema::empty(),
            columns: None,
            rows: 0,
            refused: None,
        };
        guarded(source, format, || run(&mut pieces))?;
        match (pieces.refused, pieces.rows) {
            (Some(error), _) => Err(error),
            (None, _) if pieces.names.is_empty() => Err(no_columns(source, format)),
            (None, 0) => Err(DataError::NoRows {
                path: source.name().to_path_buf(),
            }),
            (None, _) => Ok(()),
        }
    }

    /// Selects the wanted columns and returns their positions.
    fn start(&mut self, schema: &Schema) -> Vec<usize> {
        let fields = schema.fields().iter();
        let names = fields.map(|field| field.name().trim().to_owned());
        let (names, notes) = unique(names.collect());
        let is_wanted = |j: &usize| self.wanted.kind(&names[*j]) != Kind::Skipped;
        let places: Vec<usize> = (0..names.len()).filter(is_wanted).collect();
        self.names = places.iter().map(|j| names[*j].clone()).collect();
        self.notes = notes;
        let fields: Vec<_> = places.iter().map(|j| schema.field(*j).clone()).collect();
        self.schema = Schema::new(fields);
        places
    }

    /// Adds a batch of the wanted columns; returns false when no more rows are wanted.
    fn put(&mut self, batch: &RecordBatch) -> Result<bool, Fault> {
        // Pieces that were handed out are no longer kept, so each piece gets the whole allowance of the file.
        let allowance: Allowance = self.source.allowance();
        let columns = self
            .columns
            .get_or_insert_with(|| Columns::new(&self.schema, allowance));
        columns.append(batch)?;
        self.rows += batch.num_rows() as u64;
        Ok(columns.rows < piece_rows(self.names.len(), CELLS) || self.end())
    }

    /// Hands out the collected rows; returns false when no more are wanted.
    fn end(&mut self) -> bool {
        let Some(columns) = self.columns.take().filter(|columns| columns.rows > 0) else {
            return true;
        };
        let rows = columns.rows;
        let first = self.rows - rows as u64 + 1;
        let (_, columns) = columns.finish();
        let (name, names) = (self.source.name(), self.names.clone());
        let table = RawTable::new(name, self.format, names, rows, columns)
            .with_notes(self.notes.clone())
            .starting_at(first);
        match (self.each)(table) {
            Ok(more) => more,
            Err(error) => {
                self.refused = Some(error);
                false
            }
        }
    }
}
