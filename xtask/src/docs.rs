//! `cargo xtask docs`: builds the documentation site in `target/site`. Inconsistent pages and links are errors.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::python;
use xtask::step::{self, cargo, root, run};

const REQUIREMENTS: &str = "xtask/src/docs/requirements.txt";

/// Package with the data sets of the notebooks. They read its files and need none of its dependencies.
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
            // The notice about the future of the site generator is irrelevant here.
            .env("NO_MKDOCS_2_WARNING", "1"),
    )?;
    let site = root().join("target").join("site");
    let rustdoc = root().join("target").join("doc");
    copy(&rustdoc, &site.join("rustdoc"))
        .map_err(|error| format!("cannot copy {}: {error}", rustdoc.display()))?;
    eprintln!("==> {}", site.join("index.html").display());
    Ok(())
}

/// Copies a folder with its contents.
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
