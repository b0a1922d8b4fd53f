//! Errors for Parquet and Arrow files in builds without the feature `parquet`.

use std::io::{self, Write};

use crate::error::DataError;
use crate::format::Format;
use crate::frame::Frame;
use crate::pieces::{Each, Wanted};
use crate::raw::RawTable;
use crate::source::Source;

const ABSENT: &str = "this program was built without the feature 'parquet'; \
                      build it with --features full, or use CSV or NPZ";

fn refuse<T>(source: &Source<'_>, format: Format) -> Result<T, DataError> {
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

pub(crate) fn stream_parquet(
    source: &Source<'_>,
    _: &Wanted<'_>,
    _: Each<'_>,
) -> Result<(), DataError> {
    refuse(source, Format::Parquet)
}

pub(crate) fn stream_ipc(
    source: &Source<'_>,
    _: &Wanted<'_>,
    _: Each<'_>,
) -> Result<(), DataError> {
    refuse(source, Format::Arrow)
}

pub(crate) fn write_parquet(_: &mut impl Write, _: &Frame<'_>) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, ABSENT))
}

pub(crate) fn write_ipc(_: &mut impl Write, _: &Frame<'_>) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, ABSENT))
}
