//! What the tests of stopped commands share: data, waiting for a checkpoint, damaging one.

use std::fs;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::common::{Sandbox, assert_close, number, support};

/// Data in `a.csv` for a search of some seconds.
pub fn seconds() -> Sandbox {
    Sandbox::generated("ar -d 60 -k 10 -n 80 --rho 0.9 --snr 1 --out a.csv")
}

/// Small data in `s.csv`, and the checkpoint in `c` of a command that a limit of nodes has stopped.
pub fn stopped(command: &str, nodes: u64) -> Sandbox {
    let sandbox = Sandbox::generated("ar -d 30 -k 5 -n 30 --rho 0.9 --snr 1 --out s.csv");
    let outcome = sandbox.run(&format!("{command} --checkpoint c --node-limit {nodes}"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    sandbox
}

/// Starts a command.
pub fn start(sandbox: &Sandbox, arguments: &str) -> Child {
    let command = &mut sandbox.command(arguments);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("start the command")
}

/// Kills a command, if it has not ended.
pub fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Sends a signal; the command ends as one that was interrupted.
#[cfg(target_os = "linux")]
pub fn interrupt(child: Child, signal: &str) -> crate::common::Outcome {
    crate::common::signal(&child, signal);
    let outcome: crate::common::Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    outcome
}

/// Waits until the checkpoint has been replaced, or the command has ended (false).
pub fn wait_for_change(sandbox: &Sandbox, child: &mut Child, known: &mut Vec<u8>) -> bool {
    loop {
        if let Ok(bytes) = fs::read(sandbox.path("c"))
            && bytes != *known
        {
            *known = bytes;
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::yield_now();
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
