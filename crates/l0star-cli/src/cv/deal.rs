//! Deals the rows to folds.

use l0star::problem::Moments;
use l0star_data::counted;
use l0star_record::cv::{FoldError, Folds};

use crate::failure::Failure;
use crate::task::Task;

/// Returns the folds of the rows, or an error if there are too few rows.
pub(super) fn deal(task: &Task, count: usize, seed: u64) -> Result<Folds, Failure> {
    let explain = |error: FoldError| explain(task, count, &error);
    if task.folds.is_empty() {
        let weights = task.weights.as_deref();
        let (kinds, has_kinds) = task.kinds();
        if let Some(survival) = &task.survival {
            let events = survival.fields.events;
            if events < count {
                return Err(Failure::BadData(format!(
                    "{}: {} cannot be dealt to {count} folds, each of which needs one; use fewer with --folds",
                    task.file.display(),
                    counted(events, "event")
                )));
            }
        }
        let folds = Folds::deal(&kinds, weights, has_kinds, count, seed);
        return folds.map_err(explain);
    }
    // The rows were dealt when their moments were summed.
    let size = |fold: &Moments| usize::try_from(fold.rows()).unwrap_or(usize::MAX);
    let sizes: Vec<usize> = task.folds.iter().map(size).collect();
    if sizes.contains(&0) {
        let rows = sizes.iter().sum();
        return Err(explain(FoldError::FewRows(rows)));
    }
    Ok(Folds::of_moments(sizes))
}

fn explain(task: &Task, count: usize, error: &FoldError) -> Failure {
    let file = task.file.display();
    Failure::BadData(match error {
        FoldError::FewRows(rows) => format!(
            "{file}: {} cannot fill {count} folds; use fewer with --folds",
            counted(*rows, "row")
        ),
        FoldError::FewOfLabel { label, rows } => format!(
            "{file}: the label '{}' of column '{}' has {rows} row, and a fold without it needs another; cross-validation needs two rows of each label at least",
            task.label(*label),
            task.target
        ),
    })
}
