//! From the columns of a file to features: which columns, text as indicators, missing values, products.

use std::collections::HashSet;

use l0star_data::{
    Indicator, Problem, RawColumn, RawTable, Table, Trouble, indicators, interactions_of,
    no_such_column,
};
use l0star_record::fields::Group;
use l0star_report::{Face, troubles};

use super::args::{Factors, TaskArgs};
use crate::columns;
use crate::design::{self, Named};
use crate::failure::Failure;

const FILL: &str = "fill them in; --impute mean does it for features, --drop-missing drops the rows, --drop the columns";

/// Returns the columns of the file that are features, or whose products are.
pub(super) fn base_columns(args: &TaskArgs, raw: &RawTable) -> Result<Vec<String>, Failure> {
    let excluded = args.excluded();
    let roles: Vec<(&str, &str)> = args.roles().collect();
    let mut candidates = columns::candidates(&args.columns, raw, &roles)?;
    if candidates.is_empty() {
        return Err(Failure::BadData(format!(
            "{}: there is no column besides '{}', so there are no features; add some",
            raw.file().display(),
            args.roles().next().map_or("", |(_, name)| name)
        )));
    }
    if args.interactions.is_some() {
        // A text column has no products. If it is excluded by name, it is removed before the expansion.
        candidates.retain(|name| !(excluded.contains(name) && is_text(raw, name)));
    } else {
        for name in &excluded {
            // A category of a text column; whether it exists is known once the categories are.
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

/// Returns the columns that are neither numeric nor boolean.
pub(super) fn text_columns(raw: &RawTable) -> HashSet<String> {
    let columns = raw.names().iter().zip(raw.columns());
    columns
        .filter(|(_, column)| matches!(column, RawColumn::Text { .. }) && !column.is_boolean())
        .map(|(name, _)| name.clone())
        .collect()
}

/// Returns the columns whose products are features.
pub(super) fn factors(
    args: &TaskArgs,
    raw: &RawTable,
    base: &[String],
) -> Result<Vec<String>, Failure> {
    let selection = match &args.interactions {
        None => return Ok(Vec::new()),
        Some(Factors::All) => return Ok(base.to_vec()),
        Some(Factors::Chosen(selection)) => selection,
    };
    let mut chosen = HashSet::new();
    for matched in selection.resolve(raw)? {
        for j in matched.columns {
            let name = &raw.names()[j];
            if matched.is_name && !base.contains(name) {
                return Err(Failure::Usage(format!(
                    "column '{name}' is in --interactions and is no feature; take it out, or make it one"
                )));
            }
            chosen.insert(name.as_str());
        }
    }
    let mut factors = base.to_vec();
    factors.retain(|name| chosen.contains(name.as_str()));
    Ok(factors)
}

/// The scope of the check for troubles.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked {
    /// Whether the target has labels.
    pub labels: bool,
    /// Whether the rows are only a part: troubles that only all rows can show are then not reported.
    pub is_part: bool,
}

/// Refuses columns that cannot have the role they were given, all in one message. Missing values are settled later.
pub(super) fn refuse_troubles(
    args: &TaskArgs,
    raw: &RawTable,
    base: &[String],
    factors: &[String],
    texts: &[String],
    of: Asked,
) -> Result<(), Failure> {
    let mut troubles = raw.troubles(base, args.rare, texts)?;
    let words = raw.troubles_of_products(factors)?;
    // Numbers with a mistake are reported as such.
    let is_new = |own: &Trouble| {
        let mut others = troubles.iter().filter(|other| other.column == own.column);
        others.all(|other| other.problem.is_harmless() || other.problem.is_gap())
    };
    let words: Vec<Trouble> = words.into_iter().filter(is_new).collect();
    troubles.extend(words);
    let roles = args
        .roles()
        .filter(|(role, _)| !(of.labels && *role == "--target"))
        .filter(|(role, _)| !matches!(*role, "--event" | "--strata"));
    let roles: Vec<&str> = roles.map(|(_, name)| name).collect();
    troubles.extend(raw.troubles_as_numbers(&roles)?);
    let is_settled = |own: &Trouble| {
        own.problem.is_gap() && (args.drop_missing || args.impute.is_some() && own.is_feature)
    };
    troubles.retain(|own| !is_settled(own));
    let of_all = |own: &Trouble| matches!(own.problem, Problem::Rare { .. } | Problem::Empty);
    troubles.retain(|own| !(of.is_part && of_all(own)));
    let is_fatal = |own: &Trouble| !own.problem.is_harmless() && !own.problem.is_gap();
    if !troubles.iter().any(is_fatal) {
        return Ok(());
    }
    let file = raw.file().display().to_string();
    Err(Failure::Troubles(troubles::refusal(
        &file,
        &troubles,
        Face::Command,
    )))
}

/// Replaces text columns by indicators of their categories; returns the categories, and the features of each column.
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
        // Products do not exist yet.
        let may_be_product = args.interactions.is_some();
        if !may_be_product
            && raw.column(name).is_err()
            && !all.iter().any(|level| level.name == name)
        {
            return Err(no_such_column(name, &names).into());
        }
    }
    *base = some_left(names)?;
    Ok((all, texts))
}

/// Returns the columns that must have no gaps. Filled gaps are settled later, and a gap in a text can be a category.
pub(super) fn gapless(args: &TaskArgs, features: &[String]) -> Vec<String> {
    let is_refused = |_: &&str| args.impute.is_none();
    let features = features.iter().map(String::as_str);
    features
        .filter(is_refused)
        .chain(args.roles().map(|(_, name)| name))
        .map(str::to_owned)
        .collect()
}

/// Drops or refuses the rows with missing values that are not filled; returns how many were dropped.
pub(super) fn settle_missing(
    args: &TaskArgs,
    raw: &mut RawTable,
    features: &[String],
) -> Result<usize, Failure> {
    let used = gapless(args, features);
    if args.drop_missing {
        return Ok(raw.drop_missing(&used)?);
    }
    raw.refuse_missing(&used, FILL)?;
    Ok(0)
}

/// Fills in the missing values of features, if asked to; returns the values used. A gap in a text can be a category.
///
/// Gaps in `held_out` rows are filled with the values from the other rows.
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
            // For a text column the categories come from the other rows.
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

/// Builds the features with the products of `factors`, without the excluded ones.
pub(super) fn features(
    args: &TaskArgs,
    raw: RawTable,
    base: &[String],
    factors: &[String],
    levels: &[Indicator],
) -> Result<Named, Failure> {
    if factors.is_empty() {
        return design::of_file(raw, base);
    }
    let excluded = args.excluded();
    let table = raw.numeric(base)?;
    let chosen: Vec<usize> = factors.iter().filter_map(|name| table.find(name)).collect();
    let expanded = interactions_of(&table, &chosen)?;
    let is_level = |name: &str| levels.iter().any(|level| level.name == name);
    for name in &excluded {
        if expanded.find(name).is_none() && raw.column(name).is_err() && !is_level(name) {
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

pub(super) fn some_left<T>(features: Vec<T>) -> Result<Vec<T>, Failure> {
    if features.is_empty() {
        return Err(Failure::Usage(
            "--exclude leaves no features; exclude fewer columns".into(),
        ));
    }
    Ok(features)
}
