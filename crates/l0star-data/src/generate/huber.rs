//! The paper's Huber instances: sparse regression with noise and outliers (Section 4.1).

use crate::error::DataError;
use crate::expand::norm;
use crate::generate::rng::Stream;
use crate::generate::{
    Instance, add_multiple, empty_design, normalise_columns, rescale, times_indicator,
};

/// Generates a Huber instance of `d` features, true support size `k` and `n` rows.
///
/// The rows of `A` are normal with unit variances and correlation 0.2; columns are then scaled to unit ℓ2 norm.
/// `x_true` is 1 on the support, `‖x_true‖ / ‖x_noise‖ = 10` and `b* = A (x_true + x_noise)`. After scaling to
/// `‖b*‖ / ‖b_noise‖ = 10`, `⌊0.1 n⌋` entries of `b_noise` are multiplied by 10. Finally `b = b* + b_noise`.
///
/// Order of draws from [`Stream::new(seed)`](Stream::new):
/// 1. the support: [`sample`](Stream::sample) `k` of `0 … d−1`;
/// 2. for each row `i`: the normal `g_i`, then the normals `e_i1 … e_id`, giving
///    `a_ij = √0.2 g_i + √0.8 e_ij`;
/// 3. `x_noise`: `d` normals;
/// 4. `b_noise`: `n` normals;
/// 5. the outliers: [`sample`](Stream::sample) `⌊n / 10⌋` of `0 … n−1`.
pub fn huber(d: usize, k: usize, n: usize, seed: u64) -> Result<Instance, DataError> {
    let mut design = empty_design(d, k, n)?;
    let mut stream = Stream::new(seed);
    let support = stream.sample(0..d, k);

    let (common, own) = (0.2f64.sqrt(), 0.8f64.sqrt());
    for i in 0..n {
        let g = stream.normal();
        for j in 0..d {
            design[j * n + i] = common * g + own * stream.normal();
        }
    }
    normalise_columns(&mut design, n);

    let mut x_noise: Vec<f64> = (0..d).map(|_| stream.normal()).collect();
    rescale(&mut x_noise, (k as f64).sqrt() / 10.0);
    // b = A x_true + A x_noise, column by column.
    let mut b = times_indicator(&design, n, &support, 1.0);
    for (column, &weight) in design.chunks_exact(n).zip(&x_noise) {
        add_multiple(&mut b, weight, column);
    }

    let mut b_noise: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
    rescale(&mut b_noise, norm(&b) / 10.0);
    for i in stream.sample(0..n, n / 10) {
        b_noise[i] *= 10.0;
    }
    add_multiple(&mut b, 1.0, &b_noise);
    Instance::new(design, b, support)
}
