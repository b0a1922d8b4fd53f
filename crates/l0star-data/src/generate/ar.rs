//! The AR(1) family of the best-subset literature, with correlated neighbours and an evenly spaced support.

use crate::error::DataError;
use crate::generate::rng::Stream;
use crate::generate::{Instance, add_multiple, empty_design, times_indicator};

/// Generates an instance with `Σ_ij = rho^|i−j|`, true support size `k` and signal-to-noise ratio `snr`.
///
/// The true support is `⌊d (i + ½) / k⌋` for `i = 0 … k−1`. All true coefficients are 1, and columns
/// are not normalised. The response is `b = A x_true + σ z` with `σ² = var(A x_true) / snr`, where
/// `var(v) = Σ (v_i − v̄)² / n`.
///
/// Order of draws from [`Stream::new(seed)`](Stream::new):
/// 1. for each row `i`: the normals `e_i1 … e_id`, giving `a_i1 = e_i1` and
///    `a_ij = rho a_i,j−1 + √(1 − rho²) e_ij`;
/// 2. `z`: `n` normals.
pub fn ar(
    d: usize,
    k: usize,
    n: usize,
    rho: f64,
    snr: f64,
    seed: u64,
) -> Result<Instance, DataError> {
    let mut design = empty_design(d, k, n)?;
    if !snr.is_finite() || snr <= 0.0 {
        return Err(DataError::argument(
            "snr",
            snr,
            "it must be a finite number above 0",
        ));
    }
    let mut stream = Stream::new(seed);
    correlated(&mut design, d, n, rho, &mut stream)?;
    let support: Vec<usize> = (0..k).map(|i| middle(d, k, i)).collect();
    let mut b = times_indicator(&design, n, &support, 1.0);
    let sigma = (variance(&b) / snr).sqrt();
    let noise: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
    add_multiple(&mut b, sigma, &noise);
    Instance::new(design, b, support)
}

/// Fills the design row by row; each feature has the correlation rho with the one before.
pub(super) fn correlated(
    design: &mut [f64],
    d: usize,
    n: usize,
    rho: f64,
    stream: &mut Stream,
) -> Result<(), DataError> {
    if rho.is_nan() || rho.abs() >= 1.0 {
        return Err(DataError::argument(
            "rho",
            rho,
            "it must be above -1 and below 1",
        ));
    }
    let own = (1.0 - rho * rho).sqrt();
    for i in 0..n {
        let mut previous = stream.normal();
        design[i] = previous;
        for j in 1..d {
            previous = rho * previous + own * stream.normal();
            design[j * n + i] = previous;
        }
    }
    Ok(())
}

/// Returns `⌊d (i + ½) / k⌋`, the middle of the `i`-th of `k` equal parts, in exact integers.
pub(super) fn middle(d: usize, k: usize, i: usize) -> usize {
    (d as u128 * (2 * i as u128 + 1) / (2 * k as u128)) as usize
}

pub(super) fn variance(v: &[f64]) -> f64 {
    let n = v.len() as f64;
    let mean = v.iter().sum::<f64>() / n;
    v.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_support_is_evenly_spaced() {
        let support = |d, k| (0..k).map(|i| middle(d, k, i)).collect::<Vec<_>>();
        assert_eq!(support(10, 2), [2, 7]);
        assert_eq!(support(7, 3), [1, 3, 5]);
        assert_eq!(support(4, 4), [0, 1, 2, 3]);
    }

    #[test]
    fn ranges_are_checked() {
        let refused = |rho, snr| ar(5, 1, 9, rho, snr, 1).unwrap_err().to_string();
        for rho in [1.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert!(refused(rho, 1.0).starts_with("rho = "), "{rho}");
        }
        for snr in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(0.5, snr).starts_with("snr = "), "{snr}");
        }
        assert!(ar(5, 1, 9, -0.9, 1e-3, 1).is_ok());
    }
}
