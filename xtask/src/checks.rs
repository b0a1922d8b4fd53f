//! `cargo xtask test` and `cargo xtask deny`: the first failure ends them.

use std::process::Command;

use crate::step::{cargo, run};
use crate::{python, report, tools};

/// Format, lints, documentation, tests, licences; the same of the Python package.
pub fn test() -> Result<(), String> {
    run("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    run(
        "lints",
        &mut cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]),
    )?;
    run(
        "documentation",
        cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    run("tests", &mut cargo(&["test", "--workspace"]))?;
    report::check()?;
    deny()?;
    python::test()?;
    eprintln!("==> all good");
    Ok(())
}

/// Licences, duplicate versions and sources of the dependencies.
///
/// Advisories are not checked: they come from a database on the network that changes by the day, so that the same
/// commit could pass in the morning and fail in the evening.
pub fn deny() -> Result<(), String> {
    run(
        "licences and sources",
        Command::new(tools::cargo_deny()?).args([
            "--log-level",
            "error",
            "--locked",
            "check",
            "--hide-inclusion-graph",
            "licenses",
            "bans",
            "sources",
        ]),
    )
}
