//! Checkpoint files: read before the search, written while it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use l0star::{BatchCheckpoint, Method, PathCheckpoint};
use l0star_data::{Lock, write_atomically};
use l0star_record::stability::DrawnFile;

use crate::failure::Failure;
use crate::fault::Fault;
use crate::{output, units};

/// The checkpoint options as typed.
#[derive(Debug, Clone, clap::Args)]
pub struct CheckpointArgs {
    /// Write the state of the search to this file every TIME, and when it ends
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// How often to write it: 500ms, 30s, 5m; 0s: as often as possible [default: 60s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = units::duration)]
    pub checkpoint_every: Option<Duration>,

    /// Resume from a checkpoint of the same data and settings, and keep writing to it
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

impl CheckpointArgs {
    /// Fails if the options ask for a checkpoint and the method cannot resume from one.
    pub fn check(&self, method: Method) -> Result<(), Failure> {
        if method != Method::BestFirst && (self.checkpoint.is_some() || self.resume.is_some()) {
            return Err(Failure::Usage(format!(
                "--checkpoint and --resume belong to --method best-first, and the method is '{method}'; drop one of them"
            )));
        }
        Ok(())
    }
}

/// A value that can be saved to a checkpoint file and read back.
pub trait Archived: Sized {
    fn encode(&self) -> Vec<u8>;
    fn decode(bytes: &[u8]) -> l0star::Result<Self>;
}

impl Archived for l0star::Checkpoint {
    fn encode(&self) -> Vec<u8> {
        self.encode()
    }

    fn decode(bytes: &[u8]) -> l0star::Result<Self> {
        Self::decode(bytes)
    }
}

impl Archived for PathCheckpoint {
    fn encode(&self) -> Vec<u8> {
        self.encode()
    }

    fn decode(bytes: &[u8]) -> l0star::Result<Self> {
        Self::decode(bytes)
    }
}

impl Archived for BatchCheckpoint {
    fn encode(&self) -> Vec<u8> {
        self.encode()
    }

    fn decode(bytes: &[u8]) -> l0star::Result<Self> {
        Self::decode(bytes)
    }
}

impl Archived for DrawnFile {
    fn encode(&self) -> Vec<u8> {
        self.encode()
    }

    fn decode(bytes: &[u8]) -> l0star::Result<Self> {
        Self::decode(bytes)
    }
}

/// The file that checkpoints are written to, and the checkpoint that the search resumes from.
#[derive(Debug)]
pub struct Checkpoints<T> {
    pub resume: Option<T>,
    /// File that `resume` was read from.
    pub source: Option<PathBuf>,
    file: Option<PathBuf>,
    /// Held until the run ends: two runs would replace each other's checkpoints.
    _lock: Option<Lock>,
    pub every: Duration,
    failed: bool,
    fault: Fault,
}

impl<T: Archived> Checkpoints<T> {
    /// Reads the checkpoint to resume from. Also checks that the output file is writable and none of the other files.
    pub fn prepare(
        args: &CheckpointArgs,
        data: &Path,
        others: &[(&str, &Option<PathBuf>)],
    ) -> Result<Self, Failure> {
        let file = args.checkpoint.as_ref().or(args.resume.as_ref());
        if file.is_none() && args.checkpoint_every.is_some() {
            return Err(Failure::Usage(
                "--checkpoint-every says how often, but not where to; add --checkpoint FILE".into(),
            ));
        }
        if let Some(file) = file {
            output::check_writable(file)?;
            output::check_distinct("a checkpoint in", file, "the data", data)?;
            for (kind, other) in others {
                if let Some(other) = other {
                    output::check_distinct("a checkpoint in", file, kind, other)?;
                }
            }
        }
        let lock = file.map(Lock::of).transpose()?;
        let resume = args.resume.as_deref().map(read).transpose()?;
        if let Some(file) = file {
            remove_leftovers(file);
        }
        Ok(Self {
            resume,
            _lock: lock,
            source: args.resume.clone(),
            file: file.cloned(),
            every: args.checkpoint_every.unwrap_or(Duration::from_secs(60)),
            failed: false,
            fault: Fault::planned()?,
        })
    }

    /// Whether checkpoints are written to a file.
    pub fn are_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Replaces the file atomically. If writing fails, the search continues after a warning.
    pub fn write(&mut self, checkpoint: &T) {
        let Some(file) = &self.file else {
            return;
        };
        let bytes = checkpoint.encode();
        let fault = &mut self.fault;
        let written = write_atomically(file, |out| fault.write(out, &bytes));
        fault.written();
        if let Err(error) = written
            && !std::mem::replace(&mut self.failed, true)
        {
            output::tell(
                "warning",
                &format!("{error}; the search goes on without this checkpoint"),
            );
        }
    }
}

/// Converts an error of the engine; names the checkpoint file if that is to blame.
pub fn explain(source: Option<PathBuf>, error: l0star::Error) -> Failure {
    match (source, error) {
        (
            Some(file),
            reason @ (l0star::Error::Checkpoint { .. } | l0star::Error::OtherSearch { .. }),
        ) => Failure::Resume { file, reason },
        (_, error) => error.into(),
    }
}

fn read<T: Archived>(path: &Path) -> Result<T, Failure> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|reason| {
        Failure::BadData(format!(
            "cannot read the checkpoint '{name}': {reason}; give the file that --checkpoint wrote"
        ))
    })?;
    T::decode(&bytes).map_err(|error| Failure::BadData(format!("{name}: {error}")))
}

/// Removes temporary files that a killed process left next to the checkpoint.
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
            // A file that cannot be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}
