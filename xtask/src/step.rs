//! One program run as one step, with a line that says so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace.
pub fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// The cargo that runs us.
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

/// Runs one of our own hidden commands in the release profile: a measurement of anything else would mislead.
pub fn in_release(name: &str, arguments: &[&str]) -> Result<(), String> {
    let mut command = cargo(&["run", "--quiet", "--release", "--package", "xtask", "--"]);
    run(&format!("{name}, release profile"), command.args(arguments))
}

/// Builds the command with everything in it and gives its path. In the dev profile it is the one of the tests, which `cargo
/// xtask test` has built by then: asked for otherwise, Cargo would choose other features of its dependencies and build it again.
pub fn command(name: &str, is_release: bool) -> Result<PathBuf, String> {
    let (arguments, profile) = if is_release {
        (&["build", "--release", "--bin", "l0star"][..], "release")
    } else {
        (&["test", "--no-run", "--test", "cli"][..], "debug")
    };
    let mut build = cargo(arguments);
    build.args(["--quiet", "--workspace", "--all-features"]);
    run(&format!("{name}: build the command"), &mut build)?;
    let binary = format!("l0star{}", std::env::consts::EXE_SUFFIX);
    Ok(root().join("target").join(profile).join(binary))
}
