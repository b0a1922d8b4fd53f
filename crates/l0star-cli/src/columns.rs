//! Which columns of a file are features: `--features` and `--drop`.

use l0star_data::{RawTable, Selection};

use crate::failure::Failure;

/// The selection of feature columns as typed.
#[derive(Debug, Clone, clap::Args)]
pub struct ColumnArgs {
    /// Use only these columns as features: names, patterns or numbers; quote a name with a comma, "a,b"
    #[arg(long, value_name = "COLUMNS", value_parser = Selection::parse)]
    pub features: Option<Selection>,

    /// Do not use these columns as features; written as for --features
    #[arg(long, value_name = "COLUMNS", value_parser = Selection::parse)]
    pub drop: Option<Selection>,
}

/// Returns the columns that may be features, in the order of the file. `roles` are columns with another role:
/// a pattern skips them, and naming one is an error.
pub fn candidates<'a>(
    args: &ColumnArgs,
    table: &'a RawTable,
    roles: &[(&str, &str)],
) -> Result<Vec<&'a str>, Failure> {
    let names = table.names();
    let role = |j: usize| roles.iter().find(|(_, name)| *name == names[j]);
    let mut chosen = vec![args.features.is_none(); names.len()];
    for (option, selection, keep) in [
        ("--features", &args.features, true),
        ("--drop", &args.drop, false),
    ] {
        let Some(selection) = selection else { continue };
        for matched in selection.resolve(table)? {
            for j in matched.columns {
                if let (Some((taken, name)), true) = (role(j), matched.is_name) {
                    return Err(Failure::Usage(format!(
                        "column '{name}' is both {taken} and in {option}; take it out of one of them"
                    )));
                }
                chosen[j] = keep;
            }
        }
    }
    let candidates: Vec<&str> = (0..names.len())
        .filter(|&j| chosen[j] && role(j).is_none())
        .map(|j| names[j].as_str())
        .collect();
    if candidates.is_empty() && (args.features.is_some() || args.drop.is_some()) {
        return Err(Failure::Usage(
            "--features and --drop leave no features; choose more columns".into(),
        ));
    }
    Ok(candidates)
}
