//! The best candidate, and the smallest that is not clearly worse.

use super::tally::Tally;

/// Places in the list of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// That with the best mean.
    pub best: usize,
    /// That which the rule chooses.
    pub chosen: usize,
}

/// Why nothing is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// No size is complete.
    NoSize,
    /// The choice would be the largest complete size, and what comes after it is not known.
    Rising,
}

/// Chooses among the sizes that are complete, `is_gain` says whether more is better: the best mean, and by the rule of one standard error the smallest k whose mean is
/// not worse than that by more than its standard error, of these the best ridge.
///
/// Where larger sizes are missing, the choice stands only if a larger size is complete: else the score was still rising.
pub fn choose(tally: &Tally, is_gain: bool, one_standard_error: bool) -> Result<Choice, Undecided> {
    let sizes = tally.complete();
    let Some(largest) = sizes.last().copied() else {
        return Err(Undecided::NoSize);
    };
    let candidates = &tally.candidates;
    let places = || (0..candidates.len()).filter(|at| sizes.contains(&candidates[*at].k));
    let gain = |at: usize| {
        let mean = candidates[at].mean().unwrap_or(f64::NAN);
        if is_gain { mean } else { -mean }
    };
    // The first of equals, which is the smaller k.
    let by_gain = |best: usize, at: usize| if gain(at) > gain(best) { at } else { best };
    let best = places().reduce(by_gain).ok_or(Undecided::NoSize)?;
    let mut chosen = best;
    if one_standard_error {
        let error = candidates[best].standard_error().unwrap_or(0.0);
        let enough = gain(best) - error;
        for at in places().filter(|at| gain(*at) >= enough) {
            let (k, smallest) = (candidates[at].k, candidates[chosen].k);
            if k < smallest || (k == smallest && gain(at) > gain(chosen)) {
                chosen = at;
            }
        }
    }
    let is_larger = candidates.iter().any(|one| one.k > largest);
    if is_larger && candidates[chosen].k == largest {
        return Err(Undecided::Rising);
    }
    Ok(Choice { best, chosen })
}

#[cfg(test)]
mod tests {
    use l0star::Status;

    use super::*;
    use crate::cv::tally::Scored;

    /// Sizes with these means; the standard error of each is 0.1.
    fn tally(ridges: &[f64], means: &[&[f64]]) -> Tally {
        let ks: Vec<usize> = (0..means[0].len()).collect();
        let mut tally = Tally::new(&ks, ridges, 2);
        for (ridge, means) in means.iter().enumerate() {
            for (size, mean) in means.iter().enumerate().filter(|(_, mean)| !mean.is_nan()) {
                for (fold, score) in [mean - 0.1, mean + 0.1].into_iter().enumerate() {
                    let status = Status::Optimal;
                    tally.enter(ridge, size, fold, Scored { score, status });
                }
            }
        }
        tally
    }

    #[test]
    fn the_smallest_within_one_standard_error() {
        let means = [0.2, 0.75, 0.85, 0.9, 0.89];
        let all = tally(&[1.0], &[&means]);
        let choice = choose(&all, true, true).unwrap();
        assert_eq!((choice.best, choice.chosen), (3, 2));
        assert_eq!(choose(&all, true, false).unwrap().chosen, 3);
        let losses = tally(&[1.0], &[&means.map(|mean| 1.0 - mean)]);
        let choice = choose(&losses, false, true).unwrap();
        assert_eq!((choice.best, choice.chosen), (3, 2));
    }

    #[test]
    fn of_one_size_the_best_ridge() {
        let all = tally(&[0.1, 1.0], &[&[0.1, 0.85, 0.9], &[0.1, 0.86, 0.8]]);
        assert_eq!(choose(&all, true, true).unwrap().chosen, 4);
    }

    #[test]
    fn of_what_is_there_only_what_has_stopped_rising() {
        let missing = f64::NAN;
        let choose = |means: &[f64], rule: bool| choose(&tally(&[1.0], &[means]), true, rule);
        assert_eq!(choose(&[missing; 3], true), Err(Undecided::NoSize));
        assert_eq!(choose(&[0.1, missing, 0.9], true), Err(Undecided::Rising));
        let rising = [0.1, 0.5, 0.9, missing];
        assert_eq!(choose(&rising, true), Err(Undecided::Rising));
        // Within one standard error it has: the larger sizes that are there are no better by more.
        let flat = [0.1, 0.85, 0.9, missing];
        assert_eq!(choose(&flat, true), Ok(Choice { best: 2, chosen: 1 }));
        assert_eq!(choose(&flat, false), Err(Undecided::Rising));
        let past = [0.1, 0.9, 0.85, missing];
        assert_eq!(choose(&past, false), Ok(Choice { best: 1, chosen: 1 }));
    }
}
