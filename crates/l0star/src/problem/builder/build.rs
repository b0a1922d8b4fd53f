//! From what a [`Builder`] collected to a [`Problem`]: every part is checked, then the problem is put together.

use std::sync::Arc;

use super::roles::Roles;
use super::stacked::{self, Parts};
use super::{Builder, range, responses};
use crate::error::{Error, Result};
use crate::loss::{Joint, ResponseKind, Rows};
use crate::problem::shapes::check_length;
use crate::problem::{Problem, Scores, Standard, Summary, Unpenalised};

/// The rows of positive weight.
struct Kept {
    /// Which of all rows these are.
    keep: Vec<bool>,
    b: Vec<f64>,
    /// Response after response; empty where there is none.
    offset: Vec<f64>,
    /// Their weights, as shares.
    p: Vec<f64>,
    /// The loss of all of them, where it couples them.
    joint: Option<Arc<dyn Joint>>,
}

impl Kept {
    /// The values of these rows.
    fn of(&self, values: &[f64]) -> Vec<f64> {
        only(&self.keep, values)
    }
}

fn only(keep: &[bool], values: &[f64]) -> Vec<f64> {
    let kept = values.iter().zip(keep).filter(|(_, keep)| **keep);
    kept.map(|(value, _)| *value).collect()
}

/// The model without features, and how much a loss usually curves.
struct Null {
    intercept: f64,
    value: f64,
    usual_curvature: f64,
}

impl Builder {
    /// Checks everything.
    pub fn build(mut self) -> Result<Problem> {
        let summary = self.take_moments()?;
        let names = self.check_inputs()?;
        let p = self.shares(self.design.rows())?;
        let (ridge, roles) = self.roles(&names)?;
        let mut rows = self.kept_rows(&p)?;
        let (standard, mut parts) = self.columns(&rows, names, ridge, roles, summary.as_ref())?;
        let (data, names) = (parts.design.clone(), parts.names.clone());
        let (sizes, ridge) = (parts.sizes.clone(), parts.ridge.clone());
        let scores = self.stack_outputs(&mut parts, &mut rows)?;
        let square = match self.loss.response() {
            ResponseKind::Real | ResponseKind::Label => {
                range::mean_square(&parts.p, &rows.b, &rows.offset)?
            }
            ResponseKind::Count => range::mean_square(&parts.p, &rows.b, &[])?,
            // Slopes are shares of the responses, whatever their unit, or of the weights.
            ResponseKind::Positive | ResponseKind::Time | ResponseKind::Class => 1.0,
        };
        range::check_columns(&data, &sizes, &ridge, square, &names, &rows.keep)?;
        let null = self.null(&parts, &rows, scores.is_some())?;
        let Parts {
            design,
            p,
            ridge,
            names,
            roles,
            norms,
            sizes,
        } = parts;
        let structure = roles.structure;
        let features = roles.selectable.len() + roles.included.len();
        let k = self
            .k
            .unwrap_or(if structure.priced { features } else { 1 });
        let mut problem = Problem {
            design,
            standard,
            scores,
            loss: self.loss,
            joint: rows.joint,
            b: rows.b,
            p,
            offset: rows.offset,
            ridge,
            names,
            selectable: roles.selectable,
            penalised: roles.penalised,
            included: roles.included,
            structure: structure.is_needed().then(|| Arc::new(structure)),
            l0_factors: roles.l0_factors.into(),
            twins: Arc::default(),
            unpenalised: Unpenalised::default(),
            norms,
            sizes,
            k,
            assumed: self.assumed,
            has_intercept: self.intercept,
            null_value: null.value,
            first_intercept: null.intercept,
            usual_curvature: null.usual_curvature,
            empty_value: Arc::default(),
            summary: None,
        };
        problem.twins = Arc::new(problem.find_twins());
        problem.check_included()?;
        problem.unpenalised = Unpenalised::new(&problem, roles.free)?;
        if let Some(mut summary) = summary {
            (summary.share, summary.ridge_share) = problem.curvature_shares(&summary);
            problem.summary = Some(Arc::new(summary));
        }
        Ok(problem)
    }

    /// Refuses data whose shapes do not agree or whose numbers are not finite; gives the names of the columns.
    fn check_inputs(&self) -> Result<Vec<String>> {
        let (rows, columns) = (self.design.rows(), self.design.columns());
        if columns == 0 {
            return Err(Error::Empty { what: "columns" });
        }
        let names = match &self.names {
            Some(names) => {
                check_length("the list of column names", names.len(), columns)?;
                names.clone()
            }
            None => (1..=columns).map(|j| format!("x{j}")).collect(),
        };
        range::check_rows("response", &self.response, rows)?;
        for response in &self.others {
            range::check_rows("response", response, rows)?;
        }
        self.check_outputs()?;
        range::check_entries(&self.design, &names)?;
        for offset in &self.offsets {
            range::check_rows("offset", offset, rows)?;
        }
        Ok(names)
    }

    /// The rows whose shares `p` are positive.
    fn kept_rows(&self, p: &[f64]) -> Result<Kept> {
        let keep: Vec<bool> = p.iter().map(|p| *p > 0.0).collect();
        let b = only(&keep, &self.response);
        responses::check(&*self.loss, &self.response, &keep, self.intercept)?;
        let offsets = self.offsets.iter();
        let offset = offsets.flat_map(|offset| only(&keep, offset)).collect();
        let p = only(&keep, p);
        if self.intercept && self.loss.is_relative() {
            return Err(Error::Intercept {
                loss: self.loss.name(),
            });
        }
        let joint = self.loss.bind(&Rows {
            all: &self.response,
            keep: &keep,
            kept: &b,
            p: &p,
        })?;
        Ok(Kept {
            keep,
            b,
            offset,
            p,
            joint,
        })
    }

    /// The columns of these rows with the intercept, standardised where that is asked for, and what each of them is.
    fn columns(
        &self,
        rows: &Kept,
        mut names: Vec<String>,
        mut ridge: Vec<f64>,
        mut roles: Roles,
        summary: Option<&Summary>,
    ) -> Result<(Option<Arc<Standard>>, Parts)> {
        let is_whole = rows.keep.iter().all(|keep| *keep);
        let mut design = if is_whole {
            self.design.clone()
        } else {
            self.design.keep_rows(&rows.keep)
        };
        if self.intercept {
            let place = design.columns();
            design = design.with_column(&vec![1.0; rows.b.len()]);
            ridge.push(0.0);
            names.push("(intercept)".to_owned());
            roles.free.push(place);
            roles.structure.add_column();
            roles.l0_factors.push(0.0);
        }
        let standard = Standard::new(
            &design,
            &rows.p,
            self.intercept,
            &*self.loss,
            self.standardize,
            &mut roles.structure.bounds,
            summary,
        )?;
        let standard = standard.map(|(standard, own)| {
            design = own;
            Arc::new(standard)
        });
        self.assume(&mut roles)?;
        let (norms, sizes): (Vec<f64>, Vec<f64>) =
            (0..design.columns()).map(|j| design.norm_above(j)).unzip();
        let parts = Parts {
            design,
            p: rows.p.clone(),
            ridge,
            names,
            roles,
            norms,
            sizes,
        };
        Ok((standard, parts))
    }

    /// Where rows have several scores: makes the columns and responses those of all of them.
    fn stack_outputs(&self, parts: &mut Parts, rows: &mut Kept) -> Result<Option<Arc<Scores>>> {
        if self.outputs() == 1 {
            return Ok(None);
        }
        let responses = match self.loss.classes() {
            Some(classes) => stacked::indicators(&rows.b, classes),
            None => {
                let others = self.others.iter().map(|other| rows.of(other));
                [rows.b.clone()].into_iter().chain(others).collect()
            }
        };
        let (b, scores) = self.stack(parts, &responses, &mut rows.offset)?;
        rows.b = b;
        Ok(Some(Arc::new(scores)))
    }

    /// The model without features, whose objective has to be a number that is safe to work with.
    fn null(&self, parts: &Parts, rows: &Kept, has_scores: bool) -> Result<Null> {
        let (p, b, offset) = (&parts.p, &rows.b, &rows.offset);
        let intercept = if self.intercept && !has_scores {
            self.loss.best_constant(p, b, offset).unwrap_or(0.0)
        } else {
            0.0
        };
        let origin: Vec<f64> = if offset.is_empty() {
            vec![intercept; b.len()]
        } else {
            offset.iter().map(|o| o + intercept).collect()
        };
        let (value, usual_curvature) = match &rows.joint {
            None => (
                self.loss.total(p, &origin, b),
                self.loss.usual_curvature(p, b),
            ),
            Some(joint) => (joint.total(&origin), joint.usual_curvature()),
        };
        if !value.is_finite() {
            return Err(Error::Overflow {
                what: "the objective of the null model",
            });
        }
        let lightest = p.iter().copied().fold(f64::INFINITY, f64::min);
        if self.loss.has_log_link() && value > range::LARGEST_DEVIANCE * lightest {
            return Err(Error::FarResponse {
                loss: self.loss.name(),
            });
        }
        Ok(Null {
            intercept,
            value,
            usual_curvature,
        })
    }

    /// Narrows the bounds of all features to what is assumed of coefficients.
    fn assume(&self, roles: &mut Roles) -> Result<()> {
        let Some(most) = self.assumed else {
            return Ok(());
        };
        if !(most > 0.0 && most.is_finite()) {
            return Err(Error::Setting {
                name: "assume_max_coefficient",
                value: most.to_string(),
                range: "it must be a finite number > 0",
            });
        }
        let features = roles
            .selectable
            .iter()
            .chain(roles.included.iter().flatten());
        roles.structure.assume(most, features);
        Ok(())
    }

    /// `p_i = w_i / Σw`.
    fn shares(&self, rows: usize) -> Result<Vec<f64>> {
        let Some(weights) = &self.weights else {
            return Ok(vec![1.0 / rows as f64; rows]);
        };
        let largest = range::check_weights(weights, rows)?;
        let scaled: Vec<f64> = weights.iter().map(|w| w / largest).collect();
        let total: f64 = scaled.iter().sum();
        Ok(scaled.iter().map(|w| w / total).collect())
    }
}
