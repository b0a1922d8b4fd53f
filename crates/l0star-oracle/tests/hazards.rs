//! Compares the partial likelihood with hand-computed values, and with points that are unknown to the oracle.
#![allow(missing_docs)]

use l0star_oracle::{Column, Dyadic, Loss, Problem, Row, Times};

const NONE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

struct Case {
    times: Vec<f64>,
    known: Times,
    weights: Vec<f64>,
    offset: Vec<f64>,
    columns: Vec<Vec<f64>>,
    ridge: f64,
}

impl Case {
    fn new(times: &[f64], events: &[bool], efron: bool) -> Self {
        Self {
            times: times.to_vec(),
            known: Times {
                events: events.to_vec(),
                strata: Vec::new(),
                entry: Vec::new(),
                efron,
            },
            weights: vec![1.0; times.len()],
            offset: vec![0.0; times.len()],
            columns: Vec::new(),
            ridge: 0.1,
        }
    }

    fn problem(&self) -> Problem {
        let row = |i: usize| Row {
            weight: self.weights[i],
            response: self.times[i],
            offset: self.offset[i],
        };
        let rows: Vec<Row> = (0..self.times.len()).map(row).collect();
        let column = |own: &Vec<f64>| Column {
            entries: own.iter().map(|v| Dyadic::of(*v)).collect(),
            ridge: self.ridge,
            bounds: NONE,
        };
        let columns = self.columns.iter().map(column).collect();
        Problem::new(Loss::Cox(self.known.clone()), &rows, columns)
    }

    /// Computes the objective by its definition, in floats.
    fn value(&self, x: &[f64]) -> f64 {
        let n = self.times.len();
        let z: Vec<f64> = (0..n)
            .map(|i| {
                let own = x.iter().zip(&self.columns).map(|(x, a)| x * a[i]);
                self.offset[i] + own.sum::<f64>()
            })
            .collect();
        let counts = |i: &usize| self.weights[*i] > 0.0;
        let stratum = |i: usize| self.known.strata.get(i).copied().unwrap_or(0);
        let entry = |i: usize| {
            self.known
                .entry
                .get(i)
                .copied()
                .unwrap_or(f64::NEG_INFINITY)
        };
        let events: Vec<usize> = (0..n)
            .filter(|i| self.known.events[*i])
            .filter(counts)
            .collect();
        let unit = events
            .iter()
            .map(|i| self.weights[*i])
            .fold(f64::INFINITY, f64::min);
        let theta = |i: usize| self.weights[i] / unit * z[i].exp();
        let mut total = 0.0;
        for i in &events {
            let same = |j: &usize| self.times[*j] == self.times[*i] && stratum(*j) == stratum(*i);
            let tied: Vec<usize> = events.iter().copied().filter(same).collect();
            let at_risk = (0..n).filter(counts).filter(|j| {
                stratum(*j) == stratum(*i)
                    && entry(*j) < self.times[*i]
                    && self.times[*i] <= self.times[*j]
            });
            let all: f64 = at_risk.map(theta).sum();
            let own: f64 = tied.iter().map(|j| theta(*j)).sum();
            let count = if self.known.efron { tied.len() } else { 1 };
            let logs: f64 = (0..count)
                .map(|l| (all - l as f64 / count as f64 * own).ln())
                .sum();
            total += self.weights[*i] * (logs / count as f64 - z[*i]);
        }
        total + x.iter().map(|x| 0.5 * self.ridge * x * x).sum::<f64>()
    }
}

/// Without features, every row at risk is equally likely.
#[test]
fn empty_models_by_hand() {
    let near = |case: &Case, value: f64| {
        let found = case.problem().least(&[]).expect("an enclosure");
        assert!((found.low.value() - value).abs() < 1e-14 * value);
        assert!(found.high.minus(&found.low).value() < 1e-60);
    };
    let (times, events) = ([1.0, 1.0, 1.0, 2.0], [true, true, true, false]);
    // ln 4 + ln 3 + ln 2, and three times ln 4.
    near(&Case::new(&times, &events, true), 24f64.ln());
    near(&Case::new(&times, &events, false), 64f64.ln());
    // The last row enters too late, or is in another stratum without an event.
    let mut late = Case::new(&times, &events, true);
    late.known.entry = vec![0.0, 0.0, 0.0, 1.0];
    near(&late, 6f64.ln());
    let mut apart = Case::new(&times, &events, true);
    apart.known.strata = vec![7, 7, 7, 3];
    near(&apart, 6f64.ln());
    // Rows without weight are omitted; weights are in units of the smallest weight of an event.
    let mut weighted = Case::new(&times, &events, false);
    weighted.weights = vec![2.0, 0.0, 4.0, 3.0];
    near(&weighted, 6.0 * 4.5f64.ln());
}

/// Random numbers that depend on a seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A float search from point to point ends at the oracle's value, and never below it;
/// objectives follow the definition.
#[test]
fn no_point_is_below_and_some_come_close() {
    for seed in 0..40 {
        let mut numbers = Numbers(seed + 77);
        let n = 7;
        let mut draw = || -> Vec<f64> { (0..n).map(|_| numbers.next()).collect() };
        let times: Vec<f64> = match seed % 4 {
            0 => vec![1.0; n],
            1 => draw(),
            _ => draw().iter().map(|t| (2.0 * t).round()).collect(),
        };
        let mut events: Vec<bool> = draw().iter().map(|v| *v < 0.4).collect();
        events[0] = true;
        let mut case = Case::new(&times, &events, seed % 3 > 0);
        case.columns = vec![draw(), draw()];
        if seed % 5 == 0 {
            case.known.strata = draw().iter().map(|v| u32::from(*v > 0.0)).collect();
        }
        if seed % 7 == 0 {
            let early = draw();
            case.known.entry = times
                .iter()
                .zip(early)
                .map(|(t, v)| t - 0.1 - v.abs())
                .collect();
        }
        if seed % 2 == 0 {
            case.weights = draw().iter().map(|v| (v + 0.8).max(0.0) + 1e-3).collect();
            case.offset = draw();
        }
        if seed % 8 == 1 {
            // The first column determines the order of the times, so only the ridge bounds its coefficient.
            case.columns[0] = times.iter().map(|t| -t).collect();
            case.ridge = 1e-9;
        }
        let problem = case.problem();
        let least = problem.least(&[0, 1]).expect("a minimum");
        let width = least.high.minus(&least.low).value();
        assert!(width <= 1e-50 * (1.0 + least.high.value()), "seed {seed}");
        let mut x = [0.0; 2];
        let mut best = case.value(&x);
        let mut length = 8.0;
        while length > 1e-7 {
            let before = best;
            for way in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]] {
                for sign in [length, -length] {
                    let other = [x[0] + sign * way[0], x[1] + sign * way[1]];
                    let value = case.value(&other);
                    if value < best {
                        (x, best) = (other, value);
                    }
                }
            }
            if best == before {
                length /= 2.0;
            }
        }
        let own = problem.objective(&[(0, x[0]), (1, x[1])]);
        assert!(own.low <= own.high && least.low <= own.high, "seed {seed}");
        let room = 1e-12 * (1.0 + best.abs());
        assert!((own.high.value() - best).abs() <= room, "seed {seed}");
        let above = best - least.low.value();
        let most = 1e-6 * (1.0 + best.abs());
        assert!((-room..most).contains(&above), "seed {seed}: {above:e}");
    }
}
