//! Parquet files and Arrow IPC (Feather) files and streams, by the `parquet` and `arrow` crates.
//!
//! Numbers of every width and decimals become numbers, booleans the texts `true` and `false`,
//! strings, dictionaries of strings, dates and times become text, a null a missing value. A
//! column of lists or records is an error only where it is used.

#[cfg(feature = "parquet")]
pub(crate) use with_arrow::{read_ipc, read_parquet, write_ipc, write_parquet};
#[cfg(not(feature = "parquet"))]
pub(crate) use without_arrow::{read_ipc, read_parquet, write_ipc, write_parquet};

#[cfg(feature = "parquet")]
mod with_arrow {
    use std::fs::File;
    use std::io::{self, BufReader, Cursor, Write};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::*;
    use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
    use arrow_ipc::reader::{FileReader, StreamReader};
    use arrow_ipc::writer::FileWriter;
    use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::properties::WriterProperties;
    use parquet::file::reader::ChunkReader;

    use crate::column::{Dictionary, RawColumn};
    use crate::error::DataError;
    use crate::format::Format;
    use crate::frame::{Frame, Values};
    use crate::raw::RawTable;
    use crate::source::Source;
    use crate::table::check_names;

    /// How a missing cell is spelt.
    const NULL: &str = "null";

    pub(crate) fn read_parquet(source: &Source<'_>) -> Result<RawTable, DataError> {
        fn batches(input: impl ChunkReader + 'static) -> Result<Columns, String> {
            let builder = ParquetRecordBatchReaderBuilder::try_new(input)
                .map_err(|error| error.to_string())?;
            let mut columns = Columns::new(builder.schema());
            let reader = builder.with_batch_size(8192).build();
            for batch in reader.map_err(|error| error.to_string())? {
                columns.append(&batch.map_err(|error| error.to_string())?);
            }
            Ok(columns)
        }
        read(source, Format::Parquet, || {
            Ok(match source.plain_file() {
                Some(path) => batches(File::open(path).map_err(|reason| source.failed(reason))?),
                None => batches(bytes::Bytes::from(source.bytes()?)),
            })
        })
    }

    pub(crate) fn read_ipc(source: &Source<'_>) -> Result<RawTable, DataError> {
        fn batches(
            schema: &Schema,
            reader: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
        ) -> Result<Columns, ArrowError> {
            let mut columns = Columns::new(schema);
            for batch in reader {
                columns.append(&batch?);
            }
            Ok(columns)
        }
        fn file(input: impl io::Read + io::Seek) -> Result<Columns, ArrowError> {
            let reader = FileReader::try_new(input, None)?;
            batches(&reader.schema(), reader)
        }
        read(source, Format::Arrow, || {
            let columns = if !source.head()?.starts_with(b"ARROW1") {
                StreamReader::try_new(BufReader::new(source.stream()?), None)
                    .and_then(|reader| batches(&reader.schema(), reader))
            } else if let Some(path) = source.plain_file() {
                let input = File::open(path).map_err(|reason| source.failed(reason))?;
                file(BufReader::new(input))
            } else {
                file(Cursor::new(source.bytes()?))
            };
            Ok(columns.map_err(|error| error.to_string()))
        })
    }

    /// The table, or what the format's own reader says against it. Those readers are made for
    /// whole files and may panic on a damaged one.
    fn read(
        source: &Source<'_>,
        format: Format,
        columns: impl FnOnce() -> Result<Result<Columns, String>, DataError>,
    ) -> Result<RawTable, DataError> {
        let unreadable = |reason: String| DataError::Unreadable {
            path: source.name().to_path_buf(),
            format: format.described().into(),
            reason,
        };
        let damaged = |reason: &str| {
            unreadable(format!(
                "{reason}; it is damaged, cut short or of another kind, so write it again"
            ))
        };
        let columns = catch_unwind(AssertUnwindSafe(columns))
            .map_err(|_| damaged("its parts contradict each other"))??
            .map_err(|reason| damaged(reason.trim_end_matches('.')))?;
        let rows = columns.rows;
        let (names, columns) = columns.finish();
        if names.is_empty() {
            return Err(unreadable("it has no columns; write a table".into()));
        }
        check_names(Some(source.name()), &names)?;
        if rows == 0 {
            return Err(DataError::NoRows {
                path: source.name().to_path_buf(),
            });
        }
        Ok(RawTable::new(source.name(), format, names, rows, columns))
    }

    /// The columns as far as they are read.
    struct Columns {
        names: Vec<String>,
        columns: Vec<Column>,
        rows: usize,
    }

    enum Column {
        Number(Vec<f64>),
        Text(Dictionary, Vec<u32>),
    }

    impl Columns {
        fn new(schema: &Schema) -> Columns {
            let column = |field: &Arc<Field>| {
                if is_number(field.data_type()) {
                    Column::Number(Vec::new())
                } else {
                    Column::Text(Dictionary::default(), Vec::new())
                }
            };
            let fields = schema.fields();
            Columns {
                names: fields
                    .iter()
                    .map(|field| field.name().trim().to_string())
                    .collect(),
                columns: fields.iter().map(column).collect(),
                rows: 0,
            }
        }

        fn append(&mut self, batch: &RecordBatch) {
            self.rows += batch.num_rows();
            for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
                match column {
                    Column::Number(values) => append_numbers(values, array),
                    Column::Text(dictionary, codes) => append_texts(dictionary, codes, array),
                }
            }
        }

        fn finish(self) -> (Vec<String>, Vec<RawColumn>) {
            let finished = |column| match column {
                Column::Text(dictionary, codes) => RawColumn::Text {
                    levels: dictionary.levels,
                    codes,
                },
                Column::Number(values) => match RawColumn::from_numbers(values) {
                    RawColumn::Gaps { values, first, .. } if values[first].is_nan() => {
                        RawColumn::Gaps {
                            values,
                            first,
                            shown: NULL.into(),
                        }
                    }
                    other => other,
                },
            };
            (self.names, self.columns.into_iter().map(finished).collect())
        }
    }

    fn is_number(data_type: &DataType) -> bool {
        match data_type {
            DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => true,
            DataType::Dictionary(_, values) => is_number(values),
            other => other.is_numeric(),
        }
    }

    /// As many numbers as the array has rows, `NaN` for a null.
    fn append_numbers(out: &mut Vec<f64>, array: &ArrayRef) {
        macro_rules! cast {
            ($kind:ty) => {
                out.extend(
                    array
                        .as_primitive::<$kind>()
                        .iter()
                        .map(|value| value.map_or(f64::NAN, |value| value as f64)),
                )
            };
        }
        macro_rules! decimal {
            ($kind:ty) => {{
                let array = array.as_primitive::<$kind>();
                // Through its digits, so that it is rounded once.
                out.extend((0..array.len()).map(|i| match array.is_null(i) {
                    true => f64::NAN,
                    false => array.value_as_string(i).parse().unwrap_or(f64::NAN),
                }))
            }};
        }
        match array.data_type() {
            DataType::Int8 => cast!(Int8Type),
            DataType::Int16 => cast!(Int16Type),
            DataType::Int32 => cast!(Int32Type),
            DataType::Int64 => cast!(Int64Type),
            DataType::UInt8 => cast!(UInt8Type),
            DataType::UInt16 => cast!(UInt16Type),
            DataType::UInt32 => cast!(UInt32Type),
            DataType::UInt64 => cast!(UInt64Type),
            DataType::Float16 => out.extend(
                array
                    .as_primitive::<Float16Type>()
                    .iter()
                    .map(|value| value.map_or(f64::NAN, f64::from)),
            ),
            DataType::Float32 => cast!(Float32Type),
            DataType::Float64 => cast!(Float64Type),
            DataType::Decimal32(..) => decimal!(Decimal32Type),
            DataType::Decimal64(..) => decimal!(Decimal64Type),
            DataType::Decimal128(..) => decimal!(Decimal128Type),
            DataType::Decimal256(..) => decimal!(Decimal256Type),
            DataType::Dictionary(..) => {
                let mut levels = Vec::new();
                let dictionary = array.as_any_dictionary();
                append_numbers(&mut levels, dictionary.values());
                out.extend(keys(array).map(|key| key.map_or(f64::NAN, |key| levels[key])));
            }
            _ => out.extend((0..array.len()).map(|_| f64::NAN)),
        }
    }

    /// The position of each row's value in a dictionary, nothing for a null.
    fn keys(array: &ArrayRef) -> impl Iterator<Item = Option<usize>> {
        let dictionary = array.as_any_dictionary();
        let keys = if dictionary.values().is_empty() {
            vec![0; array.len()]
        } else {
            dictionary.normalized_keys()
        };
        let is_null = move |i: usize| array.is_null(i) || dictionary.values().is_empty();
        keys.into_iter()
            .enumerate()
            .map(move |(i, key)| (!is_null(i)).then_some(key))
    }

    fn append_texts(dictionary: &mut Dictionary, codes: &mut Vec<u32>, array: &ArrayRef) {
        let mut put = |text: Option<&str>| {
            let text = text.map_or(NULL, str::trim);
            codes.push(dictionary.code(text));
        };
        macro_rules! time {
            ($kind:ty, $value:ident) => {{
                let array = array.as_primitive::<$kind>();
                for i in 0..array.len() {
                    let shown = array.$value(i).map(|value| value.to_string());
                    put(shown.as_deref().filter(|_| !array.is_null(i)));
                }
            }};
        }
        match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().iter().for_each(put),
            DataType::LargeUtf8 => array.as_string::<i64>().iter().for_each(put),
            DataType::Utf8View => array.as_string_view().iter().for_each(put),
            DataType::Boolean => {
                for value in array.as_boolean() {
                    put(value.map(|value| if value { "true" } else { "false" }));
                }
            }
            DataType::Dictionary(..) => {
                let mut local = Dictionary::default();
                let mut levels = Vec::new();
                append_texts(&mut local, &mut levels, array.as_any_dictionary().values());
                for key in keys(array) {
                    put(key.map(|key| local.levels[levels[key] as usize].as_str()));
                }
            }
            DataType::Date32 => time!(Date32Type, value_as_date),
            DataType::Date64 => time!(Date64Type, value_as_date),
            DataType::Timestamp(TimeUnit::Second, _) => {
                time!(TimestampSecondType, value_as_datetime)
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                time!(TimestampMillisecondType, value_as_datetime)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                time!(TimestampMicrosecondType, value_as_datetime)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                time!(TimestampNanosecondType, value_as_datetime)
            }
            other => {
                let shown = format!("({other})");
                for i in 0..array.len() {
                    put((!array.is_null(i)).then_some(shown.as_str()));
                }
            }
        }
    }

    pub(crate) fn write_parquet(
        out: &mut (impl Write + Send),
        frame: &Frame<'_>,
    ) -> io::Result<()> {
        let level = ZstdLevel::try_new(1).map_err(io::Error::other)?;
        // Measured numbers hardly repeat: a dictionary of them only takes space.
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_compression(Compression::ZSTD(level))
            .build();
        let batch = batch(frame)?;
        let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(properties))
            .map_err(io::Error::other)?;
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
}

#[cfg(not(feature = "parquet"))]
mod without_arrow {
    use std::io::{self, Write};

    use crate::error::DataError;
    use crate::format::Format;
    use crate::frame::Frame;
    use crate::raw::RawTable;
    use crate::source::Source;

    const ABSENT: &str = "this program was built without the feature 'parquet'; \
                          build it with that feature, or use CSV or NPZ";

    fn refuse(source: &Source<'_>, format: Format) -> Result<RawTable, DataError> {
        Err(DataError::Unreadable {
            path: source.name().to_path_buf(),
            format: format.described().into(),
            reason: ABSENT.into(),
        })
    }

    pub(crate) fn read_parquet(source: &Source<'_>) -> Result<RawTable, DataError> {
        refuse(source, Format::Parquet)
    }

    pub(crate) fn read_ipc(source: &Source<'_>) -> Result<RawTable, DataError> {
        refuse(source, Format::Arrow)
    }

    pub(crate) fn write_parquet(_: &mut impl Write, _: &Frame<'_>) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, ABSENT))
    }

    pub(crate) fn write_ipc(_: &mut impl Write, _: &Frame<'_>) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, ABSENT))
    }
}
