//! The best candidate, and the smallest that is not clearly worse.

use super::score::Score;

/// A number of features and a ridge, with the scores of its folds.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub k: usize,
    pub ridge: f64,
    pub scores: Vec<f64>,
    pub mean: f64,
    /// The standard error of the mean: the deviation of the folds over the root of their number.
    pub standard_error: f64,
}

impl Candidate {
    pub fn new(k: usize, ridge: f64, scores: Vec<f64>) -> Self {
        let count = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / count;
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        Self {
            k,
            ridge,
            mean,
            standard_error: (squares / (count - 1.0) / count).sqrt(),
            scores,
        }
    }
}

/// Places in the list of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    pub best: usize,
    pub chosen: usize,
}

/// The best mean; and, by the rule of one standard error, the smallest k whose mean is not worse than that by more than
/// its standard error, of these the best ridge.
pub fn choose(candidates: &[Candidate], score: Score, one_standard_error: bool) -> Choice {
    let gain = |at: usize| match score.is_gain() {
        true => candidates[at].mean,
        false => -candidates[at].mean,
    };
    // The first of equals, which is the smaller k.
    let by_gain = |best: usize, at: usize| if gain(at) > gain(best) { at } else { best };
    let best = (0..candidates.len()).fold(0, by_gain);
    if !one_standard_error {
        return Choice { best, chosen: best };
    }
    let enough = gain(best) - candidates[best].standard_error;
    let near = (0..candidates.len()).filter(|at| gain(*at) >= enough);
    let chosen = near.fold(best, |chosen, at| {
        let (k, smallest) = (candidates[at].k, candidates[chosen].k);
        match k < smallest || (k == smallest && gain(at) > gain(chosen)) {
            true => at,
            false => chosen,
        }
    });
    Choice { best, chosen }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(means: &[(usize, f64)]) -> Vec<Candidate> {
        let spread = |mean: f64| vec![mean - 0.1, mean + 0.1];
        let candidate = |(k, mean): &(usize, f64)| Candidate::new(*k, 1.0, spread(*mean));
        means.iter().map(candidate).collect()
    }

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        let one = Candidate::new(1, 1.0, vec![1.0, 2.0, 3.0, 6.0]);
        assert_eq!(one.mean, 3.0);
        assert!((one.standard_error - (14.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn the_smallest_within_one_standard_error() {
        // The standard error of each is 0.1.
        let all = candidates(&[(0, 0.2), (1, 0.75), (2, 0.85), (3, 0.9), (4, 0.89)]);
        let choice = choose(&all, Score::R2, true);
        assert_eq!((choice.best, choice.chosen), (3, 2));
        assert_eq!(choose(&all, Score::R2, false).chosen, 3);
        let losses: Vec<(usize, f64)> = all.iter().map(|c| (c.k, 1.0 - c.mean)).collect();
        let choice = choose(&candidates(&losses), Score::Mse, true);
        assert_eq!((choice.best, choice.chosen), (3, 2));
    }

    #[test]
    fn of_one_size_the_best_ridge() {
        let all = candidates(&[(1, 0.85), (2, 0.9), (1, 0.86), (2, 0.8)]);
        assert_eq!(choose(&all, Score::R2, true).chosen, 2);
    }
}
