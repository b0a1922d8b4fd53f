//! Settings of property tests.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// Draws the same cases in every run: a failure is a change of the code, never chance. `cargo xtask soak` draws new
/// ones.
pub fn cases(cases: u32, seed: u64) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
