//! The scores so far: which sizes are complete, which searches are not proved, and what a reader is told of that.

use l0star::Status;
use l0star_data::counted;

/// What came of one search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// How well the rows of the fold are predicted.
    pub score: f64,
    /// What is known of the model.
    pub status: Status,
}

/// A number of features and a ridge, with what came of its folds so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// At most this many features.
    pub k: usize,
    /// The weight of the ridge.
    pub ridge: f64,
    /// `None` for a fold whose search has not ended.
    pub folds: Vec<Option<Scored>>,
}

impl Candidate {
    /// The scores, if every fold has one.
    fn scores(&self) -> Option<Vec<f64>> {
        let scores = self.folds.iter().map(|fold| Some((*fold)?.score));
        scores.collect()
    }

    /// Whether every fold has a score.
    pub fn is_complete(&self) -> bool {
        self.folds.iter().all(Option::is_some)
    }

    /// How many folds have a score.
    pub fn scored(&self) -> usize {
        self.folds.iter().flatten().count()
    }

    /// The mean of the scores, if every fold has one.
    pub fn mean(&self) -> Option<f64> {
        let scores = self.scores()?;
        Some(scores.iter().sum::<f64>() / scores.len() as f64)
    }

    /// The standard error of the mean: the deviation of the folds over the root of their number.
    pub fn standard_error(&self) -> Option<f64> {
        let (scores, mean) = (self.scores()?, self.mean()?);
        let count = scores.len() as f64;
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        Some((squares / (count - 1.0) / count).sqrt())
    }

    /// The folds, counted from 1, whose search ended without a proof.
    pub fn unproved(&self) -> Vec<usize> {
        let folds = self.folds.iter().zip(1..);
        let unproved = folds.filter(|(fold, _)| fold.is_some_and(|s| s.status.falls_short()));
        unproved.map(|(_, number)| number).collect()
    }
}

/// What came of all searches so far.
#[derive(Debug, Clone)]
pub struct Tally {
    /// By ridge, k running fastest.
    pub candidates: Vec<Candidate>,
    sizes: usize,
}

impl Tally {
    /// No scores yet.
    pub fn new(ks: &[usize], ridges: &[f64], folds: usize) -> Self {
        let of = |ridge: f64| {
            ks.iter().map(move |k| Candidate {
                k: *k,
                ridge,
                folds: vec![None; folds],
            })
        };
        Self {
            candidates: ridges.iter().flat_map(|ridge| of(*ridge)).collect(),
            sizes: ks.len(),
        }
    }

    /// Enters what came of the search of a ridge, a size and a fold, all by their numbers.
    pub fn enter(&mut self, ridge: usize, size: usize, fold: usize, scored: Scored) {
        self.candidates[ridge * self.sizes + size].folds[fold] = Some(scored);
    }

    /// Enters what a later search has proved of a model that has its score.
    pub fn prove(&mut self, ridge: usize, size: usize, fold: usize, status: Status) {
        if let Some(scored) = &mut self.candidates[ridge * self.sizes + size].folds[fold] {
            scored.status = status;
        }
    }

    /// How many searches have no score, and how many there are.
    pub fn missing(&self) -> (usize, usize) {
        let all = || self.candidates.iter().flat_map(|one| &one.folds);
        (all().filter(|fold| fold.is_none()).count(), all().count())
    }

    /// The smallest sizes, as far as all ridges have all of their folds.
    pub fn complete(&self) -> Vec<usize> {
        let is_complete = |k: &usize| {
            let mut own = self.candidates.iter().filter(|one| one.k == *k);
            own.all(Candidate::is_complete)
        };
        let sizes = self.candidates[..self.sizes].iter().map(|one| one.k);
        sizes.take_while(is_complete).collect()
    }

    /// Which searches ended without a proof, in words; `None` when all are proved.
    pub fn unproved(&self) -> Option<String> {
        let has_ridges = self.candidates.len() > self.sizes;
        let mut count = 0;
        let mut words = Vec::new();
        for candidate in &self.candidates {
            let folds = candidate.unproved();
            if folds.is_empty() {
                continue;
            }
            count += folds.len();
            let ridge = if has_ridges {
                format!(" with ridge {}", candidate.ridge)
            } else {
                String::new()
            };
            words.push(format!(
                "k = {}{ridge} in {}",
                candidate.k,
                in_folds(&folds)
            ));
        }
        if count == 0 {
            return None;
        }
        Some(format!(
            "{} ended without a proof, so the models that were scored may not be the best of their size: {}",
            counted(count, "search"),
            words.join("; ")
        ))
    }
}

/// `fold 2`, or `folds 1, 3`.
pub fn in_folds(folds: &[usize]) -> String {
    let numbers: Vec<String> = folds.iter().map(usize::to_string).collect();
    match numbers.len() {
        1 => format!("fold {}", numbers[0]),
        _ => format!("folds {}", numbers.join(", ")),
    }
}

/// `k = 3`, `k = 0 to 3` or `k = 1, 2, 5`.
pub fn in_sizes(ks: &[usize]) -> String {
    match ks {
        [first, _, .., last] if last - first + 1 == ks.len() => format!("k = {first} to {last}"),
        _ => {
            let words: Vec<String> = ks.iter().map(usize::to_string).collect();
            format!("k = {}", words.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(score: f64) -> Scored {
        Scored {
            score,
            status: Status::Optimal,
        }
    }

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        let scores = [1.0, 2.0, 3.0, 6.0];
        let one = Candidate {
            k: 1,
            ridge: 1.0,
            folds: scores.map(scored).map(Some).to_vec(),
        };
        assert_eq!(one.mean(), Some(3.0));
        let error = one.standard_error().unwrap();
        assert!((error - (14.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_size_is_complete_when_all_its_folds_and_ridges_are() {
        let mut tally = Tally::new(&[0, 2, 3], &[0.1, 1.0], 2);
        assert_eq!(tally.missing(), (12, 12));
        for (ridge, fold) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert!(tally.complete().is_empty());
            tally.enter(ridge, 0, fold, scored(1.0));
            tally.enter(ridge, 2, fold, scored(1.0));
        }
        // Without the size before it the last one does not count.
        assert_eq!(tally.complete(), [0]);
        tally.enter(1, 1, 1, scored(0.5));
        let candidate = &tally.candidates[4];
        assert_eq!((candidate.k, candidate.ridge), (2, 1.0));
        assert_eq!((candidate.scored(), candidate.mean()), (1, None));
        assert_eq!(tally.missing(), (3, 12));
    }

    #[test]
    fn unproved_searches_are_named() {
        let mut tally = Tally::new(&[1, 2], &[0.1], 3);
        assert_eq!(tally.unproved(), None);
        let stopped = Scored {
            score: 1.0,
            status: Status::NodeLimit,
        };
        tally.enter(0, 0, 1, stopped);
        let one = tally.unproved().unwrap();
        assert!(
            one.starts_with("1 search ended without a proof") && one.ends_with(": k = 1 in fold 2"),
            "{one}"
        );
        tally.enter(0, 1, 0, stopped);
        tally.enter(0, 1, 2, stopped);
        let all = tally.unproved().unwrap();
        assert!(
            all.ends_with(": k = 1 in fold 2; k = 2 in folds 1, 3"),
            "{all}"
        );
        assert_eq!(in_sizes(&[0, 1, 2]), "k = 0 to 2");
        assert_eq!(in_sizes(&[1, 2, 5]), "k = 1, 2, 5");
    }
}
