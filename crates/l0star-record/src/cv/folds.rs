//! The assignment of rows to folds, which are held out one at a time.

use l0star_data::generate::rng::Stream;

/// The fold of every row of positive weight.
#[derive(Debug, PartialEq, Eq)]
pub struct Folds {
    /// Number of folds.
    pub count: usize,
    /// The fold of each row; `None` for a row of weight zero.
    of: Vec<Option<usize>>,
    /// Number of rows in each fold.
    sizes: Vec<usize>,
}

/// Deals streamed rows to folds: each round gives every fold one row, in a new random order.
#[derive(Debug)]
pub struct Dealer {
    random: Stream,
    round: Vec<usize>,
    at: usize,
}

impl Dealer {
    /// Creates a dealer for `count` folds, at least one.
    pub fn new(count: usize, seed: u64) -> Self {
        Self {
            random: Stream::new(seed),
            round: (0..count).collect(),
            at: 0,
        }
    }

    /// Returns the fold of the next row of positive weight.
    pub fn next_fold(&mut self) -> usize {
        if self.at == 0 {
            shuffle_with(&mut self.round, &mut self.random);
        }
        let fold = self.round[self.at];
        self.at = (self.at + 1) % self.round.len();
        fold
    }
}

/// The reason why rows cannot be dealt to folds.
#[derive(Debug, PartialEq)]
pub enum FoldError {
    /// Fewer rows of positive weight than folds.
    FewRows(usize),
    /// A label or class has at most one row, so that some training rows would lack it.
    FewOfLabel {
        /// The label (±1) or the number of the class (from 0).
        label: f64,
        /// Number of rows with this label or class.
        rows: usize,
    },
}

impl Folds {
    /// Deals the shuffled rows to the folds in turn. Labels (±1) or classes are dealt one after the other, so
    /// that every fold has its share of each, as in scikit-learn's `StratifiedKFold`.
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
            for label in distinct(response) {
                let rows = response.iter().filter(|b| **b == label).count();
                if rows < 2 {
                    return Err(FoldError::FewOfLabel { label, rows });
                }
            }
        }
        let mut of = vec![None; response.len()];
        for (at, row) in rows.into_iter().enumerate() {
            of[row] = Some(at % count);
        }
        let mut sizes = vec![0; count];
        of.iter()
            .flatten()
            .for_each(|fold: &usize| sizes[*fold] += 1);
        Ok(Folds { count, of, sizes })
    }

    /// Creates folds of the given sizes for rows that are known only by their moments.
    pub fn of_moments(sizes: Vec<usize>) -> Folds {
        let (count, of) = (sizes.len(), Vec::new());
        Folds { count, of, sizes }
    }

    /// Returns the weights of the rows inside a fold, or outside it; the other rows get weight zero.
    /// `own`: the weights of all rows.
    pub fn weights(&self, own: Option<&[f64]>, fold: usize, inside: bool) -> Vec<f64> {
        let weight = |row: usize| own.map_or(1.0, |weights| weights[row]);
        let rows = self.of.iter().enumerate();
        rows.map(|(row, of)| match of {
            Some(of) if (*of == fold) == inside => weight(row),
            _ => 0.0,
        })
        .collect()
    }

    /// Returns the number of rows in each fold.
    pub fn sizes(&self) -> Vec<usize> {
        self.sizes.clone()
    }
}

/// Returns the distinct labels or class numbers, in ascending order.
pub(crate) fn distinct(response: &[f64]) -> Vec<f64> {
    let mut labels = response.to_vec();
    labels.sort_by(f64::total_cmp);
    labels.dedup();
    labels
}

/// Shuffles rows by Fisher–Yates, from the front.
pub(crate) fn shuffle(rows: &mut [usize], seed: u64) {
    shuffle_with(rows, &mut Stream::new(seed));
}

fn shuffle_with(rows: &mut [usize], random: &mut Stream) {
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
    fn a_stream_is_dealt_evenly_and_in_another_order_each_round() {
        let deal = |seed| {
            let mut dealer = Dealer::new(4, seed);
            (0..400).map(|_| dealer.next_fold()).collect::<Vec<usize>>()
        };
        let folds = deal(3);
        for round in folds.chunks(4) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
        }
        assert!(folds.chunks(4).any(|round| round != &folds[..4]));
        assert_eq!(deal(3), folds);
        assert_ne!(deal(4), folds);
    }

    #[test]
    fn too_few_rows_are_refused() {
        let deal = |response: &[f64], labels| Folds::deal(response, None, labels, 3, 1);
        assert_eq!(deal(&[1.0, 2.0], false), Err(FoldError::FewRows(2)));
        let one = FoldError::FewOfLabel {
            label: 1.0,
            rows: 1,
        };
        assert_eq!(deal(&[-1.0, -1.0, 1.0], true), Err(one));
    }
}
