//! Checkpoints in files: read before the search, written while it runs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use l0star::Checkpoint;
use l0star_data::write_atomically;

use crate::args::FitArgs;
use crate::failure::Failure;
use crate::output;

/// Where checkpoints go, and where the search goes on from.
#[derive(Debug)]
pub struct Checkpoints {
    pub resume: Option<Checkpoint>,
    /// Where `resume` is from.
    pub source: Option<PathBuf>,
    file: Option<PathBuf>,
    pub every: Duration,
    failed: bool,
}

impl Checkpoints {
    /// Reads the file to resume and makes sure that the one to write can be written.
    pub fn prepare(args: &FitArgs) -> Result<Self, Failure> {
        let file = args.checkpoint.as_ref().or(args.resume.as_ref());
        if file.is_none() && args.checkpoint_every.is_some() {
            return Err(Failure::Usage(
                "--checkpoint-every says how often, but not where to; add --checkpoint FILE".into(),
            ));
        }
        let resume = args.resume.as_deref().map(read).transpose()?;
        if let Some(file) = file {
            output::check_writable(file)?;
            output::check_distinct("a checkpoint in", file, "the data", &args.task.data)?;
            for (kind, other) in [("the model", &args.out), ("the report", &args.report)] {
                if let Some(other) = other {
                    output::check_distinct("a checkpoint in", file, kind, other)?;
                }
            }
            remove_leftovers(file);
        }
        Ok(Self {
            resume,
            source: args.resume.clone(),
            file: file.cloned(),
            every: args.checkpoint_every.unwrap_or(Duration::from_secs(60)),
            failed: false,
        })
    }

    /// Whether there is a file to write.
    pub fn are_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Replaces the file, whole or not at all. Whether that works or not, the search goes on.
    pub fn write(&mut self, checkpoint: &Checkpoint) {
        let Some(file) = &self.file else {
            return;
        };
        let bytes = checkpoint.encode();
        let written = write_atomically(file, |out| out.write_all(&bytes));
        if let Err(error) = written
            && !std::mem::replace(&mut self.failed, true)
        {
            eprintln!("warning: {error}; the search goes on without this checkpoint");
        }
    }
}

/// Why a search cannot be, with the file to resume where it is to blame.
pub fn explain(source: Option<PathBuf>, error: l0star::Error) -> Failure {
    match (source, error) {
        (
            Some(file),
            reason @ (l0star::Error::Checkpoint { .. } | l0star::Error::OtherSearch { .. }),
        ) => Failure::Resume { file, reason },
        (_, error) => error.into(),
    }
}

fn read(path: &Path) -> Result<Checkpoint, Failure> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|reason| {
        Failure::BadData(format!(
            "cannot read the checkpoint '{name}': {reason}; give the file that --checkpoint wrote"
        ))
    })?;
    Checkpoint::decode(&bytes).map_err(|error| Failure::BadData(format!("{name}: {error}")))
}

/// A process that was killed while it wrote leaves a temporary file beside the checkpoint.
fn remove_leftovers(file: &Path) {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return;
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let prefix = format!(".{}.", name.to_string_lossy());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let found = found.to_string_lossy();
        if found.starts_with(&prefix) && found.ends_with(".tmp") {
            // One that cannot be removed is a nuisance, nothing more.
            let _ = fs::remove_file(entry.path());
        }
    }
}
