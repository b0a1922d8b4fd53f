//! The random stream of the generators, with the same bits on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A ChaCha stream with 8 rounds. The 256-bit key is the seed in little-endian order followed by 24 zero bytes.
/// The stream number is 0, and 64-bit words are taken low half first.
#[derive(Clone, Debug)]
pub struct Stream {
    words: ChaCha8Rng,
    spare: Option<f64>,
}

impl Stream {
    /// Starts the stream of a seed.
    pub fn new(seed: u64) -> Stream {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Stream {
            words: ChaCha8Rng::from_seed(key),
            spare: None,
        }
    }

    /// Draws uniformly from `[0, 1)`: `⌊w / 2^11⌋ / 2^53` of the next 64-bit word `w`.
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        (self.words.next_u64() >> 11) as f64 * STEP
    }

    /// Draws a standard normal by Marsaglia's polar method: draw `u, v` uniform in `[−1, 1)` (in this order, as
    /// `2 U − 1`) until `0 < s = u² + v² < 1`, and let `m = √(−2 ln s / s)`. The result is `u m`; `v m` is kept
    /// for the next call, even if there are other draws in between.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let u = 2.0 * self.uniform() - 1.0;
            let v = 2.0 * self.uniform() - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                // libm's log is computed in software: the log of the platform may differ in the last bit.
                let m = (-2.0 * libm::log(s) / s).sqrt();
                self.spare = Some(v * m);
                return u * m;
            }
        }
    }

    /// Draws uniformly from `0 … m − 1` without bias: 64-bit words `w` are drawn until `w < 2^64 − (2^64 mod
    /// m)`, and the result is `w mod m`. For `m = 0` the result is 0, without a draw.
    pub fn below(&mut self, m: usize) -> usize {
        let m = m as u64;
        if m == 0 {
            return 0;
        }
        let excess = (u64::MAX % m + 1) % m;
        loop {
            let word = self.words.next_u64();
            if word <= u64::MAX - excess {
                return (word % m) as usize;
            }
        }
    }

    /// Draws `min(k, items.len())` of the items without replacement, in ascending order. This is a
    /// partial Fisher–Yates shuffle: for `i = 0, 1, …` swap entry `i` with entry `i + below(len −
    /// i)`, then sort the first `k`.
    pub fn sample(&mut self, items: impl IntoIterator<Item = usize>, k: usize) -> Vec<usize> {
        let mut items: Vec<usize> = items.into_iter().collect();
        let k = k.min(items.len());
        for i in 0..k {
            let j = i + self.below(items.len() - i);
            items.swap(i, j);
        }
        items.truncate(k);
        items.sort_unstable();
        items
    }

    /// Returns true with probability `p`, which is whether a uniform draw is below `p`.
    pub fn bernoulli(&mut self, p: f64) -> bool {
        self.uniform() < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniforms_fill_the_unit_interval() {
        let mut stream = Stream::new(7);
        let draws: Vec<f64> = (0..20_000).map(|_| stream.uniform()).collect();
        assert!(draws.iter().all(|u| (0.0..1.0).contains(u)));
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
    }

    #[test]
    fn normals_have_the_moments_of_a_normal() {
        let mut stream = Stream::new(7);
        let draws: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
        let moment = |p: i32| draws.iter().map(|x| x.powi(p)).sum::<f64>() / 100_000.0;
        assert!(moment(1).abs() < 0.02);
        assert!((moment(2) - 1.0).abs() < 0.03);
        assert!(moment(3).abs() < 0.06);
        assert!((moment(4) - 3.0).abs() < 0.15);
    }

    #[test]
    fn bounded_draws_are_even() {
        let mut stream = Stream::new(3);
        let mut counts = [0; 5];
        (0..50_000).for_each(|_| counts[stream.below(5)] += 1);
        assert!(
            counts.iter().all(|&count| (9_500..10_500).contains(&count)),
            "{counts:?}"
        );
        assert_eq!(stream.below(1), 0);
        assert_eq!(stream.below(0), 0);
    }

    #[test]
    fn samples_are_ascending_and_distinct() {
        let mut stream = Stream::new(3);
        for k in 0..=9 {
            let sample = stream.sample(0..9, k);
            assert_eq!(sample.len(), k);
            assert!(sample.windows(2).all(|pair| pair[0] < pair[1]));
        }
        assert_eq!(stream.sample([4, 2], 5), [2, 4]);
    }

    #[test]
    fn coins_have_their_bias() {
        let mut stream = Stream::new(3);
        let heads = (0..20_000).filter(|_| stream.bernoulli(0.25)).count();
        assert!((4_700..5_300).contains(&heads), "{heads}");
        assert!(!stream.bernoulli(0.0));
        assert!(stream.bernoulli(1.0));
    }

    #[test]
    fn seeds_give_different_streams() {
        assert_ne!(Stream::new(1).uniform(), Stream::new(2).uniform());
        assert_eq!(Stream::new(1).normal(), Stream::new(1).normal());
    }
}
