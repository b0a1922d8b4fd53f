//! Random losses, responses, predictions and slopes, and plain numerical minimisation.

use std::sync::Arc;

use l0star::loss::{self, Loss, ResponseKind};

use crate::common::Random;

pub const DRAWS: u64 = 1000;

/// Every loss by name; Huber's with corners far inside, near and far outside the draws.
pub fn all() -> Vec<(String, Arc<dyn Loss>)> {
    let mut losses = Vec::new();
    for name in loss::NAMES {
        let deltas: &[f64] = if *name == "huber" {
            &[1e-3, 0.1, 1.0, 1.345, 10.0, 1e3]
        } else {
            &[1.0]
        };
        for delta in deltas {
            let loss = loss::by_name(name, *delta).unwrap();
            losses.push((format!("{name} (δ {delta})"), loss));
        }
    }
    losses
}

/// Calls `check` with each loss, a response and a source of further random numbers.
pub fn each(mut check: impl FnMut(&str, &dyn Loss, f64, &mut Random)) {
    for (words, loss) in all() {
        for seed in 0..DRAWS {
            let mut random = Random::new(seed);
            let b = match loss.response() {
                ResponseKind::Label => f64::from(i8::from(random.chance(0.5))) * 2.0 - 1.0,
                ResponseKind::Real if random.chance(0.2) => 0.0,
                ResponseKind::Real => wide(&mut random, -3.0, 3.0),
                ResponseKind::Count if random.chance(0.2) => 0.0,
                ResponseKind::Count if random.chance(0.5) => random.below(20) as f64,
                ResponseKind::Class => random.below(3) as f64,
                ResponseKind::Count | ResponseKind::Positive | ResponseKind::Time => {
                    wide(&mut random, -6.0, 6.0).abs()
                }
            };
            check(&format!("{words}, seed {seed}"), &*loss, b, &mut random);
        }
    }
}

/// Two responses that the loss can have.
pub fn some_responses(loss: &dyn Loss) -> [f64; 2] {
    match loss.response() {
        ResponseKind::Real | ResponseKind::Label => [-1.0, 1.0],
        ResponseKind::Count => [0.0, 3.0],
        ResponseKind::Class => [0.0, 1.0],
        ResponseKind::Positive | ResponseKind::Time => [0.5, 1.0],
    }
}

/// A number of either sign whose size is between these powers of ten.
pub fn wide(random: &mut Random, low: f64, high: f64) -> f64 {
    let size = 10f64.powf(low + (high - low) * random.uniform());
    if random.chance(0.5) { size } else { -size }
}

/// A prediction of any size, sometimes near the response, where the loss has its kink.
pub fn prediction(random: &mut Random, loss: &dyn Loss, b: f64) -> f64 {
    let b = loss.anchor(b).1;
    match random.below(3) {
        0 => wide(random, -8.0, 6.0),
        1 => b + wide(random, -8.0, 2.0),
        _ => 3.0 * random.normal(),
    }
}

/// The least value of a convex function over `[low, high]`, by ternary search.
pub fn least(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let mut best = f(low).min(f(high));
    for _ in 0..300 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        let (at_left, at_right) = (f(left), f(right));
        best = best.min(at_left).min(at_right);
        if at_left <= at_right {
            high = right;
        } else {
            low = left;
        }
    }
    best
}

/// The root of a non-decreasing function, by bisection.
pub fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..400 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        if f(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// A slope in the domain: one of its ends, or a value between them (up to a finite size where the domain is
/// unbounded).
pub fn dual(random: &mut Random, loss: &dyn Loss, b: f64) -> f64 {
    let (low, high) = loss.domain(b);
    let (low, high) = (low.max(-50.0), high.min(50.0));
    match random.below(6) {
        0 => low,
        1 => high,
        _ => low + (high - low) * random.uniform(),
    }
}
