//! Which rows are held out together.

use l0star_data::generate::rng::Stream;

/// The fold of every row that counts.
#[derive(Debug, PartialEq, Eq)]
pub struct Folds {
    /// How many there are.
    pub count: usize,
    /// Nothing for a row of weight zero.
    of: Vec<Option<usize>>,
}

/// Why rows cannot be dealt to folds.
#[derive(Debug, PartialEq, Eq)]
pub enum FoldError {
    /// Fewer rows count than there are folds.
    FewRows(usize),
    /// A label has one row or none, so that some fold leaves none of it.
    FewOfLabel {
        /// Whether it is the positive one.
        is_positive: bool,
        /// How many rows have it.
        rows: usize,
    },
}

impl Folds {
    /// Deals the shuffled rows to the folds in turn; with labels (±1) those of one label first, so that every fold has its
    /// share of both, as scikit-learn's `StratifiedKFold` has it.
    pub fn deal(
        response: &[f64],
        weights: Option<&[f64]>,
        has_labels: bool,
        count: usize,
        seed: u64,
    ) -> Result<Folds, FoldError> {
        let mut rows: Vec<usize> = (0..response.len())
            .filter(|row| weights.is_none_or(|weights| weights[*row] > 0.0))
            .collect();
        if rows.len() < count {
            return Err(FoldError::FewRows(rows.len()));
        }
        shuffle(&mut rows, seed);
        if has_labels {
            rows.sort_by(|a, b| response[*a].total_cmp(&response[*b]));
            for sign in [-1.0, 1.0] {
                let of_label = response.iter().filter(|b| **b == sign).count();
                if of_label < 2 {
                    return Err(FoldError::FewOfLabel {
                        is_positive: sign > 0.0,
                        rows: of_label,
                    });
                }
            }
        }
        let mut of = vec![None; response.len()];
        for (at, row) in rows.into_iter().enumerate() {
            of[row] = Some(at % count);
        }
        Ok(Folds { count, of })
    }

    /// The weights of the rows inside a fold, or of those outside; the others weigh nothing. `own`: those of all rows.
    pub fn weights(&self, own: Option<&[f64]>, fold: usize, inside: bool) -> Vec<f64> {
        let weight = |row: usize| own.map_or(1.0, |weights| weights[row]);
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

/// Fisher–Yates, from the front.
pub(crate) fn shuffle(rows: &mut [usize], seed: u64) {
    let mut random = Stream::new(seed);
    for i in 0..rows.len() {
        let j = i + random.below(rows.len() - i);
        rows.swap(i, j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_that_counts_is_in_one_fold_and_labels_are_shared_out() {
        let response: Vec<f64> = (0..20)
            .map(|i| if i % 4 == 0 { 1.0 } else { -1.0 })
            .collect();
        let mut weights = vec![2.0; 20];
        weights[3] = 0.0;
        let folds = Folds::deal(&response, Some(&weights), true, 3, 7).unwrap();
        assert_eq!(folds.sizes().iter().sum::<usize>(), 19);
        for fold in 0..3 {
            let inside = folds.weights(Some(&weights), fold, true);
            let outside = folds.weights(Some(&weights), fold, false);
            let both: Vec<f64> = inside.iter().zip(&outside).map(|(a, b)| a + b).collect();
            assert_eq!(both, weights);
            let positive = (0..20).filter(|i| inside[*i] > 0.0 && response[*i] > 0.0);
            assert!((1..=2).contains(&positive.count()));
        }
        let again = Folds::deal(&response, Some(&weights), true, 3, 7).unwrap();
        assert_eq!(again, folds);
    }

    #[test]
    fn too_few_rows_are_refused() {
        let deal = |response: &[f64], labels| Folds::deal(response, None, labels, 3, 1);
        assert_eq!(deal(&[1.0, 2.0], false), Err(FoldError::FewRows(2)));
        let one = FoldError::FewOfLabel {
            is_positive: true,
            rows: 1,
        };
        assert_eq!(deal(&[-1.0, -1.0, 1.0], true), Err(one));
    }
}
