//! The use of sibling modules by each other, and the arrows that are not allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::tree::{ModulePath, Tree};

/// Words with which the documentation of a module declares the order of its table.
pub const DECLARATION: &str = "each importing only from those above it";

/// An arrow: a module uses a sibling.
#[derive(Debug, PartialEq, Eq)]
pub struct Arrow {
    pub from: String,
    pub to: String,
    /// The module in which it happens, and the path used there.
    pub witness: String,
}

impl fmt::Display for Arrow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {}  ({})", self.from, self.to, self.witness)
    }
}

/// Returns all arrows between siblings.
pub fn arrows(tree: &Tree) -> Vec<Arrow> {
    let mut found = BTreeMap::new();
    for path in tree.modules().keys() {
        for (to, named) in tree.uses(path) {
            let common = path.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if common < path.len().min(to.len()) {
                let pair = [path, &to].map(|path| path[..=common].join("::"));
                let witness = format!("{named} in {}", path.join("::"));
                found.entry(pair).or_insert(witness);
            }
        }
    }
    let arrow = |([from, to], witness): ([String; 2], String)| Arrow { from, to, witness };
    found.into_iter().map(arrow).collect()
}

/// Returns the arrows that point up in a declared order, and the arrows of cycles elsewhere.
pub fn wrong(tree: &Tree, arrows: &[Arrow]) -> Vec<Arrow> {
    let mut found = Vec::new();
    for arrow in arrows {
        let parent = parent(&arrow.from);
        let place = |name: &str, order: &[String]| {
            let last = name.rsplit("::").next().unwrap_or(name);
            order.iter().position(|row| row == last)
        };
        let is_wrong = match declared(tree, &parent) {
            Some(order) => {
                let places = place(&arrow.from, &order).zip(place(&arrow.to, &order));
                places.is_some_and(|(from, to)| from < to)
            }
            None => reachable(arrows, &arrow.to).contains(arrow.from.as_str()),
        };
        if is_wrong {
            let Arrow { from, to, witness } = arrow;
            let [from, to, witness] = [from, to, witness].map(String::clone);
            found.push(Arrow { from, to, witness });
        }
    }
    found
}

/// Returns the modules that a declared order does not list.
pub fn undeclared(tree: &Tree) -> Vec<String> {
    let mut missing = Vec::new();
    for (path, module) in tree.modules() {
        let Some(order) = declared(tree, path) else {
            continue;
        };
        let unlisted = module.children.iter().filter(|name| !order.contains(name));
        missing.extend(unlisted.map(|name| {
            [path.as_slice(), std::slice::from_ref(name)]
                .concat()
                .join("::")
        }));
    }
    missing
}

fn parent(module: &str) -> ModulePath {
    let mut path: ModulePath = module.split("::").map(str::to_owned).collect();
    path.pop();
    path
}

/// Returns the order that a module declares for its children: the names in the first column of its table.
fn declared(tree: &Tree, path: &ModulePath) -> Option<Vec<String>> {
    let module = &tree.modules()[path];
    let text = module.documentation.join(" ");
    if !text.contains(DECLARATION) {
        return None;
    }
    let rows = module
        .documentation
        .iter()
        .filter_map(|line| line.strip_prefix("| "));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let name = |name: &str| name.trim_start_matches("mod@").to_owned();
    let children = names
        .map(name)
        .filter(|name| module.children.contains(name));
    Some(children.collect())
}

/// Returns the modules that can be reached from one along arrows; it is among them only in a cycle.
fn reachable<'a>(arrows: &'a [Arrow], from: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for arrow in arrows.iter().filter(|arrow| arrow.from == module) {
            if found.insert(arrow.to.as_str()) {
                open.push(&arrow.to);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(arrows: &[Arrow]) -> Vec<String> {
        let named = arrows
            .iter()
            .map(|arrow| format!("{} {}", arrow.from, arrow.to));
        named.collect()
    }

    #[test]
    fn a_cycle_is_found_and_its_way_out_is_not() {
        let tree = Tree::of_sources(&[
            ("", "mod a; mod b; mod c; mod d;"),
            ("a", "use crate::b::x;"),
            ("b", "fn f() -> crate::c::Y {}"),
            ("c", "mod one; mod two; use super::{a, d};"),
            ("c::one", "use super::two::T; use crate::c::U;"),
            ("c::two", "fn f(t: super::one::S) {}"),
            ("d", ""),
        ]);
        let arrows = arrows(&tree);
        assert_eq!(
            named(&arrows),
            ["a b", "b c", "c a", "c d", "c::one c::two", "c::two c::one"]
        );
        let wrong = named(&wrong(&tree, &arrows));
        assert_eq!(
            wrong,
            ["a b", "b c", "c a", "c::one c::two", "c::two c::one"]
        );
    }

    #[test]
    fn a_declared_order_holds() {
        let head = format!(
            "//! The parts, {DECLARATION}:\n//!\n//! | module | its one job |\n//! |---|---|\n\
             //! | [`low`], `middle` | two |\n//! | [`mod@high`] | one |\nmod low; mod middle; mod high; mod new;"
        );
        let tree = Tree::of_sources(&[
            ("", &head),
            ("low", "use crate::high::x;"),
            ("middle", "use crate::low::x;"),
            ("high", "use crate::middle::x;"),
            ("new", ""),
        ]);
        let arrows = arrows(&tree);
        assert_eq!(named(&wrong(&tree, &arrows)), ["low high"]);
        assert_eq!(undeclared(&tree), ["new"]);
    }
}
