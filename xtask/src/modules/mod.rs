//! The module graph of every crate: arrows point down, and there are no cycles.
//!
//! | module | its one job |
//! |---|---|
//! | `tokens` | Rust source as identifiers and punctuation, without tests |
//! | `tree` | the modules of a crate, their imports, and where a path leads |
//! | `graph` | the use of sibling modules by each other, and the arrows that are not allowed |
//!
//! A module is compared with its siblings: the modules of a crate with each other, and the children of a module with
//! each other. It is not an arrow if a child uses an item of its parent, or a parent uses its children. A path such
//! as `crate::Problem` leads to where the item is defined, not where it is re-exported. Test code does not count.
//!
//! A crate, or a module with children, declares an order by the words [`graph::DECLARATION`] and a table of its modules
//! in its documentation. Without a declaration only cycles are refused.

mod graph;
mod tokens;
mod tree;

use std::fs;

use self::tree::Tree;
use xtask::step::root;

/// Returns all crates of the workspace, each with its name and its tree of modules.
fn crates() -> Vec<(String, Tree)> {
    let folders = fs::read_dir(root().join("crates")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let mut found = Vec::new();
    for folder in folders.chain([root().join("xtask")]) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        for file in ["lib.rs", "main.rs", "trials.rs"] {
            let first = folder.join("src").join(file);
            if first.is_file() {
                found.push((format!("{name}/{file}"), Tree::read(&first)));
            }
        }
    }
    found
}

#[test]
fn arrows_point_down_and_there_are_no_cycles() {
    let all = crates();
    assert!(all.len() >= 7, "only {} crates", all.len());
    let mut faults = Vec::new();
    for (name, tree) in &all {
        let modules = tree.modules();
        assert!(!modules.is_empty(), "{name} has no modules");
        let undeclared = graph::undeclared(tree);
        if !undeclared.is_empty() {
            let missing = undeclared.join(", ");
            faults.push(format!("{name}: the tables of modules lack {missing}"));
        }
        let arrows = graph::arrows(tree);
        let wrong = graph::wrong(tree, &arrows);
        if !wrong.is_empty() {
            let all: String = wrong.iter().map(|arrow| format!("\n  {arrow}")).collect();
            faults.push(format!(
                "{name}: arrows that point up, or are part of a cycle:{all}"
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
