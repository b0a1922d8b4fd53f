//! Several responses that share their features, whose neighbours correlate.

use crate::error::DataError;
use crate::generate::ar::{correlated, middle, variance};
use crate::generate::rng::Stream;
use crate::generate::{Instance, add_multiple, empty_design};

/// The signal-to-noise ratio of each response.
const SNR: f64 = 5.0;

/// Responses `b_r = Σ_S c_rj a_j + σ_r z_r` with normal coefficients, and noise of a fifth of the variance of the rest. The design and
/// the support are those of [`ar`](crate::generate::ar); the response of the instance is the first, the others stand beside it.
///
/// Order of draws from [`Stream::new(seed)`](Stream::new): the design as in [`ar`](crate::generate::ar); then, for each response, k
/// normals c and n normals z.
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
}
