//! [`Model`]: a fitted model with everything needed to use it and to check its claims, as JSON in a file.
//!
//! Numbers are written with the fewest digits that read back to the same bits, so a model predicts the same on
//! every machine. The first two fields name the format and its version. A reader accepts its own version and
//! older ones, and ignores unknown fields.

use std::fs;
use std::io::Write;
use std::path::Path;

use l0star::loss;
use l0star_data::frame::Values;
use l0star_data::indicators::MISSING;
use l0star_data::text::clip;
use l0star_data::{DataError, Indicator, RawTable, Reading, write_atomically};
use serde::{Deserialize, Serialize};

use crate::fields::{Asked, ByName, Constraints, DataStamp, Fitted, Product};
use crate::metrics;
use crate::survival::Survival;

/// Value of the field `format`.
pub const FORMAT: &str = "l0star-model";
/// Value of the field `version`; it increases with a change that an older reader would misunderstand.
pub const VERSION: u64 = 1;

/// Upper limit on the characters of a file's word in a message.
const LONGEST_WORD: usize = 41;

/// Text columns, with the number of rows whose text the model has never seen.
pub type Unseen = Vec<(String, usize)>;

/// A fitted model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The name of the format, [`FORMAT`].
    pub format: String,
    /// The version of the format, [`VERSION`].
    pub version: u64,
    /// The version of l0star that wrote the file.
    pub l0star: String,
    /// The result.
    #[serde(flatten)]
    pub fitted: Fitted,
    /// The predicted column.
    pub target: String,
    /// The labels that −1 and +1 stand for, for a loss on labels.
    pub labels: Option<[String; 2]>,
    /// The column of weights.
    pub weights: Option<String>,
    /// The offset column, which is added to every prediction.
    pub offset: Option<String>,
    /// The offset column of each response or class, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<String>,
    /// Events, strata and the baseline hazard, for a loss with hazards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival: Option<Survival>,
    /// Whether an intercept was fitted.
    pub fit_intercept: bool,
    /// Whether the columns were divided by their standard deviations for the fit. The coefficients are
    /// always on the original scale.
    pub standardize: bool,
    /// The standard deviations of the chosen features.
    #[serde(default, skip_serializing_if = "ByName::is_empty")]
    pub scales: ByName,
    /// The chosen features that are products of columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<Product>,
    /// The levels of text columns that chosen features stand for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indicators: Vec<Indicator>,
    /// The value that replaces a missing one, by column.
    #[serde(default, skip_serializing_if = "ByName::is_empty")]
    pub imputed: ByName,
    /// How columns of a file are converted: dates to days, amounts to numbers, codes to text.
    #[serde(default, skip_serializing_if = "Reading::is_empty")]
    pub reading: Reading,
    /// The names of all columns that could be chosen.
    pub features: Vec<String>,
    /// The settings of the request.
    pub settings: Asked,
    /// The data of the fit.
    pub data: DataStamp,
    /// The command that made the model.
    #[serde(default)]
    pub command: Vec<String>,
}

/// The two fields that identify a model file.
#[derive(Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<u64>,
}

impl Model {
    /// Writes the file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), DataError> {
        write_atomically(path, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })
    }

    /// Reads a file that [`Model::save`] wrote.
    pub fn load(path: impl AsRef<Path>) -> Result<Model, DataError> {
        let path = path.as_ref();
        if path.is_dir() {
            return Err(DataError::IsFolder {
                path: path.to_path_buf(),
            });
        }
        let bytes = fs::read(path).map_err(|reason| DataError::reading(path, reason))?;
        Model::parse(path, &bytes)
    }

    /// Reads a model from bytes; `path` is the name used in messages.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Model, DataError> {
        let refuse = |what: String| DataError::WrongFormat {
            path: path.to_path_buf(),
            what,
        };
        let unreadable = |error: serde_json::Error| {
            refuse(if error.is_eof() {
                "ends in the middle of a model; fit it again, or copy the file again".into()
            } else {
                format!("is no model file ({error}); give the file that fit --out wrote")
            })
        };
        let head: Head = serde_json::from_slice(bytes).map_err(unreadable)?;
        match (head.format.as_deref(), head.version) {
            (Some(FORMAT), Some(version)) if version > VERSION => {
                return Err(refuse(format!(
                    "is a model of version {version}, and this program knows versions up to {VERSION}; update l0star"
                )));
            }
            (Some(FORMAT), Some(_)) => {}
            (Some(FORMAT), None) => {
                return Err(refuse("is a model without a version; fit it again".into()));
            }
            (Some(other), _) => {
                return Err(refuse(format!(
                    "is of the format '{}', not '{FORMAT}'; give the file that fit --out wrote",
                    clip(other, LONGEST_WORD)
                )));
            }
            (None, _) => {
                return Err(refuse(format!(
                    "is JSON but no model, as it has no field \"format\": \"{FORMAT}\"; give the file that fit --out wrote"
                )));
            }
        }
        let model: Model = serde_json::from_slice(bytes).map_err(unreadable)?;
        model.check().map_err(refuse)?;
        Ok(model)
    }

    /// Checks what a manual edit of the file may have broken.
    fn check(&self) -> Result<(), String> {
        let coefficients = &self.fitted.coefficients.0;
        let names: Vec<&String> = coefficients.iter().map(|(name, _)| name).collect();
        // Free features have coefficients but are not counted.
        let is_free = self
            .constraints()
            .is_some_and(|asked| !asked.include_free.is_empty());
        let counted = |name: &&&String| !is_free || self.fitted.support.contains(name);
        if !names
            .iter()
            .filter(counted)
            .copied()
            .eq(&self.fitted.support)
        {
            return Err("names other features in 'support' than in 'coefficients'; make them agree, or fit it again".into());
        }
        let outputs = self.fitted.outputs().len().max(1);
        let own = coefficients.iter().map(|(_, numbers)| numbers);
        if !own
            .chain([&self.fitted.intercept])
            .all(|numbers| numbers.all().len() == outputs)
        {
            return Err("has not one number for each response or class in 'coefficients' and 'intercept'; fit it again".into());
        }
        if !self.offsets.is_empty() && self.offsets.len() != outputs {
            return Err(
                "has not one column in 'offsets' for each response or class; fit it again".into(),
            );
        }
        let mut sorted = names;
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("has two coefficients of one name; fit it again".into());
        }
        Ok(())
    }

    /// Returns the predicted columns.
    pub fn targets(&self) -> Vec<&str> {
        match &self.fitted.responses[..] {
            [] => vec![&self.target],
            several => several.iter().map(String::as_str).collect(),
        }
    }

    /// Returns the constraints on the features beyond "at most k".
    pub fn constraints(&self) -> Option<&Constraints> {
        self.fitted.constraints.as_ref()
    }

    /// Counts the features that some columns form; the columns of a group count once.
    pub fn count(&self, columns: &[String]) -> usize {
        self.constraints()
            .map_or(columns.len(), |asked| asked.count(columns))
    }

    /// Returns the number of features that could be chosen, without the free ones.
    pub fn choices(&self) -> usize {
        let free = self.fitted.coefficients.0.len() - self.fitted.support.len();
        self.count(&self.features).saturating_sub(free)
    }

    fn indicator(&self, name: &str) -> Option<&Indicator> {
        self.indicators.iter().find(|own| own.name == name)
    }

    /// Returns the columns of a file that a prediction needs, in the order of their first use, offsets last.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = Vec::new();
        let mut need = |name| {
            if !columns.contains(&name) {
                columns.push(name);
            }
        };
        for (name, _) in &self.fitted.coefficients.0 {
            let product = self.products.iter().find(|product| product.name == *name);
            match (product, self.indicator(name)) {
                (Some(product), _) => product.factors.iter().for_each(|name| need(name)),
                (None, Some(indicator)) => need(&indicator.column),
                (None, None) => need(name),
            }
        }
        self.offset.iter().for_each(|name| need(name));
        self.offsets.iter().for_each(|name| need(name));
        columns
    }

    /// Returns the offset column of a response or class.
    pub fn offset_of(&self, output: usize) -> Option<&String> {
        self.offset.as_ref().or_else(|| self.offsets.get(output))
    }

    /// Predicts `intercept + Σ coefficient × feature + offset` for every row of a file.
    ///
    /// The sum runs from left to right, with one rounded product and one rounded addition per feature, so that
    /// every machine gets the same bits.
    pub fn predict(&self, table: &RawTable) -> Result<Vec<f64>, DataError> {
        Ok(self.predict_seen(table)?.0)
    }

    /// Predicts as [`Model::predict`] does, and reports the text columns with texts that the model has never
    /// seen, with their row counts. Such a row is predicted as if it had none of the levels.
    pub fn predict_seen(&self, table: &RawTable) -> Result<(Vec<f64>, Unseen), DataError> {
        let (mut all, unseen) = self.predict_each(table)?;
        Ok((all.swap_remove(0), unseen))
    }

    /// Predicts every response, as [`Model::predict_seen`] does for one.
    pub fn predict_each(&self, table: &RawTable) -> Result<(Vec<Vec<f64>>, Unseen), DataError> {
        let mut table = self.with_columns(table)?;
        let unseen = self.add_indicators(&mut table)?;
        let outputs = 0..self.fitted.intercept.all().len();
        let all = outputs.map(|output| self.sums(&table, output));
        Ok((all.collect::<Result<_, _>>()?, unseen))
    }

    /// Returns the predictions of one response for rows with all features.
    fn sums(&self, table: &RawTable, output: usize) -> Result<Vec<f64>, DataError> {
        let mut sums = vec![self.fitted.intercept.all()[output]; table.rows()];
        for (name, coefficients) in &self.fitted.coefficients.0 {
            let coefficient = coefficients.all()[output];
            let values = |of: &str| table.number(of);
            let feature = match self.products.iter().find(|product| product.name == *name) {
                None => values(name)?,
                Some(product) => {
                    let mut first = values(&product.factors[0])?;
                    let second = values(&product.factors[1])?;
                    first.iter_mut().zip(second).for_each(|(a, b)| *a *= b);
                    first
                }
            };
            for (sum, value) in sums.iter_mut().zip(feature) {
                *sum += coefficient * value;
            }
        }
        if let Some(offset) = self.offset_of(output) {
            for (sum, value) in sums.iter_mut().zip(table.number(offset)?) {
                *sum += value;
            }
        }
        match sums.iter().position(|sum| !sum.is_finite()) {
            None => Ok(sums),
            Some(row) => Err(DataError::WrongFormat {
                path: table.file().to_path_buf(),
                what: format!(
                    "makes a prediction that is not finite, in row {}; look for a number that is far too large",
                    row + 1
                ),
            }),
        }
    }

    /// Adds the indicator columns that a prediction needs; returns the columns with unknown
    /// texts, and their row counts.
    fn add_indicators(&self, table: &mut RawTable) -> Result<Unseen, DataError> {
        let mut unseen = Vec::new();
        let needed = &self.fitted.coefficients;
        for column in self.columns() {
            let own = self.indicators.iter().filter(|own| own.column == column);
            let levels: Vec<&Indicator> = own.collect();
            if levels.is_empty() {
                continue;
            }
            let is_needed = |own: &&Indicator| needed.get(&own.name).is_some();
            let features: Vec<&Indicator> = levels.iter().copied().filter(is_needed).collect();
            match table.add_indicators(column, &levels, &features)? {
                0 => {}
                rows => unseen.push((column.to_owned(), rows)),
            }
        }
        Ok(unseen)
    }

    /// Returns the columns that a prediction needs, all present and without missing values.
    fn with_columns(&self, table: &RawTable) -> Result<RawTable, DataError> {
        let needed = self.columns();
        let absent: Vec<&str> = needed
            .iter()
            .copied()
            .filter(|name| table.position(name).is_err())
            .collect();
        if !absent.is_empty() {
            return Err(table.lacks(&absent, needed.len()));
        }
        let mut table = table.only(&needed)?;
        self.reading.only(&needed).apply(&mut table)?;
        for (name, value) in &self.imputed.0 {
            if needed.contains(&name.as_str()) {
                table.fill(name, *value)?;
            }
        }
        // A missing value may be a level.
        let may_miss = self.indicators.iter().filter(|own| own.level == MISSING);
        let mut gapless = needed;
        gapless.retain(|name| !may_miss.clone().any(|own| own.column == *name));
        table.refuse_missing(&gapless, "fill them in, or drop the rows")?;
        Ok(table)
    }

    /// Whether scores are log-odds of the positive label.
    pub fn has_log_odds(&self) -> bool {
        let loss = loss::by_name(&self.fitted.loss, self.fitted.huber_delta.unwrap_or(1.0));
        loss.is_ok_and(|loss| loss.has_log_odds())
    }

    /// Whether scores are logarithms of expectations.
    pub fn has_log_link(&self) -> bool {
        let loss = loss::by_name(&self.fitted.loss, self.fitted.huber_delta.unwrap_or(1.0));
        loss.is_ok_and(|loss| loss.has_log_link())
    }

    /// Whether scores are logarithms of hazards.
    pub fn has_hazards(&self) -> bool {
        loss::by_name(&self.fitted.loss, 1.0).is_ok_and(|loss| loss.has_hazards())
    }

    /// Returns the expected responses for scores: the scores themselves, or their exponentials with a log link.
    pub fn expectations(&self, scores: &[f64]) -> Vec<f64> {
        if self.has_log_link() {
            scores
                .iter()
                .map(|score| metrics::expectation(*score))
                .collect()
        } else {
            scores.to_vec()
        }
    }

    /// Returns the probability of the positive label for a score, if scores are log-odds.
    pub fn probability(&self, score: f64) -> Option<f64> {
        self.has_log_odds().then(|| metrics::probability(score))
    }

    /// Returns the labels that scores stand for; numbers if both labels are numbers.
    pub fn label(&self, scores: &[f64]) -> Option<Values<'static>> {
        let labels = self.labels.as_ref()?;
        let of = |score: &f64| usize::from(*score > 0.0);
        let numbers = labels.each_ref().map(|label| label.parse::<f64>());
        Some(match numbers {
            [Ok(negative), Ok(positive)] if negative.is_finite() && positive.is_finite() => {
                let values = [negative, positive];
                Values::Numbers(scores.iter().map(|score| values[of(score)]).collect())
            }
            _ => Values::Texts(
                scores
                    .iter()
                    .map(|score| labels[of(score)].clone())
                    .collect(),
            ),
        })
    }
}

#[cfg(test)]
mod tests;
