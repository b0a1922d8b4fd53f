//! Columns that a fit cannot use as they are, in words, each with the option that handles it.

use l0star_data::reading::Words;
use l0star_data::text::clip;
use l0star_data::{Problem, Trouble, counted};

use crate::face::Face;
use crate::width::{padded, width};

/// Upper limit on the characters of a name or a cell in a message.
const LONGEST: usize = 41;
/// Upper limit on the columns that get a line in a message.
const SHOWN: usize = 30;

/// Returns the lines of a refusal: the problem of each column with its remedy, then all options together.
pub fn refusal(file: &str, troubles: &[Trouble], face: Face) -> Vec<String> {
    if let [only] = troubles {
        let handled = remedy(only, face);
        return vec![format!(
            "{file}: column '{}' {}; {handled}",
            clip(&only.column, LONGEST),
            said(only)
        )];
    }
    let mut columns: Vec<&str> = troubles.iter().map(|own| own.column.as_str()).collect();
    columns.dedup();
    let mut lines = vec![format!(
        "{file}: {} {} a decision",
        counted(columns.len(), "column"),
        if columns.len() == 1 { "needs" } else { "need" }
    )];
    let shown = &troubles[..troubles.len().min(SHOWN)];
    let names: Vec<String> = shown.iter().map(|own| clip(&own.column, LONGEST)).collect();
    let widest = names.iter().map(|name| width(name)).fold(0, usize::max);
    for (name, trouble) in names.iter().zip(shown) {
        let name = padded(name, widest);
        lines.push(format!(
            "  {name}  {}: {}",
            said(trouble),
            remedy(trouble, face)
        ));
    }
    if troubles.len() > SHOWN {
        lines.push(format!("  … {} more", troubles.len() - SHOWN));
    }
    let together = options(troubles, face);
    lines.push(match face {
        Face::Command => format!("to handle all of them, add: {}", together.join(" ")),
        Face::Python => format!("to handle all of them, add: {}", together.join(", ")),
    });
    lines
}

/// Describes the problem of a column; the text follows the column's name.
pub fn said(trouble: &Trouble) -> String {
    let example = clip(&trouble.example, LONGEST);
    match trouble.problem {
        Problem::Identifier { distinct } => {
            format!("looks like an identifier: {distinct} different texts, such as '{example}'")
        }
        Problem::Numbering => "looks like an identifier: it numbers the rows".into(),
        Problem::Rare { rare } => format!("has no category with at least {rare} rows"),
        Problem::ManyLevels { levels } => {
            format!("has {levels} categories, too many for one feature")
        }
        Problem::Dates { order: Some(_) } => format!("holds dates, such as '{example}'"),
        Problem::Dates { order: None } => {
            format!("holds dates, such as '{example}', day or month first")
        }
        Problem::Amounts => format!("holds numbers with signs or separators, such as '{example}'"),
        Problem::DecimalComma { .. } => format!("has decimal commas, such as '{example}'"),
        Problem::Mixed { rows } => format!(
            "holds numbers, and other text in {}, the first '{example}' on {}",
            counted(rows, "row"),
            trouble.position
        ),
        Problem::Words => format!("holds text, such as '{example}', which has no products"),
        Problem::Constant => format!("is constant, '{example}'"),
        Problem::Missing { cells } => {
            format!(
                "has {}, the first on {}",
                counted(cells, "missing value"),
                trouble.position
            )
        }
        Problem::Empty => "has no values".into(),
    }
}

/// Returns the option that handles one column.
pub fn remedy(trouble: &Trouble, face: Face) -> String {
    let column = trouble.column.as_str();
    let drop = || option(face, "--drop", "exclude", &[column]);
    let number = || option(face, "--as-number", "as_number", &[column]);
    let text = || option(face, "--as-text", "as_text", &[column]);
    match (trouble.problem, face) {
        (Problem::Rare { .. }, Face::Command) => format!("{} or a lower --rare", drop()),
        (Problem::ManyLevels { .. }, Face::Command) => format!("{} or a higher --rare", drop()),
        (Problem::Rare { .. }, Face::Python) => format!("{} or a lower rare", drop()),
        (Problem::ManyLevels { .. }, Face::Python) => format!("{} or a higher rare", drop()),
        (Problem::Dates { order }, Face::Command) => {
            let order = if order.is_none() {
                " --date-order dmy (or mdy)"
            } else {
                ""
            };
            format!("--dates days{order} or --dates drop")
        }
        (Problem::Dates { order }, Face::Python) => {
            let order = if order.is_none() {
                ", date_order=\"dmy\" (or \"mdy\")"
            } else {
                ""
            };
            format!("dates=\"days\"{order} or dates=\"drop\"")
        }
        (Problem::Amounts, _) => number(),
        (Problem::DecimalComma { is_free: true }, Face::Command) => "--decimal ,".into(),
        (Problem::DecimalComma { .. }, _) => number(),
        (Problem::Mixed { .. }, _) => {
            format!("{} (other text is missing) or {}", number(), text())
        }
        (Problem::Missing { .. }, Face::Command) if trouble.is_feature => {
            "--impute mean or --drop-missing".into()
        }
        (Problem::Missing { .. }, Face::Command) => "--drop-missing".into(),
        (Problem::Missing { .. }, Face::Python) => "impute=\"mean\", or drop the rows".into(),
        _ => drop(),
    }
}

/// Returns the options that handle all columns together.
pub fn options(troubles: &[Trouble], face: Face) -> Vec<String> {
    let (mut drop, mut number): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let (mut comma, mut dates, mut order, mut impute, mut drop_rows) =
        (false, false, false, false, false);
    for trouble in troubles {
        let column = trouble.column.as_str();
        match trouble.problem {
            Problem::Identifier { .. }
            | Problem::Numbering
            | Problem::Rare { .. }
            | Problem::ManyLevels { .. }
            | Problem::Words
            | Problem::Constant
            | Problem::Empty => drop.push(column),
            Problem::Dates { order: found } => {
                dates = true;
                order |= found.is_none();
            }
            Problem::DecimalComma { is_free: true } if face == Face::Command => comma = true,
            Problem::Amounts | Problem::DecimalComma { .. } => number.push(column),
            Problem::Mixed { .. } => {
                number.push(column);
                impute |= trouble.is_feature;
                drop_rows |= !trouble.is_feature;
            }
            Problem::Missing { .. } => {
                impute |= trouble.is_feature;
                drop_rows |= !trouble.is_feature;
            }
        }
    }
    // For a column that is dropped, nothing else matters.
    number.retain(|column| !drop.contains(column));
    drop.dedup();
    let is_command = face == Face::Command;
    let mut all = Vec::new();
    if !drop.is_empty() {
        all.push(option(face, "--drop", "exclude", &drop));
    }
    if !number.is_empty() {
        all.push(option(face, "--as-number", "as_number", &number));
    }
    let words = [
        (comma, "--decimal ,", ""),
        (dates, "--dates days", "dates=\"days\""),
        (order, "--date-order dmy", "date_order=\"dmy\""),
        (impute, "--impute mean", "impute=\"mean\""),
        (drop_rows && is_command, "--drop-missing", ""),
    ];
    for (_, command, python) in words.into_iter().filter(|(is, _, _)| *is) {
        all.push(if is_command {
            command.into()
        } else {
            python.to_owned()
        });
    }
    all
}

/// Describes the texts in a column of numbers that count as missing.
pub fn counted_as_missing((column, words): &Words) -> String {
    const LISTED: usize = 3;
    let rows: usize = words.iter().map(|(_, rows)| rows).sum();
    let listed = words.iter().take(LISTED);
    let listed = listed.map(|(word, rows)| format!("'{}' ({rows})", clip(word, LONGEST)));
    let more = if words.len() > LISTED { ", …" } else { "" };
    let (cells, count) = if rows == 1 {
        ("cell is", "counts")
    } else {
        ("cells are", "count")
    };
    format!(
        "{rows} {cells} not a number in column '{}' and {count} as missing: {}{more}",
        clip(column, LONGEST),
        listed.collect::<Vec<_>>().join(", ")
    )
}

/// Formats an option with a list of columns, ready to paste.
fn option(face: Face, command: &str, python: &str, columns: &[&str]) -> String {
    match face {
        Face::Command => format!("{command} {}", for_shell(&selection(columns))),
        Face::Python => {
            let quoted = columns.iter().map(|column| format!("{column:?}"));
            format!("{python}=[{}]", quoted.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Formats a list of names for an option; a name is quoted if it could be read as more than a name.
fn selection(columns: &[&str]) -> String {
    let quoted = |name: &&str| {
        let is_plain = |letter: char| letter.is_alphanumeric() || "_.:=^ /%$#".contains(letter);
        let is_number = name.starts_with(|letter: char| letter.is_ascii_digit());
        if name.chars().all(is_plain) && !is_number && name.trim() == *name {
            name.to_string()
        } else {
            format!("\"{}\"", name.replace('"', "\"\""))
        }
    };
    columns.iter().map(quoted).collect::<Vec<_>>().join(",")
}

/// Quotes a word for a shell.
pub fn for_shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_.,:=/%@+-".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use l0star_data::{DateOrder, Position};

    use super::*;

    fn trouble(column: &str, problem: Problem, example: &str) -> Trouble {
        Trouble {
            column: column.into(),
            problem,
            example: example.into(),
            position: Position::Line(7),
            is_feature: true,
        }
    }

    fn all() -> Vec<Trouble> {
        vec![
            trouble("id", Problem::Identifier { distinct: 60 }, "P1"),
            trouble(
                "day",
                Problem::Dates {
                    order: Some(DateOrder::Ymd),
                },
                "2024-01-02",
            ),
            trouble("unit price", Problem::Amounts, "$1,200"),
            trouble("dose", Problem::Mixed { rows: 2 }, "low"),
            trouble("height", Problem::DecimalComma { is_free: true }, "1,75"),
            trouble("site", Problem::Constant, "A"),
            trouble("salt", Problem::Missing { cells: 3 }, ""),
        ]
    }

    #[test]
    fn every_column_has_a_line_and_the_last_has_all_options() {
        let lines = refusal("d.csv", &all(), Face::Command);
        assert_eq!(lines.len(), 9);
        assert_eq!(lines[0], "d.csv: 7 columns need a decision");
        assert_eq!(
            lines[1],
            "  id          looks like an identifier: 60 different texts, such as 'P1': --drop id"
        );
        assert_eq!(
            lines[8],
            "to handle all of them, add: --drop id,site --as-number 'unit price,dose' --decimal , --dates days --impute mean"
        );
        let python = refusal("X", &all(), Face::Python);
        assert_eq!(
            python[8],
            "to handle all of them, add: exclude=[\"id\", \"site\"], as_number=[\"unit price\", \"dose\", \"height\"], dates=\"days\", impute=\"mean\""
        );
    }

    #[test]
    fn one_column_has_one_line() {
        let lines = refusal("d.csv", &all()[..1], Face::Command);
        assert_eq!(
            lines,
            [
                "d.csv: column 'id' looks like an identifier: 60 different texts, such as 'P1'; --drop id"
            ]
        );
    }

    #[test]
    fn names_survive_the_shell_and_the_list() {
        for (name, expected) in [
            ("a", "a"),
            ("a b", "'a b'"),
            ("a,b", "'\"a,b\"'"),
            ("x*", "'\"x*\"'"),
            ("7", "'\"7\"'"),
            ("it's", "'\"it'\\''s\"'"),
            ("=1+1", "'\"=1+1\"'"),
            ("$(rm x)", "'\"$(rm x)\"'"),
            ("größe", "größe"),
        ] {
            assert_eq!(for_shell(&selection(&[name])), expected, "{name}");
        }
    }
}
