//! The scores so far: which steps are complete, which searches are not proved, and messages about both.

use l0star::Status;
use l0star_data::counted;

/// Weights of the penalty terms in the objective.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Penalty {
    /// Weight of the ridge.
    pub ridge: f64,
    /// Price of a feature.
    pub l0: f64,
}

impl Penalty {
    /// Combines every ridge with every price. The highest price comes first: its models
    /// have the fewest features.
    pub fn grid(ridges: &[f64], prices: &[f64]) -> Vec<Self> {
        let mut prices = prices.to_vec();
        prices.sort_by(|a, b| b.total_cmp(a));
        prices.dedup();
        let with = |l0: f64| ridges.iter().map(move |ridge| Self { ridge: *ridge, l0 });
        prices.into_iter().flat_map(with).collect()
    }
}

/// A search that was stopped while its proof was out of reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hopeless {
    /// Seconds that the proof would take at the pace of the bound.
    pub seconds: f64,
    /// A ridge with which the proof would be far easier.
    pub ridge: f64,
}

/// The outcome of one search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Score on the rows of the fold.
    pub score: f64,
    /// Status of the search.
    pub status: Status,
    /// Number of features in the model.
    pub features: usize,
    /// Set if the search was stopped and was unlikely to finish.
    pub hopeless: Option<Hopeless>,
}

/// A number of features, a ridge and a price, with the outcomes of its folds so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Upper limit on the number of features.
    pub k: usize,
    /// Weight of the ridge.
    pub ridge: f64,
    /// Price of a feature.
    pub l0_penalty: f64,
    /// Outcome of each fold; `None` if its search has not ended.
    pub folds: Vec<Option<Scored>>,
}

impl Candidate {
    /// Returns the scores, if every fold has one.
    fn scores(&self) -> Option<Vec<f64>> {
        let scores = self.folds.iter().map(|fold| Some((*fold)?.score));
        scores.collect()
    }

    /// Whether every fold has a score.
    pub fn is_complete(&self) -> bool {
        self.folds.iter().all(Option::is_some)
    }

    /// Number of folds that have a score.
    pub fn scored(&self) -> usize {
        self.folds.iter().flatten().count()
    }

    /// Returns the mean score, if every fold has one.
    pub fn mean(&self) -> Option<f64> {
        let scores = self.scores()?;
        Some(scores.iter().sum::<f64>() / scores.len() as f64)
    }

    /// Returns the mean number of features, if every fold has a model.
    pub fn mean_features(&self) -> Option<f64> {
        let features = self.folds.iter().map(|fold| Some((*fold)?.features as f64));
        let total: Option<f64> = features.sum();
        Some(total? / self.folds.len() as f64)
    }

    /// Returns the standard error of the mean: the standard deviation over folds, divided by
    /// the root of their number.
    pub fn standard_error(&self) -> Option<f64> {
        let (scores, mean) = (self.scores()?, self.mean()?);
        let count = scores.len() as f64;
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        Some((squares / (count - 1.0) / count).sqrt())
    }

    /// Returns the folds, counted from 1, whose search ended without a proof.
    pub fn unproved(&self) -> Vec<usize> {
        self.folds_where(|scored| scored.status.falls_short())
    }

    /// Returns the folds, counted from 1, whose search was stopped and was unlikely to finish.
    pub fn hopeless(&self) -> Vec<usize> {
        self.folds_where(|scored| scored.hopeless.is_some())
    }

    fn folds_where(&self, is: impl Fn(Scored) -> bool) -> Vec<usize> {
        let folds = self.folds.iter().zip(1..);
        let found = folds.filter(|(fold, _)| fold.is_some_and(&is));
        found.map(|(_, number)| number).collect()
    }
}

/// The quantity that makes models larger from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// The number of features that are allowed.
    Sizes,
    /// The price of a feature, which falls; there is only one size.
    Prices,
}

/// The outcomes of all searches so far.
#[derive(Debug, Clone)]
pub struct Tally {
    /// All candidates by penalty; k varies fastest.
    pub candidates: Vec<Candidate>,
    sizes: usize,
    /// The step in which each candidate is searched: the index of its size, or of its price.
    steps: Vec<usize>,
}

impl Tally {
    /// Creates a tally without scores; sizes ascend, and prices descend (see [`Penalty::grid`]).
    pub fn new(ks: &[usize], penalties: &[Penalty], folds: usize) -> Self {
        let of = |penalty: &Penalty| {
            let Penalty { ridge, l0 } = *penalty;
            ks.iter().map(move |k| Candidate {
                k: *k,
                ridge,
                l0_penalty: l0,
                folds: vec![None; folds],
            })
        };
        let mut tally = Self {
            candidates: penalties.iter().flat_map(of).collect(),
            sizes: ks.len(),
            steps: Vec::new(),
        };
        let mut step = 0;
        let mut last = penalties.first().map(|first| first.l0);
        for (at, candidate) in tally.candidates.iter().enumerate() {
            if ks.len() > 1 {
                step = at % ks.len();
            } else if last != Some(candidate.l0_penalty) {
                last = Some(candidate.l0_penalty);
                step += 1;
            }
            tally.steps.push(step);
        }
        tally
    }

    /// Enters the outcome of the search of a penalty, a size and a fold, all by number.
    pub fn enter(&mut self, penalty: usize, size: usize, fold: usize, scored: Scored) {
        self.candidates[penalty * self.sizes + size].folds[fold] = Some(scored);
    }

    /// Updates the status of a scored model after a later search has proved it.
    pub fn prove(&mut self, penalty: usize, size: usize, fold: usize, status: Status) {
        if let Some(scored) = &mut self.candidates[penalty * self.sizes + size].folds[fold] {
            (scored.status, scored.hopeless) = (status, None);
        }
    }

    /// Returns the weights of a penalty, by its number.
    pub fn penalty(&self, number: usize) -> Penalty {
        let Candidate {
            ridge, l0_penalty, ..
        } = self.candidates[number * self.sizes];
        Penalty {
            ridge,
            l0: l0_penalty,
        }
    }

    /// Returns the number of searches without a score, and the number of all searches.
    pub fn missing(&self) -> (usize, usize) {
        let all = || self.candidates.iter().flat_map(|one| &one.folds);
        (all().filter(|fold| fold.is_none()).count(), all().count())
    }

    /// Returns the quantity along which models become larger.
    pub fn axis(&self) -> Axis {
        if self.sizes == 1 && self.differ(|one| one.l0_penalty) {
            Axis::Prices
        } else {
            Axis::Sizes
        }
    }

    /// Whether there are several ridges.
    pub fn has_ridges(&self) -> bool {
        self.differ(|one| one.ridge)
    }

    /// Whether there are several prices.
    pub fn has_prices(&self) -> bool {
        self.differ(|one| one.l0_penalty)
    }

    fn differ(&self, of: impl Fn(&Candidate) -> f64) -> bool {
        let mut pairs = self.candidates.windows(2);
        pairs.any(|pair| of(&pair[0]) != of(&pair[1]))
    }

    /// Returns the number of the step in which a candidate is searched.
    pub fn step(&self, candidate: usize) -> usize {
        self.steps[candidate]
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps.iter().max().map_or(0, |last| last + 1)
    }

    /// Number of leading steps (the smallest sizes or the highest prices) whose searches have all ended.
    pub fn complete(&self) -> usize {
        let is_missing = |at: &usize| !self.candidates[*at].is_complete();
        let missing = (0..self.candidates.len()).filter(is_missing);
        let first = missing.map(|at| self.steps[at]).min();
        first.unwrap_or_else(|| self.steps())
    }

    /// Describes the complete steps, as `k = 0 to 3` or `prices 80, 20`; `None` if there are none.
    pub fn complete_in_words(&self) -> Option<String> {
        let complete = self.complete();
        if complete == 0 {
            return None;
        }
        Some(match self.axis() {
            Axis::Sizes => {
                let sizes = self.candidates[..complete].iter().map(|one| one.k);
                in_sizes(&sizes.collect::<Vec<_>>())
            }
            Axis::Prices => {
                let all = self.candidates.iter().zip(&self.steps);
                let own = all.filter(|(_, step)| **step < complete);
                let mut prices: Vec<String> =
                    own.map(|(one, _)| one.l0_penalty.to_string()).collect();
                prices.dedup();
                let word = if prices.len() == 1 { "price" } else { "prices" };
                format!("{word} {}", prices.join(", "))
            }
        })
    }

    /// Names a candidate by what distinguishes it: `k = 3`, `k = 3 with ridge 0.1`, `price 20`.
    pub fn name(&self, candidate: &Candidate) -> String {
        let mut words = Vec::new();
        if self.axis() == Axis::Sizes {
            words.push(format!("k = {}", candidate.k));
        }
        if self.has_prices() {
            words.push(format!("price {}", candidate.l0_penalty));
        }
        if self.has_ridges() {
            words.push(format!("ridge {}", candidate.ridge));
        }
        let first = words.remove(0);
        match &words[..] {
            [] => first,
            others => format!("{first} with {}", others.join(" and ")),
        }
    }

    /// Describes the searches that ended without a proof; `None` if all are proved.
    pub fn unproved(&self) -> Option<String> {
        let (count, words) = self.named(Candidate::unproved)?;
        let best = match self.axis() {
            Axis::Sizes => "of their size",
            Axis::Prices => "at their price",
        };
        Some(format!(
            "{} ended without a proof, so the models that were scored may not be the best {best}: {words}",
            counted(count, "search"),
        ))
    }

    /// Returns the number of searches that were stopped and unlikely to finish, their
    /// description, and the easiest of them.
    pub fn hopeless(&self) -> Option<(usize, String, Hopeless)> {
        let (count, words) = self.named(Candidate::hopeless)?;
        let folds = self.candidates.iter().flat_map(|one| &one.folds);
        let all = folds.flatten().filter_map(|scored| scored.hopeless);
        let easier = |one: Hopeless, other: Hopeless| Hopeless {
            seconds: one.seconds.min(other.seconds),
            ridge: one.ridge.max(other.ridge),
        };
        Some((count, words, all.reduce(easier)?))
    }

    /// Returns the number of searches that `of` selects, and their description.
    fn named(&self, of: impl Fn(&Candidate) -> Vec<usize>) -> Option<(usize, String)> {
        let mut count = 0;
        let mut words = Vec::new();
        for candidate in &self.candidates {
            let folds = of(candidate);
            if !folds.is_empty() {
                count += folds.len();
                words.push(format!("{} in {}", self.name(candidate), in_folds(&folds)));
            }
        }
        (count > 0).then(|| (count, words.join("; ")))
    }
}

/// Formats fold numbers: `fold 2`, or `folds 1, 3`.
pub fn in_folds(folds: &[usize]) -> String {
    let numbers: Vec<String> = folds.iter().map(usize::to_string).collect();
    match numbers.len() {
        1 => format!("fold {}", numbers[0]),
        _ => format!("folds {}", numbers.join(", ")),
    }
}

/// Formats sizes: `k = 3`, `k = 0 to 3` or `k = 1, 2, 5`.
fn in_sizes(ks: &[usize]) -> String {
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
            features: 2,
            hopeless: None,
        }
    }

    fn ridges(ridges: &[f64]) -> Vec<Penalty> {
        Penalty::grid(ridges, &[0.0])
    }

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        let scores = [1.0, 2.0, 3.0, 6.0];
        let one = Candidate {
            k: 1,
            ridge: 1.0,
            l0_penalty: 0.0,
            folds: scores.map(scored).map(Some).to_vec(),
        };
        assert_eq!(one.mean(), Some(3.0));
        let error = one.standard_error().unwrap();
        assert!((error - (14.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_size_is_complete_when_all_its_folds_and_ridges_are() {
        let mut tally = Tally::new(&[0, 2, 3], &ridges(&[0.1, 1.0]), 2);
        assert_eq!(tally.missing(), (12, 12));
        for (ridge, fold) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert_eq!(tally.complete(), 0);
            tally.enter(ridge, 0, fold, scored(1.0));
            tally.enter(ridge, 2, fold, scored(1.0));
        }
        // The last size does not count while the one before it is missing.
        assert_eq!(tally.complete(), 1);
        assert_eq!(tally.complete_in_words().as_deref(), Some("k = 0"));
        tally.enter(1, 1, 1, scored(0.5));
        let candidate = &tally.candidates[4];
        assert_eq!((candidate.k, candidate.ridge), (2, 1.0));
        assert_eq!((candidate.scored(), candidate.mean()), (1, None));
        assert_eq!(tally.missing(), (3, 12));
    }

    #[test]
    fn unproved_searches_are_named() {
        let mut tally = Tally::new(&[1, 2], &ridges(&[0.1]), 3);
        assert_eq!(tally.unproved(), None);
        let stopped = Scored {
            status: Status::NodeLimit,
            ..scored(1.0)
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

    #[test]
    fn prices_are_steps_from_the_highest_where_there_is_one_size() {
        let penalties = Penalty::grid(&[0.1, 1.0], &[5.0, 80.0, 20.0, 5.0]);
        assert_eq!(penalties.len(), 6);
        let mut tally = Tally::new(&[9], &penalties, 2);
        assert_eq!((tally.axis(), tally.steps()), (Axis::Prices, 3));
        assert_eq!(tally.complete_in_words(), None);
        for penalty in 0..4 {
            tally.enter(penalty, 0, 0, scored(1.0));
            tally.enter(penalty, 0, 1, scored(2.0));
        }
        tally.enter(5, 0, 0, scored(1.0));
        assert_eq!(tally.complete(), 2);
        assert_eq!(tally.complete_in_words().as_deref(), Some("prices 80, 20"));
        assert_eq!(tally.name(&tally.candidates[3]), "price 20 with ridge 1");
        assert_eq!(tally.candidates[3].mean_features(), Some(2.0));
        assert_eq!(tally.candidates[5].mean_features(), None);
        // With several sizes, a step is a size at all prices.
        let both = Tally::new(&[1, 2], &penalties, 2);
        assert_eq!((both.axis(), both.steps()), (Axis::Sizes, 2));
        let words = "k = 2 with price 80 and ridge 0.1";
        assert_eq!(both.name(&both.candidates[1]), words);
    }

    #[test]
    fn searches_without_hope_are_named_until_they_are_proved() {
        let mut tally = Tally::new(&[1, 2], &ridges(&[0.1]), 2);
        assert_eq!(tally.hopeless(), None);
        let stopped = |seconds: f64, ridge: f64| Scored {
            status: Status::TimeLimit,
            hopeless: Some(Hopeless { seconds, ridge }),
            ..scored(1.0)
        };
        tally.enter(0, 1, 0, stopped(1e6, 2.0));
        tally.enter(0, 1, 1, stopped(1e5, 1.0));
        let (count, words, easiest) = tally.hopeless().unwrap();
        assert_eq!((count, words.as_str()), (2, "k = 2 in folds 1, 2"));
        assert_eq!((easiest.seconds, easiest.ridge), (1e5, 2.0));
        tally.prove(0, 1, 0, Status::Optimal);
        assert_eq!(tally.candidates[1].hopeless(), [2]);
    }
}
