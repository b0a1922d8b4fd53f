//! Columns chosen by name, by pattern or by number: `age,x*,3,5-9,"a,b"`.
//!
//! An item is one of these, tried in this order:
//! - the exact name of a column;
//! - the number of a column, counted from 1, or a range of such numbers;
//! - a pattern in which `*` stands for any letters, `?` for one and `[ab]` for one of several.
//!
//! An item in double quotes is always a name, so that it may contain commas; a quote inside is doubled.

use glob::Pattern;

use crate::error::DataError;
use crate::place::clip;
use crate::raw::RawTable;

/// A choice of columns, not yet matched to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    text: String,
    is_quoted: bool,
}

/// The columns that one item of a [`Selection`] matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// The item as it was written, without quotes.
    pub item: String,
    /// Whether the item names one column, instead of being a range or a pattern.
    pub is_name: bool,
    /// Positions of the matched columns, ascending, counted from 0; at least one.
    pub columns: Vec<usize>,
}

impl Selection {
    /// Parses a list of items; an error message says what to do.
    pub fn parse(text: &str) -> Result<Selection, String> {
        let mut items = Vec::new();
        let mut rest = text;
        loop {
            rest = rest.trim_start();
            let item;
            (item, rest) = match rest.strip_prefix('"') {
                Some(quoted) => {
                    let (name, after) = until_quote(quoted)?;
                    let after = after.trim_start();
                    if !after.is_empty() && !after.starts_with(',') {
                        return Err(format!(
                            "after the quoted \"{name}\" there must be a comma or the end"
                        ));
                    }
                    (
                        Item {
                            text: name,
                            is_quoted: true,
                        },
                        after,
                    )
                }
                None => {
                    let end = rest.find(',').unwrap_or(rest.len());
                    let text = rest[..end].trim().to_string();
                    (
                        Item {
                            text,
                            is_quoted: false,
                        },
                        &rest[end..],
                    )
                }
            };
            // An extra comma is ignored.
            if !item.text.is_empty() {
                items.push(item);
            }
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None => break,
            }
        }
        if items.is_empty() {
            return Err("it names no column; list names, patterns or numbers".into());
        }
        Ok(Selection { items })
    }

    /// Returns the matches of each item in a table; an item without a match is an error.
    pub fn resolve(&self, table: &RawTable) -> Result<Vec<Matched>, DataError> {
        self.items.iter().map(|item| item.resolve(table)).collect()
    }
}

impl Item {
    fn resolve(&self, table: &RawTable) -> Result<Matched, DataError> {
        let matched = |is_name: bool, columns: Vec<usize>| {
            Ok(Matched {
                item: self.text.clone(),
                is_name,
                columns,
            })
        };
        let names = table.names();
        if let Some(j) = names.iter().position(|name| *name == self.text) {
            return matched(true, vec![j]);
        }
        if self.is_quoted {
            return Err(table.unknown(&self.text));
        }
        let refuse = |why: &str| {
            Err(DataError::NoMatch {
                file: Some(table.file().to_path_buf()),
                item: clip(&self.text),
                why: why.to_string(),
            })
        };
        if let Some((from, to)) = numbers(&self.text) {
            if from == 0 || to > names.len() {
                return refuse(&format!(
                    "the columns are numbered from 1 to {}",
                    names.len()
                ));
            }
            if from > to {
                return refuse("a range goes from the smaller to the larger number");
            }
            return matched(from == to, (from - 1..to).collect());
        }
        if !self.text.contains(['*', '?', '[']) {
            return Err(table.unknown(&self.text));
        }
        let pattern = match Pattern::new(&self.text) {
            Ok(pattern) => pattern,
            Err(error) => return refuse(&format!("it is no pattern ({error})")),
        };
        let columns: Vec<usize> = (0..names.len())
            .filter(|&j| pattern.matches(&names[j]))
            .collect();
        if columns.is_empty() {
            return refuse("no column fits the pattern");
        }
        matched(false, columns)
    }
}

/// Returns the text before the closing quote, with doubled quotes made single, and the rest.
fn until_quote(mut rest: &str) -> Result<(String, &str), String> {
    let mut name = String::new();
    loop {
        let Some((before, after)) = rest.split_once('"') else {
            return Err("a quote is never closed; close it, or double quotes inside a name".into());
        };
        name += before;
        match after.strip_prefix('"') {
            Some(after) => {
                name.push('"');
                rest = after;
            }
            None => return Ok((name, after)),
        }
    }
}

/// Parses a number or a range: `7` or `5-9`.
fn numbers(text: &str) -> Option<(usize, usize)> {
    match text.split_once('-') {
        Some((from, to)) => Some((from.trim().parse().ok()?, to.trim().parse().ok()?)),
        None => text.parse().ok().map(|number| (number, number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::parse_csv;
    use std::path::Path;

    const HEADER: &str = "id,age,x1,x2,x10,\"a,b\",7,5-6,\"say \"\"hi\"\"\"";

    fn chosen(list: &str) -> Result<Vec<usize>, String> {
        let row = ["1"; 9].join(",");
        let table = parse_csv(Path::new("t.csv"), format!("{HEADER}\n{row}\n").as_bytes()).unwrap();
        let matched = Selection::parse(list)?.resolve(&table);
        let matched = matched.map_err(|error| error.to_string())?;
        Ok(matched.into_iter().flat_map(|item| item.columns).collect())
    }

    #[test]
    fn names_numbers_ranges_and_patterns() {
        assert_eq!(chosen("age"), Ok(vec![1]));
        assert_eq!(chosen("2, 4-5 ,id"), Ok(vec![1, 3, 4, 0]));
        assert_eq!(chosen("x*"), Ok(vec![2, 3, 4]));
        assert_eq!(chosen("x?"), Ok(vec![2, 3]));
        assert_eq!(chosen("x[2-9]"), Ok(vec![3]));
        assert_eq!(chosen(r#""a,b",1"#), Ok(vec![5, 0]));
        assert_eq!(chosen(r#""say ""hi""""#), Ok(vec![8]));
        assert_eq!(chosen("id,,age,"), Ok(vec![0, 1]));
    }

    #[test]
    fn a_name_goes_before_a_number() {
        assert_eq!(chosen("7"), Ok(vec![6]));
        assert_eq!(chosen("5-6"), Ok(vec![7]));
        assert_eq!(
            chosen("8"),
            Ok(vec![7]),
            "the number, as no column is called so"
        );
    }

    #[test]
    fn what_means_nothing_is_an_error() {
        for (list, expected) in [
            ("agee", "did you mean 'age'?"),
            (
                "z*",
                "t.csv: 'z*' chooses no column: no column fits the pattern",
            ),
            ("0", "numbered from 1 to 9"),
            ("10", "numbered from 1 to 9"),
            ("3-20", "numbered from 1 to 9"),
            ("4-2", "from the smaller to the larger"),
            ("x[", "no pattern"),
            ("\"x*\"", "no column 'x*'"),
            ("\"age", "never closed"),
            ("\"age\"x", "a comma or the end"),
            (" , ", "names no column"),
        ] {
            let message = chosen(list).unwrap_err();
            assert!(message.contains(expected), "{list}: {message}");
        }
    }
}
