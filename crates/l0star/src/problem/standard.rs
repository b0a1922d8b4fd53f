//! Standardised and centred columns: between the coefficients that the engine works with and those of the data.
//!
//! The engine's problem has the columns `(a_j - m_j) / s_j` and the coefficients `s_j x_j`, x those of the data; `m_j` is 0
//! unless there is an intercept, which takes up `Σ m_j x_j`, or the loss does not see a constant. Its predictions are those of the data, its ridge is one on `s_j
//! x_j`. Everything inside the engine is about its own coefficients; models are translated where they come in and go out, by
//! what is here.
//!
//! Columns are moved only where their mean is far larger than their deviation. Any float m_j is exact mathematics; without
//! it a fit would work with differences of numbers that agree in most of their digits.

use super::moments::Summary;
use super::{ColumnStats, Design, Problem};
use crate::error::{Error, Result};
use crate::linalg::double::Double;
use crate::linalg::rounding::{Doubled, two_product, two_sum};
use crate::loss::Loss;

/// Columns whose mean is this many times their deviation, and more, are centred. Below it the digits that are lost do not
/// matter, and plain columns are faster.
const FAR: f64 = 100.0;
/// The same where rows belong to several classes: their intercepts are bounded less tightly, the more so the larger the
/// means, and what is left of a dual point is multiplied by these bounds.
const FAR_OF_CLASSES: f64 = 2.0;

/// What is kept of the data where the engine's columns are others.
#[derive(Debug, Clone)]
pub(crate) struct Standard {
    /// The columns as they were given, the intercept's behind them.
    data: Design,
    /// What each is divided by; all 1 without standardising.
    scales: Vec<f64>,
    is_standardized: bool,
    /// The columns that are centred: how far their stored entries are moved, as two doubles, and the scale of the data's own
    /// view.
    moves: Vec<(usize, (f64, f64), f64)>,
    /// How far the response is moved, as two doubles.
    response: (f64, f64),
    /// Bounds as they were asked for, of the coefficients of the data.
    bounds: Vec<(f64, f64)>,
}

impl Standard {
    /// The columns that the engine works with, and the way back; `None` where they are those of the data. The last column is
    /// the intercept's, if there is one. `bounds` become those of the engine's coefficients.
    pub(super) fn new(
        data: &Design,
        p: &[f64],
        has_intercept: bool,
        loss: &dyn Loss,
        standardize: bool,
        bounds: &mut [(f64, f64)],
        summary: Option<&Summary>,
    ) -> Result<Option<(Self, Design)>> {
        let is_relative = loss.is_relative();
        if !(has_intercept || is_relative || standardize) {
            return Ok(None);
        }
        let moments = match summary {
            // The intercept's column is looked at by nobody.
            Some(summary) => {
                let own = summary.stats.iter().copied();
                let ones = ColumnStats {
                    mean: 1.0,
                    sd: 0.0,
                    is_constant: true,
                };
                own.chain([ones]).take(data.columns()).collect()
            }
            None => ColumnStats::of(data, Some(p)),
        };
        let own_columns = data.columns() - usize::from(has_intercept);
        let mut centres: Vec<f64> = (0..data.columns()).map(|j| data.view(j).0).collect();
        let mut moves = Vec::new();
        let mut response = (0.0, 0.0);
        if let (Some(summary), true) = (summary, has_intercept) {
            // Rows that stand for moments are centred, all columns of them.
            let by = |mean: &Double| (mean.high, mean.low);
            let means = summary.means[..own_columns].iter().enumerate();
            moves.extend(means.map(|(j, mean)| (j, by(mean), 1.0)));
            response = by(&summary.means[own_columns]);
        }
        let may_move = (has_intercept || is_relative) && summary.is_none();
        let far = if loss.classes().is_some() {
            FAR_OF_CLASSES
        } else {
            FAR
        };
        for j in (0..own_columns).filter(|_| may_move) {
            if let Some(centre) = far_centre(data, j, &moments[j], far) {
                let (_, scale) = data.view(j);
                moves.push((j, two_sum(centre, -centres[j]), scale));
                centres[j] = centre;
            }
        }
        if moves.is_empty() && !standardize {
            return Ok(None);
        }
        let scales = if standardize {
            scales(data, &moments, has_intercept)?
        } else {
            vec![1.0; data.columns()]
        };
        let standard = Self {
            data: data.clone(),
            is_standardized: standardize,
            moves,
            response,
            bounds: bounds.to_vec(),
            scales,
        };
        for ((low, high), scale) in bounds.iter_mut().zip(&standard.scales) {
            (*low, *high) = (*low * scale, *high * scale);
        }
        let design = data.moved(centres, &standard.scales)?;
        Ok(Some((standard, design)))
    }

    /// Adds what centring takes off the predictions: `Σ m_j x_j` for coefficients x of the data.
    fn add_moves(&self, coefficient: impl Fn(usize) -> f64, sum: &mut Doubled, sign: f64) {
        for (j, (high, low), scale) in &self.moves {
            let (x, rest) = two_product(sign * coefficient(*j), *scale);
            sum.add_product(x, *high);
            sum.add_product(x, *low);
            sum.add_product(rest, *high);
        }
    }

    /// Adds what centring takes off the response.
    fn add_response(&self, sum: &mut Doubled, sign: f64) {
        sum.add(sign * self.response.0);
        sum.add(sign * self.response.1);
    }
}

/// Where the stored entries of a column should be centred, if its mean is more than `most` deviations from 0.
///
/// A sparse column is moved only where all its entries are stored and the differences are floats: they are written out.
/// (One with a share f of zeros has a mean of at most `1/√f` deviations, which does little harm.)
fn far_centre(data: &Design, j: usize, moments: &ColumnStats, most: f64) -> Option<f64> {
    if moments.mean.abs() <= most * moments.sd {
        return None;
    }
    let (centre, scale) = data.view(j);
    let mut entries = data.entries(j).map(|(_, v)| v);
    let far = if moments.is_constant {
        entries.next()?
    } else {
        centre + moments.mean / scale
    };
    if data.is_sparse() {
        let is_exact = |v: f64| two_sum(v, -far).1 == 0.0;
        let is_full = data.entries(j).count() == data.rows();
        return (is_full && data.entries(j).all(|(_, v)| is_exact(v))).then_some(far);
    }
    far.is_finite().then_some(far)
}

/// What columns are divided by: their standard deviations. A constant is divided by its size, so that its unit does not
/// matter either; where a view has centred it there is only rounding left, which stays as it is. So does the intercept's column.
fn scales(data: &Design, moments: &[ColumnStats], has_intercept: bool) -> Result<Vec<f64>> {
    let own_columns = data.columns() - usize::from(has_intercept);
    let scale = |(j, moments): (usize, &ColumnStats)| {
        let (centre, scale) = data.view(j);
        let rounding = 1e-9 * (centre * scale).abs();
        match moments.is_constant && moments.mean.abs() > rounding {
            _ if j >= own_columns => 1.0,
            true => moments.mean.abs(),
            false => moments.scale(),
        }
    };
    let scales: Vec<f64> = moments.iter().enumerate().map(scale).collect();
    if scales
        .iter()
        .all(|scale| scale.is_finite() && (1.0 / scale).is_finite())
    {
        return Ok(scales);
    }
    Err(Error::Overflow {
        what: "the standard deviation of a column, or its reciprocal",
    })
}

impl Problem {
    /// What each data column is divided by for the fit, with [`Builder::standardize`](super::Builder::standardize).
    pub fn scales(&self) -> Option<&[f64]> {
        let standard = self.standard.as_ref();
        let standard = standard.filter(|standard| standard.is_standardized);
        standard.map(|standard| &standard.scales[..self.features()])
    }

    /// The design matrix of the data (the intercept's column of ones included): what the coefficients of a solution belong
    /// to.
    pub fn design(&self) -> &Design {
        let own = self.scores().map_or(&self.design, |scores| &scores.base);
        let standard = self.standard.as_ref();
        standard.map_or(own, |standard| &standard.data)
    }

    /// Between which numbers the coefficient of a column may lie, on the data's own scale.
    pub fn bounds(&self, column: usize) -> (f64, f64) {
        let (own, unit) = self.origin(column);
        match &self.standard {
            Some(standard) => standard.bounds[own],
            None => {
                let (low, high) = self.range(column);
                (low * unit, high * unit)
            }
        }
    }

    /// What a column is divided by for the fit, and its response, too, in this unit.
    pub(crate) fn scale(&self, column: usize) -> f64 {
        let (own, unit) = self.origin(column);
        let standard = self.standard.as_ref();
        standard.map_or(1.0, |standard| standard.scales[own]) / unit
    }

    /// How far a column of the data is moved for the fit: so much its coefficient takes off the intercept.
    pub(crate) fn moved(&self, column: usize) -> f64 {
        let mut moved = Doubled::default();
        if let Some(standard) = &self.standard {
            standard.add_moves(|j| f64::from(j == column), &mut moved, 1.0);
        }
        moved.value()
    }

    /// A model of the engine on the data's own columns: a coefficient for each, and the intercepts, one for each output.
    ///
    /// Of classes only differences count: their intercepts add up to 0.
    pub(crate) fn outward(&self, x: &[(usize, f64)]) -> (Vec<f64>, Vec<f64>) {
        let (columns, features) = (self.columns(), self.features());
        let mut coefficients = vec![0.0; columns];
        let mut intercepts = vec![Doubled::default(); self.outputs()];
        for (j, x) in x {
            match coefficients.get_mut(*j) {
                None => intercepts[*j - columns].add(x * self.origin(*j).1),
                Some(out) if self.standard.is_none() => *out = x * self.origin(*j).1,
                Some(out) => {
                    // A division rounds, and a bound is a promise to the last bit.
                    let (lower, upper) = self.bounds(*j);
                    *out = (x / self.scale(*j)).clamp(lower, upper);
                }
            }
        }
        if let Some(standard) = self.standard.as_ref().filter(|_| self.has_intercept) {
            // Of the coefficients as they were rounded: the mean of a prediction suffers one rounding.
            let own = coefficients.chunks_exact(features);
            for (intercept, coefficients) in intercepts.iter_mut().zip(own) {
                standard.add_moves(|j| coefficients[j], intercept, -1.0);
                standard.add_response(intercept, 1.0);
            }
        }
        if let Some(scores) = self.scores() {
            for (intercept, centre) in intercepts.iter_mut().zip(&scores.centres) {
                intercept.add(*centre);
            }
        }
        let mut intercepts: Vec<f64> = intercepts.iter().map(Doubled::value).collect();
        if self.has_intercept && self.loss.classes().is_some() {
            let mean = intercepts.iter().sum::<f64>() / intercepts.len() as f64;
            intercepts.iter_mut().for_each(|x| *x -= mean);
        }
        (coefficients, intercepts)
    }

    /// A model of the data, as (column, coefficient) pairs, in the coefficients of the engine. Intercepts stand behind all other
    /// columns.
    pub(crate) fn inward(&self, x: &[(usize, f64)]) -> Vec<(usize, f64)> {
        if self.standard.is_none() && self.scores().is_none() {
            return x.to_vec();
        }
        let (columns, features) = (self.columns(), self.features());
        let own = x.iter().filter(|(j, _)| *j < columns);
        let mut own: Vec<(usize, f64)> = own.map(|(j, x)| (*j, x * self.scale(*j))).collect();
        if !self.has_intercept {
            return own;
        }
        let of = |column: usize| -> f64 {
            let entries = x.iter().filter(|(j, _)| *j == column);
            entries.map(|(_, x)| x).sum()
        };
        let intercept = |r: usize| {
            let mut intercept = Doubled::default();
            intercept.add(of(columns + r));
            if let Some(standard) = &self.standard {
                standard.add_moves(|j| of(r * features + j), &mut intercept, 1.0);
                standard.add_response(&mut intercept, -1.0);
            }
            if let Some(scores) = self.scores() {
                intercept.add(-scores.centres[r]);
            }
            intercept.value()
        };
        let Some(scores) = self.scores() else {
            own.push((columns, intercept(0)));
            return own;
        };
        // The last class may have none: the others are measured from it.
        let last = if scores.intercepts < scores.count {
            intercept(scores.count - 1)
        } else {
            0.0
        };
        own.extend((0..scores.intercepts).map(|r| {
            let value = (intercept(r) - last) / scores.units[r];
            (columns + r, value)
        }));
        own
    }
}
