//! [`load`]: what a file is, and which module reads it.

use std::path::Path;

use crate::error::DataError;
use crate::format::Format;
use crate::raw::RawTable;
use crate::source::Source;
use crate::{arrow, csv, libsvm, npy, npz};

/// What the reader is told instead of finding it out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format, whatever the file looks like.
    pub format: Option<Format>,
    /// Delimited text: what separates cells; a blank stands for any run of blanks and tabs.
    pub delimiter: Option<u8>,
    /// Delimited text: whether the first line names the columns; without names they are `c1`,
    /// `c2`, ….
    pub header: Option<bool>,
    /// Delimited text: decimals are written with a comma, `1,5`.
    pub decimal_comma: bool,
}

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
        None => Format::of_source(source)?,
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
