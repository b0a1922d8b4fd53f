//! The paper's logistic instances: ill-conditioned sparse regression with dichotomous
//! observations (Section 4.1).

use crate::counted::counted;
use crate::error::DataError;
use crate::generate::rng::Stream;
use crate::generate::{Instance, empty_design, normalise_columns, times_indicator};

/// Generates a logistic instance of `d` features, true support size `k` and `n` rows, with labels −1 and +1.
///
/// `x_true` is 10 on the support `S`. `Ŝ` joins `⌈k/2⌉` elements of `S` with `⌊k/2⌋` of its complement. The
/// columns of `Ŝ` have correlation 0.5 among themselves, and the others 0.2. All have unit variance and are
/// then scaled to unit ℓ2 norm. `b_i = +1` with probability `1 / (1 + exp(−a_iᵀ x_true))`.
///
/// Order of draws from [`Stream::new(seed)`](Stream::new):
/// 1. the support: [`sample`](Stream::sample) `k` of `0 … d−1`;
/// 2. [`sample`](Stream::sample) `⌈k/2⌉` of the support (ascending), then `⌊k/2⌋` of its
///    complement (ascending);
/// 3. for each row `i`: the normals `g_i` (for `Ŝ`) and `h_i` (for the others), then the normals
///    `e_i1 … e_id`, giving `a_ij = √0.5 g_i + √0.5 e_ij` on `Ŝ` and `√0.2 h_i + √0.8 e_ij`
///    elsewhere;
/// 4. for each row, one [`bernoulli`](Stream::bernoulli), with `a_iᵀ x_true` summed over the
///    support in ascending order.
pub fn logistic(d: usize, k: usize, n: usize, seed: u64) -> Result<Instance, DataError> {
    let mut design = empty_design(d, k, n)?;
    if k / 2 > d - k {
        let rule = format!(
            "the support needs {} outside it, and d = {d}",
            counted(k / 2, "feature")
        );
        return Err(DataError::argument("k", k, rule));
    }
    let mut stream = Stream::new(seed);
    let support = stream.sample(0..d, k);

    let mut in_support = vec![false; d];
    support.iter().for_each(|&j| in_support[j] = true);
    let mut heavy = vec![false; d];
    for j in stream.sample(support.iter().copied(), k.div_ceil(2)) {
        heavy[j] = true;
    }
    for j in stream.sample((0..d).filter(|&j| !in_support[j]), k / 2) {
        heavy[j] = true;
    }

    for i in 0..n {
        let (g, h) = (stream.normal(), stream.normal());
        for (j, &heavy) in heavy.iter().enumerate() {
            let (common, correlation) = if heavy { (g, 0.5f64) } else { (h, 0.2) };
            design[j * n + i] =
                correlation.sqrt() * common + (1.0 - correlation).sqrt() * stream.normal();
        }
    }
    normalise_columns(&mut design, n);

    let scores = times_indicator(&design, n, &support, 10.0);
    let b: Vec<f64> = scores
        .iter()
        .map(|score| {
            // libm's exp is computed in software: the exp of the platform may differ in the last bit.
            let p = 1.0 / (1.0 + libm::exp(-score));
            if stream.bernoulli(p) { 1.0 } else { -1.0 }
        })
        .collect();
    if b.iter().all(|label| *label == b[0]) {
        return Err(DataError::DegenerateDraw { seed, label: b[0] });
    }
    Instance::new(design, b, support)
}
