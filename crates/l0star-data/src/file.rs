//! [`load`] and [`save`]: choose the module that reads or writes a file.

use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;

use crate::atomic::write_atomically;
use crate::detect::{detect, of_magic};
use crate::encoding::{ByteKind, Encoding};
use crate::error::DataError;
use crate::format::{Decimal, Format, ReadOptions, extension};
use crate::frame::Frame;
use crate::pieces::{Each, Wanted};
use crate::raw::RawTable;
use crate::source::{Source, Watch};
use crate::table::Table;
use crate::{arrow, csv, libsvm, npy, npz, store};

/// Reads a file of any format, detected from its content; `-` is standard input.
pub fn load(path: impl AsRef<Path>) -> Result<RawTable, DataError> {
    load_with(path, &ReadOptions::default())
}

/// Reads a file as [`load`] does, with options.
pub fn load_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<RawTable, DataError> {
    read(Source::open(path.as_ref())?, options)
}

/// Reads a file as [`load_with`] does. `watch` receives the bytes read and their total, on the reading thread.
pub fn load_watched(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    watch: Watch<'_>,
) -> Result<RawTable, DataError> {
    read(Source::open(path.as_ref())?.watched(Some(watch)), options)
}

/// Reads bytes in memory as [`load_with`] does; `file` is the name used in messages.
pub fn parse(file: &Path, bytes: &[u8], options: &ReadOptions) -> Result<RawTable, DataError> {
    read(Source::memory(file, bytes)?, options)
}

/// Reads a file piece by piece, in bounded memory: delimited text, Parquet, Arrow and column stores. Other
/// formats arrive as one piece.
///
/// Column names and line numbers are those of the file, also in messages. `watch` works as in [`load_watched`].
pub fn stream(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    wanted: &Wanted<'_>,
    watch: Watch<'_>,
    each: Each<'_>,
) -> Result<(), DataError> {
    let source = Source::open(path.as_ref())?.watched(Some(watch));
    let (source, format) = opened(source, options)?;
    match format {
        Format::Csv => csv::stream(&source, options, wanted, each),
        Format::Parquet => arrow::stream_parquet(&source, wanted, each),
        Format::Arrow => arrow::stream_ipc(&source, wanted, each),
        Format::Store => store::stream(&source, wanted, each),
        Format::Libsvm | Format::Npy | Format::Npz => {
            let table = read_as(source, format, options)?;
            let kept = wanted.columns.map(|columns| {
                let names = table.names().iter();
                let names = names.filter(|name| columns.contains(name));
                table.only(&names.collect::<Vec<_>>())
            });
            each(kept.unwrap_or(Ok(table))?).map(|_| ())
        }
    }
}

/// Estimates the bytes that the cells of a file take in memory, if [`stream`] can read it piece by piece.
///
/// Returns `None` for other formats, for a source that is not a regular file, and for a file that
/// cannot be read. Text cells are assumed to take about as much as their digits; the size of a
/// compressed file is a guess.
pub fn streamed_size(path: impl AsRef<Path>, options: &ReadOptions) -> Option<u64> {
    let path = path.as_ref();
    if !path.is_file() {
        return None;
    }
    let (source, format) = opened(Source::open(path).ok()?, options).ok()?;
    let factor = match format {
        Format::Csv if source.is_packed() => 4,
        Format::Csv | Format::Arrow | Format::Store => 1,
        Format::Parquet => 2,
        Format::Libsvm | Format::Npy | Format::Npz => return None,
    };
    Some(source.stored().saturating_mul(factor))
}

fn read(source: Source<'_>, options: &ReadOptions) -> Result<RawTable, DataError> {
    let (source, format) = opened(source, options)?;
    read_as(source, format, options)
}

/// Detects the format and the encoding of a source, which decodes its text from here on.
fn opened<'a>(
    mut source: Source<'a>,
    options: &ReadOptions,
) -> Result<(Source<'a>, Format), DataError> {
    let head = source.head()?;
    let is_text = match options.format {
        Some(format) => format.is_text(),
        None => of_magic(&head).is_none(),
    };
    if is_text {
        let asked = options.encoding.map(|asked| asked.ordered(&head));
        if let Some(encoding) = asked.or_else(|| Encoding::of(&head)) {
            source.decode(encoding);
        }
    }
    let format = match options.format {
        Some(format) => format,
        None => detect(&source)?,
    };
    if format != Format::Csv {
        let of_text = [
            ("delimiter", options.delimiter.is_some()),
            ("header", options.header.is_some()),
            ("decimal comma", options.decimal == Decimal::Comma),
            ("encoding", options.encoding.is_some() && !is_text),
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
    Ok((source, format))
}

fn read_as(
    source: Source<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<RawTable, DataError> {
    match format {
        Format::Csv => read_text(source, options),
        Format::Libsvm => libsvm::read(&source),
        Format::Npy => npy::read(&source),
        Format::Npz => npz::read(&source),
        Format::Parquet => arrow::read_parquet(&source),
        Format::Arrow => arrow::read_ipc(&source),
        Format::Store => store::read(&source),
    }
}

/// Reads delimited text. A file that turns out not to be UTF-8 is read again as Latin-1, if it can be.
fn read_text(mut source: Source<'_>, options: &ReadOptions) -> Result<RawTable, DataError> {
    let error = match csv::read(&source, options) {
        Err(error @ DataError::NotText { .. }) if source.encoding().is_none() => error,
        other => return other,
    };
    let survey = ByteKind::of(&mut source.stream()?).map_err(|reason| source.failed(reason))?;
    match survey {
        ByteKind::Binary => Err(error),
        ByteKind::Mixed { utf8, other } => Err(DataError::NotText {
            path: source.name().to_path_buf(),
            reason: format!(
                "line {utf8} has letters in UTF-8 and line {other} in another encoding, so it mixes two; --encoding latin-1 reads it as it is"
            ),
        }),
        ByteKind::Latin1 => {
            source.decode(Encoding::Latin1);
            let note = "the file is no UTF-8 and was read as Latin-1 (Windows-1252); look at letters such as é, and use --encoding if they are wrong";
            Ok(csv::read(&source, options)?.with_notes([note.into()]))
        }
    }
}

/// Writes a table in the format of the extension; text is compressed if `.gz` or `.zst` follows. NumPy matrices
/// and LIBSVM files have no names; there the last column is the target.
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

/// Writes delimited text, Parquet or Arrow, according to the extension; text is compressed
/// if `.gz` or `.zst` follows.
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
        (Format::Npy | Format::Npz | Format::Libsvm | Format::Store, _) => Err(unknown()),
    }
}

/// Writes text, compressed if the name ends in `.gz` or `.zst`.
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
