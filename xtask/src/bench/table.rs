//! Markdown tables on standard output.

use std::fmt::Display;

pub(super) fn header(names: &[&str]) {
    println!("| {} |", names.join(" | "));
    println!("|---|{}", "---:|".repeat(names.len() - 1));
}

pub(super) fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

pub(super) fn text(error: impl Display) -> String {
    error.to_string()
}
