//! A small file of every supported format and compression, for the tests and for `cargo xtask attack`.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use l0star_data::{Table, generate, save};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

const ROWS: usize = 24;

/// Returns every file with its name for messages; all have the target `b`.
pub fn files() -> Vec<(String, Vec<u8>)> {
    let mut files = ours();
    let batch = batch();
    let compressions = [
        ("plain", None),
        ("lz4", Some(CompressionType::LZ4_FRAME)),
        ("zstd", Some(CompressionType::ZSTD)),
    ];
    for (word, compression) in compressions {
        files.push((format!("{word}.arrow"), arrow_file(&batch, compression)));
        files.push((format!("{word}.arrows"), arrow_stream(&batch, compression)));
    }
    let parquets = [
        ("snappy", Compression::SNAPPY, None),
        (
            "lz4",
            Compression::LZ4_RAW,
            Some(Encoding::DELTA_LENGTH_BYTE_ARRAY),
        ),
        (
            "gzip",
            Compression::GZIP(Default::default()),
            Some(Encoding::DELTA_BYTE_ARRAY),
        ),
        ("stored", Compression::UNCOMPRESSED, None),
    ];
    for (word, compression, encoding) in parquets {
        files.push((
            format!("{word}.parquet"),
            parquet_file(&batch, compression, encoding),
        ));
    }
    files
}

/// Returns the files that this crate writes itself, numbers only, and unusual text files.
fn ours() -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("a folder for files");
    let table = table();
    let names = [
        "a.csv",
        "a.tsv",
        "a.csv.gz",
        "a.csv.zst",
        "a.npy",
        "a.npz",
        "a.parquet",
        "a.arrow",
        "a.libsvm",
    ];
    let mut files: Vec<(String, Vec<u8>)> = names
        .iter()
        .map(|name| {
            let path = folder.path().join(name);
            save(&path, &table).expect("a file that can be written");
            (name.to_string(), std::fs::read(path).expect("the file"))
        })
        .collect();
    let quoted = "\"a,b\";c;b\n\"x \"\"z\"\"\n\";1,5;true\n;NA;false\n\"t\";-2e5;true\n";
    files.push(("quoted.csv".into(), quoted.into()));
    files.push(("blanks.txt".into(), "1 2  3\n4 5 6\n\n7 8 9\n".into()));
    files
}

/// Returns a table of five features and the target.
pub fn table() -> Table {
    let instance = generate::ar(5, 2, ROWS, 0.5, 5.0, 1).expect("a valid instance");
    instance.into_table()
}

/// Returns numbers, whole numbers with gaps, and text.
fn batch() -> RecordBatch {
    let table = table();
    let column = |j: usize| -> ArrayRef { Arc::new(Float64Array::from(table.column(j).to_vec())) };
    let whole = (0..ROWS as i32).map(|i| (i % 7 != 3).then_some(i / 3));
    let city = (0..ROWS).map(|i| ["Rome", "Roma", "Oslo", "Lima, Peru"][i % 4]);
    RecordBatch::try_from_iter([
        ("x1", column(0)),
        ("x2", column(1)),
        ("n", Arc::new(Int32Array::from_iter(whole)) as ArrayRef),
        (
            "city",
            Arc::new(StringArray::from_iter_values(city)) as ArrayRef,
        ),
        ("b", column(table.columns() - 1)),
    ])
    .expect("columns of one length")
}

fn options(compression: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default()
        .try_with_compression(compression)
        .expect("a compression that is built in")
}

/// Returns an Arrow file.
pub fn arrow_file(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let mut out = Vec::new();
    let writer = FileWriter::try_new_with_options(&mut out, &batch.schema(), options(compression));
    let mut writer = writer.expect("a writer");
    writer.write(batch).expect("a batch");
    writer.finish().expect("a whole file");
    drop(writer);
    out
}

fn arrow_stream(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let mut out = Vec::new();
    let writer =
        StreamWriter::try_new_with_options(&mut out, &batch.schema(), options(compression));
    let mut writer = writer.expect("a writer");
    writer.write(batch).expect("a batch");
    writer.finish().expect("a whole stream");
    drop(writer);
    out
}

/// Returns a Parquet file; an encoding for texts selects pages of version 2.
pub fn parquet_file(
    batch: &RecordBatch,
    compression: Compression,
    encoding: Option<Encoding>,
) -> Vec<u8> {
    let mut properties = WriterProperties::builder().set_compression(compression);
    if let Some(encoding) = encoding {
        properties = properties
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_dictionary_enabled(false)
            .set_column_encoding(ColumnPath::from("city"), encoding);
    }
    let mut out = Vec::new();
    let writer = ArrowWriter::try_new(&mut out, batch.schema(), Some(properties.build()));
    let mut writer = writer.expect("a writer");
    writer.write(batch).expect("a batch");
    writer.close().expect("a whole file");
    out
}
