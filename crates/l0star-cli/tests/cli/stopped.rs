//! Shared parts of the tests of stopped commands: data, commands that stop at a checkpoint, damaged checkpoints.
//!
//! No test waits for a period of time or polls whether something has happened. A command to be killed kills itself at
//! the checkpoint with a given number, and one to be interrupted waits there and says so: see `src/fault.rs`.

#[cfg(unix)]
use std::io::{BufRead, BufReader, Read};
#[cfg(unix)]
use std::process::{Child, ChildStderr, Stdio};

use serde_json::Value;

use crate::common::{Outcome, Sandbox, assert_close, number, support};

const FAULT: &str = "L0STAR_TEST_FAULT";

/// Generates data in `s.csv` for searches of some hundred nodes.
pub fn small() -> Sandbox {
    Sandbox::generated("ar -d 20 -k 4 -n 25 --rho 0.9 --snr 1 --out s.csv")
}

/// Generates data in `s.csv`, and leaves in `c` the checkpoint of a command that a node limit stopped.
pub fn stopped(command: &str, nodes: u64) -> Sandbox {
    let sandbox = Sandbox::generated("ar -d 30 -k 5 -n 30 --rho 0.9 --snr 1 --out s.csv");
    let outcome = sandbox.run(&format!("{command} --checkpoint c --node-limit {nodes}"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    sandbox
}

/// Adds options to keep a checkpoint in `c` at every opportunity; the command resumes from it if it exists.
pub fn kept(sandbox: &Sandbox, command: &str) -> String {
    let source = if sandbox.path("c").exists() {
        "--resume"
    } else {
        "--checkpoint"
    };
    format!("{command} {source} c --checkpoint-every 0s")
}

/// Runs a command that aborts at a checkpoint (`after 3`, `within 3`). If it has fewer, it must end solved.
pub fn aborted(sandbox: &Sandbox, command: &str, place: &str) -> Option<Outcome> {
    let mut command = sandbox.command(&kept(sandbox, command));
    let output = command.env(FAULT, format!("abort {place}")).output();
    let outcome: Outcome = output.expect("start the command").into();
    match outcome.code {
        Some(0) => return Some(outcome),
        // An aborted process has no exit code of the command.
        Some(1..=255) => panic!("{outcome:?}"),
        _ => assert_eq!(outcome.stdout, "", "{outcome:?}"),
    }
    None
}

/// Aborts a command at its first checkpoint, its continuation at the second, and so on, until one finishes.
///
/// Returns the output of the last, and how many were aborted. `look` is called after each abort.
pub fn aborted_again_and_again(
    sandbox: &Sandbox,
    command: &str,
    mut look: impl FnMut(usize),
) -> (Value, usize) {
    let files = sandbox.files().len();
    for number in 1.. {
        // Every other run aborts in the middle of writing.
        let place = ["within", "after"][number % 2];
        match aborted(sandbox, command, &format!("{place} {number}")) {
            Some(outcome) => {
                // The half-written files of the aborted runs have been removed.
                assert_eq!(sandbox.files().len(), files + 1, "{:?}", sandbox.files());
                return (outcome.json(), number - 1);
            }
            None => {
                let halves = usize::from(place == "within");
                assert_eq!(sandbox.files().len(), files + 1 + halves);
                look(number);
            }
        }
    }
    unreachable!("a command has only so many checkpoints");
}

/// A running command whose standard error can be read.
#[cfg(unix)]
pub struct Listened {
    pub child: Child,
    stderr: BufReader<ChildStderr>,
}

#[cfg(unix)]
impl Listened {
    pub fn start(sandbox: &Sandbox, arguments: &str) -> Self {
        Self::start_with(sandbox, arguments, "")
    }

    /// Starts a command with a checkpoint in `c` that waits there for a signal (`hold after 3`, `hang within 3`).
    /// Returns once it waits.
    pub fn held(sandbox: &Sandbox, command: &str, fault: &str) -> Self {
        let mut held = Self::start_with(sandbox, &kept(sandbox, command), fault);
        assert_eq!(held.line(), "held\n", "{fault}");
        held
    }

    fn start_with(sandbox: &Sandbox, arguments: &str, fault: &str) -> Self {
        let mut command = sandbox.command(arguments);
        if !fault.is_empty() {
            command.env(FAULT, fault);
        }
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("start the command");
        let stderr = BufReader::new(child.stderr.take().expect("standard error"));
        Self { child, stderr }
    }

    /// Waits for the next line.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("read a line");
        line
    }

    pub fn signal(&self, name: &str) {
        crate::common::signal(&self.child, name);
    }

    /// Waits for the command to end; the outcome has the unread rest of standard error.
    pub fn end(mut self) -> Outcome {
        let mut outcome: Outcome = self.child.wait_with_output().unwrap().into();
        self.stderr.read_to_string(&mut outcome.stderr).unwrap();
        outcome
    }

    /// Sends a signal to a command that waits for one; it must end as interrupted.
    pub fn interrupted(self, name: &str) -> Outcome {
        self.signal(name);
        let outcome = self.end();
        assert_eq!(outcome.code, Some(130), "{outcome:?}");
        outcome
    }
}

/// Asserts that a proved model is the one found without a stop.
pub fn assert_same_model(found: &Value, truth: &Value) {
    assert_eq!(found["status"], "optimal");
    assert_eq!(support(found), support(truth));
    let objective = number(truth, "objective");
    assert_close(number(found, "objective"), objective, 1e-12);
    assert!(number(found, "lower_bound") <= objective);
}

/// Asserts that changed bits, truncated files and other files are refused by `--resume`, and are left unchanged.
pub fn damaged_ones_are_refused(sandbox: &Sandbox, command: &str) {
    let whole = sandbox.read("c");
    let refused = |bytes: &[u8], what: &str| {
        sandbox.write("d", bytes);
        let outcome = sandbox.run(&format!("{command} --resume d"));
        assert_eq!(outcome.code, Some(3), "{what}: {outcome:?}");
        assert_eq!(outcome.stdout, "", "{what}");
        assert!(
            outcome.stderr.starts_with("error: d: the checkpoint"),
            "{what}: {outcome:?}"
        );
        assert_eq!(sandbox.read("d"), bytes, "{what}: the file was touched");
    };
    for i in 0..100 {
        let at = whole.len() * i / 100;
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (i % 8);
        refused(&damaged, &format!("a bit of byte {at}"));
        refused(&whole[..at], &format!("{at} bytes"));
    }
    refused(b"a,b\n1,2\n", "a table");
}

/// Writes `o.csv`, which differs from `s.csv` in one digit of one number.
pub fn write_other_data(sandbox: &Sandbox) {
    let table = String::from_utf8(sandbox.read("s.csv")).unwrap();
    let at = table.rfind(|c: char| ('1'..='8').contains(&c)).unwrap();
    let mut other = table.into_bytes();
    other[at] += 1;
    sandbox.write("o.csv", other);
}
