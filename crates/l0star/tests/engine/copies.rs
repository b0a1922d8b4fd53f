//! Data with copies of columns, and their optima by enumeration of all sets.
#![allow(dead_code)]

use l0star::{Design, Problem, loss};

use crate::common::Random;

/// Columns, a response and options.
#[derive(Debug, Clone)]
pub struct Data {
    pub columns: Vec<Vec<f64>>,
    pub response: Vec<f64>,
    pub ridge: f64,
    pub intercept: bool,
    pub standardize: bool,
}

impl Data {
    pub fn problem(&self, loss: &str, k: usize) -> Problem {
        let rows = self.response.len();
        let design = Design::dense(rows, self.columns.len(), self.columns.concat()).unwrap();
        Problem::builder(design, self.response.clone())
            .loss(loss::by_name(loss, 1.0).unwrap())
            .k(k)
            .ridge(self.ridge)
            .intercept(self.intercept)
            .standardize(self.standardize)
            .build()
            .unwrap()
    }

    /// The least objective of the quadratic loss with at most k columns.
    pub fn optimum(&self, k: usize) -> f64 {
        let all = self.sets(k).into_iter().map(|(value, _)| value);
        all.fold(f64::INFINITY, f64::min)
    }

    /// Every set of at most k columns with the least objective of the quadratic loss, by enumeration and elimination,
    /// without the engine.
    pub fn sets(&self, k: usize) -> Vec<(f64, Vec<usize>)> {
        let n = self.response.len() as f64;
        let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
        let centred = |v: &Vec<f64>| -> Vec<f64> {
            let centre = if self.intercept { mean(v) } else { 0.0 };
            v.iter().map(|v| v - centre).collect()
        };
        let y = centred(&self.response);
        let columns: Vec<Vec<f64>> = self
            .columns
            .iter()
            .map(|column| {
                let m = mean(column);
                let sd = mean(&column.iter().map(|v| (v - m).powi(2)).collect::<Vec<_>>()).sqrt();
                let scale = if self.standardize { sd } else { 1.0 };
                centred(column).iter().map(|v| v / scale).collect()
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / n;
        let mut all = vec![(0.5 * dot(&y, &y), Vec::new())];
        for set in 1u32..1 << columns.len() {
            if set.count_ones() as usize > k {
                continue;
            }
            let names: Vec<usize> = (0..columns.len()).filter(|j| set >> j & 1 == 1).collect();
            let chosen: Vec<&Vec<f64>> = names.iter().map(|j| &columns[*j]).collect();
            let size = chosen.len();
            let mut rows: Vec<Vec<f64>> = (0..size)
                .map(|i| {
                    let mut row: Vec<f64> = (0..size).map(|j| dot(chosen[i], chosen[j])).collect();
                    row[i] += self.ridge;
                    row.push(dot(chosen[i], &y));
                    row
                })
                .collect();
            for i in 0..size {
                let pivot = rows[i].clone();
                for row in rows.iter_mut().skip(i + 1) {
                    let factor = row[i] / pivot[i];
                    row.iter_mut()
                        .zip(&pivot)
                        .for_each(|(v, p)| *v -= factor * p);
                }
            }
            let mut x = vec![0.0; size];
            for i in (0..size).rev() {
                let known: f64 = (i + 1..size).map(|j| rows[i][j] * x[j]).sum();
                x[i] = (rows[i][size] - known) / rows[i][i];
            }
            let residual: Vec<f64> = (0..y.len())
                .map(|row| y[row] - (0..size).map(|i| chosen[i][row] * x[i]).sum::<f64>())
                .collect();
            let value = 0.5 * dot(&residual, &residual)
                + 0.5 * self.ridge * x.iter().map(|x| x * x).sum::<f64>();
            all.push((value, names));
        }
        all
    }
}

/// Draws few columns, and copies of some of them: multiplied, negated, or shifted where there is an intercept.
pub fn draw(seed: u64) -> (Data, usize) {
    let mut random = Random::new(seed);
    let (n, d) = (4 + random.below(16), 2 + random.below(4));
    let mut columns: Vec<Vec<f64>> = (0..d)
        .map(|_| (0..n).map(|_| random.normal()).collect())
        .collect();
    let signal: Vec<f64> = (0..n)
        .map(|i| {
            columns
                .iter()
                .enumerate()
                .map(|(j, c)| c[i] / (1.0 + j as f64))
                .sum()
        })
        .collect();
    let response = signal.iter().map(|s| s + 0.4 * random.normal()).collect();
    let (intercept, standardize) = (random.chance(0.6), random.chance(0.7));
    // Raw columns of such different sizes would leave too few digits for a proof in double precision.
    let unit = if standardize { 1e6 } else { 3.0 };
    for _ in 0..1 + random.below(3) {
        let from = random.below(columns.len());
        let factor = [1.0, -1.0, 2.54, -0.25, unit][random.below(5)];
        let shift = if intercept {
            [0.0, 32.0][random.below(2)]
        } else {
            0.0
        };
        let copy = columns[from].iter().map(|v| factor * v + shift).collect();
        let at = random.below(columns.len() + 1);
        columns.insert(at, copy);
    }
    let data = Data {
        ridge: 10f64.powf(-4.0 * random.uniform()),
        standardize,
        intercept,
        columns,
        response,
    };
    let k = 1 + random.below(data.columns.len());
    (data, k)
}

pub fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 2e-9 * a.abs().max(b.abs())
}

/// A problem that takes a tree, and one with copies of three of its columns.
pub fn hard(loss: &str) -> (Data, Data) {
    let mut random = Random::new(7);
    let (n, d) = (60, 24);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for _ in 0..d {
        let before = columns.last().cloned();
        let column = (0..n).map(|i| {
            let known = before.as_ref().map_or(0.0, |before| 0.8 * before[i]);
            known + 0.6 * random.normal()
        });
        let column = column.collect();
        columns.push(column);
    }
    let mut response: Vec<f64> = (0..n)
        .map(|i| (0..d).step_by(4).map(|j| columns[j][i]).sum::<f64>() + random.normal())
        .collect();
    if loss == "logistic" {
        response
            .iter_mut()
            .for_each(|b| *b = if *b > 0.0 { 1.0 } else { -1.0 });
    }
    let plain = Data {
        columns,
        response,
        ridge: 1e-3,
        intercept: true,
        standardize: true,
    };
    let mut copied = plain.clone();
    for (from, factor, shift) in [(0, 2.54, 0.0), (8, 1.0, 0.0), (12, -1.8, 32.0)] {
        let copy = plain.columns[from].iter().map(|v| factor * v + shift);
        copied.columns.push(copy.collect());
    }
    (plain, copied)
}
