//! Counts and amounts whose log expectations are linear in features with correlated neighbours.

use crate::error::DataError;
use crate::generate::ar::{correlated, middle};
use crate::generate::rng::Stream;
use crate::generate::{Instance, empty_design, times_indicator};

/// Standard deviation of the log expectation, without correlation.
pub(super) const SPREAD: f64 = 0.8;
/// The log expectation where all features are 0.
const CENTRE: f64 = 1.0;

/// Generates counts: `b_i` is Poisson with the mean `exp(1 + 0.8/√k Σ_S a_ij)`. The design is that of
/// [`ar`](crate::generate::ar).
///
/// Order of draws from [`Stream::new(seed)`](Stream::new): the design as in [`ar`](crate::generate::ar); then,
/// for each row, uniforms u until the sum of `-ln(1 - u)` exceeds the mean. The count is one less than the
/// number of these uniforms.
pub fn poisson(d: usize, k: usize, n: usize, rho: f64, seed: u64) -> Result<Instance, DataError> {
    instance(d, k, n, rho, seed, |stream, mean| {
        let (mut count, mut sum) = (0.0, gap(stream));
        while sum <= mean {
            count += 1.0;
            sum += gap(stream);
        }
        count
    })
}

/// Generates amounts: `b_i` has a gamma distribution of shape 2 and the mean `exp(1 + 0.8/√k Σ_S a_ij)`. The
/// design is that of [`ar`](crate::generate::ar).
///
/// Order of draws from [`Stream::new(seed)`](Stream::new): the design as in [`ar`](crate::generate::ar); then,
/// for each row, two uniforms u, whose `-ln(1 - u)` are added up.
pub fn gamma(d: usize, k: usize, n: usize, rho: f64, seed: u64) -> Result<Instance, DataError> {
    instance(d, k, n, rho, seed, |stream, mean| {
        let amount = 0.5 * mean * (gap(stream) + gap(stream));
        amount.max(f64::MIN_POSITIVE)
    })
}

fn instance(
    d: usize,
    k: usize,
    n: usize,
    rho: f64,
    seed: u64,
    draw: impl Fn(&mut Stream, f64) -> f64,
) -> Result<Instance, DataError> {
    let mut design = empty_design(d, k, n)?;
    let mut stream = Stream::new(seed);
    correlated(&mut design, d, n, rho, &mut stream)?;
    let support: Vec<usize> = (0..k).map(|i| middle(d, k, i)).collect();
    let scores = times_indicator(&design, n, &support, SPREAD / (k as f64).sqrt());
    let mean = |score: &f64| libm::exp(CENTRE + score);
    let b = scores.iter().map(|score| draw(&mut stream, mean(score)));
    let b = b.collect();
    Instance::new(design, b, support)
}

/// Draws an exponential of mean 1.
pub(super) fn gap(stream: &mut Stream) -> f64 {
    -libm::log(1.0 - stream.uniform())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means and variances are those of the distributions, with all features nearly 0.
    #[test]
    fn the_spread_of_the_draws_is_that_of_the_family() {
        let spread = |draw: &dyn Fn(&mut Stream, f64) -> f64, mean: f64| {
            let mut stream = Stream::new(3);
            let all: Vec<f64> = (0..20_000).map(|_| draw(&mut stream, mean)).collect();
            let n = all.len() as f64;
            let average = all.iter().sum::<f64>() / n;
            let square = all.iter().map(|b| (b - average).powi(2)).sum::<f64>() / n;
            (average / mean, square)
        };
        let counts = |stream: &mut Stream, mean: f64| {
            let (mut count, mut sum) = (0.0, gap(stream));
            while sum <= mean {
                count += 1.0;
                sum += gap(stream);
            }
            count
        };
        let (mean, square) = spread(&counts, 4.0);
        assert!((mean - 1.0).abs() < 0.02 && (square / 4.0 - 1.0).abs() < 0.04);
        let amounts = |stream: &mut Stream, mean: f64| 0.5 * mean * (gap(stream) + gap(stream));
        let (mean, square) = spread(&amounts, 4.0);
        assert!((mean - 1.0).abs() < 0.02 && (square / 8.0 - 1.0).abs() < 0.06);
    }

    #[test]
    fn responses_are_counts_and_amounts() {
        let instance = poisson(6, 2, 50, 0.5, 1).unwrap();
        assert_eq!(instance.support(), [1, 4]);
        let whole = |b: &f64| *b >= 0.0 && b.fract() == 0.0;
        assert!(instance.response().iter().all(whole));
        let amounts = gamma(6, 2, 50, 0.5, 1).unwrap();
        assert!(amounts.response().iter().all(|b| *b > 0.0));
        assert_eq!(amounts.design(), instance.design());
        assert!(poisson(6, 2, 50, 1.0, 1).is_err());
    }
}
