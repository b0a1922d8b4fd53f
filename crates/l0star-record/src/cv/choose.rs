//! The choice of a candidate: the best one, or by rule a simpler one that is not clearly worse.

use std::fmt;
use std::str::FromStr;

use super::tally::{Axis, Candidate, Tally};

/// Share of the best mean within which another mean counts as equally good, with [`Rule::Proof`].
const AS_GOOD: f64 = 0.01;

/// The rule by which a candidate is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The candidate with the best mean score.
    Best,
    /// The smallest k whose mean score is within one standard error of the best, and among these the largest
    /// price. Among several ridges, the best.
    OneSe,
    /// The largest ridge with a mean score within 1 % of the best, then the smallest such k, then the largest
    /// price. Proofs are far easier with a larger ridge and fewer features.
    Proof,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 3] = [Self::Best, Self::OneSe, Self::Proof];

    /// Returns the name of the rule as users write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::OneSe => "one-se",
            Self::Proof => "proof",
        }
    }

    /// Returns a short description of the chosen candidate.
    pub fn reason(self, axis: Axis) -> &'static str {
        match (self, axis) {
            (Self::Best, _) => "the best",
            (Self::OneSe, Axis::Sizes) => "the smallest k within one standard error of the best",
            (Self::OneSe, Axis::Prices) => {
                "the largest price within one standard error of the best"
            }
            (Self::Proof, Axis::Sizes) => {
                "the largest ridge, then the smallest k, within 1 % of the best"
            }
            (Self::Proof, Axis::Prices) => {
                "the largest ridge, then the largest price, within 1 % of the best"
            }
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|rule| rule.word() == word);
        found.ok_or_else(|| format!("'{word}' is not a rule: use best, one-se or proof"))
    }
}

/// A choice, as positions in the list of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The candidate with the best mean.
    pub best: usize,
    /// The candidate that the rule chooses.
    pub chosen: usize,
}

/// The reason why no candidate is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// No size (or no price) is complete.
    NoSize,
    /// The choice would be the largest complete size (or the lowest complete price), and the
    /// candidates after it are unknown.
    Rising,
}

/// Whether a candidate is expected to have fewer features than another.
fn is_sparser(own: &Candidate, other: &Candidate) -> bool {
    own.k < other.k || (own.k == other.k && own.l0_penalty > other.l0_penalty)
}

/// Chooses among the complete sizes (or prices); `is_gain` says whether a higher score is better.
///
/// If larger sizes (lower prices) are missing, the choice stands only if a larger size is complete; otherwise
/// the score may still be rising.
pub fn choose(tally: &Tally, is_gain: bool, rule: Rule) -> Result<Choice, Undecided> {
    let complete = tally.complete();
    let candidates = &tally.candidates;
    let places = || (0..candidates.len()).filter(|at| tally.step(*at) < complete);
    let gain = |at: usize| {
        let mean = candidates[at].mean().unwrap_or(f64::NAN);
        if is_gain { mean } else { -mean }
    };
    // The first of equals, which has the larger price or the smaller k.
    let by_gain = |best: usize, at: usize| if gain(at) > gain(best) { at } else { best };
    let best = places().reduce(by_gain).ok_or(Undecided::NoSize)?;
    let slack = match rule {
        Rule::Best => 0.0,
        Rule::OneSe => candidates[best].standard_error().unwrap_or(0.0),
        Rule::Proof => AS_GOOD * gain(best).abs(),
    };
    let enough = gain(best) - slack;
    let mut chosen = best;
    for at in places().filter(|at| gain(*at) >= enough) {
        let (own, other) = (&candidates[at], &candidates[chosen]);
        let is_better = gain(at) > gain(chosen);
        let takes_over = match rule {
            Rule::Best => false,
            Rule::OneSe => is_sparser(own, other) || (!is_sparser(other, own) && is_better),
            Rule::Proof => {
                own.ridge > other.ridge || (own.ridge == other.ridge && is_sparser(own, other))
            }
        };
        if takes_over {
            chosen = at;
        }
    }
    if complete < tally.steps() && tally.step(chosen) + 1 == complete {
        return Err(Undecided::Rising);
    }
    Ok(Choice { best, chosen })
}

#[cfg(test)]
mod tests {
    use l0star::Status;

    use super::*;
    use crate::cv::tally::{Penalty, Scored};

    /// Creates a tally of sizes with these means; the standard error of each is 0.1.
    fn tally(ridges: &[f64], means: &[&[f64]]) -> Tally {
        let ks: Vec<usize> = (0..means[0].len()).collect();
        entered(Tally::new(&ks, &Penalty::grid(ridges, &[0.0]), 2), means)
    }

    /// Enters the means of each penalty, by size.
    fn entered(mut tally: Tally, means: &[&[f64]]) -> Tally {
        for (ridge, means) in means.iter().enumerate() {
            for (size, mean) in means.iter().enumerate().filter(|(_, mean)| !mean.is_nan()) {
                for (fold, score) in [mean - 0.1, mean + 0.1].into_iter().enumerate() {
                    let scored = Scored {
                        score,
                        status: Status::Optimal,
                        features: 1,
                        hopeless: None,
                    };
                    tally.enter(ridge, size, fold, scored);
                }
            }
        }
        tally
    }

    #[test]
    fn the_smallest_within_one_standard_error() {
        let means = [0.2, 0.75, 0.85, 0.9, 0.89];
        let all = tally(&[1.0], &[&means]);
        let choice = choose(&all, true, Rule::OneSe).unwrap();
        assert_eq!((choice.best, choice.chosen), (3, 2));
        assert_eq!(choose(&all, true, Rule::Best).unwrap().chosen, 3);
        let losses = tally(&[1.0], &[&means.map(|mean| 1.0 - mean)]);
        let choice = choose(&losses, false, Rule::OneSe).unwrap();
        assert_eq!((choice.best, choice.chosen), (3, 2));
    }

    #[test]
    fn of_one_size_the_best_ridge() {
        let all = tally(&[0.1, 1.0], &[&[0.1, 0.85, 0.9], &[0.1, 0.86, 0.8]]);
        assert_eq!(choose(&all, true, Rule::OneSe).unwrap().chosen, 4);
    }

    #[test]
    fn for_a_proof_the_largest_ridge_that_is_as_good_and_its_smallest_size() {
        let small = [0.1, 0.85, 0.9, 0.901];
        let large = [0.1, 0.895, 0.894, 0.8];
        let all = tally(&[0.1, 1.0, 10.0], &[&small, &large, &[0.1, 0.8, 0.8, 0.8]]);
        let choice = choose(&all, true, Rule::Proof).unwrap();
        assert_eq!((choice.best, choice.chosen), (3, 5));
        // The order of the ridges does not matter, and a loss within 1 % of the best counts as equally good.
        let losses = tally(&[1.0, 0.1], &[&[2.0, 1.009, 1.02], &[2.0, 1.01, 1.0]]);
        let choice = choose(&losses, false, Rule::Proof).unwrap();
        assert_eq!((choice.best, choice.chosen), (5, 1));
    }

    /// Creates a tally with one size, and means from the highest price to the lowest.
    fn priced(ridges: &[f64], means: &[f64]) -> Tally {
        let prices: Vec<f64> = (0..means.len() / ridges.len()).map(|i| i as f64).collect();
        let means: Vec<[f64; 1]> = means.iter().map(|mean| [*mean]).collect();
        let means: Vec<&[f64]> = means.iter().map(<[f64; 1]>::as_slice).collect();
        let tally = Tally::new(&[9], &Penalty::grid(ridges, &prices), 2);
        entered(tally, &means)
    }

    #[test]
    fn of_prices_the_largest_within_one_standard_error() {
        let all = priced(&[1.0], &[0.2, 0.75, 0.85, 0.9, 0.89]);
        let choice = choose(&all, true, Rule::OneSe).unwrap();
        assert_eq!((choice.best, choice.chosen), (3, 2));
        assert_eq!(all.candidates[2].l0_penalty, 2.0);
        assert_eq!(choose(&all, true, Rule::Best).unwrap().chosen, 3);
        assert_eq!(choose(&all, true, Rule::Proof).unwrap().chosen, 3);
        // With one price, the best ridge; for a proof, the largest ridge first.
        let ridges = [0.1, 1.0];
        let both = priced(&ridges, &[0.2, 0.3, 0.84, 0.85, 0.9, 0.895]);
        assert_eq!(choose(&both, true, Rule::OneSe).unwrap().chosen, 3);
        assert_eq!(choose(&both, true, Rule::Proof).unwrap().chosen, 5);
        // The lower prices are missing.
        let missing = f64::NAN;
        let rising = priced(&[1.0], &[0.2, 0.5, 0.9, missing]);
        assert_eq!(choose(&rising, true, Rule::OneSe), Err(Undecided::Rising));
        let past = priced(&[1.0], &[0.2, 0.9, 0.85, missing]);
        assert_eq!(choose(&past, true, Rule::Best).unwrap().chosen, 1);
        let none = priced(&[1.0], &[missing, 0.9]);
        assert_eq!(choose(&none, true, Rule::Best), Err(Undecided::NoSize));
    }

    #[test]
    fn with_sizes_and_prices_the_smallest_size_comes_first() {
        let penalties = Penalty::grid(&[1.0], &[5.0, 10.0]);
        let tally = Tally::new(&[1, 2], &penalties, 2);
        let all = entered(tally, &[&[0.86, 0.85], &[0.87, 0.9]]);
        let choice = choose(&all, true, Rule::OneSe).unwrap();
        assert_eq!((choice.best, choice.chosen), (3, 0));
    }

    #[test]
    fn rules_are_read_as_they_are_written() {
        for rule in Rule::ALL {
            assert_eq!(rule.word().parse(), Ok(rule));
        }
        assert!("1se".parse::<Rule>().unwrap_err().contains("one-se"));
    }

    #[test]
    fn of_what_is_there_only_what_has_stopped_rising() {
        let missing = f64::NAN;
        let choose = |means: &[f64], rule: Rule| choose(&tally(&[1.0], &[means]), true, rule);
        assert_eq!(choose(&[missing; 3], Rule::OneSe), Err(Undecided::NoSize));
        assert_eq!(
            choose(&[0.1, missing, 0.9], Rule::OneSe),
            Err(Undecided::Rising)
        );
        let rising = [0.1, 0.5, 0.9, missing];
        assert_eq!(choose(&rising, Rule::OneSe), Err(Undecided::Rising));
        // Within one standard error, the score has stopped rising: the larger complete
        // sizes are no better than that.
        let flat = [0.1, 0.85, 0.9, missing];
        assert_eq!(
            choose(&flat, Rule::OneSe),
            Ok(Choice { best: 2, chosen: 1 })
        );
        assert_eq!(choose(&flat, Rule::Best), Err(Undecided::Rising));
        let past = [0.1, 0.9, 0.85, missing];
        assert_eq!(choose(&past, Rule::Best), Ok(Choice { best: 1, chosen: 1 }));
    }
}
