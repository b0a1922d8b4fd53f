//! Checks for targets and weights that no problem can have.

use l0star::loss::{Loss, ResponseKind};
use l0star_data::RawTable;
use l0star_record::several::MOST_CLASSES;
use l0star_report::text::clip;

use super::features::is_text;
use crate::failure::Failure;

pub(super) fn check_weights(raw: &RawTable, column: &str, weights: &[f64]) -> Result<(), Failure> {
    let Some(row) = weights.iter().position(|weight| *weight < 0.0) else {
        return Ok(());
    };
    let place = raw.place(raw.position(column)?, row);
    Err(Failure::BadData(format!(
        "{place}: weight {} is negative; weights must be zero or more",
        weights[row]
    )))
}

/// Refuses a target of two labels if the loss needs numbers.
pub(super) fn check_numbers(raw: &RawTable, column: &str, loss: &str) -> Result<(), Failure> {
    if !is_text(raw, column) || raw.column(column)?.is_boolean() {
        return Ok(());
    }
    match raw.labels(column) {
        // A number among the labels means a numeric column with a mistake, which is reported elsewhere.
        Ok((_, labels)) if labels.iter().all(|label| label.parse::<f64>().is_err()) => {
            let [one, other] = labels.each_ref().map(|label| clip(label, 32));
            Err(Failure::BadData(format!(
                "{}: the target '{column}' has two labels, '{one}' and '{other}', and the loss '{loss}' needs numbers; use --loss logistic",
                raw.file().display()
            )))
        }
        _ => Ok(()),
    }
}

/// Returns the classes of a target; refuses a single class and too many classes.
pub(super) fn classes(raw: &RawTable, column: &str) -> Result<(Vec<usize>, Vec<String>), Failure> {
    let (codes, names) = raw.classes(column)?;
    let file = raw.file().display();
    if let [one] = &names[..] {
        return Err(Failure::BadData(format!(
            "{file}: the target '{column}' is '{}' in every row; a classifier needs two classes at least",
            clip(one, 32)
        )));
    }
    if names.len() > MOST_CLASSES {
        return Err(Failure::BadData(format!(
            "{file}: the target '{column}' has {} different values, and classes are at most {MOST_CLASSES}; use --loss quadratic for numbers, or name another column",
            names.len()
        )));
    }
    Ok((codes, names))
}

/// Refuses the first response that is outside the range of a loss with a log link or on times, and says where it is.
pub(super) fn check_amounts(
    raw: &RawTable,
    column: &str,
    target: &[f64],
    loss: &dyn Loss,
) -> Result<(), Failure> {
    let (is_allowed, rule): (fn(f64) -> bool, _) = match loss.response() {
        ResponseKind::Count => (|b| b >= 0.0, "negative, and counts must be 0 or more"),
        ResponseKind::Positive => (|b| b > 0.0, "not greater than 0"),
        ResponseKind::Time => (|b| b >= 0.0, "negative, and times must be 0 or more"),
        ResponseKind::Real | ResponseKind::Label | ResponseKind::Class => return Ok(()),
    };
    let Some(row) = target.iter().position(|b| !is_allowed(*b)) else {
        return Ok(());
    };
    let place = raw.place(raw.position(column)?, row);
    Err(Failure::BadData(format!(
        "{place}: the target is {}, which is {rule}; the loss '{}' cannot have it: correct the value, leave the row out, or use another loss",
        target[row],
        loss.name()
    )))
}

/// Refuses a constant target, which leaves nothing to explain without an offset.
pub(super) fn check_varies(
    raw: &RawTable,
    column: &str,
    target: &[f64],
    weights: Option<&[f64]>,
) -> Result<(), Failure> {
    let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
    let mut values = (0..target.len())
        .filter(|row| counts(*row))
        .map(|row| target[row]);
    // If no row has positive weight, another check reports it with a better message.
    let Some(first) = values.next() else {
        return Ok(());
    };
    if values.any(|value| value != first) {
        return Ok(());
    }
    Err(Failure::BadData(format!(
        "{}: the target '{column}' is {first} in every row, so there is nothing to explain; choose a column that varies",
        raw.file().display()
    )))
}
