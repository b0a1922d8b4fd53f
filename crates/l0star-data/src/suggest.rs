//! Finds the names most similar to a misspelt one.

use crate::error::DataError;
use crate::place::clip;

const SHOWN: usize = 10;

/// Creates the error for a column that does not exist, without a file: similar names,
/// then the first of all names.
pub fn no_such_column(name: &str, names: &[String]) -> DataError {
    let mut available: Vec<String> = names.iter().take(SHOWN).map(|name| clip(name)).collect();
    if names.len() > SHOWN {
        available.push(format!("… ({} in all)", names.len()));
    }
    DataError::NoSuchColumn {
        file: None,
        name: clip(name),
        close: close_names(name, names),
        available: available.join(", "),
    }
}

/// Returns up to three names whose edit distance is within a third of the length of
/// `name`, ignoring letter case.
pub(crate) fn close_names(name: &str, names: &[String]) -> Vec<String> {
    let wanted: Vec<char> = name.trim().to_lowercase().chars().collect();
    let most = (wanted.len() / 3).max(1);
    let mut close: Vec<(usize, &String)> = names
        .iter()
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.to_lowercase().chars().collect();
            // The distance is at least the difference in length: most names need no distance table.
            if letters.len().abs_diff(wanted.len()) > most {
                return None;
            }
            let distance = edit_distance(&wanted, &letters);
            // A one-letter name is one edit from every other, so only a difference in case is a hint.
            let is_close = distance <= most && distance < wanted.len().max(1);
            is_close.then_some((distance, candidate))
        })
        .collect();
    close.sort_by_key(|&(distance, _)| distance);
    close
        .into_iter()
        .take(3)
        .map(|(_, name)| clip(name))
        .collect()
}

/// Returns the Levenshtein distance, computed one row of the table at a time:
/// `D(i, j) = min(D(i-1, j) + 1, D(i, j-1) + 1, D(i-1, j-1) + [a_i ≠ b_j])`.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    fn distance(a: &str, b: &str) -> usize {
        let letters = |s: &str| s.chars().collect::<Vec<_>>();
        edit_distance(&letters(a), &letters(b))
    }

    #[test]
    fn distances_count_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn near_names_come_best_first() {
        let all = names(&["age", "targets", "Target", "x1"]);
        assert_eq!(close_names("target", &all), ["Target", "targets"]);
        assert!(close_names("price", &all).is_empty());
        assert!(close_names("z", &names(&["a", "b"])).is_empty());
    }

    #[test]
    fn the_message_lists_at_most_ten_columns() {
        let all: Vec<String> = (1..=30).map(|j| format!("x{j}")).collect();
        let message = no_such_column("price", &all).to_string();
        assert!(message.contains("x10, … (30 in all)"), "{message}");
        assert!(!message.contains("x11"), "{message}");
    }
}
