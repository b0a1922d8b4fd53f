//! `cargo xtask test` and `cargo xtask deny`: both end at the first failure.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use xtask::step::{self, cargo, root, run};
use xtask::{python, report, tools};

/// Checks the format, lints, documentation, tests and licences of the Rust crates, then those of the Python package.
pub fn test() -> Result<(), String> {
    // Installing Python's packages is mostly waiting, so it runs while the compiler works.
    let packages = thread::spawn(python::environment);
    rust()?;
    packages
        .join()
        .map_err(|_| "python: the environment could not be made")??;
    python::test()?;
    eprintln!("==> all good");
    Ok(())
}

fn rust() -> Result<(), String> {
    run("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    run(
        "lints",
        &mut cargo(&[
            "clippy",
            "--workspace",
            "--all-features",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]),
    )?;
    // The first command of the README builds fewer features, and it must not show warnings to a new user.
    run(
        "lints of the lean build",
        &mut cargo(&[
            "clippy",
            "--package",
            "l0star-data",
            "--no-default-features",
            "--",
            "-D",
            "warnings",
        ]),
    )?;
    run(
        "documentation",
        cargo(&["doc", "--workspace", "--all-features", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    run(
        "tests",
        &mut cargo(&["test", "--workspace", "--all-features"]),
    )?;
    step::attack(&["--short".to_owned()])?;
    report::check()?;
    deny()
}

/// Checks licences, duplicate versions, sources and known vulnerabilities of the dependencies.
pub fn deny() -> Result<(), String> {
    let program = tools::cargo_deny()?;
    let check = |what: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["--log-level", "error", "--locked", "check"]);
        command.arg("--hide-inclusion-graph").args(what);
        command
    };
    run(
        "licences and sources",
        &mut check(&["licenses", "bans", "sources"]),
    )?;
    advisories(&program, &mut check(&["advisories", "--disable-fetch"]))
}

/// Checks for known vulnerabilities if their database can be downloaded. A machine without a network must still be able
/// to run the tests.
fn advisories(program: &Path, check: &mut Command) -> Result<(), String> {
    let fetched = Command::new(program)
        .args(["--log-level", "off", "fetch", "db"])
        .current_dir(root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !fetched.is_ok_and(|status| status.success()) {
        eprintln!("==> advisories: not checked, since their database cannot be fetched");
        return Ok(());
    }
    run("advisories", check)
}
