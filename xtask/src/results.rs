//! `cargo xtask results`: creates the pages of `docs/results` with commands that a reader can run too.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use clap::ValueEnum;

use xtask::python;
use xtask::step::{self, cargo, root};

/// One of the two result pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The paper's experiments
    Reproduce,
    /// The race against the peers
    Peers,
}

/// Runs the requested parts. Numbers go to `target/results`, and pages and figures also to `docs/results`.
pub fn run(
    instances: u64,
    only: Option<Part>,
    budget: Option<f64>,
    time_limit: Option<f64>,
) -> Result<(), String> {
    let work = root().join("target").join("results");
    let wanted = |part| only.is_none_or(|only| only == part);
    let (program, _) = python::interpreter()?;
    let driver = root().join("bench").join("peers").join("run.py");
    step::run(
        "peers: environments",
        Command::new(&program).arg(&driver).arg("setup"),
    )?;
    if wanted(Part::Reproduce) {
        let count = instances.to_string();
        let mut command = cargo(&["run", "--quiet", "--release", "--package", "l0star-cli"]);
        command.args([
            "--features",
            "full",
            "--",
            "reproduce",
            "all",
            "--instances",
            &count,
            "--out",
        ]);
        step::run(
            "the paper's experiments",
            command.arg(&work).env("PYTHON", &program),
        )?;
    }
    if wanted(Part::Peers) {
        let mut command = Command::new(&program);
        command.arg(&driver).args(["race", "--out"]).arg(&work);
        command.args(budget.map(|minutes| format!("--budget={minutes}")));
        command.args(time_limit.map(|seconds| format!("--time-limit={seconds}")));
        step::run("the race against the peers", &mut command)?;
    }
    publish(&work, &root().join("docs").join("results"))
}

/// Copies pages, their figures, and the few results of the race.
fn publish(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", to.display());
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)?.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let shown = ["md", "svg"].map(OsStr::new);
        if name == "peers.json" || path.extension().is_some_and(|kind| shown.contains(&kind)) {
            fs::copy(&path, to.join(name)).map_err(failed)?;
        }
    }
    eprintln!("==> {}", to.display());
    Ok(())
}
