//! Problems whose rows have several scores, of responses or of classes: each feature has a coefficient for each of them.
//!
//! The engine's problem has one row for each row of the data and each response, response after response, and one column for each
//! feature and each response ([`Design::stacked`]). The columns of a feature are a group: it is in for all responses or out.

use super::Builder;
use super::roles::Roles;
use crate::error::{Error, Result};
use crate::linalg::kernels;
use crate::linalg::rounding::two_sum;
use crate::loss::ResponseKind;
use crate::problem::{ColumnStats, Design, Scores, Structure};

/// What is made of the data before it is stacked: of one response, and of the features.
pub(super) struct Parts {
    pub design: Design,
    /// Weights of the rows, as shares.
    pub p: Vec<f64>,
    pub ridge: Vec<f64>,
    pub names: Vec<String>,
    pub roles: Roles,
    pub norms: Vec<f64>,
    pub sizes: Vec<f64>,
}

impl Builder {
    /// How many scores a row has.
    pub(super) fn outputs(&self) -> usize {
        self.loss.classes().unwrap_or(1 + self.others.len())
    }

    /// Refuses what has no meaning, or no proof, where rows have several scores.
    pub(super) fn check_outputs(&self) -> Result<()> {
        let refuse = |what| Err(Error::SeveralScores { what });
        let is_class = self.loss.classes().is_some();
        if !self.offsets.is_empty() && self.offsets.len() != self.outputs() {
            return Err(Error::Offsets {
                scores: self.outputs(),
                offsets: self.offsets.len(),
            });
        }
        if self.outputs() == 1 {
            return Ok(());
        }
        if is_class && !self.others.is_empty() {
            return refuse("classes in more than one response");
        }
        if !is_class && !self.loss.is_quadratic() {
            return Err(Error::SeveralResponses {
                loss: self.loss.name(),
            });
        }
        if is_class && (!self.bounds.is_empty() || self.assumed.is_some()) {
            // Only differences between classes mean anything.
            return refuse("bounds on coefficients of classes");
        }
        Ok(())
    }

    /// How far each response is moved: where there is an intercept to take it up, by its mean, offsets taken off, if that
    /// is exact in every row. It matters where the mean is far larger than the deviation, where fits would work with
    /// differences of numbers that agree in most of their digits.
    fn centres(&self, responses: &[Vec<f64>], offset: &[f64], p: &[f64]) -> Vec<f64> {
        let is_plain = !self.intercept || self.loss.response() == ResponseKind::Class;
        let centre = |(r, response): (usize, &Vec<f64>)| {
            let total: f64 = p.iter().sum();
            let left = without(response, r, offset);
            let is_same = left.iter().all(|b| *b == left[0]);
            let mean = if is_same {
                left[0]
            } else {
                kernels::dot(p, &left) / total
            };
            let is_exact = |b: &f64| two_sum(*b, -mean).1 == 0.0;
            if is_plain || !response.iter().all(is_exact) {
                return 0.0;
            }
            mean
        };
        responses.iter().enumerate().map(centre).collect()
    }

    /// The unit of each response, a power of two, and the weight of its rows in that unit.
    ///
    /// With standardised columns responses count in units of their standard deviations, offsets taken off: their losses and ridges
    /// are divided by the square of that, and models do not depend on the units of the responses.
    fn units(&self, responses: &[Vec<f64>], offset: &[f64], p: &[f64]) -> Result<Vec<(f64, f64)>> {
        let is_plain = !self.standardize || self.loss.response() == ResponseKind::Class;
        let unit = |(r, response): (usize, &Vec<f64>)| -> Result<(f64, f64)> {
            if is_plain {
                return Ok((1.0, 1.0));
            }
            let column = Design::dense(response.len(), 1, without(response, r, offset))?;
            let stats = ColumnStats::of(&column, Some(p))[0];
            let size = match stats.is_constant {
                true if stats.mean != 0.0 => stats.mean.abs(),
                true => 1.0,
                false => stats.sd,
            };
            let unit = 2f64.powi(size.log2().round() as i32);
            let ratio = unit / size;
            if !(unit.is_finite() && (1.0 / unit).is_finite() && ratio.is_finite()) {
                return Err(Error::Overflow {
                    what: "the standard deviation of a response, or its reciprocal",
                });
            }
            Ok((unit, ratio * ratio))
        };
        responses.iter().enumerate().map(unit).collect()
    }

    /// Makes the engine's problem of one response that of all of them; gives the responses of its rows, too. `offset` is put into the
    /// units of the responses.
    pub(super) fn stack(
        &self,
        parts: &mut Parts,
        responses: &[Vec<f64>],
        offset: &mut [f64],
    ) -> Result<(Vec<f64>, Scores)> {
        let units = self.units(responses, offset, &parts.p)?;
        let centres = self.centres(responses, offset, &parts.p);
        let rows = parts.p.len();
        for (own, (unit, _)) in offset.chunks_exact_mut(rows).zip(&units) {
            own.iter_mut().for_each(|o| *o /= unit);
        }
        let count = responses.len();
        let has_intercept = self.intercept;
        let features = parts.design.columns() - usize::from(has_intercept);
        let intercepts = match (has_intercept, self.loss.response()) {
            (false, _) => 0,
            // A constant added to all classes changes nothing: the last one has none.
            (true, ResponseKind::Class) => count - 1,
            (true, _) => count,
        };
        let scores = Scores {
            count,
            features,
            intercepts,
            units: units.iter().map(|(unit, _)| *unit).collect(),
            centres,
            base: parts.design.clone(),
        };
        let base = parts.design.clone();
        parts.design = base.stacked(count, intercepts);
        let columns = parts.design.columns();
        let places: Vec<usize> = (0..columns).map(|j| parts.design.place(j).0).collect();
        let block = |j: usize| scores.block(j);
        parts.p = units
            .iter()
            .flat_map(|(_, weight)| parts.p.iter().map(move |p| p * weight))
            .collect();
        let ridge = |(j, place): (usize, &usize)| parts.ridge[*place] * units[block(j)].1;
        parts.ridge = places.iter().enumerate().map(ridge).collect();
        parts.names = places.iter().map(|j| parts.names[*j].clone()).collect();
        parts.norms = places.iter().map(|j| parts.norms[*j]).collect();
        parts.sizes = places.iter().map(|j| parts.sizes[*j]).collect();
        parts.roles = spread(&parts.roles, &scores, &places);
        let scaled = responses.iter().zip(&units).zip(&scores.centres);
        let b = scaled.flat_map(|((response, (unit, _)), centre)| {
            response.iter().map(move |b| (b - centre) / unit)
        });
        Ok((b.collect(), scores))
    }
}

/// Returns response `r` without its offset. `offset`: those of all responses, one after the other, or none.
fn without(response: &[f64], r: usize, offset: &[f64]) -> Vec<f64> {
    let own = offset.chunks_exact(response.len()).nth(r);
    let own = own.unwrap_or_default().iter().copied();
    let own = own.chain(std::iter::repeat(0.0));
    response.iter().zip(own).map(|(b, o)| b - o).collect()
}

/// The response of each class: 1 in its rows, 0 in others. Classes are numbered from 0.
pub(super) fn indicators(classes: &[f64], count: usize) -> Vec<Vec<f64>> {
    let indicator = |c: usize| {
        classes
            .iter()
            .map(move |b| f64::from(*b == c as f64))
            .collect()
    };
    (0..count).map(indicator).collect()
}

/// What columns are where each is there once for each response; `places`: the column of the data of each.
fn spread(roles: &Roles, scores: &Scores, places: &[usize]) -> Roles {
    let (features, count) = (scores.features, scores.count);
    let copies = |j: usize| (0..count).map(move |r| r * features + j);
    let all = |columns: &[usize]| -> Vec<usize> {
        let mut all: Vec<usize> = columns.iter().flat_map(|j| copies(*j)).collect();
        all.sort_unstable();
        all
    };
    let is_own = |j: &&usize| **j < features;
    let free: Vec<usize> = roles.free.iter().filter(is_own).copied().collect();
    let mut free = all(&free);
    free.extend((0..scores.intercepts).map(|r| features * count + r));
    let old = &roles.structure;
    let mut structure = Structure::new(places.len());
    for leader in &roles.selectable {
        structure.members[*leader] = all(&old.members[*leader]).into();
        structure.ancestors[*leader].clone_from(&old.ancestors[*leader]);
    }
    for (j, place) in places.iter().enumerate() {
        let (low, high) = old.bounds[*place];
        let unit = scores.units[scores.block(j)];
        structure.bounds[j] = (low / unit, high / unit);
        structure.costs[j] = old.costs[*place];
    }
    structure.boxed = old.boxed;
    structure.heredity = old.heredity;
    structure.priced = old.priced;
    Roles {
        selectable: roles.selectable.clone(),
        penalised: all(&roles.penalised),
        free,
        included: roles.included.iter().map(|g| all(g).into()).collect(),
        structure,
        l0_factors: places.iter().map(|j| roles.l0_factors[*j]).collect(),
    }
}
