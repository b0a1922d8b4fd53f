//! The real binary under a memory limit, and what it must never do.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Finding;

/// Address space in kilobytes, far more than a file of a few kilobytes can need.
const MEMORY: u64 = 2 << 20;
/// Factor of the processor-time limit after which, by the clock, a run counts as hung.
const PATIENCE: u32 = 12;

/// Exit codes that the contract allows: solved, wrong usage, bad data, stopped at a limit.
const CONTRACT: [i32; 4] = [0, 2, 3, 4];

/// The binary under test.
pub struct Program {
    pub path: PathBuf,
    /// Limit on the processor time of a run. A run over the limit is killed and is a finding. So is one that hangs
    /// for far longer by the clock, which allows for a busy machine.
    pub watchdog: Option<Duration>,
}

/// The output and the exit code of a run.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    /// Runs the command. A panic, an abort, a signal, a hang, an exit code outside the contract or a failure without a
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

/// Returns the command with limited address space and processor time, if a shell can set the limits. At the time
/// limit a signal ends it.
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

/// Returns the status, or `None` if the time is over; the child is then killed.
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
