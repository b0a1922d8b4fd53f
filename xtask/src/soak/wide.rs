//! Problems with fewer rows than columns, through proved boxes.
//!
//! Each is searched with boxes and compared with brute force. Then the boxes of nodes on a random path down the tree
//! are compared with all models within the ceiling. For every set of features these form an ellipsoid, which
//! Gauss–Jordan elimination finds here, without code of the engine.

use std::num::NonZeroUsize;

use l0star::internals::{Probed, probe};
use l0star::{Design, Mechanisms, Method, Problem, Settings, Use, loss};

use super::common::Random;
use super::rows::Data;

/// The columns, the response and the settings of a problem.
#[derive(Debug)]
pub struct Case {
    columns: Vec<Vec<f64>>,
    response: Vec<f64>,
    ridge: f64,
    k: usize,
    loss: &'static str,
    /// δ of Huber's loss, as a multiple of the largest response.
    delta: f64,
    intercept: bool,
}

impl Case {
    /// Draws the problem of a seed.
    pub fn draw(seed: u64) -> Self {
        let random = &mut Random::new(seed ^ 0x1F83_D9AB_FB41_BD6B);
        let d = 4 + random.below(8);
        let n = 2 + random.below(d - 2);
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for j in 0..d {
            let column = match random.below(14) {
                0 if j > 0 => columns[random.below(j)].clone(),
                1 if j > 0 => columns[random.below(j)].iter().map(|a| -2.0 * a).collect(),
                // A near copy of a column.
                2 if j > 0 => {
                    let other = columns[random.below(j)].clone();
                    let near = |a: f64| a + 1e-3 * random.normal();
                    other.into_iter().map(near).collect()
                }
                3 => vec![1.0; n],
                4 => vec![0.0; n],
                // A column with ties.
                5 | 6 => (0..n).map(|_| random.below(3) as f64 - 1.0).collect(),
                _ => (0..n).map(|_| random.normal()).collect::<Vec<f64>>(),
            };
            columns.push(column);
        }
        let strong: Vec<usize> = (0..1 + random.below(4)).map(|_| random.below(d)).collect();
        let noise = [0.0, 0.1, 1.0][random.below(3)];
        let one = |i: usize| {
            let signal: f64 = strong.iter().map(|j| columns[*j][i]).sum();
            signal + noise * random.normal()
        };
        let mut response: Vec<f64> = (0..n).map(one).collect();
        let unit = f64::powi(2.0, [0, 0, 0, -3, 5][random.below(5)]);
        response.iter_mut().for_each(|b| *b *= unit);
        let names = ["huber", "logistic", "squared-hinge"];
        let loss = if random.chance(0.4) {
            names[random.below(3)]
        } else {
            "quadratic"
        };
        if ["logistic", "squared-hinge"].contains(&loss) {
            response.iter_mut().for_each(|b| *b = b.signum());
        }
        Self {
            columns,
            response,
            ridge: [1e-6, 1e-4, 1e-3, 1e-2, 0.3][random.below(5)],
            k: 1 + random.below(6.min(d - 1)),
            loss,
            delta: [0.03, 0.3, 1.0, 3.0][random.below(4)],
            intercept: random.chance(0.25),
        }
    }

    /// Returns the problem for the engine.
    pub fn problem(&self) -> Option<Problem> {
        let (n, d) = (self.response.len(), self.columns.len());
        let design = Design::dense(n, d, self.columns.concat()).ok()?;
        let mut builder = Problem::builder(design, self.response.clone())
            .standardize(false)
            .intercept(self.intercept)
            .ridge(self.ridge)
            .k(self.k);
        if self.loss != "quadratic" {
            builder = builder.loss(loss::by_name(self.loss, self.threshold()).ok()?);
        }
        builder.build().ok()
    }

    /// Returns δ of Huber's loss.
    fn threshold(&self) -> f64 {
        let largest = self.response.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        self.delta * largest
    }

    /// Returns settings with boxes wherever they apply; in turn trees for small sizes, enumeration, two threads, and
    /// pieces.
    pub fn configurations(case: u64) -> Vec<Settings> {
        let boxed = |enumeration| Settings {
            mechanisms: Mechanisms {
                boxes: Use::Always,
                enumeration,
                ..Mechanisms::default()
            },
            ..Settings::new(Method::BestFirst)
        };
        let mut all = vec![boxed(false)];
        match case % 8 {
            0 => all.push(Settings {
                threads: NonZeroUsize::new(2),
                ..boxed(false)
            }),
            2 | 6 => all.push(Settings {
                node_limit: Some(1),
                ..boxed(false)
            }),
            _ => all.push(boxed(true)),
        }
        all
    }

    /// Checks the boxes of some nodes against all models.
    pub fn check_boxes(&self, problem: &Problem, seed: u64) -> Result<(), String> {
        let random = &mut Random::new(seed ^ 0x5BE0_CD19_137E_2179);
        if self.loss != "quadratic" {
            return self.check_row_boxes(problem, random);
        }
        let sets = self.all_sets();
        let least = sets.iter().map(|fit| fit.value).fold(f64::NAN, f64::min);
        let above = [1e-9, 1e-3, 0.05, 0.5, 3.0][random.below(5)];
        let room = ROOM * self.null();
        let reference = least.max(0.0) * (1.0 + above) + 4.0 * room;
        if reference <= 0.0 {
            return Ok(());
        }
        let way = self.way(random);
        let probed = probe(problem, &way, reference).ok_or("no boxes")?;
        for ((inside, free), found) in way.iter().zip(&probed) {
            let is_here = |fit: &&Fit| {
                let known = |j: &usize| inside.contains(j) || free.contains(j);
                fit.set.iter().all(known) && inside.iter().all(|j| fit.set.contains(j))
            };
            for fit in sets.iter().filter(is_here) {
                let outcome = fit.check(found, room);
                outcome.map_err(|message| {
                    format!("node with {inside:?} in and {free:?} free: {message}")
                })?;
            }
        }
        Ok(())
    }

    /// Checks the boxes for a loss other than the quadratic.
    fn check_row_boxes(&self, problem: &Problem, random: &mut Random) -> Result<(), String> {
        let data = Data {
            columns: &self.columns,
            response: &self.response,
            loss: self.loss,
            delta: self.threshold(),
            ridge: self.ridge,
            intercept: self.intercept,
        };
        let sets = data.all_sets(self.k);
        let least = sets.iter().map(|fit| fit.value).fold(f64::NAN, f64::min);
        let above = [1e-6, 1e-3, 0.05, 0.5, 3.0][random.below(5)];
        let reference = least * (1.0 + above) + 1e-7 * sets[0].value;
        if reference <= 0.0 {
            return Ok(());
        }
        let way = self.way(random);
        let probed = probe(problem, &way, reference).ok_or("no boxes")?;
        for ((inside, free), found) in way.iter().zip(&probed) {
            let is_here = |set: &[usize]| {
                let known = |j: &usize| inside.contains(j) || free.contains(j);
                set.iter().all(known) && inside.iter().all(|j| set.contains(j))
            };
            for fit in sets.iter().filter(|fit| is_here(&fit.set)) {
                let outcome = data.check(fit, found, random);
                outcome.map_err(|message| {
                    format!("node with {inside:?} in and {free:?} free: {message}")
                })?;
            }
        }
        Ok(())
    }

    /// Returns nodes on a random path down the tree: the features that are in, and those that are free.
    fn way(&self, random: &mut Random) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut free: Vec<usize> = (0..self.columns.len()).collect();
        let mut inside: Vec<usize> = Vec::new();
        let mut way = vec![(inside.clone(), free.clone())];
        while free.len() > 1 && random.chance(0.75) {
            let feature = free.remove(random.below(free.len()));
            if random.chance(0.5) {
                inside.push(feature);
            }
            way.push((inside.clone(), free.clone()));
        }
        way
    }

    /// Returns ½ Σ b²/n, of the centred response if there is an intercept.
    fn null(&self) -> f64 {
        let b = self.centred(&self.response);
        0.5 * b.iter().map(|b| b * b).sum::<f64>() / b.len() as f64
    }

    fn centred(&self, values: &[f64]) -> Vec<f64> {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let mean = if self.intercept { mean } else { 0.0 };
        values.iter().map(|v| v - mean).collect()
    }

    /// Returns the fits of all sets of at most k columns.
    fn all_sets(&self) -> Vec<Fit> {
        let columns: Vec<Vec<f64>> = self.columns.iter().map(|a| self.centred(a)).collect();
        let b = self.centred(&self.response);
        let n = b.len() as f64;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / n;
        let masks = (0_u32..1 << columns.len()).filter(|m| m.count_ones() as usize <= self.k);
        let one = |mask: u32| {
            let set: Vec<usize> = (0..columns.len()).filter(|j| mask >> j & 1 == 1).collect();
            let m = set.len();
            let mut rows: Vec<Vec<f64>> = Vec::new();
            for (r, i) in set.iter().enumerate() {
                let mut row: Vec<f64> = set
                    .iter()
                    .map(|j| dot(&columns[*i], &columns[*j]))
                    .collect();
                row[r] += self.ridge;
                row.extend((0..m).map(|c| f64::from(u8::from(c == r))));
                row.push(dot(&columns[*i], &b));
                rows.push(row);
            }
            let right: Vec<f64> = rows.iter().map(|row| row[2 * m]).collect();
            for p in 0..m {
                let pivot = rows[p][p];
                rows[p].iter_mut().for_each(|v| *v /= pivot);
                for r in (0..m).filter(|r| *r != p) {
                    let (factor, row) = (rows[r][p], rows[p].clone());
                    let pairs = rows[r].iter_mut().zip(row);
                    pairs.for_each(|(v, w)| *v -= factor * w);
                }
            }
            let x: Vec<f64> = rows.iter().map(|row| row[2 * m]).collect();
            let gain: f64 = right.iter().zip(&x).map(|(c, x)| c * x).sum();
            Fit {
                value: 0.5 * (dot(&b, &b) - gain),
                inverse: (0..m).map(|r| rows[r][m + r]).collect(),
                x,
                set,
            }
        };
        masks.map(one).collect()
    }
}

/// Relative error allowed for the elimination itself.
const ROOM: f64 = 1e-8;

/// A set of features with its least P, the minimiser, and the diagonal of the inverse of its Hessian.
struct Fit {
    set: Vec<usize>,
    value: f64,
    x: Vec<f64>,
    inverse: Vec<f64>,
}

impl Fit {
    /// Checks that what was proved of a node holds for the models of a set in it.
    fn check(&self, found: &Probed, room: f64) -> Result<(), String> {
        let Self { set, value, .. } = self;
        let is_wrong = |bound: f64| bound.is_nan() || bound > value + room;
        if is_wrong(found.bound) {
            return Err(format!("{set:?} has {value:e}, below {:e}", found.bound));
        }
        for (j, out, bound) in &found.others {
            if set.contains(j) != *out && is_wrong(*bound) {
                return Err(format!("{set:?} has {value:e}, a child of {j} {bound:e}"));
            }
        }
        if *value > found.ceiling - room {
            return Ok(());
        }
        if let Some(j) = found.needed.iter().find(|j| !set.contains(j)) {
            return Err(format!("{set:?} lacks {j}"));
        }
        let slack = 2.0 * (found.ceiling - value - room);
        for (at, j) in set.iter().enumerate() {
            let Some((_, low, high)) = found.boxes.iter().find(|(i, ..)| i == j) else {
                continue;
            };
            let (x, reach) = (self.x[at], (slack * self.inverse[at]).sqrt());
            let spare = ROOM * (x.abs() + reach);
            // The comparison is written so that it fails for NaN.
            let inside = low - spare <= x - reach && x + reach <= high + spare;
            if !inside {
                return Err(format!(
                    "{set:?} has x_{j} = {x:e} ± {reach:e}, not in [{low:e}, {high:e}]"
                ));
            }
        }
        Ok(())
    }
}
