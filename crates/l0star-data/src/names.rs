//! The column names of a file, made unique.

use std::collections::HashSet;

use crate::counted::counted;
use crate::place::clip;

/// Upper limit on the columns that a message names.
const SHOWN: usize = 3;

/// Makes the column names of a file unique and describes the changes. Repeated names are numbered
/// (`a`, `a_2`, `a_3`), and unnamed columns are named by their position (`c4`). Names that occur once
/// in the file stay as they are.
pub(crate) fn unique(mut names: Vec<String>) -> (Vec<String>, Vec<String>) {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let (mut repeated, mut unnamed) = (Vec::new(), Vec::new());
    let mut seen: std::collections::HashMap<String, usize> = Default::default();
    for (j, name) in names.iter_mut().enumerate() {
        let is_unnamed = name.is_empty();
        let times = seen.entry(name.clone()).or_insert(0);
        *times += 1;
        if *times == 1 && !is_unnamed {
            continue;
        }
        let mut number = if is_unnamed { j + 1 } else { *times };
        let new = loop {
            let candidate = if is_unnamed {
                format!("c{number}")
            } else {
                format!("{name}_{number}")
            };
            if taken.insert(candidate.clone()) {
                break candidate;
            }
            number += 1;
        };
        if !is_unnamed {
            // The next search starts from this number, so that many copies of a name stay cheap.
            *times = number;
        }
        let changed = if is_unnamed {
            &mut unnamed
        } else {
            &mut repeated
        };
        changed.push((j, name.clone(), new.clone()));
        *name = new;
    }
    let mut notes = Vec::new();
    let list = |changed: &[(usize, String, String)],
                of: &dyn Fn(&(usize, String, String)) -> String| {
        let shown: Vec<String> = changed.iter().take(SHOWN).map(of).collect();
        let more = if changed.len() > SHOWN { ", …" } else { "" };
        shown.join(", ") + more
    };
    if !repeated.is_empty() {
        let of = |(j, old, new): &(usize, String, String)| {
            format!("column {} '{}' is now '{}'", j + 1, clip(old), clip(new))
        };
        notes.push(format!(
            "{} the name of another and {} numbered: {}",
            have(repeated.len(), "repeats", "repeat"),
            if repeated.len() == 1 { "was" } else { "were" },
            list(&repeated, &of)
        ));
    }
    if !unnamed.is_empty() {
        let of = |(_, _, new): &(usize, String, String)| format!("'{new}'");
        notes.push(format!(
            "{} no name and {} called by {}: {}",
            have(unnamed.len(), "has", "have"),
            if unnamed.len() == 1 { "is" } else { "are" },
            if unnamed.len() == 1 {
                "its place"
            } else {
                "their places"
            },
            list(&unnamed, &of)
        ));
    }
    (names, notes)
}

fn have(count: usize, one: &str, many: &str) -> String {
    let verb = if count == 1 { one } else { many };
    format!("{} {verb}", counted(count, "column"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn repeated_names_are_numbered_and_others_stay() {
        let (unique, notes) = unique(names(&["a", "b", "a", "a_2", "", "a", "c5", ""]));
        assert_eq!(unique, ["a", "b", "a_3", "a_2", "c6", "a_4", "c5", "c8"]);
        assert_eq!(
            notes,
            [
                "2 columns repeat the name of another and were numbered: column 3 'a' is now 'a_3', column 6 'a' is now 'a_4'",
                "2 columns have no name and are called by their places: 'c6', 'c8'",
            ]
        );
    }

    #[test]
    fn ten_thousand_copies_are_numbered() {
        let (unique, notes) = unique(vec!["x".to_string(); 10_000]);
        assert_eq!(unique[9_999], "x_10000");
        let distinct: HashSet<&String> = unique.iter().collect();
        assert_eq!(distinct.len(), 10_000);
        assert!(notes[0].len() < 250, "{}", notes[0]);
    }

    #[test]
    fn unique_names_are_left_alone() {
        assert_eq!(unique(names(&["b", "a"])), (names(&["b", "a"]), Vec::new()));
    }
}
