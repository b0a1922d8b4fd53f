//! Seed 1 of every generator, to the last bit: a published instance must never change silently.
//!
//! The numbers were checked against an independent implementation of the documented order of draws (including
//! ChaCha8), which agrees up to the rounding of its own `log` and `exp`.

use l0star_data::Instance;
use l0star_data::generate::{self, rng::Stream};

/// Returns the first and last entries of the design and of the response, and the sum of the table.
fn fingerprint(instance: &Instance) -> [f64; 5] {
    let (a, b) = (instance.design(), instance.response());
    let sum = instance.table().values().iter().sum();
    [a[0], a[a.len() - 1], b[0], b[b.len() - 1], sum]
}

#[test]
fn the_stream_of_seed_1() {
    let mut stream = Stream::new(1);
    assert_eq!(stream.uniform(), 0.381489413238261);
    assert_eq!(stream.normal(), -0.6440922682786837);
}

#[test]
fn huber_of_seed_1() {
    let instance = generate::huber(12, 3, 40, 1).unwrap();
    assert_eq!(instance.support(), [1, 3, 10]);
    assert_eq!(
        fingerprint(&instance),
        [
            0.012352974072567177,
            0.04213597425915765,
            0.34697079497576455,
            0.07290601927833448,
            -13.274644704328376,
        ]
    );
}

#[test]
fn logistic_of_seed_1() {
    let instance = generate::logistic(12, 3, 40, 1).unwrap();
    assert_eq!(instance.support(), [1, 3, 10]);
    assert_eq!(
        fingerprint(&instance),
        [
            -0.2998389491654678,
            -0.11573960392366221,
            -1.0,
            1.0,
            -9.945802899720604,
        ]
    );
}

#[test]
fn ar_of_seed_1() {
    let instance = generate::ar(12, 3, 40, 0.5, 2.0, 1).unwrap();
    assert_eq!(instance.support(), [2, 6, 10]);
    assert_eq!(
        fingerprint(&instance),
        [
            -0.8649999834073475,
            -0.94731488506347,
            -1.8715507113862269,
            -2.1031705481906933,
            9.719470889669143,
        ]
    );
}
