//! Random small problems of every kind that users bring, degenerate ones included.
#![allow(dead_code, missing_docs)]

pub mod form;
pub mod priced;
pub mod ruled;
pub mod several;
pub mod stopped;
pub mod survival;

use l0star::problem::Builder;
use l0star::{Design, Method, Problem, loss};

pub use form::Form;
pub use ruled::{RuledCase, Rules, ruled_case};

/// SplitMix64: random enough for tests, and the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Roughly normal: the sum of twelve uniforms.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Columns of every kind, degenerate ones included: copies, constants, far from 0, tiny.
pub fn small_columns(d: usize, n: usize, random: &mut Random) -> Vec<Vec<f64>> {
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
    columns
}

/// Columns that repeat or are constant now and then, in units that differ by powers of two.
pub fn repeating_columns(d: usize, n: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..d {
        let mut column: Vec<f64> = match random.below(10) {
            0 if j > 0 => columns[random.below(j)].clone(),
            1 => vec![1.0; n],
            2 => (0..n).map(|_| random.below(3) as f64 - 1.0).collect(),
            _ => (0..n).map(|_| random.normal()).collect(),
        };
        let unit = f64::powi(2.0, [0, 0, 0, -3, 4][random.below(5)]);
        column.iter_mut().for_each(|a| *a *= unit);
        columns.push(column);
    }
    columns
}

/// A random problem and its description, for messages.
#[derive(Debug, Clone)]
pub struct Case {
    pub problem: Problem,
    pub words: String,
}

/// Tolerance for the objective of brute force: relative, plus the square of the rounding of a perfect fit.
pub fn rounding(problem: &Problem, objective: f64) -> f64 {
    1e-13 * objective + 1e-26 * problem.objective(&[])
}

/// Whether a method can solve a problem: the paper's method is for losses of bounded curvature.
pub fn suits(problem: &Problem, method: Method) -> bool {
    method != Method::Paper || problem.loss().smoothness() < f64::INFINITY
}

/// Largest difference between the objectives of two proved optima.
pub fn proved(problem: &Problem, objective: f64) -> f64 {
    2e-9 * objective.max(1e-12 * problem.empty_objective()) + rounding(problem, objective)
}

/// A random problem with at most a few hundred supports, its design matrix in a random form.
pub fn random_case(seed: u64, loss: &str) -> Case {
    let at = Random::new(seed ^ 0xE703_7ED1_A0B4_28DB).below(Form::ALL.len() + 2);
    let form = Form::ALL.get(at).copied().unwrap_or(Form::Dense);
    let thin = matches!(form, Form::Sparse | Form::Padded | Form::SparseView);
    let mut case = case_with(seed, loss, thin, |columns| form.design(columns, seed));
    case.words += &format!(", {form:?}");
    case
}

/// The problem of a seed with dense columns.
pub fn dense_case(seed: u64, loss: &str) -> Case {
    case_with(seed, loss, false, |columns| {
        Form::Dense.design(columns, seed)
    })
}

/// The problem of a seed, its columns perhaps made sparser, with the design matrix that `design` makes of them.
pub fn case_with(
    seed: u64,
    loss: &str,
    thin: bool,
    design: impl FnOnce(&[Vec<f64>]) -> Design,
) -> Case {
    let draft = draft_with(seed, loss, thin, design);
    Case {
        problem: draft.builder.build().unwrap(),
        words: draft.words,
    }
}

/// A problem that is not built yet.
pub struct Draft {
    pub builder: Builder,
    pub words: String,
    pub d: usize,
    pub k: usize,
    /// Whether column 0 is always in, and column 1 excluded.
    pub always: bool,
    pub excluded: bool,
}

fn draft_with(
    seed: u64,
    loss: &str,
    thin: bool,
    design: impl FnOnce(&[Vec<f64>]) -> Design,
) -> Draft {
    let mut random = Random::new(seed);
    let d = 1 + random.below(8);
    let n = match random.below(8) {
        0 => 1,
        1 => 2,
        2 => 1 + random.below(d + 1),
        _ => 3 + random.below(25),
    };
    let labels = loss == "logistic" || loss == "squared-hinge";
    let n = if labels { n.max(2) } else { n };
    let integer = random.chance(0.15);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..d {
        let copy = j > 0 && random.chance(0.1);
        let column: Vec<f64> = if copy {
            let sign = if random.chance(0.3) { -1.0 } else { 1.0 };
            let from = random.below(j);
            columns[from].iter().map(|v| sign * v).collect()
        } else {
            match random.below(14) {
                0 => vec![0.0; n],
                1 => vec![1.0 + random.uniform(); n],
                2 => (0..n)
                    .map(|_| f64::from(u8::from(random.chance(0.4))))
                    .collect(),
                _ if integer => (0..n).map(|_| random.below(5) as f64 - 2.0).collect(),
                _ => (0..n).map(|_| random.normal()).collect(),
            }
        };
        columns.push(column);
    }
    let scaled = random.chance(0.15);
    if scaled {
        for column in &mut columns {
            let scale = 10f64.powf(8.0 * random.uniform() - 4.0);
            column.iter_mut().for_each(|v| *v *= scale);
        }
    }
    let truth: Vec<f64> = (0..d)
        .map(|j| {
            let size = columns[j].iter().map(|v| v.abs()).fold(1e-300, f64::max);
            if random.chance(0.5) {
                random.normal() / size
            } else {
                0.0
            }
        })
        .collect();
    let noise = [0.0, 0.1, 1.0][random.below(3)];
    let shift = if random.chance(0.3) {
        3.0 * random.normal()
    } else {
        0.0
    };
    let mut b: Vec<f64> = (0..n)
        .map(|i| {
            let signal: f64 = (0..d).map(|j| columns[j][i] * truth[j]).sum();
            signal + shift + noise * random.normal()
        })
        .collect();
    if labels {
        b.iter_mut()
            .for_each(|b| *b = if *b > shift { 1.0 } else { -1.0 });
        b[0] = 1.0;
        b[1] = -1.0;
    } else if integer {
        b.iter_mut().for_each(|b| *b = b.round());
    }
    let k = match random.below(6) {
        0 => 0,
        1 => d + random.below(2),
        _ => 1 + random.below(d),
    };
    let delta = [0.1, 1.0, 10.0][random.below(3)];
    let ridge = 10f64.powf(-5.0 * random.uniform());
    let intercept = random.chance(0.4) && loss != "cox";
    if loss == "poisson" || loss == "gamma" {
        let random = &mut Random::new(seed ^ 0x3C6E_F372_FE94_F82B);
        amounts(&mut b, loss, intercept, random);
    }
    if loss == "poisson" && !intercept && Random::new(seed ^ 0x510E).chance(0.05) {
        b.fill(0.0);
    }
    if thin {
        let mut random = Random::new(seed ^ 0x8EBC_6AF0_9C88_C6E3);
        for column in &mut columns {
            let share = [0.0, 0.5, 0.8][random.below(3)];
            column.iter_mut().for_each(|v| {
                if random.chance(share) {
                    *v = 0.0;
                }
            });
        }
    }
    let design = design(&columns);
    let mut known = loss::by_name(loss, delta).unwrap();
    if loss == "cox" {
        let random = &mut Random::new(seed ^ 0xBB67_AE85_84CA_A73B);
        let times = survival::Times::draw(&b, random);
        known = times.loss();
        b = times.times;
    }
    let mut builder = Problem::builder(design, b)
        .standardize(false)
        .loss(known)
        .ridge(ridge)
        .k(k)
        .intercept(intercept);
    let mut words = format!(
        "seed {seed}, {loss} (δ {delta}), n {n}, d {d}, k {k}, ridge {ridge:e}, intercept {intercept}, scaled {scaled}"
    );
    if random.chance(0.3) {
        let mut weights: Vec<f64> = (0..n)
            .map(|_| {
                if random.chance(0.1) {
                    0.0
                } else {
                    random.uniform() + 0.01
                }
            })
            .collect();
        // Both classes have to remain.
        weights[0] = 1.0;
        if n > 1 {
            weights[1] = 0.5;
        }
        words += ", weights";
        builder = builder.weights(weights);
    }
    if Random::new(seed ^ 0x1D8E_4E27_C47D_124F).chance(0.25) {
        words += ", standardized";
        builder = builder.standardize(true);
    }
    if random.chance(0.25) {
        words += ", offset";
        builder = builder.offset((0..n).map(|_| random.normal()).collect());
    }
    let always = d > 1 && random.chance(0.15);
    if always {
        words += ", column 0 always in";
        builder = builder.always_in(0, 0.1);
    }
    let excluded = d > 2 && random.chance(0.1);
    if excluded {
        words += ", column 1 excluded";
        builder = builder.exclude(1);
    }
    Draft {
        builder,
        words,
        d,
        k,
        always,
        excluded,
    }
}

/// Responses of moderate size with these logarithms, for a loss with a log link; other losses leave them unchanged.
pub fn log_linked(b: &mut [f64], loss: &str) {
    for b in b.iter_mut() {
        match loss {
            "poisson" => *b = (2.0 * b.clamp(-3.0, 3.0).exp()).floor(),
            "gamma" => *b = b.clamp(-3.0, 3.0).exp(),
            _ => return,
        }
    }
    b[0] = b[0].max(1.0);
}

/// Counts or amounts with roughly these logarithms: many counts of 0, fractions, huge and tiny ones. Amounts in any
/// unit need an intercept.
pub fn amounts(b: &mut [f64], loss: &str, intercept: bool, random: &mut Random) {
    let whole = random.chance(0.7);
    let unit = match random.below(10) {
        0 if loss == "poisson" => 1e5,
        1 if loss == "poisson" => 1e-3,
        0..4 if loss == "gamma" && intercept => [1e-150, 1e-3, 1e12, 1e40][random.below(4)],
        _ => 1.0,
    };
    for b in b.iter_mut() {
        *b = b.clamp(-5.0, 5.0).exp() * unit;
        if loss == "poisson" && whole {
            *b = b.floor();
        }
    }
    // With an intercept, some count has to be positive.
    if b[0] == 0.0 {
        b[0] = 1.0;
    }
}

/// Correlated columns and much noise: d = 25, k = 5, and no bound that closes it near the root.
pub fn hard(name: &str) -> Problem {
    hard_draft(name).build().unwrap()
}

/// The problem of [`hard`], not built yet.
pub fn hard_draft(name: &str) -> Builder {
    let labels = matches!(name, "logistic" | "squared-hinge");
    let mut random = Random::new(11);
    let (n, d) = (if labels { 60 } else { 30 }, 25);
    let noise = if labels { 6.0 } else { 3.0 };
    let common: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let columns: Vec<Vec<f64>> = (0..d)
        .map(|_| common.iter().map(|c| c + random.normal()).collect())
        .collect();
    let mut b: Vec<f64> = (0..n)
        .map(|i| {
            let signal: f64 = (0..5).map(|j| columns[j][i]).sum();
            signal + noise * random.normal()
        })
        .collect();
    if labels {
        b.iter_mut().for_each(|b| *b = b.signum());
    } else if matches!(name, "poisson" | "gamma") {
        b.iter_mut().for_each(|b| *b *= 0.3);
        log_linked(&mut b, name);
    }
    let design = Design::dense(n, d, columns.concat()).unwrap();
    Problem::builder(design, b)
        .standardize(false)
        .loss(loss::by_name(name, 1.0).unwrap())
        .ridge(if labels { 0.02 } else { 0.01 })
        .k(5)
}
