//! Searches that end early still write the best model and a valid bound.

use crate::common::{Outcome, Sandbox, assert_close, number, support, without_seconds};

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
        assert_eq!(file["objective"], outcome.json()["objective"]);
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

/// One that takes minutes, and thousands of nodes a second.
fn long() -> Sandbox {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("generate ar -d 50 -k 10 -n 40 --rho 0.7 --snr 1 --out a.csv");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    sandbox
}

const LONG_FIT: &str = "fit a.csv --target b -k 10 --json";

#[test]
fn limits_hold_for_any_number_of_threads() {
    let sandbox = long();
    for threads in [1, 2, 3] {
        let fit = format!("{LONG_FIT} --threads {threads}");
        let outcome = sandbox.run(&format!("{fit} --node-limit 2000"));
        stopped(&outcome, 4, "node_limit");
        assert_eq!(outcome.json()["nodes"], 2000);
        let outcome = sandbox.run(&format!("{fit} --time-limit 500ms"));
        stopped(&outcome, 4, "time_limit");
        assert!(number(&outcome.json(), "seconds") < 5.0);
        let outcome = sandbox.run(&format!("{fit} --memory-limit 10KB"));
        stopped(&outcome, 4, "memory_limit");
        // Short of memory the search goes on, with fewer nodes open.
        let outcome = sandbox.run(&format!("{fit} --memory-limit 300KB --node-limit 2000"));
        stopped(&outcome, 4, "node_limit");
        assert!(number(&outcome.json(), "peak_open_nodes") < 500.0);
    }
}

#[test]
fn a_relative_gap_is_enough() {
    let json = long().json(&format!("{LONG_FIT} --time-limit 1m --relative-gap 0.8"));
    assert_eq!(json["status"], "gap_reached");
    let gap = number(&json, "relative_gap");
    assert!((0.1..=0.8).contains(&gap), "{gap}");
}

#[test]
fn one_thread_prints_the_same_twice() {
    let sandbox = long();
    let fit = format!("{LONG_FIT} --threads 1 --node-limit 3000");
    let [one, other] = [(); 2].map(|()| without_seconds(sandbox.run(&fit).json()));
    assert_eq!(one, other);
    assert_eq!(one["nodes"], 3000);
}

#[test]
fn the_log_is_a_table_on_standard_error() {
    let outcome = long().run(&format!("{LONG_FIT} --log --time-limit 1500ms"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON on stdout");
    let mut lines = outcome.stderr.lines();
    let header = lines.next().expect("a header");
    for name in [
        "seconds",
        "nodes",
        "open",
        "lower bound",
        "incumbent",
        "gap %",
        "features",
        "event",
    ] {
        assert!(header.contains(name), "{header}");
    }
    let mut events = Vec::new();
    let mut best = f64::INFINITY;
    for line in lines {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.len(), 8, "{line}");
        let number = |at: usize| cells[at].parse::<f64>().unwrap_or(f64::INFINITY);
        assert!(
            number(0) >= 0.0 && number(1) >= 0.0 && number(2) >= 0.0,
            "{line}"
        );
        assert!(number(4) <= best && number(3) <= number(4), "{line}");
        best = number(4);
        events.push(cells[7]);
    }
    assert_close(best, number(&json, "objective"), 1e-8);
    for event in ["heuristic", "root", "search", "incumbent", "bound"] {
        assert!(events.contains(&event), "no {event} in {events:?}");
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
    use std::io::{PipeReader, PipeWriter, Write};
    use std::process::{Child, Stdio};

    use serde_json::Value;

    use super::{FIT, hard};
    use crate::common::{Outcome, number, signal};

    /// Whether one of the masks in `/proc` has a signal.
    fn has_signal(child: &Child, mask: &str, signal: u32) -> bool {
        let path = format!("/proc/{}/status", child.id());
        let status = std::fs::read_to_string(&path).expect("the command is still running");
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix(mask)?.strip_prefix(':'))
            .expect("a mask of signals");
        let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask in hexadecimal");
        mask >> (signal - 1) & 1 == 1
    }

    /// Returns once the command listens: before, a signal would just kill it.
    fn wait_for_handler(child: &Child, signal: u32) {
        while !has_signal(child, "SigCgt", signal) {
            std::thread::yield_now();
        }
    }

    /// Sends a signal twice; the second is not merged with the first, since that has been delivered.
    fn twice(child: &Child, (name, number): (&str, u32)) {
        wait_for_handler(child, number);
        signal(child, name);
        while has_signal(child, "ShdPnd", number) {
            std::thread::yield_now();
        }
        signal(child, name);
    }

    /// The end of a pipe to write to that has no room left: whoever writes to it waits until the other end is read.
    fn full() -> (PipeReader, PipeWriter) {
        const ROOM: usize = 1 << 16;
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(&[b'.'; ROOM]).unwrap();
        (reader, writer)
    }

    #[test]
    fn a_second_signal_does_not_wait_for_a_search_that_is_still_stopping() {
        for both in [("INT", 2), ("TERM", 15)] {
            let sandbox = hard();
            // It waits at the first line of its log, and cannot see that it has been asked to stop.
            let (_reader, stderr) = full();
            let mut child = sandbox
                .command(&format!("{FIT} --log --checkpoint c --out m.json"))
                .stdout(Stdio::null())
                .stderr(stderr)
                .spawn()
                .unwrap();
            twice(&child, both);
            assert_eq!(child.wait().unwrap().code(), Some(130), "{both:?}");
            assert_eq!(sandbox.files(), ["h.csv"], "{both:?}");
        }
    }

    #[test]
    fn a_second_signal_leaves_what_has_been_written() {
        for both in [("INT", 2), ("TERM", 15)] {
            let sandbox = hard();
            // The search stops at the first signal and its files are written; then it waits for its reader.
            let (_reader, stdout) = full();
            let fit = format!("{FIT} --json --checkpoint c --out m.json");
            let command = &mut sandbox.command(&fit);
            let mut child = command
                .stdout(stdout)
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            wait_for_handler(&child, both.1);
            signal(&child, both.0);
            while !sandbox.path("m.json").exists() {
                assert!(child.try_wait().unwrap().is_none());
                std::thread::yield_now();
            }
            signal(&child, both.0);
            assert_eq!(child.wait().unwrap().code(), Some(130), "{both:?}");
            assert_eq!(sandbox.files(), ["c", "h.csv", "m.json"], "{both:?}");
            let model: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
            assert_eq!(model["status"], "interrupted");
            let resumed = sandbox.run(&format!("{FIT} --resume c --node-limit 0 --json"));
            assert_eq!(resumed.code, Some(4), "{resumed:?}");
            assert!(number(&resumed.json(), "objective") <= number(&model, "objective"));
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
    fn an_interrupted_cross_validation_chooses_nothing() {
        let sandbox = hard();
        let child = sandbox
            .command(&format!(
                "{} --time-limit 1m --folds 2 --out m.json",
                FIT.replace("fit", "cv")
            ))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for_handler(&child, 2);
        signal(&child, "INT");
        let outcome: Outcome = child.wait_with_output().unwrap().into();
        assert_eq!(outcome.code, Some(130), "{outcome:?}");
        assert_eq!(outcome.stdout, "");
        assert!(outcome.stderr.contains("interrupted"), "{outcome:?}");
        assert_eq!(sandbox.files(), ["h.csv"]);
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
