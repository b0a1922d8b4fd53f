//! A temporary folder for each test, and the binary run in it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder in which the command runs, so that tests name files without their folder.
pub struct Sandbox {
    folder: TempDir,
}

/// The outcome of a command.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder }
    }

    /// Creates a sandbox with one file.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let sandbox = Self::new();
        sandbox.write(name, content);
        sandbox
    }

    /// Creates a sandbox with data from `generate`.
    pub fn generated(arguments: &str) -> Self {
        let sandbox = Self::new();
        let outcome = sandbox.run(&format!("generate {arguments}"));
        assert_eq!(outcome.code, Some(0), "{arguments}: {outcome:?}");
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("write in the sandbox");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the names of all files, including hidden ones, but not locks, which a killed process leaves behind.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("list the sandbox");
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.ends_with(".lock"))
            .collect();
        names.sort();
        names
    }

    /// Returns the command without starting it; the arguments are separated by blanks.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_l0star"));
        command
            .args(arguments.split_whitespace())
            .current_dir(self.folder.path());
        command
    }

    pub fn run(&self, arguments: &str) -> Outcome {
        self.command(arguments)
            .output()
            .expect("start the command")
            .into()
    }

    /// Runs a command that must succeed and print one JSON object.
    pub fn json(&self, arguments: &str) -> Value {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments}: {outcome:?}");
        outcome.json()
    }

    /// Runs a command that must fail with this code, print nothing on standard output, and name all of `words` in one
    /// error.
    pub fn refuses(&self, arguments: &str, code: i32, words: &[&str]) {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(code), "{arguments}: {outcome:?}");
        assert_eq!(outcome.stdout, "", "{arguments}");
        assert!(
            outcome.stderr.starts_with("error: "),
            "{arguments}: {outcome:?}"
        );
        for word in words {
            assert!(
                outcome.stderr.contains(word),
                "{arguments}: no {word:?} in {}",
                outcome.stderr
            );
        }
    }
}

impl Outcome {
    pub fn json(&self) -> Value {
        assert_eq!(self.stderr, "");
        assert_eq!(self.stdout.matches('\n').count(), 1, "{}", self.stdout);
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
        }
    }
}

/// Sends a signal to a command.
#[cfg(unix)]
pub fn signal(child: &std::process::Child, name: &str) {
    let status = Command::new("kill")
        .args([format!("-{name}"), child.id().to_string()])
        .status()
        .expect("run kill");
    assert!(status.success());
}

/// Returns a number of a JSON object.
pub fn number(json: &Value, field: &str) -> f64 {
    json[field]
        .as_f64()
        .unwrap_or_else(|| panic!("{field} is no number in {json}"))
}

/// Returns the names in `support`.
pub fn support(json: &Value) -> Vec<&str> {
    let names = json["support"].as_array().expect("support is a list");
    names.iter().map(|name| name.as_str().unwrap()).collect()
}

/// Asserts that two numbers agree to a relative error.
pub fn assert_close(a: f64, b: f64, relative: f64) {
    assert!(
        (a - b).abs() <= relative * a.abs().max(b.abs()),
        "{a} and {b} differ by {:e}",
        a - b
    );
}

/// Returns the object without the times that the run took.
pub fn without_seconds(mut json: Value) -> Value {
    let fields = json.as_object_mut().unwrap();
    let seconds = fields.shift_remove("seconds").and_then(|s| s.as_f64());
    let found = fields.shift_remove("found_after");
    let found = found.map_or(Some(0.0), |found| found.as_f64());
    assert!(
        found >= Some(0.0) && seconds >= found,
        "{found:?} {seconds:?}"
    );
    json
}
