//! [`Recipe`]: how the rows of files become features when they are streamed.
//!
//! The first piece of the first file shows the type of each column. Some properties depend on all rows: the
//! categories of text, the means that fill gaps, squares of columns that may be indicators. A first pass surveys them.

use std::collections::BTreeMap;

use l0star_data::{
    DataError, Decimal, Indicator, RawColumn, RawTable, Reading, factors, indicators,
};
use l0star_record::fields::{ByName, Group};
use l0star_record::moments::About;

use super::features::{self, is_text};
use super::{TaskArgs, checks};
use crate::failure::Failure;
use crate::reading::Settled;

/// Upper limit on the different values of a text column; a column with more is an identifier.
const MOST_TEXTS: usize = 100_000;

/// How rows become features.
#[derive(Debug)]
pub struct Recipe<'a> {
    args: &'a TaskArgs,
    /// All columns of the first file; other files must have the same.
    schema: Vec<String>,
    /// The columns of the files that are used.
    pub used: Vec<String>,
    /// The used columns that are text.
    pub as_text: Vec<String>,
    /// The text columns that are features.
    texts: Vec<String>,
    /// The features before categories and products are made.
    base: Vec<String>,
    factors: Vec<String>,
    reading: Reading,
    indicators: Vec<Indicator>,
    groups: Vec<Group>,
    imputed: Vec<(String, f64)>,
    /// The labels of the target, if it has labels.
    labels: Option<[String; 2]>,
    /// The names of the features.
    names: Vec<String>,
    pub notes: Vec<String>,
}

/// Findings of a pass over all rows.
#[derive(Debug, Default)]
pub struct Survey {
    /// The number of rows kept; `dropped` is the number of those dropped.
    pub rows: usize,
    pub dropped: usize,
    /// The number of rows with each value, per text column.
    texts: BTreeMap<String, BTreeMap<String, usize>>,
    /// The sum, the count and the number of missing values, per numeric column.
    numbers: BTreeMap<String, (f64, usize, usize)>,
    /// The first non-zero value, and whether all non-zero values equal it, per numeric column.
    levels: BTreeMap<String, (Option<f64>, bool)>,
}

/// Rows that can be summed or stored.
pub struct Batch {
    pub rows: usize,
    /// The values of the features, one feature after the other.
    pub values: Vec<f64>,
    /// The response; empty without a target.
    pub response: Vec<f64>,
    pub weights: Option<Vec<f64>>,
}

impl<'a> Recipe<'a> {
    /// Derives the recipe from the first rows. With `labels`, the target may have labels.
    pub fn new(args: &'a TaskArgs, mut first: RawTable, labels: bool) -> Result<Self, Failure> {
        args.check_roles()?;
        for (_, name) in args.roles() {
            first.column(name)?;
        }
        let schema = first.names().to_vec();
        let mut base = features::base_columns(args, &first)?;
        let decimal_comma = args.input.decimal() == Decimal::Comma;
        let settled = args.reading.settle(&mut first, &mut base, decimal_comma)?;
        let Settled { reading, notes } = settled;
        let factors = features::factors(args, &first, &base)?;
        let part = features::Asked {
            labels,
            is_part: true,
        };
        features::refuse_troubles(args, &first, &base, &factors, &reading.texts, part)?;
        if !labels {
            checks::check_numbers(&first, &args.target, "quadratic")?;
        }
        let text = features::text_columns(&first);
        let texts = base.iter().filter(|name| text.contains(*name));
        let texts: Vec<String> = texts.cloned().collect();
        let labelled = (labels && is_text(&first, &args.target)).then_some(&args.target);
        let roles = args.roles().map(|(_, name)| name.to_owned());
        Ok(Self {
            args,
            as_text: texts.iter().chain(labelled).cloned().collect(),
            texts,
            used: base.iter().cloned().chain(roles).collect(),
            schema,
            names: base.clone(),
            base,
            factors,
            reading,
            indicators: Vec::new(),
            groups: Vec::new(),
            imputed: Vec::new(),
            labels: None,
            notes,
        })
    }

    /// Returns why all rows have to be read twice, if they do.
    pub fn needs_survey(&self) -> Option<&'static str> {
        let reasons = [
            (
                !self.texts.is_empty(),
                "the categories of text columns are counted first",
            ),
            (
                self.args.impute.is_some(),
                "the means for missing values are taken first",
            ),
            (
                !self.factors.is_empty(),
                "columns whose squares say nothing new are found first",
            ),
        ];
        let found = reasons.iter().find(|(is, _)| *is);
        found.map(|(_, reason)| *reason)
    }

    /// Refuses a file whose columns differ from the first file in name or type.
    pub fn check_schema(&self, first: &str, mut piece: RawTable) -> Result<(), DataError> {
        let file = piece.file().to_path_buf();
        let wrong = |what: String| DataError::WrongFormat {
            path: file.clone(),
            what,
        };
        let advice = "all files must have the same columns";
        let names = piece.names();
        if let Some(absent) = self.schema.iter().find(|name| !names.contains(name)) {
            return Err(wrong(format!(
                "has no column '{absent}', and {first} has one; {advice}"
            )));
        }
        if let Some(new) = names.iter().find(|name| !self.schema.contains(name)) {
            return Err(wrong(format!(
                "has a column '{new}', and {first} has none; {advice}"
            )));
        }
        self.reading.apply(&mut piece)?;
        for name in &self.as_text {
            if !is_text(&piece, name) {
                return Err(wrong(format!(
                    "has numbers in column '{name}', and {first} has text; all files must have the same types"
                )));
            }
        }
        self.refuse_text(&piece)
    }

    /// Refuses text in columns that were numeric in the first rows; says where it is.
    fn refuse_text(&self, piece: &RawTable) -> Result<(), DataError> {
        for name in &self.used {
            if is_text(piece, name)
                && !self.as_text.contains(name)
                && !piece.column(name)?.is_boolean()
            {
                piece.numeric(&[name])?;
            }
        }
        Ok(())
    }

    /// Converts the columns of a piece to their types and drops rows with gaps as asked; returns how many.
    fn read(&self, piece: &mut RawTable) -> Result<usize, Failure> {
        self.reading.apply(piece)?;
        self.refuse_text(piece)?;
        if self.args.drop_missing {
            let used = features::gapless(self.args, &self.base);
            return Ok(piece.drop_rows_with_gaps(&used)?);
        }
        features::settle_missing(self.args, piece, &self.base)
    }

    /// Adds a piece to the survey.
    pub fn survey(&self, survey: &mut Survey, mut piece: RawTable) -> Result<(), Failure> {
        let file = piece.file().display().to_string();
        survey.dropped += self.read(&mut piece)?;
        survey.rows += piece.rows();
        let labelled = self.as_text.iter().filter(|name| !self.base.contains(name));
        for name in self.base.iter().chain(labelled) {
            match piece.column(name)? {
                RawColumn::Text { levels, codes } if self.as_text.contains(name) => {
                    let own = survey.texts.entry(name.clone()).or_default();
                    let mut counts = vec![0; levels.len()];
                    codes.iter().for_each(|code| counts[*code as usize] += 1);
                    for (level, count) in levels.iter().zip(counts) {
                        *own.entry(level.clone()).or_default() += count;
                    }
                    if own.len() > MOST_TEXTS {
                        return Err(Failure::BadData(format!(
                            "{file}: column '{name}' looks like an identifier: it has more than {MOST_TEXTS} different texts; leave it out with --drop {name}"
                        )));
                    }
                }
                column => {
                    let values = match column.with_gaps() {
                        Some(values) => values,
                        None => piece.number(name)?,
                    };
                    let own = survey.numbers.entry(name.clone()).or_default();
                    let known = || values.iter().filter(|v| !v.is_nan());
                    own.0 += known().sum::<f64>();
                    own.1 += known().count();
                    own.2 += values.len() - known().count();
                    let first = survey.levels.entry(name.clone()).or_insert((None, true));
                    for value in known().filter(|v| **v != 0.0) {
                        let level = *first.0.get_or_insert(*value);
                        first.1 &= level == *value;
                    }
                }
            }
        }
        Ok(())
    }

    /// Settles the features from the survey.
    pub fn settle(&mut self, survey: &Survey) -> Result<(), Failure> {
        if self.args.impute.is_some() {
            for (name, (sum, count, missing)) in &survey.numbers {
                if *missing > 0 && *count > 0 {
                    self.imputed.push((name.clone(), sum / *count as f64));
                }
            }
        }
        let excluded = self.args.excluded();
        let mut names = Vec::new();
        for column in &self.base {
            let Some(found) = survey
                .texts
                .get(column)
                .filter(|_| self.texts.contains(column))
            else {
                names.push(column.clone());
                continue;
            };
            let counts = found.iter().map(|(text, count)| (text.clone(), *count));
            let levels = indicators::levels(column, counts, self.args.rare);
            self.check_levels(column, &levels)?;
            let own = indicators::features(&levels).iter();
            let own = own.filter(|feature| !excluded.contains(feature.name.as_str()));
            let columns: Vec<String> = own.map(|feature| feature.name.clone()).collect();
            names.extend_from_slice(&columns);
            if !columns.is_empty() {
                let name = column.clone();
                self.groups.push(Group { name, columns });
            }
            self.indicators.extend(levels);
        }
        for (at, one) in self.factors.iter().enumerate() {
            let pairs = self.factors[at + 1..].iter();
            names.extend(pairs.map(|other| format!("{one}:{other}")));
        }
        let is_alike = |name: &String| survey.levels.get(name).is_some_and(|(_, alike)| *alike);
        let squares = self.factors.iter().filter(|name| !is_alike(name));
        names.extend(squares.map(|name| format!("{name}^2")));
        for name in &excluded {
            let is_level = self.indicators.iter().any(|level| level.name == **name);
            if !is_level && !self.schema.iter().chain(&names).any(|own| own == name) {
                return Err(l0star_data::no_such_column(name, &names).into());
            }
        }
        names.retain(|name| !excluded.contains(name.as_str()));
        self.names = features::some_left(names)?;
        self.settle_labels(survey)
    }

    /// Settles the two labels of a target that has labels.
    fn settle_labels(&mut self, survey: &Survey) -> Result<(), Failure> {
        let target = &self.args.target;
        if !self.as_text.contains(target) {
            return Ok(());
        }
        let found: Vec<&String> = survey
            .texts
            .get(target)
            .into_iter()
            .flatten()
            .map(|(text, _)| text)
            .collect();
        match found[..] {
            [one, other] => {
                self.labels = Some([one.clone(), other.clone()]);
                Ok(())
            }
            _ => Err(Failure::BadData(format!(
                "{}: the target '{target}' has {} different texts; it must have numbers, or two labels",
                self.args.data.display(),
                found.len()
            ))),
        }
    }

    /// Refuses a text column that cannot be a feature, once all rows are known.
    fn check_levels(&self, column: &str, levels: &[Indicator]) -> Result<(), Failure> {
        let is_kept = |own: &&Indicator| {
            ![indicators::OTHER, indicators::MISSING].contains(&own.level.as_str())
        };
        let kept = levels.iter().filter(is_kept).count();
        let file = self.args.data.display();
        if kept == 0 {
            let rare = self.args.rare;
            return Err(Failure::BadData(format!(
                "{file}: column '{column}' has no category with at least {rare} rows; --drop {column} or a lower --rare"
            )));
        }
        if kept > indicators::MOST_LEVELS {
            return Err(Failure::BadData(format!(
                "{file}: column '{column}' has {kept} categories; --drop {column} or a higher --rare"
            )));
        }
        Ok(())
    }

    /// Returns the names of the features.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the rows of a piece as features (`None` if all were dropped), and how many were dropped.
    pub fn apply(&self, mut piece: RawTable) -> Result<(Option<Batch>, usize), Failure> {
        let rows_dropped = self.read(&mut piece)?;
        if piece.rows() == 0 {
            return Ok((None, rows_dropped));
        }
        for (name, value) in &self.imputed {
            piece.fill(name, *value)?;
        }
        for column in &self.texts {
            let levels = self.indicators.iter().filter(|own| own.column == *column);
            let levels: Vec<&Indicator> = levels.collect();
            let is_feature = |own: &&Indicator| self.names.contains(&own.name);
            let features: Vec<&Indicator> = levels.iter().copied().filter(is_feature).collect();
            piece.add_indicators(column, &levels, &features)?;
        }
        let args = self.args;
        let weights = args.weights.as_deref().map(|name| piece.number(name));
        let weights = weights.transpose()?;
        if let (Some(name), Some(weights)) = (&args.weights, &weights) {
            checks::check_weights(&piece, name, weights)?;
        }
        let response = match &self.labels {
            _ if args.target.is_empty() => Vec::new(),
            None => piece.number(&args.target)?,
            Some(labels) => {
                let second = piece.labelled(&args.target, labels)?;
                second.into_iter().map(f64::from).collect()
            }
        };
        let mut values = Vec::with_capacity(piece.rows() * self.names.len());
        for name in &self.names {
            match factors(&self.factors, name) {
                None => values.extend_from_slice(piece.numeric(&[name])?.values()),
                Some([one, other]) => {
                    let (one, other) = (piece.numeric(&[one])?, piece.numeric(&[other])?);
                    let pairs = one.values().iter().zip(other.values());
                    values.extend(pairs.map(|(a, b)| a * b));
                }
            }
        }
        let batch = Batch {
            rows: piece.rows(),
            values,
            response,
            weights,
        };
        Ok((Some(batch), rows_dropped))
    }

    /// Returns the description that is stored with moments or columns of these features.
    pub fn about(&self, files: Vec<String>, rows_dropped: usize) -> About {
        About {
            target: self.args.target.clone(),
            labels: self.labels.clone(),
            weights: self.args.weights.clone(),
            files,
            rows_dropped,
            factors: self.factors.clone(),
            indicators: self.indicators.clone(),
            texts: self.groups.clone(),
            imputed: ByName(self.imputed.clone()),
            reading: self.reading.clone(),
        }
    }
}
