//! From the columns of a file to features: which columns, text as indicators, missing values, products.

use std::collections::HashSet;

use l0star_data::{
    Indicator, RawColumn, RawTable, Table, indicators, interactions, no_such_column,
};
use l0star_record::fields::Group;

use super::args::TaskArgs;
use crate::columns;
use crate::design::{self, Named};
use crate::failure::Failure;

const FILL: &str = "fill them in; --impute mean does it for features, --drop-missing drops the rows, --drop the columns";

/// The columns of the file that are features, or whose products are.
pub(super) fn base_columns(args: &TaskArgs, raw: &RawTable) -> Result<Vec<String>, Failure> {
    let excluded = args.excluded();
    let roles: Vec<(&str, &str)> = args.roles().collect();
    let mut candidates = columns::candidates(&args.columns, raw, &roles)?;
    if candidates.is_empty() {
        return Err(Failure::BadData(format!(
            "{}: there is no column besides '{}', so there are no features; add some",
            raw.file().display(),
            args.target
        )));
    }
    if args.interactions {
        // A column of text has no products: excluded by its name, it is gone before the expansion.
        candidates.retain(|name| !(excluded.contains(name) && is_text(raw, name)));
    } else {
        for name in &excluded {
            // A level of a column of text; whether there is one shows when the levels are known.
            let is_level = |(at, _)| is_text(raw, &name[..at]);
            if !name.match_indices('=').any(is_level) {
                raw.column(name)?;
            }
        }
        candidates.retain(|name| !excluded.contains(name));
    }
    some_left(candidates.into_iter().map(str::to_owned).collect())
}

pub(super) fn is_text(raw: &RawTable, name: &str) -> bool {
    matches!(raw.column(name), Ok(RawColumn::Text { .. }))
}

/// The columns that are neither numbers nor truths.
fn text_columns(raw: &RawTable) -> HashSet<String> {
    let columns = raw.names().iter().zip(raw.columns());
    columns
        .filter(|(_, column)| matches!(column, RawColumn::Text { .. }) && !column.is_boolean())
        .map(|(name, _)| name.clone())
        .collect()
}

/// Puts the indicators of their levels in the place of columns of text: the levels, and the features of each column.
pub(super) fn encode_texts(
    args: &TaskArgs,
    raw: &mut RawTable,
    base: &mut Vec<String>,
) -> Result<(Vec<Indicator>, Vec<Group>), Failure> {
    let excluded = args.excluded();
    let (mut all, mut texts, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let to_encode = text_columns(raw);
    for column in std::mem::take(base) {
        if !to_encode.contains(&column) {
            names.push(column);
            continue;
        }
        let levels = raw.levels(&column, args.rare)?;
        let is_kept = |feature: &&Indicator| !excluded.contains(feature.name.as_str());
        let features = indicators::features(&levels).iter().filter(is_kept);
        let features: Vec<&Indicator> = features.collect();
        raw.add_indicators(&column, &levels.iter().collect::<Vec<_>>(), &features)?;
        let columns: Vec<String> = features.iter().map(|own| own.name.clone()).collect();
        names.extend_from_slice(&columns);
        if !columns.is_empty() {
            texts.push(Group {
                name: column,
                columns,
            });
        }
        all.extend(levels);
    }
    for name in excluded {
        if raw.column(name).is_err() && !all.iter().any(|level| level.name == name) {
            return Err(no_such_column(name, &names).into());
        }
    }
    *base = some_left(names)?;
    Ok((all, texts))
}

/// Drops the rows with missing values that nothing can stand in for, or refuses them: how many were dropped.
pub(super) fn settle_missing(
    args: &TaskArgs,
    raw: &mut RawTable,
    features: &[String],
) -> Result<usize, Failure> {
    // Text that is refused as text says more than a gap in it.
    let texts = match args.interactions {
        true => text_columns(raw),
        false => HashSet::new(),
    };
    let is_used = |name: &&str| args.impute.is_none() && !texts.contains(*name);
    let features = features.iter().map(String::as_str);
    let used: Vec<String> = features
        .filter(is_used)
        .chain(args.roles().map(|(_, name)| name))
        .map(str::to_owned)
        .collect();
    if args.drop_missing {
        return Ok(raw.drop_missing(&used)?);
    }
    raw.refuse_missing(&used, FILL)?;
    Ok(0)
}

/// Fills in the missing values of features, if asked to, and says what with. A gap in a text can be a level.
///
/// Those of rows that are `held_out` are filled in with what the other rows say.
pub(super) fn impute(
    args: &TaskArgs,
    raw: &mut RawTable,
    held_out: Option<&mut RawTable>,
    features: &[String],
) -> Result<Vec<(String, f64)>, Failure> {
    let mut imputed = Vec::new();
    if args.impute.is_none() {
        return Ok(imputed);
    }
    for (name, _) in raw.missing_in(features)? {
        if let Some(mean) = raw.impute_mean(&name)? {
            imputed.push((name, mean));
        }
    }
    let Some(held_out) = held_out else {
        return Ok(imputed);
    };
    for (name, _) in held_out.missing_in(features)? {
        if imputed.iter().any(|(own, _)| *own == name) {
            continue;
        }
        match raw.mean(&name)? {
            Some(mean) => imputed.push((name, mean)),
            // A text: its levels are those of the other rows.
            None if raw.column(&name)?.missing() == 0 => {
                return Err(Failure::BadData(format!(
                    "{}: column '{name}' is missing in rows that are held out and in no other, so that nothing is learnt about such rows; use another --seed",
                    raw.file().display()
                )));
            }
            None => {}
        }
    }
    Ok(imputed)
}

/// The features, expanded if asked for, less the excluded ones.
pub(super) fn features(args: &TaskArgs, raw: RawTable, base: &[String]) -> Result<Named, Failure> {
    if !args.interactions {
        return design::of_file(raw, base);
    }
    let excluded = args.excluded();
    let expanded = interactions(&raw.numeric(base)?)?;
    for name in &excluded {
        if expanded.find(name).is_none() && raw.column(name).is_err() {
            expanded.clone().take_column(name)?;
        }
    }
    if excluded.is_empty() {
        return design::of_table(expanded);
    }
    let (names, rows, values) = expanded.into_parts();
    let kept: Vec<usize> = (0..names.len())
        .filter(|j| !excluded.contains(names[*j].as_str()))
        .collect();
    let kept = some_left(kept)?;
    let values = kept
        .iter()
        .flat_map(|j| &values[j * rows..(j + 1) * rows])
        .copied()
        .collect();
    let names = kept.iter().map(|j| names[*j].clone()).collect();
    design::of_table(Table::new(names, rows, values)?)
}

fn some_left<T>(features: Vec<T>) -> Result<Vec<T>, Failure> {
    if features.is_empty() {
        return Err(Failure::Usage(
            "--exclude leaves no features; exclude fewer columns".into(),
        ));
    }
    Ok(features)
}
