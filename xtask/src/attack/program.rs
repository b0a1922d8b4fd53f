//! The real binary under a limit of memory, and what it may never do.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Finding;

/// Address space in kilobytes: far more than a file of a few kilobytes can need.
const MEMORY: u64 = 2 << 20;
/// A run that takes this many times its processor time by the clock stands still.
const PATIENCE: u32 = 12;

/// Solved, wrong usage, bad data, stopped at a limit.
const CONTRACT: [i32; 4] = [0, 2, 3, 4];

/// The binary.
pub struct Program {
    pub path: PathBuf,
    /// A run that takes more processor time is killed, and a finding; so is one that stands still for far longer, whatever else
    /// the machine is busy with.
    pub watchdog: Option<Duration>,
}

/// What a run has left.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    /// Runs the command; a panic, an abort, a signal, a hang, an exit code outside the contract or a failure without a
    /// message is a finding.
    pub fn run<S: AsRef<OsStr>>(&self, folder: &Path, arguments: &[S]) -> Result<Ran, Finding> {
        let shown: Vec<String> = arguments
            .iter()
            .map(|word| format!("{:?}", word.as_ref()))
            .collect();
        let shown = shown.join(" ");
        let say = |error: std::io::Error| format!("{shown}: cannot run it: {error}");
        let (out, err) = (folder.join("stdout"), folder.join("stderr"));
        let mut command = limited(&self.path, self.watchdog);
        command
            .args(arguments)
            .current_dir(folder)
            .env("RAYON_NUM_THREADS", "2")
            .env("MALLOC_ARENA_MAX", "2")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(File::create(&out).map_err(say)?)
            .stderr(File::create(&err).map_err(say)?);
        let mut child = command.spawn().map_err(say)?;
        let status = match self.watchdog {
            None => child.wait().map_err(say)?,
            Some(limit) => within(&mut child, PATIENCE * limit)
                .map_err(say)?
                .ok_or_else(|| format!("{shown}: stood still"))?,
        };
        let text = |path: &Path| {
            let bytes = fs::read(path).map_err(say)?;
            String::from_utf8(bytes).map_err(|_| format!("{shown}: wrote no UTF-8"))
        };
        let (stdout, stderr) = (text(&out)?, text(&err)?);
        let found = |what: &str| Err(format!("{shown}: {what}: {}", stderr.trim_end()));
        let Some(code) = status.code().filter(|code| CONTRACT.contains(code)) else {
            return found(&format!("ended with {status}"));
        };
        if stderr.contains("panicked at") || stderr.contains("memory allocation of") {
            return found("panicked");
        }
        if (code == 2 || code == 3) && !stderr.contains("error: ") {
            return found(&format!("failed with {code} and no message"));
        }
        Ok(Ran {
            code,
            stdout,
            stderr,
        })
    }
}

/// The program with its address space and its processor time limited, where there is a shell to do that. The end of the time is a
/// signal.
fn limited(program: &Path, time: Option<Duration>) -> Command {
    if !cfg!(unix) {
        return Command::new(program);
    }
    let mut command = Command::new("sh");
    let time = time.map_or_else(String::new, |time| {
        format!("ulimit -t {}; ", time.as_secs())
    });
    let script = format!("ulimit -v {MEMORY}; {time}exec \"$0\" \"$@\"");
    command.arg("-c").arg(script).arg(program);
    command
}

/// The status, or nothing after the time is over, and then the child is gone.
fn within(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}
