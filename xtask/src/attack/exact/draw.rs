//! Small problems that are hard for floating point, and the same problems in exact numbers.

use l0star::problem::Builder;
use std::sync::Arc;

use l0star::loss::{Cox, Ties};
use l0star::{Design, Problem, loss};
use l0star_oracle::{Column, Dyadic, Loss, Row, Times};

use crate::soak::common::form::compress;
use crate::soak::common::priced::Prices;
use crate::soak::common::{Random, Rules};

/// A drawn problem.
#[derive(Debug, Clone)]
pub struct Case {
    pub loss: &'static str,
    pub delta: f64,
    pub columns: Vec<Vec<f64>>,
    pub response: Vec<f64>,
    /// Events, strata and entry times, if the responses are times.
    pub times: Option<Times>,
    pub weights: Option<Vec<f64>>,
    pub offset: Option<Vec<f64>>,
    pub ridge: f64,
    pub intercept: bool,
    pub standardize: bool,
    pub is_sparse: bool,
    /// Whether nothing about the problem is extreme, so that slowly converging methods are tried too.
    pub is_mild: bool,
    pub rules: Rules,
    /// The prices of features.
    pub prices: Prices,
}

/// Returns a random power of 10 with an exponent between `low` and `high`.
fn power(random: &mut Random, low: f64, high: f64) -> f64 {
    10f64.powf(low + (high - low) * random.uniform())
}

impl Case {
    /// Draws the problem of a seed; the losses take turns.
    pub fn draw(seed: u64) -> Self {
        let names = [loss::NAMES, &[Cox::NAME]].concat();
        let loss = names[seed as usize % names.len()];
        let random = &mut Random::new(seed ^ 0x6A09_E667_F3BC_C908);
        let labels = matches!(loss, "logistic" | "squared-hinge");
        let has_log_link = matches!(loss, "poisson" | "gamma");
        let is_mild = random.chance(0.25);
        let (n, d) = (2 + random.below(11), 1 + random.below(6));
        let is_cox = loss == Cox::NAME;
        let intercept = random.chance(0.5) && !is_cox;
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for _ in 0..d {
            let column = one_column(random, &columns, n);
            columns.push(column);
        }
        let mut response = response(random, &columns);
        let (mut unit, mut times) = (1.0, None);
        if labels {
            let middle = if random.chance(0.5) { 0.0 } else { response[0] };
            response
                .iter_mut()
                .for_each(|b| *b = if *b > middle { 1.0 } else { -1.0 });
            (response[0], response[1]) = (1.0, -1.0);
        } else if has_log_link {
            let unit = match random.below(4) {
                _ if is_mild => 1.0,
                0 if loss == "gamma" => power(random, -150.0, 100.0),
                0 => power(random, -20.0, 20.0),
                1 => 1e12,
                _ => 1.0,
            };
            amounts(random, loss, unit, &mut response);
        } else if is_cox {
            times = Some(hazards(random, &mut response));
        } else if !is_mild && random.chance(0.4) {
            let most = [20.0, 100.0, 300.0][random.below(3)];
            unit = power(random, -most, most);
            response.iter_mut().for_each(|b| *b *= unit);
        }
        let mut sizes = vec![1.0; d];
        if !is_mild {
            // The enclosures of the smooth losses have digits for exponents up to these only.
            let most = match loss {
                "logistic" | "poisson" | "gamma" | "cox" => [3.0, 8.0, 15.0][random.below(3)],
                _ => [3.0, 30.0, 300.0][random.below(3)],
            };
            stretch(random, &mut columns, &mut sizes, most);
            if random.chance(0.4) {
                shift(random, &mut columns);
            }
        }
        let ridge = match random.below(4) {
            _ if is_mild => power(random, -4.0, 0.0),
            0 => power(random, -14.0, 6.0),
            1 => power(random, -14.0, -8.0),
            _ => power(random, -4.0, 1.0),
        };
        let delta = [0.01, 0.1, 1.0][random.below(3)] * unit;
        let offset = random.chance(0.2);
        let offset = offset.then(|| (0..n).map(|_| unit * random.normal()).collect());
        let square = if labels || has_log_link || is_cox {
            1.0
        } else {
            unit * unit
        };
        let mut case = Self {
            loss,
            // An extreme unit may leave the range of floats, and then the loss itself is refused.
            delta,
            weights: weights(random, n, is_mild),
            offset,
            ridge,
            intercept,
            standardize: random.chance(0.4),
            is_sparse: random.chance(0.2),
            is_mild,
            rules: rules(
                random,
                d,
                if labels || has_log_link || is_cox {
                    2
                } else {
                    3
                },
                unit,
                &sizes,
            ),
            columns,
            response,
            times,
            prices: Prices::default(),
        };
        if random.chance(0.3) && square.is_normal() {
            case.prices = Prices::draw(random, &case.rules, square);
        }
        case
    }

    /// Draws a problem for proved boxes: quadratic, with fewer rows than columns, often with a small ridge.
    pub fn wide(seed: u64) -> Self {
        let random = &mut Random::new(seed ^ 0x510E_527F_ADE6_82D1);
        let is_mild = random.chance(0.3);
        let d = 5 + random.below(4);
        let n = 2 + random.below(d - 2);
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for _ in 0..d {
            let column = one_column(random, &columns, n);
            columns.push(column);
        }
        let mut response = response(random, &columns);
        let (mut unit, mut sizes) = (1.0, vec![1.0; d]);
        if !is_mild && random.chance(0.4) {
            let most = [20.0, 100.0][random.below(2)];
            unit = power(random, -most, most);
            response.iter_mut().for_each(|b| *b *= unit);
        }
        if !is_mild && random.chance(0.5) {
            let most = [3.0, 30.0][random.below(2)];
            stretch(random, &mut columns, &mut sizes, most);
        }
        if !is_mild && random.chance(0.2) {
            shift(random, &mut columns);
        }
        let offset = random.chance(0.1);
        let offset = offset.then(|| (0..n).map(|_| unit * random.normal()).collect());
        let mut rules = Rules {
            d,
            k: 2 + random.below(4),
            ..Rules::default()
        };
        let [forced, factors] = [0.2, 0.2].map(|p| random.chance(p));
        for j in 0..d {
            if factors && random.chance(0.5) {
                rules.factors.push((j, power(random, -2.0, 2.0)));
            }
            if forced && random.chance(0.2) {
                let list = [&mut rules.include, &mut rules.exclude];
                list[random.below(2)].push(j);
            }
        }
        Self {
            loss: "quadratic",
            delta: 1.0,
            weights: weights(random, n, is_mild),
            offset,
            ridge: match random.below(4) {
                0 => power(random, -12.0, -6.0),
                1 => power(random, -1.0, 1.0),
                _ => power(random, -6.0, -1.0),
            },
            intercept: random.chance(0.3),
            standardize: random.chance(0.3),
            is_sparse: random.chance(0.2),
            is_mild,
            rules,
            columns,
            response,
            times: None,
            prices: Prices::default(),
        }
    }

    fn loss(&self) -> Result<Arc<dyn loss::Loss>, l0star::Error> {
        let Some(times) = &self.times else {
            return loss::by_name(self.loss, self.delta);
        };
        let ties = if times.efron {
            Ties::Efron
        } else {
            Ties::Breslow
        };
        let cox = Cox::new(times.events.clone()).strata(times.strata.clone());
        Ok(Arc::new(cox.entry(times.entry.clone()).ties(ties)))
    }

    /// Returns the problem as a user states it.
    pub fn builder(&self) -> Result<Builder, l0star::Error> {
        let (n, d) = (self.response.len(), self.columns.len());
        let design = if self.is_sparse {
            compress(&self.columns, |_| false)
        } else {
            Design::dense(n, d, self.columns.concat())?
        };
        let mut builder = Problem::builder(design, self.response.clone())
            .loss(self.loss()?)
            .ridge(self.ridge)
            .k(self.rules.k)
            .intercept(self.intercept)
            .standardize(self.standardize)
            .groups(self.rules.groups.clone());
        if let Some(weights) = &self.weights {
            builder = builder.weights(weights.clone());
        }
        if let Some(offset) = &self.offset {
            builder = builder.offset(offset.clone());
        }
        for (j, factor) in &self.rules.factors {
            builder = builder.ridge_factor(*j, *factor);
        }
        for (j, low, high) in &self.rules.bounds {
            builder = builder.bounds(*j, *low, *high);
        }
        for j in &self.rules.include {
            builder = builder.include(*j);
        }
        for j in &self.rules.include_free {
            builder = builder.include_free(*j);
        }
        for j in &self.rules.exclude {
            builder = builder.exclude(*j);
        }
        for (child, parents) in &self.rules.requires {
            builder = builder.requires(*child, parents);
        }
        builder = builder.l0_penalty(self.prices.penalty);
        for (j, factor) in &self.prices.factors {
            builder = builder.l0_factor(*j, *factor);
        }
        Ok(builder)
    }

    /// Returns the problem in exact numbers, with the intercept as its last column.
    ///
    /// The floats define the problem (`docs/numerics.md`, section 0): the shares of the rows as rounded, the columns
    /// multiplied by the rounded reciprocals of their deviations, bounds multiplied by the deviations. Centring changes
    /// only the intercept.
    pub fn exact(&self, problem: &Problem) -> l0star_oracle::Problem {
        let n = self.response.len();
        let shares = match &self.weights {
            None => vec![1.0 / n as f64; n],
            Some(weights) => {
                let largest = weights.iter().copied().fold(0.0, f64::max);
                let scaled: Vec<f64> = weights.iter().map(|w| w / largest).collect();
                let total: f64 = scaled.iter().sum();
                scaled.iter().map(|w| w / total).collect()
            }
        };
        let row = |i: usize| Row {
            weight: shares[i],
            response: self.response[i],
            offset: self.offset.as_ref().map_or(0.0, |offset| offset[i]),
        };
        let rows: Vec<Row> = (0..n).map(row).collect();
        let column = |(j, own): (usize, &Vec<f64>)| {
            let deviation = problem.scales().map_or(1.0, |scales| scales[j]);
            let scale = Dyadic::of(1.0 / deviation);
            let (low, high) = problem.bounds(j);
            Column {
                entries: own.iter().map(|v| &Dyadic::of(*v) * &scale).collect(),
                ridge: problem.ridge(j),
                bounds: (low * deviation, high * deviation),
            }
        };
        let mut columns: Vec<Column> = self.columns.iter().enumerate().map(column).collect();
        columns.push(Column {
            entries: vec![Dyadic::of(1.0); n],
            ridge: 0.0,
            bounds: (f64::NEG_INFINITY, f64::INFINITY),
        });
        let loss = match self.loss {
            "quadratic" => Loss::Quadratic,
            "huber" => Loss::Huber(self.delta),
            "squared-hinge" => Loss::SquaredHinge,
            "poisson" => Loss::Poisson,
            "gamma" => Loss::Gamma,
            "cox" => Loss::Cox(self.times.clone().expect("times")),
            _ => Loss::Logistic,
        };
        l0star_oracle::Problem::new(loss, &rows, columns)
    }
}

/// Draws a new column, or one like an earlier column: equal to a multiple of it, exactly or up to 1e-9 … 1e-15.
fn one_column(random: &mut Random, before: &[Vec<f64>], n: usize) -> Vec<f64> {
    if !before.is_empty() && random.chance(0.25) {
        let from = before[random.below(before.len())].clone();
        let sign = [1.0, -1.0, 2.0, 3.0][random.below(4)];
        let noise = match random.below(3) {
            0 => 0.0,
            _ => power(random, -15.0, -9.0),
        };
        let near = |v: f64| sign * v * (1.0 + noise * random.normal());
        return from.into_iter().map(near).collect();
    }
    match random.below(12) {
        0 => vec![0.0; n],
        1 => vec![1.0 + random.uniform(); n],
        2 => (0..n)
            .map(|_| f64::from(u8::from(random.chance(0.4))))
            .collect(),
        3 | 4 => (0..n).map(|_| random.below(5) as f64 - 2.0).collect(),
        _ => (0..n).map(|_| random.normal()).collect(),
    }
}

/// Draws a response from some of the columns, with or without noise.
fn response(random: &mut Random, columns: &[Vec<f64>]) -> Vec<f64> {
    let truth: Vec<f64> = columns
        .iter()
        .map(|_| {
            if random.chance(0.5) {
                random.normal()
            } else {
                0.0
            }
        })
        .collect();
    let noise = [0.0, 1e-7, 0.1, 1.0][random.below(4)];
    let middle = if random.chance(0.3) {
        3.0 * random.normal()
    } else {
        0.0
    };
    let whole = random.chance(0.2);
    let one = |i: usize| {
        let signal: f64 = truth
            .iter()
            .zip(columns)
            .map(|(x, column)| x * column[i])
            .sum();
        let value = middle + signal + noise * random.normal();
        if whole { value.round() } else { value }
    };
    (0..columns[0].len()).map(one).collect()
}

/// Turns logarithms into counts or amounts in some unit; counts are mostly whole, and may all be 0.
fn amounts(random: &mut Random, loss: &str, unit: f64, response: &mut [f64]) {
    let is_whole = random.chance(0.7);
    let all_zero = loss == "poisson" && random.chance(0.03);
    for b in response.iter_mut() {
        *b = unit * b.clamp(-6.0, 6.0).exp();
        if loss == "poisson" && is_whole {
            *b = b.floor();
        }
        if all_zero {
            *b = 0.0;
        }
    }
}

/// Turns responses into times, early where they were large; often with ties, strata and late entries.
///
/// All events may be at one time, and strata may have none.
fn hazards(random: &mut Random, response: &mut [f64]) -> Times {
    let n = response.len();
    let ties = random.below(6);
    for t in response.iter_mut() {
        *t = match ties {
            0 => 1.0,
            1 | 2 => (-*t).clamp(-2.0, 2.0).round(),
            _ => -*t,
        };
    }
    let share = [0.3, 0.7, 1.0][random.below(3)];
    let mut events: Vec<bool> = (0..n).map(|_| random.chance(share)).collect();
    events[0] = true;
    let strata = random.chance(0.3);
    let strata = strata.then(|| (0..n).map(|_| random.below(3) as u32).collect());
    let entry = random.chance(0.3);
    let entry = entry.then(|| {
        let times = response.iter();
        times
            .map(|t| t - [0.1, 1.0, 5.0][random.below(3)])
            .collect()
    });
    Times {
        events,
        strata: strata.unwrap_or_default(),
        entry: entry.unwrap_or_default(),
        efron: random.chance(0.6),
    }
}

/// Gives columns different units.
fn stretch(random: &mut Random, columns: &mut [Vec<f64>], sizes: &mut [f64], most: f64) {
    let all = random.chance(0.3).then(|| power(random, -most, most));
    let share = [0.0, 0.3, 1.0][random.below(3)];
    for (column, size) in columns.iter_mut().zip(sizes) {
        *size = match all {
            Some(all) => all,
            None if random.chance(share) => power(random, -most, most),
            None => continue,
        };
        column.iter_mut().for_each(|v| *v *= *size);
    }
}

/// Moves the means of columns far from 0.
fn shift(random: &mut Random, columns: &mut [Vec<f64>]) {
    for column in columns {
        if random.chance(0.6) {
            let largest = column.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
            let by = largest * power(random, 0.0, 12.0);
            column.iter_mut().for_each(|v| *v += by);
        }
    }
}

fn weights(random: &mut Random, n: usize, is_mild: bool) -> Option<Vec<f64>> {
    let spread = match random.below(6) {
        0 => 0.3,
        1 if !is_mild => 12.0,
        2 if !is_mild => 3.0,
        _ => return None,
    };
    let zeros = random.chance(0.3);
    let mut weights: Vec<f64> = (0..n)
        .map(|_| {
            if zeros && random.chance(0.2) {
                0.0
            } else {
                power(random, -spread, spread)
            }
        })
        .collect();
    // Both classes keep positive weight.
    weights[..2].iter_mut().for_each(|w| *w = w.max(1e-12));
    Some(weights)
}

/// Draws constraints on features. Few coefficients have bounds, as the oracle tries every choice of active bounds.
fn rules(random: &mut Random, d: usize, bounded: usize, unit: f64, sizes: &[f64]) -> Rules {
    let mut rules = Rules {
        d,
        k: random.below(4),
        ..Rules::default()
    };
    let [groups, bounds, forced, factors, heredity] =
        [0.2, 0.25, 0.15, 0.15, 0.2].map(|p| random.chance(p));
    if groups {
        // Groups of two or three columns.
        let mut rest: Vec<usize> = (0..d).collect();
        while rest.len() > 1 && random.chance(0.7) {
            let size = (2 + random.below(2)).min(rest.len());
            let group = (0..size).map(|_| rest.swap_remove(random.below(rest.len())));
            rules.groups.push(group.collect());
        }
    }
    if bounds {
        for _ in 0..=random.below(bounded) {
            let j = random.below(d);
            let mut size = |sign: f64| match random.below(4) {
                0 => 0.0,
                1 => sign * f64::INFINITY,
                _ => sign * random.uniform() * unit / sizes[j],
            };
            let (low, high) = (size(-1.0), size(1.0));
            rules.bounds.push((j, low, high));
        }
    }
    for j in 0..d {
        if factors && random.chance(0.5) {
            rules.factors.push((j, power(random, -2.0, 2.0)));
        }
        let is_grouped = rules.groups.iter().any(|group| group.contains(&j));
        if forced && random.chance(0.3) {
            match random.below(3) {
                0 => rules.include.push(j),
                1 if !is_grouped => rules.include_free.push(j),
                _ => rules.exclude.push(j),
            }
        }
        if heredity && j > 0 && random.chance(0.5) {
            rules.requires.push((j, vec![random.below(j)]));
        }
    }
    rules
}
