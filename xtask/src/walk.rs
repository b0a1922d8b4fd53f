//! Checks that the names in pages about the code exist: functions in `docs/walk.md`, files in `ARCHITECTURE.md`.

use std::fs;

use xtask::step::root;

/// A link of the walk: the name of an item, and the file that is said to define it.
#[derive(Debug, PartialEq, Eq)]
struct Link<'a> {
    name: &'a str,
    file: &'a str,
}

/// Returns the links to source files.
fn links(text: &str) -> Vec<Link<'_>> {
    let mut found = Vec::new();
    for part in text.split("[`").skip(1) {
        if let Some((name, rest)) = part.split_once("`](")
            && let Some((file, _)) = rest.split_once(')')
            && file.ends_with(".rs")
        {
            found.push(Link { name, file });
        }
    }
    found
}

/// Returns what is wrong with a name such as `Type::function` or `module::function`, given the source of its file.
fn fault(link: &Link, source: &str) -> Option<String> {
    let mut parts: Vec<&str> = link.name.split("::").collect();
    let last = parts.pop()?;
    let is_type = |name: &str| name.starts_with(char::is_uppercase);
    let has = |words: &str| {
        let mut places = source.match_indices(words);
        places.any(|(at, _)| {
            let next = source[at + words.len()..].chars().next();
            next.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    };
    let is_defined = if is_type(last) {
        has(&format!("struct {last}")) || has(&format!("enum {last}"))
    } else {
        has(&format!("fn {last}"))
    };
    if !is_defined {
        return Some(format!("{} has no '{last}'", link.file));
    }
    let owner = parts.pop()?;
    let is_there = if is_type(owner) {
        has(&format!("impl {owner}"))
            || source.lines().any(|line| {
                line.starts_with("impl<") && line.split([' ', '<']).any(|word| word == owner)
            })
    } else {
        let file = link.file.trim_end_matches(".rs").trim_end_matches("/mod");
        file.ends_with(&format!("/{owner}"))
    };
    (!is_there).then(|| format!("'{}' is not in {}", link.name, link.file))
}

#[test]
fn every_step_of_the_walk_exists() {
    let folder = root().join("docs");
    let text = fs::read_to_string(folder.join("walk.md")).unwrap();
    let links = links(&text);
    assert!(links.len() >= 18, "only {} links", links.len());
    let mut faults = Vec::new();
    for link in &links {
        match fs::read_to_string(folder.join(link.file)) {
            Ok(source) => faults.extend(fault(link, &source)),
            Err(_) => faults.push(format!("there is no {}", link.file)),
        }
    }
    assert!(faults.is_empty(), "docs/walk.md: {}", faults.join("; "));
}

#[test]
fn a_name_that_is_gone_is_found() {
    let text = "1. [`Owner::run`](../a/owner.rs), [`page`](page.md), [`mod_name::go`](../a/mod_name/mod.rs).";
    let found = links(text);
    assert_eq!(found.len(), 2);
    let source = "impl<'a> Owner<'a> {\n    fn run() {}\n}\nfn going() {}";
    assert_eq!(fault(&found[0], source), None);
    assert!(fault(&found[0], "impl Other {\n fn run() {} }").is_some());
    assert!(fault(&found[1], source).is_some());
    assert_eq!(fault(&found[1], "pub fn go() {}"), None);
}

/// The architecture fits on one page, so that its reader learns every part and where a new one goes.
#[test]
fn the_architecture_is_one_page_and_its_files_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(text.lines().count() <= 120, "more than a page");
    let (_, places) = text.split_once("## Where a new thing goes").unwrap();
    let is_path = |word: &&str| word.contains('/') && !word.contains(' ');
    let paths: Vec<&str> = places
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(is_path)
        .collect();
    assert!(paths.len() > 15, "{paths:?}");
    let folders = ["", "crates/", "crates/l0star/src/"];
    for path in paths {
        let found = folders
            .iter()
            .any(|folder| root().join(folder).join(path).exists());
        assert!(found, "there is no {path}");
    }
}
