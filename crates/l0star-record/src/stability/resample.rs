//! Draws the rows of a resample, as weights.

use std::fmt;
use std::str::FromStr;

use l0star_data::generate::rng::Stream;
use serde::{Deserialize, Serialize};

use crate::cv::folds::distinct;

/// How rows are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resampling {
    /// As many rows as there are, with replacement.
    Bootstrap,
    /// Half of the rows, each at most once.
    Half,
}

impl Resampling {
    /// The words that name them.
    pub const WORDS: [&str; 2] = ["bootstrap", "half"];
}

impl fmt::Display for Resampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::WORDS[usize::from(*self == Self::Half)])
    }
}

impl FromStr for Resampling {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "bootstrap" => Ok(Self::Bootstrap),
            "half" => Ok(Self::Half),
            _ => Err(format!("there is no resampling '{word}'")),
        }
    }
}

/// All resamples; each depends only on its number.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// How rows are drawn.
    pub resampling: Resampling,
    /// Seed; equal seeds give equal resamples.
    pub seed: u64,
    /// The target: -1 and 1 for labels, numbers for classes.
    pub response: &'a [f64],
    /// The weights of the rows; a row without weight is never drawn.
    pub weights: Option<&'a [f64]>,
    /// Whether rows are drawn from each label separately, so that every resample has each label.
    pub has_labels: bool,
}

impl Plan<'_> {
    /// Returns the weights of the rows in a resample: their own weight times the number of draws.
    pub fn draw(&self, at: usize) -> Vec<f64> {
        let mut random = Stream::new(mixed(self.seed, at as u64));
        let own = |row: usize| self.weights.map_or(1.0, |weights| weights[row]);
        let mut drawn = vec![0.0; self.response.len()];
        for mut rows in self.strata() {
            match self.resampling {
                Resampling::Bootstrap => {
                    for _ in 0..rows.len() {
                        let row = rows[random.below(rows.len())];
                        drawn[row] += own(row);
                    }
                }
                Resampling::Half => {
                    for i in 0..rows.len().div_ceil(2) {
                        let j = i + random.below(rows.len() - i);
                        rows.swap(i, j);
                        drawn[rows[i]] = own(rows[i]);
                    }
                }
            }
        }
        drawn
    }

    /// Returns the rows of positive weight, separately for each label.
    fn strata(&self) -> Vec<Vec<usize>> {
        let counts = |row: &usize| self.weights.is_none_or(|weights| weights[*row] > 0.0);
        let rows = || (0..self.response.len()).filter(counts);
        if !self.has_labels {
            return vec![rows().collect()];
        }
        let of = |label: f64| rows().filter(move |row| self.response[*row] == label);
        let labels = distinct(self.response).into_iter();
        labels.map(|label| of(label).collect()).collect()
    }
}

/// Returns a separate seed for every resample (SplitMix64).
fn mixed(seed: u64, at: u64) -> u64 {
    let mut x = seed.wrapping_add((at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan<'a>(
        resampling: Resampling,
        response: &'a [f64],
        weights: Option<&'a [f64]>,
    ) -> Plan<'a> {
        Plan {
            resampling,
            seed: 3,
            response,
            weights,
            has_labels: response.iter().all(|b| b.abs() == 1.0),
        }
    }

    #[test]
    fn a_bootstrap_has_as_many_rows_as_there_are() {
        let response: Vec<f64> = (0..40).map(f64::from).collect();
        let all = plan(Resampling::Bootstrap, &response, None);
        let one = all.draw(5);
        assert_eq!(one.iter().sum::<f64>(), 40.0);
        assert_eq!(one, all.draw(5));
        assert_ne!(one, all.draw(6));
        // About 1/e of the rows are not drawn; over 200 resamples, every row is missing about equally often.
        let mean: f64 = (0..200).map(|at| all.draw(at)[7]).sum::<f64>() / 200.0;
        assert!((0.7..1.3).contains(&mean), "{mean}");
    }

    #[test]
    fn each_label_is_drawn_by_itself_and_weights_count() {
        let response: Vec<f64> = (0..20).map(|i| if i < 5 { 1.0 } else { -1.0 }).collect();
        let mut weights = vec![2.0; 20];
        weights[0] = 0.0;
        for resampling in [Resampling::Bootstrap, Resampling::Half] {
            let drawn = plan(resampling, &response, Some(&weights)).draw(1);
            assert_eq!(drawn[0], 0.0);
            let rows = match resampling {
                Resampling::Bootstrap => (4.0, 15.0),
                Resampling::Half => (2.0, 8.0),
            };
            assert_eq!(drawn[..5].iter().sum::<f64>(), 2.0 * rows.0);
            assert_eq!(drawn[5..].iter().sum::<f64>(), 2.0 * rows.1);
        }
    }
}
