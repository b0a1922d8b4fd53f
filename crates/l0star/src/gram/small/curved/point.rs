//! A model of a few columns under any loss: its slopes, curvatures and products, and the steps to a bound above a
//! target.

use super::bound::{Column, MOST, Products, Sizes, solve};
use super::data::Data;

/// Maximum number of Newton steps and halvings of them before a set is handed out.
const MOST_STEPS: usize = 30;
/// Size of a step, relative to the coefficients, below which it does not change a bound.
const STILL: f64 = 1e-10;
/// Maximum number of times that the parabolas of rows are narrowed when a step would leave their reach …
const MOST_YIELDS: usize = 8;
/// … and the share of their reach that the same step then takes.
const YIELDED: f64 = 0.8;

/// Verdict on a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// The set is proved to be no better than the target.
    Proved,
    /// The set may be better.
    Open,
}

/// A model, with all that is computed row by row.
pub(super) struct RowPoint<'d> {
    pub(super) data: &'d Data<'d>,
    /// Places of the columns in the data.
    set: Vec<usize>,
    pub(super) products: Products,
    z: Vec<f64>,
    alpha: Vec<f64>,
    pub(super) beta: Vec<f64>,
    curvatures: Vec<f64>,
    /// `(pw, low, high)` of each row.
    pub(super) parabolas: Vec<[f64; 3]>,
    step: Vec<f64>,
}

impl<'d> RowPoint<'d> {
    pub(super) fn new(data: &'d Data) -> Self {
        let n = data.rows();
        Self {
            data,
            set: Vec::new(),
            products: Products::default(),
            z: vec![0.0; n],
            alpha: vec![0.0; n],
            beta: vec![0.0; n],
            curvatures: vec![0.0; n],
            parabolas: vec![[0.0; 3]; n],
            step: vec![0.0; n],
        }
    }

    /// Starts with a set of columns and their coefficients.
    pub(super) fn start(&mut self, set: &[usize], x: &[f64]) {
        self.set.clear();
        self.set.extend_from_slice(set);
        self.products.q = set.len();
        self.products.columns = [Column::default(); MOST];
        self.products.x = [0.0; MOST];
        self.products.x[..x.len()].copy_from_slice(x);
        for (a, j) in set.iter().enumerate() {
            self.products.columns[a] = self.data.columns[*j];
        }
    }

    /// Computes everything at the coefficients; returns P.
    pub(super) fn evaluate(&mut self) -> f64 {
        let (data, problem) = (self.data, self.data.problem);
        let q = self.set.len();
        if problem.offset.is_empty() {
            self.z.fill(0.0)
        } else {
            self.z.copy_from_slice(&problem.offset)
        }
        for (j, x) in self.set.iter().zip(&self.products.x) {
            let column = data.column(*j).iter();
            self.z.iter_mut().zip(column).for_each(|(z, a)| *z += x * a);
        }
        let (loss, p, b) = (&problem.loss, &problem.p, &problem.b);
        loss.slopes(&self.z, b, &mut self.alpha);
        loss.parabolas(p, &self.alpha, b, &mut self.parabolas);
        let (mut squares, mut steepest) = (0.0, 0.0f64);
        for (((beta, alpha), p), [pw, ..]) in self
            .beta
            .iter_mut()
            .zip(&self.alpha)
            .zip(p)
            .zip(&self.parabolas)
        {
            *beta = p * alpha;
            squares += *beta * alpha;
            steepest = steepest.max(pw / p);
        }
        let value = loss.total(p, &self.z, b);
        self.products.sizes = Sizes {
            loss: value,
            noise: if data.is_steep {
                loss.noises(p, &self.z, b).0
            } else {
                0.0
            },
            slopes: 1.01 * squares.sqrt(),
            steepest: 1.01 * steepest.sqrt(),
            offsets: data.offsets,
        };
        for a in 0..q {
            let column = data.column(self.set[a]);
            let dot = column.iter().zip(&self.beta).map(|(a, b)| a * b);
            self.products.v[a] = dot.sum();
        }
        self.multiply();
        value + self.penalty()
    }

    /// Computes K with the current parabolas.
    fn multiply(&mut self) {
        for a in 0..self.set.len() {
            let column = self.data.column(self.set[a]);
            for b in 0..=a {
                let rows = column.iter().zip(self.data.column(self.set[b]));
                let products = rows
                    .zip(&self.parabolas)
                    .map(|((a, b), [pw, ..])| pw * a * b);
                let sum = products.sum();
                self.products.k[a][b] = sum;
                self.products.k[b][a] = sum;
            }
        }
    }

    fn penalty(&self) -> f64 {
        let terms = self.products.columns.iter().zip(&self.products.x);
        0.5 * terms.map(|(column, x)| column.ridge * x * x).sum::<f64>()
    }

    /// Computes the change of the predictions by a step.
    fn change(&mut self, d: &[f64; MOST]) {
        self.step.fill(0.0);
        for (j, d) in self.set.iter().zip(d) {
            let column = self.data.column(*j).iter();
            self.step
                .iter_mut()
                .zip(column)
                .for_each(|(z, a)| *z += d * a);
        }
    }

    /// Whether the step of [`RowPoint::change`] is within the reach of all parabolas, its rounding included.
    fn is_within_reach(&self, d: &[f64; MOST]) -> bool {
        let largest = self.products.columns.iter().map(|column| column.largest);
        let size: f64 = largest.zip(d).map(|(a, d)| a * d.abs()).sum();
        let error = 1e-14 * size;
        let rows = self.step.iter().zip(&self.parabolas);
        size.is_finite()
            && rows.fold(true, |fine, (t, [_, low, high])| {
                fine & (*t - error >= *low) & (*t + error <= *high)
            })
    }

    /// Returns the bound of the best step from the coefficients; −∞ where it is clearly below the target.
    ///
    /// Where a step leaves the reach of some rows, their parabolas are made narrower, which lengthens the
    /// reach, and the next step is tried.
    pub(super) fn bound(&mut self, target: f64) -> f64 {
        for _ in 0..MOST_YIELDS {
            let Some(step) = self.products.step() else {
                break;
            };
            let bound = self.bound_of(&step);
            // Narrower parabolas would only lower the bound.
            if bound > f64::NEG_INFINITY || self.products.bound(&step, self.data.omega) < target {
                return bound;
            }
            self.yield_to(&step);
        }
        f64::NEG_INFINITY
    }

    /// Narrows the parabolas of the rows that the step of [`RowPoint::change`] takes too far, and recomputes the
    /// products.
    fn yield_to(&mut self, d: &[f64; MOST]) {
        let largest = self.products.columns.iter().map(|column| column.largest);
        let error = 1e-14 * largest.zip(d).map(|(a, d)| a * d.abs()).sum::<f64>();
        for (t, [pw, low, high]) in self.step.iter().zip(&mut self.parabolas) {
            let reach = if *t > 0.0 { *high } else { -*low };
            let way = t.abs() + 2.0 * error;
            if way > reach {
                let share = YIELDED * reach / way;
                *pw *= share;
                *low /= share;
                *high /= share;
            }
        }
        self.multiply();
    }

    /// Whether a set is proved from the model of some of its columns, whose rows are known; the
    /// products of the others are given.
    pub(super) fn proves_from(
        &mut self,
        base: &RowPoint,
        set: &[usize],
        products: &Products,
        target: f64,
    ) -> bool {
        self.set.clear();
        self.set.extend_from_slice(set);
        self.products = *products;
        self.parabolas.clone_from(&base.parabolas);
        self.bound(target) >= target
    }

    /// Returns the bound of a step; −∞ where it is out of reach.
    pub(super) fn bound_of(&mut self, d: &[f64; MOST]) -> f64 {
        self.change(d);
        if self.is_within_reach(d) {
            self.products.bound(d, self.data.omega)
        } else {
            f64::NEG_INFINITY
        }
    }

    /// Returns the Newton step. Its only limit is that P must fall: rows far on their right side may go further.
    fn newton(&mut self) -> Option<[f64; MOST]> {
        let (q, problem) = (self.set.len(), self.data.problem);
        let curvatures = &mut self.curvatures;
        let loss = &problem.loss;
        loss.weighted_curvatures(&problem.p, &self.z, &problem.b, curvatures);
        let mut h = [[0.0; MOST]; MOST];
        let (mut ridges, mut gradient) = ([0.0; MOST], [0.0; MOST]);
        for a in 0..q {
            let column = self.data.column(self.set[a]);
            for (b, out) in h[a].iter_mut().enumerate().take(a + 1) {
                let rows = column.iter().zip(self.data.column(self.set[b]));
                let products = rows.zip(&self.curvatures).map(|((a, b), w)| w * a * b);
                *out = products.sum();
            }
            let Column { ridge, norm, .. } = self.products.columns[a];
            // Where no row has curvature, a trace of ridge keeps the system solvable.
            ridges[a] = ridge + 1e-10 * norm * norm;
            gradient[a] = -(self.products.v[a] + ridge * self.products.x[a]);
        }
        let step = solve(&h, &ridges, &gradient, q)?;
        step.iter().all(|d| d.is_finite()).then_some(step)
    }

    /// Moves by half of a step.
    pub(super) fn advance(&mut self, d: &[f64; MOST]) {
        (0..MOST).for_each(|a| self.products.x[a] += 0.5 * d[a]);
    }

    /// Continues from the coefficients until the bound is above the target, or clearly will not be.
    pub(super) fn judge(&mut self, target: f64) -> Judged {
        self.descend(Some(target)).0
    }

    /// Fits the columns as well as Newton steps can; returns P, with everything of [`RowPoint::evaluate`] there.
    pub(super) fn fit(&mut self) -> f64 {
        self.descend(None).1
    }

    /// Takes Newton steps, halved where they lead upwards. All computed values belong to the final
    /// coefficients; returns P there.
    fn descend(&mut self, target: Option<f64>) -> (Judged, f64) {
        let mut before = (f64::INFINITY, self.products.x, [0.0; MOST]);
        for _ in 0..MOST_STEPS {
            let value = self.evaluate();
            if value.is_nan() || target.is_some_and(|target| value < target) {
                return (Judged::Open, value);
            }
            if value > before.0 {
                before.2.iter_mut().for_each(|d| *d *= 0.5);
                (0..MOST).for_each(|a| self.products.x[a] = before.1[a] + before.2[a]);
                continue;
            }
            if target.is_some_and(|target| self.bound(target) >= target) {
                return (Judged::Proved, value);
            }
            let Some(step) = self.newton() else {
                return (Judged::Open, value);
            };
            let still = |a: usize| step[a].abs() <= STILL * self.products.x[a].abs();
            if (0..MOST).all(still) {
                return (Judged::Open, value);
            }
            before = (value, self.products.x, step);
            (0..MOST).for_each(|a| self.products.x[a] += step[a]);
        }
        self.products.x = before.1;
        (Judged::Open, self.evaluate())
    }
}
