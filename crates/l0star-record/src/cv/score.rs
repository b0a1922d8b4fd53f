//! How well held-out rows are predicted.

use std::fmt;
use std::str::FromStr;

/// What a fold is scored by; weights count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// Coefficient of determination: 1 is perfect, 0 as good as the mean of the fold
    R2,
    /// Mean squared error
    Mse,
    /// Mean absolute error
    Mae,
    /// Share of labels that are right
    Accuracy,
    /// Mean negative logarithm of the probability of the right label
    LogLoss,
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
    /// All of them.
    pub const ALL: [Score; 5] = [
        Score::R2,
        Score::Mse,
        Score::Mae,
        Score::Accuracy,
        Score::LogLoss,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Score::R2 => "r2",
            Score::Mse => "mse",
            Score::Mae => "mae",
            Score::Accuracy => "accuracy",
            Score::LogLoss => "log-loss",
        }
    }

    /// What it is, for a list of options.
    pub fn description(self) -> &'static str {
        match self {
            Score::R2 => {
                "Coefficient of determination: 1 is perfect, 0 as good as the mean of the fold"
            }
            Score::Mse => "Mean squared error",
            Score::Mae => "Mean absolute error",
            Score::Accuracy => "Share of labels that are right",
            Score::LogLoss => "Mean negative logarithm of the probability of the right label",
        }
    }

    /// Whether it is about labels.
    pub fn is_of_labels(self) -> bool {
        matches!(self, Score::Accuracy | Score::LogLoss)
    }

    /// Whether more is better.
    pub fn is_gain(self) -> bool {
        matches!(self, Score::R2 | Score::Accuracy)
    }

    /// Of predictions `z` for responses `b` (±1 for labels), by weight.
    pub fn of(self, z: &[f64], b: &[f64], weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
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
                // As scikit-learn has it where the target of a fold is constant.
                if spread > 0.0 {
                    1.0 - missed / spread
                } else {
                    f64::from(missed <= 0.0)
                }
            }
            Score::Accuracy => mean(&|z, b| f64::from((z > 0.0) == (b > 0.0))),
            Score::LogLoss => mean(&|z, b| log_one_exp(-b * z)),
        }
    }
}

/// `log(1 + exp(v))` without overflow.
fn log_one_exp(v: f64) -> f64 {
    v.max(0.0) + (-v.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_numbers() {
        let (z, b, w) = ([1.0, 2.0, 9.0], [1.0, 4.0, 0.0], [1.0, 1.0, 0.0]);
        assert_eq!(Score::Mse.of(&z, &b, &w), 2.0);
        assert_eq!(Score::Mae.of(&z, &b, &w), 1.0);
        assert!((Score::R2.of(&z, &b, &w) - (1.0 - 2.0 / 2.25)).abs() < 1e-15);
        assert_eq!(Score::R2.of(&[1.0; 2], &[2.0; 2], &[1.0; 2]), 0.0);
        assert_eq!(Score::R2.of(&[2.0; 2], &[2.0; 2], &[1.0; 2]), 1.0);
    }

    #[test]
    fn scores_of_labels() {
        let (z, b, w) = ([2.0, -1.0, 3.0], [1.0, 1.0, -1.0], [1.0, 1.0, 2.0]);
        assert_eq!(Score::Accuracy.of(&z, &b, &w), 0.25);
        let loss = Score::LogLoss.of(&[0.0], &[1.0], &[5.0]);
        assert!((loss - 2f64.ln()).abs() < 1e-15);
        assert_eq!(Score::LogLoss.of(&[-1000.0], &[1.0], &[1.0]), 1000.0);
    }
}
