//! Checks boxes, bounds and enumerations against all models: for every set of features, the whole ellipsoid of
//! coefficients within the ceiling. The reference side uses no code of the engine.

use std::borrow::Cow;

use super::Crew;
use super::ascent::{Ascent, Bounded};
use super::sweep::Round;
use super::*;
use crate::limits::Limits;
use crate::linalg::rounding::gamma;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    fn normal(&mut self) -> f64 {
        let uniform = |bits: u64| (bits >> 11) as f64 / (1u64 << 53) as f64;
        (0..12).map(|_| uniform(self.bits())).sum::<f64>() - 6.0
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Columns, response, ridges and a budget; more columns than rows.
struct Case {
    columns: Vec<Vec<f64>>,
    b: Vec<f64>,
    ridge: Vec<f64>,
    choice: Choice,
}

impl Case {
    fn new(seed: u64) -> Self {
        let random = &mut Random(seed);
        let d = 4 + random.below(6);
        let n = 2 + random.below(d - 2);
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for j in 0..d {
            let column = match random.below(12) {
                0 if j > 0 => columns[random.below(j)].clone(),
                1 if j > 0 => columns[random.below(j)].iter().map(|a| -2.0 * a).collect(),
                2 => vec![1.0; n],
                3 => vec![0.0; n],
                // Ties.
                4 | 5 => (0..n).map(|_| random.pick(&[-1.0, 0.0, 1.0])).collect(),
                _ => (0..n).map(|_| random.normal()).collect::<Vec<f64>>(),
            };
            columns.push(column);
        }
        let strong = (random.below(d), random.below(d));
        let noise = random.pick(&[0.0, 0.1, 1.0]);
        let mut b: Vec<f64> = (0..n)
            .map(|i| columns[strong.0][i] - columns[strong.1][i])
            .collect();
        for b in &mut b {
            *b += noise * random.normal();
        }
        let level = random.pick(&[1e-4, 1e-2, 0.3]);
        let mut ridge: Vec<f64> = (0..d)
            .map(|_| level * random.pick(&[1.0, 1.0, 2.0]))
            .collect();
        // Units, by powers of two: of single columns, and of the response.
        if random.below(3) == 0 {
            for (column, ridge) in columns.iter_mut().zip(&mut ridge) {
                let unit = f64::powi(2.0, random.pick(&[-60, -8, 0, 0, 5, 70]));
                column.iter_mut().for_each(|a| *a *= unit);
                *ridge *= unit * unit;
            }
        }
        let unit = f64::powi(2.0, random.pick(&[-40, 0, 0, 0, 33]));
        b.iter_mut().for_each(|b| *b *= unit);
        let mut most = 1 + random.below(4.min(d - 1));
        let mut price = 0.0;
        if random.below(2) == 0 {
            // Prices that matter, with or without a small budget.
            let size: f64 = b.iter().map(|b| 0.5 * b * b).sum();
            price = size * random.pick(&[1e-6, 0.01, 0.05, 0.2, 0.7]);
            most = random.pick(&[most, d]);
        }
        Self {
            columns,
            b,
            ridge,
            choice: Choice { most, price },
        }
    }

    fn quadratic(&self) -> Quadratic<'static> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let d = self.columns.len();
        let mut h: Vec<f64> = Vec::new();
        for i in 0..d {
            h.extend((0..d).map(|j| dot(&self.columns[i], &self.columns[j])));
            h[i * d + i] += self.ridge[i];
        }
        let c0 = 0.5 * dot(&self.b, &self.b);
        let sizes = (0..d).map(|i| h[i * d + i].sqrt() * (1.0 + 1e-9));
        Quadratic {
            sizes: sizes.collect(),
            h: Cow::Owned(h),
            c: self.columns.iter().map(|a| dot(a, &self.b)).collect(),
            c0,
            ridge: self.ridge.clone(),
            response: (2.0 * c0).sqrt() * (1.0 + 1e-9),
            share: gamma(self.b.len() + 8),
        }
    }
}

/// A set of features with its least P plus price, the coefficients there, and the diagonal of its inverse Hessian.
struct Fitted {
    set: Vec<usize>,
    value: f64,
    x: Vec<f64>,
    inverse: Vec<f64>,
}

/// Fits all sets that may be chosen, prices included in the values. It uses Gauss–Jordan elimination in units in which
/// the Hessian has ones on its diagonal.
fn all_sets(quadratic: &Quadratic, choice: Choice) -> Vec<Fitted> {
    let d = quadratic.c.len();
    let mut found = Vec::new();
    for mask in 0_u32..1 << d {
        if mask.count_ones() as usize > choice.most {
            continue;
        }
        let set: Vec<usize> = (0..d).filter(|i| mask >> i & 1 == 1).collect();
        let m = set.len();
        let unit: Vec<f64> = set.iter().map(|i| quadratic.h[i * d + i].sqrt()).collect();
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for (r, i) in set.iter().enumerate() {
            let mut row: Vec<f64> = set
                .iter()
                .enumerate()
                .map(|(c, j)| quadratic.h[i * d + j] / (unit[r] * unit[c]))
                .collect();
            row.extend((0..m).map(|c| f64::from(u8::from(c == r))));
            row.push(quadratic.c[*i] / unit[r]);
            rows.push(row);
        }
        for p in 0..m {
            let pivot = rows[p][p];
            rows[p].iter_mut().for_each(|v| *v /= pivot);
            for r in 0..m {
                if r != p {
                    let (factor, row) = (rows[r][p], rows[p].clone());
                    rows[r]
                        .iter_mut()
                        .zip(row)
                        .for_each(|(v, w)| *v -= factor * w);
                }
            }
        }
        let x: Vec<f64> = (0..m).map(|r| rows[r][2 * m] / unit[r]).collect();
        let gain: f64 = set.iter().zip(&x).map(|(i, x)| quadratic.c[*i] * x).sum();
        let inverse = (0..m).map(|r| rows[r][m + r] / (unit[r] * unit[r]));
        found.push(Fitted {
            value: quadratic.c0 - 0.5 * gain + m as f64 * choice.price,
            x,
            inverse: inverse.collect(),
            set,
        });
    }
    found
}

/// Relative error allowed for the elimination itself.
const ROOM: f64 = 1e-8;

fn check(seed: u64) {
    let case = Case::new(seed);
    let quadratic = case.quadratic();
    let choice = case.choice;
    let sets = all_sets(&quadratic, choice);
    let least = sets
        .iter()
        .map(|fit| fit.value)
        .fold(f64::INFINITY, f64::min);
    let room = ROOM * quadratic.c0;
    let wider = Random(seed ^ 0x55).pick(&[1e-9, 1e-3, 0.05, 0.5, 3.0]);
    let ceiling = least.max(0.0) * (1.0 + wider) + 4.0 * room;
    let limits = Limits::none();
    let mut boxes = Boxes::new(&quadratic, choice, ceiling);
    let mut crew = Crew::new(1 + seed as usize % 3);
    if seed & 1 == 0 {
        assert!(boxes.begin(&quadratic, choice, &mut crew, &limits));
    }
    for round in 0..4 {
        for fit in sets.iter().filter(|fit| fit.value <= ceiling) {
            let slack = 2.0 * (ceiling - fit.value - room).max(0.0);
            for (at, i) in fit.set.iter().enumerate() {
                let reach = (slack * fit.inverse[at]).sqrt();
                let (low, high) = boxes.boxes()[*i].bounds();
                let spare = ROOM * (fit.x[at].abs() + reach);
                let inside = low - spare <= fit.x[at] - reach && fit.x[at] + reach <= high + spare;
                assert!(
                    inside,
                    "seed {seed}, round {round}: {:?} has x_{i} = {} ± {reach}, not in [{low}, {high}]",
                    fit.set, fit.x[at]
                );
            }
            if fit.value <= ceiling - room {
                let lacking =
                    (0..quadratic.size()).find(|i| boxes.is_needed(*i) && !fit.set.contains(i));
                assert!(
                    lacking.is_none(),
                    "seed {seed}: {:?} lacks {lacking:?}",
                    fit.set
                );
            }
        }
        let node = Bounded {
            quadratic: &quadratic,
            boxes: boxes.boxes(),
            choice: choice.within(ceiling),
            ceiling,
        };
        let mut ascent = Ascent::default();
        let bound = ascent.maximise(&node, &[], f64::INFINITY, &limits);
        assert!(
            bound.value() <= least + room,
            "seed {seed}: {bound:?}, {least}"
        );
        for side in ascent.children(&node, |i| i).other_sides {
            let (i, inside, other) = (side.feature, side.is_out, side.bound);
            let follows = |fit: &&Fitted| fit.set.contains(&i) != inside;
            let rest = sets.iter().filter(follows).map(|fit| fit.value);
            let rest = rest.fold(f64::INFINITY, f64::min);
            assert!(
                other.value() <= rest.min(ceiling) + room,
                "seed {seed}: {i}, {inside}"
            );
        }
        let within = choice.within(ceiling);
        if within.most <= 2 {
            let (_, bound) = few::enumerate(&quadratic, boxes.boxes(), within, ceiling);
            assert!(
                bound.value() <= least + room,
                "seed {seed}: {bound:?}, {least}"
            );
            assert!(
                bound.value() >= least - 10.0 * room - 1e-250,
                "seed {seed}: {bound:?}, {least}"
            );
        }
        let done = boxes.round(&quadratic, choice, &mut crew, &limits);
        assert!(done != Round::Stopped);
    }
}

/// Checks 2,000 problems, or the number given in `L0STAR_BOXES_CASES`.
#[test]
fn every_model_within_the_ceiling_is_in_its_boxes() {
    let wanted = std::env::var("L0STAR_BOXES_CASES").ok();
    let cases = wanted.and_then(|text| text.parse().ok()).unwrap_or(2000);
    (0..cases).for_each(check);
}

/// A limit ends the work and keeps what was proved.
#[test]
fn a_limit_stops_between_sides() {
    let case = Case::new(7);
    let quadratic = case.quadratic();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let limits = Limits::new(&crate::Settings {
        interrupt: Some(stop),
        ..crate::Settings::default()
    });
    let choice = Choice {
        most: 2,
        price: 0.0,
    };
    let mut boxes = Boxes::new(&quadratic, choice, quadratic.c0);
    let before: Vec<ProvedBox> = boxes.boxes().to_vec();
    assert!(!boxes.begin(&quadratic, choice, &mut Crew::default(), &limits));
    let round = boxes.round(&quadratic, choice, &mut Crew::default(), &limits);
    assert_eq!(round, Round::Stopped);
    assert_eq!(boxes.boxes(), before);
}

/// The thread that visits a column is left to chance and does not change the result.
#[test]
fn several_threads_prove_the_same_boxes_every_time() {
    let case = Case::new(5);
    let (quadratic, choice) = (case.quadratic(), case.choice);
    let proved = |threads: usize| {
        let mut boxes = Boxes::new(&quadratic, choice, quadratic.c0);
        let mut crew = Crew::new(threads);
        assert!(boxes.begin(&quadratic, choice, &mut crew, &Limits::none()));
        boxes.round(&quadratic, choice, &mut crew, &Limits::none());
        boxes.boxes().to_vec()
    };
    for threads in [2, 3] {
        let first = proved(threads);
        assert!((0..20).all(|_| proved(threads) == first));
    }
}

/// A NaN or infinite ceiling proves nothing.
#[test]
fn nothing_is_proved_from_numbers_that_are_none() {
    let case = Case::new(11);
    let quadratic = case.quadratic();
    for ceiling in [f64::NAN, f64::INFINITY] {
        for price in [0.0, 0.1 * quadratic.c0] {
            let choice = Choice { most: 2, price };
            assert_eq!(choice.within(ceiling), choice);
            let mut boxes = Boxes::new(&quadratic, choice, ceiling);
            boxes.round(&quadratic, choice, &mut Crew::default(), &Limits::none());
            assert!(boxes.boxes().iter().all(|known| known.reach() == f64::MAX));
        }
    }
}
