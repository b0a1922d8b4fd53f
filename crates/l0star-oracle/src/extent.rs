//! Ranges of the coefficients of good models, for the quadratic loss.
//!
//! The models of a set with `P(x) ≤ C` fill an ellipsoid. With the least value `P*` at `x*` and the Hessian H,
//!
//! ```text
//! |x_j - x*_j| ≤ √(2 (C - P*) (H⁻¹)_jj)
//! ```
//!
//! and both ends are attained.

use crate::linear::solve;
use crate::problem::{ExactColumn, Loss};
use crate::{Dyadic, Exact, Problem};

/// The interval from `center - √square` to `center + √square`.
#[derive(Debug, Clone)]
pub struct Extent {
    /// The coefficient of the best model of the set.
    pub center: Exact,
    /// The square of the largest distance from there.
    pub square: Exact,
}

impl Extent {
    /// Whether the interval from `low` to `high` contains the whole extent.
    pub fn is_within(&self, low: f64, high: f64) -> bool {
        let zero = Exact::of(0.0);
        let reaches = |room: Exact| zero <= room && self.square <= room.times(&room);
        reaches(Exact::of(high).minus(&self.center)) && reaches(self.center.minus(&Exact::of(low)))
    }
}

impl Problem {
    /// Returns the ranges of the coefficients of a set's models with an objective up to `ceiling`, in the order
    /// of the set; `None` if there is no such model, or no unique best model.
    ///
    /// # Panics
    ///
    /// For a loss that is not quadratic. Bounds are ignored.
    pub fn extents(&self, set: &[usize], ceiling: f64) -> Option<Vec<Extent>> {
        assert!(matches!(self.loss, Loss::Quadratic), "a quadratic loss");
        let columns: Vec<&ExactColumn> = set.iter().map(|j| &self.columns[*j]).collect();
        let product = |a: &ExactColumn, value: &dyn Fn(usize) -> Dyadic| -> Dyadic {
            let rows = self.rows.iter().enumerate();
            rows.map(|(i, row)| &(&row.p * &a.entries[i]) * &value(i))
                .sum()
        };
        let response = |i: usize| &self.rows[i].b - &self.rows[i].o;
        let mut hessian: Vec<Vec<Dyadic>> = Vec::new();
        for (r, a) in columns.iter().enumerate() {
            let row = columns
                .iter()
                .map(|b| product(a, &|i| b.entries[i].clone()));
            let mut row: Vec<Dyadic> = row.collect();
            row[r] = &row[r] + &a.ridge;
            hessian.push(row);
        }
        let solved = |right: Vec<Dyadic>| {
            let rows = hessian.iter().zip(right);
            let rows = rows.map(|(row, right)| [&row[..], &[right]].concat::<Dyadic>());
            let (x, over) = solve(rows.collect())?;
            let fraction = |x: Dyadic| Exact::new(x, over.clone());
            Some(x.into_iter().map(fraction).collect::<Vec<Exact>>())
        };
        let right: Vec<Dyadic> = columns.iter().map(|a| product(a, &response)).collect();
        let best = solved(right.clone())?;
        // P* = ½ Σ p b² - ½ cᵀx*.
        let rows = self.rows.iter().enumerate();
        let null: Dyadic = rows
            .map(|(i, row)| &row.p * &(&response(i) * &response(i)))
            .sum();
        let gains = best.iter().zip(&right);
        let gain = gains.fold(Exact::of(0.0), |sum, (x, c)| {
            sum.plus(&x.times(&c.clone().into()))
        });
        let twice = Exact::of(2.0 * ceiling).minus(&Exact::from(null).minus(&gain));
        if twice < Exact::of(0.0) {
            return None;
        }
        let mut extents = Vec::new();
        for (r, column) in columns.iter().enumerate() {
            let unit = (0..columns.len()).map(|c| Dyadic::of(f64::from(u8::from(c == r))));
            let inverse = solved(unit.collect())?;
            // Converts back from columns that were divided by a power of two.
            let power = |by: i64| Exact::from(Dyadic::of(1.0).shifted(by));
            extents.push(Extent {
                center: best[r].times(&power(-column.power)),
                square: twice.times(&inverse[r]).times(&power(-2 * column.power)),
            });
        }
        Some(extents)
    }
}
