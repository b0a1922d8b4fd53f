//! Small budgets solved by enumeration: in nodes of the Gram tree, and under other losses. The answers equal those of
//! a brute force written here.

use crate::common::{self, Random};
use l0star::{Design, Method, Problem, Settings, Solution, Status, Use, loss, solve};

/// Columns, a response and options.
struct Data {
    columns: Vec<Vec<f64>>,
    response: Vec<f64>,
    loss: &'static str,
    ridge: f64,
    intercept: bool,
}

const DELTA: f64 = 0.5;

/// Draws more features than rows, some of them nearly equal, some far from 0, in different units.
fn draw(seed: u64, loss: &'static str, d: usize) -> Data {
    let mut random = Random::new(seed);
    let n = 6 + random.below(5);
    let intercept = random.chance(0.5);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..d {
        let mut column: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        match random.below(8) {
            0 if j > 0 => {
                let close = columns[j - 1].iter().zip(&column);
                column = close.map(|(v, e)| v + 0.01 * e).collect();
            }
            1 if intercept => column.iter_mut().for_each(|v| *v += 10.0),
            2 => column.iter_mut().for_each(|v| *v *= 30.0),
            _ => {}
        }
        columns.push(column);
    }
    let mut response: Vec<f64> = (0..n)
        .map(|i| columns[0][i] - columns[3][i] + columns[5][i] + 0.5 * random.normal())
        .collect();
    if ["logistic", "squared-hinge"].contains(&loss) {
        response
            .iter_mut()
            .for_each(|b| *b = if *b > 0.0 { 1.0 } else { -1.0 });
        (response[0], response[1]) = (1.0, -1.0);
    }
    common::log_linked(&mut response, loss);
    Data {
        columns,
        response,
        loss,
        ridge: 10f64.powf(-3.0 - 2.0 * random.uniform()),
        intercept,
    }
}

impl Data {
    fn problem(&self, k: usize) -> Problem {
        let (n, d) = (self.response.len(), self.columns.len());
        let design = Design::dense(n, d, self.columns.concat()).unwrap();
        Problem::builder(design, self.response.clone())
            .loss(loss::by_name(self.loss, DELTA).unwrap())
            .standardize(false)
            .intercept(self.intercept)
            .ridge(self.ridge)
            .k(k)
            .build()
            .unwrap()
    }

    /// The loss of a row, its slope and its curvature.
    fn row(&self, z: f64, b: f64) -> [f64; 3] {
        match self.loss {
            "quadratic" => [0.5 * (z - b) * (z - b), z - b, 1.0],
            "logistic" => {
                let wrong = 1.0 / (1.0 + (b * z).exp());
                let value = (-(b * z).abs()).exp().ln_1p() + (-b * z).max(0.0);
                [value, -b * wrong, wrong * (1.0 - wrong)]
            }
            "huber" if (z - b).abs() > DELTA => {
                let r = (z - b).abs();
                [DELTA * (r - 0.5 * DELTA), DELTA * (z - b).signum(), 0.0]
            }
            "huber" => [0.5 * (z - b) * (z - b), z - b, 1.0],
            "poisson" => {
                let constant = if b > 0.0 { b * b.ln() - b } else { 0.0 };
                [z.exp() - b * z + constant, z.exp() - b, z.exp()]
            }
            "gamma" => {
                let share = b * (-z).exp();
                [share + z - b.ln() - 1.0, 1.0 - share, share]
            }
            _ => {
                let miss = (1.0 - b * z).max(0.0);
                let bends = if miss > 0.0 { 1.0 } else { 0.0 };
                [0.5 * miss * miss, -b * miss, bends]
            }
        }
    }

    fn value(&self, set: &[usize], x: &[f64]) -> f64 {
        let n = self.response.len() as f64;
        let rows = self.response.iter().enumerate().map(|(i, b)| {
            let z: f64 = set
                .iter()
                .zip(x)
                .map(|(j, x)| x * self.columns[*j][i])
                .sum();
            self.row(z + x[set.len()], *b)[0]
        });
        let squares: f64 = x[..set.len()].iter().map(|x| x * x).sum();
        rows.sum::<f64>() / n + 0.5 * self.ridge * squares
    }

    /// The least objective of a set: Newton's method with halved steps, the intercept last.
    fn least(&self, set: &[usize]) -> f64 {
        let (n, size) = (self.response.len() as f64, set.len() + 1);
        let mut x = vec![0.0; size];
        let mut at = self.value(set, &x);
        for _ in 0..200 {
            let mut system = vec![vec![0.0; size + 1]; size];
            for (i, b) in self.response.iter().enumerate() {
                let mut entries: Vec<f64> = set.iter().map(|j| self.columns[*j][i]).collect();
                entries.push(f64::from(u8::from(self.intercept)));
                let z: f64 = entries.iter().zip(&x).map(|(a, x)| a * x).sum();
                let [_, slope, curvature] = self.row(z, *b);
                for r in 0..size {
                    for c in 0..size {
                        system[r][c] += curvature * entries[r] * entries[c] / n;
                    }
                    system[r][size] -= slope * entries[r] / n;
                }
            }
            for r in 0..size {
                let ridge = if r + 1 < size { self.ridge } else { 0.0 };
                system[r][r] += ridge + 1e-9;
                system[r][size] -= ridge * x[r];
            }
            for p in 0..size {
                let pivot = system[p].clone();
                for row in system.iter_mut().skip(p + 1) {
                    let share = row[p] / pivot[p];
                    row.iter_mut()
                        .zip(&pivot)
                        .for_each(|(a, b)| *a -= share * b);
                }
            }
            let mut step = vec![0.0; size];
            for r in (0..size).rev() {
                let known: f64 = (r + 1..size).map(|c| system[r][c] * step[c]).sum();
                step[r] = (system[r][size] - known) / system[r][r];
            }
            let mut share = 1.0;
            let next = loop {
                let next: Vec<f64> = x.iter().zip(&step).map(|(x, d)| x + share * d).collect();
                let value = self.value(set, &next);
                if value < at {
                    break Some((next, value));
                }
                share *= 0.5;
                if share < 1e-12 {
                    break None;
                }
            };
            let Some((next, value)) = next else { break };
            (x, at) = (next, value);
        }
        at
    }

    fn optimum(&self, k: usize) -> f64 {
        let d = self.columns.len();
        (0u32..1 << d)
            .filter(|bits| bits.count_ones() as usize == k)
            .map(|bits| {
                let set: Vec<usize> = (0..d).filter(|j| bits >> j & 1 == 1).collect();
                self.least(&set)
            })
            .fold(f64::INFINITY, f64::min)
    }
}

fn without() -> Settings {
    let mut settings = Settings::default();
    settings.mechanisms.enumeration = false;
    settings
}

/// The settings without proved boxes, which would leave too few nodes to be worth enumerating.
fn without_boxes(mut settings: Settings) -> Settings {
    settings.mechanisms.boxes = Use::Never;
    settings
}

/// Asserts that the answer is that of brute force, and that its bound is no higher.
fn check(found: &Solution, optimum: f64, words: &str) {
    // For a perfect fit, only the rounding of its terms is left of brute force's value.
    let close = if optimum.abs() < 1e-11 {
        1e-12
    } else {
        1e-8 * optimum
    };
    assert_eq!(found.status, Status::Optimal, "{words}");
    assert!(
        (found.objective - optimum).abs() <= close,
        "{words}: {} {optimum}",
        found.objective
    );
    let bound = found.lower_bound.unwrap();
    assert!(bound <= optimum + close, "{words}: {bound} {optimum}");
    assert!(bound >= found.objective - close, "{words}: {bound}");
}

#[test]
fn nodes_that_are_enumerated_leave_the_best_model() {
    let (mut with, mut plain) = (0, 0);
    for seed in 0..60 {
        let data = draw(seed, "quadratic", 13);
        for k in [5, 6] {
            let problem = data.problem(k);
            let optimum = data.optimum(k);
            let words = format!("seed {seed}, k {k}");
            for threads in [1, 2] {
                let settings = Settings {
                    threads: std::num::NonZeroUsize::new(threads),
                    ..Settings::default()
                };
                let found = solve(&problem, &without_boxes(settings)).unwrap();
                check(&found, optimum, &words);
                with += found.nodes;
            }
            let found = solve(&problem, &without_boxes(without())).unwrap();
            check(&found, optimum, &words);
            plain += 2 * found.nodes;
        }
    }
    assert!(2 * with < plain, "{with} nodes, {plain} without");
}

#[test]
fn up_to_four_features_are_proved_at_once() {
    for k in 1..=4 {
        let mut at_once = 0;
        for seed in 0..60 {
            let data = draw(seed, "quadratic", 14);
            let problem = data.problem(k);
            let words = format!("seed {seed}, k {k}");
            let found = solve(&problem, &Settings::default()).unwrap();
            check(&found, data.optimum(k), &words);
            at_once += usize::from(found.nodes == 1);
        }
        assert!(at_once > 50, "k {k}: {at_once}");
    }
}

#[test]
fn a_few_features_under_other_losses_are_proved() {
    for loss in ["logistic", "huber", "squared-hinge", "poisson", "gamma"] {
        let mut at_once = 0;
        let small = (0..40).flat_map(|seed| [(seed, 1), (seed, 2)]);
        for (seed, k) in small.chain((40..60).map(|seed| (seed, 3))) {
            let data = draw(seed, loss, 16);
            let problem = data.problem(k);
            let optimum = data.optimum(k);
            let words = format!("{loss}, seed {seed}, k {k}");
            let found = solve(&problem, &Settings::default()).unwrap();
            check(&found, optimum, &words);
            at_once += usize::from(found.nodes == 1);
            let found = solve(&problem, &without()).unwrap();
            check(&found, optimum, &words);
        }
        assert!(at_once > 75, "{loss}: {at_once}");
    }
}

#[test]
fn lists_are_whole() {
    for seed in 0..10 {
        let data = draw(seed, "quadratic", 11);
        let problem = data.problem(4);
        let settings = |mechanisms| Settings {
            top: std::num::NonZeroUsize::new(5),
            mechanisms,
            ..Settings::default()
        };
        let with = solve(&problem, &settings(Settings::default().mechanisms)).unwrap();
        let plain = solve(&problem, &settings(without().mechanisms)).unwrap();
        let sets = |found: &Solution| -> Vec<Vec<usize>> {
            let models = found.solutions.iter();
            models.map(|model| model.support.clone()).collect()
        };
        assert_eq!(sets(&with), sets(&plain), "seed {seed}");
        assert_eq!(with.status, Status::Optimal);
    }
}

/// Where bounds bind, more sets are better without them than the best model is with them. Brute force fits every set
/// within them.
#[test]
fn bounds_that_bind_are_kept() {
    let mut bound = 0;
    for seed in 0..20 {
        let data = draw(seed, "quadratic", 12);
        let free = solve(&data.problem(3), &Settings::default()).unwrap();
        let sizes = free.coefficients.iter().map(|x| x.abs());
        let most = 0.6 * sizes.fold(0.0, f64::max);
        let (n, d) = (data.response.len(), data.columns.len());
        let design = Design::dense(n, d, data.columns.concat()).unwrap();
        let mut builder = Problem::builder(design, data.response.clone())
            .standardize(false)
            .intercept(data.intercept)
            .ridge(data.ridge)
            .k(3);
        for j in 0..d {
            builder = builder.bounds(j, -most, most);
        }
        let problem = builder.build().unwrap();
        let found = solve(&problem, &Settings::default()).unwrap();
        let truth = solve(&problem, &Settings::new(Method::Exhaustive)).unwrap();
        let room = 1e-9 * truth.objective;
        assert_eq!(found.status, Status::Optimal, "seed {seed}");
        assert!(
            (found.objective - truth.objective).abs() <= room,
            "seed {seed}: {} {}",
            found.objective,
            truth.objective
        );
        assert!(found.lower_bound.unwrap() <= truth.objective + 1e-12 * truth.objective);
        bound += usize::from(truth.objective > free.objective * (1.0 + 1e-6));
    }
    assert!(bound >= 15, "{bound} of 20");
}

/// Bounds that the best model keeps do no harm: what is proved of a set without them holds within them. The truth is
/// the same problem without bounds, which others of these tests compare with brute force.
#[test]
fn bounds_that_do_not_bind_are_no_obstacle() {
    let mut at_once = 0;
    for seed in 0..20 {
        let data = draw(seed, "quadratic", 24);
        let free = solve(&data.problem(3), &Settings::default()).unwrap();
        let largest = free
            .coefficients
            .iter()
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        let (n, d) = (data.response.len(), data.columns.len());
        let design = Design::dense(n, d, data.columns.concat()).unwrap();
        let mut builder = Problem::builder(design, data.response.clone())
            .standardize(false)
            .intercept(data.intercept)
            .ridge(data.ridge)
            .k(3);
        for j in 0..d {
            builder = builder.bounds(j, -1.5 * largest, 1.5 * largest);
        }
        let found = solve(&builder.build().unwrap(), &Settings::default()).unwrap();
        assert_eq!(found.status, Status::Optimal, "seed {seed}");
        assert_eq!(found.support, free.support, "seed {seed}");
        assert!(
            (found.objective - free.objective).abs() <= 1e-9 * free.objective,
            "seed {seed}"
        );
        at_once += usize::from(found.nodes <= 5);
    }
    assert_eq!(at_once, 20);
}
