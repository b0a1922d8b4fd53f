//! The truth by other means: dense data, every set of columns, plain Newton steps with Gaussian elimination. Only the
//! problem itself is the engine's, so that an error shared by all its methods is detected, too.

use std::num::NonZeroUsize;

use crate::cases::cases;
use crate::common::{self, Random};
use l0star::{Design, Method, PathRun, Problem, Settings, Status, loss, solve};
use proptest::prelude::*;

/// A problem in plain numbers.
#[derive(Debug)]
struct Dense {
    loss: &'static str,
    delta: f64,
    columns: Vec<Vec<f64>>,
    b: Vec<f64>,
    weights: Vec<f64>,
    offset: Vec<f64>,
    ridge: f64,
    intercept: bool,
    standardize: bool,
    k: usize,
}

impl Dense {
    fn draw(seed: u64, loss: &'static str) -> Self {
        let mut random = Random::new(seed ^ 0x0DDB_1A5E_5BAD_5EED);
        let d = 1 + random.below(6);
        let most = if random.chance(0.3) { d + 1 } else { 20 };
        let n = 2 + random.below(most);
        let unit = [1.0, 1.0, 1e-5, 1e6][random.below(4)];
        let far = if random.chance(0.2) { 1e3 } else { 0.0 };
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for j in 0..d {
            // A column is a copy, zeros, a few levels or random numbers.
            let column = match random.below(8) {
                0 if j > 0 => columns[random.below(j)].clone(),
                1 => vec![0.0; n],
                2 => (0..n)
                    .map(|_| unit * random.below(3) as f64)
                    .collect::<Vec<f64>>(),
                _ => (0..n).map(|_| unit * (random.normal() + far)).collect(),
            };
            columns.push(column);
        }
        let labels = loss == "logistic" || loss == "squared-hinge";
        let mut b: Vec<f64> = (0..n)
            .map(|i| {
                let signal: f64 = columns.iter().map(|column| column[i] / unit - far).sum();
                signal + random.normal()
            })
            .collect();
        if labels {
            b.iter_mut().for_each(|b| *b = b.signum());
            (b[0], b[1]) = (1.0, -1.0);
        } else if loss == "poisson" || loss == "gamma" {
            b.iter_mut().for_each(|b| *b *= 0.5);
            // Plain Newton steps have too few digits for other units.
            common::log_linked(&mut b, loss);
        }
        let is_weighted = random.chance(0.3);
        let weight = |random: &mut Random| 0.1 + random.uniform();
        Self {
            loss,
            delta: [0.3, 2.0][random.below(2)],
            b,
            weights: (0..n)
                .map(|_| {
                    if is_weighted {
                        weight(&mut random)
                    } else {
                        1.0
                    }
                })
                .collect(),
            offset: (0..n)
                .map(|_| if is_weighted { random.normal() } else { 0.0 })
                .collect(),
            ridge: 10f64.powf(-3.0 * random.uniform()) * unit * unit,
            intercept: random.chance(0.5),
            standardize: false,
            k: 1 + random.below(d),
            columns,
        }
    }

    /// The problem for the engine.
    fn problem(&self) -> Problem {
        let (n, d) = (self.b.len(), self.columns.len());
        let design = Design::dense(n, d, self.columns.concat()).unwrap();
        Problem::builder(design, self.b.clone())
            .loss(loss::by_name(self.loss, self.delta).unwrap())
            .standardize(self.standardize)
            .weights(self.weights.clone())
            .offset(self.offset.clone())
            .ridge(self.ridge)
            .intercept(self.intercept)
            .k(self.k)
            .build()
            .unwrap()
    }

    /// Value, slope and curvature of the loss of a row.
    fn terms(&self, z: f64, b: f64) -> (f64, f64, f64) {
        let (r, m) = (z - b, b * z);
        match self.loss {
            "quadratic" => (0.5 * r * r, r, 1.0),
            "huber" if r.abs() <= self.delta => (0.5 * r * r, r, 1.0),
            "huber" => {
                let size = self.delta * (r.abs() - 0.5 * self.delta);
                (size, self.delta * r.signum(), 0.0)
            }
            "squared-hinge" if m >= 1.0 => (0.0, 0.0, 0.0),
            "squared-hinge" => (0.5 * (1.0 - m).powi(2), -b * (1.0 - m), 1.0),
            "logistic" => {
                let value = (-m).max(0.0) + (-m.abs()).exp().ln_1p();
                let share = if m >= 0.0 {
                    (-m).exp() / (1.0 + (-m).exp())
                } else {
                    1.0 / (1.0 + m.exp())
                };
                (value, -b * share, share * (1.0 - share))
            }
            "poisson" => {
                let constant = if b > 0.0 { b * b.ln() - b } else { 0.0 };
                (z.exp() - b * z + constant, z.exp() - b, z.exp())
            }
            "gamma" => {
                let share = b * (-z).exp();
                (share + z - b.ln() - 1.0, 1.0 - share, share)
            }
            other => panic!("the oracle does not know the loss {other}"),
        }
    }

    /// The ridge of a column in the units of the data.
    fn ridge_of(&self, j: usize) -> f64 {
        if !self.standardize {
            return self.ridge;
        }
        // A constant column is divided by its absolute value.
        let own = &self.columns[j];
        if own.iter().all(|a| *a == own[0]) {
            let size = if own[0] == 0.0 { 1.0 } else { own[0] };
            return self.ridge * size * size;
        }
        let total: f64 = self.weights.iter().sum();
        let rows = || self.columns[j].iter().zip(&self.weights);
        let mean = rows().map(|(a, w)| a * w).sum::<f64>() / total;
        let square = rows().map(|(a, w)| w * (a - mean).powi(2)).sum::<f64>() / total;
        self.ridge * square
    }

    /// The least P over a set of columns.
    fn minimum(&self, set: &[usize]) -> f64 {
        let ones = vec![1.0; self.b.len()];
        let mut used: Vec<(&[f64], f64)> = set
            .iter()
            .map(|j| (&self.columns[*j][..], self.ridge_of(*j)))
            .collect();
        if self.intercept {
            used.push((&ones, 0.0));
        }
        let total: f64 = self.weights.iter().sum();
        let size = used.len();
        let rows = |x: &[f64], mut each: Box<dyn FnMut(usize, f64) + '_>| {
            for i in 0..self.b.len() {
                let sum: f64 = used.iter().zip(x).map(|((a, _), x)| a[i] * x).sum();
                each(i, sum + self.offset[i]);
            }
        };
        let value = |x: &[f64]| -> f64 {
            let mut sum = 0.0;
            rows(
                x,
                Box::new(|i, z| sum += self.weights[i] / total * self.terms(z, self.b[i]).0),
            );
            let penalty = used.iter().zip(x).map(|((_, ridge), x)| ridge * x * x);
            sum + 0.5 * penalty.sum::<f64>()
        };
        let mut x = vec![0.0; size];
        let mut at = value(&x);
        // Steps are damped until they decrease P: where a loss is flat, it has no curvature.
        let mut damping = 1e-14;
        for _ in 0..2000 {
            let mut slope: Vec<f64> = used.iter().zip(&x).map(|((_, r), x)| r * x).collect();
            let mut matrix = vec![vec![0.0; size]; size];
            rows(
                &x,
                Box::new(|i, z| {
                    let weight = self.weights[i] / total;
                    let (_, first, second) = self.terms(z, self.b[i]);
                    for (r, (a, _)) in used.iter().enumerate() {
                        slope[r] += weight * first * a[i];
                        for (c, (other, _)) in used.iter().enumerate() {
                            matrix[r][c] += weight * second * a[i] * other[i];
                        }
                    }
                }),
            );
            for (r, (a, ridge)) in used.iter().enumerate() {
                let scale = a.iter().map(|v| v * v).sum::<f64>() / a.len() as f64;
                matrix[r][r] += ridge + damping * (scale + ridge).max(f64::MIN_POSITIVE);
            }
            let step = eliminate(matrix, slope);
            let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x - s).collect();
            let there = value(&next);
            if there < at {
                (x, at) = (next, there);
                damping = (damping / 10.0).max(1e-14);
            } else if damping > 1e6 {
                break;
            } else {
                damping *= 10.0;
            }
        }
        at
    }

    /// The least P of every set of at most k columns, in increasing order.
    fn minima(&self, k: usize) -> Vec<f64> {
        let d = self.columns.len();
        let sets = (0_usize..1 << d).filter(|bits| bits.count_ones() as usize <= k);
        let set = |bits: usize| (0..d).filter(|j| bits >> j & 1 == 1).collect::<Vec<_>>();
        let mut all: Vec<f64> = sets.map(|bits| self.minimum(&set(bits))).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// Largest distance of the engine from a minimum: its promise plus the rounding of plain sums.
    fn room(&self, minimum: f64) -> f64 {
        let sizes = match self.loss {
            // These terms cancel where a fit is perfect.
            "poisson" | "gamma" => self.b.iter().fold(1.0, |most: f64, b| most.max(b.abs())),
            _ => 0.0,
        };
        2e-9 * minimum + 1e-12 * self.minimum(&[]) + 1e-14 * sizes
    }
}

/// Solves linear equations by Gaussian elimination with pivots.
fn eliminate(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for c in 0..size {
        let pivot = (c..size).max_by(|a, b| matrix[*a][c].abs().total_cmp(&matrix[*b][c].abs()));
        let pivot = pivot.unwrap_or(c);
        matrix.swap(c, pivot);
        right.swap(c, pivot);
        if matrix[c][c] == 0.0 {
            right[c] = 0.0;
            continue;
        }
        let (above, below) = matrix.split_at_mut(c + 1);
        let row = &above[c];
        for (r, other) in below.iter_mut().enumerate() {
            let factor = other[c] / row[c];
            for (o, v) in other.iter_mut().zip(row) {
                *o -= factor * v;
            }
            right[c + 1 + r] -= factor * right[c];
        }
    }
    for c in (0..size).rev() {
        let known: f64 = (c + 1..size).map(|j| matrix[c][j] * right[j]).sum();
        if matrix[c][c] != 0.0 {
            right[c] = (right[c] - known) / matrix[c][c];
        }
    }
    right
}

fn losses() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(loss::NAMES)
}

proptest! {
    #![proptest_config(cases(300, 71))]

    #[test]
    fn every_exact_method_finds_the_least_of_all_sets(
        seed in any::<u64>(), loss in losses(), standardize in any::<bool>(),
    ) {
        let mut data = Dense { standardize, ..Dense::draw(seed, loss) };
        if standardize {
            // The ridge of standardised columns has no unit.
            data.ridge = 0.01;
        }
        let (problem, truth) = (data.problem(), data.minima(data.k)[0]);
        let room = data.room(truth);
        for method in [Method::Exhaustive, Method::BestFirst, Method::Paper] {
            if !common::suits(&problem, method) {
                continue;
            }
            let found = solve(&problem, &Settings::new(method)).unwrap();
            prop_assert_eq!(found.status, Status::Optimal, "{} {:?}", method, data);
            let error = found.objective - truth;
            prop_assert!(error.abs() <= room, "{method}: {} and {truth}, {data:?}", found.objective);
            let bound = found.lower_bound.unwrap();
            prop_assert!(bound <= truth + room, "{method}: bound {bound} above {truth}, {data:?}");
        }
    }

    #[test]
    fn lists_are_the_least_sets_in_order(seed in any::<u64>(), loss in losses(), top in 2..6_usize) {
        let data = Dense::draw(seed, loss);
        let all = data.minima(data.k);
        let settings = Settings { top: NonZeroUsize::new(top), ..Settings::default() };
        let found = solve(&data.problem(), &settings).unwrap();
        prop_assert_eq!(found.solutions.len(), top.min(all.len()));
        for (own, truth) in found.solutions.iter().zip(&all) {
            let error = (own.objective - truth).abs();
            prop_assert!(error <= data.room(*truth), "{} and {truth}, {data:?}", own.objective);
        }
    }

    #[test]
    fn every_size_of_a_path_is_the_least_of_its_sets(seed in any::<u64>(), loss in losses()) {
        let data = Dense::draw(seed, loss);
        let path = PathRun::new(&data.problem(), &Settings::default(), 0..=data.k).solve().unwrap();
        for point in path {
            let truth = data.minima(point.k)[0];
            let error = (point.solution.objective - truth).abs();
            prop_assert!(error <= data.room(truth), "{} of {truth}, {data:?}", point.k);
        }
    }
}
