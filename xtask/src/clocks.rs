//! Checks that no test reads a clock, sleeps or polls: on a busy machine it would fail, or test less than it claims.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::step::root;

/// Words that a test must not contain.
const WORDS: &[&str] = &[
    "Instant::now",
    "SystemTime::now",
    ".elapsed()",
    "thread::sleep",
    "yield_now",
    "spin_loop",
    "park_timeout",
    "recv_timeout",
    "wait_timeout",
    "try_recv",
    "try_wait",
    "time.sleep",
    "time.time(",
    "perf_counter",
    "time.monotonic",
    "monotonic(",
    "timeout=",
    ".poll(",
];

const ADVICE: &str = "\
Tests wait for events, not for time to pass, and never look whether something has happened by now:
- the command aborts, or waits for a signal, at a checkpoint of your choice (crates/l0star-cli/src/fault.rs);
- an observer, or whoever takes checkpoints, sets `Settings::interrupt` at an event of your choice; in Python a callback;
- a time limit is 0, or far less than the search takes, or so large that it cannot matter;
- a line, a message, a lock or the end of a process is awaited without a limit: a hang is for the CI to end.";

/// Collects all files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found)
        } else {
            found.push(path)
        }
    }
}

/// Returns the line where the tests of a file begin, if it has any: its first line, or the end of the code.
fn tests_begin(path: &Path, text: &str) -> Option<usize> {
    let name = path.file_name()?.to_str()?;
    let is_in = |folder: &str| path.iter().any(|part| part == folder);
    match path.extension()?.to_str()? {
        "py" => (is_in("tests") || name.starts_with("test_")).then_some(0),
        "rs" if is_in("tests") || name == "tests.rs" || name == "testing.rs" => Some(0),
        "rs" => {
            let lines: Vec<&str> = text.lines().collect();
            let is_start = |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].ends_with('{');
            lines.windows(2).position(is_start)
        }
        _ => None,
    }
}

#[test]
fn no_test_depends_on_a_clock() {
    let mut all = Vec::new();
    for folder in ["crates", "xtask/src", "python/tests", "bench/peers"] {
        files(&root().join(folder), &mut all);
    }
    let (mut seen, mut faults) = (0, Vec::new());
    for path in all {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let Some(first) = tests_begin(&path, &text) else {
            continue;
        };
        seen += 1;
        for (at, line) in text.lines().enumerate().skip(first) {
            for word in WORDS.iter().filter(|word| line.contains(**word)) {
                faults.push(format!("{}:{}: {word}", path.display(), at + 1));
            }
        }
    }
    assert!(seen > 100, "only {seen} files with tests");
    assert!(faults.is_empty(), "{}\n{ADVICE}", faults.join("\n"));
}
