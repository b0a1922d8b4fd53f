//! Checks the boxes of losses other than the quadratic against models.
//!
//! The models are minima of P over sets of features, and points of the surface `P(x) = ceiling` around them, in
//! random directions and where one coefficient is largest. A separate damped Newton method finds them, without code
//! of the engine.

use l0star::internals::Probed;

use super::common::Random;

/// Relative error allowed for the minimisation.
const ROOM: f64 = 1e-8;

/// The data of a problem, by columns.
pub struct Data<'a> {
    pub columns: &'a [Vec<f64>],
    pub response: &'a [f64],
    pub loss: &'a str,
    pub delta: f64,
    pub ridge: f64,
    pub intercept: bool,
}

/// A set of features with its least P and the minimiser: the coefficients of the set, and the intercept if there is
/// one.
pub struct Fit {
    pub set: Vec<usize>,
    pub value: f64,
    x: Vec<f64>,
}

impl Data<'_> {
    /// Returns `(l, l', l'')` of a row.
    fn row(&self, z: f64, b: f64) -> (f64, f64, f64) {
        match self.loss {
            "huber" => {
                let r = z - b;
                if r.abs() <= self.delta {
                    (0.5 * r * r, r, 1.0)
                } else {
                    let value = self.delta * (r.abs() - 0.5 * self.delta);
                    (value, self.delta * r.signum(), 0.0)
                }
            }
            "squared-hinge" => {
                let miss = (1.0 - b * z).max(0.0);
                (
                    0.5 * miss * miss,
                    -b * miss,
                    f64::from(u8::from(miss > 0.0)),
                )
            }
            _ => {
                let m = b * z;
                let wrong = 1.0 / (1.0 + m.exp());
                let value = (-m.abs()).exp().ln_1p() + (-m).max(0.0);
                (value, -b * wrong, wrong * (1.0 - wrong))
            }
        }
    }

    /// Returns the entry of the column at a place of the set; the last place is the intercept.
    fn entry(&self, set: &[usize], place: usize, row: usize) -> f64 {
        set.get(place).map_or(1.0, |j| self.columns[*j][row])
    }

    fn places(&self, set: &[usize]) -> usize {
        set.len() + usize::from(self.intercept)
    }

    pub fn value(&self, set: &[usize], x: &[f64]) -> f64 {
        let n = self.response.len();
        let one = |i: usize| {
            let z = (0..x.len()).map(|c| self.entry(set, c, i) * x[c]).sum();
            self.row(z, self.response[i]).0
        };
        let squares: f64 = x[..set.len()].iter().map(|x| x * x).sum();
        (0..n).map(one).sum::<f64>() / n as f64 + 0.5 * self.ridge * squares
    }

    /// Minimises P over a set; the coefficient at the place `held` stays fixed, if given.
    pub fn minimise(&self, set: &[usize], start: Vec<f64>, held: Option<usize>) -> Fit {
        let (n, m) = (self.response.len(), start.len());
        let mut x = start;
        let mut value = self.value(set, &x);
        let mut damping = 1e-13;
        for _ in 0..300 {
            let mut rows = vec![vec![0.0; m + 1]; m];
            for i in 0..n {
                let z = (0..m).map(|c| self.entry(set, c, i) * x[c]).sum();
                let (_, slope, curvature) = self.row(z, self.response[i]);
                for (r, row) in rows.iter_mut().enumerate() {
                    let a = self.entry(set, r, i) / n as f64;
                    row[m] -= a * slope;
                    for (c, entry) in row[..m].iter_mut().enumerate() {
                        *entry += a * curvature * self.entry(set, c, i);
                    }
                }
            }
            for (r, row) in rows.iter_mut().enumerate() {
                if r < set.len() {
                    row[r] += self.ridge;
                    row[m] -= self.ridge * x[r];
                }
                row[r] += damping * (1.0 + row[r]);
                if held == Some(r) {
                    row.fill(0.0);
                    row[r] = 1.0;
                }
            }
            let step = solve(rows);
            let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + s).collect();
            let at = self.value(set, &next);
            if at < value {
                let gain = value - at;
                (x, value) = (next, at);
                damping = (damping * 0.1).max(1e-13);
                if gain <= 1e-15 * value {
                    break;
                }
            } else if damping > 1e10 {
                break;
            } else {
                damping *= 10.0;
            }
        }
        Fit {
            set: set.to_vec(),
            value,
            x,
        }
    }

    /// Returns the fits of all sets of at most k columns.
    pub fn all_sets(&self, k: usize) -> Vec<Fit> {
        let masks = (0_u32..1 << self.columns.len()).filter(|m| m.count_ones() as usize <= k);
        let one = |mask: u32| {
            let all = 0..self.columns.len();
            let set: Vec<usize> = all.filter(|j| mask >> j & 1 == 1).collect();
            let start = vec![0.0; self.places(&set)];
            self.minimise(&set, start, None)
        };
        masks.map(one).collect()
    }

    /// Checks that what was proved of a node holds for the models of a set in it.
    pub fn check(&self, fit: &Fit, found: &Probed, random: &mut Random) -> Result<(), String> {
        let Fit { set, value, x } = fit;
        let room = ROOM * self.value(&[], &vec![0.0; usize::from(self.intercept)]);
        let is_wrong = |bound: f64| bound.is_nan() || bound > value + room;
        if is_wrong(found.bound) {
            return Err(format!("{set:?} has {value:e}, below {:e}", found.bound));
        }
        for (j, out, bound) in &found.others {
            if set.contains(j) != *out && is_wrong(*bound) {
                return Err(format!("{set:?} has {value:e}, a child of {j} {bound:e}"));
            }
        }
        let ceiling = found.ceiling - room;
        if *value > ceiling {
            return Ok(());
        }
        self.inside(set, x, found)?;
        for _ in 0..4 {
            let way: Vec<f64> = x.iter().map(|_| random.normal()).collect();
            let moved = |t: f64| -> Vec<f64> {
                let pairs = x.iter().zip(&way);
                pairs.map(|(x, w)| x + t * w).collect()
            };
            let t = last(|t| self.value(set, &moved(t)) <= ceiling);
            self.inside(set, &moved(t), found)?;
        }
        if !set.is_empty() && random.chance(0.1) {
            let at = random.below(set.len());
            let side = [-1.0, 1.0][random.below(2)];
            let held = |t: f64| {
                let mut start = x.clone();
                start[at] += side * t;
                self.minimise(set, start, Some(at))
            };
            let t = last(|t| held(t).value <= ceiling);
            self.inside(set, &held(t).x, found)?;
        }
        Ok(())
    }

    /// Checks that the coefficients of a model with P up to the ceiling are in their boxes.
    fn inside(&self, set: &[usize], x: &[f64], found: &Probed) -> Result<(), String> {
        for (j, x) in set.iter().zip(x) {
            let Some((_, low, high)) = found.boxes.iter().find(|(i, ..)| i == j) else {
                continue;
            };
            let spare = ROOM * x.abs();
            // The comparison is written so that it fails for NaN.
            let is_inside = low - spare <= *x && *x <= high + spare;
            if !is_inside {
                return Err(format!(
                    "{set:?} has a model with x_{j} = {x:e}, not in [{low:e}, {high:e}]"
                ));
            }
        }
        Ok(())
    }
}

/// Returns roughly the largest t for which the condition holds; it holds at 0.
fn last(holds: impl Fn(f64) -> bool) -> f64 {
    let mut high = 1e-3;
    while holds(high) && high < 1e9 {
        high *= 4.0;
    }
    let mut low = 0.0;
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Solves a linear system by Gauss–Jordan elimination with the largest pivot of each column.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let m = rows.len();
    for p in 0..m {
        let best = (p..m).max_by(|a, b| rows[*a][p].abs().total_cmp(&rows[*b][p].abs()));
        rows.swap(p, best.unwrap_or(p));
        let pivot = rows[p][p];
        if pivot == 0.0 {
            continue;
        }
        rows[p].iter_mut().for_each(|v| *v /= pivot);
        for r in (0..m).filter(|r| *r != p) {
            let (factor, row) = (rows[r][p], rows[p].clone());
            let pairs = rows[r].iter_mut().zip(row);
            pairs.for_each(|(v, w)| *v -= factor * w);
        }
    }
    rows.iter().map(|row| row[m]).collect()
}
