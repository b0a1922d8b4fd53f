//! [`load`] and [`save`]: which module reads a file, and which writes it.

use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;

use crate::atomic::write_atomically;
use crate::detect::detect;
use crate::error::DataError;
use crate::format::{Format, ReadOptions, extension};
use crate::frame::Frame;
use crate::raw::RawTable;
use crate::source::Source;
use crate::table::Table;
use crate::{arrow, csv, libsvm, npy, npz};

/// Reads a file of any format, found from its content; `-` is standard input.
pub fn load(path: impl AsRef<Path>) -> Result<RawTable, DataError> {
    load_with(path, &ReadOptions::default())
}

/// As [`load`], told something about the file.
pub fn load_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<RawTable, DataError> {
    read(&Source::open(path.as_ref())?, options)
}

/// As [`load_with`], from bytes in memory; `file` is the name for messages.
pub fn parse(file: &Path, bytes: &[u8], options: &ReadOptions) -> Result<RawTable, DataError> {
    read(&Source::memory(file, bytes)?, options)
}

fn read(source: &Source<'_>, options: &ReadOptions) -> Result<RawTable, DataError> {
    let format = match options.format {
        Some(format) => format,
        None => detect(source)?,
    };
    if format != Format::Csv {
        let of_text = [
            ("delimiter", options.delimiter.is_some()),
            ("header", options.header.is_some()),
            ("decimal comma", options.decimal_comma),
        ];
        if let Some((what, _)) = of_text.iter().find(|(_, given)| *given) {
            return Err(DataError::WrongFormat {
                path: source.name().to_path_buf(),
                what: format!(
                    "is {}, which has no {what}; drop that option, or force --format csv",
                    format.described()
                ),
            });
        }
    }
    match format {
        Format::Csv => csv::read(source, options),
        Format::Libsvm => libsvm::read(source),
        Format::Npy => npy::read(source),
        Format::Npz => npz::read(source),
        Format::Parquet => arrow::read_parquet(source),
        Format::Arrow => arrow::read_ipc(source),
    }
}

/// Writes the format that the extension names, text compressed when `.gz` or `.zst` follows.
/// NumPy matrices and LIBSVM files carry no names; there the last column is the target.
pub fn save(path: impl AsRef<Path>, table: &Table) -> Result<(), DataError> {
    let path = path.as_ref();
    let last = path.extension().and_then(|last| last.to_str());
    match (Format::of_name(path), last) {
        (Some(Format::Libsvm), _) => write_packed(path, |out| libsvm::write(out, table)),
        (_, Some("gz" | "zst" | "zstd")) => save_frame(path, &Frame::from(table)),
        (Some(Format::Npy), _) => npy::write_npy(path, table),
        (Some(Format::Npz), _) => write_atomically(path, |out| npz::write(out, table)),
        _ => save_frame(path, &Frame::from(table)),
    }
}

/// Writes delimited text, Parquet or Arrow, by the extension, text compressed when `.gz` or
/// `.zst` follows.
pub fn save_frame(path: impl AsRef<Path>, frame: &Frame<'_>) -> Result<(), DataError> {
    let path = path.as_ref();
    let unknown = || DataError::UnknownFormat {
        path: path.to_path_buf(),
    };
    let last = path.extension().and_then(|last| last.to_str());
    match (Format::of_name(path).ok_or_else(unknown)?, last) {
        (Format::Csv, _) => {
            let is_tsv = extension(path).is_some_and(|extension| extension != "csv");
            let delimiter = if is_tsv { '\t' } else { ',' };
            write_packed(path, |out| frame.write_text(out, delimiter))
        }
        (_, Some("gz" | "zst" | "zstd")) => Err(unknown()),
        (Format::Parquet, _) => write_atomically(path, |out| arrow::write_parquet(out, frame)),
        (Format::Arrow, _) => write_atomically(path, |out| arrow::write_ipc(out, frame)),
        (Format::Npy | Format::Npz | Format::Libsvm, _) => Err(unknown()),
    }
}

/// Text, compressed when the name ends in `.gz` or `.zst`.
fn write_packed(
    path: &Path,
    text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    match path.extension().and_then(|last| last.to_str()) {
        Some("gz") => write_atomically(path, |out| {
            let mut packed = GzEncoder::new(out, flate2::Compression::default());
            text(&mut packed)?;
            packed.finish().map(|_| ())
        }),
        Some("zst" | "zstd") => write_atomically(path, |out| {
            let mut packed = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            packed.include_checksum(true)?;
            text(&mut packed)?;
            packed.finish().map(|_| ())
        }),
        _ => write_atomically(path, |out| text(out)),
    }
}
