//! Checks that the metadata of the crates and of the Python package are complete.

use std::fs;

use serde_json::Value;

use xtask::step::{cargo, root};

/// Required fields of a published crate.
const FIELDS: [&str; 9] = [
    "description",
    "license",
    "rust_version",
    "documentation",
    "readme",
    "keywords",
    "categories",
    "version",
    "edition",
];

/// Checks the metadata and returns the names of the published crates, dependencies first.
pub fn check(notes: &mut Vec<String>) -> Result<Vec<String>, String> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let mut names = Vec::new();
    let mut has_repository = true;
    for package in metadata["packages"].as_array().into_iter().flatten() {
        // `publish = false` is an empty list of registries.
        if package["publish"].as_array().is_some_and(Vec::is_empty) {
            continue;
        }
        let name = package["name"].as_str().unwrap_or_default();
        for field in FIELDS {
            let value = &package[field];
            let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            if is_empty {
                return Err(format!("{name}: Cargo.toml has no '{field}'"));
            }
        }
        has_repository &= package["repository"].is_string();
        names.push(name.to_owned());
    }
    if !has_repository {
        notes.push("Cargo.toml names no repository: add it before the first release".to_owned());
    }
    python()?;
    eprintln!("==> release: metadata of {} is complete", names.join(", "));
    Ok(names)
}

/// Checks the project table of the Python package.
fn python() -> Result<(), String> {
    let file = root().join("python").join("pyproject.toml");
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let fields = [
        "description",
        "readme",
        "requires-python",
        "license",
        "license-files",
        "keywords",
        "classifiers",
        "dependencies",
        "Documentation",
    ];
    for field in fields {
        if !text
            .lines()
            .any(|line| line.starts_with(&format!("{field} = ")))
        {
            return Err(format!("python/pyproject.toml has no '{field}'"));
        }
    }
    Ok(())
}
