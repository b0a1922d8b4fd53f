//! Several responses or classes that share their features, from their definition: a dense Newton method for every set
//! of columns. This side uses nothing of the engine.

use std::sync::Arc;

use l0star::loss::Multinomial;
use l0star::problem::Builder;
use l0star::{Checkpoint, Design, Method, PathRun, Problem, Run, Settings, Status, prices, solve};

use super::survival::gauss;
use super::{Random, small_columns};

/// The responses or classes of the rows.
#[derive(Debug, Clone)]
pub enum Target {
    /// One vector for each response.
    Responses(Vec<Vec<f64>>),
    /// The class of each row, and the number of classes.
    Classes(Vec<usize>, usize),
}

/// A whole problem in plain numbers.
#[derive(Debug, Clone)]
pub struct Data {
    pub columns: Vec<Vec<f64>>,
    pub target: Target,
    /// Weights of the rows; empty where there are none.
    pub weights: Vec<f64>,
    /// Offsets, one vector for each response or class; empty where there are none.
    pub offsets: Vec<Vec<f64>>,
    pub intercept: bool,
    pub standardize: bool,
    pub ridge: f64,
    pub k: usize,
}

impl Data {
    /// Draws several responses, including degenerate ones: constants, copies, other units, fewer rows than columns.
    pub fn draw(seed: u64) -> Self {
        let random = &mut Random::new(seed ^ 0x3C6E_F372_FE94_F82B);
        let mut data = Self::draw_columns(random, 6);
        let n = data.columns[0].len();
        let count = 2 + random.below(3);
        let mut responses: Vec<Vec<f64>> = Vec::new();
        for r in 0..count {
            let own = &data.columns[random.below(data.columns.len())];
            let size = own.iter().fold(1e-9, |m: f64, a| m.max(a.abs()));
            let noise = [0.0, 0.3, 1.0][random.below(3)];
            let unit = [1.0, 1.0, 1e-5, 3e4][random.below(4)];
            let far = [0.0, 0.0, 50.0][random.below(3)];
            let mut one = |i: usize| unit * (far + 2.0 * own[i] / size + noise * random.normal());
            let response = (0..n).map(&mut one).collect();
            responses.push(match random.below(12) {
                0 => vec![0.0; n],
                1 => vec![3.7; n],
                2 if r > 0 => responses[0].clone(),
                _ => response,
            });
        }
        // A response of only zeros has nothing to be explained.
        responses[0][0] += 1.0;
        data.add_offsets(&responses, random);
        data.target = Target::Responses(responses);
        data
    }

    /// Draws classes, including degenerate ones: one with a single row, some that can be separated without an error.
    pub fn draw_classes(seed: u64) -> Self {
        let random = &mut Random::new(seed ^ 0xA54F_F53A_5F1D_36F1);
        let mut data = Self::draw_columns(random, 4);
        let n = data.columns[0].len();
        let count = 2 + random.below(n.min(4) - 1);
        let noise = [0.0, 0.3, 1.0][random.below(3)];
        let own = data.columns[random.below(data.columns.len())].clone();
        let (low, high) = own
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), a| {
                (l.min(*a), h.max(*a))
            });
        let size = (high - low).max(1e-9);
        let class = |i: usize, random: &mut Random| {
            let at = (own[i] - low) / size + noise * random.normal();
            ((at * count as f64).max(0.0) as usize).min(count - 1)
        };
        let mut classes: Vec<usize> = (0..n).map(|i| class(i, random)).collect();
        if random.chance(0.2) {
            // All rows but one per class belong to the first class.
            classes.fill(0);
        }
        // Every class has a row of positive weight.
        for (c, class) in classes.iter_mut().enumerate().take(count) {
            *class = c;
            if let Some(weight) = data.weights.get_mut(c) {
                *weight = weight.max(0.1);
            }
        }
        data.add_offsets(&vec![vec![1.0; n]; count], random);
        data.target = Target::Classes(classes, count);
        data
    }

    /// Adds offsets to some problems: of the size of the responses, far from 0, or of one response only.
    fn add_offsets(&mut self, responses: &[Vec<f64>], random: &mut Random) {
        if !random.chance(0.3) {
            return;
        }
        let far = [0.0, 0.0, 20.0][random.below(3)];
        let one = |response: &Vec<f64>| {
            let size = response.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
            let size = [size, size, 0.0][random.below(3)];
            let rows = response.iter();
            rows.map(|_| size * (far + random.normal())).collect()
        };
        self.offsets = responses.iter().map(one).collect();
    }

    /// The offset of response or class `r` in row `i`.
    fn offset(&self, r: usize, i: usize) -> f64 {
        self.offsets.get(r).map_or(0.0, |own| own[i])
    }

    /// A response minus its offset.
    fn left(&self, r: usize, response: &[f64]) -> Vec<f64> {
        let rows = response.iter().enumerate();
        rows.map(|(i, b)| b - self.offset(r, i)).collect()
    }

    fn draw_columns(random: &mut Random, most: usize) -> Self {
        let d = 1 + random.below(most);
        let n = match random.below(6) {
            0 => 2 + random.below(d + 1),
            _ => 4 + random.below(20),
        };
        let columns = small_columns(d, n, random);
        let mut weights: Vec<f64> = Vec::new();
        if random.chance(0.3) {
            let one = |_| match random.below(8) {
                0 => 0.0,
                _ => 0.01 + random.uniform(),
            };
            weights = (0..n).map(one).collect();
            weights[0] = 1.0;
        }
        Self {
            columns,
            target: Target::Responses(Vec::new()),
            weights,
            offsets: Vec::new(),
            intercept: random.chance(0.7),
            standardize: random.chance(0.5),
            ridge: [1e-6, 1e-3, 1e-2, 0.3][random.below(4)],
            k: random.below(d + 1),
        }
    }

    /// Adds copies of some columns, in other units.
    pub fn add_copies(&mut self, seed: u64) {
        let random = &mut Random::new(seed ^ 0x1F83_D9AB_FB41_BD6B);
        for _ in 0..1 + random.below(2) {
            let own = &self.columns[random.below(self.columns.len())];
            let ratio = [1.0, -1.0, 2.0, 0.5, 1.8][random.below(5)];
            let shift = if self.intercept && random.chance(0.4) {
                32.0
            } else {
                0.0
            };
            let copy = own.iter().map(|v| ratio * v + shift).collect();
            self.columns.push(copy);
        }
    }

    pub fn builder(&self) -> Builder {
        let (n, d) = (self.columns[0].len(), self.columns.len());
        let design = Design::dense(n, d, self.columns.concat()).unwrap();
        let builder = match &self.target {
            Target::Responses(responses) => {
                let others = responses[1..].to_vec();
                Problem::builder(design, responses[0].clone()).more_responses(others)
            }
            Target::Classes(classes, count) => {
                let numbers = classes.iter().map(|c| *c as f64).collect();
                Problem::builder(design, numbers).loss(Arc::new(Multinomial::new(*count)))
            }
        };
        let builder = builder
            .intercept(self.intercept)
            .standardize(self.standardize)
            .ridge(self.ridge)
            .offsets(self.offsets.clone())
            .k(self.k);
        match &self.weights[..] {
            [] => builder,
            weights => builder.weights(weights.to_vec()),
        }
    }

    /// The problem with groups, bounds, heredity, forced features and prices, as far as these apply.
    pub fn ruled(&self, seed: u64) -> Builder {
        let random = &mut Random::new(seed ^ 0x510E_527F_ADE6_82D1);
        let d = self.columns.len();
        let mut builder = self.builder();
        if d > 2 && random.chance(0.4) {
            builder = builder.groups(vec![vec![0, d - 1]]);
        } else if d > 1 && random.chance(0.3) {
            builder = builder.requires(0, &[d - 1]);
        }
        if matches!(self.target, Target::Responses(_)) && random.chance(0.4) {
            builder = match random.below(3) {
                0 => builder.nonnegative([0]),
                1 => builder.bounds(0, -0.1, 0.2),
                _ => builder.assume_max_coefficient(1.5),
            };
        }
        match random.below(6) {
            0 => builder = builder.include(d / 2).k(self.k.max(1)),
            1 => builder = builder.include_free(d / 2),
            2 => builder = builder.ridge_factor(d / 2, 3.0),
            3 => builder = builder.exclude(d / 2),
            _ => {}
        }
        if random.chance(0.3) {
            builder = builder.l0_penalty([1e-3, 0.05][random.below(2)]);
        }
        builder
    }

    /// Weights as shares of their sum.
    pub fn shares(&self) -> Vec<f64> {
        let n = self.columns[0].len();
        match &self.weights[..] {
            [] => vec![1.0 / n as f64; n],
            weights => {
                let total: f64 = weights.iter().sum();
                weights.iter().map(|w| w / total).collect()
            }
        }
    }

    fn mean(&self, column: &[f64]) -> f64 {
        column.iter().zip(self.shares()).map(|(a, p)| p * a).sum()
    }

    /// The standard deviation; for a constant its absolute value, or 1.
    fn size(&self, column: &[f64]) -> f64 {
        let mean = self.mean(column);
        let squares = column
            .iter()
            .zip(self.shares())
            .map(|(a, p)| p * (a - mean).powi(2));
        match squares.sum::<f64>().sqrt() {
            sd if sd > 1e-13 * mean.abs() => sd,
            _ if mean != 0.0 => mean.abs(),
            _ => 1.0,
        }
    }

    /// The ridge λ of each column on the scale of the data.
    fn ridges(&self) -> Vec<f64> {
        let own = |column: &Vec<f64>| {
            if self.standardize {
                self.ridge * self.size(column).powi(2)
            } else {
                self.ridge
            }
        };
        self.columns.iter().map(own).collect()
    }

    /// The objective of a model from its definition; coefficients are ordered by response, followed by intercepts.
    pub fn value(&self, coefficients: &[f64], intercepts: &[f64]) -> f64 {
        let d = self.columns.len();
        let (p, ridges) = (self.shares(), self.ridges());
        let score = |r: usize, i: usize| -> f64 {
            let own = (0..d).map(|j| coefficients[r * d + j] * self.columns[j][i]);
            intercepts[r] + self.offset(r, i) + own.sum::<f64>()
        };
        let penalty = |r: usize| -> f64 {
            let own = (0..d).map(|j| 0.5 * ridges[j] * coefficients[r * d + j].powi(2));
            own.sum()
        };
        match &self.target {
            Target::Responses(responses) => {
                let each = responses.iter().enumerate().map(|(r, response)| {
                    let squares = response.iter().zip(&p).enumerate();
                    let squares = squares.map(|(i, (b, p))| 0.5 * p * (score(r, i) - b).powi(2));
                    let unit = if self.standardize {
                        self.size(&self.left(r, response))
                    } else {
                        1.0
                    };
                    (squares.sum::<f64>() + penalty(r)) / (unit * unit)
                });
                each.sum()
            }
            Target::Classes(classes, count) => {
                let rows = classes.iter().zip(&p).enumerate();
                let losses = rows.map(|(i, (class, p))| {
                    let z: Vec<f64> = (0..*count).map(|c| score(c, i)).collect();
                    p * log_loss(&z, *class)
                });
                losses.sum::<f64>() + (0..*count).map(penalty).sum::<f64>()
            }
        }
    }

    /// The least P of a set.
    pub fn least(&self, set: &[usize]) -> f64 {
        match &self.target {
            Target::Responses(responses) => {
                let each = responses.iter().enumerate().map(|(r, response)| {
                    let left = self.left(r, response);
                    let unit = if self.standardize {
                        self.size(&left)
                    } else {
                        1.0
                    };
                    self.least_squares(set, &left, unit)
                });
                each.sum()
            }
            Target::Classes(classes, count) => self.least_of_classes(set, classes, *count),
        }
    }

    /// The least multinomial loss plus ridge, by a dense, damped Newton method; the last class has no
    /// intercept.
    fn least_of_classes(&self, set: &[usize], classes: &[usize], count: usize) -> f64 {
        let (p, ridges) = (self.shares(), self.ridges());
        let width = set.len() + usize::from(self.intercept);
        // The unit of each column, so that the system is well scaled.
        let column = |j: &usize| -> Vec<f64> {
            let mean = if self.intercept {
                self.mean(&self.columns[*j])
            } else {
                0.0
            };
            self.columns[*j].iter().map(|a| a - mean).collect()
        };
        let mut columns: Vec<Vec<f64>> = set.iter().map(column).collect();
        columns.extend(self.intercept.then(|| vec![1.0; p.len()]));
        let ridge = |a: usize| set.get(a).map_or(0.0, |j| ridges[*j]);
        let size = count * width;
        let is_fixed = |at: usize| at == size - 1 && self.intercept;
        let evaluate = |x: &[f64]| {
            let mut value = 0.0;
            let mut gradient = vec![0.0; size];
            let mut hessian = vec![vec![0.0; size]; size];
            for (i, (class, p)) in classes.iter().zip(&p).enumerate() {
                let z: Vec<f64> = (0..count)
                    .map(|c| {
                        let own = (0..width).map(|a| x[c * width + a] * columns[a][i]);
                        self.offset(c, i) + own.sum::<f64>()
                    })
                    .collect();
                value += p * log_loss(&z, *class);
                let pi = probabilities(&z);
                for c in 0..count {
                    for a in 0..width {
                        let slope = pi[c] - f64::from(c == *class);
                        gradient[c * width + a] += p * slope * columns[a][i];
                        for e in 0..count {
                            let curve = pi[c] * (f64::from(c == e) - pi[e]);
                            for b in 0..width {
                                hessian[c * width + a][e * width + b] +=
                                    p * curve * columns[a][i] * columns[b][i];
                            }
                        }
                    }
                }
            }
            for at in 0..size {
                let own = ridge(at % width);
                value += 0.5 * own * x[at] * x[at];
                gradient[at] += own * x[at];
                hessian[at][at] += own;
                if is_fixed(at) {
                    gradient[at] = 0.0;
                    hessian[at].fill(0.0);
                    hessian.iter_mut().for_each(|row| row[at] = 0.0);
                    hessian[at][at] = 1.0;
                }
            }
            (value, gradient, hessian)
        };
        let mut x = vec![0.0; size];
        let (mut value, mut gradient, mut hessian) = evaluate(&x);
        // Where an offset settles the classes of all rows, there is next to no curvature, and Newton's step leads far away.
        let mut damping = 0.0;
        for _ in 0..2000 {
            let steepest = gradient.iter().fold(1e-300, |m: f64, g| m.max(g.abs()));
            let mut damped = hessian.clone();
            for (at, row) in damped.iter_mut().enumerate() {
                row[at] += 1e-13 * row[at] + damping * steepest + 1e-300;
            }
            let step = gauss(damped, gradient.clone());
            let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x - s).collect();
            let found = evaluate(&next);
            if found.0 < value {
                (x, (value, gradient, hessian)) = (next, found);
                damping = if damping > 1e-9 { 0.1 * damping } else { 0.0 };
            } else if damping < 1e12 {
                damping = f64::max(10.0 * damping, 1e-9);
            } else {
                break;
            }
        }
        value
    }

    /// Half the mean square plus the ridge of one response in this unit, by its normal equations.
    fn least_squares(&self, set: &[usize], response: &[f64], unit: f64) -> f64 {
        let (p, ridges) = (self.shares(), self.ridges());
        let centred = |column: &[f64]| -> Vec<f64> {
            let mean = if self.intercept {
                self.mean(column)
            } else {
                0.0
            };
            column.iter().map(|a| a - mean).collect()
        };
        let columns: Vec<Vec<f64>> = set.iter().map(|j| centred(&self.columns[*j])).collect();
        let b: Vec<f64> = centred(response).iter().map(|b| b / unit).collect();
        let product = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).zip(&p).map(|((a, b), p)| p * a * b).sum()
        };
        let mut matrix: Vec<Vec<f64>> = columns
            .iter()
            .map(|a| columns.iter().map(|c| product(a, c)).collect())
            .collect();
        (0..set.len()).for_each(|i| matrix[i][i] += ridges[set[i]]);
        let x = gauss(matrix, columns.iter().map(|a| product(a, &b)).collect());
        let fitted = |i: usize| columns.iter().zip(&x).map(|(a, x)| a[i] * x).sum::<f64>();
        let rest: Vec<f64> = (0..b.len()).map(|i| b[i] - fitted(i)).collect();
        let penalty: f64 = set.iter().zip(&x).map(|(j, x)| ridges[*j] * x * x).sum();
        0.5 * (product(&rest, &rest) + penalty)
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

/// `ln Σ e^z - z_y`.
fn log_loss(z: &[f64], class: usize) -> f64 {
    let (top, most) = highest(z);
    let others = (0..z.len()).filter(|c| *c != top);
    let rest: f64 = others.map(|c| (z[c] - most).exp()).sum();
    (most - z[class]) + rest.ln_1p()
}

fn probabilities(z: &[f64]) -> Vec<f64> {
    let (_, most) = highest(z);
    let all: Vec<f64> = z.iter().map(|z| (z - most).exp()).collect();
    let sum: f64 = all.iter().sum();
    all.iter().map(|own| own / sum).collect()
}

fn highest(z: &[f64]) -> (usize, f64) {
    let found = z.iter().copied().enumerate();
    found.fold((0, f64::NEG_INFINITY), |best, own| {
        if own.1 > best.1 { own } else { best }
    })
}

/// Compares a solution with the definition; returns the optimum.
pub fn check(data: &Data, settings: &Settings) -> Result<f64, String> {
    let problem = data.builder().build().map_err(|error| error.to_string())?;
    let found = solve(&problem, settings).map_err(|error| error.to_string())?;
    let optimum = data.optimum();
    // The objective of the model without features: where nearly all is explained, rounding is relative to it.
    let empty = data.least(&[]);
    let room = 1e-9 * optimum + 1e-11 * empty + 1e-14;
    let bound = found.lower_bound.unwrap_or(f64::NAN);
    let intercepts: Vec<f64> = found.intercepts().collect();
    let own = data.value(&found.coefficients, &intercepts);
    let features = found.support.len();
    let is_right = bound <= optimum + room
        && (found.objective - optimum).abs() <= room
        && (own - found.objective).abs() <= room
        && features <= data.k
        && found.status == Status::Optimal;
    if is_right {
        return Ok(optimum);
    }
    Err(format!(
        "{}: bound {bound:e}, objective {:e} ({own:e} by the definition), optimum {optimum:e}, {features} features of {}",
        found.status, found.objective, data.k
    ))
}

/// Compares lists, paths, prices and resumed runs with brute force.
pub fn check_answers(problem: &Problem) -> Result<(), String> {
    let say = |error: l0star::Error| error.to_string();
    let close = |own: f64, other: f64, what: &str| {
        if own == other || (own - other).abs() <= super::proved(problem, other) {
            return Ok(());
        }
        Err(format!("{what}: {own:e}, not {other:e}"))
    };
    let brute = Settings::new(Method::Exhaustive);
    let top = |method| Settings {
        top: std::num::NonZeroUsize::new(3),
        ..Settings::new(method)
    };
    let found = solve(problem, &top(Method::BestFirst)).map_err(say)?;
    let truth = solve(problem, &top(Method::Exhaustive)).map_err(say)?;
    if found.solutions.len() != truth.solutions.len() {
        return Err(format!(
            "{} models, not {}",
            found.solutions.len(),
            truth.solutions.len()
        ));
    }
    for (own, other) in found.solutions.iter().zip(&truth.solutions) {
        close(own.objective, other.objective, "in the list")?;
    }
    let first = problem.included().len();
    let run = PathRun::new(problem, &Settings::default(), first..=problem.k());
    for point in run.solve().map_err(say)? {
        let alone = problem.with_k(point.k).map_err(say)?;
        let truth = solve(&alone, &brute).map_err(say)?.objective;
        close(point.solution.objective, truth, "on the path")?;
        if point.criteria.is_none() {
            return Err("no criteria".to_owned());
        }
    }
    let own = prices(problem, &Settings::default(), &found, None).map_err(say)?;
    let others = prices(problem, &brute, &found, None).map_err(say)?;
    for (own, other) in own.iter().zip(&others) {
        close(own.objective, other.objective, "of a price")?;
        let mut columns = own.columns.iter().chain(&own.support);
        if columns.any(|j| *j >= problem.features()) {
            return Err(format!(
                "a price of {:?} with {:?}",
                own.columns, own.support
            ));
        }
    }
    let mut saved = Vec::new();
    let few = Settings {
        node_limit: Some(1),
        ..Settings::default()
    };
    let sink = Box::new(|checkpoint: &Checkpoint| saved = checkpoint.encode());
    let run = Run::new(problem, &few).save(std::time::Duration::MAX, sink);
    run.solve().map_err(say)?;
    let checkpoint = Checkpoint::decode(&saved).map_err(say)?;
    let run = Run::new(problem, &Settings::default()).resume(checkpoint);
    let resumed = run.solve().map_err(say)?;
    close(resumed.objective, truth.objective, "resumed")
}
