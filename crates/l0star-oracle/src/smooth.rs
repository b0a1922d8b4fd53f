//! Losses without pieces: an enclosure of the minimum.
//!
//! At any feasible x with gradient g, convexity gives `P(y) ≥ P(x) + Σ (g_j d_j + ½ λ_j d_j²)`, d = y - x.
//! The least value of a term is `-g_j²/2λ_j`, or 0 at a bound against which g presses. For an intercept it
//! is `-|g_0| |d_0|`. The range of the best y_0 follows from the losses of two rows, one of each class, or
//! of one row with a log link.

use crate::curves;
use crate::newton::{ActiveBounds, Position};
use crate::problem::{ExactColumn, ExactRow, Least, Loss};
use crate::series::Slope;
use crate::{Dyadic, Exact, series};

/// Upper limit on the rounds of Newton's method.
const ROUNDS: usize = 300;
/// Exponent of the relative width `2^-NARROW` at which an enclosure is narrow enough.
const NARROW: i64 = 200;
/// Exponent of the smallest value `2^-NOTHING` for relative widths, since a perfect fit has the value 0.
const NOTHING: i64 = 100;

/// Computes the least objective of the problem, if it is on this face.
pub(crate) fn least(face: &ActiveBounds) -> Option<Least> {
    let mut x = face.start();
    let all = |z: &[Dyadic]| -> Vec<Slope> { curves::slopes(face.problem, z) };
    let slopes = |z: &[Dyadic]| -> Vec<Dyadic> {
        let all = all(z).into_iter();
        all.map(|own| own.slope).collect()
    };
    for _ in 0..ROUNDS {
        let z = face.predictions(&x);
        let (mut slopes_here, mut curvatures, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for own in all(&z) {
            slopes_here.push(own.slope);
            curvatures.push(own.curvature);
            errors.push(own.error);
        }
        let gradient = face.gradient(&slopes_here, &x);
        let value = Value::new(face, &z, &x, errors);
        let free = |j: usize| face.places[j] == Position::Free;
        if value.is_narrow(&value.below(face, &x, &gradient, free)) {
            // This is the minimum of the face. It is that of the problem if bounds hold and no
            // coefficient would leave its bound.
            let low = value.below(face, &x, &gradient, |_| true);
            let is_proved = face.has(&x, &Dyadic::of(1.0)) && value.is_narrow(&low);
            return is_proved.then(|| Least {
                low,
                high: value.high.into(),
            });
        }
        let hazards = face.problem.hazards.as_ref();
        let couplings = hazards.map(|own| own.couplings(&z)).unwrap_or_default();
        let step = face.step(&curvatures, &couplings, &gradient);
        x = face.search(&x, &step, slopes);
    }
    None
}

/// An enclosure of P at a point.
struct Value {
    low: Dyadic,
    high: Dyadic,
    /// Errors of the slopes of the rows.
    errors: Vec<Dyadic>,
}

impl Value {
    fn new(face: &ActiveBounds, z: &[Dyadic], x: &[Dyadic], errors: Vec<Dyadic>) -> Self {
        let (losses, error) = curves::total(face.problem, z);
        let ridges: Dyadic = (face.columns.iter().zip(x))
            .map(|(column, x)| (&column.ridge * &(x * x)).shifted(-1))
            .sum();
        let value = &losses + &ridges;
        Self {
            low: &value - &error,
            high: &value + &error,
            errors,
        }
    }

    fn is_narrow(&self, low: &Exact) -> bool {
        let width = Exact::from(self.high.clone()).minus(low);
        let whole = self.high.clone().max(Dyadic::of(1.0).shifted(-NOTHING));
        width <= whole.shifted(-NARROW).into()
    }

    /// Computes a lower bound on the minimum over models that differ from x only in some columns.
    fn below(
        &self,
        face: &ActiveBounds,
        x: &[Dyadic],
        gradient: &[Dyadic],
        differ: impl Fn(usize) -> bool,
    ) -> Exact {
        let mut low = Exact::from(self.low.clone());
        for (j, column) in face.columns.iter().enumerate().filter(|(j, _)| differ(*j)) {
            let error: Dyadic = (column.entries.iter().zip(face.rows()).zip(&self.errors))
                .map(|((a, row), error)| &(&row.p * &a.abs()) * error)
                .sum();
            let (g, largest) = (&gradient[j], &gradient[j].abs() + &error);
            if column.ridge.is_zero() {
                let reach = &self.reach(face, column) + &x[j].abs();
                low = low.minus(&(&largest * &reach).into());
                continue;
            }
            let is_held = match face.places[j] {
                Position::Free => false,
                _ if column.low == column.high => true,
                Position::Low => *g >= error,
                Position::High => -g >= error,
            };
            if !is_held {
                low = low.minus(&Exact::new(&largest * &largest, column.ridge.shifted(1)));
            }
        }
        low
    }

    /// Returns an upper limit on the size of the intercept's coefficient in models with an objective of at most
    /// `high`. Every entry is at most 1 in size.
    fn reach(&self, face: &ActiveBounds, intercept: &ExactColumn) -> Dyadic {
        // |x_j| ≤ √(2 high/λ_j), rounded up to a power of two.
        let others: Dyadic = (face.columns.iter())
            .filter(|column| !column.ridge.is_zero())
            .filter_map(|column| {
                let square = self.high.shifted(1).over(&column.ridge, 64);
                square
                    .size()
                    .map(|size| Dyadic::of(1.0).shifted((size + 2).div_euclid(2)))
            })
            .sum();
        let over = |mass: &Dyadic| self.high.over(&mass.rounded(64), 64).shifted(1);
        let reach = match face.problem.loss {
            Loss::Poisson | Loss::Gamma => {
                // p m (|z - log b| - 1) ≤ high, where m is the count, or 1.
                let mass = |row: &ExactRow| match face.problem.loss {
                    Loss::Poisson => &row.p * &row.b,
                    _ => row.p.clone(),
                };
                let row = face.rows().iter().max_by_key(|row| mass(row));
                let row = row.expect("a row");
                let centre = &series::log(&row.b).abs() + &Dyadic::of(2.0);
                &(&over(&mass(row)) + &centre) + &(&others + &row.o.abs())
            }
            _ => self.reach_of_classes(face, &others),
        };
        // Divided by the intercept's own entry, a power of two of at least 1/2.
        let entry = intercept.entries[0].abs();
        reach.over(&entry, 640)
    }

    /// Returns the limit for the intercept, given that of the other columns, from one row of each class.
    fn reach_of_classes(&self, face: &ActiveBounds, others: &Dyadic) -> Dyadic {
        // p log(1 + exp(-m)) ≤ high, so -m ≤ high/p.
        let class = |b: f64| {
            let rows = face.rows().iter().filter(|row| row.b == Dyadic::of(b));
            let row = rows.max_by(|a, b| a.p.cmp(&b.p))?;
            let bound = self.high.over(&row.p.rounded(64), 64).shifted(1);
            Some(&(&bound + others) + &row.o.abs())
        };
        let both = class(1.0).zip(class(-1.0));
        both.map(|(a, b)| a.max(b)).expect("rows of both classes")
    }
}
