//! [`load`] and [`save`] by extension; files appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::csv::{read_csv, write_csv};
use crate::error::DataError;
use crate::npy::{read_npy, write_npy};
use crate::raw::RawTable;
use crate::table::Table;

/// Reads `.npy` as a NumPy matrix and everything else as delimited text.
pub fn load(path: impl AsRef<Path>) -> Result<RawTable, DataError> {
    let path = path.as_ref();
    match extension(path).as_deref() {
        Some("npy") => Ok(RawTable::from_table(path, read_npy(path)?)),
        _ => read_csv(path),
    }
}

/// Writes `.csv` or `.npy`, as the extension says; NumPy files carry no names.
pub fn save(path: impl AsRef<Path>, table: &Table) -> Result<(), DataError> {
    let path = path.as_ref();
    match extension(path).as_deref() {
        Some("csv") => write_csv(path, table),
        Some("npy") => write_npy(path, table),
        _ => Err(DataError::UnknownFormat {
            path: path.to_path_buf(),
        }),
    }
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// All bytes of a file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, DataError> {
    if path.is_dir() {
        return Err(DataError::IsFolder {
            path: path.to_path_buf(),
        });
    }
    fs::read(path).map_err(|reason| DataError::reading(path, reason))
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
