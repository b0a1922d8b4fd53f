//! [`load`]: what a file is, and which module reads it; and files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Writes a file through a temporary one in the same folder and a rename, so that no reader and
/// no crash ever sees half a file. A symbolic link stays a link; its target is replaced.
pub fn write_atomically(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), DataError> {
    let path = path.as_ref();
    if path.is_dir() {
        return Err(DataError::IsFolder {
            path: path.to_path_buf(),
        });
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (temporary, file) =
        create_beside(&target).map_err(|reason| DataError::writing(path, reason))?;
    let written = fill(file, write).and_then(|()| fs::rename(&temporary, &target));
    let written = written.map(|()| sync_folder(&target));
    written.map_err(|reason| {
        // The error to report is the one above; a leftover file would only be a nuisance.
        let _ = fs::remove_file(&temporary);
        DataError::writing(path, reason)
    })
}

fn fill(file: File, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::new(file);
    write(&mut writer)?;
    writer.flush()?;
    // A rename may reach the disk before the bytes do.
    writer.get_ref().sync_all()
}

/// A rename is on the disk when its folder is. Where folders cannot be opened, the system has to see to it.
fn sync_folder(target: &Path) {
    let folder = target.parent().filter(|path| !path.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
}

fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"))?;
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(
            ".{}-{}.tmp",
            std::process::id(),
            COUNTER.fetch_add(1, Ordering::Relaxed)
        ));
        let temporary = target.with_file_name(hidden);
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
        {
            Ok(file) => return Ok((temporary, file)),
            // Left by a killed process that had our id: try the next number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
