//! Scores of predictions for held-out rows.

use std::fmt;
use std::str::FromStr;

use l0star::loss::{Loss, ResponseKind};
use l0star::problem::Moments;

use crate::{several, survival};

/// The score of a fold, weighted by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// Coefficient of determination: 1 is perfect, 0 as good as the mean of the fold
    R2,
    /// Mean squared error
    Mse,
    /// Mean absolute error
    Mae,
    /// Share of labels that are predicted correctly
    Accuracy,
    /// Mean negative logarithm of the probability of the true label
    LogLoss,
    /// Mean deviance: twice the mean loss
    Deviance,
    /// Share of comparable pairs of times whose order is predicted correctly
    Concordance,
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Score {
    type Err = String;

    fn from_str(word: &str) -> Result<Score, String> {
        let found = Score::ALL.into_iter().find(|score| score.word() == word);
        found.ok_or_else(|| format!("there is no score '{word}'"))
    }
}

impl Score {
    /// All scores.
    pub const ALL: [Score; 7] = [
        Score::R2,
        Score::Mse,
        Score::Mae,
        Score::Accuracy,
        Score::LogLoss,
        Score::Deviance,
        Score::Concordance,
    ];

    /// Returns the word for the score.
    pub fn word(self) -> &'static str {
        match self {
            Score::R2 => "r2",
            Score::Mse => "mse",
            Score::Mae => "mae",
            Score::Accuracy => "accuracy",
            Score::LogLoss => "log-loss",
            Score::Deviance => "deviance",
            Score::Concordance => "concordance",
        }
    }

    /// Returns a description for a list of options.
    pub fn description(self) -> &'static str {
        match self {
            Score::R2 => {
                "Coefficient of determination: 1 is perfect, 0 as good as the mean of the fold"
            }
            Score::Mse => "Mean squared error",
            Score::Mae => "Mean absolute error",
            Score::Accuracy => "Share of labels that are right",
            Score::LogLoss => "Mean negative logarithm of the probability of the right label",
            Score::Deviance => {
                "Mean deviance of counts or positive amounts; of times the partial deviance of the fold"
            }
            Score::Concordance => "Share of comparable pairs of times that are predicted in order",
        }
    }

    /// Whether the score is for labels.
    pub fn is_of_labels(self) -> bool {
        matches!(self, Score::Accuracy | Score::LogLoss)
    }

    /// Whether the score applies to a loss.
    pub fn suits(self, loss: &dyn Loss) -> bool {
        match self {
            Score::Accuracy => !loss.response().is_numeric(),
            Score::LogLoss => loss.has_log_odds() || loss.classes().is_some(),
            Score::Deviance => loss.has_log_link() || loss.has_hazards(),
            Score::Concordance => loss.has_hazards(),
            Score::R2 | Score::Mse | Score::Mae => {
                loss.response().is_numeric() && loss.response() != ResponseKind::Time
            }
        }
    }

    /// Returns the default score for a loss.
    pub fn usual(loss: &dyn Loss) -> Self {
        if loss.has_log_link() || loss.has_hazards() {
            Score::Deviance
        } else if loss.response().is_numeric() {
            Score::R2
        } else {
            Score::Accuracy
        }
    }

    /// Whether a higher score is better.
    pub fn is_gain(self) -> bool {
        matches!(self, Score::R2 | Score::Accuracy | Score::Concordance)
    }

    /// Scores linear predictors `z` for responses `b` (±1 for labels), by weight. With a log link, their
    /// exponentials are compared with the responses.
    pub fn of(self, loss: &dyn Loss, z: &[f64], b: &[f64], weights: &[f64]) -> f64 {
        if loss.has_hazards() {
            return self.of_hazards(loss, z, b, weights);
        }
        let total: f64 = weights.iter().sum();
        let expected: Vec<f64>;
        let z = match self {
            Score::R2 | Score::Mse | Score::Mae if loss.has_log_link() => {
                expected = z.iter().map(|z| libm::exp(*z)).collect();
                &expected
            }
            _ => z,
        };
        let mean = |of: &dyn Fn(f64, f64) -> f64| {
            let rows = z.iter().zip(b).zip(weights);
            let rows = rows.filter(|(_, w)| **w > 0.0);
            rows.map(|((z, b), w)| w * of(*z, *b)).sum::<f64>() / total
        };
        match self {
            Score::Mse => mean(&|z, b| (z - b) * (z - b)),
            Score::Mae => mean(&|z, b| (z - b).abs()),
            Score::R2 => {
                let centre = mean(&|_, b| b);
                let spread = mean(&|_, b| (b - centre) * (b - centre));
                let missed = mean(&|z, b| (z - b) * (z - b));
                // Follows scikit-learn for a fold with a constant target.
                if spread > 0.0 {
                    1.0 - missed / spread
                } else {
                    f64::from(missed <= 0.0)
                }
            }
            Score::Accuracy => mean(&|z, b| f64::from((z > 0.0) == (b > 0.0))),
            Score::LogLoss => mean(&|z, b| log_one_exp(-b * z)),
            Score::Deviance => mean(&|z, b| 2.0 * loss.value(z, b)),
            Score::Concordance => f64::NAN,
        }
    }

    /// Scores rows with several linear predictors. For responses, this is the mean over the responses. For
    /// classes, whose numbers are the only column of `b`, the probabilities of all classes count.
    pub fn of_several(
        self,
        loss: &dyn Loss,
        z: &[Vec<f64>],
        b: &[Vec<f64>],
        weights: &[f64],
    ) -> f64 {
        if loss.classes().is_none() {
            let each = z.iter().zip(b).map(|(z, b)| self.of(loss, z, b, weights));
            return each.sum::<f64>() / z.len() as f64;
        }
        let mut own = Vec::with_capacity(z.len());
        let mut score = |row: usize, class: usize| {
            own.clear();
            own.extend(z.iter().map(|scores| scores[row]));
            match self {
                Score::Accuracy => f64::from(several::best(&own) == class),
                Score::LogLoss => several::log_loss(&own, class),
                _ => f64::NAN,
            }
        };
        let classes = b.first().into_iter().flatten().zip(weights).enumerate();
        let rows = classes.filter(|(_, (_, w))| **w > 0.0);
        let total: f64 = weights.iter().sum();
        let sum: f64 = rows.map(|(row, (b, w))| w * score(row, *b as usize)).sum();
        sum / total
    }

    /// Scores rows that are compared with each other; NaN if no rows are comparable.
    fn of_hazards(self, loss: &dyn Loss, z: &[f64], b: &[f64], weights: &[f64]) -> f64 {
        let Some((joint, z)) = survival::bound(loss, z, b, weights) else {
            return f64::NAN;
        };
        match self {
            Score::Deviance => 2.0 * joint.total(&z),
            Score::Concordance => joint.concordance(&z).unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }
}

impl Score {
    /// Scores a linear model on rows that are known only by their moments; `None` if the
    /// score needs individual rows.
    pub fn of_moments(
        self,
        moments: &Moments,
        coefficients: &[f64],
        intercept: f64,
    ) -> Option<f64> {
        let (means, weight) = (moments.means(), moments.weight());
        let target = coefficients.len();
        // The residual is linear in the columns, with factor -1 for the response.
        let used = coefficients.iter().copied().enumerate();
        let mut factors: Vec<(usize, f64)> = used.filter(|(_, x)| *x != 0.0).collect();
        factors.push((target, -1.0));
        let centre = intercept + factors.iter().map(|(j, x)| x * means[*j]).sum::<f64>();
        let pairs = factors.iter().flat_map(|(i, a)| {
            let products = factors.iter();
            products.map(move |(j, b)| a * b * moments.product(*i, *j))
        });
        let missed = (pairs.sum::<f64>() / weight).max(0.0) + centre * centre;
        let spread = moments.product(target, target) / weight;
        match self {
            Score::Mse => Some(missed),
            Score::R2 if spread > 0.0 => Some(1.0 - missed / spread),
            Score::R2 => Some(f64::from(missed <= 0.0)),
            _ => None,
        }
    }
}

/// Computes `log(1 + exp(v))` without overflow.
fn log_one_exp(v: f64) -> f64 {
    v.max(0.0) + (-v.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use l0star::loss::{Cox, by_name};

    use super::*;

    fn score(score: Score, loss: &str, z: &[f64], b: &[f64], w: &[f64]) -> f64 {
        score.of(&*by_name(loss, 1.0).unwrap(), z, b, w)
    }

    #[test]
    fn scores_of_numbers() {
        let of = |own: Score, z: &[f64], b: &[f64], w: &[f64]| score(own, "quadratic", z, b, w);
        let (z, b, w) = ([1.0, 2.0, 9.0], [1.0, 4.0, 0.0], [1.0, 1.0, 0.0]);
        assert_eq!(of(Score::Mse, &z, &b, &w), 2.0);
        assert_eq!(of(Score::Mae, &z, &b, &w), 1.0);
        assert!((of(Score::R2, &z, &b, &w) - (1.0 - 2.0 / 2.25)).abs() < 1e-15);
        assert_eq!(of(Score::R2, &[1.0; 2], &[2.0; 2], &[1.0; 2]), 0.0);
        assert_eq!(of(Score::R2, &[2.0; 2], &[2.0; 2], &[1.0; 2]), 1.0);
    }

    #[test]
    fn scores_of_moments_are_those_of_the_rows() {
        let columns = [
            vec![1.0, 2.0, 4.0, 3.0, 7.0],
            vec![1e3, 1e3 + 1.0, 1e3, 999.0, 1e3],
        ];
        let b = [1.0, 2.5, 3.0, 2.0, 6.5];
        let w = [1.0, 2.0, 0.0, 0.5, 1.0];
        let design = l0star::Design::dense(5, 2, columns.concat()).unwrap();
        let mut moments = Moments::new(vec!["a".into(), "b".into()]).unwrap();
        moments.add(&design, &b, Some(&w)).unwrap();
        for (x, intercept) in [([0.8, 0.0], 0.3), ([0.5, -0.2], 200.0), ([0.0, 0.0], 0.0)] {
            let row = |i: usize| intercept + x[0] * columns[0][i] + x[1] * columns[1][i];
            let z: Vec<f64> = (0..5).map(row).collect();
            for own in [Score::Mse, Score::R2] {
                let (rows, sums) = (
                    score(own, "quadratic", &z, &b, &w),
                    own.of_moments(&moments, &x, intercept).unwrap(),
                );
                assert!(
                    (rows - sums).abs() <= 1e-9 * rows.abs().max(1.0),
                    "{rows} {sums}"
                );
            }
            assert_eq!(Score::Mae.of_moments(&moments, &x, intercept), None);
        }
    }

    #[test]
    fn scores_of_labels() {
        let of = |own: Score, z: &[f64], b: &[f64], w: &[f64]| score(own, "logistic", z, b, w);
        let (z, b, w) = ([2.0, -1.0, 3.0], [1.0, 1.0, -1.0], [1.0, 1.0, 2.0]);
        assert_eq!(of(Score::Accuracy, &z, &b, &w), 0.25);
        let loss = of(Score::LogLoss, &[0.0], &[1.0], &[5.0]);
        assert!((loss - 2f64.ln()).abs() < 1e-15);
        assert_eq!(of(Score::LogLoss, &[-1000.0], &[1.0], &[1.0]), 1000.0);
    }

    #[test]
    fn scores_of_several_responses_are_means() {
        let (z, b) = (
            [vec![1.0, 2.0], vec![0.0, 30.0]],
            [vec![1.0, 4.0], vec![10.0, 20.0]],
        );
        let loss = by_name("quadratic", 1.0).unwrap();
        let of = |own: Score| own.of_several(&*loss, &z, &b, &[1.0, 1.0]);
        assert_eq!(of(Score::Mse), 0.5 * (2.0 + 100.0));
        assert_eq!(of(Score::Mae), 0.5 * (1.0 + 10.0));
        assert!((of(Score::R2) - 0.5 * ((1.0 - 2.0 / 2.25) + (1.0 - 100.0 / 25.0))).abs() < 1e-15);
    }

    #[test]
    fn scores_of_classes() {
        let loss = l0star::loss::Multinomial::new(3);
        let z = [
            vec![0.0, 5.0, 9.0],
            vec![0.0, 0.0, 0.0],
            vec![0.0, 0.0, 0.0],
        ];
        let of = |own: Score| own.of_several(&loss, &z, &[vec![2.0, 0.0, 1.0]], &[1.0, 3.0, 0.0]);
        assert_eq!(of(Score::Accuracy), 0.75);
        let expected = 0.25 * (3f64.ln() + 3.0 * (2.0 * (-5.0f64).exp()).ln_1p());
        assert!((of(Score::LogLoss) - expected).abs() < 1e-15);
        assert!(Score::Accuracy.suits(&loss) && Score::LogLoss.suits(&loss));
        assert!(!Score::R2.suits(&loss) && Score::usual(&loss) == Score::Accuracy);
    }

    #[test]
    fn scores_of_counts_and_amounts() {
        let (z, w) = ([2f64.ln(), 0.0], [1.0, 3.0]);
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14, "{found}");
        // 2(0 - 0 + 2) for a count of 0 with mean 2; a count of 1 with mean 1 is predicted exactly.
        near(score(Score::Deviance, "poisson", &z, &[0.0, 1.0], &w), 1.0);
        near(score(Score::Mae, "poisson", &z, &[0.0, 1.0], &w), 0.5);
        near(score(Score::Mse, "poisson", &z, &[0.0, 1.0], &w), 1.0);
        // 2(y/m - log(y/m) - 1).
        let gamma = score(Score::Deviance, "gamma", &z, &[4.0, 1.0], &w);
        near(gamma, 0.25 * 2.0 * (1.0 - 2f64.ln()));
    }

    #[test]
    fn scores_of_times() {
        let cox = Cox::new(vec![true, false, true, true]);
        let of =
            |own: Score, w: &[f64]| own.of(&cox, &[1.0, 0.0, 0.0, 5.0], &[1.0, 2.0, 3.0, 9.0], w);
        // The last row has no weight, and the third has no row to be compared with.
        let weights = [1.0, 1.0, 1.0, 0.0];
        assert_eq!(of(Score::Concordance, &weights), 1.0);
        let deviance = 2.0 / 3.0 * (1.0 + 2.0 * (-1.0f64).exp()).ln();
        assert!((of(Score::Deviance, &weights) - deviance).abs() < 1e-15);
        assert!(of(Score::R2, &weights).is_nan());
        assert!(of(Score::Deviance, &[0.0, 1.0, 0.0, 0.0]).is_nan());
        assert!(of(Score::Concordance, &[0.0, 0.0, 1.0, 0.0]).is_nan());
        assert!(!Score::Mae.suits(&cox) && Score::Concordance.is_gain());
    }

    #[test]
    fn every_loss_has_its_scores() {
        let suits = |score: Score, name: &str| score.suits(&*by_name(name, 1.0).unwrap());
        for name in [l0star::loss::NAMES, l0star::loss::JOINT_NAMES].concat() {
            assert!(
                Score::usual(&*by_name(name, 1.0).unwrap()).suits(&*by_name(name, 1.0).unwrap())
            );
        }
        assert!(suits(Score::Mae, "poisson") && !suits(Score::Deviance, "quadratic"));
        assert!(!suits(Score::R2, "logistic") && !suits(Score::LogLoss, "squared-hinge"));
    }
}
