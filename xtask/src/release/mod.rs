//! `cargo xtask release --dry-run`: builds and checks everything to be published in `target/dist`; publishes nothing.
//!
//! | module | its one job |
//! |---|---|
//! | `metadata` | the metadata of crates and of the Python package |
//! | `command` | the binary with its completions and manual pages |
//! | `package` | the wheel and the source distribution of the Python package |

mod command;
mod metadata;
mod package;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::step::{cargo, root, run};
use xtask::tools;

/// A part of a release, for `--only`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Descriptions, keywords, licences
    Metadata,
    /// `cargo package` of every crate that is published
    Crates,
    /// The binary, completions, manual pages
    Command,
    /// Wheel and source distribution
    Python,
    /// The container, where one can be built
    Container,
}

/// Runs every part, or one. The end of the output lists what could not be built here.
pub fn run_parts(only: Option<Part>) -> Result<(), String> {
    let dist = root().join("target").join("dist");
    fs::create_dir_all(&dist).map_err(|error| format!("{}: {error}", dist.display()))?;
    let wanted = |part| only.is_none_or(|only| only == part);
    let mut notes = Vec::new();
    let crates = metadata::check(&mut notes)?;
    if wanted(Part::Crates) {
        package_crates(&crates)?;
    }
    if wanted(Part::Command) {
        command::make(&dist, &mut notes)?;
    }
    if wanted(Part::Python) {
        package::make(&dist, &mut notes)?;
    }
    if wanted(Part::Container) {
        container(&mut notes)?;
    }
    list(&dist)?;
    for note in notes {
        eprintln!("==> note: {note}");
    }
    eprintln!("==> nothing was published");
    Ok(())
}

/// Packs every crate and builds it from the package.
fn package_crates(names: &[String]) -> Result<(), String> {
    let mut command = cargo(&["package", "--quiet", "--allow-dirty", "--locked"]);
    for name in names {
        command.args(["--package", name]);
    }
    run("release: crates", &mut command)
}

/// Builds the container if a daemon answers.
fn container(notes: &mut Vec<String>) -> Result<(), String> {
    let found = ["docker", "podman"].iter().find(|name| {
        let answer = Command::new(name).arg("info").output();
        tools::on_path(name).is_some() && answer.is_ok_and(|output| output.status.success())
    });
    match found {
        Some(program) => run(
            "release: container",
            Command::new(program).args([
                "build",
                "--file",
                "Containerfile",
                "--tag",
                "l0star",
                ".",
            ]),
        ),
        None => {
            notes.push("the container was not built: neither docker nor podman answers".to_owned());
            Ok(())
        }
    }
}

/// Lists the files and their sizes.
fn list(dist: &Path) -> Result<(), String> {
    let say = |error: std::io::Error| format!("{}: {error}", dist.display());
    let mut files: Vec<PathBuf> = fs::read_dir(dist)
        .map_err(say)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    for file in files {
        let bytes = file.metadata().map_err(say)?.len();
        eprintln!("==> {} ({:.1} MB)", file.display(), bytes as f64 / 1e6);
    }
    Ok(())
}

/// Refuses a file that is larger than `megabytes`.
fn at_most(file: &Path, megabytes: u64) -> Result<(), String> {
    let bytes = fs::metadata(file)
        .map_err(|error| format!("{}: {error}", file.display()))?
        .len();
    if bytes > megabytes * 1_000_000 {
        let size = bytes as f64 / 1e6;
        return Err(format!(
            "{} has {size:.1} MB, more than {megabytes}",
            file.display()
        ));
    }
    Ok(())
}
