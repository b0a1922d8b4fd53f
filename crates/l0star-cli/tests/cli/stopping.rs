//! Searches that end early still write the best model and a valid bound.

use crate::common::{Outcome, Sandbox, number, support};

/// An instance that takes far longer than any test would wait.
fn hard() -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate huber -d 200 -k 20 -n 100 --out h.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

const FIT: &str = "fit h.csv --target b -k 20 --loss huber --no-intercept --ridge 1e-4";

fn stopped(outcome: &Outcome, code: i32, status: &str) {
    assert_eq!(outcome.code, Some(code), "{outcome:?}");
    let json = outcome.json();
    assert_eq!(json["status"], status);
    assert!(!support(&json).is_empty());
    let (objective, bound) = (number(&json, "objective"), number(&json, "lower_bound"));
    assert!(bound < objective);
    assert_eq!(number(&json, "gap"), objective - bound);
}

#[test]
fn a_time_limit() {
    let sandbox = hard();
    for method in ["best-first", "paper"] {
        let arguments = format!("{FIT} --method {method} --time-limit 300ms --json --out m.json");
        let outcome = sandbox.run(&arguments);
        stopped(&outcome, 4, "time_limit");
        assert!(number(&outcome.json(), "seconds") < 5.0, "{method}");
        let file: serde_json::Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
        assert_eq!(file, outcome.json());
    }
}

#[test]
fn a_node_limit() {
    let sandbox = hard();
    for method in ["best-first", "paper"] {
        let outcome = sandbox.run(&format!("{FIT} --method {method} --node-limit 3 --json"));
        stopped(&outcome, 4, "node_limit");
        assert!(number(&outcome.json(), "nodes") <= 3.0);
    }
}

#[test]
fn a_memory_limit() {
    let sandbox = hard();
    // The default plunges when memory is short; a limit below the size of a single node stops it too.
    for (method, limit) in [("best-first", "100"), ("paper", "50KB")] {
        let arguments = format!("{FIT} --method {method} --memory-limit {limit} --json");
        stopped(&sandbox.run(&arguments), 4, "memory_limit");
    }
}

#[test]
fn the_table_says_why() {
    let outcome = hard().run(&format!("{FIT} --time-limit 0.2"));
    assert_eq!(outcome.code, Some(4));
    let title = outcome.stdout.lines().next().unwrap();
    assert!(title.starts_with("within "), "{title}");
    assert!(title.ends_with(" %, stopped at the time limit"), "{title}");
}

#[test]
fn a_time_limit_beyond_the_clock_is_no_limit() {
    let sandbox = Sandbox::new();
    sandbox.run("generate huber -d 10 -k 2 -n 30 --out s.csv");
    let json = sandbox.json("fit s.csv --target b -k 2 --time-limit 1e18 --json");
    assert_eq!(json["status"], "optimal");
}

#[cfg(target_os = "linux")]
mod signals {
    use std::process::{Child, Command, Stdio};

    use super::{FIT, hard};
    use crate::common::{Outcome, number};

    fn signal(child: &Child, name: &str) {
        let status = Command::new("kill")
            .args([format!("-{name}"), child.id().to_string()])
            .status()
            .expect("run kill");
        assert!(status.success());
    }

    /// Returns once the command listens: before, a signal would just kill it.
    fn wait_for_handler(child: &Child, signal: u32) {
        let path = format!("/proc/{}/status", child.id());
        loop {
            let status = std::fs::read_to_string(&path).expect("the command is still running");
            let caught = status
                .lines()
                .find_map(|line| line.strip_prefix("SigCgt:"))
                .expect("a mask of caught signals");
            let mask = u64::from_str_radix(caught.trim(), 16).expect("a mask in hexadecimal");
            if mask >> (signal - 1) & 1 == 1 {
                return;
            }
            std::thread::yield_now();
        }
    }

    fn interrupted_by(name: &str, number_of_signal: u32, method: &str) {
        let sandbox = hard();
        let child = sandbox
            .command(&format!("{FIT} --method {method} --json --time-limit 1m"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for_handler(&child, number_of_signal);
        signal(&child, name);
        let outcome: Outcome = child.wait_with_output().unwrap().into();
        assert_eq!(outcome.code, Some(130), "{outcome:?}");
        let json = outcome.json();
        assert_eq!(json["status"], "interrupted");
        let (objective, bound) = (number(&json, "objective"), number(&json, "lower_bound"));
        assert!(bound < objective);
        assert_eq!(number(&json, "gap"), objective - bound);
    }

    #[test]
    fn an_interrupt_writes_the_best_model() {
        interrupted_by("INT", 2, "best-first");
    }

    #[test]
    fn a_termination_writes_the_best_model() {
        interrupted_by("TERM", 15, "paper");
    }
}
