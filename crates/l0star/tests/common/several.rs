//! Several responses or classes that share their features, by their definition: a dense Newton method for every set of columns.
//! Nothing of the engine is used on that side.

use l0star::problem::Builder;
use l0star::{Design, Problem};

use super::Random;
use super::survival::gauss;

/// What the rows are fitted to.
#[derive(Debug, Clone)]
pub enum Target {
    /// One vector for each response.
    Responses(Vec<Vec<f64>>),
}

/// A whole problem in plain numbers.
#[derive(Debug, Clone)]
pub struct Data {
    pub columns: Vec<Vec<f64>>,
    pub target: Target,
    /// Empty where there are none.
    pub weights: Vec<f64>,
    pub intercept: bool,
    pub standardize: bool,
    pub ridge: f64,
    pub k: usize,
}

impl Data {
    /// Several responses, degenerate ones included: constants, copies, other units, fewer rows than columns.
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
        // A response of zeros alone has nothing to be explained.
        responses[0][0] += 1.0;
        data.target = Target::Responses(responses);
        data
    }

    fn draw_columns(random: &mut Random, most: usize) -> Self {
        let d = 1 + random.below(most);
        let n = match random.below(6) {
            0 => 2 + random.below(d + 1),
            _ => 4 + random.below(20),
        };
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for j in 0..d {
            columns.push(match random.below(12) {
                0 if j > 0 => columns[random.below(j)].clone(),
                1 if j > 0 => columns[random.below(j)].iter().map(|a| -2.5 * a).collect(),
                2 => vec![1.0; n],
                3 => (0..n).map(|_| f64::from(random.chance(0.4))).collect(),
                4 => (0..n).map(|_| 2000.0 + random.below(9) as f64).collect(),
                5 => (0..n).map(|_| 1e-4 * random.normal()).collect(),
                _ => (0..n).map(|_| random.normal()).collect(),
            });
        }
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
            intercept: random.chance(0.7),
            standardize: random.chance(0.5),
            ridge: [1e-6, 1e-3, 1e-2, 0.3][random.below(4)],
            k: random.below(d + 1),
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
        };
        let builder = builder
            .intercept(self.intercept)
            .standardize(self.standardize)
            .ridge(self.ridge)
            .k(self.k);
        match &self.weights[..] {
            [] => builder,
            weights => builder.weights(weights.to_vec()),
        }
    }

    /// Weights as shares.
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

    /// The standard deviation, or for a constant its size, or 1.
    fn size(&self, column: &[f64]) -> f64 {
        let mean = self.mean(column);
        let squares = column.iter().zip(self.shares()).map(|(a, p)| p * (a - mean).powi(2));
        match squares.sum::<f64>().sqrt() {
            sd if sd > 1e-13 * mean.abs() => sd,
            _ if mean != 0.0 => mean.abs(),
            _ => 1.0,
        }
    }

    /// λ of each column on the scale of the data.
    fn ridges(&self) -> Vec<f64> {
        let own = |column: &Vec<f64>| match self.standardize {
            true => self.ridge * self.size(column).powi(2),
            false => self.ridge,
        };
        self.columns.iter().map(own).collect()
    }

    /// The objective of a model by its definition: coefficients of response after response, and intercepts.
    pub fn value(&self, coefficients: &[f64], intercepts: &[f64]) -> f64 {
        let d = self.columns.len();
        let (p, ridges) = (self.shares(), self.ridges());
        let score = |r: usize, i: usize| -> f64 {
            let own = (0..d).map(|j| coefficients[r * d + j] * self.columns[j][i]);
            intercepts[r] + own.sum::<f64>()
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
                    let unit = if self.standardize { self.size(response) } else { 1.0 };
                    (squares.sum::<f64>() + penalty(r)) / (unit * unit)
                });
                each.sum()
            }
        }
    }

    /// The least P of a set.
    pub fn least(&self, set: &[usize]) -> f64 {
        match &self.target {
            Target::Responses(responses) => {
                let each = responses.iter().map(|response| {
                    let unit = if self.standardize { self.size(response) } else { 1.0 };
                    self.least_squares(set, response, unit)
                });
                each.sum()
            }
        }
    }

    /// Half the mean square and the ridge of one response in this unit, by its normal equations.
    fn least_squares(&self, set: &[usize], response: &[f64], unit: f64) -> f64 {
        let (p, ridges) = (self.shares(), self.ridges());
        let centred = |column: &[f64]| -> Vec<f64> {
            let mean = if self.intercept { self.mean(column) } else { 0.0 };
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

/// What is found, against the definition; the optimum.
pub fn check(data: &Data, settings: &l0star::Settings) -> Result<f64, String> {
    let problem = data.builder().build().map_err(|error| error.to_string())?;
    let found = l0star::solve(&problem, settings).map_err(|error| error.to_string())?;
    let optimum = data.optimum();
    // Of the model without features: where nearly all is explained, rounding is relative to that.
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
        && found.status == l0star::Status::Optimal;
    if is_right {
        return Ok(optimum);
    }
    Err(format!(
        "{}: bound {bound:e}, objective {:e} ({own:e} by the definition), optimum {optimum:e}, {features} features of {}",
        found.status, found.objective, data.k
    ))
}
