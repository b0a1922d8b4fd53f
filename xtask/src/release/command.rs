//! The static binary with completions, manual pages and licences in one archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::at_most;
use xtask::step::{cargo, root, run};

const MUSL: &str = "x86_64-unknown-linux-musl";
const GLIBC: &str = "x86_64-unknown-linux-gnu";

/// Profile of published binaries, which are smaller than with `release`.
const PROFILE: &str = "dist";

/// Size limit of the binary in megabytes.
const MOST: u64 = 20;

/// Builds the archive and tests its contents.
pub fn make(dist: &Path, notes: &mut Vec<String>) -> Result<(), String> {
    let (target, program) = build(notes)?;
    at_most(&program, MOST)?;
    let name = format!("l0star-{}-{target}", env!("CARGO_PKG_VERSION"));
    let folder = dist.join(&name);
    let say = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(say)?;
    }
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&man).map_err(say)?;
    fs::create_dir_all(&completions).map_err(say)?;
    fs::copy(&program, folder.join("l0star")).map_err(say)?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root().join(file), folder.join(file)).map_err(say)?;
    }
    for (shell, file) in [
        ("bash", "l0star.bash"),
        ("zsh", "_l0star"),
        ("fish", "l0star.fish"),
        ("elvish", "l0star.elv"),
        ("powershell", "_l0star.ps1"),
    ] {
        let script = output(&program, &["completions", shell])?;
        fs::write(completions.join(file), script).map_err(say)?;
    }
    run(
        "release: manual pages",
        Command::new(&program).args(["man", "--out"]).arg(&man),
    )?;
    let data = ["data/diabetes.csv", "--target", "target", "-k", "5"];
    let model = output(&program, &[&["fit"][..], &data, &["--json"]].concat())?;
    if !String::from_utf8_lossy(&model).contains("\"optimal\"") {
        return Err("the binary does not fit the data of the README".to_owned());
    }
    archive(dist, &name)
}

/// Builds the static binary with musl if its standard library is installed, otherwise with glibc linked in.
fn build(notes: &mut Vec<String>) -> Result<(&'static str, PathBuf), String> {
    let target = if has_target(MUSL) { MUSL } else { GLIBC };
    if target == GLIBC {
        notes.push(format!(
            "no musl: Rust's standard library for {MUSL} is not installed; the binary has glibc linked in instead"
        ));
    }
    let mut command = cargo(&[
        "build",
        "--quiet",
        "--profile",
        PROFILE,
        "--locked",
        "--package",
        "l0star-cli",
    ]);
    command.args(["--features", "full", "--target", target]);
    command.env("RUSTFLAGS", "-C target-feature=+crt-static");
    run("release: static binary", &mut command)?;
    let program = root()
        .join("target")
        .join(target)
        .join(PROFILE)
        .join("l0star");
    // A dynamically linked program names the loader.
    let bytes = fs::read(&program).map_err(|error| format!("{}: {error}", program.display()))?;
    let loader = b"/lib64/ld-linux";
    if bytes.windows(loader.len()).any(|window| window == loader) {
        return Err(format!("{} is not static", program.display()));
    }
    Ok((target, program))
}

fn has_target(target: &str) -> bool {
    let output = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .output();
    output.is_ok_and(|output| {
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success() && Path::new(&folder).is_dir()
    })
}

/// Returns what the program prints.
fn output(program: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("l0star {} failed", arguments.join(" ")))
    }
}

fn archive(dist: &Path, name: &str) -> Result<(), String> {
    run(
        "release: archive",
        Command::new("tar")
            .args([
                "--create",
                "--gzip",
                "--sort=name",
                "--owner=0",
                "--group=0",
                "--file",
            ])
            .arg(dist.join(format!("{name}.tar.gz")))
            .arg("--directory")
            .arg(dist)
            .arg(name),
    )
}
