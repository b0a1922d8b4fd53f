//! [`write_atomically`]: files that appear whole or not at all.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::DataError;

/// Writes a file through a temporary file in the same folder and a rename, so that no reader and no crash
/// leaves a partial file. A symbolic link stays a link; its target is replaced.
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
    unfinished().remove(&temporary);
    written.map_err(|reason| {
        // The error to report is the one above; a temporary file that remains does little harm.
        let _ = fs::remove_file(&temporary);
        DataError::writing(path, reason)
    })
}

/// Removes the temporary files of [`write_atomically`] and [`Lock`](crate::Lock), for a
/// process that is about to quit.
///
/// Another thread may still be writing. From this call on, its writes never return: they leave nothing
/// behind and report no error.
pub fn quit_writing() {
    let files = unfinished();
    for file in files.iter() {
        // A file that cannot be removed stays; there is nobody to report it to.
        let _ = fs::remove_file(file);
    }
    std::mem::forget(files);
}

/// Returns the set of temporary files that are being written and of lock files.
pub(crate) fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    // A thread that panicked leaves a valid set of paths.
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fill(file: File, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::new(file);
    write(&mut writer)?;
    writer.flush()?;
    // A rename may reach the disk before the bytes do.
    writer.get_ref().sync_all()
}

/// Syncs the folder of a renamed file, without which the rename may not be on disk. Where folders cannot be
/// opened, this is left to the operating system.
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
        let mut files = unfinished();
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
        {
            Ok(file) => {
                files.insert(temporary.clone());
                return Ok((temporary, file));
            }
            // A killed process with the same id left this file: try the next number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
