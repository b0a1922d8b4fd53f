//! A program run as one step, which is announced on a line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root of the workspace.
pub fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// Returns a command of the cargo that runs this program.
pub fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Runs a command in the root of the workspace; an error names the step.
pub fn run(name: &str, command: &mut Command) -> Result<(), String> {
    run_in(&root(), name, command)
}

/// Runs a command in a folder; an error names the step.
pub fn run_in(folder: &Path, name: &str, command: &mut Command) -> Result<(), String> {
    eprintln!("==> {name}");
    let status = command
        .current_dir(folder)
        .status()
        .map_err(|error| format!("{name}: cannot start {:?}: {error}", command.get_program()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{name} failed ({status})"))
    }
}

/// Runs a command of `src/trials.rs` in the release profile, since measurements of any other would be misleading.
pub fn in_release(name: &str, arguments: &[String]) -> Result<(), String> {
    let mut command = cargo(&["run", "--quiet", "--release", "--package", "xtask"]);
    command.args(["--features", "engine", "--bin", "trials", "--", name]);
    run(&format!("{name}, release profile"), command.args(arguments))
}

/// Runs `attack` of `src/trials.rs` in the dev profile, which checks more.
pub fn attack(arguments: &[String]) -> Result<(), String> {
    let program = of_the_tests("attack", "trials")?;
    run(
        "attack",
        Command::new(program).arg("attack").args(arguments),
    )
}

/// Builds the command with all features and returns its path.
pub fn command(name: &str, is_release: bool) -> Result<PathBuf, String> {
    if !is_release {
        return of_the_tests(name, "l0star");
    }
    let mut build = cargo(&["build", "--release", "--bin", "l0star"]);
    build.args(["--quiet", "--workspace", "--all-features"]);
    run(&format!("{name}: build the command"), &mut build)?;
    Ok(built("release", "l0star"))
}

/// Builds a program in the dev profile as the tests use it, and returns its path.
///
/// After `cargo test` there is nothing left to build. In any other way, Cargo would choose other features of the
/// dependencies and build all of them again.
fn of_the_tests(name: &str, program: &str) -> Result<PathBuf, String> {
    // The test target that makes Cargo build the program.
    let tests = if program == "l0star" { "cli" } else { program };
    let mut build = cargo(&["test", "--no-run", "--test", tests]);
    build.args(["--quiet", "--workspace", "--all-features"]);
    run(&format!("{name}: build {program}"), &mut build)?;
    Ok(built("debug", program))
}

/// Builds the Python bindings in the dev profile, sharing the builds of the tests, and returns the library's path.
pub fn bindings() -> Result<PathBuf, String> {
    // With a test among the targets, Cargo chooses the same features as for `cargo test`.
    let mut build = cargo(&["build", "--lib", "--test", "cli"]);
    build.args(["--quiet", "--workspace", "--all-features", "--locked"]);
    run("python: build the bindings", &mut build)?;
    Ok(root().join("target").join("debug").join("lib_core.so"))
}

fn built(profile: &str, program: &str) -> PathBuf {
    let binary = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    root().join("target").join(profile).join(binary)
}
