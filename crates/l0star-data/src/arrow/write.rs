//! Writes tables as Parquet and Arrow files.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::frame::{Frame, Values};

pub(crate) fn write_parquet(out: &mut (impl Write + Send), frame: &Frame<'_>) -> io::Result<()> {
    let level = ZstdLevel::try_new(1).map_err(io::Error::other)?;
    // Measured numbers seldom repeat, so a dictionary of them only takes space.
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_compression(Compression::ZSTD(level))
        .build();
    let batch = batch(frame)?;
    let mut writer =
        ArrowWriter::try_new(out, batch.schema(), Some(properties)).map_err(io::Error::other)?;
    writer.write(&batch).map_err(io::Error::other)?;
    writer.close().map_err(io::Error::other)?;
    Ok(())
}

pub(crate) fn write_ipc(out: &mut impl Write, frame: &Frame<'_>) -> io::Result<()> {
    let batch = batch(frame)?;
    let mut writer = FileWriter::try_new(out, &batch.schema()).map_err(io::Error::other)?;
    writer.write(&batch).map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)
}

fn batch(frame: &Frame<'_>) -> io::Result<RecordBatch> {
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (name, values) in frame.columns() {
        let (kind, array): (DataType, ArrayRef) = match values {
            Values::Numbers(values) => (
                DataType::Float64,
                Arc::new(Float64Array::from(values.to_vec())),
            ),
            Values::Texts(values) => (
                DataType::Utf8,
                Arc::new(StringArray::from_iter_values(values.iter())),
            ),
        };
        fields.push(Field::new(name, kind, false));
        arrays.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(io::Error::other)
}
