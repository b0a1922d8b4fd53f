//! The modules of a crate: their items, their imports, and where a path leads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::tokens::{end_of_brackets, tokens, without_tests};

/// The names on the path from the root of a crate to a module.
pub type ModulePath = Vec<String>;

/// A name that a module imports.
#[derive(Debug)]
struct Import {
    path: Vec<String>,
    /// The name here; `*` for a glob import.
    name: String,
}

/// A module with its own code, without that of its children.
#[derive(Debug, Default)]
pub struct Module {
    /// The documentation at the top of its file.
    pub documentation: Vec<String>,
    pub children: BTreeSet<String>,
    imports: Vec<Import>,
    /// The paths in its code.
    paths: Vec<Vec<String>>,
    items: BTreeSet<String>,
}

/// The tree of all modules of a crate.
#[derive(Debug, Default)]
pub struct Tree(BTreeMap<ModulePath, Module>);

/// Most re-exports that a path is followed through, in case they form a cycle.
const MOST_TURNS: usize = 20;

impl Tree {
    /// Reads a crate, starting from its `lib.rs` or `main.rs`.
    pub fn read(first: &Path) -> Tree {
        let mut tree = Tree::default();
        let folder = first.parent().expect("a file is in a folder");
        tree.read_file(first, folder, Vec::new());
        tree
    }

    #[cfg(test)]
    pub fn of_sources(sources: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, source) in sources {
            let path = path.split("::").filter(|name| !name.is_empty());
            tree.add(path.map(str::to_owned).collect(), source);
        }
        tree
    }

    /// Returns all modules; the crate itself is the empty path.
    pub fn modules(&self) -> &BTreeMap<ModulePath, Module> {
        &self.0
    }

    fn read_file(&mut self, file: &Path, folder: &Path, path: ModulePath) {
        let source = fs::read_to_string(file)
            .unwrap_or_else(|reason| panic!("{}: {reason}", file.display()));
        for child in self.add(path.clone(), &source) {
            let beside = folder.join(format!("{child}.rs"));
            let inside = folder.join(&child);
            let file = if beside.is_file() {
                beside
            } else {
                inside.join("mod.rs")
            };
            let path = path.iter().cloned().chain([child]).collect();
            if file.is_file() {
                self.read_file(&file, &inside, path);
            } else {
                // `#[path]` includes a file from the tests of another crate.
                self.0.insert(path, Module::default());
            }
        }
    }

    /// Adds a module and its inline modules; returns the names of its modules in other files.
    fn add(&mut self, path: ModulePath, source: &str) -> Vec<String> {
        let documentation = source.lines().map_while(|line| line.strip_prefix("//!"));
        let documentation = documentation.map(|line| line.trim().to_owned()).collect();
        let files = self.add_block(path.clone(), &without_tests(&tokens(source)));
        self.0.entry(path).or_default().documentation = documentation;
        files
    }

    fn add_block(&mut self, path: ModulePath, tokens: &[&str]) -> Vec<String> {
        let mut module = Module::default();
        let mut files = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let next = |by: usize| tokens.get(at + by).copied().unwrap_or_default();
            match tokens[at] {
                "mod" if next(2) == ";" => {
                    module.children.insert(next(1).to_owned());
                    files.push(next(1).to_owned());
                    at += 3;
                }
                "mod" if next(2) == "{" => {
                    let end = end_of_brackets(tokens, at + 2);
                    let inner = path.iter().cloned().chain([next(1).to_owned()]).collect();
                    module.children.insert(next(1).to_owned());
                    self.add_block(inner, &tokens[at + 3..end - 1]);
                    at = end;
                }
                "use" => {
                    let length = tokens[at..].iter().position(|token| *token == ";");
                    let end = at + length.unwrap_or(tokens.len() - at);
                    imports(&tokens[at + 1..end], &[], &mut module.imports);
                    at = end;
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union"
                | "macro_rules" => {
                    let by = if next(1) == "!" { 2 } else { 1 };
                    module.items.insert(next(by).to_owned());
                    at += 1;
                }
                "crate" | "self" | "super" if next(1) == "::" => {
                    let path: Vec<String> = tokens[at..]
                        .chunks(2)
                        .take_while(|pair| is_name(pair[0]))
                        .scan(true, |goes_on, pair| {
                            let is_part = *goes_on;
                            *goes_on = pair.get(1) == Some(&"::");
                            is_part.then(|| pair[0].to_owned())
                        })
                        .collect();
                    at += 2 * path.len() - 1;
                    module.paths.push(path);
                }
                _ => at += 1,
            }
        }
        self.0.insert(path, module);
        files
    }

    /// Returns the modules that the code of a module refers to, each with the path it uses.
    pub fn uses(&self, from: &ModulePath) -> Vec<(ModulePath, String)> {
        let module = &self.0[from];
        let imported = module.imports.iter().map(|import| &import.path);
        let paths = imported.chain(&module.paths);
        let found = paths.filter_map(|path| Some((self.resolve(from, path, 0)?, path.join("::"))));
        found.collect()
    }

    /// Returns the module that defines what a path names; `None` for other crates.
    fn resolve(&self, from: &ModulePath, path: &[String], turns: usize) -> Option<ModulePath> {
        let mut rest = path;
        let mut here = from.clone();
        match rest.first().map(String::as_str)? {
            "crate" => {
                here.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    here.pop()?;
                    rest = &rest[1..];
                }
            }
            name => {
                let module = &self.0[&here];
                let is_import = module
                    .imports
                    .iter()
                    .any(|import| import.name == *name && import.path != path);
                if !module.children.contains(name) && !is_import {
                    return None;
                }
            }
        }
        for (at, name) in rest.iter().enumerate() {
            let module = &self.0[&here];
            if module.children.contains(name) {
                here.push(name.clone());
                continue;
            }
            if turns > MOST_TURNS || module.items.contains(name) {
                return Some(here);
            }
            let mut onward = module.imports.iter().filter_map(|import| {
                let mut path = import.path.clone();
                if import.name == *name {
                    path.extend_from_slice(&rest[at + 1..]);
                    return (import.path != rest).then(|| self.resolve(&here, &path, turns + 1))?;
                }
                let target =
                    (import.name == "*").then(|| self.resolve(&here, &path, turns + 1))??;
                self.has(&target, name).then_some(target)
            });
            return Some(onward.next().unwrap_or(here));
        }
        Some(here)
    }

    fn has(&self, module: &ModulePath, name: &str) -> bool {
        let module = &self.0[module];
        module.items.contains(name) || module.imports.iter().any(|import| import.name == name)
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Collects the imports of the tree of a `use`.
fn imports(tokens: &[&str], before: &[String], found: &mut Vec<Import>) {
    let mut path = before.to_vec();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at] {
            "{" => {
                let inner = &tokens[at + 1..end_of_brackets(tokens, at) - 1];
                let mut from = 0;
                let mut depth = 0;
                for (to, token) in inner.iter().chain(&[","]).enumerate() {
                    match *token {
                        "{" => depth += 1,
                        "}" => depth -= 1,
                        "," if depth == 0 => {
                            if from < to {
                                imports(&inner[from..to], &path, found);
                            }
                            from = to + 1;
                        }
                        _ => {}
                    }
                }
                return;
            }
            "*" => {
                found.push(Import {
                    path,
                    name: "*".into(),
                });
                return;
            }
            "as" => {
                let name = tokens.get(at + 1).copied().unwrap_or("_").to_owned();
                found.push(Import { path, name });
                return;
            }
            "self" if !path.is_empty() => {}
            "::" => {}
            name => path.push(name.to_owned()),
        }
        at += 1;
    }
    let name = path.last().cloned().unwrap_or_default();
    found.push(Import { path, name });
}

#[test]
fn paths_lead_to_where_a_thing_is_defined() {
    let tree = Tree::of_sources(&[
        ("", "mod a; mod b; pub use a::inner::Thing; pub use b::*;"),
        ("a", "mod inner; fn f() { crate::b::g(); }"),
        (
            "a::inner",
            "pub struct Thing; use super::super::{Other, Thing as T, b::{self, g}};",
        ),
        (
            "b",
            "pub struct Other; pub fn g() { crate::Thing; std::mem::drop(1) } use serde::Serialize;",
        ),
    ]);
    let lead = |from: &str| -> Vec<String> {
        let from = from.split("::").map(str::to_owned).collect();
        let uses = tree.uses(&from).into_iter();
        uses.map(|(to, path)| format!("{path} in {}", to.join("::")))
            .collect()
    };
    assert_eq!(lead("a"), ["crate::b::g in b"]);
    assert_eq!(lead("b"), ["crate::Thing in a::inner"]);
    assert_eq!(
        lead("a::inner"),
        [
            "super::super::Other in b",
            "super::super::Thing in a::inner",
            "super::super::b in b",
            "super::super::b::g in b"
        ]
    );
}
