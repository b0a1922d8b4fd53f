//! [`Lock`]: ensures that only one process at a time writes a file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::atomic::unfinished;
use crate::error::DataError;

/// The right to write a file, held until it is dropped.
///
/// The lock is the operating system's, on an empty hidden file next to the one to write. That one is replaced
/// by a rename each time, so a lock on the old file would say nothing about the new one. The system releases
/// the lock when the process ends, however it ends. The hidden file is removed when the lock is dropped or,
/// after a kill, by the next process that takes the lock.
#[derive(Debug)]
pub struct Lock {
    /// `None` if the file system does not support locks.
    held: Option<(File, PathBuf)>,
}

impl Lock {
    /// Takes the lock, or reports that another process holds it. A symbolic link stands for its target.
    pub fn of(path: impl AsRef<Path>) -> Result<Lock, DataError> {
        let path = path.as_ref();
        let beside = beside(path);
        loop {
            let opened = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(&beside);
            // If this file cannot be written, neither can the target; the write of the
            // target reports the error.
            let Ok(file) = opened else {
                return Ok(Lock { held: None });
            };
            match file.try_lock() {
                Ok(()) if is_at(&file, &beside) => {
                    unfinished().insert(beside.clone());
                    let held = Some((file, beside));
                    return Ok(Lock { held });
                }
                // The previous holder has just removed the file, so the locked file is
                // not the one that others see.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(DataError::InUse {
                        path: path.to_path_buf(),
                    });
                }
                Err(TryLockError::Error(_)) => {
                    let _ = fs::remove_file(&beside);
                    return Ok(Lock { held: None });
                }
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some((file, beside)) = &self.held {
            // Removed while still locked, so that no other process can lock a file that is about to be removed.
            let _ = fs::remove_file(beside);
            unfinished().remove(beside);
            // A process that was forked in the meantime also has the file open.
            let _ = file.unlock();
        }
    }
}

/// Returns the path of the hidden lock file next to the target.
fn beside(path: &Path) -> PathBuf {
    let target = fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
        match (folder, path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_path_buf(),
        }
    });
    let mut hidden = OsString::from(".");
    hidden.push(target.file_name().unwrap_or_default());
    hidden.push(".lock");
    target.with_file_name(hidden)
}

/// Whether the path still leads to the open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(own), Ok(found)) => (own.dev(), own.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

/// Whether the path still leads to the open file.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_second_lock_is_refused_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.ckpt");
        let first = Lock::of(&path).unwrap();
        let refused = Lock::of(&path).unwrap_err().to_string();
        assert!(
            refused.contains("run.ckpt' is in use by another run"),
            "{refused}"
        );
        assert_eq!(files(folder.path()), [".run.ckpt.lock"]);
        // The file itself may be replaced while the lock is held.
        crate::write_atomically(&path, |_| Ok(())).unwrap();
        assert!(Lock::of(&path).is_err());
        let other = Lock::of(folder.path().join("other.ckpt")).unwrap();
        drop((first, other));
        assert_eq!(files(folder.path()), ["run.ckpt"]);
        Lock::of(&path).unwrap();
    }

    #[test]
    fn a_file_that_a_killed_process_left_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".run.ckpt.lock"), "").unwrap();
        drop(Lock::of(folder.path().join("run.ckpt")).unwrap());
        assert!(files(folder.path()).is_empty());
    }

    #[test]
    #[cfg(unix)]
    fn a_link_is_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let _held = Lock::of(&link).unwrap();
        assert!(Lock::of(&path).is_err());
    }
}
