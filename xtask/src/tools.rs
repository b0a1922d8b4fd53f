//! Programs that the checks need and Cargo does not provide: found, or installed once.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::step::{cargo, root, run};

const DENY_VERSION: &str = "0.20.2";

/// Returns cargo-deny in `target/tools`, which is installed if necessary.
pub fn cargo_deny() -> Result<PathBuf, String> {
    let tools = root().join("target").join("tools");
    let program = tools
        .join("bin")
        .join(format!("cargo-deny{}", env::consts::EXE_SUFFIX));
    if !program.is_file() {
        // The unoptimised program runs slightly longer, but takes a fraction of the time to build.
        let arguments = [
            "install",
            "cargo-deny",
            "--debug",
            "--version",
            DENY_VERSION,
        ];
        run(
            &format!("install cargo-deny {DENY_VERSION} (once)"),
            cargo(&arguments).args(["--locked", "--root"]).arg(&tools),
        )?;
    }
    Ok(program)
}

/// Returns Chromium: `CHROMIUM`, or the first of its usual names on the path, or Debian's package if it can be
/// installed.
pub fn chromium() -> Result<PathBuf, String> {
    if let Some(named) = env::var_os("CHROMIUM").map(PathBuf::from) {
        return if named.is_file() {
            Ok(named)
        } else {
            Err(format!(
                "there is no file {}, which CHROMIUM names",
                named.display()
            ))
        };
    }
    let find = || {
        ["chromium", "chromium-browser", "google-chrome"]
            .iter()
            .find_map(|name| on_path(name))
    };
    if let Some(found) = find() {
        return Ok(found);
    }
    let apt = on_path("apt-get").filter(|_| is_root()).ok_or(
        "there is no Chromium, and installing it takes root and apt-get: install it, or name it in CHROMIUM",
    )?;
    let apt_get = |arguments: &[&str]| {
        let mut command = Command::new(&apt);
        command.args(arguments);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        run("install chromium (once)", &mut command)
    };
    // A new machine has no package list yet.
    apt_get(&["update", "--quiet=2"])?;
    apt_get(&[
        "install",
        "-y",
        "--quiet=2",
        "--no-install-recommends",
        "chromium",
    ])?;
    find().ok_or_else(|| "apt-get has installed chromium, but it is not on the path".to_owned())
}

/// Whether this is a CI machine, where no check may be skipped.
pub fn is_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// Returns the path of a program, if it is on `PATH`.
pub fn on_path(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
