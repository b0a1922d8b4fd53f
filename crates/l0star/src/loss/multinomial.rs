//! The multinomial loss: the negative logarithm of the probability of a row's class, among two classes or more.
//!
//! A row has a score for each class, `z_c`, and the probabilities `π_c = e^{z_c} / Σ e^z`:
//!
//! ```text
//! L(z) = Σ p_i (ln Σ_c e^{z_ic} - z_iy),     ∇L = p (π - e_y),     ∇²L = p (diag(π) - ππᵀ)
//! ```
//!
//! For the dual, any probabilities π define a point `β = p (π - e_y)`, with `-L*(β) = Σ p_i H(π_i)` and H the entropy
//! (Gibbs' inequality).

use std::sync::Arc;

use super::joint::{DualValue, Hessian, Joint};
use super::{Loss, ResponseKind, Rows};
use crate::error::{Error, Result};
use crate::linalg::rounding::{Doubled, U};

/// Exponentials below this share of the largest count as 0: subnormal numbers have few digits.
const LEAST_SHARE: f64 = 1e-290;

/// Multinomial loss of classes, numbered from 0.
///
/// Each feature has a coefficient for each class. With a ridge these add up to 0, and so do the intercepts of a result.
///
/// ```
/// use std::sync::Arc;
/// use l0star::loss::Multinomial;
/// use l0star::{Design, Problem, Settings, Status, solve};
///
/// // The second column tells three classes apart.
/// let columns = vec![0.3, -0.2, 0.1, 0.4, -0.5, 0.2, -2.0, -1.5, 0.1, 0.2, 1.7, 2.2];
/// let classes = vec![0.0, 0.0, 1.0, 1.0, 2.0, 2.0];
/// let problem = Problem::builder(Design::dense(6, 2, columns)?, classes)
///     .loss(Arc::new(Multinomial::new(3)))
///     .intercept(true)
///     .ridge(0.01)
///     .k(1)
///     .build()?;
/// let found = solve(&problem, &Settings::default())?;
/// assert_eq!((found.status, &found.support[..]), (Status::Optimal, &[1][..]));
/// // Coefficients of class after class: two features, three classes.
/// assert!(found.coefficients[1] < 0.0 && found.coefficients[2 * 2 + 1] > 0.0);
/// # Ok::<(), l0star::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Multinomial {
    classes: usize,
}

impl Multinomial {
    /// Name of the loss.
    pub const NAME: &'static str = "multinomial";

    /// Creates the loss for this many classes.
    pub fn new(classes: usize) -> Self {
        Self { classes }
    }
}

impl Loss for Multinomial {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn response(&self) -> ResponseKind {
        ResponseKind::Class
    }

    fn classes(&self) -> Option<usize> {
        Some(self.classes)
    }

    fn bind(&self, rows: &Rows) -> Result<Option<Arc<dyn Joint>>> {
        let number = |b: &f64| (*b >= 0.0 && b.fract() == 0.0).then_some(*b as usize);
        let known = |class: &usize| *class < self.classes;
        let classes: Option<Vec<usize>> =
            rows.all.iter().map(|b| number(b).filter(known)).collect();
        let classes = classes.filter(|_| self.classes > 1);
        let classes = classes.ok_or(Error::NoSuchClass {
            classes: self.classes.max(2),
        })?;
        let classes = classes.iter().zip(rows.keep);
        let classes = classes.filter_map(|(class, keep)| keep.then_some(*class));
        let classes: Vec<usize> = classes.collect();
        let mut counts = vec![0; self.classes];
        classes.iter().for_each(|class| counts[*class] += 1);
        if let Some(class) = counts.iter().position(|count| *count == 0) {
            return Err(Error::EmptyClass { class });
        }
        Ok(Some(Arc::new(Classes {
            count: self.classes,
            classes,
            p: rows.p.to_vec(),
        })))
    }

    fn is_likelihood(&self) -> bool {
        true
    }

    fn formula(&self) -> String {
        "the negative logarithm of the probability of the row's class".to_owned()
    }

    super::joint::no_rows!();
}

/// The multinomial loss of given rows.
#[derive(Debug, Clone)]
struct Classes {
    count: usize,
    /// The class of each row.
    classes: Vec<usize>,
    /// Weights as shares.
    p: Vec<f64>,
}

/// The exponentials of a row, relative to the largest.
struct Shares {
    /// `e^{z_c - top}`, 1 for the first class of the largest score, which is `top`.
    shares: Vec<f64>,
    top: usize,
    /// The sum of all shares but that of `top`.
    rest: f64,
}

impl Shares {
    fn new(scores: impl Iterator<Item = f64> + Clone) -> Self {
        let (mut top, mut most) = (0, f64::NEG_INFINITY);
        for (c, z) in scores.clone().enumerate() {
            if z > most {
                (top, most) = (c, z);
            }
        }
        let share = |z: f64| {
            let share = (z - most).exp();
            if share < LEAST_SHARE { 0.0 } else { share }
        };
        let mut shares: Vec<f64> = scores.map(share).collect();
        shares[top] = 1.0;
        let others = shares.iter().enumerate().filter(|(c, _)| *c != top);
        let rest = others.map(|(_, share)| share).sum();
        Self { shares, top, rest }
    }

    /// The probability of a class.
    fn probability(&self, class: usize) -> f64 {
        self.shares[class] / (1.0 + self.rest)
    }

    /// The probability of all other classes, computed as a sum of positive numbers.
    fn of_others(&self, class: usize) -> f64 {
        let others = self.shares.iter().enumerate().filter(|(c, _)| *c != class);
        others.map(|(_, share)| share).sum::<f64>() / (1.0 + self.rest)
    }
}

impl Classes {
    fn rows(&self) -> usize {
        self.p.len()
    }

    /// The scores of a row.
    fn scores<'z>(&self, z: &'z [f64], row: usize) -> impl Iterator<Item = f64> + Clone + 'z {
        let n = self.rows();
        (0..self.count).map(move |c| z[c * n + row])
    }

    /// `ln Σ e^z - z_y` of a row, with `low` added to the scores if it is given; all terms are ≥ 0.
    fn loss(&self, z: &[f64], low: Option<&[f64]>, row: usize) -> f64 {
        let (n, class) = (self.rows(), self.classes[row]);
        let shares = Shares::new(self.scores(z, row));
        let place = |c: usize| c * n + row;
        let mut above = z[place(shares.top)] - z[place(class)];
        let mut rest = shares.rest;
        if let Some(low) = low {
            above += low[place(shares.top)] - low[place(class)];
            let others = shares.shares.iter().enumerate();
            let moved = others
                .filter(|(c, _)| *c != shares.top)
                .map(|(c, share)| share * (1.0 + (low[place(c)] - low[place(shares.top)])));
            rest = moved.sum();
        }
        above + rest.ln_1p()
    }
}

impl Joint for Classes {
    fn total(&self, z: &[f64]) -> f64 {
        let rows = self.p.iter().enumerate();
        rows.map(|(row, p)| p * self.loss(z, None, row)).sum()
    }

    fn total_near(&self, high: &[f64], low: &[f64]) -> f64 {
        let mut total = Doubled::default();
        for (row, p) in self.p.iter().enumerate() {
            total.add_product(*p, self.loss(high, Some(low), row));
        }
        total.value()
    }

    fn gradient(&self, z: &[f64], beta: &mut [f64]) {
        let n = self.rows();
        for (row, p) in self.p.iter().enumerate() {
            let shares = Shares::new(self.scores(z, row));
            for c in 0..self.count {
                beta[c * n + row] = p * if c == self.classes[row] {
                    -shares.of_others(c)
                } else {
                    shares.probability(c)
                };
            }
        }
    }

    /// `diag(π) - ππᵀ ⪯ diag(π)`.
    fn curvatures(&self, z: &[f64], h: &mut [f64]) {
        let n = self.rows();
        for (row, p) in self.p.iter().enumerate() {
            let shares = Shares::new(self.scores(z, row));
            (0..self.count).for_each(|c| h[c * n + row] = p * shares.probability(c));
        }
    }

    fn hessian(&self, z: &[f64]) -> Box<dyn Hessian> {
        let n = self.rows();
        let mut roots = vec![0.0; z.len()];
        for (row, p) in self.p.iter().enumerate() {
            let shares = Shares::new(self.scores(z, row));
            (0..self.count).for_each(|c| roots[c * n + row] = p.sqrt() * shares.probability(c));
        }
        Box::new(Means { rows: n, roots })
    }

    /// `docs/numerics.md`, section 21.
    fn dual(&self, z: &[f64], offset: &[f64], beta: &mut [f64]) -> DualValue {
        let n = self.rows();
        let own_offset = |c: usize, row: usize| offset.get(c * n + row).copied().unwrap_or(0.0);
        self.gradient(z, beta);
        let mut total = Doubled::default();
        let mut size = 0.0;
        for (row, p) in self.p.iter().enumerate() {
            let shares = Shares::new(self.scores(z, row));
            let top = z[shares.top * n + row];
            // ln S - Σ π ln(share), all of it ≥ 0.
            let mut entropy = shares.rest.ln_1p();
            for (c, share) in shares.shares.iter().enumerate() {
                if *share > 0.0 {
                    entropy += shares.probability(c) * (top - z[c * n + row]);
                }
            }
            total.add_product(*p, entropy);
            size += p * entropy;
            if offset.is_empty() {
                continue;
            }
            // Σ π_c (o_c - o_y), the class of the row left out.
            let class = self.classes[row];
            let (mut moved, mut moves) = (0.0, 0.0);
            for c in (0..self.count).filter(|c| *c != class) {
                let by = shares.probability(c) * (own_offset(c, row) - own_offset(class, row));
                moved += by;
                moves += by.abs();
            }
            total.add_product(*p, moved);
            size += p * moves;
        }
        let squares: f64 = beta.iter().map(|beta| beta * beta).sum();
        let roundings = (2 * self.count + 32) as f64 * U;
        DualValue {
            value: total.value(),
            slack: total.error() + 2.0 * roundings * size,
            distance: roundings * squares.sqrt() * (1.0 + 1e-6),
        }
    }

    fn usual_curvature(&self) -> f64 {
        0.25
    }

    /// A row contributes `ln(1 + r)`, and r grows by a factor of at most `e^{2 step}`.
    fn growth(&self, step: f64) -> f64 {
        2.0 * step * (2.0 * step).exp()
    }

    fn fingerprint(&self) -> Vec<f64> {
        vec![self.count as f64]
    }
}

/// The Hessian at one point: B has a row `√p π` for each row.
struct Means {
    rows: usize,
    /// `√p π`.
    roots: Vec<f64>,
}

impl Hessian for Means {
    fn rank(&self) -> usize {
        self.rows
    }

    fn project(&self, t: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let blocks = t
            .chunks_exact(self.rows)
            .zip(self.roots.chunks_exact(self.rows));
        for (t, roots) in blocks {
            let rows = out.iter_mut().zip(t).zip(roots);
            rows.for_each(|((out, t), root)| *out += root * t);
        }
    }

    fn subtract(&self, y: &[f64], t: &mut [f64]) {
        let blocks = t
            .chunks_exact_mut(self.rows)
            .zip(self.roots.chunks_exact(self.rows));
        for (t, roots) in blocks {
            let rows = t.iter_mut().zip(y).zip(roots);
            rows.for_each(|((t, y), root)| *t -= root * y);
        }
    }
}
