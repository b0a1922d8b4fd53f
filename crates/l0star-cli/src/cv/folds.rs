//! Which rows are held out together.

use l0star_data::counted;
use l0star_data::generate::rng::Stream;

use crate::failure::Failure;
use crate::task::Task;

/// The fold of every row that counts.
#[derive(Debug, PartialEq, Eq)]
pub struct Folds {
    pub count: usize,
    /// Nothing for a row of weight zero.
    of: Vec<Option<usize>>,
}

/// Deals the shuffled rows to the folds in turn; with labels those of one label first, so that every fold has its
/// share of both, as scikit-learn's `StratifiedKFold` has it.
pub fn deal(task: &Task, count: usize, seed: u64) -> Result<Folds, Failure> {
    let weights = task.weights.as_deref();
    let mut rows: Vec<usize> = (0..task.response.len())
        .filter(|row| weights.is_none_or(|weights| weights[*row] > 0.0))
        .collect();
    if rows.len() < count {
        return Err(Failure::BadData(format!(
            "{}: {} cannot fill {count} folds; use fewer with --folds",
            task.file.display(),
            counted(rows.len(), "row")
        )));
    }
    shuffle(&mut rows, seed);
    if let Some(labels) = &task.labels {
        rows.sort_by(|a, b| task.response[*a].total_cmp(&task.response[*b]));
        for (label, sign) in labels.iter().zip([-1.0, 1.0]) {
            let of_label = task.response.iter().filter(|b| **b == sign).count();
            if of_label < 2 {
                return Err(Failure::BadData(format!(
                    "{}: the label '{label}' of column '{}' has {of_label} row, and a fold without it needs another; cross-validation needs two rows of each label at least",
                    task.file.display(),
                    task.target
                )));
            }
        }
    }
    let mut of = vec![None; task.response.len()];
    for (at, row) in rows.into_iter().enumerate() {
        of[row] = Some(at % count);
    }
    Ok(Folds { count, of })
}

/// Fisher–Yates, from the front.
fn shuffle(rows: &mut [usize], seed: u64) {
    let mut random = Stream::new(seed);
    for i in 0..rows.len() {
        let j = i + random.below(rows.len() - i);
        rows.swap(i, j);
    }
}

impl Folds {
    /// The weights of the rows inside a fold, or of those outside; the others weigh nothing.
    pub fn weights(&self, task: &Task, fold: usize, inside: bool) -> Vec<f64> {
        let weight = |row: usize| task.weights.as_ref().map_or(1.0, |weights| weights[row]);
        let rows = self.of.iter().enumerate();
        rows.map(|(row, of)| match of {
            Some(of) if (*of == fold) == inside => weight(row),
            _ => 0.0,
        })
        .collect()
    }

    /// How many rows each fold has.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.count];
        self.of.iter().flatten().for_each(|fold| sizes[*fold] += 1);
        sizes
    }
}
