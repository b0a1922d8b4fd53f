//! `--holdout`: rows that are not used for the fit, to measure how good a model is.

use l0star::loss::{Loss, ResponseKind};
use l0star_data::{RawTable, counted};
use l0star_record::Model;
use l0star_record::holdout::{HoldoutError, draw};
use l0star_record::metrics::{self, Metrics, Rows, SeveralRows, Times};
use l0star_record::survival::kinds;

use super::args::TaskArgs;
use super::checks;
use super::survival::Followed;
use crate::failure::Failure;

/// Rows that were held out.
#[derive(Debug)]
pub struct HeldOut {
    /// The held-out rows as they are in the file.
    pub table: RawTable,
    share: f64,
    seed: u64,
}

/// Splits the rows into those to learn from and those held out, if any.
pub(super) fn split(
    args: &TaskArgs,
    loss: &dyn Loss,
    raw: RawTable,
) -> Result<(RawTable, Option<HeldOut>), Failure> {
    let Some(share) = args.holdout else {
        return Ok((raw, None));
    };
    let (response, labels) = match loss.response() {
        ResponseKind::Label => {
            let (signs, labels) = raw.labels(&args.target)?;
            (signs, Some(Vec::from(labels)))
        }
        ResponseKind::Class => {
            let (codes, names) = checks::classes(&raw, &args.target)?;
            let numbers = codes.into_iter().map(|code| code as f64);
            (numbers.collect(), Some(names))
        }
        _ if !args.targets.is_empty() => (vec![0.0; raw.rows()], None),
        ResponseKind::Real | ResponseKind::Count | ResponseKind::Positive | ResponseKind::Time => {
            checks::check_numbers(&raw, &args.target, loss.name())?;
            (raw.number(&args.target)?, None)
        }
    };
    let weights = args.weights.as_deref().map(|name| raw.number(name));
    let weights = weights.transpose()?;
    let seed = args.seed;
    let followed = loss
        .has_hazards()
        .then(|| Followed::read(&args.survival, &raw, &response))
        .transpose()?;
    let events = followed.map(|own| own.events).unwrap_or_default();
    let (kinds, has_kinds) = kinds(&response, &events, labels.is_some());
    let held = draw(&kinds, weights.as_deref(), has_kinds, share, seed);
    let held = held.map_err(|error| {
        let file = raw.file().display();
        Failure::BadData(match error {
            HoldoutError::FewRows(rows) => format!(
                "{file}: --holdout needs two rows at least, one to learn from and one to hold out, and there is {}",
                counted(rows, "row")
            ),
            HoldoutError::FewOfLabel { label, rows } => {
                // Labels are ±1, classes are numbered from 0.
                let place = if loss.response() == ResponseKind::Label { (label + 1.0) / 2.0 } else { label };
                let names = labels.unwrap_or_default();
                let label = names.get(place as usize).map_or("", String::as_str);
                format!(
                    "{file}: the label '{label}' of column '{}' has {}, and --holdout needs two of each label, one to learn from and one to hold out",
                    args.target,
                    counted(rows, "row")
                )
            }
        })
    })?;
    let (raw, table) = raw.split_rows(&held);
    let held_out = HeldOut { table, share, seed };
    Ok((raw, Some(held_out)))
}

impl HeldOut {
    /// Measures how good a model is on these rows, which it predicts like those of any other file.
    pub fn measure(&self, model: &Model, loss: &dyn Loss) -> Result<metrics::HeldOut, Failure> {
        if !model.fitted.responses.is_empty() {
            return self.measure_several(model, loss);
        }
        if !model.fitted.classes.is_empty() {
            return self.measure_classes(model);
        }
        let scores = model.predict(&self.table)?;
        let response = match &model.labels {
            None => self.table.number(&model.target)?,
            Some(labels) => {
                let positive = self.table.labelled(&model.target, labels)?.into_iter();
                positive.map(|is| if is { 1.0 } else { -1.0 }).collect()
            }
        };
        let column = |name: &Option<String>| {
            let name = name.as_deref();
            name.map(|name| self.table.number(name)).transpose()
        };
        let (weights, offset) = (column(&model.weights)?, column(&model.offset)?);
        let rows = Rows {
            scores: &scores,
            response: &response,
            weights: weights.as_deref(),
            offset: offset.as_deref(),
            times: Times::default(),
        };
        // A loss on survival times belongs to particular rows, so it is built again for these.
        let own = model.survival.as_ref();
        let own = own.map(|fields| Followed::of_fields(fields, &self.table, &response));
        let own = own.transpose()?.map(|followed| followed.loss());
        Ok(metrics::HeldOut {
            share: self.share,
            seed: self.seed,
            metrics: Metrics::of(own.as_deref().unwrap_or(loss), &rows),
        })
    }

    /// Measures how good a model of several classes is.
    fn measure_classes(&self, model: &Model) -> Result<metrics::HeldOut, Failure> {
        let (scores, _) = model.predict_each(&self.table)?;
        let (codes, names) = self.table.classes(&model.target)?;
        let mut known = Vec::with_capacity(names.len());
        for name in &names {
            let place = model.fitted.classes.iter().position(|own| own == name);
            // A class that the fitted rows lack has no score.
            known.push(place.ok_or_else(|| {
                Failure::BadData(format!(
                    "{}: the class '{name}' of column '{}' is among the rows that are held out alone; use another --seed, or leave its rows out",
                    self.table.file().display(),
                    model.target
                ))
            })?);
        }
        let classes: Vec<usize> = codes.iter().map(|code| known[*code]).collect();
        let weights = self.weights(model)?;
        Ok(metrics::HeldOut {
            share: self.share,
            seed: self.seed,
            metrics: Metrics::of_classes(&scores, &classes, &weights, !model.offsets.is_empty()),
        })
    }

    /// Returns the weights of these rows, or ones.
    fn weights(&self, model: &Model) -> Result<Vec<f64>, Failure> {
        Ok(match &model.weights {
            Some(name) => self.table.number(name)?,
            None => vec![1.0; self.table.rows()],
        })
    }

    /// Measures how good a model of several responses is.
    fn measure_several(&self, model: &Model, loss: &dyn Loss) -> Result<metrics::HeldOut, Failure> {
        let (scores, _) = model.predict_each(&self.table)?;
        let names = &model.fitted.responses;
        let responses = names.iter().map(|name| self.table.number(name));
        let responses: Vec<Vec<f64>> = responses.collect::<Result<_, _>>()?;
        let weights = self.weights(model)?;
        let offsets = model.offsets.iter().map(|name| self.table.number(name));
        let offsets: Vec<Vec<f64>> = offsets.collect::<Result<_, _>>()?;
        let rows = SeveralRows {
            scores: &scores,
            responses: &responses,
            weights: &weights,
            offsets: &offsets,
        };
        Ok(metrics::HeldOut {
            share: self.share,
            seed: self.seed,
            metrics: Metrics::of_several(loss, names, &rows),
        })
    }
}
