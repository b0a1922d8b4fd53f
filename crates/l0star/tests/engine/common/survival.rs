//! Times until an event, and Cox's partial likelihood from its definition: loops over events and their risk sets, a
//! dense Newton method, every set of columns. This side uses nothing of the engine.

use std::sync::Arc;

use l0star::loss::{Cox, Ties};
use l0star::{Design, Problem};

use super::{Random, small_columns};

/// The rows' data for a loss of times.
#[derive(Debug, Clone)]
pub struct Times {
    pub times: Vec<f64>,
    pub events: Vec<bool>,
    /// Strata of the rows; empty where there are none.
    pub strata: Vec<u32>,
    pub entry: Vec<f64>,
    pub ties: Ties,
}

impl Times {
    /// Draws times that roughly decrease with b: distinct, tied, or all equal; with or without censoring, strata and
    /// truncation. The first row has an event.
    pub fn draw(b: &[f64], random: &mut Random) -> Self {
        let n = b.len();
        let noise = [0.0, 0.3, 1.0][random.below(3)];
        let mut times: Vec<f64> = b
            .iter()
            .map(|b| (-b.clamp(-5.0, 5.0) + noise * random.normal()).exp())
            .collect();
        match random.below(8) {
            0 => times.fill(3.0),
            1..4 => times.iter_mut().for_each(|t| *t = t.ceil().min(6.0)),
            4 => times.iter_mut().for_each(|t| *t *= 1e9),
            5 => times.iter_mut().for_each(|t| *t *= 1e-9),
            _ => {}
        }
        let share = [0.2, 0.7, 1.0][random.below(3)];
        let mut events: Vec<bool> = (0..n).map(|_| random.chance(share)).collect();
        events[0] = true;
        let mut strata = Vec::new();
        if random.chance(0.3) {
            let count = 1 + random.below(4);
            strata = (0..n).map(|_| 7 * random.below(count) as u32).collect();
            if random.chance(0.3) {
                // A stratum without an event.
                (1..n)
                    .filter(|i| strata[*i] != strata[0])
                    .for_each(|i| events[i] = false);
            }
        }
        let late = random.chance(0.25);
        let entry = |t: &f64| match random.below(3) {
            0 => -1.0,
            _ => t * (1.0 - 0.1 - 0.9 * random.uniform()) - 1e-12,
        };
        let entry = times.iter().filter(|_| late).map(entry).collect();
        let ties = [Ties::Efron, Ties::Efron, Ties::Breslow][random.below(3)];
        Self {
            times,
            events,
            strata,
            entry,
            ties,
        }
    }

    pub fn loss(&self) -> Arc<Cox> {
        let cox = Cox::new(self.events.clone()).ties(self.ties);
        Arc::new(cox.strata(self.strata.clone()).entry(self.entry.clone()))
    }

    fn is_at_risk(&self, i: usize, e: usize) -> bool {
        let has_entered = self.entry.get(i).is_none_or(|entry| *entry < self.times[e]);
        self.same_stratum(i, e) && self.times[i] >= self.times[e] && has_entered
    }

    fn is_tied(&self, i: usize, e: usize) -> bool {
        self.same_stratum(i, e) && self.times[i] == self.times[e] && self.events[i]
    }

    fn same_stratum(&self, i: usize, e: usize) -> bool {
        self.strata.is_empty() || self.strata[i] == self.strata[e]
    }

    /// The terms of the likelihood: the event, its weight, and the share of each row in its risk set.
    fn terms(&self, weights: &[f64]) -> Vec<(usize, f64, Vec<f64>)> {
        let rows = 0..self.times.len();
        let mut terms = Vec::new();
        for e in rows
            .clone()
            .filter(|e| self.events[*e] && weights[*e] > 0.0)
        {
            let tied: Vec<usize> = rows
                .clone()
                .filter(|i| self.is_tied(*i, e) && weights[*i] > 0.0)
                .collect();
            let (weight, place) = match self.ties {
                Ties::Breslow => (weights[e], 0.0),
                Ties::Efron => {
                    let mean = tied.iter().map(|i| weights[*i]).sum::<f64>() / tied.len() as f64;
                    let before = tied.iter().filter(|i| **i < e).count();
                    (mean, before as f64 / tied.len() as f64)
                }
            };
            let share = |i: usize| {
                if !self.is_at_risk(i, e) {
                    0.0
                } else if tied.contains(&i) {
                    weights[i] * (1.0 - place)
                } else {
                    weights[i]
                }
            };
            terms.push((e, weight, rows.clone().map(share).collect()));
        }
        terms
    }
}

/// A whole problem in plain numbers.
#[derive(Debug, Clone)]
pub struct Data {
    pub columns: Vec<Vec<f64>>,
    pub rows: Times,
    /// Weights of the rows; empty where there are none.
    pub weights: Vec<f64>,
    pub offset: Vec<f64>,
    pub ridge: f64,
    pub k: usize,
}

impl Data {
    pub fn draw(seed: u64) -> Self {
        let random = &mut Random::new(seed ^ 0x6A09_E667_F3BC_C908);
        let d = 1 + random.below(6);
        let n = match random.below(6) {
            0 => 1 + random.below(d + 1),
            _ => 3 + random.below(22),
        };
        let columns = small_columns(d, n, random);
        let b: Vec<f64> = (0..n)
            .map(|i| {
                let size = columns[0].iter().fold(1e-9, |m: f64, a| m.max(a.abs()));
                2.0 * columns[0][i] / size
            })
            .collect();
        let rows = Times::draw(&b, random);
        let mut weights: Vec<f64> = Vec::new();
        if random.chance(0.3) {
            let whole = random.chance(0.3);
            let one = |_| match random.below(8) {
                0 => 0.0,
                _ if whole => 1.0 + random.below(3) as f64,
                _ => 0.01 + random.uniform(),
            };
            weights = (0..n).map(one).collect();
            weights[0] = 1.0;
        }
        let offset = (0..n).map(|_| random.normal());
        let offset: Vec<f64> = offset.collect();
        Self {
            columns,
            rows,
            weights,
            offset: if random.chance(0.2) {
                offset
            } else {
                Vec::new()
            },
            ridge: [1e-6, 1e-3, 1e-2, 0.3][random.below(4)],
            k: random.below(d + 1),
        }
    }

    pub fn builder(&self) -> l0star::problem::Builder {
        let (n, d) = (self.rows.times.len(), self.columns.len());
        let design = Design::dense(n, d, self.columns.concat()).unwrap();
        let mut builder = Problem::builder(design, self.rows.times.clone())
            .loss(self.rows.loss())
            .standardize(false)
            .ridge(self.ridge)
            .k(self.k);
        if !self.weights.is_empty() {
            builder = builder.weights(self.weights.clone());
        }
        if !self.offset.is_empty() {
            builder = builder.offset(self.offset.clone());
        }
        builder
    }

    fn weights(&self) -> Vec<f64> {
        if self.weights.is_empty() {
            vec![1.0; self.rows.times.len()]
        } else {
            self.weights.clone()
        }
    }

    /// The weights as they are used in risk sets, and their sum; the unit is the smallest weight of an event.
    fn units(&self) -> (Vec<f64>, f64) {
        let weights = self.weights();
        let of_events = weights.iter().zip(&self.rows.events);
        let of_events = of_events.filter(|(weight, event)| **event && **weight > 0.0);
        let unit = of_events
            .map(|(weight, _)| *weight)
            .fold(f64::INFINITY, f64::min);
        let total = weights.iter().sum::<f64>() / unit;
        (weights.iter().map(|weight| weight / unit).collect(), total)
    }

    /// P, its gradient and its Hessian at coefficients of some columns.
    pub fn evaluate(&self, set: &[usize], x: &[f64]) -> (f64, Vec<f64>, Vec<Vec<f64>>) {
        let (weights, total) = self.units();
        let size = set.len();
        // A constant changes nothing, and without it predictions have more digits.
        let centred = |i: usize, j: &usize| self.columns[*j][i] - self.columns[*j][0];
        let entry = |i: usize| -> Vec<f64> { set.iter().map(|j| centred(i, j)).collect() };
        let rows: Vec<Vec<f64>> = (0..weights.len()).map(entry).collect();
        let z: Vec<f64> = rows
            .iter()
            .enumerate()
            .map(|(i, row)| {
                let own: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
                own + self.offset.get(i).copied().unwrap_or(0.0)
            })
            .collect();
        let mut value = 0.0;
        let mut gradient = vec![0.0; size];
        let mut hessian = vec![vec![0.0; size]; size];
        for (e, weight, shares) in self.rows.terms(&weights) {
            let at_risk: Vec<usize> = (0..z.len()).filter(|i| shares[*i] > 0.0).collect();
            let highest = at_risk.iter().max_by(|i, j| z[**i].total_cmp(&z[**j]));
            let highest = *highest.unwrap();
            let (top, share) = (z[highest], shares[highest]);
            let others = at_risk.iter().filter(|i| **i != highest);
            let others: f64 = others.map(|i| shares[*i] * (z[*i] - top).exp()).sum();
            let sum = share + others;
            value += weight * (share.ln() + (others / share).ln_1p());
            value += weights[e] * (top - z[e]);
            let chance = |i: usize| shares[i] * (z[i] - top).exp() / sum;
            // With the means first, a variance is a sum of squares.
            let mean: Vec<f64> = (0..size)
                .map(|c| at_risk.iter().map(|i| chance(*i) * rows[*i][c]).sum())
                .collect();
            for r in 0..size {
                gradient[r] += weight * mean[r];
                for c in 0..size {
                    let products = at_risk
                        .iter()
                        .map(|i| chance(*i) * (rows[*i][r] - mean[r]) * (rows[*i][c] - mean[c]));
                    hessian[r][c] += weight * products.sum::<f64>();
                }
            }
        }
        for (i, weight) in weights.iter().enumerate() {
            if self.rows.events[i] {
                for r in 0..size {
                    gradient[r] -= weight * rows[i][r];
                }
            }
        }
        value /= total;
        for r in 0..size {
            gradient[r] = gradient[r] / total + self.ridge * x[r];
            hessian[r].iter_mut().for_each(|h| *h /= total);
            hessian[r][r] += self.ridge;
            value += 0.5 * self.ridge * x[r] * x[r];
        }
        (value, gradient, hessian)
    }

    /// The least P of a set.
    pub fn least(&self, set: &[usize]) -> f64 {
        let mut x = vec![0.0; set.len()];
        let (mut value, mut gradient, mut hessian) = self.evaluate(set, &x);
        for _ in 0..500 {
            let step = gauss(hessian.clone(), gradient.clone());
            let mut length = 1.0;
            let mut moved = false;
            while length > 1e-12 {
                let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x - length * s).collect();
                let found = self.evaluate(set, &next);
                if found.0 < value {
                    (x, (value, gradient, hessian)) = (next, found);
                    moved = true;
                    break;
                }
                length *= 0.5;
            }
            if !moved {
                break;
            }
        }
        value
    }

    /// The least P of all sets of at most k columns.
    pub fn optimum(&self) -> f64 {
        let d = self.columns.len();
        let sets = (0u32..1 << d).filter(|bits| bits.count_ones() as usize <= self.k);
        let minima = sets.map(|bits| {
            let set: Vec<usize> = (0..d).filter(|j| bits >> j & 1 == 1).collect();
            self.least(&set)
        });
        minima.fold(f64::INFINITY, f64::min)
    }
}

/// The solution of a linear system, by elimination with pivots.
pub fn gauss(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for c in 0..n {
        let Some(pivot) = (c..n).max_by(|r, s| a[*r][c].abs().total_cmp(&a[*s][c].abs())) else {
            break;
        };
        a.swap(c, pivot);
        b.swap(c, pivot);
        for r in 0..n {
            if r != c {
                let factor = a[r][c] / a[c][c];
                let above = a[c].clone();
                a[r].iter_mut()
                    .zip(&above)
                    .for_each(|(a, p)| *a -= factor * p);
                b[r] -= factor * b[c];
            }
        }
    }
    (0..n).map(|r| b[r] / a[r][r]).collect()
}
