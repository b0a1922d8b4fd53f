//! Several responses that share their features, against their definition, brute force and what cannot be.
#![allow(missing_docs)]

#[path = "common/cases.rs"]
mod cases;
mod common;

use std::num::NonZeroUsize;

use cases::cases;
use common::several::{Data, check};
use l0star::{Method, Settings};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(300, 5))]

    #[test]
    fn it_finds_the_optimum_of_the_definition(seed in any::<u64>()) {
        let data = Data::draw(seed);
        let two = Settings { threads: NonZeroUsize::new(2), ..Settings::default() };
        let mut rows = Settings::default();
        rows.mechanisms.gram = false;
        for settings in [Settings::default(), two, rows, Settings::new(Method::Exhaustive)] {
            let outcome = check(&data, &settings);
            prop_assert!(outcome.is_ok(), "seed {seed}, {}: {outcome:?}\n{data:?}", settings.method);
        }
    }
}
