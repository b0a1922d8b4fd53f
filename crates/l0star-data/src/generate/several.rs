//! Several responses, or several classes, that share their features; neighbouring features correlate.

use crate::error::DataError;
use crate::generate::ar::{correlated, middle, variance};
use crate::generate::rng::Stream;
use crate::generate::{Instance, add_multiple, empty_design};

/// The signal-to-noise ratio of each response.
const SNR: f64 = 5.0;

/// Generates responses `b_r = Σ_S c_rj a_j + σ_r z_r` with normal coefficients. The noise has a fifth of
/// the variance of the rest.
///
/// The design and the support are those of [`ar`](crate::generate::ar). The response of the instance is the
/// first one; the others are returned with it.
///
/// Order of draws from [`Stream::new(seed)`](Stream::new): the design as in [`ar`](crate::generate::ar); then,
/// for each response, k normals c and n normals z.
pub fn responses(
    d: usize,
    k: usize,
    n: usize,
    rho: f64,
    count: usize,
    seed: u64,
) -> Result<(Instance, Vec<Vec<f64>>), DataError> {
    let mut design = empty_design(d, k, n)?;
    if count == 0 {
        return Err(DataError::argument(
            "responses",
            count,
            "there must be at least one",
        ));
    }
    let mut stream = Stream::new(seed);
    correlated(&mut design, d, n, rho, &mut stream)?;
    let support: Vec<usize> = (0..k).map(|i| middle(d, k, i)).collect();
    let mut all: Vec<Vec<f64>> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut b = vec![0.0; n];
        for j in &support {
            add_multiple(&mut b, stream.normal(), &design[j * n..(j + 1) * n]);
        }
        let sigma = (variance(&b) / SNR).sqrt();
        let noise: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        add_multiple(&mut b, sigma, &noise);
        all.push(b);
    }
    let first = all.remove(0);
    Ok((Instance::new(design, first, support)?, all))
}

/// Spread of the scores of classes, for features of variance 1.
const SPREAD: f64 = 2.0;

/// Generates classes 1, 2, … with the probabilities `exp(z_c) / Σ exp(z)`, where `z_c = 2/√k Σ_S c_cj a_j`
/// with normal coefficients c.
///
/// The design and the support are those of [`ar`](crate::generate::ar). The first row is of class 1, the second
/// of class 2, and so on, so that each class has a row.
///
/// Order of draws from [`Stream::new(seed)`](Stream::new): the design as in [`ar`](crate::generate::ar); then,
/// for each class, k normals; then a uniform for each row.
pub fn classes(
    d: usize,
    k: usize,
    n: usize,
    rho: f64,
    count: usize,
    seed: u64,
) -> Result<Instance, DataError> {
    let mut design = empty_design(d, k, n)?;
    if count < 2 || count > n {
        let rule = format!("it must be at least 2 and at most n = {n}");
        return Err(DataError::argument("classes", count, rule));
    }
    let mut stream = Stream::new(seed);
    correlated(&mut design, d, n, rho, &mut stream)?;
    let support: Vec<usize> = (0..k).map(|i| middle(d, k, i)).collect();
    let weight = SPREAD / (k as f64).sqrt();
    let mut scores = vec![vec![0.0; n]; count];
    for own in &mut scores {
        for j in &support {
            add_multiple(own, weight * stream.normal(), &design[j * n..(j + 1) * n]);
        }
    }
    let class = |row: usize, share: f64| {
        let most = scores
            .iter()
            .map(|own| own[row])
            .fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = scores
            .iter()
            .map(|own| libm::exp(own[row] - most))
            .collect();
        let mut left = share * shares.iter().sum::<f64>();
        let found = shares.iter().position(|own| {
            left -= own;
            left < 0.0
        });
        found.unwrap_or(count - 1)
    };
    let drawn: Vec<f64> = (0..n).map(|_| stream.uniform()).collect();
    let b = drawn.iter().enumerate().map(|(row, share)| {
        let number = if row < count { row } else { class(row, *share) };
        (number + 1) as f64
    });
    let b = b.collect();
    Instance::new(design, b, support)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_have_rows_of_their_own_and_the_same_support() {
        let (instance, others) = responses(6, 2, 40, 0.5, 3, 1).unwrap();
        assert_eq!(instance.support(), [1, 4]);
        assert_eq!((others.len(), others[0].len()), (2, 40));
        assert!(others[0] != others[1] && instance.response() != others[0]);
        assert!(responses(6, 2, 40, 0.5, 0, 1).is_err());
    }

    #[test]
    fn every_class_has_a_row() {
        let instance = classes(6, 2, 60, 0.5, 4, 1).unwrap();
        assert_eq!(instance.support(), [1, 4]);
        for class in 1..=4 {
            assert!(instance.response().contains(&f64::from(class)));
        }
        assert!(classes(6, 2, 60, 0.5, 1, 1).is_err() && classes(6, 2, 3, 0.5, 4, 1).is_err());
    }
}
