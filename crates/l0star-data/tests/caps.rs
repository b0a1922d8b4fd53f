//! Tests that what a file claims to hold is compared with the file before memory is taken for it. Without that
//! check, these tests do not fail but abort.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, NullArray, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use l0star_data::{RawTable, ReadOptions, parse};
use parquet::basic::{Compression, Encoding};

mod samples;

fn read(name: &str, bytes: &[u8]) -> Result<RawTable, String> {
    parse(Path::new(name), bytes, &ReadOptions::default()).map_err(|error| error.to_string())
}

#[test]
fn no_length_in_a_compressed_arrow_file_is_believed() {
    for (name, whole) in samples::files() {
        if !name.contains(".arrow") || name.starts_with("plain") || name == "a.arrow" {
            continue;
        }
        let mut told = 0;
        for at in (0..whole.len() - 8).step_by(8) {
            for claimed in [4225209054401569812i64, 1 << 40, i64::MAX] {
                let mut bytes = whole.clone();
                bytes[at..at + 8].copy_from_slice(&claimed.to_le_bytes());
                let outcome = read(&name, &bytes);
                told += usize::from(outcome.is_err_and(|error| error.contains("claims to hold")));
            }
        }
        assert!(told > 3, "{name}: {told}");
    }
}

#[test]
fn no_length_in_a_parquet_file_is_believed() {
    for (name, whole) in samples::files() {
        if !name.ends_with(".parquet") {
            continue;
        }
        for at in (4..whole.len()).step_by(3) {
            // Numbers are stored in groups of seven bits: long numbers, and the largest of 32 bits.
            for claimed in [&[0xff; 4][..], &[0xfe, 0xff, 0xff, 0xff, 0x0f], &[0xfe; 9]] {
                let mut bytes = whole.clone();
                let end = bytes.len().min(at + claimed.len());
                bytes[at..end].copy_from_slice(&claimed[..end - at]);
                let _ = read(&name, &bytes);
            }
        }
    }
}

#[test]
fn rows_that_take_no_bytes_are_counted_all_the_same() {
    let nothing: ArrayRef = Arc::new(NullArray::new(1 << 40));
    let batch = RecordBatch::try_from_iter([("x", nothing)]).unwrap();
    let message = read("a.arrow", &samples::arrow_file(&batch, None)).unwrap_err();
    assert!(message.contains("unpacks to more than 1.1 GB"), "{message}");
}

#[test]
fn encodings_that_keep_lengths_apart_are_read() {
    let texts: Vec<String> = (0..5000)
        .map(|i| format!("{}{i}", "ab".repeat(i % 40)))
        .collect();
    let nulls = texts.iter().enumerate();
    let nulls = nulls.map(|(i, text)| (i % 11 > 0).then_some(text));
    let columns: [(&str, ArrayRef); 3] = [
        ("city", Arc::new(StringArray::from_iter_values(&texts))),
        ("gaps", Arc::new(nulls.collect::<StringArray>())),
        ("x", Arc::new(Float64Array::from(vec![1.5; 5000]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    assert_eq!(batch.column(1).null_count(), 455);
    for encoding in [
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::DELTA_BYTE_ARRAY,
    ] {
        let bytes = samples::parquet_file(&batch, Compression::SNAPPY, Some(encoding));
        let table = read("a.parquet", &bytes).unwrap();
        assert_eq!(table.rows(), 5000);
        assert_eq!(table.number("x").unwrap(), vec![1.5; 5000]);
    }
    let arrow = samples::arrow_file(&batch, Some(CompressionType::ZSTD));
    assert_eq!(read("a.arrow", &arrow).unwrap().rows(), 5000);
}

#[test]
fn wide_tables_with_many_blank_lines_take_no_more_than_their_cells() {
    let names: Vec<String> = (0..20_000).map(|j| format!("x{j}")).collect();
    let row = vec!["1"; 20_000].join(",");
    let text = format!("{}\n{}{row}\n", names.join(","), "\n".repeat(1_000_000));
    let table = read("a.csv", text.as_bytes()).unwrap();
    assert_eq!((table.rows(), table.names().len()), (1, 20_000));
}
