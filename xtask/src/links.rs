//! Checks that links in documents lead somewhere, and that every page of `docs` is in the site's navigation.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::step::root;

/// Collects the Markdown files below a folder.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "md") {
            found.push(path);
        }
    }
}

fn all() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "python/README.md",
    ] {
        found.push(root().join(name));
    }
    for folder in ["docs", "bench"] {
        documents(&root().join(folder), &mut found);
    }
    found.sort();
    found
}

/// Returns the lines outside code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push(line);
        }
    }
    lines
}

/// Returns the targets of the links in a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let (target, _) = rest.split_once(')')?;
        (!target.contains([' ', ':'])).then_some(target)
    })
}

/// Returns the anchor that forges and the site generate for a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

fn has_anchor(document: &str, wanted: &str) -> bool {
    prose(document)
        .iter()
        .any(|line| line.starts_with('#') && anchor(line) == wanted)
}

#[test]
fn every_link_leads_somewhere() {
    let mut faults = Vec::new();
    let mut count = 0;
    for file in all() {
        let text = fs::read_to_string(&file).unwrap();
        let folder = file.parent().unwrap();
        for target in prose(&text).into_iter().flat_map(targets) {
            count += 1;
            let (path, wanted) = target.split_once('#').unwrap_or((target, ""));
            let to = if path.is_empty() {
                file.clone()
            } else {
                folder.join(path)
            };
            // The command reference and rustdoc are generated with the site.
            let is_made = path.ends_with("command.md") || path.contains("rustdoc/");
            let is_there = to.exists()
                && (wanted.is_empty() || has_anchor(&fs::read_to_string(&to).unwrap(), wanted));
            if !is_made && !is_there {
                faults.push(format!("{}: {target}", file.display()));
            }
        }
    }
    assert!(count > 60, "only {count} links");
    assert!(
        faults.is_empty(),
        "links to nowhere:\n{}",
        faults.join("\n")
    );
}

#[test]
fn every_page_is_in_the_navigation() {
    let site = fs::read_to_string(root().join("mkdocs.yml")).unwrap();
    let (_, navigation) = site.split_once("\nnav:").unwrap();
    let docs = root().join("docs");
    let mut pages = Vec::new();
    documents(&docs, &mut pages);
    for page in pages {
        let name = page
            .strip_prefix(&docs)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let is_there = navigation
            .lines()
            .any(|line| line.ends_with(&format!(" {name}")));
        assert!(is_there, "add docs/{name} to the navigation in mkdocs.yml");
    }
}

#[test]
fn the_readme_is_short_and_has_its_two_commands() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let lines = text.lines().count();
    assert!(
        lines <= 160,
        "{lines} lines: move what is not for newcomers to docs"
    );
    for command in [
        "$ cargo run --release -- fit data/diabetes.csv --target target -k 5",
        "$ cargo xtask test",
    ] {
        assert!(text.lines().any(|line| line == command), "{command}");
    }
}

#[test]
fn anchors_are_those_of_headings() {
    assert_eq!(
        anchor("## What a choice is worth"),
        "what-a-choice-is-worth"
    );
    assert_eq!(anchor("# `l0star fit`: k & more"), "l0star-fit-k--more");
    assert!(has_anchor("# A b\n```\n# c\n```\n", "a-b"));
    assert!(!has_anchor("# A b\n```\n# c\n```\n", "c"));
}
