//! Searches that end early still write the best model and a valid bound.

use crate::common::{Outcome, Sandbox, assert_close, number, support, without_seconds};

/// Generates an instance that takes far longer than any test would wait.
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

/// Leaves a checkpoint in `c` with a model, so that the next search has one however soon it is stopped.
fn begin(sandbox: &Sandbox, fit: &str) {
    let outcome = sandbox.run(&format!("{fit} --node-limit 3 --checkpoint c"));
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
}

#[test]
fn a_time_limit() {
    let sandbox = hard();
    begin(&sandbox, FIT);
    // The search takes far longer than either limit.
    for limit in ["0", "50ms"] {
        let arguments = format!("{FIT} --resume c --time-limit {limit} --json --out m.json");
        let outcome = sandbox.run(&arguments);
        stopped(&outcome, 4, "time_limit");
        let file: serde_json::Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
        assert_eq!(file["objective"], outcome.json()["objective"]);
    }
    let paper = format!("{FIT} --method paper --json");
    for limit in ["0", "50ms"] {
        let outcome = sandbox.run(&format!("{paper} --time-limit {limit}"));
        assert_eq!(outcome.code, Some(4), "{outcome:?}");
        assert_eq!(outcome.json()["status"], "time_limit");
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
    // The default method dives when memory is short; a limit below the size of a single node stops it as well.
    for (method, limit) in [("best-first", "100"), ("paper", "50KB")] {
        let arguments = format!("{FIT} --method {method} --memory-limit {limit} --json");
        stopped(&sandbox.run(&arguments), 4, "memory_limit");
    }
}

/// Generates an instance that takes minutes, at thousands of nodes per second.
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
    begin(&sandbox, LONG_FIT);
    for threads in [1, 2, 3] {
        let fit = format!("{LONG_FIT} --threads {threads}");
        let outcome = sandbox.run(&format!("{fit} --node-limit 200"));
        stopped(&outcome, 4, "node_limit");
        assert_eq!(outcome.json()["nodes"], 200);
        let outcome = sandbox.run(&format!("{fit} --resume c --time-limit 300ms"));
        stopped(&outcome, 4, "time_limit");
        let outcome = sandbox.run(&format!("{fit} --memory-limit 10KB"));
        stopped(&outcome, 4, "memory_limit");
        // When memory is short, the search continues with fewer open nodes. Every thread holds the frames of its own
        // path. How many are alive at once depends on scheduling, so there is room for each of them.
        let (memory, nodes) = (400 * threads, 2000 * threads);
        let limits = format!("--memory-limit {memory}KB --node-limit {nodes}");
        let outcome = sandbox.run(&format!("{fit} {limits}"));
        stopped(&outcome, 4, "node_limit");
        let open = number(&outcome.json(), "peak_open_nodes");
        assert!(open < 250.0 * threads as f64, "{open}");
    }
}

#[test]
fn a_relative_gap_is_enough() {
    let json = long().json(&format!("{LONG_FIT} --relative-gap 0.8"));
    assert_eq!(json["status"], "gap_reached");
    let gap = number(&json, "relative_gap");
    assert!((0.1..=0.8).contains(&gap), "{gap}");
}

#[test]
fn one_thread_prints_the_same_twice() {
    let sandbox = long();
    let fit = format!("{LONG_FIT} --threads 1 --node-limit 300");
    let [one, other] = [(); 2].map(|()| without_seconds(sandbox.run(&fit).json()));
    assert_eq!(one, other);
    assert_eq!(one["nodes"], 300);
}

#[test]
fn the_log_is_a_table_on_standard_error() {
    let outcome = long().run(&format!("{LONG_FIT} --log --node-limit 2000"));
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
        "from",
    ] {
        assert!(header.contains(name), "{header}");
    }
    let mut events = Vec::new();
    let mut best = f64::INFINITY;
    for line in lines {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.len(), 9, "{line}");
        let sources = ["greedy", "local-search", "search", "given"];
        assert_eq!(
            cells[7] == "incumbent",
            sources.contains(&cells[8]),
            "{line}"
        );
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
    for event in ["heuristic", "root", "search", "incumbent"] {
        assert!(events.contains(&event), "no {event} in {events:?}");
    }
}

#[test]
fn the_table_says_why() {
    let (sandbox, fit) = (long(), LONG_FIT.replace(" --json", ""));
    begin(&sandbox, &fit);
    let outcome = sandbox.run(&format!("{fit} --resume c --time-limit 0"));
    assert_eq!(outcome.code, Some(4));
    let title = outcome.stdout.lines().next().unwrap();
    let start = "stopped at the time limit: the lower bound has reached ";
    assert!(title.starts_with(start), "{title}");
    assert!(title.ends_with(" % of the objective"), "{title}");
}

#[test]
fn a_time_limit_beyond_the_clock_is_no_limit() {
    let sandbox = Sandbox::new();
    sandbox.run("generate huber -d 10 -k 2 -n 30 --out s.csv");
    let json = sandbox.json("fit s.csv --target b -k 2 --time-limit 1e18 --json");
    assert_eq!(json["status"], "optimal");
}

#[cfg(unix)]
mod signals {
    use std::io::Read;

    use serde_json::Value;

    use super::{FIT, begin, hard};
    use crate::common::number;
    use crate::stopped::Listened;

    #[test]
    fn a_second_signal_does_not_wait_for_a_search_that_is_still_stopping() {
        for signal in ["INT", "TERM"] {
            // All or half of a checkpoint is written, and the search hangs there when it is asked to stop.
            for (place, left) in [("within", &["h.csv"][..]), ("after", &["c", "h.csv"])] {
                let sandbox = hard();
                let fit = format!("{FIT} --out m.json");
                let mut held = Listened::held(&sandbox, &fit, &format!("hang {place} 1"));
                assert_eq!(sandbox.files().len(), 2);
                held.signal(signal);
                assert_eq!(held.line(), "asked\n");
                let outcome = held.interrupted(signal);
                assert_eq!((&*outcome.stdout, &*outcome.stderr), ("", ""));
                assert_eq!(sandbox.files(), left, "{signal}");
            }
        }
    }

    #[test]
    fn a_second_signal_leaves_what_has_been_written() {
        for signal in ["INT", "TERM"] {
            let sandbox = hard();
            // With names this long, a result does not fit in a pipe.
            let table = String::from_utf8(sandbox.read("h.csv")).unwrap();
            let (names, rows) = table.split_once('\n').unwrap();
            let long = names.replace(',', &format!("{},", "x".repeat(4000)));
            sandbox.write("h.csv", format!("{long}\n{rows}"));
            begin(&sandbox, FIT);
            // At the first signal the search stops and writes its files; then it blocks until its output is read.
            let fit = format!("{FIT} --json --out m.json");
            let mut held = Listened::held(&sandbox, &fit, "hold after 1");
            held.signal(signal);
            let stdout = held.child.stdout.as_mut().unwrap();
            stdout.read_exact(&mut [0]).unwrap();
            held.interrupted(signal);
            assert_eq!(sandbox.files(), ["c", "h.csv", "m.json"], "{signal}");
            let model: Value = serde_json::from_slice(&sandbox.read("m.json")).unwrap();
            assert_eq!(model["status"], "interrupted");
            let resumed = sandbox.run(&format!("{FIT} --resume c --node-limit 0 --json"));
            assert_eq!(resumed.code, Some(4), "{resumed:?}");
            assert!(number(&resumed.json(), "objective") <= number(&model, "objective"));
        }
    }

    /// Asserts that a signal ends a search that takes far longer than any test would wait.
    fn interrupted_by(signal: &str, method: &str) {
        let sandbox = hard();
        let fit = format!("{FIT} --method {method} --json --log");
        let mut listened = Listened::start(&sandbox, &fit);
        // The log starts after the signal handler is installed.
        assert!(listened.line().contains("lower bound"));
        let outcome = listened.interrupted(signal);
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(json["status"], "interrupted");
        let (objective, bound) = (number(&json, "objective"), number(&json, "lower_bound"));
        assert!(bound < objective);
        assert_eq!(number(&json, "gap"), objective - bound);
    }

    #[test]
    fn an_interrupted_cross_validation_chooses_nothing() {
        let sandbox = hard();
        let cv = format!("{} --folds 2 --out m.json", FIT.replace("fit", "cv"));
        let held = Listened::held(&sandbox, &cv, "hold after 1");
        let outcome = held.interrupted("INT");
        assert_eq!(outcome.stderr, "");
        let title = outcome.stdout.lines().next();
        assert_eq!(title, Some("interrupted: nothing is chosen"));
        assert_eq!(sandbox.files(), ["c", "h.csv"]);
    }

    #[test]
    fn an_interrupt_writes_the_best_model() {
        interrupted_by("INT", "best-first");
    }

    #[test]
    fn a_termination_writes_the_best_model() {
        interrupted_by("TERM", "paper");
    }
}
