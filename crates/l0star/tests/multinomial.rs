//! The multinomial loss against its definition, brute force and what cannot be.
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
    #![proptest_config(cases(150, 6))]

    #[test]
    fn it_finds_the_optimum_of_the_definition(seed in any::<u64>()) {
        let data = Data::draw_classes(seed);
        let two = Settings { threads: NonZeroUsize::new(2), ..Settings::default() };
        for settings in [Settings::default(), two, Settings::new(Method::Exhaustive)] {
            let outcome = check(&data, &settings);
            prop_assert!(outcome.is_ok(), "seed {seed}, {}: {outcome:?}\n{data:?}", settings.method);
        }
    }
}
