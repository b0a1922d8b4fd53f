//! What the tests of stopped commands share: data, commands that stop at one of their checkpoints, damaged checkpoints.
//!
//! No test waits for a time to pass or looks whether something has happened by now. A command that is to be killed kills
//! itself at a checkpoint with a certain number, and one that is to be interrupted waits there and says so:
//! `src/fault.rs`.

#[cfg(unix)]
use std::io::{BufRead, BufReader, Read};
#[cfg(unix)]
use std::process::{Child, ChildStderr, Stdio};

use serde_json::Value;

use crate::common::{Outcome, Sandbox, assert_close, number, support};

const FAULT: &str = "L0STAR_TEST_FAULT";

/// Data in `s.csv` for searches of some hundred nodes.
pub fn small() -> Sandbox {
    Sandbox::generated("ar -d 20 -k 4 -n 25 --rho 0.9 --snr 1 --out s.csv")
}

/// Data in `s.csv`, and the checkpoint in `c` of a command that a limit of nodes has stopped.
pub fn stopped(command: &str, nodes: u64) -> Sandbox {
    let sandbox = Sandbox::generated("ar -d 30 -k 5 -n 30 --rho 0.9 --snr 1 --out s.csv");
    let outcome = sandbox.run(&format!("{command} --checkpoint c --node-limit {nodes}"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    sandbox
}

/// With a checkpoint in `c` at every opportunity, from which the command resumes if it is there.
pub fn kept(sandbox: &Sandbox, command: &str) -> String {
    let source = if sandbox.path("c").exists() {
        "--resume"
    } else {
        "--checkpoint"
    };
    format!("{command} {source} c --checkpoint-every 0s")
}

/// Runs a command that aborts at a checkpoint, `after 3` or `within 3`; one that has fewer ends by itself, solved.
pub fn aborted(sandbox: &Sandbox, command: &str, place: &str) -> Option<Outcome> {
    let mut command = sandbox.command(&kept(sandbox, command));
    let output = command.env(FAULT, format!("abort {place}")).output();
    let outcome: Outcome = output.expect("start the command").into();
    match outcome.code {
        Some(0) => return Some(outcome),
        // An abort is no exit code of the command.
        Some(1..=255) => panic!("{outcome:?}"),
        _ => assert_eq!(outcome.stdout, "", "{outcome:?}"),
    }
    None
}

/// Aborts a command at its first checkpoint, the one that resumes at its second, and so on, until one ends by itself:
/// what that prints, and how many were aborted. `look` sees what each has left.
pub fn aborted_again_and_again(
    sandbox: &Sandbox,
    command: &str,
    mut look: impl FnMut(usize),
) -> (Value, usize) {
    let files = sandbox.files().len();
    for number in 1.. {
        // Every other one aborts in the middle of writing.
        let place = ["within", "after"][number % 2];
        match aborted(sandbox, command, &format!("{place} {number}")) {
            Some(outcome) => {
                // What the others have left half-written is gone.
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

/// A command, and what it says on standard error.
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

    /// Starts a command with a checkpoint in `c` that waits there for a signal, `hold after 3` or `hang within 3`;
    /// returns when it does.
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

    /// Waits for the end; standard error is what has not been read of it.
    pub fn end(mut self) -> Outcome {
        let mut outcome: Outcome = self.child.wait_with_output().unwrap().into();
        self.stderr.read_to_string(&mut outcome.stderr).unwrap();
        outcome
    }

    /// Sends a signal to a command that waits for one; it ends as one that was interrupted.
    pub fn interrupted(self, name: &str) -> Outcome {
        self.signal(name);
        let outcome = self.end();
        assert_eq!(outcome.code, Some(130), "{outcome:?}");
        outcome
    }
}

/// Asserts that a model that is proved to be the best is the one that was found without a stop.
pub fn assert_same_model(found: &Value, truth: &Value) {
    assert_eq!(found["status"], "optimal");
    assert_eq!(support(found), support(truth));
    let objective = number(truth, "objective");
    assert_close(number(found, "objective"), objective, 1e-12);
    assert!(number(found, "lower_bound") <= objective);
}

/// Changed bits, missing ends, and what is no checkpoint at all: each is refused as `--resume`, and left as it is.
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

/// `o.csv` is `s.csv` but for one digit of one number.
pub fn write_other_data(sandbox: &Sandbox) {
    let table = String::from_utf8(sandbox.read("s.csv")).unwrap();
    let at = table.rfind(|c: char| ('1'..='8').contains(&c)).unwrap();
    let mut other = table.into_bytes();
    other[at] += 1;
    sandbox.write("o.csv", other);
}
