//! `cargo xtask docs`: the documentation site, in `target/site`. Pages and links that do not fit together are errors.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::python;
use xtask::step::{self, cargo, root, run};

const REQUIREMENTS: &str = "xtask/src/docs/requirements.txt";

/// The package that carries data sets of the notebooks; the notebooks read its files and need nothing that it requires.
const DATA: &str = "ISLP==0.6.0";

/// Runs the notebooks, documents the engine, and builds the site.
pub fn build() -> Result<(), String> {
    let python = python::environment_for("docs-python", REQUIREMENTS, &[DATA])?;
    python::install_in(&python)?;
    let program = step::command("docs", false)?;
    let notebooks = root().join("target").join("docs").join("notebooks");
    run(
        "docs: notebooks",
        Command::new(&python)
            .args(["xtask/src/docs/notebooks.py", "docs/notebooks"])
            .arg(&notebooks),
    )?;
    run(
        "docs: rustdoc",
        &mut cargo(&["doc", "--quiet", "--package", "l0star", "--no-deps"]),
    )?;
    run(
        "docs: site",
        Command::new(&python)
            .args(["-m", "mkdocs", "build", "--clean", "--quiet"])
            .env("L0STAR", program)
            .env("NOTEBOOKS", notebooks)
            // A notice about the future of its generator is of no interest here.
            .env("NO_MKDOCS_2_WARNING", "1"),
    )?;
    let site = root().join("target").join("site");
    let rustdoc = root().join("target").join("doc");
    copy(&rustdoc, &site.join("rustdoc"))
        .map_err(|error| format!("cannot copy {}: {error}", rustdoc.display()))?;
    eprintln!("==> {}", site.join("index.html").display());
    Ok(())
}

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
