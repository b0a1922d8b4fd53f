//! A task from a file of moments: what the file says about the columns, and which options need rows.

use std::sync::Arc;

use l0star::Design;
use l0star::loss::Quadratic;
use l0star_data::{RawColumn, RawTable};
use l0star_record::MomentFile;
use l0star_record::names::Known;

use super::{Task, TaskArgs};
use crate::columns;
use crate::failure::Failure;

/// Reads a file of moments. It has everything that the quadratic loss needs of the rows, and nothing more.
pub(super) fn read(args: &TaskArgs) -> Result<Task, Failure> {
    check(args)?;
    let MomentFile { moments, about } = MomentFile::load(&args.data)?;
    let file = &args.data;
    if !args.target.is_empty() && args.target != about.target {
        return Err(Failure::Usage(format!(
            "{}: these are moments for the target '{}', not '{}'; leave --target out, or make moments for that one",
            file.display(),
            about.target,
            args.target
        )));
    }
    let kept = kept(args, moments.names())?;
    let moments = if kept.len() == moments.names().len() {
        moments
    } else {
        moments.select(&kept)?
    };
    task(args, MomentFile { moments, about }, Vec::new())
}

/// Builds a task from the moments of all features. `notes` tell the user how they were made.
pub(super) fn task(args: &TaskArgs, made: MomentFile, notes: Vec<String>) -> Result<Task, Failure> {
    let MomentFile { moments, about } = made;
    let names = moments.names().to_vec();
    let texts = about.texts_among(&names);
    let known = Known {
        names: &names,
        texts: &texts,
        factors: &about.factors,
    };
    Ok(Task {
        rules: args.rules.resolve(&known)?,
        file: args.data.clone(),
        loss: Arc::new(Quadratic),
        intercept: !args.no_intercept,
        standardize: !args.no_standardize,
        refit: args.refit,
        design: Design::dense(1, names.len(), vec![0.0; names.len()])?,
        response: Vec::new(),
        moments: Some(moments),
        folds: Vec::new(),
        store: None,
        names,
        weights: None,
        weight_column: about.weights,
        offsets: Vec::new(),
        offset_columns: Vec::new(),
        responses: Vec::new(),
        others: Vec::new(),
        classes: Vec::new(),
        target: about.target,
        labels: None,
        survival: None,
        factors: about.factors,
        indicators: about.indicators,
        imputed: about.imputed.0,
        rows_dropped: about.rows_dropped,
        held_out: None,
        reading: about.reading,
        notes,
    })
}

/// Returns the first given option about how features are made from rows.
pub(super) fn of_making(args: &TaskArgs) -> Option<&'static str> {
    let reading = &args.reading;
    let options = [
        (args.interactions.is_some(), "--interactions"),
        (args.impute.is_some(), "--impute"),
        (args.drop_missing, "--drop-missing"),
        (reading.as_number.is_some(), "--as-number"),
        (reading.as_text.is_some(), "--as-text"),
        (reading.dates.is_some(), "--dates"),
        (args.input.format.is_some(), "--format"),
    ];
    let given = options.iter().find(|(given, _)| *given);
    given.map(|(_, option)| *option)
}

/// Refuses options about rows.
fn check(args: &TaskArgs) -> Result<(), Failure> {
    let weights = args.weights.as_ref().map(|_| "--weights");
    if let Some(option) = weights.or_else(|| of_making(args)) {
        return Err(Failure::Usage(format!(
            "{}: these are moments, not rows, and {option} is about rows; give it to l0star moments, which makes them",
            args.data.display()
        )));
    }
    let of_rows = [
        (args.loss != "quadratic", format!("--loss {}", args.loss)),
        (args.offset.is_some(), "--offset".to_owned()),
        (args.survival.event.is_some(), "--event".to_owned()),
        (args.holdout.is_some(), "--holdout".to_owned()),
    ];
    match of_rows.iter().find(|(given, _)| *given) {
        None => Ok(()),
        Some((_, option)) => Err(Failure::Usage(format!(
            "{}: these are moments, and {option} needs the rows; fit the data themselves",
            args.data.display()
        ))),
    }
}

/// Returns a table that holds only the names of the columns of a file.
pub(super) fn of_names(args: &TaskArgs, names: &[String]) -> Result<RawTable, Failure> {
    let cells = names.iter().map(|_| RawColumn::Number(vec![0.0]));
    let file = args.data.display().to_string();
    Ok(RawTable::in_memory(&file, names.to_vec(), cells.collect())?)
}

/// Returns the positions of the features that are selected and not excluded.
fn kept(args: &TaskArgs, names: &[String]) -> Result<Vec<usize>, Failure> {
    let table = of_names(args, names)?;
    let excluded = args.excluded();
    for name in &excluded {
        table.column(name)?;
    }
    let chosen = columns::candidates(&args.columns, &table, &[])?;
    let is_kept = |j: &usize| {
        let name = names[*j].as_str();
        chosen.contains(&name) && !excluded.contains(name)
    };
    super::features::some_left((0..names.len()).filter(is_kept).collect())
}
